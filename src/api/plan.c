/* Memory, planned. A fit holds its copy of the rows throughout, and goes through stages that
 * give back what they took:
 *
 *     load      scratch of the pass over the rows; with a coreset, drawing it
 *     check     the table of distinct rows
 *     seed      what the seeding needs; with few clusters, a sample and the courses on it
 *     order     the rows put where their clusters are (groups)
 *     loop      statistics, lists, scratch; up to three loops, one after the other
 *     measure   scratch of a scan; rows of a sample, or a chunk of all rows
 *
 * The peak is the rows and the greatest stage. Where it is too high, the rows rest in a
 * temporary file (base/spill.h), and the greatest stage counts beside a window for mapped
 * pages. Whoever looks for a smaller plan (fewer rows,
 * single precision) asks with other options; the refusal names those that would fit. */
#include "api/plan.h"

#include <math.h>
#include <stdio.h>

#include "api/chunks.h"
#include "api/course.h"
#include "api/effort.h"
#include "api/measure.h"
#include "api/reduce.h"
#include "api/starts.h"
#include "base/machine.h"
#include "base/residence.h"
#include "base/structs.h"
#include "data/points.h"
#include "data/subset.h"
#include "em/em.h"
#include "moves/moves.h"
#include "search/tour.h"
#include "seed/seed.h"

static uint64_t larger(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

/* What the stages look at. */
typedef struct sizes {
    const vem_ctx *ctx;
    const vem_options *o;
    const vem_i_kernels *kernels;
    int64_t n; /* items of the loop */
    int32_t d, clusters;
    int weighted;
    uint64_t model;
} sizes;

static uint64_t loop_bytes(const sizes *s, const vem_options *o)
{
    const vem_i_search search = vem_i_search_for(o, 0);
    uint64_t bytes =
        vem_i_em_bytes(s->ctx, o, &search, s->kernels, s->n, s->d, s->weighted);
    if (vem_i_swaps_in_loop(o, &search))
        bytes += vem_i_swaps_bytes(s->ctx, &search, (vem_family_kind)o->family, s->n,
                                   s->clusters, s->d, s->kernels->element);
    return bytes;
}

/* All loops of a course: what was asked, and k-means before and after it. `begins`: it does not
 * start from a model. */
static uint64_t course_bytes(const sizes *s, int ours, int begins)
{
    vem_options o = *s->o;
    uint64_t bytes = 0;
    if (begins && vem_i_wants_hard_start(&o, ours)) {
        const vem_options hard = vem_i_hard_start(&o);
        bytes = s->model + loop_bytes(s, &hard);
        if (vem_i_wants_listed_start(&o)) {
            const vem_options listed = vem_i_listed_start(&o, 0);
            bytes = larger(bytes, loop_bytes(s, &listed));
        }
        o.swaps = 0;
    }
    bytes = larger(bytes, loop_bytes(s, &o));
    if (o.finish == VEM_FINISH_HARD && o.held > 1) {
        const vem_options hard = vem_i_hard_finish(s->o);
        bytes = larger(bytes, loop_bytes(s, &hard));
    }
    return bytes;
}

static uint64_t check_bytes(int64_t clusters)
{
    uint64_t slots = 16;
    while (slots < 2 * (uint64_t)clusters)
        slots *= 2;
    return slots * sizeof(int64_t);
}

static uint64_t seed_bytes(const sizes *s)
{
    return (uint64_t)s->clusters * sizeof(int64_t) +
           vem_i_seed_bytes(s->ctx, (vem_seeding)s->o->seeding, s->kernels, s->n, s->d,
                            s->clusters, s->o->chain);
}

/* Starts on a sample: its rows, the best so far, and a course; or the larger sample. */
static uint64_t starts_bytes(const sizes *s, const vem_i_starts_plan *starts)
{
    const vem_options o = vem_i_starts_options(s->o);
    const int drawn = starts->rows < s->n;
    sizes sample = *s;
    sample.o = &o;
    sample.n = starts->rows;
    sample.weighted = s->weighted || drawn;
    /* Labels of the best and of the run, and running sums to draw from. */
    uint64_t bytes =
        2 * s->model + (uint64_t)sample.n * (2 * sizeof(int32_t) + sizeof(double)) +
        larger(check_bytes(s->clusters),
               larger(seed_bytes(&sample), s->model + course_bytes(&sample, 1, 1)));
    if (drawn)
        bytes += vem_i_subset_bytes(s->n, sample.n, s->d, s->kernels->element);
    vem_options last = o;
    last.swaps = 0;
    sample.o = &last;
    if (drawn) { /* the step over all rows */
        sample.n = s->n;
        sample.weighted = s->weighted;
        bytes = larger(bytes, 2 * s->model + (uint64_t)s->n * sizeof(int32_t) +
                                  loop_bytes(&sample, &last));
        sample.weighted = 1;
    }
    if (starts->larger == 0)
        return bytes;
    sample.n = starts->larger;
    return larger(bytes,
                  2 * s->model + (uint64_t)sample.n * 2 * sizeof(int32_t) +
                      loop_bytes(&sample, &last) +
                      vem_i_subset_bytes(s->n, sample.n, s->d, s->kernels->element));
}

static int orders_rows(const vem_i_plan *plan)
{
    return plan->ours && !plan->warm && plan->options.search == VEM_SEARCH_GROUPS;
}

/* The rows themselves stay: 4 n for their old places, and for those they go to where they
 * move to another file. */
static uint64_t order_bytes(const sizes *s, int spill)
{
    enum { STRIPES = 8 };
    const uint64_t stripes =
        (uint64_t)(s->ctx->threads < STRIPES ? s->ctx->threads : STRIPES);
    return vem_i_tour_bytes(s->n, s->clusters) + (uint64_t)s->clusters * sizeof(int32_t) +
           stripes * ((uint64_t)s->n / 8 + 8) +
           (spill ? (uint64_t)s->n * sizeof(uint32_t) : 0);
}

/* Scratch of the threads and sums of the shards (points.c). */
static uint64_t load_bytes(const vem_ctx *ctx, int64_t n, int32_t d)
{
    enum { ROWS = 64 };
    int64_t per_shard = (1 << 17) / d;
    per_shard = per_shard < ROWS ? ROWS : per_shard;
    return ((uint64_t)ctx->threads * ROWS * (uint64_t)d +
            (uint64_t)(n / per_shard + 1) * (uint64_t)(d + 4)) *
           sizeof(double);
}

static uint64_t plan_stages(const vem_i_plan *plan, const vem_ctx *ctx)
{
    const vem_options *o = &plan->options;
    const vem_precision precision = (vem_precision)o->precision;
    const int reduced = vem_i_reduces(o, plan->n);
    sizes s = {.ctx = ctx,
               .o = o,
               .kernels =
                   precision == VEM_SINGLE ? ctx->kernels_single : ctx->kernels_double,
               .n = reduced ? o->coreset : plan->n,
               .d = plan->d,
               .clusters = (int32_t)o->clusters,
               .weighted = plan->weighted || reduced};
    const uint64_t items = (uint64_t)s.n;
    s.model = ((uint64_t)s.clusters * (uint64_t)(s.d + 1) +
               vem_i_variance_count((vem_family_kind)o->family, s.clusters, s.d)) *
              sizeof(double);
    uint64_t rows = (plan->spill ? 0 : vem_i_points_bytes(s.n, s.d, precision)) +
                    (s.weighted ? items * sizeof(double) : 0);
    const uint64_t ordered = orders_rows(plan) ? items * sizeof(uint32_t) : 0;
    /* Labels and model of the best restart so far stay while another runs. */
    if (o->restarts > 1)
        rows += s.model + items * sizeof(int32_t);
    const uint64_t labels = items * sizeof(int32_t);
    uint64_t most = load_bytes(ctx, s.n, s.d) +
                    vem_i_reduce_bytes(ctx, o, plan->n, plan->d, plan->type);
    most = larger(most, check_bytes(s.clusters));
    const vem_i_starts_plan starts =
        vem_i_starts_of(o, plan->ours && !plan->warm, reduced, s.n, s.d);
    if (starts.runs >
        0) /* and all that follows, should the sample have missed something */
        most = larger(most, labels + starts_bytes(&s, &starts));
    if (!plan->warm)
        most = larger(most, labels + seed_bytes(&s));
    if (ordered)
        most = larger(most, labels + ordered + s.model + order_bytes(&s, plan->spill));
    most = larger(most,
                  labels + ordered + s.model + course_bytes(&s, plan->ours, !plan->warm));
    if (ordered)
        most = larger(most, 2 * labels + ordered + s.model);
    most = larger(most, (reduced ? 0 : labels) + ordered + s.model +
                            vem_i_measure_bytes(ctx, o, plan->n, s.d, plan->type, reduced,
                                                plan->weighted));
    return rows + most;
}

uint64_t vem_i_plan_bytes(const vem_i_plan *plan)
{
    vem_ctx *ctx = plan->ctx;
    const int threads = ctx->threads;
    if (plan->options.threads > 0)
        ctx->threads = (int)plan->options.threads;
    const uint64_t bytes = plan_stages(plan, ctx);
    ctx->threads = threads;
    return bytes;
}

vem_i_plan vem_i_plan_of(vem_ctx *ctx, const vem_data *data, const vem_options *asked,
                         const vem_options *resolved, int warm)
{
    return (vem_i_plan){.ctx = ctx,
                        .options = *resolved,
                        .n = data->n,
                        .d = data->d,
                        .type = data->type,
                        .weighted = data->weights != NULL,
                        .ours = asked->algorithm == VEM_AUTO,
                        .warm = warm};
}

/* ---- too much? ---- */

/* --memory; 0: not given. */
static uint64_t memory_of(const vem_i_plan *plan)
{
    return plan->options.memory == VEM_AUTO ? plan->ctx->memory
                                            : (uint64_t)plan->options.memory;
}

/* What may be taken when so much is kept for mapped pages. */
static uint64_t allowed_beside(const vem_i_plan *plan, int mapped)
{
    vem_ctx *ctx = plan->ctx;
    const uint64_t before = ctx->limit;
    ctx->limit = memory_of(plan);
    const uint64_t left = vem_i_residence_left(ctx);
    const uint64_t window =
        mapped ? vem_i_residence_window(ctx, ctx->limit ? ctx->limit : left) : 0;
    ctx->limit = before;
    return left == 0 ? 0 : left > window ? left - window : 1;
}

uint64_t vem_i_plan_allowed(const vem_i_plan *plan, const vem_data *data)
{
    return allowed_beside(plan, plan->spill || (data->mapping && memory_of(plan)));
}

/* Where rows are put in order, for the fit or for its seeding: the old order and the new. */
uint64_t vem_i_plan_spilled(const vem_i_plan *plan)
{
    const vem_options *o = &plan->options;
    const int64_t items = vem_i_reduces(o, plan->n) ? o->coreset : plan->n;
    if (!plan->spill)
        return 0;
    return vem_i_points_bytes(items, plan->d, (vem_precision)o->precision) *
           (orders_rows(plan) || (!plan->warm && o->seeding == VEM_SEED_TWO_LEVEL) ? 2
                                                                                   : 1);
}

vem_status vem_i_plan_settle(vem_i_plan *plan, const vem_data *data)
{
    plan->limit = memory_of(plan);
    const uint64_t allowed = vem_i_plan_allowed(plan, data);
    if (allowed == 0 || vem_i_plan_bytes(plan) <= allowed)
        return VEM_OK;
    plan->spill = 1;
    const uint64_t left = vem_i_plan_allowed(plan, data);
    if (!plan->limit) /* nobody asked for a limit, but there is one */
        plan->limit = left + vem_i_resident_bytes();
    return vem_i_plan_check(plan, left);
}

/* The largest coreset, a power of two of at least eight rows for each cluster, that fits;
 * 0: none. */
static int64_t coreset_that_fits(vem_i_plan plan, uint64_t allowed)
{
    const int64_t least = 8 * plan.options.clusters;
    const int64_t items =
        vem_i_reduces(&plan.options, plan.n) ? plan.options.coreset : plan.n;
    int64_t size = 1;
    while (size <= items / 4)
        size *= 2;
    for (; size >= least; size /= 2) {
        plan.options.coreset = size;
        if (vem_i_plan_bytes(&plan) <= allowed)
            return size;
    }
    return 0;
}

static int single_fits(vem_i_plan plan, uint64_t allowed)
{
    if (plan.options.precision != VEM_DOUBLE)
        return 0;
    plan.options.precision = VEM_SINGLE;
    return vem_i_plan_bytes(&plan) <= allowed;
}

vem_status vem_i_plan_check(const vem_i_plan *plan, uint64_t allowed)
{
    const uint64_t bytes = vem_i_plan_bytes(plan);
    if (allowed == 0 || bytes <= allowed)
        return VEM_OK;
    const int64_t coreset = coreset_that_fits(*plan, allowed);
    const int single = single_fits(*plan, allowed);
    char need[32], have[32], limit[64] = "the machine has", advice[160];
    if (memory_of(plan)) {
        char whole[32];
        snprintf(limit, sizeof limit, "--memory %s leaves",
                 vem_bytes_print((double)memory_of(plan), whole));
    }
    if (single && coreset)
        snprintf(advice, sizeof advice, "--precision single or --coreset %lld would fit",
                 (long long)coreset);
    else if (single)
        snprintf(advice, sizeof advice, "--precision single would fit");
    else if (coreset)
        snprintf(advice, sizeof advice, "--coreset %lld would fit", (long long)coreset);
    else
        snprintf(advice, sizeof advice, "fewer clusters or more memory would help");
    return vem_i_fail(
        plan->ctx, VEM_NO_MEMORY,
        "This fit would take about %s beside the input%s, but %s %s for it; "
        "%s.",
        vem_bytes_print((double)bytes, need),
        plan->spill ? ", even with its rows in a temporary file" : "", limit,
        vem_bytes_print((double)allowed, have), advice);
}

/* ---- the public verbs ---- */

vem_status vem_plan(vem_ctx *ctx, const vem_options *options, int64_t n, int32_t d,
                    vem_dtype type, uint64_t *bytes)
{
    VEM_I_NEED(ctx, ctx, "ctx");
    VEM_I_NEED(ctx, options, "options");
    VEM_I_NEED(ctx, bytes, "bytes");
    vem_i_plan plan = {
        .ctx = ctx, .n = n, .d = d, .type = type, .ours = options->algorithm == VEM_AUTO};
    vem_status status = vem_options_resolve(ctx, options, n, d, type, &plan.options);
    if (status == VEM_OK)
        *bytes = vem_i_plan_bytes(&plan);
    return status;
}

vem_status vem_plan_fit(vem_ctx *ctx, const vem_data *data, const vem_options *options,
                        const vem_model *start, vem_forecast *forecast)
{
    VEM_I_NEED(ctx, ctx, "ctx");
    VEM_I_NEED(ctx, data, "data");
    VEM_I_NEED(ctx, options, "options");
    VEM_I_NEED(ctx, forecast, "forecast");
    vem_i_begin(ctx);
    vem_options resolved;
    vem_i_effort effort;
    vem_status status =
        vem_i_struct_check(ctx, "vem_forecast", forecast, sizeof *forecast);
    if (status == VEM_OK)
        status = vem_i_fit_resolve(ctx, data, options, start, &resolved);
    if (status == VEM_OK)
        status = vem_i_effort_measure(ctx, data, options, start, &resolved, &effort);
    if (status != VEM_OK)
        return status;
    vem_i_plan plan = vem_i_plan_of(ctx, data, options, &resolved, start != NULL);
    if (vem_i_plan_settle(&plan, data) != VEM_OK)
        vem_i_begin(ctx); /* a forecast refuses nothing: `bytes` and `allowed` tell */
    const double seconds = effort.whole > 0 ? effort.whole : vem_i_plan_seconds(&plan);
    const vem_forecast found = {.size = sizeof found,
                                .bytes = vem_i_plan_bytes(&plan),
                                .spilled = vem_i_plan_spilled(&plan),
                                .allowed = vem_i_plan_allowed(&plan, data),
                                .seconds = effort.seconds > 0
                                               ? fmin(seconds, effort.seconds)
                                               : seconds};
    vem_i_struct_out(&found, forecast, sizeof found);
    return VEM_OK;
}
