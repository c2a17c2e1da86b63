#include "seed/seed.h"

#include <math.h>

#include "base/memory.h"
#include "base/parallel.h"
#include "data/together.h"

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

vem_status vem_i_seeds_room(vem_i_run *run, int32_t clusters, vem_i_seeds *seeds)
{
    return vem_i_take(run, &seeds->items, (size_t)clusters, sizeof *seeds->items);
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

/* ---- draws ---- */

static void go_on(void *arg, double *before, int64_t from, int64_t to)
{
    vem_i_sampler *sampler = arg;
    (void)from;
    (void)to;
    sampler->before = *before;
    for (int64_t s = sampler->from; s < sampler->to; s++)
        if (sampler->sums[s] > 0)
            *before += sampler->sums[s];
}

void vem_i_sampler_add_up(vem_i_sampler *sampler)
{
    const vem_view *view = sampler->view;
    double before = 0;
    vem_i_own_shards(view->first, vem_i_view_own(view), VEM_I_SEED_SHARD, &sampler->from,
                     &sampler->to);
    if (!sampler->run || !sampler->run->comm) {
        sampler->total = vem_i_sum(sampler->sums, sampler->shards);
        return;
    }
    sampler->total = vem_i_view_sum(sampler->run, view, VEM_I_SEED_SHARD, sampler->sums);
    vem_i_comm_chain(sampler->run->comm, &before, 1, go_on, sampler);
    sampler->end = before;
}

void vem_i_sampler_by_mass(vem_i_sampler *sampler)
{
    for (int64_t s = 0; s < sampler->shards; s++) {
        const int64_t end = begin_of(sampler, s + 1);
        sampler->sums[s] = 0;
        for (int64_t i = begin_of(sampler, s); i < end; i++)
            sampler->sums[s] += vem_i_view_mass(sampler->view, i);
    }
    vem_i_sampler_add_up(sampler);
}

/* The item within a shard, before which the chances add up to `before`. */
static int64_t draw_within(const vem_i_sampler *sampler, vem_i_chance chance,
                           const void *arg, int64_t shard, double before, double target)
{
    int64_t begin = begin_of(sampler, shard), end = begin_of(sampler, shard + 1),
            last = begin;
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
    return last_shard < 0 ? 0 : draw_within(sampler, chance, arg, shard, before, target);
}

/* The same draws as one process would make. The sums before a shard do not depend on the draw, so
 * every process looks among its own shards; of several that find one, as rounding may have it, the
 * first counts, as it would for one that looks from the beginning. A target past the end is the last
 * shard's that counts. */
void vem_i_sampler_draw_all(const vem_i_sampler *sampler, vem_i_chance chance,
                            const void *arg, const double *uniforms, int64_t count,
                            int64_t *numbers)
{
    vem_i_comm *comm = sampler->run->comm;
    if (!comm) {
        for (int64_t k = 0; k < count; k++)
            numbers[k] = vem_i_sampler_draw(sampler, chance, arg, uniforms[k]);
        return;
    }
    int64_t last = 0; /* minus the number of the last shard that counts anywhere */
    for (int64_t s = sampler->from; s < sampler->to; s++)
        if (sampler->sums[s] > 0)
            last = -(sampler->view->first / VEM_I_SEED_SHARD + s) - 1;
    comm->combine(comm, VEM_I_LEAST_INT, &last, 1);
    for (int64_t k = 0; k < count; k++) {
        const double target = uniforms[k] * sampler->total;
        double before = sampler->before;
        int64_t s = sampler->from;
        for (; s < sampler->to; s++) {
            if (sampler->sums[s] <= 0)
                continue;
            if (before + sampler->sums[s] > target)
                break;
            before += sampler->sums[s];
        }
        numbers[k] = INT64_MAX;
        if (s < sampler->to)
            numbers[k] = sampler->view->first +
                         draw_within(sampler, chance, arg, s, before, target);
    }
    comm->combine(comm, VEM_I_LEAST_INT, numbers, (size_t)count);
    const int64_t mine = -last - 1 - sampler->view->first / VEM_I_SEED_SHARD;
    int64_t past = 0;
    for (int64_t k = 0; k < count; k++) {
        if (numbers[k] < INT64_MAX)
            continue;
        past++;
        if (last < 0 && mine >= sampler->from && mine < sampler->to)
            numbers[k] = sampler->view->first + draw_within(sampler, chance, arg, mine,
                                                            sampler->end,
                                                            uniforms[k] * sampler->total);
        else if (last == 0)
            numbers[k] = 0;
    }
    if (past > 0)
        comm->combine(comm, VEM_I_LEAST_INT, numbers, (size_t)count);
}
