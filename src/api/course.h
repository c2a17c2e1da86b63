/* One course of a fit: from a first model to the last, through one or more loops.
 *
 *     starts    with few clusters: whole courses on a sample, the best of which begins the fit
 *               (starts.h); then nothing but `fit` and `finish` follows, unless the sample
               turns out to have missed what counts
 *     seed      means from rows of the data (or a model to start from)
 *     start     where the loop cannot swap, or k-means finds the same for less: hard k-means
 *               with swaps first, which is cheap and finds where the clusters belong
 *     listed    where the loop cannot swap and clusters have shapes: then the same with a few
 *               clusters for each row, and swaps that know the shapes
 *     fit       the loop that was asked for
 *     finish    with --finish hard: each row to one cluster, until that has converged
 *
 * Restarts are several courses. */
#ifndef VEM_API_COURSE_H
#define VEM_API_COURSE_H

#include "data/points.h"
#include "em/em.h"

/* What is known before a loop besides the model. */
typedef struct vem_i_beginning {
    int variance_unknown;
    int64_t shared_steps;
    int labels_known;
} vem_i_beginning;

struct vem_i_keeper; /* keeper.h */

typedef struct vem_i_course {
    /* What is asked. */
    vem_ctx *ctx;
    const vem_options *options; /* resolved */
    const vem_view *view;
    vem_i_points *points;   /* the rows of the view, to be put in order, or NULL */
    const vem_model *start; /* in the units of the data, or NULL */
    int ours; /* no preset: the course may take the way it likes, and the tolerance does not
                 depend on the units of the data */
    int reduced; /* the view is a coreset */
    uint64_t seed;
    const vem_model *first;      /* in the units of the view, or NULL */
    int apart;                   /* one of several starts on a sample (starts.h) */
    struct vem_i_keeper *keeper; /* of its state, or NULL */
    /* Where it is. */
    enum { VEM_I_LOOP_START, VEM_I_LOOP_LISTED, VEM_I_LOOP_FIT, VEM_I_LOOP_FINISH } at;
    int tried; /* it goes on from the best of several starts */
    enum {
        VEM_I_MISSED_NONE,
        VEM_I_MISSED_SOME, /* perhaps: far rows took many of its draws. Swaps look again */
        VEM_I_MISSED_PLACES, /* fewer distinct rows than clusters */
        VEM_I_MISSED_ROWS    /* rows that count are not like those of the sample */
    } missed;       /* by the sample; with the last two the starts are given up */
    int hard_start; /* there is, or was, a loop before the one asked for */
    vem_i_beginning beginning;
    vem_model *wanted;     /* during the start: the first model of the fit */
    int32_t loop_clusters; /* of the model at the beginning of the loop */
    double clock;          /* when the loops began, less what earlier runs took */
    /* What happened. */
    vem_model *model; /* in the units of the view */
    int32_t *labels;  /* n: the first cluster each item holds */
    vem_trace_step *trace;
    int64_t trace_count;
    vem_outcome outcome;
    int64_t steps, pairs, seed_pairs;
    double free_energy, free_energy_first;
    double seconds_seed, seconds_em;
} vem_i_course;

vem_status vem_i_course_run(vem_i_course *course);
void vem_i_course_free(vem_i_course *course);
/* Everything but the loop it is in. Read, it leaves the rows in order and a blank model of
 * the loop's family and clusters. */
void vem_i_course_record(vem_i_record *record, vem_i_course *course);
/* Does a loop with these options swap clusters? The price of a removal needs lists of what is
 * held. */
int vem_i_swaps_in_loop(const vem_options *options, const vem_i_search *search);

#endif
