#include "data/items.h"

void vem_i_items_add_traces(const vem_view *view, const vem_i_items *items, void *norms)
{
    const vem_i_kernels *kernels = view->kernels;
    for (int64_t p = 0; p < items->n; p++) {
        const int64_t at =
            (items->index ? (int64_t)items->index[p] : p) * items->spread_ld;
        vem_i_store(kernels, norms, p,
                    vem_i_value(kernels, norms, p) +
                        vem_i_value(kernels, items->spread, at));
    }
}

/* ---- rows of a temporary file that lie anywhere ---- */

enum {
    READ_BYTES = 1 << 18,  /* on the stack */
    READ_ROWS = 64,        /* whole panels */
    RUN = 4 * VEM_I_CHAIN, /* rows that iso_rows sums up before it goes on */
    AROUND = 64 << 10,     /* bytes that come in with a row */
    FEW = 4
};

/* Do most of these lie so far from the one before that each would bring in pages of its own? And is
 * there room for `rows` of them? */
static int lie_apart(const vem_i_items *items, int64_t rows)
{
    int64_t apart = 0;
    if (!items->spill || items->spill->file < 0 || !items->index || items->n < FEW ||
        (uint64_t)rows * items->row > READ_BYTES)
        return 0;
    for (int64_t p = 1; p < items->n; p++) {
        const int64_t from = items->index[p - 1], to = items->index[p],
                      rows_apart = from < to ? to - from : from - to;
        apart += (uint64_t)rows_apart * items->row >= AROUND;
    }
    return 2 * apart > items->n;
}

/* Items from `first` on, at most `most`, as rows in a row. */
static vem_i_items read_rows(const vem_i_items *items, int64_t first, int64_t most,
                             char *to)
{
    vem_i_items some = *items;
    some.n = items->n - first < most ? items->n - first : most;
    some.index = NULL;
    some.x = to;
    some.spill = NULL;
    for (int64_t p = 0; p < some.n; p++)
        vem_i_mapping_read(items->spill,
                           (const char *)items->x + items->index[first + p] * items->row,
                           items->row, to + (size_t)p * items->row);
    return some;
}

/* ---- kernels ---- */

static void pack(const vem_view *view, const void *origin, void *panels, void *norms,
                 const vem_i_items *items)
{
    if (items->how.type)
        view->kernels->stored_pack(&items->how, items->x, items->ld, items->index,
                                   (int32_t)items->n, view->d, origin, panels, norms);
    else
        view->kernels->pack(items->x, items->ld, items->index, (int32_t)items->n, view->d,
                            origin, panels, norms);
}

static void *behind(void *values, const vem_i_kernels *kernels, int64_t count)
{
    return values ? (char *)values + (size_t)count * kernels->element : NULL;
}

static __attribute__((noinline)) void pack_read(const vem_view *view, const void *origin,
                                                void *panels, void *norms,
                                                const vem_i_items *items)
{
    _Alignas(64) char rows[READ_BYTES];
    for (int64_t p = 0; p < items->n; p += READ_ROWS) {
        const vem_i_items some = read_rows(items, p, READ_ROWS, rows);
        pack(view, origin, behind(panels, view->kernels, p * view->d),
             behind(norms, view->kernels, p), &some);
    }
}

void vem_i_items_pack(const vem_view *view, const void *origin, void *panels, void *norms,
                      vem_i_items *items)
{
    if (vem_i_view_is_sparse(view))
        return;
    if (READ_ROWS % view->kernels->panel == 0 && lie_apart(items, READ_ROWS))
        pack_read(view, origin, panels, norms, items);
    else
        pack(view, origin, panels, norms, items);
    items->panels = panels;
    if (norms && items->spread_kind == VEM_I_SPREAD_TRACE)
        vem_i_items_add_traces(view, items, norms);
}

static void pairs(const vem_i_kernels *kernels, const vem_i_items *items, int32_t d,
                  const void *means, int64_t ldc, const void *scale, const void *bias,
                  int32_t m, const int32_t *index, void *costs, int64_t ldv)
{
    if (items->how.type)
        kernels->stored_pairs(&items->how, items->x, items->ld, items->index,
                              (int32_t)items->n, d, means, ldc, scale, bias, m, index,
                              costs, ldv);
    else
        kernels->iso_pairs(items->x, items->ld, items->index, (int32_t)items->n, d, means,
                           ldc, scale, bias, m, index, costs, ldv);
}

static __attribute__((noinline)) void
pairs_read(const vem_i_kernels *kernels, const vem_i_items *items, int32_t d,
           const void *means, int64_t ldc, const void *scale, const void *bias, int32_t m,
           const int32_t *index, void *costs, int64_t ldv)
{
    _Alignas(64) char rows[READ_BYTES];
    for (int64_t p = 0; p < items->n; p += READ_ROWS) {
        const vem_i_items some = read_rows(items, p, READ_ROWS, rows);
        pairs(kernels, &some, d, means, ldc, scale, bias, m, index + p,
              behind(costs, kernels, p), ldv);
    }
}

void vem_i_items_pairs(const vem_i_kernels *kernels, const vem_i_items *items, int32_t d,
                       const void *means, int64_t ldc, const void *scale,
                       const void *bias, int32_t m, const int32_t *index, void *costs,
                       int64_t ldv)
{
    if (lie_apart(items, READ_ROWS))
        pairs_read(kernels, items, d, means, ldc, scale, bias, m, index, costs, ldv);
    else
        pairs(kernels, items, d, means, ldc, scale, bias, m, index, costs, ldv);
}

static double add_rows(const vem_i_kernels *kernels, const vem_i_items *items,
                       const void *q, int32_t d, const void *mean, double *sum,
                       double *second)
{
    return items->how.type
               ? kernels->stored_rows(&items->how, items->x, items->ld, items->index, q,
                                      items->n, d, mean, sum, second)
               : kernels->iso_rows(items->x, items->ld, items->index, q, items->n, d,
                                   mean, sum, second);
}

static __attribute__((noinline)) double
add_rows_read(const vem_i_kernels *kernels, const vem_i_items *items, const void *q,
              int32_t d, const void *mean, double *sum, double *second)
{
    _Alignas(64) char rows[READ_BYTES];
    double total = 0;
    for (int64_t p = 0; p < items->n; p += RUN) {
        const vem_i_items some = read_rows(items, p, RUN, rows);
        const char *share = q ? (const char *)q + (size_t)p * kernels->element : NULL;
        add_rows(kernels, &some, share, d, mean, sum, second);
        for (int64_t k = 0; k < some.n; k++) /* one after the other, as the kernel does */
            total += q ? vem_i_value(kernels, q, p + k) : 1;
    }
    return total;
}

double vem_i_items_rows(const vem_i_kernels *kernels, const vem_i_items *items,
                        const void *q, int32_t d, const void *mean, double *sum,
                        double *second)
{
    return lie_apart(items, RUN) ? add_rows_read(kernels, items, q, d, mean, sum, second)
                                 : add_rows(kernels, items, q, d, mean, sum, second);
}
