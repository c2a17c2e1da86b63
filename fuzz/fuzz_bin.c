#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    static const vem_dtype types[] = {VEM_FLOAT32, VEM_UINT8, VEM_INT8};
    for (int i = 0; i < 3; i++) {
        vem_data data = {0};
        fuzz_finish(vem_i_bin_parse(&fuzz_run, "fuzz", (const char *)bytes, size,
                                    types[i], &data),
                    &data);
    }
    return 0;
}
