/* Targets that read an .npz of which one array is malformed: the verbs of the library open what was
 * made here, whatever the path. */
#ifndef VEM_FUZZ_ARCHIVE_TARGET_H
#define VEM_FUZZ_ARCHIVE_TARGET_H

#include "archive.h"
#include "fuzz.h"

static vem_ctx *ctx;
static archive made;

vem_status __wrap_vem_i_npz_open(vem_i_run *c, const char *path, vem_i_npz **npz);
vem_status __wrap_vem_i_npz_open(vem_i_run *c, const char *path, vem_i_npz **npz)
{
    return vem_i_npz_parse(c, path, made.bytes, made.size, npz);
}

static inline void target_begin(void)
{
    if (!ctx && (vem_ctx_new(&ctx) != VEM_OK || vem_ctx_set_threads(ctx, 1) != VEM_OK))
        abort();
}

typedef struct target_array {
    const char *name, *type, *shape;
    const void *values;
    size_t size;
    int absent; /* not in a right file */
} target_array;

enum { TARGET_WAYS = 16, TARGET_SHAPES = 6 };

/* Arrays, of which the one of number `hit` (if there is) has in one of TARGET_WAYS another shape,
 * another type, a byte less, or is not there. Way 0 and 14: it is right. */
static inline void target_build(const target_array *arrays, unsigned count, unsigned hit,
                                unsigned way, const char *const odd_shapes[TARGET_SHAPES])
{
    static const char *const types[] = {"<f8", "<i8", "|u1", ">f8", "<f4", "|O"};
    made.size = made.directory_size = 0;
    made.entries = 0;
    for (unsigned i = 0; i < count; i++) {
        const target_array *a = &arrays[i];
        const unsigned how = hit == i ? way % TARGET_WAYS : 0;
        if (how == 15 || (a->absent && hit != i))
            continue;
        archive_add(&made, a->name, how > 6 && how < 13 ? types[how - 7] : a->type,
                    how > 0 && how < 7 ? odd_shapes[how - 1] : a->shape, a->values,
                    a->size - (how == 13));
    }
    archive_end(&made);
}

#endif
