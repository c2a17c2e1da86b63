/* The C' clusters of least cost among all (coarse/nearest.c). */
#include "coarse/nearest.h"

#include "search/search.h"

/* A step that compares all rows with all clusters does nothing else, and is faster. */
static const double WORK = 0.6;

static vem_i_block_shape shape(const vem_i_search_spec *spec,
                               const vem_i_kernels *kernels)
{
    (void)kernels;
    return vem_i_closest_shape(spec->held);
}

static double work(const vem_i_search_spec *spec, double n, double pair)
{
    (void)pair;
    return WORK * n * spec->clusters;
}

/* lazy-k-means: an item leaves its cluster a only for a b with (1 + margin) d_b < d_a. */
static void stay_within_margin(double margin, vem_i_block *block, const int32_t *before)
{
    const vem_i_scorer *s = block->scorer;
    const vem_i_kernels *kernels = s->kernels;
    void *costs = block->again.costs;
    double factor = (1 + margin) * (1 + margin);
    s->family->score_pairs(s, &block->items, 1, before, costs, block->capacity);
    for (int32_t p = 0; p < block->n; p++) {
        double own = vem_i_value(kernels, costs, p);
        if (before[p] >= 0 && !(factor * vem_i_value(kernels, block->costs, p) < own)) {
            block->index[p] = before[p];
            vem_i_store(kernels, block->costs, p, own);
        }
    }
}

static void find(vem_i_search *search, vem_i_block *block, const int32_t *before)
{
    vem_i_block_closest(block, search->spec.held, search->extra);
    block->pairs += (int64_t)block->n *
                    block->scorer->clusters; /* a second look is at the same pairs */
    if (search->spec.margin > 0 && before)
        stay_within_margin(search->spec.margin, block, before);
}

const vem_i_search_type vem_i_search_type_closest = {.size = sizeof(vem_i_search),
                                                     .apart = 1,
                                                     .takes_margin = 1,
                                                     .shape = shape,
                                                     .work = work,
                                                     .next_block = vem_i_search_next,
                                                     .find = find};
