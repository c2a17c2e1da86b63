#include "fuzz.h"

/* As the only tensor, and by a name. */
int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    static const char *const names[] = {NULL, "rows"};
    for (int i = 0; i < 2; i++) {
        vem_data data = {0};
        fuzz_finish(vem_i_safetensors_parse(&fuzz_run, "fuzz.safetensors",
                                            (const char *)bytes, size, names[i], &data),
                    &data);
    }
    return 0;
}
