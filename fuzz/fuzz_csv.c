#include "fuzz.h"

/* The first byte chooses the separator and the columns; the rest is the table. */
int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    static const char separators[] = {0, ',', '\t', ' '};
    static const char *const columns[] = {NULL, "2,1", "x", "1-3"};
    static const char *const ids[] = {NULL, "1", "name", "2"};
    if (size < 1)
        return 0;
    const vem_read_options options = {.size = sizeof options,
                                      .columns = columns[bytes[0] >> 2 & 3],
                                      .id = ids[bytes[0] >> 4 & 3]};
    vem_data data = {0};
    fuzz_finish(vem_i_csv_parse(&fuzz_ctx, "fuzz.csv", (const char *)bytes + 1, size - 1,
                                separators[bytes[0] & 3], &options, &data),
                &data);
    return 0;
}
