/* Models: made, checked, copied, written as .npz and read back; and archives that lie. */
#include "io_test.h"
#include "run.h"

#include "model/model.h"

static const double means[] = {1, 2, 3, 4, 5, 6}; /* 3 clusters of 2 columns, or 2 of 3 */
static const double weights[] = {0.5, 0.25, 0.25};
static const double variances[] = {2, 0.5, 0.5, 1, 3, 0.1, 0.1, 3, 1, 0.1, 0.1, 4};

static vem_model *make(vem_family_kind family)
{
    vem_model *model = NULL;
    if (vem_model_new(io_ctx, family, 3, 2, means, weights, variances, &model) != VEM_OK)
        fail_msg("%s", vem_ctx_message(io_ctx));
    return model;
}

static void same(const vem_model *a, const vem_model *b)
{
    assert_int_equal(vem_model_family(a), vem_model_family(b));
    assert_int_equal(vem_model_clusters(a), vem_model_clusters(b));
    assert_int_equal(vem_model_columns(a), vem_model_columns(b));
    assert_int_equal(vem_model_variance_count(a), vem_model_variance_count(b));
    assert_memory_equal(vem_model_means(a), vem_model_means(b), 6 * sizeof(double));
    assert_memory_equal(vem_model_weights(a), vem_model_weights(b), 3 * sizeof(double));
    assert_memory_equal(vem_model_variances(a), vem_model_variances(b),
                        vem_model_variance_count(a) * sizeof(double));
    assert_int_equal(vem_model_normalizes(a), vem_model_normalizes(b));
    assert_int_equal(!vem_model_scale(a), !vem_model_scale(b));
    if (vem_model_scale(a))
        assert_memory_equal(vem_model_scale(a), vem_model_scale(b), 2 * sizeof(double));
}

static void every_family(void **state)
{
    const double scale[] = {2, 0.5};
    (void)state;
    for (int family = 0; family < VEM_FAMILIES; family++) {
        const int axes = vem_family_axes((vem_family_kind)family);
        if (axes < 0)
            continue;
        vem_model *model = make((vem_family_kind)family), *copy, *back;
        assert_int_equal(vem_model_variance_count(model),
                         (vem_family_shared((vem_family_kind)family) ? 1 : 3) << axes);
        const char *path = io_path("m.npz");
        if (family % 2) {
            assert_int_equal(vem_model_set_scale(io_ctx, model, scale), VEM_OK);
            vem_model_set_normalizes(model, 1);
            assert_int_equal(vem_model_set_meta(io_ctx, model,
                                                "{\"rows\": 7, \"normalize\": false}"),
                             VEM_OK);
        }
        assert_int_equal(vem_model_copy(io_ctx, model, &copy), VEM_OK);
        same(model, copy);
        assert_int_equal(vem_model_write(io_ctx, model, path), VEM_OK);
        assert_string_equal(vem_file_kind(path), "model");
        assert_int_equal(vem_model_read(io_ctx, path, &back), VEM_OK);
        same(model, back);
        assert_non_null(strstr(vem_model_meta(back), vem_choice_name("family", family)));
        if (family % 2)
            assert_non_null(strstr(vem_model_meta(back), "\"rows\":7"));
        io_refuses(path, VEM_BAD_DATA, "is a model, but data are needed here");
        vem_model_free(model);
        vem_model_free(copy);
        vem_model_free(back);
    }
    vem_model_free(NULL);
}

/* Weights that were not fitted are not counted; whether they were is kept in the file, also
 * where a fit ended at equal weights. */
static void parameters_are_those_fitted(void **state)
{
    (void)state;
    for (int family = 0; family < VEM_FAMILIES; family++) {
        if (vem_family_axes((vem_family_kind)family) < 0)
            continue;
        vem_model *flat = NULL, *back;
        const int shapes = vem_family_shared((vem_family_kind)family) ? 1 : 3;
        const int64_t fixed = 6 + shapes * (1 + vem_family_axes((vem_family_kind)family));
        assert_int_equal(vem_model_new(io_ctx, (vem_family_kind)family, 3, 2, means, NULL,
                                       variances, &flat),
                         VEM_OK);
        assert_int_equal(vem_model_prior(flat), VEM_PRIOR_FLAT);
        assert_int_equal(vem_model_parameters(flat), fixed);
        const char *path = io_path("m.npz");
        for (int prior = VEM_PRIOR_FLAT; prior <= VEM_PRIOR_FREE; prior++) {
            vem_model_set_prior(flat, (vem_prior_kind)prior);
            assert_int_equal(vem_model_write(io_ctx, flat, path), VEM_OK);
            assert_int_equal(vem_model_read(io_ctx, path, &back), VEM_OK);
            assert_int_equal(vem_model_prior(back), prior);
            assert_int_equal(vem_model_parameters(back), fixed + 2 * prior);
            vem_model_free(back);
        }
        vem_model_free(flat);
        vem_model *fitted = make((vem_family_kind)family);
        assert_int_equal(vem_model_prior(fitted), VEM_PRIOR_FREE);
        assert_int_equal(vem_model_parameters(fitted), fixed + 2);
        vem_model_free(fitted);
    }
}

static void refuses(vem_family_kind family, const double *m, const double *w,
                    const double *v, const char *words)
{
    vem_model *model = NULL;
    assert_int_equal(vem_model_new(io_ctx, family, 2, 2, m, w, v, &model), VEM_BAD_DATA);
    assert_null(model);
    io_says(words);
}

/* Families of counts have no variances, in the file either; their means are checked. */
static void families_of_counts(void **state)
{
    const double shares[] = {0.25, 0.75, 1, 0}, more[] = {0.5, 1.5, 1, 0},
                 less[] = {-0.25, 1.25, 1, 0}, open_sum[] = {0.5, 0.4, 1, 0};
    vem_model *model, *back, *copy;
    (void)state;
    for (int family = 0; family < VEM_FAMILIES; family++) {
        if (vem_family_axes((vem_family_kind)family) >= 0)
            continue;
        const char *path = io_path("c.npz");
        const int free_numbers = family == VEM_MULTINOMIAL ? 2 : 4;
        assert_int_equal(vem_model_new(io_ctx, (vem_family_kind)family, 2, 2, shares,
                                       NULL, NULL, &model),
                         VEM_OK);
        assert_int_equal(vem_model_variance_count(model), 0);
        assert_int_equal(vem_model_parameters(model), free_numbers);
        assert_int_equal(vem_model_copy(io_ctx, model, &copy), VEM_OK);
        assert_int_equal(vem_model_write(io_ctx, copy, path), VEM_OK);
        assert_string_equal(vem_file_kind(path), "model");
        assert_int_equal(vem_model_read(io_ctx, path, &back), VEM_OK);
        assert_int_equal(vem_model_family(back), family);
        assert_memory_equal(vem_model_means(back), shares, sizeof shares);
        assert_int_equal(vem_model_new(io_ctx, (vem_family_kind)family, 2, 2, less, NULL,
                                       NULL, &model),
                         VEM_BAD_DATA);
        io_says("mean of cluster 1, column 1 is -0.25, but it must be 0 or more");
        vem_model_free(copy);
        vem_model_free(back);
        vem_model_free(model);
    }
    refuses(VEM_BERNOULLI, more, NULL, NULL, "and at most 1");
    refuses(VEM_MULTINOMIAL, open_sum, NULL, NULL, "sum to 0.9");
    assert_int_equal(vem_model_new(io_ctx, VEM_ISO, 2, 2, shares, NULL, NULL, &model),
                     VEM_BAD_OPTION);
    io_says("variances");
}

/* The same model gives the same bytes, whenever and wherever it is written. */
static void same_bytes(void **state)
{
    vem_i_file first, second;
    (void)state;
    vem_model *model = make(VEM_FULL);
    assert_int_equal(vem_model_write(io_ctx, model, io_path("1.npz")), VEM_OK);
    setenv("TZ", "Pacific/Auckland", 1);
    assert_int_equal(vem_model_write(io_ctx, model, io_path("2.npz")), VEM_OK);
    unsetenv("TZ");
    assert_int_equal(vem_i_file_open(run_of(io_ctx), io_path("1.npz"), &first), VEM_OK);
    assert_int_equal(vem_i_file_open(run_of(io_ctx), io_path("2.npz"), &second), VEM_OK);
    assert_int_equal(first.size, second.size);
    assert_memory_equal(first.bytes, second.bytes, first.size);
    vem_i_file_close(&first);
    vem_i_file_close(&second);
    vem_model_free(model);
}

static void wrong_values(void **state)
{
    const double bad_mean[] = {1, 2, 3, NAN}, half[] = {0.5, 0.5}, over[] = {0.7, 0.4},
                 negative[] = {1.5, -0.5};
    const double zero[] = {1, 0, 1, 1}, minus[] = {-1},
                 skew[] = {1, 0.5, 0.1, 1, 1, 0, 0, 1},
                 infinite[] = {1, INFINITY, INFINITY, 1, 1, 0, 0, 1},
                 flat[] = {1, 0, 0, 1, 1, 0, 0, 0};
    vem_model *model = NULL;
    (void)state;
    refuses(VEM_ISO, bad_mean, half, variances, "mean of cluster 2, column 2 is nan");
    refuses(VEM_ISO, means, over, variances, "sum to 1.1, but the sum must be 1");
    refuses(VEM_ISO, means, negative, variances, "weight of cluster 2 is -0.5");
    refuses(VEM_ISO_SHARED, means, half, minus, "The variance is -1");
    refuses(VEM_ISO, means, half, zero, "variance of cluster 2 is 0");
    refuses(VEM_DIAG, means, half, zero, "variance of cluster 1, column 2 is 0");
    refuses(VEM_FULL, means, half, flat, "variance of cluster 2, column 2 is 0");
    refuses(VEM_FULL, means, half, skew,
            "covariance matrix of cluster 1 holds 0.1 and 0.5");
    refuses(VEM_FULL, means, half, infinite, "covariance matrix of cluster 1");
    assert_int_equal(vem_model_new(io_ctx, VEM_ISO, 0, 2, means, half, variances, &model),
                     VEM_BAD_OPTION);
    io_says("0 clusters and 2 columns");
    assert_int_equal(vem_model_new(io_ctx, (vem_family_kind)VEM_FAMILIES, 2, 2, means,
                                   half, variances, &model),
                     VEM_BAD_OPTION);
    char said[40];
    snprintf(said, sizeof said, "The family is %d", VEM_FAMILIES);
    io_says(said);

    assert_int_equal(vem_model_new(io_ctx, VEM_ISO, 2, 2, means, NULL, variances, &model),
                     VEM_OK);
    assert_true(vem_model_weights(model)[0] == 0.5); /* 1/C without weights */
    const double bad_scale[] = {1, 0};
    assert_int_equal(vem_model_set_scale(io_ctx, model, bad_scale), VEM_BAD_DATA);
    io_says("scale of column 2 is 0");
    assert_int_equal(vem_model_set_meta(io_ctx, model, "{\"a\": "), VEM_BAD_DATA);
    io_says("is not JSON");
    assert_int_equal(vem_model_set_meta(io_ctx, model, "[1]"), VEM_BAD_DATA);
    io_says("not an object");
    assert_int_equal(vem_model_set_meta(io_ctx, model, NULL), VEM_OK);
    assert_int_equal(vem_model_write(io_ctx, model, io_path("m.txt")), VEM_BAD_OPTION);
    io_says("models are written as .npz");
    vem_model_free(model);
}

/* A model file from these arrays is refused with these words; NULL: it is read. */
static void file_refused(const vem_i_array *arrays, int count, const char *words)
{
    vem_model *model = NULL;
    const char *path = io_path("r.npz");
    assert_int_equal(vem_i_npz_write(run_of(io_ctx), path, arrays, count), VEM_OK);
    const vem_status status = vem_model_read(io_ctx, path, &model);
    if (!words) {
        if (status != VEM_OK)
            fail_msg("%s", vem_ctx_message(io_ctx));
        vem_model_free(model);
        return;
    }
    assert_int_not_equal(status, VEM_OK);
    assert_null(model);
    io_says(words);
}

static void wrong_files(void **state)
{
    const float narrow[] = {1, 2, 3, 4, 5, 6};
    const char *unknown = "{\"family\":\"cube\"}", *full = "{\"family\":\"full\"}";
    vem_model *model = NULL;
    vem_i_array a[4] = {{"means", VEM_FLOAT32, narrow, 2, {3, 2}},
                        {"weights", VEM_FLOAT64, weights, 1, {3}},
                        {"variances", VEM_FLOAT64, variances, 3, {3, 2, 2}},
                        {"meta", VEM_UINT8, full, 1, {17}}};
    (void)state;
    file_refused(a, 3, NULL); /* made by hand, without meta */
    file_refused(a, 4, NULL);
    file_refused(a, 2, "no arrays named means and variances");
    file_refused(a + 1, 2, "no arrays named means and variances");
    a[2].rank = 2;
    file_refused(a, 4, "does not fit 3 clusters of family full in 2 columns");
    file_refused(a, 3, NULL); /* diag, by its shape */
    a[2].dims[1] = 1;
    file_refused(a, 3, "does not fit 3 clusters of family diag");
    a[2].rank = 1;
    a[2].dims[0] = 2;
    file_refused(a, 3, NULL); /* diag-shared */
    a[2].dims[0] = 4;
    file_refused(a, 3, "does not fit 3 clusters of family iso ");
    a[2].dims[0] = 1;
    file_refused(a, 3, NULL); /* iso-shared */
    a[3].values = unknown;
    file_refused(a, 4, "family cube, which this version of vem does not know");
    a[3].values = "{\"family\":\"fulls\"}";
    file_refused(a, 4, "is not JSON");
    a[3].type = VEM_INT32;
    a[3].values = variances;
    file_refused(a, 4, "not a vector of bytes");
    a[1].dims[0] = 2;
    file_refused(a, 3, "weights has 2 values in 1 dimensions");
    a[1].dims[0] = 3;
    a[1].values = means;
    file_refused(a, 3, "holds no valid model. The weights of the clusters sum to 6");
    a[0].rank = 1;
    file_refused(a, 3, "means has 1 dimensions");
    assert_int_equal(vem_model_read(io_ctx, io_path("absent.npz"), &model), VEM_IO_ERROR);
    assert_int_equal(vem_model_read(io_ctx, io_text("x.npz", "hello"), &model),
                     VEM_BAD_DATA);
    io_says("is not an .npz file");
}

/* Any one byte of the archive changed, or the end cut off: a model or a sentence, no
 * crash. */
static void damaged_archives(void **state)
{
    vem_i_file file;
    int refused = 0;
    (void)state;
    vem_model *model = make(VEM_DIAG);
    const char *path = io_path("whole.npz");
    assert_int_equal(vem_model_write(io_ctx, model, path), VEM_OK);
    vem_model_free(model);
    assert_int_equal(vem_i_file_open(run_of(io_ctx), path, &file), VEM_OK);
    char *copy = malloc(file.size);
    for (size_t i = 0; i < 2 * file.size; i += 3) {
        memcpy(copy, file.bytes, file.size);
        copy[i % file.size] ^= (char)(i < file.size ? 0x80 : 0x01);
        const size_t size = i % 2 ? file.size : i % file.size + 1;
        model = NULL;
        if (vem_model_read(io_ctx, io_put("damaged.npz", copy, size), &model) != VEM_OK) {
            refused++;
            assert_true(vem_ctx_message(io_ctx)[0] != '\0');
        }
        vem_model_free(model);
    }
    assert_true(refused > (int)(file.size / 3)); /* checksums catch values that changed */
    free(copy);
    vem_i_file_close(&file);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_family),
        cmocka_unit_test(same_bytes),
        cmocka_unit_test(wrong_values),
        cmocka_unit_test(wrong_files),
        cmocka_unit_test(damaged_archives),
        cmocka_unit_test(parameters_are_those_fitted),
        cmocka_unit_test(families_of_counts),
    };
    return cmocka_run_group_tests(tests, io_setup, io_teardown);
}
