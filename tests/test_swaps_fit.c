/* What swaps are for: fits that begin in the wrong places end in the right ones; how they
 * show in the trace; and what cannot go with them. */
#include "engine.h"

#define CONTEXT_THREADS 1
#include "context.h"

/* side x side blobs of `each` points, `apart` from each other and about 1 wide; points of a
 * blob lie together. */
static grid_data blobs(int side, int each, double apart)
{
    int64_t n = (int64_t)side * side * each;
    grid_data data = {.n = n, .d = 2, .x = malloc((size_t)(2 * n) * sizeof(double))};
    assert_non_null(data.x);
    for (int64_t i = 0; i < n; i++) {
        int64_t blob = i / each;
        vem_i_rng rng = vem_i_rng_at(95, VEM_RNG_TEST, 0, (uint64_t)i);
        data.x[2 * i] = apart * (double)(blob % side) + vem_i_rng_normal(&rng);
        data.x[2 * i + 1] = apart * (double)(blob / side) + vem_i_rng_normal(&rng);
    }
    return data;
}

/* A start at these rows. */
static vem_model *start_at(const grid_data *data, vem_family_kind family,
                           const int64_t *rows, int32_t clusters)
{
    double *means = malloc((size_t)(2 * clusters) * sizeof *means);
    double *variances = malloc((size_t)(4 * clusters) * sizeof *variances);
    for (int32_t c = 0; c < clusters; c++) {
        means[2 * c] = data->x[2 * rows[c]];
        means[2 * c + 1] = data->x[2 * rows[c] + 1];
        for (int k = 0; k < 4; k++)
            variances[4 * c + k] = vem_family_axes(family) == 2 && k % 3 ? 0 : 4;
    }
    vem_model *model = NULL;
    assert_int_equal(vem_model_new(ctx, family, clusters, 2, means, NULL, variances,
                                   &model),
                     VEM_OK);
    free(means);
    free(variances);
    return model;
}

/* Rows of a blob have one label, and no other blob has it. */
static void assert_blobs(const grid_fit *fit, int count, int each, const char *what)
{
    char seen[64] = {0};
    for (int blob = 0; blob < count; blob++) {
        int32_t label = fit->labels[blob * each];
        assert_in_range(label, 0, 63);
        if (seen[label])
            fail_msg("two blobs share cluster %d: %s", label, what);
        seen[label] = 1;
        for (int i = 0; i < each; i++)
            if (fit->labels[blob * each + i] != label)
                fail_msg("blob %d has two clusters: %s", blob, what);
    }
}

static int labels_of_a_blob(const grid_fit *fit, int64_t first, int each)
{
    char seen[64] = {0};
    int count = 0;
    for (int i = 0; i < each; i++) {
        count += !seen[fit->labels[first + i]];
        seen[fit->labels[first + i]] = 1;
    }
    return count;
}

static int64_t count_swaps(const grid_fit *fit, int64_t *lines)
{
    int64_t moved = 0;
    *lines = 0;
    for (int64_t t = 0; t < fit->trace_count; t++)
        if (fit->trace[t].move && strcmp(fit->trace[t].move, "swap") == 0) {
            assert_true(fit->trace[t].moved > 0);
            moved += fit->trace[t].moved;
            ++*lines;
        }
    return moved;
}

/* F never falls, swaps or not; only a hard finish may lower it. */
static void assert_law(const grid_fit *fit, const char *what)
{
    for (int64_t t = 1; t < fit->trace_count; t++) {
        const char *move = fit->trace[t - 1].move;
        if (move && strcmp(move, "swap") != 0)
            continue;
        double before = fit->trace[t - 1].free_energy, now = fit->trace[t].free_energy;
        if (!(now >= before - 1e-9 * fmax(1, fabs(before))))
            fail_msg("F falls from %.15g to %.15g in step %d: %s", before, now,
                     (int)fit->trace[t].step, what);
    }
}

/* One cluster has two blobs, and two have one. Without swaps it stays so. */
static void one_swap_repairs(void **state)
{
    (void)state;
    grid_data data = blobs(2, 50, 30);
    const int64_t rows[] = {0, 1, 50, 100}; /* none in the last blob */
    GRID_EACH_SHAPED (family)
        for (int held = 1; held <= 2; held++)
            for (int search = VEM_SEARCH_CLOSEST; search < VEM_SEARCH_COUNT; search++)
                for (int swaps = 0; swaps <= 1; swaps++) {
                    char what[100];
                    int64_t lines;
                    snprintf(what, sizeof what, "family %d, held %d, search %d, swaps %d",
                             family, held, search, swaps);
                    vem_model *start = start_at(&data, (vem_family_kind)family, rows, 4);
                    vem_options o = grid_options(4, (vem_family_kind)family,
                                                 VEM_PRIOR_FLAT, held, VEM_DOUBLE, 60);
                    o.search = search;
                    o.swaps = swaps;
                    if (search != VEM_SEARCH_CLOSEST && search != VEM_SEARCH_BOXES)
                        o.reach = 4;
                    grid_fit fit = grid_run(ctx, &data, &o, start);
                    int64_t moved = count_swaps(&fit, &lines);
                    assert_law(&fit, what);
                    if (swaps) {
                        if (moved != 1 || lines != 1)
                            fail_msg("%d swaps in %d rounds: %s", (int)moved, (int)lines,
                                     what);
                        assert_blobs(&fit, 4, 50, what);
                    } else {
                        assert_int_equal(moved, 0);
                        /* One wide shape for all finds the way by itself. */
                        if (!vem_family_shared(family) || vem_family_axes(family) == 0)
                            assert_true(labels_of_a_blob(&fit, 0, 50) == 2);
                    }
                    grid_fit_free(&fit);
                    vem_model_free(start);
                }
    grid_data_free(&data);
}

/* BIRCH's grid from the worst of starts: all means in one corner. */
static void grid_is_recovered(void **state)
{
    (void)state;
    grid_data data = blobs(5, 100, 12);
    int64_t rows[25];
    for (int64_t c = 0; c < 25; c++)
        rows[c] = 8 * c;
    vem_model *start = start_at(&data, VEM_ISO_SHARED, rows, 25);
    for (int search = VEM_SEARCH_CLOSEST; search < VEM_SEARCH_COUNT; search++) {
        int64_t lines;
        if (search == VEM_SEARCH_EXACT || search == VEM_SEARCH_ESTIMATED)
            continue;
        vem_options o =
            grid_options(25, VEM_ISO_SHARED, VEM_PRIOR_FLAT, 1, VEM_DOUBLE, 300);
        o.search = search;
        o.swaps = 40;
        grid_fit fit = grid_run(ctx, &data, &o, start);
        assert_law(&fit, vem_choice_name("search", search));
        assert_true(count_swaps(&fit, &lines) >= 10);
        assert_true(lines <= 40);
        assert_blobs(&fit, 25, 100, vem_choice_name("search", search));
        grid_fit_free(&fit);
    }
    vem_model_free(start);
    grid_data_free(&data);
}

/* From random rows to the right ones: with k-means and its swaps first where the loop cannot
 * swap (dense sets) or need not (one shape for all), else in the loop. F rises all the way,
 * from one loop to the next as well. */
static void every_course_repairs(void **state)
{
    (void)state;
    grid_data data = blobs(4, 40, 9);
    static const struct {
        int family, prior, search;
        int64_t held;
    } cases[] = {{VEM_FULL, VEM_PRIOR_FREE, VEM_SEARCH_ALL, VEM_AUTO},
                 {VEM_DIAG, VEM_PRIOR_FREE, VEM_SEARCH_ALL, VEM_AUTO},
                 {VEM_ISO_SHARED, VEM_PRIOR_FLAT, VEM_SEARCH_ALL, VEM_AUTO},
                 {VEM_DIAG, VEM_PRIOR_FREE, VEM_SEARCH_CLOSEST, 2},
                 {VEM_FULL, VEM_PRIOR_FLAT, VEM_SEARCH_CLOSEST, 1},
                 {VEM_FULL, VEM_PRIOR_FREE, VEM_SEARCH_GROUPS, 3},
                 {VEM_DIAG, VEM_PRIOR_FLAT, VEM_SEARCH_GROUPS, 1},
                 {VEM_ISO, VEM_PRIOR_FREE, VEM_SEARCH_GROUPS, 2},
                 {VEM_ISO_SHARED, VEM_PRIOR_FLAT, VEM_SEARCH_ESTIMATED, 3}};
    for (size_t k = 0; k < sizeof cases / sizeof cases[0]; k++) {
        char what[60];
        int64_t lines;
        snprintf(what, sizeof what, "case %d", (int)k);
        vem_options o = grid_options(16, (vem_family_kind)cases[k].family,
                                     (vem_prior_kind)cases[k].prior, 1, VEM_DOUBLE, 120);
        o.search = cases[k].search;
        o.held = cases[k].held;
        o.swaps = 30;
        o.seeding = VEM_SEED_RANDOM;
        o.seed = 3;
        /* Few clusters that are ours to fit swap on a sample, before the first step; beside a
         * preset they do so in the loops of the trace. */
        if (o.search == VEM_SEARCH_ALL || o.search == VEM_SEARCH_CLOSEST) {
            grid_fit ours = grid_run(ctx, &data, &o, NULL);
            assert_law(&ours, what);
            assert_int_equal(count_swaps(&ours, &lines), 0);
            assert_blobs(&ours, 16, 40, what);
            grid_fit_free(&ours);
            o.algorithm = VEM_ALGORITHM_GMM;
        }
        grid_fit fit = grid_run(ctx, &data, &o, NULL);
        assert_law(&fit, what);
        assert_true(count_swaps(&fit, &lines) > 0);
        assert_int_equal(fit.summary->steps, fit.trace[fit.trace_count - 1].step);
        assert_int_equal(fit.summary->steps, fit.trace_count);
        assert_blobs(&fit, 16, 40, what);
        grid_assert_near(grid_score(ctx, fit.model, &data, (int32_t)fit.options->held,
                                    VEM_DOUBLE)
                             .free_energy,
                         fit.summary->free_energy, 1e-6, what);
        grid_fit_free(&fit);
    }
    vem_options o;
    vem_options_init(&o);
    o.clusters = 16;
    o.algorithm = VEM_ALGORITHM_GMM;
    o.swaps = 10;
    o.seeding = VEM_SEED_RANDOM;
    grid_fit fit = grid_run(ctx, &data, &o, NULL);
    assert_law(&fit, "gmm");
    grid_fit_free(&fit);
    grid_data_free(&data);
}

/* Clusters that hold nothing cost nothing: they go first. */
static void empty_clusters_are_used(void **state)
{
    (void)state;
    grid_data data = blobs(3, 60, 20);
    for (int search = VEM_SEARCH_CLOSEST; search <= VEM_SEARCH_GROUPS; search += 3) {
        double means[18];
        for (int c = 0; c < 9; c++) { /* three have all, the others are far away */
            means[2 * c] = c < 3 ? 20.0 * c : 1e5 + c;
            means[2 * c + 1] = c < 3 ? 20 : 1e5;
        }
        double variance = 4;
        int64_t lines;
        vem_model *start = NULL;
        assert_int_equal(vem_model_new(ctx, VEM_ISO_SHARED, 9, 2, means, NULL, &variance,
                                       &start),
                         VEM_OK);
        vem_options o =
            grid_options(9, VEM_ISO_SHARED, VEM_PRIOR_FLAT, 1, VEM_DOUBLE, 100);
        o.search = search;
        o.swaps = 10;
        grid_fit fit = grid_run(ctx, &data, &o, start);
        assert_law(&fit, "empty clusters");
        assert_int_equal(fit.trace[0].empty, 6);
        assert_true(count_swaps(&fit, &lines) >= 6);
        assert_int_equal(fit.trace[fit.trace_count - 1].empty, 0);
        assert_blobs(&fit, 9, 60, "empty clusters");
        grid_fit_free(&fit);
        vem_model_free(start);
    }
    grid_data_free(&data);
}

/* A soft fit that ends hard: the finish is named, and the end is a rest of k-means. */
static void hard_finish(void **state)
{
    (void)state;
    grid_data data = grid_data_new(SET_OVERLAPPING, WEIGHTS_REAL, 800, 3, 96);
    for (int search = VEM_SEARCH_CLOSEST; search < VEM_SEARCH_COUNT; search++) {
        vem_options o =
            grid_options(12, VEM_ISO_SHARED, VEM_PRIOR_FLAT, 3, VEM_DOUBLE, 400);
        o.search = search;
        o.swaps = 2;
        o.finish = VEM_FINISH_HARD;
        o.seeding = VEM_SEED_RANDOM;
        o.tolerance = 1e-5;
        if (search != VEM_SEARCH_CLOSEST && search != VEM_SEARCH_BOXES)
            o.reach = 12;
        grid_fit fit = grid_run(ctx, &data, &o, NULL);
        assert_law(&fit, "finish");
        int64_t finishes = 0, at = 0;
        for (int64_t t = 0; t < fit.trace_count; t++)
            if (fit.trace[t].move && strcmp(fit.trace[t].move, "finish") == 0) {
                finishes++;
                at = t;
            }
        assert_int_equal(finishes, 1);
        assert_true(at + 1 < fit.trace_count);
        /* Hard F of the same model is less, and what is given back is measured hard. */
        assert_true(fit.trace[at + 1].free_energy < fit.trace[at].free_energy);
        grid_assert_near(grid_score(ctx, fit.model, &data, 1, VEM_DOUBLE).free_energy,
                         fit.summary->free_energy, 1e-4, "finish");
        grid_fit_free(&fit);
    }
    grid_data_free(&data);
}

static void presets_do_not_swap(void **state)
{
    (void)state;
    for (int algorithm = VEM_ALGORITHM_KMEANS; algorithm <= VEM_ALGORITHM_VC_GMM;
         algorithm++) {
        vem_options o, out;
        vem_options_init(&o);
        o.clusters = 500;
        o.algorithm = algorithm;
        assert_int_equal(vem_options_resolve(ctx, &o, 100000, 8, VEM_FLOAT64, &out),
                         VEM_OK);
        assert_int_equal(out.swaps, 0);
        assert_int_equal(out.finish, VEM_FINISH_SOFT);
        assert_int_not_equal(out.search, VEM_SEARCH_GROUPS);
        o.search = VEM_SEARCH_GROUPS; /* beside a preset: the search, not the swaps */
        o.held = VEM_AUTO;
        if (algorithm != VEM_ALGORITHM_LAZY_KMEANS) {
            assert_int_equal(vem_options_resolve(ctx, &o, 100000, 8, VEM_FLOAT64, &out),
                             VEM_OK);
            assert_int_equal(out.swaps, 0);
        }
    }
}

static void refuse(vem_options o, const char *word)
{
    vem_options out;
    assert_int_equal(vem_options_resolve(ctx, &o, 1000, 4, VEM_FLOAT64, &out),
                     VEM_BAD_OPTION);
    const char *message = vem_ctx_message(ctx);
    if (!strstr(message, word) || message[strlen(message) - 1] != '.')
        fail_msg("not a sentence about %s: %s", word, message);
}

static void contradictions_are_refused(void **state)
{
    (void)state;
    vem_options plain;
    vem_options_init(&plain);
    plain.clusters = 20;
    vem_options o = plain;
    o.search = VEM_SEARCH_CLOSEST;
    o.margin = 0.1;
    o.swaps = 3;
    refuse(o, "--swaps");
    o = plain;
    o.algorithm = VEM_ALGORITHM_LAZY_KMEANS;
    o.swaps = 3;
    refuse(o, "--swaps");
    o = plain;
    o.search = VEM_SEARCH_GROUPS;
    o.margin = 0.1;
    refuse(o, "--margin");
    for (int family = 0; family < VEM_FAMILIES; family++) {
        if (vem_i_is_plain(vem_i_family_of(family)))
            continue;
        o = plain;
        o.family = family;
        o.finish = VEM_FINISH_HARD;
        refuse(o, "--finish");
    }
    o = plain;
    o.prior = VEM_PRIOR_FREE;
    o.finish = VEM_FINISH_HARD;
    refuse(o, "--finish");
    for (int search = VEM_SEARCH_ALL; search < VEM_SEARCH_GROUPS; search++) {
        o = plain;
        o.search = search;
        o.probe = 2;
        refuse(o, "--probe");
    }
    o = plain;
    o.search = VEM_SEARCH_GROUPS;
    o.explore = 2;
    refuse(o, "--explore");
    o = plain;
    o.search = VEM_SEARCH_GROUPS;
    o.probe = 65;
    refuse(o, "probe");
    /* And what is fine is not. */
    vem_options out;
    o = plain;
    o.search = VEM_SEARCH_GROUPS;
    o.probe = 2;
    o.reach = 10;
    o.swaps = 3;
    o.finish = VEM_FINISH_HARD;
    assert_int_equal(vem_options_resolve(ctx, &o, 1000, 4, VEM_FLOAT64, &out), VEM_OK);
}

/* A start that is given is not put through k-means, and dense sets cannot swap in the loop. */
static void a_given_start_needs_lists(void **state)
{
    (void)state;
    grid_data data = blobs(2, 50, 30);
    const int64_t rows[] = {0, 1, 50, 100};
    GRID_EACH_SHAPED (family) {
        vem_model *start = start_at(&data, (vem_family_kind)family, rows, 4);
        vem_options o =
            grid_options(4, (vem_family_kind)family, VEM_PRIOR_FLAT, 4, VEM_DOUBLE, 20);
        grid_fit fit;
        o.swaps = 2;
        for (int search = VEM_SEARCH_ALL; search <= VEM_SEARCH_CLOSEST; search++) {
            o.search = search;
            assert_int_equal(grid_try(ctx, &data, &o, start, &fit), VEM_BAD_OPTION);
            const char *message = vem_ctx_message(ctx);
            assert_true(strstr(message, "--swaps is 2") && strstr(message, "--init"));
        }
        o.held = 3;
        assert_int_equal(grid_try(ctx, &data, &o, start, &fit), VEM_OK);
        grid_fit_free(&fit);
        vem_model_free(start);
    }
    grid_data_free(&data);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_swap_repairs),
        cmocka_unit_test(grid_is_recovered),
        cmocka_unit_test(every_course_repairs),
        cmocka_unit_test(empty_clusters_are_used),
        cmocka_unit_test(hard_finish),
        cmocka_unit_test(a_given_start_needs_lists),
        cmocka_unit_test(presets_do_not_swap),
        cmocka_unit_test(contradictions_are_refused),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
