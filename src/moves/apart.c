/* The items of a cluster, where processes share them.
 *
 * One process takes the items of a cluster in their order, VEM_I_BLOCK at a time: block b has those at the
 * places [256 b, 256 b + 256) among them. Of P processes p has the places
 *
 *     [B_pc, B_pc + n_pc),     B_pc = sum_{q < p} n_qc,     n_pc: its own items that hold c first,
 *
 * which all know, as every process tells its C numbers. A block that lies in the places of one process is
 * summed by that one. Of one that does not, the processes lo .. hi have items; one of them,
 *
 *     lo + (c + b) mod (hi - lo + 1),
 *
 * is given the rows of the others once a round, fewer than two blocks of each cluster. Then a sum over
 * the items is a chain (comm/comm.h): each adds its blocks in their order to what those before it have
 * added. Chains of clusters do not depend on each other, so that all processes are at work where there are
 * more clusters than processes. */
#include "moves/apart_inside.h"

#include <string.h>

#include "base/memory.h"
#include "base/parallel.h"
#include "data/together.h"
#include "moves/shape_inside.h"

/* ---- who has which places ---- */

int64_t vem_i_apart_count(const vem_i_apart *t, int32_t c)
{
    return vem_i_apart_place(t, t->em->run->comm->size, c);
}

vem_i_splittable vem_i_apart_own(const vem_i_apart *t, int32_t c)
{
    const int64_t *start = t->order->starts + t->order->rank[c];
    return (vem_i_splittable){.items = t->order->items + start[0],
                              .n = t->mine[c],
                              .cluster = c};
}

/* Items of others (data/together.h) lie behind its own. */
static int64_t count_own(const vem_i_apart *t, int32_t c)
{
    const int64_t *start = t->order->starts + t->order->rank[c];
    const int64_t own = vem_i_view_own(t->em->view);
    int64_t low = start[0], high = start[1];
    while (low < high) {
        const int64_t middle = low + (high - low) / 2;
        if (t->order->items[middle] < own)
            low = middle + 1;
        else
            high = middle;
    }
    return low - start[0];
}

/* Every process hears what all have. */
static void tell_counts(vem_i_apart *t)
{
    vem_i_comm *comm = t->em->run->comm;
    const int32_t clusters = vem_i_apart_clusters(t);
    for (int32_t c = 0; c < clusters; c++)
        t->mine[c] = count_own(t, c);
    for (int p = 0; p < comm->size; p++)
        t->sizes[p] = (size_t)clusters * sizeof *t->mine;
    memset(t->places, 0, (size_t)clusters * sizeof *t->places);
    comm->gather(comm, t->mine, t->places + clusters, t->sizes);
    for (int p = 0; p < comm->size; p++)
        for (int32_t c = 0; c < clusters; c++)
            t->places[(int64_t)(p + 1) * clusters + c] += vem_i_apart_place(t, p, c);
}

/* ---- what each sums ---- */

/* Its own items but those in blocks that are cut. */
static void lay_out(vem_i_apart *t)
{
    const int rank = t->em->run->comm->rank;
    for (int32_t c = 0; c < vem_i_apart_clusters(t); c++) {
        const int64_t begin = vem_i_apart_place(t, rank, c),
                      end = vem_i_apart_place(t, rank + 1, c),
                      all = vem_i_apart_count(t, c);
        int64_t from = (begin + VEM_I_BLOCK - 1) / VEM_I_BLOCK * VEM_I_BLOCK,
                to = end == all ? end : end / VEM_I_BLOCK * VEM_I_BLOCK;
        if (from > to)
            to = from;
        t->from[c] = from - begin;
        t->own[c] = to - from;
        t->edges[c] = (vem_i_edges){.view = &t->edge.view,
                                    .posterior = &t->edge.posterior,
                                    .begins = from == 0 && to > 0};
    }
}

static void lay_edges(vem_i_apart *t)
{
    const int rank = t->em->run->comm->rank;
    int32_t cluster = 0;
    int p = 0;
    int64_t at = 0;
    vem_i_wanted w;
    while (vem_i_apart_next_edge(t, &cluster, &p, &w)) {
        if (w.to != rank)
            continue;
        vem_i_edges *e = &t->edges[w.cluster];
        const int behind = w.begin >= vem_i_apart_place(t, rank, w.cluster) +
                                          t->from[w.cluster] + t->own[w.cluster] &&
                           t->own[w.cluster] > 0;
        const int which = behind || e->n[0] > 0;
        e->items[which] = t->edge.numbers + at;
        e->n[which] = w.count;
        e->begins |= w.begin == 0;
        at += w.count;
    }
}

static void lay_samples(vem_i_apart *t)
{
    int32_t cluster = 0;
    int p = 0;
    int64_t at = 0;
    vem_i_wanted w;
    while (vem_i_apart_next_sample(t, &cluster, &p, &w)) {
        t->at[w.cluster] = at;
        at += w.to == t->em->run->comm->rank ? w.count : 0;
    }
}

vem_i_splittable vem_i_apart_part(const vem_i_apart *t, int32_t c)
{
    vem_i_splittable part = vem_i_apart_own(t, c);
    part.items += t->from[c];
    part.n = t->own[c];
    part.edges = &t->edges[c];
    return part;
}

int vem_i_apart_sample(const vem_i_apart *t, int32_t c, vem_i_edges *edges,
                       vem_i_splittable *some)
{
    const vem_i_comm *comm = t->em->run->comm;
    if (c % comm->size != comm->rank)
        return 0;
    *edges = (vem_i_edges){.view = &t->sample.view,
                           .posterior = &t->sample.posterior,
                           .items = {t->sample.numbers + t->at[c]},
                           .n = {vem_i_shape_some(vem_i_apart_count(t, c))},
                           .begins = 1};
    *some = (vem_i_splittable){.cluster = c, .edges = edges};
    return 1;
}

void vem_i_apart_begin(vem_i_apart *t, const vem_i_tour *order)
{
    t->order = order;
    tell_counts(t);
    if (t->em->run->comm->failed)
        return;
    vem_status status = vem_i_apart_bring(t, vem_i_apart_next_edge, &t->edge);
    if (status == VEM_OK && t->samples)
        status = vem_i_apart_bring(t, vem_i_apart_next_sample, &t->sample);
    if (status != VEM_OK) {
        vem_i_comm_fail(t->em->run->comm, status);
        return;
    }
    lay_out(t);
    lay_edges(t);
    if (t->samples)
        lay_samples(t);
}

/* ---- sums ---- */

typedef struct summing {
    vem_i_apart *t;
    double *sums;
    int64_t values, first;
    vem_i_apart_add add;
    void *arg;
} summing;

static void add_cluster(void *arg, int64_t task, int thread)
{
    const summing *s = arg;
    const int64_t c = s->first + task;
    s->add(s->arg, (int32_t)c, thread, s->sums + c * s->values);
}

static void add_some(void *arg, double *sums, int64_t from, int64_t to)
{
    summing *s = arg;
    s->sums = sums;
    s->first = from / s->values;
    if (!s->t->em->run->comm->failed)
        vem_i_parallel(s->t->em->run, (to - from) / s->values, add_cluster, s);
}

void vem_i_apart_sum(vem_i_apart *t, double *sums, int64_t values, vem_i_apart_add add,
                     void *arg)
{
    enum { PIECES = 4 }; /* for each process: so that all are at work */
    vem_i_comm *comm = t->em->run->comm;
    const int64_t clusters = vem_i_apart_clusters(t),
                  each = vem_i_shards(clusters, (int64_t)PIECES * comm->size);
    summing s = {.t = t, .values = values, .add = add, .arg = arg};
    memset(sums, 0, (size_t)(clusters * values) * sizeof *sums);
    vem_i_comm_chain_by(comm, sums, clusters * values, each * values, add_some, &s);
}

/* ---- memory ---- */

enum { ARRAYS = 7 };

static void list_arrays(vem_i_apart *t, const vem_i_em *em, vem_i_room *list)
{
    const size_t clusters = (size_t)em->model->capacity,
                 size = (size_t)em->run->comm->size;
    const vem_i_room arrays[ARRAYS] = {
        {&t->places, size + 1, clusters * sizeof *t->places, 1},
        {&t->mine, clusters, sizeof *t->mine, 1},
        {&t->sizes, size, sizeof *t->sizes, 1},
        {&t->at, clusters, sizeof *t->at, 1},
        {&t->edges, clusters, sizeof *t->edges, 1},
        {&t->from, clusters, sizeof *t->from, 1},
        {&t->own, clusters, sizeof *t->own, 1},
    };
    memcpy(list, arrays, sizeof arrays);
}

void vem_i_apart_free(vem_i_apart *t)
{
    vem_i_room list[ARRAYS];
    if (!t)
        return;
    list_arrays(t, t->em, list);
    vem_i_free_rooms(list, ARRAYS);
    vem_i_brought_free(&t->edge);
    vem_i_brought_free(&t->sample);
    vem_i_free(t);
}

vem_status vem_i_apart_new(vem_i_em *em, int samples, vem_i_apart **apart)
{
    vem_i_apart *t;
    vem_i_room list[ARRAYS];
    vem_status status = vem_i_take_structs(em->run, &t, 1, sizeof *t);
    if (status != VEM_OK)
        return status;
    t->em = em;
    t->samples = samples;
    list_arrays(t, em, list);
    status = vem_i_take_rooms(em->run, list, ARRAYS);
    if (status == VEM_OK && em->run->counted)
        status = vem_i_apart_count_rows(t);
    if (status == VEM_OK)
        *apart = t;
    else
        vem_i_apart_free(t);
    return status;
}
