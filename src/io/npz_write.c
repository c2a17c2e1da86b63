/* Writing .npz with libzip, without copies: one source hands out a header and the
 * caller's values, and the archive goes straight to the output's stream. */
#include "io/io.h"

#include <errno.h>
#include <string.h>
#include <zip.h>

#include "base/memory.h"

/* An array as a sequence of bytes: header, then values. */
typedef struct piece {
    char header[256];
    size_t header_bytes;
    const char *values;
    size_t total;
    size_t at;
    zip_error_t error;
} piece;

static size_t piece_read(piece *array, char *out, size_t wanted)
{
    size_t done = 0;
    while (done < wanted && array->at < array->total) {
        const int in_header = array->at < array->header_bytes;
        const char *from = in_header ? array->header + array->at
                                     : array->values + (array->at - array->header_bytes);
        const size_t left = (in_header ? array->header_bytes : array->total) - array->at;
        const size_t take = left < wanted - done ? left : wanted - done;
        memcpy(out + done, from, take);
        done += take;
        array->at += take;
    }
    return done;
}

static zip_int64_t piece_source(void *state, void *data, zip_uint64_t length,
                                zip_source_cmd_t command)
{
    piece *array = state;
    switch (command) {
    case ZIP_SOURCE_OPEN: array->at = 0; return 0;
    case ZIP_SOURCE_READ: return (zip_int64_t)piece_read(array, data, length);
    case ZIP_SOURCE_CLOSE:
    case ZIP_SOURCE_FREE: return 0;
    case ZIP_SOURCE_STAT: {
        zip_stat_t info;
        zip_stat_init(&info);
        info.valid = ZIP_STAT_SIZE;
        info.size = array->total;
        memcpy(data, &info, sizeof info);
        return sizeof info;
    }
    case ZIP_SOURCE_ERROR: return zip_error_to_data(&array->error, data, length);
    case ZIP_SOURCE_SUPPORTS: return ZIP_SOURCE_SUPPORTS_READABLE;
    default: zip_error_set(&array->error, ZIP_ER_OPNOTSUPP, 0); return -1;
    }
}

/* The archive under construction. libzip asks for its size first: it does not exist yet.
 */
typedef struct sink {
    vem_i_run *run;
    FILE *stream;
    zip_error_t error;
} sink;

static zip_int64_t sink_fail(sink *target, int code)
{
    zip_error_set(&target->error, code, errno);
    return -1;
}

static zip_int64_t sink_seek(sink *target, void *data, zip_uint64_t length)
{
    const zip_source_args_seek_t *to =
        ZIP_SOURCE_GET_ARGS(zip_source_args_seek_t, data, length, &target->error);
    if (!to || fseeko(target->stream, (off_t)to->offset, to->whence) != 0)
        return sink_fail(target, ZIP_ER_SEEK);
    return 0;
}

static zip_int64_t sink_source(void *state, void *data, zip_uint64_t length,
                               zip_source_cmd_t command)
{
    sink *target = state;
    switch (command) {
    case ZIP_SOURCE_STAT: zip_error_set(&target->error, ZIP_ER_READ, ENOENT); return -1;
    case ZIP_SOURCE_WRITE:
        if (fwrite(data, 1, length, target->stream) != length)
            return sink_fail(target, ZIP_ER_WRITE);
        vem_i_residence_check(target->run);
        return (zip_int64_t)length;
    case ZIP_SOURCE_SEEK_WRITE: return sink_seek(target, data, length);
    case ZIP_SOURCE_TELL_WRITE: return ftello(target->stream);
    case ZIP_SOURCE_BEGIN_WRITE:
    case ZIP_SOURCE_COMMIT_WRITE:
    case ZIP_SOURCE_ROLLBACK_WRITE:
    case ZIP_SOURCE_REMOVE:
    case ZIP_SOURCE_CLOSE:
    case ZIP_SOURCE_FREE: return 0;
    case ZIP_SOURCE_ERROR: return zip_error_to_data(&target->error, data, length);
    case ZIP_SOURCE_SUPPORTS: return ZIP_SOURCE_SUPPORTS_WRITABLE;
    default: zip_error_set(&target->error, ZIP_ER_OPNOTSUPP, 0); return -1;
    }
}

static int add_array(zip_t *archive, const vem_i_array *array, piece *bytes)
{
    char name[128];
    size_t size = vem_i_dtype_bytes(array->type);
    for (int i = 0; i < array->rank; i++)
        size *= (size_t)array->dims[i]; /* in memory already, so it fits */
    zip_error_init(&bytes->error);
    bytes->header_bytes =
        vem_i_npy_header(array->type, array->rank, array->dims, 0, bytes->header);
    bytes->values = array->values;
    bytes->total = bytes->header_bytes + size;
    snprintf(name, sizeof name, "%s.npy", array->name);
    zip_source_t *source = zip_source_function(archive, piece_source, bytes);
    if (!source)
        return -1;
    const zip_int64_t index = zip_file_add(archive, name, source, 0);
    if (index < 0) {
        zip_source_free(source);
        return -1;
    }
    /* 1 January 1980, the first day of zip: the same arrays give the same file. */
    if (zip_file_set_dostime(archive, (zip_uint64_t)index, 0, 0x21, 0) != 0)
        return -1;
    return zip_set_file_compression(archive, (zip_uint64_t)index, ZIP_CM_STORE, 0);
}

static int write_archive(vem_i_run *run, FILE *stream, const vem_i_array *arrays,
                         int count, piece *pieces, zip_error_t *error)
{
    sink target = {.run = run, .stream = stream};
    zip_error_init(&target.error);
    zip_source_t *source = zip_source_function_create(sink_source, &target, error);
    if (!source)
        return -1;
    zip_t *archive = zip_open_from_source(source, ZIP_CREATE | ZIP_TRUNCATE, error);
    if (!archive) {
        zip_source_free(source);
        return -1;
    }
    int failed = 0;
    for (int i = 0; i < count && !failed; i++)
        failed = add_array(archive, &arrays[i], &pieces[i]);
    if (!failed)
        failed = zip_close(archive);
    if (failed) {
        const zip_error_t *reason = zip_get_error(archive);
        zip_error_set(error, zip_error_code_zip(reason), zip_error_code_system(reason));
        zip_discard(archive);
    }
    return failed;
}

vem_status vem_i_npz_write(vem_i_run *run, const char *path, const vem_i_array *arrays,
                           int count)
{
    piece *pieces;
    vem_i_output *output;
    vem_status status = vem_i_take_zeroed(run, &pieces, (size_t)count, sizeof *pieces);
    if (status != VEM_OK)
        return status;
    status = vem_i_output_open(run, path, &output);
    if (status != VEM_OK) {
        vem_i_free(pieces);
        return status;
    }
    zip_error_t error;
    zip_error_init(&error);
    if (write_archive(run, vem_i_output_stream(output), arrays, count, pieces, &error) ==
        0) {
        status = vem_i_output_commit(run, output);
    } else {
        const int reason = zip_error_code_system(&error);
        status = reason ? vem_i_fail_system(run, path, "written", reason)
                        : vem_i_fail(run, VEM_IO_ERROR, "%s could not be written: %s.",
                                     path, zip_error_strerror(&error));
        vem_i_output_cancel(output);
    }
    zip_error_fini(&error);
    vem_i_free(pieces);
    return status;
}
