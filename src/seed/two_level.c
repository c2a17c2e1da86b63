/* Two-level seeding: D^2 sampling whose cost grows as N sqrt(C) instead of N C.
 *
 *   1. About 4 sqrt(C) coarse buckets (buckets.c), and every row's bucket.
 *   2. Centers are drawn in rounds. A round gives each bucket its share of the round's
 *      centers by the potential  sum w D2  that is left in it. Inside a bucket the first
 *      center is drawn by mass, the others with chances w D2, where D2 is the squared
 *      distance to the nearest center of the same bucket (in the first round the shares are
 *      by the distances to the bucket's mean). A draw updates the rows of one bucket.
 *   3. A bucket whose potential runs out before its share does gives the rest back to the
 *      next round, so that no center sits on another while there is a row that does not.
 *
 * Once a bucket has a few centers they are drawn several at a time: one from each of equal
 * slices of the potential, so that they are unlikely to be close. Then the distances come
 * from the tile kernel and the bucket's rows are read once for all of them.
 *
 * D2 misses centers across a bucket's border, so it is an upper bound. Buckets work in
 * parallel; their random numbers are keyed by bucket and draw, so threads change nothing. Several
 * processes have some buckets each, with all their rows (two_level_apart.c), and tell each other after
 * each round what became of them. */
#include <math.h>
#include <string.h>

#include "base/bucket_sort.h"
#include "base/memory.h"
#include "base/parallel.h"
#include "base/rng.h"
#include "base/spill.h"
#include "coarse/block.h"
#include "comm/comm.h"
#include "data/items.h"
#include "seed/row_buckets.h"
#include "seed/seed.h"
#include "seed/two_level_inside.h"

enum {
    ROUNDS = 6,
    BATCH = 8,  /* centers drawn at a time, at most ... */
    SPARING = 8 /* ... and no more than this part of what the bucket has */
};

/* Part of the centers still to be drawn that a round draws; the last one draws all. */
static const double ROUND_PART = 0.4;

/* Rows of a bucket up to this size are packed once a round. */
static const size_t PACK_BYTES = (size_t)8 << 20;

typedef struct pick {
    int64_t row; /* of the whole */
    int32_t bucket;
} pick;

/* The rows of bucket c are at starts[c] .. starts[c] + counts[c] of the arrays "by bucket";
 * starts are multiples of the kernels' panel. */
typedef struct task {
    vem_i_run *run;
    const vem_view *view;     /* the rows, or those of the buckets that */
    const vem_i_owned *owned; /* this process has of several; NULL: there is one */
    const vem_i_kernels *kernels;
    uint64_t seed;
    int32_t buckets;
    int64_t *starts, *counts;
    double *mass;       /* buckets */
    double *left;       /* buckets: potential */
    int64_t *wanted;    /* buckets: centers to draw in this round */
    int64_t *drawn;     /* buckets: centers drawn in all */
    int64_t *out;       /* buckets: where this round's picks of the bucket go */
    uint32_t *rows;     /* by bucket, in order */
    char *sorted;       /* by bucket: the rows themselves, of a spilled view; else NULL */
    vem_view by_bucket; /* ... as a view */
    char *nearest;      /* by bucket, T: D2 */
    int32_t *index;     /* by bucket: which center of the bucket that is */
    double *sums;       /* by block of a bucket: chances */
    pick *picks;        /* the centers, in the order of the rounds */
    char *scratch;      /* per thread: panels, the batch's rows and distances */
    void *ones, *none;  /* scale and bias of plain distances */
} task;

static int64_t packed_blocks(const vem_i_kernels *kernels, int64_t n, int32_t d)
{
    int64_t block = VEM_I_BLOCK * (int64_t)d * (int64_t)kernels->element;
    int64_t fit = (int64_t)PACK_BYTES / block, all = vem_i_shards(n, VEM_I_BLOCK);
    return fit < 1 ? 1 : fit < all ? fit : all;
}

static size_t scratch_bytes(const vem_i_kernels *kernels, int64_t n, int32_t d)
{
    size_t blocks = (size_t)packed_blocks(kernels, n, d), row = (size_t)d;
    size_t values = blocks * VEM_I_BLOCK * row + BATCH * (row + VEM_I_BLOCK);
    return (values * kernels->element + 63) / 64 * 64;
}

/* The first block of a bucket in `sums`: no two buckets meet there. */
static double *block_sums(const task *t, int64_t bucket)
{
    return t->sums + t->starts[bucket] / VEM_I_BLOCK + bucket;
}

static int64_t blocks_of(const task *t, int64_t bucket)
{
    return vem_i_shards(t->counts[bucket], VEM_I_BLOCK);
}

static int32_t block_rows(const task *t, int64_t bucket, int64_t block)
{
    int64_t rest = t->counts[bucket] - block * VEM_I_BLOCK;
    return rest < VEM_I_BLOCK ? (int32_t)rest : VEM_I_BLOCK;
}

/* Chance of the row at `i` by bucket: w before the bucket has a center, then w D2. */
static double chance(const task *t, int64_t bucket, int64_t i)
{
    double w = vem_i_view_mass(t->view, t->rows[i]);
    if (t->drawn[bucket] == 0 || !(w > 0))
        return w;
    return w * vem_i_value(t->kernels, t->nearest, i);
}

/* Four sums at a time, or each addition would wait for the one before. */
#define SUM_OF(T)                                                                        \
    static double sum_##T(const T *values, int32_t n)                                    \
    {                                                                                    \
        double s[4] = {0};                                                               \
        int32_t i = 0;                                                                   \
        for (; i + 4 <= n; i += 4)                                                       \
            for (int32_t k = 0; k < 4; k++)                                              \
                s[k] += (double)values[i + k];                                           \
        for (; i < n; i++)                                                               \
            s[0] += (double)values[i];                                                   \
        return (s[0] + s[1]) + (s[2] + s[3]);                                            \
    }
SUM_OF(float)
SUM_OF(double)
#undef SUM_OF

static double sum_chances(const task *t, int64_t bucket, int64_t begin, int32_t n)
{
    if (!t->view->mass && t->drawn[bucket] > 0) {
        const void *d2 = t->nearest + (size_t)begin * t->kernels->element;
        return t->kernels->precision == VEM_SINGLE ? sum_float(d2, n) : sum_double(d2, n);
    }
    double sum = 0;
    for (int64_t i = begin; i < begin + n; i++)
        sum += chance(t, bucket, i);
    return sum;
}

/* Up to `batch` different rows (places by bucket, ascending), one from each of equal slices
 * of the chances; how many. At least one where any chance is positive. */
static int32_t draw(const task *t, int64_t bucket, int32_t batch, int64_t *places)
{
    vem_i_rng rng = vem_i_rng_at(t->seed, VEM_RNG_SEEDING, 2,
                                 (uint64_t)t->drawn[bucket] << 32 | (uint64_t)bucket);
    const double *sums = block_sums(t, bucket);
    double total = vem_i_sum(sums, blocks_of(t, bucket)), slice = total / batch,
           before = 0;
    double target = vem_i_rng_uniform(&rng) * slice;
    int32_t count = 0, slices = 0;
    for (int64_t b = 0; b < blocks_of(t, bucket) && slices < batch; b++) {
        double sum = before, after = before + sums[b];
        int64_t begin = t->starts[bucket] + b * VEM_I_BLOCK;
        int64_t end = begin + block_rows(t, bucket, b);
        before = after;
        if (!(sums[b] > 0) || target >= after)
            continue;
        for (int64_t i = begin; i < end && slices < batch; i++) {
            double share = chance(t, bucket, i);
            if (!(share > 0))
                continue;
            sum += share;
            for (; slices < batch && target < sum; slices++) {
                if (count == 0 || places[count - 1] != i)
                    places[count++] = i;
                target = (slices + 1 + vem_i_rng_uniform(&rng)) * slice;
            }
        }
    }
    /* Rounding may carry a target past the end: the last row that counts. */
    for (int64_t i = t->starts[bucket] + t->counts[bucket];
         count == 0 && i > t->starts[bucket];)
        if (chance(t, bucket, --i) > 0)
            places[count++] = i;
    return count;
}

/* The rows of a bucket against its new centers: D2, which center, and the chances. */
static void meet(const task *t, int64_t bucket, const int64_t *places, int32_t m,
                 char *scratch, int fresh)
{
    const vem_view *view = t->view;
    const vem_i_kernels *kernels = t->kernels;
    size_t element = kernels->element, row = (size_t)view->d * element;
    int64_t kept = packed_blocks(kernels, view->n, view->d);
    char *centers = scratch + (size_t)kept * VEM_I_BLOCK * row;
    char *costs = centers + BATCH * row;
    int32_t first = (int32_t)t->drawn[bucket] - m;
    for (int32_t k = 0; k < m; k++)
        vem_i_view_copy(t->sorted ? &t->by_bucket : view,
                        t->sorted ? places[k] : t->rows[places[k]],
                        centers + (size_t)k * row);
    for (int64_t b = 0; b < blocks_of(t, bucket); b++) {
        /* Blocks that find no room share the last place, and are packed every time. */
        int64_t begin = t->starts[bucket] + b * VEM_I_BLOCK, at = b < kept ? b : kept - 1;
        char *panels = scratch + (size_t)at * VEM_I_BLOCK * row;
        int32_t n = block_rows(t, bucket, b);
        if (fresh || (at == kept - 1 && blocks_of(t, bucket) > kept)) {
            vem_i_items items = t->sorted ? vem_i_items_at(&t->by_bucket, begin, NULL, n)
                                          : vem_i_items_at(view, 0, t->rows + begin, n);
            vem_i_items_pack(view, NULL, panels, NULL, &items);
        }
        kernels->iso_tile(panels, n, view->d, centers, view->d, t->ones, t->none, m,
                          costs, VEM_I_BLOCK);
        kernels->select_top(costs, NULL, n, m, first, 1,
                            t->nearest + (size_t)begin * element, t->index + begin,
                            VEM_I_BLOCK);
        block_sums(t, bucket)[b] = sum_chances(t, bucket, begin, n);
        vem_i_residence_check(t->run);
    }
}

static int64_t number_of(const task *t, uint32_t row)
{
    return t->owned ? t->owned->numbers[row] : (int64_t)row;
}

/* A bucket's share of a round. */
static void run_bucket(void *arg, int64_t bucket, int thread)
{
    const task *t = arg;
    const vem_view *view = t->view;
    char *scratch =
        t->scratch + (size_t)thread * scratch_bytes(t->kernels, view->n, view->d);
    int64_t wanted = t->wanted[bucket], done = 0;
    if (!vem_i_owns(t->owned, bucket))
        return;
    for (int64_t b = 0; b < blocks_of(t, bucket) && t->drawn[bucket] == 0 && wanted > 0;
         b++)
        block_sums(t, bucket)[b] =
            sum_chances(t, bucket, t->starts[bucket] + b * VEM_I_BLOCK,
                        block_rows(t, bucket, b));
    while (done < wanted && (t->drawn[bucket] == 0 || t->left[bucket] > 0)) {
        int64_t places[BATCH], most = t->drawn[bucket] / SPARING;
        most = most < 1 ? 1 : most < BATCH ? most : BATCH;
        most = most < wanted - done ? most : wanted - done;
        int32_t m = draw(t, bucket, (int32_t)most, places);
        for (int32_t k = 0; k < m; k++)
            t->picks[t->out[bucket] + done + k] =
                (pick){number_of(t, t->rows[places[k]]), (int32_t)bucket};
        t->drawn[bucket] += m;
        meet(t, bucket, places, m, scratch, done == 0);
        t->left[bucket] = vem_i_sum(block_sums(t, bucket), blocks_of(t, bucket));
        done += m;
    }
    t->wanted[bucket] = done;
}

/* Shares of `count` more centers by potential: the slices of one uniform number, so that a
 * bucket gets its expected number to within one. In the first round every bucket that has
 * mass has one beforehand. Picks go after the `picked` there are. */
static void share_out(task *t, int64_t round, int64_t count, int64_t picked)
{
    vem_i_rng rng = vem_i_rng_at(t->seed, VEM_RNG_SEEDING, 3, (uint64_t)round);
    double total = vem_i_sum(t->left, t->buckets), offset = vem_i_rng_uniform(&rng);
    int by_mass = !(total > 0 && isfinite(total));
    if (by_mass)
        total = vem_i_sum(t->mass, t->buckets);
    for (int64_t c = 0; c < t->buckets && round == 0; c++)
        count -= t->mass[c] > 0;
    double before = 0;
    int64_t given = 0;
    for (int64_t c = 0; c < t->buckets; c++) {
        before += (by_mass ? t->mass[c] : t->left[c]) / total;
        double upto = fmin(floor(before * (double)count + offset), (double)count);
        t->wanted[c] = (int64_t)upto > given ? (int64_t)upto - given : 0;
        given += t->wanted[c];
        t->wanted[c] += round == 0 && t->mass[c] > 0;
        t->out[c] = picked;
        picked += t->wanted[c];
    }
}

/* Close the gaps that buckets left which drew less than their share. */
static int64_t gather_picks(task *t, int64_t picked, vem_i_seeds *seeds)
{
    for (int64_t c = 0; c < t->buckets; c++) {
        memmove(t->picks + picked, t->picks + t->out[c],
                (size_t)t->wanted[c] * sizeof *t->picks);
        picked += t->wanted[c];
        seeds->pairs += t->wanted[c] * (t->owned ? t->owned->counts : t->counts)[c];
    }
    return picked;
}

static void sort_by_bucket(task *t, const int32_t *labels)
{
    const int64_t n = t->view->n, panel = t->kernels->panel;
    size_t buckets = (size_t)t->buckets;
    memset(t->counts, 0, buckets * sizeof *t->counts);
    memset(t->mass, 0, buckets * sizeof *t->mass);
    memset(t->left, 0, buckets * sizeof *t->left);
    for (int64_t i = 0; i < n; i++) {
        double w = vem_i_view_mass(t->view, i);
        double d2 = vem_i_value(t->kernels, t->nearest, i); /* in the order of rows yet */
        t->counts[labels[i]]++;
        t->mass[labels[i]] += w;
        t->left[labels[i]] += w > 0 && d2 > 0 ? w * d2 : 0;
    }
    for (int64_t c = 0; c < t->buckets; c++)
        t->out[c] = vem_i_shards(t->counts[c], panel) * panel;
    vem_i_bucket_places(t->out, t->buckets, 1, 0, 0);
    memcpy(t->starts, t->out, buckets * sizeof *t->starts);
    const size_t row = (size_t)t->view->d * vem_i_view_element(t->view);
    for (int64_t i = 0; i < n; i++) {
        const int64_t place = t->out[labels[i]]++;
        t->rows[place] = (uint32_t)i;
        if (t->sorted) {
            memcpy(t->sorted + (size_t)place * row, vem_i_view_place(t->view, i), row);
            vem_i_residence_check(t->run);
        }
    }
}

/* The picks in the order of their buckets, and each row's center. */
static void hand_over(task *t, int64_t picked, vem_i_seeds *seeds)
{
    int64_t at = 0;
    for (int64_t c = 0; c < t->buckets; c++) {
        t->out[c] = at;
        for (int64_t i = t->starts[c]; seeds->first && i < t->starts[c] + t->counts[c];
             i++)
            seeds->first[t->rows[i]] = t->index[i] < 0 ? -1 : (int32_t)at + t->index[i];
        at += t->drawn[c];
    }
    for (int64_t k = 0; k < picked; k++)
        seeds->items[t->out[t->picks[k].bucket]++] = t->picks[k].row;
    seeds->chosen = (int32_t)picked;
}

/* ---- of several processes ---- */

static void join(const task *t, void *values, size_t bytes)
{
    t->run->comm->combine(t->run->comm, VEM_I_OR_BYTES, values, bytes);
}

/* What is known of the buckets that others have. */
static void join_sums(task *t)
{
    const size_t bytes = (size_t)t->buckets * sizeof(double);
    if (!t->owned)
        return;
    join(t, t->mass, bytes);
    join(t, t->left, bytes);
}

/* Picks of the buckets that others have come to where nothing is. */
static void clear_picks(task *t, int64_t picked, int64_t clusters)
{
    if (t->owned)
        memset(t->picks + picked, 0, (size_t)(clusters - picked) * sizeof *t->picks);
}

static vem_status join_round(task *t, int64_t picked, int64_t clusters)
{
    const size_t bytes = (size_t)t->buckets * sizeof(int64_t);
    if (!t->owned)
        return VEM_OK;
    for (int64_t c = 0; c < t->buckets; c++)
        if (!vem_i_owns(t->owned, c)) {
            t->wanted[c] = t->drawn[c] = 0;
            t->left[c] = 0;
        }
    join(t, t->wanted, bytes);
    join(t, t->drawn, bytes);
    join(t, t->left, bytes);
    join(t, t->picks + picked, (size_t)(clusters - picked) * sizeof *t->picks);
    return vem_i_comm_agree(t->run);
}

/* The bucket of every row, and about how far it is from its mean; `done`: they are known. */
static vem_status find_buckets(vem_i_run *run, task *t, const vem_progress *told,
                               vem_i_seeds *seeds, int *done)
{
    const size_t n = (size_t)t->view->n;
    if (!t->owned)
        return vem_i_row_buckets(run, t->view, t->buckets, t->seed, told, t->index,
                                 t->nearest, &seeds->pairs, done);
    *done = !run->counted;
    if (*done && n > 0) { /* one that owns no bucket has no rows */
        memcpy(t->index, t->owned->labels, n * sizeof *t->index);
        memcpy(t->nearest, t->owned->squares, n * t->kernels->element);
    }
    return VEM_OK;
}

static vem_status choose_all(vem_i_run *run, task *t, const vem_view *whole, int64_t room,
                             int32_t clusters, vem_i_seeds *seeds)
{
    vem_progress told = {.phase = "seed", .total = clusters, .free_energy = NAN};
    int64_t picked = 0, before = -1;
    int done = 0;
    vem_status status = find_buckets(run, t, &told, seeds, &done);
    if (status != VEM_OK || !done || run->counted)
        return status; /* none chosen */
    sort_by_bucket(t, t->index);
    join_sums(t);
    vem_i_block_clear(t->kernels, t->nearest, t->index, 1, 0,
                      room); /* nothing is known yet */
    /* After the last round there are others for what was given back, while they help. */
    for (int64_t round = 0; picked < clusters && picked > before; round++) {
        double rest = (double)(clusters - picked);
        int64_t wanted = (int64_t)ceil(round + 1 < ROUNDS ? ROUND_PART * rest : rest);
        before = round < ROUNDS ? -1 : picked;
        share_out(t, round, wanted, picked);
        clear_picks(t, picked, clusters);
        const double work = (double)wanted * (double)t->view->n / t->buckets / t->buckets;
        if (vem_i_parallel_watched(run, t->buckets, work * t->view->d, run_bucket, t,
                                   &told, VEM_I_SKIP))
            break;
        if ((status = join_round(t, picked, clusters)) != VEM_OK)
            return status;
        told.done = picked = gather_picks(t, picked, seeds);
        if (vem_i_progress(run, &told, 0))
            break;
    }
    hand_over(t, picked, seeds);
    /* Every row that has mass sits on a center: what is left cannot matter. */
    if (picked < clusters && !run->watch->stop && !vem_i_late(run)) {
        status = vem_i_by_mass(run, whole, clusters - picked, t->seed, 4,
                               seeds->items + picked);
        seeds->chosen = clusters;
    }
    return status;
}

vem_status vem_i_two_level_choose(vem_i_run *run, const vem_view *view,
                                  const vem_view *whole, const vem_i_owned *owned,
                                  int32_t clusters, uint64_t seed, vem_i_seeds *seeds)
{
    if (view->n > UINT32_MAX && !run->counted)
        return vem_i_fail(
            run, VEM_UNSUPPORTED,
            "Two-level seeding takes 4294967295 rows at most, but there are %lld.",
            (long long)view->n);
    task t = {
        .run = run, .view = view, .owned = owned, .kernels = view->kernels, .seed = seed};
    t.buckets = vem_i_two_level_buckets(whole->used, clusters);
    /* Entries of the arrays by bucket. */
    const int64_t room = view->n + (int64_t)t.buckets * t.kernels->panel;
    double ones[BATCH], none[BATCH]; /* room for BATCH of T each */
    for (int k = 0; k < BATCH; k++) {
        vem_i_store(t.kernels, ones, k, 1);
        vem_i_store(t.kernels, none, k, 0);
    }
    t.ones = ones;
    t.none = none;
    const size_t buckets = (size_t)t.buckets, index = sizeof(int32_t),
                 many = (size_t)room;
    const vem_i_room list[] = {
        {&t.rows, many, index, 0},
        {&t.nearest, many, t.kernels->element, 0},
        {&t.index, many, index, 0},
        {&t.sums, many / VEM_I_BLOCK + buckets + 1, sizeof *t.sums, 0},
        {&t.picks, (size_t)clusters, sizeof *t.picks, 0},
        {&t.starts, buckets, sizeof *t.starts, 0},
        {&t.counts, buckets, sizeof *t.counts, 0},
        {&t.mass, buckets, sizeof *t.mass, 0},
        {&t.left, buckets, sizeof *t.left, 0},
        {&t.wanted, buckets, sizeof *t.wanted, 0},
        {&t.drawn, buckets, sizeof *t.drawn, 1},
        {&t.out, buckets, sizeof *t.out, 0},
        {&t.scratch, (size_t)run->threads, scratch_bytes(t.kernels, view->n, view->d), 0},
    };
    vem_status status = vem_i_take_rooms(run, list, VEM_I_COUNT(list));
    /* Rows of a bucket lie all over the view; where that is a file they are brought
     * together. */
    vem_i_mapping *sorted = NULL;
    if (status == VEM_OK && view->spilled)
        status =
            vem_i_spill_new(run,
                            (size_t)room * (size_t)view->d * vem_i_view_element(view),
                            &sorted);
    t.sorted = sorted ? sorted->bytes : NULL;
    t.by_bucket = *view;
    t.by_bucket.x = t.sorted;
    t.by_bucket.ld = view->d;
    t.by_bucket.spread = NULL;
    t.by_bucket.log_base = NULL;
    if (status == VEM_OK)
        status = choose_all(run, &t, whole, room, clusters, seeds);
    vem_i_mapping_free(sorted);
    vem_i_free_rooms(list, VEM_I_COUNT(list));
    return status;
}
