/* Pictures: what is drawn lies on the canvas, and an axis names its ends. */
#include <unistd.h>

#include "model/path.h"

#include "context.h"

static char text[200000];

static void read_back(const char *file)
{
    FILE *in = fopen(file, "r");
    assert_non_null(in);
    text[fread(text, 1, sizeof text - 1, in)] = 0;
    fclose(in);
    unlink(file);
}

/* Every place x, x1, x2 (or y) of the picture is between 0 and its width (or height), which are made
 * use of. */
static void assert_inside(const char *size, char axis)
{
    char begin[2][8] = {{' ', axis, '=', '"'}, {' ', axis}};
    const char *at = strstr(text, size);
    assert_non_null(at);
    const double most = atof(at + strlen(size));
    double last = 0;
    int places = 0;
    assert_true(most > 0);
    for (at = text; (at = strstr(at, begin[1])); at += 2) {
        const char *value = strncmp(at, begin[0], 4) == 0                    ? at + 4
                            : (at[2] == '1' || at[2] == '2') && at[3] == '=' ? at + 5
                                                                             : NULL;
        if (!value)
            continue;
        places++;
        last = fmax(last, atof(value));
        if (!(atof(value) >= 0 && atof(value) <= most))
            fail_msg("%c is %g, outside 0 to %g", axis, atof(value), most);
    }
    assert_true(places > 10 && last > 0.9 * most);
}

static void assert_picture(const char *file)
{
    read_back(file);
    assert_null(strstr(text, "nan"));
    assert_null(strstr(text, "inf"));
    assert_inside("width=\"", 'x');
    assert_inside("height=\"", 'y');
}

/* Recall of an index whose lists are the places of the rows. */
static void of_an_index(void **state)
{
    (void)state;
    enum { N = 400, C = 20 };
    double x[N], means[C], variance = 1;
    vem_data *data = NULL;
    vem_model *model = NULL;
    vem_index *index = NULL;
    for (int i = 0; i < N; i++)
        x[i] = 10 * (i % C) + (double)(i / C) / N;
    for (int c = 0; c < C; c++)
        means[c] = 10 * c;
    assert_int_equal(vem_data_borrow(ctx, VEM_FLOAT64, x, N, 1, 0, 0, &data), VEM_OK);
    assert_int_equal(vem_model_new(ctx, VEM_ISO_SHARED, C, 1, means, NULL, &variance,
                                   &model),
                     VEM_OK);
    assert_int_equal(vem_index_score(ctx, model, data, data, VEM_DOUBLE, NULL, &index),
                     VEM_OK);
    assert_int_equal(vem_index_draw(ctx, index, "index_test.svg"), VEM_OK);
    assert_picture("index_test.svg");
    assert_non_null(strstr(text, ">100 %</text>"));
    for (int i = 0; i <= 5; i++) { /* recall, from none to all */
        char tick[32];
        snprintf(tick, sizeof tick, ">%.1f</text>", 0.2 * i);
        assert_non_null(strstr(text, tick));
    }
    assert_non_null(strstr(text, "400 rows in 20 lists"));
    vem_index_free(index);
    vem_model_free(model);
    vem_data_free(data);
}

static vem_path *path_of(const int32_t *clusters, int32_t count, int32_t chosen)
{
    double means[100], ones[100], even[100];
    vem_path *path = NULL;
    assert_int_equal(vem_i_path_new(vem_i_begin(ctx, &(vem_i_verb){0}), count, &path),
                     VEM_OK);
    for (int32_t k = 0; k < count; k++) {
        vem_model *model = NULL;
        for (int32_t c = 0; c < clusters[k]; c++) {
            means[c] = c;
            ones[c] = 1;
            even[c] = 1.0 / clusters[k];
        }
        const double off = clusters[k] - chosen;
        const vem_path_point point = {.clusters = clusters[k],
                                      .objective =
                                          -(off < 0 ? off * off * off * off : off)};
        assert_int_equal(vem_model_new(ctx, VEM_ISO, clusters[k], 1, means, even, ones,
                                       &model),
                         VEM_OK);
        assert_int_equal(vem_i_path_append(vem_i_begin(ctx, &(vem_i_verb){0}), path,
                                           &point, model),
                         VEM_OK);
    }
    path->chosen = chosen;
    path->method = VEM_SELECT_BAYES;
    return path;
}

/* Numbers that differ by a factor of a hundred are drawn by their logs, and those near the chosen one
 * beside. */
static void of_a_path(void **state)
{
    (void)state;
    static const int32_t wide[] = {1, 2, 5, 10, 20, 50, 98, 99, 100};
    static const int32_t close[] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12};
    vem_path *path = path_of(wide, 9, 50);
    assert_int_equal(vem_path_draw(ctx, path, NULL, "path_test.svg"), VEM_OK);
    assert_picture("path_test.svg");
    assert_non_null(strstr(text, "clusters (log scale)"));
    assert_non_null(strstr(text, ">1</text>"));
    assert_non_null(strstr(text, ">100</text>"));
    vem_path_free(path);
    path = path_of(close, 12, 10);
    assert_int_equal(vem_path_draw(ctx, path, NULL, "path_test.svg"), VEM_OK);
    assert_picture("path_test.svg");
    const char *first = strstr(text, ">clusters</text>");
    assert_non_null(first);
    assert_non_null(strstr(text, "the same near the chosen one"));
    assert_non_null(strstr(first + 1, ">clusters</text>")); /* each has its axis */
    vem_path_free(path);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(of_an_index),
        cmocka_unit_test(of_a_path),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
