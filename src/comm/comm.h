/* Several processes that hold parts of the same rows.
 *
 * Each has its own run of a verb, and all runs take the same decisions, because all that they decide
 * by is made here with the bits that one process would have:
 *
 *     chain      sums in a fixed order. Process p takes over the sums of those before it, adds its
 *                own parts in their order, and hands them on; the last one tells all. Long blocks go
 *                piece by piece, so that all are at work.
 *     shards     the sum of one number for each shard, by pairs (vem_i_sum), of which each process
 *                knows a stretch
 *     combine    whole numbers, the largest or smallest, bits: what no order can change
 *     gather     a little of each, to all
 *     sum        blocks of values that are there already, in a fixed order: a chain of these
 *
 * Processes that meet in files (files.c) need not run at the same time, and are made again from their last
 * step, or from an E-step that they kept. Where they can they say several things before they hear one: they
 * rehearse.
 *
 * run->comm is NULL where there is one process; then nothing here is called. It is NULL too where all
 * processes have all rows of what they work on (coresets, samples): they do the same, and run->peers
 * keeps their clocks, stops and files together. A process that is gone
 * ends the others: what fails here leaves `failed`, and every later call returns at once. All calls
 * are made by the thread that called the verb, and by all processes in the same order. */
#ifndef VEM_COMM_COMM_H
#define VEM_COMM_COMM_H

#include <stddef.h>
#include <stdint.h>

#include "base/record.h"

typedef enum vem_i_combining {
    VEM_I_SUM_INT, /* of int64_t */
    VEM_I_LEAST_INT,
    VEM_I_MOST_REAL, /* of double */
    VEM_I_OR_BYTES
} vem_i_combining;

/* Block `i` of some that are this process's own. */
typedef const double *(*vem_i_block_at)(const void *arg, int64_t i);
typedef struct vem_i_own_blocks {
    vem_i_block_at at;
    const void *arg;
    int64_t from, to;
} vem_i_own_blocks;

/* Memory that is kept and comes back. */
typedef struct vem_i_kept {
    void *bytes;
    size_t count;
} vem_i_kept;

/* What processes that meet in files do in their own way; NULL: there is none. */
typedef struct vem_i_by_files {
    void (*sum)(struct vem_i_comm *comm, double *sums, int64_t count,
                const vem_i_own_blocks *own);
    double (*shards)(struct vem_i_comm *comm, const double *values, int64_t count,
                     int64_t total);
    void (*rehearse)(struct vem_i_comm *comm, int begins);
    int (*recall)(struct vem_i_comm *comm, const vem_i_kept *list, int count,
                  vem_i_kept *rest);
    void (*keep)(struct vem_i_comm *comm, const vem_i_kept *list, int count);
    void (*record)(vem_i_record *record, struct vem_i_comm *comm);
    void (*stepped)(struct vem_i_comm *comm, int loaded);
    int (*is_due)(struct vem_i_comm *comm);
    void (*leave)(struct vem_i_comm *comm, const char *sentence);
} vem_i_by_files;

typedef struct vem_i_comm {
    int rank, size;
    const vem_i_by_files *files; /* NULL: they run at the same time */
    int failed;                  /* what went on between processes is lost */
    vem_status own; /* why, where it is for this one; VEM_OK: another one is gone */
    uint64_t bytes; /* that this process has sent, or told all, so far */
    void *state;
    /* How it is done (mpi.c). */
    void (*send)(struct vem_i_comm *comm, int to, const void *bytes, size_t count);
    void (*receive)(struct vem_i_comm *comm, int from, void *bytes, size_t count);
    void (*broadcast)(struct vem_i_comm *comm, int from, void *bytes, size_t count);
    void (*combine)(struct vem_i_comm *comm, vem_i_combining how, void *values,
                    size_t count);
    void (*gather)(struct vem_i_comm *comm, const void *mine, void *all,
                   const size_t *counts); /* bytes of each process */
    void (*free)(struct vem_i_comm *comm);
} vem_i_comm;

/* This verb is one of all processes of its context: each of them calls it. */
void vem_i_comm_join(vem_i_run *run);
/* The same run, for a part that this process does without the others. */
vem_i_run vem_i_comm_alone(const vem_i_run *run);
/* The same run, for a part that all processes do with the same rows (a sample of all), and so to the
 * same bits: nothing is sent but what all must agree upon. */
vem_i_run vem_i_comm_alike(const vem_i_run *run);
/* And for a part of such a run that looks at all rows again, of which each has some. */
vem_i_run vem_i_comm_whole(const vem_i_run *run);

/* Adds this process's parts to values [from, to) of the sums of those before it. */
typedef void (*vem_i_chain_add)(void *arg, double *sums, int64_t from, int64_t to);
/* `sums` are 0, or what they begin with, at the first process. */
void vem_i_comm_chain(vem_i_comm *comm, double *sums, int64_t count, vem_i_chain_add add,
                      void *arg);
/* So many values at a time. */
void vem_i_comm_chain_by(vem_i_comm *comm, double *sums, int64_t count, int64_t piece,
                         vem_i_chain_add add, void *arg);
/* The same where the parts are blocks that are there: nothing of them is made in the chain. */
void vem_i_comm_sum(vem_i_comm *comm, double *sums, int64_t count,
                    const vem_i_own_blocks *own);
/* The same for any state that each process changes in its turn. */
void vem_i_comm_turn(vem_i_comm *comm, void *state, size_t bytes,
                     void (*change)(void *arg, void *state), void *arg);
/* vem_i_sum of `total` values, of which this process has `count`, after those of the processes
 * before it. */
double vem_i_comm_shards(const vem_i_run *run, const double *values, int64_t count,
                         int64_t total);
/* What this process could not do, as the run's message says, ends what goes on between all; and that is
 * what `agree` returns here. */
static inline vem_status vem_i_comm_fail(vem_i_comm *comm, vem_status status)
{
    if (!comm->failed)
        comm->own = status;
    comm->failed = 1;
    return status;
}
/* What is lost, as a status with its sentence; VEM_OK: nothing. */
vem_status vem_i_comm_lost(vem_i_run *run);
/* Was a stop asked for anywhere? Then all stop: run->watch->stop. And what is the time (vem_i_now)?
 * Else VEM_OK, or a failure. */
vem_status vem_i_comm_agree(vem_i_run *run);

/* ---- Processes that meet in files; nothing happens, and all are 0, where there are none ---- */

int vem_i_comm_by_files(const vem_i_comm *comm);
/* Between these two calls things are said, and what is heard is no more than noise; then the same is said
 * once more, and heard. So nothing that is said may follow from what is heard. 0: no use. */
int vem_i_comm_rehearse(vem_i_comm *comm, int begins);
/* What was kept at this place of an earlier call comes back: 1. rest: what comes behind it, however much that is (to
 * be freed); NULL: nothing may. */
int vem_i_comm_recall(vem_i_comm *comm, const vem_i_kept *list, int count,
                      vem_i_kept *rest);
void vem_i_comm_keep(vem_i_comm *comm, const vem_i_kept *list, int count);
/* How far it is, in its state. */
void vem_i_comm_record(vem_i_record *record, vem_i_comm *comm);
/* What was said until now is said again by every call (loaded), or by none that begins with the state. */
void vem_i_comm_stepped(vem_i_comm *comm, int loaded);
/* Was anything said since the last state? */
int vem_i_comm_is_due(vem_i_comm *comm);

#endif
