/* Every allocation of a verb beside the fit may fail: readers, writers, and what is asked of a
 * model. Then the verb says so and gives nothing, or it could do without and gives the same as
 * ever, told by a digest of all that comes out. */
#include <sys/stat.h>
#include <unistd.h>

#include "memory_digests.h"

enum { N = 60, D = 3, C = 4 };

static char folder[64];
static vem_data *rows;     /* N x D, with weights */
static vem_model *model;   /* of C clusters, with everything a model can carry */
static char weights[96];   /* file with N weights */
static char out[96];       /* what the writers write */
static const char *source; /* what the readers read */

/* ---- Digests ---- */

static void mix_file(uint64_t *digest, const char *path)
{
    FILE *stream = fopen(path, "rb");
    assert_non_null(stream);
    for (int byte; (byte = fgetc(stream)) != EOF;)
        mix(digest, &byte, sizeof byte);
    fclose(stream);
}

/* ---- Readers ---- */

static vem_status read_with(const vem_read_options *how, uint64_t *digest)
{
    vem_data *data = NULL;
    const vem_status status = vem_data_read(ctx, source, how, &data);
    assert_true((status == VEM_OK) == (data != NULL));
    if (data)
        mix_data(digest, data);
    vem_data_free(data);
    return status;
}

static vem_status read_plain(uint64_t *digest)
{
    return read_with(NULL, digest);
}

static vem_status read_ids(uint64_t *digest)
{
    const vem_read_options how = {.size = sizeof how,
                                  .id = "name",
                                  .keep_ids = 1,
                                  .weights = weights,
                                  .missing = VEM_MISSING_DROP};
    return read_with(&how, digest);
}

static vem_status read_means(uint64_t *digest)
{
    const vem_read_options how = {.size = sizeof how,
                                  .columns = "c,a",
                                  .weights = weights,
                                  .missing = VEM_MISSING_MEAN};
    return read_with(&how, digest);
}

static vem_status read_for_model(uint64_t *digest)
{
    const vem_read_options how = {.size = sizeof how,
                                  .model = model,
                                  .missing = VEM_MISSING_MEAN};
    return read_with(&how, digest);
}

static vem_status read_looking(uint64_t *digest)
{
    const vem_read_options how = {.size = sizeof how,
                                  .missing = VEM_MISSING_KEEP,
                                  .text_is_missing = 1};
    return read_with(&how, digest);
}

static vem_status read_parts(uint64_t *digest)
{
    const char *const paths[2] = {source, source};
    const vem_read_options how = {.size = sizeof how,
                                  .id = "name",
                                  .keep_ids = 1,
                                  .missing = VEM_MISSING_DROP};
    vem_data *data = NULL;
    const vem_status status = vem_data_read_parts(ctx, paths, 2, &how, &data);
    assert_true((status == VEM_OK) == (data != NULL));
    if (data)
        mix_data(digest, data);
    vem_data_free(data);
    return status;
}

static vem_status read_labels(uint64_t *digest)
{
    int64_t *labels = NULL, n = 0;
    const vem_status status = vem_labels_read(ctx, source, &labels, &n);
    assert_true((status == VEM_OK) == (labels != NULL));
    if (labels)
        mix(digest, labels, (size_t)n * sizeof *labels);
    free(labels);
    return status;
}

static vem_status read_classes(uint64_t *digest)
{
    int64_t *classes = NULL, n = 0;
    char *taken = NULL;
    const vem_status status =
        vem_classes_read_column(ctx, source, N, "name", &classes, &n, &taken);
    assert_true((status == VEM_OK) == (classes != NULL));
    if (classes)
        mix(digest, classes, (size_t)n * sizeof *classes), mix_text(digest, taken);
    free(classes);
    free(taken);
    return status;
}

static vem_status read_model(uint64_t *digest)
{
    vem_model *back = NULL;
    const vem_status status = vem_model_read(ctx, source, &back);
    assert_true((status == VEM_OK) == (back != NULL));
    if (back)
        mix_model(digest, back);
    vem_model_free(back);
    return status;
}

/* A table with a header, names as ids, two values missing and one that is a word. */
static const char *put_table(char path[96])
{
    snprintf(path, 96, "%s/table.csv", folder);
    FILE *stream = fopen(path, "w");
    assert_non_null(stream);
    fputs("name,a,\"b \"\"x\"\"\",c\n", stream);
    for (int i = 0; i < N; i++)
        fprintf(stream, "\"n, %d\",%d.5,%s,%d\n", i % 7, i, i % 20 == 3 ? "NA" : "1e3",
                i * i);
    fclose(stream);
    return path;
}

static void every_allocation_of_readers(void **state)
{
    (void)state;
    char table[96], npy[96], packed[96], npz[96], soft[96];
    source = put_table(table);
    each_allocation("table with ids", read_ids, 4);
    each_allocation("table with means", read_means, 4);
    each_allocation("table as it is", read_looking, 3);
    each_allocation("tables as one", read_parts, 4);
    each_allocation("classes", read_classes, 2);
    each_allocation("table for a model", read_for_model, 4);

    double values[N * D];
    int32_t labels[N];
    assert_int_equal(vem_data_get(ctx, rows, 0, N, values), VEM_OK);
    for (int i = 0; i < N; i++)
        labels[i] = i % C;
    snprintf(npy, sizeof npy, "%s/rows.npy", folder);
    assert_int_equal(vem_array_write(ctx, npy, VEM_FLOAT64, values, N, D), VEM_OK);
    source = npy;
    each_allocation("array", read_plain, 1);
    snprintf(packed, sizeof packed, "%s/rows.csv.gz", folder);
    assert_int_equal(vem_array_write(ctx, packed, VEM_FLOAT64, values, N, D), VEM_OK);
    source = packed;
    each_allocation("packed table", read_plain, 2);
    snprintf(npz, sizeof npz, "%s/coreset.npz", folder);
    vem_data *coreset = NULL;
    assert_int_equal(vem_coreset(ctx, rows, 20, VEM_CORESET_LIGHTWEIGHT, 1, &coreset),
                     VEM_OK);
    assert_int_equal(vem_coreset_write(ctx, coreset, npz), VEM_OK);
    vem_data_free(coreset);
    source = npz;
    each_allocation("coreset", read_plain, 2);
    const char *const endings[3] = {"labels.npy", "labels.csv", "labels.csv.gz"};
    for (int e = 0; e < 3; e++) {
        snprintf(soft, sizeof soft, "%s/%s", folder, endings[e]);
        assert_int_equal(vem_labels_write(ctx, soft, labels, N), VEM_OK);
        source = soft;
        each_allocation(endings[e], read_labels, 1);
        unlink(soft);
    }
    snprintf(soft, sizeof soft, "%s/model.npz", folder);
    assert_int_equal(vem_model_write(ctx, model, soft), VEM_OK);
    source = soft;
    each_allocation("model", read_model, 4);
    unlink(soft);
    unlink(table);
    unlink(npy);
    unlink(packed);
    unlink(npz);
}

/* ---- Writers: the file is whole, or it is not there ---- */

static vem_status wrote(vem_status status, uint64_t *digest)
{
    struct stat about;
    assert_true((status == VEM_OK) == (stat(out, &about) == 0));
    if (status == VEM_OK)
        mix_file(digest, out);
    unlink(out);
    return status;
}

static vem_status write_model(uint64_t *digest)
{
    return wrote(vem_model_write(ctx, model, out), digest);
}

static vem_status write_coreset(uint64_t *digest)
{
    return wrote(vem_coreset_write(ctx, rows, out), digest);
}

static vem_status write_labels(uint64_t *digest)
{
    int32_t labels[N] = {0, 1};
    return wrote(vem_labels_write_rows(ctx, out, rows, labels, N), digest);
}

static vem_status write_soft(uint64_t *digest)
{
    int32_t clusters[2 * N] = {0, 1};
    double probabilities[2 * N] = {0.75, 0.25};
    return wrote(vem_soft_write_rows(ctx, out, rows, clusters, probabilities, N, 2),
                 digest);
}

static void every_allocation_of_writers(void **state)
{
    (void)state;
    const struct {
        const char *name;
        verb call;
        int64_t least;
    } cases[] = {{"model.npz", write_model, 1},      {"coreset.npz", write_coreset, 1},
                 {"labels.npy", write_labels, 0},    {"labels.csv", write_labels, 0},
                 {"labels.csv.gz", write_labels, 0}, {"soft.npz", write_soft, 0},
                 {"soft.csv", write_soft, 0}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        snprintf(out, sizeof out, "%s/%s", folder, cases[i].name);
        each_allocation(cases[i].name, cases[i].call, cases[i].least);
    }
}

/* ---- What is asked of a model, or made ---- */

static vem_status sample(uint64_t *digest)
{
    double drawn[N * D];
    int32_t labels[N];
    const vem_status status = vem_sample(ctx, model, 5, 2, N, drawn, labels);
    if (status == VEM_OK)
        mix(digest, drawn, sizeof drawn), mix(digest, labels, sizeof labels);
    return status;
}

static vem_status describe_data(const vem_data *data, uint64_t *digest)
{
    vem_cluster clusters[C];
    double means[D], sds[D];
    memset(clusters, 0, sizeof clusters);
    clusters[0].size = sizeof *clusters;
    vem_description about = {.size = sizeof about, .means = means, .sds = sds};
    const vem_status status =
        vem_describe(ctx, model, data, VEM_DOUBLE, clusters, &about);
    if (status == VEM_OK) {
        mix(digest, clusters, sizeof clusters);
        mix(digest, means, sizeof means);
        mix(digest, sds, sizeof sds);
        mix(digest, &about.doubtful, sizeof about.doubtful);
    }
    return status;
}

static vem_status describe(uint64_t *digest)
{
    return describe_data(rows, digest);
}

static vem_status describe_alone(uint64_t *digest)
{
    return describe_data(NULL, digest);
}

static vem_status posterior(uint64_t *digest)
{
    double probabilities[N * C];
    const vem_status status = vem_posterior(ctx, model, rows, VEM_SINGLE, probabilities);
    if (status == VEM_OK)
        mix(digest, probabilities, sizeof probabilities);
    return status;
}

static vem_status compare(uint64_t *digest)
{
    int64_t clusters[N], classes[N];
    for (int64_t i = 0; i < N; i++)
        clusters[i] = 1000 * (i % 7), classes[i] = -(i % 5);
    vem_agreement agreement = {.size = sizeof agreement};
    const vem_status status = vem_compare(ctx, clusters, classes, N, &agreement);
    if (status == VEM_OK)
        mix(digest, &agreement, sizeof agreement);
    return status;
}

static vem_generator generator;

static vem_status generate(uint64_t *digest)
{
    const vem_generate_options how = {.size = sizeof how,
                                      .clusters = 4,
                                      .d = generator <= VEM_BIRCH_RANDOM ? 2 : 3,
                                      .n = N};
    int64_t n = 0;
    int32_t d = 0;
    double *made = NULL, *centers = NULL;
    int32_t *labels = NULL;
    const vem_status status =
        vem_generate(ctx, generator, &how, &n, &d, &made, &labels, &centers);
    assert_true((status == VEM_OK) == (made && labels && centers));
    if (status == VEM_OK) {
        mix(digest, made, (size_t)(n * d) * sizeof *made);
        mix(digest, labels, (size_t)n * sizeof *labels);
        mix(digest, centers, (size_t)(4 * d) * sizeof *centers);
    }
    free(made);
    free(labels);
    free(centers);
    return status;
}

static vem_status plan(uint64_t *digest)
{
    vem_options o = grid_options(5, VEM_FULL, VEM_PRIOR_FREE, 2, VEM_SINGLE, 3);
    o.search = VEM_SEARCH_GROUPS;
    vem_forecast forecast = {.size = sizeof forecast};
    const vem_status status = vem_plan_fit(ctx, rows, &o, NULL, &forecast);
    if (status == VEM_OK)
        mix(digest, &forecast.bytes, sizeof forecast.bytes);
    return status;
}

static vem_assign_search assign_by;

static vem_status assign(uint64_t *digest)
{
    int32_t clusters[N];
    memset(clusters, -1, sizeof clusters);
    const vem_assign_options how = {.size = sizeof how,
                                    .top = 1,
                                    .precision = VEM_SINGLE,
                                    .search = assign_by};
    vem_assign_report report = {.size = sizeof report};
    const vem_status status =
        vem_assign_guided(ctx, model, rows, &how, clusters, NULL, &report);
    if (status == VEM_OK) { /* by the same search, not by another that does without */
        mix(digest, clusters, sizeof clusters);
        mix(digest, &report.guided, sizeof report.guided);
        mix(digest, &report.probes, sizeof report.probes);
        mix(digest, &report.recall, sizeof report.recall);
        mix(digest, &report.scored_pairs, sizeof report.scored_pairs);
    }
    return status;
}

/* Rows of length 1: what stands for missing values is learnt from a sample. */
static vem_status fit_normalized(uint64_t *digest)
{
    vem_options o = grid_options(3, VEM_ISO, VEM_PRIOR_FREE, 2, VEM_DOUBLE, 3);
    o.normalize = 1;
    vem_model *made = NULL;
    vem_report *report = NULL;
    const vem_status status = vem_fit(ctx, rows, &o, NULL, &made, &report);
    assert_true((status == VEM_OK) == (made && report));
    if (status == VEM_OK) {
        mix_model(digest, made);
        mix(digest, vem_report_labels(report), N * sizeof(int32_t));
        mix_text(digest, vem_report_choices(report));
        mix_text(digest, vem_report_stopping(report));
    }
    vem_model_free(made);
    vem_report_free(report);
    return status;
}

static void every_allocation_of_what_is_asked(void **state)
{
    (void)state;
    each_allocation("sample", sample, 1);
    each_allocation("describe", describe, 4);
    each_allocation("describe alone", describe_alone, 2);
    each_allocation("posterior", posterior, 4);
    each_allocation("compare", compare, 2);
    each_allocation("plan", plan, 0);
    for (int how = VEM_ASSIGN_AUTO; how <= VEM_ASSIGN_GUIDED; how++) {
        assign_by = (vem_assign_search)how;
        each_allocation("assign", assign, 4);
    }
    each_allocation("fit", fit_normalized, 20);
    for (int kind = VEM_BIRCH_GRID; kind <= VEM_TAU_SEPARATED; kind++) {
        generator = (vem_generator)kind;
        each_allocation("generate", generate, 1);
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
    if (vem_coreset(ctx, borrowed, N, VEM_CORESET_UNIFORM, 1, &rows) != VEM_OK)
        return -1;
    vem_data_free(borrowed);
    model = grid_start(ctx, &data, VEM_FULL, C);
    const char *const names[D] = {"a", "b \"x\"", "c"};
    const double scale[D] = {1, 2, 4}, means[D] = {5, 6, 7};
    snprintf(weights, sizeof weights, "%s/weights.csv", folder);
    FILE *stream = fopen(weights, "w");
    for (int i = 0; stream && i < N; i++)
        fprintf(stream, "%d\n", i % 3 + 1);
    if (!stream || fclose(stream) != 0)
        return -1;
    grid_data_free(&data);
    return vem_model_set_column_names(ctx, model, names) == VEM_OK &&
                   vem_model_set_scale(ctx, model, scale) == VEM_OK &&
                   vem_model_set_column_means(ctx, model, means) == VEM_OK &&
                   vem_model_set_meta(ctx, model, "{\"made\": \"here\"}") == VEM_OK
               ? 0
               : -1;
}

static int free_all(void **state)
{
    unlink(weights);
    vem_data_free(rows);
    vem_model_free(model);
    return tear_down(state) != 0 ? -1 : rmdir(folder); /* fails where a file was left */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_allocation_of_readers),
        cmocka_unit_test(every_allocation_of_writers),
        cmocka_unit_test(every_allocation_of_what_is_asked),
    };
    return cmocka_run_group_tests(tests, make_all, free_all);
}
