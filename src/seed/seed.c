#include "seed/seed.h"

#include <math.h>

#include "base/parallel.h"

int32_t vem_i_greedy_candidates(int32_t clusters)
{
    return 2 + (int32_t)log((double)clusters);
}

static vem_status choose(vem_i_run *run, const vem_view *view, vem_seeding method,
                         int32_t clusters, int64_t chain, uint64_t seed,
                         vem_i_seeds *seeds)
{
    switch (method) {
    case VEM_SEED_RANDOM: return vem_i_seed_random(run, view, clusters, seed, seeds);
    case VEM_SEED_PLUSPLUS:
        return vem_i_seed_plusplus(run, view, clusters, 1, seed, seeds);
    case VEM_SEED_PLUSPLUS_GREEDY:
        return vem_i_seed_plusplus(run, view, clusters, vem_i_greedy_candidates(clusters),
                                   seed, seeds);
    case VEM_SEED_AFKMC2:
        return vem_i_seed_afkmc2(run, view, clusters, chain, seed, seeds);
    case VEM_SEED_TWO_LEVEL:
        return vem_i_seed_two_level(run, view, clusters, seed, seeds);
    }
    return vem_i_fail(run, VEM_BAD_OPTION, "There is no seeding with number %d.",
                      (int)method);
}

vem_status vem_i_seed(vem_i_run *run, const vem_view *view, vem_seeding method,
                      int32_t clusters, int64_t chain, uint64_t seed, vem_i_seeds *seeds)
{
    seeds->variance = NAN;
    seeds->pairs = 0;
    seeds->chosen = 0;
    for (int64_t i = 0; i < view->n && seeds->first; i++)
        seeds->first[i] = -1; /* a method writes what it knows */
    vem_status status = choose(run, view, method, clusters, chain, seed, seeds);
    if (run->counted)
        return status;
    /* Stopped or late: there are no items after those that were chosen. */
    if (status == VEM_OK && (run->watch->stop || seeds->chosen < clusters))
        return vem_i_fail_stopped(run, "while the seeds were chosen");
    return status;
}

static int64_t begin_of(const vem_i_sampler *sampler, int64_t shard)
{
    return vem_i_view_shard(sampler->view, VEM_I_SEED_SHARD, shard);
}

void vem_i_sampler_by_mass(vem_i_sampler *sampler)
{
    for (int64_t s = 0; s < sampler->shards; s++) {
        const int64_t end = begin_of(sampler, s + 1);
        sampler->sums[s] = 0;
        for (int64_t i = begin_of(sampler, s); i < end; i++)
            sampler->sums[s] += vem_i_view_mass(sampler->view, i);
    }
    sampler->total = vem_i_sum(sampler->sums, sampler->shards);
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
    int64_t begin = begin_of(sampler, shard), end = begin_of(sampler, shard + 1),
            last = begin;
    if (last_shard < 0)
        return 0;
    for (int64_t i = begin; i < end; i++) {
        double share = chance ? chance(arg, i) : vem_i_view_mass(sampler->view, i);
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
