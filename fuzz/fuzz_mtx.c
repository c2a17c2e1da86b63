#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    vem_data data = {0};
    fuzz_finish(vem_i_mtx_parse(&fuzz_run, "fuzz", (const char *)bytes, size, &data),
                &data);
    return 0;
}
