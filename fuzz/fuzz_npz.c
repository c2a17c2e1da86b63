#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    static const char *const names[] = {"means", "weights", "variances", "meta", "rows"};
    vem_i_npz *npz;
    if (vem_i_npz_parse(&fuzz_run, "fuzz.npz", bytes, size, &npz) != VEM_OK)
        return 0;
    for (int i = 0; i < 5; i++) {
        vem_data *data;
        int rank;
        int64_t dims[4];
        if (!vem_i_npz_has(npz, names[i]) ||
            vem_i_npz_get(&fuzz_run, npz, names[i], &data, &rank, dims) != VEM_OK)
            continue;
        fuzz_load(data);
        vem_data_free(data);
    }
    if (vem_i_npz_is_sparse(npz)) {
        vem_data data = {0};
        fuzz_finish(vem_i_npz_get_sparse(&fuzz_run, "fuzz.npz", npz, &data), &data);
    }
    vem_i_npz_close(npz);
    return 0;
}
