/* The loop: E-step, end?, moves, M-step; and who watches it. */
#ifndef VEM_EM_EM_H
#define VEM_EM_EM_H

#include "em/schedule.h"
#include "em/trace.h"

struct vem_i_em;

/* What happens between steps outside the law of F: named in the trace. Returns how many
 * clusters it acted on, and its name. */
typedef int64_t (*vem_i_policy)(struct vem_i_em *em, int64_t step, const char **name);

/* What those are told who watch the steps of a loop: checkpoint, deadline, undo. */
typedef enum vem_i_event {
    VEM_I_STEP_BEGINS, /* the loop could be left here and entered again (em_record.c); with
                          em->within it was entered, and the E-step is done already */
    VEM_I_STEP_SCORED, /* the E-step is over; whoever answers 1 ends the loop with this step */
    VEM_I_STEP_LAST, /* the loop ends here, and could be entered again */
    VEM_I_STEP_ENDS, /* the M-step is over, and what follows it */
    VEM_I_STEP_LEFT  /* the E-step was given up in its middle */
} vem_i_event;

typedef struct vem_i_observer {
    int (*observe)(void *user, struct vem_i_em *em, vem_i_event event); /* or NULL */
    void *user;
} vem_i_observer;
enum { VEM_I_OBSERVERS = 2 };

typedef struct vem_i_em {
    /* What is asked. */
    vem_ctx *ctx;
    const vem_options *options; /* resolved */
    const vem_view *view;
    vem_i_search_spec search; /* the search itself is the E-step's */
    vem_i_constraints constraints;
    int64_t
        shared_steps; /* M-steps with one variance and flat weights before all is freed */
    int64_t steps_before;         /* of the loops before this one, for whoever is told */
    const vem_trace_step *before; /* the last of them, or NULL */
    int variance_unknown; /* all variances are one guess: the first E-step tells (HFL 8)
                           */
    int scale_free; /* the tolerance is a change of F beside D / 2, not beside |F| */
    vem_i_policy policy;
    vem_i_schedule schedule;
    struct vem_i_swaps *swaps; /* moves/swap.c, or NULL */
    int64_t (*swap)(struct vem_i_swaps *swaps, double *promised);
    vem_i_observer observers[VEM_I_OBSERVERS]; /* called in this order */
    int may_skip; /* whether an E-step may be given up (parallel.h): then it can be undone */
    /* What it works on. The model is in the units of the view. */
    vem_model *model;
    vem_i_scorer scorer;
    vem_i_estep *estep;
    vem_i_posterior posterior;
    vem_i_stats stats;
    /* Where it is: before step `step`, or within it, after its E-step. */
    int64_t step;
    int within;
    vem_i_step doing; /* in the step, where it is within one */
    /* What happened. */
    vem_outcome outcome; /* BUDGET with 0 steps: F and labels are not known */
    int64_t steps, pairs;
    int64_t moves; /* rounds in which the policy acted */
    double free_energy,
        free_energy_first; /* per unit of mass, in the units of the data */
    vem_i_trace trace;
} vem_i_em;

/* Takes all memory the loop needs. ctx, options, view, search, model are set by the
 * caller. */
vem_status vem_i_em_new(vem_i_em *em);
void vem_i_em_free(vem_i_em *em);
/* From the beginning, or from where a record left it. */
vem_status vem_i_em_run(vem_i_em *em);
/* Tells all observers. 1: one of them has had enough. */
int vem_i_em_observe(vem_i_em *em, vem_i_event event);
/* All that the rest of the loop depends on. Read into a loop that was made with the same
 * options and a model of as many clusters as there were at its beginning. */
void vem_i_em_record(vem_i_record *record, vem_i_em *em);
/* The change of F from one step to the next at which the loop rests. 0: when nothing moves. */
double vem_i_em_threshold(const vem_i_em *em, double free_energy);
/* About how many more steps until then (steps_left.c); 0: no idea. */
double vem_i_em_steps_left(const vem_i_em *em);
/* For moves: what is held is scored and weighed again with the scorer as it is now. Returns
 * F per unit of mass. */
double vem_i_em_again(vem_i_em *em);
uint64_t vem_i_em_bytes(const vem_ctx *ctx, const vem_options *options,
                        const vem_i_search_spec *search, const vem_i_kernels *kernels,
                        int64_t n, int32_t d, int weighted);

#endif
