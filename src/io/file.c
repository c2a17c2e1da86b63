#include "io/io.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <strings.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/memory.h"

int vem_i_big_endian(void)
{
    return __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__;
}

int vem_i_path_ends(const char *path, const char *ending)
{
    const size_t length = strlen(path), tail = strlen(ending);
    return length >= tail && strcasecmp(path + length - tail, ending) == 0;
}

vem_status vem_i_fail_system(vem_ctx *ctx, const char *path, const char *done, int error)
{
    const vem_status status = error == ENOMEM ? VEM_NO_MEMORY : VEM_IO_ERROR;
    if (error == ENOENT)
        return vem_i_fail(ctx, status,
                          "%s could not be %s: there is no such file or directory.", path,
                          done);
    if (error == EACCES || error == EPERM || error == EROFS)
        return vem_i_fail(ctx, status, "%s could not be %s: permission denied.", path,
                          done);
    if (error == ENOSPC || error == EDQUOT)
        return vem_i_fail(ctx, status, "%s could not be %s: the disk is full.", path,
                          done);
    if (error == EFBIG)
        return vem_i_fail(ctx, status, "%s could not be %s: the file would be too large.",
                          path, done);
    char reason[128];
    return vem_i_fail(ctx, status, "%s could not be %s: %s.", path, done,
                      strerror_r(error, reason, sizeof reason));
}

/* Pipes and terminals have no size, so the buffer doubles as it fills. */
static vem_status read_stream(vem_ctx *ctx, const char *path, int descriptor,
                              vem_i_file *file)
{
    size_t capacity = (size_t)1 << 20, size = 0;
    char *bytes;
    vem_status status = vem_i_take(ctx, &bytes, capacity, 1);
    while (status == VEM_OK) {
        ssize_t got = read(descriptor, bytes + size, capacity - size);
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            status = vem_i_fail_system(ctx, path, "read", errno);
        if (got <= 0)
            break;
        size += (size_t)got;
        if (size == capacity) {
            char *larger;
            status = vem_i_take(ctx, &larger, capacity, 2);
            if (status != VEM_OK)
                break;
            memcpy(larger, bytes, size);
            vem_i_free(bytes);
            bytes = larger;
            capacity *= 2;
        }
    }
    if (status == VEM_OK && size == 0)
        status = vem_i_fail(ctx, VEM_BAD_DATA, "%s is empty.", path);
    if (status != VEM_OK) {
        vem_i_free(bytes);
        return status;
    }
    *file = (vem_i_file){.bytes = bytes, .size = size};
    return VEM_OK;
}

static vem_status map_or_read(vem_ctx *ctx, const char *path, int descriptor,
                              vem_i_file *file)
{
    struct stat info;
    if (fstat(descriptor, &info) != 0)
        return vem_i_fail_system(ctx, path, "read", errno);
    if (S_ISDIR(info.st_mode))
        return vem_i_fail(ctx, VEM_IO_ERROR, "%s is a directory, not a file.", path);
    /* Files under /proc are regular and claim to be empty, so only reading tells. */
    if (!S_ISREG(info.st_mode) || info.st_size == 0)
        return read_stream(ctx, path, descriptor, file);
    const size_t size = (size_t)info.st_size;
    void *mapping = mmap(NULL, size, PROT_READ, MAP_PRIVATE, descriptor, 0);
    if (mapping == MAP_FAILED)
        return errno == ENODEV ? read_stream(ctx, path, descriptor, file)
                               : vem_i_fail_system(ctx, path, "mapped", errno);
    *file = (vem_i_file){.bytes = mapping, .size = size, .mapping = mapping};
    return VEM_OK;
}

vem_status vem_i_file_open(vem_ctx *ctx, const char *path, vem_i_file *file)
{
    const int descriptor = open(path, O_RDONLY | O_CLOEXEC);
    if (descriptor < 0)
        return vem_i_fail_system(ctx, path, "opened", errno);
    vem_status status = map_or_read(ctx, path, descriptor, file);
    close(descriptor);
    return status;
}

vem_status vem_i_file_from_stdin(vem_ctx *ctx, vem_i_file *file)
{
    return read_stream(ctx, "Standard input", STDIN_FILENO, file);
}

void vem_i_file_give(vem_i_file *file, vem_data *data)
{
    if (file->mapping) {
        data->mapping = file->mapping;
        data->mapping_bytes = file->size;
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
    if (holder.mapping)
        munmap(holder.mapping, holder.mapping_bytes);
    vem_i_free(holder.owned);
}
