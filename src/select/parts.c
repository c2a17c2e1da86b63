/* Into how many clusters should these items be divided, and which?
 *
 * Halves alone cannot tell: with ten clusters in a heap both halves may cost more than
 * the heap, and ten parts far less (a search by halves ends at once, then). So the items
 * are cut into up to 16 parts, each time the part of the largest scatter across its
 * widest direction; a few sweeps of the objective's own E- and M-steps among these parts
 * follow, on a sample where there are many items; then one over all of them, which makes
 * the parts' statistics exact. From there parts are joined, two that cost least together
 * first, down to one, and of all these partitions the cheapest is taken: its cost is that
 * of the rows themselves, so that whoever takes it knows what is gained. */
#include "select/parts.h"

#include <math.h>
#include <string.h>

#include "base/bucket_sort.h"
#include "base/memory.h"
#include "base/residence.h"
#include "data/points.h"
#include "model/spread.h"
#include "select/bisect.h"
#include "select/normality.h"

enum {
    SAMPLE = 4096,           /* items that the parts are found with, */
    SAMPLE_VALUES = 1 << 20, /* and no more numbers than that, */
    SAMPLE_LEAST = 256,      /* but so many items */
    SWEEPS = 12,
    AGAIN = 6,       /* sweeps after parts were joined, */
    ROUNDS = 3,      /* at most so often */
    LAST_SWEEPS = 2, /* over all items */
    TWO_MEANS = 30,
    TESTED = 8 /* items, at least */
};

/* Scratch of one thread. */
typedef struct bench {
    vem_model *model; /* VEM_I_PARTS clusters */
    vem_i_scorer scorer;
    vem_i_stats stats;
    vem_i_bisected cut;    /* the sample, */
    uint32_t *sample;      /* and its items; */
    uint8_t *other, *kept; /* other parts of these */
    uint32_t *sorted;      /* some items, part by part */
    void *panels, *costs, *weights;
    double *groups; /* VEM_I_PARTS x stride, and one more */
    double *places; /* of items on a line, where the objective tests */
    double *work;
} bench;

struct vem_i_parts {
    const vem_view *view;
    const vem_i_objective *objective;
    vem_i_run alone;
    int threads;
    int64_t sample, stride;
    bench *benches;
    double *units; /* d: what rows are multiplied by before they are cut; NULL: 1 */
};

/* ---- memory ---- */

static vem_status take_bench(vem_i_parts *t, int64_t most, bench *b)
{
    const vem_view *view = t->view;
    const size_t d = (size_t)view->d, element = view->kernels->element,
                 sample = (size_t)t->sample;
    const vem_i_shape shape = vem_i_shape_of(t->objective->family, VEM_I_PARTS, view->d);
    vem_i_run *run = &t->alone;
    vem_status status = vem_i_model_blank(run, shape, &b->model);
    if (status == VEM_OK)
        status = vem_i_scorer_new(run, view->kernels, shape, &b->scorer);
    if (status == VEM_OK && view->spread_kind != VEM_I_SPREAD_NONE)
        status = vem_i_scorer_take_spread(run, &b->scorer);
    if (status == VEM_OK)
        status = vem_i_stats_new(run, shape, &b->stats);
    const vem_i_room list[] = {
        {&b->cut.rows, sample * d, sizeof(double), 0},
        {&b->cut.masses, sample, sizeof(double), 0},
        {&b->cut.part, sample, sizeof(uint8_t), 0},
        {&b->cut.work, 3 * d, sizeof(double), 0},
        {&b->cut.means, VEM_I_PARTS * d, sizeof(double), 0},
        {&b->sample, sample, sizeof *b->sample, 0},
        {&b->other, sample, 1, 0},
        {&b->kept, sample, 1, 0},
        {&b->sorted, (size_t)most, sizeof *b->sorted, 0},
        {&b->panels, VEM_I_BLOCK, d * element, 0},
        {&b->costs, (size_t)VEM_I_PARTS * VEM_I_BLOCK, element, 0},
        {&b->weights, VEM_I_BLOCK, element, 0},
        {&b->groups, VEM_I_PARTS + 1, (size_t)t->stride * sizeof(double), 0},
        {&b->places, t->objective->tests ? (size_t)most : 0, sizeof(double), 0},
        {&b->work, 1 + (size_t)vem_i_objective_work(t->objective), sizeof(double), 0},
    };
    if (status == VEM_OK)
        status = vem_i_take_rooms(run, list, VEM_I_COUNT(list));
    return status;
}

static void free_bench(bench *b)
{
    vem_model_free(b->model);
    vem_i_scorer_free(&b->scorer);
    vem_i_stats_free(&b->stats);
    vem_i_free(b->cut.rows);
    vem_i_free(b->cut.masses);
    vem_i_free(b->cut.part);
    vem_i_free(b->cut.work);
    vem_i_free(b->cut.means);
    vem_i_free(b->sample);
    vem_i_free(b->other);
    vem_i_free(b->kept);
    vem_i_free(b->sorted);
    vem_i_free(b->panels);
    vem_i_free(b->costs);
    vem_i_free(b->weights);
    vem_i_free(b->groups);
    vem_i_free(b->places);
    vem_i_free(b->work);
}

vem_status vem_i_parts_new(vem_i_run *run, const vem_view *view,
                           const vem_i_objective *objective, int64_t most,
                           vem_i_parts **parts)
{
    vem_i_parts *t;
    vem_status status = vem_i_take_structs(run, &t, 1, sizeof *t);
    if (status != VEM_OK)
        return status;
    t->view = view;
    t->objective = objective;
    t->alone = vem_i_run_alone(run);
    t->threads = run->threads;
    t->stride = vem_i_group_stride(objective);
    t->sample = SAMPLE_VALUES / view->d;
    t->sample = t->sample < SAMPLE_LEAST ? SAMPLE_LEAST
                : t->sample > SAMPLE     ? SAMPLE
                                         : t->sample;
    t->sample = t->sample < most ? t->sample : most;
    status = vem_i_take_structs(run, &t->benches, (size_t)t->threads, sizeof *t->benches);
    for (int i = 0; status == VEM_OK && i < t->threads; i++)
        status = take_bench(t, most, &t->benches[i]);
    if (status == VEM_OK && vem_i_shape_rank(objective->family) > 0)
        status = vem_i_view_units(run, view, &t->units);
    if (status == VEM_OK)
        *parts = t;
    else
        vem_i_parts_free(t);
    return status;
}

void vem_i_parts_free(vem_i_parts *t)
{
    if (!t)
        return;
    for (int i = 0; t->benches && i < t->threads; i++)
        free_bench(&t->benches[i]);
    vem_i_free(t->benches);
    vem_i_free(t->units);
    vem_i_free(t);
}

static double mass_of(const vem_i_parts *t, uint32_t item)
{
    return vem_i_view_mass(t->view, item);
}

/* ---- sweeps ---- */

/* Items part by part: part p is sorted[starts[p] .. starts[p + 1]). */
static void sort(bench *b, const uint32_t *items, const uint8_t *part, int64_t n,
                 int64_t starts[VEM_I_PARTS + 1])
{
    int64_t at[VEM_I_PARTS + 1] = {0};
    for (int64_t i = 0; i < n; i++)
        at[part[i]]++;
    vem_i_bucket_places(at, VEM_I_PARTS + 1, 1, 0, 0);
    memcpy(starts, at, sizeof at);
    for (int64_t i = 0; i < n; i++)
        b->sorted[at[part[i]]++] = items[i];
}

static vem_i_items packed(vem_i_parts *t, const bench *b, const uint32_t *items,
                          int64_t n)
{
    vem_i_items some = vem_i_items_at(t->view, 0, items, n);
    vem_i_items_pack(t->view, NULL, b->panels, NULL, &some);
    vem_i_residence_check(&t->alone);
    return some;
}

/* The statistics of listed items for one cluster of the bench. */
static void collect_part(vem_i_parts *t, bench *b, const uint32_t *items, int64_t n,
                         int32_t cluster)
{
    for (int64_t i = 0; i < n; i += VEM_I_BLOCK) {
        const int64_t some = n - i < VEM_I_BLOCK ? n - i : VEM_I_BLOCK;
        const vem_i_items block = packed(t, b, items + i, some);
        for (int64_t k = 0; k < some; k++)
            vem_i_store(t->view->kernels, b->weights, k, mass_of(t, items[i + k]));
        t->objective->family->collect_tile(&b->scorer, &block, b->weights, cluster, 0,
                                           &b->stats);
    }
}

static void collect(vem_i_parts *t, bench *b, const uint32_t *items, const uint8_t *part,
                    int64_t n)
{
    int64_t starts[VEM_I_PARTS + 1];
    sort(b, items, part, n, starts);
    vem_i_stats_clear(&b->stats);
    for (int32_t p = 0; p < b->model->clusters; p++)
        collect_part(t, b, b->sorted + starts[p], starts[p + 1] - starts[p], p);
}

/* Each item to the part that costs it least; how many went elsewhere. */
static int64_t label(vem_i_parts *t, bench *b, const uint32_t *items, int64_t n,
                     uint8_t *part)
{
    const vem_i_kernels *kernels = t->view->kernels;
    const int32_t count = b->model->clusters;
    int64_t changed = 0;
    for (int64_t i = 0; i < n; i += VEM_I_BLOCK) {
        const int64_t some = n - i < VEM_I_BLOCK ? n - i : VEM_I_BLOCK;
        const vem_i_items block = packed(t, b, items + i, some);
        t->objective->family->score_tile(&b->scorer, &block, 0, count, b->costs,
                                         VEM_I_BLOCK);
        for (int64_t k = 0; k < some; k++) {
            int32_t best = 0;
            double least = INFINITY;
            for (int32_t p = 0; p < count; p++) {
                const double cost = vem_i_value(kernels, b->costs, p * VEM_I_BLOCK + k);
                if (cost < least) {
                    least = cost;
                    best = p;
                }
            }
            changed += part[i + k] != best;
            part[i + k] = (uint8_t)best;
        }
    }
    return changed;
}

static void follow(vem_i_parts *t, bench *b)
{
    vem_i_maximize(&t->alone, &b->scorer, &b->stats, &t->objective->constraints,
                   b->model);
    vem_i_scorer_prepare(&t->alone, b->model, &b->scorer);
}

/* So many rounds of M- and E-step, or until nothing changes, and the statistics of the
 * last labels. */
static int64_t sweep(vem_i_parts *t, bench *b, const uint32_t *items, int64_t n, int most,
                     uint8_t *part)
{
    int64_t pairs = 0, changed = 1;
    for (int k = 0; k < most && changed > 0; k++) {
        collect(t, b, items, part, n);
        follow(t, b);
        changed = label(t, b, items, n, part);
        pairs += n * b->model->clusters;
    }
    return pairs;
}

static double *group_at(const vem_i_parts *t, const bench *b, int32_t p)
{
    return b->groups + p * t->stride;
}

static void read_group(const vem_i_parts *t, bench *b, int32_t p, double *group)
{
    const int32_t d = t->view->d;
    for (int32_t j = 0; j < d; j++)
        b->cut.work[j] = vem_i_about(&b->scorer, p, j);
    memset(group + 1, 0, (size_t)d * sizeof *group);
    group[0] = vem_i_moments_of(&b->stats, p, t->objective->family, b->cut.work,
                                group + 1, group + 1 + d);
}

/* Means of the parts as what statistics are about: about the mean of all, and then about
 * those. */
static void start(vem_i_parts *t, bench *b, const uint32_t *items, const uint8_t *part,
                  int64_t n, int32_t count)
{
    const int64_t d = t->view->d;
    b->model->clusters = count;
    for (int32_t p = 0; p < count; p++)
        b->model->weights[p] = 1.0 / count;
    vem_i_model_set_variance(b->model, fmax(t->view->variance, 1e-30));
    memset(b->model->means, 0, (size_t)(count * d) * sizeof(double));
    vem_i_scorer_prepare(&t->alone, b->model, &b->scorer);
    collect(t, b, items, part, n);
    for (int32_t p = 0; p < count; p++) {
        read_group(t, b, p, group_at(t, b, p));
        memcpy(b->model->means + p * d, group_at(t, b, p) + 1,
               (size_t)d * sizeof(double));
    }
    vem_i_scorer_prepare(&t->alone, b->model, &b->scorer);
}

/* ---- down again ---- */

/* Statistics of what is labelled, as groups. */
static void read_groups(vem_i_parts *t, bench *b, const uint32_t *items,
                        const uint8_t *part, int64_t n)
{
    collect(t, b, items, part, n);
    for (int32_t p = 0; p < b->model->clusters; p++)
        read_group(t, b, p, group_at(t, b, p));
}

/* Parts that are cheaper together become one, in the labels too. Returns what all
 * clusters cost then, and how many parts there are. The statistics stay those of
 * before. */
static double join(vem_i_parts *t, bench *b, const vem_i_dividing *asked, int64_t n,
                   uint8_t *part, int32_t *left)
{
    const vem_i_joining joining = {.objective = t->objective,
                                   .beside = asked->beside,
                                   .least = asked->least,
                                   .most = asked->most,
                                   .groups = b->groups,
                                   .stride = t->stride,
                                   .work = b->work};
    const int32_t count = b->model->clusters;
    int32_t chosen[VEM_I_PARTS], number[VEM_I_PARTS] = {0};
    const double cost = vem_i_join_down(&joining, count, chosen);
    *left = 0;
    for (int32_t p = 0; p < count; p++) /* the one of a lower number has one already */
        number[p] = chosen[p] == p ? (*left)++ : chosen[p] < 0 ? 0 : number[chosen[p]];
    for (int64_t i = 0; i < n; i++)
        part[i] = (uint8_t)number[part[i]];
    return cost;
}

/* ---- all of it ---- */

/* One item from each of equal stretches. */
static int64_t draw(vem_i_parts *t, bench *b, const uint32_t *items, int64_t n)
{
    const int64_t m = n < t->sample ? n : t->sample;
    for (int64_t k = 0; k < m; k++) {
        b->sample[k] = items[(2 * k + 1) * n / (2 * m)];
        b->cut.masses[k] = mass_of(t, b->sample[k]);
        double *row = b->cut.rows + k * t->view->d;
        vem_i_view_widen(t->view, b->sample[k], row);
        for (int64_t j = 0; t->units && j < t->view->d; j++)
            row[j] *= t->units[j];
        vem_i_residence_check(&t->alone);
    }
    b->cut.n = m;
    b->cut.d = t->view->d;
    return m;
}

/* From labelled items: sweeps, and parts joined; again from there, as long as that is
 * cheaper. Labels and number of the cheapest. */
static double better(vem_i_parts *t, bench *b, const vem_i_dividing *asked,
                     const uint32_t *items, int64_t n, int sweeps, uint8_t *part,
                     vem_i_division *found)
{
    double best = INFINITY;
    for (int k = 0; k < ROUNDS; k++) {
        int32_t left;
        found->pairs += sweep(t, b, items, n, k == 0 ? sweeps : AGAIN, part);
        read_groups(t, b, items, part, n);
        const double cost = join(t, b, asked, n, part, &left);
        /* Sweeps cannot cost more, nor can parts that are joined, but for rounding. */
        const int enough = !(cost < best) || left == b->model->clusters;
        best = cost < best ? cost : best;
        found->count = left;
        if (enough || left < 2)
            break;
        start(t, b, items, part, n, left);
    }
    return best;
}

/* Parts of the sample that are found in one way, if they are cheaper than those so
 * far. */
static void try_parts(vem_i_parts *t, bench *b, const vem_i_dividing *asked,
                      int32_t count, int sweeps, double *cost, int32_t *parts,
                      vem_i_division *found)
{
    start(t, b, b->sample, b->cut.part, b->cut.n, count);
    const double now =
        better(t, b, asked, b->sample, b->cut.n, sweeps, b->cut.part, found);
    if (!(now < *cost))
        return;
    *cost = now;
    *parts = found->count;
    memcpy(b->kept, b->cut.part, (size_t)b->cut.n);
}

vem_i_division vem_i_parts_find(vem_i_parts *t, const vem_i_dividing *asked, int thread)
{
    static const int32_t tries[] = {VEM_I_PARTS, 4, 2};
    bench *b = &t->benches[thread];
    const int64_t n = asked->n, m = draw(t, b, asked->items, n);
    vem_i_division found = {.count = 1};
    double cost = INFINITY;
    int32_t parts = 1, count = 1;
    for (int k = 2; k >= (asked->few ? 1 : 0); k--) {
        count = vem_i_bisect(&b->cut, tries[k]);
        if (k ==
            (asked->few ? 1 : 0)) { /* the objective's own sweeps from the cuts, too */
            memcpy(b->other, b->cut.part, (size_t)m);
            try_parts(t, b, asked, count, SWEEPS, &cost, &parts, &found);
            memcpy(b->cut.part, b->other, (size_t)m);
        }
        vem_i_bisected_lloyd(&b->cut, count, SWEEPS);
        try_parts(t, b, asked, count, 0, &cost, &parts, &found);
    }
    if (m == n) {
        memcpy(asked->part, b->kept, (size_t)n);
        found.count = parts;
        found.cost = cost;
        return found;
    }
    /* A sample that tells no parts may still be of some: all of them then. */
    const uint8_t *part = parts < 2 ? b->other : b->kept;
    parts = parts < 2 ? count : parts;
    memcpy(b->cut.part, part, (size_t)m);
    start(t, b, b->sample, b->cut.part, m, parts);
    found.pairs += sweep(t, b, b->sample, m, AGAIN, b->cut.part);
    label(t, b, asked->items, n, asked->part);
    found.pairs += n * parts;
    found.cost = better(t, b, asked, asked->items, n, LAST_SWEEPS, asked->part, &found);
    return found;
}

/* Where the items that weigh something lie between the two means, 0 at one and 1 at the
 * other; how many. Other weights do not count in the test: it is one of rows. */
static int64_t project(vem_i_parts *t, bench *b, const uint32_t *items, int64_t n)
{
    int64_t count = 0;
    const int64_t d = t->view->d;
    const double *from = b->model->means, *to = from + d;
    double *row = b->cut.work, square = 0;
    for (int64_t j = 0; j < d; j++)
        square += (to[j] - from[j]) * (to[j] - from[j]);
    for (int64_t i = 0; i < n; i++) {
        double along = 0;
        if (!(mass_of(t, items[i]) > 0))
            continue;
        vem_i_view_widen(t->view, items[i], row);
        for (int64_t j = 0; j < d; j++)
            along += (row[j] - from[j]) * (to[j] - from[j]);
        b->places[count++] = square > 0 ? along / square : 0;
        vem_i_residence_check(&t->alone);
    }
    return count;
}

vem_i_division vem_i_parts_test(vem_i_parts *t, const vem_i_dividing *asked, int thread)
{
    bench *b = &t->benches[thread];
    const int64_t n = asked->n;
    vem_i_division found = {.count = 1, .cost = NAN};
    memset(asked->part, 0, (size_t)n);
    if (n < TESTED)
        return found;
    draw(t, b, asked->items, n);
    const int32_t count = vem_i_bisect(&b->cut, 2);
    if (count < 2)
        return found;
    start(t, b, b->sample, b->cut.part, b->cut.n, count);
    label(t, b, asked->items, n, asked->part);
    found.pairs = n * count + sweep(t, b, asked->items, n, TWO_MEANS, asked->part);
    const int64_t tested = project(t, b, asked->items, n);
    if (tested >= TESTED &&
        vem_i_anderson_darling(b->places, tested) > VEM_I_NORMAL_LIMIT) {
        found.count = 2;
        return found;
    }
    memset(asked->part, 0, (size_t)n);
    return found;
}

const double *vem_i_parts_units(const vem_i_parts *t)
{
    return t->units;
}

vem_i_tally vem_i_parts_gather(vem_i_parts *t, const uint32_t *items, int64_t n,
                               const double *about, int thread, double *group)
{
    bench *b = &t->benches[thread];
    b->model->clusters = 1;
    b->model->weights[0] = 1;
    memcpy(b->model->means, about, (size_t)t->view->d * sizeof(double));
    vem_i_model_set_variance(b->model, fmax(t->view->variance, 1e-30));
    vem_i_scorer_prepare(&t->alone, b->model, &b->scorer);
    vem_i_stats_clear(&b->stats);
    collect_part(t, b, items, n, 0);
    read_group(t, b, 0, group);
    return vem_i_group_tally(t->objective, group, b->work);
}
