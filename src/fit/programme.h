/* The programme of a fit: what runs, in order, resolved once from the options. Whoever runs it,
 * plans its memory, estimates its time, reports it or writes its state walks the same array.
 *
 *     starts    with few clusters: whole attempts on a sample, the best of which begins the fit
 *               (starts.h); then nothing but `fit` and `finish` follows, unless far rows crowd
 *               the sample (`listed` comes too) or it has missed what counts (all the others)
 *     seed      means from rows of the data
 *     leading   hard fits of many columns: the loop along a few principal axes of the rows, where
 *               these serve (coarse/leading.h); then `fit` only settles, in all columns
 *     k-means   where the loop cannot swap, or k-means finds the same for less: hard k-means
 *               with swaps first, which is cheap and finds where the clusters belong
 *     listed    where the loop cannot swap and clusters have shapes: then the same with a few
 *               clusters for each row, and swaps that know the shapes
 *     fit       the loop that was asked for
 *     finish    with --finish hard: each row to one cluster, until that has converged
 *     balance   with --balance: steps in which prices of large clusters change
 *
 * Restarts are several attempts at the same programme. */
#ifndef VEM_FIT_PROGRAMME_H
#define VEM_FIT_PROGRAMME_H

#include "fit/presets.h"
#include "fit/starts_plan.h"
#include "search/search.h"

typedef enum vem_i_stage_kind {
    VEM_I_STAGE_STARTS,
    VEM_I_STAGE_SEED,
    VEM_I_STAGE_LEADING,
    VEM_I_STAGE_KMEANS,
    VEM_I_STAGE_LISTED,
    VEM_I_STAGE_FIT,
    VEM_I_STAGE_FINISH,
    VEM_I_STAGE_BALANCE
} vem_i_stage_kind;

/* Numbers of loops in state files: they stay. */
typedef enum vem_i_loop_number {
    VEM_I_LOOP_LEADING = -1,
    VEM_I_LOOP_KMEANS,
    VEM_I_LOOP_LISTED,
    VEM_I_LOOP_FIT,
    VEM_I_LOOP_FINISH,
    VEM_I_LOOP_BALANCE
} vem_i_loop_number;

/* What a kind is, whatever comes before or after it. */
typedef struct vem_i_stage_nature {
    int loop;                 /* E- and M-steps, */
    int whole;                /* in all columns; */
    int after;                /* of a fit that has had the loop that was asked for */
    vem_i_loop_number number; /* of a loop */
} vem_i_stage_nature;

/* Steps that a fit must be allowed for a loop along axes: one, and one of all columns. */
enum { VEM_I_LEADING_STEPS = 2 };

typedef struct vem_i_stage {
    vem_i_stage_kind kind;
    vem_i_stage_nature is;
    vem_options options; /* of its loop; max_steps as if there were no loop before it */
    int32_t axes;        /* that its rows may have at most; 0: they have all columns */
    int halves;          /* it may take half of the steps that are left, not all */
    double share;        /* of the time that is left, where there is a deadline */
    int instead; /* only where the starts on a sample have found nothing to go on from */
    int looks_again; /* ... or where far rows crowded their sample: it can swap */
    int optional; /* not after a stop, or without time, where a loop has run before it */
} vem_i_stage;

/* Where the first model is from. */
typedef enum vem_i_from {
    VEM_I_FROM_ROWS,
    VEM_I_FROM_MODEL,  /* --init */
    VEM_I_FROM_ATTEMPT /* another attempt left it, in the units of the view */
} vem_i_from;

enum { VEM_I_STAGES = 8 };

typedef struct vem_i_programme {
    vem_options options; /* resolved */
    int ours;            /* no preset: loops may be added */
    int scale_free;      /* the tolerance does not depend on the units of the data */
    vem_i_from from;
    int grows;     /* clusters are inserted */
    int reduced;   /* the rows are a coreset */
    int different; /* they have come several times, and weigh as often */
    int64_t rows;  /* all, or those of the coreset */
    int celled;    /* the items are cells of them */
    int64_t items; /* that are fitted, at most: the rows, or cells */
    vem_i_starts_plan starts;
    vem_i_stage stages[VEM_I_STAGES];
    int count;
} vem_i_programme;

/* Of a fit of n rows that have so many values each: d, or of sparse rows fewer. */
vem_i_programme vem_i_programme_of(const vem_options *resolved, int ours, int warm,
                                   int64_t n, int32_t d, int64_t row_values);
/* Of one of the starts on a sample, with the options of starts_plan.h. */
vem_i_programme vem_i_programme_on_sample(const vem_options *options, vem_i_from from,
                                          int64_t items);
/* Of the best of them, which goes on with a larger sample. */
vem_i_programme vem_i_programme_on_larger(const vem_options *options, int64_t items);
/* What is left of it where only the first model is wanted: one seeding, in all columns. */
void vem_i_programme_only_seeds(vem_i_programme *programme);
/* The stage of this kind, or NULL. */
const vem_i_stage *vem_i_programme_find(const vem_i_programme *programme,
                                        vem_i_stage_kind kind);
/* Are they put into random blocks before the first loop (blocks.c)? */
int vem_i_programme_shuffles(const vem_i_programme *programme);
/* Are the rows put in another order, by that or, after the seeding, by their clusters? */
int vem_i_programme_orders(const vem_i_programme *programme);
/* Does a fit with these (resolved) options run on a coreset of its n rows? */
int vem_i_reduces(const vem_options *options, int64_t n);
/* Is a loop with these options the one in which prices change? */
int vem_i_priced(const vem_options *options);
/* Does a loop with these options swap clusters? The price of a removal needs lists of what is
 * held. */
int vem_i_swaps_in_loop(const vem_options *options, const vem_i_search_spec *search);

#endif
