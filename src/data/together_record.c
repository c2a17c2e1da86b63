/* Values of rows in a state (base/record.h), whoever has the rows: a block of the whole, as one process
 * would write it. The first process has the file. It takes what the others send, or sends each what its
 * rows and its halo have, and keeps all of it in a temporary file for that while. */
#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "base/spill.h"
#include "data/together.h"

enum { PIECE = 1 << 22 }; /* bytes that are sent at a time */

typedef struct block {
    vem_i_record *record;
    const vem_view *view;
    char *values; /* of the rows here */
    size_t row;   /* bytes of one */
    char *all;    /* the first process: of all rows */
} block;

/* Rows [first, first + count) of process p, between `here` and there. */
static void move_rows(const block *b, int p, char *here, int64_t count, int out)
{
    vem_i_comm *comm = b->record->run->comm;
    for (size_t left = (size_t)count * b->row, some; left > 0; left -= some) {
        some = left < PIECE ? left : PIECE;
        if (out)
            comm->send(comm, p, here, some);
        else
            comm->receive(comm, p, here, some);
        here += some;
    }
}

static void write_block(const block *b, const vem_i_extent *places)
{
    vem_i_comm *comm = b->record->run->comm;
    if (!b->all) {
        move_rows(b, 0, b->values, places[comm->rank].own, 1);
        return;
    }
    memcpy(b->all, b->values, (size_t)places[0].own * b->row);
    for (int p = 1; p < comm->size; p++)
        move_rows(b, p, b->all + (size_t)places[p].first * b->row, places[p].own, 0);
}

static void read_block(const block *b, const vem_i_extent *places)
{
    vem_i_comm *comm = b->record->run->comm;
    if (!b->all) {
        move_rows(b, 0, b->values, places[comm->rank].all, 0);
        return;
    }
    memcpy(b->values, b->all, (size_t)places[0].all * b->row);
    for (int p = 1; p < comm->size; p++)
        move_rows(b, p, b->all + (size_t)places[p].first * b->row, places[p].all, 1);
}

/* What the first process says of its record is so for all. */
static void share_status(vem_i_record *r)
{
    vem_i_comm *comm = r->run->comm;
    int64_t told[] = {(int64_t)r->status, (int64_t)r->left};
    comm->broadcast(comm, 0, told, sizeof told);
    if (comm->rank > 0 && told[0] != VEM_OK && r->status == VEM_OK)
        r->status =
            vem_i_fail(r->run, (vem_status)told[0], "The first process could not %s %s.",
                       r->reading ? "read" : "write", r->path);
    r->left = (uint64_t)told[1];
    r->looked_ahead = 0;
}

static void pass_whole(const block *b, const char *name, size_t count, size_t size)
{
    vem_i_record *r = b->record, own = *r;
    if (r->file) { /* the others do not read along */
        own.pass = r->file;
        own.user = r->file_user;
    }
    vem_i_record_block(&own, name, b->all, count, size);
    r->status = own.status;
    r->left = own.left;
}

static void record_together(block *b, const char *name, size_t each, size_t size)
{
    vem_i_record *r = b->record;
    vem_i_comm *comm = r->run->comm;
    const size_t count = (size_t)b->view->global_n * each;
    vem_i_mapping *spill = NULL;
    vem_i_extent *places = NULL;
    vem_status status = vem_i_take(r->run, &places, (size_t)comm->size, sizeof *places);
    if (status == VEM_OK)
        vem_i_view_extents(r->run, b->view, places);
    if (status == VEM_OK && comm->rank == 0)
        status = vem_i_spill_new(r->run, count * size, &spill);
    r->status = r->status == VEM_OK ? status : r->status;
    b->all = spill ? spill->bytes : NULL;
    if (r->reading && comm->rank == 0 && b->all)
        pass_whole(b, name, count, size);
    share_status(r);
    if (r->status == VEM_OK && r->reading)
        read_block(b, places);
    if (r->status == VEM_OK && !r->reading) {
        write_block(b, places);
        if (comm->rank == 0)
            pass_whole(b, name, count, size);
        share_status(r);
    }
    if (r->status == VEM_OK)
        r->status = vem_i_comm_lost(r->run);
    vem_i_mapping_free(spill);
    vem_i_free(places);
}

/* `each` values of a row. */
static void record_rows(vem_i_record *r, const vem_view *view, const char *name,
                        void *values, size_t each, size_t size)
{
    block b = {.record = r, .view = view, .values = values, .row = each * size};
    if (r->run->comm && !vem_i_comm_by_files(r->run->comm))
        record_together(&b, name, each, size);
    else
        vem_i_record_block(r, name, values, (size_t)view->n * each, size);
}

/* What one of them finds wrong is wrong for all. */
static void refuse_together(vem_i_record *r, const char *name, int wrong)
{
    vem_i_comm *comm = r->run->comm;
    int64_t any = wrong;
    if (comm && !vem_i_comm_by_files(comm))
        comm->combine(comm, VEM_I_SUM_INT, &any, 1);
    if (any > 0)
        vem_i_record_refuse(r, name);
}

void vem_i_record_row_indices(vem_i_record *r, const vem_view *view, const char *name,
                              int32_t *values, size_t each, int64_t low, int64_t high)
{
    int wrong = 0;
    record_rows(r, view, name, values, each, sizeof *values);
    if (!r->reading || r->status != VEM_OK)
        return;
    for (size_t i = 0; i < (size_t)view->n * each; i++)
        wrong |= values[i] < low || values[i] > high;
    refuse_together(r, name, wrong);
}

void vem_i_record_row_elements(vem_i_record *r, const vem_view *view, const char *name,
                               void *values, size_t each, double low, double high)
{
    int wrong = 0;
    record_rows(r, view, name, values, each, view->kernels->element);
    if (!r->reading || r->status != VEM_OK)
        return;
    for (int64_t i = 0; i < view->n * (int64_t)each; i++) {
        const double value = vem_i_value(view->kernels, values, i);
        wrong |= !(value >= low && value <= high);
    }
    refuse_together(r, name, wrong);
}

void vem_i_record_row_floats(vem_i_record *r, const vem_view *view, const char *name,
                             float *values, double low, double high)
{
    int wrong = 0;
    record_rows(r, view, name, values, 1, sizeof *values);
    if (!r->reading || r->status != VEM_OK)
        return;
    for (int64_t i = 0; i < view->n; i++)
        wrong |= !((double)values[i] >= low && (double)values[i] <= high);
    refuse_together(r, name, wrong);
}

void vem_i_record_row_numbers(vem_i_record *r, const vem_view *view, const char *name,
                              uint32_t *values, int64_t end)
{
    int wrong = 0;
    record_rows(r, view, name, values, 1, sizeof *values);
    if (!r->reading || r->status != VEM_OK)
        return;
    for (int64_t i = 0; i < view->n; i++)
        wrong |= (int64_t)values[i] >= end;
    refuse_together(r, name, wrong);
}
