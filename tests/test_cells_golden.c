/* Golden values of cells (tests/golden/cells.json, from a reference in Python), to 1e-9: 12 rows as one
 * cell, as the two that the tree makes of it, and as a given partition; scores, F, posteriors, the
 * gain of the split, the M-step, and F after it with the same posteriors. */
#include "data/cells.h"
#include "data/overlap.h"
#include "engine.h"
#include "golden.h"
#include "run.h"

#define CONTEXT_THREADS 2
#include "context.h"

enum { ROWS = 12, D = 2, CLUSTERS = 2 };
static json_t *root;

static int read_golden(void **state)
{
    root = golden_read("cells.json");
    return root ? set_up(state) : -1;
}

static int forget_golden(void **state)
{
    json_decref(root);
    return tear_down(state);
}

/* The rows, and the model of the file in the units of the view, which are those of the data about
 * another origin. */
static void rows_new(engine *rows, grid_data *data, vem_family_kind family)
{
    static double x[ROWS * D];
    *data = (grid_data){.n = ROWS, .d = D, .x = x};
    golden_list(root, "X", x);
    vem_options o =
        grid_options(CLUSTERS, family, VEM_PRIOR_FREE, CLUSTERS, VEM_DOUBLE, 1);
    o.floor = 1e-12;
    vem_model *start = grid_start(ctx, data, family, CLUSTERS);
    engine_new(rows, ctx, data, &o, start);
    vem_model_free(start);
    vem_model *model = rows->em.model;
    const json_t *theta = json_object_get(root, "theta");
    double c[CLUSTERS * D * D];
    golden_list(theta, "p", model->weights);
    golden_list(theta, "m", model->means);
    golden_list(theta, "C", c);
    for (int64_t i = 0; i < CLUSTERS * D; i++)
        model->means[i] -= rows->points->view.origin[i % D];
    memcpy(model->variances, c, sizeof c);
}

static void loop_new(vem_i_em *em, const engine *rows, const vem_view *view)
{
    *em = (vem_i_em){.run = run_of(ctx),
                     .options = &rows->options,
                     .view = view,
                     .constraints = rows->em.constraints};
    assert_int_equal(vem_model_copy(ctx, rows->em.model, &em->model), VEM_OK);
    const vem_i_search_spec search = vem_i_search_for(&rows->options, 1);
    assert_int_equal(vem_i_em_new(em, &search), VEM_OK);
}

static void loop_free(vem_i_em *em)
{
    vem_i_em_free(em);
    vem_model_free(em->model);
}

/* F of all, not per row. */
static double expect(vem_i_em *em)
{
    const vem_progress news = {.phase = "em"};
    vem_i_scorer_prepare(em->run, em->model, &em->scorer);
    const vem_i_estep_result e =
        vem_i_estep_run(em->estep, &em->posterior, &em->stats, &news, 0);
    return e.log_sum - 0.5 * em->view->total_mass * em->scorer.base;
}

/* Mean, scores, posterior and F of an item of the view are those of a cell of the file. */
static void check_cell(const vem_i_em *em, int64_t item, const json_t *cell)
{
    const vem_i_scorer *s = &em->scorer;
    const vem_i_items one = vem_i_items_at(em->view, item, NULL, 1);
    const int32_t clusters[] = {0, 1};
    double costs[CLUSTERS], q[CLUSTERS], mean[D], sum = 0;
    for (int j = 0; j < D; j++)
        mean[j] =
            ((const double *)vem_i_view_row(em->view, item))[j] + em->view->origin[j];
    golden_near(cell, "mean", mean);
    golden_near(cell, "n", em->view->mass + item);
    s->family->score_pairs(s, &one, CLUSTERS, clusters, costs, 1);
    for (int c = 0; c < CLUSTERS; c++) {
        costs[c] = -0.5 * (costs[c] + s->base);
        sum += q[c] = exp(costs[c]);
        costs[c] -= log(em->model->weights[c]);
    }
    const double f = em->view->mass[item] * log(sum);
    for (int c = 0; c < CLUSTERS; c++)
        q[c] /= sum;
    golden_near(cell, "avg_loglik", costs);
    golden_near(cell, "q", q);
    golden_near(cell, "F", &f);
}

/* The cell of the file that begins with this row. */
static const json_t *cell_of(const json_t *cells, int64_t row)
{
    for (size_t k = 0; k < json_array_size(cells); k++) {
        const json_t *points = json_object_get(json_array_get(cells, k), "points");
        for (size_t i = 0; i < json_array_size(points); i++)
            if (json_integer_value(json_array_get(points, i)) == row)
                return json_array_get(cells, k);
    }
    fail_msg("row %d is in no cell", (int)row);
    return NULL;
}

/* One cell, and what the tree makes of it. */
static void tree_has_golden_values(void **state)
{
    (void)state;
    engine rows;
    grid_data data;
    rows_new(&rows, &data, VEM_FULL);
    double f[2];
    for (int32_t depth = 0; depth < 2; depth++) {
        const vem_i_cells_request request = {.kind = VEM_I_SPREAD_FULL,
                                             .most = 4,
                                             .depth = depth};
        vem_i_cells *cells;
        vem_i_em em;
        assert_int_equal(vem_i_cells_new(run_of(ctx), &rows.points->view, &request,
                                         &cells),
                         VEM_OK);
        assert_int_equal(cells->cut.count, 1 + depth);
        loop_new(&em, &rows, vem_i_cells_view(cells, VEM_I_SPREAD_FULL));
        f[depth] = expect(&em);
        for (int64_t a = 0; a < cells->cut.count; a++) {
            const int32_t node = cells->cut.nodes[a];
            const json_t *cell = depth == 0 ? json_object_get(root, "root") : NULL;
            for (int64_t r = 0; r < cells->tree->rows[node]; r++) { /* as sets */
                const int64_t row = cells->tree->order[cells->tree->first[node] + r];
                const json_t *in =
                    depth == 0 ? cell : cell_of(json_object_get(root, "children"), row);
                assert_true(!cell || cell == in);
                cell = in;
            }
            check_cell(&em, a, cell);
        }
        loop_free(&em);
        vem_i_cells_free(cells);
    }
    const double gain = f[1] - f[0];
    golden_near(root, "split_gain", &gain);
    engine_free(&rows);
}

/* Posteriors stay, the model is the next one: the statistics move to its means. */
static double after_maximum(vem_i_em *em, double before)
{
    const vem_i_stats *stats = &em->stats;
    const double entropy = before + 0.5 * em->view->total_mass * em->scorer.base +
                           0.5 * vem_i_expected_cost(&em->scorer, stats);
    double e[D], old[CLUSTERS * D];
    for (int i = 0; i < CLUSTERS * D; i++)
        old[i] = vem_i_about(&em->scorer, i / D, i % D);
    em->scorer.family->maximize(em->run, &em->scorer, stats, &em->constraints, em->model);
    vem_i_scorer_prepare(em->run, em->model, &em->scorer);
    vem_i_stats moved;
    assert_int_equal(vem_i_stats_new(em->run, vem_i_model_shape(em->model), &moved),
                     VEM_OK);
    for (int32_t c = 0; c < CLUSTERS; c++) {
        for (int j = 0; j < D; j++)
            e[j] = old[c * D + j] - em->model->means[c * D + j];
        const vem_i_shift shift = {.e = e, .mass = 1, .distance = 1};
        vem_i_moments_add(em->scorer.family, D, vem_i_stats_mass(stats, c), &shift,
                          vem_i_stats_mass(&moved, c));
    }
    const double f = entropy - 0.5 * vem_i_expected_cost(&em->scorer, &moved) -
                     0.5 * em->view->total_mass * em->scorer.base;
    vem_i_stats_free(&moved);
    return f;
}

/* The partition of the file, and one row in each cell. */
static void partition_has_golden_values(void **state)
{
    (void)state;
    engine rows;
    grid_data data;
    rows_new(&rows, &data, VEM_FULL);
    const json_t *partition = json_object_get(root, "partition");
    int64_t starts[ROWS + 1];
    int32_t members[ROWS], each[ROWS];
    for (int64_t i = 0; i <= ROWS; i++)
        starts[i] = i;
    for (int32_t i = 0; i < ROWS; i++) {
        each[i] = i;
        members[i] = 0;
        while (json_array_get(partition, (size_t)members[i]) != cell_of(partition, i))
            members[i]++;
    }
    vem_i_overlap *cells, *alone;
    const vem_view *view = &rows.points->view;
    assert_int_equal(vem_i_overlap_new(run_of(ctx), view, VEM_I_SPREAD_FULL,
                                       (int64_t)json_array_size(partition), starts,
                                       members, &cells),
                     VEM_OK);
    assert_int_equal(vem_i_overlap_new(run_of(ctx), view, VEM_I_SPREAD_FULL, ROWS, starts,
                                       each, &alone),
                     VEM_OK);
    vem_i_em em, single;
    loop_new(&em, &rows, &cells->view);
    loop_new(&single, &rows, &alone->view);
    double f = expect(&single);
    golden_near(root, "F_singletons", &f);
    golden_near(root, "exact_loglik", &f);
    f = expect(&em);
    golden_near(root, "F_partition", &f);
    for (int64_t a = 0; a < cells->cells; a++)
        check_cell(&em, a, json_array_get(partition, (size_t)a));
    f = after_maximum(&em, f);
    golden_near(root, "F_after_M_same_q", &f);
    for (int i = 0; i < CLUSTERS * D; i++)
        em.model->means[i] += view->origin[i % D];
    const json_t *next = json_object_get(root, "mstep");
    golden_near(next, "p", em.model->weights);
    golden_near(next, "m", em.model->means);
    golden_near(next, "C", em.model->variances);
    loop_free(&em);
    loop_free(&single);
    vem_i_overlap_free(cells);
    vem_i_overlap_free(alone);
    engine_free(&rows);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tree_has_golden_values),
        cmocka_unit_test(partition_has_golden_values),
    };
    return cmocka_run_group_tests(tests, read_golden, forget_golden);
}
