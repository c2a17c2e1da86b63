/* What files.c and the calls that go by files share. */
#ifndef VEM_COMM_FILES_INSIDE_H
#define VEM_COMM_FILES_INSIDE_H

#include "comm/files.h"

typedef struct vem_i_files {
    vem_i_files_request request;
    char folder[VEM_I_PATH - 64];
    int64_t at, loaded,
        last; /* the next call; the first that a state can go beyond; that of the state */
    int64_t rehearsed; /* where it goes back to; -1: it does not rehearse */
    int64_t sent[VEM_I_MOST_PARTS], heard[VEM_I_MOST_PARTS];
    int64_t heard_every_time[VEM_I_MOST_PARTS]; /* of heard: before the first step */
} vem_i_files;

static inline vem_i_files *vem_i_files_of(const vem_i_comm *comm)
{
    return comm->state;
}

/* It cannot go on: part `awaited` is waited for, or 0 and why not. */
void vem_i_files_leave(vem_i_comm *comm, int awaited, const char *sentence);
/* The file, if it is whole: its bytes, to be freed, and how many; NULL: errno says why not. */
char *vem_i_files_read(const char *path, size_t *count);
void vem_i_files_write(vem_i_comm *comm, const char *path, const void *bytes,
                       size_t count);
/* Says it; what was said before must be the same. */
void vem_i_files_say(vem_i_comm *comm, const char *path, const void *bytes, size_t count);
/* What process `rank` says in a call. */
void vem_i_files_name(const vem_i_files *files, int64_t call, int rank,
                      char path[VEM_I_PATH]);
void vem_i_files_name_sent(const vem_i_files *files, int64_t number, int from, int to,
                           char path[VEM_I_PATH]);
/* Until all that is needed of this call is there: from one process, or (from -1) from all. */
void vem_i_files_await(vem_i_comm *comm, int64_t call, int from);
/* What process p has said in it, to be freed; NULL: it fails. */
char *vem_i_files_hear(vem_i_comm *comm, int64_t call, int p, size_t *count);
/* The bytes of a file of any name, when it is there. */
char *vem_i_files_get(vem_i_comm *comm, const char *path, int from, size_t *count);

/* ---- files_kept.c ---- */

int vem_i_files_recall(vem_i_comm *comm, const vem_i_kept *list, int count,
                       vem_i_kept *rest);
void vem_i_files_keep(vem_i_comm *comm, const vem_i_kept *list, int count);
void vem_i_files_record(vem_i_record *record, vem_i_comm *comm);
void vem_i_files_stepped(vem_i_comm *comm, int loaded);
int vem_i_files_is_due(vem_i_comm *comm);
/* Two numbers of a small file; 0: it is not there. */
int vem_i_files_pair(const char *path, int64_t pair[2]);

/* ---- files_calls.c ---- */

/* Sets what processes do together. */
void vem_i_files_calls(vem_i_comm *comm);

#endif
