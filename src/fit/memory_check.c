/* Plans, and do they fit into what there is? Where it does not, the rows rest in a temporary file; where that
 * does not help, a sentence says what would. */
#include <stdio.h>

#include "base/machine.h"
#include "base/residence.h"
#include "data/points.h"
#include "fit/memory_plan.h"
#include "fit/reduce.h"

vem_i_plan vem_i_plan_of(vem_i_run *run, const vem_data *data, const vem_options *asked,
                         const vem_options *resolved, int warm)
{
    return (vem_i_plan){.run = run,
                        .programme = vem_i_programme_of(resolved, vem_i_is_ours(asked),
                                                        warm, data->n, data->d,
                                                        vem_i_data_row_values(data)),
                        .n = data->n,
                        .d = data->d,
                        .type = data->type,
                        .weighted = data->weights != NULL,
                        .sparse = data->sparse.starts != NULL,
                        .row_values = vem_i_data_row_values(data)};
}

vem_i_plan vem_i_plan_with(const vem_i_plan *plan, const vem_options *options)
{
    vem_i_plan other = *plan;
    other.programme = vem_i_programme_of(options, plan->programme.ours,
                                         plan->programme.from == VEM_I_FROM_MODEL,
                                         plan->n, plan->d, plan->row_values);
    vem_i_programme_use(&other.programme, &plan->programme.use);
    return other;
}

/* --memory; 0: not given. */
static uint64_t memory_of(const vem_i_plan *plan)
{
    const int64_t asked = plan->programme.options.memory;
    return asked == VEM_AUTO ? plan->run->ctx->memory : (uint64_t)asked;
}

/* What may be taken when so much is kept for mapped pages. */
static uint64_t allowed_beside(const vem_i_plan *plan, int mapped)
{
    vem_i_run run = *plan->run;
    run.limit = memory_of(plan);
    const uint64_t left = vem_i_residence_left(&run);
    const uint64_t window =
        mapped ? vem_i_residence_window(&run, run.limit ? run.limit : left) : 0;
    return left == 0 ? 0 : left > window ? left - window : 1;
}

uint64_t vem_i_plan_allowed(const vem_i_plan *plan, const vem_data *data)
{
    return allowed_beside(plan, plan->spill ||
                                    ((data->mapping || data->pieces) && memory_of(plan)));
}

vem_i_stored_type vem_i_plan_stored(const vem_i_plan *plan)
{
    /* Loads take part of each step, the more the less else there is: of 40 columns a third, of 128 a
     * tenth (bench/results/small_types.md). */
    enum { LEAST_COLUMNS = 96 };
    const vem_i_programme *p = &plan->programme;
    const vem_options *o = &p->options;
    if (plan->widens || plan->sparse || p->reduced || p->celled || o->standardize ||
        vem_i_normalize_of(o) || plan->d < LEAST_COLUMNS)
        return VEM_I_STORED_PLAIN;
    for (int i = 0; i < p->count; i++)
        if (!vem_i_family_of(p->stages[i].options.family)->dots)
            return VEM_I_STORED_PLAIN;
    return vem_i_stored_of(plan->type);
}

uint64_t vem_i_plan_rows(const vem_i_plan *plan)
{
    const vem_i_programme *p = &plan->programme;
    const vem_i_stored_type stored = vem_i_plan_stored(plan);
    return stored ? (uint64_t)p->rows * (uint64_t)plan->d * vem_i_stored_bytes(stored)
                  : vem_i_points_bytes(p->rows, plan->d,
                                       (vem_precision)p->options.precision);
}

/* Where rows are put in order, for the fit or for its seeding: the old order and the new. */
uint64_t vem_i_plan_spilled(const vem_i_plan *plan)
{
    const vem_i_programme *p = &plan->programme;
    const vem_i_stage *seed = vem_i_programme_find(p, VEM_I_STAGE_SEED);
    if (!plan->spill)
        return 0;
    const vem_i_stage *leading = vem_i_programme_find(p, VEM_I_STAGE_LEADING);
    const uint64_t along = leading
                               ? vem_i_points_bytes(p->rows, leading->axes,
                                                    (vem_precision)p->options.precision)
                               : 0;
    return (vem_i_plan_rows(plan) + along) *
           (vem_i_programme_orders(p) ||
                    (seed && seed->options.seeding == VEM_SEED_TWO_LEVEL)
                ? 2
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
 * 0: none. Sparse rows have no coresets. */
static int64_t coreset_that_fits(const vem_i_plan *plan, uint64_t allowed)
{
    vem_options o = plan->programme.options;
    const int64_t least = 8 * o.clusters;
    if (plan->sparse)
        return 0;
    for (o.coreset = 1; o.coreset <= plan->programme.rows / 4;)
        o.coreset *= 2;
    for (; o.coreset >= least; o.coreset /= 2) {
        const vem_i_plan smaller = vem_i_plan_with(plan, &o);
        if (vem_i_plan_bytes(&smaller) <= allowed)
            return o.coreset;
    }
    return 0;
}

/* The most clusters, a part of those asked for, that fit; 0: none. */
static int64_t clusters_that_fit(const vem_i_plan *plan, uint64_t allowed)
{
    vem_options o = plan->programme.options;
    for (o.clusters = o.clusters * 3 / 4; o.clusters >= 2;
         o.clusters = o.clusters * 3 / 4) {
        const vem_i_plan smaller = vem_i_plan_with(plan, &o);
        if (vem_i_plan_bytes(&smaller) <= allowed)
            return o.clusters;
    }
    return 0;
}

static int single_fits(const vem_i_plan *plan, uint64_t allowed)
{
    vem_options o = plan->programme.options;
    if (o.precision != VEM_DOUBLE)
        return 0;
    o.precision = VEM_SINGLE;
    const vem_i_plan single = vem_i_plan_with(plan, &o);
    return vem_i_plan_bytes(&single) <= allowed;
}

/* Where the rest of --memory goes: to the program as it stands, and to pages of mapped files. */
static void say_shares(uint64_t memory, uint64_t allowed, char limit[64],
                       char shares[128])
{
    char whole[32], own[32], pages[32];
    const uint64_t resident = vem_i_resident_bytes();
    snprintf(limit, 64, "--memory %s leaves", vem_bytes_print((double)memory, whole));
    vem_bytes_print((double)resident, own);
    if (resident + allowed < memory)
        snprintf(shares, 128, " (the program itself takes %s, pages of files %s)", own,
                 vem_bytes_print((double)(memory - resident - allowed), pages));
    else
        snprintf(shares, 128, " (the program itself takes %s)", own);
}

/* What would fit, of what the verb has. */
static void say_smaller(const vem_i_plan *plan, uint64_t allowed, char *advice,
                        size_t room)
{
    const int whole = plan->clusters_by == NULL;
    const int64_t coreset = whole ? coreset_that_fits(plan, allowed) : 0;
    const int64_t clusters = whole ? 0 : clusters_that_fit(plan, allowed);
    const int single = whole && single_fits(plan, allowed);
    if (clusters)
        snprintf(advice, room, "%s %lld would fit", plan->clusters_by,
                 (long long)clusters);
    else if (!whole)
        snprintf(advice, room, "fewer rows or more memory would help");
    else if (single && coreset)
        snprintf(advice, room, "--precision single or --coreset %lld would fit",
                 (long long)coreset);
    else if (single)
        snprintf(advice, room, "--precision single would fit");
    else if (coreset)
        snprintf(advice, room, "--coreset %lld would fit", (long long)coreset);
    else
        snprintf(advice, room, "fewer clusters or more memory would help");
}

vem_status vem_i_plan_check(const vem_i_plan *plan, uint64_t allowed)
{
    const uint64_t bytes = vem_i_plan_bytes(plan);
    if (allowed == 0 || bytes <= allowed)
        return VEM_OK;
    char need[32], have[32], limit[64] = "the machine has", shares[128] = "", advice[160];
    if (memory_of(plan))
        say_shares(memory_of(plan), allowed, limit, shares);
    say_smaller(plan, allowed, advice, sizeof advice);
    return vem_i_fail(
        plan->run, VEM_NO_MEMORY,
        "%s would take about %s beside the input%s, but %s %s for it%s; %s.",
        plan->clusters_by ? "The fit of the groups" : "This fit",
        vem_bytes_print((double)bytes, need),
        plan->spill ? ", even with its rows in a temporary file" : "", limit,
        allowed < 1024 ? "nothing" : vem_bytes_print((double)allowed, have), shares,
        advice);
}
