/* What is said of processes that meet in files where nobody knows whether they do. */
#include "comm/comm.h"

int vem_i_comm_by_files(const vem_i_comm *comm)
{
    return comm && comm->files;
}

int vem_i_comm_rehearse(vem_i_comm *comm, int begins)
{
    if (!vem_i_comm_by_files(comm))
        return 0;
    comm->files->rehearse(comm, begins);
    return 1;
}

int vem_i_comm_recall(vem_i_comm *comm, const vem_i_kept *list, int count,
                      vem_i_kept *rest)
{
    return vem_i_comm_by_files(comm) && comm->files->recall(comm, list, count, rest);
}

void vem_i_comm_keep(vem_i_comm *comm, const vem_i_kept *list, int count)
{
    if (vem_i_comm_by_files(comm))
        comm->files->keep(comm, list, count);
}

void vem_i_comm_record(vem_i_record *record, vem_i_comm *comm)
{
    if (vem_i_comm_by_files(comm))
        comm->files->record(record, comm);
}

void vem_i_comm_stepped(vem_i_comm *comm, int loaded)
{
    if (vem_i_comm_by_files(comm))
        comm->files->stepped(comm, loaded);
}

int vem_i_comm_is_due(vem_i_comm *comm)
{
    return vem_i_comm_by_files(comm) && comm->files->is_due(comm);
}
