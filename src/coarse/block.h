/* A block of items: what one thread looks at together, and what a search found for it. */
#ifndef VEM_COARSE_BLOCK_H
#define VEM_COARSE_BLOCK_H

#include "base/memory.h"
#include "model/family.h"

/* Rows of costs scored at a time where they pass through scratch. */
enum { VEM_I_TILE = 64 };

/* How large a search wants its blocks. */
typedef struct vem_i_block_shape {
    int32_t items;     /* a block may have; also ldv */
    size_t packed;     /* items packed at a time; 0: rows are scored as they lie */
    size_t rows;       /* of costs */
    int dense;         /* the costs are those of all clusters; else of lists */
    size_t tile_rows;  /* of costs of what is tried */
    size_t trial_rows; /* of clusters that are tried */
    size_t again_rows; /* of lists of items that are looked at again (nearest.c) */
} vem_i_block_shape;

/* Items of a block that are scored a second time. */
typedef struct vem_i_again {
    void *panels, *norms, *costs;
    int32_t *index;
    uint32_t *items;
} vem_i_again;

/* Scratch of one thread and the result for one block. Rows are `capacity` apart. */
typedef struct vem_i_block {
    vem_i_run *run;
    const vem_view *view;
    const vem_i_scorer *scorer;
    int thread;
    int64_t first;     /* item of the view */
    vem_i_items items; /* of the view: listed, or those from `first` on; packed or not */
    int32_t n;         /* of them */
    int32_t capacity;
    void *panels, *norms;
    void *costs;      /* lists: held + 1 rows, best first; dense: C rows */
    int32_t *index;   /* lists: held + 1 rows of clusters; -1: none */
    void *best;       /* dense: 1 row, cost of the nearest */
    int32_t *nearest; /* dense: 1 row, cluster of least cost */
    void *tile;       /* costs of what is tried */
    int32_t *trial;   /* clusters that are tried */
    vem_i_again again;
    void *scratch; /* what the search has for this thread beside all that */
    int64_t pairs; /* scored so far */
} vem_i_block;

vem_status vem_i_block_new(vem_i_run *run, const vem_i_block_shape *shape,
                           const vem_view *view, const vem_i_scorer *scorer, int thread,
                           vem_i_block *block);
void vem_i_block_free(vem_i_block *block);

/* Make the block hold items first .. first+n-1, packed where the search wants that. */
void vem_i_block_load(vem_i_block *block, int64_t first, int32_t n);
/* Make it hold listed items, which the search packs as it needs them. */
void vem_i_block_take(vem_i_block *block, const uint32_t *items, int32_t n);
static inline int64_t vem_i_block_item(const vem_i_block *block, int32_t p)
{
    return block->items.index ? (int64_t)block->items.index[p] : block->first + p;
}

/* Costs of `rows` clusters an item, index and costs in rows ldv apart, by direct differences;
 * some items at a time, so that mapped rows can be let go of in between. */
void vem_i_block_score_pairs(vem_i_block *block, int32_t rows, const int32_t *index,
                             void *costs);
/* Score again the `held` clusters an item holds and nothing else, in order of cost. */
void vem_i_block_stay(vem_i_block *block, int32_t held, const int32_t *before);
/* Empty lists for n items: `top` rows, ldv apart. */
void vem_i_block_clear(const vem_i_kernels *kernels, void *costs, int32_t *index,
                       int32_t top, int64_t ldv, int64_t n);
/* Lists of n columns (NULL: 0, 1, ...), `top` rows ldv apart, to rows of VEM_I_BLOCK, or
 * back. */
void vem_i_lists_move(const vem_i_kernels *kernels, int32_t top, int32_t n,
                      const int32_t *columns, void *costs, int32_t *index, int64_t ldv,
                      void *packed, int32_t *packed_index, int back);
/* The best `keep` of the first `rows` trials of each item into its list; of equal ones
 * what comes first. */
void vem_i_block_keep(vem_i_block *block, int32_t rows, int32_t keep);
/* Lists of `held` in order of cost, ties by cluster. */
void vem_i_block_sort(vem_i_block *block, int32_t held);

#endif
