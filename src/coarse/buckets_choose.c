/* The nearest buckets of the items of a block.
 *
 * An item wants the buckets whose costs keep to a limit that at least P of them keep to. The
 * limit is found by bisection of the range of the item's costs, for all items of the block
 * at once and without branches: a sort or a selection per item would take longer than the
 * distances themselves. Equal costs, and those closer together than the range over
 * 2^HALVINGS, may let in a few buckets more. */
#include <string.h>

#include "coarse/buckets.h"

enum { HALVINGS = 16 };

#define DEFINE_LIMITS(T)                                                                 \
    static void limits_##T(const T *costs, int32_t k, int32_t wanted, T *limits)         \
    {                                                                                    \
        T low[VEM_I_BLOCK], middle[VEM_I_BLOCK];                                         \
        for (int32_t p = 0; p < VEM_I_BLOCK; p++)                                        \
            low[p] = limits[p] = costs[p];                                               \
        for (int32_t c = 1; c < k; c++)                                                  \
            for (int32_t p = 0; p < VEM_I_BLOCK; p++) {                                  \
                T v = costs[(int64_t)c * VEM_I_BLOCK + p];                               \
                low[p] = v < low[p] ? v : low[p];                                        \
                limits[p] = v > limits[p] ? v : limits[p];                               \
            }                                                                            \
        for (int step = 0; step < HALVINGS; step++) {                                    \
            int32_t count[VEM_I_BLOCK] = {0}, settled = 0;                               \
            for (int32_t p = 0; p < VEM_I_BLOCK; p++)                                    \
                middle[p] = low[p] + (limits[p] - low[p]) / 2;                           \
            for (int32_t c = 0; c < k; c++)                                              \
                for (int32_t p = 0; p < VEM_I_BLOCK; p++)                                \
                    count[p] += costs[(int64_t)c * VEM_I_BLOCK + p] <= middle[p];        \
            for (int32_t p = 0; p < VEM_I_BLOCK; p++) {                                  \
                limits[p] = count[p] >= wanted ? middle[p] : limits[p];                  \
                /* Where the number is right, the bounds meet and stay. */               \
                low[p] = count[p] <= wanted ? middle[p] : low[p];                        \
                settled += !(low[p] < limits[p]);                                        \
            }                                                                            \
            if (settled == VEM_I_BLOCK)                                                  \
                break;                                                                   \
        }                                                                                \
    }                                                                                    \
    /* A bit for each of 64 items: is the cost within the limit? */                      \
    static uint64_t within_##T(const T *costs, const T *limits)                          \
    {                                                                                    \
        uint64_t bits = 0;                                                               \
        for (int p = 0; p < 64; p++)                                                     \
            bits |= (uint64_t)(costs[p] <= limits[p]) << p;                              \
        return bits;                                                                     \
    }                                                                                    \
    static void choose_##T(const T *costs, int32_t k, int32_t probes, uint64_t *wants,   \
                           int64_t stride)                                               \
    {                                                                                    \
        T limits[VEM_I_BLOCK];                                                           \
        limits_##T(costs, k, probes, limits);                                            \
        for (int64_t c = 0; c < k; c++)                                                  \
            for (int32_t w = 0; w < VEM_I_BLOCK / 64; w++)                               \
                wants[c * stride + w] =                                                  \
                    within_##T(costs + c * VEM_I_BLOCK + w * 64, limits + w * 64);       \
    }
/* A macro because the two compute types share the text and nothing else can be generic
 * here. */
DEFINE_LIMITS(float)
DEFINE_LIMITS(double)

void vem_i_buckets_choose(const vem_i_buckets *buckets, const vem_i_items *items,
                          int32_t probes, void *costs, uint64_t *wants, int64_t stride)
{
    const vem_i_scorer *scorer = &buckets->scorer;
    const vem_i_kernels *kernels = scorer->kernels;
    const int32_t n = (int32_t)items->n;
    if (n > 0 && probes < buckets->count) {
        /* Columns that no panel covers repeat the first, so that all are numbers. */
        int32_t slots = (n + kernels->panel - 1) / kernels->panel * kernels->panel;
        scorer->family->score_tile(scorer, items, 0, buckets->count, costs, VEM_I_BLOCK);
        for (int64_t k = 0; k < buckets->count && slots < VEM_I_BLOCK; k++) {
            double first = vem_i_value(kernels, costs, k * VEM_I_BLOCK);
            for (int32_t p = slots; p < VEM_I_BLOCK; p++)
                vem_i_store(kernels, costs, k * VEM_I_BLOCK + p, first);
        }
        if (kernels->precision == VEM_SINGLE)
            choose_float(costs, buckets->count, probes, wants, stride);
        else
            choose_double(costs, buckets->count, probes, wants, stride);
    }
    for (int32_t w = 0; w < VEM_I_BLOCK / 64; w++) {
        int32_t live = n - w * 64; /* items of this word */
        uint64_t mask = live >= 64  ? UINT64_MAX
                        : live <= 0 ? 0
                                    : ((uint64_t)1 << live) - 1;
        for (int64_t k = 0; k < buckets->count; k++)
            wants[k * stride + w] =
                n > 0 && probes < buckets->count ? wants[k * stride + w] & mask : mask;
    }
}
