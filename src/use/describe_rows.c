/* Moments and exemplars of rows. Sparse rows are never written out:
 * with W the mass of all rows and W_j of those that have a value in column j,
 *
 *     sum_i w_i (x_ij - m_j)^2       = sum over the values there are + (W - W_j) m_j^2
 *     sum_j (x_ij - mu_j)^2 / v_j    = sum_j mu_j^2 / v_j
 *                                      + sum over the values there are of ((x - mu)^2 - mu^2) / v. */
#include "use/describe_inside.h"

#include "base/memory.h"
#include "base/residence.h"
#include "metrics/chunks.h"
#include "model/contract.h"
#include "model/family.h"
#include "model/units.h"

typedef vem_i_survey survey;

enum {
    BLOCK_VALUES =
        1 << 15, /* 256 KiB of doubles: rows stay in a cache of the second level */
    LOOK = 4096  /* rows between looks at memory */
};

/* A row so far from the mean of its cluster: is it one of the nearest? */
static void take_exemplar(survey *s, int64_t row, double far)
{
    const int64_t c = s->best[row * s->top];
    double *nearness = s->nearness + c * VEM_SHOWN_ROWS;
    int64_t *exemplars = s->clusters[c].exemplars;
    int k = VEM_SHOWN_ROWS;
    while (k > 0 && (exemplars[k - 1] < 0 || far < nearness[k - 1]))
        k--;
    if (k == VEM_SHOWN_ROWS)
        return;
    for (int r = VEM_SHOWN_ROWS - 1; r > k; r--) {
        exemplars[r] = exemplars[r - 1];
        nearness[r] = nearness[r - 1];
    }
    exemplars[k] = row;
    nearness[k] = far;
}

static int are_shares(const survey *s)
{
    return vem_i_has_shares(s->model->family);
}

/* ---- rows written out ---- */

static double distance(const survey *s, int64_t c, const double *x)
{
    const vem_model *m = s->model;
    double far = 0;
    for (int32_t j = 0; j < m->d; j++) {
        const double off = x[j] - m->means[c * m->d + j];
        far += off * off / vem_i_model_covariance(m, c, j, j);
    }
    return far;
}

/* A row of counts as shares of its total; one without counts stays as it is. */
static void to_shares(double *x, int64_t d)
{
    double total = 0;
    for (int64_t j = 0; j < d; j++)
        total += x[j];
    for (int64_t j = 0; total > 0 && j < d; j++)
        x[j] /= total;
}

static vem_status look_at_rows(survey *s, double *sums)
{
    const int64_t d = s->model->d, n = s->data->n;
    const int64_t block = d < BLOCK_VALUES ? BLOCK_VALUES / d : 1;
    double *rows = NULL, *squares = sums + d;
    vem_status status =
        vem_i_take(s->run, &rows, (size_t)block, (size_t)d * sizeof *rows);
    for (int64_t first = 0; status == VEM_OK && first < n; first += block) {
        const int64_t count = n - first < block ? n - first : block;
        vem_i_data_load(s->data, first, count, VEM_DOUBLE, rows, d);
        for (int64_t i = 0; i < count; i++) {
            double *x = rows + i * d;
            const double w = vem_i_survey_weight(s, first + i);
            const int32_t c = s->best[(first + i) * s->top];
            if (s->model->normalizes)
                vem_i_normalize_row(x, s->model->d);
            if (are_shares(s))
                to_shares(x, d);
            if (!(w > 0) || c < 0)
                continue;
            take_exemplar(s, first + i, distance(s, c, x));
            for (int32_t j = 0; j < d; j++) {
                const double off = x[j] - s->means[j];
                sums[j] += w * off;
                squares[j] += w * off * off;
            }
        }
        vem_i_residence_check(s->run);
    }
    vem_i_free(rows);
    return status;
}

/* ---- sparse rows ---- */

/* Of a row without values. */
static void distances_of_nothing(const survey *s, double *far)
{
    const vem_model *m = s->model;
    for (int64_t c = 0; c < m->clusters; c++) {
        far[c] = 0;
        for (int32_t j = 0; j < m->d; j++) {
            const double mean = m->means[c * m->d + j];
            far[c] += mean * mean / vem_i_model_covariance(m, c, j, j);
        }
    }
}

/* Adds the values of row i; its distance from the mean of cluster c is `far` for none. */
static void take_values(survey *s, int64_t i, int64_t c, double far, double *sums,
                        double *present)
{
    const vem_model *m = s->model;
    const vem_i_sparse *x = &s->data->sparse;
    const double w = vem_i_survey_weight(s, i);
    const int64_t begin = x->starts[i], end = x->ends[i];
    double total = are_shares(s) ? 0 : 1;
    for (int64_t e = begin; are_shares(s) && e < end; e++)
        total += vem_i_sparse_value(x, e);
    for (int64_t e = begin; e < end; e++) {
        const int32_t j = x->columns[e];
        const double value = total > 0 ? vem_i_sparse_value(x, e) / total : 0;
        const double mean = m->means[c * m->d + j], off = value - s->means[j];
        far += value * (value - 2 * mean) / vem_i_model_covariance(m, c, j, j);
        sums[j] += w * off;
        sums[m->d + j] += w * off * off;
        present[j] += w;
    }
    take_exemplar(s, i, far);
}

static vem_status look_at_values(survey *s, double *sums)
{
    const vem_model *m = s->model;
    const size_t d = (size_t)m->d;
    double *present = NULL, *far = NULL, mass = 0;
    vem_status status = vem_i_take_zeroed(s->run, &present, d, sizeof *present);
    if (status == VEM_OK)
        status = vem_i_take(s->run, &far, (size_t)m->clusters, sizeof *far);
    if (status == VEM_OK)
        distances_of_nothing(s, far);
    for (int64_t i = 0; status == VEM_OK && i < s->data->n; i++) {
        const double w = vem_i_survey_weight(s, i);
        const int32_t c = s->best[i * s->top];
        if (i % LOOK == 0)
            vem_i_residence_check(s->run);
        if (!(w > 0) || c < 0)
            continue;
        mass += w;
        take_values(s, i, c, far[c], sums, present);
    }
    for (size_t j = 0; status == VEM_OK && j < d; j++) {
        const double absent = mass - present[j];
        sums[j] -= absent * s->means[j];
        sums[d + j] += absent * s->means[j] * s->means[j];
    }
    vem_i_free(present);
    vem_i_free(far);
    return status;
}

vem_status vem_i_describe_rows(vem_i_survey *s, double *sums)
{
    return s->data->sparse.starts ? look_at_values(s, sums) : look_at_rows(s, sums);
}
