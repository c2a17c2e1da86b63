/* Mapped files, and how much of them may be resident.
 *
 * A limit on memory is a limit on the resident size of the process, mapped pages included.
 * What the process itself takes is planned (fit/memory_plan.c); pages of mapped files come by being
 * looked at. So every mapping is registered, and whoever goes over rows calls
 * vem_i_residence_check now and then: when the resident size comes near the limit, the pages
 * of all mappings are let go. They lose nothing: the next look brings them back from the page
 * cache or the disk, and results have the same bits. */
#ifndef VEM_BASE_RESIDENCE_H
#define VEM_BASE_RESIDENCE_H

#include "base/run.h"

/* A file in memory, shared or never written, so that its pages may go at any time. */
typedef struct vem_i_mapping {
    char *bytes;
    size_t size;
    char *path;            /* an input file; NULL: a temporary file of ours, */
    int file;              /* whose descriptor stays open; -1: none does */
    _Atomic int64_t reads; /* pieces that were read by it */
    /* For the registry. */
    struct vem_i_residence *residence;
    struct vem_i_mapping *next, **link;
} vem_i_mapping;

/* The registry of a context. It lives until the context and all its mappings are gone, in
 * whatever order they go. */
vem_status vem_i_residence_new(vem_ctx *ctx);
void vem_i_residence_leave(vem_ctx *ctx);

/* Takes over what mmap gave; on failure it is still the caller's. `path`: for messages, or
 * NULL. A context may be NULL. */
vem_status vem_i_mapping_new(vem_i_run *run, const char *path, void *bytes, size_t size,
                             vem_i_mapping **mapping);
/* `size` bytes from `at` in it, to `out`: where the file can be read without its pages being mapped, as
 * few that lie anywhere should be (docs/math/memory.md), so. */
void vem_i_mapping_read(vem_i_mapping *mapping, const char *at, size_t size, void *out);
/* Unmaps. */
void vem_i_mapping_free(vem_i_mapping *mapping);

/* The mapping that begins here, or NULL. */
vem_i_mapping *vem_i_mapping_at(const vem_i_run *run, const void *bytes);

/* Let go of the pages of one mapping, or of all of a context. */
void vem_i_mapping_rest(const vem_i_mapping *mapping);
/* Those between two places in it (mapping NULL: nothing), and the pages beside them, which come in
 * with them. */
void vem_i_mapping_rest_rows(const vem_i_mapping *mapping, const char *begin,
                             const char *end);
void vem_i_residence_rest(vem_i_run *run);

/* Bytes this process may still take: by the limit in force, else by the machine. Lets go of
 * mapped pages to know. 0: not known. */
uint64_t vem_i_residence_left(vem_i_run *run);
/* Of a limit, what is kept for pages of mapped files. */
uint64_t vem_i_residence_window(const vem_i_run *run, uint64_t limit);

/* The check itself; looks at the resident size a few thousand times a second at most. */
void vem_i_residence_look(vem_i_run *run);
/* From any thread, between two pieces of work on rows; the context may be NULL. */
static inline void vem_i_residence_check(vem_i_run *run)
{
    if (run && run->limit)
        vem_i_residence_look(run);
}

#endif
