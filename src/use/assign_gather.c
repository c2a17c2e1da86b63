/* Several processes have assigned rows: the first one gets what all have found. */
#include "comm/comm.h"
#include "use/assign.h"

enum { PIECE = 1 << 20 }; /* bytes sent at a time, about */

/* Rows of `bytes` bytes each. */
static void gather(vem_i_comm *comm, const vem_data *data, void *rows, size_t bytes)
{
    const int64_t most = PIECE / (int64_t)bytes + 1;
    for (int p = 1; p < comm->size; p++) {
        int64_t at, end;
        vem_i_chunks_of(data, p, comm->size, &at, &end);
        for (int64_t some; at < end && (comm->rank == 0 || comm->rank == p); at += some) {
            some = end - at < most ? end - at : most;
            char *to = (char *)rows + (size_t)at * bytes;
            if (comm->rank == 0)
                comm->receive(comm, p, to, (size_t)some * bytes);
            else
                comm->send(comm, 0, to, (size_t)some * bytes);
        }
    }
}

vem_status vem_i_assign_gather(vem_i_run *run, const vem_data *data,
                               const vem_i_assign *out)
{
    const size_t top = (size_t)out->top;
    if (!run->comm)
        return VEM_OK;
    if (out->clusters)
        gather(run->comm, data, out->clusters, top * sizeof(int32_t));
    if (out->probabilities)
        gather(run->comm, data, out->probabilities, top * sizeof(double));
    return vem_i_comm_agree(run);
}
