#include "model/middle.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "data/points.h"
#include "model/units.h"

/* The middle of the clusters: in each column the median of the means of PICKED clusters, one
 * from each of equal slices of the weight. The mean of the means would not do: one cluster on
 * a row at 1e8 would move it by millions, and about such an origin the other rows lose their
 * digits in single precision. */
void vem_i_model_center(const vem_model *model, double *origin)
{
    enum { PICKED = 63 };
    int64_t picked[PICKED];
    double values[PICKED];
    if (model->family->of_counts) { /* which are not moved */
        memset(origin, 0, (size_t)model->d * sizeof *origin);
        return;
    }
    vem_i_pick_by_mass(model->weights, model->clusters, PICKED, picked);
    for (int32_t j = 0; j < model->d; j++) {
        for (int k = 0; k < PICKED; k++)
            values[k] = model->means[picked[k] * model->d + j];
        origin[j] = vem_i_median(values, PICKED, NULL);
    }
}

/* How far rows of this model lie from the origin in column j, where the squares of the parts
 * may be no numbers. */
static double deviation_of(const vem_model *model, const double *origin, int32_t j)
{
    const int64_t d = model->d;
    double deviation = 0;
    for (int64_t c = 0; c < model->clusters; c++)
        deviation = hypot(deviation, sqrt(model->weights[c]) *
                                         hypot(vem_i_model_deviation(model, c, j),
                                               model->means[c * d + j] - origin[j]));
    return deviation;
}

/* The same for all columns: by sums of squares, in one walk through the clusters, where
 * these are numbers far from the ends of their range. */
void vem_i_model_deviations(const vem_model *model, const double *origin,
                            double *deviations)
{
    const int32_t d = model->d;
    memset(deviations, 0, (size_t)d * sizeof *deviations);
    for (int64_t c = 0; c < model->clusters; c++) {
        const double weight = model->weights[c];
        for (int32_t j = 0; j < d; j++) {
            const double away = model->means[c * d + j] - origin[j];
            deviations[j] +=
                weight * (vem_i_model_covariance(model, c, j, j) + away * away);
        }
    }
    for (int32_t j = 0; j < d; j++)
        deviations[j] = deviations[j] > 1e-200 && deviations[j] < 1e200
                            ? sqrt(deviations[j])
                            : deviation_of(model, origin, j);
}

vem_status vem_i_model_extent(vem_i_run *run, const vem_model *model, double *extent)
{
    const size_t d = (size_t)model->d;
    double *deviations;
    const vem_status status = vem_i_take(run, &deviations, 2 * d, sizeof *deviations);
    if (status != VEM_OK)
        return status;
    vem_i_model_center(model, deviations + d);
    vem_i_model_deviations(model, deviations + d, deviations);
    *extent = 0;
    for (size_t j = 0; j < d; j++)
        *extent = fmax(*extent, deviations[j]);
    vem_i_free(deviations);
    return VEM_OK;
}
