#include "seed/seed.h"

#include <math.h>

vem_status vem_i_seed(vem_ctx *ctx, const vem_view *view, vem_seeding method,
                      int32_t clusters, int64_t chain, uint64_t seed, vem_i_seeds *seeds)
{
    seeds->variance = NAN;
    seeds->pairs = 0;
    switch (method) {
    case VEM_SEED_RANDOM: return vem_i_seed_random(ctx, view, clusters, seed, seeds);
    case VEM_SEED_PLUSPLUS:
        return vem_i_seed_plusplus(ctx, view, clusters, 1, seed, seeds);
    case VEM_SEED_PLUSPLUS_GREEDY:
        return vem_i_seed_plusplus(ctx, view, clusters,
                                   2 + (int32_t)log((double)clusters), seed, seeds);
    case VEM_SEED_AFKMC2:
        return vem_i_seed_afkmc2(ctx, view, clusters, chain, seed, seeds);
    }
    return vem_i_fail(ctx, VEM_BAD_OPTION, "There is no seeding with number %d.",
                      (int)method);
}

int64_t vem_i_sampler_draw(const vem_i_sampler *sampler, vem_i_chance chance,
                           const void *arg, double uniform)
{
    double target = uniform * sampler->total, before = 0;
    int64_t shard = 0, last_shard = -1;
    for (int64_t s = 0; s < sampler->shards; s++) {
        if (sampler->sums[s] <= 0)
            continue;
        last_shard = shard = s;
        if (before + sampler->sums[s] > target)
            break;
        before += sampler->sums[s];
    }
    int64_t begin = shard * VEM_I_SEED_SHARD, end = begin + VEM_I_SEED_SHARD,
            last = begin;
    end = end < sampler->n ? end : sampler->n;
    if (last_shard < 0)
        return 0;
    for (int64_t i = begin; i < end; i++) {
        double share = chance(arg, i);
        if (share <= 0)
            continue;
        last =
            i; /* rounding may carry the target past the end: the last one that counts */
        before += share;
        if (before > target)
            break;
    }
    return last;
}
