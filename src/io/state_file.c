#include "io/state_file.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* The number after the letters tells formats apart, and bytes the wrong way round. */
static const uint64_t FORMAT = 1;
static const char LETTERS[24] = "vem: state of a fit\n";

typedef struct mark {
    char letters[sizeof LETTERS];
    uint64_t format;
} mark;

typedef struct ending {
    uint64_t size, sum; /* of the blocks */
} ending;

static vem_status put(void *user, void *bytes, size_t size)
{
    vem_i_state_file *s = user;
    s->sum = vem_i_mix(s->sum, bytes, size);
    s->size += size;
    FILE *stream = vem_i_output_stream(s->output);
    /* A write that fails to empty the buffer may claim success. */
    if (fwrite(bytes, 1, size, stream) == size && !ferror(stream))
        return VEM_OK;
    s->error = errno;
    return VEM_IO_ERROR; /* the commit finds the words */
}

vem_status vem_i_state_create(vem_i_run *run, const char *path, vem_i_state_file *s)
{
    *s = (vem_i_state_file){.record = {.run = run, .path = path, .pass = put, .user = s}};
    vem_status status = vem_i_output_open(run, path, &s->output);
    if (status != VEM_OK)
        return status;
    mark first = {.format = FORMAT};
    memcpy(first.letters, LETTERS, sizeof LETTERS);
    s->record.status = put(s, &first, sizeof first);
    s->size = s->sum = 0; /* the mark speaks for itself */
    return VEM_OK;
}

vem_status vem_i_state_commit(vem_i_state_file *s, uint64_t *bytes)
{
    const vem_status failed = s->record.status;
    if (failed != VEM_OK) {
        vem_i_output_cancel(s->output);
        return s->error
                   ? vem_i_fail_system(s->record.run, s->record.path, "written", s->error)
                   : failed;
    }
    ending last = {.size = s->size, .sum = s->sum};
    fwrite(&last, 1, sizeof last, vem_i_output_stream(s->output));
    *bytes = s->size + sizeof(mark) + sizeof last;
    return vem_i_output_commit(s->record.run, s->output);
}

static vem_status get(void *user, void *bytes, size_t size)
{
    vem_i_state_file *s = user;
    memcpy(bytes, s->file.bytes + s->at,
           size); /* the record has looked at what is left */
    s->at += size;
    return VEM_OK;
}

/* Why the bytes are no state, or NULL. */
static const char *check(const vem_i_file *file, ending *last)
{
    mark first;
    if (file->size < sizeof first)
        return "it is no state of a fit";
    memcpy(&first, file->bytes, sizeof first);
    if (memcmp(first.letters, LETTERS, sizeof LETTERS) != 0)
        return "it is no state of a fit";
    if (first.format != FORMAT)
        return "it was written by another version, or on another kind of machine";
    if (file->size < sizeof first + sizeof *last)
        return "it is cut short";
    memcpy(last, file->bytes + file->size - sizeof *last, sizeof *last);
    if (last->size != file->size - sizeof first - sizeof *last)
        return "it is cut short or damaged";
    if (last->sum != vem_i_mix(0, file->bytes + sizeof first, (size_t)last->size))
        return "it is damaged";
    return NULL;
}

vem_status vem_i_state_parse(vem_i_run *run, const char *path, vem_i_file *file,
                             vem_i_state_file *s)
{
    ending last;
    *s = (vem_i_state_file){.at = sizeof(mark), .file = *file};
    const char *wrong = check(&s->file, &last);
    if (wrong) {
        vem_i_file_close(&s->file);
        return vem_i_fail(run, VEM_BAD_DATA, "%s cannot be resumed from: %s.", path,
                          wrong);
    }
    s->record = (vem_i_record){.run = run,
                               .path = path,
                               .reading = 1,
                               .pass = get,
                               .user = s,
                               .left = last.size};
    return VEM_OK;
}

vem_status vem_i_state_open(vem_i_run *run, const char *path, vem_i_state_file *s)
{
    vem_i_file file;
    vem_status status = vem_i_file_open(run, path, &file);
    return status == VEM_OK ? vem_i_state_parse(run, path, &file, s) : status;
}

void vem_i_state_close(vem_i_state_file *s)
{
    vem_i_file_close(&s->file);
}

int vem_i_state_exists(const char *path)
{
    struct stat info;
    return stat(path, &info) == 0 && info.st_size > 0;
}

int vem_i_state_is_foreign(const char *path)
{
    char found[sizeof LETTERS];
    struct stat info;
    if (stat(path, &info) == 0 && !S_ISREG(info.st_mode))
        return 1;
    const int descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (descriptor < 0)
        return 0; /* the writer will say what is wrong with it */
    const ssize_t got = read(descriptor, found, sizeof found);
    close(descriptor);
    return got > 0 &&
           (got < (ssize_t)sizeof found || memcmp(found, LETTERS, sizeof LETTERS) != 0);
}
