/* The E-step.
 *
 *     q(i,c) = exp(-v(i,c)/2) / sum_{c' in K_i} exp(-v(i,c')/2),   c in K_i
 *     F      = sum_i w_i [ log sum_{c in K_i} exp(-v(i,c)/2) - base/2 ]
 *
 * The items are cut into shards, the shards into blocks. A sparse search leaves its lists
 * in the posterior and the statistics are taken afterwards, cluster by cluster
 * (collect.c); a dense one has the probabilities of all clusters in its scratch and adds
 * the block to the statistics of its shard at once. Shards depend on the sizes alone and
 * are added up in order. Where items are scored by their means alone (scorer->at_means) shards sum
 * entropies, and the statistics say the rest of F (model/expected.c). Where statistics are kept in blocks (blocks.h), a block is so many shards
 * in a row. */
#include "em/estep_inside.h"

#include <math.h>

#include "base/parallel.h"
#include "base/residence.h"
#include "data/together.h"
#include "em/normalize.h"

/* Operations of a shard in which it is worth to look at the clock between blocks. */
static const double WORTH_LOOKING = 1e7;

/* What moves want to know: the next best cluster, and how far behind it is. */
static void store_next(const vem_i_estep *t, const vem_i_block *block,
                       const double *log_sum)
{
    const vem_i_kernels *kernels = t->view->kernels;
    int64_t row = (int64_t)t->search->spec.held * block->capacity;
    for (int32_t p = 0; p < block->n; p++) {
        int64_t item = vem_i_block_item(block, p);
        int32_t next = block->index[row + p];
        double cost = next < 0 ? INFINITY : vem_i_value(kernels, block->costs, row + p);
        t->posterior->next[item] = next;
        vem_i_store(kernels, t->posterior->gap, item, 0.5 * cost + log_sum[p]);
    }
}

static const int32_t *held_by(const vem_i_posterior *posterior)
{
    return posterior->known ? posterior->held : NULL;
}

static void collect_dense(const vem_i_estep *t, const vem_i_block *block,
                          vem_i_stats *stats)
{
    size_t row = (size_t)block->capacity * t->view->kernels->element;
    if (stats->by_column) {
        t->scorer->family->collect_sparse(t->scorer, &block->items, block->costs,
                                          block->capacity, stats);
        return;
    }
    for (int32_t c = 0; c < t->scorer->clusters; c++)
        t->scorer->family->collect_tile(t->scorer, &block->items,
                                        (const char *)block->costs + (size_t)c * row, c,
                                        block->thread, stats);
}

static void begin_shard(vem_i_estep *t, vem_i_block *block, int64_t shard)
{
    block->pairs = 0;
    if (t->type->begin_shard)
        t->type->begin_shard(t->search, block, shard - t->wave_first);
    if (t->partial) {
        t->partial[shard - t->from].clusters = t->scorer->clusters;
        vem_i_stats_clear(&t->partial[shard - t->from]);
    }
}

/* Between two blocks of a shard: tells how far it is, and whether to end here. */
static int leave(vem_i_estep *t, int64_t items, int thread)
{
    const int64_t n = t->view->n;
    const int64_t counted = items + atomic_fetch_add(&t->items_done, items);
    const int64_t done = counted < n ? counted : n;
    if (thread == 0 && t->told) {
        vem_progress progress = *t->told;
        progress.done = done;
        progress.total = n;
        vem_i_progress(t->run, &progress, 0);
    }
    if (t->run->watch->stop)
        t->left = 1;
    return t->run->watch->stop;
}

/* Shards of items as they lie; or of the places in the search's order: its own items come before those of
 * its halo, and no shard has both. */
static int64_t shard_begins(const vem_i_estep *t, int64_t shard)
{
    const int64_t n = t->view->n, own = vem_i_view_own(t->view),
                  most = vem_i_shards(own, t->per_shard);
    if (!t->type->ordered)
        return vem_i_view_shard(t->view, t->per_shard, shard);
    if (shard < most)
        return shard * t->per_shard;
    const int64_t begin = own + (shard - most) * t->per_shard;
    return begin < n ? begin : n;
}

void vem_i_estep_count_shards(vem_i_estep *t)
{
    const int64_t own = vem_i_view_own(t->view), per = t->per_shard;
    t->shards = t->type->ordered
                    ? vem_i_shards(own, per) + vem_i_shards(t->view->halo, per)
                    : vem_i_view_shards(t->view, per);
    t->sums = t->type->ordered ? vem_i_view_shards(t->view, t->per_sum) : t->shards;
}

/* Those that this process counts. */
static void own_shards(const vem_i_estep *t, int64_t *from, int64_t *to)
{
    const int64_t own = vem_i_view_own(t->view);
    *from = 0;
    *to = vem_i_shards(own, t->per_shard);
    if (!t->type->ordered)
        vem_i_own_shards(t->view->first, own, t->per_shard, from, to);
}

static void run_shard(void *arg, int64_t task, int thread)
{
    vem_i_estep *t = arg;
    int64_t shard = t->wave_first + task;
    vem_i_block *block = &t->search->blocks[thread];
    const int dense = t->search->spec.dense;
    double *log_sum = t->log_sums + (int64_t)thread * t->capacity;
    vem_i_posterior *posterior = t->posterior;
    const int64_t begin = shard_begins(t, shard), end = shard_begins(t, shard + 1);
    int64_t changed = 0;
    double total = 0, distance = 0;
    begin_shard(t, block, shard);
    for (int64_t i = begin; i < end; i += block->n) {
        if (t->may_leave && leave(t, block->n, thread))
            break;
        const int32_t *before =
            t->type->next_block(t->search, block, i, end, held_by(posterior));
        if (t->again && !dense)
            vem_i_block_stay(block, t->search->spec.held, before);
        else
            t->type->find(t->search, block, before);
        /* Costs before they become probabilities. */
        if (t->costs)
            vem_i_estep_leave_costs(t, block);
        else
            distance = vem_i_block_add_costs(&t->search->spec, block, distance);
        vem_i_block_normalize(&t->search->spec, block, log_sum);
        if (t->costs)
            vem_i_estep_leave_logs(t, block, log_sum);
        else
            total =
                t->scorer->at_means
                    ? vem_i_block_add_entropy(block, total)
                    : vem_i_block_add_logs(block, log_sum, posterior->log_sums, total);
        if (t->search->extra && !t->again)
            store_next(t, block, log_sum);
        changed += vem_i_posterior_store(posterior, block);
        if (t->partial)
            collect_dense(t, block, &t->partial[shard - t->from]);
        vem_i_residence_check(t->run);
    }
    if (!t->costs) {
        t->shard_log_sum[shard] = total;
        t->shard_distance[shard] = distance;
    }
    t->shard_pairs[shard] = block->pairs;
    t->shard_changed[shard] = changed;
    if (t->search->wave && !t->again)
        t->type->end_shard(t->search, block, task);
}

/* Shards of the next wave, `wave` of the whole. Of several processes the one that has its first item merges it,
 * and has all of it. */
static int64_t next_wave(const vem_i_estep *t, int64_t wave, int *own)
{
    const int64_t left = t->to - t->wave_first,
                  number = t->view->first / t->per_shard + t->wave_first,
                  rest = t->run->comm ? wave - number % wave : wave;
    *own =
        !t->run->comm || (rest == wave && vem_i_view_has(t->view, number * t->per_shard));
    return left < rest ? left : rest;
}

/* The shards at hand: at once, or, where the search learns from them, in waves that it merges in
 * order. Returns 1 when a stop left some out. */
static int run_shards(vem_i_estep *t, const vem_progress *told, int may_skip)
{
    const int64_t learns = t->again ? 0 : t->search->wave;
    int64_t items = t->view->n < t->per_shard ? t->view->n : t->per_shard;
    int64_t tried = t->search->tried ? t->search->tried : t->scorer->clusters;
    double work = (double)items * (double)tried * (double)t->view->d;
    int64_t tasks = t->to - t->from;
    int own = 1;
    /* Where a shard is long, a stop does not wait for its end. */
    t->may_leave = may_skip == VEM_I_SKIP && !learns && work >= WORTH_LOOKING;
    t->told = t->may_leave ? told : NULL;
    t->items_done = vem_i_view_shard(t->view, t->per_shard, t->from);
    t->left = 0;
    for (t->wave_first = t->from; t->wave_first < t->to; t->wave_first += tasks) {
        if (learns)
            tasks = next_wave(t, learns, &own);
        if (vem_i_parallel_watched(t->run, tasks, work, run_shard, t,
                                   learns || t->may_leave ? NULL : told, may_skip) ||
            t->left)
            return 1;
        if (learns && own)
            t->type->end_wave(t->search, tasks);
    }
    return 0;
}

/* The shards of a block; it may have fewer than others, or none. 1: some were left out. */
static int run_block(vem_i_estep *t, int64_t b, const vem_progress *told, int may_skip)
{
    const int64_t each = t->partials, from = b * each, to = from + each;
    t->from = from < t->shards ? from : t->shards;
    t->to = to < t->shards ? to : t->shards;
    if (run_shards(t, told, may_skip))
        return 1;
    vem_i_blocks_take(t->blocks, b, t->scorer, t->partial, t->to - t->from,
                      vem_i_sum(t->shard_log_sum + t->from, t->to - t->from));
    return 0;
}

/* 1: some were left out, and the blocks are not of one model. */
static int run_blocks(vem_i_estep *t, const vem_progress *told, int may_skip)
{
    t->blocks->known = 0;
    t->blocks->used = vem_i_shards(t->shards, t->partials);
    for (int64_t b = 0; b < t->blocks->count; b++) {
        if (run_block(t, b, NULL, may_skip))
            return 1;
        if (!told)
            continue;
        vem_progress progress = *told;
        progress.done = b + 1;
        progress.total = t->blocks->count;
        vem_i_progress(t->run, &progress, 0);
    }
    t->blocks->known = 1;
    t->blocks->mixed = 0;
    return 0;
}

static int run_all(vem_i_estep *t, const vem_progress *told, int may_skip)
{
    if (t->blocks)
        return run_blocks(t, told, may_skip);
    t->from = 0;
    t->to = t->shards;
    if (run_shards(t, told, may_skip))
        return 1;
    vem_i_estep_sum_items(t);
    return 0;
}

/* What the shards at hand have counted. */
static void count_shards(const vem_i_estep *t, int64_t from, int64_t to,
                         vem_i_estep_result *result)
{
    for (int64_t s = from; s < to; s++) {
        result->pairs += t->shard_pairs[s];
        result->changed += t->shard_changed[s];
    }
}

/* What all shards have found, of all processes; `result` has what was counted for all of them. */
static void add_up(vem_i_estep *t, vem_i_estep_result *result)
{
    vem_i_estep_result own = {0};
    int64_t from, to;
    own_shards(t, &from, &to);
    result->log_sum = vem_i_view_sum(t->run, t->view, t->per_sum, t->shard_log_sum);
    result->distance = vem_i_view_sum(t->run, t->view, t->per_sum, t->shard_distance);
    count_shards(t, from, to, &own);
    if (t->run->comm) {
        int64_t counts[] = {own.pairs, own.changed};
        t->run->comm->combine(t->run->comm, VEM_I_SUM_INT, counts, 2);
        own.pairs = counts[0];
        own.changed = counts[1];
    }
    result->pairs += own.pairs;
    result->changed += own.changed;
}

static const double *shard_block(const void *arg, int64_t shard)
{
    const vem_i_estep *t = arg;
    return t->partial[shard].block;
}

static vem_i_estep_result run_step(vem_i_estep *t, vem_i_posterior *posterior,
                                   vem_i_stats *stats, const vem_progress *told,
                                   int may_skip)
{
    t->posterior = posterior;
    vem_i_estep_count_shards(t);
    vem_i_estep_result result = {0};
    t->search->extra = t->plan.look_further && posterior->next != NULL;
    if (t->type->prepare && !t->again)
        result.pairs =
            t->type->prepare(t->search, &t->plan, t->average, held_by(posterior));
    t->search->labelled = 0;
    const int labelled =
        !t->again && vem_i_labels_run(t, posterior, told, may_skip, &result);
    if (!labelled && !vem_i_estep_recall(t)) {
        result.skipped = run_all(t, told, may_skip);
        if (!result.skipped)
            vem_i_estep_keep(t);
    }
    if (result.skipped)
        return result;
    if (t->type->settle)
        t->type->settle(t->search, !t->again);
    posterior->known = 1;
    if (!labelled && vem_i_comm_rehearse(t->run->comm, 1)) {
        add_up(t, &(vem_i_estep_result){0});
        if (t->foreseen && (t->partial || vem_i_collector_is_sharded(t->collector)))
            vem_i_estep_collect(t, posterior, t->foreseen);
        vem_i_comm_rehearse(t->run->comm, 0);
    }
    if (!labelled)
        add_up(t, &result);
    t->average = result.distance / t->view->total_mass;
    if (stats)
        vem_i_estep_collect(t, posterior, stats);
    if (stats && t->scorer->at_means)
        result.log_sum -= 0.5 * vem_i_expected_cost(t->scorer, stats);
    return result;
}

vem_i_estep_result vem_i_estep_run_block(vem_i_estep *t, vem_i_posterior *posterior,
                                         int64_t block, vem_i_stats *stats, int may_skip)
{
    vem_i_estep_result result = {0};
    t->posterior = posterior;
    t->again = 0;
    t->search->extra = 0;
    vem_i_estep_count_shards(t);
    t->blocks->mixed = 1;
    result.skipped = run_block(t, block, NULL, may_skip);
    if (result.skipped) {
        t->blocks->known = 0;
        return result;
    }
    count_shards(t, t->from, t->to, &result);
    vem_i_blocks_sum(t->blocks, t->scorer, stats);
    result.log_sum = vem_i_blocks_log_sum(t->blocks, t->scorer, stats);
    return result;
}

vem_i_blocks *vem_i_estep_blocks(const vem_i_estep *t)
{
    return t->blocks;
}

const vem_i_tour *vem_i_estep_order(vem_i_estep *t, const vem_i_posterior *posterior)
{
    return t->type->order ? t->type->order(t->search, posterior->held) : NULL;
}

void vem_i_estep_collect(vem_i_estep *t, const vem_i_posterior *posterior,
                         vem_i_stats *stats)
{
    stats->clusters = t->scorer->clusters;
    if (t->search->labelled) {
        vem_i_labels_collect(t, stats);
        return;
    }
    if (!t->partial) {
        vem_i_collector_run(t->collector, posterior, vem_i_estep_order(t, posterior),
                            NULL, stats);
        return;
    }
    if (t->blocks) {
        vem_i_blocks_sum(t->blocks, t->scorer, stats);
        return;
    }
    vem_i_stats_clear(stats);
    if (t->run->comm) {
        vem_i_own_blocks own = {.at = shard_block, .arg = t};
        vem_i_own_shards(t->view->first, vem_i_view_own(t->view), t->per_shard, &own.from,
                         &own.to);
        vem_i_stats *sum = t->turned.block ? &t->turned : stats;
        sum->clusters = stats->clusters;
        vem_i_stats_clear(sum);
        vem_i_comm_sum(t->run->comm, sum->block, sum->clusters * sum->stride, &own);
        if (sum != stats)
            vem_i_stats_add(stats, sum);
        return;
    }
    for (int64_t s = 0; s < t->shards; s++)
        vem_i_stats_add(stats, &t->partial[s]);
}

int64_t vem_i_estep_empty(vem_i_estep *t, const vem_i_posterior *posterior)
{
    return t->collector ? vem_i_collector_empty(t->collector, posterior) : -1;
}

int64_t vem_i_estep_recollect(vem_i_estep *t, vem_i_posterior *posterior,
                              const uint8_t *only, vem_i_stats *stats)
{
    if (t->partial)
        return vem_i_estep_again(t, posterior, stats).pairs;
    vem_i_collector_run(t->collector, posterior, vem_i_estep_order(t, posterior), only,
                        stats);
    return 0;
}

vem_status vem_i_estep_start(vem_i_estep *t, int64_t *pairs)
{
    return t->type->start ? t->type->start(t->search, pairs) : VEM_OK;
}

void vem_i_estep_plan(vem_i_estep *t, const vem_i_step_plan *plan)
{
    t->plan = *plan;
}

void vem_i_estep_foresee(vem_i_estep *t, vem_i_stats *stats)
{
    t->foreseen = stats;
}

vem_i_estep_result vem_i_estep_run(vem_i_estep *t, vem_i_posterior *posterior,
                                   vem_i_stats *stats, const vem_progress *told,
                                   int may_skip)
{
    t->again = 0;
    return run_step(t, posterior, stats, told, may_skip);
}

vem_i_estep_result vem_i_estep_again(vem_i_estep *t, vem_i_posterior *posterior,
                                     vem_i_stats *stats)
{
    t->again = 1;
    t->foreseen = NULL;
    return run_step(t, posterior, stats, NULL, 0);
}

void vem_i_estep_renumber(vem_i_estep *t, vem_i_posterior *posterior, const int32_t *map,
                          int32_t clusters)
{
    t->search->labelled = 0;
    for (int64_t e = 0; e < posterior->n * posterior->width; e++)
        if (posterior->held[e] >= 0)
            posterior->held[e] = map[posterior->held[e]];
    if (t->type->renumber)
        t->type->renumber(t->search, map, clusters);
}

void vem_i_estep_moved(vem_i_estep *t)
{
    t->search->labelled = 0;
    if (t->type->settle)
        t->type->settle(t->search, 0);
}

void vem_i_estep_beside(vem_i_estep *t, int32_t cluster, int32_t beside)
{
    t->search->labelled = 0;
    if (t->type->place)
        t->type->place(t->search, cluster, beside);
}

void vem_i_estep_place(vem_i_estep *t, vem_i_posterior *posterior, int32_t cluster,
                       int64_t item)
{
    t->search->labelled = 0;
    if (t->search->spec.whole)
        return;
    int32_t width = posterior->width, *held = posterior->held + item * width, r = 0;
    if (held[0] >= 0)
        vem_i_estep_beside(t, cluster, held[0]);
    while (r < width - 1 && held[r] != cluster)
        r++;
    held[r] = cluster;
}

void vem_i_estep_record(vem_i_record *r, vem_i_estep *t, const vem_i_posterior *posterior,
                        int32_t clusters)
{
    VEM_I_RECORD(r, "average", t->average);
    if (t->type->record)
        t->type->record(r, t->search, clusters, held_by(posterior));
    if (t->blocks) {
        t->blocks->used =
            vem_i_shards(vem_i_view_shards(t->view, t->per_shard), t->partials);
        vem_i_blocks_record(r, t->blocks, clusters);
    }
}
