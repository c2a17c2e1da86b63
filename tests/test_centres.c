/* Trees of centres: the clusters keep their numbers, every node lies under the nearest node above it,
 * and what is there is what was asked for. */
#include "context.h"
#include "fake_clock.h"

enum { D = 3, MOST = 400 };

typedef struct centres {
    int32_t count;
    double means[MOST * D], weights[MOST];
} centres;

static double number(uint32_t *state)
{
    *state = *state * 1664525u + 1013904223u;
    return (double)(*state >> 8) / (1 << 24) - 0.5;
}

static void draw(centres *c, int32_t count, uint32_t seed)
{
    c->count = count;
    for (int i = 0; i < count * D; i++)
        c->means[i] = number(&seed);
    for (int i = 0; i < count; i++)
        c->weights[i] = 1.0 / count;
}

static vem_model *model_of(const centres *c)
{
    const double variance = 0.1;
    vem_model *model = NULL;
    assert_int_equal(vem_model_new(ctx, VEM_ISO_SHARED, c->count, D, c->means, c->weights,
                                   &variance, &model),
                     VEM_OK);
    return model;
}

static vem_hierarchy *hierarchy_of(const centres *c, int32_t levels)
{
    const vem_hierarchy_options options = {.size = sizeof options, .levels = levels};
    vem_model *model = model_of(c);
    vem_hierarchy *h = NULL;
    assert_int_equal(vem_hierarchy_new(ctx, model, &options, &h), VEM_OK);
    vem_model_free(model);
    return h;
}

static double square(const double *a, const double *b)
{
    double sum = 0;
    for (int j = 0; j < D; j++)
        sum += (a[j] - b[j]) * (a[j] - b[j]);
    return sum;
}

static int32_t nodes_at(const vem_hierarchy *h, int32_t level)
{
    int32_t count = 0;
    for (int32_t i = 0; i < vem_hierarchy_nodes(h); i++)
        count += vem_hierarchy_level_of(h)[i] == level;
    return count;
}

static void check(const vem_hierarchy *h, const centres *c, int32_t levels)
{
    const double *x = vem_hierarchy_vectors(h);
    const int32_t *parents = vem_hierarchy_parents(h), *level = vem_hierarchy_level_of(h);
    const int32_t nodes = vem_hierarchy_nodes(h);
    assert_int_equal(vem_hierarchy_levels(h), levels);
    assert_memory_equal(x, c->means, (size_t)c->count * D * sizeof *x);
    for (int32_t i = 0; i < nodes; i++) {
        assert_int_equal(i < c->count, level[i] == 0);
        assert_int_equal(level[i] == levels - 1, parents[i] == -1);
        if (parents[i] == -1)
            continue;
        assert_in_range(parents[i], i + 1, nodes - 1);
        assert_int_equal(level[parents[i]], level[i] + 1);
        for (int32_t j = 0; j < nodes; j++)
            if (level[j] == level[i] + 1)
                assert_true(square(x + i * D, x + parents[i] * D) <=
                            square(x + i * D, x + j * D) * (1 + 1e-12));
    }
    for (int32_t i = c->count; i < nodes; i++) { /* nobody is there for nothing */
        int32_t children = 0;
        for (int32_t j = 0; j < i; j++)
            children += parents[j] == i;
        assert_true(children > 0);
    }
}

static void nearest_parents(void **state)
{
    (void)state;
    static const struct {
        int32_t clusters, levels, above;
    } cases[] = {{1, 2, 1},    {2, 2, 1},    {3, 2, 2},
                 {100, 2, 10}, {400, 2, 20}, {343, 3, 49}};
    centres c;
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        draw(&c, cases[k].clusters, 7);
        vem_hierarchy *h = hierarchy_of(&c, cases[k].levels);
        check(h, &c, cases[k].levels);
        assert_in_range(nodes_at(h, 1), cases[k].above - cases[k].above / 10,
                        cases[k].above);
        vem_hierarchy_free(h);
    }
    draw(&c, 50, 7);
    vem_hierarchy *h = hierarchy_of(&c, 0);
    assert_int_equal(vem_hierarchy_levels(h), 2);
    vem_hierarchy_free(h);
}

/* Two levels as long as nodes have no more than 256 children; with one cluster more there are three. */
static void as_many_levels_as_it_takes(void **state)
{
    (void)state;
    enum { TWO = 65536 };
    double *means = malloc((TWO + 1) * sizeof *means),
           *weights = malloc((TWO + 1) * sizeof *weights);
    const double variance = 1;
    assert_true(means && weights);
    for (int32_t more = 0; more < 2; more++) {
        vem_model *model = NULL;
        vem_hierarchy *h = NULL;
        for (int32_t c = 0; c < TWO + more; c++) {
            means[c] = c % 300; /* few places, which takes no time */
            weights[c] = 1.0 / (TWO + more);
        }
        assert_int_equal(vem_model_new(ctx, VEM_ISO_SHARED, TWO + more, 1, means, weights,
                                       &variance, &model),
                         VEM_OK);
        assert_int_equal(vem_hierarchy_new(ctx, model, NULL, &h), VEM_OK);
        assert_int_equal(vem_hierarchy_levels(h), 2 + more);
        vem_hierarchy_free(h);
        vem_model_free(model);
    }
    free(means);
    free(weights);
}

/* From two levels to eight. */
static void as_many_levels_as_there_may_be(void **state)
{
    (void)state;
    centres c;
    draw(&c, 300, 7);
    vem_model *model = model_of(&c);
    for (int32_t levels = -1; levels <= 9; levels++) {
        const vem_hierarchy_options options = {.size = sizeof options, .levels = levels};
        const int goes = levels == 0 || (levels >= 2 && levels <= 8);
        vem_hierarchy *h = NULL;
        assert_int_equal(vem_hierarchy_new(ctx, model, &options, &h),
                         goes ? VEM_OK : VEM_BAD_OPTION);
        if (goes)
            assert_int_equal(vem_hierarchy_levels(h), levels ? levels : 2);
        else
            assert_non_null(strstr(vem_ctx_message(ctx), "must have 2 to 8"));
        vem_hierarchy_free(h);
    }
    vem_model_free(model);
}

/* Means in few places have no more parents than places. */
static void few_places(void **state)
{
    (void)state;
    centres c;
    draw(&c, 100, 9);
    for (int i = 0; i < 100 * D; i++)
        c.means[i] = c.means[i % (3 * D)];
    vem_hierarchy *h = hierarchy_of(&c, 2);
    check(h, &c, 2);
    assert_int_equal(nodes_at(h, 1), 3);
    vem_hierarchy_free(h);
}

/* Clusters of all the weight draw the centre above them to themselves. */
static void weights_count(void **state)
{
    (void)state;
    centres c = {.count = 3,
                 .means = {0, 0, 0, 1, 0, 0, 100, 0, 0},
                 .weights = {0.1, 0.4, 0.5}};
    vem_model *model = model_of(&c);
    vem_hierarchy *h = NULL;
    vem_model_set_prior(model, VEM_PRIOR_FREE);
    assert_int_equal(vem_hierarchy_new(ctx, model, NULL, &h), VEM_OK);
    const int32_t parent = vem_hierarchy_parents(h)[0];
    assert_int_equal(vem_hierarchy_parents(h)[1], parent);
    assert_float_equal(vem_hierarchy_vectors(h)[parent * D], 0.8, 1e-12);
    vem_hierarchy_free(h);
    vem_model_free(model);
}

static void same_bits(void **state)
{
    (void)state;
    centres c;
    draw(&c, 343, 11);
    vem_hierarchy *first = NULL;
    const int threads[] = {1, 2, 3, 7};
    for (int k = 0; k < 4; k++) {
        assert_int_equal(vem_ctx_set_threads(ctx, threads[k]), VEM_OK);
        vem_hierarchy *h = hierarchy_of(&c, 3);
        if (first) {
            const size_t nodes = (size_t)vem_hierarchy_nodes(h);
            assert_int_equal(vem_hierarchy_nodes(first), nodes);
            assert_memory_equal(vem_hierarchy_vectors(first), vem_hierarchy_vectors(h),
                                nodes * D * sizeof(double));
            assert_memory_equal(vem_hierarchy_parents(first), vem_hierarchy_parents(h),
                                nodes * sizeof(int32_t));
            vem_hierarchy_free(h);
        } else {
            first = h;
        }
    }
    vem_hierarchy_free(first);
}

static void refused(void **state)
{
    (void)state;
    centres c;
    draw(&c, 10, 3);
    vem_model *model = model_of(&c);
    vem_hierarchy *h = NULL;
    for (int k = 0; k < 4; k++) {
        const vem_hierarchy_options options = {.size = k < 3 ? sizeof options : 0,
                                               .levels = (int32_t[]){-1, 1, 9, 0}[k]};
        assert_int_equal(vem_hierarchy_new(ctx, model, &options, &h), VEM_BAD_OPTION);
        assert_null(h);
    }
    const vem_hierarchy_options seed = {.size = sizeof seed, .seed = -1};
    assert_int_equal(vem_hierarchy_new(ctx, model, &seed, &h), VEM_BAD_OPTION);
    assert_int_equal(vem_hierarchy_new(ctx, model, NULL, &h), VEM_OK);
    assert_int_equal(vem_hierarchy_write(ctx, h, "centres.txt"), VEM_BAD_OPTION);
    vem_hierarchy_free(h);
    vem_model_free(model);
    const double rates[] = {1, 2, 3, 4};
    const double halves[] = {0.5, 0.5};
    h = NULL;
    assert_int_equal(vem_model_new(ctx, VEM_POISSON, 2, 2, rates, halves, NULL, &model),
                     VEM_OK);
    assert_int_equal(vem_hierarchy_new(ctx, model, NULL, &h), VEM_BAD_DATA);
    vem_model_free(model);
}

static int stop_at_once(void *user, const vem_progress *progress)
{
    (void)progress, (void)user;
    return 1;
}

static void stopped(void **state)
{
    (void)state;
    centres c;
    draw(&c, 100, 3);
    vem_model *model = model_of(&c);
    vem_hierarchy *h = NULL;
    fake_tick = 1;
    vem_ctx_set_progress(ctx, stop_at_once, NULL);
    assert_int_equal(vem_hierarchy_new(ctx, model, NULL, &h), VEM_STOPPED);
    assert_null(h);
    assert_non_null(strstr(vem_ctx_message(ctx), "topped"));
    vem_ctx_set_progress(ctx, NULL, NULL);
    fake_tick = 0;
    vem_model_free(model);
}

static int stop_in_labels(void *user, const vem_progress *progress)
{
    int *asked = user;
    *asked += strcmp(progress->phase, "assign") == 0;
    return *asked == 1; /* once is enough */
}

/* Nodes are given their parents by the run of the verb: what it heard there is not forgotten. */
static void stopped_between_levels(void **state)
{
    (void)state;
    centres c;
    int asked = 0;
    draw(&c, 100, 3);
    vem_model *model = model_of(&c);
    vem_hierarchy *h = NULL;
    const vem_hierarchy_options three = {.size = sizeof three, .levels = 3};
    fake_tick = 1;
    vem_ctx_set_progress(ctx, stop_in_labels, &asked);
    assert_int_equal(vem_hierarchy_new(ctx, model, &three, &h), VEM_STOPPED);
    assert_null(h);
    assert_string_equal(vem_ctx_message(ctx), "Stopped before the hierarchy was whole.");
    assert_true(asked > 0);
    vem_ctx_set_progress(ctx, NULL, NULL);
    fake_tick = 0;
    vem_model_free(model);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nearest_parents),
        cmocka_unit_test(as_many_levels_as_it_takes),
        cmocka_unit_test(as_many_levels_as_there_may_be),
        cmocka_unit_test(few_places),
        cmocka_unit_test(weights_count),
        cmocka_unit_test(same_bits),
        cmocka_unit_test(refused),
        cmocka_unit_test(stopped),
        cmocka_unit_test(stopped_between_levels),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
