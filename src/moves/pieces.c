/* Pieces of the items, each summed in the order of its items, and these added up in theirs. Of several processes those
 * that begin among its own items each begins on its own; one that began before it goes on with in its turn, with
 * two rows of sums from process to process: of the pieces that are over, and of the one that is not. */
#include "moves/pieces.h"

#include <string.h>

#include "comm/comm.h"
#include "data/together.h"

/* Its own items of a piece, [*from, *to); 0: none. *before: the piece began before them; *ends: and
 * ends with them. */
static int own_piece(const vem_i_pieces *t, int64_t piece, int64_t *from, int64_t *to,
                     int *before, int *ends)
{
    const vem_view *view = t->view;
    const int64_t own = vem_i_view_own(view),
                  begin = view->global_n * piece / t->count - view->first,
                  end = view->global_n * (piece + 1) / t->count - view->first;
    *from = begin < 0 ? 0 : begin;
    *to = end < own ? end : own;
    *before = begin < 0;
    *ends = end <= own;
    return *from < *to;
}

static void begin_piece(void *arg, int64_t piece, int thread)
{
    const vem_i_pieces *t = arg;
    double *sums = t->partial + piece * t->values;
    int64_t from, to;
    int before, ends;
    (void)thread;
    memset(sums, 0, (size_t)t->values * sizeof *sums);
    if (own_piece(t, piece, &from, &to, &before, &ends) && !before)
        t->add(t->arg, from, to, sums);
}

static void go_on(void *arg, void *state)
{
    const vem_i_pieces *t = arg;
    double *sums = state, *open = sums + t->values;
    int64_t from, to;
    int before, ends;
    for (int64_t piece = 0; piece < t->count; piece++) {
        if (!own_piece(t, piece, &from, &to, &before, &ends))
            continue;
        if (before)
            t->add(t->arg, from, to, open);
        else
            memcpy(open, t->partial + piece * t->values,
                   (size_t)t->values * sizeof *open);
        for (int64_t v = 0; ends && v < t->values; v++)
            sums[v] += open[v];
    }
}

void vem_i_pieces_sum(const vem_i_pieces *t)
{
    const size_t bytes = (size_t)t->values * sizeof *t->partial;
    vem_i_comm *comm = t->run->comm;
    if (!comm || !comm->failed)
        vem_i_parallel_light(t->run, t->count,
                             t->work * (double)t->view->n / (double)t->count, begin_piece,
                             (void *)t);
    if (comm) {
        memset(t->turn, 0, 2 * bytes);
        vem_i_comm_turn(comm, t->turn, 2 * bytes, go_on, (void *)t);
        memcpy(t->partial, t->turn, bytes);
        return;
    }
    for (int64_t v = 0; v < t->values; v++) {
        double sum = 0;
        for (int64_t piece = 0; piece < t->count; piece++)
            sum += t->partial[piece * t->values + v];
        t->partial[v] = sum;
    }
}

typedef struct in_order {
    const vem_view *view;
    vem_i_items_add add;
    void *arg;
} in_order;

static void add_own(void *arg, void *state)
{
    const in_order *t = arg;
    t->add(t->arg, 0, vem_i_view_own(t->view), state);
}

void vem_i_items_sum(const vem_i_run *run, const vem_view *view, double *sums,
                     int64_t values, vem_i_items_add add, void *arg)
{
    in_order t = {view, add, arg};
    if (run->comm)
        vem_i_comm_turn(run->comm, sums, (size_t)values * sizeof *sums, add_own, &t);
    else
        add_own(&t, sums);
}
