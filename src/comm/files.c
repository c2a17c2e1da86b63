/* Processes that meet in a folder, and need not run at the same time.
 *
 * All of them make the same calls in the same order (comm.h), so that a call has a number. What process p
 * says in call k is the file m<k>.<p>; what it sends to q for the n-th time s<n>.<p>.<q>. Files are
 * written under another name and renamed, begin with their length and a sum over the rest, and are never
 * changed. A process that needs one which is not there waits as long as it may. Then it writes down which
 * ones it needs (awaits.<p>), and leaves.
 *
 * Made again it does the same as before up to that place: it begins with the state of its last step
 * (state.<p>, fit/checkpoint.h), in which the number of the call stands, and what it says again is there
 * already and must be the same, or its rows, its options or its build are others. So a part can be lost at
 * any moment, run twice, or come late.
 *
 *     m<k>.<p>   what process p says in call k: calls before the first step are made every time
 *     r<k>       the sum that came of them, so that they are read once
 *     k<k>.<p>   what it keeps for itself there (an E-step)
 *     at.<p>     the first call after those that are made every time, and that of its state; and how many
 *                files that state has sent to each other one and heard from it
 *     swept      what was taken away: calls from there up to what no state needs any more
 *
 * What is swept now is what no state needed at the sweep before, in case that a part ran twice. */
#include "comm/files_inside.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/alloc.h"

static const uint64_t MARK = UINT64_C(0x76656d2d70617274); /* "vem-part" */

typedef struct heading {
    uint64_t mark, count, sum;
} heading;

/* ---- files ---- */

void vem_i_part_path(const char *folder, vem_i_part_file file, int rank,
                     char path[VEM_I_PATH])
{
    static const char *const names[] = {"state", "done", "failed", "awaits", "at"};
    snprintf(path, VEM_I_PATH, "%.4000s/%s.%d", folder, names[file], rank + 1);
}

/* Is this what the pattern says: # is a number, all else itself; then perhaps .*~, a file that was not whole? */
static int is_like(const char *name, const char *pattern)
{
    for (; *pattern; pattern++)
        if (*pattern != '#') {
            if (*name++ != *pattern)
                return 0;
        } else {
            const size_t digits = strspn(name, "0123456789");
            if (digits == 0)
                return 0;
            name += digits;
        }
    return !*name || (*name == '.' && name[strlen(name) - 1] == '~');
}

int vem_i_part_is_file(const char *name)
{
    static const char *const patterns[] = {"state.#", "done.#", "failed.#", "awaits.#",
                                           "at.#",    "swept",  "m#.#",     "r#",
                                           "k#.#",    "s#.#.#"};
    for (size_t i = 0; i < sizeof patterns / sizeof *patterns; i++)
        if (is_like(name, patterns[i]))
            return 1;
    return 0;
}

/* A file that nobody else writes: two machines may have equal processes, so chance names it. */
static FILE *open_other(const char *path, char *other, size_t size)
{
    int made = -1;
    for (int tries = 0; made < 0 && tries < 100; tries++) {
        uint64_t chance[2];
        if (getentropy(chance, sizeof chance) != 0)
            return NULL;
        snprintf(other, size, "%s.%016" PRIx64 "%016" PRIx64 "~", path, chance[0],
                 chance[1]);
        made = open(other, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
        if (made < 0 && errno != EEXIST)
            return NULL;
    }
    FILE *file = made < 0 ? NULL : fdopen(made, "wb");
    if (made >= 0 && !file) {
        const int error = errno;
        close(made);
        unlink(other);
        errno = error;
    }
    return file;
}

int vem_i_whole_write(const char *path, const void *const *pieces, const size_t *counts,
                      size_t count)
{
    char other[VEM_I_PATH + 64];
    FILE *file = open_other(path, other, sizeof other);
    if (!file)
        return errno;
    int error = 0;
    for (size_t i = 0; i < count; i++)
        if (counts[i] > 0 && fwrite(pieces[i], 1, counts[i], file) != counts[i])
            error = errno ? errno : EIO;
    if (fclose(file) != 0 && !error)
        error = errno;
    if (!error && rename(other, path) != 0)
        error = errno;
    if (error)
        unlink(other);
    return error;
}

void vem_i_files_leave(vem_i_comm *comm, int awaited, const char *sentence)
{
    const vem_i_files *t = vem_i_files_of(comm);
    if (!comm->failed && t->request.leaves)
        t->request.leaves(t->request.user, awaited, sentence);
    comm->failed = 1;
}

static void leave_unwritten(vem_i_comm *comm, const char *path, int error)
{
    char sentence[VEM_I_PATH + 256];
    snprintf(sentence, sizeof sentence, "%s could not be written: %s.", path,
             strerror(error));
    vem_i_files_leave(comm, 0, sentence);
}

static int fill(int file, void *bytes, size_t count)
{
    char *to = bytes;
    while (count > 0) {
        const ssize_t got = read(file, to, count < (1u << 30) ? count : 1u << 30);
        if (got <= 0)
            return 0;
        to += got;
        count -= (size_t)got;
    }
    return 1;
}

/* The file, if it is whole: its bytes, to be freed, and how many. NULL: errno is ENOENT where it is not
 * there, ENOMEM where there is no memory for it, else it is damaged, or on its way. */
char *vem_i_files_read(const char *path, size_t *count)
{
    heading h;
    struct stat info;
    char *bytes = NULL;
    const int file = open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0)
        return NULL;
    int error = EBADMSG;
    if (fstat(file, &info) == 0 && fill(file, &h, sizeof h) && h.mark == MARK &&
        (uint64_t)info.st_size == sizeof h + h.count) {
        bytes = vem_i_alloc(h.count + 1, 1);
        if (!bytes)
            error = ENOMEM;
        else if (fill(file, bytes, h.count) &&
                 vem_i_mix(h.count, bytes, h.count) == h.sum)
            error = 0;
    }
    close(file);
    if (error) {
        vem_i_free(bytes);
        errno = error;
        return NULL;
    }
    *count = h.count;
    return bytes;
}

void vem_i_files_write(vem_i_comm *comm, const char *path, const void *bytes,
                       size_t count)
{
    const heading h = {MARK, count, vem_i_mix(count, bytes, count)};
    const void *const pieces[] = {&h, bytes};
    const size_t counts[] = {sizeof h, count};
    const int error = vem_i_whole_write(path, pieces, counts, 2);
    if (error)
        leave_unwritten(comm, path, error);
    comm->bytes += count;
}

/* Says it; what was said before must be the same. */
void vem_i_files_say(vem_i_comm *comm, const char *path, const void *bytes, size_t count)
{
    size_t had;
    errno = 0;
    char *before = comm->failed ? NULL : vem_i_files_read(path, &had);
    if (!before && errno == ENOMEM)
        vem_i_files_leave(comm, 0, "Memory could not be had.");
    if (before && (had != count || (count > 0 && memcmp(before, bytes, count) != 0))) {
        char sentence[VEM_I_PATH + 256];
        snprintf(sentence, sizeof sentence,
                 "Part %d says something else than when it was called before (%s): its "
                 "rows, its options, its kernels or its build are others.",
                 comm->rank + 1, path);
        vem_i_files_leave(comm, 0, sentence);
    } else if (!before && !comm->failed) {
        vem_i_files_write(comm, path, bytes, count);
    }
    vem_i_free(before);
}

/* ---- waiting ---- */

/* Longer and longer, 0.1 to 20 ms: others may be at work for hours. */
static void nap(long *ns)
{
    nanosleep(&(struct timespec){.tv_nsec = *ns}, NULL);
    *ns = *ns < 10000000 ? 2 * *ns : *ns;
}

/* What it needs, for whoever calls the parts (vem_parts_look). */
static void tell_awaited(vem_i_comm *comm, const char *names)
{
    char path[VEM_I_PATH];
    const size_t count = strlen(names);
    vem_i_part_path(vem_i_files_of(comm)->folder, VEM_I_PART_AWAITS, comm->rank, path);
    vem_i_whole_write(path, (const void *const[]){names}, &count, 1);
}

void vem_i_files_name(const vem_i_files *t, int64_t call, int rank, char path[VEM_I_PATH])
{
    snprintf(path, VEM_I_PATH, "%s/m%" PRId64 ".%d", t->folder, call, rank + 1);
}

void vem_i_files_name_sent(const vem_i_files *t, int64_t number, int from, int to,
                           char path[VEM_I_PATH])
{
    snprintf(path, VEM_I_PATH, "%s/s%" PRId64 ".%d.%d", t->folder, number, from + 1,
             to + 1);
}

/* Until all that is needed of this call is there: from one process, or (from -1) from all. */
void vem_i_files_await(vem_i_comm *comm, int64_t call, int from)
{
    vem_i_files *t = vem_i_files_of(comm);
    const double until = vem_i_clock() + t->request.wait;
    char path[VEM_I_PATH], names[VEM_I_MOST_PARTS * 40];
    long ns = 100000;
    for (int missing = 1; missing && !comm->failed;) {
        int first = -1;
        size_t used = 0;
        for (int p = 0; p < comm->size; p++) {
            if (from >= 0 && p != from)
                continue;
            vem_i_files_name(t, call, p, path);
            if (access(path, F_OK) == 0)
                continue;
            first = first < 0 ? p : first;
            used += (size_t)snprintf(names + used, sizeof names - used,
                                     "m%" PRId64 ".%d\n", call, p + 1);
        }
        missing = first >= 0;
        if (missing && vem_i_clock() >= until) {
            tell_awaited(comm, names);
            vem_i_files_leave(comm, first + 1, "");
        } else if (missing) {
            nap(&ns);
        }
    }
}

/* Is process p beyond this call, so that it never says it again? What it says before its first step it says
 * every time. */
static int is_past(const vem_i_files *t, int p, int64_t call)
{
    char path[VEM_I_PATH];
    int64_t pair[2];
    vem_i_part_path(t->folder, VEM_I_PART_DONE, p, path);
    if (access(path, F_OK) == 0)
        return 1;
    vem_i_part_path(t->folder, VEM_I_PART_AT, p, path);
    return vem_i_files_pair(path, pair) && call >= pair[0] && call < pair[1];
}

/* What process `from` has said under this name in a call; NULL: it fails. What cannot be read is as not there
 * yet: it may be on its way in a file system of several machines, or it is damaged, and said again when
 * that part is called, unless that is past it. Nobody takes away what another part says. */
static char *get(vem_i_comm *comm, const char *path, int from, int64_t call,
                 size_t *count)
{
    const vem_i_files *t = vem_i_files_of(comm);
    const double until = vem_i_clock() + t->request.wait;
    char *got = NULL, sentence[2 * VEM_I_PATH + 256], name[96];
    long ns = 100000;
    while (!comm->failed && !(got = vem_i_files_read(path, count))) {
        const int why = errno;
        if (why == ENOMEM) {
            vem_i_files_leave(comm, 0, "Memory could not be had.");
        } else if (vem_i_clock() < until) {
            nap(&ns);
        } else if (why != ENOENT && is_past(t, from, call)) {
            snprintf(sentence, sizeof sentence,
                     "%s is damaged, and part %d will not say it again. If it stays so, "
                     "remove the folder %s: the fit then begins anew.",
                     path, from + 1, t->folder);
            vem_i_files_leave(comm, 0, sentence);
        } else {
            snprintf(name, sizeof name, "%s%.90s\n", why == ENOENT ? "" : "!",
                     strrchr(path, '/') + 1);
            tell_awaited(comm, name);
            vem_i_files_leave(comm, from + 1, "");
        }
    }
    return got;
}

char *vem_i_files_hear(vem_i_comm *comm, int64_t call, int p, size_t *count)
{
    char path[VEM_I_PATH];
    vem_i_files_name(vem_i_files_of(comm), call, p, path);
    return get(comm, path, p, call, count);
}

/* A file of another name belongs to the call that comes next. */
char *vem_i_files_get(vem_i_comm *comm, const char *path, int from, size_t *count)
{
    return get(comm, path, from, vem_i_files_of(comm)->at, count);
}

int vem_i_files_has(const char *folder, const char *line)
{
    char path[VEM_I_PATH];
    size_t count;
    snprintf(path, sizeof path, "%.3900s/%s", folder, line + (*line == '!'));
    if (*line != '!')
        return access(path, F_OK) == 0;
    char *bytes = vem_i_files_read(path, &count);
    const int is = bytes != NULL;
    vem_i_free(bytes);
    return is;
}

/* ---- making ---- */

static void free_comm(vem_i_comm *comm)
{
    vem_i_free(comm->state);
    vem_i_free(comm);
}

vem_i_comm *vem_i_comm_files_new(const vem_i_files_request *request)
{
    vem_i_comm *comm = vem_i_calloc(1, sizeof *comm);
    vem_i_files *t = vem_i_calloc(1, sizeof *t);
    char path[VEM_I_PATH];
    if (!comm || !t) {
        vem_i_free(comm);
        vem_i_free(t);
        return NULL;
    }
    t->request = *request;
    snprintf(t->folder, sizeof t->folder, "%s", request->folder);
    t->rehearsed = t->last = -1;
    *comm = (vem_i_comm){.rank = request->rank,
                         .size = request->size,
                         .state = t,
                         .free = free_comm};
    vem_i_files_calls(comm);
    vem_i_part_path(t->folder, VEM_I_PART_AWAITS, comm->rank, path);
    unlink(path); /* what it waits for now will be said again */
    return comm;
}
