/* Something of every row goes to the process that has the row's place in another order.
 *
 * Each process tells for some rows which place of the whole they go to, and gets what goes to its own places
 * and to those of its halo (data/together.h). In the order of the processes one sends and the others wait, so many
 * bytes at a time; what is sent is the place and what belongs there. */
#include <string.h>

#include "base/memory.h"
#include "data/together.h"

enum { PIECE_BYTES = 1 << 20 };

typedef struct exchange {
    vem_i_comm *comm;
    int64_t first; /* of the places here */
    int64_t own;   /* values that are sent */
    const int64_t *places;
    const char *values;
    size_t bytes, each; /* of a value; with its place */
    int64_t piece;      /* that are sent together */
    vem_i_extent *all;  /* of each process */
    int64_t *counts;    /* processes x processes: from whom to whom */
    char *packed;
    char *out;
} exchange;

static int64_t count_for(const exchange *e, int p, int q)
{
    return e->counts[(int64_t)p * e->comm->size + q];
}

static int goes_to(const exchange *e, int64_t i, int q)
{
    return e->places[i] >= e->all[q].first &&
           e->places[i] < e->all[q].first + e->all[q].all;
}

static void put(const exchange *e, const char *packed, int64_t count)
{
    for (int64_t k = 0; k < count; k++, packed += e->each) {
        int64_t place;
        memcpy(&place, packed, sizeof place);
        memcpy(e->out + (size_t)(place - e->first) * e->bytes, packed + sizeof place,
               e->bytes);
    }
}

static void send_to(const exchange *e, int q)
{
    int64_t count = 0;
    for (int64_t i = 0; i < e->own; i++) {
        if (!goes_to(e, i, q))
            continue;
        char *at = e->packed + (size_t)count++ * e->each;
        memcpy(at, &e->places[i], sizeof e->places[i]);
        memcpy(at + sizeof e->places[i], e->values + (size_t)i * e->bytes, e->bytes);
        if (count < e->piece)
            continue;
        e->comm->send(e->comm, q, e->packed, (size_t)count * e->each);
        count = 0;
    }
    if (count > 0)
        e->comm->send(e->comm, q, e->packed, (size_t)count * e->each);
}

static void receive_from(const exchange *e, int p)
{
    const int64_t all = count_for(e, p, e->comm->rank);
    for (int64_t done = 0, some; done < all && !e->comm->failed; done += some) {
        some = all - done < e->piece ? all - done : e->piece;
        e->comm->receive(e->comm, p, e->packed, (size_t)some * e->each);
        if (!e->comm->failed)
            put(e, e->packed, some);
    }
}

static void keep_own(const exchange *e)
{
    for (int64_t i = 0; i < e->own; i++)
        if (goes_to(e, i, e->comm->rank))
            memcpy(e->out + (size_t)(e->places[i] - e->first) * e->bytes,
                   e->values + (size_t)i * e->bytes, e->bytes);
}

static void move_all(const exchange *e)
{
    const int rank = e->comm->rank;
    keep_own(e);
    for (int p = 0; p < e->comm->size && !e->comm->failed; p++)
        for (int q = 0; q < e->comm->size; q++) {
            if (p == rank && q != rank)
                send_to(e, q);
            if (q == rank && p != rank)
                receive_from(e, p);
        }
}

/* Who has which places, and how much goes from whom to whom. */
static void meet(vem_i_run *run, exchange *e, const vem_view *view, size_t *bytes,
                 int64_t *mine)
{
    vem_i_comm *comm = e->comm;
    vem_i_view_extents(run, view, e->all);
    for (int q = 0; q < comm->size; q++) {
        mine[q] = 0;
        for (int64_t i = 0; i < e->own; i++)
            mine[q] += goes_to(e, i, q);
        bytes[q] = (size_t)comm->size * sizeof *mine;
    }
    comm->gather(comm, mine, e->counts, bytes);
}

vem_status vem_i_view_exchange(vem_i_run *run, const vem_view *view, int64_t count,
                               const int64_t *places, const void *values, size_t bytes,
                               void *out)
{
    exchange e = {.comm = run->comm,
                  .first = view->first,
                  .own = count,
                  .places = places,
                  .values = values,
                  .bytes = bytes,
                  .each = bytes + sizeof *places,
                  .out = out};
    e.piece = (int64_t)(PIECE_BYTES / e.each) + 1;
    const size_t size = (size_t)run->comm->size;
    size_t *counts = NULL;
    int64_t *mine = NULL;
    const vem_i_room list[] = {
        {&e.all, size, sizeof *e.all, 0},
        {&e.counts, size * size, sizeof *e.counts, 0},
        {&e.packed, (size_t)e.piece, e.each, 0},
        {&counts, size, sizeof *counts, 0},
        {&mine, size, sizeof *mine, 0},
    };
    vem_status status = vem_i_take_rooms(run, list, VEM_I_COUNT(list));
    if (status != VEM_OK)
        vem_i_comm_fail(run->comm, status);
    if (status == VEM_OK && !run->counted) {
        meet(run, &e, view, counts, mine);
        if (!run->comm->failed)
            move_all(&e);
    }
    vem_i_free_rooms(list, VEM_I_COUNT(list));
    return run->counted ? status : vem_i_comm_agree(run);
}
