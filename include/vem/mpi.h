/* Many processes: fits over rows of which each process holds a part.
 *
 * Under a context that was given a communicator vem_fit is a collective call, as are vem_select,
 * vem_coreset, vem_score, vem_assign and vem_assign_guided (whose result the first process has whole):
 * every process of it makes the same call with the same data (each maps the file, and reads its own
 * part), options and start. All get the model (path, coreset), with the bits that one process would find, and the report; labels are those of
 * its own rows (vem_mpi_labels). What is not spread over processes yet is refused by all of them.
 * A process in which a call fails should end the others (MPI_Abort), which may wait for it.
 *
 * These functions are there in every build; without MPI (make MPI=1) there is one process. This header
 * does not need MPI's. */
#ifndef VEM_MPI_H
#define VEM_MPI_H

#include "vem.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Several processes ---- */

/* The processes that share the rows: `mpi_comm` points to an MPI_Comm, which is duplicated; NULL: this
 * one alone. MPI was started, and is ended after the context was freed. Fails with VEM_UNSUPPORTED
 * where the library was built without. */
VEM_API vem_status vem_ctx_set_mpi(vem_ctx *ctx, const void *mpi_comm);
/* The number of this process, from 0, and how many there are. */
VEM_API int vem_ctx_mpi_rank(const vem_ctx *ctx);
/* How many processes share the rows; 1 where none was set. */
VEM_API int vem_ctx_mpi_size(const vem_ctx *ctx);
/* Bytes that this process has sent to others, a broadcast counted once. */
VEM_API int64_t vem_ctx_mpi_bytes(const vem_ctx *ctx);
/* Labels of the rows of this process, borrowed, or NULL: *first is the number of the first of them,
 * *n how many there are. */
VEM_API const int32_t *vem_mpi_labels(const vem_report *report, int64_t *first,
                                      int64_t *n);
/* All labels into one file, as vem_labels_write_rows; every process calls it, the first one writes. */
VEM_API vem_status vem_mpi_labels_write(vem_ctx *ctx, const char *path,
                                        const vem_data *data, const vem_report *report);

#ifdef __cplusplus
}
#endif

#endif
