/* Every cluster is tried, and the costs of all of them are kept. With held < C the others
 * are then set to +inf, which makes their probabilities exactly 0: the C' closest, for C'
 * too long for sorted lists. */
#include <math.h>

#include "search/search.h"

/* Costs of a dense block should stay in a core's second-level cache. */
static const size_t BLOCK_BYTES = 1 << 19;

typedef struct scratch {
    void *column; /* one item's costs, for the choice of C' among C */
} scratch;

static vem_i_block_shape shape(const vem_i_search_spec *spec,
                               const vem_i_kernels *kernels)
{
    const size_t panel = (size_t)kernels->panel;
    size_t items = BLOCK_BYTES / kernels->element / (size_t)spec->capacity;
    items = items / panel * panel;
    items = items < panel ? panel : items > VEM_I_BLOCK ? VEM_I_BLOCK : items;
    return (vem_i_block_shape){.items = (int32_t)items,
                               .packed = items,
                               .rows = (size_t)spec->capacity,
                               .dense = 1};
}

static size_t list_scratch(const vem_i_search_spec *spec, int32_t d,
                           const vem_i_kernels *kernels, void *of, vem_i_room *list)
{
    (void)d;
    const size_t values = spec->held < spec->capacity ? (size_t)spec->capacity : 0;
    list[0] = (vem_i_room){&((scratch *)of)->column, values, kernels->element, 0};
    return 1;
}

static double work(const vem_i_search_spec *spec, double n, double pair)
{
    return n * spec->clusters * (1 + 20 / pair); /* exponentials */
}

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

static void find(vem_i_search *search, vem_i_block *block, const int32_t *before)
{
    (void)before;
    const vem_i_scorer *scorer = block->scorer;
    const vem_i_kernels *kernels = scorer->kernels;
    int32_t n = block->n, clusters = scorer->clusters, ldv = block->capacity;
    int32_t held = search->spec.held;
    scorer->family->score_tile(scorer, &block->items, 0, clusters, block->costs, ldv);
    block->pairs += (int64_t)n * clusters;
    vem_i_block_clear(kernels, block->best, block->nearest, 1, ldv, ldv);
    kernels->select_top(block->costs, NULL, n, clusters, 0, 1, block->best,
                        block->nearest, ldv);
    if (held >= clusters)
        return;
    const scratch *own = block->scratch;
    if (kernels->precision == VEM_SINGLE)
        truncate_float(block->costs, ldv, n, clusters, held, own->column);
    else
        truncate_double(block->costs, ldv, n, clusters, held, own->column);
}

const vem_i_search_type vem_i_search_type_all = {.size = sizeof(vem_i_search),
                                                 .apart = 1,
                                                 .scratch_size = sizeof(scratch),
                                                 .scratch = list_scratch,
                                                 .shape = shape,
                                                 .work = work,
                                                 .next_block = vem_i_search_next,
                                                 .find = find};
