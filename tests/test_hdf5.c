/* FILE.h5:/path: types, shapes, pieces, and what is refused; without HDF5, that it is said. */
#include "io_test.h"

#ifndef VEM_HAVE_HDF5

static void is_said(void **state)
{
    (void)state;
    io_refuses(io_path("a.h5:/rows"), VEM_UNSUPPORTED, "without HDF5");
}

#else

#include <hdf5.h>

/* A file with one dataset; `chunk` rows in a chunk (0: not cut). */
static const char *put(const char *file, hid_t stored, hid_t memory, int rank,
                       const hsize_t *dims, hsize_t chunk, const void *values)
{
    static char name[420];
    const char *path = io_path(file);
    const hid_t handle = H5Fcreate(path, H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
    const hid_t space = H5Screate_simple(rank, dims, NULL);
    const hid_t layout = H5Pcreate(H5P_DATASET_CREATE);
    assert_true(handle >= 0 && space >= 0 && layout >= 0);
    const hsize_t cut[3] = {chunk, 1, 1};
    if (chunk)
        assert_true(H5Pset_chunk(layout, rank, cut) >= 0);
    const hid_t set =
        H5Dcreate2(handle, "rows", stored, space, H5P_DEFAULT, layout, H5P_DEFAULT);
    assert_true(set >= 0);
    if (values)
        assert_true(H5Dwrite(set, memory, H5S_ALL, H5S_ALL, H5P_DEFAULT, values) >= 0);
    H5Dclose(set);
    H5Pclose(layout);
    H5Sclose(space);
    H5Fclose(handle);
    snprintf(name, sizeof name, "%s:/rows", path);
    return name;
}

static void types(void **state)
{
    (void)state;
    const double values[6] = {0, 1, 2, 100, 7, 120};
    const struct {
        hid_t stored;
        vem_dtype type;
    } cases[] = {{H5T_IEEE_F32LE, VEM_FLOAT32}, {H5T_IEEE_F64LE, VEM_FLOAT64},
                 {H5T_IEEE_F64BE, VEM_FLOAT64}, {H5T_STD_U8LE, VEM_UINT8},
                 {H5T_STD_I8LE, VEM_INT32},     {H5T_STD_U16LE, VEM_INT32},
                 {H5T_STD_I32BE, VEM_INT32},    {H5T_STD_U32LE, VEM_INT64},
                 {H5T_STD_I64LE, VEM_INT64}};
    const hsize_t dims[2] = {3, 2};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        vem_data *data =
            io_read(put("t.h5", cases[i].stored, H5T_NATIVE_DOUBLE, 2, dims, 0, values));
        assert_int_equal(vem_data_dtype(data), cases[i].type);
        assert_string_equal(vem_data_format(data), "hdf5");
        io_holds(data, 3, 2, values);
        vem_data_free(data);
    }
    io_refuses(put("t.h5", H5T_STD_U64LE, H5T_NATIVE_DOUBLE, 2, dims, 0, values),
               VEM_UNSUPPORTED, "63 bits");
    io_refuses(put("t.h5", H5T_C_S1, H5T_C_S1, 2, dims, 0, "abcdef"), VEM_UNSUPPORTED,
               "neither");
}

static void shapes(void **state)
{
    (void)state;
    const double values[6] = {6, 5, 4, 3, 2, 1};
    const hsize_t line[1] = {6}, cube[3] = {3, 2, 1}, none[2] = {0, 2};
    const hsize_t vast[2] = {1 << 20, 1 << 20}, full[2] = {4096, 1};
    vem_data *data =
        io_read(put("s.h5", H5T_IEEE_F64LE, H5T_NATIVE_DOUBLE, 1, line, 0, values));
    io_holds(data, 6, 1, values);
    vem_data_free(data);
    io_refuses(put("s.h5", H5T_IEEE_F64LE, H5T_NATIVE_DOUBLE, 3, cube, 0, values),
               VEM_BAD_DATA, "3 dimensions");
    io_refuses(put("s.h5", H5T_IEEE_F64LE, H5T_NATIVE_DOUBLE, 2, none, 0, NULL),
               VEM_BAD_DATA, "0 rows and 2 columns");
    data = io_read(put("s.h5", H5T_IEEE_F64LE, H5T_NATIVE_DOUBLE, 1, line, 0, NULL));
    io_holds(data, 6, 1, (const double[]){0, 0, 0, 0, 0, 0}); /* never written: zeros */
    vem_data_free(data);
    /* Chunks that were never written take no room: a small file that claims much is refused. */
    io_refuses(put("s.h5", H5T_IEEE_F64LE, H5T_NATIVE_DOUBLE, 2, vast, 1024, NULL),
               VEM_BAD_DATA, "claims 1048576 rows");
    double many[4096];
    for (int i = 0; i < 4096; i++)
        many[i] = i;
    data = io_read(put("s.h5", H5T_IEEE_F64LE, H5T_NATIVE_DOUBLE, 2, full, 100, many));
    io_holds(data, 4096, 1, many);
    vem_data_free(data);
}

/* More rows than one piece of eight megabytes, whole and in chunks that do not divide it. */
static void pieces(void **state)
{
    (void)state;
    enum { N = 2300, D = 1000 };
    double *values = calloc((size_t)N * D, sizeof *values);
    assert_non_null(values);
    for (int i = 0; i < N * D; i++)
        values[i] = i;
    const hsize_t dims[2] = {N, D};
    for (hsize_t chunk = 0; chunk <= 1; chunk++) {
        const hid_t stored = H5T_IEEE_F64LE;
        vem_data *data =
            io_read(put("p.h5", stored, H5T_NATIVE_DOUBLE, 2, dims, chunk * 700, values));
        io_holds(data, N, D, values);
        vem_data_free(data);
    }
    free(values);
}

static void refused(void **state)
{
    (void)state;
    const double value = 1;
    const hsize_t dims[2] = {1, 1};
    char name[430];
    snprintf(name, sizeof name, "%s:/none", io_path("r.h5"));
    io_refuses(name, VEM_IO_ERROR, "r.h5");
    put("r.h5", H5T_IEEE_F64LE, H5T_NATIVE_DOUBLE, 2, dims, 0, &value);
    io_refuses(name, VEM_BAD_DATA, "holds no dataset named /none");
    io_text("r.h5", "no such thing");
    io_refuses(name, VEM_BAD_DATA, "not an HDF5 file");
}

#endif

int main(void)
{
    const struct CMUnitTest tests[] = {
#ifdef VEM_HAVE_HDF5
        cmocka_unit_test(types),
        cmocka_unit_test(shapes),
        cmocka_unit_test(pieces),
        cmocka_unit_test(refused),
#else
        cmocka_unit_test(is_said),
#endif
    };
    return cmocka_run_group_tests(tests, io_setup, io_teardown);
}
