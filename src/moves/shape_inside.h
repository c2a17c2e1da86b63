/* Shared by the files that give halves shapes: of items that are all there (shape.c), and of items that
 * processes share (swap_apart.c). */
#ifndef VEM_MOVES_SHAPE_INSIDE_H
#define VEM_MOVES_SHAPE_INSIDE_H

#include "moves/halves.h"
#include "moves/shape.h"

/* Scratch of one thread. */
typedef struct vem_i_shape_bench {
    vem_i_halves two;
    vem_model *best;
    void *panels;      /* VEM_I_BLOCK x d of T */
    void *now, *costs; /* VEM_I_BLOCK and twice that of T: of the whole, of the halves */
    void *weights;     /* 2 x VEM_I_BLOCK of T */
    void *wide;        /* 2 x d of T: means across the widest direction */
    double *means;     /* 2 x d: the best of a few starts */
} vem_i_shape_bench;

struct vem_i_shaper {
    const vem_i_em *em;
    const vem_i_splitter *splitter;
    vem_i_run alone; /* what a task calls runs on its own thread */
    int64_t fewest;
    int threads;
    vem_i_shape_bench *benches;
};

/* One pass over the items of a cluster. */
typedef struct vem_i_shape_passed {
    double gain;
    double mass;
    int64_t items[2];
} vem_i_shape_passed;

/* The three first halves, in their order. */
typedef enum vem_i_shape_start {
    VEM_I_SHAPE_WIDE,
    VEM_I_SHAPE_OWN,
    VEM_I_SHAPE_CORE,
    VEM_I_SHAPE_STARTS
} vem_i_shape_start;

/* Both halves where the cluster is, with its shape or what the start makes of it. */
void vem_i_shape_begin(const vem_i_shaper *shaper, vem_i_shape_bench *bench,
                       int32_t cluster, vem_i_shape_start start);
/* Is it tried for this family? */
int vem_i_shape_tries(const vem_i_shaper *shaper, vem_i_shape_start start);
/* Items of a cluster of n that 2-means in its own metric begins from, and the k-th of them. */
int64_t vem_i_shape_some(int64_t n);
static inline int64_t vem_i_shape_pick(int64_t n, int64_t k)
{
    return k * n / vem_i_shape_some(n);
}
/* The means that those, which are one lot, lead to. */
void vem_i_shape_own_means(vem_i_shaper *shaper, vem_i_shape_bench *bench,
                           const vem_i_splittable *some);
/* Pass `pass` from there (0, 1, ...), with the scorer of the pair as it is: its sums are added to
 * the statistics of the bench and to `passed`. */
void vem_i_shape_pass(const vem_i_shaper *shaper, vem_i_shape_bench *bench,
                      const vem_i_splittable *cluster, vem_i_shape_start start, int pass,
                      vem_i_shape_passed *passed);
/* The pair and its scorer after it, *best and bench->best if they are better. 0: it was the last. */
int vem_i_shape_follow(vem_i_shaper *shaper, vem_i_shape_bench *bench, int32_t cluster,
                       vem_i_shape_start start, int pass,
                       const vem_i_shape_passed *passed, double *best);

#endif
