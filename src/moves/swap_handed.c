/* What clusters receive of one that is removed, where processes share the items (swap_even.c): masses in the order of
 * the items, and receivers in the order in which they come. Lists for BATCH removals at a time go from process to
 * process, and each adds its own items to them. */
#include <string.h>

#include "base/memory.h"
#include "moves/swap_inside.h"

enum { BATCH = 64 };

struct vem_i_swap_handed {
    int32_t first;             /* of the batch among the removals; -1: none yet */
    int64_t starts[BATCH + 1]; /* of each list */
    vem_i_handed *lists, *before;
    int64_t capacity;
    int32_t *place; /* C: in the list at hand; -1: not there */
};

/* Room for so many in both; what `before` has is lost. */
static int make_room(struct vem_i_swap_handed *h, int64_t count)
{
    if (count <= h->capacity)
        return 1;
    vem_i_free(h->lists);
    vem_i_free(h->before);
    h->lists = vem_i_alloc((size_t)(2 * count), sizeof *h->lists);
    h->before = vem_i_alloc((size_t)(2 * count), sizeof *h->before);
    h->capacity = h->lists && h->before ? 2 * count : 0;
    return h->capacity > 0;
}

/* List k of those before, and behind it whoever comes first among its own items. Returns where it ends. */
static int64_t add_list(struct vem_i_swaps *t, int64_t k, int64_t from, int64_t to,
                        int64_t at)
{
    struct vem_i_swap_handed *h = t->handed;
    const vem_i_em *em = t->em;
    const int64_t rank = h->first + k, begin = at;
    for (int64_t i = from; i < to; i++, at++) {
        h->lists[at] = h->before[i];
        h->place[h->lists[at].to] = (int32_t)(at - begin);
    }
    if (rank < em->model->clusters) {
        const vem_i_splittable own = vem_i_swap_apart_own(t, t->removal[rank].cluster);
        for (int64_t i = 0; i < own.n; i++) {
            const int32_t next = em->posterior.next[own.items[i]];
            if (next < 0) /* such a cluster does not go */
                continue;
            if (h->place[next] < 0) {
                h->place[next] = (int32_t)(at - begin);
                h->lists[at++] = (vem_i_handed){.to = next};
            }
            h->lists[begin + h->place[next]].mass +=
                vem_i_view_mass(em->view, own.items[i]);
        }
    }
    for (int64_t i = begin; i < at; i++)
        h->place[h->lists[i].to] = -1;
    return at;
}

/* Receivers among its own items of the batch, at most. */
static int64_t most_of(const struct vem_i_swaps *t)
{
    int64_t most = 0;
    for (int64_t k = 0; k < BATCH && t->handed->first + k < t->em->model->clusters; k++) {
        const int64_t n =
            vem_i_swap_apart_own(t, t->removal[t->handed->first + k].cluster).n;
        most += n < t->em->model->clusters ? n : t->em->model->clusters;
    }
    return most;
}

static void fail(const struct vem_i_swaps *t)
{
    vem_i_comm_fail(t->em->run->comm,
                    vem_i_fail(t->em->run, VEM_NO_MEMORY,
                               "There is no memory for what %d clusters would receive.",
                               t->em->model->clusters));
}

static void hand_on(struct vem_i_swaps *t)
{
    struct vem_i_swap_handed *h = t->handed;
    vem_i_comm *comm = t->em->run->comm;
    int64_t before[BATCH + 1] = {0};
    const int last = comm->size - 1;
    if (comm->rank > 0)
        comm->receive(comm, comm->rank - 1, before, sizeof before);
    if (!comm->failed && !make_room(h, before[BATCH] + most_of(t)))
        fail(t);
    if (comm->rank > 0 && !comm->failed)
        comm->receive(comm, comm->rank - 1, h->before,
                      (size_t)before[BATCH] * sizeof *h->before);
    h->starts[0] = 0;
    for (int64_t k = 0; k < BATCH && !comm->failed; k++)
        h->starts[k + 1] = add_list(t, k, before[k], before[k + 1], h->starts[k]);
    if (comm->rank < last) {
        comm->send(comm, comm->rank + 1, h->starts, sizeof h->starts);
        comm->send(comm, comm->rank + 1, h->lists,
                   (size_t)h->starts[BATCH] * sizeof *h->lists);
    }
    comm->broadcast(comm, last, h->starts, sizeof h->starts);
    if (!comm->failed && !make_room(h, h->starts[BATCH]))
        fail(t);
    if (!comm->failed)
        comm->broadcast(comm, last, h->lists,
                        (size_t)h->starts[BATCH] * sizeof *h->lists);
}

void vem_i_swap_handed_begin(struct vem_i_swaps *t)
{
    t->handed->first = -1;
}

const vem_i_handed *vem_i_swap_handed(struct vem_i_swaps *t, int32_t rank, int64_t *count)
{
    struct vem_i_swap_handed *h = t->handed;
    const int32_t batch = rank / BATCH * BATCH;
    *count = 0;
    if (batch != h->first) {
        h->first = batch;
        hand_on(t);
    }
    if (t->em->run->comm->failed)
        return NULL;
    *count = h->starts[rank - batch + 1] - h->starts[rank - batch];
    return h->lists + h->starts[rank - batch];
}

vem_status vem_i_swap_handed_new(struct vem_i_swaps *t)
{
    const vem_i_em *em = t->em;
    vem_status status = vem_i_take_structs(em->run, &t->handed, 1, sizeof *t->handed);
    if (status == VEM_OK)
        status = vem_i_take(em->run, &t->handed->place, (size_t)em->model->capacity,
                            sizeof *t->handed->place);
    for (int32_t c = 0; status == VEM_OK && t->handed->place && c < em->model->capacity;
         c++)
        t->handed->place[c] = -1;
    return status;
}

void vem_i_swap_handed_free(struct vem_i_swaps *t)
{
    if (!t->handed)
        return;
    vem_i_free(t->handed->lists);
    vem_i_free(t->handed->before);
    vem_i_free(t->handed->place);
    vem_i_free(t->handed);
    t->handed = NULL;
}
