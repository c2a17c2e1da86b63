/* Every row goes to the process that owns its bucket. Buckets are given out in their order, about as many
 * rows to each; process p's rows of a bucket come after those of the processes before it, so that the
 * rows of a bucket lie as in one process. In the order of the processes one sends, the others wait. */
#include "seed/two_level_apart.h"

#include <string.h>

#include "base/memory.h"
#include "base/residence.h"
#include "comm/comm.h"
#include "data/together.h"

enum { PIECE_BYTES = 1 << 20 }; /* that are packed and sent at a time */

typedef struct routing {
    vem_i_comm *comm;
    const vem_view *view;
    const int32_t *labels;
    const char *squares;
    int32_t buckets;
    size_t row, element;
    int64_t *all;    /* processes x buckets: rows that each has of each */
    int32_t *firsts; /* processes + 1: the first bucket of each */
    int64_t *order;  /* own rows by bucket, */
    int64_t *starts; /* buckets + 1: where those of a bucket begin */
    int64_t *at;     /* buckets: where its next row goes, of those that are owned */
    int64_t piece;   /* rows that are sent at a time: */
    int64_t *numbers;
    char *sent, *sent_squares;
    double *sent_mass; /* NULL: all weigh 1 */
    vem_i_owned *out;
} routing;

static int64_t count_of(const routing *r, int p, int32_t bucket)
{
    return r->all[(int64_t)p * r->buckets + bucket];
}

static vem_status count_all(vem_i_run *run, const routing *r)
{
    const size_t buckets = (size_t)r->buckets;
    size_t *bytes = NULL;
    int64_t *mine = NULL;
    vem_status status = vem_i_take(run, &bytes, (size_t)r->comm->size, sizeof *bytes);
    if (status == VEM_OK)
        status = vem_i_take_zeroed(run, &mine, buckets, sizeof *mine);
    if (status == VEM_OK) {
        for (int64_t i = 0; i < vem_i_view_own(r->view); i++)
            mine[r->labels[i]]++;
        for (int p = 0; p < r->comm->size; p++)
            bytes[p] = buckets * sizeof *mine;
        r->comm->gather(r->comm, mine, r->all, bytes);
    }
    vem_i_free(mine);
    vem_i_free(bytes);
    return status == VEM_OK ? vem_i_comm_agree(run) : status;
}

/* Who owns what, by the rows up to the middle of a bucket. */
static void give_out(const routing *r)
{
    const int64_t size = r->comm->size;
    int64_t total = 0, before;
    for (int32_t c = 0; c < r->buckets; c++) {
        r->out->counts[c] = 0;
        for (int p = 0; p < size; p++)
            r->out->counts[c] += count_of(r, p, c);
        total += r->out->counts[c];
    }
    for (int p = 0; p <= size; p++)
        r->firsts[p] = p == 0 ? 0 : r->buckets;
    before = total;
    for (int32_t c = r->buckets; c-- > 0;) {
        before -= r->out->counts[c];
        const double middle = (double)before + 0.5 * (double)r->out->counts[c];
        int64_t owner = (int64_t)(middle / (double)total * (double)size);
        owner = owner < size ? owner : size - 1;
        for (int64_t p = owner; p > 0 && r->firsts[p] > c; p--)
            r->firsts[p] = c;
    }
    r->out->from = r->firsts[r->comm->rank];
    r->out->to = r->firsts[r->comm->rank + 1];
}

static void sort_own(const routing *r)
{
    memset(r->starts, 0, ((size_t)r->buckets + 1) * sizeof *r->starts);
    for (int32_t c = 0; c < r->buckets; c++)
        r->starts[c + 1] = r->starts[c] + count_of(r, r->comm->rank, c);
    memcpy(r->at, r->starts, (size_t)r->buckets * sizeof *r->at);
    for (int64_t i = 0; i < vem_i_view_own(r->view); i++)
        r->order[r->at[r->labels[i]]++] = i;
    int64_t place = 0;
    for (int32_t c = 0; c < r->buckets; c++) {
        r->at[c] = place;
        place += vem_i_owns(r->out, c) ? r->out->counts[c] : 0;
    }
}

/* `n` own rows from place `from` of the order on, side by side. */
static void pack(const routing *r, int64_t from, int64_t n, int64_t *numbers,
                 char *squares, char *x, double *mass)
{
    for (int64_t k = 0; k < n; k++) {
        const int64_t i = r->order[from + k];
        numbers[k] = r->view->first + i;
        memcpy(squares + (size_t)k * r->element, r->squares + (size_t)i * r->element,
               r->element);
        vem_i_view_copy(r->view, i, x + (size_t)k * r->row);
        if (mass)
            mass[k] = r->view->mass[i];
    }
}

/* The rows of p in a bucket of q, of which this process is one. */
static void move_bucket(const routing *r, int p, int q, int32_t bucket)
{
    const int64_t count = count_of(r, p, bucket);
    const size_t element = r->element, row = r->row;
    vem_i_owned *o = r->out;
    for (int64_t done = 0, n; done < count; done += n) {
        n = count - done < r->piece ? count - done : r->piece;
        const int64_t from = r->starts[bucket] + done, to = r->at[bucket] + done;
        if (p == q) {
            pack(r, from, n, o->numbers + to, o->squares + (size_t)to * element,
                 o->x + (size_t)to * row, o->mass ? o->mass + to : NULL);
        } else if (p == r->comm->rank) {
            pack(r, from, n, r->numbers, r->sent_squares, r->sent, r->sent_mass);
            r->comm->send(r->comm, q, r->numbers, (size_t)n * sizeof *r->numbers);
            r->comm->send(r->comm, q, r->sent_squares, (size_t)n * element);
            r->comm->send(r->comm, q, r->sent, (size_t)n * row);
            if (r->sent_mass)
                r->comm->send(r->comm, q, r->sent_mass, (size_t)n * sizeof *r->sent_mass);
        } else {
            r->comm->receive(r->comm, p, o->numbers + to, (size_t)n * sizeof *o->numbers);
            r->comm->receive(r->comm, p, o->squares + (size_t)to * element,
                             (size_t)n * element);
            r->comm->receive(r->comm, p, o->x + (size_t)to * row, (size_t)n * row);
            if (o->mass)
                r->comm->receive(r->comm, p, o->mass + to, (size_t)n * sizeof *o->mass);
        }
    }
    if (q == r->comm->rank)
        r->at[bucket] += count;
}

static void move_all(const routing *r)
{
    for (int p = 0; p < r->comm->size && !r->comm->failed; p++)
        for (int q = 0; q < r->comm->size; q++)
            for (int32_t c = r->firsts[q];
                 (p == r->comm->rank || q == r->comm->rank) && c < r->firsts[q + 1]; c++)
                move_bucket(r, p, q, c);
}

/* What follows from the numbers. */
static void describe(const routing *r, int64_t n)
{
    vem_i_owned *o = r->out;
    int64_t k = 0;
    for (int32_t c = o->from; c < o->to; c++)
        for (int64_t i = 0; i < o->counts[c]; i++)
            o->labels[k++] = c;
    o->view = vem_i_view_drawn(r->view, o->x, r->view->d, n);
    o->view.mass = o->mass;
}

static vem_status take_owned(vem_i_run *run, const vem_view *view, int64_t rows,
                             vem_i_owned *o)
{
    const size_t n = (size_t)rows, element = view->kernels->element;
    const vem_i_room list[] = {
        {&o->numbers, n, sizeof *o->numbers, 0},
        {&o->labels, n, sizeof *o->labels, 0},
        {&o->squares, n, element, 0},
        {&o->x, n, (size_t)view->d * element, 0},
        {&o->mass, view->mass ? n : 0, sizeof *o->mass, 0},
    };
    return vem_i_take_rooms(run, list, VEM_I_COUNT(list));
}

/* With what choosing centers takes for each of them (two_level.c). */
static uint64_t bytes_of(const vem_i_run *run, const routing *r, int64_t rows)
{
    uint64_t bytes;
    vem_i_run dry = vem_i_run_dry(run, &bytes);
    take_owned(&dry, r->view, rows, &(vem_i_owned){0});
    return bytes + (uint64_t)rows * (3 * sizeof(int32_t) + r->element);
}

static int64_t rows_of(const routing *r, int p)
{
    int64_t rows = 0;
    for (int32_t c = r->firsts[p]; c < r->firsts[p + 1]; c++)
        rows += r->out->counts[c];
    return rows;
}

/* The plan was for as many rows as a process has now; it has more where many lie in one bucket, which is
 * never cut. What one of them has no room for none of them begins. */
static vem_status check_room(vem_i_run *run, const routing *r)
{
    const int64_t rows = rows_of(r, r->comm->rank);
    int64_t most = 0, all = 0;
    if (!run->limit)
        return VEM_OK;
    const uint64_t room = vem_i_residence_left(run),
                   pages = vem_i_residence_window(run, run->limit);
    int64_t lack = rows > r->view->n && bytes_of(run, r, rows) + pages > room;
    r->comm->combine(r->comm, VEM_I_SUM_INT, &lack, 1);
    for (int p = 0; p < r->comm->size; p++) {
        const int64_t count = rows_of(r, p);
        most = count > most ? count : most;
        all += count;
    }
    return r->comm->failed ? vem_i_comm_lost(run)
           : lack > 0
               ? vem_i_fail(run, VEM_NO_MEMORY,
                            "Two-level seeding brings rows that lie close together to "
                            "one process, %lld of the %lld here, and --memory leaves no "
                            "room for them: use --seeding random or kmeans++.",
                            (long long)most, (long long)all)
               : VEM_OK;
}

static vem_status bring_together(vem_i_run *run, routing *r)
{
    vem_status status = count_all(run, r);
    if (status != VEM_OK)
        return status;
    give_out(r);
    const int64_t n = rows_of(r, r->comm->rank);
    if ((status = check_room(run, r)) == VEM_OK)
        status = take_owned(run, r->view, n, r->out);
    if (status != VEM_OK)
        return status;
    sort_own(r);
    move_all(r);
    describe(r, n);
    return vem_i_comm_agree(run);
}

vem_status vem_i_owned_new(vem_i_run *run, const vem_view *view, int32_t buckets,
                           const int32_t *labels, const void *squares, vem_i_owned *owned)
{
    const size_t size = (size_t)run->comm->size, many = (size_t)buckets,
                 element = view->kernels->element;
    routing r = {.comm = run->comm,
                 .view = view,
                 .labels = labels,
                 .squares = squares,
                 .buckets = buckets,
                 .row = (size_t)view->d * element,
                 .element = element,
                 .out = owned};
    r.piece = PIECE_BYTES / (int64_t)r.row + 1;
    *owned = (vem_i_owned){0};
    const vem_i_room list[] = {
        {&r.all, size * many, sizeof *r.all, 0},
        {&r.firsts, size + 1, sizeof *r.firsts, 0},
        {&r.order, (size_t)vem_i_view_own(view), sizeof *r.order, 0},
        {&r.starts, many + 1, sizeof *r.starts, 0},
        {&r.at, many, sizeof *r.at, 0},
        {&r.numbers, (size_t)r.piece, sizeof *r.numbers, 0},
        {&r.sent_squares, (size_t)r.piece, element, 0},
        {&r.sent, (size_t)r.piece, r.row, 0},
        {&r.sent_mass, view->mass ? (size_t)r.piece : 0, sizeof *r.sent_mass, 0},
    };
    vem_status status = vem_i_take_rooms(run, list, VEM_I_COUNT(list));
    if (status == VEM_OK)
        status = vem_i_take(run, &owned->counts, many, sizeof *owned->counts);
    if (status == VEM_OK && run->counted)
        status = take_owned(run, view, view->n, owned);
    else if (status == VEM_OK)
        status = bring_together(run, &r);
    vem_i_free_rooms(list, VEM_I_COUNT(list));
    if (status != VEM_OK)
        vem_i_owned_free(owned);
    return status;
}

void vem_i_owned_free(vem_i_owned *owned)
{
    vem_i_free(owned->numbers);
    vem_i_free(owned->labels);
    vem_i_free(owned->squares);
    vem_i_free(owned->x);
    vem_i_free(owned->mass);
    vem_i_free(owned->counts);
    *owned = (vem_i_owned){0};
}
