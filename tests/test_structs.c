/* Structs begin with their size: what a caller did not set is told, and what its struct does not
 * have is neither read nor written. */
#include "grid.h"

#include "context.h"

enum { N = 60, D = 3, C = 4 };
static grid_data set;
static vem_data *rows;
static vem_model *model;

/* The struct of a program that knows members up to the one named, and what lies behind it. */
#define CUT(type, next) offsetof(type, next)

static void untouched(const void *given, size_t from, size_t to, int byte)
{
    for (size_t i = from; i < to; i++)
        assert_int_equal(((const unsigned char *)given)[i], byte);
}

static void says(vem_status status, const char *type)
{
    assert_int_equal(status, VEM_BAD_OPTION);
    if (!strstr(vem_ctx_message(ctx), type))
        fail_msg("%s is not in: %s", type, vem_ctx_message(ctx));
}

/* Calls `verb` with a struct of no size, a cut one (nothing behind `next` may change) and a
 * whole one, whose member `known` must be the same. */
#define OUTPUT(type, out, verb, known, next)                                             \
    do {                                                                                 \
        type out;                                                                        \
        memset(&out, 0, sizeof out);                                                     \
        says(verb, #type);                                                               \
        out.size = sizeof out;                                                           \
        assert_int_equal(verb, VEM_OK);                                                  \
        const type all = out;                                                            \
        memset(&out, 0x5a, sizeof out);                                                  \
        out.size = CUT(type, next);                                                      \
        assert_int_equal(verb, VEM_OK);                                                  \
        assert_memory_equal(&out.known, &all.known, sizeof all.known);                   \
        assert_int_equal(out.size, CUT(type, next));                                     \
        untouched(&out, CUT(type, next), sizeof out, 0x5a);                              \
    } while (0)

static void outputs(void **state)
{
    (void)state;
    const int64_t labels[] = {0, 1, 0, 1, 1};
    int32_t clusters[N];
    vem_options o = grid_options(C, VEM_ISO_SHARED, VEM_PRIOR_FLAT, 1, VEM_DOUBLE, 1);
    const vem_assign_options how = {.size = sizeof how, .precision = VEM_DOUBLE};
    OUTPUT(vem_scores, s, vem_score(ctx, model, rows, 0, VEM_DOUBLE, &s), log_likelihood,
           entropy);
    OUTPUT(vem_agreement, a, vem_compare(ctx, labels, labels, 5, &a), nmi, clusters);
    OUTPUT(vem_forecast, f, vem_plan_fit(ctx, rows, &o, NULL, &f), bytes, spilled);
    OUTPUT(vem_assign_report, r,
           vem_assign_guided(ctx, model, rows, &how, clusters, NULL, &r), buckets,
           scored_pairs);
}

static void statistics(void **state)
{
    (void)state;
    vem_stats *stats = NULL;
    vem_stats_summary s;
    vem_options o = grid_options(C, VEM_ISO_SHARED, VEM_PRIOR_FLAT, 1, VEM_DOUBLE, 1);
    assert_int_equal(vem_accumulate(ctx, model, rows, &o, &stats), VEM_OK);
    memset(&s, 0x5a, sizeof s);
    s.size = CUT(vem_stats_summary, mass);
    vem_stats_describe(stats, &s);
    assert_int_equal(s.clusters, C);
    assert_int_equal(s.size, CUT(vem_stats_summary, mass));
    untouched(&s, s.size, sizeof s, 0x5a);
    s.size = 0; /* it has no status to tell: nothing is written */
    memset((char *)&s + sizeof s.size, 0x5a, sizeof s - sizeof s.size);
    vem_stats_describe(stats, &s);
    untouched(&s, sizeof s.size, sizeof s, 0x5a);
    vem_stats_free(stats);
}

/* An array lies as far apart as its first element says. */
static void clusters_of_a_description(void **state)
{
    (void)state;
    vem_cluster all[C] = {{.size = 0}};
    const size_t cut = CUT(vem_cluster, columns);
    _Alignas(vem_cluster) char few[C * sizeof(vem_cluster)];
    _Alignas(vem_cluster) char many[C * (sizeof(vem_cluster) + 16)];
    vem_description about = {.size = 0};
    says(vem_describe(ctx, model, rows, VEM_DOUBLE, all, &about), "vem_description");
    about.size = sizeof about;
    says(vem_describe(ctx, model, rows, VEM_DOUBLE, all, &about), "vem_cluster");
    all[0].size = sizeof *all;
    assert_int_equal(vem_describe(ctx, model, rows, VEM_DOUBLE, all, &about), VEM_OK);
    assert_int_equal(all[C - 1].size, sizeof *all);
    memset(few, 0x5a, sizeof few);
    memcpy(few, &cut, sizeof cut);
    about.size = CUT(vem_description, doubtful);
    about.doubtful = -7;
    assert_int_equal(vem_describe(ctx, model, rows, VEM_DOUBLE,
                                  (vem_cluster *)(void *)few, &about),
                     VEM_OK);
    assert_true(about.doubtful == -7 && about.mass == N);
    untouched(few, C * cut, sizeof few, 0x5a);
    const size_t wide = sizeof(vem_cluster) + 16;
    memset(many, 0x5a, sizeof many);
    memcpy(many, &wide, sizeof wide);
    assert_int_equal(vem_describe(ctx, model, rows, VEM_DOUBLE,
                                  (vem_cluster *)(void *)many, &about),
                     VEM_OK);
    for (size_t c = 0; c < C; c++) {
        double weight, mass;
        memcpy(&weight, few + c * cut + offsetof(vem_cluster, weight), sizeof weight);
        memcpy(&mass, many + c * wide + offsetof(vem_cluster, mass), sizeof mass);
        assert_true(weight == all[c].weight && mass == all[c].mass);
        untouched(many, c * wide + sizeof(vem_cluster), (c + 1) * wide, 0x5a);
    }
}

/* Members that are not there count as 0. */
static void inputs(void **state)
{
    (void)state;
    int32_t clusters[N];
    int64_t n = 0;
    vem_stream *stream = NULL;
    vem_assign_options how;
    memset(&how, 0x5a, sizeof how);
    how.size = 0;
    says(vem_assign_guided(ctx, model, rows, &how, clusters, NULL, NULL),
         "vem_assign_options");
    how.size = CUT(vem_assign_options, precision);
    how.top = 1;
    assert_int_equal(vem_assign_guided(ctx, model, rows, &how, clusters, NULL, NULL),
                     VEM_OK);
    vem_generate_options make;
    memset(&make, 0x5a, sizeof make);
    make.size = 0;
    says(vem_generate(ctx, VEM_SEPARATED, &make, &n, NULL, NULL, NULL, NULL),
         "vem_generate_options");
    make.size = CUT(vem_generate_options, n);
    make.clusters = 3;
    make.d = 2;
    assert_int_equal(vem_generate(ctx, VEM_SEPARATED, &make, &n, NULL, NULL, NULL, NULL),
                     VEM_OK);
    assert_int_equal(n, 300);
    vem_stream_options flow;
    memset(&flow, 0x5a, sizeof flow);
    flow.size = 0;
    says(vem_stream_new(ctx, &flow, &stream), "vem_stream_options");
    flow.size = CUT(vem_stream_options, seed);
    flow.bucket = 10;
    assert_int_equal(vem_stream_new(ctx, &flow, &stream), VEM_OK);
    vem_stream_free(stream);
    vem_checkpoint keep = {.path = "state"};
    says(vem_ctx_set_checkpoint(ctx, &keep), "vem_checkpoint");
    keep.size = CUT(vem_checkpoint, notice);
    assert_int_equal(vem_ctx_set_checkpoint(ctx, &keep), VEM_OK);
    assert_int_equal(vem_ctx_set_checkpoint(ctx, NULL), VEM_OK);
}

/* A program of a later version has members that are not known here: they must be 0. */
static void later_inputs(void **state)
{
    (void)state;
    int32_t clusters[N];
    struct {
        vem_assign_options how;
        int64_t more;
    } later = {.how = {.precision = VEM_DOUBLE}};
    later.how.size = sizeof later;
    assert_int_equal(vem_assign_guided(ctx, model, rows, &later.how, clusters, NULL,
                                       NULL),
                     VEM_OK);
    later.more = 1;
    says(vem_assign_guided(ctx, model, rows, &later.how, clusters, NULL, NULL),
         "A member of vem_assign_options is set");
    later.how.size = (size_t)1 << 40; /* nobody set it */
    says(vem_assign_guided(ctx, model, rows, &later.how, clusters, NULL, NULL),
         "The size of vem_assign_options");
}

static int set_up_all(void **state)
{
    if (set_up(state) != 0)
        return -1;
    set = grid_data_new(SET_OVERLAPPING, WEIGHTS_NONE, N, D, 5);
    rows = grid_borrow(ctx, &set);
    model = grid_start(ctx, &set, VEM_ISO_SHARED, C);
    return 0;
}

static int tear_down_all(void **state)
{
    vem_model_free(model);
    vem_data_free(rows);
    grid_data_free(&set);
    return tear_down(state);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(outputs),
        cmocka_unit_test(statistics),
        cmocka_unit_test(clusters_of_a_description),
        cmocka_unit_test(inputs),
        cmocka_unit_test(later_inputs),
    };
    return cmocka_run_group_tests(tests, set_up_all, tear_down_all);
}
