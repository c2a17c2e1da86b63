#include "fit/programme.h"

#include "coarse/leading.h"
#include "model/family.h"

/* Where other loops come after one, it gets this share of the time that is left. */
static const double START_TIME = 0.5, FIT_TIME = 0.75, LEADING_TIME = 0.75;

/* And its tolerance is so many times the one asked for, where prices follow, or where steps in all
 * columns do: unless there are many rows, and clusters of many, which such steps alone bring on slowly. */
static const double BEFORE_PRICES = 10, BEFORE_WHOLE = 4;

enum { MANY_ROWS = 64 };

/* Clusters of a list after the loop along axes: rows have looked farther already. Of many rows one for
 * so many clusters, if these are more: the more clusters, the more are about as near. */
enum { SETTLE_REACH = 16, SETTLE_PART = 256 };

int vem_i_reduces(const vem_options *options, int64_t n)
{
    return options->coreset != VEM_AUTO && options->coreset < n;
}

/* Does it run on cells of its (so many) rows? */
static int is_celled(const vem_options *options, int64_t rows)
{
    return options->cells > 0 && options->cells < rows;
}

/* Is a loop with these options the one in which prices change? */
static int is_priced(const vem_options *o)
{
    return o->balance != VEM_BALANCE_NONE && o->prior == VEM_PRIOR_EVEN;
}

/* How a loop with these options looks for clusters. The price of a removal needs lists of what is
 * held. */
static vem_i_looks looks_of(const vem_options *o)
{
    vem_i_looks looks = {.search = vem_i_search_for(o, 0)};
    looks.swaps = looks.search.dense || o->swaps < 0 ? 0 : o->swaps;
    return looks;
}

static const vem_i_stage_nature natures[] = {
    [VEM_I_STAGE_STARTS] = {.loop = 0},
    [VEM_I_STAGE_SEED] = {.loop = 0},
    [VEM_I_STAGE_LEADING] = {.loop = 1, .number = VEM_I_LOOP_LEADING},
    [VEM_I_STAGE_KMEANS] = {.loop = 1, .whole = 1, .number = VEM_I_LOOP_KMEANS},
    [VEM_I_STAGE_LISTED] = {.loop = 1, .whole = 1, .number = VEM_I_LOOP_LISTED},
    [VEM_I_STAGE_FIT] = {.loop = 1, .whole = 1, .number = VEM_I_LOOP_FIT},
    [VEM_I_STAGE_FINISH] = {.loop = 1,
                            .whole = 1,
                            .after = 1,
                            .number = VEM_I_LOOP_FINISH},
    [VEM_I_STAGE_BALANCE] = {.loop = 1,
                             .whole = 1,
                             .after = 1,
                             .number = VEM_I_LOOP_BALANCE},
};

static vem_i_stage *add(vem_i_programme *p, vem_i_stage_kind kind,
                        const vem_options *options, double share)
{
    vem_i_stage *stage = &p->stages[p->count++];
    *stage = (vem_i_stage){.kind = kind,
                           .is = natures[kind],
                           .options = *options,
                           .priced = is_priced(options),
                           .share = share};
    const vem_i_looks looks = looks_of(options);
    for (int f = 0; f < VEM_I_FOUNDS; f++)
        stage->looks[f] = looks;
    return stage;
}

/* A loop before the one that was asked for. */
static void add_before(vem_i_programme *p, vem_i_stage_kind kind,
                       const vem_options *options)
{
    vem_i_stage *stage = add(p, kind, options, START_TIME);
    stage->halves = 1;
    stage->instead = p->starts.runs > 0;
    stage->optional = stage->when_crowded = kind == VEM_I_STAGE_LISTED;
    stage->swapped = p->options.swaps > 0;
}

static int64_t lesser(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

static int64_t settle_reach(const vem_i_programme *p)
{
    const int64_t part = p->options.clusters / SETTLE_PART;
    return vem_i_leading_many(p->items, p->options.clusters) && part > SETTLE_REACH
               ? part
               : SETTLE_REACH;
}

/* The loop that was asked for. Along axes rows have looked around and clusters have moved; the starts
 * have done the swaps, but where far rows crowded their sample, and no other loop looks again. */
static void add_fit(vem_i_programme *p, const vem_options *options, double share)
{
    const vem_i_stage *leading = vem_i_programme_find(p, VEM_I_STAGE_LEADING),
                      *listed = vem_i_programme_find(p, VEM_I_STAGE_LISTED);
    vem_i_stage *stage = add(p, VEM_I_STAGE_FIT, options, share);
    vem_options o = *options;
    stage->swapped = p->options.swaps > 0;
    if (p->celled)
        stage->cells = vem_i_descends(options) ? VEM_I_CELLS_DESCEND : VEM_I_CELLS_DIVIDE;
    if (p->starts.runs > 0) {
        o.swaps = 0;
        stage->looks[VEM_I_FOUND_STARTS] = looks_of(&o);
        o.swaps = !listed;
        stage->looks[VEM_I_FOUND_SOME] = looks_of(&o);
    }
    if (leading) {
        o.swaps = 0;
        o.reach = lesser(o.reach, settle_reach(p));
        stage->looks[VEM_I_FOUND_ALONG] = looks_of(&o);
    }
}

/* Along axes all but the last steps of a hard fit, whose clusters have one variance. Means of length 1
 * do not stay so. */
static void add_leading(vem_i_programme *p, int32_t d)
{
    const vem_options *o = &p->options;
    const int32_t most = vem_i_leading_most(p->items, d, o->clusters);
    if (p->ours && p->from == VEM_I_FROM_ROWS && !p->celled && p->starts.runs == 0 &&
        most > 0 && vem_i_is_plain(vem_i_family_of(o->family)) && o->held == 1 &&
        o->metric == VEM_METRIC_L2 && !p->grows && o->max_steps >= VEM_I_LEADING_STEPS &&
        o->init_steps == 0 && vem_i_search_type_of(o->search)->ordered) {
        vem_i_stage *stage = add(p, VEM_I_STAGE_LEADING, o, LEADING_TIME);
        stage->axes = most;
        stage->leaves = 1;
        stage->swapped = 1;
        if (!vem_i_leading_many(p->items, o->clusters) ||
            p->items / o->clusters < MANY_ROWS)
            stage->options.tolerance *= BEFORE_WHOLE;
    }
}

static void add_loops(vem_i_programme *p)
{
    const vem_options *o = &p->options;
    vem_options last = *o;
    const int finish = o->finish == VEM_FINISH_HARD && o->held > 1;
    const int hard = p->from == VEM_I_FROM_ROWS && vem_i_wants_hard_start(o, p->ours);
    if (hard) {
        const vem_options before = vem_i_hard_start(o);
        add_before(p, VEM_I_STAGE_KMEANS, &before);
    }
    if ((hard || p->from == VEM_I_FROM_ATTEMPT) && vem_i_wants_listed_start(o)) {
        const vem_options before = vem_i_listed_start(o);
        add_before(p, VEM_I_STAGE_LISTED, &before);
    }
    if (vem_i_programme_find(p, VEM_I_STAGE_KMEANS) ||
        vem_i_programme_find(p, VEM_I_STAGE_LISTED))
        last.swaps = 0; /* they have done that */
    const int balance = o->balance != VEM_BALANCE_NONE && o->clusters > 1;
    if (balance) /* prices go on from there, and rows will move anyway */
        last.tolerance *= BEFORE_PRICES;
    add_fit(p, &last, finish || balance ? FIT_TIME : 1);
    if (finish) {
        const vem_options after = vem_i_hard_finish(o);
        add(p, VEM_I_STAGE_FINISH, &after, 1)->optional = 1;
    }
    if (balance) {
        const vem_options after = vem_i_balanced(o);
        add(p, VEM_I_STAGE_BALANCE, &after, 1)->optional = 1;
    }
}

vem_i_programme vem_i_programme_of(const vem_options *resolved, int ours, int warm,
                                   int64_t n, int32_t d, int64_t row_values)
{
    const int reduced = vem_i_reduces(resolved, n);
    const vem_i_family *family = vem_i_family_of(resolved->family);
    vem_i_programme p = {.options = *resolved,
                         .ours = ours,
                         .scale_free = ours && family->gains_by_columns,
                         .grows = vem_i_grows(resolved),
                         .from = warm ? VEM_I_FROM_MODEL : VEM_I_FROM_ROWS,
                         .reduced = reduced,
                         .rows = reduced ? resolved->coreset : n};
    p.celled = is_celled(resolved, p.rows);
    p.items = p.celled ? resolved->cells : p.rows;
    p.starts = p.celled ? vem_i_starts_on_cells(resolved, ours && !warm, d)
                        : vem_i_starts_of(resolved, ours && !warm, reduced, p.items, d,
                                          row_values);
    if (p.starts.runs > 0) {
        const vem_options runs = vem_i_starts_options(resolved);
        add(&p, VEM_I_STAGE_STARTS, &runs, START_TIME);
    }
    if (!warm)
        add(&p, VEM_I_STAGE_SEED, resolved, 1);
    add_leading(&p, d);
    add_loops(&p);
    p.can_swap = looks_of(resolved).swaps > 0 ||
                 vem_i_programme_find(&p, VEM_I_STAGE_LISTED) != NULL;
    return p;
}

vem_i_programme vem_i_programme_on_sample(const vem_options *options, vem_i_from from,
                                          int64_t items)
{
    vem_i_programme p = {.options = *options,
                         .ours = 1,
                         .scale_free = vem_i_family_of(options->family)->gains_by_columns,
                         .from = from,
                         .rows = items,
                         .items = items};
    if (from == VEM_I_FROM_ROWS)
        add(&p, VEM_I_STAGE_SEED, options, 1);
    add_loops(&p);
    return p;
}

vem_i_starts_programmes vem_i_programmes_of_starts(const vem_i_programme *p)
{
    const vem_options *o = &vem_i_programme_find(p, VEM_I_STAGE_STARTS)->options;
    vem_options larger = *o;
    larger.swaps = 0; /* the runs before it have done that */
    return (vem_i_starts_programmes){
        .fresh = vem_i_programme_on_sample(o, VEM_I_FROM_ROWS, p->starts.rows),
        .moved = vem_i_programme_on_sample(o, VEM_I_FROM_ATTEMPT, p->starts.rows),
        .larger =
            vem_i_programme_on_sample(&larger, VEM_I_FROM_ATTEMPT, p->starts.larger)};
}

static void only_seed(vem_i_programme *p)
{
    p->options.restarts = 1;
    p->starts.runs = 0;
    p->count = 0;
    add(p, VEM_I_STAGE_SEED, &p->options, 1);
}

void vem_i_programme_use(vem_i_programme *p, const vem_i_use *use)
{
    p->use = *use;
    p->scale_free |= use->by_columns;
    if (use->only_seeds)
        only_seed(p);
    if (use->whole > 0 && !p->reduced) /* a coreset all processes have */
        p->rows = p->items = use->own.count;
}

const vem_i_stage *vem_i_programme_find(const vem_i_programme *p, vem_i_stage_kind kind)
{
    for (int i = 0; i < p->count; i++)
        if (p->stages[i].kind == kind)
            return &p->stages[i];
    return NULL;
}

int vem_i_programme_shuffles(const vem_i_programme *p)
{
    return p->options.blocks > 1 && !p->celled;
}

int vem_i_programme_orders(const vem_i_programme *p)
{
    if (vem_i_programme_shuffles(p))
        return 1;
    return p->ours && !p->celled && p->from == VEM_I_FROM_ROWS &&
           vem_i_search_type_of(p->options.search)->ordered;
}
