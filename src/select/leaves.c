#include "select/leaves.h"

#include <math.h>
#include <string.h>

#include "base/bucket_sort.h"
#include "base/memory.h"

/* First come, first numbered; how many there are. */
static int32_t renumber(int32_t *labels, int64_t n, int32_t groups, int32_t *number)
{
    int32_t count = 0;
    for (int32_t c = 0; c < groups; c++)
        number[c] = -1;
    for (int64_t i = 0; i < n; i++) {
        if (number[labels[i]] < 0)
            number[labels[i]] = count++;
        labels[i] = number[labels[i]];
    }
    return count;
}

vem_status vem_i_leaves_new(vem_i_run *run, const vem_view *view, int32_t *labels,
                            int32_t groups, vem_i_leaves *leaves)
{
    int32_t *number;
    *leaves = (vem_i_leaves){.view = view, .count = view->n};
    if (groups == 0)
        return VEM_OK;
    vem_status status = vem_i_take(run, &number, (size_t)groups, sizeof *number);
    if (status != VEM_OK)
        return status;
    leaves->count = labels ? renumber(labels, view->n, groups, number) : groups;
    vem_i_free(number);
    status = vem_i_take_zeroed(run, &leaves->starts, (size_t)leaves->count + 1,
                               sizeof *leaves->starts);
    if (status == VEM_OK)
        status = vem_i_take(run, &leaves->rows, (size_t)view->n, sizeof *leaves->rows);
    if (status != VEM_OK || !labels)
        return status;
    int64_t *next = leaves->starts + 1; /* where the next row of a leaf goes */
    for (int64_t i = 0; i < view->n; i++)
        next[labels[i]]++;
    vem_i_bucket_places(next, leaves->count, 1, 0, 0);
    for (int64_t i = 0; i < view->n; i++)
        leaves->rows[next[labels[i]]++] = (int32_t)i;
    return VEM_OK;
}

void vem_i_leaves_free(vem_i_leaves *leaves)
{
    vem_i_free(leaves->starts);
    vem_i_free(leaves->rows);
    *leaves = (vem_i_leaves){0};
}

vem_status vem_i_leaves_tell(vem_i_run *run, const vem_i_leaves *leaves, int64_t done)
{
    const vem_progress told = {.phase = "pair",
                               .done = done,
                               .total = leaves->count,
                               .free_energy = NAN};
    return vem_i_progress(run, &told, 0) ? VEM_STOPPED : VEM_OK;
}

double vem_i_leaf_mean(const vem_i_leaves *leaves, int64_t leaf, double *mean)
{
    const vem_view *view = leaves->view;
    double mass = 0;
    memset(mean, 0, (size_t)view->d * sizeof *mean);
    for (int64_t i = 0; i < vem_i_leaf_rows(leaves, leaf); i++) {
        const int64_t row = vem_i_leaf_row(leaves, leaf, i);
        const double *x = vem_i_view_row(view, row), weight = vem_i_view_mass(view, row);
        mass += weight;
        for (int32_t j = 0; j < view->d; j++)
            mean[j] += weight / mass * (x[j] - mean[j]);
    }
    return mass * view->mass_unit;
}
