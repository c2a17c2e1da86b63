/* .npz: a zip archive whose entry NAME.npy is the array NAME. */
#include "io/io.h"

#include <inttypes.h>
#include <string.h>
#include <zip.h>

#include "base/memory.h"
#include "base/spill.h"

struct vem_i_npz {
    zip_t *archive;
    vem_i_file file; /* what the archive reads from, when opened by path */
    size_t size;     /* of the whole archive */
    char *name;
};

enum {
    /* Deflate cannot shrink further than about 1030 times, so an entry that claims more
     * lies about its size, and memory is not taken on its word. */
    MOST_SHRINK = 1100,
    PIECE = 1 << 20 /* bytes read at a time */
};

vem_status vem_i_npz_parse(vem_i_run *run, const char *name, const void *bytes,
                           size_t size, vem_i_npz **npz)
{
    vem_i_npz *made;
    const size_t length = strlen(name) + 1;
    vem_status status = vem_i_take_zeroed(run, &made, 1, sizeof *made);
    if (status != VEM_OK)
        return status;
    status = vem_i_take(run, &made->name, length, 1);
    if (status != VEM_OK) {
        vem_i_free(made);
        return status;
    }
    memcpy(made->name, name, length);
    made->size = size;
    zip_error_t error;
    zip_error_init(&error);
    zip_source_t *source = zip_source_buffer_create(bytes, size, 0, &error);
    if (source)
        made->archive = zip_open_from_source(source, ZIP_RDONLY, &error);
    if (!made->archive) {
        status = vem_i_fail(run, VEM_BAD_DATA,
                            "%s is not an .npz file, or it is broken or truncated: %s.",
                            name, zip_error_strerror(&error));
        if (source)
            zip_source_free(source);
        vem_i_npz_close(made);
    } else {
        *npz = made;
    }
    zip_error_fini(&error);
    return status;
}

vem_status vem_i_npz_open(vem_i_run *run, const char *path, vem_i_npz **npz)
{
    vem_i_file file;
    vem_status status = vem_i_file_open(run, path, &file);
    if (status != VEM_OK)
        return status;
    status = vem_i_npz_parse(run, path, file.bytes, file.size, npz);
    if (status == VEM_OK)
        (*npz)->file = file;
    else
        vem_i_file_close(&file);
    return status;
}

/* The archive's number of an array; -1: none. */
static zip_int64_t locate(const vem_i_npz *npz, const char *name)
{
    char entry[128];
    snprintf(entry, sizeof entry, "%s.npy", name);
    return zip_name_locate(npz->archive, entry, 0);
}

int vem_i_npz_has(const vem_i_npz *npz, const char *name)
{
    return locate(npz, name) >= 0;
}

int vem_i_npz_is_stats(const vem_i_npz *npz)
{
    return vem_i_npz_has(npz, "mass") &&
           (vem_i_npz_has(npz, "first") || vem_i_npz_has(npz, "about"));
}

/* Of an entry. */
static void release(char *bytes, vem_i_mapping *spill)
{
    if (!spill)
        vem_i_free(bytes);
    vem_i_mapping_free(spill);
}

/* An entry's bytes, whole and with the right checksum: in memory from vem_i_alloc, or in
 * *spill. */
static vem_status read_entry(vem_i_run *run, vem_i_npz *npz, const char *label,
                             zip_uint64_t index, char **bytes, vem_i_mapping **spill,
                             size_t *size)
{
    zip_stat_t info;
    const zip_uint64_t needed = ZIP_STAT_SIZE | ZIP_STAT_COMP_SIZE;
    if (zip_stat_index(npz->archive, index, 0, &info) != 0 ||
        (info.valid & needed) != needed || info.comp_size > npz->size ||
        info.size / MOST_SHRINK > info.comp_size)
        return vem_i_fail(run, VEM_BAD_DATA, "%s is broken: its size makes no sense.",
                          label);
    if ((info.valid & ZIP_STAT_COMP_METHOD) && info.comp_method != ZIP_CM_STORE &&
        info.comp_method != ZIP_CM_DEFLATE)
        return vem_i_fail(
            run, VEM_UNSUPPORTED,
            "%s is compressed in a way that numpy does not use (method %d).", label,
            (int)info.comp_method);
    char *made;
    vem_status status = vem_i_spill_take(run, &made, info.size, 1, spill);
    if (status != VEM_OK)
        return status;
    zip_file_t *entry = zip_fopen_index(npz->archive, index, 0);
    zip_uint64_t got = 0;
    zip_int64_t step = entry ? 1 : -1;
    while (step > 0 && got < info.size) {
        const zip_uint64_t left = info.size - got;
        step = zip_fread(entry, made + got, left < PIECE ? left : PIECE);
        if (step > 0)
            got += (zip_uint64_t)step;
        vem_i_residence_check(run);
    }
    char beyond; /* the checksum is tested when the end is met */
    const int whole = step > 0 && zip_fread(entry, &beyond, 1) == 0;
    if (entry)
        zip_fclose(entry);
    if (!whole) {
        release(made, *spill);
        return vem_i_fail(run, VEM_BAD_DATA,
                          "%s is broken: its %" PRIu64
                          " bytes cannot be read, or their checksum is wrong.",
                          label, (uint64_t)info.size);
    }
    *bytes = made;
    *size = info.size;
    return VEM_OK;
}

/* Values of a Fortran-order array of 3 or 4 dimensions, moved to C order. */
static vem_status to_c_order(vem_i_run *run, const vem_i_npy *npy, char **values)
{
    const size_t width = vem_i_dtype_bytes(npy->type);
    vem_status status = vem_i_take(run, values, npy->bytes, 1);
    if (status != VEM_OK)
        return status;
    int64_t index[4] = {0};
    for (size_t to = 0; to < npy->bytes; to += width) {
        int64_t from = 0;
        for (int i = npy->rank - 1; i >= 0; i--)
            from = from * npy->dims[i] + index[i];
        memcpy(*values + to, npy->values + (size_t)from * width, width);
        for (int i = npy->rank - 1; i >= 0 && ++index[i] == npy->dims[i]; i--)
            index[i] = 0;
    }
    return VEM_OK;
}

/* `data` takes over `bytes`, or the spill they are in, on success. */
static vem_status fill(vem_i_run *run, const char *label, const vem_i_npy *npy,
                       char *bytes, vem_i_mapping *spill, vem_data *data)
{
    const int64_t width = (int64_t)vem_i_dtype_bytes(npy->type);
    int64_t columns = 1;
    for (int i = 1; i < npy->rank; i++)
        columns *= npy->dims[i]; /* fits: the array itself does */
    if (columns > INT32_MAX)
        return vem_i_fail(run, VEM_BAD_DATA,
                          "%s has %" PRId64 " columns, but at most %" PRId32
                          " can be used.",
                          label, columns, INT32_MAX);
    data->type = npy->type;
    data->swapped = npy->swapped;
    data->n = npy->dims[0];
    data->d = (int32_t)columns;
    data->format = "npz";
    data->base = npy->values;
    data->row_stride = width * columns;
    data->column_stride = width;
    if (npy->fortran && npy->rank == 2) {
        data->row_stride = width;
        data->column_stride = width * data->n;
    } else if (npy->fortran && npy->rank > 2) {
        char *values;
        vem_status status = to_c_order(run, npy, &values);
        if (status != VEM_OK)
            return status;
        release(bytes, spill);
        spill = NULL;
        bytes = values;
        data->base = values;
    }
    data->owned = spill ? NULL : bytes;
    data->mapping = spill;
    return VEM_OK;
}

/* Behind the header, whose length it says: characters of one byte, or of four. */
vem_status vem_i_npz_text(vem_i_run *run, vem_i_npz *npz, const char *name, char *out,
                          size_t size)
{
    char label[400], *bytes = NULL;
    vem_i_mapping *spill = NULL;
    size_t length = 0, used = 0;
    snprintf(label, sizeof label, "Array %.60s of %.300s", name, npz->name);
    const zip_int64_t index = locate(npz, name);
    if (index < 0)
        return vem_i_fail(run, VEM_BAD_DATA, "%s holds no array named %s.", npz->name,
                          name);
    vem_status status =
        read_entry(run, npz, label, (zip_uint64_t)index, &bytes, &spill, &length);
    if (status != VEM_OK)
        return status;
    const unsigned char *u = (const unsigned char *)bytes;
    const size_t begin = length < 10 ? length : 10 + ((size_t)u[8] | (size_t)u[9] << 8);
    for (size_t i = begin; i < length && used + 1 < size; i++)
        if (u[i] >= 'a' && u[i] <= 'z')
            out[used++] = (char)u[i];
    out[used] = '\0';
    release(bytes, spill);
    return VEM_OK;
}

vem_status vem_i_npz_get(vem_i_run *run, vem_i_npz *npz, const char *name,
                         vem_data **data, int *rank, int64_t dims[4])
{
    char label[400];
    snprintf(label, sizeof label, "Array %.60s of %.300s", name, npz->name);
    const zip_int64_t index = locate(npz, name);
    if (index < 0)
        return vem_i_fail(run, VEM_BAD_DATA, "%s holds no array named %s.", npz->name,
                          name);
    char *bytes = NULL;
    vem_i_mapping *spill = NULL;
    size_t size = 0;
    vem_status status =
        read_entry(run, npz, label, (zip_uint64_t)index, &bytes, &spill, &size);
    if (status != VEM_OK)
        return status;
    vem_i_npy npy = {0};
    vem_data *made = NULL;
    status = vem_i_npy_open(run, label, bytes, size, &npy);
    *rank = npy.rank;
    memcpy(dims, npy.dims, sizeof npy.dims);
    if (status == VEM_OK)
        status = vem_i_data_new(run, &made);
    if (status == VEM_OK)
        status = fill(run, label, &npy, bytes, spill, made);
    if (status != VEM_OK) {
        vem_data_free(made);
        release(bytes, spill);
        return status;
    }
    *data = made;
    return VEM_OK;
}

void vem_i_npz_close(vem_i_npz *npz)
{
    if (!npz)
        return;
    if (npz->archive)
        zip_discard(npz->archive);
    vem_i_file_close(&npz->file);
    vem_i_free(npz->name);
    vem_i_free(npz);
}
