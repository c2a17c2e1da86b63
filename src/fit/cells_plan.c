/* --cells: for whom, how many, and how deep the first of them lie.
 *
 * Cells pay where there are many rows in few columns and a step over all rows is expensive. What they
 * cannot see is finer than they are: rows that lie in exact planes, as integers and rounded values do,
 * let a cluster with a covariance of its own become as flat as the floor allows, and cells that mix such
 * rows with others end lower (bench/results/cells.md). So without --cells they are taken only where a look at
 * the rows finds hardly any value twice. */
#include "fit/cells_plan.h"

#include <stdlib.h>

#include "base/memory.h"
#include "fit/presets.h"
#include "model/family.h"

/* kd-em: so many for each cluster, and no fewer than these. With too few of them clusters
 * that share a cell become alike and stay so, and with few of them at first cells are divided
 * where they need not be: the first ones are many for each cluster (docs/math/cells.md). */
enum { CELLS_EACH = 256, CELLS_LEAST = 8192, FIRST_EACH = 128 };
/* Of many rows kd-em takes one cell in so many, up to so many for each cluster, because they
 * cost little beside a step over all rows. The first cells are as many then as there is room
 * for: from coarse ones many clusters come to another maximum, a lower one where values come
 * twice. And it ends where exact EM does, since the cut that it rests on is the one that is
 * fitted, while a coarse one is better left early. */
enum { CELLS_ROWS = 16, CELLS_MOST_EACH = 4096 };
static const double FINE_TOLERANCE = 1e-6;
enum { DEEPEST = 28 }; /* as deep as there is room */
/* Where they are our choice, from so many rows on. With a matrix for each of few clusters: so many cells for
 * each, and no fewer than these, in so many columns at most. With a variance for each column and many clusters:
 * the same, and so many rows for each cell. */
static const int64_t OURS_ROWS = 250000;
enum { OURS_EACH = 1024, OURS_LEAST = 32768, OURS_COLUMNS = 2 };
enum { MANY_EACH = 128, MANY_LEAST = 16384, MANY_COLUMNS = 3, MANY_ROWS = 4 };
/* Rows that are looked at for values that come twice, and how many may. */
enum { LOOKED_AT = 1024 };
static const double TWICE = 0.05;

/* Clusters that share a cell would become alike: so many cells for each, at least. */
enum { CELLS_FEWEST_EACH = 4 };

static int64_t at_least(int64_t cells, int64_t least)
{
    return cells > least ? cells : least;
}

vem_status vem_i_settle_preset_cells(vem_i_run *run, int64_t n, int32_t d,
                                     const vem_options *asked, vem_options *out)
{
    const int64_t least = at_least(CELLS_EACH * out->clusters, CELLS_LEAST);
    const int64_t most = at_least(CELLS_MOST_EACH * out->clusters, least);
    const int64_t some = n / CELLS_ROWS;
    out->cells = some < least ? least : some < most ? some : most;
    const vem_status status = vem_i_settle_cells(run, n, d, out);
    if (some <= least)
        return status;
    if (asked->depth == VEM_AUTO) /* the tree ends where there is no more room */
        out->depth = DEEPEST;
    if (asked->tolerance == VEM_AUTO)
        out->tolerance = FINE_TOLERANCE;
    return status;
}

int64_t vem_i_clusters_of_cells(int64_t cells)
{
    return at_least(cells / CELLS_FEWEST_EACH, 1);
}

static int has_starts(const vem_options *o)
{
    return vem_i_is_ours(o) && vem_i_wants_starts(o);
}

/* How many would pay where nobody asked; 0: none. */
static int64_t ours_of(const vem_options *o, int64_t n, int32_t d)
{
    const vem_i_family *family = vem_i_family_of(o->family);
    const int many = vem_i_is_ours(o) && o->swaps > 0 && o->clusters > VEM_I_FEW_CLUSTERS;
    if (n < OURS_ROWS || o->cells != VEM_AUTO || o->coreset != VEM_AUTO || o->blocks > 1)
        return 0;
    if (has_starts(o) && vem_i_has_matrices(family) && d <= OURS_COLUMNS)
        return at_least(OURS_EACH * o->clusters, OURS_LEAST);
    const int64_t each = at_least(MANY_EACH * o->clusters, MANY_LEAST);
    return many && vem_i_is_diagonal(family) && !family->shared && d <= MANY_COLUMNS &&
                   n / MANY_ROWS >= each
               ? each
               : 0;
}

/* An option about cells that was given; NULL: none. */
static const char *about_cells(const vem_options *o)
{
    return o->depth != VEM_AUTO    ? "depth"
           : o->expand != VEM_AUTO ? "expand"
           : o->gap != VEM_AUTO    ? "gap"
                                   : NULL;
}

vem_status vem_i_settle_cells(vem_i_run *run, int64_t n, int32_t d, vem_options *out)
{
    const int none = out->cells == VEM_AUTO || out->cells == 0;
    if (out->cells == 0 && !vem_i_is_ours(out) && vem_i_fits_cells(out->algorithm))
        return vem_i_fail(run, VEM_BAD_OPTION,
                          "--cells is 0, the rows themselves, but --algorithm %s fits "
                          "cells.",
                          vem_choice_name("algorithm", out->algorithm));
    /* Where cells may be our choice, a look at the rows decides (vem_i_choose_cells). */
    if (none && about_cells(out) && (out->cells == 0 || ours_of(out, n, d) == 0))
        return vem_i_fail(
            run, VEM_BAD_OPTION,
            "--%s needs --cells, or --algorithm kd-em or moore-em: it is about cells.",
            about_cells(out));
    if (none)
        return VEM_OK;
    const int64_t fewest = CELLS_FEWEST_EACH * out->clusters;
    if (out->cells < fewest && out->cells < n && out->clusters > 1)
        return vem_i_fail(
            run, VEM_BAD_OPTION,
            "--cells is %lld, but %lld clusters need at least %lld: clusters "
            "in the same cell would become alike.",
            (long long)out->cells, (long long)out->clusters, (long long)fewest);
    const int named = out->depth != VEM_AUTO;
    const int64_t first = FIRST_EACH * out->clusters;
    if (!named) /* as deep as the first cells want, and as there is room for them */
        for (out->depth = 0; out->depth < DEEPEST &&
                             (INT64_C(2) << out->depth) <= out->cells &&
                             (INT64_C(1) << out->depth) < first;)
            out->depth++;
    if (out->depth < DEEPEST && (INT64_C(1) << out->depth) > out->cells)
        return vem_i_fail(
            run, VEM_BAD_OPTION,
            "--depth is %lld, which is %lld cells, but --cells allows %lld.",
            (long long)out->depth, (long long)(INT64_C(1) << out->depth),
            (long long)out->cells);
    return VEM_OK;
}

/* ---- where nobody asked ---- */

static int compare(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

/* Do values of a column come twice? */
static vem_status look_for_ties(vem_i_run *run, const vem_data *data, int *ties)
{
    double *columns = NULL;
    const int64_t d = data->d;
    vem_status status =
        vem_i_take(run, &columns, LOOKED_AT * (size_t)(d + 1), sizeof(double));
    if (status != VEM_OK)
        return status;
    double *row = columns + LOOKED_AT * d;
    for (int64_t k = 0; k < LOOKED_AT; k++) {
        vem_i_data_load(data, k * (data->n / LOOKED_AT), 1, VEM_DOUBLE, row, d);
        for (int64_t j = 0; j < d; j++)
            columns[j * LOOKED_AT + k] = row[j];
    }
    *ties = 0;
    for (int64_t j = 0; j < d; j++) {
        double *column = columns + j * LOOKED_AT;
        int64_t twice = 0;
        qsort(column, LOOKED_AT, sizeof *column, compare);
        for (int64_t k = 1; k < LOOKED_AT; k++)
            twice += column[k] == column[k - 1];
        *ties = *ties || (double)twice > TWICE * LOOKED_AT;
    }
    vem_i_free(columns);
    return VEM_OK;
}

vem_status vem_i_choose_cells(vem_i_run *run, const vem_data *data, vem_options *out)
{
    const int64_t cells = data->sparse.starts ? 0 : ours_of(out, data->n, data->d);
    int ties = 0;
    if (cells == 0)
        return VEM_OK;
    vem_status status = look_for_ties(run, data, &ties);
    if (status == VEM_OK && ties && about_cells(out))
        return vem_i_fail(
            run, VEM_BAD_OPTION,
            "--%s is about cells, and this fit takes the rows themselves, because values "
            "come twice in a column: --cells %lld asks for cells.",
            about_cells(out), (long long)cells);
    if (status != VEM_OK || ties)
        return status;
    out->cells = cells;
    return vem_i_settle_cells(run, data->n, data->d, out);
}
