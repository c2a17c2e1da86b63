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
    PIECE = 1 << 20,       /* bytes read at a time */
    LONGEST_HEAD = 1 << 17 /* of an array that is not held */
};
static const size_t LET_GO =
    1 << 25; /* bytes of a mapped file that are kept behind a stream */

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

/* Can the entry be what it says? */
static vem_status check_entry(vem_i_run *run, const vem_i_npz *npz, const char *label,
                              zip_uint64_t index, uint64_t *size)
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
    *size = info.size;
    return VEM_OK;
}

static vem_status refuse_entry(vem_i_run *run, const char *label, uint64_t size)
{
    return vem_i_fail(run, VEM_BAD_DATA,
                      "%s is broken: its %" PRIu64
                      " bytes cannot be read, or their checksum is wrong.",
                      label, size);
}

/* An entry's bytes, whole and with the right checksum: in memory from vem_i_alloc, or in
 * *spill. */
static vem_status read_entry(vem_i_run *run, vem_i_npz *npz, const char *label,
                             zip_uint64_t index, char **bytes, vem_i_mapping **spill,
                             size_t *size)
{
    uint64_t all;
    char *made;
    vem_status status = check_entry(run, npz, label, index, &all);
    if (status == VEM_OK)
        status = vem_i_spill_take(run, &made, all, 1, spill);
    if (status != VEM_OK)
        return status;
    zip_file_t *entry = zip_fopen_index(npz->archive, index, 0);
    zip_uint64_t got = 0;
    zip_int64_t step = entry ? 1 : -1;
    while (step > 0 && got < all) {
        const zip_uint64_t left = all - got;
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
        return refuse_entry(run, label, all);
    }
    *bytes = made;
    *size = all;
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

/* ---- arrays that are not held ---- */

struct vem_i_npz_stream {
    vem_i_run *run;
    const vem_i_npz *npz;
    zip_file_t *entry;
    vem_i_npy npy;
    uint64_t size; /* of the entry */
    int64_t left;  /* values */
    size_t passed; /* bytes since pages of the file were let go */
    char label[400];
    char bytes[VEM_I_STREAM * sizeof(double)];
};

static int read_exactly(zip_file_t *entry, char *bytes, uint64_t size)
{
    for (uint64_t got = 0; got < size;) {
        const zip_int64_t step = zip_fread(entry, bytes + got, size - got);
        if (step <= 0)
            return 0;
        got += (uint64_t)step;
    }
    return 1;
}

/* Says what the array is; the entry is then at its first value. */
static vem_status read_head(vem_i_npz_stream *s, zip_uint64_t index)
{
    char *head = NULL;
    const uint64_t count = s->size < LONGEST_HEAD ? s->size : LONGEST_HEAD;
    vem_status status = vem_i_take_zeroed(s->run, &head, LONGEST_HEAD, 1);
    if (status != VEM_OK)
        return status;
    s->entry = zip_fopen_index(s->npz->archive, index, 0);
    if (!s->entry || !read_exactly(s->entry, head, count)) {
        status = refuse_entry(s->run, s->label, s->size);
    } else if ((unsigned char)head[6] > 1 && (head[10] || head[11])) {
        status =
            vem_i_fail(s->run, VEM_BAD_DATA,
                       "%s is broken: its .npy header cannot be understood.", s->label);
    } else {
        status = vem_i_npy_open(s->run, s->label, head, s->size, &s->npy);
    }
    const uint64_t skipped = status == VEM_OK ? (uint64_t)(s->npy.values - head) : 0;
    if (s->entry)
        zip_fclose(s->entry);
    s->entry = NULL;
    if (status == VEM_OK) {
        s->entry = zip_fopen_index(s->npz->archive, index, 0);
        if (!s->entry || !read_exactly(s->entry, head, skipped))
            status = refuse_entry(s->run, s->label, s->size);
    }
    vem_i_free(head);
    s->npy.values = NULL;
    return status;
}

vem_status vem_i_npz_stream_open(vem_i_run *run, const vem_i_npz *npz, const char *name,
                                 vem_i_npz_stream **stream, int *rank, int64_t *length)
{
    vem_i_npz_stream *s;
    const zip_int64_t index = locate(npz, name);
    if (index < 0)
        return vem_i_fail(run, VEM_BAD_DATA, "%s holds no array named %s.", npz->name,
                          name);
    vem_status status = vem_i_take_structs(run, &s, 1, sizeof *s);
    if (status != VEM_OK)
        return status;
    s->run = run;
    s->npz = npz;
    snprintf(s->label, sizeof s->label, "Array %.60s of %.300s", name, npz->name);
    status = check_entry(run, npz, s->label, (zip_uint64_t)index, &s->size);
    if (status == VEM_OK)
        status = read_head(s, (zip_uint64_t)index);
    *rank = s->npy.rank;
    *length = s->left = s->npy.dims[0];
    if (status == VEM_OK)
        *stream = s;
    else
        vem_i_npz_stream_close(s);
    return status;
}

vem_status vem_i_npz_stream_next(vem_i_npz_stream *s, int64_t count, double *values)
{
    const int64_t width = (int64_t)vem_i_dtype_bytes(s->npy.type);
    const uint64_t bytes = (uint64_t)(count * width);
    char beyond[64];
    int whole = read_exactly(s->entry, s->bytes, bytes);
    s->left -= count;
    if (whole && s->left == 0) { /* the checksum is tested when the end is met */
        zip_int64_t step;
        while ((step = zip_fread(s->entry, beyond, sizeof beyond)) > 0)
            ;
        whole = step == 0;
    }
    if (!whole)
        return refuse_entry(s->run, s->label, s->size);
    const vem_data some = {.type = s->npy.type,
                           .swapped = s->npy.swapped,
                           .n = count,
                           .d = 1,
                           .base = s->bytes,
                           .row_stride = width,
                           .column_stride = width};
    vem_i_data_load(&some, 0, count, VEM_DOUBLE, values, 1);
    s->passed += bytes;
    if (s->passed > LET_GO) {
        vem_i_mapping_rest(s->npz->file.mapping);
        s->passed = 0;
    }
    return VEM_OK;
}

void vem_i_npz_stream_close(vem_i_npz_stream *s)
{
    if (s && s->entry)
        zip_fclose(s->entry);
    vem_i_free(s);
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
