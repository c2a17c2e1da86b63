/* Processes that meet in a folder (files.c), and what the folder tells of them. */
#ifndef VEM_COMM_FILES_H
#define VEM_COMM_FILES_H

#include "comm/comm.h"
#include "vem/parts.h"

enum { VEM_I_MOST_PARTS = 64, VEM_I_PATH = 4096 };

typedef struct vem_i_files_request {
    const char *folder; /* that is there */
    int rank, size;
    double wait; /* seconds */
    void (*leaves)(void *user, int32_t awaited, const char *sentence);
    void *user;
} vem_i_files_request;

/* NULL: there is no memory. */
vem_i_comm *vem_i_comm_files_new(const vem_i_files_request *request);

/* Files of one part: its state, that it is done, why it failed, what it waits for, and how far it is. */
typedef enum vem_i_part_file {
    VEM_I_PART_STATE,
    VEM_I_PART_DONE,
    VEM_I_PART_FAILED,
    VEM_I_PART_AWAITS,
    VEM_I_PART_AT
} vem_i_part_file;
void vem_i_part_path(const char *folder, vem_i_part_file file, int rank,
                     char path[VEM_I_PATH]);
/* Is this name one of a file that parts have written? */
int vem_i_part_is_file(const char *name);

/* Is it there, what a line of awaits.<p> names? One with ! before it was there and could not be read. */
int vem_i_files_has(const char *folder, const char *line);

/* A file whole or not at all, by another name first. 0: done, else why not (errno). */
int vem_i_whole_write(const char *path, const void *const *pieces, const size_t *counts,
                      size_t count);
/* What is to be done with a part (files_look.c). The first sentence why one failed is left in `sentence`,
 * which is "" before. */
vem_part_state vem_i_files_state(const char *folder, int rank, char *sentence,
                                 size_t size);
/* What says that parts failed is taken away; all: and all else but what says that they are done. */
void vem_i_files_clear(const char *folder, int parts, int all);

#endif
