/* Rows of clusters that are brought from process to process, so that a block of them lies in one (apart.c).
 *
 * They go in rounds, in each of which two processes whose numbers add up to that of the round, modulo P,
 * exchange theirs: everybody meets everybody, and nobody waits in a ring. */
#include "moves/apart_inside.h"

#include <string.h>

#include "base/memory.h"
#include "moves/shape_inside.h"

/* ---- what is to be brought where ---- */

/* Whose item lies there. */
static int holder(const vem_i_apart *t, int32_t c, int64_t at)
{
    int p = 0;
    while (vem_i_apart_place(t, p + 1, c) <= at)
        p++;
    return p;
}

static int64_t wanted_place(const vem_i_apart *t, const vem_i_wanted *w, int64_t k)
{
    return w->sampled ? vem_i_shape_pick(vem_i_apart_count(t, w->cluster), k)
                      : w->begin + k;
}

/* The block behind the boundary before process p, where it is cut by it and was not seen at the
 * boundary before. */
static int edge_at(const vem_i_apart *t, int32_t c, int p, vem_i_wanted *w)
{
    const int64_t cut = vem_i_apart_place(t, p, c), all = vem_i_apart_count(t, c),
                  begin = cut / VEM_I_BLOCK * VEM_I_BLOCK;
    const int64_t end = begin + VEM_I_BLOCK < all ? begin + VEM_I_BLOCK : all;
    if (cut == begin || cut >= all || (p > 1 && vem_i_apart_place(t, p - 1, c) > begin))
        return 0;
    const int low = holder(t, c, begin);
    const int64_t turn = c + begin / VEM_I_BLOCK;
    int holders = 1;
    while (vem_i_apart_place(t, low + holders, c) < end)
        holders++;
    *w = (vem_i_wanted){c, low + (int)(turn % holders), begin, end - begin, 0};
    return 1;
}

int vem_i_apart_next_edge(const vem_i_apart *t, int32_t *c, int *p, vem_i_wanted *w)
{
    for (; *c < vem_i_apart_clusters(t); ++*c, *p = 0)
        while (++*p < t->em->run->comm->size)
            if (edge_at(t, *c, *p, w))
                return 1;
    return 0;
}

int vem_i_apart_next_sample(const vem_i_apart *t, int32_t *c, int *p, vem_i_wanted *w)
{
    (void)p;
    if (*c >= vem_i_apart_clusters(t))
        return 0;
    *w = (vem_i_wanted){*c, *c % t->em->run->comm->size, 0,
                        vem_i_shape_some(vem_i_apart_count(t, *c)), 1};
    ++*c;
    return 1;
}

/* ---- bringing it ---- */

static size_t item_bytes(const vem_i_apart *t)
{
    const vem_i_em *em = t->em;
    const size_t element = em->view->kernels->element;
    return (size_t)em->view->d * element + (em->view->mass ? sizeof(double) : 0) +
           (em->posterior.q ? (size_t)em->posterior.width * element : 0);
}

static char *pack(const vem_i_apart *t, int64_t item, char *out)
{
    const vem_i_em *em = t->em;
    const size_t element = em->view->kernels->element,
                 row = (size_t)em->view->d * element,
                 held = (size_t)em->posterior.width * element;
    vem_i_view_copy(em->view, item, out);
    out += row;
    if (em->view->mass) {
        memcpy(out, em->view->mass + item, sizeof(double));
        out += sizeof(double);
    }
    if (em->posterior.q) {
        memcpy(out, (const char *)em->posterior.q + (size_t)item * held, held);
        out += held;
    }
    return out;
}

static const char *unpack(const vem_i_apart *t, const char *in, vem_i_brought *b,
                          int64_t at)
{
    const vem_i_em *em = t->em;
    const size_t element = em->view->kernels->element,
                 row = (size_t)em->view->d * element,
                 held = (size_t)em->posterior.width * element;
    memcpy(b->rows + (size_t)at * row, in, row);
    in += row;
    if (b->mass) {
        memcpy(b->mass + at, in, sizeof(double));
        in += sizeof(double);
    }
    if (b->q) {
        memcpy(b->q + (size_t)at * held, in, held);
        in += held;
    }
    return in;
}

/* Items that `from` has of what `to` is given: they are counted; packed; taken out of a message. */
static int64_t go_through(const vem_i_apart *t, vem_i_next_wanted next, int from, int to,
                          vem_i_brought *b, char *out, const char *in)
{
    int32_t cluster = 0;
    int p = 0;
    int64_t count = 0, at = 0;
    vem_i_wanted w;
    while (next(t, &cluster, &p, &w)) {
        if (w.to != to)
            continue;
        const int64_t begin = vem_i_apart_place(t, from, w.cluster),
                      end = vem_i_apart_place(t, from + 1, w.cluster);
        const uint32_t *items =
            t->order->items + t->order->starts[t->order->rank[w.cluster]];
        for (int64_t k = 0; k < w.count; k++) {
            const int64_t where = wanted_place(t, &w, k);
            if (where < begin || where >= end)
                continue;
            if (out)
                out = pack(t, items[where - begin], out);
            if (in)
                in = unpack(t, in, b, at + k);
            count++;
        }
        at += w.count;
    }
    return count;
}

/* Between this process and another: the lower one speaks first. */
static vem_status exchange(vem_i_apart *t, vem_i_next_wanted next, int other,
                           vem_i_brought *b)
{
    vem_i_run *run = t->em->run;
    vem_i_comm *comm = run->comm;
    const size_t give = (size_t)go_through(t, next, comm->rank, other, b, NULL, NULL) *
                        item_bytes(t),
                 take = (size_t)go_through(t, next, other, comm->rank, b, NULL, NULL) *
                        item_bytes(t);
    char *out = NULL, *in = NULL;
    vem_status status = give > 0 ? vem_i_take(run, &out, give, 1) : VEM_OK;
    if (status == VEM_OK && take > 0)
        status = vem_i_take(run, &in, take, 1);
    if (status != VEM_OK) {
        vem_i_free(out);
        return status;
    }
    if (out)
        go_through(t, next, comm->rank, other, b, out, NULL);
    if (other == comm->rank) {
        if (in && out)
            memcpy(in, out, give);
    } else {
        for (int turn = 0; turn < 2; turn++)
            if ((turn == 0) == (comm->rank < other)) {
                if (give > 0)
                    comm->send(comm, other, out, give);
            } else if (take > 0) {
                comm->receive(comm, other, in, take);
            }
    }
    if (in && !comm->failed)
        go_through(t, next, other, comm->rank, b, NULL, in);
    vem_i_free(out);
    vem_i_free(in);
    return VEM_OK;
}

void vem_i_brought_free(vem_i_brought *b)
{
    vem_i_free(b->rows);
    vem_i_free(b->q);
    vem_i_free(b->mass);
    vem_i_free(b->numbers);
    *b = (vem_i_brought){0};
}

static vem_status brought_room(const vem_i_apart *t, int64_t count, vem_i_brought *b)
{
    const vem_i_em *em = t->em;
    const size_t n = (size_t)count, element = em->view->kernels->element;
    const vem_i_room list[] = {
        {&b->rows, n, (size_t)em->view->d * element, 0},
        {&b->mass, em->view->mass ? n : 0, sizeof(double), 0},
        {&b->q, em->posterior.q ? n : 0, (size_t)em->posterior.width * element, 0},
        {&b->numbers, n, sizeof *b->numbers, 0},
    };
    return vem_i_take_rooms(em->run, list, VEM_I_COUNT(list));
}

vem_status vem_i_apart_bring(vem_i_apart *t, vem_i_next_wanted next, vem_i_brought *b)
{
    const vem_i_em *em = t->em;
    const vem_i_comm *comm = em->run->comm;
    int32_t cluster = 0;
    int p = 0;
    vem_i_wanted w;
    vem_i_brought_free(b);
    while (next(t, &cluster, &p, &w))
        b->count += w.to == comm->rank ? w.count : 0;
    vem_status status = brought_room(t, b->count, b);
    for (int round = 0; status == VEM_OK && round < comm->size; round++)
        status = exchange(t, next, (round - comm->rank + comm->size) % comm->size, b);
    if (status != VEM_OK)
        return status;
    for (int64_t i = 0; i < b->count; i++)
        b->numbers[i] = (uint32_t)i;
    b->view = vem_i_view_drawn(em->view, b->rows, em->view->d, b->count);
    b->view.mass = b->mass;
    b->posterior =
        (vem_i_posterior){.n = b->count, .width = em->posterior.width, .q = b->q};
    return VEM_OK;
}

/* What a round may bring here, and a message of it: two blocks of each cluster, or all its items. */
vem_status vem_i_apart_count_rows(const vem_i_apart *t)
{
    const int64_t clusters = t->em->model->capacity, most = 2 * clusters * VEM_I_BLOCK,
                  all = t->em->view->global_n;
    vem_i_brought none = {0};
    char *message = NULL;
    const int64_t count = most < all ? most : all;
    vem_status status = brought_room(t, count, &none);
    if (status == VEM_OK)
        status = vem_i_take(t->em->run, &message, (size_t)count, item_bytes(t));
    return status;
}
