/* Prices of a and b are the same for all rows that go from a to b. So which of them goes
 * for least does not depend on prices, and changes only as rows come and go. Those that
 * leave are found out when they would be the least; those that come are put in; and when
 * all that are known have left, the rows of a are looked at again. */
#include "moves/cap_edges.h"

#include <string.h>

#include "base/memory.h"

static const vem_i_cap_step BEYOND_ALL = {INFINITY, VEM_I_NO_ROW};
static const vem_i_cap_step BELOW_ALL = {-INFINITY, 0};

static int before(vem_i_cap_step x, vem_i_cap_step y)
{
    return x.more != y.more ? x.more < y.more : x.row < y.row;
}

static vem_i_cap_step step_of(const vem_i_cap_rows *r, uint32_t row, int32_t a, int32_t b)
{
    const float *cost = r->cost + (int64_t)row * r->width;
    return (vem_i_cap_step){(double)cost[b] - (double)cost[a], row};
}

/* Among the known ones, unless it need not be; the farthest makes room. */
static void put_in(vem_i_cap_edges *e, int64_t edge, vem_i_cap_step step)
{
    vem_i_cap_step *known = e->known + edge * VEM_I_CAP_KNOWN;
    int32_t at = 0, count = e->count[edge];
    if (!before(step, e->limit[edge]))
        return;
    while (at < count && before(step, known[at]))
        at++;
    if (at < count && known[at].row == step.row) /* it had left, and is back */
        return;
    if (count < VEM_I_CAP_KNOWN) {
        memmove(known + at + 1, known + at, (size_t)(count - at) * sizeof *known);
        known[at] = step;
        e->count[edge]++;
        return;
    }
    if (at == 0) {
        e->limit[edge] = step;
        return;
    }
    e->limit[edge] = known[0];
    memmove(known, known + 1, (size_t)(at - 1) * sizeof *known);
    known[at - 1] = step;
}

void vem_i_cap_edges_look(vem_i_cap_edges *e, int32_t a)
{
    const vem_i_cap_rows *r = e->rows;
    const int64_t base = (int64_t)a * r->clusters;
    int32_t *empty = e->empty + base, count = 0;
    for (int32_t b = 0; b < r->clusters; b++) {
        const int64_t edge = base + b;
        const vem_i_cap_step *known = e->known + edge * VEM_I_CAP_KNOWN;
        while (e->count[edge] > 0 && r->labels[known[e->count[edge] - 1].row] != a)
            e->count[edge]--;
        if (b == a || e->count[edge] > 0 || e->limit[edge].row == VEM_I_NO_ROW)
            continue;
        e->limit[edge] = BEYOND_ALL;
        empty[count++] = b;
    }
    if (count == 0)
        return;
    for (uint32_t row = r->first[a]; row != VEM_I_NO_ROW;
         row = vem_i_cap_next(r, a, row)) {
        if (!(vem_i_cap_mass(r, row) > 0)) /* a path of such rows leads nowhere */
            continue;
        e->looked[a] += count;
        for (int32_t k = 0; k < count; k++)
            put_in(e, base + empty[k], step_of(r, row, a, empty[k]));
    }
}

vem_i_cap_step vem_i_cap_edges_least(const vem_i_cap_edges *e, int32_t a, int32_t b)
{
    const int64_t edge = (int64_t)a * e->rows->clusters + b;
    const int32_t count = e->count[edge];
    return count > 0 ? e->known[edge * VEM_I_CAP_KNOWN + count - 1] : BEYOND_ALL;
}

void vem_i_cap_edges_came(vem_i_cap_edges *e, uint32_t row)
{
    const vem_i_cap_rows *r = e->rows;
    const int32_t a = r->labels[row];
    for (int32_t b = 0; b < r->clusters; b++)
        if (b != a)
            put_in(e, (int64_t)a * r->clusters + b, step_of(r, row, a, b));
}

void vem_i_cap_edges_clear(vem_i_cap_edges *e)
{
    const int64_t all = (int64_t)e->rows->clusters * e->rows->clusters;
    memset(e->count, 0, (size_t)all * sizeof *e->count);
    memset(e->looked, 0, (size_t)e->rows->clusters * sizeof *e->looked);
    for (int64_t edge = 0; edge < all; edge++)
        e->limit[edge] = BELOW_ALL;
}

/* ---- memory ---- */

enum { ARRAYS = 5 };

static void list_arrays(vem_i_cap_edges *e, vem_i_room *list)
{
    const size_t clusters = e->rows->all ? (size_t)e->rows->clusters : 0;
    const size_t all = clusters * clusters;
    const vem_i_room arrays[ARRAYS] = {
        {&e->known, all, VEM_I_CAP_KNOWN * sizeof *e->known, 0},
        {&e->limit, all, sizeof *e->limit, 0},
        {&e->count, all, sizeof *e->count, 0},
        {&e->empty, all, sizeof *e->empty, 0},
        {&e->looked, clusters, sizeof *e->looked, 0},
    };
    memcpy(list, arrays, sizeof arrays);
}

void vem_i_cap_edges_free(vem_i_cap_edges *e)
{
    vem_i_room list[ARRAYS];
    list_arrays(e, list);
    vem_i_free_rooms(list, ARRAYS);
}

vem_status vem_i_cap_edges_new(vem_i_cap_rows *rows, vem_i_cap_edges *e)
{
    vem_i_room list[ARRAYS];
    *e = (vem_i_cap_edges){.rows = rows};
    list_arrays(e, list);
    const vem_status status = vem_i_take_rooms(rows->run, list, ARRAYS);
    if (status == VEM_OK && rows->all && !rows->run->counted)
        vem_i_cap_edges_clear(e);
    return status;
}
