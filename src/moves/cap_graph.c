/* What rows cost elsewhere, cluster by cluster as these are looked at; and the rows of
 * each. */
#include "moves/cap_graph.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "base/residence.h"

enum { ARRAYS = 14 };

static void list_arrays(vem_i_cap_graph *g, size_t n, size_t element, vem_i_room *list)
{
    const size_t clusters = (size_t)g->clusters, reach = (size_t)g->reach;
    const vem_i_room arrays[ARRAYS] = {
        {&g->masses, clusters, sizeof *g->masses, 1},
        {&g->first, clusters, sizeof *g->first, 0},
        {&g->after, n, sizeof *g->after, 0},
        {&g->prev, n, sizeof *g->prev, 0},
        {&g->known, clusters, 1, 1},
        {&g->near, clusters, reach * sizeof *g->near, 0},
        {&g->best, clusters, reach * VEM_I_CAP_LIST * sizeof *g->best, 0},
        {&g->least, clusters, reach * VEM_I_CAP_LIST * sizeof *g->least, 0},
        {&g->listed, clusters, reach, 0},
        {&g->beyond, clusters, reach * sizeof *g->beyond, 0},
        {&g->more, n, reach * sizeof *g->more, 0},
        {&g->index, VEM_I_BLOCK, (reach + 1) * sizeof *g->index, 0},
        {&g->costs, VEM_I_BLOCK, (reach + 1) * element, 0},
        {&g->rows, VEM_I_BLOCK, sizeof *g->rows, 0},
    };
    memcpy(list, arrays, sizeof arrays);
}

void vem_i_cap_graph_free(vem_i_cap_graph *g)
{
    vem_i_room list[ARRAYS];
    list_arrays(g, 0, 0, list);
    vem_i_free_rooms(list, ARRAYS);
    vem_i_free(g->distance);
    vem_i_scorer_free(&g->scorer);
}

/* ---- rings ---- */

static void enter(vem_i_cap_graph *g, uint32_t row, int32_t c)
{
    const uint32_t head = g->first[c];
    g->labels[row] = c;
    g->masses[c] += vem_i_view_mass(g->view, row);
    if (head == VEM_I_NO_ROW) {
        g->first[c] = g->after[row] = g->prev[row] = row;
        return;
    }
    const uint32_t last = g->prev[head];
    g->after[last] = g->prev[head] = row;
    g->prev[row] = last;
    g->after[row] = head;
}

static void leave(vem_i_cap_graph *g, uint32_t row)
{
    const int32_t c = g->labels[row];
    const uint32_t next = g->after[row], last = g->prev[row];
    g->masses[c] -= vem_i_view_mass(g->view, row);
    if (next == row) {
        g->first[c] = VEM_I_NO_ROW;
        g->masses[c] = 0; /* exactly */
        return;
    }
    g->after[last] = next;
    g->prev[next] = last;
    if (g->first[c] == row)
        g->first[c] = next;
}

/* The next row of the ring; VEM_I_NO_ROW: that was all. */
static uint32_t following(const vem_i_cap_graph *g, int32_t c, uint32_t row)
{
    return g->after[row] == g->first[c] ? VEM_I_NO_ROW : g->after[row];
}

/* ---- edges ---- */

/* The clusters whose means are nearest to that of c, the nearest first. */
static void find_near(vem_i_cap_graph *g, int32_t c)
{
    const int64_t d = g->model->d;
    const double *mean = g->model->means + c * d;
    int32_t *near = g->near + (int64_t)c * g->reach, count = 0;
    for (int32_t b = 0; b < g->clusters; b++) {
        const double *other = g->model->means + b * d;
        double sum = 0;
        if (b == c)
            continue;
        for (int64_t j = 0; j < d; j++)
            sum += (other[j] - mean[j]) * (other[j] - mean[j]);
        if (count == g->reach && !(sum < g->distance[count - 1]))
            continue;
        int32_t at = count < g->reach ? count++ : count - 1;
        for (; at > 0 && g->distance[at - 1] > sum; at--) {
            g->distance[at] = g->distance[at - 1];
            near[at] = near[at - 1];
        }
        g->distance[at] = sum;
        near[at] = b;
    }
}

static double cost_at(const vem_i_cap_graph *g, int64_t slot, int64_t p)
{
    return vem_i_value(g->view->kernels, g->costs, slot * VEM_I_BLOCK + p);
}

/* What n rows of c, in g->rows, cost more elsewhere. */
static void score(vem_i_cap_graph *g, int32_t c, int32_t n)
{
    const vem_i_items items = vem_i_items_at(g->view, 0, g->rows, n);
    for (int64_t slot = 0; slot <= g->reach; slot++) {
        const int32_t to = slot < g->reach ? g->near[(int64_t)c * g->reach + slot] : c;
        for (int32_t p = 0; p < n; p++)
            g->index[slot * VEM_I_BLOCK + p] = to;
    }
    vem_i_residence_check(g->run);
    g->scorer.family->score_pairs(&g->scorer, &items, g->reach + 1, g->index, g->costs,
                                  VEM_I_BLOCK);
    for (int64_t p = 0; p < n; p++)
        for (int64_t slot = 0; slot < g->reach; slot++)
            g->more[(int64_t)g->rows[p] * g->reach + slot] =
                (float)(0.5 * (cost_at(g, slot, p) - cost_at(g, g->reach, p)));
}

/* A row of the cluster may be one of those that go for least; among equals the lower
 * number is. What costs as much as rows that are not listed, or more, is not listed
 * either. */
static void offer(vem_i_cap_graph *g, int32_t c, int64_t slot, uint32_t row)
{
    const int64_t edge = (int64_t)c * g->reach + slot;
    uint32_t *rows = g->best + edge * VEM_I_CAP_LIST;
    float *least = g->least + edge * VEM_I_CAP_LIST;
    const float more = g->more[(int64_t)row * g->reach + slot];
    if (!(vem_i_view_mass(g->view, row) > 0)) /* it would change nothing */
        return;
    if (!(more < g->beyond[edge]))
        return;
    int at = g->listed[edge];
    if (at == VEM_I_CAP_LIST) {
        at--;
        if (more > least[at] || (more == least[at] && row > rows[at])) {
            g->beyond[edge] = more;
            return;
        }
        g->beyond[edge] = least[at];
    } else {
        g->listed[edge]++;
    }
    for (; at > 0 &&
           (more < least[at - 1] || (more == least[at - 1] && row < rows[at - 1]));
         at--) {
        least[at] = least[at - 1];
        rows[at] = rows[at - 1];
    }
    least[at] = more;
    rows[at] = row;
}

static void find_best(vem_i_cap_graph *g, int32_t c, int64_t slot)
{
    const int64_t edge = (int64_t)c * g->reach + slot;
    g->listed[edge] = 0;
    g->beyond[edge] = INFINITY;
    for (uint32_t row = g->first[c]; row != VEM_I_NO_ROW; row = following(g, c, row))
        offer(g, c, slot, row);
}

/* The row has left: the lists are without it, and made anew where nothing is left of
 * them. */
static void forget(vem_i_cap_graph *g, int32_t c, uint32_t row)
{
    for (int64_t slot = 0; slot < g->reach; slot++) {
        const int64_t edge = (int64_t)c * g->reach + slot;
        uint32_t *rows = g->best + edge * VEM_I_CAP_LIST;
        float *least = g->least + edge * VEM_I_CAP_LIST;
        int at = 0, count = g->listed[edge];
        while (at < count && rows[at] != row)
            at++;
        if (at == count)
            continue;
        count = --g->listed[edge];
        for (; at < count; at++) {
            rows[at] = rows[at + 1];
            least[at] = least[at + 1];
        }
        if (count == 0)
            find_best(g, c, slot);
    }
}

void vem_i_cap_look(vem_i_cap_graph *g, int32_t c)
{
    if (g->known[c])
        return;
    g->known[c] = 1;
    find_near(g, c);
    int32_t n = 0;
    for (uint32_t row = g->first[c]; row != VEM_I_NO_ROW; row = following(g, c, row)) {
        g->rows[n++] = row;
        if (n == VEM_I_BLOCK || g->after[row] == g->first[c]) {
            score(g, c, n);
            n = 0;
        }
    }
    for (int64_t slot = 0; slot < g->reach; slot++)
        find_best(g, c, slot);
}

void vem_i_cap_move(vem_i_cap_graph *g, uint32_t row, int32_t to)
{
    const int32_t from = g->labels[row];
    leave(g, row);
    enter(g, row, to);
    if (g->known[from])
        forget(g, from, row);
    if (!g->known[to])
        return;
    g->rows[0] = row;
    score(g, to, 1);
    for (int64_t slot = 0; slot < g->reach; slot++)
        offer(g, to, slot, row);
}

uint32_t vem_i_cap_far(vem_i_cap_graph *g, int32_t c, const unsigned char *open,
                       int32_t *to)
{
    uint32_t best = VEM_I_NO_ROW;
    double least = INFINITY;
    *to = -1;
    for (uint32_t row = g->first[c]; row != VEM_I_NO_ROW; row = following(g, c, row)) {
        const vem_i_items items = vem_i_items_at(g->view, 0, &row, 1);
        if (!(vem_i_view_mass(g->view, row) > 0))
            continue;
        int32_t pair[2] = {c, 0};
        for (int32_t b = 0; b < g->clusters; b++) {
            if (!open[b])
                continue;
            pair[1] = b;
            g->scorer.family->score_pairs(&g->scorer, &items, 2, pair, g->costs, 1);
            const double more = vem_i_value(g->view->kernels, g->costs, 1) -
                                vem_i_value(g->view->kernels, g->costs, 0);
            if (best == VEM_I_NO_ROW || more < least) {
                least = more;
                best = row;
                *to = b;
            }
        }
    }
    return best;
}

vem_status vem_i_cap_graph_new(vem_i_run *run, const vem_view *view,
                               const vem_model *model, int32_t *labels,
                               vem_i_cap_graph *graph)
{
    const int32_t others = model->clusters - 1;
    vem_i_cap_graph g = {.run = run,
                         .view = view,
                         .model = model,
                         .clusters = model->clusters,
                         .reach = others < VEM_I_CAP_ALL || others < VEM_I_CAP_NEAR
                                      ? others
                                      : VEM_I_CAP_NEAR,
                         .labels = labels};
    vem_i_room list[ARRAYS];
    list_arrays(&g, (size_t)view->n, view->kernels->element, list);
    vem_status status = vem_i_scorer_for(run, view, vem_i_model_shape(model), &g.scorer);
    if (status == VEM_OK)
        status = vem_i_take_rooms(run, list, ARRAYS);
    if (status == VEM_OK)
        status = vem_i_take(run, &g.distance, (size_t)g.reach, sizeof *g.distance);
    *graph = g;
    if (status != VEM_OK || run->counted)
        return status;
    vem_i_scorer_prepare(run, model, &graph->scorer);
    for (int32_t c = 0; c < g.clusters; c++)
        graph->first[c] = VEM_I_NO_ROW;
    for (int64_t i = 0; i < view->n; i++) {
        if (labels[i] < 0 || labels[i] >= g.clusters)
            return vem_i_fail(run, VEM_BAD_DATA,
                              "No cluster is near enough to be told from the others: "
                              "rescale the data.");
        enter(graph, (uint32_t)i, labels[i]);
    }
    return VEM_OK;
}
