#include "metrics/sizes.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "comm/comm.h"

/* Row after row, as one process adds them up: the sum of all weights, then those of the clusters. */
static void add_sizes(void *arg, void *state)
{
    const vem_i_sized_rows *rows = arg;
    double *total = state, *masses = total + 1;
    for (int64_t i = 0; i < rows->n; i++) {
        const double w = rows->weights ? rows->weights[i] : 1;
        if (rows->labels[i] >= 0)
            masses[rows->labels[i]] += w;
        *total += w;
    }
}

vem_status vem_i_sizes_measure(vem_i_run *run, const vem_i_sized_rows *rows,
                               int32_t clusters, double *masses, vem_i_sizes *sizes)
{
    const size_t values = (size_t)clusters + 1;
    double *sums = NULL, squares = 0;
    vem_i_sized_rows own = *rows;
    const vem_status status = vem_i_take_zeroed(run, &sums, values, sizeof *sums);
    if (status != VEM_OK)
        return status;
    if (run->comm)
        vem_i_comm_turn(run->comm, sums, values * sizeof *sums, add_sizes, &own);
    else
        add_sizes(&own, sums);
    const double total = sums[0];
    memcpy(masses, sums + 1, (size_t)clusters * sizeof *masses);
    vem_i_free(sums);
    sizes->largest = 0;
    for (int32_t c = 0; c < clusters; c++) {
        const double size = masses[c] * clusters / total;
        squares += (size - 1) * (size - 1);
        sizes->largest = fmax(sizes->largest, size);
    }
    sizes->cv = sqrt(squares / clusters);
    sizes->mean = total / clusters;
    return VEM_OK;
}
