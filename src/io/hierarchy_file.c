/* A tree of centres as a file: arrays for programs, a table for data bases.
 *
 * The table is what COPY ... WITH (FORMAT csv, HEADER) of PostgreSQL takes into columns id, parent and
 * vector: nothing between two commas is NULL there, which is what a node at the top has for a parent. */
#include <inttypes.h>

#include "base/memory.h"
#include "base/plain.h"
#include "io/io.h"

static void print_table(FILE *stream, int32_t nodes, int32_t d, const double *vectors,
                        const int32_t *parents)
{
    fputs("id,parent,vector\n", stream);
    for (int64_t i = 0; i < nodes; i++) {
        fprintf(stream, "%" PRId64 ",", i);
        if (parents[i] >= 0)
            fprintf(stream, "%" PRId32, parents[i]);
        /* Vectors of data bases are single, for which nine digits are enough. */
        for (int64_t j = 0; j < d; j++)
            fprintf(stream, "%s%.9g", j == 0 ? ",\"[" : ",", vectors[i * d + j]);
        fputs("]\"\n", stream);
    }
}

vem_status vem_i_centres_write(vem_i_run *run, const char *path, int32_t nodes, int32_t d,
                               const double *vectors, const int32_t *parents,
                               const int32_t *levels)
{
    const vem_i_array arrays[] = {{"vectors", VEM_FLOAT64, vectors, 2, {nodes, d}},
                                  {"parents", VEM_INT32, parents, 1, {nodes}},
                                  {"levels", VEM_INT32, levels, 1, {nodes}}};
    if (vem_i_path_ends(path, ".npz"))
        return vem_i_npz_write(run, path, arrays, (int)VEM_I_COUNT(arrays));
    if (!vem_i_path_ends(path, ".csv") && !vem_i_path_ends(path, ".csv.gz"))
        return vem_i_fail(
            run, VEM_BAD_OPTION,
            "%s cannot be written: a hierarchy is an .npz, .csv or .csv.gz.", path);
    vem_i_output *output;
    const vem_status status = vem_i_output_open(run, path, &output);
    if (status != VEM_OK)
        return status;
    const locale_t before = vem_i_plain_begin();
    print_table(vem_i_output_stream(output), nodes, d, vectors, parents);
    vem_i_plain_end(before);
    return vem_i_output_commit(run, output);
}
