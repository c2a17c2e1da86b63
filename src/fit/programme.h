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

#include "data/subset_apart.h"
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

/* What a loop goes on from, which is known only when it begins: how it looks for clusters then
 * is resolved for each. */
typedef enum vem_i_found {
    VEM_I_FOUND_LITTLE, /* a first model, or that of a loop over the same rows */
    VEM_I_FOUND_ALONG,  /* clusters along axes */
    VEM_I_FOUND_STARTS, /* the best of several starts on a sample, */
    VEM_I_FOUND_SOME,   /* which far rows crowded */
    VEM_I_FOUNDS
} vem_i_found;

typedef struct vem_i_looks {
    vem_i_search_spec search; /* seed and boxes are the attempt's */
    int64_t swaps;            /* rounds at most */
} vem_i_looks;

/* What a loop does with cells, where its items are some. */
typedef enum vem_i_cells_use {
    VEM_I_CELLS_STAY,
    VEM_I_CELLS_DIVIDE, /* where it rests (moves/refine.c) */
    VEM_I_CELLS_DESCEND /* it finds them anew before every step (moves/descend.h) */
} vem_i_cells_use;

typedef struct vem_i_stage {
    vem_i_stage_kind kind;
    vem_i_stage_nature is;
    /* Of its loop; max_steps as if there were no loop before it. Of the starts those of their runs. */
    vem_options options;
    vem_i_looks looks[VEM_I_FOUNDS]; /* of its loop */
    vem_i_cells_use cells;
    int priced;   /* prices change in it */
    int swapped;  /* clusters are swapped in it or before it: it takes fewer steps */
    int32_t axes; /* that its rows may have at most; 0: they have all columns */
    int halves;   /* it may take half of the steps that are left, not all */
    int leaves;   /* steps that it leaves to what follows */
    double share; /* of the time that is left, where there is a deadline */
    int instead;  /* only where the starts on a sample have found nothing to go on from */
    int when_crowded; /* ... or where far rows crowded their sample: it can swap */
    int optional; /* not after a stop, or without time, where a loop has run before it */
} vem_i_stage;

/* Where the first model is from. */
typedef enum vem_i_from {
    VEM_I_FROM_ROWS,
    VEM_I_FROM_MODEL,  /* --init */
    VEM_I_FROM_ATTEMPT /* another attempt left it, in the units of the view */
} vem_i_from;

enum { VEM_I_STAGES = 8 };

/* What a fit is for, and whose rows it has, beside its options. Others stay as they are when options are
 * tried. */
typedef struct vem_i_use {
    int only_seeds; /* only the first model is wanted: one seeding, in all columns */
    int by_columns; /* the tolerance does not depend on the units of the data, whatever the family */
    int different;  /* its rows have come several times, and weigh as often */
    vem_i_span own; /* the rows of this one of several processes, */
    int64_t whole;  /* of so many; 0: they are all */
} vem_i_use;

typedef struct vem_i_programme {
    vem_options options; /* resolved */
    int ours;            /* no preset: loops may be added */
    int scale_free;      /* the tolerance does not depend on the units of the data */
    vem_i_from from;
    int grows;   /* clusters are inserted */
    int reduced; /* the rows are a coreset */
    vem_i_use use;
    int64_t rows;  /* all that this process has, or those of the coreset */
    int celled;    /* the items are cells of them */
    int can_swap;  /* a loop over all of them can swap clusters */
    int64_t items; /* that are fitted, at most: the rows, or cells */
    vem_i_starts_plan starts;
    vem_i_stage stages[VEM_I_STAGES];
    int count;
} vem_i_programme;

/* Of a fit of n rows that have so many values each: d, or of sparse rows fewer. */
vem_i_programme vem_i_programme_of(const vem_options *resolved, int ours, int warm,
                                   int64_t n, int32_t d, int64_t row_values);
/* Of a loop from a model, or from rows, with these options as they are. */
vem_i_programme vem_i_programme_on_sample(const vem_options *options, vem_i_from from,
                                          int64_t items);
/* Of the starts on a sample, for a programme that has some: */
typedef struct vem_i_starts_programmes {
    vem_i_programme fresh;  /* from a seeding, */
    vem_i_programme moved;  /* from the best so far, with clusters moved; */
    vem_i_programme larger; /* of the best, which goes on with a larger sample */
} vem_i_starts_programmes;
vem_i_starts_programmes vem_i_programmes_of_starts(const vem_i_programme *programme);
/* It becomes that of a fit for this; what an earlier call has said stays. */
void vem_i_programme_use(vem_i_programme *programme, const vem_i_use *use);
/* The stage of this kind, or NULL. */
const vem_i_stage *vem_i_programme_find(const vem_i_programme *programme,
                                        vem_i_stage_kind kind);
/* Are they put into random blocks before the first loop (blocks.c)? */
int vem_i_programme_shuffles(const vem_i_programme *programme);
/* Are the rows put in another order, by that or, after the seeding, by their clusters? */
int vem_i_programme_orders(const vem_i_programme *programme);
/* Does a fit with these (resolved) options run on a coreset of its n rows? */
int vem_i_reduces(const vem_options *options, int64_t n);

#endif
