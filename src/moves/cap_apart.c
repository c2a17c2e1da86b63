/* Labels that keep a number, where processes share the rows.
 *
 * Bids and paths go row by row, and each follows from the one before. So the first process makes all of them,
 * with the lists, places and labels of all rows; but no row comes to it. Lists are made by whoever has the rows, when
 * it asks: of all rows to begin with, and of those that wait for a longer one, by the prices of the day. Labels
 * go back when it is done. A stop is heard between two rounds. */
#include "moves/cap_apart.h"

#include <string.h>

#include "base/memory.h"
#include "comm/files.h"
#include "data/together.h"
#include "moves/cap.h"

/* Bytes that are sent at a time; rows that are asked for at a time. */
enum { PIECE = 1 << 22, LOT = 1 << 15 };

/* What the first process asks for. */
enum { LISTS, SCAN, END };

struct vem_i_cap_apart {
    vem_i_run *run;
    const vem_view *view;
    vem_view mine;       /* its own rows */
    vem_i_cap_rows rows; /* of these */
    uint32_t *asked; /* LOT: rows of a lot, and then its own of them, by their places */
    char *answer;    /* LOT lists */
    vem_i_extent *spans; /* of each process */
    /* The first process: */
    vem_view whole; /* weights of all rows, and no rows */
    double *masses;
    int32_t *labels;
};

static int is_first(const vem_i_cap_apart *a)
{
    return a->run->comm->rank == 0;
}

static void move_bytes(const vem_i_cap_apart *a, int p, void *here, size_t count, int out)
{
    vem_i_comm *comm = a->run->comm;
    char *at = here;
    for (size_t some; count > 0 && !comm->failed; at += some, count -= some) {
        some = count < PIECE ? count : PIECE;
        if (out)
            comm->send(comm, p, at, some);
        else
            comm->receive(comm, p, at, some);
    }
}

/* What each has of its own rows, `each` bytes of a row, to all of them at the first process. */
static void bring(const vem_i_cap_apart *a, const void *mine, void *all, size_t each)
{
    if (!is_first(a)) {
        move_bytes(a, 0, (void *)mine, (size_t)a->mine.n * each, 1);
        return;
    }
    memcpy(all, mine, (size_t)a->mine.n * each);
    for (int p = 1; p < a->run->comm->size; p++)
        move_bytes(a, p, (char *)all + (size_t)a->spans[p].first * each,
                   (size_t)a->spans[p].own * each, 0);
}

/* And back, with those of the halo. */
static void take_back(const vem_i_cap_apart *a, int32_t *labels)
{
    const size_t each = sizeof *labels;
    if (!is_first(a)) {
        move_bytes(a, 0, labels, (size_t)a->view->n * each, 0);
        return;
    }
    memcpy(labels, a->labels, (size_t)a->view->n * each);
    for (int p = 1; p < a->run->comm->size; p++)
        move_bytes(a, p, a->labels + a->spans[p].first, (size_t)a->spans[p].all * each,
                   1);
}

static void ask(const vem_i_cap_apart *a, int64_t what, int64_t count, int64_t asked[2])
{
    asked[0] = what;
    asked[1] = count;
    a->run->comm->broadcast(a->run->comm, 0, asked, 2 * sizeof *asked);
}

/* ---- lists of all rows ---- */

/* all: NULL where this is not the first process. */
static int make_lists(vem_i_cap_apart *a, vem_i_cap_rows *all)
{
    vem_i_cap_rows *r = &a->rows;
    const size_t width = (size_t)r->width;
    const int stopped = vem_i_cap_rows_list(r);
    bring(a, r->own, all ? all->own : NULL, 1);
    bring(a, r->cost, all ? all->cost : NULL, width * sizeof *r->cost);
    if (!r->all) {
        bring(a, r->index, all ? all->index : NULL, width * sizeof *r->index);
        bring(a, r->horizon, all ? all->horizon : NULL, sizeof *r->horizon);
    }
    return stopped;
}

static int list_all(void *arg, vem_i_cap_rows *r)
{
    vem_i_cap_apart *a = arg;
    int64_t asked[2];
    ask(a, LISTS, 0, asked);
    return make_lists(a, r);
}

/* ---- lists of some ---- */

/* Bytes of a list: clusters, costs, horizon. */
static size_t list_bytes(const vem_i_cap_rows *r)
{
    return (size_t)r->width * (sizeof *r->index + sizeof *r->cost) + sizeof *r->horizon;
}

static void move_list(vem_i_cap_rows *r, int64_t row, char *list, int out)
{
    const size_t index = (size_t)r->width * sizeof *r->index,
                 cost = (size_t)r->width * sizeof *r->cost;
    int32_t *at = r->index + row * r->width;
    float *costs = r->cost + row * r->width;
    memcpy(out ? (void *)list : at, out ? (void *)at : list, index);
    memcpy(out ? list + index : (void *)costs, out ? (void *)costs : list + index, cost);
    memcpy(out ? list + index + cost : (void *)&r->horizon[row],
           out ? (void *)&r->horizon[row] : list + index + cost, sizeof *r->horizon);
}

static int has(const vem_i_extent *p, uint32_t row)
{
    return row >= p->first && row < p->first + p->own;
}

/* The rows `asked`, of all processes: those of this one are answered. */
static int answer(vem_i_cap_apart *a, const double *prices, int64_t count, int64_t *own)
{
    vem_i_cap_rows *r = &a->rows;
    const vem_i_extent *here = &a->spans[a->run->comm->rank];
    memcpy(r->price, prices, (size_t)r->clusters * sizeof *r->price);
    *own = 0;
    for (int64_t k = 0; k < count; k++)
        if (has(here, a->asked[k]))
            a->asked[(*own)++] = (uint32_t)(a->asked[k] - here->first);
    const int stopped = *own > 0 && vem_i_cap_rows_scan(r, a->asked, *own);
    for (int64_t k = 0; k < *own; k++)
        move_list(r, a->asked[k], a->answer + (size_t)k * list_bytes(r), 1);
    return stopped;
}

/* Those of process p, as they come in the lot. */
static void put_lists(const vem_i_cap_apart *a, vem_i_cap_rows *all, int p,
                      const uint32_t *which, int64_t count)
{
    char *at = a->answer;
    for (int64_t k = 0; k < count; k++)
        if (has(&a->spans[p], which[k])) {
            move_list(all, which[k], at, 0);
            at += list_bytes(all);
        }
}

static int scan_lot(vem_i_cap_apart *a, vem_i_cap_rows *all, const uint32_t *which,
                    int64_t count)
{
    vem_i_comm *comm = a->run->comm;
    int64_t asked[2], own;
    ask(a, SCAN, count, asked);
    comm->broadcast(comm, 0, all->price, (size_t)all->clusters * sizeof *all->price);
    memcpy(a->asked, which, (size_t)count * sizeof *which);
    comm->broadcast(comm, 0, a->asked, (size_t)count * sizeof *which);
    const int stopped = answer(a, all->price, count, &own);
    put_lists(a, all, 0, which, count);
    for (int p = 1; p < comm->size && !comm->failed; p++) {
        size_t theirs = 0;
        for (int64_t k = 0; k < count; k++)
            theirs += has(&a->spans[p], which[k]) ? 1 : 0;
        move_bytes(a, p, a->answer, theirs * list_bytes(all), 0);
        if (!comm->failed)
            put_lists(a, all, p, which, count);
    }
    return stopped;
}

static int scan_some(void *arg, vem_i_cap_rows *r, const uint32_t *which, int64_t count)
{
    vem_i_cap_apart *a = arg;
    int stopped = 0;
    for (int64_t k = 0; k < count && !stopped && !a->run->comm->failed; k += LOT)
        stopped = scan_lot(a, r, which + k, count - k < LOT ? count - k : LOT);
    return stopped || a->run->comm->failed;
}

/* ---- the others ---- */

/* Until the first process has done its work: whether the number is kept. */
static int serve(vem_i_cap_apart *a, double *prices)
{
    vem_i_comm *comm = a->run->comm;
    int64_t asked[2] = {END, 0}, own;
    for (;;) {
        ask(a, END, 0, asked); /* is told what it is */
        if (comm->failed || asked[0] == END)
            return (int)asked[1];
        if (asked[0] == LISTS) {
            make_lists(a, NULL);
            continue;
        }
        comm->broadcast(comm, 0, prices, (size_t)a->rows.clusters * sizeof *prices);
        comm->broadcast(comm, 0, a->asked, (size_t)asked[1] * sizeof *a->asked);
        if (comm->failed)
            return 0;
        answer(a, prices, asked[1], &own);
        move_bytes(a, 0, a->answer, (size_t)own * list_bytes(&a->rows), 1);
    }
}

/* ---- all of it ---- */

static vem_status run_first(vem_i_cap_apart *a, const vem_model *model, double cap,
                            double *prices, int *kept)
{
    int64_t asked[2];
    const vem_i_cap_lister lister = {list_all, scan_some, a};
    const vem_status status =
        vem_i_cap(a->run, &a->whole, model, cap, a->labels, prices, kept, &lister);
    if (status == VEM_OK && !a->run->counted)
        ask(a, END, *kept, asked);
    return status;
}

vem_status vem_i_cap_apart_run(vem_i_cap_apart *a, const vem_model *model, double cap,
                               int32_t *labels, double *prices, int *kept)
{
    vem_i_run *run = a->run;
    vem_i_comm *comm = run->comm;
    *kept = 1;
    vem_status status = vem_i_cap_rows_new(run, &a->mine, model, labels, &a->rows);
    if (status == VEM_OK && !run->counted)
        bring(a, labels, a->labels, sizeof *labels);
    if (status == VEM_OK && is_first(a))
        status = run_first(a, model, cap, prices, kept);
    else if (status == VEM_OK && !run->counted)
        *kept = serve(a, prices);
    if (status != VEM_OK && !run->counted)
        vem_i_comm_fail(comm, status);
    if (status == VEM_OK && !run->counted) {
        comm->broadcast(comm, 0, prices, (size_t)model->clusters * sizeof *prices);
        take_back(a, labels);
        status = vem_i_comm_agree(run);
        if (run->watch->stop)
            *kept = 0;
    }
    vem_i_cap_rows_free(&a->rows);
    memset(&a->rows, 0, sizeof a->rows);
    return status;
}

int vem_i_cap_apart_is_kept(vem_i_cap_apart *a, int32_t clusters, double cap,
                            const int32_t *labels, double *masses)
{
    int64_t kept = 0;
    bring(a, labels, a->labels, sizeof *labels);
    if (is_first(a))
        kept = vem_i_cap_is_kept(&a->whole, clusters, cap, a->labels, masses);
    a->run->comm->broadcast(a->run->comm, 0, &kept, sizeof kept);
    return kept != 0;
}

/* ---- memory ---- */

void vem_i_cap_apart_free(vem_i_cap_apart *a)
{
    if (!a)
        return;
    vem_i_free(a->asked);
    vem_i_free(a->answer);
    vem_i_free(a->spans);
    vem_i_free(a->masses);
    vem_i_free(a->labels);
    vem_i_free(a);
}

static void meet(vem_i_cap_apart *a)
{
    vem_i_view_extents(a->run, a->view, a->spans);
    if (a->view->mass && !a->run->comm->failed)
        bring(a, a->view->mass, a->masses, sizeof *a->masses);
}

vem_status vem_i_cap_apart_new(vem_i_run *run, const vem_view *view,
                               vem_i_cap_apart **apart)
{
    vem_i_cap_apart *a;
    vem_status status = vem_i_take_structs(run, &a, 1, sizeof *a);
    if (status != VEM_OK)
        return status;
    const size_t all = run->comm->rank == 0 ? (size_t)view->global_n : 0;
    const size_t list =
        VEM_I_CAP_WIDTH * (sizeof(int32_t) + sizeof(float)) + sizeof(float);
    const vem_i_room rooms[] = {
        {&a->asked, LOT, sizeof *a->asked, 0},
        {&a->answer, LOT, list, 0},
        {&a->spans, (size_t)run->comm->size, sizeof *a->spans, 1},
        {&a->masses, view->mass ? all : 0, sizeof *a->masses, 0},
        {&a->labels, all, sizeof *a->labels, 0},
    };
    a->run = run;
    a->view = view;
    a->mine = *view;
    a->mine.n = vem_i_view_own(view);
    a->mine.halo = 0;
    status = vem_i_take_rooms(run, rooms, VEM_I_COUNT(rooms));
    if (status == VEM_OK && !run->counted)
        meet(a);
    a->whole = *view;
    a->whole.x = NULL;
    a->whole.n = view->global_n;
    a->whole.first = a->whole.halo = 0;
    a->whole.mass = view->mass ? a->masses : NULL;
    if (status == VEM_OK)
        *apart = a;
    else
        vem_i_cap_apart_free(a);
    return status;
}
