/* The loop: E-step, converged?, M-step, policy. */
#ifndef VEM_EM_EM_H
#define VEM_EM_EM_H

#include "em/schedule.h"

struct vem_i_em;

/* What happens between steps outside the law of F: named in the trace. Returns how many
 * clusters it acted on, and its name. */
typedef int64_t (*vem_i_policy)(struct vem_i_em *em, int64_t step, const char **name);

typedef struct vem_i_em {
    /* What is asked. */
    vem_ctx *ctx;
    const vem_options *options; /* resolved */
    const vem_view *view;
    vem_i_search search;
    vem_i_constraints constraints;
    int64_t
        shared_steps; /* M-steps with one variance and flat weights before all is freed */
    int64_t steps_before; /* of the loops before this one, for whoever is told */
    int variance_unknown; /* all variances are one guess: the first E-step tells (HFL 8)
                           */
    int scale_free; /* the tolerance is a change of F beside D / 2, not beside |F| */
    vem_i_policy policy;
    vem_i_schedule schedule;
    struct vem_i_swaps *swaps; /* moves/swap.c, or NULL */
    int64_t (*swap)(struct vem_i_swaps *swaps, double *promised);
    /* Called where the loop could be left and entered again (em_record.c), or NULL. `must`:
     * it ends here. */
    void (*keep)(void *user, struct vem_i_em *em, int must);
    void *keep_user;
    /* What it works on. The model is in the units of the view. */
    vem_model *model;
    vem_i_scorer scorer;
    vem_i_estep *estep;
    vem_i_posterior posterior;
    vem_i_stats stats;
    struct vem_i_kept *kept; /* em/keep.h, where a step may be given up; else NULL */
    int may_leave;           /* a stop gives up the step at hand */
    /* Where it is: before step `step`, or within it, after its E-step. */
    int64_t step;
    int within;
    vem_i_stage stage; /* of the step, where it is within one */
    /* What happened. */
    vem_outcome outcome; /* BUDGET with 0 steps: F and labels are not known */
    int64_t steps, pairs;
    int64_t moves; /* rounds in which the policy acted */
    double free_energy,
        free_energy_first; /* per unit of mass, in the units of the data */
    vem_trace_step *trace;
    int64_t trace_count, trace_capacity;
} vem_i_em;

/* Takes all memory the loop needs. ctx, options, view, search, model are set by the
 * caller. */
vem_status vem_i_em_new(vem_i_em *em);
/* Operations of a step from which on a stop leaves it in its middle; tests change it. */
extern double vem_i_worth_leaving;
void vem_i_em_free(vem_i_em *em);
/* From the beginning, or from where a record left it. */
vem_status vem_i_em_run(vem_i_em *em);
/* All that the rest of the loop depends on. Read into a loop that was made with the same
 * options and a model of as many clusters as there were at its beginning. */
void vem_i_em_record(vem_i_record *record, vem_i_em *em);
/* The change of F from one step to the next at which the loop rests. 0: when nothing moves. */
double vem_i_em_threshold(const vem_i_em *em, double free_energy);
/* About how many more steps until then (outlook.c); 0: no idea. */
double vem_i_em_outlook(const vem_i_em *em);
/* For moves: what is held is scored and weighed again with the scorer as it is now. Returns
 * F per unit of mass. */
double vem_i_em_again(vem_i_em *em);
uint64_t vem_i_em_bytes(const vem_ctx *ctx, const vem_options *options,
                        const vem_i_search *search, const vem_i_kernels *kernels,
                        int64_t n, int32_t d, int weighted);

#endif
