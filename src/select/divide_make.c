#include <stdlib.h>
#include <string.h>

#include "select/divide_inside.h"

/* Those that gain, of clusters that lie apart, the best first, within the limits. Returns
 * how many. */
int64_t vem_i_choose_moves(vem_i_divider *t)
{
    const vem_i_partition *g = &t->groups;
    /* Those that a test asks for are made, whatever they gain. */
    const double enough = t->objective->tests ? 0 : vem_i_divide_enough(t);
    int32_t clusters = g->count;
    int64_t kept = 0;
    qsort(t->moves, (size_t)t->count, sizeof *t->moves, vem_i_by_gain);
    memset(t->touched, 0, (size_t)g->count);
    for (int64_t k = 0; k < t->count; k++) {
        const vem_i_change m = t->moves[k];
        const int32_t after = clusters - (m.b < 0 ? 1 : 2) + m.parts;
        if ((!(m.gain > enough) && clusters >= t->least) || t->touched[m.a] ||
            (m.b >= 0 && t->touched[m.b]) || (after > t->most && after > clusters) ||
            (after < t->least && after < clusters))
            continue;
        t->touched[m.a] = 1;
        if (m.b >= 0)
            t->touched[m.b] = 1;
        clusters = after;
        t->moves[kept++] = m;
    }
    t->count = kept;
    return kept;
}

/* The items of a change, with the parts that they come to. A join has none: moments are enough. */
typedef struct parted {
    const uint32_t *items;
    const uint8_t *part;
    int64_t n;
} parted;

static parted items_of(const vem_i_divider *t, const vem_i_change *m)
{
    const vem_i_partition *g = &t->groups;
    const int64_t begin = g->tour.starts[m->a], n = vem_i_group_items(g, m->a);
    if (m->kind == VEM_I_MOVE_SPLIT)
        return (parted){g->tour.items + begin, t->part + begin, n};
    if (m->kind == VEM_I_MOVE_RESPLIT)
        return (parted){t->items + m->at, t->anew + m->at,
                        n + vem_i_group_items(g, m->b)};
    return (parted){0};
}

/* The groups of the parts of some items, appended. */
static void append_parts(vem_i_divider *t, parted s, int32_t parts, const double *about)
{
    vem_i_partition *to = &t->next;
    uint32_t *list = to->tour.items; /* free until the groups are read again */
    for (int32_t p = 0; p < parts; p++) {
        int64_t count = 0;
        for (int64_t i = 0; i < s.n; i++)
            if (s.part[i] == p)
                list[count++] = s.items[i];
        to->seen[to->count] = NAN;
        to->tallies[to->count] = vem_i_parts_gather(t->parts, list, count, about, 0,
                                                    vem_i_partition_at(to, to->count));
        to->count++;
    }
}

/* The first `count` moves, on what is best so far, into t->next. */
void vem_i_make_moves(vem_i_divider *t, int64_t count)
{
    const vem_i_partition *g = &t->groups;
    vem_i_partition *to = &t->next;
    memset(t->touched, 0, (size_t)g->count);
    to->count = 0;
    for (int64_t k = 0; k < count; k++) {
        t->touched[t->moves[k].a] = 1;
        if (t->moves[k].b >= 0)
            t->touched[t->moves[k].b] = 1;
    }
    for (int32_t c = 0; c < g->count; c++)
        if (!t->touched[c]) {
            t->to[c] = to->count;
            memcpy(vem_i_partition_at(to, to->count), vem_i_partition_at(g, c),
                   (size_t)g->stride * sizeof(double));
            to->tallies[to->count] = g->tallies[c];
            to->seen[to->count++] = g->seen[c];
        }
    for (int64_t k = 0; k < count; k++) {
        const vem_i_change *m = &t->moves[k];
        const parted items = items_of(t, m);
        t->to[m->a] = to->count;
        if (m->b >= 0)
            t->to[m->b] = to->count;
        if (items.n > 0) {
            append_parts(t, items, m->parts, vem_i_partition_at(g, m->a) + 1);
        } else {
            vem_i_moments_join(t->objective->family, t->objective->d,
                               vem_i_partition_at(g, m->a), vem_i_partition_at(g, m->b),
                               vem_i_partition_at(to, to->count));
            to->seen[to->count++] = NAN;
        }
    }
}

void vem_i_moved_labels(vem_i_divider *t, int64_t count, const int32_t *labels)
{
    for (int64_t i = 0; i < t->view->n; i++)
        t->first[i] = t->to[labels[i]];
    for (int64_t k = 0; k < count; k++) {
        const parted s = items_of(t, &t->moves[k]);
        const int32_t first = t->to[t->moves[k].a];
        for (int64_t i = 0; i < s.n; i++)
            t->first[s.items[i]] = first + s.part[i];
    }
}
