/* Functions inside the library against what can be said of them by hand, for cases that whole fits
 * reach seldom: the end of a range, a step too many, a number that is a bound exactly. */
#include "base/nearest.h"
#include "base/options.h"
#include "base/whole.h"
#include "data/tree_inside.h"
#include "fit/presets.h"
#include "io/clustergram.h"
#include "model/box.h"
#include "model/counts.h"
#include "model/family.h"
#include "model/flows.h"
#include "model/part.h"
#include "model/spread.h"
#include "moves/halves.h"
#include "search/search.h"
#include "seed/seed.h"
#include "select/bisect.h"
#include "select/objective.h"

#include "context.h"

static vem_i_verb verb;

/* ---- parts of some rows ---- */

/* Two heaps on a line, cut at a wrong place: k-means moves the cut by some rows a step, and so many
 * steps as are asked for. */
static void steps_of_bisected_rows(void **state)
{
    (void)state;
    enum { N = 40 };
    double rows[N], masses[N], work[3], means[16];
    uint8_t part[N], before[N];
    vem_i_bisected h = {N, 1, rows, masses, part, work, means};
    int steps = 0, moved = 1;
    for (int i = 0; i < N; i++) {
        rows[i] = i;
        masses[i] = 1;
    }
    for (; moved && steps < 50; steps++) { /* as many as there are, one by one */
        for (int i = 0; i < N; i++)
            part[i] = i >= 4;
        vem_i_bisected_lloyd(&h, 2, steps);
        memcpy(before, part, sizeof part);
        for (int i = 0; i < N; i++)
            part[i] = i >= 4;
        vem_i_bisected_lloyd(&h, 2, steps + 1);
        moved = memcmp(before, part, sizeof part) != 0;
    }
    assert_true(steps > 4 && steps < 50);
    /* Row 19 is as near to the mean of 0 to 18 as to that of 19 to 39, and stays. */
    for (int i = 0; i < N; i++)
        assert_int_equal(part[i], i >= 19);
    assert_true(vem_i_bisected_part(&h, 1, means) == 770);
    assert_true(means[0] == 29);
}

/* ---- draws ---- */

/* Rounding may carry a draw past the last row: it is the last one of a chance. */
static void a_draw_past_the_end(void **state)
{
    (void)state;
    const double mass[] = {1, 2, 0, 3, 0, 0};
    double sum = 0;
    const vem_view view = {.n = 6, .d = 1, .mass = mass, .global_n = 6};
    vem_i_sampler sampler = {.view = &view, .shards = 1, .sums = &sum};
    vem_i_sampler_by_mass(&sampler);
    assert_true(sampler.total == 6);
    assert_int_equal(vem_i_sampler_draw(&sampler, NULL, NULL, 0), 0);
    assert_int_equal(vem_i_sampler_draw(&sampler, NULL, NULL, 0.4), 1);
    assert_int_equal(vem_i_sampler_draw(&sampler, NULL, NULL, 0.5), 3);
    sampler.total = sum = 6.5; /* as another order of the sum may round it, but more */
    assert_int_equal(vem_i_sampler_draw(&sampler, NULL, NULL, 0.99), 3);
}

static int64_t rows_of(int64_t n, int32_t d, vem_seeding method, int32_t clusters)
{
    return vem_i_seed_rows(n, d, vem_i_family_of(VEM_POISSON), 1, method, clusters);
}

/* Seeds of counts are drawn from 8,192 rows and 64 more for each cluster; where a table is made of
 * them, no more than 2^24 values have place there, and two rows for each cluster at least. */
static void rows_that_seed_counts(void **state)
{
    (void)state;
    const int64_t all = 1 << 28;
    const vem_seeding table = VEM_SEED_AFKMC2;
    assert_int_equal(rows_of(all, 10, table, 1), 8192 + 64);
    assert_int_equal(rows_of(all, 10, table, 100), 8192 + 6400);
    assert_int_equal(rows_of(9000, 10, table, 100), 9000);
    assert_int_equal(rows_of(all, 1 << 14, table, 100), 1 << 10);
    assert_int_equal(rows_of(all, 1 << 14, table, 1000), 2000);
    assert_int_equal(rows_of(all, 1 << 14, VEM_SEED_PLUSPLUS, 100), 8192 + 6400);
    assert_int_equal(rows_of(all, INT32_MAX, VEM_SEED_PLUSPLUS_GREEDY, 2), 8192 + 128);
    assert_int_equal(rows_of(all, INT32_MAX, table, 2), 4);
    assert_int_equal(vem_i_seed_rows(all, 1 << 14, vem_i_family_of(VEM_POISSON), 0,
                                     VEM_SEED_PLUSPLUS, 100),
                     1 << 10);
}

/* Poisson's law: its mean and its variance are the rate. Standard errors of 20,000 draws are
 * sqrt(r / N), and sqrt((r + 2 r^2) / N). */
static void draws_of_counts(void **state)
{
    (void)state;
    enum { DRAWS = 20000 };
    static const double rates[] = {0.3, 2.5, 40, 700.5};
    for (int k = 0; k < 4; k++) {
        const double r = rates[k];
        double sum = 0, squares = 0;
        for (int i = 0; i < DRAWS; i++) {
            vem_i_rng rng = vem_i_rng_at(3, VEM_RNG_TEST, (uint32_t)k, (uint64_t)i);
            double drawn;
            vem_i_counts_poisson.draw(&rng, &r, 1, 1, &drawn);
            assert_true(drawn >= 0 && drawn == floor(drawn));
            sum += drawn - r;
            squares += (drawn - r) * (drawn - r);
        }
        assert_true(fabs(sum / DRAWS) < 4 * sqrt(r / DRAWS));
        assert_true(fabs(squares / DRAWS - r) < 4 * sqrt((r + 2 * r * r) / DRAWS));
    }
}

/* ---- flows as a picture ---- */

static vem_i_clustergram *gram_of(vem_i_run *run, vem_flows *flows, int32_t chosen)
{
    vem_i_clustergram *gram = NULL;
    assert_int_equal(vem_i_clustergram_new(run, flows, chosen, 2, &gram), VEM_OK);
    return gram;
}

/* Rows in `first` clusters, which become twice as many. */
static vem_flows *doubled(vem_i_run *run, int32_t first)
{
    enum { MOST = 200 };
    const int32_t clusters[2] = {first, 2 * first};
    int32_t labels[2][MOST];
    double mass[MOST];
    vem_flows *flows = NULL;
    assert_int_equal(vem_i_flows_new(run, clusters, 2, &flows), VEM_OK);
    flows->rows = 2 * first;
    for (int32_t i = 0; i < 2 * first; i++) {
        labels[0][i] = i / 2;
        labels[1][i] = i;
        mass[i] = 1;
    }
    for (int32_t at = 0; at < 2; at++)
        vem_i_flows_weigh(flows, at, labels[at], mass, 2 * first);
    assert_int_equal(vem_i_flows_put(run, flows, 0, labels[0], labels[1], mass,
                                     2 * first),
                     VEM_OK);
    return flows;
}

/* Colors are those of the chosen mixture, of the last one where none was chosen; a cluster has that
 * of the one it shares most rows with. */
static void colors_of_flows(void **state)
{
    (void)state;
    vem_i_run *run = vem_i_begin(ctx, &verb);
    for (int32_t chosen = 0; chosen <= 6; chosen += 3) { /* none, the first, the last */
        vem_flows *flows = doubled(run, 3);
        vem_i_clustergram *gram = gram_of(run, flows, chosen);
        const vem_i_gram_column *from = &gram->columns[chosen == 3 ? 0 : 1];
        assert_int_equal(gram->chosen, chosen / 3 - 1);
        int seen[6] = {0};
        for (int k = 0; k < from->count; k++) {
            assert_in_range(from->blocks[k].color, 0, from->count - 1);
            assert_int_equal(seen[from->blocks[k].color]++, 0);
        }
        for (int k = 0; k < 3; k++) { /* a parent and one of its halves are alike */
            const vem_i_gram_block *parent = &gram->columns[0].blocks[k];
            int alike = 0;
            for (int b = 0; b < 6; b++) {
                const vem_i_gram_block *half = &gram->columns[1].blocks[b];
                alike +=
                    half->cluster / 2 == parent->cluster && half->color == parent->color;
            }
            assert_int_equal(alike, chosen == 3 ? 2 : 1);
        }
        vem_i_clustergram_free(gram);
        vem_flows_free(flows);
    }
}

/* As many clusters as a column has blocks are one each; of more the smallest are one. */
static void blocks_of_flows(void **state)
{
    (void)state;
    vem_i_run *run = vem_i_begin(ctx, &verb);
    for (int32_t first = VEM_I_GRAM_BLOCKS / 2; first <= VEM_I_GRAM_BLOCKS / 2 + 1;
         first++) {
        vem_flows *flows = doubled(run, first);
        vem_i_clustergram *gram = gram_of(run, flows, first);
        const int more = 2 * first > VEM_I_GRAM_BLOCKS;
        double sum = 0, high = 0;
        assert_int_equal(gram->rest, more);
        assert_int_equal(gram->columns[1].count, VEM_I_GRAM_BLOCKS);
        for (int k = 0; k < VEM_I_GRAM_BLOCKS; k++) {
            const vem_i_gram_block *b = &gram->columns[1].blocks[k];
            sum += b->share;
            high = fmax(high, b->y + b->high);
            assert_int_equal(b->cluster < 0, more && k == VEM_I_GRAM_BLOCKS - 1);
            assert_true((b->color < 0) == (b->cluster < 0));
        }
        assert_true(fabs(sum - 1) < 1e-9 && fabs(high - VEM_I_GRAM_HEIGHT) < 1e-9);
        vem_i_clustergram_free(gram);
        vem_flows_free(flows);
    }
}

/* ---- searches ---- */

/* Of all clusters, or of more than a list holds, posteriors are dense. */
static void lists_that_are_dense(void **state)
{
    (void)state;
    assert_true(vem_i_search_closest(5, 5, 0).dense);
    assert_int_equal(vem_i_search_closest(5, 9, 0).held, 5);
    assert_false(vem_i_search_closest(5, 4, 0).dense);
    assert_false(vem_i_search_closest(1, 1, 0).dense);
    assert_false(vem_i_search_closest(1000, VEM_I_SPARSE_MAX, 0).dense);
    assert_true(vem_i_search_closest(1000, VEM_I_SPARSE_MAX + 1, 0).dense);
    assert_int_equal(vem_i_search_closest(1000, VEM_I_SPARSE_MAX + 1, 0).held,
                     VEM_I_SPARSE_MAX + 1);
}

/* ---- shapes ---- */

/* The first of the widest columns, by diagonals of triangles or by one value for each. */
static void widest_columns(void **state)
{
    (void)state;
    const double each[] = {1, 2, 7, 7, 3},
                 triangle[] = {1, 9, 2, 9, 9, 7, 9, 9, 9, 7, 9, 9, 9, 9, 3};
    assert_int_equal(vem_i_tree_widest(NULL, each, 5, 0), 2);
    assert_int_equal(vem_i_tree_widest(NULL, triangle, 5, 1), 2);
    assert_int_equal(vem_i_tree_widest(NULL, each, 2, 0), 1);
    assert_int_equal(vem_i_tree_widest(NULL, triangle, 1, 1), 0);
}

/* Halves of a cluster have rows enough for a matrix each, or two each. */
static void fewest_of_halves(void **state)
{
    (void)state;
    const double means[3] = {0}, one[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1};
    vem_model *model = NULL;
    assert_int_equal(vem_model_new(ctx, VEM_FULL, 1, 3, means, NULL, one, &model),
                     VEM_OK);
    assert_int_equal(vem_i_halves_fewest(model), 2 * (3 + 1));
    vem_model_free(model);
    assert_int_equal(vem_model_new(ctx, VEM_ISO, 1, 3, means, NULL, one, &model), VEM_OK);
    assert_int_equal(vem_i_halves_fewest(model), 4);
    vem_model_free(model);
}

/* The square of a point is both bounds of the box that holds nothing else, as long as corners are
 * looked at; beyond that the largest is a bound. */
static void boxes_of_a_point(void **state)
{
    (void)state;
    enum { MOST = VEM_I_BOX_VERTICES + 1 };
    for (int32_t d = 1; d <= MOST; d++) {
        double means[MOST] = {0}, matrix[MOST * MOST], box[2 * MOST], work[4 * MOST];
        vem_model *model = NULL;
        vem_i_scorer scorer;
        vem_i_run *run = vem_i_begin(ctx, &verb);
        for (int32_t i = 0; i < d; i++) {
            box[i] = box[d + i] = i % 2 ? 1 : 2;
            for (int32_t j = 0; j < d; j++)
                matrix[i * d + j] = i == j ? 1 : 0.5;
        }
        assert_int_equal(vem_model_new(ctx, VEM_FULL, 1, d, means, NULL, matrix, &model),
                         VEM_OK);
        assert_int_equal(vem_i_scorer_new(run, ctx->kernels_double,
                                          vem_i_shape_of(model->family, 1, d), &scorer),
                         VEM_OK);
        assert_int_equal(vem_i_scorer_take_spread(run, &scorer), VEM_OK);
        vem_i_scorer_prepare(run, model, &scorer);
        const vem_i_box_bounds b = vem_i_box_bounds_of(&scorer, 0, box, work);
        /* The inverse of I / 2 + 1 1' / 2 is 2 I - 2 / (d + 1) 1 1'. */
        const double sum = 2 * ((d + 1) / 2) + d / 2, squares = 4 * ((d + 1) / 2) + d / 2,
                     form = 2 * squares - 2 * sum * sum / (d + 1);
        assert_true(fabs(b.low - form) < 1e-9 * form);
        if (d <= VEM_I_BOX_VERTICES)
            assert_true(fabs(b.high - form) < 1e-9 * form);
        else
            assert_true(b.high > form);
        vem_i_scorer_free(&scorer);
        vem_model_free(model);
    }
}

/* Groups lack the rows that no shape can be told from; what has no rows, lacks none. */
static void groups_that_lack_rows(void **state)
{
    (void)state;
    const vem_i_objective full = {.family = vem_i_family_of(VEM_FULL),
                                  .d = 3,
                                  .mass_unit = 2};
    const double none[10] = {0}, three[10] = {3}, four[10] = {4};
    assert_true(vem_i_group_lack(&full, none) == 0);
    assert_true(vem_i_group_lack(&full, three) == 2e9); /* six rows of eight */
    assert_true(vem_i_group_lack(&full, four) == 0);
    const vem_i_objective shared = {.family = vem_i_family_of(VEM_ISO_SHARED),
                                    .d = 3,
                                    .mass_unit = 1};
    assert_true(vem_i_group_lack(&shared, three) == 0);
}

/* ---- progress ---- */

/* Two passes over the second half of 100 rows: from 50 to 100, and it never falls. */
static void parts_of_a_whole(void **state)
{
    (void)state;
    vem_i_run *run = vem_i_begin(ctx, &verb);
    assert_int_equal(vem_i_whole_begin(run, "look", 100), 1);
    const vem_i_whole was = vem_i_whole_narrow(run, 0.5, 1, 2);
    static const int64_t done[] = {0, 4, 8, 0, 4, 8},
                         expected[] = {50, 62, 75, 75, 87, 100};
    for (int i = 0; i < 6; i++) {
        vem_progress told = {.phase = "pass", .done = done[i], .total = 8};
        vem_i_whole_tell(run, &told);
        assert_string_equal(told.phase, "look");
        assert_int_equal(told.done, expected[i]);
        assert_int_equal(told.total, 100);
    }
    vem_i_whole_widen(run, &was);
    vem_i_whole_end(run, 1);
}

/* ---- choices ---- */

/* Seeding by the work that it is: rows x clusters x columns. */
static void seedings_by_work(void **state)
{
    (void)state;
    static const struct {
        int64_t n, clusters, swaps;
        int32_t d;
        int seeding;
    } cases[] = {
        {1000, 10, 0, 10, VEM_SEED_PLUSPLUS_GREEDY},
        {1000000, 64, 0, 100, VEM_SEED_PLUSPLUS},       /* 6.4e9, greedy 2.7e10 */
        {100000000, 60, 0, 100, VEM_SEED_AFKMC2},       /* 6e11 */
        {1000000, 15, 1, 10, VEM_SEED_PLUSPLUS_GREEDY}, /* 4e8 of a billion */
        {1000000, 16, 1, 10, VEM_SEED_TWO_LEVEL},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        vem_options o, r;
        vem_options_init(&o);
        r = o;
        o.clusters = cases[i].clusters;
        if (!cases[i].swaps)
            o.swaps = 0;
        assert_int_equal(vem_options_resolve(ctx, &o, cases[i].n, cases[i].d, VEM_FLOAT32,
                                             &r),
                         VEM_OK);
        if (r.seeding != cases[i].seeding)
            fail_msg("case %d: seeding %d", (int)i, r.seeding);
    }
}

/* ---- names ---- */

/* One slip of a short name is forgiven, two are not; two letters that changed places are one. */
static void names_that_were_meant(void **state)
{
    (void)state;
    static const char *const names[] = {"two", "seeding"};
    static const struct {
        const char *word, *meant;
    } cases[] = {{"tow", "two"},         {"tw", "two"},          {"twoo", "two"},
                 {"tbo", "two"},         {"owt", NULL},          {"ab", NULL},
                 {"sedeing", "seeding"}, {"esedign", "seeding"}, {"xxxdeng", NULL}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const char *found = vem_name_nearest(cases[i].word, names, 2);
        if (found != cases[i].meant &&
            (!found || !cases[i].meant || strcmp(found, cases[i].meant) != 0))
            fail_msg("%s: %s", cases[i].word, found ? found : "nothing");
    }
}

/* ---- priors ---- */

/* A prior whose mean moves with the rows says the same of them, wherever they lie. */
static void priors_that_move(void **state)
{
    (void)state;
    enum { N = 120 };
    double x[N], evidence[2];
    for (int far = 0; far < 2; far++) {
        const double mean = 3 + 1000.0 * far, scale = 2;
        const vem_prior_options prior = {.size = sizeof prior,
                                         .strength = 0.5,
                                         .mean = &mean,
                                         .mean_values = 1,
                                         .scale = &scale,
                                         .scale_values = 1};
        const vem_select_options how = {.size = sizeof how,
                                        .method = VEM_SELECT_BAYES,
                                        .max_clusters = 4,
                                        .prior = &prior};
        vem_options o;
        vem_data *data = NULL;
        vem_path *path = NULL;
        vem_path_summary about = {.size = sizeof about};
        for (int i = 0; i < N; i++)
            x[i] = 1000.0 * far + 8 * (i % 2) + (double)(i / 2 % 8) / 4;
        vem_options_init(&o);
        o.family = VEM_ISO;
        assert_int_equal(vem_data_borrow(ctx, VEM_FLOAT64, x, N, 1, 0, 0, &data), VEM_OK);
        if (vem_select(ctx, data, &o, &how, NULL, &path, NULL) != VEM_OK)
            fail_msg("%s", vem_ctx_message(ctx));
        assert_int_equal(vem_path_describe(ctx, path, &about), VEM_OK);
        assert_int_equal(about.clusters, 2);
        evidence[far] = about.objective;
        vem_path_free(path);
        vem_data_free(data);
    }
    assert_true(fabs(evidence[0] - evidence[1]) < 1e-6 * fabs(evidence[0]));
}

/* ---- digests ---- */

/* Every number of a model counts in its digest, and that there are no scales. */
static void digests_of_models(void **state)
{
    (void)state;
    uint64_t seen[6];
    for (int i = 0; i < 6; i++) {
        const double means[] = {1, 2, 3, i == 0 ? 4 : 5}, weights[] = {0.5, 0.5},
                     variances[] = {1, 1, 1, i == 1 ? 2 : 1}, other[] = {0.25, 0.75},
                     scale[] = {1, i == 4 ? 3 : 2};
        vem_model *model = NULL;
        assert_int_equal(vem_model_new(ctx, VEM_DIAG, 2, 2, means,
                                       i == 2 ? other : weights, variances, &model),
                         VEM_OK);
        if (i >= 4)
            assert_int_equal(vem_model_set_scale(ctx, model, scale), VEM_OK);
        seen[i] = vem_i_model_digest(model);
        for (int k = 0; k < i; k++)
            assert_true(seen[k] != seen[i]);
        vem_model_free(model);
    }
}

/* Whichever search tries all clusters, it keeps long lists as the costs of all; and policy, which looks at
 * options, knows which do. */
static void long_lists_are_the_costs_of_all(void **state)
{
    (void)state;
    static const int64_t held[] = {1, 2, VEM_I_SPARSE_MAX, VEM_I_SPARSE_MAX + 1, 99, 100};
    for (int kind = 0; kind < VEM_SEARCH_COUNT; kind++)
        for (size_t k = 0; k < VEM_I_COUNT(held); k++) {
            const vem_options o = {.clusters = 100,
                                   .held = held[k],
                                   .search = kind,
                                   .reach = 5,
                                   .margin = 0.25};
            const vem_i_search_spec spec = vem_i_search_for(&o, 1);
            const int all = kind == VEM_SEARCH_ALL;
            const int dense =
                all || (vem_i_search_is_whole(kind) && held[k] > VEM_I_SPARSE_MAX);
            const vem_i_search_type *type =
                vem_i_search_type_of(dense ? VEM_SEARCH_ALL : kind);
            assert_int_equal(spec.dense, dense);
            assert_int_equal(vem_i_holds_all(&o), dense);
            assert_ptr_equal(spec.type, type);
            assert_true(spec.margin == (type->takes_margin ? 0.25 : 0));
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(steps_of_bisected_rows),
        cmocka_unit_test(a_draw_past_the_end),
        cmocka_unit_test(rows_that_seed_counts),
        cmocka_unit_test(colors_of_flows),
        cmocka_unit_test(blocks_of_flows),
        cmocka_unit_test(lists_that_are_dense),
        cmocka_unit_test(widest_columns),
        cmocka_unit_test(fewest_of_halves),
        cmocka_unit_test(boxes_of_a_point),
        cmocka_unit_test(groups_that_lack_rows),
        cmocka_unit_test(draws_of_counts),
        cmocka_unit_test(parts_of_a_whole),
        cmocka_unit_test(long_lists_are_the_costs_of_all),
        cmocka_unit_test(seedings_by_work),
        cmocka_unit_test(names_that_were_meant),
        cmocka_unit_test(priors_that_move),
        cmocka_unit_test(digests_of_models),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
