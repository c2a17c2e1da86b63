/* Which clusters are tried for an item: the contract of the searches.
 *
 * A search is given a block of items and finds, for each of them, the clusters it will
 * hold. What an item held before must be among what was tried; that alone makes the E-step
 * monotone.
 *
 *     all        holds every cluster: the costs of all of them, index implicit (dense)
 *     closest    holds the C' clusters of least cost (sparse lists), or, where C' is so
 *                large that lists would be slower, the costs of all, the others +inf
 *     exact      the C' best of the neighbors of what the item held; neighbors by the means
 *     estimated  the same; neighbors learned from the scored pairs (graph.h)
 *     groups     the C' best of what items that lie together share, or of the cells of
 *                clusters nearest to the item (groups.h) */
#ifndef VEM_SEARCH_SEARCH_H
#define VEM_SEARCH_SEARCH_H

#include "model/family.h"

/* Scratch of one thread and the result for one block. Arrays of costs have rows ldv
 * apart. */
typedef struct vem_i_block {
    vem_ctx *ctx;
    const vem_view *view;
    const vem_i_scorer *scorer;
    int64_t first;         /* item of the view */
    const uint32_t *items; /* groups: which items; NULL: from `first` on */
    int32_t place;         /* groups: whose list they share */
    int32_t n;
    int32_t capacity; /* items a block may have; also ldv */
    void *panels, *norms;
    void *costs;      /* sparse: held + 1 rows; dense: C rows */
    int32_t *index;   /* sparse: held + 1 rows of clusters, best first; -1: none */
    void *best;       /* 1 row: dense, cost of the nearest */
    int32_t *nearest; /* 1 row: dense, cluster of least cost */
    void *tile;       /* sparse: rows of costs of what is tried */
    int32_t *trial;   /* neighborhoods, groups: rows of clusters that are tried */
    int32_t *before;  /* groups: what the items held */
    int32_t *drawn;   /* neighborhoods: room for C' clusters */
    struct vem_i_touch *touches; /* estimated: what this shard touched so far */
    int64_t touched;
    struct vem_i_run *runs; /* estimated: which item touched what, so far */
    int32_t run_count;
    int thread;
    void *again_panels, *again_norms, *again_costs; /* items scored a second time */
    int32_t *again_index;
    uint32_t *again;
    void *column; /* dense: one item's costs, for the choice of C' among C */
    int64_t pairs;
} vem_i_block;

typedef struct vem_i_search {
    vem_search_kind kind;
    int32_t held;  /* C' */
    int32_t extra; /* 1: the list goes on with the best cluster that is not held */
    int32_t dense; /* costs of all clusters are kept */
    double
        margin; /* closest, C' = 1: a row moves only for a gain beyond it (lazy-kmeans) */
    int32_t reach,
        explore;   /* neighborhoods: G, and candidates drawn at random per item */
    uint64_t seed; /* of those draws */
    struct vem_i_graph *graph;
    int32_t group_reach, probe; /* groups: clusters of a list; cells of a probe */
    struct vem_i_groups *groups;
    /* before: clusters held by the block's items (n x held), or NULL in the first step.
     */
    void (*find)(const struct vem_i_search *search, vem_i_block *block,
                 const int32_t *before);
} vem_i_search;

/* The exact searches. */
vem_i_search vem_i_search_all(int32_t clusters);
vem_i_search vem_i_search_closest(int32_t clusters, int32_t held, double margin);
/* The neighborhood searches (kind exact or estimated); the graph is made with the E-step.
 */
vem_i_search vem_i_search_neighbors(vem_search_kind kind, int32_t clusters, int32_t held,
                                    int32_t reach, int32_t explore, uint64_t seed);
/* Shared lists; the groups are made with the E-step. */
vem_i_search vem_i_search_groups(int32_t clusters, int32_t held, int32_t reach,
                                 int32_t probe);
/* What a fit with these options uses. */
vem_i_search vem_i_search_for(const vem_options *options, uint64_t seed);

/* Costs of `rows` clusters an item, index and costs in rows ldv apart, by direct differences;
 * some items at a time, so that mapped rows can be let go of in between. */
void vem_i_block_score_pairs(vem_i_block *block, int32_t rows, const int32_t *index,
                             void *costs);
/* Score again what the items hold and nothing else, in order of cost. */
void vem_i_block_stay(const vem_i_search *search, vem_i_block *block,
                      const int32_t *before);
/* Empty lists for n items: `top` rows, ldv apart. */
void vem_i_block_clear(const vem_i_kernels *kernels, void *costs, int32_t *index,
                       int32_t top, int64_t ldv, int32_t n);
/* The best `keep` of the first `rows` trials of each item into its list; of equal ones
 * what comes first. */
void vem_i_block_keep(vem_i_block *block, int32_t rows, int32_t keep);
static inline int64_t vem_i_block_item(const vem_i_block *block, int32_t p)
{
    return block->items ? (int64_t)block->items[p] : block->first + p;
}
/* Lists of `held` in order of cost, ties by cluster. */
void vem_i_block_sort(vem_i_block *block, int32_t held);

/* Items per block: a function of the sizes alone. */
int32_t vem_i_block_items(const vem_i_search *search, int32_t clusters,
                          const vem_i_kernels *kernels);
vem_status vem_i_block_new(vem_ctx *ctx, const vem_i_search *search, const vem_view *view,
                           const vem_i_scorer *scorer, vem_i_block *block);
void vem_i_block_free(vem_i_block *block);
/* Make the block hold items first .. first+n-1, packed where the search wants that. */
void vem_i_block_load(vem_i_block *block, int64_t first, int32_t n);
/* Make it hold listed items, which the search packs as it needs them. */
void vem_i_block_take(vem_i_block *block, const uint32_t *items, int32_t n,
                      int32_t place);
uint64_t vem_i_block_bytes(const vem_i_search *search, int32_t clusters, int32_t d,
                           const vem_i_kernels *kernels);

/* Rows of costs scored at a time where they pass through scratch. */
enum { VEM_I_TILE = 64 };
/* Longest lists kept sparse; beyond it the costs of all clusters are kept (dense). */
enum { VEM_I_SPARSE_MAX = VEM_I_TOP_MAX - 1 };
/* Up to this many dimensions direct differences cost no more than the dot product's
 * bookkeeping, and they need no second look. */
enum { VEM_I_DIRECT_MAX = 16 };

#endif
