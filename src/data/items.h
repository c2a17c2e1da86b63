/* Some items of a view, as a family scores and collects them, with all that a view knows of
 * each: its place, how the points it stands for lie about that (spread), and what it adds to
 * the log-likelihood under every cluster alike (log_base). A plain struct, made per block. */
#ifndef VEM_DATA_ITEMS_H
#define VEM_DATA_ITEMS_H

#include "data/view.h"

typedef struct vem_i_items {
    int64_t n;
    const uint32_t *index; /* item p is row index[p] of the arrays below; NULL: row p */
    const void *x;         /* rows of T, ld apart */
    int64_t ld;
    vem_i_mapping *spill; /* the temporary file that x is in; NULL: memory */
    size_t row;           /* bytes from one row to the next */
    vem_i_stored how;     /* or of a narrower type (view.h) */
    vem_i_sparse sparse;  /* or sparse rows, which are not packed; then x is NULL */
    const void *panels; /* the same items packed (kernels.h), their spreads packed behind;
                           NULL: they are not */
    vem_i_spread_kind spread_kind;
    const void *spread; /* rows of T, spread_ld apart; NULL where the kind is none */
    int64_t spread_ld;
    const double *log_base; /* NULL: all 0 */
} vem_i_items;

/* Listed items, counted from item `first` of the view, or (index NULL) the n from there on. */
static inline vem_i_items vem_i_items_at(const vem_view *view, int64_t first,
                                         const uint32_t *index, int64_t n)
{
    vem_i_items items = {.n = n,
                         .index = index,
                         .x = view->x ? vem_i_view_place(view, first) : NULL,
                         .ld = view->ld,
                         .spill = vem_i_view_file(view),
                         .row = (size_t)view->ld * vem_i_view_element(view),
                         .how = vem_i_view_how(view),
                         .sparse = vem_i_sparse_from(view->sparse, first),
                         .spread_kind = view->spread_kind,
                         .spread_ld = view->spread_ld};
    if (view->spread)
        items.spread = (const char *)view->spread +
                       (size_t)(first * view->spread_ld) * view->kernels->element;
    if (view->log_base)
        items.log_base = view->log_base + first;
    return items;
}

/* Squared lengths become mean squared lengths of the points that an item stands for, so that
 * scaled distances from them are true costs. */
void vem_i_items_add_traces(const vem_view *view, const vem_i_items *items, void *norms);

/* Of rows in a temporary file those that lie far from each other are read, not looked at: a page that
 * is mapped brings in those around it, for a row of each. The same bits. */

/* Pack them, about `origin` (NULL: 0); norms: NULL or one value each, as the kernel says, and
 * the trace of the spread where that is all it says. */
void vem_i_items_pack(const vem_view *view, const void *origin, void *panels, void *norms,
                      vem_i_items *items);
/* iso_pairs and iso_rows of the items, however they are stored. */
void vem_i_items_pairs(const vem_i_kernels *kernels, const vem_i_items *items, int32_t d,
                       const void *means, int64_t ldc, const void *scale,
                       const void *bias, int32_t m, const int32_t *index, void *costs,
                       int64_t ldv);
double vem_i_items_rows(const vem_i_kernels *kernels, const vem_i_items *items,
                        const void *q, int32_t d, const void *mean, double *sum,
                        double *second);

#endif
