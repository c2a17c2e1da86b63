/* What shared lists carry from one step to the next: cells and groups with their means, from
 * whose rounded values the next ones are made, and the nearest groups. Ranks, norms and the
 * order of the items follow from these and from what is held, to the same bits. */
#include <string.h>

#include "base/memory.h"
#include "search/groups.h"

/* Places in a list of `total`, from 0 on and never falling. */
static void record_starts(vem_i_record *r, const char *name, int32_t *starts,
                          int32_t count, int32_t total)
{
    vem_i_record_indices(r, name, starts, (size_t)count, 0, total);
    for (int32_t i = 1; r->reading && r->status == VEM_OK && i < count; i++)
        if (starts[i] < starts[i - 1])
            vem_i_record_refuse(r, name);
    if (r->status == VEM_OK && (starts[0] != 0 || starts[count - 1] != total))
        vem_i_record_refuse(r, name);
}

/* The list names every cluster once; the ranks follow. */
static void rank_members(vem_i_record *r, vem_i_hierarchy *h)
{
    memset(h->rank, -1, (size_t)h->clusters * sizeof *h->rank);
    for (int32_t i = 0; i < h->clusters; i++)
        h->rank[h->members[i]] = i;
    for (int32_t c = 0; c < h->clusters; c++)
        if (h->rank[c] < 0)
            vem_i_record_refuse(r, "members");
}

/* Do the places in the list of members say the same as the groups of the clusters? While
 * clusters wait to be sorted into others they do not, and are made from those before anyone
 * looks. */
static void check_places(vem_i_record *r, const vem_i_hierarchy *h)
{
    for (int32_t g = 0; r->status == VEM_OK && g < h->groups; g++)
        for (int32_t i = h->group_starts[g]; i < h->group_starts[g + 1]; i++)
            if (h->group_of[h->members[i]] != g)
                vem_i_record_refuse(r, "group_of");
    for (int32_t b = 0; r->status == VEM_OK && b <= h->cells; b++)
        if (h->cell_starts[b] != h->group_starts[h->cell_groups[b]])
            vem_i_record_refuse(r, "cell_starts");
}

/* The rows of the nearest groups, each of near_count. None is named twice in a row, so that
 * together they name no more clusters than there are, however these lie in groups. `seen`:
 * a mark per group. */
static void record_near(vem_i_record *r, vem_i_hierarchy *h, int32_t *seen)
{
    int64_t count = h->near_count;
    vem_i_record_count(r, "near_count", &count, 1,
                       h->groups < VEM_I_TOP_MAX ? h->groups : VEM_I_TOP_MAX);
    if (r->status == VEM_OK)
        h->near_count = (int32_t)count;
    for (int32_t g = 0; r->status == VEM_OK && g < h->groups; g++) {
        int32_t *near = h->near + (int64_t)g * VEM_I_TOP_MAX;
        vem_i_record_indices(r, "near", near, (size_t)count, -1, h->groups - 1);
        for (int64_t k = 0; r->reading && r->status == VEM_OK && k < count; k++) {
            if (near[k] < 0)
                continue;
            if (seen[near[k]] == g + 1)
                vem_i_record_refuse(r, "near");
            seen[near[k]] = g + 1;
        }
    }
}

static void record_lists(vem_i_record *r, vem_i_hierarchy *h)
{
    int32_t *seen = NULL;
    if (r->reading && r->status == VEM_OK)
        r->status = vem_i_take_zeroed(r->ctx, &seen, (size_t)h->groups, sizeof *seen);
    if (r->status == VEM_OK)
        record_near(r, h, seen);
    vem_i_free(seen);
}

void vem_i_hierarchy_record(vem_i_record *r, vem_i_hierarchy *h, int32_t clusters,
                            int sorted, int listed)
{
    int64_t cells = h->cells, groups = h->groups;
    vem_i_record_count(r, "cells", &cells, 0, h->most_cells);
    if (r->status != VEM_OK || cells == 0)
        return; /* nothing is built: the next step does */
    vem_i_record_count(r, "groups", &groups, 1, h->most_groups);
    if (r->status != VEM_OK)
        return;
    const size_t count = (size_t)clusters, element = h->kernels->element;
    h->clusters = clusters;
    h->cells = (int32_t)cells;
    h->groups = (int32_t)groups;
    vem_i_record_indices(r, "members", h->members, count, 0, clusters - 1);
    vem_i_record_indices(r, "cell_of", h->cell_of, count, 0, cells - 1);
    vem_i_record_indices(r, "group_of", h->group_of, count, 0, groups - 1);
    record_starts(r, "cell_starts", h->cell_starts, h->cells + 1, clusters);
    record_starts(r, "cell_groups", h->cell_groups, h->cells + 1, h->groups);
    record_starts(r, "group_starts", h->group_starts, h->groups + 1, clusters);
    vem_i_record_block(r, "cell_means", h->cell_means, (size_t)cells * (size_t)h->d,
                       element);
    vem_i_record_block(r, "group_means", h->group_means, (size_t)groups * (size_t)h->d,
                       element);
    if (r->reading && r->status == VEM_OK)
        rank_members(r, h);
    if (r->reading && r->status == VEM_OK && (sorted || h->per == 1))
        check_places(r, h);
    if (listed)
        record_lists(r, h);
    if (r->reading && r->status == VEM_OK)
        vem_i_hierarchy_settle(h);
}

void vem_i_groups_record(vem_i_record *r, vem_i_search *search, int32_t clusters,
                         const int32_t *held)
{
    vem_i_groups *g = (vem_i_groups *)search;
    vem_i_record_int(r, "sorted", &g->sorted, 0, 1);
    vem_i_record_int(r, "ordered", &g->ordered, 0, 1);
    vem_i_record_int(r, "listed", &g->listed, 0, 1);
    vem_i_hierarchy_record(r, &g->hierarchy, clusters, g->sorted, g->listed);
    if (r->reading && r->status == VEM_OK && g->hierarchy.cells > 0 && !g->sorted &&
        (g->ordered || g->listed))
        vem_i_record_refuse(r, "sorted"); /* what moves undoes all three */
    if (!r->reading || r->status != VEM_OK)
        return;
    if (g->hierarchy.cells == 0) {
        g->sorted = g->ordered = g->listed = 0;
        return;
    }
    if (g->ordered && held)
        vem_i_tour_sort(&g->tour, clusters, held, search->spec.held, g->hierarchy.rank);
}
