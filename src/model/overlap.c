/* The Bhattacharyya coefficient of two clusters: with S = (Sigma_a + Sigma_b) / 2 and delta the
 * difference of the means,
 *
 *     exp(-delta' S^-1 delta / 8) (|Sigma_a| |Sigma_b|)^(1/4) / |S|^(1/2),
 *
 * which is 1 for equal clusters and 0 for disjoint ones (diagonals of full covariances with
 * more than FULL_MOST columns). Families of counts have their own (model/counts.h). */
#include "model/overlap.h"

#include <math.h>
#include <string.h>

#include "model/family.h"
#include "model/units.h"

/* Three factorisations of D^3 / 3 operations a cluster: at 64 columns what 4,000 rows of
 * that width cost by their distances alone. Beyond, the table would wait for a number that
 * few look at. */
enum { FULL_MOST = 64 };

/* log of the coefficient for diagonal covariances. */
static double overlap_diagonal(const vem_model *m, int64_t a, int64_t b)
{
    double sum = 0;
    for (int32_t j = 0; j < m->d; j++) {
        const double va = vem_i_model_covariance(m, a, j, j);
        const double vb = vem_i_model_covariance(m, b, j, j), v = (va + vb) / 2;
        const double off = m->means[a * m->d + j] - m->means[b * m->d + j];
        sum -= off * off / v / 8 + 0.5 * log(v / sqrt(va) / sqrt(vb));
    }
    return sum;
}

/* Half the log of a determinant, from a copy of the matrix; the factor stays in `work`. */
static double half_log_det(double *work, int32_t d)
{
    double sum = 0;
    if (!vem_i_cholesky(work, d))
        return NAN;
    for (int64_t j = 0; j < d; j++)
        sum += log(work[j * d + j]);
    return sum;
}

static double overlap_full(const vem_model *m, int64_t a, int64_t b, double *work)
{
    const int64_t d = m->d, matrix = d * d;
    const double *sa = vem_i_cluster_shape(m, a), *sb = vem_i_cluster_shape(m, b);
    double *off = work + matrix, sum = 0;
    memcpy(work, sa, (size_t)matrix * sizeof *work);
    const double la = half_log_det(work, m->d);
    memcpy(work, sb, (size_t)matrix * sizeof *work);
    const double lb = half_log_det(work, m->d);
    for (int64_t i = 0; i < matrix; i++)
        work[i] = (sa[i] + sb[i]) / 2;
    const double l = half_log_det(work, m->d);
    for (int64_t j = 0; j < d; j++) { /* forward substitution */
        off[j] = m->means[a * d + j] - m->means[b * d + j];
        for (int64_t k = 0; k < j; k++)
            off[j] -= work[j * d + k] * off[k];
        off[j] /= work[j * d + j];
        sum += off[j] * off[j];
    }
    return (la + lb) / 2 - l - sum / 8;
}

static int is_full(const vem_model *model)
{
    return vem_i_takes_products(model->family) && model->d <= FULL_MOST;
}

size_t vem_i_clusters_overlap_room(const vem_model *model)
{
    const size_t d = (size_t)model->d;
    return is_full(model) ? d * (d + 1) : 0;
}

double vem_i_clusters_overlap(const vem_model *model, int64_t a, int64_t b, double *work)
{
    if (model->family->of_counts)
        return exp(
            model->family->of_counts->log_affinity(model->means + a * model->d,
                                                   model->means + b * model->d, model->d,
                                                   fmax(vem_i_model_total(model), 1)));
    return exp(is_full(model) ? overlap_full(model, a, b, work)
                              : overlap_diagonal(model, a, b));
}
