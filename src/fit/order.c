/* One process sorts its rows. Several count the rows of each cluster that each of them has, from which
 * follows the place of every row; then its number goes to who has that place, and the row is read there
 * (data/points_fetch.c). */
#include "fit/order.h"

#include <string.h>

#include "base/memory.h"
#include "data/together.h"

vem_status vem_i_order_of(vem_i_run *run, int64_t n, int32_t clusters,
                          const int32_t *labels, vem_i_tour *tour)
{
    int32_t *rank = NULL;
    vem_status status = vem_i_take(run, &rank, (size_t)clusters, sizeof(int32_t));
    if (status == VEM_OK)
        status = vem_i_tour_new(run, n, clusters, tour);
    if (status == VEM_OK && !run->counted) {
        for (int32_t k = 0; k < clusters; k++)
            rank[k] = k;
        vem_i_tour_sort(tour, clusters, labels, 1, rank);
    }
    vem_i_free(rank);
    return status;
}

vem_status vem_i_order_by(vem_i_run *run, vem_i_points *points, int32_t clusters,
                          const vem_i_tour *tour, int32_t *labels)
{
    const int64_t n = points->view.n;
    const vem_status status = vem_i_points_reorder(run, points, tour->items, 1);
    if (status != VEM_OK || run->counted)
        return status;
    /* Labels are ascending now, the unknown ones last. */
    for (int64_t i = 0, k = 0; i < n; i++) {
        while (k < clusters && i >= tour->starts[k + 1])
            k++;
        labels[i] = k < clusters ? (int32_t)k : -1;
    }
    return VEM_OK;
}

static vem_status order_alone(vem_i_run *run, vem_i_points *points, int32_t clusters,
                              int32_t *labels)
{
    vem_i_tour tour = {0};
    vem_status status = vem_i_order_of(run, points->view.n, clusters, labels, &tour);
    if (status == VEM_OK)
        status = vem_i_order_by(run, points, clusters, &tour, labels);
    vem_i_tour_free(&tour);
    return status;
}

/* ---- of several processes ---- */

/* What goes with a row. */
typedef struct moved_row {
    uint32_t number; /* in the data */
    int32_t label;
} moved_row;

typedef struct sorting {
    vem_i_run *run;
    const vem_view *view;
    int32_t clusters;
    int64_t *all;    /* processes x (clusters + 1): rows of each */
    int64_t *at;     /* clusters + 1: where the next row of each goes */
    int64_t *places; /* of its own rows */
    size_t *bytes;   /* processes */
} sorting;

static int64_t column_of(const sorting *s, int32_t label)
{
    return label < 0 ? s->clusters : label;
}

/* Cluster by cluster, and the rows of each process by process. */
static void find_places(sorting *s, const int32_t *labels)
{
    vem_i_comm *comm = s->run->comm;
    const int64_t columns = s->clusters + 1, own = vem_i_view_own(s->view);
    memset(s->at, 0, (size_t)columns * sizeof *s->at);
    for (int64_t i = 0; i < own; i++)
        s->at[column_of(s, labels[i])]++;
    for (int p = 0; p < comm->size; p++)
        s->bytes[p] = (size_t)columns * sizeof *s->at;
    comm->gather(comm, s->at, s->all, s->bytes);
    int64_t place = 0;
    for (int64_t c = 0; c < columns; c++)
        for (int p = 0; p < comm->size; p++) {
            if (p == comm->rank)
                s->at[c] = place;
            place += s->all[p * columns + c];
        }
    for (int64_t i = 0; i < own; i++)
        s->places[i] = s->at[column_of(s, labels[i])]++;
}

static vem_status find_all(vem_i_run *run, const vem_view *view, int32_t clusters,
                           const int32_t *labels, int64_t *places)
{
    sorting s = {.run = run, .view = view, .clusters = clusters, .places = places};
    const size_t size = (size_t)run->comm->size, columns = (size_t)clusters + 1;
    const vem_i_room list[] = {
        {&s.all, size * columns, sizeof *s.all, 0},
        {&s.at, columns, sizeof *s.at, 0},
        {&s.bytes, size, sizeof *s.bytes, 0},
    };
    const vem_status status = vem_i_take_rooms(run, list, VEM_I_COUNT(list));
    if (status == VEM_OK && !run->counted)
        find_places(&s, labels);
    vem_i_free_rooms(list, VEM_I_COUNT(list));
    return status;
}

/* Own rows go to these places, with their labels. */
static vem_status bring(vem_i_run *run, vem_i_points *points, const int64_t *places,
                        int32_t *labels)
{
    const vem_view *view = &points->view;
    const size_t n = (size_t)view->n;
    const int64_t own = vem_i_view_own(view);
    moved_row *had = NULL, *got = NULL;
    uint32_t *rows = NULL;
    const vem_i_room list[] = {
        {&had, n, sizeof *had, 0},
        {&got, n, sizeof *got, 0},
    };
    vem_status status = vem_i_take(run, &rows, n, sizeof *rows);
    if (status == VEM_OK)
        status = vem_i_take_rooms(run, list, VEM_I_COUNT(list));
    if (status != VEM_OK)
        vem_i_comm_fail(run->comm, status);
    for (int64_t i = 0; status == VEM_OK && !run->counted && i < own; i++)
        had[i] = (moved_row){points->rows ? points->rows[i] : (uint32_t)(view->first + i),
                             labels[i]};
    if (status == VEM_OK)
        status = vem_i_view_exchange(run, view, own, places, had, sizeof *had, got);
    for (int64_t i = 0; status == VEM_OK && !run->counted && i < view->n; i++) {
        rows[i] = got[i].number;
        labels[i] = got[i].label;
    }
    vem_i_free_rooms(list, VEM_I_COUNT(list));
    if (status == VEM_OK && points->data)
        return vem_i_points_fetch(run, points, rows);
    if (status == VEM_OK)
        status = vem_i_points_move(run, points, places);
    vem_i_free(status == VEM_OK ? points->rows : rows);
    points->rows = status == VEM_OK ? rows : points->rows;
    return status;
}

static vem_status order_together(vem_i_run *run, vem_i_points *points, int32_t clusters,
                                 int32_t *labels)
{
    const vem_view *view = &points->view;
    int64_t *places = NULL;
    if (view->global_n > UINT32_MAX && !run->counted)
        return vem_i_fail(
            run, VEM_UNSUPPORTED,
            "Rows can be put in another order where there are 4294967295 at "
            "most, but there are %lld: use --coreset.",
            (long long)view->global_n);
    vem_status status = vem_i_take(run, &places, (size_t)view->n, sizeof *places);
    if (status == VEM_OK)
        status = find_all(run, view, clusters, labels, places);
    if (status == VEM_OK)
        status = bring(run, points, places, labels);
    else
        vem_i_comm_fail(run->comm, status);
    vem_i_free(places);
    return status;
}

vem_status vem_i_order_rows(vem_i_run *run, vem_i_points *points, int32_t clusters,
                            int32_t *labels)
{
    return run->comm ? order_together(run, points, clusters, labels)
                     : order_alone(run, points, clusters, labels);
}

/* ---- and back ---- */

enum { NOBODYS = INT32_MIN };

/* Every row has come from somebody? States of parts that meet in files say which rows each has, and
 * these were read one by one. */
static vem_status check_all_came(vem_i_run *run, const int32_t *labels, int64_t n)
{
    for (int64_t i = 0; i < n; i++)
        if (labels[i] == NOBODYS)
            return vem_i_fail(run, VEM_BAD_DATA,
                              "The states of the parts do not say of every row once who "
                              "has it: they were changed, or are not of one fit. Begin "
                              "again without them.");
    return VEM_OK;
}

vem_status vem_i_order_back(vem_i_run *run, const vem_i_points *points, int32_t *labels)
{
    const vem_view *view = &points->view;
    const size_t n = (size_t)view->n;
    int32_t *found = NULL;
    int64_t *places = NULL;
    vem_status status = vem_i_take(run, &found, n, sizeof *found);
    if (status == VEM_OK && run->comm)
        status = vem_i_take(run, &places, n, sizeof *places);
    if (status != VEM_OK && run->comm)
        vem_i_comm_fail(run->comm, status);
    for (int64_t i = 0; status == VEM_OK && i < view->n; i++)
        if (places) {
            places[i] = points->rows[i];
            found[i] = NOBODYS;
        } else {
            found[points->rows[i]] = labels[i];
        }
    if (status == VEM_OK && run->comm)
        status = vem_i_view_exchange(run, view, vem_i_view_own(view), places, labels,
                                     sizeof *labels, found);
    if (status == VEM_OK && run->comm && !run->counted)
        status = check_all_came(run, found, view->n);
    if (status == VEM_OK)
        memcpy(labels, found, n * sizeof *labels);
    vem_i_free(found);
    vem_i_free(places);
    return status;
}

/* ---- rows that others were made of ---- */

vem_status vem_i_order_places(vem_i_run *run, const vem_i_points *made, int32_t clusters,
                              int32_t *labels, int64_t **places)
{
    const vem_view *view = &made->view;
    const size_t n = (size_t)view->n;
    const int64_t own = vem_i_view_own(view);
    int64_t *from = NULL, *to = NULL;
    int32_t *before = NULL;
    const vem_i_room list[] = {
        {&from, n, sizeof *from, 0},
        {&to, n, sizeof *to, 0},
        {&before, n, sizeof *before, 0},
    };
    vem_status status = vem_i_take(run, places, n, sizeof **places);
    if (status == VEM_OK)
        status = vem_i_take_rooms(run, list, VEM_I_COUNT(list));
    if (status == VEM_OK)
        status = find_all(run, view, clusters, labels, to);
    if (status != VEM_OK)
        vem_i_comm_fail(run->comm, status);
    for (int64_t i = 0; status == VEM_OK && i < own; i++)
        from[i] = made->rows ? made->rows[i] : view->first + i;
    if (status == VEM_OK)
        memcpy(before, labels, n * sizeof *before);
    if (status == VEM_OK)
        status = vem_i_view_exchange(run, view, own, from, to, sizeof *to, *places);
    if (status == VEM_OK)
        status =
            vem_i_view_exchange(run, view, own, from, before, sizeof *before, labels);
    vem_i_free_rooms(list, VEM_I_COUNT(list));
    return status;
}

vem_status vem_i_order_bring(vem_i_run *run, vem_i_points *points, const int64_t *places,
                             int32_t *labels)
{
    return bring(run, points, places, labels);
}

/* ---- from a state ---- */

vem_status vem_i_order_take(vem_i_run *run, vem_i_points *points, uint32_t *rows)
{
    const vem_view *view = &points->view;
    const size_t n = (size_t)view->n;
    const int64_t own = vem_i_view_own(view);
    int64_t *from = NULL, *here = NULL, *places = NULL;
    if (points->data)
        return vem_i_points_fetch(run, points, rows);
    const vem_i_room list[] = {
        {&from, n, sizeof *from, 0},
        {&here, n, sizeof *here, 0},
        {&places, n, sizeof *places, 0},
    };
    vem_status status = vem_i_take_rooms(run, list, VEM_I_COUNT(list));
    if (status != VEM_OK)
        vem_i_comm_fail(run->comm, status);
    for (int64_t i = 0; status == VEM_OK && i < own; i++) {
        from[i] = rows[i];
        here[i] = view->first + i;
    }
    if (status == VEM_OK)
        status = vem_i_view_exchange(run, view, own, from, here, sizeof *here, places);
    if (status == VEM_OK)
        status = vem_i_points_move(run, points, places);
    vem_i_free_rooms(list, VEM_I_COUNT(list));
    vem_i_free(points->rows);
    points->rows = rows;
    return status;
}
