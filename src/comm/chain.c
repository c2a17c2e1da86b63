#include "comm/comm.h"

/* Values that are handed on at a time: 256 KB, so that every process is at work soon. */
enum { PIECE = 1 << 15 };

void vem_i_comm_chain(vem_i_comm *comm, double *sums, int64_t count, vem_i_chain_add add,
                      void *arg)
{
    vem_i_comm_chain_by(comm, sums, count, PIECE, add, arg);
}

void vem_i_comm_chain_by(vem_i_comm *comm, double *sums, int64_t count, int64_t piece,
                         vem_i_chain_add add, void *arg)
{
    const int last = comm->size - 1;
    for (int64_t from = 0; from < count; from += piece) {
        const int64_t to = from + piece < count ? from + piece : count;
        const size_t bytes = (size_t)(to - from) * sizeof *sums;
        if (comm->rank > 0)
            comm->receive(comm, comm->rank - 1, sums + from, bytes);
        add(arg, sums, from, to);
        if (comm->rank < last)
            comm->send(comm, comm->rank + 1, sums + from, bytes);
    }
    for (int64_t from = 0; from < count; from += INT64_C(1) << 24) {
        const int64_t left = count - from, most = INT64_C(1) << 24;
        comm->broadcast(comm, last, sums + from,
                        (size_t)(left < most ? left : most) * sizeof *sums);
    }
}

/* The blocks one after the other, values [from, to) of each. */
static void add_blocks(void *arg, double *sums, int64_t from, int64_t to)
{
    const vem_i_own_blocks *own = arg;
    for (int64_t b = own->from; b < own->to; b++) {
        const double *block = own->at(own->arg, b);
        for (int64_t i = from; i < to; i++)
            sums[i] += block[i];
    }
}

void vem_i_comm_sum(vem_i_comm *comm, double *sums, int64_t count,
                    const vem_i_own_blocks *own)
{
    if (!comm)
        add_blocks((void *)own, sums, 0, count);
    else if (comm->files)
        comm->files->sum(comm, sums, count, own);
    else
        vem_i_comm_chain(comm, sums, count, add_blocks, (void *)own);
}

void vem_i_comm_turn(vem_i_comm *comm, void *state, size_t bytes,
                     void (*change)(void *arg, void *state), void *arg)
{
    if (comm->rank > 0)
        comm->receive(comm, comm->rank - 1, state, bytes);
    change(arg, state);
    if (comm->rank < comm->size - 1)
        comm->send(comm, comm->rank + 1, state, bytes);
    comm->broadcast(comm, comm->size - 1, state, bytes);
}

void vem_i_comm_join(vem_i_run *run)
{
    if (run->ctx && run->ctx->comm && run->ctx->comm->size > 1)
        run->comm = run->peers = run->ctx->comm;
}

/* Of what one process does alone: a stop is only noted, so that all hear of it where they agree. */
static int note_stop(void *user, const vem_progress *told)
{
    const vem_i_run *run = user;
    run->watch->asked |= run->progress(run->progress_user, told) != 0;
    return 0;
}

vem_i_run vem_i_comm_alone(const vem_i_run *run)
{
    vem_i_run alone = *run;
    alone.comm = alone.peers = NULL;
    if (run->peers) { /* whose clock it is by, and who stop together */
        alone.deadline = 0;
        alone.progress = run->progress ? note_stop : NULL;
        alone.progress_user = (void *)run;
    }
    return alone;
}

vem_i_run vem_i_comm_alike(const vem_i_run *run)
{
    vem_i_run alike = *run;
    alike.comm = NULL;
    return alike;
}

vem_i_run vem_i_comm_whole(const vem_i_run *run)
{
    vem_i_run whole = *run;
    whole.comm = run->peers;
    return whole;
}

vem_status vem_i_comm_lost(vem_i_run *run)
{
    const vem_i_comm *comm = run->peers;
    if (!comm || !comm->failed)
        return VEM_OK;
    return comm->own != VEM_OK
               ? comm->own
               : vem_i_fail(run, VEM_IO_ERROR,
                            comm->files
                                ? "This part waits for others, and ends here."
                                : "Another process is gone, and the run cannot go on.");
}

vem_status vem_i_comm_agree(vem_i_run *run)
{
    vem_i_comm *comm = run->peers;
    if (!comm)
        return VEM_OK;
    if (comm->files) { /* each stops for itself, and is made again */
        if (run->watch->asked)
            comm->files->leave(comm, "The part was interrupted.");
        return vem_i_comm_lost(run);
    }
    const int timed = run->deadline > 0;
    const double seconds = timed ? vem_i_clock() - run->watch->start : 0;
    /* What is not the first one's is 0; nanoseconds are for some hundred years. */
    int64_t told[] = {run->watch->asked, comm->rank == 0 ? (int64_t)(seconds * 1e9) : 0};
    comm->combine(comm, VEM_I_SUM_INT, told, timed ? 2 : 1);
    if (comm->failed)
        return vem_i_comm_lost(run);
    if (told[0] > 0)
        run->watch->stop = 1;
    if (timed)
        run->watch->shared = (double)told[1] * 1e-9;
    return VEM_OK;
}
