/* Files that appear whole or not at all.
 *
 * Where the system can (Linux, most file systems), the file is made without any name and
 * linked to one by commit: a process that is killed leaves nothing behind. Elsewhere it
 * is written under a temporary name beside the target. To replace an existing file a
 * temporary name is needed in both cases, but with O_TMPFILE only between link and
 * rename. */
#include "io/io.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/memory.h"

enum { NAME_TRIES = 100 };

struct vem_i_output {
    FILE *stream;
    FILE *plain;     /* of a .gz, before it is compressed; NULL: no .gz */
    char *path;      /* as given, for messages */
    char *target;    /* what is replaced: symbolic links followed */
    char *temporary; /* name that exists now, or NULL */
    int direct;      /* descriptor that gets the bytes at commit; -1: a regular file */
    mode_t mode;     /* of the file replaced; 0: new */
};

static void release(vem_i_output *output)
{
    if (output->stream)
        fclose(output->stream);
    if (output->plain)
        fclose(output->plain);
    if (output->temporary)
        unlink(output->temporary);
    if (output->direct >= 0)
        close(output->direct);
    free(output->path);
    free(output->target);
    free(output->temporary);
    vem_i_free(output);
}

/* Directory of the target, with its last '/'; empty for the working directory. */
static size_t directory_length(const char *target)
{
    const char *slash = strrchr(target, '/');
    return slash ? (size_t)(slash - target) + 1 : 0;
}

/* A name beside the target that is very likely free; the caller tries others if it is
 * not. */
static char *temporary_name(const char *target, int attempt)
{
    const size_t prefix = directory_length(target), size = strlen(target) + 48;
    char *name = malloc(size);
    if (name)
        snprintf(name, size, "%.*s.%.100s.%ld-%d.tmp", (int)prefix, target,
                 target + prefix, (long)getpid(), attempt);
    return name;
}

/* A name lasts only when its directory has reached the disk. Where that cannot be had the
 * file is whole all the same. */
static void sync_directory(const char *target)
{
    const size_t length = directory_length(target);
    char *directory = length ? strndup(target, length) : strdup(".");
    const int descriptor =
        directory ? open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;
    if (descriptor >= 0) {
        fsync(descriptor);
        close(descriptor);
    }
    free(directory);
}

/* Never wider than the file it will replace, not even while it is written. */
static mode_t first_mode(const vem_i_output *output)
{
    return output->mode ? (output->mode & 0777) | S_IRUSR | S_IWUSR : 0666;
}

/* Without a name. -1 where the system cannot, or could not name it later. */
static int open_nameless(const vem_i_output *output)
{
#ifdef O_TMPFILE
    if (access("/proc/self/fd", X_OK) != 0)
        return -1;
    const char *target = output->target;
    const size_t length = directory_length(target);
    char *directory = length ? strndup(target, length) : strdup(".");
    if (!directory)
        return -1;
    int descriptor = open(directory, O_TMPFILE | O_RDWR | O_CLOEXEC, first_mode(output));
    free(directory);
    return descriptor;
#else
    (void)output;
    return -1;
#endif
}

static int open_named(vem_i_output *output)
{
    for (int attempt = 0; attempt < NAME_TRIES; attempt++) {
        char *name = temporary_name(output->target, attempt);
        if (!name) {
            errno = ENOMEM;
            return -1;
        }
        int descriptor =
            open(name, O_CREAT | O_EXCL | O_RDWR | O_CLOEXEC, first_mode(output));
        if (descriptor >= 0) {
            output->temporary = name;
            return descriptor;
        }
        free(name);
        if (errno != EEXIST)
            return -1;
    }
    return -1;
}

static vem_status open_regular(vem_i_run *run, vem_i_output *output)
{
    int descriptor = open_nameless(output);
    if (descriptor < 0)
        descriptor = open_named(output);
    if (descriptor < 0)
        return vem_i_fail_system(run, output->path, "written", errno);
    output->stream = fdopen(descriptor, "w+");
    if (!output->stream) {
        int error = errno;
        close(descriptor);
        return vem_i_fail_system(run, output->path, "written", error);
    }
    return VEM_OK;
}

/* Opening /dev/stdout anew would start at the head of a file that others write to as
 * well. */
static int open_direct(const char *path)
{
    if (strcmp(path, "/dev/stdout") == 0)
        return fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3);
    if (strcmp(path, "/dev/stderr") == 0)
        return fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 3);
    return open(path, O_WRONLY | O_CLOEXEC);
}

static vem_status open_output(vem_i_run *run, vem_i_output *output)
{
    struct stat info;
    const char *path = output->path;
    const int exists = stat(path, &info) == 0;
    if (exists && S_ISDIR(info.st_mode))
        return vem_i_fail(run, VEM_IO_ERROR,
                          "%s could not be written: it is a directory.", path);
    const int device =
        strncmp(path, "/dev/", 5) == 0 && strncmp(path, "/dev/shm/", 9) != 0;
    if (device || (exists && !S_ISREG(info.st_mode))) {
        output->direct = open_direct(path);
        if (output->direct >= 0)
            output->stream = tmpfile();
        return output->stream ? VEM_OK : vem_i_fail_system(run, path, "written", errno);
    }
    if (exists && access(path, W_OK) != 0)
        return vem_i_fail_system(run, path, "written", errno);
    output->mode = exists ? info.st_mode & 07777 : 0;
    output->target = exists ? realpath(path, NULL) : strdup(path);
    if (!output->target)
        return vem_i_fail_system(run, path, "written", errno);
    return open_regular(run, output);
}

vem_status vem_i_output_open(vem_i_run *run, const char *path, vem_i_output **output)
{
    vem_i_output *made;
    vem_status status = vem_i_take_zeroed(run, &made, 1, sizeof *made);
    if (status != VEM_OK)
        return status;
    made->direct = -1;
    made->path = strdup(path);
    status =
        made->path ? open_output(run, made) : vem_i_fail_memory(run, strlen(path) + 1);
    if (status == VEM_OK && vem_i_path_ends(path, ".gz") && !(made->plain = tmpfile()))
        status = vem_i_fail_system(run, path, "written", errno);
    if (status == VEM_OK)
        *output = made;
    else
        release(made);
    return status;
}

FILE *vem_i_output_stream(vem_i_output *output)
{
    return output->plain ? output->plain : output->stream;
}

/* What was written, compressed, to where it belongs. */
static int compress(const vem_i_output *output)
{
    if (!output->plain)
        return 1;
    if (ferror(output->plain) || fflush(output->plain) != 0)
        return 0;
    rewind(output->plain);
    return vem_i_gzip(output->plain, output->stream);
}

static int write_all(int descriptor, const char *bytes, size_t size)
{
    while (size > 0) {
        ssize_t done = write(descriptor, bytes, size);
        if (done < 0 && errno == EINTR)
            continue;
        if (done < 0)
            return -1;
        bytes += done;
        size -= (size_t)done;
    }
    return 0;
}

static int copy_to_direct(vem_i_output *output)
{
    char buffer[1 << 16];
    rewind(output->stream);
    for (;;) {
        size_t got = fread(buffer, 1, sizeof buffer, output->stream);
        if (got == 0)
            return ferror(output->stream) ? -1 : 0;
        if (write_all(output->direct, buffer, got) != 0)
            return -1;
    }
}

/* Give a nameless file a name: the target's if that is free, else a temporary one. */
static int name_file(vem_i_output *output, int descriptor)
{
    char source[64];
    snprintf(source, sizeof source, "/proc/self/fd/%d", descriptor);
    if (linkat(AT_FDCWD, source, AT_FDCWD, output->target, AT_SYMLINK_FOLLOW) == 0)
        return 0;
    for (int attempt = 0; errno == EEXIST && attempt < NAME_TRIES; attempt++) {
        char *name = temporary_name(output->target, attempt);
        if (!name) {
            errno = ENOMEM;
            return -1;
        }
        if (linkat(AT_FDCWD, source, AT_FDCWD, name, AT_SYMLINK_FOLLOW) == 0) {
            output->temporary = name;
            return 0;
        }
        free(name);
    }
    return -1;
}

static int put_in_place(vem_i_output *output)
{
    const int descriptor = fileno(output->stream);
    if (output->mode && fchmod(descriptor, output->mode) != 0)
        return -1;
    if (fsync(descriptor) != 0)
        return -1;
    if (!output->temporary && name_file(output, descriptor) != 0)
        return -1;
    if (output->temporary) {
        if (rename(output->temporary, output->target) != 0)
            return -1;
        free(output->temporary);
        output->temporary = NULL;
    }
    sync_directory(output->target);
    return 0;
}

vem_status vem_i_output_commit(vem_i_run *run, vem_i_output *output)
{
    vem_status status = VEM_OK;
    errno = 0;
    int failed =
        !compress(output) || ferror(output->stream) || fflush(output->stream) != 0;
    if (!failed)
        failed = output->direct >= 0 ? copy_to_direct(output) : put_in_place(output);
    if (failed) /* a stream that failed earlier has lost its errno: nearly always a full
                   disk */
        status = vem_i_fail_system(run, output->path, "written", errno ? errno : ENOSPC);
    release(output);
    return status;
}

void vem_i_output_cancel(vem_i_output *output)
{
    if (output)
        release(output);
}
