/* Rows that come several times: the different ones are found whatever the layout, the fit is that of these with their
 * weights, and what is told is of all rows. */
#define CONTEXT_THREADS 2
#include "context.h"

#include <string.h>
#include <unistd.h>

#include "base/record.h"
#include "data/repeats.h"
#include "data/subset.h"

enum { N = 70000, D = 3, KINDS = 3000 };

/* Row i is of kind (i * 7919) % KINDS, or kinds lie together. */
typedef struct repeated {
    float *x;
    double *weights;
    int32_t *kinds;
    vem_data *data;
} repeated;

static repeated repeated_new(int64_t n, int64_t kinds, int sorted, int weighted)
{
    repeated r = {.x = malloc((size_t)n * D * sizeof(float)),
                  .weights = malloc((size_t)n * sizeof(double)),
                  .kinds = malloc((size_t)n * sizeof(int32_t))};
    for (int64_t i = 0; i < n; i++) {
        const int64_t kind = sorted ? i / (n / kinds + 1) : i * 7919 % kinds;
        const int64_t group = kind % 5;
        r.kinds[i] = (int32_t)kind;
        for (int j = 0; j < D; j++)
            r.x[i * D + j] = (float)(9 * (group * (j + 1) % 5)) +
                             (float)(kind * (31 + 14 * j) % 97) * 0.125F +
                             (float)kind * 1e-4F;
        r.weights[i] = i % 11 == 0 ? 0 : 0.5 * (double)(1 + i % 4);
    }
    assert_int_equal(vem_data_borrow(ctx, VEM_FLOAT32, r.x, n, D, 0, 0, &r.data), VEM_OK);
    if (weighted)
        assert_int_equal(vem_data_set_weights(ctx, r.data, r.weights, n), VEM_OK);
    return r;
}

static void repeated_free(repeated *r)
{
    vem_data_free(r->data);
    free(r->x);
    free(r->weights);
    free(r->kinds);
}

static vem_i_repeats found_in(const vem_data *data, uint64_t room)
{
    vem_i_repeats found;
    vem_i_run *run = vem_i_within(ctx, &(vem_i_verb){0});
    assert_int_equal(vem_i_repeats_find(run, data, room, &found), VEM_OK);
    return found;
}

/* Numbered as they come, each row beside its own. */
static void check_found(const repeated *r, const vem_i_repeats *found, int64_t n)
{
    char mine[D * sizeof(float)];
    const double *weights = vem_data_weights(r->data);
    double *sums = calloc((size_t)found->rows.n, sizeof(double));
    int64_t next = 0;
    double used = 0;
    for (int64_t i = 0; i < n; i++) {
        const int32_t place = found->places[i];
        assert_in_range(place, 0, next);
        vem_i_data_copy_row(&found->rows, place, mine);
        assert_memory_equal(mine, r->x + i * D, sizeof mine);
        if (place == next) {
            assert_int_equal(found->rows.indices[place], i);
            next++;
        }
        sums[place] += weights ? weights[i] : 1;
        used += !weights || weights[i] > 0;
    }
    assert_int_equal(next, found->rows.n);
    assert_true(found->used == used);
    for (int64_t k = 0; k < next; k++)
        assert_true(sums[k] == found->rows.weights[k]);
    free(sums);
}

static void found_as_they_come(void **state)
{
    (void)state;
    for (int kind = 0; kind < 4; kind++) {
        repeated r = repeated_new(N, KINDS, kind & 1, kind & 2);
        vem_i_repeats found = found_in(r.data, 0);
        assert_int_equal(found.rows.n, r.kinds[N - 1] + 1 < KINDS && kind & 1
                                           ? r.kinds[N - 1] + 1
                                           : KINDS);
        check_found(&r, &found, N);
        vem_i_repeats_free(&found);
        repeated_free(&r);
    }
}

/* Columns that lie together, bytes in the other order, rows with a gap: the same rows. */
static void found_in_any_layout(void **state)
{
    (void)state;
    repeated r = repeated_new(N, KINDS, 0, 0);
    float *turned = malloc((size_t)N * D * sizeof(float));
    for (int64_t i = 0; i < N; i++)
        for (int64_t j = 0; j < D; j++)
            turned[j * N + i] = r.x[i * D + j];
    vem_data *data;
    assert_int_equal(vem_data_borrow(ctx, VEM_FLOAT32, turned, N, D, sizeof(float),
                                     N * (int64_t)sizeof(float), &data),
                     VEM_OK);
    vem_i_repeats found = found_in(data, 0);
    assert_int_equal(found.rows.n, KINDS);
    check_found(&r, &found, N);
    vem_i_repeats_free(&found);
    vem_data_free(data);
    for (int64_t k = 0; k < (int64_t)N * D; k++) {
        uint32_t word;
        memcpy(&word, r.x + k, sizeof word);
        word = __builtin_bswap32(word);
        memcpy(turned + k, &word, sizeof word);
    }
    assert_int_equal(vem_data_borrow(ctx, VEM_FLOAT32, turned, N, D, 0, 0, &data),
                     VEM_OK);
    data->swapped = 1;
    found = found_in(data, 0);
    assert_int_equal(found.rows.n, KINDS);
    check_found(&r, &found, N);
    vem_i_repeats_free(&found);
    vem_data_free(data);
    repeated_free(&r);
    free(turned);
}

/* Rows of 1 to 19 bytes: what is behind the last word counts. */
static void found_in_bytes(void **state)
{
    (void)state;
    enum { MOST = 19 };
    unsigned char *x = malloc((size_t)N * MOST);
    for (int32_t d = 1; d <= MOST; d++) {
        memset(x, 7, (size_t)N * MOST);
        for (int64_t i = 0; i < N; i++)
            x[i * d + d - 1] = (unsigned char)(i % 251); /* its last byte alone differs */
        vem_data *data;
        assert_int_equal(vem_data_borrow(ctx, VEM_UINT8, x, N, d, 0, 0, &data), VEM_OK);
        vem_i_repeats found = found_in(data, 0);
        assert_int_equal(found.rows.n, 251);
        for (int64_t i = 0; i < N; i++)
            assert_int_equal(found.places[i], i % 251);
        vem_i_repeats_free(&found);
        vem_data_free(data);
    }
    free(x);
}

/* More than a third, none at all, one that comes often among others, or no room. */
static void not_made(void **state)
{
    (void)state;
    const int64_t kinds[] = {N, N / 2, N / 3 + N / 50};
    for (int k = 0; k < 3; k++) {
        repeated r = repeated_new(N, kinds[k], 0, 0);
        vem_i_repeats found = found_in(r.data, 0);
        assert_int_equal(found.rows.n, 0);
        assert_null(found.places);
        repeated_free(&r);
    }
    repeated r = repeated_new(N, N, 0, 0);
    for (int64_t i = 0; i < N; i += 2)
        memset(r.x + i * D, 0, D * sizeof(float));
    vem_i_repeats found = found_in(r.data, 0);
    assert_int_equal(found.rows.n, 0);
    repeated_free(&r);
    r = repeated_new(N, KINDS, 0, 0);
    found = found_in(r.data, N * sizeof(int32_t));
    assert_int_equal(found.rows.n, 0);
    repeated_free(&r);
}

/* Draws of one row that follow each other are one item, of all their mass. */
static void draws_are_joined(void **state)
{
    (void)state;
    enum { ITEMS = 40, DRAWS = 400 };
    grid_data data = grid_data_new(SET_OVERLAPPING, WEIGHTS_REAL, ITEMS, D, 5);
    vem_data *borrowed = grid_borrow(ctx, &data);
    vem_i_run *run = vem_i_within(ctx, &(vem_i_verb){0});
    for (int precision = VEM_SINGLE; precision <= VEM_DOUBLE; precision++) {
        const vem_i_points_request request = {.precision = (vem_precision)precision,
                                              .phase = "read"};
        vem_i_points *points, *drawn, *joined;
        assert_int_equal(vem_i_points_new(run, borrowed, &request, &points), VEM_OK);
        for (int k = 0; k < 2; k++)
            assert_int_equal(vem_i_subset_new(run, &points->view, DRAWS, 0, 9, NULL,
                                              k ? &joined : &drawn),
                             VEM_OK);
        vem_i_subset_join(joined);
        const vem_view *a = &drawn->view, *b = &joined->view;
        assert_in_range(b->n, ITEMS / 2, ITEMS);
        assert_true(b->used == b->n && b->global_n == b->n);
        int64_t at = 0;
        for (int64_t i = 0; i < b->n; i++) {
            double mass = 0;
            const int64_t first = at;
            for (; at < a->n && memcmp(vem_i_view_row(a, at), vem_i_view_row(b, i),
                                       D * a->kernels->element) == 0;
                 at++)
                mass += a->mass[at];
            assert_true(at > first);
            assert_true(mass == b->mass[i]);
        }
        assert_int_equal(at, a->n);
        vem_i_points_free(points);
        vem_i_points_free(drawn);
        vem_i_points_free(joined);
    }
    vem_data_free(borrowed);
    grid_data_free(&data);
}

/* ---- fits ---- */

static vem_options options_of(int family, int64_t clusters)
{
    vem_options o;
    vem_options_init(&o);
    o.clusters = clusters;
    o.family = family;
    o.max_steps = 12;
    o.seed = 3;
    return o;
}

typedef struct fitted {
    vem_model *model;
    vem_report *report;
} fitted;

static fitted fit(const vem_data *data, const vem_options *o, const vem_model *start)
{
    fitted f = {0};
    const vem_status status = vem_fit(ctx, data, o, start, &f.model, &f.report);
    if (status != VEM_OK)
        print_message("%s\n", vem_ctx_message(ctx));
    assert_int_equal(status, VEM_OK);
    return f;
}

static void fitted_free(fitted *f)
{
    vem_model_free(f->model);
    vem_report_free(f->report);
}

static void assert_same_model(const vem_model *a, const vem_model *b)
{
    const size_t c = (size_t)vem_model_clusters(a), d = (size_t)vem_model_columns(a);
    assert_int_equal(c, vem_model_clusters(b));
    assert_memory_equal(vem_model_means(a), vem_model_means(b), c * d * sizeof(double));
    assert_memory_equal(vem_model_weights(a), vem_model_weights(b), c * sizeof(double));
    assert_memory_equal(vem_model_variances(a), vem_model_variances(b),
                        vem_model_variance_count(a) * sizeof(double));
}

/* The different rows and their weights, as a caller would give them. */
static vem_data *merged_of(const vem_i_repeats *found)
{
    vem_data *data;
    assert_int_equal(vem_data_borrow(ctx, VEM_FLOAT32, found->rows.base, found->rows.n, D,
                                     0, 0, &data),
                     VEM_OK);
    assert_int_equal(vem_data_set_weights(ctx, data, found->rows.weights, found->rows.n),
                     VEM_OK);
    return data;
}

static void fitted_by_weights(void **state)
{
    (void)state;
    const struct {
        int family;
        int64_t clusters;
        int restarts, measure, prior;
    } cases[] = {{VEM_FULL, 5, 1, VEM_MEASURE_EXACT, VEM_AUTO},
                 {VEM_DIAG, 10, 1, VEM_MEASURE_SAMPLE, VEM_AUTO},
                 {VEM_ISO, 9, 2, VEM_MEASURE_NONE, VEM_AUTO},
                 {VEM_ISO_SHARED, 8, 1, VEM_MEASURE_EXACT, VEM_AUTO},
                 {VEM_ISO_SHARED, 100, 1, VEM_MEASURE_NONE, VEM_AUTO},
                 {VEM_FULL, 5, 1, VEM_MEASURE_NONE, VEM_PRIOR_FLAT}};
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        repeated r = repeated_new(N, KINDS, 0, k % 2);
        vem_i_repeats found = found_in(r.data, 0);
        vem_data *data = merged_of(&found);
        vem_options o = options_of(cases[k].family, cases[k].clusters);
        o.restarts = cases[k].restarts;
        o.measure = cases[k].measure;
        if (cases[k].prior != VEM_AUTO)
            o.prior = cases[k].prior;
        fitted all = fit(r.data, &o, NULL), few = fit(data, &o, NULL);
        const vem_summary *a = vem_report_summary(all.report),
                          *b = vem_report_summary(few.report);
        assert_same_model(all.model, few.model);
        assert_true(a->free_energy == b->free_energy);
        assert_int_equal(a->steps, b->steps);
        assert_int_equal(a->n, N);
        assert_int_equal(a->items, KINDS);
        assert_true(a->rows_used == found.used);
        if (o.measure == VEM_MEASURE_EXACT) {
            assert_true(a->log_likelihood == b->log_likelihood && a->bic == b->bic);
            assert_int_equal(a->measured_rows, N);
        }
        const int32_t *labels = vem_report_labels(all.report),
                      *own = vem_report_labels(few.report);
        for (int64_t i = 0; i < N; i++)
            assert_int_equal(labels[i], own[found.places[i]]);
        assert_non_null(strstr(vem_report_choices(all.report),
                               "3000 different rows stand for the 70000 rows"));
        fitted_free(&all);
        fitted_free(&few);
        vem_data_free(data);
        vem_i_repeats_free(&found);
        repeated_free(&r);
    }
}

/* A given start is where it goes on from, and the likelihood of all rows is that of its steps: a step from the
 * same model over the rows as they are gives the same to rounding. */
static void the_same_step(void **state)
{
    (void)state;
    repeated r = repeated_new(N, KINDS, 0, 0);
    vem_options o = options_of(VEM_FULL, 5);
    fitted first = fit(r.data, &o, NULL);
    o.max_steps = 3;
    o.tolerance = 0;
    fitted merged = fit(r.data, &o, first.model);
    vem_options preset = o;
    preset.algorithm = VEM_ALGORITHM_GMM;
    fitted whole = fit(r.data, &preset, first.model);
    assert_int_equal(vem_report_summary(merged.report)->items, KINDS);
    assert_int_equal(vem_report_summary(whole.report)->items, N);
    assert_float_equal(vem_report_summary(merged.report)->free_energy,
                       vem_report_summary(whole.report)->free_energy, 1e-6);
    fitted_free(&first);
    fitted_free(&merged);
    fitted_free(&whole);
    repeated_free(&r);
}

/* What is not the default, counts rows, or takes rows or memory otherwise sees each of them. */
static void not_where_rows_count(void **state)
{
    (void)state;
    repeated r = repeated_new(N, KINDS, 0, 0);
    for (int k = 0; k < 5; k++) {
        vem_options o = options_of(VEM_ISO_SHARED, 10);
        o.max_steps = 3;
        if (k == 0)
            o.algorithm = VEM_ALGORITHM_KMEANS;
        else if (k == 1)
            o.balance = 1.5;
        else if (k == 2)
            o.search = VEM_SEARCH_CLOSEST;
        else if (k == 3)
            o.cells = 4096;
        else
            o.clusters = 4; /* a table would cost as much */
        fitted f = fit(r.data, &o, NULL);
        const vem_summary *s = vem_report_summary(f.report);
        assert_int_equal(s->n, N);
        assert_true(k == 3 ? s->items <= 4096 && s->cells > 0 : s->items == N);
        assert_null(strstr(vem_report_choices(f.report), "different rows stand"));
        fitted_free(&f);
    }
    repeated_free(&r);
    r = repeated_new(60000, KINDS, 0, 0); /* few */
    vem_options o = options_of(VEM_ISO_SHARED, 10);
    fitted f = fit(r.data, &o, NULL);
    assert_int_equal(vem_report_summary(f.report)->items, 60000);
    fitted_free(&f);
    repeated_free(&r);
}

/* A value that is none is refused with the row that it comes first in. */
static void names_the_row(void **state)
{
    (void)state;
    repeated r = repeated_new(N, KINDS, 0, 0);
    for (int64_t i = 4567; i < N; i += KINDS)
        r.x[i * D + 1] = NAN;
    vem_options o = options_of(VEM_FULL, 5);
    assert_int_equal(vem_fit(ctx, r.data, &o, NULL, NULL, NULL), VEM_BAD_DATA);
    assert_non_null(strstr(vem_ctx_message(ctx), "Row 4568, column 2"));
    repeated_free(&r);
}

/* A version that did not put rows together, or a fit whose --memory had no room for it, wrote no block of that name. */
static void states_know_what_the_rows_are(void **state)
{
    (void)state;
    enum { MARK = 32, TAIL = 16, MOST = 1 << 20 };
    const char name[] = "different"; /* its block says how many there are */
    char path[] = "/tmp/vem-repeats-XXXXXX";
    const int file = mkstemp(path);
    vem_checkpoint c = {.size = sizeof c, .path = path};
    repeated r = repeated_new(N, KINDS, 0, 0);
    vem_options o = options_of(VEM_ISO_SHARED, 10);
    o.swaps = 0;
    o.max_steps = 3;
    assert_true(file >= 0);
    close(file);
    unlink(path);
    assert_int_equal(vem_ctx_set_checkpoint(ctx, &c), VEM_OK);
    fitted f = fit(r.data, &o, NULL);
    fitted_free(&f);
    FILE *stream = fopen(path, "r+b");
    char *bytes = malloc(MOST), *found = NULL;
    assert_non_null(stream);
    const size_t size = fread(bytes, 1, MOST, stream);
    for (size_t k = 0; k + sizeof name <= size && !found; k++)
        found = memcmp(bytes + k, name, sizeof name) == 0 ? bytes + k : NULL;
    assert_non_null(found);
    memcpy(found, "otherwise", sizeof name - 1);
    const uint64_t sum = vem_i_mix(0, bytes + MARK, size - MARK - TAIL);
    memcpy(bytes + size - sizeof sum, &sum, sizeof sum);
    rewind(stream);
    assert_int_equal(fwrite(bytes, 1, size, stream), size);
    fclose(stream);
    free(bytes);
    c.resume = 1;
    assert_int_equal(vem_ctx_set_checkpoint(ctx, &c), VEM_OK);
    assert_int_equal(vem_fit(ctx, r.data, &o, NULL, NULL, NULL), VEM_BAD_OPTION);
    assert_non_null(strstr(vem_ctx_message(ctx), "there each row was one, here rows that "
                                                 "are alike are one"));
    assert_int_equal(vem_ctx_set_checkpoint(ctx, NULL), VEM_OK);
    unlink(path);
    repeated_free(&r);
}

static int stop(void *user, const vem_progress *p)
{
    int *calls = user;
    return strcmp(p->phase, "read") == 0 && ++*calls == 1;
}

static void stopped_while_it_looks(void **state)
{
    (void)state;
    repeated r = repeated_new(N, KINDS, 0, 0);
    vem_options o = options_of(VEM_FULL, 5);
    int calls = 0;
    vem_ctx_set_progress(ctx, stop, &calls);
    assert_int_equal(vem_fit(ctx, r.data, &o, NULL, NULL, NULL), VEM_STOPPED);
    vem_ctx_set_progress(ctx, NULL, NULL);
    repeated_free(&r);
}

static void threads_change_nothing(void **state)
{
    (void)state;
    repeated r = repeated_new(N, N / 4, 0, 1); /* of which the starts draw some */
    vem_options o = options_of(VEM_FULL, 7);
    o.threads = 1;
    fitted one = fit(r.data, &o, NULL);
    assert_int_equal(vem_report_summary(one.report)->items, N / 4);
    assert_non_null(strstr(vem_report_choices(one.report), "a sample of"));
    for (int64_t threads = 2; threads <= 7; threads += threads == 3 ? 4 : 1) {
        o.threads = threads;
        fitted some = fit(r.data, &o, NULL);
        assert_same_model(one.model, some.model);
        assert_memory_equal(vem_report_labels(one.report), vem_report_labels(some.report),
                            N * sizeof(int32_t));
        fitted_free(&some);
    }
    fitted_free(&one);
    repeated_free(&r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(found_as_they_come),
        cmocka_unit_test(found_in_any_layout),
        cmocka_unit_test(found_in_bytes),
        cmocka_unit_test(not_made),
        cmocka_unit_test(draws_are_joined),
        cmocka_unit_test(fitted_by_weights),
        cmocka_unit_test(the_same_step),
        cmocka_unit_test(not_where_rows_count),
        cmocka_unit_test(names_the_row),
        cmocka_unit_test(states_know_what_the_rows_are),
        cmocka_unit_test(stopped_while_it_looks),
        cmocka_unit_test(threads_change_nothing),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
