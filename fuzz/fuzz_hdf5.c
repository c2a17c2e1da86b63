/* HDF5: each input describes a dataset of a file in memory: type, rank, sizes, chunks,
 * compression, what is in it. The bytes of the format are the business of libhdf5; ours is
 * whatever such a file may hold. */
#include <hdf5.h>

#include "edits.h"
#include "fuzz.h"

static hid_t made;

hid_t __wrap_H5Fopen(const char *path, unsigned flags, hid_t access);
hid_t __wrap_H5Fopen(const char *path, unsigned flags, hid_t access)
{
    (void)path;
    (void)flags;
    (void)access;
    return H5Freopen(made);
}

vem_status __wrap_vem_i_file_open(vem_i_run *ctx, const char *path, vem_i_file *file);
vem_status __wrap_vem_i_file_open(vem_i_run *ctx, const char *path, vem_i_file *file)
{
    (void)ctx;
    (void)path;
    *file = (vem_i_file){0};
    return VEM_OK;
}

/* A type of the file; the caller closes it. */
static hid_t choose_type(fuzz_input *in)
{
    const hid_t plain[] = {H5T_IEEE_F32LE, H5T_IEEE_F64BE,    H5T_STD_U8LE,
                           H5T_STD_I8LE,   H5T_STD_I16BE,     H5T_STD_U16LE,
                           H5T_STD_I32LE,  H5T_STD_U32LE,     H5T_STD_I64LE,
                           H5T_STD_U64LE,  H5T_C_S1,          H5T_STD_B8LE,
                           H5T_UNIX_D32LE, H5T_NATIVE_LDOUBLE};
    const unsigned which = fuzz_byte(in) % 20;
    if (which < 14)
        return H5Tcopy(plain[which]);
    if (which == 14)
        return H5Tvlen_create(H5T_STD_I32LE);
    if (which == 15) {
        const hsize_t dims[] = {1 + fuzz_byte(in) % 3};
        return H5Tarray_create2(H5T_IEEE_F32LE, 1, dims);
    }
    if (which == 16) {
        const hid_t type = H5Tcreate(H5T_COMPOUND, 8);
        H5Tinsert(type, "x", 0, H5T_IEEE_F32LE);
        return type;
    }
    if (which == 17) { /* half a float */
        const hid_t type = H5Tcopy(H5T_IEEE_F32LE);
        H5Tset_fields(type, 15, 10, 5, 0, 10);
        H5Tset_size(type, 2);
        return type;
    }
    const hid_t type = H5Tcopy(which == 18 ? H5T_STD_I32LE : H5T_STD_U64BE);
    H5Tset_precision(type, 1 + fuzz_byte(in) % 64);
    H5Tset_size(type, 1 + fuzz_byte(in) % 16);
    return type;
}

static hid_t choose_space(fuzz_input *in, int *rank, hsize_t dims[4])
{
    static const hsize_t large[] = {0, 1, 4096, (hsize_t)1 << 31, (hsize_t)1 << 40};
    hsize_t most[4];
    *rank = (int)(fuzz_byte(in) % 6);
    if (*rank > 4)
        return H5Screate(H5S_NULL);
    for (int i = 0; i < *rank; i++) {
        const unsigned how = fuzz_byte(in);
        dims[i] = how < 200 ? how % 12 : large[how % 5];
        most[i] = how & 1 ? H5S_UNLIMITED : dims[i];
    }
    return *rank == 0 ? H5Screate(H5S_SCALAR) : H5Screate_simple(*rank, dims, most);
}

static void make_dataset(fuzz_input *in)
{
    int rank = 0;
    hsize_t dims[4] = {0}, chunk[4];
    const hid_t type = choose_type(in), space = choose_space(in, &rank, dims);
    const hid_t plan = H5Pcreate(H5P_DATASET_CREATE);
    const unsigned how = fuzz_byte(in);
    size_t count = 1;
    int small = rank > 0;
    for (int i = 0; i < rank && i < 4; i++) {
        chunk[i] = 1 + fuzz_byte(in) % 16;
        small = small && dims[i] <= 4096;
        count *= small ? (size_t)dims[i] : 1;
    }
    if (how & 1 && rank > 0 && rank < 5)
        H5Pset_chunk(plan, rank, chunk);
    if (how & 2)
        H5Pset_shuffle(plan);
    if (how & 4)
        H5Pset_deflate(plan, 1);
    if (how & 8)
        H5Pset_layout(plan, H5D_COMPACT);
    const hid_t set = H5Dcreate2(made, "x", type, space, H5P_DEFAULT, plan, H5P_DEFAULT);
    if (set >= 0 && how & 16 && small && count > 0 && count <= 4096 &&
        H5Tget_class(type) <= H5T_FLOAT) {
        static double values[4096];
        for (size_t i = 0; i < count; i++)
            values[i] = (double)fuzz_byte(in) - 100;
        H5Dwrite(set, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, values);
    }
    if (set >= 0)
        H5Dclose(set);
    H5Pclose(plan);
    if (space >= 0)
        H5Sclose(space);
    if (type >= 0)
        H5Tclose(type);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    fuzz_input in = {bytes, size};
    vem_data data = {0};
    H5Eset_auto2(H5E_DEFAULT, NULL, NULL);
    const hid_t core = H5Pcreate(H5P_FILE_ACCESS);
    H5Pset_fapl_core(core, 4096, 0);
    made = H5Fcreate("fuzz.h5", H5F_ACC_TRUNC, H5P_DEFAULT, core);
    if (made < 0)
        abort();
    const unsigned name = fuzz_byte(&in);
    if (name & 1)
        make_dataset(&in);
    if (name & 2) {
        const hid_t group = H5Gcreate2(made, "g", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
        H5Gclose(group);
    }
    fuzz_finish(vem_i_hdf5_read(&fuzz_run, "fuzz.h5", (name & 12) == 12 ? "g" : "/x",
                                &data),
                &data);
    H5Fclose(made);
    H5Pclose(core);
    return 0;
}
