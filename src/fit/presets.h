/* What a preset or the data fill into the options, and the loops that follow from them. */
#ifndef VEM_FIT_PRESETS_H
#define VEM_FIT_PRESETS_H

#include "base/options.h"

/* vem_options_resolve for options of ours; row_values: that a row has, d or of
 * sparse rows fewer. */
vem_status vem_i_options_resolve(vem_i_run *run, const vem_options *options, int64_t n,
                                 int32_t d, vem_dtype type, int64_t row_values,
                                 vem_options *resolved);

/* The search that tries every cluster, for what these options hold. */
int vem_i_whole_search(const vem_options *resolved);
/* Are all clusters kept for every row? Then there is no list of what is held. */
int vem_i_holds_all(const vem_options *resolved);

/* Is no preset asked for, so that how the fit goes is ours to choose: starts, swaps, loops before the last
 * one, cells? */
static inline int vem_i_is_ours(const vem_options *asked)
{
    return asked->algorithm == VEM_AUTO;
}

/* Does the fit begin with one cluster and insert the others, one at a time? Whatever its seeding
 * is, the first step makes that one the mean and shape of all rows. */
int vem_i_grows(const vem_options *options);

/* The family of mixtures whose number of clusters is looked for. */
int vem_i_mixture_family(void);
/* The same where there are too few rows for matrices. */
int vem_i_columns_family(void);
/* That of k-means. */
int vem_i_round_family(void);

/* Very fast EM (descent.c): are cells found from the root of the tree in every step? How deep it is, and
 * what does not go with it: before and after everything else is known. */
int vem_i_descends(const vem_options *options);
vem_status vem_i_settle_descent(vem_i_run *run, int64_t rows, vem_options *options);
vem_status vem_i_check_descent(vem_i_run *run, const vem_options *options);

/* Even clusters (balance.c): the loop with prices that comes after everything else, and what does
 * not go with them. n: rows; reduced: a coreset of them is fitted. */
vem_options vem_i_balanced(const vem_options *resolved);
vem_status vem_i_check_balance(vem_i_run *run, int64_t n, int reduced,
                               const vem_options *options);
/* The most that a cluster may hold, as a multiple of the mean; 0: any. */
static inline double vem_i_cap_of(const vem_options *options)
{
    return options->balance >= 1 ? options->balance : 0;
}

/* Incremental EM (blocks.c): in how many blocks, where nobody says the usual number of the preset (0:
 * one), and what does not go with them. */
vem_status vem_i_settle_blocks(vem_i_run *run, int64_t usual, vem_options *options);

/* Cells (cells_plan.c): how many, how deep the first of them lie among n rows, and what does not go
 * with them. */
int vem_i_fits_cells(int algorithm);
vem_status vem_i_settle_cells(vem_i_run *run, int64_t n, int32_t d, vem_options *options);
/* The same where a preset takes them and nobody said how many. */
vem_status vem_i_settle_preset_cells(vem_i_run *run, int64_t n, int32_t d,
                                     const vem_options *asked, vem_options *options);

/* What was asked for and would be ignored (check_moves.c). */
vem_status vem_i_check_moves(vem_i_run *run, const vem_options *asked,
                             const vem_options *resolved);
/* Is it a search by neighborhoods of clusters? */
int vem_i_by_neighbors(const vem_options *options);

/* Loops of one fit besides the one asked for (fit/attempt.h). `ours`: no preset. */
int vem_i_wants_hard_start(const vem_options *resolved, int ours);
vem_options vem_i_hard_start(const vem_options *resolved);
/* Where all clusters are kept for every row and swaps are wanted: after the hard start the
 * same family with few clusters for each row, which can swap. */
int vem_i_wants_listed_start(const vem_options *resolved);
vem_options vem_i_listed_start(const vem_options *resolved);
/* Few clusters: several starts on a sample come first (fit/starts.h). Families of counts have them
 * without swaps, which stay open (VEM_AUTO) then. */
enum { VEM_I_FEW_CLUSTERS = 64 };
int vem_i_wants_starts(const vem_options *resolved);
vem_options vem_i_hard_finish(const vem_options *resolved);

#endif
