/* How members move between the mixtures of a path: the table against counting by hand,
 * which mixtures are looked at, and how they are drawn. */
#include <unistd.h>

#include "io/clustergram.h"
#include "io/svg.h"

#define CONTEXT_THREADS 2
#include "context.h"

/* Clusters of variance 1 at these places of a line. */
static void add(vem_path *path, const double *means, int32_t clusters, double objective)
{
    vem_i_run *run = vem_i_begin(ctx, &(vem_i_verb){0});
    double one[64], even[64];
    vem_model *model;
    for (int32_t c = 0; c < clusters; c++) {
        one[c] = 1;
        even[c] = 1.0 / clusters;
    }
    assert_int_equal(vem_model_new(ctx, VEM_ISO, clusters, 1, means, even, one, &model),
                     VEM_OK);
    const vem_path_point point = {.clusters = clusters, .objective = objective};
    assert_int_equal(vem_i_path_append(run, path, &point, model), VEM_OK);
}

static vem_path *path_new(int32_t capacity)
{
    vem_i_run *run = vem_i_begin(ctx, &(vem_i_verb){0});
    vem_path *path;
    assert_int_equal(vem_i_path_new(run, capacity, &path), VEM_OK);
    return path;
}

static const double rows[] = {0, 0, 0, 10, 10, 20, 20, 20};
static const double one_mean[] = {10}, two_means[] = {15, 0}, three_means[] = {0, 10, 20},
                    far_mean[] = {0, 10, 20, 900};

/* 1, 2 and 3 clusters, and 4 of which one has no rows. */
static vem_path *small_path(void)
{
    vem_path *path = path_new(4);
    add(path, one_mean, 1, -100);
    add(path, two_means, 2, -60);
    add(path, three_means, 3, -20);
    add(path, far_mean, 4, -23);
    path->chosen = 3;
    path->method = VEM_SELECT_BAYES;
    return path;
}

static vem_flows *flows_of(const vem_path *path, const vem_data *data, int32_t mixtures)
{
    const vem_flow_options o = {.size = sizeof o,
                                .mixtures = mixtures,
                                .precision = VEM_DOUBLE};
    vem_flows *flows;
    if (vem_path_flows(ctx, path, data, &o, &flows) != VEM_OK)
        fail_msg("%s", vem_ctx_message(ctx));
    return flows;
}

static void assert_flows(const vem_flows *flows, int32_t at, const vem_flow *expected,
                         int64_t count)
{
    int64_t length;
    const vem_flow *f = vem_flows_at(flows, at, &length);
    assert_int_equal(length, count);
    for (int64_t i = 0; i < count; i++) {
        assert_int_equal(f[i].from, expected[i].from);
        assert_int_equal(f[i].to, expected[i].to);
        grid_assert_near(f[i].share, expected[i].share, 1e-15, "share");
    }
}

static void flows_are_what_counting_gives(void **state)
{
    (void)state;
    static const vem_flow first[] = {{0, 0, 5 / 8.0}, {0, 1, 3 / 8.0}},
                          second[] = {{0, 1, 2 / 8.0}, {0, 2, 3 / 8.0}, {1, 0, 3 / 8.0}},
                          same[] = {{0, 0, 3 / 8.0}, {1, 1, 2 / 8.0}, {2, 2, 3 / 8.0}};
    vem_path *path = small_path();
    vem_data *data;
    assert_int_equal(vem_data_borrow(ctx, VEM_FLOAT64, rows, 8, 1, 0, 0, &data), VEM_OK);
    vem_flows *flows = flows_of(path, data, 0);
    assert_int_equal(vem_flows_count(flows), 4);
    assert_int_equal(vem_flows_rows(flows), 8);
    assert_flows(flows, 0, first, 2);
    assert_flows(flows, 1, second, 3);
    assert_flows(flows, 2, same, 3); /* nobody moves */
    assert_null(vem_flows_at(flows, 3, NULL));
    assert_null(vem_flows_at(flows, -1, NULL));
    grid_assert_near(vem_flows_shares(flows, 3)[3], 0, 0, "a cluster without rows");
    vem_flows_free(flows);
    /* A row of weight 3 is three of them; one of weight 0 is none. */
    static const double weights[] = {3, 0, 0, 1, 1, 3, 0, 0};
    assert_int_equal(vem_data_set_weights(ctx, data, weights, 8), VEM_OK);
    flows = flows_of(path, data, 0);
    assert_int_equal(vem_flows_rows(flows), 4);
    assert_flows(flows, 0, first, 2);
    assert_flows(flows, 1, second, 3);
    assert_flows(flows, 2, same, 3);
    vem_flows_free(flows);
    vem_data_free(data);
    vem_path_free(path);
}

static void margins_are_told(void **state)
{
    (void)state;
    vem_path *path = small_path();
    vem_path_summary s = {.size = sizeof s};
    assert_int_equal(vem_path_describe(ctx, path, &s), VEM_OK);
    assert_string_equal(s.criterion, "log evidence");
    assert_int_equal(s.lower, 0);
    assert_int_equal(s.next, 4);
    grid_assert_near(s.margin, 3, 0, "margin");
    path->chosen = 2; /* as by min_clusters: another one is better */
    assert_int_equal(vem_path_describe(ctx, path, &s), VEM_OK);
    assert_int_equal(s.next, 3);
    grid_assert_near(s.margin, -40, 0, "margin");
    path->chosen = 1;
    path->method = VEM_SELECT_ICL; /* lower is better: all others are worse */
    assert_int_equal(vem_path_describe(ctx, path, &s), VEM_OK);
    assert_int_equal(s.next, 2);
    grid_assert_near(s.margin, 40, 0, "margin");
    path->method = VEM_SELECT_GMEANS;
    assert_int_equal(vem_path_describe(ctx, path, &s), VEM_OK);
    assert_int_equal(s.next, 0);
    assert_true(isnan(s.margin) && s.tested);
    vem_path_free(path);
    path = path_new(1);
    assert_int_equal(vem_path_describe(ctx, path, &s), VEM_OK);
    assert_true(isnan(s.objective) && s.next == 0 && s.count == 0);
    vem_path_free(path);
}

/* Twelve at most, evenly apart, and the chosen one is one of them. */
static void long_paths_are_thinned(void **state)
{
    (void)state;
    double means[64];
    vem_data *data;
    vem_path *path = path_new(40);
    for (int c = 0; c < 64; c++)
        means[c] = 5 * c;
    for (int32_t k = 1; k <= 40; k++)
        add(path, means, k, k);
    assert_int_equal(vem_data_borrow(ctx, VEM_FLOAT64, rows, 8, 1, 0, 0, &data), VEM_OK);
    for (int32_t chosen = 1; chosen <= 40; chosen++) {
        path->chosen = chosen;
        vem_flows *flows = flows_of(path, data, chosen % 2 ? 0 : 7);
        const int32_t count = vem_flows_count(flows), most = chosen % 2 ? 12 : 7;
        const int32_t step = vem_flows_clusters(flows, 1) - vem_flows_clusters(flows, 0);
        int found = 0;
        assert_true(count <= most && count >= most / 2);
        for (int32_t i = 0; i < count; i++) {
            found |= vem_flows_clusters(flows, i) == chosen;
            if (i > 0)
                assert_int_equal(vem_flows_clusters(flows, i) -
                                     vem_flows_clusters(flows, i - 1),
                                 step);
        }
        assert_true(found);
        vem_flows_free(flows);
    }
    path->chosen = 0; /* none: from the first on */
    vem_flows *flows = flows_of(path, data, 7);
    assert_int_equal(vem_flows_clusters(flows, 0), 1);
    vem_flows_free(flows);
    vem_data_free(data);
    vem_path_free(path);
}

/* Many weighted rows: sums, and the same bits for any threads. */
static void shares_add_up(void **state)
{
    (void)state;
    grid_data data = grid_data_new(SET_OVERLAPPING, WEIGHTS_REAL, 30000, 2, 3);
    vem_data *all = grid_borrow(ctx, &data);
    vem_options o;
    vem_options_init(&o);
    const vem_select_options s = {.size = sizeof s, .max_clusters = 4};
    vem_path *path;
    assert_int_equal(vem_select(ctx, all, &o, &s, NULL, &path, NULL), VEM_OK);
    vem_flows *first = NULL;
    for (int threads = 1; threads <= 3; threads++) {
        vem_ctx_set_threads(ctx, threads);
        vem_flows *flows = flows_of(path, all, 0);
        for (int32_t i = 0; i < vem_flows_count(flows); i++) {
            const int32_t k = vem_flows_clusters(flows, i);
            int64_t count;
            const vem_flow *f = vem_flows_at(flows, i, &count);
            double total = 0, *left = calloc((size_t)k, sizeof *left);
            for (int32_t c = 0; c < k; c++)
                total += vem_flows_shares(flows, i)[c];
            grid_assert_near(total, 1, 1e-9, "shares of a mixture");
            for (int64_t j = 0; j < count; j++)
                left[f[j].from] += f[j].share;
            for (int32_t c = 0; f && c < k; c++)
                grid_assert_near(left[c], vem_flows_shares(flows, i)[c], 1e-12, "flows");
            free(left);
            if (first && f)
                assert_memory_equal(f, vem_flows_at(first, i, NULL),
                                    (size_t)count * sizeof *f);
        }
        assert_true(vem_flows_rows(flows) >= 20000 && vem_flows_rows(flows) < 20200);
        if (first)
            vem_flows_free(flows);
        else
            first = flows;
    }
    vem_ctx_set_threads(ctx, 2);
    vem_flows_free(first);
    vem_path_free(path);
    vem_data_free(all);
    grid_data_free(&data);
}

/* ---- the picture ---- */

static vem_flows *table(int32_t from, int32_t to, const int32_t *a, const int32_t *b,
                        int64_t n)
{
    vem_i_run *run = vem_i_begin(ctx, &(vem_i_verb){0});
    vem_flows *flows;
    const int32_t clusters[] = {from, to};
    assert_int_equal(vem_i_flows_new(run, clusters, 2, &flows), VEM_OK);
    flows->rows = n;
    vem_i_flows_weigh(flows, 0, a, NULL, (double)n);
    vem_i_flows_weigh(flows, 1, b, NULL, (double)n);
    assert_int_equal(vem_i_flows_put(run, flows, 0, a, b, NULL, (double)n), VEM_OK);
    return flows;
}

/* Clusters that swap numbers: the picture has no crossing. */
static void crossings_are_removed(void **state)
{
    (void)state;
    static const int32_t a[] = {0, 0, 1, 1, 2, 2, 2}, b[] = {3, 2, 1, 1, 0, 0, 0};
    vem_i_run *run = vem_i_begin(ctx, &(vem_i_verb){0});
    vem_flows *flows = table(3, 4, a, b, 7);
    vem_i_clustergram *gram;
    assert_int_equal(vem_i_clustergram_new(run, flows, 4, 2, &gram), VEM_OK);
    const vem_i_gram_column *left = &gram->columns[0], *right = &gram->columns[1];
    assert_int_equal(gram->chosen, 1);
    int below = -1; /* ribbons from above to below reach ever lower places */
    for (int p = 0; p < left->count; p++) {
        int least = 99, most = -1;
        for (int q = 0; q < right->count; q++)
            if (vem_i_gram_ribbons(
                    gram, 0)[left->order[p] * VEM_I_GRAM_BLOCKS + right->order[q]] > 0) {
                least = q < least ? q : least;
                most = q;
            }
        assert_true(least >= below);
        below = most;
    }
    vem_i_clustergram_free(gram);
    vem_flows_free(flows);
}

static void small_clusters_are_one_block(void **state)
{
    (void)state;
    enum { N = 500, K = 100 };
    int32_t a[N], b[N];
    vem_i_run *run = vem_i_begin(ctx, &(vem_i_verb){0});
    for (int i = 0; i < N; i++) {
        b[i] = i % K < 10 ? 0 : i % K; /* one is large, nine are empty */
        a[i] = i % 2;
    }
    vem_flows *flows = table(2, K, a, b, N);
    vem_i_clustergram *gram;
    assert_int_equal(vem_i_clustergram_new(run, flows, 2, 30, &gram), VEM_OK);
    const vem_i_gram_column *c = &gram->columns[1];
    double sum = 0, ribbons = 0;
    assert_int_equal(c->count, VEM_I_GRAM_BLOCKS);
    assert_int_equal(c->blocks[0].cluster, 0);
    assert_int_equal(c->blocks[VEM_I_GRAM_BLOCKS - 1].cluster, -1);
    grid_assert_near(c->blocks[VEM_I_GRAM_BLOCKS - 1].share, (90 - 58) * 5 / 500.0, 1e-12,
                     "the rest");
    for (int k = 0; k < c->count; k++)
        sum += c->blocks[k].share;
    for (int k = 0; k < VEM_I_GRAM_BLOCKS * VEM_I_GRAM_BLOCKS; k++)
        ribbons += vem_i_gram_ribbons(gram, 0)[k];
    grid_assert_near(sum, 1, 1e-12, "blocks");
    grid_assert_near(ribbons, 1, 1e-12, "ribbons");
    char *text = NULL;
    size_t length;
    FILE *out = open_memstream(&text, &length);
    vem_i_clustergram_print(out, gram, 1000, 0);
    fclose(out);
    assert_non_null(strstr(text, "beyond the 59 largest"));
    assert_non_null(strstr(text, "2 of 30 mixtures"));
    assert_null(strstr(text, "nan"));
    free(text);
    vem_i_clustergram_free(gram);
    vem_flows_free(flows);
}

static void texts_are_escaped(void **state)
{
    (void)state;
    char *text = NULL;
    size_t length;
    FILE *out = open_memstream(&text, &length);
    vem_i_svg_text(out, &(vem_i_svg_words){.size = 10},
                   "a<b>&c\x01\xff\xc3\xa9\xed\xa0\x80\xe2\x82");
    fclose(out);
    assert_non_null(strstr(text, ">a&lt;b&gt;&amp;c ?\xc3\xa9\?\?\?\?\?</text>"));
    free(text);
}

static void ticks_are_round(void **state)
{
    (void)state;
    static const double ranges[][2] = {{0, 1},       {-7, 13},      {13180.2, 13720.9},
                                       {1e-7, 3e-7}, {-1e12, 1e12}, {0.92, 20.76}};
    for (size_t i = 0; i < sizeof ranges / sizeof *ranges; i++) {
        const double low = ranges[i][0], high = ranges[i][1];
        double first, step;
        const int count = vem_i_svg_ticks(low, high, 6, &first, &step);
        const double digits = step / pow(10, floor(log10(step) + 1e-9));
        assert_true(count >= 2 && count <= 6);
        assert_true(first >= low - 1e-9 * step);
        assert_true(first + (count - 1) * step <= high + 1e-9 * step);
        assert_true(fabs(digits - 1) < 1e-9 || fabs(digits - 2) < 1e-9 ||
                    fabs(digits - 5) < 1e-9);
    }
}

static void draw_to(const vem_path *path, const char *file, char *text, size_t size)
{
    assert_int_equal(vem_path_draw(ctx, path, NULL, file), VEM_OK);
    FILE *in = fopen(file, "r");
    assert_non_null(in);
    assert_true(fread(text, 1, size - 1, in) > 0);
    fclose(in);
    unlink(file);
}

static void odd_paths_are_drawn(void **state)
{
    (void)state;
    vem_path *path = path_new(2);
    const char *file = "flows_test.svg";
    assert_int_equal(vem_path_draw(ctx, path, NULL, file), VEM_BAD_OPTION);
    assert_string_equal(vem_ctx_message(ctx), "The path has no mixtures.");
    assert_int_not_equal(access(file, F_OK), 0);
    add(path, one_mean, 1, 5); /* one mixture alone */
    path->chosen = 1;
    assert_int_equal(vem_path_draw(ctx, path, NULL, file), VEM_OK);
    add(path, two_means, 2, NAN); /* and one that was not measured */
    char text[20000] = "";
    draw_to(path, file, text, sizeof text);
    assert_null(strstr(text, "nan"));
    assert_null(strstr(text, "inf"));
    assert_non_null(strstr(text, "1 chosen"));
    assert_int_equal(vem_path_draw(ctx, path, NULL, "no/such/place.svg"), VEM_IO_ERROR);
    vem_path_free(path);
}

/* Objectives that are all the same: there is a curve, and no second one near the chosen one. */
static void flat_paths_are_drawn(void **state)
{
    (void)state;
    enum { MIXTURES = 6 };
    const double means[2 * MIXTURES] = {0};
    vem_path *path = path_new(MIXTURES);
    for (int32_t k = 1; k <= MIXTURES; k++)
        add(path, means, k, 7);
    path->chosen = 3;
    char text[20000] = "";
    draw_to(path, "flat_test.svg", text, sizeof text);
    assert_null(strstr(text, "nan"));
    assert_null(strstr(text, "inf"));
    assert_null(strstr(text, "near the chosen one"));
    assert_non_null(strstr(text, "3 chosen"));
    assert_int_equal(vem_path_draw(ctx, path, NULL, "flat_test.png"), VEM_BAD_OPTION);
    assert_non_null(strstr(vem_ctx_message(ctx), ".svg"));
    vem_path_free(path);
}

static void wrong_requests_are_refused(void **state)
{
    (void)state;
    vem_path *path = small_path(), *empty = path_new(1);
    static const double wide[] = {1, 2, 3, 4};
    vem_data *data, *other;
    vem_flows *flows;
    vem_flow_options o = {.size = sizeof o, .mixtures = -1};
    assert_int_equal(vem_data_borrow(ctx, VEM_FLOAT64, rows, 8, 1, 0, 0, &data), VEM_OK);
    assert_int_equal(vem_data_borrow(ctx, VEM_FLOAT64, wide, 2, 2, 0, 0, &other), VEM_OK);
    assert_int_equal(vem_path_flows(ctx, path, data, &o, &flows), VEM_BAD_OPTION);
    o.mixtures = 0;
    o.rows = -1;
    assert_int_equal(vem_path_flows(ctx, path, data, &o, &flows), VEM_BAD_OPTION);
    o.rows = 0;
    assert_int_equal(vem_path_flows(ctx, path, other, &o, &flows), VEM_BAD_DATA);
    assert_int_equal(vem_path_flows(ctx, empty, data, &o, &flows), VEM_BAD_OPTION);
    o.rows = 1; /* a sample of two or three rows is one, too */
    assert_int_equal(vem_path_flows(ctx, path, data, &o, &flows), VEM_OK);
    vem_flows_free(flows);
    vem_data_free(data);
    vem_data_free(other);
    vem_path_free(path);
    vem_path_free(empty);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(flows_are_what_counting_gives),
        cmocka_unit_test(margins_are_told),
        cmocka_unit_test(long_paths_are_thinned),
        cmocka_unit_test(shares_add_up),
        cmocka_unit_test(crossings_are_removed),
        cmocka_unit_test(small_clusters_are_one_block),
        cmocka_unit_test(texts_are_escaped),
        cmocka_unit_test(ticks_are_round),
        cmocka_unit_test(odd_paths_are_drawn),
        cmocka_unit_test(flat_paths_are_drawn),
        cmocka_unit_test(wrong_requests_are_refused),
    };
    return cmocka_run_group_tests_name("flows", tests, set_up, tear_down);
}
