#include "base/residence.h"

#include <sched.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/machine.h"

/* Between two checks 256 rows may be touched anywhere, and each maps 64 KB; a thread maps at
 * most so much in a second. The farther the limit, the later the next look. */
static const double TOUCH = 16 << 20, RATE = 60e9;
static const uint64_t MB = UINT64_C(1) << 20;
/* Chunks, blocks and pages that any verb has at hand; nothing less could be kept. */
static const uint64_t DESK = UINT64_C(8) << 20;

typedef struct vem_i_residence {
    atomic_flag busy; /* a lock that a signal handler may wait for: who holds it never
                         touches mapped pages */
    int users;        /* the context and the mappings */
    vem_i_mapping *first;
    _Atomic double next;   /* clock of the next look, at the latest */
    _Atomic int64_t until; /* checks before it, at most */
    _Atomic uint64_t rest; /* resident bytes after pages were last let go */
} vem_i_residence;

static void lock(vem_i_residence *r)
{
    while (atomic_flag_test_and_set(&r->busy))
        sched_yield();
}

static void unlock(vem_i_residence *r)
{
    atomic_flag_clear(&r->busy);
}

static void leave(vem_i_residence *r)
{
    const int last = --r->users == 0;
    unlock(r);
    if (last)
        vem_i_free(r);
}

vem_status vem_i_residence_new(vem_ctx *ctx)
{
    vem_i_residence *made = vem_i_calloc(1, sizeof *made);
    if (!made)
        return VEM_NO_MEMORY;
    atomic_flag_clear(&made->busy);
    made->users = 1;
    ctx->residence = made;
    return VEM_OK;
}

void vem_i_residence_leave(vem_ctx *ctx)
{
    if (!ctx->residence)
        return;
    lock(ctx->residence);
    leave(ctx->residence);
    ctx->residence = NULL;
}

/* ---- mappings ---- */

vem_status vem_i_mapping_new(vem_i_run *run, const char *path, void *bytes, size_t size,
                             vem_i_mapping **mapping)
{
    const size_t length = path ? strlen(path) + 1 : 0;
    vem_i_mapping *made = vem_i_calloc(1, sizeof *made);
    if (made && path)
        made->path = vem_i_alloc(length, 1);
    if (!made || (path && !made->path)) {
        vem_i_free(made);
        return vem_i_fail_memory(run, sizeof *made + length);
    }
    if (path)
        memcpy(made->path, path, length);
    made->bytes = bytes;
    made->size = size;
    made->file = -1;
    vem_i_residence *r = run && run->ctx ? run->ctx->residence : NULL;
    if (r) {
        /* Advice: a page of 2 MB would come in for every row that is looked at. */
        if (run->limit || !path)
            madvise(bytes, size, MADV_NOHUGEPAGE);
        lock(r);
        made->residence = r;
        made->next = r->first;
        made->link = &r->first;
        if (r->first)
            r->first->link = &made->next;
        r->first = made;
        r->users++;
        unlock(r);
    }
    *mapping = made;
    return VEM_OK;
}

void vem_i_mapping_free(vem_i_mapping *mapping)
{
    if (!mapping)
        return;
    vem_i_residence *r = mapping->residence;
    if (r) {
        lock(r);
        *mapping->link = mapping->next;
        if (mapping->next)
            mapping->next->link = mapping->link;
        leave(r);
    }
    munmap(mapping->bytes, mapping->size);
    if (mapping->file >= 0)
        close(mapping->file);
    vem_i_free(mapping->path);
    vem_i_free(mapping);
}

vem_i_mapping *vem_i_mapping_at(const vem_i_run *run, const void *bytes)
{
    vem_i_residence *r = run && run->ctx ? run->ctx->residence : NULL;
    vem_i_mapping *found = NULL;
    if (!r)
        return NULL;
    lock(r);
    for (vem_i_mapping *m = r->first; m && !found; m = m->next)
        if (m->bytes == bytes)
            found = m;
    unlock(r);
    return found;
}

void vem_i_mapping_read(vem_i_mapping *mapping, const char *at, size_t size, void *out)
{
    if (mapping->file < 0 ||
        pread(mapping->file, out, size, at - mapping->bytes) != (ssize_t)size)
        memcpy(out, at, size);
    else
        mapping->reads++;
}

/* ---- letting go ---- */

void vem_i_mapping_rest(const vem_i_mapping *mapping)
{
    if (mapping) /* advice: they come back from the file when they are wanted */
        madvise(mapping->bytes, mapping->size, MADV_DONTNEED);
}

void vem_i_mapping_rest_rows(const vem_i_mapping *mapping, const char *begin,
                             const char *end)
{
    /* What a touched page brings in with it, as a rule (docs/math/memory.md). */
    const size_t piece = (size_t)64 << 10;
    if (!mapping)
        return;
    size_t from = (size_t)(begin - mapping->bytes), to = (size_t)(end - mapping->bytes);
    from = from < piece ? 0 : (from - piece) / piece * piece;
    to = (to / piece + 2) * piece;
    to = to < mapping->size ? to : mapping->size;
    madvise(mapping->bytes + from, to - from, MADV_DONTNEED);
}

static void rest(vem_i_residence *r)
{
    for (const vem_i_mapping *m = r->first; m; m = m->next)
        vem_i_mapping_rest(m);
    r->rest = vem_i_resident_bytes();
    unlock(r);
}

void vem_i_residence_rest(vem_i_run *run)
{
    if (!run->ctx->residence)
        return;
    lock(run->ctx->residence);
    rest(run->ctx->residence);
}

/* What threads may bring in between two looks: a block of 256 scattered rows is 16 MB in the
 * worst case. */
static uint64_t margin(uint64_t limit, int threads)
{
    const uint64_t bytes = limit / 16 + 8 * MB * (uint64_t)threads;
    return bytes < limit / 4 ? bytes : limit / 4;
}

uint64_t vem_i_residence_window(const vem_i_run *run, uint64_t limit)
{
    uint64_t share = limit / 16;
    share = share < 6 * MB ? 6 * MB : share > 512 * MB ? 512 * MB : share;
    return margin(limit, run->threads) + share;
}

uint64_t vem_i_residence_left(vem_i_run *run)
{
    if (!run->limit)
        return vem_i_available_bytes();
    vem_i_residence_rest(run);
    const uint64_t taken = vem_i_resident_bytes();
    return run->limit > taken ? run->limit - taken : 1;
}

/* Pages are let go when this much is left: four times what may come in, because the kernel
 * maps more than was asked for and threads wait for processors, but no more than half of what
 * there is for pages. */
static uint64_t room_of(const vem_i_residence *r, const vem_i_run *run)
{
    const uint64_t wanted = 4 * margin(run->limit, run->threads);
    const uint64_t half = r->rest < run->limit ? (run->limit - r->rest) / 2 : 0;
    return wanted < half ? wanted : half;
}

void vem_i_residence_look(vem_i_run *run)
{
    vem_i_residence *r = run->ctx->residence;
    const double now = vem_i_clock();
    if (--r->until > 0 && now < r->next)
        return;
    const uint64_t resident = vem_i_resident_bytes();
    const uint64_t room = room_of(r, run);
    const double left = resident < run->limit ? (double)(run->limit - resident) : 0;
    r->next = now + left / (RATE * run->threads);
    r->until = (int64_t)(left / TOUCH);
    /* Letting go of next to nothing would only make the next look come sooner. */
    if (resident <= run->limit - room || resident <= r->rest + 2 * MB)
        return;
    if (!atomic_flag_test_and_set(&r->busy)) {
        rest(r);
    } else {
        lock(r); /* another thread is at it, and maybe held up: bring in no more */
        unlock(r);
    }
}

/* ---- the public verbs ---- */

vem_status vem_ctx_set_memory(vem_ctx *ctx, int64_t bytes)
{
    VEM_I_NEED(ctx, ctx);
    vem_i_run *run = vem_i_within(ctx, &(vem_i_verb){0});
    if (bytes < 0)
        return vem_i_fail(run, VEM_BAD_OPTION,
                          "memory is %lld, but it must be 0 (no limit) or more.",
                          (long long)bytes);
    const uint64_t resident = vem_i_resident_bytes();
    char asked[32], taken[32], beside[32];
    if (bytes > 0 && (uint64_t)bytes < resident + DESK)
        return vem_i_fail(
            run, VEM_NO_MEMORY,
            "--memory is %s, but the program itself takes %s and needs %s beside it.",
            vem_bytes_print((double)bytes, asked),
            vem_bytes_print((double)resident, taken),
            vem_bytes_print((double)DESK, beside));
    ctx->memory = (uint64_t)bytes;
    return VEM_OK;
}

const char *vem_ctx_mapped_file(const vem_ctx *ctx, const void *address)
{
    vem_i_residence *r = ctx ? ctx->residence : NULL;
    const char *path = NULL, *at = address;
    if (!r)
        return NULL;
    lock(r);
    for (const vem_i_mapping *m = r->first; m && !path; m = m->next)
        if (at >= m->bytes && at < m->bytes + m->size)
            path = m->path;
    unlock(r);
    return path;
}
