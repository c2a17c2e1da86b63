/* The memory behind the shared lists, and what happens between the steps. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "data/together.h"
#include "model/spread.h"
#include "search/groups.h"

static int32_t shortlist_for(int32_t clusters)
{
    return clusters < VEM_I_SHORTLIST ? clusters : VEM_I_SHORTLIST;
}

static vem_i_block_shape shape(const vem_i_search_spec *spec,
                               const vem_i_kernels *kernels)
{
    (void)kernels;
    const size_t tried = 2 * (size_t)spec->held + 1;
    return (vem_i_block_shape){.items = VEM_I_GROUP_ITEMS,
                               .packed = VEM_I_BLOCK,
                               .rows = (size_t)spec->held + 1,
                               .tile_rows = tried,
                               .trial_rows = tried};
}

static size_t list_scratch(const vem_i_search_spec *spec, int32_t d,
                           const vem_i_kernels *kernels, void *of, vem_i_room *list)
{
    vem_i_lister *l = of;
    const size_t element = kernels->element, index = sizeof(int32_t);
    const size_t rows = (size_t)spec->held + 1, clusters = (size_t)spec->capacity;
    const size_t probe = (size_t)spec->probe;
    const vem_i_room arrays[] = {
        {&l->before, VEM_I_GROUP_ITEMS, (size_t)spec->held * index, 0},
        {&l->list, clusters, index, 0},
        {&l->costs, VEM_I_BLOCK, rows * element, 0},
        {&l->index, VEM_I_BLOCK, rows * index, 0},
        {&l->tile, VEM_I_BLOCK, VEM_I_TILE * element, 0},
        {&l->bucket_costs, VEM_I_BLOCK, probe * element, 0},
        {&l->bucket_index, VEM_I_BLOCK, probe * index, 0},
        {&l->buckets, VEM_I_GROUP_ITEMS, probe * index, 0},
        {&l->near_means, VEM_I_NEAR_BUCKETS, (size_t)d * element, 0},
        {&l->near_norms, VEM_I_NEAR_BUCKETS, element, 0},
        {&l->starts, clusters + 1, index, 0},
        {&l->chosen, VEM_I_GROUP_ITEMS, index, 0},
        {&l->items, VEM_I_BLOCK, sizeof(uint32_t), 0},
        {&l->ranked, VEM_I_SHORTLIST, index, 0},
        {&l->moves, VEM_I_SHORTLIST, 2 * sizeof *l->moves, 0},
        {&l->steps, VEM_I_GROUP_ITEMS, index, 0},
        {&l->needed, VEM_I_GROUP_ITEMS, sizeof *l->needed, 0},
        {&l->norms, VEM_I_GROUP_ITEMS, element, 0},
        {&l->best, VEM_I_GROUP_ITEMS, 2 * element, 0},
        {&l->best_index, VEM_I_GROUP_ITEMS, 2 * index, 0},
        {&l->far, VEM_I_GROUP_ITEMS, index, 0},
        {&l->far_items, VEM_I_GROUP_ITEMS, sizeof(uint32_t), 0},
    };
    memcpy(list, arrays, sizeof arrays);
    return VEM_I_COUNT(arrays);
}

/* Rows of a cluster fill whole panels, which takes so many more of them, and lists are made
 * for each cluster, at so many operations a pair. Buckets are looked at now and then, by some
 * of the rows. */
static double work(const vem_i_search_spec *spec, double n, double pair)
{
    static const double FILL = 16, LISTED = 24;
    const double c = spec->clusters;
    return (n + FILL * c) * ((double)spec->reach + sqrt(c)) * (1 + LISTED / pair);
}

static vem_status create(vem_i_search *search)
{
    vem_i_groups *g = (vem_i_groups *)search;
    const vem_i_scorer *scorer = search->scorer;
    const int32_t clusters = search->spec.capacity;
    vem_i_run *run = search->run;
    if (search->view->n > UINT32_MAX && !run->counted)
        return vem_i_fail(
            run, VEM_UNSUPPORTED,
            "--search groups takes 4294967295 rows at most, but there are %lld.",
            (long long)search->view->n);
    search->shard = VEM_I_GROUP_ITEMS;
    search->tried = search->spec.reach;
    vem_status status = vem_i_hierarchy_new(run, scorer->kernels, clusters, scorer->d,
                                            vem_i_group_size(clusters), &g->hierarchy);
    if (status == VEM_OK)
        status = vem_i_tour_new(run, vem_i_view_own(search->view), clusters, &g->tour);
    if (status == VEM_OK && search->view->halo > 0)
        status = vem_i_tour_of(run, g->tour.n, search->view->halo, clusters, &g->halo);
    if (status == VEM_OK)
        status = vem_i_bounds_new(search, &g->hierarchy, &g->bounds);
    for (int i = 0; status == VEM_OK && i < run->threads; i++) {
        vem_i_lister *l = search->blocks[i].scratch;
        l->place = -1;
        status = vem_i_scorer_new(run, scorer->kernels,
                                  vem_i_shape_of(scorer->family, shortlist_for(clusters),
                                                 scorer->d),
                                  &l->some);
        if (status == VEM_OK && search->view->spread_kind != VEM_I_SPREAD_NONE)
            status = vem_i_scorer_take_spread(run, &l->some);
    }
    return status;
}

static void release(vem_i_search *search)
{
    vem_i_groups *g = (vem_i_groups *)search;
    for (int i = 0; search->blocks && i < search->run->threads; i++)
        if (search->blocks[i].scratch)
            vem_i_scorer_free(&((vem_i_lister *)search->blocks[i].scratch)->some);
    vem_i_hierarchy_free(&g->hierarchy);
    vem_i_tour_free(&g->tour);
    vem_i_tour_free(&g->halo);
    vem_i_bounds_free(&g->bounds);
}

static void sort_hierarchy(vem_i_groups *g)
{
    if (!g->sorted)
        vem_i_hierarchy_sort(&g->hierarchy);
    g->sorted = 1;
}

/* Of the items there are now. */
static void sort_tour(vem_i_groups *g, const int32_t *held, int32_t clusters)
{
    const int32_t width = g->search.spec.held, *rank = g->hierarchy.rank;
    g->tour.n = vem_i_view_own(g->search.view);
    vem_i_tour_sort(&g->tour, clusters, held, width, rank);
    g->tour.halo = g->halo.n > 0 ? &g->halo : NULL;
    if (g->tour.halo)
        vem_i_tour_sort(&g->halo, clusters, held, width, rank);
}

static const vem_i_tour *order(vem_i_search *search, const int32_t *held)
{
    vem_i_groups *g = (vem_i_groups *)search;
    if (!g->ordered) {
        if (g->hierarchy.buckets > 0)
            sort_hierarchy(g);
        else /* before the first step: by their numbers */
            for (int32_t c = 0; c < search->scorer->clusters; c++)
                g->hierarchy.rank[c] = c;
        sort_tour(g, held, search->scorer->clusters);
    }
    g->ordered = 1;
    return &g->tour;
}

static int64_t prepare(vem_i_search *search, const vem_i_step_plan *plan, double average,
                       const int32_t *held)
{
    vem_i_groups *g = (vem_i_groups *)search;
    int64_t pairs = 0;
    for (int i = 0; i < search->run->threads; i++)
        ((vem_i_lister *)search->blocks[i].scratch)->place = -1;
    g->probe = plan->probe < search->spec.probe ? plan->probe : search->spec.probe;
    g->far = plan->only_far ? average : -INFINITY;
    if (!held && g->probe == 0)
        g->probe = 1; /* shared lists need to know where the items are */
    if (g->probe > 0 || g->hierarchy.buckets == 0) {
        pairs += vem_i_hierarchy_build(&g->hierarchy, search->scorer, 1);
        g->sorted = 1;
        g->ordered = g->listed = 0;
    }
    sort_hierarchy(g);
    g->relisted = g->probe == 0 && (plan->fresh || !g->listed);
    if (g->relisted) {
        pairs += vem_i_hierarchy_near(&g->hierarchy, search->scorer, search->spec.reach);
        g->listed = 1;
    }
    if (g->probe == 0)
        vem_i_bounds_begin(&g->bounds, search, &g->hierarchy);
    if (held)
        order(search, held);
    return pairs;
}

/* Items from `position` of a tour on, `most` at most, that are looked at together. */
static int32_t stretch(const vem_i_groups *g, const vem_i_tour *tour, int64_t position,
                       int64_t most, int32_t *place)
{
    most = most < VEM_I_GROUP_ITEMS ? most : VEM_I_GROUP_ITEMS;
    *place = 0;
    if (g->probe)
        return (int32_t)most;
    /* The last group that begins at or before the position and is not empty. */
    const vem_i_hierarchy *h = &g->hierarchy;
    int32_t low = 0, high = h->groups;
    while (high - low > 1) {
        int32_t middle = low + (high - low) / 2;
        if (tour->starts[h->group_starts[middle]] <= position)
            low = middle;
        else
            high = middle;
    }
    *place = low;
    int64_t rest = tour->starts[h->group_starts[low + 1]] - position;
    /* Items that hold nothing come last and share the last list. */
    return (int32_t)(rest > 0 && rest < most ? rest : most);
}

static const int32_t *next_block(vem_i_search *search, vem_i_block *block, int64_t i,
                                 int64_t end, const int32_t *held)
{
    const vem_i_groups *g = (const vem_i_groups *)search;
    vem_i_lister *l = block->scratch;
    const vem_i_tour *tour = i < g->tour.n ? &g->tour : &g->halo;
    const int64_t at = i - tour->first, width = search->spec.held;
    const int32_t n = stretch(g, tour, at, end - i, &l->group);
    vem_i_block_take(block, tour->items + at, n);
    if (!held)
        return NULL;
    for (int64_t p = 0; p < n; p++)
        for (int64_t r = 0; r < width; r++)
            l->before[p * width + r] = held[(int64_t)block->items.index[p] * width + r];
    return l->before;
}

static void settle(vem_i_search *search, int found)
{
    vem_i_groups *g = (vem_i_groups *)search;
    g->ordered = 0; /* scores alone may put another cluster first */
    if (found && g->probe == 0)
        vem_i_bounds_end(&g->bounds, &g->hierarchy);
}

/* Bounds that items were given while they were searched: items that come back from where they were kept
 * have those, too (em/estep_kept.c). */
static int found(const vem_i_search *search, vem_i_kept *list)
{
    const vem_i_groups *g = (const vem_i_groups *)search;
    return g->probe == 0 ? vem_i_bounds_list(&g->bounds, list) : 0;
}

static int found_again(vem_i_search *search, const vem_i_kept *kept)
{
    vem_i_kept list[VEM_I_SEARCH_FOUND];
    const int count = found(search, list);
    size_t size = 0;
    for (int i = 0; i < count; i++)
        size += list[i].count;
    if (kept->count != size)
        return 0;
    const char *from = kept->bytes;
    for (int i = 0; i < count; from += list[i++].count)
        memcpy(list[i].bytes, from, list[i].count);
    return 1;
}

static void renumber(vem_i_search *search, const int32_t *map, int32_t clusters)
{
    (void)map, (void)clusters;
    vem_i_groups *g = (vem_i_groups *)search;
    vem_i_hierarchy_forget(&g->hierarchy);
    vem_i_bounds_forget(&g->bounds);
}

static void place(vem_i_search *search, int32_t cluster, int32_t beside)
{
    vem_i_groups *g = (vem_i_groups *)search;
    vem_i_hierarchy_move(&g->hierarchy, cluster, beside);
    g->ordered = g->listed = g->sorted = 0;
}

static void record(vem_i_record *r, vem_i_search *search, int32_t clusters,
                   const int32_t *held)
{
    vem_i_groups *g = (vem_i_groups *)search;
    vem_i_record_int(r, "sorted", &g->sorted, 0, 1);
    vem_i_record_int(r, "ordered", &g->ordered, 0, 1);
    vem_i_record_int(r, "listed", &g->listed, 0, 1);
    vem_i_hierarchy_record(r, &g->hierarchy, clusters, g->sorted, g->listed);
    vem_i_bounds_record(r, &g->bounds, &g->hierarchy, search->view, clusters);
    if (r->reading && r->status == VEM_OK && g->hierarchy.buckets > 0 && !g->sorted &&
        (g->ordered || g->listed))
        vem_i_record_refuse(r, "sorted"); /* what moves undoes all three */
    if (!r->reading || r->status != VEM_OK)
        return;
    if (g->hierarchy.buckets == 0) {
        g->sorted = g->ordered = g->listed = 0;
        return;
    }
    if (g->ordered && held)
        sort_tour(g, held, g->hierarchy.clusters);
}

static void tell(const vem_options *o, char *text, size_t size)
{
    snprintf(
        text, size,
        "search groups, because %lld clusters are too many to try for every row: rows "
        "that lie together share a list of %lld, and look into the %lld nearest "
        "buckets of clusters now and then; --search closest tries all.",
        (long long)o->clusters, (long long)o->reach, (long long)o->probe);
}

const vem_i_search_type vem_i_search_type_groups = {.size = sizeof(vem_i_groups),
                                                    .ordered = 1,
                                                    .probes = 1,
                                                    .apart = 1,
                                                    .tell = tell,
                                                    .scratch_size = sizeof(vem_i_lister),
                                                    .scratch = list_scratch,
                                                    .shape = shape,
                                                    .work = work,
                                                    .create = create,
                                                    .free = release,
                                                    .prepare = prepare,
                                                    .next_block = next_block,
                                                    .find = vem_i_groups_find,
                                                    .settle = settle,
                                                    .found = found,
                                                    .found_again = found_again,
                                                    .renumber = renumber,
                                                    .place = place,
                                                    .order = order,
                                                    .record = record};
