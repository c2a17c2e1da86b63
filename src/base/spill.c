#include "base/spill.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/machine.h"
#include "base/memory.h"
#include "base/system.h"

static const char *directory(void)
{
    static const char *const names[] = {"VEM_TMPDIR", "TMPDIR"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const char *named = getenv(names[i]);
        if (named && *named)
            return named;
    }
    /* /tmp is memory on many systems, which would help nobody. */
    return access("/var/tmp", W_OK) == 0 ? "/var/tmp" : "/tmp";
}

vem_status vem_i_fail_spill(vem_i_run *run, uint64_t bytes, int error)
{
    char file[320], number[32], size[40] = "";
    if (bytes)
        snprintf(size, sizeof size, " of %s", vem_bytes_print((double)bytes, number));
    snprintf(file, sizeof file,
             "A temporary file%s in %.200s (VEM_TMPDIR or TMPDIR names another place)",
             size, directory());
    return vem_i_fail_system(run, file, "made", error);
}

static int open_named(void)
{
    const char *where = directory();
    const size_t length = strlen(where) + sizeof "/vem-XXXXXX";
    char *name = malloc(length);
    if (!name) {
        errno = ENOMEM;
        return -1;
    }
    snprintf(name, length, "%s/vem-XXXXXX", where);
    const int descriptor = mkostemp(name, O_CLOEXEC);
    if (descriptor >= 0)
        unlink(name);
    free(name);
    return descriptor;
}

vem_status vem_i_spill_open(vem_i_run *run, int *descriptor)
{
    int made = -1;
#ifdef O_TMPFILE
    made = open(directory(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
#endif
    if (made < 0)
        made = open_named();
    if (made < 0)
        return vem_i_fail_spill(run, 0, errno);
    *descriptor = made;
    return VEM_OK;
}

vem_status vem_i_spill_map(vem_i_run *run, int descriptor, size_t bytes,
                           vem_i_mapping **spill)
{
    void *at = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0);
    if (at == MAP_FAILED)
        return vem_i_fail_spill(run, bytes, errno);
    vem_status status = vem_i_mapping_new(run, NULL, at, bytes, spill);
    if (status != VEM_OK)
        munmap(at, bytes);
    return status;
}

/* What reads ahead makes large pieces in the page cache, and a row that is touched brings in a
 * whole piece. Without it pieces are single pages; so it waits until the file is too large for
 * the page cache to keep, and has to be read from the disk again and again. */
static void advise(const vem_i_mapping *spill)
{
    const uint64_t free_bytes = vem_i_available_bytes();
    if (free_bytes > 0 && spill->size < free_bytes / 2)
        madvise(spill->bytes, spill->size, MADV_RANDOM);
}

vem_status vem_i_spill_new(vem_i_run *run, size_t bytes, vem_i_mapping **spill)
{
    int descriptor, error;
    vem_status status = vem_i_spill_open(run, &descriptor);
    if (status != VEM_OK)
        return status;
    bytes = bytes ? bytes : 1;
    do
        error = bytes > INT64_MAX ? EFBIG : posix_fallocate(descriptor, 0, (off_t)bytes);
    while (error == EINTR);
    status = error ? vem_i_fail_spill(run, bytes, error)
                   : vem_i_spill_map(run, descriptor, bytes, spill);
    if (status != VEM_OK) {
        close(descriptor);
        return status;
    }
    advise(*spill);
    (*spill)->file = descriptor;
    return VEM_OK;
}

int vem_i_spill_wanted(vem_i_run *run, uint64_t bytes)
{
    enum { SMALL = 1 << 20 }; /* not worth a file, nor the asking */
    if (!run || !run->ctx || run->ctx->spills_all)
        return run && run->ctx;
    if (bytes < SMALL)
        return 0;
    const uint64_t left = vem_i_residence_left(run);
    return left > 0 && bytes > left / 2;
}

vem_status vem_i_spill_take(vem_i_run *run, void *out, size_t count, size_t size,
                            vem_i_mapping **spill)
{
    size_t bytes;
    *spill = NULL;
    if (__builtin_mul_overflow(count, size, &bytes) || !vem_i_spill_wanted(run, bytes))
        return vem_i_take(run, out, count, size);
    vem_status status = vem_i_spill_new(run, bytes, spill);
    if (status == VEM_OK && *spill)
        memcpy(out, &(*spill)->bytes, sizeof(void *));
    return status;
}

/* ---- the public verbs ---- */

vem_status vem_array_new(vem_ctx *ctx, size_t bytes, void **array)
{
    VEM_I_NEED(ctx, ctx, array);
    vem_i_mapping *spill;
    vem_i_run *run = vem_i_begin(ctx, &(vem_i_verb){0});
    return vem_i_spill_take(run, array, bytes, 1, &spill);
}

void vem_array_free(vem_ctx *ctx, void *array)
{
    vem_i_run *run = vem_i_within(ctx, &(vem_i_verb){0});
    vem_i_mapping *spill = run && array ? vem_i_mapping_at(run, array) : NULL;
    if (spill)
        vem_i_mapping_free(spill);
    else
        vem_i_free(array);
}
