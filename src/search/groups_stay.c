/* Items that cannot change, and so need not meet the list.
 *
 * Bounds (bounds.h) say how near the others of a list may be to an item by now: as near as they
 * were when it was scored, less what any of them has moved since. A single one that moved far, or
 * came new into the list, would spoil that for all items of the group. So the list is ranked: what
 * came, then the others, the one that moved farthest first. An item meets as much of the ranked
 * list, from its beginning, as must be scored so that the moves of the rest cannot change it. If
 * what it met cannot either, it stays with the cluster it holds, whose cost was the first thing to
 * be found. Else it meets the whole list, in its own order, as if there were no bounds.
 *
 * With each step the rest may have come nearer, until an item would have to meet most of the list.
 * Then it meets all of it, and knows again how far that is. Items that must meet about as many are
 * packed together. */
#include "search/groups_inside.h"

#include <string.h>

enum {
    TOGETHER = 16, /* items that are packed together, at least: a panel */
    UNSURE = -1    /* the item meets the whole list */
};
/* Items that would meet more of the list than this share meet all of it. */
static const double MOST_SHARE = 0.5;

/* ---- the list, ranked ---- */

/* Was the cluster in the lists of all clusters of the group? */
static int was_known(const vem_i_groups *g, int32_t cluster, int32_t group)
{
    const vem_i_hierarchy *h = &g->hierarchy;
    const vem_i_bounds *b = &g->bounds;
    const int32_t own = b->groups[cluster];
    int32_t last = -1;
    for (int32_t i = h->group_starts[group]; i < h->group_starts[group + 1]; i++) {
        const int32_t then = b->groups[h->members[i]];
        const int32_t *near = b->near + (int64_t)then * VEM_I_TOP_MAX;
        int found = then == last;
        for (int32_t k = 0; k < b->near_count; k++)
            found |= near[k] == own;
        if (!found)
            return 0;
        last = then;
    }
    return 1;
}

/* A place for each, by counting: they are few, and this does not branch. */
static void rank_list(const vem_i_groups *g, vem_i_lister *l)
{
    float *moves = l->moves + VEM_I_SHORTLIST;
    l->came = 0;
    for (int32_t k = 0; k < l->count; k++) {
        const int known = !g->relisted || was_known(g, l->list[k], l->group);
        moves[k] = known ? g->bounds.moved[l->list[k]] : INFINITY;
        l->came += !known;
    }
    for (int32_t k = 0; k < l->count; k++) {
        int32_t place = 0;
        for (int32_t j = 0; j < k; j++)
            place += moves[j] >= moves[k];
        for (int32_t j = k + 1; j < l->count; j++)
            place += moves[j] > moves[k];
        l->ranked[place] = l->list[k];
        l->moves[place] = moves[k];
    }
}

/* ---- how much items must meet ---- */

/* How far a cluster that is not among the first `met`, nor the item's own, moved. */
static double moved_after(const vem_i_lister *l, int32_t met, int32_t own)
{
    met += met < l->count && l->ranked[met] == own;
    return met < l->count ? (double)l->moves[met] : 0;
}

/* Of an item that bears moves of so much. */
static int32_t steps_for(const vem_i_lister *l, double room, int32_t own)
{
    const int32_t most = (int32_t)(MOST_SHARE * l->count);
    int32_t low = l->came, high = most;
    if (!(room >= 0) || low > most || moved_after(l, most, own) > room)
        return UNSURE;
    if (moved_after(l, low, own) <= room)
        return low;
    while (high - low > 1) { /* `low` are too few, `high` are enough */
        const int32_t middle = low + (high - low) / 2;
        if (moved_after(l, middle, own) <= room)
            high = middle;
        else
            low = middle;
    }
    return high;
}

static void find_steps(const vem_i_groups *g, vem_i_lister *l, const vem_i_block *block,
                       const int32_t *before)
{
    const vem_i_bounds *b = &g->bounds;
    for (int32_t p = 0; p < block->n; p++) {
        const int64_t item = block->items.index[p];
        const double cost = vem_i_value(g->hierarchy.kernels, block->tile, p);
        l->steps[p] = UNSURE;
        if (before[p] < 0 || b->of[item] != before[p])
            continue;
        l->needed[p] = vem_i_bounds_needed(b, cost);
        l->steps[p] =
            steps_for(l, vem_i_bounds_room(b->lower[item], l->needed[p]), before[p]);
    }
}

/* ---- who stays ---- */

/* Choose the items with at least `from` and at most `to` steps. */
static int32_t choose(vem_i_lister *l, const vem_i_block *block, int32_t from, int32_t to)
{
    int32_t count = 0;
    for (int32_t p = 0; p < block->n; p++)
        if (l->steps[p] >= from && l->steps[p] <= to) {
            l->far[count] = p;
            l->far_items[count++] = block->items.index[p];
        }
    return count;
}

/* The first n chosen items meet so much of the ranked list, and stay or are unsure. */
static void try_ranked(const vem_i_groups *g, vem_i_lister *l, vem_i_block *block,
                       const int32_t *before, int32_t n, int32_t met)
{
    if (met > 0)
        vem_i_lister_meet(g, l, block, l->ranked, met, n);
    for (int32_t k = 0; k < n; k++) {
        const int32_t p = l->far[k], own = before[p];
        float *lower = &g->bounds.lower[block->items.index[p]];
        *lower = vem_i_bounds_after(*lower, moved_after(l, met, own));
        if (met == 0)
            continue;
        const float reached = vem_i_lister_reached(g, l, k, l->ranked, own);
        *lower = reached < *lower ? reached : *lower;
        if (!((double)reached >= l->needed[p]))
            l->steps[p] = UNSURE;
    }
}

int32_t vem_i_groups_choose_unsure(const vem_i_groups *g, vem_i_lister *l,
                                   vem_i_block *block, const int32_t *before, int fresh)
{
    int32_t counts[VEM_I_SHORTLIST + 1] = {0}, from = 0, together = 0, last = 0;
    if (fresh)
        rank_list(g, l);
    find_steps(g, l, block, before);
    for (int32_t p = 0; p < block->n; p++)
        if (l->steps[p] != UNSURE) {
            counts[l->steps[p]]++;
            last = l->steps[p] > last ? l->steps[p] : last;
        }
    for (int32_t to = 0; to <= last; to++) {
        together += counts[to];
        if (together > 0 && (to == 0 || together >= TOGETHER || to == last)) {
            try_ranked(g, l, block, before, choose(l, block, from, to), to);
            from = to + 1;
            together = 0;
        }
    }
    const int32_t unsure = choose(l, block, UNSURE, UNSURE);
    block->pairs += block->n - unsure; /* the others were scored with what they hold */
    return unsure;
}
