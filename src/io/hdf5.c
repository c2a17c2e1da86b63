/* FILE.h5:/path, an optional component. The dataset is read into memory, or where that is too
 * small into a temporary file. */
#include "io/io.h"

#ifndef VEM_HAVE_HDF5

vem_status vem_i_hdf5_read(vem_i_run *run, const char *file, const char *dataset,
                           vem_data *data)
{
    (void)data;
    return vem_i_fail(
        run, VEM_UNSUPPORTED,
        "%s:%s cannot be read: this build of vem is without HDF5. Build it with "
        "the HDF5 library installed, or save the data as .npy.",
        file, dataset);
}

#else

#include <hdf5.h>
#include <inttypes.h>
#include <pthread.h>
#include <unistd.h>

#include "base/memory.h"
#include "base/spill.h"

/* The type in memory for a type in the file, or -1. Narrow types widen. */
static hid_t memory_type(hid_t stored, vem_dtype *type)
{
    const size_t bytes = H5Tget_size(stored);
    const int is_unsigned = H5Tget_sign(stored) == H5T_SGN_NONE;
    switch (H5Tget_class(stored)) {
    case H5T_FLOAT:
        *type = bytes <= 4 ? VEM_FLOAT32 : VEM_FLOAT64;
        return bytes <= 4 ? H5T_NATIVE_FLOAT : H5T_NATIVE_DOUBLE;
    case H5T_INTEGER:
        if (is_unsigned && bytes == 1) {
            *type = VEM_UINT8;
            return H5T_NATIVE_UINT8;
        }
        if (bytes > 8 || (is_unsigned && bytes == 8))
            return -1;
        *type = bytes < 4 || (bytes == 4 && !is_unsigned) ? VEM_INT32 : VEM_INT64;
        return *type == VEM_INT32 ? H5T_NATIVE_INT32 : H5T_NATIVE_INT64;
    default: return -1;
    }
}

static vem_status check_shape(vem_i_run *run, const char *file, const char *dataset,
                              hid_t set, hid_t space, vem_data *data)
{
    hsize_t dims[2] = {1, 1};
    const int rank = H5Sget_simple_extent_ndims(space);
    if (rank < 1 || rank > 2)
        return vem_i_fail(
            run, VEM_BAD_DATA,
            "%s:%s has %d dimensions, but 1 (one column) or 2 (rows and columns) "
            "are needed.",
            file, dataset, rank);
    H5Sget_simple_extent_dims(space, dims, NULL);
    if (dims[0] < 1 || dims[1] < 1 || dims[1] > INT32_MAX)
        return vem_i_fail(run, VEM_BAD_DATA,
                          "%s:%s has %" PRIu64 " rows and %" PRIu64
                          " columns, but at least 1 of each (and at most %" PRId32
                          " columns) are needed.",
                          file, dataset, (uint64_t)dims[0], (uint64_t)dims[1], INT32_MAX);
    uint64_t bytes;
    if (__builtin_mul_overflow((uint64_t)dims[0], (uint64_t)dims[1], &bytes) ||
        __builtin_mul_overflow(bytes, vem_i_dtype_bytes(data->type), &bytes) ||
        bytes > INT64_MAX || bytes / 4096 > H5Dget_storage_size(set))
        return vem_i_fail(run, VEM_BAD_DATA,
                          "%s:%s claims %" PRIu64 " rows of %" PRIu64
                          " columns, but holds only %" PRIu64 " bytes.",
                          file, dataset, (uint64_t)dims[0], (uint64_t)dims[1],
                          (uint64_t)H5Dget_storage_size(set));
    data->n = (int64_t)dims[0];
    data->d = (int32_t)dims[1];
    return VEM_OK;
}

/* Rows of a piece: some megabytes, and whole chunks where the file is cut into such. */
static int64_t piece_rows(hid_t set, const vem_data *data)
{
    const int64_t row = data->d * (int64_t)vem_i_dtype_bytes(data->type);
    int64_t rows = ((int64_t)8 << 20) / row;
    hsize_t chunk[2] = {1, 1};
    const hid_t layout = H5Dget_create_plist(set);
    if (layout >= 0 && H5Pget_layout(layout) == H5D_CHUNKED &&
        H5Pget_chunk(layout, 2, chunk) > 0 && chunk[0] < (hsize_t)data->n)
        rows -= rows % (int64_t)chunk[0];
    if (layout >= 0)
        H5Pclose(layout);
    return rows > (int64_t)chunk[0] ? rows : (int64_t)chunk[0];
}

/* Piece by piece: what the library holds meanwhile stays small. */
static int read_pieces(vem_i_run *run, hid_t set, hid_t type, hid_t space,
                       const vem_data *data, char *values)
{
    const int rank = H5Sget_simple_extent_ndims(space);
    const size_t row = (size_t)data->d * vem_i_dtype_bytes(data->type);
    const int64_t rows = piece_rows(set, data);
    for (int64_t i = 0; i < data->n; i += rows) {
        const hsize_t start[2] = {(hsize_t)i, 0};
        const hsize_t count[2] = {(hsize_t)(data->n - i < rows ? data->n - i : rows),
                                  (hsize_t)data->d};
        const hid_t piece = H5Screate_simple(rank, count, NULL);
        if (piece < 0)
            return 0;
        const int done =
            H5Sselect_hyperslab(space, H5S_SELECT_SET, start, NULL, count, NULL) >= 0 &&
            H5Dread(set, type, piece, space, H5P_DEFAULT, values + (size_t)i * row) >= 0;
        H5Sclose(piece);
        if (!done)
            return 0;
        vem_i_residence_check(run);
    }
    return 1;
}

static vem_status read_dataset(vem_i_run *run, const char *file, const char *dataset,
                               hid_t set, hid_t stored, hid_t space, vem_data *data)
{
    const hid_t type = memory_type(stored, &data->type);
    if (type < 0)
        return vem_i_fail(
            run, VEM_UNSUPPORTED,
            "%s:%s holds values that are neither floating-point numbers nor "
            "integers of up to 63 bits.",
            file, dataset);
    vem_status status = check_shape(run, file, dataset, set, space, data);
    if (status != VEM_OK)
        return status;
    const size_t width = vem_i_dtype_bytes(data->type);
    char *values;
    vem_i_mapping *spill;
    status =
        vem_i_spill_take(run, &values, (size_t)data->n * (size_t)data->d, width, &spill);
    if (status != VEM_OK)
        return status;
    if (!read_pieces(run, set, type, space, data, values)) {
        if (!spill)
            vem_i_free(values);
        vem_i_mapping_free(spill);
        return vem_i_fail(run, VEM_BAD_DATA, "The values of %s:%s could not be read.",
                          file, dataset);
    }
    data->owned = spill ? NULL : values;
    data->mapping = spill;
    data->base = values;
    data->column_stride = (int64_t)width;
    data->row_stride = data->column_stride * data->d;
    data->format = "hdf5";
    return VEM_OK;
}

static vem_status open_and_read(vem_i_run *run, const char *file, const char *dataset,
                                vem_data *data)
{
    vem_i_file probe = {0}; /* absent files, directories: the usual sentences */
    vem_status status = vem_i_file_open(run, file, &probe);
    if (status != VEM_OK)
        return status;
    vem_i_file_close(&probe);
    const hid_t handle = H5Fopen(file, H5F_ACC_RDONLY, H5P_DEFAULT);
    if (handle < 0)
        return vem_i_fail(run, VEM_BAD_DATA, "%s is not an HDF5 file, or it is broken.",
                          file);
    const hid_t set = H5Dopen2(handle, dataset, H5P_DEFAULT);
    if (set < 0) {
        H5Fclose(handle);
        return vem_i_fail(run, VEM_BAD_DATA, "%s holds no dataset named %s.", file,
                          dataset);
    }
    const hid_t stored = H5Dget_type(set), space = H5Dget_space(set);
    status = read_dataset(run, file, dataset, set, stored, space, data);
    H5Sclose(space);
    H5Tclose(stored);
    H5Dclose(set);
    H5Fclose(handle);
    return status;
}

vem_status vem_i_hdf5_read(vem_i_run *run, const char *file, const char *dataset,
                           vem_data *data)
{
    /* Contexts know nothing of each other, and the library of HDF5 may be one that serves one
     * thread at a time. */
    static pthread_mutex_t turn = PTHREAD_MUTEX_INITIALIZER;
    H5E_auto2_t report;
    void *user;
    pthread_mutex_lock(&turn);
    H5Eget_auto2(H5E_DEFAULT, &report,
                 &user); /* it prints by default; the library must not */
    H5Eset_auto2(H5E_DEFAULT, NULL, NULL);
    vem_status status = open_and_read(run, file, dataset, data);
    H5Eset_auto2(H5E_DEFAULT, report, user);
    H5Eclear2(H5E_DEFAULT); /* what a thread leaves there when it ends is lost */
    pthread_mutex_unlock(&turn);
    return status;
}

#endif
