#include "io/io.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include "base/memory.h"
#include "base/plain.h"
#include "base/spill.h"

int vem_i_big_endian(void)
{
    return __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__;
}

int vem_i_path_ends(const char *path, const char *ending)
{
    const size_t length = strlen(path), tail = strlen(ending);
    return length >= tail && vem_i_same_word(path + length - tail, path + length, ending);
}

/* Bytes as they come. Pipes and terminals have no size, so the buffer doubles as it fills;
 * where it would take too much memory, all goes to a temporary file. */
typedef struct stream {
    vem_i_run *run;
    const char *path;
    char *bytes;
    size_t capacity, size; /* of the buffer; in it */
    int spill;             /* descriptor of the temporary file; -1: none yet */
    size_t spilled;        /* bytes in it */
    gzFile gz;             /* what is read is decompressed by this; NULL: it is plain */
} stream;

/* The buffer is full, or the end was met. */
static vem_status to_file(stream *s)
{
    for (size_t done = 0; done < s->size;) {
        const ssize_t written = write(s->spill, s->bytes + done, s->size - done);
        if (written < 0 && errno == EINTR)
            continue;
        if (written < 0)
            return vem_i_fail_spill(s->run, s->spilled + s->size, errno);
        done += (size_t)written;
    }
    s->spilled += s->size;
    s->size = 0;
    return VEM_OK;
}

static vem_status make_room(stream *s)
{
    if (s->spill >= 0)
        return to_file(s);
    if (vem_i_spill_wanted(s->run, 3 * s->capacity)) { /* both buffers, for a moment */
        vem_status status = vem_i_spill_open(s->run, &s->spill);
        return status == VEM_OK ? to_file(s) : status;
    }
    char *larger;
    vem_status status = vem_i_take(s->run, &larger, s->capacity, 2);
    if (status != VEM_OK)
        return status;
    memcpy(larger, s->bytes, s->size);
    vem_i_free(s->bytes);
    s->bytes = larger;
    s->capacity *= 2;
    return VEM_OK;
}

/* Up to `room` bytes from a compressed file. */
static vem_status inflate_some(stream *s, char *to, size_t room, ssize_t *got)
{
    enum { PIECE = 1 << 20 };
    *got = gzread(s->gz, to, room < PIECE ? (unsigned)room : PIECE);
    int error = Z_OK;
    const char *reason = gzerror(s->gz, &error);
    if (*got == 0 && error == Z_BUF_ERROR)
        return vem_i_fail(s->run, VEM_BAD_DATA,
                          "%s is truncated: its compressed data end too early.", s->path);
    if (*got < 0 && error == Z_ERRNO)
        return vem_i_fail_system(s->run, s->path, "read", errno);
    if (*got < 0)
        return vem_i_fail(s->run, VEM_BAD_DATA,
                          "%s cannot be decompressed; it is broken: %s.", s->path,
                          reason);
    return VEM_OK;
}

static vem_status read_some(stream *s, int descriptor, ssize_t *got)
{
    char *to = s->bytes + s->size;
    const size_t room = s->capacity - s->size;
    if (s->gz)
        return inflate_some(s, to, room, got);
    do
        *got = read(descriptor, to, room);
    while (*got < 0 && errno == EINTR);
    return *got < 0 ? vem_i_fail_system(s->run, s->path, "read", errno) : VEM_OK;
}

static vem_status fill(stream *s, int descriptor)
{
    for (;;) {
        ssize_t got = 0;
        vem_status read = read_some(s, descriptor, &got);
        if (read != VEM_OK)
            return read;
        if (got == 0)
            return s->spill >= 0 ? to_file(s) : VEM_OK;
        s->size += (size_t)got;
        vem_status status = s->size == s->capacity ? make_room(s) : VEM_OK;
        if (status != VEM_OK)
            return status;
    }
}

static vem_status read_stream(vem_i_run *run, const char *path, int descriptor, gzFile gz,
                              vem_i_file *file)
{
    stream s = {
        .run = run, .path = path, .capacity = (size_t)1 << 20, .spill = -1, .gz = gz};
    vem_i_file made = {0};
    vem_status status = vem_i_take(run, &s.bytes, s.capacity, 1);
    if (status == VEM_OK)
        status = fill(&s, descriptor);
    if (status == VEM_OK && s.size + s.spilled == 0)
        status = vem_i_fail(run, VEM_BAD_DATA, "%s is empty.", path);
    if (status == VEM_OK && s.spill >= 0)
        status = vem_i_spill_map(run, s.spill, s.spilled, &made.mapping);
    if (s.spill >= 0)
        close(s.spill);
    if (status != VEM_OK || made.mapping)
        vem_i_free(s.bytes);
    if (status != VEM_OK)
        return status;
    made.bytes = made.mapping ? made.mapping->bytes : s.bytes;
    made.size = s.size + s.spilled;
    *file = made;
    return VEM_OK;
}

/* A device that gives bytes without an end, as /dev/zero, would be read until the disk is full. A
 * terminal ends when its user says so, and /dev/null at once. */
static vem_status refuse_device(vem_i_run *run, const char *path, int descriptor)
{
    struct stat info;
    char byte;
    if (fstat(descriptor, &info) != 0 || !S_ISCHR(info.st_mode) || isatty(descriptor) ||
        read(descriptor, &byte, 1) <= 0)
        return VEM_OK; /* what is wrong elsewhere is found when it is read */
    return vem_i_fail(run, VEM_IO_ERROR,
                      "%s is a device that may never end; vem reads files, pipes and "
                      "terminals.",
                      path);
}

static vem_status map_or_read(vem_i_run *run, const char *path, int descriptor,
                              vem_i_file *file)
{
    struct stat info;
    if (fstat(descriptor, &info) != 0)
        return vem_i_fail_system(run, path, "read", errno);
    if (S_ISDIR(info.st_mode))
        return vem_i_fail(run, VEM_IO_ERROR, "%s is a directory, not a file.", path);
    /* Files under /proc are regular and claim to be empty, so only reading tells. */
    if (!S_ISREG(info.st_mode) || info.st_size == 0)
        return read_stream(run, path, descriptor, NULL, file);
    const size_t size = (size_t)info.st_size;
    void *mapping = mmap(NULL, size, PROT_READ, MAP_PRIVATE, descriptor, 0);
    if (mapping == MAP_FAILED)
        return errno == ENODEV ? read_stream(run, path, descriptor, NULL, file)
                               : vem_i_fail_system(run, path, "mapped", errno);
    /* Advice: rows are mostly read in order. The system then reads ahead in large steps and
     * keeps what it read in large pieces, and a pass is as fast as the disk. Asking for
     * windows in front of a pass (MADV_WILLNEED) gives pages one by one instead, which cost
     * several times as much to map, in this pass and the next. */
    madvise(mapping, size, MADV_SEQUENTIAL);
    vem_i_file made = {.bytes = mapping, .size = size};
    vem_status status = vem_i_mapping_new(run, path, mapping, size, &made.mapping);
    if (status != VEM_OK)
        munmap(mapping, size);
    else
        *file = made;
    return status;
}

vem_status vem_i_file_open(vem_i_run *run, const char *path, vem_i_file *file)
{
    const int descriptor = open(path, O_RDONLY | O_CLOEXEC);
    if (descriptor < 0)
        return vem_i_fail_system(run, path, "opened", errno);
    vem_status status = refuse_device(run, path, descriptor);
    if (status == VEM_OK)
        status = map_or_read(run, path, descriptor, file);
    close(descriptor);
    return status;
}

vem_status vem_i_file_inflate(vem_i_run *run, const char *path, vem_i_file *file)
{
    const int descriptor = open(path, O_RDONLY | O_CLOEXEC);
    if (descriptor < 0)
        return vem_i_fail_system(run, path, "opened", errno);
    vem_status status = refuse_device(run, path, descriptor);
    gzFile gz = status == VEM_OK ? gzdopen(descriptor, "rb") : NULL;
    if (!gz) {
        close(descriptor);
        return status == VEM_OK ? vem_i_fail_memory(run, 0) : status;
    }
    gzbuffer(gz, 1 << 17);
    status = read_stream(run, path, -1, gz, file);
    gzclose(gz); /* and the descriptor */
    return status;
}

vem_status vem_i_file_from_stdin(vem_i_run *run, vem_i_file *file)
{
    static const char name[] = "Standard input";
    const vem_status status = refuse_device(run, name, STDIN_FILENO);
    return status == VEM_OK ? read_stream(run, name, STDIN_FILENO, NULL, file) : status;
}

void vem_i_file_give(vem_i_file *file, vem_data *data)
{
    if (file->mapping) {
        data->mapping = file->mapping;
    } else {
        memcpy(&data->owned, &file->bytes, sizeof data->owned); /* drops the const */
    }
    *file = (vem_i_file){0};
}

void vem_i_file_close(vem_i_file *file)
{
    vem_data holder = {0};
    if (!file->bytes)
        return;
    vem_i_file_give(file, &holder);
    vem_i_mapping_free(holder.mapping);
    vem_i_free(holder.owned);
}
