/* A coreset as .npz: rows, weights and indices. read.c reads it as data. */
#include <string.h>

#include "base/memory.h"
#include "io/io.h"

vem_status vem_coreset_write(vem_ctx *ctx, const vem_data *coreset, const char *path)
{
    VEM_I_NEED(ctx, ctx, "ctx");
    VEM_I_NEED(ctx, coreset, "coreset");
    VEM_I_NEED(ctx, path, "path");
    vem_i_begin(ctx);
    if (!vem_i_path_ends(path, ".npz") && strncmp(path, "/dev/", 5) != 0)
        return vem_i_fail(ctx, VEM_BAD_OPTION,
                          "%s is no name for a coreset: coresets are written as .npz.",
                          path);
    if (!coreset || !coreset->indices)
        return vem_i_fail(ctx, VEM_BAD_OPTION,
                          "Only what vem_coreset made can be written as a coreset.");
    const int64_t n = coreset->n;
    const vem_i_array arrays[3] = {
        {"rows", coreset->type, coreset->base, 2, {n, coreset->d}},
        {"weights", VEM_FLOAT64, coreset->weights, 1, {n}},
        {"indices", VEM_INT64, coreset->indices, 1, {n}},
    };
    return vem_i_npz_write(ctx, path, arrays, 3);
}
