/* Clusters far from all rows but a few have to take many, if all are to be of one size.
 * So it is better to come to that by and by: the cap becomes less from round to round,
 * and after each the means are those of the rows that clusters hold by then. Prices go
 * into the weights, so that the next round begins where this one has ended.
 *
 * With few clusters labels are the least cost for the model that is given back. With
 * many that would take as long as a round does: there the model is what follows from the
 * labels. */
#include "moves/cap_rounds.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "base/parallel.h"
#include "data/together.h"
#include "em/collect.h"
#include "model/evidence.h"
#include "moves/cap.h"
#include "moves/cap_apart.h"
#include "moves/penalty.h"
#include "moves/pieces.h"

/* Caps of the rounds before the last. */
static const double CAPS[] = {1.5, 1.2, 1.05};
/* Only those above the one that is asked for by this factor. */
static const double ABOVE = 1.02;
/* From this cap on there are none: it is not far to go. */
static const double AT_ONCE = 1.25;
/* Rounds with that one, while one gains this share of the squared error. From the cap ONCE on there is
 * one: clusters that it leaves with room keep prices that they need no longer, and each further round
 * would end with a larger error. */
enum { LAST = 3 };
static const double ONCE = 1.1;
static const double ENOUGH = 0.01;
enum { PIECES = 64 };

/* ---- the model of what is held ---- */

typedef struct held {
    const vem_view *view;
    const vem_i_scorer *scorer;
    const int32_t *labels;
} held;

/* log p, weighed. */
static void add_logs(void *arg, int64_t from, int64_t to, double *sums)
{
    const held *h = arg;
    const vem_view *view = h->view;
    double costs[VEM_I_BLOCK], sum = *sums; /* or floats */
    for (int64_t i = from; i < to; i += VEM_I_BLOCK) {
        const int64_t n = to - i < VEM_I_BLOCK ? to - i : VEM_I_BLOCK;
        const vem_i_items items = vem_i_items_at(view, i, NULL, n);
        h->scorer->family->score_pairs(h->scorer, &items, 1, h->labels + i, costs,
                                       VEM_I_BLOCK);
        for (int64_t p = 0; p < n; p++) {
            const double w = vem_i_view_mass(view, i + p);
            sum -= w > 0 ? 0.5 * w * vem_i_value(view->kernels, costs, p) : 0;
        }
    }
    *sums = sum;
}

/* F of what is held, by the model that the scorer has. */
static double score_held(vem_i_run *run, const vem_view *view, const vem_model *model,
                         const vem_i_scorer *scorer, const int32_t *labels)
{
    held h = {.view = view, .scorer = scorer, .labels = labels};
    double partial[PIECES], turn[2];
    vem_i_pieces_sum(&(vem_i_pieces){.run = run,
                                     .view = view,
                                     .count = PIECES,
                                     .values = 1,
                                     .partial = partial,
                                     .turn = turn,
                                     .work = 4.0 * view->d,
                                     .add = add_logs,
                                     .arg = &h});
    return *partial / view->total_mass - 0.5 * scorer->base + model->offset +
           vem_i_view_log_shift(view);
}

/* Means, and variances; F of that, and (*plain) F of it without prices. */
static vem_status follow(vem_i_run *run, const vem_view *view,
                         const vem_i_constraints *constraints, int32_t *labels,
                         vem_model *model, double *free_energy, double *plain)
{
    vem_i_scorer scorer = {0};
    vem_i_stats stats = {0};
    vem_i_collector *collector = NULL;
    const vem_i_posterior p = {.n = view->n, .width = 1, .held = labels, .known = 1};
    vem_status status = vem_i_scorer_for(run, view, vem_i_model_shape(model), &scorer);
    if (status == VEM_OK)
        status = vem_i_stats_new(run, vem_i_model_shape(model), &stats);
    if (status == VEM_OK)
        status = vem_i_collector_new(run, view, &scorer, 1, 0, &collector);
    if (status == VEM_OK && !run->counted) {
        vem_i_scorer_prepare(run, model, &scorer);
        vem_i_collector_run(collector, &p, NULL, NULL, &stats);
        vem_i_maximize(run, &scorer, &stats, constraints, model);
        vem_i_scorer_prepare(run, model, &scorer);
        *free_energy = score_held(run, view, model, &scorer, labels);
        *plain = *free_energy;
        for (int32_t c = 0; c < model->clusters; c++)
            *plain -= *vem_i_stats_mass(&stats, c) / view->total_mass *
                      log(model->clusters * model->weights[c]);
    }
    vem_i_collector_free(collector);
    vem_i_stats_free(&stats);
    vem_i_scorer_free(&scorer);
    return status;
}

/* Prices become weights. */
static void put_prices(const double *prices, vem_model *model)
{
    double top = -INFINITY;
    for (int32_t c = 0; c < model->clusters; c++)
        top = fmax(top, log(model->weights[c]) - prices[c]);
    for (int32_t c = 0; c < model->clusters; c++)
        model->weights[c] =
            exp(fmax(log(model->weights[c]) - prices[c] - top, -VEM_I_PRICE_SPAN));
    vem_i_normalize_weights(model);
}

/* F, where labels have moved and the model has not. */
static vem_status score(vem_i_run *run, const vem_view *view, const vem_model *model,
                        const int32_t *labels, double *free_energy)
{
    vem_i_scorer scorer = {0};
    const vem_status status =
        vem_i_scorer_for(run, view, vem_i_model_shape(model), &scorer);
    if (status == VEM_OK) {
        vem_i_scorer_prepare(run, model, &scorer);
        *free_energy = score_held(run, view, model, &scorer, labels);
    }
    vem_i_scorer_free(&scorer);
    return status;
}

/* ---- the rounds ---- */

typedef struct rounds {
    vem_i_run *run;
    const vem_view *view;
    const vem_i_constraints *constraints;
    vem_model *model;
    int32_t *labels, *before;
    double *prices;
    double *free_energy;
    double plain; /* F without prices, after a round */
    int *kept;
    vem_i_cap_apart *apart; /* of several processes */
} rounds;

static vem_status keep_cap(rounds *t, double cap)
{
    return t->apart ? vem_i_cap_apart_run(t->apart, t->model, cap, t->labels, t->prices,
                                          t->kept)
                    : vem_i_cap(t->run, t->view, t->model, cap, t->labels, t->prices,
                                t->kept, NULL);
}

static vem_status one_round(rounds *t, double cap)
{
    vem_status status = keep_cap(t, cap);
    if (status == VEM_OK && t->run->counted)
        status = follow(t->run, t->view, t->constraints, t->labels, t->model, NULL, NULL);
    if (status != VEM_OK || t->run->counted || !*t->kept)
        return status;
    put_prices(t->prices, t->model);
    return follow(t->run, t->view, t->constraints, t->labels, t->model, t->free_energy,
                  &t->plain);
}

static int64_t count_moved(const rounds *t)
{
    int64_t moved = 0;
    for (int64_t i = 0; i < vem_i_view_own(t->view); i++)
        moved += t->labels[i] != t->before[i];
    if (t->run->comm)
        t->run->comm->combine(t->run->comm, VEM_I_SUM_INT, &moved, 1);
    return moved;
}

static int is_kept(const rounds *t, double cap)
{
    const int32_t clusters = t->model->clusters;
    return t->apart
               ? vem_i_cap_apart_is_kept(t->apart, clusters, cap, t->labels, t->prices)
               : vem_i_cap_is_kept(t->view, clusters, cap, t->labels, t->prices);
}

static vem_status run_rounds(rounds *t, double cap, int64_t *moved)
{
    vem_status status = VEM_OK;
    const double enough = ENOUGH * 0.5 * t->view->d;
    const int last = cap < ONCE ? LAST : 1;
    *t->kept = 1;
    memcpy(t->before, t->labels, (size_t)t->view->n * sizeof *t->before);
    if (is_kept(t, cap))
        return VEM_OK;
    for (size_t k = 0; status == VEM_OK && *t->kept && k < VEM_I_COUNT(CAPS); k++)
        if (cap < AT_ONCE && CAPS[k] >= ABOVE * cap)
            status = one_round(t, CAPS[k]);
    double gain = INFINITY;
    for (int k = 0; status == VEM_OK && *t->kept && k < last && gain > enough; k++) {
        const double before = t->plain;
        status = one_round(t, cap);
        gain = k == 0 ? INFINITY : t->plain - before;
    }
    if (status == VEM_OK && *t->kept && t->model->clusters <= VEM_I_CAP_ALL) {
        status = keep_cap(t, cap);
        if (status == VEM_OK)
            status = score(t->run, t->view, t->model, t->labels, t->free_energy);
    }
    *moved = count_moved(t);
    return status;
}

vem_status vem_i_cap_rounds(vem_i_run *run, const vem_view *view,
                            const vem_i_constraints *constraints, double cap,
                            vem_model *model, int32_t *labels, int64_t *moved, int *kept,
                            double *free_energy)
{
    rounds t = {.run = run,
                .view = view,
                .constraints = constraints,
                .model = model,
                .labels = labels,
                .free_energy = free_energy,
                .kept = kept};
    const vem_i_room list[] = {{&t.prices, (size_t)model->clusters, sizeof *t.prices, 0},
                               {&t.before, (size_t)view->n, sizeof *t.before, 0}};
    *moved = 0;
    *kept = 1;
    if (model->clusters < 2)
        return VEM_OK;
    vem_status status = vem_i_take_rooms(run, list, VEM_I_COUNT(list));
    if (status == VEM_OK && run->comm)
        status = vem_i_cap_apart_new(run, view, &t.apart);
    if (status == VEM_OK)
        status = run->counted ? one_round(&t, cap) : run_rounds(&t, cap, moved);
    vem_i_cap_apart_free(t.apart);
    vem_i_free_rooms(list, VEM_I_COUNT(list));
    return status;
}
