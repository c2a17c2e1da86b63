/* What is done between two loops of a search, by the contract of em/move.h. A move makes another
 * mixture, a loop follows from it, and what that finds is measured; the best so far stays as it is
 * until then, so that to undo is to let go.
 *
 * Divisions and joins go together, as they are priced alike and clusters that lie apart add up.
 * Where they do not hold, half of them, the better ones, are tried. */
#include <string.h>

#include "select/divide_inside.h"

enum {
    MOST_AGAIN = 4,  /* times that it goes on from what is beside it */
    MOST_FORCED = 64 /* rounds, and as many as clusters that must be */
};

static void let_go(void *state)
{
    vem_i_divider *t = state;
    vem_i_attempt_free(&t->found.attempt);
    t->found = (vem_i_divide_loop){0};
}

/* What the loop found is worth. 0: something failed. */
static int measure(vem_i_divider *t)
{
    if (t->status != VEM_OK) {
        let_go(t);
        return 0;
    }
    t->worth = vem_i_divide_worth(t, &t->found);
    return 1;
}

/* It is the best so far, in as many clusters as are remembered. */
static void keep(vem_i_divider *t, vem_i_move_name name, int64_t count,
                 const double *seen, int32_t clusters)
{
    t->status = vem_i_divide_keep(t, &t->found, t->worth, name, count);
    if (t->status == VEM_OK)
        vem_i_divide_look(t, seen, clusters);
    let_go(t);
}

static double noticeable(const vem_i_divider *t)
{
    return t->free_energy + vem_i_divide_enough(t) / t->objective->total;
}

/* ---- clusters divided and joined, or pairs divided anew ---- */

/* Those that were chosen; what they promise. */
static double promise(const vem_i_divider *t)
{
    double gain = 0;
    if (t->count == 0)
        return 0;
    if (t->groups.count < t->least || t->objective->tests)
        return INFINITY; /* they are asked for */
    for (int64_t k = 0; k < t->count; k++)
        gain += t->moves[k].gain;
    return gain;
}

static int choose(vem_i_divider *t)
{
    if (vem_i_choose_moves(t) == 0)
        return 0;
    /* Steps may drop a cluster again: not without end. */
    const int lacks = t->groups.count < t->least && t->forced++ < MOST_FORCED + t->least;
    t->must = lacks || t->objective->tests;
    return 1;
}

static double price_split_join(void *state)
{
    vem_i_divider *t = state;
    if (t->fresh) {
        t->fresh = t->priced = 0;
        if (!t->objective->tests)
            t->status = vem_i_price_pairs(t, &t->near, &t->near_count);
        if (t->status == VEM_OK)
            t->priced = vem_i_price_divisions(t);
        if (!t->priced)
            return 0;
        for (int64_t k = 0;
             k < t->near_count && t->near[k].gain > 0 && t->count < t->capacity; k++)
            t->moves[t->count++] = t->near[k];
        choose(t);
    } else if (vem_i_divide_is_over(t)) {
        return 0;
    }
    return promise(t);
}

/* After all divisions and joins: pairs that are nearest to be joined, as many at a time as there
 * is room for. */
static double price_resplit(void *state)
{
    vem_i_divider *t = state;
    const int tried = t->count > 0 && t->moves[0].kind == VEM_I_MOVE_RESPLIT;
    if (tried && !vem_i_divide_is_over(t))
        return promise(t);
    while (t->priced && t->near_count > 0 && !vem_i_divide_is_over(t)) {
        t->priced = vem_i_price_anew(t, t->near, t->near_count);
        if (!t->priced || t->count == 0)
            break;
        if (choose(t))
            return promise(t);
    }
    return 0;
}

static int64_t make_changes(void *state)
{
    vem_i_divider *t = state;
    vem_model *start = NULL;
    vem_i_make_moves(t, t->count);
    t->clusters = t->next.count;
    t->status =
        vem_i_partition_model(t->run, t->objective, t->view->kernels, &t->next, &start);
    if (t->status == VEM_OK) {
        vem_i_moved_labels(t, t->count, t->labels);
        t->status = vem_i_divide_run(t, start, t->first, 0, &t->found);
    }
    vem_model_free(start);
    return measure(t) ? t->count : -1;
}

/* What must be divided is, for as long as there are more clusters by it. */
static int changes_hold(void *state)
{
    const vem_i_divider *t = state;
    return (t->must && t->worth > -INFINITY &&
            t->found.attempt.model->clusters > t->groups.count) ||
           t->worth > noticeable(t);
}

static void undo_changes(void *state)
{
    vem_i_divider *t = state;
    let_go(t);
    t->count /= 2;
}

/* What they are together. */
static vem_i_move_name name_of(const vem_i_divider *t)
{
    int64_t same = 0;
    for (int64_t k = 0; k < t->count; k++)
        same += t->moves[k].kind == t->moves[0].kind;
    return same == t->count ? t->moves[0].kind : VEM_I_MOVE_SPLIT_JOIN;
}

static void settle_changes(void *state)
{
    vem_i_divider *t = state;
    keep(t, name_of(t), t->count, t->next.seen, t->clusters);
    t->settled = 0;
    t->another = 1;
}

const vem_i_move vem_i_move_split_join = {.name = VEM_I_MOVE_SPLIT_JOIN,
                                          .when = VEM_I_BETWEEN_LOOPS,
                                          .price = price_split_join,
                                          .make = make_changes,
                                          .holds = changes_hold,
                                          .undo = undo_changes,
                                          .settle = settle_changes,
                                          .tries = INT64_MAX};
const vem_i_move vem_i_move_resplit = {.name = VEM_I_MOVE_RESPLIT,
                                       .when = VEM_I_BETWEEN_LOOPS,
                                       .price = price_resplit,
                                       .make = make_changes,
                                       .holds = changes_hold,
                                       .undo = undo_changes,
                                       .settle = settle_changes,
                                       .tries = INT64_MAX};

/* ---- what is best, to the end of its steps ---- */

/* Until no label changes, where rows are in one cluster. */
static int64_t make_settled(void *state)
{
    vem_i_divider *t = state;
    if (t->settled)
        return -1;
    t->status = vem_i_divide_run(t, t->model, t->labels, 1, &t->found);
    t->clusters = t->groups.count;
    memcpy(t->next.seen, t->groups.seen, (size_t)t->clusters * sizeof(double));
    t->settled = 1;
    return measure(t) ? 0 : -1;
}

static int is_no_worse(void *state)
{
    const vem_i_divider *t = state;
    return t->worth > -INFINITY && (t->worth >= t->free_energy || t->objective->tests);
}

static void take_settled(void *state)
{
    vem_i_divider *t = state;
    t->another = t->worth > noticeable(t);
    keep(t, VEM_I_MOVE_SETTLE, 0, t->next.seen, t->clusters);
}

const vem_i_move vem_i_move_settle = {.name = VEM_I_MOVE_SETTLE,
                                      .when = VEM_I_BETWEEN_LOOPS,
                                      .make = make_settled,
                                      .holds = is_no_worse,
                                      .undo = let_go,
                                      .settle = take_settled};

/* ---- items that may be in several clusters ---- */

/* From what is best with one for each, which is found sooner and misses less, as prices are exact
 * there. */
static int64_t make_soft(void *state)
{
    vem_i_divider *t = state;
    if (!t->hard || t->stays)
        return -1;
    t->hard = 0;
    t->another = 1;
    t->status = vem_i_divide_run(t, t->model, t->labels, 0, &t->found);
    if (!measure(t))
        return -1;
    if (t->found.attempt.steps == 0) {
        let_go(t);
        return -1;
    }
    return 0;
}

static void take_soft(void *state)
{
    vem_i_divider *t = state;
    vem_path *path = t->selection->fits->path;
    while (path->count > 0) /* of another kind */
        vem_model_free(path->models[--path->count]);
    keep(t, VEM_I_MOVE_SOFTEN, 0, NULL, 0);
    t->settled = 0;
    t->tried_count = 0;
}

/* Has no price: the objective is another one, and F may fall. */
const vem_i_move vem_i_move_soften = {.name = VEM_I_MOVE_SOFTEN,
                                      .when = VEM_I_BETWEEN_LOOPS,
                                      .make = make_soft,
                                      .settle = take_soft};

/* ---- what was found beside the best ---- */

static double price_beside(void *state)
{
    vem_i_divider *t = state;
    if (t->again >= MOST_AGAIN)
        return 0;
    t->again++; /* as the state that is written meanwhile says */
    t->status = vem_i_divide_beside(t);
    return t->status == VEM_OK && t->better ? t->better_worth - t->free_energy : 0;
}

static int64_t make_beside(void *state)
{
    vem_i_divider *t = state;
    t->status = vem_i_divide_run(t, t->better, t->better_labels, 0, &t->found);
    vem_model_free(t->better);
    t->better = NULL;
    t->settled = 0;
    t->another = 1; /* taken or not: joins have used the groups up */
    return measure(t) ? 0 : -1;
}

static int is_better(void *state)
{
    const vem_i_divider *t = state;
    return t->worth > t->free_energy;
}

static void leave_beside(void *state)
{
    vem_i_divider *t = state;
    let_go(t);
    vem_i_divide_look(t, NULL, 0);
}

static void take_beside(void *state)
{
    keep(state, VEM_I_MOVE_BESIDE, 0, NULL, 0);
}

const vem_i_move vem_i_move_beside = {.name = VEM_I_MOVE_BESIDE,
                                      .when = VEM_I_BETWEEN_LOOPS,
                                      .price = price_beside,
                                      .make = make_beside,
                                      .holds = is_better,
                                      .undo = leave_beside,
                                      .settle = take_beside};
