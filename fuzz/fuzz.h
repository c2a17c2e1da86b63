/* What the fuzz targets share. A target gets bytes, parses them, and on success loads
 * every row as a fit would: a reader that accepted sizes it should not have is found by
 * the sanitizers. */
#ifndef VEM_FUZZ_FUZZ_H
#define VEM_FUZZ_FUZZ_H

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "io/io.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

static vem_ctx fuzz_ctx = {.threads = 1};
static vem_i_watch fuzz_watch = {.where = ""};
static vem_i_run fuzz_run = {.ctx = &fuzz_ctx, .threads = 1, .watch = &fuzz_watch};

static inline void fuzz_load(const vem_data *data)
{
    enum { ROWS = 100 };
    if (data->d > 1 << 20 || (data->sparse.starts && data->n > (1 << 22) / data->d))
        return; /* right, but the buffer here would be large */
    const size_t count = (size_t)(data->n < ROWS ? data->n : ROWS) * (size_t)data->d;
    double *rows = malloc(count * sizeof *rows);
    float *singles = malloc(count * sizeof *singles);
    for (int64_t i = 0; rows && singles && i < data->n; i += ROWS) {
        const int64_t some = data->n - i < ROWS ? data->n - i : ROWS;
        vem_i_data_load(data, i, some, VEM_DOUBLE, rows, data->d);
        vem_i_data_load(data, i, some, VEM_SINGLE, singles, data->d);
    }
    free(rows);
    free(singles);
}

/* After a parse: load, and free what the data own. */
static inline void fuzz_finish(vem_status status, vem_data *data)
{
    if (status == VEM_OK)
        fuzz_load(data);
    else if (fuzz_ctx.message[0] == '\0')
        abort(); /* an error without a sentence */
    vem_i_data_release(data);
    fuzz_ctx.message[0] = '\0';
}

#endif
