/* What rows that are spread over processes have come to: the first process gets it, and writes it. */
#include <string.h>

#include "base/memory.h"
#include "base/spill.h"
#include "comm/comm.h"
#include "fit/report.h"
#include "io/io.h"
#include "vem/mpi.h"

enum { PIECE = 1 << 20 }; /* labels sent at a time */

const int32_t *vem_mpi_labels(const vem_report *report, int64_t *first, int64_t *n)
{
    if (!report || !report->labels)
        return NULL;
    if (first)
        *first = report->apart ? report->first : 0;
    if (n)
        *n = report->apart ? report->count : report->summary.n;
    return report->labels;
}

static int64_t at_most(int64_t count)
{
    return count < PIECE ? count : PIECE;
}

/* They come in the order of the processes, which is that of the rows. */
static void receive_all(vem_i_comm *comm, const vem_report *report, int64_t n,
                        int32_t *labels)
{
    int64_t at = report->count;
    memcpy(labels, report->labels, (size_t)at * sizeof *labels);
    for (int p = 1; p < comm->size; p++) {
        int64_t count = 0;
        comm->receive(comm, p, &count, sizeof count);
        if (comm->failed || count < 0 || count > n - at) {
            comm->failed = 1;
            return;
        }
        for (int64_t some; count > 0; count -= some, at += some) {
            some = at_most(count);
            comm->receive(comm, p, labels + at, (size_t)some * sizeof *labels);
        }
    }
}

static void send_own(vem_i_comm *comm, const vem_report *report)
{
    comm->send(comm, 0, &report->count, sizeof report->count);
    for (int64_t at = 0, some; at < report->count; at += some) {
        some = at_most(report->count - at);
        comm->send(comm, 0, report->labels + at, (size_t)some * sizeof *report->labels);
    }
}

/* What is gathered rests in a temporary file. Rows that --missing drop left out get -1. */
vem_status vem_mpi_labels_write(vem_ctx *ctx, const char *path, const vem_data *data,
                                const vem_report *report)
{
    VEM_I_NEED(ctx, ctx, path, data, report);
    vem_i_verb verb;
    vem_i_run *run = vem_i_begin(ctx, &verb);
    vem_i_comm *comm = ctx->comm;
    const int64_t n = report->summary.n, all_rows = vem_data_rows_read(data);
    if (!report->labels)
        return vem_i_fail(run, VEM_BAD_OPTION, "The report has no labels.");
    if (data->n != n)
        return vem_i_fail(run, VEM_BAD_DATA,
                          "The labels are those of %lld rows, but the data have %lld.",
                          (long long)n, (long long)data->n);
    if (!report->apart || !comm)
        return vem_i_labels_write(run, path, data, report->labels, n);
    vem_i_mapping *all = NULL;
    vem_status status = VEM_OK;
    if (comm->rank > 0)
        send_own(comm, report);
    else
        status = vem_i_spill_new(run, (size_t)all_rows * sizeof(int32_t), &all);
    if (status == VEM_OK && comm->rank == 0) {
        int32_t *labels = (int32_t *)(void *)all->bytes;
        receive_all(comm, report, n, labels);
        if (!comm->failed)
            status = vem_data_spread(ctx, data, labels, sizeof *labels, &(int32_t){-1});
        if (!comm->failed && status == VEM_OK)
            status = vem_i_labels_write(run, path, data, labels, all_rows);
    }
    vem_i_mapping_free(all);
    if (status == VEM_OK && comm->failed)
        status = vem_i_fail(run, VEM_IO_ERROR,
                            "Another process is gone, and %s was not written.", path);
    return status;
}
