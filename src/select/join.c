/* The two that cost least together are joined, again and again, and of all partitions on
 * the way the cheapest is remembered: agglomeration, with the objective as its
 * distance. */
#include "select/join.h"

#include <math.h>

static double *group_at(const vem_i_joining *t, int32_t p)
{
    return t->groups + p * t->stride;
}

typedef struct state {
    vem_i_tally all;               /* of all clusters, these and those beside */
    vem_i_tally each[VEM_I_PARTS]; /* that is left, */
    vem_i_tally both[VEM_I_PARTS][VEM_I_PARTS]; /* and of two of them together */
    int32_t
        into[VEM_I_PARTS]; /* what it was joined to; itself: nothing; -1: it is empty */
} state;

static int32_t root_of(const state *j, int32_t p)
{
    while (j->into[p] != p)
        p = j->into[p];
    return p;
}

static vem_i_tally together(const vem_i_joining *t, int32_t p, int32_t q)
{
    double *both = group_at(t, VEM_I_PARTS);
    vem_i_moments_join(t->objective->family, t->objective->d, group_at(t, p),
                       group_at(t, q), both);
    return vem_i_group_tally(t->objective, both, t->work);
}

static void price_pairs(const vem_i_joining *t, state *j, int32_t count, int32_t p)
{
    for (int32_t q = 0; q < count; q++)
        if (q != p && j->into[q] == q) {
            const int32_t low = p < q ? p : q, high = p < q ? q : p;
            j->both[low][high] = together(t, low, high);
        }
}

/* Of all clusters, with two of the parts together. */
static vem_i_tally joined(const state *j, int32_t p, int32_t q)
{
    vem_i_tally all = vem_i_tally_add(j->all, -1, j->each[p]);
    all = vem_i_tally_add(all, -1, j->each[q]);
    return vem_i_tally_add(all, 1, j->both[p][q]);
}

/* The two that cost least together; 0: there are no two. */
static int nearest(const vem_i_joining *t, const state *j, int32_t count, int32_t *low,
                   int32_t *high)
{
    double least = INFINITY;
    *low = -1;
    for (int32_t p = 0; p < count; p++)
        for (int32_t q = p + 1; j->into[p] == p && q < count; q++) {
            if (j->into[q] != q)
                continue;
            const double cost = vem_i_objective_total(t->objective, joined(j, p, q));
            if (*low < 0 || cost < least) {
                least = cost;
                *low = p;
                *high = q;
            }
        }
    return *low >= 0;
}

double vem_i_join_down(const vem_i_joining *t, int32_t count, int32_t chosen[VEM_I_PARTS])
{
    state j;
    double best = INFINITY;
    int32_t left = 0, low, high;
    j.all = t->beside;
    for (int32_t p = 0; p < count; p++) {
        j.each[p] = vem_i_group_tally(t->objective, group_at(t, p), t->work);
        j.into[p] = j.each[p].clusters > 0 ? p : -1;
        j.all = vem_i_tally_add(j.all, 1, j.each[p]);
        left += j.into[p] == p;
        chosen[p] = j.into[p];
    }
    for (int32_t p = 0; p < count; p++)
        if (j.into[p] == p)
            price_pairs(t, &j, count, p);
    for (;; left--) {
        const double now = vem_i_objective_total(t->objective, j.all);
        const int first = best == INFINITY;
        if (left <= t->most && (first || (left >= t->least && now < best))) {
            best = now;
            for (int32_t p = 0; p < count; p++)
                chosen[p] = j.into[p] < 0 ? -1 : root_of(&j, p);
        }
        if (!nearest(t, &j, count, &low, &high))
            return best;
        j.all = joined(&j, low, high);
        j.each[low] = j.both[low][high];
        vem_i_moments_join(t->objective->family, t->objective->d, group_at(t, low),
                           group_at(t, high), group_at(t, low));
        j.into[high] = low;
        price_pairs(t, &j, count, low);
    }
}
