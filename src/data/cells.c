#include "data/cells.h"

#include <string.h>

#include "base/memory.h"

/* ---- lists of cells ---- */

enum { ARRAYS = 5 };

static vem_status take_list(vem_i_run *run, int64_t capacity, int32_t d, int64_t values,
                            vem_i_cell_list *list)
{
    const size_t n = (size_t)capacity, value = sizeof(double);
    const vem_i_room rooms[ARRAYS] = {
        {&list->nodes, n, sizeof(int32_t), 1},
        {&list->means, n, (size_t)d * value, 1},
        {&list->mass, n, value, 1},
        {&list->spread, values ? n : 0, (size_t)values * value, 1},
        {&list->traces, n, value, 1},
    };
    list->capacity = capacity;
    return vem_i_take_rooms(run, rooms, ARRAYS);
}

static void free_list(vem_i_cell_list *list)
{
    vem_i_free(list->nodes);
    vem_i_free(list->means);
    vem_i_free(list->mass);
    vem_i_free(list->spread);
    vem_i_free(list->traces);
}

static double trace_of(const vem_i_cells *cells, const double *spread)
{
    double sum = 0;
    if (cells->kind <= VEM_I_SPREAD_TRACE)
        return cells->values ? spread[0] : 0;
    for (int64_t j = 0; j < cells->rows->d; j++)
        sum += spread[cells->kind == VEM_I_SPREAD_DIAG ? j : j * (j + 3) / 2];
    return sum;
}

/* Item i of the list is this node; -1: nothing, which weighs nothing. */
static void put(const vem_i_cells *cells, vem_i_cell_list *list, int64_t i, int32_t node)
{
    const vem_i_tree *tree = cells->tree;
    const int64_t d = cells->rows->d;
    list->nodes[i] = node;
    list->mass[i] = node < 0 ? 0 : tree->mass[node];
    if (node < 0)
        return;
    double *spread = list->spread + i * cells->values;
    const vem_i_kernels *kernels = cells->rows->kernels;
    const size_t element = kernels->element;
    vem_i_widen(kernels, (const char *)tree->means + (size_t)(node * tree->ld) * element,
                d, list->means + i * d);
    if (cells->values)
        vem_i_widen(kernels,
                    (const char *)tree->spreads +
                        (size_t)(node * tree->spread_ld) * element,
                    cells->values, spread);
    list->traces[i] = trace_of(cells, spread);
}

static void copy(const vem_i_cells *cells, const vem_i_cell_list *from, int64_t i,
                 vem_i_cell_list *to, int64_t k)
{
    const size_t d = (size_t)cells->rows->d, values = (size_t)cells->values;
    to->nodes[k] = from->nodes[i];
    to->mass[k] = from->mass[i];
    to->traces[k] = from->traces[i];
    memcpy(to->means + (size_t)k * d, from->means + (size_t)i * d, d * sizeof(double));
    if (values)
        memcpy(to->spread + (size_t)k * values, from->spread + (size_t)i * values,
               values * sizeof(double));
}

/* ---- as views ---- */

static vem_view view_of(const vem_i_cells *cells, const vem_i_cell_list *list, int traces)
{
    vem_view view = *cells->rows;
    view.kernels = cells->kernels;
    view.x = list->means;
    view.stored = VEM_I_STORED_PLAIN;
    view.n = view.global_n = list->capacity;
    view.first = 0;
    view.ld = view.d;
    view.spilled = 0;
    view.mass = list->mass;
    view.log_base = NULL; /* its mean is that of the rows */
    view.spread_kind = traces ? VEM_I_SPREAD_TRACE : cells->kind;
    view.spread = traces ? list->traces : list->spread;
    view.spread_ld = traces ? 1 : cells->values;
    return view;
}

static void count_items(vem_view views[2], int64_t n)
{
    for (int k = 0; k < 2; k++)
        views[k].n = views[k].used = n;
}

void vem_i_cells_stretch(vem_i_cells *cells, int stretched)
{
    count_items(cells->views, stretched ? cells->cut.capacity : cells->cut.count);
    count_items(cells->child_views,
                stretched ? cells->children.capacity : 2 * cells->cut.count);
}

const vem_view *vem_i_cells_view(const vem_i_cells *cells, vem_i_spread_kind kind)
{
    return &cells->views[kind != cells->kind];
}

const vem_view *vem_i_cells_child_view(const vem_i_cells *cells, vem_i_spread_kind kind)
{
    return &cells->child_views[kind != cells->kind];
}

/* ---- the cut ---- */

/* The listed nodes, those that can be with their children in their place; `to` has room. */
static int64_t list_below(const vem_i_tree *tree, const int32_t *from, int64_t count,
                          int32_t *to)
{
    int64_t n = 0;
    for (int64_t i = 0; i < count; i++) {
        const int32_t left = tree->left[from[i]];
        to[n++] = left < 0 ? from[i] : left;
        if (left >= 0)
            to[n++] = left + 1;
    }
    return n;
}

/* All nodes of one depth, or leaves above it; from left to right, so that cells that lie together
 * stand together. */
static vem_status find_first(vem_i_run *run, vem_i_cells *cells,
                             const vem_i_cells_request *request)
{
    int32_t *nodes = cells->first, *below = cells->children.nodes;
    vem_status status = VEM_OK;
    nodes[0] = 0;
    cells->firsts = 1;
    for (int32_t depth = 0; status == VEM_OK && depth < request->depth; depth++) {
        status = vem_i_tree_split(run, cells->tree, nodes, cells->firsts);
        const int64_t n = status == VEM_OK
                              ? list_below(cells->tree, nodes, cells->firsts, below)
                              : cells->firsts;
        if (n == cells->firsts || n > cells->cut.capacity)
            break;
        memcpy(nodes, below, (size_t)n * sizeof *nodes);
        cells->firsts = n;
    }
    return status;
}

void vem_i_cells_put_cut(vem_i_cells *cells, int64_t n)
{
    cells->cut.count = n;
    for (int64_t i = 0; i < n; i++)
        put(cells, &cells->cut, i, cells->cut.nodes[i]);
    vem_i_cells_stretch(cells, 0);
}

void vem_i_cells_reset(vem_i_cells *cells)
{
    memcpy(cells->cut.nodes, cells->first, (size_t)cells->firsts * sizeof(int32_t));
    vem_i_cells_put_cut(cells, cells->firsts);
}

vem_status vem_i_cells_look_below(vem_i_run *run, vem_i_cells *cells, int64_t *divisible)
{
    const int64_t n = cells->cut.count;
    const double start = vem_i_clock();
    vem_status status = vem_i_tree_split(run, cells->tree, cells->cut.nodes, n);
    cells->seconds += vem_i_clock() - start;
    *divisible = 0;
    for (int64_t i = 0; status == VEM_OK && i < n; i++) {
        const int32_t node = cells->cut.nodes[i], left = cells->tree->left[node];
        put(cells, &cells->children, 2 * i, left < 0 ? node : left);
        put(cells, &cells->children, 2 * i + 1, left < 0 ? -1 : left + 1);
        *divisible += left >= 0;
    }
    return status;
}

void vem_i_cells_divide(vem_i_cells *cells, int64_t cell)
{
    copy(cells, &cells->children, 2 * cell, &cells->cut, cell);
    copy(cells, &cells->children, 2 * cell + 1, &cells->cut, cells->cut.count++);
    vem_i_cells_stretch(cells, 0);
}

/* ---- making ---- */

/* Cells of the cut and their children, and all nodes above them; of every cut, as far as there are
 * rows for so many. What a node holds depends on its ancestors alone, so that a cut finds the same
 * cells whatever those before it have looked at. */
static int64_t nodes_for(const vem_i_cells_request *request, int64_t rows)
{
    const int64_t one = 4 * request->most, most = 2 * rows;
    const int64_t times = request->times > 1 ? request->times : 1;
    return one >= most || times > most / one ? (one > most ? one : most) : one * times;
}

static vem_status take(vem_i_run *run, vem_i_cells *cells,
                       const vem_i_cells_request *request)
{
    const int32_t d = cells->rows->d;
    const vem_i_tree_spec spec = {.kind = request->boxes ? VEM_I_TREE_BOXES
                                                         : VEM_I_TREE_PRINCIPAL,
                                  .spread = cells->kind,
                                  .nodes = nodes_for(request, cells->rows->n),
                                  .depth = VEM_I_CELLS_DEPTH};
    vem_status status = take_list(run, request->most, d, cells->values, &cells->cut);
    if (status == VEM_OK)
        status = take_list(run, 2 * request->most, d, cells->values, &cells->children);
    if (status == VEM_OK)
        status = vem_i_take(run, &cells->first, (size_t)request->most, sizeof(int32_t));
    if (status == VEM_OK)
        status = vem_i_tree_new(run, cells->rows, &spec, &cells->tree);
    return status;
}

vem_status vem_i_cells_new(vem_i_run *run, const vem_view *rows,
                           const vem_i_cells_request *request, vem_i_cells **cells)
{
    const double start = vem_i_clock();
    vem_i_cells *made;
    vem_status status = vem_i_take_structs(run, &made, 1, sizeof *made);
    if (status != VEM_OK)
        return status;
    made->kernels = run->ctx->kernels_double;
    made->rows = rows;
    made->kind = request->kind;
    made->values = vem_i_spread_values(request->kind, rows->d);
    status = take(run, made, request);
    for (int k = 0; status == VEM_OK && k < 2; k++) {
        made->views[k] = view_of(made, &made->cut, k);
        made->child_views[k] = view_of(made, &made->children, k);
    }
    if (status == VEM_OK && !run->counted)
        status = find_first(run, made, request);
    if (status == VEM_OK && !run->counted)
        vem_i_cells_reset(made);
    if (status != VEM_OK) {
        vem_i_cells_free(made);
        return status;
    }
    made->seconds = vem_i_clock() - start;
    *cells = made;
    return VEM_OK;
}

void vem_i_cells_free(vem_i_cells *cells)
{
    if (!cells)
        return;
    vem_i_tree_free(cells->tree);
    free_list(&cells->cut);
    free_list(&cells->children);
    vem_i_free(cells->first);
    vem_i_free(cells);
}
