#include "fuzz.h"

#include "data/missing.h"

/* The table as classes that may be words. */
static void fuzz_classes(const char *text, size_t size, char separator,
                         const char *column)
{
    vem_i_classes out = {0};
    const int64_t rows = (int64_t)(size % 7);
    if (vem_i_classes_parse(&fuzz_run, "fuzz.csv", text, size, separator, rows, column,
                            &out) == VEM_OK)
        for (int64_t i = 0; i < out.n; i++)
            if (out.classes[i] < 0 || out.classes[i] >= out.n)
                abort();
    free(out.classes);
    free(out.column);
    fuzz_ctx.message[0] = '\0';
}

static void fuzz_ids(const vem_data *data)
{
    size_t bytes = 0;
    for (int32_t k = 0; k < vem_data_ids(data); k++)
        for (int64_t i = 0; i < vem_data_rows_read(data); i++)
            bytes += strlen(vem_data_id(data, k, i));
    if (bytes > (size_t)1 << 40)
        abort();
}

/* The first byte chooses the separator, the columns and what is kept of the ids; the rest is
 * the table, whose length chooses how headers and missing values are taken. */
int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    static const char separators[] = {0, ',', '\t', ' '};
    static const char *const columns[] = {NULL, "2,1", "x", "1-3"};
    static const char *const ids[] = {NULL, "1", "name", "2,x"};
    if (size < 1)
        return 0;
    const char *text = (const char *)bytes + 1;
    const char separator = separators[bytes[0] & 3];
    const vem_read_options options = {.size = sizeof options,
                                      .columns = columns[bytes[0] >> 2 & 3],
                                      .id = ids[bytes[0] >> 4 & 3],
                                      .keep_ids = bytes[0] >> 6 & 1,
                                      .decimal = bytes[0] >> 7 ? ',' : 0,
                                      .header = (vem_header)(size % 3)};
    vem_data data = {0};
    vem_status status = vem_i_csv_parse(&fuzz_run, "fuzz.csv", text, size - 1, separator,
                                        &options, &data);
    if (status == VEM_OK)
        status = vem_i_missing(&fuzz_run, "fuzz.csv", (vem_missing)(size % 4), 0, NULL, 0,
                               &data);
    if (status == VEM_OK)
        fuzz_ids(&data);
    fuzz_finish(status, &data);
    fuzz_classes(text, size - 1, separator, options.columns);
    return 0;
}
