/* From what was asked to what will be done.
 *
 * A preset is one row of the table below: a paper's algorithm, exactly. Whatever the
 * caller set beside it stands. Without a preset the sizes of the problem decide (and
 * for cells a look at the rows, cells_plan.c): not the threads, not the free memory, so that
 * a fit can be repeated anywhere. */
#include "fit/presets.h"

#include <math.h>

#include "data/data.h"
#include "model/family.h"
#include "search/boxes.h"
#include "seed/seed.h"

typedef struct preset {
    int family, prior, search;
    int64_t held; /* VEM_AUTO: all of them */
    double margin;
    int64_t reach;
    int seeding;
    double tolerance;
    int64_t max_steps;
    int64_t chain; /* 0: the default */
    int coreset;   /* fits a coreset */
    int cells;     /* fits cells */
    int64_t
        blocks; /* 0: one. 25: the best of those that Verbeek, Nunnink and Vlassis tried */
} preset;

static const preset presets[] = {
    [VEM_ALGORITHM_KMEANS] = {VEM_ISO_SHARED, VEM_PRIOR_FLAT, VEM_SEARCH_CLOSEST, 1, 0, 0,
                              VEM_SEED_PLUSPLUS, 0, 300, 0, 0, 0, 0},
    [VEM_ALGORITHM_LAZY_KMEANS] = {VEM_ISO_SHARED, VEM_PRIOR_FLAT, VEM_SEARCH_CLOSEST, 1,
                                   0.1, 0, VEM_SEED_PLUSPLUS, 0, 300, 0, 0, 0, 0},
    [VEM_ALGORITHM_KMEANS_C] = {VEM_ISO_SHARED, VEM_PRIOR_FLAT, VEM_SEARCH_CLOSEST, 2, 0,
                                0, VEM_SEED_PLUSPLUS, 1e-6, 300, 0, 0, 0, 0},
    [VEM_ALGORITHM_GMM] = {VEM_FULL, VEM_PRIOR_FREE, VEM_SEARCH_ALL, VEM_AUTO, 0, 0,
                           VEM_SEED_PLUSPLUS, 1e-6, 300, 0, 0, 0, 0},
    [VEM_ALGORITHM_VAR_KMEANS_X] = {VEM_ISO_SHARED, VEM_PRIOR_FLAT, VEM_SEARCH_EXACT, 1,
                                    0, 5, VEM_SEED_AFKMC2, 1e-4, 200, 0, 0, 0, 0},
    [VEM_ALGORITHM_VAR_KMEANS_S] = {VEM_ISO_SHARED, VEM_PRIOR_FLAT, VEM_SEARCH_ESTIMATED,
                                    1, 0, 5, VEM_SEED_AFKMC2, 1e-4, 200, 0, 0, 0, 0},
    [VEM_ALGORITHM_VAR_GMM_X] = {VEM_ISO_SHARED, VEM_PRIOR_FLAT, VEM_SEARCH_EXACT, 5, 0,
                                 5, VEM_SEED_AFKMC2, 1e-4, 200, 0, 0, 0, 0},
    [VEM_ALGORITHM_VAR_GMM_S] = {VEM_ISO_SHARED, VEM_PRIOR_FLAT, VEM_SEARCH_ESTIMATED, 5,
                                 0, 5, VEM_SEED_AFKMC2, 1e-4, 200, 0, 0, 0, 0},
    [VEM_ALGORITHM_LWCS_KMEANS] = {VEM_ISO_SHARED, VEM_PRIOR_FLAT, VEM_SEARCH_CLOSEST, 1,
                                   0, 0, VEM_SEED_AFKMC2, 1e-4, 200, 2, 1, 0, 0},
    [VEM_ALGORITHM_VC_GMM] = {VEM_ISO_SHARED, VEM_PRIOR_FLAT, VEM_SEARCH_ESTIMATED, 5, 0,
                              5, VEM_SEED_AFKMC2, 1e-4, 200, 2, 1, 0, 0},
    [VEM_ALGORITHM_KD_EM] = {VEM_FULL, VEM_PRIOR_FREE, VEM_SEARCH_ALL, VEM_AUTO, 0, 0,
                             VEM_SEED_PLUSPLUS, 1e-5, 300, 0, 0, 1, 0},
    [VEM_ALGORITHM_GREEDY] = {VEM_FULL, VEM_PRIOR_FREE, VEM_SEARCH_ALL, VEM_AUTO, 0, 0,
                              VEM_SEED_RANDOM, 1e-5, 300, 0, 0, 0, 0},
    [VEM_ALGORITHM_INCREMENTAL_EM] = {VEM_FULL, VEM_PRIOR_FREE, VEM_SEARCH_ALL, VEM_AUTO,
                                      0, 0, VEM_SEED_PLUSPLUS, 1e-5, 300, 0, 0, 0, 25},
    [VEM_ALGORITHM_MOORE_EM] = {VEM_FULL, VEM_PRIOR_FREE, VEM_SEARCH_ALL, VEM_AUTO, 0, 0,
                                VEM_SEED_PLUSPLUS, 1e-5, 300, 0, 0, 0, 0},
};

int vem_i_fits_cells(int algorithm)
{
    return presets[algorithm].cells || algorithm == VEM_ALGORITHM_MOORE_EM;
}

int vem_i_mixture_family(void)
{
    return presets[VEM_ALGORITHM_GREEDY].family;
}

int vem_i_columns_family(void)
{
    return VEM_DIAG;
}

int vem_i_round_family(void)
{
    return presets[VEM_ALGORITHM_KMEANS].family;
}

int vem_i_grows(const vem_options *o)
{
    return o->algorithm == VEM_ALGORITHM_GREEDY;
}

/* Sizes at which a start by exact D^2 sampling stops being cheap beside the fit itself.
 * Greedy k-means++ costs about ln C passes per center, the plain one a single pass. */
static const double GREEDY_WORK = 1e9, PLUSPLUS_WORK = 1e11;
/* Where swaps follow, the start hardly matters (docs/math/seeding.md), and from a few clusters
 * on two levels cost less. */
static const double GREEDY_WORK_SWAPS = 3e7;
static const int64_t FEW_CLUSTERS = 16;
/* The chains of AFK-MC2 cost C^2; beyond this many clusters two levels are cheaper. */
static const int64_t CHAIN_CLUSTERS = 8192;
/* Above this many clusters a soft fit holds only the most probable ones of each row. */
static const int64_t SOFT_ALL = 128, SOFT_HELD = 3;
/* Above this many clusters rows share candidate lists; below, trying all costs less than
 * keeping lists. */
static const int64_t SHARE_LISTS = 64;
/* Of counts, whose F is compared with itself: a change of 1e-4 nats where F is 100. */
static const double COUNTS_TOLERANCE = 1e-6;
/* Clusters that rows of a group share, buckets that a row probes, rounds of swaps: by
 * measurement (docs/math/groups.md). */
enum { GROUP_REACH = 64, PROBE = 2, SWAPS = 8 };

/* The family behind k-means: all clusters have one size, and are round. */
static int is_plain(int family)
{
    return vem_i_is_plain(vem_i_family_of(family));
}

/* Groups and swaps weigh squared distances. */
static int has_places(int family)
{
    return vem_i_family_of(family)->has_places;
}

/* By how often it goes through the rows. */
static int plain_seeding(int64_t clusters, double work)
{
    const double greedy = work * log((double)clusters + 1);
    return greedy <= GREEDY_WORK   ? VEM_SEED_PLUSPLUS_GREEDY
           : work <= PLUSPLUS_WORK ? VEM_SEED_PLUSPLUS
                                   : VEM_SEED_AFKMC2;
}

/* Without --algorithm. */
static preset choose(const vem_options *asked, int64_t n, int32_t d, int64_t row_values)
{
    preset p = {.family = VEM_ISO_SHARED, .tolerance = 1e-4, .max_steps = 300};
    int family = asked->family == VEM_AUTO ? VEM_ISO_SHARED : asked->family;
    const int plain = is_plain(family) || asked->balance != VEM_BALANCE_NONE;
    int hard = plain && asked->prior != VEM_PRIOR_FREE && asked->search != VEM_SEARCH_ALL;
    p.prior = plain ? VEM_PRIOR_FLAT : VEM_PRIOR_FREE;
    p.held = hard ? 1 : asked->clusters <= SOFT_ALL ? VEM_AUTO : SOFT_HELD;
    if (asked->search == VEM_SEARCH_ALL)
        p.held = VEM_AUTO;
    else if (asked->search == VEM_SEARCH_EXACT || asked->search == VEM_SEARCH_ESTIMATED)
        p.held = hard ? 1 : 3;
    p.search = p.held == VEM_AUTO              ? VEM_SEARCH_ALL
               : !has_places(family)           ? VEM_SEARCH_CLOSEST
               : asked->clusters > SHARE_LISTS ? VEM_SEARCH_GROUPS
                                               : VEM_SEARCH_CLOSEST;
    if (!vem_i_family_of(family)->gains_by_columns)
        p.tolerance = COUNTS_TOLERANCE;
    const double work =
        vem_i_seed_values(vem_i_family_of(family), n, d, row_values, asked->clusters) *
        (double)asked->clusters;
    int swaps = asked->search == VEM_AUTO && asked->swaps != 0 && !(asked->margin > 0) &&
                has_places(family);
    double greedy = work * log((double)asked->clusters + 1);
    /* Two levels are as good once there are swaps, and tell where each row begins. */
    if (p.search == VEM_SEARCH_GROUPS || asked->search == VEM_SEARCH_GROUPS ||
        (swaps && asked->clusters >= FEW_CLUSTERS && greedy > GREEDY_WORK_SWAPS))
        p.seeding = VEM_SEED_TWO_LEVEL;
    else
        p.seeding = work > PLUSPLUS_WORK && asked->clusters > CHAIN_CLUSTERS
                        ? VEM_SEED_TWO_LEVEL
                        : plain_seeding(asked->clusters, work);
    return p;
}

/* Rows of a coreset: without --coreset the power of two nearest to 16 for each cluster, which
 * is the size in three of the five experiments of HFL Table 1 (KDD, SUSY, SONG). */
static vem_status settle_coreset(vem_i_run *run, const preset *p, vem_options *out)
{
    if (out->coreset == VEM_AUTO && p->coreset)
        out->coreset = (int64_t)exp2(round(log2(16 * (double)out->clusters)));
    if (out->coreset != VEM_AUTO && out->coreset < out->clusters)
        return vem_i_fail(
            run, VEM_BAD_OPTION,
            "--coreset is %lld, but %lld clusters need a coreset of at least "
            "as many rows.",
            (long long)out->coreset, (long long)out->clusters);
    return VEM_OK;
}

/* Held clusters and search must say the same thing. */
static vem_status settle_held(vem_i_run *run, const vem_options *asked, const preset *p,
                              vem_options *out)
{
    int64_t clusters = out->clusters;
    if (asked->held != VEM_AUTO && asked->held > clusters)
        return vem_i_fail(run, VEM_BAD_OPTION,
                          "--held is %lld, but there are only %lld clusters to hold.",
                          (long long)asked->held, (long long)clusters);
    if (asked->search == VEM_SEARCH_ALL && asked->held != VEM_AUTO &&
        asked->held < clusters)
        return vem_i_fail(
            run, VEM_BAD_OPTION,
            "--held is %lld, but --search all holds all %lld clusters; use --search "
            "closest.",
            (long long)asked->held, (long long)clusters);
    if (asked->held == VEM_AUTO) {
        out->held =
            asked->search == VEM_SEARCH_ALL || p->held == VEM_AUTO ? clusters : p->held;
        if (out->held > clusters)
            out->held = clusters;
    }
    if (asked->search == VEM_AUTO && p->search == VEM_SEARCH_ALL && out->held < clusters)
        out->search = VEM_SEARCH_CLOSEST;
    return VEM_OK;
}

int vem_i_by_neighbors(const vem_options *o)
{
    return o->search == VEM_SEARCH_EXACT || o->search == VEM_SEARCH_ESTIMATED;
}

/* Reach and random candidates belong to the neighborhood searches. */
static vem_status settle_reach(vem_i_run *run, const vem_options *asked, const preset *p,
                               vem_options *out)
{
    int groups = out->search == VEM_SEARCH_GROUPS;
    if (asked->probe != VEM_AUTO && !groups)
        return vem_i_fail(run, VEM_BAD_OPTION,
                          "--probe needs --search groups; the search is %s.",
                          vem_choice_name("search", out->search));
    if (asked->explore > 0 && !vem_i_by_neighbors(out))
        return vem_i_fail(
            run, VEM_BAD_OPTION,
            "--explore needs --search exact or estimated; the search is %s.",
            vem_choice_name("search", out->search));
    if (asked->reach != VEM_AUTO && !vem_i_by_neighbors(out) && !groups)
        return vem_i_fail(
            run, VEM_BAD_OPTION,
            "--reach needs --search exact, estimated or groups; the search is %s.",
            vem_choice_name("search", out->search));
    if (groups) {
        if (out->reach == VEM_AUTO)
            out->reach = GROUP_REACH;
        if (out->probe == VEM_AUTO)
            out->probe = PROBE;
    }
    if (!vem_i_by_neighbors(out)) {
        out->explore = VEM_AUTO; /* not for this search */
        if (!groups)
            out->reach = VEM_AUTO;
        else if (out->reach > out->clusters)
            out->reach = out->clusters;
        return VEM_OK;
    }
    if (out->reach == VEM_AUTO)
        out->reach = p->reach > 0 ? p->reach : 5;
    if (out->explore == VEM_AUTO)
        out->explore = vem_i_is_ours(asked) ? 1 : 0;
    if (out->reach > out->clusters)
        out->reach = out->clusters; /* all of them */
    return VEM_OK;
}

/* A margin compares plain distances to one held cluster. */
static int takes_margin(const vem_options *o)
{
    return o->held == 1 && is_plain(o->family) && o->prior == VEM_PRIOR_FLAT &&
           vem_i_search_type_of((int)o->search)->takes_margin;
}

static vem_status check_margin(vem_i_run *run, const vem_options *out)
{
    if (out->margin > 0 && !takes_margin(out))
        return vem_i_fail(
            run, VEM_BAD_OPTION,
            "--margin is %g, but a margin needs --held 1, --family iso-shared, "
            "--prior flat and --search closest.",
            out->margin);
    return VEM_OK;
}

/* The least share of the data's variance that a cluster's can be told by, beside which F
 * would follow roundings: docs/math/numerics.md. One number for the whole fit, so that the
 * M-step stays a maximum under one constraint. */
static double least_floor(const vem_options *o)
{
    const int matrices = vem_i_takes_products(vem_i_family_of(o->family));
    return o->precision == VEM_SINGLE || matrices ? 0x1p-23 : 0x1p-72;
}

/* Do boxes pay? The labels are those of the closest search. Steps that swap cannot use them, and where memory is short
 * there are better uses for it. */
static int takes_boxes(const vem_options *o, int64_t n, int32_t d)
{
    enum { STEPS = 10 }; /* make up for the tree */
    return o->search == VEM_SEARCH_CLOSEST && o->held == 1 && !(o->margin > 0) &&
           o->swaps == 0 && o->cells <= 0 && o->memory == VEM_AUTO &&
           o->max_steps >= STEPS &&
           vem_i_boxes_pay(vem_i_family_of(o->family), n, d, o->clusters);
}

/* What is chosen before any sizes are settled. */
static void take_preset(const preset *p, vem_options *out)
{
    if (out->metric == VEM_METRIC_COSINE)
        out->normalize = 1; /* it means that, too */
    if (out->family == VEM_AUTO)
        out->family = p->family;
    if (out->prior == VEM_AUTO)
        out->prior = p->prior;
    if (out->search == VEM_AUTO)
        out->search = p->search;
    if (out->held == VEM_AUTO)
        out->held = p->held;
    if (out->seeding == VEM_AUTO)
        out->seeding = p->seeding;
    if (out->chain == VEM_AUTO)
        out->chain = p->chain > 0 ? p->chain : 20;
}

/* The loop: when it ends, what it does beside its steps, and in which numbers. chosen: neither an
 * algorithm nor a search was named. */
static void take_loop(const preset *p, int named, int chosen, vem_dtype type,
                      vem_options *out)
{
    if (out->tolerance == VEM_AUTO)
        out->tolerance = p->tolerance;
    if (out->swaps == VEM_AUTO && !(chosen && !has_places(out->family)))
        out->swaps =
            chosen && out->margin <= 0 ? SWAPS : 0; /* counts have starts alone */
    if (out->clusters == 1)
        out->swaps = 0; /* there is nothing to swap with */
    if (out->finish == VEM_AUTO)
        out->finish = VEM_FINISH_SOFT;
    if (out->max_steps == VEM_AUTO)
        out->max_steps = p->max_steps;
    if (out->empty == VEM_AUTO)
        out->empty = named ? VEM_EMPTY_KEEP : VEM_EMPTY_RESEED;
    if (out->precision == VEM_AUTO)
        out->precision =
            vem_i_dtype_is_single(type) && !vem_i_is_wide(vem_i_family_of(out->family))
                ? VEM_SINGLE
                : VEM_DOUBLE;
    out->floor = fmax(out->floor, least_floor(out));
}

/* What the search holds and tries, and which moves go with it. */
static vem_status settle_search(vem_i_run *run, const vem_options *asked, const preset *p,
                                vem_options *out)
{
    vem_status status = settle_held(run, asked, p, out);
    if (status == VEM_OK)
        status = settle_reach(run, asked, p, out);
    if (status != VEM_OK)
        return status;
    /* A preset's margin gives way when the caller asks for something it cannot go with. */
    if (out->margin == VEM_AUTO)
        out->margin = takes_margin(out) ? p->margin : 0;
    status = check_margin(run, out);
    if (status == VEM_OK)
        status = vem_i_check_moves(run, asked, out);
    return status;
}

/* What its items are, of n rows or of a sample of them. */
static vem_status settle_items(vem_i_run *run, const vem_options *asked, const preset *p,
                               int64_t n, int64_t reduced, int32_t d, vem_options *out)
{
    vem_status status = vem_i_settle_blocks(run, p->blocks, out);
    if (status == VEM_OK)
        status = vem_i_settle_descent(run, reduced, out);
    if (status == VEM_OK)
        status = p->cells && out->cells == VEM_AUTO
                     ? vem_i_settle_preset_cells(run, reduced, d, asked, out)
                     : vem_i_settle_cells(run, reduced, d, out);
    if (status == VEM_OK)
        status = vem_i_check_descent(run, out);
    if (status == VEM_OK)
        status = vem_i_check_balance(run, n, reduced < n, out);
    return status;
}

vem_status vem_i_options_resolve(vem_i_run *run, const vem_options *options, int64_t n,
                                 int32_t d, vem_dtype type, int64_t row_values,
                                 vem_options *resolved)
{
    vem_status status = vem_i_options_check(run, options);
    if (status == VEM_OK)
        status = vem_i_sizes_check(run, type, n, d);
    if (status != VEM_OK)
        return status;
    if (options->clusters == VEM_AUTO)
        return vem_i_fail(
            run, VEM_BAD_OPTION,
            "The number of clusters is missing: --clusters has no default.");
    int named = !vem_i_is_ours(options);
    int64_t reduced =
        options->coreset != VEM_AUTO && options->coreset < n ? options->coreset : n;
    preset p =
        named ? presets[options->algorithm] : choose(options, reduced, d, row_values);
    vem_options out = *options;
    /* Whoever names a search gets that and nothing beside it. */
    int chosen = !named && (out.search == VEM_AUTO || out.search == VEM_SEARCH_GROUPS);
    take_preset(&p, &out);
    if ((status = settle_coreset(run, &p, &out)) != VEM_OK)
        return status;
    take_loop(&p, named, chosen, type, &out);
    status = settle_search(run, options, &p, &out);
    if (status == VEM_OK)
        status = settle_items(run, options, &p, n, reduced, d, &out);
    if (status != VEM_OK)
        return status;
    if (options->search == VEM_AUTO && !named && takes_boxes(&out, reduced, d))
        out.search = VEM_SEARCH_BOXES;
    *resolved = out;
    return VEM_OK;
}

int vem_i_whole_search(const vem_options *o)
{
    return o->held == o->clusters ? VEM_SEARCH_ALL : VEM_SEARCH_CLOSEST;
}

int vem_i_holds_all(const vem_options *o)
{
    return o->search == VEM_SEARCH_ALL || (vem_i_search_is_whole((int)o->search) &&
                                           vem_i_search_is_long(o->clusters, o->held));
}

int vem_i_wants_hard_start(const vem_options *o, int ours)
{
    if (o->swaps <= 0 || o->max_steps < 2)
        return 0;
    /* Where the loop itself cannot swap; or where it is ours to choose, and k-means finds the
     * same for less: where all clusters have one shape. It knows nothing of others
     * (docs/math/swaps.md). */
    return vem_i_holds_all(o) || (ours && o->held > 1 && is_plain(o->family));
}

int vem_i_wants_starts(const vem_options *o)
{
    return (o->swaps > 0 || (o->swaps == VEM_AUTO && !has_places(o->family))) &&
           o->clusters > 1 && o->clusters <= VEM_I_FEW_CLUSTERS &&
           vem_i_search_is_whole(o->search);
}

int vem_i_wants_listed_start(const vem_options *o)
{
    enum { STEPS = 4 }; /* so that each of three loops has one */
    return o->swaps > 0 && vem_i_holds_all(o) && !is_plain(o->family) &&
           o->clusters > SOFT_HELD && o->max_steps >= STEPS;
}

/* The same with the search that is ours where rows hold few clusters. */
static void list_clusters(vem_options *o, int64_t held)
{
    o->blocks = 1;
    o->held = held;
    o->init_steps = 0;
    o->margin = 0;
    if (o->search != VEM_SEARCH_GROUPS) {
        int groups = o->clusters > SHARE_LISTS;
        o->search = groups ? VEM_SEARCH_GROUPS : VEM_SEARCH_CLOSEST;
        o->reach = groups ? GROUP_REACH : VEM_AUTO;
        o->probe = groups ? PROBE : VEM_AUTO;
        o->explore = VEM_AUTO;
    }
}

/* k-means with these options: everything else stays. */
static vem_options as_kmeans(const vem_options *resolved)
{
    vem_options o = *resolved;
    if (!vem_i_is_plain(vem_i_family_of(o.family)))
        o.family = VEM_ISO_SHARED;
    o.prior = VEM_PRIOR_FLAT;
    list_clusters(&o, 1);
    return o;
}

vem_options vem_i_hard_start(const vem_options *resolved)
{
    vem_options o = as_kmeans(resolved);
    o.empty = VEM_EMPTY_RESEED; /* no cluster may be lost before the fit begins */
    o.max_steps = resolved->max_steps / 2;
    return o;
}

vem_options vem_i_listed_start(const vem_options *resolved)
{
    vem_options o = *resolved;
    list_clusters(&o, SOFT_HELD);
    o.empty = VEM_EMPTY_RESEED;
    o.max_steps = resolved->max_steps / 2;
    return o;
}

vem_options vem_i_hard_finish(const vem_options *resolved)
{
    vem_options o = as_kmeans(resolved);
    o.swaps = 0;
    return o;
}
