/* Draws lie in the order of the items, and so process p has a stretch of them. Where all processes want all
 * of them each has zeros in the places of others, and the bits of all are joined. Where each wants a
 * stretch of its own (which is nearly what it has) they send each other what is missing: in the order
 * of the processes, one sends and the others wait for it. */
#include "data/subset_apart.h"

#include <string.h>

#include "base/memory.h"
#include "comm/comm.h"

void vem_i_drawn_clear(const vem_i_drawn *all, int64_t size)
{
    if (all->bounds)
        memset(all->bounds, 0, 2 * (size_t)size * sizeof *all->bounds);
    else
        memset(all->x, 0, (size_t)size * all->row);
    memset(all->mass, 0, (size_t)size * sizeof *all->mass);
    if (all->log_base)
        memset(all->log_base, 0, (size_t)size * sizeof *all->log_base);
}

vem_status vem_i_drawn_join(vem_i_run *run, const vem_i_drawn *all, int64_t size)
{
    vem_i_comm *comm = run->comm;
    if (all->bounds)
        comm->combine(comm, VEM_I_OR_BYTES, all->bounds,
                      2 * (size_t)size * sizeof *all->bounds);
    else
        comm->combine(comm, VEM_I_OR_BYTES, all->x, (size_t)size * all->row);
    comm->combine(comm, VEM_I_OR_BYTES, all->mass, (size_t)size * sizeof *all->mass);
    if (all->log_base)
        comm->combine(comm, VEM_I_OR_BYTES, all->log_base,
                      (size_t)size * sizeof *all->log_base);
    return vem_i_comm_agree(run);
}

/* Draws [first, end), that a process has; and those that it wants. */
typedef struct ends {
    int64_t first, end, from, to;
} ends;

/* What `a` has and `b` wants. */
static int64_t common(const ends *a, const ends *b, int64_t *first)
{
    const int64_t end = a->end < b->to ? a->end : b->to;
    *first = a->first > b->from ? a->first : b->from;
    return end > *first ? end - *first : 0;
}

typedef struct moving {
    vem_i_comm *comm;
    const ends *ends;
    const vem_i_drawn *here, *wanted;
} moving;

static void move_array(const moving *m, int p, int q, size_t bytes, const void *here,
                       void *wanted)
{
    int64_t first;
    const ends *a = m->ends + p, *b = m->ends + q;
    const size_t count = (size_t)common(a, b, &first) * bytes;
    if (count == 0)
        return;
    const char *from = (const char *)here +
                       (p == m->comm->rank ? (size_t)(first - a->first) * bytes : 0);
    char *to =
        (char *)wanted + (q == m->comm->rank ? (size_t)(first - b->from) * bytes : 0);
    if (p == q)
        memcpy(to, from, count);
    else if (m->comm->rank == p)
        m->comm->send(m->comm, q, from, count);
    else
        m->comm->receive(m->comm, p, to, count);
}

/* From p to q, of which this process is one. */
static void move_pair(const moving *m, int p, int q)
{
    const vem_i_drawn *a = m->here, *b = m->wanted;
    move_array(m, p, q, a->row, a->x, b->x);
    move_array(m, p, q, sizeof *a->mass, a->mass, b->mass);
    if (a->log_base)
        move_array(m, p, q, sizeof *a->log_base, a->log_base, b->log_base);
}

vem_status vem_i_drawn_move(vem_i_run *run, const vem_i_drawn *here, int64_t count,
                            const vem_i_span *place, const vem_i_drawn *wanted)
{
    vem_i_comm *comm = run->comm;
    const ends mine = {here->first, here->first + count, place->first,
                       place->first + place->count};
    ends *all = NULL;
    size_t *bytes = NULL;
    vem_status status = vem_i_take(run, &all, (size_t)comm->size, sizeof *all);
    if (status == VEM_OK)
        status = vem_i_take(run, &bytes, (size_t)comm->size, sizeof *bytes);
    for (int p = 0; status == VEM_OK && p < comm->size; p++)
        bytes[p] = sizeof mine;
    if (status == VEM_OK) {
        const moving m = {comm, all, here, wanted};
        comm->gather(comm, &mine, all, bytes);
        for (int p = 0; p < comm->size && !comm->failed; p++)
            for (int q = 0; q < comm->size; q++)
                if (p == comm->rank || q == comm->rank)
                    move_pair(&m, p, q);
    }
    vem_i_free(all);
    vem_i_free(bytes);
    return status == VEM_OK ? vem_i_comm_agree(run) : status;
}
