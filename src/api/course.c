#include "api/course.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "api/keeper.h"
#include "api/starts.h"
#include "api/units.h"
#include "base/memory.h"
#include "base/options.h"
#include "moves/moves.h"
#include "search/search.h"
#include "search/tour.h"
#include "seed/seed.h"

/* M-steps with one variance and flat weights before a richer family is set free; bad
 * first sets would otherwise leave some clusters with tiny variances. */
enum { SHARED_STEPS = 2 };
/* Below this many items per cluster a step is dear beside what it gains: only items far from
 * their cluster probe twice, and swaps end earlier. */
enum { CROWDED = 16 };
/* Swaps go on while a round promises to lower the squared error by this share. */
static const double SWAP_ENOUGH = 1e-3;

/* Where other loops come after one, it gets this share of the time that is left. */
static const double START_TIME = 0.5, FIT_TIME = 0.75;

/* ---- the first model ---- */

static vem_status place_means(vem_i_course *c, const int64_t *items)
{
    const vem_view *view = c->view;
    const vem_options *o = c->options;
    vem_status status = vem_i_model_blank(c->ctx, (vem_family_kind)o->family,
                                          (int32_t)o->clusters, view->d, &c->model);
    for (int64_t k = 0; status == VEM_OK && k < o->clusters; k++) {
        for (int64_t j = 0; j < view->d; j++)
            c->model->means[k * view->d + j] =
                vem_i_value(view->kernels, vem_i_view_row(view, items[k]), j);
        vem_i_residence_check(c->ctx);
    }
    return status;
}

/* The least variance that all clusters and columns may share in the family of the fit. */
static double least_variance(const vem_i_course *c)
{
    const vem_i_constraints limits =
        vem_i_constraints_of(c->view, c->options, (vem_family_kind)c->options->family);
    return vem_i_floor_shared(&limits, c->view->d);
}

static vem_status seed_model(vem_i_course *c, vem_seeding method, vem_i_beginning *b)
{
    const vem_options *o = c->options;
    /* Searches that try all clusters need no hint where to begin; presets take none. */
    int hint = c->ours && o->search != VEM_SEARCH_CLOSEST && o->search != VEM_SEARCH_ALL;
    vem_i_seeds seeds = {.first = hint ? c->labels : NULL};
    vem_status status =
        vem_i_take(c->ctx, &seeds.items, (size_t)o->clusters, sizeof(int64_t));
    if (status == VEM_OK)
        status = vem_i_seed(c->ctx, c->view, method, (int32_t)o->clusters, o->chain,
                            c->seed, &seeds);
    if (status == VEM_OK)
        status = place_means(c, seeds.items);
    vem_i_free(seeds.items);
    if (status != VEM_OK)
        return status;
    c->seed_pairs = seeds.pairs;
    /* Where the seeding does not know the variance, any guess will do for the first step.
     */
    b->variance_unknown = isnan(seeds.variance);
    double variance = b->variance_unknown ? c->view->variance : seeds.variance;
    vem_i_model_set_variance(c->model, fmax(variance, least_variance(c)));
    b->shared_steps = o->family == VEM_ISO_SHARED ? 0 : SHARED_STEPS;
    b->labels_known = hint && c->labels[0] >= 0;
    return VEM_OK;
}

static vem_status start_model(vem_i_course *c)
{
    const vem_options *o = c->options;
    vem_status status = vem_i_model_to_view(c->ctx, c->start, c->view,
                                            (vem_family_kind)o->family, &c->model);
    const vem_i_constraints limits =
        vem_i_constraints_of(c->view, o, (vem_family_kind)o->family);
    if (status == VEM_OK)
        status = vem_i_floor_model(c->ctx, &limits, c->model);
    if (status == VEM_OK)
        status = vem_i_model_check_range(c->ctx, c->model, c->view);
    if (status == VEM_OK && o->prior == VEM_PRIOR_FLAT)
        for (int32_t k = 0; k < c->model->clusters; k++)
            c->model->weights[k] = 1.0 / c->model->clusters;
    return status;
}

/* Rows that begin in the same cluster, side by side: from now on most of what a step reads
 * lies together. */
static vem_status order_rows(vem_i_course *c)
{
    vem_i_tour tour = {0};
    int32_t *rank = NULL;
    int32_t clusters = c->model->clusters;
    vem_status status = vem_i_take(c->ctx, &rank, (size_t)clusters, sizeof(int32_t));
    if (status == VEM_OK)
        status = vem_i_tour_new(c->ctx, c->view->n, clusters, &tour);
    if (status == VEM_OK) {
        for (int32_t k = 0; k < clusters; k++)
            rank[k] = k;
        vem_i_tour_sort(&tour, clusters, c->labels, 1, rank);
        status = vem_i_points_reorder(c->ctx, c->points, tour.items);
    }
    /* The labels follow: they are ascending now, the unknown ones last. */
    for (int64_t i = 0, k = 0; status == VEM_OK && i < c->view->n; i++) {
        while (k < clusters && i >= tour.starts[k + 1])
            k++;
        c->labels[i] = k < clusters ? (int32_t)k : -1;
    }
    vem_i_tour_free(&tour);
    vem_i_free(rank);
    return status;
}

/* Labels by row of the data. */
static vem_status unorder_labels(vem_i_course *c)
{
    if (!c->points || !c->points->rows)
        return VEM_OK;
    int32_t *labels = NULL;
    vem_status status = vem_i_take(c->ctx, &labels, (size_t)c->view->n, sizeof(int32_t));
    if (status != VEM_OK)
        return status;
    for (int64_t i = 0; i < c->view->n; i++)
        labels[c->points->rows[i]] = c->labels[i];
    vem_i_free(c->labels);
    c->labels = labels;
    return VEM_OK;
}

/* ---- one loop ---- */

/* The lines of a loop come after those of the loops before it. */
static vem_status append_trace(vem_i_course *c, const vem_i_em *em)
{
    int64_t count = c->trace_count + em->trace_count;
    vem_trace_step *grown =
        realloc(c->trace, (size_t)(count > 0 ? count : 1) * sizeof *grown);
    if (!grown)
        return vem_i_fail_memory(c->ctx, (size_t)count * sizeof *grown);
    c->trace = grown;
    for (int64_t i = 0; i < em->trace_count; i++) {
        grown[c->trace_count + i] = em->trace[i];
        grown[c->trace_count + i].step += c->steps;
    }
    c->trace_count = count;
    return VEM_OK;
}

_Static_assert((int)VEM_I_LISTED_MAX == (int)VEM_I_SPARSE_MAX,
               "The options and the search differ about which sets are lists.");

int vem_i_swaps_in_loop(const vem_options *o, const vem_i_search *search)
{
    return o->swaps > 0 && !search->dense;
}

static vem_status run_loop(vem_i_course *c, const vem_options *o,
                           const vem_i_beginning *b)
{
    int crowded = c->view->n / o->clusters < CROWDED;
    vem_i_em em = {.ctx = c->ctx,
                   .options = o,
                   .view = c->view,
                   .search = vem_i_search_for(o, c->seed),
                   .scale_free = c->ours,
                   .policy = vem_i_empty_policy((vem_empty_policy)o->empty),
                   .variance_unknown = b->variance_unknown,
                   .shared_steps = b->shared_steps,
                   .steps_before = c->steps,
                   .schedule = {.groups = o->search == VEM_SEARCH_GROUPS,
                                .placed = b->labels_known,
                                .crowded = crowded,
                                .probe = (int)o->probe,
                                .enough =
                                    (crowded ? 4 : 1) * SWAP_ENOUGH * 0.5 * c->view->d},
                   .swap = vem_i_swap_round,
                   .model = c->model,
                   .constraints =
                       vem_i_constraints_of(c->view, o, (vem_family_kind)o->family)};
    /* What comes after may start from no less variance: F would fall between the loops. */
    if (o->family != c->options->family)
        em.constraints.floor = fmax(em.constraints.floor, least_variance(c));
    int resumes = vem_i_keeper_resumes(c->keeper);
    c->loop_clusters = c->model->clusters;
    if (c->keeper) {
        em.keep = vem_i_keeper_keep;
        em.keep_user = c;
    }
    vem_status status = vem_i_em_new(&em);
    if (status != VEM_OK)
        return status;
    if (vem_i_swaps_in_loop(o, &em.search)) {
        em.schedule.rounds = o->swaps;
        status = vem_i_swaps_new(&em, &em.swaps);
    }
    if (status == VEM_OK && resumes)
        status = vem_i_keeper_enter(c->keeper, c, &em);
    if (status == VEM_OK && b->labels_known && !resumes) {
        vem_i_posterior_start(&em.posterior, c->labels);
        vem_i_scorer_prepare(c->ctx, c->model, &em.scorer);
        status = vem_i_estep_start(em.estep, &em.pairs);
    }
    if (status == VEM_OK)
        status = vem_i_em_run(&em);
    if (status == VEM_OK)
        status = append_trace(c, &em);
    if (status == VEM_OK)
        c->outcome = em.outcome;
    /* Without a whole step the labels and F of the loop before stay: its mixture is the
     * same, so that its F is a lower bound here too. */
    if (status == VEM_OK && (em.steps > 0 || c->steps == 0)) {
        if (c->steps == 0)
            c->free_energy_first = em.free_energy_first;
        c->free_energy = em.free_energy;
        c->steps += em.steps;
        vem_i_keeper_leave(c->keeper, em.outcome);
    }
    if (status == VEM_OK && em.steps > 0) {
        for (int64_t i = 0; i < c->view->n; i++)
            c->labels[i] = em.posterior.held[i * em.posterior.width];
    }
    c->pairs += em.pairs;
    vem_i_swaps_free(em.swaps);
    vem_i_em_free(&em);
    return status;
}

/* ---- the course ---- */

/* The same, but done by a share of the time that is left. */
static vem_status run_part(vem_i_course *c, const vem_options *o,
                           const vem_i_beginning *b, double share)
{
    const double deadline = c->ctx->deadline, now = vem_i_clock();
    if (deadline > 0)
        c->ctx->deadline = now + share * (deadline - now);
    vem_status status = run_loop(c, o, b);
    c->ctx->deadline = deadline;
    return status;
}

/* Hard k-means with swaps; its means and their common variance begin what was asked. */
static vem_status run_start(vem_i_course *c)
{
    vem_options hard = vem_i_hard_start(c->options);
    vem_i_beginning first = c->beginning;
    vem_status status = VEM_OK;
    first.shared_steps = 0;
    if (!c->wanted) { /* else the course was entered here */
        c->wanted = c->model;
        c->model = NULL;
        status = vem_i_model_blank(c->ctx, VEM_ISO_SHARED, c->wanted->clusters,
                                   c->wanted->d, &c->model);
        if (status == VEM_OK) {
            memcpy(c->model->means, c->wanted->means,
                   (size_t)c->wanted->clusters * (size_t)c->wanted->d * sizeof(double));
            vem_i_model_set_variance(c->model, vem_i_model_variance(c->wanted));
        }
    }
    vem_model *wanted = c->wanted;
    if (status == VEM_OK)
        status = run_part(c, &hard, &first, START_TIME);
    if (status == VEM_OK && c->steps > 0 && c->model->clusters == wanted->clusters) {
        memcpy(wanted->means, c->model->means,
               (size_t)wanted->clusters * (size_t)wanted->d * sizeof(double));
        vem_i_model_set_variance(wanted,
                                 fmax(vem_i_model_variance(c->model), least_variance(c)));
        c->beginning.variance_unknown = 0;
        c->beginning.labels_known = 1;
    }
    vem_model_free(c->model);
    c->model = wanted;
    c->wanted = NULL;
    return status;
}

/* The model of the fit, with swaps, because few clusters for each row are listed. */
static vem_status run_listed(vem_i_course *c)
{
    const vem_options listed = vem_i_listed_start(c->options, c->steps);
    const int64_t before = c->steps;
    vem_status status = run_part(c, &listed, &c->beginning, START_TIME);
    if (c->steps > before)
        c->beginning = (vem_i_beginning){.labels_known = 1};
    return status;
}

static vem_status run_finish(vem_i_course *c)
{
    vem_options hard = vem_i_hard_finish(c->options);
    hard.max_steps = c->options->max_steps - c->steps;
    int64_t last = c->trace_count - 1;
    /* Holding fewer clusters lowers F: that is a move, and is named. */
    c->trace[last].move = "finish";
    c->trace[last].moved = c->model->clusters;
    c->at = VEM_I_LOOP_FINISH;
    return run_loop(c, &hard, &(vem_i_beginning){.labels_known = 1});
}

/* The best of several starts. Where the sample cannot tell, the fit is one without them. */
static vem_status try_starts(vem_i_course *c)
{
    int cut = 0;
    vem_status status = vem_i_starts_run(c, &cut);
    if (cut && c->keeper) /* not the bits of a fit that was not stopped */
        c->keeper->closed = c->keeper->in_starts = 1;
    if (c->missed >= VEM_I_MISSED_PLACES)
        c->tried = 0;
    return status;
}

/* The first model, and rows in order. */
static vem_status begin(vem_i_course *c)
{
    vem_i_beginning b = {0};
    double clock = vem_i_clock();
    vem_status status = VEM_OK;
    if (c->tried)
        status = try_starts(c);
    else if (c->first)
        status = vem_model_copy(c->ctx, c->first, &c->model);
    if (status == VEM_OK && !c->model)
        status = c->start ? start_model(c)
                          : seed_model(c,
                                       c->tried ? VEM_SEED_PLUSPLUS
                                                : (vem_seeding)c->options->seeding,
                                       &b);
    if (status == VEM_OK && b.labels_known && c->points &&
        c->options->search == VEM_SEARCH_GROUPS)
        status = order_rows(c);
    c->beginning = b;
    const int begins = !c->start && !c->first && !c->tried;
    c->hard_start = begins && vem_i_wants_hard_start(c->options, c->ours);
    c->at = c->hard_start ? VEM_I_LOOP_START : VEM_I_LOOP_FIT;
    if (c->first && vem_i_wants_listed_start(c->options)) {
        c->hard_start = 1; /* of its loops the second, which can swap, and the last */
        c->at = VEM_I_LOOP_LISTED;
    }
    c->seconds_seed = vem_i_clock() - clock;
    c->clock = vem_i_clock();
    return status;
}

vem_status vem_i_course_run(vem_i_course *c)
{
    vem_status status =
        vem_i_take(c->ctx, &c->labels, (size_t)c->view->n, sizeof(int32_t));
    if (status == VEM_OK)
        memset(c->labels, -1, (size_t)c->view->n * sizeof(int32_t));
    c->tried = !c->apart && vem_i_starts_of(c->options, c->ours && !c->start, c->reduced,
                                            c->view->n, c->view->d)
                                    .runs > 0;
    if (status == VEM_OK)
        status = vem_i_keeper_resumes(c->keeper) ? vem_i_keeper_resume(c->keeper, c)
                                                 : begin(c);
    vem_options o = *c->options;
    if (status == VEM_OK && c->at == VEM_I_LOOP_START) {
        status = run_start(c);
        c->at = VEM_I_LOOP_FIT;
        if (vem_i_wants_listed_start(&o) && !c->ctx->stop_requested &&
            !vem_i_late(c->ctx))
            c->at = VEM_I_LOOP_LISTED;
    }
    if (status == VEM_OK && c->at == VEM_I_LOOP_LISTED) {
        status = run_listed(c);
        c->at = VEM_I_LOOP_FIT;
    }
    const int finish = o.finish == VEM_FINISH_HARD && o.held > 1;
    if (status == VEM_OK && c->hard_start)
        o.swaps = 0;
    else if (status == VEM_OK && c->tried)
        o.swaps = c->missed == VEM_I_MISSED_SOME;
    if (status == VEM_OK && c->at == VEM_I_LOOP_FIT) {
        o.max_steps -= c->steps; /* the start leaves some */
        status = run_part(c, &o, &c->beginning, finish ? FIT_TIME : 1);
    }
    if (status == VEM_OK && (c->at == VEM_I_LOOP_FINISH ||
                             (finish && c->steps > 0 && !c->ctx->stop_requested &&
                              !vem_i_late(c->ctx) && c->steps < c->options->max_steps)))
        status = run_finish(c);
    if (status == VEM_OK)
        status = unorder_labels(c);
    c->seconds_em = vem_i_clock() - c->clock;
    return status;
}

void vem_i_course_free(vem_i_course *c)
{
    vem_model_free(c->model);
    vem_model_free(c->wanted);
    vem_i_free(c->labels);
    free(c->trace);
    c->model = NULL;
    c->wanted = NULL;
    c->labels = NULL;
    c->trace = NULL;
}
