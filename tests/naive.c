#include "naive.h"

static const double TWO_PI = 6.283185307179586477;
static const double NAIVE_FLOOR = 1e-6; /* of counts: the default of --floor */

static double mass_of(const grid_data *data, int64_t i)
{
    return data->weights ? data->weights[i] : 1;
}

static double *numbers(size_t count)
{
    double *made = calloc(count, sizeof *made);
    assert_non_null(made);
    return made;
}

/* Where entry (i, j) of the covariance of cluster c is in the variances of a model; -1: it is
 * not there, but 0. */
static int64_t place(vem_family_kind family, int32_t d, int32_t c, int32_t i, int32_t j)
{
    const int axes = vem_family_axes(family);
    const int64_t shape = vem_family_shared(family) ? 0 : c;
    if (axes == 2)
        return (shape * d + i) * d + j;
    return i != j ? -1 : axes == 1 ? shape * d + i : shape;
}

/* ---- counts ---- */

static double log_counts(const naive_model *m, int32_t c, const double *x)
{
    double sum = log(m->weights[c]), total = 0;
    for (int32_t j = 0; j < m->d; j++) {
        const double mean = m->means[c * m->d + j];
        total += x[j];
        if (m->family == VEM_BERNOULLI)
            sum += log(x[j] > 0 ? mean : 1 - mean);
        else
            sum += x[j] * log(mean) - lgamma(x[j] + 1) -
                   (m->family == VEM_POISSON ? mean : 0);
    }
    return sum + (m->family == VEM_MULTINOMIAL ? lgamma(total + 1) : 0);
}

/* Shares max(least, mean / z): z by bisection. */
static void share_out(const naive_model *m, double all, double *mean)
{
    double low = 0, high = 0;
    for (int32_t j = 0; j < m->d; j++)
        high += mean[j];
    for (int step = 0; high == 0 && step < m->d; step++)
        mean[step] = m->floors[step];
    for (int32_t j = 0; high == 0 && j < m->d; j++)
        high += mean[j];
    high *= 2;
    for (int step = 0; step < 200; step++) {
        const double z = (low + high) / 2;
        double sum = 0;
        for (int32_t j = 0; j < m->d; j++)
            sum += fmax(fmax(NAIVE_FLOOR * m->floors[j] / all, 1e-12), mean[j] / z);
        *(sum > 1 ? &low : &high) = z;
    }
    for (int32_t j = 0; j < m->d; j++)
        mean[j] = fmax(fmax(NAIVE_FLOOR * m->floors[j] / all, 1e-12), mean[j] / high);
}

static void limit_counts(const naive_model *m, double *mean)
{
    double all = 0;
    for (int32_t j = 0; j < m->d; j++)
        all += m->floors[j];
    if (m->family == VEM_MULTINOMIAL) {
        share_out(m, all, mean);
        return;
    }
    for (int32_t j = 0; j < m->d; j++) {
        mean[j] = fmax(mean[j], fmax(NAIVE_FLOOR * m->floors[j], 1e-12));
        if (m->family == VEM_BERNOULLI)
            mean[j] = fmin(mean[j], 1 - fmax(NAIVE_FLOOR * (1 - m->floors[j]), 1e-12));
    }
}

static void maximize_counts(naive_model *m, const grid_data *data, const double *wq,
                            int32_t c, double mass)
{
    double *mean = m->means + c * m->d;
    for (int32_t j = 0; j < m->d; j++) {
        double sum = 0;
        for (int64_t n = 0; n < data->n; n++)
            sum += wq[n * m->clusters + c] * data->x[n * m->d + j];
        mean[j] = sum / mass;
    }
    limit_counts(m, mean);
}

naive_model naive_from(const vem_model *model, vem_prior_kind prior, int32_t held,
                       const double *floors)
{
    int32_t c = vem_model_clusters(model), d = vem_model_columns(model);
    naive_model m = {.family = vem_model_family(model),
                     .prior = prior,
                     .clusters = c,
                     .d = d,
                     .held = held};
    assert_true(d <= GRID_COLUMNS);
    memcpy(m.floors, floors, (size_t)d * sizeof *floors);
    const double *v = vem_model_variances(model);
    m.means = numbers((size_t)(c * d));
    m.weights = numbers((size_t)c);
    m.covariances = numbers((size_t)(c * d * d));
    memcpy(m.means, vem_model_means(model), (size_t)(c * d) * sizeof(double));
    memcpy(m.weights, vem_model_weights(model), (size_t)c * sizeof(double));
    for (int32_t k = 0; grid_is_shaped(m.family) && k < c; k++)
        for (int32_t i = 0; i < d; i++)
            for (int32_t j = 0; j < d; j++) {
                const int64_t at = place(m.family, d, k, i, j);
                m.covariances[(k * d + i) * d + j] = at < 0 ? 0 : v[at];
            }
    for (int32_t k = 0; !grid_is_shaped(m.family) && k < c; k++)
        limit_counts(&m, m.means + k * d);
    return m;
}

void naive_free(naive_model *model)
{
    free(model->means);
    free(model->weights);
    free(model->covariances);
}

void naive_variances(const naive_model *m, double *variances)
{
    int32_t d = m->d;
    for (int32_t c = 0; grid_is_shaped(m->family) && c < m->clusters; c++)
        for (int32_t i = 0; i < d; i++)
            for (int32_t j = 0; j < d; j++) {
                const int64_t at = place(m->family, d, c, i, j);
                if (at >= 0)
                    variances[at] = m->covariances[(c * d + i) * d + j];
            }
}

/* Lower factor of a symmetric matrix less diag(shift), NULL: nothing; 0 when it has none. */
static int factor(const double *a, int32_t d, const double *shift, double *l)
{
    for (int32_t i = 0; i < d; i++)
        for (int32_t j = 0; j <= i; j++) {
            double sum = a[i * d + j] - (shift && i == j ? shift[i] : 0);
            for (int32_t k = 0; k < j; k++)
                sum -= l[i * d + k] * l[j * d + k];
            if (i == j && !(sum > 0))
                return 0;
            l[i * d + j] = i == j ? sqrt(sum) : sum / l[j * d + j];
        }
    return 1;
}

static double log_joint(const naive_model *m, int32_t c, const double *l, const double *x,
                        double *z)
{
    double sum = 0, log_det = 0;
    for (int32_t i = 0; i < m->d; i++) {
        double e = x[i] - m->means[c * m->d + i];
        for (int32_t k = 0; k < i; k++)
            e -= l[i * m->d + k] * z[k];
        z[i] = e / l[i * m->d + i];
        sum += z[i] * z[i];
        log_det += log(TWO_PI * l[i * m->d + i] * l[i * m->d + i]);
    }
    return log(m->weights[c]) - 0.5 * (sum + log_det);
}

int naive_estep(const naive_model *m, const grid_data *data, double *free_energy,
                int32_t *labels, double *wq)
{
    int32_t d = m->d, clusters = m->clusters, good = 1;
    double *l = numbers((size_t)(clusters * d * d)), *z = numbers((size_t)d);
    double total = 0, mass = 0;
    for (int32_t c = 0; grid_is_shaped(m->family) && c < clusters; c++)
        good &= factor(m->covariances + c * d * d, d, NULL, l + c * d * d);
    for (int64_t i = 0; i < data->n && good; i++) {
        double *row = wq + i * clusters, sum = 0, top = -INFINITY, w = mass_of(data, i);
        for (int32_t c = 0; c < clusters; c++)
            row[c] = grid_is_shaped(m->family)
                         ? log_joint(m, c, l + c * d * d, data->x + i * d, z)
                         : log_counts(m, c, data->x + i * d);
        /* Keep the held best: strike out the worst, the highest index of equal ones. */
        for (int32_t out = m->held; out < clusters; out++) {
            int32_t worst = -1;
            for (int32_t c = 0; c < clusters; c++)
                if (!isnan(row[c]) && (worst < 0 || row[c] <= row[worst]))
                    worst = c;
            row[worst] = NAN;
        }
        labels[i] = -1;
        for (int32_t c = 0; c < clusters; c++)
            if (!isnan(row[c]) && row[c] > top) {
                top = row[c];
                labels[i] = c;
            }
        for (int32_t c = 0; c < clusters; c++)
            sum += row[c] = isnan(row[c]) ? 0 : exp(row[c] - top);
        for (int32_t c = 0; c < clusters; c++)
            row[c] *= w / sum;
        total += w > 0 ? w * (top + log(sum)) : 0;
        mass += w;
    }
    *free_energy = total / mass;
    free(l);
    free(z);
    return good;
}

/* Covariance of one cluster about its new mean. */
static void moments(naive_model *m, const grid_data *data, const double *wq, int32_t c,
                    double mass)
{
    int32_t d = m->d;
    double *mean = m->means + c * d, *s = m->covariances + c * d * d;
    for (int32_t i = 0; i < d; i++) {
        double shift = 0; /* about the old mean, so that an offset costs no digits */
        for (int64_t n = 0; n < data->n; n++)
            shift += wq[n * m->clusters + c] * (data->x[n * d + i] - mean[i]);
        mean[i] += shift / mass;
    }
    for (int32_t i = 0; i < d; i++)
        for (int32_t j = 0; j < d; j++) {
            double sum = 0;
            for (int64_t n = 0; n < data->n; n++)
                sum += wq[n * m->clusters + c] * (data->x[n * d + i] - mean[i]) *
                       (data->x[n * d + j] - mean[j]);
            s[i * d + j] = sum / mass;
        }
}

static void shape(naive_model *m, int32_t c, double variance, int isotropic)
{
    int32_t d = m->d;
    double *s = m->covariances + c * d * d;
    for (int32_t i = 0; i < d; i++)
        for (int32_t j = 0; j < d; j++)
            s[i * d + j] =
                i != j ? 0 : fmax(isotropic ? variance : s[i * d + i], m->floors[i]);
}

/* The covariance of a cluster as the family has it; 0: the floor would change it. */
static int settle(naive_model *m, int32_t c, double *scratch)
{
    const int32_t d = m->d, axes = vem_family_axes(m->family);
    double trace = 0;
    for (int32_t i = 0; i < d; i++)
        trace += m->covariances[(c * d + i) * d + i];
    if (axes == 2)
        return factor(m->covariances + c * d * d, d, m->floors, scratch);
    shape(m, c, trace / d, axes == 0);
    return 1;
}

int naive_mstep(naive_model *m, const grid_data *data, const double *wq)
{
    const int32_t d = m->d, shared = vem_family_shared(m->family);
    int good = 1;
    double total = 0, *scratch = numbers((size_t)(d * d)),
           *pooled = numbers((size_t)(d * d));
    for (int64_t i = 0; i < data->n; i++)
        total += mass_of(data, i);
    for (int32_t c = 0; c < m->clusters; c++) {
        double mass = 0;
        for (int64_t i = 0; i < data->n; i++)
            mass += wq[i * m->clusters + c];
        if (m->prior == VEM_PRIOR_FREE)
            m->weights[c] = mass / total;
        if (mass <= 0)
            continue;
        if (!grid_is_shaped(m->family)) {
            maximize_counts(m, data, wq, c, mass);
            continue;
        }
        moments(m, data, wq, c, mass);
        for (int32_t k = 0; k < d * d; k++)
            pooled[k] += mass / total * m->covariances[c * d * d + k];
        if (!shared)
            good &= settle(m, c, scratch);
    }
    for (int32_t c = 0; c < m->clusters && shared; c++) {
        memcpy(m->covariances + c * d * d, pooled, (size_t)(d * d) * sizeof *pooled);
        good &= settle(m, c, scratch);
    }
    free(pooled);
    free(scratch);
    return good;
}

static double distance(const double *a, const double *b, int32_t d)
{
    double sum = 0;
    for (int32_t j = 0; j < d; j++)
        sum += (a[j] - b[j]) * (a[j] - b[j]);
    return sum;
}

double naive_assign(const grid_data *data, const double *means, int32_t clusters,
                    double margin, int32_t *labels)
{
    double error = 0;
    for (int64_t i = 0; i < data->n; i++) {
        const double *x = data->x + i * data->d;
        int32_t best = 0;
        for (int32_t c = 1; c < clusters; c++)
            if (distance(x, means + c * data->d, data->d) <
                distance(x, means + best * data->d, data->d))
                best = c;
        int32_t own = labels[i];
        if (own < 0 || (1 + margin) * sqrt(distance(x, means + best * data->d, data->d)) <
                           sqrt(distance(x, means + own * data->d, data->d)))
            labels[i] = best;
        error += mass_of(data, i) * distance(x, means + labels[i] * data->d, data->d);
    }
    return error;
}

void naive_move(const grid_data *data, const int32_t *labels, int32_t clusters,
                double *means)
{
    for (int32_t c = 0; c < clusters; c++) {
        double mass = 0, *mean = means + c * data->d;
        for (int64_t i = 0; i < data->n; i++)
            mass += labels[i] == c ? mass_of(data, i) : 0;
        for (int32_t j = 0; j < data->d && mass > 0; j++) {
            double shift = 0;
            for (int64_t i = 0; i < data->n; i++)
                if (labels[i] == c)
                    shift += mass_of(data, i) * (data->x[i * data->d + j] - mean[j]);
            mean[j] += shift / mass;
        }
    }
}
