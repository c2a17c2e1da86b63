/* What moves would gain: clusters divided (parts.c), near pairs joined, from their
 * statistics alone, and near pairs divided anew. */
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/parallel.h"
#include "select/divide_inside.h"

enum {
    NEAR = 12,      /* clusters that a cluster is joined with */
    ALL_PAIRS = 96, /* clusters of which all pairs are looked at */
    FEW_PAIRS = 256 /* that are divided anew, or as many as there are clusters */
};
/* A cluster is another one when its mass has changed by more than this share. */
static const double CHANGED = 0.01;

static void price_division(void *arg, int64_t k, int thread)
{
    vem_i_divider *t = arg;
    vem_i_change *m = &t->moves[k];
    const vem_i_partition *g = &t->groups;
    const int64_t begin = g->tour.starts[m->a];
    const int32_t room = t->most - g->count + 1;
    const vem_i_dividing asked = {.items = g->tour.items + begin,
                                  .n = vem_i_group_items(g, m->a),
                                  .beside = vem_i_tally_add(g->all, -1, g->tallies[m->a]),
                                  .least = g->count < t->least ? 2 : 1,
                                  .most = room < VEM_I_PARTS ? room : VEM_I_PARTS,
                                  .part = t->part + begin};
    const vem_i_division d = t->objective->tests
                                 ? vem_i_parts_test(t->parts, &asked, thread)
                                 : vem_i_parts_find(t->parts, &asked, thread);
    m->parts = d.count;
    m->gain = t->objective->tests
                  ? (double)asked.n /* the largest first, should there be a limit */
                  : vem_i_objective_total(t->objective, g->all) - d.cost;
    m->at = d.pairs;
}

static void price_anew(void *arg, int64_t k, int thread)
{
    vem_i_divider *t = arg;
    vem_i_change *m = &t->moves[k];
    const vem_i_partition *g = &t->groups;
    const int64_t n = vem_i_group_items(g, m->a), both = n + vem_i_group_items(g, m->b);
    const int32_t room = t->most - g->count + 2;
    const vem_i_tally beside =
        vem_i_tally_add(vem_i_tally_add(g->all, -1, g->tallies[m->a]), -1,
                        g->tallies[m->b]);
    memcpy(t->items + m->at, g->tour.items + g->tour.starts[m->a],
           (size_t)n * sizeof *t->items);
    memcpy(t->items + m->at + n, g->tour.items + g->tour.starts[m->b],
           (size_t)(both - n) * sizeof *t->items);
    const vem_i_dividing asked = {.items = t->items + m->at,
                                  .n = both,
                                  .beside = beside,
                                  .least = 1,
                                  .most = room < VEM_I_PARTS ? room : VEM_I_PARTS,
                                  .few = g->count > FEW_PAIRS, /* or it takes long */
                                  .part = t->anew + m->at};
    const vem_i_division d = vem_i_parts_find(t->parts, &asked, thread);
    m->parts = d.count;
    m->gain = vem_i_objective_total(t->objective, g->all) - d.cost;
}

/* Tasks as the moves' list has them. */
static int price_all(vem_i_divider *t, vem_i_task task)
{
    const vem_progress told = {.phase = "divide",
                               .step = t->steps,
                               .clusters = t->groups.count,
                               .max_clusters = t->most,
                               .free_energy = t->free_energy};
    return !vem_i_parallel_watched(t->run, t->count, 1e7, task, t, &told, VEM_I_SKIP);
}

int vem_i_price_divisions(vem_i_divider *t)
{
    const vem_i_partition *g = &t->groups;
    t->count = 0;
    if (g->count >= t->most)
        return 1;
    for (int32_t c = 0; c < g->count; c++) {
        const double mass = vem_i_partition_at(g, c)[0];
        if (vem_i_group_items(g, c) < 2 || fabs(mass - g->seen[c]) <= CHANGED * mass)
            continue;
        t->moves[t->count++] = (vem_i_change){.kind = VEM_I_MOVE_SPLIT, .a = c, .b = -1};
    }
    if (!price_all(t, price_division))
        return 0;
    int64_t kept = 0;
    for (int64_t k = 0; k < t->count; k++) {
        const vem_i_change m = t->moves[k];
        t->pairs += m.at;
        if (m.parts > 1)
            t->moves[kept++] = m;
        else
            t->groups.seen[m.a] = vem_i_partition_at(g, m.a)[0];
    }
    t->count = kept;
    return 1;
}

/* ---- pairs ---- */

typedef struct pairing {
    const vem_i_divider *t;
    double *work; /* per thread: a group, and what costs need */
    int64_t room;
    vem_i_change *list; /* NEAR for each cluster, or all */
} pairing;

static double distance(const vem_i_divider *t, const double *a, const double *b)
{
    const double *units = vem_i_parts_units(t->parts);
    double sum = 0;
    for (int32_t j = 1; j <= t->view->d; j++) {
        const double e = (a[j] - b[j]) * (units ? units[j - 1] : 1);
        sum += e * e;
    }
    return sum;
}

/* The clusters beside cluster c, of lower number where all are looked at, and what
 * joining with each would gain. */
static void price_joins(void *arg, int64_t cluster, int thread)
{
    const pairing *p = arg;
    const vem_i_divider *t = p->t;
    const vem_i_partition *g = &t->groups;
    const int32_t c = (int32_t)cluster;
    double *both = p->work + thread * p->room, *work = both + g->stride;
    const double *own = vem_i_partition_at(g, c);
    const double now = vem_i_objective_total(t->objective, g->all);
    const int all = g->count <= ALL_PAIRS;
    int32_t near[NEAR];
    double far[NEAR];
    int32_t count = 0;
    for (int32_t o = 0; !all && o < g->count; o++) {
        if (o == c)
            continue;
        const double d = distance(t, own, vem_i_partition_at(g, o));
        int32_t at = count < NEAR ? count++ : NEAR;
        for (; at > 0 && (at == NEAR || d < far[at - 1]); at--) {
            if (at == NEAR) {
                if (!(d < far[NEAR - 1]))
                    break;
                continue;
            }
            far[at] = far[at - 1];
            near[at] = near[at - 1];
        }
        if (at < NEAR) {
            far[at] = d;
            near[at] = o;
        }
    }
    const int32_t rows = all ? c : count;
    for (int32_t k = 0; k < (all ? ALL_PAIRS : NEAR); k++) {
        vem_i_change *m =
            p->list + (all ? (int64_t)c * ALL_PAIRS : (int64_t)c * NEAR) + k;
        *m = (vem_i_change){.kind = VEM_I_MOVE_JOIN, .a = -1, .parts = 1};
        if (k >= rows)
            continue;
        const int32_t o = all ? k : near[k];
        vem_i_moments_join(t->objective->family, t->objective->d,
                           vem_i_partition_at(g, o < c ? o : c),
                           vem_i_partition_at(g, o < c ? c : o), both);
        m->a = o < c ? o : c;
        m->b = o < c ? c : o;
        vem_i_tally after = vem_i_tally_add(g->all, -1, g->tallies[m->a]);
        after = vem_i_tally_add(after, -1, g->tallies[m->b]);
        after = vem_i_tally_add(after, 1, vem_i_group_tally(t->objective, both, work));
        m->gain = now - vem_i_objective_total(t->objective, after);
    }
}

int vem_i_by_gain(const void *a, const void *b)
{
    const vem_i_change *x = a, *y = b;
    if (x->gain != y->gain)
        return x->gain > y->gain ? -1 : 1;
    if (x->a != y->a)
        return x->a < y->a ? -1 : 1;
    return (x->b > y->b) - (x->b < y->b);
}

/* Pairs for each cluster, of so many. */
static int64_t pairs_of(int32_t clusters)
{
    return clusters <= ALL_PAIRS ? ALL_PAIRS : NEAR;
}

static vem_status take_pairs(const vem_i_divider *t, int32_t clusters, pairing *p)
{
    *p = (pairing){.t = t,
                   .room = t->groups.stride + 1 + vem_i_objective_work(t->objective)};
    const vem_i_room list[] = {
        {&p->work, (size_t)t->run->threads, (size_t)p->room * sizeof(double), 0},
        {&p->list, (size_t)(pairs_of(clusters) * clusters), sizeof *p->list, 0},
    };
    return vem_i_take_rooms(t->run, list, VEM_I_COUNT(list));
}

void vem_i_price_plan(vem_i_divider *t)
{
    const uint64_t before = vem_i_counted(t->run);
    pairing p;
    take_pairs(t, t->most < ALL_PAIRS ? t->most : ALL_PAIRS, &p);
    const uint64_t all = vem_i_count_back(t->run, before);
    take_pairs(t, t->most, &p);
    vem_i_count_least(t->run, all);
}

/* All near pairs, the best to join first. */
vem_status vem_i_price_pairs(vem_i_divider *t, vem_i_change **list, int64_t *count)
{
    const vem_i_partition *g = &t->groups;
    const int64_t each = pairs_of(g->count);
    pairing p;
    const vem_status status = take_pairs(t, g->count, &p);
    *list = NULL;
    *count = 0;
    if (status == VEM_OK) {
        vem_i_parallel(t->run, g->count, price_joins, &p);
        int64_t kept = 0;
        for (int64_t k = 0; k < each * g->count; k++)
            if (p.list[k].a >= 0)
                p.list[kept++] = p.list[k];
        qsort(p.list, (size_t)kept, sizeof *p.list, vem_i_by_gain);
        /* A pair of neighbours may stand there twice, side by side. */
        for (int64_t k = 0; k < kept; k++)
            if (k == 0 || p.list[k].a != p.list[k - 1].a ||
                p.list[k].b != p.list[k - 1].b)
                p.list[(*count)++] = p.list[k];
        *list = p.list;
    }
    vem_i_free(p.work);
    return status;
}

static int was_tried(const vem_i_divider *t, const double key[VEM_I_TRIED_KEY])
{
    for (int64_t k = 0; k < t->tried_count; k++) {
        int same = 1;
        for (int j = 0; j < VEM_I_TRIED_KEY; j++)
            same &= t->tried[VEM_I_TRIED_KEY * k + j] == key[j];
        if (same)
            return 1;
    }
    return 0;
}

/* Pairs that are nearest to be joined are divided anew, as many as have items for the
 * buffers. */
int vem_i_price_anew(vem_i_divider *t, const vem_i_change *pairs, int64_t count)
{
    const vem_i_partition *g = &t->groups;
    int64_t at = 0;
    t->count = 0;
    if (g->count < 2)
        return 1;
    const int64_t near = g->count > FEW_PAIRS ? g->count : FEW_PAIRS;
    for (int64_t k = 0; k < count && k < near && t->count < t->capacity; k++) {
        const double *a = vem_i_partition_at(g, pairs[k].a),
                     *b = vem_i_partition_at(g, pairs[k].b);
        const double key[VEM_I_TRIED_KEY] = {a[0], a[1], b[0], b[1]};
        const int64_t n =
            vem_i_group_items(g, pairs[k].a) + vem_i_group_items(g, pairs[k].b);
        if (at + n > 2 * t->view->n || t->tried_count >= VEM_I_TRIED * t->capacity)
            break;
        if (was_tried(t, key) || n < 2)
            continue;
        t->moves[t->count++] = (vem_i_change){.kind = VEM_I_MOVE_RESPLIT,
                                              .a = pairs[k].a,
                                              .b = pairs[k].b,
                                              .at = at};
        at += n;
        memcpy(t->tried + VEM_I_TRIED_KEY * t->tried_count++, key, sizeof key);
    }
    return price_all(t, price_anew);
}
