/* What describe says of a model and its rows, and what is drawn from a model, against the plain
 * formulas, for every family. */
#define CONTEXT_THREADS 1
#include "context.h"

#include <float.h>

#include "model/contract.h"
#include "model/overlap.h"

enum { N = 240, D = 4, C = 5 };

/* ---- A model of every family, and its covariances ---- */

static vem_model *model_of(vem_family_kind family)
{
    double means[C * D], weights[C], variances[C * D * D] = {0}, sum = 0;
    const int axes = vem_family_axes(family);
    const int shapes = vem_family_shared(family) ? 1 : C;
    for (int c = 0; c < C; c++) {
        sum += weights[c] = 1 + c % 3;
        for (int j = 0; j < D; j++)
            means[c * D + j] = sin(1.0 + 3 * c + 5 * j) * (j == 2 ? 4 : 2);
    }
    for (int c = 0; c < C; c++)
        weights[c] /= sum;
    for (int s = 0; s < shapes; s++)
        if (axes == 0)
            variances[s] = 0.5 + 0.25 * s;
        else if (axes == 1)
            for (int j = 0; j < D; j++)
                variances[s * D + j] = 0.3 + 0.2 * s + 0.4 * j;
        else
            for (int j = 0; j < D; j++)
                for (int k = 0; k < D; k++)
                    variances[(s * D + j) * D + k] =
                        j == k ? 1 + 0.2 * s + 0.3 * j : 0.2 * (j + k) - 0.1 * s;
    vem_model *model = NULL;
    if (vem_model_new(ctx, family, C, D, means, weights, variances, &model) != VEM_OK)
        fail_msg("%s", vem_ctx_message(ctx));
    return model;
}

static void covariance(const vem_model *m, int c, double out[D][D])
{
    const vem_family_kind family = vem_model_family(m);
    const int axes = vem_family_axes(family);
    const int size = axes == 0 ? 1 : axes == 1 ? D : D * D;
    const double *shape =
        vem_model_variances(m) + (vem_family_shared(family) ? 0 : c * size);
    for (int j = 0; j < D; j++)
        for (int k = 0; k < D; k++)
            out[j][k] = axes == 2   ? shape[j * D + k]
                        : j != k    ? 0
                        : axes == 1 ? shape[j]
                                    : shape[0];
}

/* Elimination without pivots: gives log det a and off' a^-1 off. */
static double solve(double a[D][D], double off[D], double *log_det)
{
    double square = 0;
    *log_det = 0;
    for (int j = 0; j < D; j++) {
        *log_det += log(a[j][j]);
        square += off[j] * off[j] / a[j][j];
        for (int i = j + 1; i < D; i++) {
            const double factor = a[i][j] / a[j][j];
            off[i] -= factor * off[j];
            for (int k = j; k < D; k++)
                a[i][k] -= factor * a[j][k];
        }
    }
    return square;
}

/* log p(c, x) but for a constant. */
static double log_joint(const vem_model *m, int c, const double *x)
{
    double a[D][D], off[D], log_det;
    covariance(m, c, a);
    for (int j = 0; j < D; j++)
        off[j] = x[j] - vem_model_means(m)[c * D + j];
    const double square = solve(a, off, &log_det);
    return log(vem_model_weights(m)[c]) - 0.5 * (log_det + square);
}

static double overlap(const vem_model *m, int a, int b)
{
    double sa[D][D], sb[D][D], s[D][D], off[D], none[D] = {0}, la, lb, l;
    covariance(m, a, sa);
    covariance(m, b, sb);
    for (int j = 0; j < D; j++) {
        off[j] = vem_model_means(m)[a * D + j] - vem_model_means(m)[b * D + j];
        for (int k = 0; k < D; k++)
            s[j][k] = (sa[j][k] + sb[j][k]) / 2;
    }
    const double square = solve(s, off, &l);
    solve(sa, none, &la);
    solve(sb, none, &lb);
    return exp(-square / 8 + (la + lb) / 4 - l / 2);
}

static void near(double found, double expected, const char *what)
{
    if (!(fabs(found - expected) <= 1e-9 * fmax(fabs(expected), 1)))
        fail_msg("%s: %.15g, not %.15g", what, found, expected);
}

/* ---- Clusters and columns ---- */

static void check_columns(const vem_model *m, const vem_cluster *clusters,
                          const double *means, const double *sds)
{
    const int axes = vem_family_axes(vem_model_family(m));
    for (int c = 0; c < C; c++) {
        const vem_cluster *it = &clusters[c];
        double a[D][D], off[D], spread = 0, all = 0;
        covariance(m, c, a);
        near(it->weight, vem_model_weights(m)[c], "weight");
        for (int j = 0; j < D; j++) {
            off[j] = (vem_model_means(m)[c * D + j] - means[j]) / sds[j];
            spread += axes ? a[j][j] / sds[j] / sds[j] : a[j][j];
            all += axes ? 1 : sds[j] * sds[j];
        }
        near(it->spread, sqrt(spread / all), "spread");
        for (int k = 0; k < VEM_SHOWN_COLUMNS; k++) {
            near(it->differences[k], off[it->columns[k]], "difference");
            off[it->columns[k]] = 0; /* of the rest none is larger */
            for (int j = 0; j < D; j++)
                assert_true(fabs(off[j]) <= fabs(it->differences[k]));
        }
        int nearest = -1;
        double best = -DBL_MAX;
        for (int other = 0; other < C; other++) {
            const double p = log_joint(m, other, vem_model_means(m) + c * D);
            if (other != c && p > best)
                best = p, nearest = other;
        }
        assert_int_equal(it->nearest, nearest);
        near(it->overlap, overlap(m, c, nearest), "overlap");
    }
}

static void without_rows(void **state)
{
    (void)state;
    GRID_EACH_SHAPED (family) {
        vem_model *m = model_of((vem_family_kind)family);
        vem_cluster clusters[C] = {{.size = sizeof *clusters}};
        double means[D], sds[D];
        vem_description about = {.size = sizeof about, .means = means, .sds = sds};
        assert_int_equal(vem_describe(ctx, m, NULL, VEM_DOUBLE, clusters, &about),
                         VEM_OK);
        for (int j = 0; j < D; j++) {
            double mean = 0, square = 0, a[D][D];
            for (int c = 0; c < C; c++)
                mean += vem_model_weights(m)[c] * vem_model_means(m)[c * D + j];
            for (int c = 0; c < C; c++) {
                const double off = vem_model_means(m)[c * D + j] - mean;
                covariance(m, c, a);
                square += vem_model_weights(m)[c] * (a[j][j] + off * off);
            }
            near(means[j], mean, "mean");
            near(sds[j], sqrt(square), "deviation");
        }
        check_columns(m, clusters, means, sds);
        assert_true(isnan(about.mass) && isnan(about.doubtful));
        assert_true(isnan(clusters[0].mass) && isnan(clusters[0].shared));
        assert_true(clusters[0].rows == -1 && clusters[0].rival == -1);
        assert_int_equal(clusters[0].exemplars[0], -1);
        vem_model_free(m);
    }
}

/* ---- Rows ---- */

/* Facts of the rows of each cluster, by the posteriors. */
typedef struct facts {
    int64_t rows;
    double mass, doubtful, shared[C];
} facts;

static void count(const double *q, const double *weights, facts *found)
{
    for (int i = 0; i < N; i++) {
        int first = 0, second = -1;
        for (int c = 1; c < C; c++)
            first = q[i * C + c] > q[i * C + first] ? c : first;
        for (int c = 0; c < C; c++)
            if (c != first && (second < 0 || q[i * C + c] > q[i * C + second]))
                second = c;
        if (!(weights[i] > 0))
            continue;
        found[first].rows++;
        found[first].mass += weights[i];
        found[first].doubtful += q[i * C + first] < 0.9 ? weights[i] : 0;
        found[first].shared[second] += weights[i] * q[i * C + second];
        found[second].shared[first] += weights[i] * q[i * C + second];
    }
}

/* The exemplars are rows of the cluster, nearest first, and no other row of it is nearer. */
static void check_exemplars(const vem_model *m, const vem_cluster *it, int c,
                            const double *x, const double *q, const double *weights)
{
    double a[D][D], far[N];
    covariance(m, c, a);
    for (int i = 0; i < N; i++) {
        far[i] = 0;
        for (int j = 0; j < D; j++) {
            const double off = x[i * D + j] - vem_model_means(m)[c * D + j];
            far[i] += off * off / a[j][j];
        }
        for (int other = 0; other < C; other++)
            if (q[i * C + other] > q[i * C + c] || !(weights[i] > 0))
                far[i] = INFINITY;
    }
    for (int k = 0; k < VEM_SHOWN_ROWS; k++) {
        int best = 0;
        for (int i = 1; i < N; i++)
            best = far[i] < far[best] ? i : best;
        assert_int_equal(it->exemplars[k], isfinite(far[best]) ? best : -1);
        far[best] = INFINITY;
    }
}

static void with_rows(void **state)
{
    (void)state;
    GRID_EACH_SHAPED (family) {
        vem_model *m = model_of((vem_family_kind)family);
        double x[N * D], weights[N], q[N * C], mass = 0, doubtful = 0;
        assert_int_equal(vem_sample(ctx, m, 3, 0, N, x, NULL), VEM_OK);
        for (int i = 0; i < N; i++)
            mass += weights[i] = i % 7 == 3 ? 0 : 1 + i % 4;
        grid_data data = {N, D, x, weights};
        vem_data *rows = grid_borrow(ctx, &data);
        vem_cluster clusters[C] = {{.size = sizeof *clusters}};
        double means[D], sds[D];
        vem_description about = {.size = sizeof about, .means = means, .sds = sds};
        assert_int_equal(vem_describe(ctx, m, rows, VEM_DOUBLE, clusters, &about),
                         VEM_OK);
        assert_int_equal(vem_posterior(ctx, m, rows, VEM_DOUBLE, q), VEM_OK);
        for (int j = 0; j < D; j++) {
            double mean = 0, square = 0;
            for (int i = 0; i < N; i++)
                mean += weights[i] / mass * x[i * D + j];
            for (int i = 0; i < N; i++)
                square += weights[i] / mass * pow(x[i * D + j] - mean, 2);
            near(means[j], mean, "mean of rows");
            near(sds[j], sqrt(square), "deviation of rows");
        }
        check_columns(m, clusters, means, sds);
        facts found[C] = {{0}};
        count(q, weights, found);
        for (int c = 0; c < C; c++) {
            const vem_cluster *it = &clusters[c];
            double shared = 0;
            for (int other = 0; other < C; other++)
                shared = fmax(shared, found[c].shared[other] /
                                          fmin(found[c].mass, found[other].mass));
            assert_int_equal(it->rows, found[c].rows);
            near(it->mass, found[c].mass, "mass");
            near(it->doubtful, found[c].doubtful / found[c].mass, "doubtful");
            near(it->shared, fmin(shared, 1), "shared");
            near(found[c].shared[it->rival] / fmin(found[c].mass, found[it->rival].mass),
                 shared, "rival");
            check_exemplars(m, it, c, x, q, weights);
            doubtful += found[c].doubtful;
        }
        /* The squared error is one of plain distances, whatever the family. */
        vem_scores scores = {.size = sizeof scores};
        double error = 0;
        for (int i = 0; i < N; i++) {
            double least = INFINITY;
            for (int c = 0; c < C; c++) {
                double square = 0;
                for (int j = 0; j < D; j++)
                    square += pow(x[i * D + j] - vem_model_means(m)[c * D + j], 2);
                least = fmin(least, square);
            }
            error += weights[i] * least;
        }
        assert_int_equal(vem_score(ctx, m, rows, 0, VEM_DOUBLE, &scores), VEM_OK);
        near(scores.quantization_error, error, "squared error");
        near(about.mass, mass, "mass of all");
        near(about.doubtful, doubtful / mass, "doubtful of all");
        vem_data_free(rows);
        vem_model_free(m);
    }
}

/* Counts that are 0 everywhere have shares at the floor: what all rows have in common says nothing
 * of a cluster, dense or sparse. */
static void columns_of_nothing(void **state)
{
    enum { ROWS = 300, K = 12, TWO = 2 };
    (void)state;
    double means[TWO * K] = {0.1, 0.9};
    const double half[TWO] = {.5, .5};
    double rows[ROWS * K];
    int64_t starts[ROWS + 1];
    double values[ROWS * 2];
    int32_t columns[ROWS * 2];
    vem_model *model = NULL;
    means[K] = means[K + 1] = 0.5;
    for (int j = 2; j < K; j++)
        means[j] = means[K + j] = 1e-12 * (j + 0.1);
    assert_int_equal(vem_model_new(ctx, VEM_MULTINOMIAL, TWO, K, means, half, NULL,
                                   &model),
                     VEM_OK);
    for (int i = 0; i < ROWS; i++) {
        const int first = i % 2 ? 10 + i % 7 : 2 + i % 3;
        for (int j = 0; j < 2; j++) {
            rows[i * K + j] = values[2 * i + j] = j ? 20 - first : first;
            columns[2 * i + j] = j;
        }
        for (int j = 2; j < K; j++)
            rows[i * K + j] = 0;
        starts[i] = 2 * (int64_t)i;
    }
    starts[ROWS] = 2 * (int64_t)ROWS;
    for (int sparse = 0; sparse < 2; sparse++) {
        vem_data *data = NULL;
        assert_int_equal(sparse ? vem_data_sparse(ctx, ROWS, K, starts, columns, values,
                                                  &data)
                                : vem_data_borrow(ctx, VEM_FLOAT64, rows, ROWS, K, 0, 0,
                                                  &data),
                         VEM_OK);
        vem_cluster clusters[TWO];
        double sds[K];
        for (int c = 0; c < TWO; c++)
            clusters[c].size = sizeof *clusters;
        vem_description about = {.size = sizeof about, .sds = sds};
        assert_int_equal(vem_describe(ctx, model, data, VEM_DOUBLE, clusters, &about),
                         VEM_OK);
        for (int j = 2; j < K; j++)
            assert_true(sds[j] == 0);
        for (int c = 0; c < TWO; c++) {
            assert_true(clusters[c].spread < 2);
            for (int k = 0; k < VEM_SHOWN_COLUMNS; k++)
                assert_true(clusters[c].columns[k] < 2);
        }
        vem_data_free(data);
    }
    vem_model_free(model);
}

/* One cluster has no other; the array may have room for fewer facts than there are. */
static void alone(void **state)
{
    (void)state;
    const double mean[2] = {1, 2}, variance[2] = {4, 9}, rows[4] = {1, 2, 3, 2};
    vem_model *m = NULL;
    vem_data *data = NULL;
    assert_int_equal(vem_model_new(ctx, VEM_DIAG, 1, 2, mean, NULL, variance, &m),
                     VEM_OK);
    assert_int_equal(vem_data_borrow(ctx, VEM_FLOAT64, rows, 2, 2, 0, 0, &data), VEM_OK);
    vem_cluster it = {.size = sizeof it};
    vem_description about = {.size = sizeof about};
    assert_int_equal(vem_describe(ctx, m, data, VEM_DOUBLE, &it, &about), VEM_OK);
    assert_true(it.nearest == -1 && it.rival == -1 && isnan(it.overlap));
    assert_true(it.rows == 2 && it.mass == 2 && it.doubtful == 0 && it.shared == 0);
    assert_true(it.exemplars[0] == 0 && it.exemplars[1] == 1 && it.exemplars[2] == -1);
    assert_true(it.columns[0] == 0 && it.columns[1] == -1); /* the other is constant */
    vem_data_free(data);
    const double three[3] = {1, 2, 3};
    assert_int_equal(vem_data_borrow(ctx, VEM_FLOAT64, three, 1, 3, 0, 0, &data), VEM_OK);
    assert_int_equal(vem_describe(ctx, m, data, VEM_DOUBLE, &it, &about), VEM_BAD_DATA);
    assert_non_null(strstr(vem_ctx_message(ctx), "2 columns, but the data have 3"));
    vem_data_free(data);
    for (int precision = -2; precision <= 2; precision += 4)
        assert_int_equal(vem_describe(ctx, m, NULL, (vem_precision)precision, &it,
                                      &about),
                         VEM_BAD_OPTION);
    vem_model_free(m);
}

/* Families that are none have no shapes. */
static void no_family(void **state)
{
    (void)state;
    for (int kind = -1; kind <= VEM_FAMILIES + 1; kind++) {
        const int is_one = kind >= 0 && kind < VEM_FAMILIES;
        const int shaped =
            is_one && !vem_i_family_of(kind)->of_counts; /* which have none */
        assert_true((vem_family_axes((vem_family_kind)kind) >= 0) == shaped);
        if (shaped || !is_one)
            assert_true((vem_family_shared((vem_family_kind)kind) >= 0) == is_one);
    }
    assert_int_equal(vem_family_axes((vem_family_kind)1000000), -1);
    assert_int_equal(vem_family_axes((vem_family_kind)-1000000), -1);
}

/* ---- Samples ---- */

/* Moments of each cluster's rows, within five deviations of what they estimate. */
static void samples(void **state)
{
    (void)state;
    enum { MANY = 20000 };
    double *x = grid_zeros(MANY * D, sizeof *x);
    int32_t *labels = grid_zeros(MANY, sizeof *labels);
    GRID_EACH_SHAPED (family) {
        vem_model *m = model_of((vem_family_kind)family);
        assert_int_equal(vem_sample(ctx, m, 9, 0, MANY, x, labels), VEM_OK);
        for (int c = 0; c < C; c++) {
            double n = 0, sum[D] = {0}, square[D][D] = {{0}}, a[D][D];
            covariance(m, c, a);
            for (int i = 0; i < MANY; i++) {
                double off[D];
                if (labels[i] != c)
                    continue;
                n++;
                for (int j = 0; j < D; j++)
                    sum[j] += off[j] = x[i * D + j] - vem_model_means(m)[c * D + j];
                for (int j = 0; j < D * D; j++)
                    square[j / D][j % D] += off[j / D] * off[j % D];
            }
            const double weight = vem_model_weights(m)[c];
            assert_true(fabs(n / MANY - weight) < 5 * sqrt(weight / MANY));
            for (int j = 0; j < D; j++) {
                assert_true(fabs(sum[j] / n) < 5 * sqrt(a[j][j] / n));
                for (int k = 0; k < D; k++)
                    assert_true(fabs(square[j][k] / n - a[j][k]) <
                                5 * sqrt(2 * a[j][j] * a[k][k] / n));
            }
        }
        /* A row depends on its number alone. */
        double again[10 * D];
        assert_int_equal(vem_sample(ctx, m, 9, 777, 10, again, NULL), VEM_OK);
        assert_memory_equal(again, x + 777 * D, sizeof again);
        vem_model_free(m);
    }
    free(x);
    free(labels);
}

/* Matrices are looked at as a whole up to 64 columns, beyond by their diagonals. */
static void matrices_of_many_columns(void **state)
{
    (void)state;
    for (int32_t d = 63; d <= 66; d++) {
        double *means = grid_zeros(2 * d, sizeof *means),
               *matrices = grid_zeros(2 * (int64_t)d * d, sizeof *matrices),
               *work = grid_zeros((int64_t)d * (d + 1), sizeof *work);
        vem_model *model = NULL;
        for (int32_t i = 0; i < d; i++)
            for (int c = 0; c < 2; c++) {
                matrices[((int64_t)c * d + i) * d + i] = 1;
                if (i % 2)
                    matrices[((int64_t)c * d + i) * d + i - 1] =
                        matrices[((int64_t)c * d + i - 1) * d + i] = c ? 0.9 : -0.9;
            }
        assert_int_equal(vem_model_new(ctx, VEM_FULL, 2, d, means, NULL, matrices,
                                       &model),
                         VEM_OK);
        /* Of each pair of columns log(1 - 0.9^2) / 2, and their diagonals are the same. */
        const double pairs = d / 2, whole = pairs * 0.5 * log(1 - 0.9 * 0.9);
        near(log(vem_i_clusters_overlap(model, 0, 1, work)), d <= 64 ? whole : 0,
             "many columns");
        vem_model_free(model);
        free(means);
        free(matrices);
        free(work);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(matrices_of_many_columns),
        cmocka_unit_test(without_rows),
        cmocka_unit_test(with_rows),
        cmocka_unit_test(columns_of_nothing),
        cmocka_unit_test(alone),
        cmocka_unit_test(no_family),
        cmocka_unit_test(samples),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
