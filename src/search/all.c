/* Every cluster is tried, and the costs of all of them are kept. With held < C the others
 * are then set to +inf, which makes their probabilities exactly 0: the C' closest, for C'
 * too long for sorted lists. */
#include <math.h>

#include "search/search.h"

/* The k-th smallest of n values of type T (k from 0), by quickselect; reorders them. */
#define DEFINE_KTH(T)                                                                    \
    static T kth_##T(T *a, int32_t n, int32_t k)                                         \
    {                                                                                    \
        int32_t low = 0, high = n - 1;                                                   \
        while (low < high) {                                                             \
            T pivot = a[low + (high - low) / 2];                                         \
            int32_t i = low, j = high;                                                   \
            while (i <= j) {                                                             \
                while (a[i] < pivot)                                                     \
                    i++;                                                                 \
                while (a[j] > pivot)                                                     \
                    j--;                                                                 \
                if (i <= j) {                                                            \
                    T swap = a[i];                                                       \
                    a[i++] = a[j];                                                       \
                    a[j--] = swap;                                                       \
                }                                                                        \
            }                                                                            \
            if (k <= j)                                                                  \
                high = j;                                                                \
            else if (k >= i)                                                             \
                low = i;                                                                 \
            else                                                                         \
                break;                                                                   \
        }                                                                                \
        return a[k];                                                                     \
    }                                                                                    \
    /* Keep the `held` least costs of every item; of equal ones the lowest clusters. */  \
    static void truncate_##T(T *costs, int64_t ldv, int32_t n, int32_t clusters,         \
                             int32_t held, T *column)                                    \
    {                                                                                    \
        for (int32_t p = 0; p < n; p++) {                                                \
            for (int32_t c = 0; c < clusters; c++)                                       \
                column[c] = costs[c * ldv + p];                                          \
            T limit = kth_##T(column, clusters, held - 1);                               \
            int32_t below = 0;                                                           \
            for (int32_t c = 0; c < clusters; c++)                                       \
                below += costs[c * ldv + p] < limit;                                     \
            for (int32_t c = 0, ties = held - below; c < clusters; c++) {                \
                T *cost = &costs[c * ldv + p];                                           \
                if (*cost > limit || (*cost == limit && ties-- <= 0))                    \
                    *cost = (T)INFINITY;                                                 \
            }                                                                            \
        }                                                                                \
    }
/* A macro because the two compute types share the text and nothing else can be generic
 * here. */
DEFINE_KTH(float)
DEFINE_KTH(double)

static void fill_row(const vem_i_kernels *kernels, void *row, int32_t *index, int32_t n)
{
    for (int32_t p = 0; p < n; p++) {
        vem_i_store(kernels, row, p, INFINITY);
        index[p] = -1;
    }
}

static void find(const vem_i_search *search, vem_i_block *block, const int32_t *before)
{
    (void)before;
    const vem_i_scorer *scorer = block->scorer;
    const vem_i_kernels *kernels = scorer->kernels;
    int32_t n = block->n, clusters = scorer->clusters, ldv = block->capacity;
    scorer->family->score_tile(scorer, block->panels, n, 0, clusters, block->costs, ldv);
    block->pairs += (int64_t)n * clusters;
    fill_row(kernels, block->best, block->nearest, ldv);
    kernels->select_top(block->costs, NULL, n, clusters, 0, 1, block->best,
                        block->nearest, ldv);
    if (search->held >= clusters)
        return;
    if (kernels->precision == VEM_SINGLE)
        truncate_float(block->costs, ldv, n, clusters, search->held, block->column);
    else
        truncate_double(block->costs, ldv, n, clusters, search->held, block->column);
}

vem_i_search vem_i_search_all(int32_t clusters)
{
    return (
        vem_i_search){.kind = VEM_SEARCH_ALL, .held = clusters, .dense = 1, .find = find};
}
