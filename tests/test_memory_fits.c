/* Every allocation of fits, selections and measures of all kinds may fail, one line of a table each:
 * the verb says so and gives nothing, or could do without and gives the same bits as ever. */
#include <sys/stat.h>
#include <unistd.h>

#include "em/last_step.h"
#include "engine.h"
#include "memory_digests.h"
#include "run.h"

enum { N = 90, D = 3, MANY = 1100 };

static const char *words;    /* "name value name value ...": what is asked for */
static vem_data *rows, *few; /* few: for verbs of many fits */
static vem_data *many;       /* of which measures take a sample */
static vem_data *sparse;     /* the counts of rows, where the others need them */
static const vem_data *fitted;
static vem_model *begun; /* what fits begin with; NULL: a seeding */

static vem_options wanted(void)
{
    vem_options o;
    char name[32], value[32];
    int used = 0;
    vem_options_init(&o);
    for (const char *at = words; sscanf(at, "%31s %31s%n", name, value, &used) == 2;
         at += used)
        if (vem_options_set(ctx, &o, name, value) != VEM_OK)
            fail_msg("%s: %s", words, vem_ctx_message(ctx));
    return o;
}

static void mix_report(uint64_t *digest, const vem_report *report)
{
    vem_summary s = *vem_report_summary(report);
    s.seconds_reduce = s.seconds_seed = s.seconds_em = s.seconds_measure = 0;
    s.seconds_total = s.seconds_tree = 0;
    s.peak_bytes = 0;
    mix(digest, &s.steps, sizeof s.steps);
    mix(digest, &s.free_energy, sizeof s.free_energy);
    mix(digest, &s.scored_pairs, sizeof s.scored_pairs);
    mix(digest, &s.quantization_error, sizeof s.quantization_error);
    mix(digest, &s.log_likelihood, sizeof s.log_likelihood);
    mix(digest, &s.entropy, sizeof s.entropy);
    mix(digest, &s.quantization_error_coreset, sizeof s.quantization_error_coreset);
    mix(digest, &s.gap, sizeof s.gap);
    mix(digest, &s.cells, sizeof s.cells);
    if (vem_report_labels(report))
        mix(digest, vem_report_labels(report),
            (size_t)vem_data_rows(fitted) * sizeof(int32_t));
    mix_text(digest, vem_report_choices(report));
    mix_text(digest, vem_report_notes(report));
    mix_text(digest, vem_report_stopping(report));
}

static vem_status fit(uint64_t *digest)
{
    const vem_options o = wanted();
    vem_model *model = NULL;
    vem_report *report = NULL;
    const vem_status status = vem_fit(ctx, fitted, &o, begun, &model, &report);
    assert_true((status == VEM_OK) == (model && report));
    if (status == VEM_OK)
        mix_model(digest, model), mix_report(digest, report);
    for (int64_t t = 0; status == VEM_OK && t < vem_report_trace_count(report); t++)
        mix_text(digest, vem_report_trace(report)[t].move);
    vem_model_free(model);
    vem_report_free(report);
    return status;
}

static void every_allocation_of_fits(void **state)
{
    (void)state;
    static const char *const dense[] = {
        "algorithm kmeans measure sample standardize 1",
        "algorithm lazy-kmeans seeding kmeans++-greedy",
        "algorithm kmeans-c held 2 seeding afkmc2",
        "algorithm gmm family full measure exact standardize 1",
        "algorithm gmm family full-shared measure exact held 2",
        "algorithm gmm family diag-shared init_steps 2",
        "algorithm var-kmeans-x explore 1",
        "algorithm var-gmm-s seeding two-level",
        "algorithm lwcs-kmeans coreset 40 measure exact",
        "algorithm vc-gmm coreset 50",
        "algorithm kd-em family full cells 30 gap 0.001 measure exact",
        "algorithm kd-em family diag cells 20 depth 2 expand 3",
        "algorithm greedy family full",
        "algorithm incremental-em blocks 4 family diag",
        "algorithm moore-em tau 0.2 family full",
        "search boxes family iso-shared swaps 2",
        "search groups swaps 1 restarts 2",
        "family iso-shared prior flat finish hard held 2 measure exact",
        "balance soft",
        "balance 1.5",
        "precision single family iso empty drop",
    };
    static const char *const counts[] = {"family poisson measure exact",
                                         "family multinomial restarts 2",
                                         "family bernoulli floor 0.01"};
    /* A sample has no fewer than 1,024 rows. */
    static const char *const sampled[] = {"measure sample",
                                          "measure sample coreset 1060"};
    static char line[160];
    words = line;
    for (size_t i = 0; i < sizeof dense / sizeof *dense; i++) {
        fitted = rows;
        snprintf(line, sizeof line, "clusters 4 max_steps 6 %s", dense[i]);
        each_allocation(dense[i], fit, 10);
    }
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
        fitted = sparse;
        snprintf(line, sizeof line, "clusters 3 max_steps 6 %s", counts[i]);
        each_allocation(counts[i], fit, 10);
    }
    for (size_t i = 0; i < sizeof sampled / sizeof *sampled; i++) {
        fitted = many;
        snprintf(line, sizeof line, "algorithm kmeans clusters 2 max_steps 1 %s",
                 sampled[i]);
        each_allocation(sampled[i], fit, 10);
    }
}

/* A cluster that is far from all rows is dropped, or put elsewhere, whatever fails before: what is made
 * about it does not depend on memory that there may not be. */
static void every_allocation_of_fits_with_empty_clusters(void **state)
{
    (void)state;
    double means[4 * D] = {0}, variances[4] = {1, 1, 1, 1};
    for (int j = 0; j < D; j++)
        means[j] = 1e4;
    for (int c = 1; c < 4; c++)
        assert_int_equal(vem_data_get(ctx, rows, 20 * c, 1, means + (size_t)c * D),
                         VEM_OK);
    assert_int_equal(vem_model_new(ctx, VEM_ISO, 4, D, means, NULL, variances, &begun),
                     VEM_OK);
    static const char *const about[] = {"drop", "reseed"};
    char line[120];
    words = line;
    fitted = rows;
    for (int k = 0; k < 2; k++) {
        snprintf(line, sizeof line,
                 "algorithm gmm family iso held 1 search closest max_steps 6 empty %s",
                 about[k]);
        const vem_options o = wanted();
        vem_report *report = NULL;
        assert_int_equal(vem_fit(ctx, fitted, &o, begun, NULL, &report), VEM_OK);
        assert_string_equal(vem_report_trace(report)[0].move, about[k]);
        vem_report_free(report);
        each_allocation(about[k], fit, 10);
    }
    vem_model_free(begun);
    begun = NULL;
}

/* ---- Numbers of clusters ---- */

static char folder[64], picture[96];
static vem_select_method method;
static vem_path *path;   /* of a selection that succeeded */
static vem_model *model; /* of its choice */

static void mix_points(uint64_t *digest, const vem_path *p)
{
    for (int32_t i = 0; i < vem_path_count(p); i++) {
        const vem_path_point *point = vem_path_at(p, i);
        mix(digest, &point->clusters, sizeof point->clusters);
        mix(digest, &point->free_energy, sizeof point->free_energy);
        mix(digest, &point->log_likelihood, sizeof point->log_likelihood);
        mix(digest, &point->objective, sizeof point->objective);
        mix(digest, &point->held_out, sizeof point->held_out);
    }
}

static vem_select_options how_many(void)
{
    return (vem_select_options){.size = sizeof(vem_select_options),
                                .method = method,
                                .max_clusters = 3,
                                .holdout = method == VEM_SELECT_BAYES ? 0.2 : 0};
}

static vem_status choose(uint64_t *digest)
{
    const vem_options o = wanted();
    const vem_select_options s = how_many();
    vem_model *found = NULL;
    vem_path *made = NULL;
    vem_report *report = NULL;
    const vem_status status = vem_select(ctx, fitted, &o, &s, &found, &made, &report);
    assert_true((status == VEM_OK) == (found && made && report));
    if (status == VEM_OK) {
        mix_model(digest, found);
        mix_points(digest, made);
        mix_report(digest, report);
    }
    vem_model_free(found);
    vem_path_free(made);
    vem_report_free(report);
    return status;
}

static vem_status repeat(uint64_t *digest)
{
    const vem_options o = wanted();
    const vem_select_options s = how_many();
    int32_t clusters[2] = {0};
    vem_stability about = {.size = sizeof about, .resamples = 2, .clusters = clusters};
    const vem_status status = vem_select_stability(ctx, fitted, &o, &s, model, &about);
    if (status == VEM_OK) {
        mix(digest, clusters, sizeof clusters);
        mix(digest, &about.ari_mean, sizeof about.ari_mean);
        mix(digest, &about.done, sizeof about.done);
    }
    return status;
}

static const vem_flow_options counted = {.size = sizeof counted, .precision = VEM_DOUBLE};

static vem_status flow(uint64_t *digest)
{
    vem_flows *flows = NULL;
    const vem_status status = vem_path_flows(ctx, path, fitted, &counted, &flows);
    assert_true((status == VEM_OK) == (flows != NULL));
    for (int32_t i = 0; i < vem_flows_count(flows); i++) {
        int64_t between = 0;
        const vem_flow *list = vem_flows_at(flows, i, &between);
        mix(digest, vem_flows_shares(flows, i),
            (size_t)vem_flows_clusters(flows, i) * sizeof(double));
        for (int64_t k = 0; list && k < between; k++)
            mix(digest, &list[k].share, sizeof list[k].share);
    }
    vem_flows_free(flows);
    return status;
}

/* A file that is whole, or not there. */
static vem_status wrote(vem_status status, uint64_t *digest)
{
    FILE *stream = fopen(picture, "rb");
    assert_true((status == VEM_OK) == (stream != NULL));
    for (int byte; stream && (byte = fgetc(stream)) != EOF;)
        mix(digest, &byte, sizeof byte);
    if (stream)
        fclose(stream);
    unlink(picture);
    return status;
}

static vem_flows *drawn;
static vem_index *lists;

static vem_status draw(uint64_t *digest)
{
    return wrote(vem_path_draw(ctx, path, drawn, picture), digest);
}

static vem_status save(uint64_t *digest)
{
    return wrote(vem_path_write(ctx, path, model, picture), digest);
}

static void every_allocation_of_selections(void **state)
{
    (void)state;
    fitted = few;
    const vem_select_method methods[] = {VEM_SELECT_BAYES, VEM_SELECT_SWEEP,
                                         VEM_SELECT_GMEANS};
    for (int m = 0; m < 3; m++) {
        method = methods[m];
        words = method == VEM_SELECT_GMEANS ? "" : "family diag";
        const vem_options o = wanted();
        const vem_select_options s = how_many();
        each_allocation("select", choose, 10);
        assert_int_equal(vem_select(ctx, fitted, &o, &s, &model, &path, NULL), VEM_OK);
        each_allocation("flows", flow, 3);
        assert_int_equal(vem_path_flows(ctx, path, fitted, &counted, &drawn), VEM_OK);
        snprintf(picture, sizeof picture, "%s/path.svg", folder);
        each_allocation("picture", draw, 2);
        snprintf(picture, sizeof picture, "%s/path.npz", folder);
        each_allocation("file", save, 2);
        if (method == VEM_SELECT_GMEANS)
            each_allocation("stability", repeat, 10);
        vem_flows_free(drawn);
        vem_model_free(model);
        vem_path_free(path);
    }
}

/* ---- What is measured ---- */

static vem_status score(uint64_t *digest)
{
    vem_scores scores = {.size = sizeof scores};
    const vem_status status = vem_score(ctx, model, fitted, 2, VEM_SINGLE, &scores);
    if (status == VEM_OK)
        mix(digest, &scores, sizeof scores);
    return status;
}

static vem_status densities(uint64_t *digest)
{
    double logs[N] = {0};
    const vem_status status = vem_log_densities(ctx, model, fitted, VEM_DOUBLE, logs);
    if (status == VEM_OK)
        mix(digest, logs, sizeof logs);
    return status;
}

static vem_status look_up(uint64_t *digest)
{
    vem_index *made = NULL;
    const vem_status status =
        vem_index_score(ctx, model, fitted, fitted, VEM_SINGLE, NULL, &made);
    assert_true((status == VEM_OK) == (made != NULL));
    for (int32_t i = 0; i < vem_index_count(made); i++)
        mix(digest, &vem_index_at(made, i)->recall, sizeof(double));
    vem_index_free(made);
    return status;
}

static vem_status draw_index(uint64_t *digest)
{
    return wrote(vem_index_draw(ctx, lists, picture), digest);
}

static void every_allocation_of_measures(void **state)
{
    (void)state;
    const char *const fits[] = {"clusters 4 family full standardize 1 max_steps 3",
                                "clusters 4 family diag max_steps 3",
                                "clusters 3 family poisson max_steps 3"};
    for (int f = 0; f < 3; f++) {
        words = fits[f];
        fitted = f < 2 ? rows : sparse;
        const vem_options o = wanted();
        assert_int_equal(vem_fit(ctx, fitted, &o, NULL, &model, NULL), VEM_OK);
        each_allocation("score", score, 3);
        each_allocation("densities", densities, 3);
        if (f < 2) {
            each_allocation("index", look_up, 3);
            assert_int_equal(vem_index_score(ctx, model, fitted, fitted, VEM_SINGLE, NULL,
                                             &lists),
                             VEM_OK);
            snprintf(picture, sizeof picture, "%s/index.svg", folder);
            each_allocation("picture of an index", draw_index, 1);
            vem_index_free(lists);
        }
        vem_model_free(model);
    }
}

/* ---- What they share ---- */

static int make_all(void **state)
{
    if (set_up(state) != 0)
        return -1;
    strcpy(folder, "/tmp/vem-test-XXXXXX");
    if (!mkdtemp(folder))
        return -1;
    grid_data data = grid_data_new(SET_OVERLAPPING, WEIGHTS_REAL, N, D, 83);
    vem_data *borrowed = grid_borrow(ctx, &data);
    /* Rows of the library's own. */
    if (vem_coreset(ctx, borrowed, N, VEM_CORESET_UNIFORM, 1, &rows) != VEM_OK)
        return -1;
    if (vem_coreset(ctx, borrowed, 24, VEM_CORESET_UNIFORM, 1, &few) != VEM_OK)
        return -1;
    vem_data_free(borrowed);
    grid_data large = grid_data_new(SET_OVERLAPPING, WEIGHTS_REAL, MANY, 1, 84);
    borrowed = grid_borrow(ctx, &large);
    if (vem_coreset(ctx, borrowed, MANY, VEM_CORESET_UNIFORM, 1, &many) != VEM_OK)
        return -1;
    vem_data_free(borrowed);
    grid_data_free(&large);
    int64_t starts[N + 1];
    int32_t columns[N * 2];
    double values[N * 2];
    for (int i = 0; i <= N; i++)
        starts[i] = 2 * i;
    for (int i = 0; i < 2 * N; i++) {
        columns[i] = (i / 2 % 3 + 3 * (i % 2)) % 8;
        values[i] = 1;
    }
    grid_data_free(&data);
    return vem_data_sparse(ctx, N, 8, starts, columns, values, &sparse) == VEM_OK ? 0
                                                                                  : -1;
}

static int free_all(void **state)
{
    vem_data_free(rows);
    vem_data_free(few);
    vem_data_free(many);
    vem_data_free(sparse);
    return tear_down(state) != 0 ? -1 : rmdir(folder); /* fails where a file was left */
}

/* A loop that has a deadline and no memory to go back by says so: it would not know when its time is
 * over. */
static void no_way_back(void **state)
{
    (void)state;
    grid_data data = grid_data_new(SET_SEPARATED, WEIGHTS_NONE, N, D, 5);
    vem_model *start = grid_start(ctx, &data, VEM_DIAG, 3);
    const vem_options o = grid_options(3, VEM_DIAG, VEM_PRIOR_FREE, 1, VEM_DOUBLE, 9);
    engine e;
    engine_new(&e, ctx, &data, &o, start);
    vem_i_run late = *e.em.run;
    late.deadline = 1e300;
    e.em.run = &late;
    vem_i_last_step *last = NULL;
    calls = 0;
    assert_int_equal(vem_i_last_step_new(&e.em, &last), VEM_OK);
    const int64_t count = calls;
    vem_i_last_step_free(last);
    assert_true(count > 1);
    for (fail_at = 1; fail_at <= count; fail_at++) {
        calls = 0;
        assert_int_equal(vem_i_last_step_new(&e.em, &last), VEM_NO_MEMORY);
        assert_null(last);
    }
    fail_at = 0;
    engine_free(&e);
    vem_model_free(start);
    grid_data_free(&data);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_way_back),
        cmocka_unit_test(every_allocation_of_fits),
        cmocka_unit_test(every_allocation_of_fits_with_empty_clusters),
        cmocka_unit_test(every_allocation_of_selections),
        cmocka_unit_test(every_allocation_of_measures),
    };
    return cmocka_run_group_tests(tests, make_all, free_all);
}
