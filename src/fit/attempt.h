/* One attempt at the programme of a fit: from a first model to the last, through its stages.
 * Restarts, and starts on a sample, are several attempts. */
#ifndef VEM_FIT_ATTEMPT_H
#define VEM_FIT_ATTEMPT_H

#include "coarse/leading.h"
#include "data/cells.h"
#include "data/points.h"
#include "em/em.h"
#include "fit/checkpoint.h"
#include "fit/programme.h"
#include "model/path.h"

/* What is known before a loop besides the model. */
typedef struct vem_i_beginning {
    int variance_unknown;
    int64_t shared_steps;
    int labels_known;
    int lifted;  /* and the means are to be those of what is held (attempt_leading.c) */
    int cut;     /* the limit of steps has ended the loop before it */
    int guarded; /* the first step tells whether the sample was like all rows */
} vem_i_beginning;

typedef struct vem_i_attempt {
    /* What is asked. */
    vem_i_run *run;
    const vem_i_programme *programme;
    const vem_view *view;
    vem_i_points *points; /* the rows of the view, to be put in order, or NULL */
    vem_i_cells *cells;   /* the view is their cut, or NULL */
    const struct vem_i_boxes
        *boxes; /* of the view, for loops that take some (search/boxes.h), or NULL */
    int still;  /* cells stay as they are: this is one of several starts */
    struct vem_i_met *met; /* partitions that the starts before it met (met.h), or NULL */
    const vem_model
        *start; /* the programme says from where, and in which units; or NULL */
    const int32_t
        *first; /* clusters of that one which are near the items, one for each; or NULL */
    uint64_t seed;
    const struct vem_i_conjugate *conjugate; /* prior of the parameters, or NULL */
    double price;                            /* of a parameter, per unit of mass */
    vem_i_checkpoint *checkpoint;            /* of its state, or NULL */
    vem_path *
        path; /* takes the mixture of each number of clusters at which it rests; or NULL */
    int64_t most; /* clusters that may be inserted, no more than distinct rows; 0: all */
    /* Runs the starts on a sample (starts.h); for programmes that have some. */
    vem_status (*run_starts)(struct vem_i_attempt *attempt);
    /* While it looks along axes `view` and `points` are the rows there, and these all of them. */
    vem_i_leading leading;
    const vem_view *whole_view;
    vem_i_points *whole_points;
    int32_t axes; /* of its loop along axes; 0: there is none */
    /* Where it is. */
    int at;              /* the stage */
    int started;         /* it goes on from the best of several starts */
    int looping;         /* its loops have begun */
    int again;           /* it came to what a start before it had, and ended */
    vem_status kept;     /* not VEM_OK: there was no memory for the path */
    vem_i_missed missed; /* by the sample of its starts */
    double least; /* F of all rows, where the sample was like them; -inf: not asked */
    vem_i_beginning beginning;
    vem_model *wanted;     /* during the start by k-means: the first model of the fit */
    int32_t loop_clusters; /* of the model at the beginning of the loop */
    double began, clock;   /* when it did, and its loops, less what earlier runs took */
    /* What happened. */
    vem_model *model; /* in the units of the view */
    int32_t *labels;  /* n, or the most cells: the first cluster each item holds */
    vem_i_trace trace;
    vem_outcome outcome;
    int64_t steps, pairs, seed_pairs;
    double free_energy, free_energy_first;
    double seconds_seed, seconds_em;
} vem_i_attempt;

vem_status vem_i_attempt_run(vem_i_attempt *attempt);
void vem_i_attempt_free(vem_i_attempt *attempt);

#endif
