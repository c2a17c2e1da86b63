/* The floor of the variances, a constraint of the M-step that follows the units of the
 * columns. With E = --floor and v_j the variance of column j over all rows,
 *
 *     iso, iso-shared   s       >= E tr(Cov) / D
 *     diag              s_cj    >= E v_j           shared: s_j
 *     full              Sigma_c >= E diag(v)       as quadratic forms; shared: Sigma
 *
 * Given its scatter S a cluster wants the maximum of  -log|Sigma| - tr(Sigma^-1 S).  With
 * V = diag(v)^(1/2) and  V^-1 S V^-1 = Q diag(l) Q',  that under the constraint is
 *
 *     Sigma = V Q diag(max(l_k, E)) Q' V,
 *
 * so clamping is exact and F still rises; adding a ridge would not be the maximum. Multiplying
 * a column by a factor multiplies V, and so Sigma, and changes no l_k. Families of counts, which
 * have no shape, keep their means from 0 by it (family_counts_laws.c). */
#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "model/family.h"

/* A variance that was clamped is the floor but for rounding. */
static const double AT_FLOOR = 1 + 1e-9;

static double unit_of(const vem_i_constraints *constraints, int64_t j)
{
    return constraints->units ? constraints->units[j] : 1;
}

double vem_i_floor_column(const vem_i_constraints *constraints, int64_t j)
{
    return constraints->floor * unit_of(constraints, j) * unit_of(constraints, j);
}

double vem_i_floor_shared(const vem_i_constraints *constraints, int32_t d)
{
    double most = 0;
    for (int32_t j = 0; j < d; j++)
        most = fmax(most, vem_i_floor_column(constraints, j));
    return most;
}

/* Entry (i, j) times (u_i u_j)^power, power 1 or -1. */
static void rescale(double *matrix, int64_t d, const double *units, int back)
{
    for (int64_t i = 0; i < d; i++)
        for (int64_t j = 0; j < d; j++) {
            const double factor = units[i] * units[j];
            matrix[i * d + j] =
                back ? matrix[i * d + j] * factor : matrix[i * d + j] / factor;
        }
}

double vem_i_floor_covariance(double *matrix, int32_t d,
                              const vem_i_constraints *constraints, double *work)
{
    if (constraints->units)
        rescale(matrix, d, constraints->units, 0);
    const double lacks = vem_i_floor_eigenvalues(matrix, d, constraints->floor, work);
    if (constraints->units)
        rescale(matrix, d, constraints->units, 1);
    return lacks;
}

/* log s + variance / s - 1, s at least the floor. */
static double log_variance(double variance, double floor)
{
    return variance < floor ? log(floor) + variance / floor - 1 : log(variance);
}

int64_t vem_i_covariance_work(const vem_i_family *family, int32_t d)
{
    return family->shape_axes == 2 ? (int64_t)d * d + vem_i_floor_work(d) : 0;
}

double vem_i_floor_log_det(const vem_i_family *family, int32_t columns,
                           const vem_i_constraints *constraints, double mass,
                           const double *scatter, int by_column, double *work)
{
    const int64_t d = columns;
    double sum = 0;
    if (family->shape_axes == 0)
        return (double)d * log_variance(scatter[0] / (mass * (double)d),
                                        vem_i_floor_shared(constraints, columns));
    if (family->shape_axes == 1 || by_column) {
        for (int64_t j = 0; j < d; j++)
            sum += log_variance(scatter[vem_i_square_at(family, j)] / mass,
                                vem_i_floor_column(constraints, j));
        return sum;
    }
    for (int64_t i = 0, at = 0; i < d; i++)
        for (int64_t j = 0; j <= i; j++, at++)
            work[i * d + j] = work[j * d + i] = scatter[at] / mass;
    const double lacks = vem_i_floor_covariance(work, columns, constraints, work + d * d);
    vem_i_cholesky(work, columns);
    for (int64_t j = 0; j < d; j++)
        sum += 2 * log(work[j * d + j]);
    return sum - lacks;
}

/* Least variance at place j of a shape that is no matrix. */
static double least_of(const vem_i_constraints *constraints, const vem_model *model,
                       int64_t j)
{
    return model->family->shape_axes == 0 ? constraints->floor
                                          : vem_i_floor_column(constraints, j);
}

vem_status vem_i_floor_model(vem_i_run *run, const vem_i_constraints *constraints,
                             vem_model *model)
{
    const int64_t values = vem_i_shape_values(model->family, model->d);
    double *work = NULL;
    vem_status status = VEM_OK;
    for (int64_t c = 0; model->family->of_counts && c < model->clusters; c++)
        model->family->of_counts->limit(constraints, model->d,
                                        model->means + c * model->d);
    if (model->family->shape_axes == 2)
        status =
            vem_i_take(run, &work, (size_t)vem_i_floor_work(model->d), sizeof(double));
    for (int32_t s = 0; status == VEM_OK && s < vem_i_model_shapes(model); s++) {
        double *shape = vem_i_cluster_shape(model, s);
        if (work)
            vem_i_floor_covariance(shape, model->d, constraints, work);
        for (int64_t j = 0; !work && j < values; j++)
            shape[j] = fmax(shape[j], least_of(constraints, model, j));
    }
    vem_i_free(work);
    return status;
}

/* Has Sigma an eigenvalue at the floor? `work` takes one matrix. */
static int full_is_floored(const vem_i_constraints *constraints, const double *matrix,
                           int32_t d, double *work)
{
    const int64_t n = d;
    memcpy(work, matrix, (size_t)(n * n) * sizeof *work);
    if (constraints->units)
        rescale(work, n, constraints->units, 0);
    /* An eigenvalue is known to within rounding beside the largest. */
    double trace = 0;
    for (int64_t j = 0; j < n; j++)
        trace += work[j * n + j];
    for (int64_t j = 0; j < n; j++)
        work[j * n + j] -= AT_FLOOR * constraints->floor + 1e-14 * trace;
    return !vem_i_cholesky(work, d);
}

static int is_floored(const vem_i_constraints *constraints, const vem_model *model,
                      int64_t c, double *work)
{
    const double *shape = vem_i_cluster_shape(model, c);
    const int64_t values = vem_i_shape_values(model->family, model->d);
    if (work)
        return full_is_floored(constraints, shape, model->d, work);
    for (int64_t j = 0; j < values; j++)
        if (shape[j] <= AT_FLOOR * least_of(constraints, model, j))
            return 1;
    return 0;
}

vem_status vem_i_floor_count(vem_i_run *run, const vem_i_constraints *constraints,
                             const vem_model *model, int64_t *count, double *share)
{
    double *work;
    vem_status status = vem_i_model_matrix_room(run, model, &work);
    *count = 0;
    *share = 0;
    for (int64_t c = 0; status == VEM_OK && c < model->clusters; c++)
        if (is_floored(constraints, model, c, work)) {
            ++*count;
            *share += vem_i_model_share(model, c);
        }
    vem_i_free(work);
    return status;
}
