/* Are there as many distinct rows as clusters? One scan with a hash table of the distinct
 * rows seen so far; it stops at the number asked for, which on ordinary data is after a
 * few more rows than that. */
#include <string.h>

#include "base/memory.h"
#include "base/residence.h"
#include "data/points.h"
#include "data/together.h"

static uint64_t mix(uint64_t h)
{
    h ^= h >> 32;
    h *= UINT64_C(0x9E3779B97F4A7C15);
    return h ^ h >> 29;
}

/* Values that are 0 are the same whether they are there or not. */
static uint64_t hash_sparse(const vem_i_sparse *x, int64_t item)
{
    uint64_t h = 0;
    for (int64_t e = x->starts[item]; e < x->ends[item]; e++) {
        const double value = vem_i_sparse_value(x, e);
        uint64_t bits;
        memcpy(&bits, &value, sizeof bits);
        if (value != 0)
            h = mix(h ^ bits ^ mix((uint64_t)x->columns[e] + 1));
    }
    return mix(h);
}

static int same_sparse(const vem_i_sparse *x, int64_t a, int64_t b)
{
    int64_t e = x->starts[a], f = x->starts[b];
    const int64_t e_end = x->ends[a], f_end = x->ends[b];
    for (;; e++, f++) {
        while (e < e_end && vem_i_sparse_value(x, e) == 0)
            e++;
        while (f < f_end && vem_i_sparse_value(x, f) == 0)
            f++;
        if (e == e_end || f == f_end)
            return e == e_end && f == f_end;
        if (x->columns[e] != x->columns[f] ||
            vem_i_sparse_value(x, e) != vem_i_sparse_value(x, f))
            return 0;
    }
}

static uint64_t hash_row(const vem_view *view, int64_t item)
{
    if (vem_i_view_is_sparse(view))
        return hash_sparse(&view->sparse, item);
    uint64_t h = 0;
    for (int32_t j = 0; j < view->d; j++) {
        double value = vem_i_view_value(view, item, j) + 0.0; /* -0 and 0 are one value */
        uint64_t bits;
        memcpy(&bits, &value, sizeof bits);
        h = mix(h ^ bits) + (uint64_t)j;
    }
    return mix(h);
}

static int same_row(const vem_view *view, int64_t first, int64_t second)
{
    if (vem_i_view_is_sparse(view))
        return same_sparse(&view->sparse, first, second);
    for (int32_t j = 0; j < view->d; j++)
        if (vem_i_view_value(view, first, j) != vem_i_view_value(view, second, j))
            return 0;
    return 1;
}

/* How many of these items are distinct, counted no further than `enough`. */
static vem_status count_items(vem_i_run *run, const vem_view *view, int64_t n,
                              int64_t enough, int64_t *items, int64_t *distinct)
{
    size_t capacity = 16;
    while (capacity < 2 * (size_t)enough)
        capacity *= 2;
    int64_t *slots; /* item + 1, 0: free */
    vem_status status = vem_i_take_zeroed(run, &slots, capacity, sizeof *slots);
    if (status != VEM_OK || run->counted)
        return status;
    int64_t count = 0;
    for (int64_t i = 0; i < n && count < enough; i++) {
        vem_i_residence_check(run);
        if (vem_i_view_mass(view, i) <= 0)
            continue;
        size_t at = hash_row(view, i) & (capacity - 1);
        while (slots[at] && !same_row(view, i, slots[at] - 1))
            at = (at + 1) & (capacity - 1);
        if (!slots[at]) {
            slots[at] = i + 1;
            if (items)
                items[count] = i;
            count++;
        }
    }
    vem_i_free(slots);
    *distinct = count;
    return VEM_OK;
}

/* Where one process alone has enough, that is enough; else each has few, and they are put
 * together. */
static vem_status count_together(vem_i_run *run, const vem_view *view, int64_t enough,
                                 int64_t *distinct)
{
    vem_i_comm *comm = run->comm;
    int64_t *items = NULL, found = 0, most;
    size_t *bytes = NULL, total = 0;
    char *mine = NULL, *all = NULL;
    const size_t row = (size_t)view->d * view->kernels->element;
    vem_status status = vem_i_take(run, &items, (size_t)enough, sizeof *items);
    if (status == VEM_OK)
        status = count_items(run, view, vem_i_view_own(view), enough, items, &found);
    if (status != VEM_OK || run->counted) { /* that rows are too few is not planned for */
        vem_i_free(items);
        return status;
    }
    most = -found;
    comm->combine(comm, VEM_I_LEAST_INT, &most, 1);
    *distinct = -most;
    if (-most >= enough) {
        vem_i_free(items);
        return status;
    }
    const size_t size = (size_t)comm->size;
    int64_t *counts = NULL;
    status = vem_i_take(run, &bytes, size, sizeof *bytes);
    if (status == VEM_OK)
        status = vem_i_take(run, &counts, size, sizeof *counts);
    for (size_t p = 0; status == VEM_OK && p < size; p++)
        bytes[p] = sizeof *counts;
    if (status == VEM_OK) {
        comm->gather(comm, &found, counts, bytes);
        for (size_t p = 0; p < size; p++) {
            bytes[p] = (size_t)counts[p] * row;
            total += (size_t)counts[p];
        }
        status = vem_i_take(run, &mine, (size_t)found + 1, row);
    }
    if (status == VEM_OK)
        status = vem_i_take(run, &all, total, row);
    if (status == VEM_OK) {
        for (int64_t k = 0; k < found; k++)
            vem_i_view_copy(view, items[k], mine + (size_t)k * row);
        comm->gather(comm, mine, all, bytes);
        const vem_view them = vem_i_view_drawn(view, all, view->d, (int64_t)total);
        status = count_items(run, &them, them.n, enough, NULL, distinct);
    }
    vem_i_free(items);
    vem_i_free(bytes);
    vem_i_free(counts);
    vem_i_free(mine);
    vem_i_free(all);
    return status == VEM_OK ? vem_i_comm_agree(run) : status;
}

vem_status vem_i_count_distinct(vem_i_run *run, const vem_view *view, int64_t enough,
                                int64_t *distinct)
{
    return run->comm && view->global_n > vem_i_view_own(view)
               ? count_together(run, view, enough, distinct)
               : count_items(run, view, view->n, enough, NULL, distinct);
}
