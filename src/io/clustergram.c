/* Where clusters stand in their columns.
 *
 * Crossings of ribbons, weighed by their shares,
 *
 *     X = sum over pairs of ribbons (a, b), (c, d) that cross:  s_ab s_cd,
 *
 * are made few by sweeps: the clusters of a column are ordered by the mean place of what
 * flows into them from the column before (on the way back: behind), and the best order
 * of all sweeps is kept. To find the best of all orders is NP-hard.
 *
 * A cluster has the color of the colored one that it shares most rows with in the next
 * column towards the chosen one. Of a column with more than VEM_I_GRAM_BLOCKS clusters
 * the smallest are one block, drawn grey. */
#include "io/clustergram.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

enum {
    SWEEPS = 12,
    GAPS = 110, /* heights between blocks add up to this at most, */
    GAP = 6     /* and each is at most this */
};

/* ---- blocks ---- */

typedef struct sized {
    double share;
    int32_t cluster;
} sized;

static int by_share(const void *a, const void *b)
{
    const sized *x = a, *y = b;
    if (x->share != y->share)
        return x->share > y->share ? -1 : 1;
    return x->cluster < y->cluster ? -1 : x->cluster > y->cluster;
}

/* The block of each cluster of a column. */
static void set_blocks(vem_i_clustergram *g, int32_t i, sized *sizes, int32_t *block_of)
{
    vem_i_gram_column *c = &g->columns[i];
    const double *shares = g->flows->shares[i];
    c->clusters = g->flows->clusters[i];
    for (int32_t k = 0; k < c->clusters; k++)
        sizes[k] = (sized){shares[k], k};
    qsort(sizes, (size_t)c->clusters, sizeof *sizes, by_share);
    const int all = c->clusters <= VEM_I_GRAM_BLOCKS;
    c->count = all ? c->clusters : VEM_I_GRAM_BLOCKS;
    g->rest |= !all;
    for (int32_t k = 0; k < c->clusters; k++) {
        const int32_t at = k < c->count ? k : c->count - 1;
        vem_i_gram_block *b = &c->blocks[at];
        if (k == at)
            *b = (vem_i_gram_block){.cluster = sizes[k].cluster, .color = -1};
        else
            b->cluster = -1;
        b->share += sizes[k].share;
        block_of[sizes[k].cluster] = at;
    }
    for (int k = 0; k < c->count; k++)
        c->order[k] = k;
}

static vem_status set_all(vem_i_run *run, vem_i_clustergram *g)
{
    sized *sizes = NULL;
    int32_t *of[2] = {NULL, NULL};
    size_t most = 1;
    for (int32_t i = 0; i < g->count; i++)
        most =
            (size_t)g->flows->clusters[i] > most ? (size_t)g->flows->clusters[i] : most;
    const vem_i_room list[] = {
        {&sizes, most, sizeof *sizes, 0},
        {&of[0], most, sizeof(int32_t), 0},
        {&of[1], most, sizeof(int32_t), 0},
    };
    vem_status status = vem_i_take_rooms(run, list, VEM_I_COUNT(list));
    for (int32_t i = 0; status == VEM_OK && i < g->count; i++) {
        set_blocks(g, i, sizes, of[i % 2]);
        for (int64_t k = 0; i > 0 && k < g->flows->lengths[i - 1]; k++) {
            const vem_flow *f = &g->flows->flows[i - 1][k];
            vem_i_gram_ribbons(
                g,
                i - 1)[of[(i + 1) % 2][f->from] * VEM_I_GRAM_BLOCKS + of[i % 2][f->to]] +=
                f->share;
        }
    }
    vem_i_free_rooms(list, VEM_I_COUNT(list));
    return status;
}

/* ---- order ---- */

/* Ribbon between block a of column i and block b of the one beside it. */
static double ribbon(const vem_i_clustergram *g, int32_t i, int32_t beside, int a, int b)
{
    return beside > i ? vem_i_gram_ribbons(g, i)[a * VEM_I_GRAM_BLOCKS + b]
                      : vem_i_gram_ribbons(g, beside)[b * VEM_I_GRAM_BLOCKS + a];
}

/* Middles of the blocks, as shares of the height. */
static void middles(const vem_i_gram_column *c, double *y)
{
    double sum = 0;
    for (int k = 0; k < c->count; k++) {
        const double share = c->blocks[c->order[k]].share;
        y[c->order[k]] = sum + share / 2;
        sum += share;
    }
}

/* Column i by the column beside it. */
static void arrange(vem_i_clustergram *g, int32_t i, int32_t beside)
{
    vem_i_gram_column *c = &g->columns[i];
    const vem_i_gram_column *other = &g->columns[beside];
    double y[VEM_I_GRAM_BLOCKS], mean[VEM_I_GRAM_BLOCKS];
    middles(other, y);
    for (int a = 0; a < c->count; a++) {
        double sum = 0, share = 0;
        for (int b = 0; b < other->count; b++) {
            const double s = ribbon(g, i, beside, a, b);
            sum += s * y[b];
            share += s;
        }
        mean[a] = share > 0 ? sum / share : 2; /* nothing: below all */
    }
    /* By insertion, so that ties stay as they were. */
    for (int k = 1; k < c->count; k++) {
        const int moving = c->order[k];
        int at = k;
        for (; at > 0 && mean[c->order[at - 1]] > mean[moving]; at--)
            c->order[at] = c->order[at - 1];
        c->order[at] = moving;
    }
}

/* X between columns i and i + 1: with S(a, b) the sum of ribbons from places above a to
 * places below b, the sum over ribbons of s_ab S(a, b); S grows row by row. */
static double crossings_at(const vem_i_clustergram *g, int32_t i)
{
    const vem_i_gram_column *c = &g->columns[i], *next = &g->columns[i + 1];
    double below[VEM_I_GRAM_BLOCKS] = {0},
           sum = 0; /* of places above: what flows to each place */
    for (int p = 0; p < c->count; p++) {
        double beyond = 0;
        for (int q = next->count - 1; q >= 0; q--) {
            sum +=
                vem_i_gram_ribbons(g,
                                   i)[c->order[p] * VEM_I_GRAM_BLOCKS + next->order[q]] *
                beyond;
            beyond += below[q];
        }
        for (int q = 0; q < next->count; q++)
            below[q] +=
                vem_i_gram_ribbons(g,
                                   i)[c->order[p] * VEM_I_GRAM_BLOCKS + next->order[q]];
    }
    return sum;
}

static double crossings(const vem_i_clustergram *g)
{
    double sum = 0;
    for (int32_t i = 0; i + 1 < g->count; i++)
        sum += crossings_at(g, i);
    return sum;
}

static vem_status order(vem_i_run *run, vem_i_clustergram *g)
{
    vem_i_gram_column *best;
    const size_t bytes = (size_t)g->count * sizeof *best;
    vem_status status = vem_i_take(run, &best, (size_t)g->count, sizeof *best);
    if (status != VEM_OK)
        return status;
    double least = INFINITY;
    for (int sweep = 0; sweep < SWEEPS; sweep++) {
        if (sweep % 2 == 0)
            for (int32_t i = 1; i < g->count; i++)
                arrange(g, i, i - 1);
        else
            for (int32_t i = g->count - 2; i >= 0; i--)
                arrange(g, i, i + 1);
        const double now = crossings(g);
        if (now < least) {
            least = now;
            memcpy(best, g->columns, bytes);
        }
    }
    memcpy(g->columns, best, bytes);
    vem_i_free(best);
    return VEM_OK;
}

/* ---- colors ---- */

static void color_from(vem_i_clustergram *g, int32_t i, int32_t beside)
{
    vem_i_gram_column *c = &g->columns[i];
    const vem_i_gram_column *other = &g->columns[beside];
    for (int a = 0; a < c->count; a++) {
        double most = 0;
        for (int b = 0; b < other->count; b++)
            if (other->blocks[b].color >= 0 && ribbon(g, i, beside, a, b) > most) {
                most = ribbon(g, i, beside, a, b);
                c->blocks[a].color = other->blocks[b].color;
            }
        if (c->blocks[a].cluster < 0)
            c->blocks[a].color = -1;
    }
}

static void color(vem_i_clustergram *g)
{
    const int32_t from = g->chosen < 0 ? g->count - 1 : g->chosen;
    vem_i_gram_column *c = &g->columns[from];
    for (int k = 0; k < c->count; k++) /* neighbours differ */
        c->blocks[c->order[k]].color = c->blocks[c->order[k]].cluster < 0 ? -1 : k;
    for (int32_t i = from + 1; i < g->count; i++)
        color_from(g, i, i - 1);
    for (int32_t i = from - 1; i >= 0; i--)
        color_from(g, i, i + 1);
}

/* ---- lifetime ---- */

static void place(vem_i_clustergram *g)
{
    for (int32_t i = 0; i < g->count; i++) {
        vem_i_gram_column *c = &g->columns[i];
        const double gap = c->count > 1 ? fmin(GAP, (double)GAPS / (c->count - 1)) : 0;
        const double room = VEM_I_GRAM_HEIGHT - gap * (c->count - 1);
        double y = 0;
        for (int k = 0; k < c->count; k++) {
            vem_i_gram_block *b = &c->blocks[c->order[k]];
            b->y = y;
            b->high = room * b->share;
            y += b->high + gap;
        }
    }
}

vem_status vem_i_clustergram_new(vem_i_run *run, const vem_flows *flows, int32_t chosen,
                                 int32_t count, vem_i_clustergram **gram)
{
    vem_i_clustergram *g;
    const size_t columns = (size_t)flows->count;
    vem_status status = vem_i_take_structs(run, &g, 1, sizeof *g);
    if (status != VEM_OK)
        return status;
    *g = (vem_i_clustergram){.flows = flows,
                             .count = flows->count,
                             .chosen = -1,
                             .of = count};
    for (int32_t i = 0; i < flows->count; i++)
        if (flows->clusters[i] == chosen)
            g->chosen = i;
    status = vem_i_take_zeroed(run, &g->columns, columns, sizeof *g->columns);
    if (status == VEM_OK)
        status = vem_i_take_zeroed(run, &g->ribbons,
                                   columns * VEM_I_GRAM_BLOCKS * VEM_I_GRAM_BLOCKS,
                                   sizeof *g->ribbons);
    if (status == VEM_OK)
        status = set_all(run, g);
    if (status == VEM_OK)
        status = order(run, g);
    if (status != VEM_OK) {
        vem_i_clustergram_free(g);
        return status;
    }
    color(g);
    place(g);
    *gram = g;
    return VEM_OK;
}

void vem_i_clustergram_free(vem_i_clustergram *gram)
{
    if (!gram)
        return;
    vem_i_free(gram->columns);
    vem_i_free(gram->ribbons);
    vem_i_free(gram);
}
