/* In a program that writes 0.5 as "0,5" the library reads and writes the same text and the
 * same files. */
#include "io_test.h"

#include <locale.h>

/* Locales that the machine lacks are made once, before they are asked for: it takes seconds,
 * and a locale that was not found is not looked for again. */
static char made[] = "/tmp/vem-locale-XXXXXX";

static int make_locales(void **state)
{
    (void)state;
    static const char *const sources[] = {"de_DE", "tr_TR"};
    char command[400];
    if (!mkdtemp(made))
        return -1;
    for (size_t i = 0; i < sizeof sources / sizeof *sources; i++) {
        snprintf(command, sizeof command,
                 "localedef -i %s -f UTF-8 %s/%s.UTF-8 >/dev/null 2>&1", sources[i], made,
                 sources[i]);
        if (system(command) == -1)
            return -1;
    }
    return 0;
}

static int remove_locales(void **state)
{
    (void)state;
    char command[200];
    snprintf(command, sizeof command, "rm -rf %s", made);
    return system(command) == 0 ? 0 : -1;
}

static int use_locale(const char *name)
{
    setenv("LOCPATH", made, 1);
    if (setlocale(LC_ALL, name))
        return 1;
    unsetenv("LOCPATH");
    return setlocale(LC_ALL, name) != NULL;
}

static int leave_locale(void **state)
{
    setlocale(LC_ALL, "C");
    unsetenv("LOCPATH");
    return io_teardown(state);
}

static void german(void)
{
    if (!use_locale("de_DE.UTF-8"))
        skip();
    assert_string_equal(localeconv()->decimal_point, ",");
}

static void options_as_text(void **state)
{
    (void)state;
    german();
    vem_options options;
    char text[64];
    vem_options_init(&options);
    assert_int_equal(vem_options_set(io_ctx, &options, "tolerance", "0.001"), VEM_OK);
    assert_true(options.tolerance == 0.001);
    assert_int_equal(vem_options_get(&options, "tolerance", text, sizeof text), 1);
    assert_string_equal(text, "0.001");
    assert_int_equal(vem_options_set(io_ctx, &options, "memory", "1.5M"), VEM_OK);
    assert_int_equal(options.memory, 3 << 19);
    assert_int_equal(vem_options_set(io_ctx, &options, "tolerance", "0,001"),
                     VEM_BAD_OPTION);
    options.tolerance = 1.5;
    vem_options resolved;
    assert_int_equal(vem_options_resolve(io_ctx, &options, 10, 2, VEM_FLOAT64, &resolved),
                     VEM_BAD_OPTION);
    io_says("1.5");
    assert_string_equal(localeconv()->decimal_point, ","); /* the caller's is as it was */
}

static void tables(void **state)
{
    (void)state;
    german();
    const double rows[] = {0.5, -1.25e-7, 1e300, 3};
    const char *path = io_path("t.csv");
    assert_int_equal(vem_array_write(io_ctx, path, VEM_FLOAT64, rows, 2, 2), VEM_OK);
    vem_data *data = io_read(path);
    io_holds(data, 2, 2, rows);
    vem_data_free(data);
    const int32_t clusters[] = {0};
    const double probability = 0.75;
    char line[200] = "";
    path = io_path("s.csv");
    assert_int_equal(vem_soft_write(io_ctx, path, clusters, &probability, 1, 1), VEM_OK);
    FILE *file = fopen(path, "r");
    assert_non_null(fgets(line, sizeof line, file));
    assert_non_null(fgets(line, sizeof line, file));
    fclose(file);
    assert_non_null(strstr(line, "0.75"));
    data = io_read(io_text("n.csv", "0.12345678901234567890123,1e-400\n"));
    const double read[] = {0.12345678901234567890123, 0};
    io_holds(data, 1, 2, read);
    vem_data_free(data);
}

static void models(void **state)
{
    (void)state;
    german();
    const double means[] = {0.5, 1.5}, variance = 0.25;
    vem_model *model, *back;
    assert_int_equal(vem_model_new(io_ctx, VEM_ISO_SHARED, 2, 1, means, NULL, &variance,
                                   &model),
                     VEM_OK);
    assert_int_equal(vem_model_set_meta(io_ctx, model, "{\"free_energy\": -0.625}"),
                     VEM_OK);
    const char *path = io_path("m.npz");
    assert_int_equal(vem_model_write(io_ctx, model, path), VEM_OK);
    setlocale(LC_ALL, "C");
    assert_int_equal(vem_model_read(io_ctx, path, &back), VEM_OK);
    assert_non_null(strstr(vem_model_meta(back), "-0.625"));
    assert_memory_equal(vem_model_means(back), means, sizeof means);
    vem_model_free(back);
    vem_model_free(model);
}

static vem_summary fit(const vem_data *data, const char *path, int64_t steps, int resume)
{
    const vem_checkpoint checkpoint = {.size = sizeof checkpoint,
                                       .path = path,
                                       .resume = resume};
    vem_options options;
    vem_model *model = NULL;
    vem_report *report = NULL;
    vem_options_init(&options);
    options.clusters = 3;
    options.max_steps = steps;
    options.tolerance = 1e-7;
    options.floor = 0.0125;
    options.algorithm = VEM_ALGORITHM_GMM;
    assert_int_equal(vem_ctx_set_checkpoint(io_ctx, &checkpoint), VEM_OK);
    if (vem_fit(io_ctx, data, &options, NULL, &model, &report) != VEM_OK)
        fail_msg("%s", vem_ctx_message(io_ctx));
    const vem_summary summary = *vem_report_summary(report);
    vem_report_free(report);
    vem_model_free(model);
    vem_ctx_set_checkpoint(io_ctx, NULL);
    return summary;
}

/* Made here and resumed there. */
static void state_files(void **state)
{
    double rows[240];
    vem_data *data;
    (void)state;
    german();
    for (int i = 0; i < 240; i++)
        rows[i] = (i / 2 % 3) * 1.5 + sin(37.0 * i);
    assert_int_equal(vem_data_borrow(io_ctx, VEM_FLOAT64, rows, 120, 2, 0, 0, &data),
                     VEM_OK);
    char path[400];
    snprintf(path, sizeof path, "%s", io_path("state"));
    fit(data, path, 3, 0);
    setlocale(LC_ALL, "C");
    const vem_summary there = fit(data, path, 6, 1);
    assert_int_equal(there.resumed_step > 0, 1);
    german();
    const vem_summary here = fit(data, path, 8, 1);
    assert_int_equal(here.resumed_step >= there.steps, 1);
    vem_data_free(data);
}

/* Sentences are put together from parts, each of which may have numbers. */
static void sentences(void **state)
{
    double rows[240];
    char text[32];
    vem_data *data;
    vem_options options;
    vem_model *model = NULL;
    vem_report *report = NULL;
    (void)state;
    german();
    assert_string_equal(vem_bytes_print(1536, text), "1.50 KiB");
    for (int i = 0; i < 240; i++)
        rows[i] = (i / 2 % 3) * 1.5 + sin(37.0 * i);
    assert_int_equal(vem_data_borrow(io_ctx, VEM_FLOAT64, rows, 120, 2, 0, 0, &data),
                     VEM_OK);
    for (int rule = 0; rule < 3; rule++) {
        static const int families[] = {VEM_DIAG, VEM_DIAG, VEM_ISO_SHARED};
        vem_options_init(&options);
        options.clusters = 3;
        options.family = families[rule];
        options.tolerance = 0.0125;
        options.held = rule < 2 ? 3 : 1;
        if (rule == 0)
            options.algorithm = VEM_ALGORITHM_GMM;
        if (vem_fit(io_ctx, data, &options, NULL, &model, &report) != VEM_OK)
            fail_msg("%s", vem_ctx_message(io_ctx));
        if (!strstr(vem_report_stopping(report), "0.0125"))
            fail_msg("\"%s\"", vem_report_stopping(report));
        vem_report_free(report);
        vem_model_free(model);
    }
    rows[7] = 1.5e30;
    options.precision = VEM_SINGLE;
    assert_int_equal(vem_fit(io_ctx, data, &options, NULL, &model, &report),
                     VEM_BAD_DATA);
    io_says("is 1.5e+30 and");
    vem_data_free(data);
}

static void same_files(const char *ours, const char *theirs)
{
    FILE *a = fopen(ours, "rb"), *b = fopen(theirs, "rb");
    int64_t at = 0;
    assert_true(a && b);
    for (int x = 0, y = 0; x != EOF; at++) {
        x = fgetc(a);
        y = fgetc(b);
        if (x != y)
            fail_msg("%s and %s differ at byte %lld", ours, theirs, (long long)at);
    }
    assert_true(at > 100);
    fclose(a);
    fclose(b);
}

/* Trees as text and pictures, and pictures of paths. */
static void pictures(void **state)
{
    static const char *const endings[] = {"nwk", "R", "json", "tree.svg", "path.svg"};
    enum { FILES = sizeof endings / sizeof *endings };
    double rows[240];
    char paths[2][FILES][400];
    (void)state;
    german();
    for (int i = 0; i < 240; i++)
        rows[i] = (i / 2 % 3) * 1.5 + sin(37.0 * i);
    for (int plain = 0; plain < 2; plain++) {
        vem_data *data;
        vem_options options;
        vem_dendrogram *tree = NULL;
        vem_path *path = NULL;
        const vem_dendrogram_options joined = {.size = sizeof joined,
                                               .method = VEM_DENDROGRAM_AVERAGE};
        const vem_select_options select = {.size = sizeof select,
                                           .method = VEM_SELECT_GREEDY,
                                           .max_clusters = 4};
        if (plain)
            setlocale(LC_ALL, "C");
        vem_options_init(&options);
        assert_int_equal(vem_data_borrow(io_ctx, VEM_FLOAT64, rows, 120, 2, 0, 0, &data),
                         VEM_OK);
        for (int k = 0; k < FILES; k++)
            snprintf(paths[plain][k], sizeof paths[plain][k], "%s/%d.%s", io_directory,
                     plain, endings[k]);
        const char *const names[] = {paths[plain][0], paths[plain][1], paths[plain][2],
                                     paths[plain][3], paths[plain][4]};
        assert_int_equal(vem_agglomerate(io_ctx, data, &options, &joined, &tree), VEM_OK);
        assert_int_equal(vem_dendrogram_write_newick(io_ctx, tree, NULL, names[0]),
                         VEM_OK);
        assert_int_equal(vem_dendrogram_write_r(io_ctx, tree, NULL, names[1]), VEM_OK);
        assert_int_equal(vem_dendrogram_write_r(io_ctx, tree, NULL, names[2]), VEM_OK);
        assert_int_equal(vem_dendrogram_draw(io_ctx, tree, NULL, 3, names[3]), VEM_OK);
        if (vem_select(io_ctx, data, &options, &select, NULL, &path, NULL) != VEM_OK)
            fail_msg("%s", vem_ctx_message(io_ctx));
        assert_int_equal(vem_path_draw(io_ctx, path, NULL, names[4]), VEM_OK);
        vem_path_free(path);
        vem_dendrogram_free(tree);
        vem_data_free(data);
    }
    for (int k = 0; k < FILES; k++)
        same_files(paths[0][k], paths[1][k]);
}

/* A Turkish I is not the capital of i. */
static void endings(void **state)
{
    (void)state;
    if (!use_locale("tr_TR.UTF-8"))
        skip();
    const struct {
        uint32_t n, d;
        float values[2];
    } bin = {1, 2, {0.5f, 4}};
    const double expected[] = {0.5, 4};
    vem_data *data = io_read(io_put("X.FBIN", &bin, sizeof bin));
    io_holds(data, 1, 2, expected);
    vem_data_free(data);
    const double infinite[] = {INFINITY, 1};
    data = io_read(io_text("i.csv", "INFINITY,1\n"));
    io_holds(data, 1, 2, infinite);
    vem_data_free(data);
}

static void hints(void **state)
{
    (void)state;
    const char *const names[] = {"height", "INCOMEINEURO"};
    if (!use_locale("tr_TR.UTF-8"))
        skip();
    assert_string_equal(vem_name_nearest("income", names, 2), names[1]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(options_as_text, io_setup, leave_locale),
        cmocka_unit_test_setup_teardown(tables, io_setup, leave_locale),
        cmocka_unit_test_setup_teardown(models, io_setup, leave_locale),
        cmocka_unit_test_setup_teardown(state_files, io_setup, leave_locale),
        cmocka_unit_test_setup_teardown(sentences, io_setup, leave_locale),
        cmocka_unit_test_setup_teardown(pictures, io_setup, leave_locale),
        cmocka_unit_test_setup_teardown(endings, io_setup, leave_locale),
        cmocka_unit_test_setup_teardown(hints, io_setup, leave_locale),
    };
    return cmocka_run_group_tests(tests, make_locales, remove_locales);
}
