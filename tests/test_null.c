/* NULL, for every pointer of every public function: it is allowed, or answered with a sentence
 * that names the verb and the argument; and functions that only tell give nothing. (py_package.py looks
 * whether one is left out.) */
#define CONTEXT_THREADS 1
#include "context.h"
#include "vem/mpi.h"
#include "vem/parts.h"

/* What the calls need besides the NULL at hand. */
static vem_data *data;
static vem_model *model;
static vem_stats *stats;
static vem_stream *stream;
static vem_options options;
static double rows[64];
static const double one[] = {1, 2, 3, 4};
static const vem_dtype type = VEM_FLOAT64;

static void refuses(vem_status status, const char *argument, const char *call)
{
    char words[80];
    if (status != VEM_BAD_OPTION)
        fail_msg("%s gives \"%s\"", call, vem_status_name(status));
    if (strcmp(argument, "ctx") == 0)
        return; /* there is nowhere to put a sentence */
    snprintf(words, sizeof words, "%.*s was given NULL for %s.", (int)strcspn(call, "("),
             call, argument);
    assert_string_equal(vem_ctx_message(ctx), words);
}
#define REFUSES(argument, call) refuses((call), #argument, #call)

static int make_all(void **state)
{
    if (set_up(state) != 0)
        return -1;
    for (int i = 0; i < 64; i++)
        rows[i] = sin(i);
    vem_stream_options so = {.size = sizeof so, .bucket = 8};
    vem_options_init(&options);
    options.clusters = 2;
    if (vem_data_borrow(ctx, type, rows, 32, 2, 0, 0, &data) != VEM_OK ||
        vem_model_new(ctx, VEM_ISO_SHARED, 2, 2, one, NULL, one, &model) != VEM_OK ||
        vem_accumulate(ctx, model, data, &options, &stats) != VEM_OK ||
        vem_stream_new(ctx, &so, &stream) != VEM_OK ||
        vem_stream_add(ctx, stream, data) != VEM_OK)
        return -1;
    return 0;
}

static int free_all(void **state)
{
    vem_data_free(data);
    vem_model_free(model);
    vem_stats_free(stats);
    vem_stream_free(stream);
    return tear_down(state);
}

static void contexts_and_data(void **state)
{
    (void)state;
    void *array;
    vem_data *made;
    REFUSES(ctx, vem_ctx_new(NULL));
    REFUSES(ctx, vem_ctx_set_threads(NULL, 1));
    REFUSES(ctx, vem_ctx_set_memory(NULL, 0));
    REFUSES(ctx, vem_ctx_set_spent(NULL, 0));
    vem_ctx_set_dashes(NULL, 1);
    REFUSES(ctx, vem_ctx_set_checkpoint(NULL, NULL));
    assert_int_equal(vem_ctx_set_checkpoint(ctx, NULL), VEM_OK);
    REFUSES(ctx, vem_array_new(NULL, 8, &array));
    REFUSES(array, vem_array_new(ctx, 8, NULL));
    REFUSES(ctx, vem_data_read(NULL, "x.npy", NULL, &made));
    REFUSES(path, vem_data_read(ctx, NULL, NULL, &made));
    REFUSES(data, vem_data_read(ctx, "x.npy", NULL, NULL));
    const char *const paths[] = {NULL};
    REFUSES(ctx, vem_data_read_parts(NULL, paths, 1, NULL, &made));
    REFUSES(paths, vem_data_read_parts(ctx, NULL, 1, NULL, &made));
    REFUSES(a path, vem_data_read_parts(ctx, paths, 1, NULL, &made));
    REFUSES(data, vem_data_read_parts(ctx, paths, 1, NULL, NULL));
    REFUSES(ctx, vem_data_borrow(NULL, type, rows, 32, 2, 0, 0, &made));
    REFUSES(values, vem_data_borrow(ctx, type, NULL, 32, 2, 0, 0, &made));
    REFUSES(data, vem_data_borrow(ctx, type, rows, 32, 2, 0, 0, NULL));
    const int64_t starts[2] = {0, 1};
    const int32_t columns[1] = {0};
    const double a_value[1] = {1};
    REFUSES(ctx, vem_data_sparse(NULL, 1, 2, starts, columns, a_value, &made));
    REFUSES(starts, vem_data_sparse(ctx, 1, 2, NULL, columns, a_value, &made));
    REFUSES(columns, vem_data_sparse(ctx, 1, 2, starts, NULL, a_value, &made));
    REFUSES(values, vem_data_sparse(ctx, 1, 2, starts, columns, NULL, &made));
    REFUSES(data, vem_data_sparse(ctx, 1, 2, starts, columns, a_value, NULL));
    REFUSES(ctx, vem_data_set_weights(NULL, data, NULL, 32));
    REFUSES(data, vem_data_set_weights(ctx, NULL, NULL, 32));
    assert_int_equal(vem_data_set_weights(ctx, data, NULL, 32), VEM_OK);
    REFUSES(ctx, vem_data_get(NULL, data, 0, 1, rows));
    REFUSES(data, vem_data_get(ctx, NULL, 0, 1, rows));
    REFUSES(rows, vem_data_get(ctx, data, 0, 1, NULL));
    REFUSES(ctx, vem_data_spread(NULL, data, rows, 8, rows));
    REFUSES(data, vem_data_spread(ctx, NULL, rows, 8, rows));
    REFUSES(results, vem_data_spread(ctx, data, NULL, 8, rows));
    REFUSES(absent, vem_data_spread(ctx, data, rows, 8, NULL));
    REFUSES(ctx, vem_coreset(NULL, data, 4, VEM_CORESET_UNIFORM, 1, &made));
    REFUSES(data, vem_coreset(ctx, NULL, 4, VEM_CORESET_UNIFORM, 1, &made));
    REFUSES(coreset, vem_coreset(ctx, data, 4, VEM_CORESET_UNIFORM, 1, NULL));
    REFUSES(ctx, vem_coreset_write(NULL, data, "c.npz"));
    REFUSES(coreset, vem_coreset_write(ctx, NULL, "c.npz"));
    REFUSES(path, vem_coreset_write(ctx, data, NULL));
}

static void options_and_models(void **state)
{
    (void)state;
    vem_options resolved;
    uint64_t bytes;
    vem_model *made;
    REFUSES(options, vem_options_set(ctx, NULL, "clusters", "3"));
    REFUSES(name, vem_options_set(ctx, &options, NULL, "3"));
    REFUSES(value, vem_options_set(ctx, &options, "clusters", NULL));
    assert_int_equal(vem_options_set(NULL, &options, "clusters", "x"), VEM_BAD_OPTION);
    REFUSES(options, vem_options_resolve(ctx, NULL, 32, 2, type, &resolved));
    REFUSES(resolved, vem_options_resolve(ctx, &options, 32, 2, type, NULL));
    assert_int_equal(vem_options_resolve(NULL, &options, 32, 2, type, &resolved), VEM_OK);
    REFUSES(ctx, vem_plan(NULL, &options, 32, 2, type, &bytes));
    REFUSES(options, vem_plan(ctx, NULL, 32, 2, type, &bytes));
    REFUSES(bytes, vem_plan(ctx, &options, 32, 2, type, NULL));
    REFUSES(ctx, vem_model_new(NULL, VEM_ISO_SHARED, 2, 2, one, NULL, one, &made));
    REFUSES(means, vem_model_new(ctx, VEM_ISO_SHARED, 2, 2, NULL, NULL, one, &made));
    REFUSES(variances, vem_model_new(ctx, VEM_ISO_SHARED, 2, 2, one, NULL, NULL, &made));
    REFUSES(model, vem_model_new(ctx, VEM_ISO_SHARED, 2, 2, one, NULL, one, NULL));
    REFUSES(ctx, vem_model_copy(NULL, model, &made));
    REFUSES(model, vem_model_copy(ctx, NULL, &made));
    REFUSES(copy, vem_model_copy(ctx, model, NULL));
    REFUSES(ctx, vem_model_set_scale(NULL, model, NULL));
    REFUSES(model, vem_model_set_scale(ctx, NULL, NULL));
    assert_int_equal(vem_model_set_scale(ctx, model, NULL), VEM_OK);
    REFUSES(ctx, vem_model_set_metric(NULL, model, VEM_METRIC_L2));
    REFUSES(model, vem_model_set_metric(ctx, NULL, VEM_METRIC_L2));
    assert_int_equal(vem_model_set_metric(ctx, model, VEM_METRIC_L2), VEM_OK);
    REFUSES(ctx, vem_model_set_meta(NULL, model, NULL));
    REFUSES(model, vem_model_set_meta(ctx, NULL, NULL));
    assert_int_equal(vem_model_set_meta(ctx, model, NULL), VEM_OK);
    REFUSES(ctx, vem_model_set_column_names(NULL, model, NULL));
    REFUSES(model, vem_model_set_column_names(ctx, NULL, NULL));
    assert_int_equal(vem_model_set_column_names(ctx, model, NULL), VEM_OK);
    REFUSES(ctx, vem_model_set_column_means(NULL, model, NULL));
    REFUSES(model, vem_model_set_column_means(ctx, NULL, NULL));
    assert_int_equal(vem_model_set_column_means(ctx, model, NULL), VEM_OK);
    REFUSES(ctx, vem_model_read(NULL, "m.npz", &made));
    REFUSES(path, vem_model_read(ctx, NULL, &made));
    REFUSES(model, vem_model_read(ctx, "m.npz", NULL));
    REFUSES(ctx, vem_model_write(NULL, model, "m.npz"));
    REFUSES(model, vem_model_write(ctx, NULL, "m.npz"));
    REFUSES(path, vem_model_write(ctx, model, NULL));
}

static void fits_and_statistics(void **state)
{
    (void)state;
    vem_model *made;
    vem_report *report;
    vem_stats *sums;
    vem_data *kept;
    vem_stream *flow;
    vem_forecast forecast;
    const char *paths[] = {NULL};
    vem_stream_options so = {.size = sizeof so, .bucket = 8};
    REFUSES(ctx, vem_fit(NULL, data, &options, NULL, &made, &report));
    REFUSES(data, vem_fit(ctx, NULL, &options, NULL, &made, &report));
    REFUSES(options, vem_fit(ctx, data, NULL, NULL, &made, &report));
    assert_int_equal(vem_fit(ctx, data, &options, NULL, NULL, NULL), VEM_OK);
    assert_int_equal(vem_fit(ctx, data, &options, NULL, &made, NULL), VEM_OK);
    vem_model_free(made);
    assert_int_equal(vem_fit(ctx, data, &options, NULL, NULL, &report), VEM_OK);
    vem_report_free(report);
    REFUSES(ctx, vem_plan_fit(NULL, data, &options, NULL, &forecast));
    REFUSES(data, vem_plan_fit(ctx, NULL, &options, NULL, &forecast));
    REFUSES(options, vem_plan_fit(ctx, data, NULL, NULL, &forecast));
    REFUSES(forecast, vem_plan_fit(ctx, data, &options, NULL, NULL));
    REFUSES(ctx, vem_seed(NULL, data, &options, &model));
    REFUSES(data, vem_seed(ctx, NULL, &options, &model));
    REFUSES(options, vem_seed(ctx, data, NULL, &model));
    REFUSES(model, vem_seed(ctx, data, &options, NULL));
    REFUSES(ctx, vem_accumulate(NULL, model, data, &options, &sums));
    REFUSES(model, vem_accumulate(ctx, NULL, data, &options, &sums));
    REFUSES(data, vem_accumulate(ctx, model, NULL, &options, &sums));
    REFUSES(options, vem_accumulate(ctx, model, data, NULL, &sums));
    REFUSES(stats, vem_accumulate(ctx, model, data, &options, NULL));
    REFUSES(ctx, vem_stats_set_part(NULL, stats, 1, 2));
    REFUSES(stats, vem_stats_set_part(ctx, NULL, 1, 2));
    REFUSES(ctx, vem_stats_expect(NULL, stats, 1));
    REFUSES(stats, vem_stats_expect(ctx, NULL, 1));
    REFUSES(ctx, vem_stats_add(NULL, stats, stats));
    REFUSES(to, vem_stats_add(ctx, NULL, stats));
    REFUSES(from, vem_stats_add(ctx, stats, NULL));
    REFUSES(ctx, vem_stats_next(NULL, stats, &made));
    REFUSES(stats, vem_stats_next(ctx, NULL, &made));
    REFUSES(model, vem_stats_next(ctx, stats, NULL));
    REFUSES(ctx, vem_stats_read(NULL, "s.npz", &sums));
    REFUSES(path, vem_stats_read(ctx, NULL, &sums));
    REFUSES(stats, vem_stats_read(ctx, "s.npz", NULL));
    REFUSES(ctx, vem_stats_write(NULL, stats, "s.npz"));
    REFUSES(stats, vem_stats_write(ctx, NULL, "s.npz"));
    REFUSES(path, vem_stats_write(ctx, stats, NULL));
    REFUSES(ctx, vem_stats_merge(NULL, paths, 1, &sums));
    REFUSES(paths, vem_stats_merge(ctx, NULL, 1, &sums));
    REFUSES(stats, vem_stats_merge(ctx, paths, 1, NULL));
    assert_int_equal(vem_stats_merge(ctx, paths, 1, &sums), VEM_BAD_OPTION);
    REFUSES(ctx, vem_stream_new(NULL, &so, &flow));
    REFUSES(options, vem_stream_new(ctx, NULL, &flow));
    REFUSES(stream, vem_stream_new(ctx, &so, NULL));
    REFUSES(ctx, vem_stream_add(NULL, stream, data));
    REFUSES(stream, vem_stream_add(ctx, NULL, data));
    REFUSES(batch, vem_stream_add(ctx, stream, NULL));
    REFUSES(ctx, vem_stream_coreset(NULL, stream, &kept));
    REFUSES(stream, vem_stream_coreset(ctx, NULL, &kept));
    REFUSES(coreset, vem_stream_coreset(ctx, stream, NULL));
    REFUSES(ctx, vem_stream_model(NULL, stream, &options, NULL, &made, &report));
    REFUSES(stream, vem_stream_model(ctx, NULL, &options, NULL, &made, &report));
    REFUSES(options, vem_stream_model(ctx, stream, NULL, NULL, &made, &report));
    assert_int_equal(vem_stream_model(ctx, stream, &options, NULL, NULL, NULL), VEM_OK);
}

static void paths_of_mixtures(void **state)
{
    (void)state;
    vem_model *made;
    vem_report *report;
    vem_path *path = NULL, *read;
    vem_options open;
    vem_options_init(&open);
    const vem_select_options s = {.size = sizeof s, .max_clusters = 2};
    REFUSES(ctx, vem_select(NULL, data, &open, &s, &made, &path, &report));
    REFUSES(data, vem_select(ctx, NULL, &open, &s, &made, &path, &report));
    REFUSES(options, vem_select(ctx, data, NULL, &s, &made, &path, &report));
    REFUSES(select, vem_select(ctx, data, &open, NULL, &made, &path, &report));
    assert_int_equal(vem_select(ctx, data, &open, &s, NULL, NULL, NULL), VEM_OK);
    assert_int_equal(vem_select(ctx, data, &open, &s, NULL, &path, NULL), VEM_OK);
    vem_path_summary about = {.size = sizeof about};
    REFUSES(ctx, vem_path_describe(NULL, path, &about));
    REFUSES(path, vem_path_describe(ctx, NULL, &about));
    REFUSES(summary, vem_path_describe(ctx, path, NULL));
    vem_stability t = {.size = sizeof t, .resamples = 1};
    REFUSES(ctx, vem_select_stability(NULL, data, &open, &s, model, &t));
    REFUSES(data, vem_select_stability(ctx, NULL, &open, &s, model, &t));
    REFUSES(options, vem_select_stability(ctx, data, NULL, &s, model, &t));
    REFUSES(select, vem_select_stability(ctx, data, &open, NULL, model, &t));
    REFUSES(model, vem_select_stability(ctx, data, &open, &s, NULL, &t));
    REFUSES(stability, vem_select_stability(ctx, data, &open, &s, model, NULL));
    assert_int_equal(vem_select_stability(ctx, data, &open, &s, model, &t), VEM_OK);
    vem_flows *flows = NULL;
    const vem_flow_options fo = {.size = sizeof fo, .precision = VEM_DOUBLE};
    REFUSES(ctx, vem_path_flows(NULL, path, data, &fo, &flows));
    REFUSES(path, vem_path_flows(ctx, NULL, data, &fo, &flows));
    REFUSES(data, vem_path_flows(ctx, path, NULL, &fo, &flows));
    REFUSES(options, vem_path_flows(ctx, path, data, NULL, &flows));
    REFUSES(flows, vem_path_flows(ctx, path, data, &fo, NULL));
    REFUSES(ctx, vem_path_draw(NULL, path, NULL, "p.svg"));
    REFUSES(path, vem_path_draw(ctx, NULL, NULL, "p.svg"));
    REFUSES(file, vem_path_draw(ctx, path, NULL, NULL));
    assert_int_equal(vem_flows_count(NULL) + vem_flows_clusters(NULL, 0), 0);
    assert_int_equal(vem_flows_rows(NULL), 0);
    assert_null(vem_flows_shares(NULL, 0));
    assert_null(vem_flows_at(NULL, 0, NULL));
    vem_flows_free(NULL);
    REFUSES(ctx, vem_path_pick(NULL, path, 1, &made));
    REFUSES(path, vem_path_pick(ctx, NULL, 1, &made));
    REFUSES(model, vem_path_pick(ctx, path, 1, NULL));
    REFUSES(ctx, vem_path_write(NULL, path, model, "p.npz"));
    REFUSES(path, vem_path_write(ctx, NULL, model, "p.npz"));
    REFUSES(model, vem_path_write(ctx, path, NULL, "p.npz"));
    REFUSES(file, vem_path_write(ctx, path, model, NULL));
    REFUSES(ctx, vem_path_read(NULL, "p.npz", &read));
    REFUSES(file, vem_path_read(ctx, NULL, &read));
    REFUSES(path, vem_path_read(ctx, "p.npz", NULL));
    assert_int_equal(vem_path_count(NULL) + vem_path_chosen(NULL), 0);
    assert_null(vem_path_at(NULL, 0));
    assert_null(vem_path_at(path, -1));
    vem_path_free(path);
    vem_path_free(NULL);
}

#include "null_trees.inc"

#include "null_index.inc"

static void uses_and_files(void **state)
{
    (void)state;
    int32_t labels[32];
    double room[64];
    int64_t *read, n, classes[2] = {0, 1};
    vem_assign_options ao = {.size = sizeof ao};
    vem_scores scores;
    vem_agreement agreement;
    vem_generate_options go = {.size = sizeof go, .clusters = 4};
    REFUSES(ctx, vem_assign(NULL, model, data, 1, VEM_DOUBLE, labels, NULL));
    REFUSES(model, vem_assign(ctx, NULL, data, 1, VEM_DOUBLE, labels, NULL));
    REFUSES(data, vem_assign(ctx, model, NULL, 1, VEM_DOUBLE, labels, NULL));
    REFUSES(clusters, vem_assign(ctx, model, data, 1, VEM_DOUBLE, NULL, NULL));
    assert_int_equal(vem_assign(ctx, model, data, 1, VEM_DOUBLE, labels, NULL), VEM_OK);
    REFUSES(ctx, vem_assign_guided(NULL, model, data, &ao, labels, NULL, NULL));
    REFUSES(model, vem_assign_guided(ctx, NULL, data, &ao, labels, NULL, NULL));
    REFUSES(data, vem_assign_guided(ctx, model, NULL, &ao, labels, NULL, NULL));
    REFUSES(options, vem_assign_guided(ctx, model, data, NULL, labels, NULL, NULL));
    REFUSES(clusters, vem_assign_guided(ctx, model, data, &ao, NULL, NULL, NULL));
    assert_int_equal(vem_assign_guided(ctx, model, data, &ao, labels, NULL, NULL),
                     VEM_OK);
    REFUSES(ctx, vem_posterior(NULL, model, data, VEM_DOUBLE, room));
    REFUSES(model, vem_posterior(ctx, NULL, data, VEM_DOUBLE, room));
    REFUSES(data, vem_posterior(ctx, model, NULL, VEM_DOUBLE, room));
    REFUSES(probabilities, vem_posterior(ctx, model, data, VEM_DOUBLE, NULL));
    REFUSES(ctx, vem_log_densities(NULL, model, data, VEM_DOUBLE, room));
    REFUSES(model, vem_log_densities(ctx, NULL, data, VEM_DOUBLE, room));
    REFUSES(data, vem_log_densities(ctx, model, NULL, VEM_DOUBLE, room));
    REFUSES(log_densities, vem_log_densities(ctx, model, data, VEM_DOUBLE, NULL));
    REFUSES(ctx, vem_sample(NULL, model, 1, 0, 1, room, NULL));
    REFUSES(model, vem_sample(ctx, NULL, 1, 0, 1, room, NULL));
    REFUSES(rows, vem_sample(ctx, model, 1, 0, 1, NULL, labels));
    vem_cluster found[8] = {{.size = sizeof *found}};
    vem_description about = {.size = sizeof about};
    REFUSES(ctx, vem_describe(NULL, model, NULL, VEM_DOUBLE, found, &about));
    REFUSES(model, vem_describe(ctx, NULL, NULL, VEM_DOUBLE, found, &about));
    REFUSES(clusters, vem_describe(ctx, model, NULL, VEM_DOUBLE, NULL, &about));
    REFUSES(about, vem_describe(ctx, model, NULL, VEM_DOUBLE, found, NULL));
    REFUSES(ctx, vem_score(NULL, model, data, 0, VEM_DOUBLE, &scores));
    REFUSES(model, vem_score(ctx, NULL, data, 0, VEM_DOUBLE, &scores));
    REFUSES(data, vem_score(ctx, model, NULL, 0, VEM_DOUBLE, &scores));
    REFUSES(scores, vem_score(ctx, model, data, 0, VEM_DOUBLE, NULL));
    REFUSES(ctx, vem_compare(NULL, classes, classes, 2, &agreement));
    REFUSES(clusters, vem_compare(ctx, NULL, classes, 2, &agreement));
    REFUSES(classes, vem_compare(ctx, classes, NULL, 2, &agreement));
    REFUSES(agreement, vem_compare(ctx, classes, classes, 2, NULL));
    REFUSES(ctx, vem_labels_read(NULL, "l.npy", &read, &n));
    REFUSES(path, vem_labels_read(ctx, NULL, &read, &n));
    REFUSES(labels, vem_labels_read(ctx, "l.npy", NULL, &n));
    REFUSES(n, vem_labels_read(ctx, "l.npy", &read, NULL));
    REFUSES(ctx, vem_classes_read(NULL, "l.csv", 0, &read, &n));
    REFUSES(path, vem_classes_read(ctx, NULL, 0, &read, &n));
    REFUSES(classes, vem_classes_read(ctx, "l.csv", 0, NULL, &n));
    REFUSES(n, vem_classes_read(ctx, "l.csv", 0, &read, NULL));
    REFUSES(ctx, vem_classes_read_column(NULL, "l.csv", 0, NULL, &read, &n, NULL));
    REFUSES(path, vem_classes_read_column(ctx, NULL, 0, NULL, &read, &n, NULL));
    REFUSES(classes, vem_classes_read_column(ctx, "l.csv", 0, NULL, NULL, &n, NULL));
    REFUSES(n, vem_classes_read_column(ctx, "l.csv", 0, NULL, &read, NULL, NULL));
    REFUSES(ctx, vem_labels_write(NULL, "l.npy", labels, 2));
    REFUSES(path, vem_labels_write(ctx, NULL, labels, 2));
    REFUSES(labels, vem_labels_write(ctx, "l.npy", NULL, 2));
    REFUSES(ctx, vem_classes_write(NULL, "l.npy", labels, 2));
    REFUSES(path, vem_classes_write(ctx, NULL, labels, 2));
    REFUSES(classes, vem_classes_write(ctx, "l.npy", NULL, 2));
    REFUSES(ctx, vem_labels_write_rows(NULL, "l.npy", NULL, labels, 2));
    REFUSES(path, vem_labels_write_rows(ctx, NULL, NULL, labels, 2));
    REFUSES(labels, vem_labels_write_rows(ctx, "l.npy", NULL, NULL, 2));
    REFUSES(ctx, vem_soft_write_rows(NULL, "s.npz", NULL, labels, one, 2, 1));
    REFUSES(path, vem_soft_write_rows(ctx, NULL, NULL, labels, one, 2, 1));
    REFUSES(clusters, vem_soft_write_rows(ctx, "s.npz", NULL, NULL, one, 2, 1));
    REFUSES(probabilities, vem_soft_write_rows(ctx, "s.npz", NULL, labels, NULL, 2, 1));
    REFUSES(ctx, vem_soft_write(NULL, "s.npz", labels, one, 2, 1));
    REFUSES(path, vem_soft_write(ctx, NULL, labels, one, 2, 1));
    REFUSES(clusters, vem_soft_write(ctx, "s.npz", NULL, one, 2, 1));
    REFUSES(probabilities, vem_soft_write(ctx, "s.npz", labels, NULL, 2, 1));
    REFUSES(ctx, vem_array_write(NULL, "a.npy", type, one, 2, 1));
    REFUSES(path, vem_array_write(ctx, NULL, type, one, 2, 1));
    REFUSES(values, vem_array_write(ctx, "a.npy", type, NULL, 2, 1));
    REFUSES(ctx, vem_array_write_named(NULL, "a.csv", type, rows, 1, 1, NULL));
    REFUSES(path, vem_array_write_named(ctx, NULL, type, rows, 1, 1, NULL));
    REFUSES(values, vem_array_write_named(ctx, "a.csv", type, NULL, 1, 1, NULL));
    REFUSES(ctx, vem_text_write(NULL, "t.txt", "x", 1));
    REFUSES(path, vem_text_write(ctx, NULL, "x", 1));
    REFUSES(text, vem_text_write(ctx, "t.txt", NULL, 1));
    REFUSES(ctx, vem_generate(NULL, VEM_BIRCH_GRID, &go, NULL, NULL, NULL, NULL, NULL));
    REFUSES(options, vem_generate(ctx, VEM_BIRCH_GRID, NULL, &n, NULL, NULL, NULL, NULL));
    assert_int_equal(vem_generate(ctx, VEM_BIRCH_GRID, &go, NULL, NULL, NULL, NULL, NULL),
                     VEM_OK);
}

/* Functions that have no status. */
static void nothing_is_told_of_nothing(void **state)
{
    (void)state;
    char text[8];
    vem_stats_summary summary = {.size = sizeof summary, .clusters = 7};
    vem_stats_describe(NULL, &summary);
    assert_int_equal(summary.clusters, 0);
    vem_stats_describe(stats, NULL);
    vem_options_init(NULL);
    (vem_options_init)(NULL);
    vem_options_init_sized(NULL, 8);
    vem_ctx_set_progress(NULL, NULL, NULL);
    vem_ctx_set_forecast(NULL, NULL, NULL);
    vem_model_set_prior(NULL, VEM_PRIOR_FREE);
    assert_int_equal(vem_model_prices(NULL, NULL), 0);
    vem_model_set_normalizes(NULL, 1);
    vem_ctx_free(NULL);
    vem_array_free(NULL, NULL);
    vem_array_free(ctx, NULL);
    vem_data_free(NULL);
    vem_model_free(NULL);
    vem_report_free(NULL);
    vem_stats_free(NULL);
    vem_stream_free(NULL);
    assert_string_equal(vem_ctx_message(NULL), "The context is NULL.");
    assert_int_equal(vem_ctx_threads(NULL), 0);
    assert_null(vem_ctx_cpu(NULL));
    assert_null(vem_ctx_mapped_file(NULL, one));
    assert_null(vem_ctx_mapped_file(ctx, NULL));
    assert_int_equal(vem_data_rows(NULL) + vem_data_columns(NULL) + vem_data_ids(NULL),
                     0);
    assert_int_equal((int)vem_data_dtype(NULL) + (int)vem_data_header(NULL), 0);
    assert_int_equal(vem_data_rows_read(NULL) + vem_data_missing(NULL), 0);
    assert_int_equal(vem_data_row(NULL, 3), 3);
    assert_int_equal(vem_data_decimal(NULL), 0);
    assert_int_equal(vem_data_part_header(NULL, 0), VEM_HEADER_AUTO);
    assert_int_equal(vem_data_part_decimal(NULL, 0), 0);
    assert_null(vem_data_weights(NULL));
    assert_null(vem_data_indices(NULL));
    assert_null(vem_data_means(NULL));
    assert_null(vem_data_id_name(NULL, 0));
    assert_null(vem_data_id(NULL, 0, 0));
    assert_null(vem_data_column_name(NULL, 0));
    assert_null(vem_data_column_advice(NULL, 0));
    vem_csv_put(NULL, "a");
    vem_csv_put(stdout, NULL);
    assert_null(vem_data_format(NULL));
    assert_null(vem_name_nearest(NULL, NULL, 0));
    char hint[128];
    assert_string_equal(vem_name_hint(NULL, NULL, 0, NULL, NULL, hint), "");
    assert_int_equal(vem_utf8_length(NULL), 0);
    assert_null(vem_choice_name(NULL, 0));
    assert_int_equal(vem_options_get(NULL, "clusters", text, sizeof text), 0);
    assert_int_equal(vem_options_get(&options, NULL, text, sizeof text), 0);
    assert_int_equal(vem_options_get(&options, "clusters", NULL, 0), 0);
    assert_int_equal((int)vem_model_family(NULL) + (int)vem_model_prior(NULL), 0);
    assert_int_equal(vem_model_clusters(NULL) + vem_model_columns(NULL), 0);
    assert_int_equal((int)vem_model_variance_count(NULL) + vem_model_normalizes(NULL), 0);
    assert_int_equal(vem_model_metric(NULL), VEM_METRIC_L2);
    assert_int_equal(vem_model_parameters(NULL), 0);
    assert_null(vem_model_means(NULL));
    assert_null(vem_model_weights(NULL));
    assert_null(vem_model_variances(NULL));
    assert_null(vem_model_scale(NULL));
    assert_null(vem_model_meta(NULL));
    assert_int_equal(vem_model_ids(NULL), 0);
    assert_null(vem_model_id_name(NULL, 0));
    assert_null(vem_model_column_name(NULL, 0));
    assert_null(vem_model_column_means(NULL));
    assert_null(vem_report_summary(NULL));
    assert_null(vem_report_options(NULL));
    assert_null(vem_report_trace(NULL));
    assert_null(vem_report_labels(NULL));
    assert_int_equal(vem_report_trace_count(NULL), 0);
    assert_string_equal(vem_report_choices(NULL), "");
    assert_string_equal(vem_report_notes(NULL), "");
    assert_string_equal(vem_report_stopping(NULL), "");
    assert_null(vem_stats_model(NULL));
    assert_int_equal(vem_stream_rows(NULL) + vem_stream_kept(NULL), 0);
    assert_true(vem_stream_mass(NULL) == 0);
    assert_int_equal(vem_file_is_labels(NULL), 0);
    assert_int_equal(vem_file_is_classes(NULL), 0);
    assert_int_equal(vem_file_has_path(NULL), 0);
    assert_string_equal(vem_file_kind(NULL), "unknown");
    vem_part_state states[1];
    char sentence[8];
    const vem_parts_options part = {.size = sizeof part, .folder = "x"};
    REFUSES(ctx, vem_ctx_set_parts(NULL, NULL));
    assert_int_equal(vem_ctx_set_parts(ctx, NULL), VEM_OK);
    REFUSES(ctx, vem_parts_end(NULL, &part, NULL));
    REFUSES(options, vem_parts_end(ctx, NULL, NULL));
    REFUSES(ctx, vem_parts_look(NULL, "x", 1, states, sentence, sizeof sentence));
    REFUSES(folder, vem_parts_look(ctx, NULL, 1, states, sentence, sizeof sentence));
    REFUSES(states, vem_parts_look(ctx, "x", 1, NULL, sentence, sizeof sentence));
    REFUSES(sentence, vem_parts_look(ctx, "x", 1, states, NULL, 0));
    REFUSES(ctx, vem_parts_clear(NULL, "x", 1, 0));
    REFUSES(folder, vem_parts_clear(ctx, NULL, 1, 0));
    REFUSES(ctx, vem_ctx_set_mpi(NULL, NULL));
    assert_int_equal(vem_ctx_set_mpi(ctx, NULL), VEM_OK);
    assert_int_equal(vem_ctx_mpi_rank(NULL), 0);
    assert_int_equal(vem_ctx_mpi_size(NULL), 1);
    assert_true(vem_ctx_mpi_bytes(NULL) == 0);
    assert_null(vem_mpi_labels(NULL, NULL, NULL));
    REFUSES(ctx, vem_mpi_labels_write(NULL, "x.npy", data, NULL));
    REFUSES(path, vem_mpi_labels_write(ctx, NULL, data, NULL));
    REFUSES(data, vem_mpi_labels_write(ctx, "x.npy", NULL, NULL));
    REFUSES(report, vem_mpi_labels_write(ctx, "x.npy", data, NULL));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(contexts_and_data),
        cmocka_unit_test(options_and_models),
        cmocka_unit_test(fits_and_statistics),
        cmocka_unit_test(uses_and_files),
        cmocka_unit_test(paths_of_mixtures),
        cmocka_unit_test(trees_of_merges),
        cmocka_unit_test(lists_of_an_index),
        cmocka_unit_test(nothing_is_told_of_nothing),
    };
    return cmocka_run_group_tests(tests, make_all, free_all);
}
