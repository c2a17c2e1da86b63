/* Memory, planned. A fit holds its copy of the rows throughout, and goes through stages that
 * give back what they took:
 *
 *     load      scratch of the pass over the rows; with a coreset, drawing it
 *     check     the table of distinct rows
 *     seed      what the seeding needs; with few clusters, a sample and the attempts on it
 *     order     the rows put where their clusters are (groups)
 *     loop      statistics, lists, scratch; up to three loops, one after the other
 *     measure   scratch of a scan; rows of a sample, or a chunk of all rows
 *
 * The peak is the rows and the greatest stage. Where it is too high (memory_check.c), the rows rest
 * in a temporary file (base/spill.h), and the greatest stage counts beside a window for mapped pages. Who
 * looks for a smaller plan asks with other options; the refusal names those that would fit. */
#include "fit/memory_plan.h"

#include "coarse/leading.h"
#include "comm/comm.h"
#include "data/pass.h"
#include "data/points.h"
#include "data/subset.h"
#include "em/last_step.h"
#include "em/steady.h"
#include "fit/order.h"
#include "fit/reduce.h"
#include "metrics/gap.h"
#include "metrics/measure.h"
#include "moves/cap_rounds.h"
#include "moves/descend.h"
#include "moves/moves.h"
#include "seed/seed.h"

static uint64_t larger(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

/* What the stages look at. */
typedef struct sizes {
    const vem_i_run *run;
    const vem_options *o;
    const vem_i_kernels *kernels;
    int64_t n;                  /* items of the loop, */
    int64_t first, whole, halo; /* which of so many, the last so many another process's */
    int32_t d, clusters;
    int weighted, sparse, spill, led; /* led: rows along axes */
    vem_i_stored_type stored;
    int64_t row_values;
    uint64_t model;
    vem_i_cells *cells; /* made dry; NULL: the items are rows */
} sizes;

/* Stands for the masses of items, at which dry constructors do not look. */
static const double ONE = 1;
/* And for where sparse rows begin; they end where one of average length does. */
static const int64_t NONE = 0;

/* Rows of some families have a number more each (data/support.h). */
static int has_log_base(const vem_options *o)
{
    const vem_i_support *support = vem_i_support_of(vem_i_family_of(o->family));
    return support && support->log_base;
}

/* Items that dry constructors look at. */
static vem_view view_of(const sizes *s)
{
    return (
        vem_view){.kernels = s->kernels,
                  .n = s->n,
                  .first = s->first,
                  .global_n = s->whole,
                  .halo = s->halo,
                  .used = s->n,
                  .ld = s->d,
                  .d = s->d,
                  .stored = s->stored,
                  .sparse = {.starts = s->sparse ? &NONE : NULL, .ends = &s->row_values},
                  .mass = s->weighted ? &ONE : NULL,
                  .log_base = has_log_base(s->o) ? &ONE : NULL};
}

/* What stands for the arrays and the file of rows where constructors run dry: never written. */
typedef struct stand_in {
    double one;
    vem_i_mapping file;
    vem_data data;
} stand_in;

/* And the same as rows to be put in order. */
static vem_i_points points_of(const sizes *s, int spill, stand_in *blank)
{
    const vem_view view = view_of(s);
    return (vem_i_points){.view = view,
                          .data = s->led ? NULL : &blank->data,
                          .spill = spill ? &blank->file : NULL,
                          .mass = view.mass ? &blank->one : NULL,
                          .log_base = view.log_base ? &blank->one : NULL};
}

/* The same for a loop of this family. */
static vem_view view_for(const sizes *s, const vem_i_family *family)
{
    vem_view view = s->cells ? *vem_i_cells_view(s->cells, family->needs) : view_of(s);
    if (s->cells)
        view.mass = &ONE;
    return view;
}

static vem_i_shape shape_of(const sizes *s)
{
    return vem_i_shape_of(vem_i_family_of(s->o->family), s->clusters, s->d);
}

static uint64_t labels_bytes(const vem_i_run *run, int64_t items)
{
    uint64_t bytes;
    vem_i_run dry = vem_i_run_dry(run, &bytes);
    int32_t *none;
    vem_i_first_held_new(&dry, items, &none);
    return bytes;
}

/* What an attempt has beside its loop. */
static uint64_t attempt_bytes(const sizes *s)
{
    return s->model + labels_bytes(s->run, s->n);
}

/* The constructors of the loop, run dry; and what it takes when a cluster goes far (em/steady.h). */
static uint64_t loop_bytes(const sizes *s, const vem_i_stage *stage,
                           const vem_i_looks *looks, int grows)
{
    const vem_options *o = &stage->options;
    const int descends = stage->cells == VEM_I_CELLS_DESCEND;
    uint64_t bytes;
    vem_i_run dry = vem_i_run_dry(s->run, &bytes);
    dry.deadline = o->time == VEM_AUTO ? 0 : 1;
    vem_view view = view_for(s, vem_i_family_of(o->family));
    view.spilled = s->spill && !s->cells;
    vem_i_em em = {.run = &dry,
                   .options = o,
                   .view = &view,
                   .priced = stage->priced,
                   .grows = grows,
                   .divisible.cells = descends ? NULL : s->cells};
    vem_i_last_step *last = NULL;
    vem_i_descent *descent = NULL;
    vem_status status =
        vem_i_model_blank(&dry,
                          vem_i_shape_of(vem_i_family_of(o->family), s->clusters, s->d),
                          &em.model);
    bytes = 0; /* the model is the attempt's */
    if (status == VEM_OK)
        status = vem_i_em_new(&em, &looks->search);
    if (status == VEM_OK)
        status = vem_i_last_step_new(&em, &last);
    if (status == VEM_OK)
        status = vem_i_moves_new(&em, looks->swaps > 0);
    if (status == VEM_OK && s->cells && descends)
        status = vem_i_descent_new(&em, s->cells, 0, &descent);
    if (status == VEM_OK)
        status = vem_i_estep_start(em.estep, &em.pairs);
    vem_i_steady_room room = {0};
    if (status == VEM_OK)
        vem_i_steady_room_new(&dry, &em.scorer, s->clusters, &room);
    vem_i_steady_room_free(&room);
    vem_i_descent_free(descent);
    vem_i_last_step_free(last);
    vem_i_em_free(&em);
    vem_model_free(em.model);
    return bytes;
}

/* All loops, one after the other, whatever those before have found. */
static uint64_t loops_bytes(const sizes *s, const vem_i_programme *p)
{
    uint64_t most = 0;
    for (int i = 0; i < p->count; i++) {
        const vem_i_stage *stage = &p->stages[i];
        if (!stage->is.loop)
            continue;
        uint64_t bytes = 0;
        for (int f = 0; f < VEM_I_FOUNDS; f++)
            bytes = larger(bytes, loop_bytes(s, stage, &stage->looks[f], p->grows));
        /* K-means has a model of its own beside it. */
        most = larger(most, bytes + (stage->kind == VEM_I_STAGE_KMEANS ? s->model : 0));
    }
    return most;
}

static uint64_t check_bytes(const sizes *s)
{
    uint64_t bytes;
    vem_i_run dry = vem_i_run_dry(s->run, &bytes);
    const vem_view view = view_of(s);
    int64_t none;
    vem_i_count_distinct(&dry, &view, s->clusters, &none);
    return bytes;
}

static uint64_t subset_bytes(const sizes *s, int64_t size)
{
    uint64_t bytes;
    vem_i_run dry = vem_i_run_dry(s->run, &bytes);
    const vem_view view = view_of(s);
    vem_i_points *none = NULL;
    const int even = !vem_i_family_of(s->o->family)->has_places;
    vem_i_subset_new(&dry, &view, size, even, 0, NULL, &none);
    vem_i_points_free(none);
    return bytes;
}

static uint64_t seed_bytes(const sizes *s)
{
    uint64_t bytes;
    vem_i_run dry = vem_i_run_dry(s->run, &bytes);
    const vem_view view = view_of(s);
    vem_i_seeds none = {0};
    vem_i_seeds_room(&dry, s->clusters, &none);
    vem_i_seed_for(&dry, &view, vem_i_family_of(s->o->family), (vem_seeding)s->o->seeding,
                   s->clusters, s->o->chain, 0, &none);
    return bytes;
}

/* Starts on a sample: its rows, the best so far, and an attempt; or the larger sample. */
static uint64_t starts_bytes(const sizes *s, const vem_i_programme *p)
{
    const vem_i_starts_plan *starts = &p->starts;
    const vem_i_starts_programmes each = vem_i_programmes_of_starts(p);
    const int drawn = (s->run->comm || starts->rows < s->n) && !s->cells;
    const vem_i_run alike = vem_i_comm_alike(s->run);
    sizes sample = *s;
    sample.run = &alike; /* all processes have it */
    sample.o = &each.fresh.options;
    sample.spill = 0;
    sample.n = sample.whole = starts->rows;
    sample.first = sample.halo = 0;
    sample.weighted = s->weighted || drawn;
    uint64_t bytes;
    vem_i_run dry = vem_i_run_dry(s->run, &bytes);
    vem_i_starts_room room;
    vem_i_starts_room_new(&dry, shape_of(s), sample.n, &room);
    vem_i_starts_room_free(&room);
    /* The best so far, and the run at hand, which begins from a model of its own. */
    bytes += 2 * attempt_bytes(&sample) +
             larger(check_bytes(s), larger(seed_bytes(&sample),
                                           s->model + loops_bytes(&sample, &each.fresh)));
    if (drawn)
        bytes += subset_bytes(s, sample.n);
    if (starts->larger == 0)
        return bytes;
    sample.n = sample.whole = starts->larger;
    return larger(bytes, 2 * attempt_bytes(&sample) + loops_bytes(&sample, &each.larger) +
                             subset_bytes(s, sample.n));
}

/* Rows in another order: what tells which they were, */
static uint64_t ordered_bytes(const sizes *s, const vem_i_programme *p)
{
    uint64_t bytes;
    vem_i_run dry = vem_i_run_dry(s->run, &bytes);
    stand_in blank = {0};
    vem_i_points points = points_of(s, 0, &blank);
    if (vem_i_programme_orders(p))
        vem_i_points_keep_order(&dry, &points);
    return bytes;
}

/* and with it what putting them there takes. */
static uint64_t order_bytes(const sizes *s, int spill)
{
    uint64_t bytes;
    vem_i_run dry = vem_i_run_dry(s->run, &bytes);
    stand_in blank = {0};
    vem_i_points points = points_of(s, spill, &blank);
    vem_i_order_rows(&dry, &points, s->clusters, NULL);
    return bytes;
}

/* A pass over the rows, run dry; of counts, before it, a look at every value. */
static uint64_t load_bytes(const sizes *s)
{
    uint64_t bytes;
    vem_i_run dry = vem_i_run_dry(s->run, &bytes);
    double one = ONE;
    const vem_data rows = {.weights = s->weighted ? &one : NULL,
                           .n = s->n,
                           .d = s->d,
                           .sparse = {.starts = s->sparse ? &NONE : NULL}};
    const vem_i_points_request request = {.precision = s->kernels->precision,
                                          .whiten = !s->sparse};
    vem_i_points_plan(&dry, &rows, &request);
    if (vem_i_support_of(vem_i_family_of(s->o->family)))
        vem_i_support_plan(&dry, s->n, s->d, s->row_values);
    return bytes;
}

/* Drawing a coreset, which is there while the fit's own copy of its rows is made. Weights would be
 * looked at. */
static uint64_t reduce_bytes(const vem_i_plan *plan, const vem_i_run *run)
{
    uint64_t bytes;
    vem_i_run dry = vem_i_run_dry(run, &bytes);
    const vem_data rows = {.type = plan->type, .n = plan->n, .d = plan->d};
    vem_i_reduction none;
    vem_i_reduce(&dry, &rows, &plan->programme.options, 1, NULL, &none);
    vem_i_reduction_free(&none);
    return bytes;
}

/* Labels that keep a number, run dry. */
static uint64_t cap_bytes(const sizes *s)
{
    uint64_t bytes;
    vem_i_run dry = vem_i_run_dry(s->run, &bytes);
    const vem_view view = view_of(s);
    vem_model *model = NULL;
    int64_t none;
    int kept;
    double energy;
    vem_status status = vem_i_model_blank(&dry, shape_of(s), &model);
    bytes = 0;
    if (status == VEM_OK)
        vem_i_cap_rounds(&dry, &view, NULL, vem_i_cap_of(s->o), model, NULL, &none, &kept,
                         &energy);
    vem_model_free(model);
    return bytes;
}

/* Of one stage, beside the rows and the labels. */
static uint64_t stage_bytes(const sizes *s, const vem_i_programme *p, int spill)
{
    const uint64_t ordered = ordered_bytes(s, p);
    uint64_t most = ordered + s->model + loops_bytes(s, p);
    if (vem_i_cap_of(s->o) > 0)
        most = larger(most, ordered + s->model + cap_bytes(s));
    for (int i = 0; i < p->count; i++)
        if (p->stages[i].kind == VEM_I_STAGE_STARTS)
            most = larger(most, starts_bytes(s, p));
        else if (p->stages[i].kind == VEM_I_STAGE_SEED)
            most = larger(most, seed_bytes(s));
    if (ordered) /* afterwards the labels are put back: a copy */
        most = larger(most, s->model + larger(order_bytes(s, spill),
                                              ordered + labels_bytes(s->run, s->n)));
    return most;
}

/* The same, with the loop along axes, where the rows are there too; and where they do not serve. */
static uint64_t led_bytes(const sizes *s, const vem_i_programme *p, int spill)
{
    const vem_i_stage *leading = vem_i_programme_find(p, VEM_I_STAGE_LEADING);
    const uint64_t whole = stage_bytes(s, p, spill);
    if (!leading)
        return whole;
    uint64_t made;
    vem_i_run dry = vem_i_run_dry(s->run, &made);
    vem_view view = view_of(s);
    vem_i_leading none;
    view.spilled = spill;
    vem_i_leading_new(&dry, &view, leading->axes, s->clusters, &none);
    uint64_t kept, basis;
    vem_i_run dry_kept = vem_i_run_dry(s->run, &kept),
              dry_basis = vem_i_run_dry(s->run, &basis);
    vem_i_leading_plan(&dry_kept, &view, leading->axes, 0);
    vem_i_leading_plan(&dry_basis, &view, leading->axes, 1);
    sizes along = *s;
    along.d = leading->axes;
    along.led = 1;
    along.stored = VEM_I_STORED_PLAIN;
    uint64_t lift;
    vem_i_run dry_lift = vem_i_run_dry(s->run, &lift);
    const vem_model narrow = {.clusters = s->clusters, .d = leading->axes};
    vem_model wide = {.clusters = s->clusters, .d = s->d};
    vem_i_leading_lift(&dry_lift, &none, s->kernels, &narrow, &wide);
    /* Lifted, the model is there twice. */
    const uint64_t lifted = 2 * s->model + basis + lift + order_bytes(s, spill);
    return larger(larger(whole, lifted),
                  larger(made, kept + stage_bytes(&along, p, spill)));
}

/* A tree over the rows and its cells, run dry; *cells is to be freed, and keeps the view. */
static uint64_t cells_bytes(const sizes *s, const vem_i_programme *p,
                            const vem_view *view, vem_i_cells **cells)
{
    uint64_t bytes;
    vem_i_run dry = vem_i_run_dry(s->run, &bytes);
    const vem_i_cells_request request = {.kind = vem_i_family_of(s->o->family)->needs,
                                         .most = p->items,
                                         .boxes = vem_i_descends(s->o),
                                         .times = s->o->restarts};
    vem_i_cells_new(&dry, view, &request, cells);
    return bytes;
}

/* The look at the gap, run dry. */
static uint64_t gap_bytes(const sizes *s)
{
    uint64_t bytes;
    vem_i_run dry = vem_i_run_dry(s->run, &bytes);
    vem_model *model = NULL;
    vem_i_gap none;
    vem_status status = vem_i_model_blank(&dry, shape_of(s), &model);
    bytes = 0;
    if (status == VEM_OK)
        vem_i_gap_of(&dry, s->cells, model, 0, 0, &none);
    vem_model_free(model);
    return bytes;
}

/* What stages see of them. */
static sizes sizes_of_cells(const sizes *rows, const vem_i_programme *p,
                            vem_i_cells *cells)
{
    sizes s = *rows;
    s.n = s.whole = p->items;
    s.kernels = s.run->ctx->kernels_double;
    s.weighted = 1;
    s.cells = cells;
    return s;
}

static uint64_t plan_stages(const vem_i_plan *plan, const vem_i_run *run)
{
    const vem_i_programme *p = &plan->programme;
    const uint64_t reducing = reduce_bytes(plan, run);
    const vem_i_run alike = vem_i_comm_alike(run);
    run = p->reduced ? &alike : run; /* all processes have the coreset */
    const vem_options *o = &p->options;
    const vem_precision precision = (vem_precision)o->precision;
    sizes s = {.run = run,
               .o = o,
               .kernels = precision == VEM_SINGLE ? run->ctx->kernels_single
                                                  : run->ctx->kernels_double,
               .n = p->rows,
               .whole = p->rows,
               .d = plan->d,
               .clusters = (int32_t)o->clusters,
               .weighted = plan->weighted || p->reduced,
               .sparse = plan->sparse,
               .spill = plan->spill,
               .stored = vem_i_plan_stored(plan),
               .row_values = plan->row_values};
    if (p->use.whole && !p->reduced) {
        s.first = p->use.own.first;
        s.whole = p->use.whole;
        s.halo = p->use.own.halo;
    }
    const uint64_t labels = labels_bytes(run, p->items);
    vem_i_cells *cells = NULL;
    s.model = vem_i_model_bytes(run, vem_i_shape_of(vem_i_family_of(o->family),
                                                    s.clusters, s.d));
    uint64_t rows = (plan->spill || plan->sparse ? 0 : vem_i_plan_rows(plan)) +
                    (s.weighted ? (uint64_t)s.n * sizeof(double) : 0) +
                    (has_log_base(&p->options) ? (uint64_t)s.n * sizeof(double) : 0);
    rows += plan->beside;
    /* Labels and model of the best restart so far stay while another runs. */
    if (o->restarts > 1)
        rows += s.model + labels;
    uint64_t most = load_bytes(&s) + reducing;
    most = larger(most, check_bytes(&s));
    const vem_view view = view_of(&s);
    if (p->celled)
        rows += cells_bytes(&s, p, &view, &cells);
    const sizes staged = cells ? sizes_of_cells(&s, p, cells) : s;
    const uint64_t gap = cells ? gap_bytes(&staged) : 0;
    most = larger(most, labels + led_bytes(&staged, p, plan->spill) +
                            (o->gap == VEM_AUTO ? 0 : gap));
    most = larger(most, labels + s.model + gap);
    vem_i_cells_free(cells);
    most = larger(most, (p->reduced ? 0 : labels) + ordered_bytes(&s, p) + s.model +
                            vem_i_measure_bytes(run, o, plan->n, s.d, plan->type,
                                                p->reduced, plan->weighted));
    return rows + most;
}

uint64_t vem_i_plan_bytes(const vem_i_plan *plan)
{
    vem_i_run run = *plan->run;
    if (plan->programme.options.threads > 0)
        run.threads = (int)plan->programme.options.threads;
    return plan_stages(plan, &run);
}
