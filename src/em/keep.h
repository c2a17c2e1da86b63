/* The last whole step, to go back to when time runs out, or a stop is asked for, in the middle
 * of the next one, and how long steps last. */
#ifndef VEM_EM_KEEP_H
#define VEM_EM_KEEP_H

#include "em/em.h"

/* Probes and swaps make steps of different length. */
enum { VEM_I_STEP_KINDS = 3 };

typedef struct vem_i_kept {
    vem_model *model;
    int32_t *held; /* n x width: what each item held; of width 1, the first cluster */
    int32_t width;
    int64_t n;
    vem_i_schedule schedule; /* as it was before the step at hand */
    double free_energy;
    double began;                    /* clock, of the step at hand */
    double lasted[VEM_I_STEP_KINDS]; /* the last step of the kind; 0: there was none */
} vem_i_kept;

/* Room for a loop's model and labels; with a `width` above 1 for all that is held. */
vem_status vem_i_kept_new(vem_ctx *ctx, const vem_model *model, int64_t n, int32_t width,
                          vem_i_kept **kept);
void vem_i_kept_free(vem_i_kept *kept);
uint64_t vem_i_kept_bytes(vem_family_kind family, int32_t clusters, int32_t d, int64_t n,
                          int32_t width);
/* The E-step of this model is whole. */
void vem_i_kept_save(vem_i_kept *kept, const vem_i_em *em);
/* What is held is again what it was then, all of it where the width is that of the loop. */
void vem_i_kept_restore_held(const vem_i_kept *kept, vem_i_em *em);
/* The loop is as it was then, for whoever looks at model, F and first held clusters. */
void vem_i_kept_restore(const vem_i_kept *kept, vem_i_em *em);
/* A step of this stage begins; its E-step ended, or the whole of it. */
void vem_i_kept_begin(vem_i_kept *kept);
void vem_i_kept_lasted(vem_i_kept *kept, const vem_i_stage *stage, int whole);
/* Would a step of this stage, if it takes as long as the last of its kind, end after the
 * deadline? A kind that was not met yet takes as long as the longest. */
int vem_i_kept_too_late(const vem_i_kept *kept, const vem_ctx *ctx,
                        const vem_i_stage *stage);

#endif
