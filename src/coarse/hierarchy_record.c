/* What the two levels carry from one step to the next: buckets and groups with their means,
 * from whose rounded values the next ones are made, and the nearest groups. Ranks and norms
 * follow from these, to the same bits. Files call buckets cells, as the first ones did. */
#include <float.h>
#include <string.h>

#include "base/memory.h"
#include "coarse/hierarchy.h"

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
    for (int32_t b = 0; r->status == VEM_OK && b <= h->buckets; b++)
        if (h->bucket_starts[b] != h->group_starts[h->bucket_groups[b]])
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
        r->status = vem_i_take_zeroed(r->run, &seen, (size_t)h->groups, sizeof *seen);
    if (r->status == VEM_OK)
        record_near(r, h, seen);
    vem_i_free(seen);
}

void vem_i_hierarchy_record(vem_i_record *r, vem_i_hierarchy *h, int32_t clusters,
                            int sorted, int listed)
{
    int64_t buckets = h->buckets, groups = h->groups;
    vem_i_record_count(r, "cells", &buckets, 0, h->most_buckets);
    if (r->status != VEM_OK || buckets == 0)
        return; /* nothing is built: the next step does */
    vem_i_record_count(r, "groups", &groups, 1, h->most_groups);
    if (r->status != VEM_OK)
        return;
    const size_t count = (size_t)clusters, element = h->kernels->element;
    h->clusters = clusters;
    h->buckets = (int32_t)buckets;
    h->groups = (int32_t)groups;
    vem_i_record_indices(r, "members", h->members, count, 0, clusters - 1);
    vem_i_record_indices(r, "cell_of", h->bucket_of, count, 0, buckets - 1);
    vem_i_record_indices(r, "group_of", h->group_of, count, 0, groups - 1);
    record_starts(r, "cell_starts", h->bucket_starts, h->buckets + 1, clusters);
    record_starts(r, "cell_groups", h->bucket_groups, h->buckets + 1, h->groups);
    record_starts(r, "group_starts", h->group_starts, h->groups + 1, clusters);
    /* Nothing would be nearest to what is no number. */
    vem_i_record_elements(r, "cell_means", h->bucket_means,
                          (size_t)buckets * (size_t)h->d, element, -DBL_MAX, DBL_MAX);
    vem_i_record_elements(r, "group_means", h->group_means, (size_t)groups * (size_t)h->d,
                          element, -DBL_MAX, DBL_MAX);
    if (r->reading && r->status == VEM_OK)
        rank_members(r, h);
    if (r->reading && r->status == VEM_OK && (sorted || h->per == 1))
        check_places(r, h);
    if (listed)
        record_lists(r, h);
    if (r->reading && r->status == VEM_OK)
        vem_i_hierarchy_settle(h);
}
