/* Files of paths: what is written is read back, and arrays that do not fit each other are refused with
 * the name of the one that does not. */
#include "io_test.h"
#include "run.h"

enum { MIXTURES = 3, ALL = 1 + 2 + 4, D = 2, ARRAYS = 18 };

/* Mixtures of 1, 2 and 4 clusters with covariances; the one of 2 was chosen. */
static double means[ALL * D], weights[ALL], shapes[ALL * D * D];
static double numbers[12][MIXTURES], choice[2];
static vem_i_array arrays[ARRAYS];

static const char *const names[12] = {"path_clusters",
                                      "path_steps",
                                      "path_parameters",
                                      "path_free_energy",
                                      "path_log_likelihood",
                                      "path_log_likelihood_se",
                                      "path_entropy",
                                      "path_aic",
                                      "path_bic",
                                      "path_icl",
                                      "path_objective",
                                      "path_held_out"};

static void fill(void)
{
    static const double clusters[MIXTURES] = {1, 2, 4};
    int64_t at = 0;
    for (int m = 0; m < MIXTURES; m++)
        for (int c = 0; c < (int)clusters[m]; c++, at++) {
            const double shape[D * D] = {2 + (double)at, 0.5, 0.5, 1};
            weights[at] = 1 / clusters[m];
            means[at * D] = (double)at;
            means[at * D + 1] = -(double)at;
            memcpy(shapes + at * D * D, shape, sizeof shape);
        }
    for (int k = 0; k < 12; k++)
        for (int m = 0; m < MIXTURES; m++)
            numbers[k][m] = k == 0 ? clusters[m] : 10 * k + m;
    choice[0] = VEM_SELECT_BIC;
    choice[1] = 100;
    const vem_i_array all[6] = {
        {"means", VEM_FLOAT64, means + D, 2, {2, D}},
        {"weights", VEM_FLOAT64, weights + 1, 1, {2}},
        {"variances", VEM_FLOAT64, shapes + D * D, 3, {2, D, D}},
        {"path_means", VEM_FLOAT64, means, 2, {ALL, D}},
        {"path_weights", VEM_FLOAT64, weights, 1, {ALL}},
        {"path_variances", VEM_FLOAT64, shapes, 3, {ALL, D, D}},
    };
    memcpy(arrays, all, sizeof all);
    for (int k = 0; k < 12; k++)
        arrays[6 + k] = (vem_i_array){names[k], VEM_FLOAT64, numbers[k], 1, {MIXTURES}};
}

static vem_status read_back(vem_path **path)
{
    const char *file = io_path("path.npz");
    vem_i_array with_choice[ARRAYS + 1];
    memcpy(with_choice, arrays, sizeof arrays);
    with_choice[ARRAYS] = (vem_i_array){"path_choice", VEM_FLOAT64, choice, 1, {2}};
    assert_int_equal(vem_i_npz_write(run_of(io_ctx), file, with_choice, ARRAYS + 1),
                     VEM_OK);
    return vem_path_read(io_ctx, file, path);
}

static void whole(void **state)
{
    (void)state;
    vem_path *path = NULL;
    vem_path_summary about = {.size = sizeof about};
    fill();
    if (read_back(&path) != VEM_OK)
        fail_msg("%s", vem_ctx_message(io_ctx));
    assert_int_equal(vem_path_count(path), MIXTURES);
    assert_int_equal(vem_path_chosen(path), 2);
    assert_int_equal(vem_path_describe(io_ctx, path, &about), VEM_OK);
    assert_int_equal(about.method, VEM_SELECT_BIC);
    assert_true(about.mass == 100);
    for (int32_t m = 0, at = 0; m < MIXTURES; m++) {
        const vem_path_point *p = vem_path_at(path, m);
        const double read[12] = {p->clusters,
                                 (double)p->steps,
                                 (double)p->parameters,
                                 p->free_energy,
                                 p->log_likelihood,
                                 p->log_likelihood_se,
                                 p->entropy,
                                 p->aic,
                                 p->bic,
                                 p->icl,
                                 p->objective,
                                 p->held_out};
        vem_model *model = NULL;
        for (int k = 0; k < 12; k++)
            assert_true(read[k] == numbers[k][m]);
        assert_int_equal(vem_path_pick(io_ctx, path, p->clusters, &model), VEM_OK);
        assert_memory_equal(vem_model_means(model), means + at * D,
                            (size_t)(p->clusters * D) * sizeof(double));
        assert_memory_equal(vem_model_variances(model), shapes + at * D * D,
                            (size_t)(p->clusters * D * D) * sizeof(double));
        at += p->clusters;
        vem_model_free(model);
    }
    vem_path_free(path);
}

static void refused(const char *words)
{
    vem_path *path = NULL;
    assert_int_equal(read_back(&path), VEM_BAD_DATA);
    assert_null(path);
    io_says(words);
    fill();
}

static void sizes(void **state)
{
    (void)state;
    char words[80];
    fill();
    for (int a = 3; a < ARRAYS; a++)
        for (int axis = 0; axis < arrays[a].rank; axis++) {
            const int clusters = a == 6; /* fewer mixtures than the others have */
            arrays[a].dims[axis]--;
            snprintf(words, sizeof words, "no valid path: its array %s does not fit",
                     clusters ? names[1] : arrays[a].name);
            refused(words);
        }
    arrays[6].rank = 2; /* a column */
    arrays[6].dims[1] = 1;
    refused("path_clusters does not fit");
    arrays[5].rank = 2;
    arrays[5].dims[1] = D * D;
    refused("path_variances does not fit");
}

static void values(void **state)
{
    (void)state;
    const double bad[] = {0, 1.5, -1, NAN, 0x1p31};
    fill();
    for (int i = 0; i < 5; i++) {
        numbers[0][0] = bad[i];
        refused("path_clusters does not fit");
    }
    numbers[0][1] = 1;
    refused("do not ascend (1 after 1)");
    for (int k = 1; k <= 2; k++)
        for (int i = 2; i < 4; i++) {
            numbers[k][2] = bad[i];
            refused(names[k]);
        }
    choice[0] = VEM_SELECT_COUNT;
    refused("path_choice does not fit");
    choice[0] = 0.5;
    refused("path_choice does not fit");
    choice[1] = INFINITY;
    refused("path_choice does not fit");
    shapes[3 * D * D] = -1;
    refused("its mixture of 4 clusters (number 3 of 3) is broken.");
    shapes[0] = NAN;
    refused("its mixture of 1 cluster (number 1 of 3) is broken.");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(whole),
        cmocka_unit_test(sizes),
        cmocka_unit_test(values),
    };
    return cmocka_run_group_tests(tests, io_setup, io_teardown);
}
