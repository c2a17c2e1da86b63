/* Split and merge over an objective (Kurihara and Welling 2006, with other moves).
 *
 *     repeat  a loop over all items with the clusters there are, to its end
 *             price:  every cluster divided (parts.c), near pairs joined, near pairs divided anew
 *             make    all moves that gain, of clusters that lie apart, the best first
 *     until   none gains
 *
 * With one cluster for each item prices are exact: a cluster's cost is its statistics', moves of
 * different clusters add up, and the loop that follows lowers the cost further. Where items share
 * clusters, and where the search does not try all of them, prices are guesses, and the loop tells: if
 * the objective is not better after it, everything is as before, and half of the moves, the better
 * ones, are tried; down to one. So the objective falls from round to round and the search ends.
 *
 * A cluster that was best undivided is not looked at again until its mass changes; pairs are divided
 * anew only where nothing else is left, and each such pair once. */
#include "select/divide.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/parallel.h"

enum {
    FEW_STEPS = 10,  /* of a loop that moves will follow, */
    ALL_STEPS = 200, /* and of one that may be the last */
    NEAR = 12,       /* clusters that a cluster is joined with */
    ALL_PAIRS = 96,  /* clusters of which all pairs are looked at */
    KEPT = 16        /* mixtures of the path, or so */
};
/* A move gains more than this share of the cost; a cluster changed by more than that of its mass. */
static const double GAIN = 1e-8, CHANGED = 0.01;

typedef enum move_kind { DIVIDE, JOIN, ANEW } move_kind;

typedef struct move {
    move_kind kind;
    int32_t a, b; /* clusters; b -1 where it is one */
    int32_t parts;
    double gain;
    int64_t at; /* ANEW: its items and parts in the buffers */
} move;

typedef struct divider {
    vem_i_run *run;
    const vem_i_selection *selection;
    vem_i_objective *objective;
    const vem_view *view;
    int32_t least, most; /* clusters */
    vem_i_parts *parts;
    /* The best so far. */
    vem_model *model;
    int32_t *labels;
    double
        free_energy; /* per unit of mass, as the loop says: the objective, higher is better */
    vem_i_groups groups;
    /* The next. */
    vem_i_groups next;
    /* Moves at hand. */
    move *moves;
    int64_t count, capacity;
    uint8_t *part;   /* n: of the items of the tour, by DIVIDE */
    uint32_t *items; /* n: of pairs that are divided anew, one after the other, */
    uint8_t *anew;   /* and the parts of each */
    int8_t *touched; /* per cluster */
    double *tried;   /* pairs that were divided anew: two masses each */
    int64_t tried_count;
    /* What happened. */
    vem_i_trace trace;
    int64_t steps, pairs;
    vem_outcome outcome;
    double free_energy_first;
} divider;

static double total_of(const divider *t)
{
    return t->objective->total;
}

/* ---- loops ---- */

static vem_status options_for(const divider *t, int32_t clusters, int64_t steps,
                              vem_options *o)
{
    const vem_options *r = &t->selection->fits->programme->options;
    vem_options asked = *t->selection->asked;
    asked.clusters = clusters;
    asked.precision = r->precision;
    asked.coreset = VEM_AUTO;
    asked.cells = 0;
    asked.depth = VEM_AUTO;
    asked.swaps = 0;
    if (asked.held != VEM_AUTO && asked.held > clusters)
        asked.held = clusters;
    asked.measure = VEM_MEASURE_NONE;
    const vem_status status =
        vem_options_resolve(t->run->ctx, &asked, t->view->n, t->view->d, VEM_FLOAT64, o);
    if (status == VEM_OK && o->max_steps > steps)
        o->max_steps = steps;
    return status;
}

/* What a loop from this model finds. */
typedef struct loop {
    vem_i_attempt attempt;
    vem_i_programme programme;
} loop;

static vem_status run_loop(divider *t, const vem_model *start, int64_t steps, loop *l)
{
    const vem_i_restarts *fits = t->selection->fits;
    vem_options o;
    vem_status status = options_for(t, start->clusters, steps, &o);
    if (status != VEM_OK)
        return status;
    l->programme = vem_i_programme_on_sample(&o, VEM_I_FROM_ATTEMPT, t->view->n);
    l->attempt = (vem_i_attempt){.run = t->run,
                                 .programme = &l->programme,
                                 .view = t->view,
                                 .cells = fits->cells,
                                 .still = 1,
                                 .start = start,
                                 .seed = (uint64_t)o.seed,
                                 .conjugate = t->objective->constraints.conjugate,
                                 .price = t->objective->price / total_of(t)};
    status = vem_i_attempt_run(&l->attempt);
    t->pairs += l->attempt.pairs;
    return status;
}

/* The loop's result is the best so far. */
static vem_status keep(divider *t, loop *l)
{
    vem_i_attempt *a = &l->attempt;
    vem_status status = VEM_OK;
    for (int64_t i = 0; status == VEM_OK && i < a->trace.count; i++) {
        vem_trace_step line = a->trace.steps[i];
        line.step += t->steps;
        status = vem_i_trace_add(t->run, &t->trace, &line);
    }
    if (t->steps == 0)
        t->free_energy_first = a->free_energy_first;
    t->steps += a->steps;
    t->free_energy = a->free_energy;
    t->outcome = a->outcome;
    vem_model_free(t->model);
    t->model = a->model;
    a->model = NULL;
    memcpy(t->labels, a->labels, (size_t)t->view->n * sizeof *t->labels);
    if (status == VEM_OK)
        status = vem_i_path_add(t->run, t->selection->fits->path, t->model,
                                t->free_energy, t->steps);
    return status;
}

static int is_over(const divider *t)
{
    return t->run->watch->stop || vem_i_late(t->run);
}

/* ---- prices ---- */

static int64_t items_of(const vem_i_groups *g, int32_t c)
{
    return g->tour.starts[c + 1] - g->tour.starts[c];
}

static void price_division(void *arg, int64_t k, int thread)
{
    divider *t = arg;
    move *m = &t->moves[k];
    const vem_i_groups *g = &t->groups;
    const int64_t begin = g->tour.starts[m->a];
    const int32_t room = t->most - g->count + 1;
    const vem_i_dividing asked = {.items = g->tour.items + begin,
                                  .n = items_of(g, m->a),
                                  .others = g->count - 1,
                                  .least = g->count < t->least ? 2 : 1,
                                  .most = room < VEM_I_PARTS ? room : VEM_I_PARTS,
                                  .part = t->part + begin};
    const vem_i_division d = vem_i_parts_find(t->parts, &asked, thread);
    m->parts = d.count;
    m->gain = g->costs[m->a] + vem_i_objective_count(t->objective, g->count) - d.cost;
    m->at = d.pairs;
}

static void price_anew(void *arg, int64_t k, int thread)
{
    divider *t = arg;
    move *m = &t->moves[k];
    const vem_i_groups *g = &t->groups;
    const int64_t n = items_of(g, m->a), both = n + items_of(g, m->b);
    const int32_t room = t->most - g->count + 2;
    memcpy(t->items + m->at, g->tour.items + g->tour.starts[m->a],
           (size_t)n * sizeof *t->items);
    memcpy(t->items + m->at + n, g->tour.items + g->tour.starts[m->b],
           (size_t)(both - n) * sizeof *t->items);
    const vem_i_dividing asked = {.items = t->items + m->at,
                                  .n = both,
                                  .others = g->count - 2,
                                  .least = 1,
                                  .most = room < VEM_I_PARTS ? room : VEM_I_PARTS,
                                  .part = t->anew + m->at};
    const vem_i_division d = vem_i_parts_find(t->parts, &asked, thread);
    m->parts = d.count;
    m->gain = g->costs[m->a] + g->costs[m->b] +
              vem_i_objective_count(t->objective, g->count) - d.cost;
}

/* Tasks as the moves' list has them. */
static int price_all(divider *t, vem_i_task task)
{
    const vem_progress told = {.phase = "divide",
                               .step = t->steps,
                               .clusters = t->groups.count,
                               .max_clusters = t->most,
                               .free_energy = t->free_energy};
    return !vem_i_parallel_watched(t->run, t->count, 1e7, task, t, &told, VEM_I_SKIP);
}

static int price_divisions(divider *t)
{
    const vem_i_groups *g = &t->groups;
    t->count = 0;
    if (g->count >= t->most)
        return 1;
    for (int32_t c = 0; c < g->count; c++) {
        const double mass = vem_i_groups_at(g, c)[0];
        if (items_of(g, c) < 2 || fabs(mass - g->seen[c]) <= CHANGED * mass)
            continue;
        t->moves[t->count++] = (move){.kind = DIVIDE, .a = c, .b = -1};
    }
    if (!price_all(t, price_division))
        return 0;
    int64_t kept = 0;
    for (int64_t k = 0; k < t->count; k++) {
        const move m = t->moves[k];
        t->pairs += m.at;
        if (m.parts > 1)
            t->moves[kept++] = m;
        else
            t->groups.seen[m.a] = vem_i_groups_at(g, m.a)[0];
    }
    t->count = kept;
    return 1;
}

/* ---- pairs ---- */

typedef struct pairing {
    divider *t;
    double *work; /* per thread: a group, and what costs need */
    int64_t room;
    move *list; /* NEAR for each cluster, or all */
} pairing;

static double distance(const divider *t, const double *a, const double *b)
{
    double sum = 0;
    for (int32_t j = 1; j <= t->view->d; j++)
        sum += (a[j] - b[j]) * (a[j] - b[j]);
    return sum;
}

/* The clusters beside cluster c, of lower number where all are looked at, and what joining with each
 * would gain. */
static void price_joins(void *arg, int64_t cluster, int thread)
{
    const pairing *p = arg;
    const divider *t = p->t;
    const vem_i_groups *g = &t->groups;
    const int32_t c = (int32_t)cluster;
    double *both = p->work + thread * p->room, *work = both + g->stride;
    const double *own = vem_i_groups_at(g, c);
    const double fewer = vem_i_objective_count(t->objective, g->count) -
                         vem_i_objective_count(t->objective, g->count - 1.0);
    const int all = g->count <= ALL_PAIRS;
    int32_t near[NEAR];
    double far[NEAR];
    int32_t count = 0;
    for (int32_t o = 0; !all && o < g->count; o++) {
        if (o == c)
            continue;
        const double d = distance(t, own, vem_i_groups_at(g, o));
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
        move *m = p->list + (all ? (int64_t)c * ALL_PAIRS : (int64_t)c * NEAR) + k;
        *m = (move){.kind = JOIN, .a = -1};
        if (k >= rows)
            continue;
        const int32_t o = all ? k : near[k];
        vem_i_group_join(t->objective, vem_i_groups_at(g, o < c ? o : c),
                         vem_i_groups_at(g, o < c ? c : o), both);
        m->a = o < c ? o : c;
        m->b = o < c ? c : o;
        m->gain = fewer + g->costs[m->a] + g->costs[m->b] -
                  vem_i_group_cost(t->objective, both, work);
    }
}

static int by_gain(const void *a, const void *b)
{
    const move *x = a, *y = b;
    if (x->gain != y->gain)
        return x->gain > y->gain ? -1 : 1;
    if (x->a != y->a)
        return x->a < y->a ? -1 : 1;
    return (x->b > y->b) - (x->b < y->b);
}

/* All near pairs, the best to join first. */
static vem_status price_pairs(divider *t, move **list, int64_t *count)
{
    const vem_i_groups *g = &t->groups;
    pairing p = {.t = t, .room = g->stride + 1 + vem_i_objective_work(t->objective)};
    const int64_t each = g->count <= ALL_PAIRS ? ALL_PAIRS : NEAR;
    vem_status status = vem_i_take(t->run, &p.work, (size_t)t->run->threads,
                                   (size_t)p.room * sizeof(double));
    if (status == VEM_OK)
        status = vem_i_take(t->run, &p.list, (size_t)(each * g->count), sizeof(move));
    *list = NULL;
    *count = 0;
    if (status == VEM_OK) {
        vem_i_parallel(t->run, g->count, price_joins, &p);
        int64_t kept = 0;
        for (int64_t k = 0; k < each * g->count; k++)
            if (p.list[k].a >= 0)
                p.list[kept++] = p.list[k];
        qsort(p.list, (size_t)kept, sizeof *p.list, by_gain);
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

static int was_tried(const divider *t, double a, double b)
{
    for (int64_t k = 0; k < t->tried_count; k++)
        if (t->tried[2 * k] == a && t->tried[2 * k + 1] == b)
            return 1;
    return 0;
}

/* Pairs that are nearest to be joined are divided anew, as many as have items for the buffers. */
static vem_status price_anew_all(divider *t, const move *pairs, int64_t count, int *done)
{
    const vem_i_groups *g = &t->groups;
    int64_t at = 0;
    t->count = 0;
    *done = 1;
    if (g->count < 2)
        return VEM_OK;
    for (int64_t k = 0; k < count && t->count < t->capacity; k++) {
        const double a = vem_i_groups_at(g, pairs[k].a)[0],
                     b = vem_i_groups_at(g, pairs[k].b)[0];
        const int64_t n = items_of(g, pairs[k].a) + items_of(g, pairs[k].b);
        if (at + n > 2 * t->view->n || t->tried_count >= 16 * (int64_t)t->capacity)
            break;
        if (was_tried(t, a, b) || n < 2)
            continue;
        t->moves[t->count++] =
            (move){.kind = ANEW, .a = pairs[k].a, .b = pairs[k].b, .at = at};
        at += n;
        t->tried[2 * t->tried_count] = a;
        t->tried[2 * t->tried_count++ + 1] = b;
    }
    *done = price_all(t, price_anew);
    return VEM_OK;
}

/* ---- moves ---- */

/* Those that gain, of clusters that lie apart, the best first, within the limits. Returns how many. */
static int64_t choose(divider *t)
{
    const vem_i_groups *g = &t->groups;
    const double enough = GAIN * fabs(t->free_energy) * total_of(t);
    int32_t clusters = g->count;
    int64_t kept = 0;
    qsort(t->moves, (size_t)t->count, sizeof *t->moves, by_gain);
    memset(t->touched, 0, (size_t)g->count);
    for (int64_t k = 0; k < t->count; k++) {
        const move m = t->moves[k];
        const int32_t after =
            clusters - (m.b < 0 ? 1 : 2) + (m.kind == JOIN ? 1 : m.parts);
        if ((!(m.gain > enough) && clusters >= t->least) || t->touched[m.a] ||
            (m.b >= 0 && t->touched[m.b]) || (after > t->most && after > clusters) ||
            (after < t->least && after < clusters))
            continue;
        t->touched[m.a] = 1;
        if (m.b >= 0)
            t->touched[m.b] = 1;
        clusters = after;
        t->moves[kept++] = m;
    }
    t->count = kept;
    return kept;
}

/* The groups of the parts of some items, appended. */
static void append_parts(divider *t, const uint32_t *items, const uint8_t *part,
                         int64_t n, int32_t parts, const double *about)
{
    vem_i_groups *to = &t->next;
    uint32_t *list = to->tour.items; /* free until the groups are read again */
    for (int32_t p = 0; p < parts; p++) {
        int64_t count = 0;
        for (int64_t i = 0; i < n; i++)
            if (part[i] == p)
                list[count++] = items[i];
        to->seen[to->count] = NAN;
        to->costs[to->count] = vem_i_parts_gather(t->parts, list, count, about, 0,
                                                  vem_i_groups_at(to, to->count));
        to->count++;
    }
}

/* The first `count` moves, on what is best so far, into t->next. */
static void make(divider *t, int64_t count)
{
    const vem_i_groups *g = &t->groups;
    vem_i_groups *to = &t->next;
    memset(t->touched, 0, (size_t)g->count);
    to->count = 0;
    for (int64_t k = 0; k < count; k++) {
        t->touched[t->moves[k].a] = 1;
        if (t->moves[k].b >= 0)
            t->touched[t->moves[k].b] = 1;
    }
    for (int32_t c = 0; c < g->count; c++)
        if (!t->touched[c]) {
            memcpy(vem_i_groups_at(to, to->count), vem_i_groups_at(g, c),
                   (size_t)g->stride * sizeof(double));
            to->costs[to->count] = g->costs[c];
            to->seen[to->count++] = g->seen[c];
        }
    for (int64_t k = 0; k < count; k++) {
        const move *m = &t->moves[k];
        const double *about = vem_i_groups_at(g, m->a) + 1;
        const int64_t begin = g->tour.starts[m->a];
        if (m->kind == DIVIDE) {
            append_parts(t, g->tour.items + begin, t->part + begin, items_of(g, m->a),
                         m->parts, about);
        } else if (m->kind == ANEW) {
            append_parts(t, t->items + m->at, t->anew + m->at,
                         items_of(g, m->a) + items_of(g, m->b), m->parts, about);
        } else {
            vem_i_group_join(t->objective, vem_i_groups_at(g, m->a),
                             vem_i_groups_at(g, m->b), vem_i_groups_at(to, to->count));
            to->costs[to->count] = NAN;
            to->seen[to->count++] = NAN;
        }
    }
}

/* Statistics of what is best now; clusters that were looked at are remembered. */
static void look(divider *t, const double *seen, int32_t count)
{
    vem_i_groups_read(t->run, t->parts, t->labels, t->model, &t->groups);
    for (int32_t c = 0; c < t->groups.count; c++)
        t->groups.seen[c] = seen && count == t->groups.count ? seen[c] : NAN;
}

/* The moves that were chosen, all or as many of them as make the objective better. 0: none does. */
static vem_status accept(divider *t, int64_t *made)
{
    vem_status status = VEM_OK;
    const int forced = t->groups.count < t->least;
    *made = 0;
    for (int64_t count = t->count; count > 0 && status == VEM_OK; count /= 2) {
        vem_model *start = NULL;
        loop l = {0};
        make(t, count);
        status =
            vem_i_groups_model(t->run, t->objective, t->view->kernels, &t->next, &start);
        if (status == VEM_OK)
            status = run_loop(t, start, FEW_STEPS, &l);
        vem_model_free(start);
        const int better = status == VEM_OK && l.attempt.steps > 0 &&
                           (forced || l.attempt.free_energy >
                                          t->free_energy + GAIN * fabs(t->free_energy));
        if (better) {
            status = keep(t, &l);
            if (status == VEM_OK)
                look(t, t->next.seen, t->next.count);
            *made = count;
        }
        vem_i_attempt_free(&l.attempt);
        if (better || is_over(t))
            break;
    }
    return status;
}

/* More steps for what is best, if it was not at their end. */
static vem_status settle(divider *t, int *changed)
{
    loop l = {0};
    *changed = 0;
    if (t->outcome == VEM_OUTCOME_CONVERGED)
        return VEM_OK;
    vem_status status = run_loop(t, t->model, ALL_STEPS, &l);
    if (status == VEM_OK && l.attempt.steps > 0 &&
        l.attempt.free_energy >= t->free_energy) {
        *changed = 1;
        const int32_t before = t->groups.count;
        memcpy(t->next.seen, t->groups.seen, (size_t)before * sizeof(double));
        status = keep(t, &l);
        if (status == VEM_OK)
            look(t, t->next.seen, before);
    }
    t->outcome = VEM_OUTCOME_CONVERGED;
    vem_i_attempt_free(&l.attempt);
    return status;
}

/* One round: the moves there are, or none. */
static vem_status improve(divider *t, int64_t *made)
{
    move *pairs;
    int64_t count;
    int done = 1;
    *made = 0;
    vem_status status = price_pairs(t, &pairs, &count);
    if (status == VEM_OK)
        done = price_divisions(t);
    if (status == VEM_OK && done) {
        for (int64_t k = 0; k < count && pairs[k].gain > 0 && t->count < t->capacity; k++)
            t->moves[t->count++] = pairs[k];
        if (choose(t) > 0)
            status = accept(t, made);
    }
    while (status == VEM_OK && done && *made == 0 && !is_over(t)) {
        status = price_anew_all(t, pairs, count, &done);
        if (status != VEM_OK || !done || t->count == 0)
            break;
        if (choose(t) > 0)
            status = accept(t, made);
    }
    vem_i_free(pairs);
    return status;
}

/* ---- memory ---- */

static void release(divider *t)
{
    vem_i_parts_free(t->parts);
    vem_model_free(t->model);
    vem_i_groups_free(&t->groups);
    vem_i_groups_free(&t->next);
    vem_i_free(t->labels);
    vem_i_free(t->moves);
    vem_i_free(t->part);
    vem_i_free(t->items);
    vem_i_free(t->anew);
    vem_i_free(t->touched);
    vem_i_free(t->tried);
    vem_i_trace_free(&t->trace);
}

static vem_status take(divider *t)
{
    const size_t n = (size_t)t->view->n, clusters = (size_t)t->most;
    t->capacity = 4 * (int64_t)t->most + 64;
    const vem_i_room list[] = {
        {&t->labels, n, sizeof *t->labels, 1},
        {&t->moves, (size_t)t->capacity, sizeof *t->moves, 0},
        {&t->part, n, sizeof *t->part, 0},
        {&t->items, 2 * n, sizeof *t->items, 0},
        {&t->anew, 2 * n, sizeof *t->anew, 0},
        {&t->touched, clusters, sizeof *t->touched, 0},
        {&t->tried, 32 * (size_t)t->capacity, sizeof *t->tried, 0},
    };
    vem_status status = vem_i_take_rooms(t->run, list, VEM_I_COUNT(list));
    if (status == VEM_OK)
        status = vem_i_groups_new(t->run, t->objective, t->view->n, t->most, &t->groups);
    if (status == VEM_OK)
        status = vem_i_groups_new(t->run, t->objective, t->view->n, t->most, &t->next);
    if (status == VEM_OK)
        status = vem_i_parts_new(t->run, t->view, t->objective, t->view->n, &t->parts);
    return status;
}

uint64_t vem_i_divide_bytes(const vem_i_run *run, const vem_i_programme *programme,
                            int32_t d)
{
    uint64_t bytes;
    vem_i_run dry = vem_i_run_dry(run, &bytes);
    const vem_options *o = &programme->options;
    const vem_i_family *family = vem_i_family_of(o->family);
    const vem_view view = {.kernels = o->precision == VEM_SINGLE
                                          ? run->ctx->kernels_single
                                          : run->ctx->kernels_double,
                           .n = programme->items,
                           .ld = d,
                           .d = d};
    vem_i_objective objective = {.family = family, .d = d};
    divider t = {.run = &dry,
                 .objective = &objective,
                 .view = &view,
                 .most = (int32_t)o->clusters};
    take(&t);
    release(&t);
    return bytes + KEPT * vem_i_model_bytes(run, vem_i_shape_of(family, t.most, d));
}

/* All items in one cluster. */
static vem_status begin(divider *t)
{
    vem_model *one = NULL;
    loop l = {0};
    vem_status status =
        vem_i_model_blank(t->run, vem_i_shape_of(t->objective->family, 1, t->view->d),
                          &one);
    if (status != VEM_OK)
        return status;
    vem_i_groups_read(t->run, t->parts, t->labels, one, &t->groups);
    vem_model_free(one);
    one = NULL;
    status = vem_i_groups_model(t->run, t->objective, t->view->kernels, &t->groups, &one);
    if (status == VEM_OK)
        status = run_loop(t, one, FEW_STEPS, &l);
    if (status == VEM_OK && l.attempt.steps > 0)
        status = keep(t, &l);
    vem_i_attempt_free(&l.attempt);
    vem_model_free(one);
    if (status == VEM_OK && t->model)
        look(t, NULL, 0);
    return status;
}

/* The result as that of a fit. */
static void adopt(divider *t)
{
    vem_i_restarts *fits = t->selection->fits;
    vem_summary *s = &fits->report->summary;
    s->outcome = t->run->watch->stop  ? VEM_OUTCOME_STOPPED
                 : vem_i_late(t->run) ? VEM_OUTCOME_BUDGET
                                      : VEM_OUTCOME_CONVERGED;
    s->clusters = t->model->clusters;
    s->steps = t->steps;
    if (fits->cells)
        s->items = s->cells = fits->cells->cut.count;
    s->free_energy = t->free_energy;
    s->free_energy_first = t->free_energy_first;
    s->restart = 1;
    s->scored_pairs += t->pairs;
    fits->report->trace = t->trace;
    t->trace = (vem_i_trace){0};
    fits->report->labels = t->labels;
    t->labels = NULL;
    fits->model = t->model;
    t->model = NULL;
}

vem_status vem_i_divide(vem_i_selection *selection, vem_i_objective *objective)
{
    const vem_i_restarts *fits = selection->fits;
    const vem_select_options *s = selection->select;
    divider t = {.run = fits->run,
                 .selection = selection,
                 .objective = objective,
                 .view = fits->view,
                 .least = s->min_clusters > 0 ? s->min_clusters : 1,
                 .most = (int32_t)fits->programme->options.clusters};
    const double clock = vem_i_clock();
    vem_status status = take(&t);
    if (status == VEM_OK)
        status = begin(&t);
    int64_t made = 1;
    int changed = 0;
    while (status == VEM_OK && t.model && (made > 0 || changed) && !is_over(&t)) {
        status = improve(&t, &made);
        if (status == VEM_OK && made == 0 && !is_over(&t))
            status = settle(&t, &changed);
    }
    fits->report->summary.seconds_em += vem_i_clock() - clock;
    if (status == VEM_OK && t.model)
        adopt(&t);
    else if (status == VEM_OK)
        status = vem_i_fail_stopped(t.run, "before there was a result");
    release(&t);
    return status;
}
