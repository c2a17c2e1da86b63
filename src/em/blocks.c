#include "em/blocks.h"

#include <float.h>
#include <string.h>

#include "base/memory.h"
#include "base/parallel.h"

static double *about_of(const vem_i_blocks *blocks, int64_t b, int32_t c, int32_t d)
{
    return blocks->about + (b * blocks->capacity + c) * d;
}

void vem_i_blocks_take(vem_i_blocks *blocks, int64_t b, const vem_i_scorer *scorer,
                       const vem_i_stats *parts, int64_t count, double log_sum)
{
    vem_i_stats *stats = &blocks->stats[b];
    stats->clusters = scorer->clusters;
    vem_i_stats_clear(stats);
    for (int64_t k = 0; k < count; k++)
        vem_i_stats_add(stats, &parts[k]);
    for (int32_t c = 0; c < scorer->clusters; c++)
        for (int64_t j = 0; j < scorer->d; j++)
            about_of(blocks, b, c, scorer->d)[j] = vem_i_about(scorer, c, j);
    /* Moments that are taken again, about a nearer place, are of the same posteriors. */
    if (!scorer->nearer || scorer->about != scorer->nearer)
        blocks->entropy[b] = log_sum + 0.5 * vem_i_expected_cost(scorer, stats);
}

typedef struct sum {
    const vem_i_blocks *blocks;
    const vem_i_scorer *scorer;
    vem_i_stats *stats;
} sum;

static void sum_cluster(void *arg, int64_t task, int thread)
{
    const sum *t = arg;
    const int32_t c = (int32_t)task, d = t->scorer->d;
    double *e = t->blocks->work + (int64_t)thread * d;
    double *to = vem_i_stats_mass(t->stats, c);
    memset(to, 0, (size_t)t->stats->stride * sizeof *to);
    for (int64_t b = 0; b < t->blocks->count; b++) {
        const double *about = about_of(t->blocks, b, c, d);
        int apart = 0;
        for (int32_t j = 0; j < d; j++) {
            e[j] = about[j] - vem_i_about(t->scorer, c, j);
            apart |= e[j] != 0;
        }
        const vem_i_shift shift = {.e = apart ? e : NULL, .mass = 1, .distance = 1};
        vem_i_moments_add(t->scorer->family, d, vem_i_stats_mass(&t->blocks->stats[b], c),
                          &shift, to);
    }
}

void vem_i_blocks_sum(const vem_i_blocks *blocks, const vem_i_scorer *scorer,
                      vem_i_stats *stats)
{
    sum t = {blocks, scorer, stats};
    stats->clusters = scorer->clusters;
    vem_i_parallel_light(blocks->run, scorer->clusters,
                         (double)blocks->count * (double)stats->stride, sum_cluster, &t);
}

double vem_i_blocks_log_sum(const vem_i_blocks *blocks, const vem_i_scorer *scorer,
                            const vem_i_stats *stats)
{
    return vem_i_sum(blocks->entropy, blocks->count) -
           0.5 * vem_i_expected_cost(scorer, stats);
}

/* Sums of a file may be anything, but masses are not negative. */
void vem_i_blocks_record(vem_i_record *r, vem_i_blocks *blocks, int32_t clusters)
{
    const int64_t d = blocks->stats[0].d;
    vem_i_record_int(r, "blocks", &blocks->known, 0, 1);
    vem_i_record_int(r, "mixed", &blocks->mixed, 0, 1);
    for (int64_t b = 0; blocks->known && b < blocks->count; b++) {
        vem_i_stats *stats = &blocks->stats[b];
        stats->clusters = clusters;
        vem_i_record_reals(r, "sums", stats->block,
                           (size_t)clusters * (size_t)stats->stride, -DBL_MAX, DBL_MAX);
        vem_i_record_reals(r, "about", about_of(blocks, b, 0, (int32_t)d),
                           (size_t)clusters * (size_t)d, -DBL_MAX, DBL_MAX);
        for (int32_t c = 0; r->reading && r->status == VEM_OK && c < clusters; c++)
            if (*vem_i_stats_mass(stats, c) < 0)
                vem_i_record_refuse(r, "sums");
    }
    if (blocks->known)
        vem_i_record_reals(r, "entropy", blocks->entropy, (size_t)blocks->count, -DBL_MAX,
                           DBL_MAX);
}

void vem_i_blocks_free(vem_i_blocks *blocks)
{
    if (!blocks)
        return;
    for (int64_t b = 0; blocks->stats && b < blocks->count; b++)
        vem_i_stats_free(&blocks->stats[b]);
    vem_i_free(blocks->stats);
    vem_i_free(blocks->about);
    vem_i_free(blocks->entropy);
    vem_i_free(blocks->work);
    vem_i_free(blocks);
}

vem_status vem_i_blocks_new(vem_i_run *run, const vem_i_scorer *scorer, int64_t count,
                            vem_i_blocks **blocks)
{
    vem_i_blocks *t;
    vem_status status = vem_i_take_structs(run, &t, 1, sizeof *t);
    if (status != VEM_OK)
        return status;
    const size_t n = (size_t)count, row = (size_t)scorer->d * sizeof(double);
    const vem_i_room list[] = {
        {&t->about, n * (size_t)scorer->capacity, row, 1},
        {&t->entropy, n, sizeof(double), 1},
        {&t->work, (size_t)run->threads, row, 0},
    };
    t->run = run;
    t->count = count;
    t->capacity = scorer->capacity;
    status = vem_i_take_rooms(run, list, VEM_I_COUNT(list));
    if (status == VEM_OK)
        status = vem_i_take_structs(run, &t->stats, n, sizeof *t->stats);
    for (int64_t b = 0; status == VEM_OK && b < count; b++)
        status = vem_i_stats_new(run, vem_i_scorer_shape(scorer), &t->stats[b]);
    if (status != VEM_OK) {
        vem_i_blocks_free(t);
        return status;
    }
    *blocks = t;
    return VEM_OK;
}
