/* Processes that were started by mpirun. Built with VEM_MPI; else there is one process. */
#include "vem/mpi.h"

#include "base/alloc.h"
#include "comm/comm.h"

#ifdef VEM_HAS_MPI

#include <limits.h>
#include <mpi.h>
#include <string.h>

typedef struct own {
    MPI_Comm all;
} own;

static MPI_Comm among(const vem_i_comm *comm)
{
    return ((const own *)comm->state)->all;
}

static void note(vem_i_comm *comm, int code)
{
    if (code != MPI_SUCCESS)
        comm->failed = 1;
}

enum { MOST = 1 << 30 }; /* bytes at a time: counts of MPI are int */

static int at_most(size_t bytes)
{
    return bytes < MOST ? (int)bytes : MOST;
}

static void send(vem_i_comm *comm, int to, const void *bytes, size_t count)
{
    const char *from = bytes;
    comm->bytes += count;
    for (int n; count > 0 && !comm->failed; count -= (size_t)n, from += n) {
        n = at_most(count);
        note(comm, MPI_Send(from, n, MPI_BYTE, to, 0, among(comm)));
    }
}

static void receive(vem_i_comm *comm, int from, void *bytes, size_t count)
{
    char *to = bytes;
    for (int n; count > 0 && !comm->failed; count -= (size_t)n, to += n) {
        n = at_most(count);
        note(comm, MPI_Recv(to, n, MPI_BYTE, from, 0, among(comm), MPI_STATUS_IGNORE));
    }
}

static void broadcast(vem_i_comm *comm, int from, void *bytes, size_t count)
{
    char *at = bytes;
    comm->bytes += comm->rank == from ? count : 0;
    for (int n; count > 0 && !comm->failed; count -= (size_t)n, at += n) {
        n = at_most(count);
        note(comm, MPI_Bcast(at, n, MPI_BYTE, from, among(comm)));
    }
}

static void combine(vem_i_comm *comm, vem_i_combining how, void *values, size_t count)
{
    static const size_t width[] = {sizeof(int64_t), sizeof(int64_t), sizeof(double), 1};
    const MPI_Datatype type[] = {MPI_INT64_T, MPI_INT64_T, MPI_DOUBLE, MPI_BYTE};
    const MPI_Op op[] = {MPI_SUM, MPI_MIN, MPI_MAX, MPI_BOR};
    char *at = values;
    comm->bytes += count * width[how];
    for (int n; count > 0 && !comm->failed;
         count -= (size_t)n, at += (size_t)n * width[how]) {
        n = count < MOST / 8 ? (int)count : MOST / 8;
        note(comm, MPI_Allreduce(MPI_IN_PLACE, at, n, type[how], op[how], among(comm)));
    }
}

/* More than an int counts: each tells its own, one after the other, in pieces. */
static void gather_much(vem_i_comm *comm, const void *mine, void *all,
                        const size_t *counts)
{
    char *to = all;
    for (int p = 0; p < comm->size && !comm->failed; to += counts[p++]) {
        if (p == comm->rank)
            memcpy(to, mine, counts[p]);
        broadcast(comm, p, to, counts[p]);
    }
}

static void gather(vem_i_comm *comm, const void *mine, void *all, const size_t *counts)
{
    size_t total = 0;
    for (int p = 0; p < comm->size; p++)
        total += counts[p];
    if (total > INT_MAX) {
        gather_much(comm, mine, all, counts);
        return;
    }
    int *sizes = vem_i_alloc((size_t)comm->size * 2, sizeof *sizes);
    if (!sizes) {
        comm->failed = 1;
        return;
    }
    for (int p = 0, at = 0; p < comm->size; at += sizes[p++]) {
        sizes[p] = (int)counts[p];
        sizes[comm->size + p] = at;
    }
    comm->bytes += counts[comm->rank];
    if (!comm->failed)
        note(comm, MPI_Allgatherv(mine, sizes[comm->rank], MPI_BYTE, all, sizes,
                                  sizes + comm->size, MPI_BYTE, among(comm)));
    vem_i_free(sizes);
}

static void free_comm(vem_i_comm *comm)
{
    own *state = comm->state;
    int over = 0;
    MPI_Finalized(&over);
    if (!over)
        MPI_Comm_free(&state->all);
    vem_i_free(state);
    vem_i_free(comm);
}

/* A communicator of our own, so that nobody else's messages are met, in which a failure is told and
 * not the end of the program. */
static vem_status make(vem_ctx *ctx, const MPI_Comm *given, vem_i_comm **comm)
{
    int started = 0;
    MPI_Initialized(&started);
    if (!started)
        return vem_i_refuse(ctx, VEM_BAD_OPTION, "MPI was not started: MPI_Init first.");
    vem_i_comm *made = vem_i_calloc(1, sizeof *made);
    own *state = vem_i_calloc(1, sizeof *state);
    const int failed = made && state && MPI_Comm_dup(*given, &state->all) != MPI_SUCCESS;
    if (!made || !state || failed) {
        vem_i_free(made);
        vem_i_free(state);
        return failed ? vem_i_refuse(ctx, VEM_BAD_OPTION, "This is no MPI communicator.")
                      : vem_i_refuse(ctx, VEM_NO_MEMORY, "Memory could not be had.");
    }
    MPI_Comm_set_errhandler(state->all, MPI_ERRORS_RETURN);
    MPI_Comm_rank(state->all, &made->rank);
    MPI_Comm_size(state->all, &made->size);
    made->state = state;
    made->send = send;
    made->receive = receive;
    made->broadcast = broadcast;
    made->combine = combine;
    made->gather = gather;
    made->free = free_comm;
    *comm = made;
    return VEM_OK;
}

vem_status vem_ctx_set_mpi(vem_ctx *ctx, const void *mpi_comm)
{
    VEM_I_NEED(ctx, ctx);
    vem_i_comm *made = NULL;
    if (mpi_comm) {
        const vem_status status = make(ctx, mpi_comm, &made);
        if (status != VEM_OK)
            return status;
    }
    if (ctx->comm)
        ctx->comm->free(ctx->comm);
    ctx->comm = made;
    return VEM_OK;
}

#else

vem_status vem_ctx_set_mpi(vem_ctx *ctx, const void *mpi_comm)
{
    VEM_I_NEED(ctx, ctx);
    return mpi_comm
               ? vem_i_refuse(ctx, VEM_UNSUPPORTED,
                              "This build has no MPI: make MPI=1 makes one that has.")
               : VEM_OK;
}

#endif

int vem_ctx_mpi_rank(const vem_ctx *ctx)
{
    return ctx && ctx->comm ? ctx->comm->rank : 0;
}

int vem_ctx_mpi_size(const vem_ctx *ctx)
{
    return ctx && ctx->comm ? ctx->comm->size : 1;
}

int64_t vem_ctx_mpi_bytes(const vem_ctx *ctx)
{
    return ctx && ctx->comm ? (int64_t)ctx->comm->bytes : 0;
}
