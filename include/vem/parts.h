/* Fits in parts for any scheduler: processes that need not run at the same time, and meet in a folder.
 *
 * Under a context that was given a part vem_fit is what one of several processes does (vem/mpi.h): each
 * has a stretch of the rows, and model, labels and report get the bits of one process. What a process has to say to
 * the others it leaves as files in a folder that all see; where it needs what is not there yet it waits as
 * long as it may, and then its caller is told, who ends it. Made again with the same data, options and
 * part, the call goes on from its last step: nothing is lost but what it did since. Each part is called again
 * and again, in any order, here or elsewhere, at the same time as others or not, until vem_fit has given its result.
 * A part that is called twice says the same twice; one that says something else than before is refused. */
#ifndef VEM_PARTS_H
#define VEM_PARTS_H

#include "vem.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Parts for any scheduler ---- */

/* Which part of how many a context is. */
typedef struct vem_parts_options {
    size_t size;         /* sizeof(vem_parts_options) */
    const char *folder;  /* where the parts meet; copied */
    int32_t part, parts; /* this one, from 1, and how many there are: 1 to 64 */
    double wait;         /* seconds to wait for what another part has not said yet */
    /* Told when it has waited for part `awaited`; 0: `sentence` says what is wrong. It should end the
     * process: where it returns, or is NULL, the verb fails, after it has ended what it was at. */
    void (*leaves)(void *user, int32_t awaited, const char *sentence);
    void *user; /* for that */
} vem_parts_options;

/* NULL: no part any more. The folder is made where it is not there. The state of vem_fit is kept in it: the
 * checkpoint of the context is its own then. */
VEM_API vem_status vem_ctx_set_parts(vem_ctx *ctx, const vem_parts_options *options);
/* All that this part had to write is written. sentence: instead, why it cannot be; or NULL. */
VEM_API vem_status vem_parts_end(vem_ctx *ctx, const vem_parts_options *options,
                                 const char *sentence);

/* What is to be done with a part. */
typedef enum vem_part_state {
    VEM_PART_CALL = 0, /* to be called, for the first time or again: it can go on */
    VEM_PART_WAITS,    /* not to be called yet: others have to be before */
    VEM_PART_DONE,     /* it has ended */
    VEM_PART_FAILED    /* it cannot go on, as vem_parts_end was told */
} vem_part_state;

/* Of each of `parts` parts; `sentence` gets why the first that failed did, cut to `size` bytes. */
VEM_API vem_status vem_parts_look(vem_ctx *ctx, const char *folder, int32_t parts,
                                  vem_part_state *states, char *sentence, size_t size);
/* Parts that failed are to be called again; with `all` what parts have said and kept goes, as after the end
 * of a fit. */
VEM_API vem_status vem_parts_clear(vem_ctx *ctx, const char *folder, int32_t parts,
                                   int all);

#ifdef __cplusplus
}
#endif

#endif
