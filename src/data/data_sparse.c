/* Sparse rows of the caller's arrays, as data of their own. */
#include <inttypes.h>

#include "base/memory.h"
#include "data/data.h"

static vem_status check_starts(vem_i_run *run, int64_t n, const int64_t *starts)
{
    if (starts[0] != 0)
        return vem_i_fail(run, VEM_BAD_DATA,
                          "The sparse rows begin at value %" PRId64 ", but it must be 0.",
                          starts[0]);
    for (int64_t i = 0; i < n; i++)
        if (starts[i + 1] < starts[i])
            return vem_i_fail(run, VEM_BAD_DATA,
                              "Sparse row %" PRId64 " ends at value %" PRId64
                              ", before its begin at %" PRId64 ".",
                              i + 1, starts[i + 1], starts[i]);
    return VEM_OK;
}

vem_status vem_data_sparse(vem_ctx *ctx, int64_t n, int32_t d, const int64_t *starts,
                           const int32_t *columns, const double *values, vem_data **data)
{
    VEM_I_NEED(ctx, ctx, starts, columns, values, data);
    vem_i_run *run = vem_i_within(ctx, &(vem_i_verb){0});
    vem_i_sparse_maker maker = {0};
    vem_i_sparse made_rows = {0};
    vem_data *made = NULL;
    vem_status status =
        vem_i_sparse_begin(run, "The sparse matrix", n, d, n > 0 ? starts[n] : 0, &maker);
    if (status == VEM_OK)
        status = check_starts(run, n, starts);
    for (int64_t i = 0; status == VEM_OK && i < n; i++)
        for (int64_t e = starts[i]; status == VEM_OK && e < starts[i + 1]; e++)
            status = vem_i_sparse_count(&maker, i, columns[e], values[e]);
    if (status == VEM_OK)
        status = vem_i_sparse_allot(&maker);
    for (int64_t i = 0; status == VEM_OK && i < n; i++)
        for (int64_t e = starts[i]; e < starts[i + 1]; e++)
            vem_i_sparse_put(&maker, i, columns[e], values[e]);
    if (status == VEM_OK)
        status = vem_i_data_new(run, &made);
    if (status == VEM_OK)
        status = vem_i_sparse_end(&maker, &made_rows);
    vem_i_sparse_maker_free(&maker);
    if (status != VEM_OK) {
        vem_data_free(made);
        return status;
    }
    ctx->message[0] = '\0';
    made->sparse = made_rows;
    made->type = VEM_FLOAT64;
    made->n = n;
    made->d = d;
    made->format = "memory";
    *data = made;
    return VEM_OK;
}
