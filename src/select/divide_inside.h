/* Parts of vem_i_divide. */
#ifndef VEM_SELECT_DIVIDE_INSIDE_H
#define VEM_SELECT_DIVIDE_INSIDE_H

#include <math.h>

#include "base/parallel.h"
#include "select/divide.h"

/* A change: a cluster divided (split), two joined (join), or two divided anew (resplit). Many of
 * them are made at once, as a move (divide_moves.c). */
typedef struct vem_i_change {
    vem_i_move_name kind; /* one of these */
    int32_t a, b;         /* clusters; b -1 where it is one */
    int32_t parts;
    double gain;
    int64_t at; /* anew: its items and parts in the buffers */
} vem_i_change;

/* What a loop from a model finds (divide_loop.c). */
typedef struct vem_i_divide_loop {
    vem_i_attempt attempt;
    vem_i_programme programme;
} vem_i_divide_loop;

typedef struct vem_i_divider {
    vem_i_run *run;
    const vem_i_selection *selection;
    vem_i_objective *objective;
    const vem_view *view;
    int32_t least, most; /* clusters */
    vem_i_parts *parts;
    struct vem_i_boxes *boxes; /* of the items, for all loops; or NULL */
    int boxed;                 /* they were asked for */
    /* The best so far. */
    vem_model *model;
    int32_t *labels;
    double
        free_energy; /* per unit of mass, as the loop says: the objective, higher is better */
    vem_i_partition groups;
    /* The next. */
    vem_i_partition next;
    int32_t *first; /* n: the groups of the items there */
    int32_t *to; /* per cluster of the best: its group there; of divided ones the first */
    /* The round at hand (divide_moves.c). */
    vem_status status;  /* of its moves, which cannot return one */
    int fresh;          /* nothing was priced yet; then, */
    int priced;         /* there was time to do all that was asked for */
    vem_i_change *near; /* pairs, the best to join first */
    int64_t near_count;
    int must;    /* what was chosen is made if there are more clusters by it */
    int another; /* there is something to look at again: a round follows */
    vem_i_divide_loop found; /* from what was made, */
    double worth;
    int32_t clusters; /* that were there before its first step */
    /* Changes at hand. */
    vem_i_change *moves;
    int64_t count, capacity;
    uint8_t *part;   /* n: of the items of the tour, by division */
    uint32_t *items; /* 2 n: of pairs that are divided anew, one after the other, */
    uint8_t *anew;   /* and the parts of each */
    int8_t *touched; /* per cluster */
    double *tried;   /* pairs that were divided anew: two masses each */
    int64_t tried_count;
    /* What happened. */
    vem_i_trace trace;
    int64_t steps, pairs;
    vem_model *better; /* found beside it at the end, or NULL, */
    int32_t *better_labels;
    double better_worth;
    int settled; /* what is best has made all its steps */
    int filling; /* there must be more, and clusters are kept as they are */
    int forced;  /* rounds that had to make more clusters */
    int again;   /* times that it went on from what is beside it */
    int fixed;   /* so many clusters, not the best number of them */
    int hard;    /* items are in one cluster, before they may be in several, */
    int stays;   /* and stay there but for the steps after the search (divide_finish.c) */
    double free_energy_first;
} vem_i_divider;

/* Pairs that are remembered, for each move there is room for, and numbers that one is
 * known by: mass and first mean of each. */
enum { VEM_I_TRIED = 16, VEM_I_TRIED_KEY = 4 };

static inline int64_t vem_i_group_items(const vem_i_partition *groups, int32_t c)
{
    return groups->tour.starts[c + 1] - groups->tour.starts[c];
}
/* Items are in one cluster in all of the search. */
static inline int vem_i_divide_alone(const vem_i_divider *t)
{
    return t->stays || t->selection->asked->held == 1;
}
/* More is gained by a move than rounding can tell: of the cost in all. */
static inline double vem_i_divide_enough(const vem_i_divider *t)
{
    return 1e-8 * fabs(t->free_energy) * t->objective->total;
}

/* Between two rounds (divide_record.c). Read, the model has room for the most
 * clusters. */
void vem_i_divide_record(vem_i_record *record, vem_i_divider *t);
/* Refuses labels that are not those of the model, when the groups are read. */
void vem_i_divide_check(vem_i_record *record, const vem_i_divider *t);

/* ---- Rounds (divide.c) ---- */

static inline int vem_i_divide_is_over(const vem_i_divider *t)
{
    return t->run->watch->stop || vem_i_late(t->run);
}
/* The loop's result is the best so far, as vem_i_divide_take says, and it goes into the path. */
vem_status vem_i_divide_keep(vem_i_divider *t, vem_i_divide_loop *l, double worth,
                             vem_i_move_name move, int64_t count);
/* Statistics of what is best now. seen: of so many clusters, which were looked at; or NULL. */
void vem_i_divide_look(vem_i_divider *t, const double *seen, int32_t count);

/* ---- Moves (divide_moves.c; divide_fewest.c) ---- */

/* Their state is a vem_i_divider. */
extern const vem_i_move vem_i_move_split_join, vem_i_move_resplit, vem_i_move_settle,
    vem_i_move_soften, vem_i_move_beside;

/* ---- Loops (divide_loop.c) ---- */

/* first: the clusters of that model which the items are in, or hold first; or NULL. No
 * search can lose what is known by them. last: to the very end. */
vem_status vem_i_divide_run(vem_i_divider *t, const vem_model *start,
                            const int32_t *first, int last, vem_i_divide_loop *l);
/* What a loop found is worth, per unit of mass: its free energy or, where clusters share
 * a shape, what the objective says of its labels; -inf: it has not begun. Its groups are
 * t->next, then. */
double vem_i_divide_worth(vem_i_divider *t, const vem_i_divide_loop *l);

/* The loop's result is the best so far; `count` changes by the move of that name led to it. */
vem_status vem_i_divide_take(vem_i_divider *t, vem_i_divide_loop *l, double worth,
                             vem_i_move_name move, int64_t count);

/* ---- Boxes (divide_boxes.c) ---- */

/* For loops with these options, if those take some. */
vem_status vem_i_divide_boxes(vem_i_divider *t, const vem_options *options);
/* Those that there may be, for a plan. */
vem_status vem_i_divide_plan_boxes(vem_i_divider *t);

/* ---- Prices (divide_price.c) ---- */

/* Divisions of all clusters that were not looked at as they are now, into t->moves. 0:
 * there was no time for all. */
int vem_i_price_divisions(vem_i_divider *t);
/* What it takes to look at all pairs, run dry. */
void vem_i_price_plan(vem_i_divider *t);
/* Near pairs, in *list, which the caller frees, the best to join first. */
vem_status vem_i_price_pairs(vem_i_divider *t, vem_i_change **list, int64_t *count);
/* The first of these that were not yet, divided anew, into t->moves; as above. */
int vem_i_price_anew(vem_i_divider *t, const vem_i_change *pairs, int64_t count);
/* The better one first. */
int vem_i_by_gain(const void *a, const void *b);

/* ---- Changes (divide_make.c) ---- */

/* Keeps of t->moves those that gain, of clusters that lie apart, the best first, within
 * the limits. Returns how many. */
int64_t vem_i_choose_moves(vem_i_divider *t);
/* The first `count` of them, made on t->groups, as t->next and t->to. */
void vem_i_make_moves(vem_i_divider *t, int64_t count);
/* The groups of the items after these moves, into t->first; `labels`: before them. */
void vem_i_moved_labels(vem_i_divider *t, int64_t count, const int32_t *labels);

/* ---- Memory (divide_new.c) ---- */

vem_status vem_i_divider_new(vem_i_divider *t);
void vem_i_divider_free(vem_i_divider *t);

/* ---- The path (divide_beside.c) ---- */

/* A mixture that was found beside the best: *model is taken over where it is the best of
 * those. */
void vem_i_divide_offer(vem_i_divider *t, vem_model **model, double worth);
/* Where items share clusters: a loop from this one, for the path (divide.c). */
vem_status vem_i_divide_try(vem_i_divider *t, const vem_model *start);

/* At the end: mixtures of one cluster more and of a few fewer. The groups are used up. */
vem_status vem_i_divide_beside(vem_i_divider *t);
/* The best division in two of the groups there are, as t->next, t->to and t->first. 0: there is none. */
int vem_i_divide_best(vem_i_divider *t);
/* After that: divisions up to the fewest clusters that there may be (divide_fewest.c). */
vem_status vem_i_divide_fewest(vem_i_divider *t);
/* After that, with --finish soft (divide_finish.c). The path stays as it is. */
vem_status vem_i_divide_finish(vem_i_divider *t);

#endif
