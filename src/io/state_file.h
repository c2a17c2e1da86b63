/* A file that holds the state of a computation: a mark, the blocks of a record, their
 * length and a sum over them. It is streamed, whole or not at all. */
#ifndef VEM_IO_STATE_FILE_H
#define VEM_IO_STATE_FILE_H

#include "base/record.h"
#include "io/io.h"

typedef struct vem_i_state_file {
    vem_i_record record; /* what passes through it goes to the file, or comes from it */
    vem_i_output *output;
    vem_i_file file; /* reading: at */
    size_t at;
    uint64_t size, sum; /* of what was written */
    int error;          /* why writing failed */
} vem_i_state_file;

/* The handle must stay where it is until it is ended. `path` is borrowed. */
vem_status vem_i_state_create(vem_i_run *run, const char *path, vem_i_state_file *state);
/* The file gets its name, unless its record failed; bytes of it all. */
vem_status vem_i_state_commit(vem_i_state_file *state, uint64_t *bytes);
/* Checks mark, length and sum. */
vem_status vem_i_state_open(vem_i_run *run, const char *path, vem_i_state_file *state);
/* The same of a file in hand, which the handle takes over, also on failure. */
vem_status vem_i_state_parse(vem_i_run *run, const char *path, vem_i_file *file,
                             vem_i_state_file *state);
void vem_i_state_close(vem_i_state_file *state);
/* Is there a file that is something else? An empty one is nothing, and does not exist. */
int vem_i_state_is_foreign(const char *path);
int vem_i_state_exists(const char *path);

#endif
