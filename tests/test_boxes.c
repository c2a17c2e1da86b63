/* Labels box by box are those of the plain sweep, item by item, for every shape, type,
 * weighting and size of boxes; with their statistics come the same sums. And the
 * bounds hold for what the kernels compute. */
#define CONTEXT_THREADS 2
#include "context.h"
#include "engine.h"
#include "run.h"
#include "search/boxes.h"

enum { CLUSTERS = 6, STEPS = 3 };

typedef struct rig {
    engine e; /* the plain sweep */
    vem_i_search *search;
    vem_i_boxes *boxes;
    vem_i_walk *walk;
    vem_i_stats stats;
    int32_t *held;
    vem_i_labelled done;
    const char *name;
} rig;

static void must(vem_status status)
{
    if (status != VEM_OK)
        fail_msg("%s", vem_ctx_message(ctx));
}

static void rig_new(rig *r, vem_ctx *context, const grid_data *data,
                    vem_family_kind family, int32_t clusters, vem_precision precision,
                    int64_t leaf)
{
    vem_model *start = grid_start(context, data, family, clusters);
    vem_options o = grid_options(clusters, family, VEM_PRIOR_FREE, 1, precision, 1);
    o.search = VEM_SEARCH_CLOSEST;
    engine_new(&r->e, context, data, &o, start);
    vem_model_free(start);
    vem_i_em *em = &r->e.em;
    vem_i_run *run = run_of(context);
    must(vem_i_search_new(run, em->search, em->view, &em->scorer, &r->search));
    must(vem_i_boxes_new(run, em->view, em->scorer.family, leaf, &r->boxes));
    must(vem_i_walk_new(run, r->boxes, &em->scorer, r->search->blocks, &r->walk));
    must(vem_i_stats_new(run, vem_i_scorer_shape(&em->scorer), &r->stats));
    r->held = grid_zeros(data->n, sizeof *r->held);
    r->name = "";
}

static void rig_free(rig *r)
{
    vem_i_walk_free(r->walk);
    vem_i_boxes_free(r->boxes);
    vem_i_search_free(r->search);
    vem_i_stats_free(&r->stats);
    free(r->held);
    engine_free(&r->e);
}

static void compare_stats(const rig *r)
{
    const vem_i_em *em = &r->e.em;
    const int single = em->view->kernels->precision == VEM_SINGLE;
    const double share = single ? 2e-5 : 1e-12;
    for (int32_t c = 0; c < em->model->clusters; c++) {
        const double *a = vem_i_stats_mass(&r->stats, c),
                     *b = vem_i_stats_mass(&em->stats, c);
        double trace = 0;
        for (int32_t j = 0; j < vem_i_square_count(em->scorer.family, em->view->d); j++)
            trace += b[1 + em->view->d + vem_i_square_at(em->scorer.family, j)];
        for (int64_t i = 0; i < r->stats.stride; i++) {
            const double size = i == 0             ? b[0]
                                : i <= em->view->d ? sqrt(b[0] * trace)
                                                   : trace;
            if (!(fabs(a[i] - b[i]) <= share * size + 1e-300))
                fail_msg("%s: number %d of cluster %d is %.17g, not %.17g", r->name,
                         (int)i, (int)c, a[i], b[i]);
        }
    }
}

/* One step of both with the model as it is. */
static void compare_step(rig *r)
{
    vem_i_em *em = &r->e.em;
    const int64_t n = em->view->n;
    const int known = em->posterior.known;
    vem_i_scorer_prepare(em->run, em->model, &em->scorer);
    const vem_progress told = {.phase = "em"};
    const vem_i_estep_result plain =
        vem_i_estep_run(em->estep, &em->posterior, NULL, &told, 0);
    engine_collect(&r->e);
    vem_i_walk_run(r->walk, r->held, known, known, NULL, 0, &r->stats, &r->done);
    for (int64_t i = 0; i < n; i++)
        if (r->held[i] != em->posterior.held[i])
            fail_msg("%s: item %d of %d has label %d, not %d", r->name, (int)i, (int)n,
                     (int)r->held[i], (int)em->posterior.held[i]);
    assert_int_equal(r->done.changed, plain.changed);
    compare_stats(r);
    /* Single sums of single costs. */
    const double share = em->view->kernels->precision == VEM_SINGLE ? 1e-4 : 1e-9;
    if (isfinite(plain.log_sum) &&
        !(fabs(-0.5 * r->done.cost - plain.log_sum) <=
          share * (fabs(plain.log_sum) + em->view->total_mass)))
        fail_msg("%s: the sum is %.17g, not %.17g", r->name, -0.5 * r->done.cost,
                 plain.log_sum);
}

static void compare_steps(rig *r, int steps)
{
    for (int step = 0; step < steps; step++) {
        compare_step(r);
        engine_maximize(&r->e, 1);
    }
}

static void labels_are_those_of_the_sweep(void **state)
{
    (void)state;
    static const int32_t columns[] = {1, 2, 3, 5, 8, 16, 17, 50};
    static const int64_t leaves[] = {1, 8, 32, 300};
    int number = 0, run = 0;
    GRID_EACH_SHAPED (f)
        for (size_t d = 0; d < sizeof columns / sizeof *columns; d++)
            for (int set = 0; set < SET_COUNT; set++)
                for (int w = 0; w < WEIGHTS_COUNT; w++)
                    for (int p = 0; p < 2; p++, number++) {
                        if ((columns[d] > 10 || grid_stride() > 1) && number % 7)
                            continue;
                        grid_data data = grid_data_new((grid_set)set, (grid_weights)w,
                                                       500 + number % 40, columns[d],
                                                       20 + (uint64_t)number);
                        char name[160];
                        rig r;
                        rig_new(&r, ctx, &data, (vem_family_kind)f, CLUSTERS,
                                (vem_precision)p, leaves[run++ % 4]);
                        snprintf(name, sizeof name,
                                 "%s, %d columns, %s, %s, precision %d, leaves of %d",
                                 vem_choice_name("family", f), columns[d],
                                 grid_set_names[set], grid_weights_names[w], p,
                                 (int)r.boxes->leaf);
                        r.name = name;
                        compare_steps(&r, STEPS);
                        rig_free(&r);
                        grid_data_free(&data);
                    }
    assert_true(run > 100);
}

/* Points of a lattice and clusters on others of its points: many rows are exactly as
 * near to one as to another. */
static void ties_go_to_the_lowest(void **state)
{
    (void)state;
    GRID_EACH_SHAPED (f)
        for (int p = 0; p < 2; p++)
            for (int32_t d = 1; d <= 3; d++) {
                int64_t side = d == 1 ? 400 : d == 2 ? 21 : 8, n = 1;
                for (int32_t j = 0; j < d; j++)
                    n *= side;
                grid_data data = {.n = n, .d = d};
                data.x = grid_zeros(n * d, sizeof *data.x);
                for (int64_t i = 0; i < n; i++)
                    for (int64_t j = 0, rest = i; j < d; j++, rest /= side)
                        data.x[i * d + j] =
                            (double)(rest % side) - (double)(side - 1) / 2;
                rig r;
                rig_new(&r, ctx, &data, (vem_family_kind)f, 9, (vem_precision)p, 8);
                for (int32_t c = 0; c < 9; c++)
                    for (int32_t j = 0; j < d; j++)
                        r.e.em.model->means[c * d + j] =
                            (double)((c * 5 + j * 3) % 7) - 3;
                r.name = "ties";
                compare_step(&r);
                /* All clusters in one place: the first takes all. */
                memset(r.e.em.model->means, 0, 9 * (size_t)d * sizeof(double));
                compare_step(&r);
                for (int64_t i = 0; i < n; i++)
                    assert_int_equal(r.held[i], 0);
                rig_free(&r);
                grid_data_free(&data);
            }
}

/* Far apart, alone, without weight, one upon the other. */
static void odd_clusters(void **state)
{
    (void)state;
    GRID_EACH_SHAPED (f)
        for (int p = 0; p < 2; p++) {
            grid_data data = grid_data_new(SET_SEPARATED, WEIGHTS_ZEROS, 700, 2, 31);
            rig r;
            rig_new(&r, ctx, &data, (vem_family_kind)f, CLUSTERS, (vem_precision)p, 16);
            vem_model *model = r.e.em.model;
            r.name = "coincident";
            memcpy(model->means + 2, model->means + 6, 2 * sizeof(double));
            compare_step(&r);
            r.name = "weight 0";
            model->weights[1] = model->weights[4] = 0;
            compare_step(&r);
            for (int64_t i = 0; i < data.n; i++)
                assert_true(r.held[i] != 1 && r.held[i] != 4);
            r.name = "far";
            for (int32_t j = 0; j < 2; j++) {
                model->means[4 + j] = 1e6;
                model->means[6 + j] = -1e12;
            }
            compare_step(&r);
            r.name = "out of range";
            for (int32_t j = 0; j < 2; j++)
                model->means[4 + j] = 1e30;
            compare_step(&r);
            rig_free(&r);
            rig_new(&r, ctx, &data, (vem_family_kind)f, 1, (vem_precision)p, 16);
            r.name = "alone";
            compare_step(&r);
            assert_int_equal(r.done.scored, 0);
            assert_int_equal(r.done.bulk, data.n);
            rig_free(&r);
            grid_data_free(&data);
        }
}

/* Covariances of condition 10^12, at random. */
static void narrow(vem_model *model, uint64_t seed)
{
    const int32_t d = model->d;
    double *rotated = grid_zeros((int64_t)d * d, sizeof *rotated);
    for (int32_t c = 0; c < vem_i_model_shapes(model); c++) {
        vem_i_rng rng = vem_i_rng_at(seed, VEM_RNG_TEST, 0, (uint64_t)c);
        double *shape = vem_i_cluster_shape(model, c);
        for (int32_t i = 0; i < d; i++)
            for (int32_t j = 0; j < d; j++)
                rotated[i * d + j] = i == j ? 1 : 2 * vem_i_rng_uniform(&rng) - 1;
        for (int32_t i = 0; i < d; i++)
            for (int32_t j = 0; j < d; j++) {
                double sum = 0;
                for (int32_t k = 0; k < d; k++)
                    sum += rotated[i * d + k] * rotated[j * d + k] *
                           pow(10, -12.0 * k / (d > 1 ? d - 1 : 1));
                shape[i * d + j] = sum + (i == j ? 1e-12 : 0);
            }
    }
    free(rotated);
}

static void narrow_clusters(void **state)
{
    (void)state;
    for (int shared = 0; shared < 2; shared++)
        for (int p = 0; p < 2; p++)
            for (int32_t d = 2; d <= 8; d += 3) {
                grid_data data = grid_data_new(SET_OVERLAPPING, WEIGHTS_NONE, 900, d, 41);
                rig r;
                rig_new(&r, ctx, &data, shared ? VEM_FULL_SHARED : VEM_FULL, CLUSTERS,
                        (vem_precision)p, 16);
                r.name = "narrow";
                narrow(r.e.em.model, 5);
                vem_i_em *em = &r.e.em;
                vem_i_scorer_prepare(em->run, em->model, &em->scorer);
                const vem_progress told = {.phase = "em"};
                vem_i_estep_run(em->estep, &em->posterior, NULL, &told, 0);
                vem_i_walk_run(r.walk, r.held, 0, 0, NULL, 0, &r.stats, &r.done);
                assert_memory_equal(r.held, em->posterior.held,
                                    (size_t)data.n * sizeof *r.held);
                rig_free(&r);
                grid_data_free(&data);
            }
}

/* What is promised of any x in a box, for the costs of the kernels. */
static void bounds_hold(void **state)
{
    (void)state;
    enum { D_MOST = 20, ROWS = VEM_I_BLOCK };
    int decided = 0;
    for (int trial = 0; trial < 600 / grid_stride(); trial++) {
        const int32_t d = 1 + trial % D_MOST;
        const vem_family_kind family = grid_shaped(trial % grid_shaped_count());
        grid_data data = grid_data_new((grid_set)(trial % SET_COUNT), WEIGHTS_NONE, ROWS,
                                       d, 60 + (uint64_t)trial);
        rig r;
        rig_new(&r, ctx, &data, family, CLUSTERS, (vem_precision)(trial / 2 % 2), 8);
        vem_i_em *em = &r.e.em;
        for (int step = 0; step < trial % 3; step++) {
            compare_step(&r);
            engine_maximize(&r.e, 1);
        }
        if (trial % 5 == 0 && em->scorer.family->shape_axes == 2)
            narrow(em->model, (uint64_t)trial);
        vem_i_scorer_prepare(em->run, em->model, &em->scorer);
        vem_i_box_coster *coster = &r.walk->coster;
        vem_i_box_coster_prepare(em->run, coster);
        const vem_i_tree *tree = r.boxes->tree;
        const vem_i_kernels *kernels = em->view->kernels;
        double center[D_MOST], half[D_MOST], work[D_MOST], slopes[2][D_MOST];
        const size_t element = kernels->element;
        void *panels = malloc(ROWS * (size_t)d * element),
             *costs = malloc(ROWS * CLUSTERS * element);
        for (int32_t node = 0; node < tree->count; node++) {
            const vem_i_box box = {center, half};
            vem_i_box_cost bound[CLUSTERS];
            vem_i_box_around(kernels,
                             (const char *)tree->boxes + (size_t)(2 * d * node) * element,
                             d, center, half);
            vem_i_items items =
                vem_i_items_at(&r.boxes->view, tree->first[node], NULL, tree->rows[node]);
            vem_i_items_pack(&r.boxes->view, NULL, panels, NULL, &items);
            em->scorer.family->score_tile(&em->scorer, &items, 0, CLUSTERS, costs, ROWS);
            for (int32_t c = 0; c < CLUSTERS; c++)
                vem_i_box_cost_of(coster, c, box, &bound[c]);
            for (int32_t c = 0; c < CLUSTERS; c++) {
                const int32_t w = (c + 1) % CLUSTERS;
                vem_i_box_slopes(coster, c, box, work, slopes[0]);
                vem_i_box_slopes(coster, w, box, work, slopes[1]);
                const double margin =
                    vem_i_box_margin(coster, box, c, &bound[c], slopes[0], w, &bound[w],
                                     slopes[1]);
                decided += margin > bound[c].slack + bound[w].slack;
                for (int64_t i = 0; i < items.n; i++) {
                    const double v = vem_i_value(kernels, costs, c * ROWS + i),
                                 other = vem_i_value(kernels, costs, w * ROWS + i);
                    assert_true(!(v < bound[c].low - bound[c].slack));
                    assert_true(!(v > bound[c].high + bound[c].slack));
                    assert_true(!(v - other < margin - bound[c].slack - bound[w].slack));
                }
            }
        }
        free(panels);
        free(costs);
        rig_free(&r);
        grid_data_free(&data);
    }
    assert_true(decided > 1000); /* bounds that say nothing would hold, too */
}

static void threads_change_no_bit(void **state)
{
    (void)state;
    static const int threads[] = {1, 2, 3, 7};
    GRID_EACH_SHAPED (f) {
        grid_data data = grid_data_new(SET_OVERLAPPING, WEIGHTS_REAL, 5000, 3, 51);
        double *kept = NULL;
        for (size_t t = 0; t < sizeof threads / sizeof *threads; t++) {
            rig r;
            vem_ctx_set_threads(ctx, threads[t]);
            rig_new(&r, ctx, &data, (vem_family_kind)f, CLUSTERS, VEM_SINGLE, 16);
            r.name = "threads";
            compare_steps(&r, 2);
            assert_true(r.boxes->tasks > 20 && r.done.bulk > 0 && r.done.scored > 0);
            const size_t size = CLUSTERS * (size_t)r.stats.stride * sizeof *kept;
            if (!kept) {
                kept = malloc(size);
                memcpy(kept, r.stats.block, size);
            }
            assert_memory_equal(kept, r.stats.block, size);
            rig_free(&r);
        }
        free(kept);
        grid_data_free(&data);
    }
    vem_ctx_set_threads(ctx, CONTEXT_THREADS);
}

/* Whole fits: with weights, empty clusters that are dropped or reseeded, swaps; also
 * where boxes rest between steps that do not pay, and where there is no place for them
 * at all. */
static void fits_are_those_of_the_sweep(void **state)
{
    (void)state;
    static const struct {
        int family, weights, precision, empty, swaps;
        int64_t n;
        int32_t d, clusters;
        int fewer; /* pairs than the sweep has */
    } cases[] = {
        {VEM_ISO_SHARED, WEIGHTS_NONE, VEM_DOUBLE, VEM_EMPTY_KEEP, 0, 6000, 2, 5, 1},
        {VEM_FULL, WEIGHTS_NONE, VEM_DOUBLE, VEM_EMPTY_KEEP, 0, 6000, 2, 5, 1},
        {VEM_FULL, WEIGHTS_REAL, VEM_SINGLE, VEM_EMPTY_DROP, 0, 6000, 2, 12, 1},
        {VEM_DIAG, WEIGHTS_ZEROS, VEM_SINGLE, VEM_EMPTY_RESEED, 0, 6000, 3, 12, 1},
        {VEM_ISO, WEIGHTS_INTEGER, VEM_DOUBLE, VEM_EMPTY_RESEED, 3, 2000, 2, 9, 0},
        {VEM_FULL_SHARED, WEIGHTS_NONE, VEM_DOUBLE, VEM_EMPTY_DROP, 3, 2000, 3, 9, 0},
        {VEM_DIAG_SHARED, WEIGHTS_NONE, VEM_DOUBLE, VEM_EMPTY_KEEP, 0, 300, 10, 9, 0},
        {VEM_ISO_SHARED, WEIGHTS_NONE, VEM_SINGLE, VEM_EMPTY_KEEP, 0, 60, 2000, 4, 0},
        {VEM_FULL, WEIGHTS_NONE, VEM_DOUBLE, VEM_EMPTY_KEEP, 0, 40, 600, 3, 0},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        grid_data data = grid_data_new(SET_SEPARATED, (grid_weights)cases[i].weights,
                                       cases[i].n, cases[i].d, 71);
        vem_model *start =
            grid_start(ctx, &data, (vem_family_kind)cases[i].family, cases[i].clusters);
        vem_options o =
            grid_options(cases[i].clusters, (vem_family_kind)cases[i].family,
                         VEM_PRIOR_FREE, 1, (vem_precision)cases[i].precision, 12);
        o.empty = cases[i].empty;
        o.swaps = cases[i].swaps;
        o.search = VEM_SEARCH_CLOSEST;
        grid_fit plain = grid_run(ctx, &data, &o, start);
        o.search = VEM_SEARCH_BOXES;
        grid_fit boxes = grid_run(ctx, &data, &o, start);
        assert_int_equal(plain.trace_count, boxes.trace_count);
        for (int64_t t = 0; t < plain.trace_count; t++) {
            const double f = plain.trace[t].free_energy;
            assert_int_equal(plain.trace[t].changed, boxes.trace[t].changed);
            assert_true(fabs(f - boxes.trace[t].free_energy) <=
                        (cases[i].precision == VEM_SINGLE ? 1e-5 : 1e-9) *
                            fmax(fabs(f), 1));
        }
        assert_memory_equal(plain.labels, boxes.labels,
                            (size_t)data.n * sizeof *plain.labels);
        if (cases[i].fewer)
            assert_true(5 * boxes.summary->scored_pairs < plain.summary->scored_pairs);
        grid_fit_free(&plain);
        grid_fit_free(&boxes);
        vem_model_free(start);
        grid_data_free(&data);
    }
}

/* Several loops can share one tree. */
static void a_tree_is_lent(void **state)
{
    (void)state;
    grid_data data = grid_data_new(SET_SEPARATED, WEIGHTS_NONE, 4000, 2, 81);
    GRID_EACH_SHAPED (f) {
        rig r;
        rig_new(&r, ctx, &data, (vem_family_kind)f, CLUSTERS, VEM_DOUBLE, 0);
        vem_i_em *em = &r.e.em;
        vem_i_search_spec spec = *em->search;
        vem_i_estep *lent = NULL;
        vem_i_posterior posterior;
        spec.type = vem_i_search_type_of(VEM_SEARCH_BOXES);
        spec.boxes = r.boxes;
        must(vem_i_estep_new(em->run, em->view, &em->scorer, &spec, 1, &lent));
        must(vem_i_posterior_new(em->run, em->view, &spec, &posterior));
        for (int step = 0; step < STEPS; step++) {
            compare_step(&r);
            const vem_progress told = {.phase = "em"};
            const vem_i_estep_result e =
                vem_i_estep_run(lent, &posterior, NULL, &told, 0);
            assert_memory_equal(posterior.held, r.held, (size_t)data.n * sizeof *r.held);
            assert_int_equal(e.changed, r.done.changed);
            assert_int_equal(e.pairs, r.done.bounds + r.done.scored);
            vem_i_estep_collect(lent, &posterior, &em->stats);
            compare_stats(&r);
            engine_maximize(&r.e, 1);
        }
        vem_i_estep_free(lent);
        vem_i_posterior_free(&posterior);
        rig_free(&r);
    }
    grid_data_free(&data);
}

/* Where nobody names a search. */
static void boxes_are_taken_where_they_pay(void **state)
{
    (void)state;
    vem_options o, out;
    vem_options_init(&o);
    o.clusters = 20;
    o.held = 1;
    o.swaps = 0;
    must(vem_options_resolve(ctx, &o, 100000, 2, VEM_FLOAT64, &out));
    assert_int_equal(out.search, VEM_SEARCH_BOXES);
    must(vem_options_resolve(ctx, &o, 1000, 2, VEM_FLOAT64, &out));
    assert_int_equal(out.search, VEM_SEARCH_CLOSEST);
    must(vem_options_resolve(ctx, &o, 100000, 20, VEM_FLOAT64, &out));
    assert_int_equal(out.search, VEM_SEARCH_CLOSEST);
    o.clusters = 3;
    must(vem_options_resolve(ctx, &o, 100000, 2, VEM_FLOAT64, &out));
    assert_int_equal(out.search, VEM_SEARCH_CLOSEST);
    o.clusters = 20;
    o.swaps = 4;
    must(vem_options_resolve(ctx, &o, 100000, 2, VEM_FLOAT64, &out));
    assert_int_equal(out.search, VEM_SEARCH_CLOSEST);
    o.swaps = VEM_AUTO;
    o.algorithm = VEM_ALGORITHM_KMEANS; /* a paper's, exactly */
    must(vem_options_resolve(ctx, &o, 100000, 2, VEM_FLOAT64, &out));
    assert_int_equal(out.search, VEM_SEARCH_CLOSEST);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(labels_are_those_of_the_sweep),
        cmocka_unit_test(ties_go_to_the_lowest),
        cmocka_unit_test(odd_clusters),
        cmocka_unit_test(narrow_clusters),
        cmocka_unit_test(bounds_hold),
        cmocka_unit_test(threads_change_no_bit),
        cmocka_unit_test(fits_are_those_of_the_sweep),
        cmocka_unit_test(a_tree_is_lent),
        cmocka_unit_test(boxes_are_taken_where_they_pay),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
