/* Few clusters, several starts.
 *
 * A fit ends in a maximum near its start, swaps or not, where clusters overlap. With few clusters
 * a sample of some hundred rows for each tells the maxima apart, and a whole course on it costs
 * little beside one over all rows. So
 *
 *     fresh     several courses on the sample, each with a seeding of its own
 *     moved     from the best so far: a cluster that costs little is put on a row far from its
 *               mean (drawn with chance ~ w |x - mu|^2), and a course begins there; the better of
 *               the two is kept
 *     larger    the best goes on with a larger sample, until it rests there
 *
 *     all       a step over all rows shows whether the sample was like them: where F falls short of
 *               the sample's by more than chance explains, rows that count were missed (a few far
 *               ones, small groups beside outliers), and the fit goes the way of many clusters,
 *               as if there had been no starts
 *
 * and what is found is where the loop over all rows begins, without swaps. Origin and scale of the
 * samples are those of all rows, so that one model serves all of them. Everything is a function of
 * the seed and the sizes. How many of each, and why: docs/math/starts.md. */
#include "api/starts.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "base/options.h"
#include "base/rng.h"
#include "data/subset.h"

/* Rows of the sample for each cluster, and with shapes; of a full covariance, for each column. */
enum { EACH = 256, EACH_SHAPED = 512, EACH_COLUMN = 16, LARGER = 8 };
/* Rows at least; where there are very many, this many. */
enum { LEAST = 2048, MANY = 8192, VERY = 16 };
/* Runs: at most so many; at least so many, and one more for so many clusters. Between them their
 * work is a share of that of a fit of all rows. */
enum { MOST = 18, FEWEST = 3, FEWEST_FOR = 16 };
enum { MOST_SHAPED = 16, MOST_FULL = 24, FEWEST_SHAPED = 4 };
static const double SHARE = 3.5, SHARE_SHAPED = 5;
/* Of a coreset, which is asked for to save time. */
static const double SHARE_REDUCED = 3;
/* Steps of a run at most. They are not those of --max-steps, as a seeding is not. */
enum { STEPS = 100 };
/* Up to this many clusters half of the runs of k-means are fresh, above it two: there, moving
 * clusters finds more. Of mixtures a quarter. */
enum { FRESH_CLUSTERS = 16, FRESH = 2 };
/* The cluster to be moved is the cheapest of so many; one more is moved for so many clusters. */
enum { TRIED = 3, MOVED_FOR = 32 };
/* A run is better when its squared error, or what goes with F in the same way, is lower by this
 * share of it: of equal ones the first is kept, whatever the rounding. */
static const double BETTER = 1e-5;
/* Rows were missed when the squared error of all rows, or what goes with F in the same way, is
 * larger than that of the sample by this share; over what fitting P numbers to N' rows gains on
 * them and loses on others, which is P / N' in F. */
static const double MISSED = 0.05;
/* A step of more products than this on all rows is no cheap start: one of full covariances, which
 * takes many steps, takes seconds. */
static const double DEAR = 1e8;
/* A step of fewer is done by the time other threads are awake. */
static const double LIGHT = 1e7;
/* Less of the rows of a sample that it is worth: what is missing is looked for by swaps. */
static const double CROWDED = 0.7;
/* Keys of random numbers beside those of the runs. */
enum { KEY_SAMPLE = 1 << 20, KEY_LARGER, KEY_ALL };
/* The share of the time that is left, where there is a deadline. */
static const double TIME = 0.5;

static int64_t least_of(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

static int64_t most_of(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

/* Products in a step over the rows. */
static double work_of(const vem_options *o, int64_t rows, int32_t d)
{
    return (double)rows * (double)o->clusters * d * (o->family == VEM_FULL ? d : 1);
}

vem_i_starts_plan vem_i_starts_of(const vem_options *o, int ours, int reduced, int64_t n,
                                  int32_t d)
{
    vem_i_starts_plan p = {0};
    if (!ours || !vem_i_wants_starts(o))
        return p;
    const int shaped = o->family != VEM_ISO_SHARED;
    const int64_t k = o->clusters;
    int64_t each = shaped ? EACH_SHAPED : EACH;
    if (o->family == VEM_FULL)
        each = most_of(each, EACH_COLUMN * (int64_t)d);
    p.rows = most_of(each * k, most_of(LEAST, least_of(MANY, n / VERY)));
    if (p.rows > n / 2)
        p.rows = n;
    if (p.rows == n && o->family == VEM_FULL && work_of(o, n, d) > DEAR)
        return (vem_i_starts_plan){0};
    else if (LARGER * each * k < n / 2)
        p.larger = most_of(LARGER * each * k, p.rows);
    const double share = (reduced  ? SHARE_REDUCED
                          : shaped ? SHARE_SHAPED
                                   : SHARE) *
                         (double)n / (double)(p.rows > 0 ? p.rows : 1);
    const int64_t fewest = reduced  ? FEWEST
                           : shaped ? FEWEST_SHAPED
                                    : FEWEST + k / FEWEST_FOR;
    const int64_t most = o->family == VEM_FULL ? MOST_FULL : shaped ? MOST_SHAPED : MOST;
    p.runs = share < (double)fewest ? fewest
             : share > (double)most ? most
                                    : (int64_t)share;
    p.fresh = shaped                ? most_of(p.runs / 4, FRESH)
              : k <= FRESH_CLUSTERS ? (p.runs + 1) / 2
                                    : FRESH;
    return p;
}

vem_options vem_i_starts_options(const vem_options *resolved)
{
    /* Where all clusters have one shape k-means finds what soft fits need (docs/math/swaps.md). */
    vem_options o =
        resolved->family == VEM_ISO_SHARED ? vem_i_hard_start(resolved) : *resolved;
    o.init_steps = 0;
    o.finish = VEM_FINISH_SOFT;
    o.empty = VEM_EMPTY_RESEED; /* no cluster may be lost before the fit begins */
    o.max_steps = STEPS;
    return o;
}

/* ---- one run ---- */

typedef struct starts {
    vem_i_course *c;
    const vem_view *view; /* of the sample */
    vem_options options;
    int64_t runs, done;
    /* The best so far. */
    vem_model *model;
    int32_t *labels;
    double free_energy;
    double *work; /* one per item */
    /* The caller's progress function: it is told of runs, not of their steps. */
    vem_progress_fn progress;
    void *progress_user;
    double told; /* seconds */
    int64_t told_of;
} starts;

/* Once for each run, and as often as long ones need. */
static int tell(void *user, const vem_progress *step)
{
    enum { PER_SECOND = 10 };
    starts *s = user;
    if (s->done == s->told_of && (step->seconds - s->told) * PER_SECOND < 1)
        return 0;
    const vem_progress told = {.phase = "seed",
                               .done = s->done,
                               .total = s->runs,
                               .free_energy = NAN,
                               .seconds = step->seconds,
                               .restart = step->restart,
                               .restarts = step->restarts};
    s->told = step->seconds;
    s->told_of = s->done;
    return s->progress(s->progress_user, &told);
}

static uint64_t key(const vem_i_course *c, uint64_t item)
{
    vem_i_rng rng = vem_i_rng_at(c->seed, VEM_RNG_STARTS, 0, item);
    const uint64_t high = vem_i_rng_bits(&rng);
    return high << 32 | vem_i_rng_bits(&rng);
}

/* A course on the sample, from a seeding or from `first`; kept when it is the best. */
static vem_status run_one(starts *s, uint64_t number, const vem_model *first)
{
    vem_i_course *c = s->c;
    vem_i_course run = {.ctx = c->ctx,
                        .options = &s->options,
                        .view = s->view,
                        .first = first,
                        .ours = 1,
                        .apart = 1,
                        .seed = key(c, number)};
    vem_status status = vem_i_course_run(&run);
    c->seed_pairs += run.seed_pairs + run.pairs;
    if (status == VEM_OK && run.steps > 0 &&
        run.model->clusters == c->options->clusters &&
        (!s->model || run.free_energy > s->free_energy + BETTER * 0.5 * s->view->d)) {
        vem_model_free(s->model);
        vem_i_free(s->labels);
        s->model = run.model;
        s->labels = run.labels;
        s->free_energy = run.free_energy;
        run.model = NULL;
        run.labels = NULL;
    }
    vem_i_course_free(&run);
    /* Out of time before there was a model: what was found before counts. */
    return status == VEM_STOPPED ? VEM_OK : status;
}

/* ---- the best so far, with clusters moved ---- */

static double square_to(const vem_view *view, int64_t item, const double *mean)
{
    const void *row = vem_i_view_row(view, item);
    double sum = 0;
    for (int32_t j = 0; j < view->d; j++) {
        const double x = vem_i_value(view->kernels, row, j) - mean[j];
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
        const double *mean = s->model->means + (int64_t)s->labels[i] * v->d;
        sum += vem_i_view_mass(v, i) * square_to(v, i, mean);
        s->work[i] = sum;
    }
    const double place = vem_i_rng_uniform(rng) * sum;
    int64_t item = 0;
    while (item < v->n - 1 && s->work[item] <= place)
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
            const double x = m->means[a * d + j] - m->means[b * d + j];
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

/* Cluster `gone` to the item, with the shape of the cluster that holds it and half its weight. */
static void move_cluster(const starts *s, int32_t gone, int64_t item, vem_model *m)
{
    const vem_view *v = s->view;
    const int32_t from = s->labels[item];
    const size_t shape = vem_i_variance_count(m->family, 1, m->d);
    const double weight = m->weights[gone];
    for (int64_t j = 0; j < m->d; j++)
        m->means[gone * (int64_t)m->d + j] =
            vem_i_value(v->kernels, vem_i_view_row(v, item), j);
    if (gone == from)
        return;
    if (m->family != VEM_ISO_SHARED)
        memcpy(m->variances + (size_t)gone * shape, m->variances + (size_t)from * shape,
               shape * sizeof(double));
    if (s->options.prior == VEM_PRIOR_FLAT || !(weight < 1))
        return;
    m->weights[from] /= 2;
    m->weights[gone] = m->weights[from];
    for (int32_t a = 0; a < m->clusters; a++) /* the weight that became free, to all */
        m->weights[a] /= 1 - weight;
}

static vem_status run_moved(starts *s, uint64_t number)
{
    vem_i_rng rng = vem_i_rng_at(s->c->seed, VEM_RNG_STARTS, 1, number);
    vem_model *moved = NULL;
    vem_status status = vem_model_copy(s->c->ctx, s->model, &moved);
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
    return !(sum * sum > CROWDED * squares * (double)sample->n);
}

static int over(const vem_ctx *ctx)
{
    return ctx->stop_requested || vem_i_late(ctx);
}

static vem_status run_on_sample(starts *s, const vem_i_starts_plan *plan)
{
    vem_ctx *ctx = s->c->ctx;
    int64_t distinct = 0;
    vem_status status =
        vem_i_count_distinct(ctx, s->view, s->options.clusters, &distinct);
    if (status == VEM_OK && distinct < s->options.clusters)
        s->c->missed = VEM_I_MISSED_PLACES;
    if (status != VEM_OK || distinct < s->options.clusters)
        return status;
    status = vem_i_take(ctx, &s->work, (size_t)s->view->n, sizeof(double));
    for (; status == VEM_OK && s->done < plan->runs && !over(ctx); s->done++)
        status = s->done < plan->fresh || !s->model ? run_one(s, (uint64_t)s->done, NULL)
                                                    : run_moved(s, (uint64_t)s->done);
    vem_i_free(s->work);
    s->work = NULL;
    return status;
}

/* The best goes on with other rows than it was found on, without swaps. Where F is below `least`
 * there, it is given up. */
static vem_status go_on(starts *s, const vem_view *view, uint64_t number, double least)
{
    vem_model *found = s->model;
    s->model = NULL;
    s->view = view;
    s->options.swaps = 0;
    vem_status status = run_one(s, number, found);
    s->done++;
    if (!s->model) { /* out of time */
        s->model = found;
        return status;
    }
    vem_model_free(found);
    if (s->free_energy < least) {
        s->c->missed = VEM_I_MISSED_ROWS;
        vem_model_free(s->model);
        s->model = NULL;
    }
    return status;
}

/* The larger sample, then one step over all rows. */
static vem_status run_on_others(starts *s, const vem_i_starts_plan *plan)
{
    vem_i_course *c = s->c;
    const vem_options *o = &s->options;
    const double parameters =
        (double)vem_i_parameter_count((vem_family_kind)o->family,
                                      (vem_prior_kind)o->prior, (int32_t)o->clusters,
                                      c->view->d);
    const double least = s->free_energy - 0.5 * c->view->d * log1p(MISSED) -
                         parameters / (double)plan->rows;
    vem_status status = VEM_OK;
    if (plan->larger > 0 && !over(c->ctx)) {
        vem_i_points *sample = NULL;
        status =
            vem_i_subset_new(c->ctx, c->view, plan->larger, key(c, KEY_LARGER), &sample);
        if (status == VEM_OK)
            status = go_on(s, &sample->view, KEY_LARGER, least);
        vem_i_points_free(sample);
    }
    s->options.max_steps = 1;
    if (status == VEM_OK && s->model && !over(c->ctx))
        status = go_on(s, c->view, KEY_ALL, least);
    return status;
}

vem_status vem_i_starts_run(vem_i_course *c, int *cut)
{
    vem_ctx *ctx = c->ctx;
    const vem_i_starts_plan plan =
        vem_i_starts_of(c->options, 1, c->reduced, c->view->n, c->view->d);
    starts s = {.c = c,
                .view = c->view,
                .options = vem_i_starts_options(c->options),
                .runs = plan.runs + (plan.larger > 0) + (plan.rows < c->view->n),
                .told_of = -1,
                .progress = ctx->progress,
                .progress_user = ctx->progress_user};
    vem_i_points *sample = NULL;
    vem_status status = VEM_OK;
    const int threads = ctx->threads;
    const double deadline = ctx->deadline, now = vem_i_clock();
    if (deadline > 0)
        ctx->deadline = now + TIME * (deadline - now);
    if (s.progress) {
        ctx->progress = tell;
        ctx->progress_user = &s;
    }
    if (plan.rows < c->view->n) {
        status = vem_i_subset_new(ctx, c->view, plan.rows, key(c, KEY_SAMPLE), &sample);
        s.view = sample ? &sample->view : NULL;
        if (sample && crowded(s.view))
            c->missed = VEM_I_MISSED_SOME;
    }
    if (work_of(c->options, plan.rows, c->view->d) < LIGHT)
        ctx->threads = 1;
    if (status == VEM_OK)
        status = run_on_sample(&s, &plan);
    ctx->threads = threads;
    vem_i_points_free(sample);
    if (status == VEM_OK && s.model && plan.rows < c->view->n)
        status = run_on_others(&s, &plan);
    if (status == VEM_OK && !s.model && c->missed < VEM_I_MISSED_PLACES && !over(ctx))
        c->missed = VEM_I_MISSED_PLACES;
    *cut = ctx->stop_requested;
    ctx->deadline = deadline;
    ctx->progress = s.progress;
    ctx->progress_user = s.progress_user;
    vem_i_free(s.labels);
    if (status != VEM_OK) {
        vem_model_free(s.model);
        return status;
    }
    c->model = s.model;
    return VEM_OK;
}
