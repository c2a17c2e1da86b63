#include "seed/seed.h"

#include <math.h>

#include "base/memory.h"
#include "base/parallel.h"

int32_t vem_i_greedy_candidates(int32_t clusters)
{
    return 2 + (int32_t)log((double)clusters);
}

uint64_t vem_i_seed_bytes(const vem_ctx *ctx, vem_seeding method,
                          const vem_i_kernels *kernels, int64_t n, int32_t d,
                          int32_t clusters, int64_t chain)
{
    uint64_t items = (uint64_t)n, threads = (uint64_t)ctx->threads;
    uint64_t row = (uint64_t)d * kernels->element;
    uint64_t shards = (uint64_t)vem_i_shards(n, VEM_I_SEED_SHARD);
    uint64_t shard = VEM_I_SEED_SHARD * kernels->element;
    uint64_t many = method == VEM_SEED_PLUSPLUS_GREEDY
                        ? (uint64_t)vem_i_greedy_candidates(clusters)
                        : 1;
    switch (method) {
    case VEM_SEED_RANDOM: return items * 2 * sizeof(double); /* key and item */
    case VEM_SEED_PLUSPLUS:
    case VEM_SEED_PLUSPLUS_GREEDY:
        return items * sizeof(double) + threads * many * shard + many * row +
               shards * (many + 1) * sizeof(double);
    case VEM_SEED_TWO_LEVEL:
        return vem_i_seed_two_level_bytes(ctx, kernels, n, d, clusters);
    case VEM_SEED_AFKMC2:
        return items * sizeof(double) + shards * sizeof(double) +
               (uint64_t)clusters * (row + 3 * kernels->element) +
               vem_i_afkmc2_draw_bytes(clusters, chain, row) +
               (uint64_t)chain * sizeof(double) +
               threads * (VEM_I_BLOCK * (row + 32) + shard);
    }
    return 0;
}

static vem_status choose(vem_ctx *ctx, const vem_view *view, vem_seeding method,
                         int32_t clusters, int64_t chain, uint64_t seed,
                         vem_i_seeds *seeds)
{
    int32_t candidates = 2 + (int32_t)log((double)clusters);
    switch (method) {
    case VEM_SEED_RANDOM: return vem_i_seed_random(ctx, view, clusters, seed, seeds);
    case VEM_SEED_PLUSPLUS:
        return vem_i_seed_plusplus(ctx, view, clusters, 1, seed, seeds);
    case VEM_SEED_PLUSPLUS_GREEDY:
        return vem_i_seed_plusplus(ctx, view, clusters, candidates, seed, seeds);
    case VEM_SEED_AFKMC2:
        return vem_i_seed_afkmc2(ctx, view, clusters, chain, seed, seeds);
    case VEM_SEED_TWO_LEVEL:
        return vem_i_seed_two_level(ctx, view, clusters, seed, seeds);
    }
    return vem_i_fail(ctx, VEM_BAD_OPTION, "There is no seeding with number %d.",
                      (int)method);
}

vem_status vem_i_seed(vem_ctx *ctx, const vem_view *view, vem_seeding method,
                      int32_t clusters, int64_t chain, uint64_t seed, vem_i_seeds *seeds)
{
    seeds->variance = NAN;
    seeds->pairs = 0;
    seeds->chosen = 0;
    for (int64_t i = 0; i < view->n && seeds->first; i++)
        seeds->first[i] = -1; /* a method writes what it knows */
    vem_status status = choose(ctx, view, method, clusters, chain, seed, seeds);
    /* Stopped or late: there are no items after those that were chosen. */
    if (status == VEM_OK && (ctx->stop_requested || seeds->chosen < clusters))
        return vem_i_fail(ctx, VEM_STOPPED, "Stopped while the seeds were chosen.");
    return status;
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
