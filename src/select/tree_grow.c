/* Leaves, which are rows or groups of rows, and the tree that is grown of them. */
#include "select/tree_grow.h"

#include <string.h>

#include "base/memory.h"
#include "select/abc.h"
#include "select/linkage.h"

vem_status vem_i_tree_load(vem_i_growing *g)
{
    const vem_options *o = g->options;
    const vem_i_points_request request = {.precision = VEM_DOUBLE,
                                          .normalize = o->normalize,
                                          .standardize = o->standardize,
                                          .even = !o->standardize,
                                          .phase = "read"};
    vem_status status = vem_i_points_new(g->run, g->data, &request, &g->points);
    if (status == VEM_OK) {
        g->view = &g->points->view;
        status = vem_i_leaves_new(g->run, g->view, g->labels, g->groups, &g->leaves);
    }
    if (status == VEM_OK && g->leaves.count < 2)
        status = vem_i_fail(g->run, VEM_BAD_DATA,
                            "All rows are in one group: a tree needs at least 2 leaves.");
    if (status == VEM_OK)
        vem_i_data_rest(g->data);
    return status;
}

static vem_status link_points(vem_i_growing *g)
{
    const vem_view *view = g->view;
    const int64_t n = g->leaves.count;
    const double unit = view->whitened && view->scale ? view->scale[0] : 1;
    vem_i_leaf_points points = {
        .x = view->x, .n = n, .ld = view->ld, .d = view->d, .mass = view->mass};
    double *means = NULL, *mass = NULL;
    vem_status status = VEM_OK;
    if (g->groups) {
        const vem_i_room rooms[] = {
            {&means, (size_t)n * (size_t)view->d, sizeof *means, 0},
            {&mass, (size_t)n, sizeof *mass, 0},
        };
        status = vem_i_take_rooms(g->run, rooms, VEM_I_COUNT(rooms));
        for (int64_t i = 0; status == VEM_OK && mass && i < n; i++) {
            mass[i] = vem_i_leaf_mean(&g->leaves, i, means + i * view->d);
            status = vem_i_leaves_tell(g->run, &g->leaves, i);
        }
        points.x = means;
        points.ld = view->d;
        points.mass = mass;
    }
    if (status == VEM_OK)
        status = vem_i_linkage(g->run, g->asked.method, &points, unit, g->tree);
    vem_i_free(means);
    vem_i_free(mass);
    return status;
}

/* Which rows of the data are in the tree. */
static vem_status take_rows(vem_i_growing *g)
{
    const int64_t all = vem_data_rows_read(g->data);
    if (all == g->data->n)
        return VEM_OK;
    const vem_status status = vem_i_dendrogram_leave_out(g->run, all, g->tree);
    for (int64_t i = 0; status == VEM_OK && g->tree->row_of && i < g->data->n; i++)
        g->tree->row_of[i] = vem_data_row(g->data, i);
    return status;
}

/* The ids of the rows, in one block: pointers, then texts. */
static vem_status take_ids(vem_i_growing *g)
{
    const int64_t n = g->data->n;
    if (vem_data_ids(g->data) == 0)
        return VEM_OK;
    const char *name = vem_data_id_name(g->data, 0);
    if (name) {
        const size_t length = strlen(name) + 1;
        const vem_status named = vem_i_take(g->run, &g->tree->id_name, length, 1);
        if (named != VEM_OK)
            return named;
        if (g->tree->id_name)
            memcpy(g->tree->id_name, name, length);
    }
    const size_t pointers = (size_t)n * sizeof(char *);
    size_t bytes = pointers;
    for (int64_t i = 0; i < n; i++)
        bytes += strlen(vem_data_id(g->data, 0, vem_data_row(g->data, i))) + 1;
    const vem_status status = vem_i_take(g->run, &g->tree->ids, bytes, 1);
    if (status != VEM_OK || !g->tree->ids)
        return status;
    char *at = (char *)g->tree->ids + pointers;
    for (int64_t i = 0; i < n; i++) {
        g->tree->ids[i] = at;
        at = stpcpy(at, vem_data_id(g->data, 0, vem_data_row(g->data, i))) + 1;
    }
    return VEM_OK;
}

vem_status vem_i_tree_grow(vem_i_growing *g)
{
    vem_status status = vem_i_dendrogram_new(g->run, g->leaves.count, g->data->n,
                                             g->groups != 0, &g->tree);
    if (status == VEM_OK) {
        g->tree->about.method = g->asked.method;
        g->tree->about.d = g->data->d;
        g->tree->about.family =
            g->asked.method == VEM_DENDROGRAM_BAYES ? (int)g->family->kind : -1;
        g->tree->about.units = g->options->standardize ? 2
                               : g->options->normalize ? 3
                                                       : 1;
        status = g->asked.method == VEM_DENDROGRAM_BAYES
                     ? vem_i_abc(g->run, &g->leaves, g->family, &g->asked,
                                 (uint64_t)g->options->seed, g->tree)
                     : link_points(g);
    }
    if (status == VEM_OK)
        status = vem_i_dendrogram_settle(g->run, "The result", g->tree);
    if (status == VEM_OK)
        status = take_rows(g);
    return status == VEM_OK ? take_ids(g) : status;
}
