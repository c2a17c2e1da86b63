/* Shared by the files that make up a round of swaps: its prices and pairs (swap.c), and the
 * move itself (swap_make.c). */
#ifndef VEM_MOVES_SWAP_INSIDE_H
#define VEM_MOVES_SWAP_INSIDE_H

#include "em/undo.h"
#include "moves/penalty.h"
#include "moves/pieces.h"
#include "moves/shape.h"
#include "search/tour.h"

/* Clusters of one task. */
enum { VEM_I_SWAP_TOGETHER = 16 };

typedef struct vem_i_ranked {
    double value;
    int32_t cluster;
} vem_i_ranked;

/* What a round does with a cluster: one of these in `tags`. */
enum { VEM_I_UNTOUCHED = 0, VEM_I_DIVIDED, VEM_I_GONE, VEM_I_RECEIVES };

struct vem_i_swaps {
    vem_i_em *em;
    vem_i_tour tour; /* own, where the search keeps none */
    int32_t *identity;
    vem_i_splitter *splitter;
    vem_i_shaper *shaper;         /* where clusters have shapes of their own, else NULL */
    double *partial;              /* VEM_I_PIECES x C: cost of removal */
    double *turn;                 /* of several processes: 2 C */
    vem_i_ranked *removal, *gain; /* C */
    void *halves;        /* without shapes: C x 2 x d of T, means of the two halves */
    double *second;      /* without shapes: C, the share of the second half */
    unsigned char *tags; /* C */
    int32_t *partner;    /* C: what is removed for a split cluster, -1: none */
    void *costs;         /* per thread: 2 x VEM_I_BLOCK of T */
    vem_i_undo undo;     /* soft, or even: to take a round back */
    int even;         /* F less a penalty on uneven sizes is what rises (swap_even.c) */
    double strength;  /* t of the penalty; 0: not known yet */
    double penalized; /* F less the penalty, after the last round */
    double *sizes;    /* C: masses; while pairs are found, with what clusters received */
    double *more;     /* C: 0, but while a cluster is looked at */
    vem_i_told_gap *told;
    struct vem_i_swap_apart *apart;   /* where processes share the items, else NULL */
    struct vem_i_swap_handed *handed; /* even, and so */
    /* The round at hand. */
    const vem_i_tour *order;
    int64_t swaps;
};

/* The items that hold a cluster first. */
static inline vem_i_splittable vem_i_swap_toured(const vem_i_tour *tour, int32_t c)
{
    const int64_t *start = tour->starts + tour->rank[c];
    return (vem_i_splittable){.items = tour->items + start[0],
                              .n = start[1] - start[0],
                              .cluster = c};
}

static inline vem_i_splittable vem_i_swap_cluster(const struct vem_i_swaps *t, int32_t c)
{
    return vem_i_swap_toured(t->order, c);
}

/* Without shapes: the mean of a half. */
static inline char *vem_i_swap_half(const struct vem_i_swaps *t, int32_t c, int which)
{
    size_t row = (size_t)t->em->view->d * t->em->view->kernels->element;
    return (char *)t->halves + (2 * (size_t)c + (size_t)which) * row;
}

/* Who takes over an item of a cluster that goes: what it holds second, and where it holds
 * nothing else the best it does not hold. -1: nobody. */
static inline int32_t vem_i_swap_receiver(const vem_i_posterior *p, int64_t item)
{
    int32_t second = p->width > 1 ? p->held[item * p->width + 1] : -1;
    return second >= 0 ? second : p->next[item];
}

/* What a split gains where the halves keep the shape and share the weight. gain: of the squared error;
 * mass: of the halves. */
double vem_i_swap_gain_alike(const struct vem_i_swaps *swaps, int32_t cluster,
                             double gain, const double mass[2]);
/* Removed clusters go to where clusters are split: the model, the scorer, and what the items
 * hold. */
void vem_i_swap_make(struct vem_i_swaps *swaps);

/* With --balance, before a round: has F less the penalty fallen since the last one? It is known
 * then, for the others. */
int vem_i_swap_has_fallen(struct vem_i_swaps *swaps);
/* What removals cost and splits gain, with the penalty. */
void vem_i_swap_penalize(struct vem_i_swaps *swaps);
/* What the removal costs that is number `rank`, beside those that were chosen; and it is chosen. */
double vem_i_swap_cost(struct vem_i_swaps *swaps, int32_t rank);
void vem_i_swap_receive(struct vem_i_swaps *swaps, int32_t rank);
/* After it: is it less than before? */
int vem_i_swap_falls(struct vem_i_swaps *swaps);

/* ---- swap_handed.c: the same where processes share the items ---- */

/* A cluster that receives, and what. */
typedef struct vem_i_handed {
    int64_t to;
    double mass;
} vem_i_handed;

vem_status vem_i_swap_handed_new(struct vem_i_swaps *swaps);
void vem_i_swap_handed_free(struct vem_i_swaps *swaps);
/* Before pairs are found, with the removals in their order. */
void vem_i_swap_handed_begin(struct vem_i_swaps *swaps);
/* Who receives of the cluster that is number `rank` among the removals. Asked by all processes. */
const vem_i_handed *vem_i_swap_handed(struct vem_i_swaps *swaps, int32_t rank,
                                      int64_t *count);

/* ---- swap_apart.c: where processes share the items ---- */

/* Room; and it goes. */
vem_status vem_i_swap_apart_new(struct vem_i_swaps *swaps);
void vem_i_swap_apart_free(struct vem_i_swaps *swaps);

/* A round begins, with swaps->order. */
void vem_i_swap_apart_begin(struct vem_i_swaps *swaps);
/* What the split of each gains, and the halves: swaps->gain, and swaps->halves or, with shapes, two for
 * each cluster in that model. */
void vem_i_swap_apart_gains(struct vem_i_swaps *swaps);
const vem_model *vem_i_swap_apart_halves(const struct vem_i_swaps *swaps);
/* Those of its own items that hold the cluster first. */
vem_i_splittable vem_i_swap_apart_own(const struct vem_i_swaps *swaps, int32_t cluster);
/* Before pairs are found, with the removals in their order. */
void vem_i_swap_apart_pairs(struct vem_i_swaps *swaps);
/* Who takes over items of the cluster that is number `rank` among the removals: bit 1 + c for cluster
 * c, bit 0 where nobody takes one. Asked by all processes. */
const unsigned char *vem_i_swap_apart_receivers(struct vem_i_swaps *swaps, int32_t rank);

#endif
