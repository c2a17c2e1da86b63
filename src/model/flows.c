#include "model/flows.h"

#include <stdlib.h>

#include "base/memory.h"

vem_status vem_i_flows_new(vem_i_run *run, const int32_t *clusters, int32_t count,
                           vem_flows **flows)
{
    vem_flows *made;
    const size_t mixtures = (size_t)count;
    vem_status status = vem_i_take_structs(run, &made, 1, sizeof *made);
    if (status != VEM_OK)
        return status;
    const vem_i_room list[] = {
        {&made->clusters, mixtures, sizeof *made->clusters, 0},
        {&made->shares, mixtures, sizeof *made->shares, 1},
        {&made->flows, mixtures, sizeof(vem_flow *), 1},
        {&made->lengths, mixtures, sizeof *made->lengths, 1},
    };
    status = vem_i_take_rooms(run, list, VEM_I_COUNT(list));
    made->count = status == VEM_OK ? count : 0;
    for (int32_t i = 0; status == VEM_OK && i < count; i++) {
        made->clusters[i] = clusters[i];
        status =
            vem_i_take_zeroed(run, &made->shares[i], (size_t)clusters[i], sizeof(double));
    }
    if (status == VEM_OK)
        *flows = made;
    else
        vem_flows_free(made);
    return status;
}

void vem_flows_free(vem_flows *flows)
{
    if (!flows)
        return;
    for (int32_t i = 0; i < flows->count; i++) {
        vem_i_free(flows->shares[i]);
        vem_i_free(flows->flows[i]);
    }
    vem_i_free(flows->clusters);
    vem_i_free(flows->shares);
    vem_i_free(flows->flows);
    vem_i_free(flows->lengths);
    vem_i_free(flows);
}

void vem_i_flows_weigh(vem_flows *flows, int32_t at, const int32_t *labels,
                       const double *mass, double total)
{
    for (int64_t i = 0; i < flows->rows; i++)
        flows->shares[at][labels[i]] += (mass ? mass[i] : 1) / total;
}

typedef struct entry {
    int32_t from, to;
    int64_t row;
} entry;

static int in_order(const void *a, const void *b)
{
    const entry *x = a, *y = b;
    if (x->from != y->from)
        return x->from < y->from ? -1 : 1;
    if (x->to != y->to)
        return x->to < y->to ? -1 : 1;
    return x->row < y->row ? -1 : x->row > y->row;
}

vem_status vem_i_flows_put(vem_i_run *run, vem_flows *flows, int32_t at,
                           const int32_t *from, const int32_t *to, const double *mass,
                           double total)
{
    const int64_t rows = flows->rows;
    entry *entries;
    int64_t count = 0;
    vem_status status = vem_i_take(run, &entries, (size_t)rows, sizeof *entries);
    if (status != VEM_OK)
        return status;
    for (int64_t i = 0; i < rows; i++)
        entries[i] = (entry){from[i], to[i], i};
    qsort(entries, (size_t)rows, sizeof *entries, in_order);
    for (int64_t i = 0; i < rows; i++)
        count += i == 0 || entries[i].from != entries[i - 1].from ||
                 entries[i].to != entries[i - 1].to;
    status = vem_i_take(run, &flows->flows[at], (size_t)count, sizeof(vem_flow));
    vem_flow *flow = flows->flows[at]; /* after the first row: the one behind the last */
    for (int64_t i = 0; status == VEM_OK && i < rows; i++) {
        const entry *e = &entries[i];
        if (i == 0 || e->from != e[-1].from || e->to != e[-1].to)
            *flow++ = (vem_flow){e->from, e->to, 0};
        flow[-1].share += (mass ? mass[e->row] : 1) / total;
    }
    flows->lengths[at] = status == VEM_OK ? count : 0;
    vem_i_free(entries);
    return status;
}

static int has(const vem_flows *flows, int32_t mixture)
{
    return flows && mixture >= 0 && mixture < flows->count;
}

int32_t vem_flows_count(const vem_flows *flows)
{
    return flows ? flows->count : 0;
}

int32_t vem_flows_clusters(const vem_flows *flows, int32_t mixture)
{
    return has(flows, mixture) ? flows->clusters[mixture] : 0;
}

int64_t vem_flows_rows(const vem_flows *flows)
{
    return flows ? flows->rows : 0;
}

const double *vem_flows_shares(const vem_flows *flows, int32_t mixture)
{
    return has(flows, mixture) ? flows->shares[mixture] : NULL;
}

const vem_flow *vem_flows_at(const vem_flows *flows, int32_t mixture, int64_t *count)
{
    const int is = has(flows, mixture) && mixture + 1 < flows->count;
    if (count)
        *count = is ? flows->lengths[mixture] : 0;
    return is ? flows->flows[mixture] : NULL;
}
