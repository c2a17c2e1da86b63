/* Moments of clusters (model/moments.h), of every family with shapes, beside sums over the rows taken
 * one by one: groups of a part and of the rest become that of all, moments about another place and as
 * arrays of files come back, and a scatter costs what its covariance matrix does. */
#include "grid.h"

#include "model/family.h"
#include "model/moments.h"
#include "model/units.h"

enum { N = 40, MOST_D = 5, ROOM = 1 + MOST_D + MOST_D * (MOST_D + 1) / 2 };

typedef struct rows {
    int32_t d;
    double x[N][MOST_D], w[N];
} rows;

static rows make_rows(int32_t d)
{
    rows r = {.d = d};
    vem_i_rng rng = vem_i_rng_at(31, VEM_RNG_TEST, 0, (uint64_t)d);
    for (int i = 0; i < N; i++) {
        for (int32_t j = 0; j < d; j++)
            r.x[i][j] = 3 * j + (1 + j) * vem_i_rng_normal(&rng) + (j ? r.x[i][0] : 0);
        r.w[i] = 0.5 + vem_i_rng_uniform(&rng);
    }
    return r;
}

/* Sum of w (x_i - p_i)(x_j - p_j) of some rows. */
static double product(const rows *r, int from, int to, const double *p, int32_t i,
                      int32_t j)
{
    double sum = 0;
    for (int k = from; k < to; k++)
        sum += r->w[k] * (r->x[k][i] - p[i]) * (r->x[k][j] - p[j]);
    return sum;
}

/* By the words of stats.h, with no help from what is tested. */
static void second_about(const rows *r, int from, int to, int axes, const double *p,
                         double *second)
{
    if (axes == 0)
        second[0] = 0;
    for (int32_t i = 0, at = 0; i < r->d; i++)
        if (axes == 0)
            second[0] += product(r, from, to, p, i, i);
        else if (axes == 1)
            second[i] = product(r, from, to, p, i, i);
        else
            for (int32_t j = 0; j <= i; j++)
                second[at++] = product(r, from, to, p, i, j);
}

static void group_of(const rows *r, int from, int to, int axes, double *group)
{
    memset(group, 0, ROOM * sizeof *group);
    for (int k = from; k < to; k++)
        group[0] += r->w[k];
    for (int32_t j = 0; j < r->d; j++)
        for (int k = from; k < to; k++)
            group[1 + j] += r->w[k] * r->x[k][j] / group[0];
    second_about(r, from, to, axes, group + 1, group + 1 + r->d);
}

static void near_each(const double *a, const double *b, int64_t count, const char *what)
{
    for (int64_t k = 0; k < count; k++)
        if (!(fabs(a[k] - b[k]) <= 1e-11 * (1 + fabs(b[k]))))
            fail_msg("%s: %.17g at %d, but %.17g", what, a[k], (int)k, b[k]);
}

static void check_joins(const rows *r, const vem_i_family *family, int axes)
{
    double all[ROOM], a[ROOM], b[ROOM], both[ROOM], other[ROOM];
    const int64_t stride = 1 + r->d + vem_i_second_count(family, r->d);
    group_of(r, 0, N, axes, all);
    for (int cut = 1; cut < N; cut += 6) {
        group_of(r, 0, cut, axes, a);
        group_of(r, cut, N, axes, b);
        vem_i_moments_join(family, r->d, a, b, both);
        near_each(both, all, stride, "two groups");
        if (axes < 2) {
            const vem_i_moments x = {a[0], a + 1, a + 1 + r->d},
                                y = {b[0], b + 1, b + 1 + r->d};
            memset(both, 0, sizeof both);
            both[0] = all[0];
            vem_i_moments_unite(family, r->d, &x, &y, both + 1, both + 1 + r->d);
            near_each(both, all, stride, "two heaps");
            memcpy(other, both, sizeof other);
            vem_i_moments_unite(family, r->d, &y, &x, other + 1, other + 1 + r->d);
            assert_memory_equal(both, other, (size_t)stride * sizeof *both);
        }
        vem_i_moments_join(family, r->d, a, b, a);
        near_each(a, all, stride, "into the first");
    }
    /* Nothing and something. */
    memset(a, 0, sizeof a);
    vem_i_moments_join(family, r->d, a, all, both);
    near_each(both, all, stride, "nothing first");
    vem_i_moments_join(family, r->d, all, a, both);
    near_each(both, all, stride, "nothing last");
}

static void check_places(const rows *r, const vem_i_family *family, int axes)
{
    double group[ROOM], to[ROOM], back[ROOM], second[ROOM], place[MOST_D], e[MOST_D];
    const int64_t values = vem_i_second_count(family, r->d);
    group_of(r, 0, N, axes, group);
    for (int32_t j = 0; j < r->d; j++) {
        place[j] = group[1 + j] - (1 + j);
        e[j] = 1 + j;
    }
    vem_i_moments_put(family, r->d, group, e, to);
    second_about(r, 0, N, axes, place, second);
    assert_true(to[0] == group[0]);
    for (int32_t j = 0; j < r->d; j++)
        assert_true(fabs(to[1 + j] - group[0] * e[j]) <= 1e-12 * group[0] * e[j]);
    near_each(to + 1 + r->d, second, values, "about another place");
    const vem_i_stats stats = {.clusters = 1,
                               .d = r->d,
                               .stride = 1 + r->d + values,
                               .block = to};
    back[0] = vem_i_moments_of(&stats, 0, family, place, back + 1, back + 1 + r->d);
    near_each(back, group, 1 + r->d + values, "and back");
}

static void check_files(const rows *r, const vem_i_family *family, int axes)
{
    double group[ROOM], back[ROOM], shape[MOST_D * MOST_D];
    const int32_t d = r->d;
    const double *second = group + 1 + d;
    group_of(r, 0, N, axes, group);
    vem_i_moments_write(family, d, second, shape);
    for (int32_t i = 0; i < d && axes == 2; i++)
        for (int32_t j = 0; j < d; j++)
            near_each(&shape[i * d + j],
                      &second[i > j ? i * (i + 1) / 2 + j : j * (j + 1) / 2 + i], 1,
                      "a matrix");
    for (int32_t j = 0; j < d; j++) /* the variance of a column, in both */
        assert_true(shape[vem_i_shape_at(family, d, j)] ==
                    second[vem_i_square_at(family, j)]);
    vem_i_moments_read(family, d, shape, back);
    assert_memory_equal(back, second,
                        (size_t)vem_i_second_count(family, d) * sizeof *back);
}

/* log|Sigma| of Sigma = S / N, by elimination; below the floor of a column the variance is that. */
static void check_cost(const rows *r, const vem_i_family *family, int axes)
{
    double group[ROOM], work[4096], m[MOST_D][MOST_D], expected = 0;
    const int32_t d = r->d;
    group_of(r, 0, N, axes, group);
    assert_true(vem_i_covariance_work(family, d) <= 4096);
    const vem_i_constraints low = {.floor = 1e-12}, high = {.floor = 1e6};
    for (int32_t i = 0; i < d; i++)
        for (int32_t j = 0; j < d; j++)
            m[i][j] =
                axes < 2 && i != j ? 0 : product(r, 0, N, group + 1, i, j) / group[0];
    double trace = 0;
    for (int32_t i = 0; i < d; i++)
        trace += m[i][i] / d;
    for (int32_t i = 0; i < d; i++) {
        expected += log(axes == 0 ? trace : m[i][i]);
        for (int32_t k = i + 1; k < d; k++)
            for (int32_t j = d - 1; j >= i; j--)
                m[k][j] -= m[k][i] / m[i][i] * m[i][j];
    }
    double found = vem_i_floor_log_det(family, d, &low, group[0], group + 1 + d, 0, work);
    near_each(&found, &expected, 1, "log|Sigma|");
    found = vem_i_floor_log_det(family, d, &high, group[0], group + 1 + d, 0, work);
    double floored = d * (log(1e6) + trace / 1e6 - 1);
    near_each(&found, &floored, 1, "at the floor");
}

static void moments_are_those_of_the_rows(void **state)
{
    (void)state;
    static const int32_t columns[] = {1, 2, MOST_D};
    GRID_EACH_SHAPED (f)
        for (size_t k = 0; k < sizeof columns / sizeof *columns; k++) {
            const vem_i_family *family = vem_i_family_of(f);
            const int axes = vem_family_axes((vem_family_kind)f);
            const rows r = make_rows(columns[k]);
            check_joins(&r, family, axes);
            check_places(&r, family, axes);
            check_files(&r, family, axes);
            check_cost(&r, family, axes);
        }
}

/* One number for all columns, one for each, or a matrix: as many as were given. */
static void shapes_are_made_of_what_is_given(void **state)
{
    (void)state;
    enum { D = 3 };
    const double given[D * D] = {2, 3, 5, 7, 11, 13, 17, 19, 23}, scale[D] = {1, 2, 4};
    double shape[D * D];
    GRID_EACH_SHAPED (f) {
        const vem_i_family *family = vem_i_family_of(f);
        const int axes = vem_family_axes((vem_family_kind)f);
        for (int64_t count = 0; count <= D * D + 1; count++) {
            const int fits =
                count == 1 || (axes > 0 && count == D) || (axes == 2 && count == D * D);
            assert_int_equal(vem_i_shape_from(family, D, given, count, shape), fits);
            for (int32_t i = 0; fits && i < D; i++)
                for (int32_t j = 0; j < D; j++) {
                    const double value = count == D * D ? given[i * D + j]
                                         : i != j       ? 0
                                                        : given[count == 1 ? 0 : i];
                    if (axes == 2)
                        assert_true(shape[i * D + j] == value);
                    else if (i == j)
                        assert_true(shape[axes == 0 ? 0 : i] == value);
                }
        }
        assert_true(vem_i_shape_from(family, D, given, 1, shape));
        vem_i_shape_to_view(family, D, scale, shape);
        for (int32_t j = 0; j < D; j++)
            assert_true(shape[vem_i_shape_at(family, D, j)] ==
                        2 / (axes == 0 ? 1 : scale[j] * scale[j]));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(moments_are_those_of_the_rows),
        cmocka_unit_test(shapes_are_made_of_what_is_given),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
