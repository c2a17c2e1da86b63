/* Few clusters, several starts.
 *
 * A fit ends in a maximum near its start, swaps or not, where clusters overlap. With few clusters
 * a sample of some hundred rows for each tells the maxima apart, and a whole attempt on it costs
 * little beside one over all rows. So
 *
 *     fresh     several attempts on the sample, each with a seeding of its own
 *     moved     from the best so far: a cluster that costs little is put on a row far from its
 *               mean (drawn with chance ~ w |x - mu|^2), and an attempt begins there; the better of
 *               the two is kept
 *     larger    the best goes on with a larger sample, until it rests there
 *
 * and what is found is where the loop over all rows begins, without swaps. Its first step shows
 * whether the sample was like all rows: where F falls short of the sample's by more than chance
 * explains, rows that count were missed (a few far ones, small groups beside outliers), and the fit
 * begins again the way of many clusters, as if there had been no starts. Origin and scale of the
 * samples are those of all rows, so that one model serves all of them. Everything is a function of
 * the seed and the sizes. How many of each, and why: docs/math/starts.md. */
#include "fit/starts.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "base/rng.h"
#include "comm/comm.h"
#include "data/subset.h"
#include "fit/met.h"
#include "fit/processes.h"
#include "model/units.h"
#include "seed/roots.h"

/* The cluster to be moved is the cheapest of so many; one more is moved for so many clusters. */
enum { TRIED = 3, MOVED_FOR = 32 };
/* A run is better when its squared error, or what goes with F in the same way, is lower by this
 * share of it, of counts F itself: of equal ones the first is kept, whatever the rounding. */
static const double BETTER = 1e-5;
/* Rows were missed when the squared error of all rows, or what goes with F in the same way, is
 * larger than that of the sample by this share; over what fitting P numbers to N' rows gains on
 * them and loses on others, which is P / N' in F. */
static const double MISSED = 0.05;
/* Where a sample is worth less than this share of its rows, far rows took the places of others. */
static const double LEAST_WORTH = 0.7;
/* Keys of random numbers beside those of the runs. */
enum { KEY_SAMPLE = 1 << 20, KEY_LARGER };

/* ---- one run ---- */

typedef struct starts {
    vem_i_attempt *a;
    const vem_i_run *fit; /* is told how far the runs are, in parts of a run */
    vem_i_run *run;       /* of what is at hand: tells of the runs as `tell` says */
    const vem_view *view; /* of the sample */
    const vem_i_starts_programmes *programmes;
    const vem_options *options; /* of a run */
    int64_t runs, done;
    /* The best so far. */
    vem_model *model;
    int32_t *labels;
    double free_energy;
    vem_i_starts_room room;
    double
        squares[VEM_I_FEW_CLUSTERS]; /* of sparse rows |m|^2 of the means in the room */
    int64_t told;
    vem_i_met met;
} starts;

enum { PARTS = 1000 };

/* How far a run is, 0 to 1. It takes some ten steps, or several times that. */
static double share_of(const vem_progress *step)
{
    const double within = step->total > 0 ? (double)step->done / (double)step->total : 0;
    if (strcmp(step->phase, "em") != 0)
        return 0.1 * within;
    const double steps = fmax((double)step->step - 1, 0) + within;
    return 0.1 + 0.9 * steps / (steps + 10);
}

static int tell(void *user, const vem_progress *step)
{
    starts *s = user;
    const int64_t parts = s->done * PARTS + (int64_t)(PARTS * share_of(step));
    s->told = parts > s->told ? parts : s->told;
    const vem_progress told = {.phase = "seed",
                               .done = s->told,
                               .total = s->runs * PARTS,
                               .free_energy = NAN,
                               .seconds = step->seconds,
                               .restart = step->restart,
                               .restarts = step->restarts};
    return s->fit->progress(s->fit->progress_user, &told);
}

static uint64_t key(const vem_i_attempt *a, uint64_t item)
{
    vem_i_rng rng = vem_i_rng_at(a->seed, VEM_RNG_STARTS, 0, item);
    const uint64_t high = vem_i_rng_bits(&rng);
    return high << 32 | vem_i_rng_bits(&rng);
}

static const vem_i_family *family_of(const starts *s)
{
    return vem_i_family_of(s->options->family);
}

static int is_better(const starts *s, double free_energy)
{
    const double scale =
        family_of(s)->gains_by_columns ? 0.5 * s->view->d : fabs(s->free_energy);
    return !s->model || free_energy > s->free_energy + BETTER * scale;
}

/* An attempt on the sample, from a seeding or from `first`; kept when it is the best. */
static vem_status run_with(starts *s, uint64_t number, const vem_model *first,
                           const vem_i_programme *programme)
{
    vem_i_attempt *a = s->a;
    vem_i_attempt tried = {.run = s->run,
                           .programme = programme,
                           .view = s->view,
                           .cells = a->cells,
                           .still = 1,
                           .met = &s->met,
                           .start = first,
                           .seed = key(a, number)};
    vem_i_met_begin(&s->met);
    vem_status status = vem_i_attempt_run(&tried);
    a->seed_pairs += tried.seed_pairs + tried.pairs;
    if (status == VEM_OK && tried.steps > 0 && !tried.again &&
        tried.model->clusters == a->programme->options.clusters &&
        is_better(s, tried.free_energy)) {
        vem_model_free(s->model);
        vem_i_free(s->labels);
        s->model = tried.model;
        s->labels = tried.labels;
        s->free_energy = tried.free_energy;
        tried.model = NULL;
        tried.labels = NULL;
    }
    vem_i_attempt_free(&tried);
    /* Out of time before there was a model: what was found before counts. */
    return status == VEM_STOPPED ? VEM_OK : status;
}

static vem_status run_one(starts *s, uint64_t number, const vem_model *first)
{
    return run_with(s, number, first,
                    first ? &s->programmes->moved : &s->programmes->fresh);
}

/* ---- the best so far, with clusters moved ---- */

static const double *mean_of(const starts *s, int32_t cluster)
{
    return (s->room.seen ? s->room.seen : s->model->means) +
           (int64_t)cluster * s->model->d;
}

/* As seeding sees rows like them. */
static void look_at_means(starts *s)
{
    const vem_model *m = s->model;
    vem_i_stabilizer *const stabilize = vem_i_stabilizer_of(family_of(s));
    if (!s->room.seen)
        return;
    memcpy(s->room.seen, m->means, (size_t)m->clusters * (size_t)m->d * sizeof(double));
    for (int64_t c = 0; stabilize && c < m->clusters; c++)
        stabilize(s->room.seen + c * m->d, m->d);
    for (int32_t c = 0; vem_i_view_is_sparse(s->view) && c < m->clusters; c++) {
        const double *mean = mean_of(s, c);
        s->squares[c] = 0;
        for (int32_t j = 0; j < m->d; j++)
            s->squares[c] += mean[j] * mean[j];
    }
}

static double square_to_seen(const starts *s, int64_t item, int32_t cluster)
{
    const int32_t d = s->view->d;
    const double *mean = mean_of(s, cluster);
    const vem_i_sparse *x = &s->view->sparse;
    if (x->starts)
        return vem_i_root_square(x, item, vem_i_root_total(family_of(s), x, item), mean,
                                 s->squares[cluster]);
    vem_i_stabilizer *const stabilize = vem_i_stabilizer_of(family_of(s));
    double *row = s->room.seen + (int64_t)s->model->clusters * d, sum = 0;
    vem_i_view_widen(s->view, item, row);
    if (stabilize)
        stabilize(row, d);
    for (int32_t j = 0; j < d; j++)
        sum += (row[j] - mean[j]) * (row[j] - mean[j]);
    return sum;
}

static double square_to(const starts *s, int64_t item, int32_t cluster)
{
    if (s->room.seen)
        return square_to_seen(s, item, cluster);
    const double *mean = mean_of(s, cluster);
    const vem_view *view = s->view;
    double sum = 0;
    for (int32_t j = 0; j < view->d; j++) {
        const double x = vem_i_view_value(view, item, j) - mean[j];
        sum += x * x;
    }
    return sum;
}

/* An item with chance ~ w |x - mu|^2, mu the mean of what it holds first. */
static int64_t draw_far(const starts *s, vem_i_rng *rng)
{
    const vem_view *v = s->view;
    double sum = 0;
    for (int64_t i = 0; i < v->n; i++) {
        sum += vem_i_view_mass(v, i) * square_to(s, i, s->labels[i]);
        s->room.work[i] = sum;
    }
    const double place = vem_i_rng_uniform(rng) * sum;
    int64_t item = 0;
    while (item < v->n - 1 && s->room.work[item] <= place)
        item++;
    return item;
}

/* About what the items of cluster a lose when they go to the nearest other one. */
static double cost_of(const starts *s, int32_t a)
{
    const vem_model *m = s->model;
    const int64_t d = m->d;
    double mass = 0, nearest = INFINITY;
    for (int64_t i = 0; i < s->view->n; i++)
        mass += s->labels[i] == a ? vem_i_view_mass(s->view, i) : 0;
    for (int32_t b = 0; b < m->clusters; b++) {
        double square = 0;
        for (int64_t j = 0; j < d; j++) {
            const double x = mean_of(s, a)[j] - mean_of(s, b)[j];
            square += x * x;
        }
        nearest = b != a && square < nearest ? square : nearest;
    }
    return mass * nearest;
}

static int32_t draw_cheap(const starts *s, vem_i_rng *rng)
{
    int32_t cheapest = 0;
    double least = INFINITY;
    for (int t = 0; t < TRIED; t++) {
        const int32_t a = (int32_t)vem_i_rng_below(rng, (uint64_t)s->model->clusters);
        const double cost = cost_of(s, a);
        if (t == 0 || cost < least) {
            least = cost;
            cheapest = a;
        }
    }
    return cheapest;
}

/* Cluster `gone` to the item, with the shape of the cluster that holds it and half its weight;
 * where clusters begin near a row, not at it, they do so here. */
static void move_cluster(const starts *s, int32_t gone, int64_t item, vem_model *m)
{
    const vem_i_constraints limits = vem_i_constraints_of(s->view, s->options, m->family);
    const vem_view *v = s->view;
    const int32_t from = s->labels[item];
    const double weight = m->weights[gone];
    vem_i_model_put(m, from, m, gone);
    m->weights[gone] = weight;
    vem_i_view_widen(v, item, m->means + gone * (int64_t)m->d);
    vem_i_begin_at_row(m->family, &limits, m->d, m->means + gone * (int64_t)m->d);
    if (gone == from || s->options->prior == VEM_PRIOR_FLAT || !(weight < 1))
        return;
    m->weights[from] /= 2;
    m->weights[gone] = m->weights[from];
    for (int32_t a = 0; a < m->clusters; a++) /* the weight that became free, to all */
        m->weights[a] /= 1 - weight;
}

static vem_status run_moved(starts *s, uint64_t number)
{
    vem_i_rng rng = vem_i_rng_at(s->a->seed, VEM_RNG_STARTS, 1, number);
    vem_model *moved = NULL;
    vem_status status = vem_model_copy(s->a->run->ctx, s->model, &moved);
    look_at_means(s);
    for (int m = 0; status == VEM_OK && m < 1 + moved->clusters / MOVED_FOR; m++) {
        const int32_t gone = draw_cheap(s, &rng);
        move_cluster(s, gone, draw_far(s, &rng), moved);
    }
    if (status == VEM_OK)
        status = run_one(s, number, moved);
    vem_model_free(moved);
    return status;
}

/* ---- all of them ---- */

/* Do far rows crowd the others out of the sample? Half of its draws are alike for all rows, and
 * half go by the square of the distance. Where a few rows have nearly all of the squares, their
 * draws weigh next to nothing, and (sum w)^2 / sum w^2, the rows that it is worth, is half of
 * those it has. Of 40,000 normal rows of 1, 2, 8, 100 columns it is 0.76, 0.84, 0.95, 0.99 of them. */
static int crowded(const vem_view *sample)
{
    double sum = 0, squares = 0;
    for (int64_t i = 0; i < sample->n; i++) {
        const double w = sample->mass[i];
        sum += w;
        squares += w * w;
    }
    return !(sum * sum > LEAST_WORTH * squares * (double)sample->n);
}

static int over(const vem_i_run *run)
{
    return run->watch->stop || vem_i_late(run);
}

static vem_status run_on_sample(starts *s, const vem_i_starts_plan *plan)
{
    vem_i_run *run = s->run;
    int64_t distinct = 0;
    vem_status status =
        vem_i_count_distinct(run, s->view, s->options->clusters, &distinct);
    if (status == VEM_OK && distinct < s->options->clusters)
        s->a->missed = VEM_I_MISSED_PLACES;
    if (status != VEM_OK || distinct < s->options->clusters)
        return status;
    status =
        vem_i_starts_room_new(run,
                              vem_i_shape_of(vem_i_family_of(s->options->family),
                                             (int32_t)s->options->clusters, s->view->d),
                              s->view->n, &s->room);
    for (; status == VEM_OK && s->done < plan->runs && !over(run); s->done++)
        status = s->done < plan->fresh || !s->model ? run_one(s, (uint64_t)s->done, NULL)
                                                    : run_moved(s, (uint64_t)s->done);
    vem_i_starts_room_free(&s->room);
    return status;
}

/* The best goes on with the larger sample. Where F is below `least` there, it is
 * given up. */
static vem_status go_on(starts *s, int64_t rows, double least)
{
    vem_i_attempt *a = s->a;
    vem_i_points *sample = NULL;
    vem_i_run alike = vem_i_comm_alike(s->run);
    const vem_i_programme *programme = &s->programmes->larger;
    vem_i_span place;
    const int apart = !vem_i_view_is_sparse(a->view) &&
                      vem_i_processes_share(a->run, programme, rows, a->view->d, &place);
    vem_status status =
        vem_i_subset_new(a->run, a->view, rows, !family_of(s)->has_places,
                         key(a, KEY_LARGER), apart ? &place : NULL, &sample);
    if (status != VEM_OK)
        return status;
    vem_model *found = s->model;
    if (a->programme->use.different)
        vem_i_subset_join(sample);
    s->model = NULL;
    s->view = &sample->view;
    s->run = apart ? s->run : &alike;
    status = run_with(s, KEY_LARGER, found, programme);
    s->done++;
    vem_i_points_free(sample);
    if (!s->model) { /* out of time */
        s->model = found;
        return status;
    }
    vem_model_free(found);
    if (s->free_energy < least) {
        a->missed = VEM_I_MISSED_ROWS;
        vem_model_free(s->model);
        s->model = NULL;
    }
    return status;
}

/* F below which rows were missed. */
static double least_of_all(const starts *s, int64_t rows)
{
    const vem_options *o = s->options;
    const double parameters =
        (double)vem_i_parameter_count(vem_i_family_of(o->family),
                                      (vem_prior_kind)o->prior, (int32_t)o->clusters,
                                      s->view->d);
    return s->free_energy - 0.5 * s->view->d * log1p(MISSED) - parameters / (double)rows;
}

vem_status vem_i_starts_run(vem_i_attempt *a)
{
    vem_i_run run = *a->run, alike, alone;
    const vem_i_starts_plan plan = a->programme->starts;
    const vem_i_starts_programmes programmes = vem_i_programmes_of_starts(a->programme);
    starts s = {.a = a,
                .fit = a->run,
                .run = &run,
                .view = a->view,
                .programmes = &programmes,
                .options = &programmes.fresh.options,
                .runs = plan.runs + (plan.larger > 0)};
    vem_i_points *sample = NULL;
    vem_status status = VEM_OK;
    if (run.progress) {
        run.progress = tell;
        run.progress_user = &s;
    }
    alike = vem_i_comm_alike(&run); /* which have the sample */
    alone = vem_i_run_alone(&alike);
    s.run = &alike;
    const int drawn = plan.rows < (run.comm ? a->view->global_n : a->view->n);
    if (drawn)
        status = vem_i_subset_new(&run, a->view, plan.rows, !family_of(&s)->has_places,
                                  key(a, KEY_SAMPLE), NULL, &sample);
    else if (run.comm)
        status = vem_i_subset_all(&run, a->view, &sample);
    if (sample)
        s.view = &sample->view;
    if (sample && drawn && crowded(s.view))
        a->missed = a->programme->can_swap ? VEM_I_MISSED_SOME : VEM_I_MISSED_CROWD;
    if (sample && a->programme->use.different)
        vem_i_subset_join(sample);
    if (vem_i_starts_are_light(&a->programme->options, &plan, a->view->d))
        s.run = &alone;
    if (status == VEM_OK && a->missed < VEM_I_MISSED_PLACES)
        status = run_on_sample(&s, &plan);
    s.run = &run;
    /* Without places rows are drawn evenly: none takes the places of others, and F of few rows varies. */
    if (status == VEM_OK && s.model && drawn && family_of(&s)->has_places && !over(&run))
        a->least = least_of_all(&s, plan.rows);
    vem_i_points_free(sample);
    if (status == VEM_OK && s.model && plan.larger > 0 && !over(&run))
        status = go_on(&s, plan.larger, a->least);
    if (status == VEM_OK && !s.model && a->missed < VEM_I_MISSED_PLACES && !over(&run))
        a->missed = VEM_I_MISSED_PLACES;
    vem_i_free(s.labels);
    if (status != VEM_OK) {
        vem_model_free(s.model);
        return status;
    }
    a->model = s.model;
    return VEM_OK;
}
