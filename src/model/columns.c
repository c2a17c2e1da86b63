#include "model/columns.h"

#include <math.h>

#include "base/memory.h"

/* Rows are divided by their length before the view has them, so its mean is not in the units
 * of the data, and their values may be as large as doubles are. A sample tells well enough what stands for a missing value. */
static vem_status sample_means(vem_i_run *run, const vem_data *data, double *means)
{
    enum { MOST = 1 << 14 };
    const int64_t count = data->n < MOST ? data->n : MOST;
    const int32_t d = data->d;
    double *row, mass = 0;
    vem_status status = vem_i_take(run, &row, (size_t)d, sizeof *row);
    if (status != VEM_OK)
        return status;
    for (int32_t j = 0; j < d; j++)
        means[j] = 0;
    for (int64_t k = 0; k < count; k++) {
        const int64_t i = vem_i_spaced(data->n, count, k);
        const double weight = data->weights ? data->weights[i] : 1;
        if (!(weight > 0))
            continue;
        vem_i_data_load(data, i, 1, VEM_DOUBLE, row, d);
        mass += weight;
        const double share = weight / mass;
        for (int32_t j = 0; j < d; j++) {
            const double mean = means[j] + share * (row[j] - means[j]);
            /* The difference of two large values is none. */
            means[j] = isfinite(mean) ? mean : share * row[j] + (1 - share) * means[j];
        }
        vem_i_residence_check(run);
    }
    vem_i_free(row);
    return VEM_OK;
}

vem_status vem_i_model_know_columns(vem_i_run *run, const vem_data *data,
                                    const vem_i_points *points, const vem_model *start,
                                    vem_model *model)
{
    vem_i_names table = vem_i_data_table(data);
    if (!table.columns && start) /* what has no names keeps those it had */
        table = vem_i_model_table(start);
    double *sampled = NULL;
    table.means = data->means ? data->means : points->mean;
    vem_status status = VEM_OK;
    if (model->normalizes && !data->means) {
        status = vem_i_take(run, &sampled, (size_t)data->d, sizeof *sampled);
        if (status == VEM_OK)
            status = sample_means(run, data, sampled);
        table.means = sampled;
    }
    vem_i_names_free(&model->table);
    if (status == VEM_OK)
        status = vem_i_names_copy(run, &table, &model->table);
    vem_i_free(sampled);
    return status;
}
