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
 *     groups     the C' best of what items that lie together share, or of the buckets of
 *                clusters nearest to the item (groups.h)
 *     boxes      as closest; hard items of dense rows are labelled box by box of a tree, with
 *                the same labels (boxes.h)
 *
 * Options become a spec, plain numbers that memory plans and forecasts look at too; a spec
 * becomes a search, an object with the state of its kind behind it. Nobody outside src/search
 * asks which kind it is: a type says what others need to know, and does the rest. */
#ifndef VEM_SEARCH_SEARCH_H
#define VEM_SEARCH_SEARCH_H

#include "base/memory.h"
#include "base/record.h"
#include "coarse/block.h"
#include "comm/comm.h"

struct vem_i_search_type;
struct vem_i_tour;
struct vem_i_boxes;

/* What is asked for. */
typedef struct vem_i_search_spec {
    const struct vem_i_search_type *type;
    int whole;        /* every item tries every cluster: what it held tells nothing */
    int32_t dense;    /* costs of all clusters are kept */
    int32_t clusters; /* to begin with: they may become fewer, or more, */
    int32_t capacity; /* up to so many */
    int32_t held;     /* C'; the capacity where all are held */
    double margin;    /* hard: a row moves only for a gain beyond it (lazy-kmeans) */
    int32_t reach;    /* clusters of a neighborhood or of a shared list */
    int32_t explore;  /* candidates drawn at random per item and step */
    uint64_t seed;    /* of those draws */
    int32_t probe;    /* buckets of a probe, at most */
    const struct vem_i_boxes
        *boxes; /* boxes: borrowed, for several loops over the same rows; NULL: its own */
} vem_i_search_spec;

/* What a step does, where the search leaves a choice. */
typedef struct vem_i_step_plan {
    int probe;        /* buckets probed per item; 0: shared lists */
    int only_far;     /* only items farther than the average probe */
    int fresh;        /* the lists are found anew even if there are some */
    int look_further; /* the best cluster not held is found too (em/posterior.h) */
} vem_i_step_plan;

/* All items labelled at once: what was done. */
typedef struct vem_i_labelled {
    double cost;     /* sum w v(i, label) */
    int64_t changed; /* items with a mass whose label is another */
    int64_t bounds,
        scored;   /* bounds of a cluster over a box; pairs of an item and a cluster */
    int64_t bulk; /* items that were labelled box by box */
    int skipped;  /* a stop left some out */
} vem_i_labelled;

/* A search; types put their own state behind it. */
typedef struct vem_i_search {
    vem_i_search_spec spec;
    vem_i_run *run;
    const vem_view *view;
    const vem_i_scorer *scorer;
    vem_i_block *blocks; /* per thread */
    char *scratch;       /* per thread, as the type wants it */
    int32_t extra;       /* 1: lists go on with the best cluster that is not held */
    /* Set by the type where the usual does not do. */
    int64_t shard; /* items that a thread takes at a time; 0: as the E-step likes */
    int64_t wave;  /* learning: shards that are merged together; 0: it learns nothing */
    int32_t tried; /* clusters that an item tries, about; 0: all */
    int labels;    /* 1: there may be steps in which all items are labelled at once */
    int labelled;  /* the last step was one */
} vem_i_search;

enum { VEM_I_SEARCH_ARRAYS = 24, VEM_I_SEARCH_FOUND = 72 };

/* One per kind. Functions may be NULL where there is nothing to do, but for work, shape,
 * next_block and find. `held` is what all items hold (n x held, -1: none); NULL: nothing
 * yet. */
typedef struct vem_i_search_type {
    size_t size; /* of the object, which begins with a vem_i_search */
    int ordered; /* keeps the items in the order of what they hold */
    int probes;  /* steps differ: lists are shared or buckets probed (em/schedule.h) */
    int apart; /* what an item holds follows from the model and from what it held: then items may be
                  those of several processes */
    int takes_margin; /* --margin: hard items stay where the gain is small (spec.margin) */

    /* Before there is one. */
    /* Why it is taken where the choice is ours, in words; NULL: all clusters are tried. */
    void (*tell)(const vem_options *options, char *text, size_t size);
    vem_i_block_shape (*shape)(const vem_i_search_spec *spec,
                               const vem_i_kernels *kernels);
    /* A struct of arrays that each thread has beside its block: its size, and a list of at
     * most VEM_I_SEARCH_ARRAYS of them. Returns how many. */
    size_t scratch_size;
    size_t (*scratch)(const vem_i_search_spec *spec, int32_t d,
                      const vem_i_kernels *kernels, void *scratch, vem_i_room *list);
    /* Items that no process can have in part, where the shards of the search are its own: those of one, or
     * of a wave. */
    int64_t (*stretch)(const vem_i_search_spec *spec);
    /* What a step over n items costs, in pairs of `pair` operations each. */
    double (*work)(const vem_i_search_spec *spec, double n, double pair);

    /* The rest of its state: blocks and scratch are there; `free` meets what `create` left. */
    vem_status (*create)(vem_i_search *search);
    void (*free)(vem_i_search *search);

    /* One E-step. `average`: cost of the nearest cluster in the step before. */
    int64_t (*prepare)(vem_i_search *search, const vem_i_step_plan *plan, double average,
                       const int32_t *held); /* returns the pairs scored */
    /* The next items of a shard, from position i on. Returns what they held. */
    const int32_t *(*next_block)(vem_i_search *search, vem_i_block *block, int64_t i,
                                 int64_t end, const int32_t *held);
    /* The lists, or costs, of the block. before: what its items held, or NULL. */
    void (*find)(vem_i_search *search, vem_i_block *block, const int32_t *before);
    /* All items at once, where each holds one cluster: labels into `held` (known: there are some), the
     * statistics of what is held, about the scorer's means, and what it took. 0: not in this
     * step, which goes block by block. NULL: never. */
    int (*label)(vem_i_search *search, int32_t *held, int known, const vem_progress *told,
                 int may_skip, vem_i_stats *stats, vem_i_labelled *result);
    /* Learning: shard number `slot` of a wave begins and ends on the thread of its block;
     * a wave of so many shards is over. */
    void (*begin_shard)(vem_i_search *search, const vem_i_block *block, int64_t slot);
    void (*end_shard)(vem_i_search *search, const vem_i_block *block, int64_t slot);
    void (*end_wave)(vem_i_search *search, int64_t shards);
    /* The step is over. found: items were searched, not only scored again. */
    void (*settle)(vem_i_search *search, int found);
    /* What the waves of this process have left for that, at most VEM_I_SEARCH_FOUND blocks; and the same back from
     * all of these in one; 0: that is no such thing. */
    int (*found)(const vem_i_search *search, vem_i_kept *list);
    int (*found_again)(vem_i_search *search, const vem_i_kept *kept);

    /* Between steps. */
    /* The items hold clusters that are near: begin with what the means alone can tell. Adds
     * to the distances taken. */
    vem_status (*start)(vem_i_search *search, int64_t *pairs);
    /* Clusters were dropped: `map` gives the new number of each, -1: gone. */
    void (*renumber)(vem_i_search *search, const int32_t *map, int32_t clusters);
    /* A cluster was put beside another. It may be one more than there were, up to the capacity of
     * the spec: a search that remembers clusters learns of it here, before its next step.
     * Neighborhoods stay as long as they were (`reach`). */
    void (*place)(vem_i_search *search, int32_t cluster, int32_t beside);
    /* The items in the order of the cluster they hold first, made anew where it is old. */
    const struct vem_i_tour *(*order)(vem_i_search *search, const int32_t *held);
    /* What the next step needs to know; `clusters` are those of the model now, and `held`
     * was recorded before. */
    void (*record)(vem_i_record *record, vem_i_search *search, int32_t clusters,
                   const int32_t *held);
} vem_i_search_type;

/* VEM_SEARCH_TABLE (vem.h) names them; each stands in a file of its own. */
#define VEM_I_SEARCH_TYPE(NAME, name, whole)                                             \
    extern const vem_i_search_type vem_i_search_type_##name;
VEM_SEARCH_TABLE(VEM_I_SEARCH_TYPE)
#undef VEM_I_SEARCH_TYPE

/* What a fit with these options uses. */
vem_i_search_spec vem_i_search_for(const vem_options *options, uint64_t seed);
const vem_i_search_type *vem_i_search_type_of(int kind);
/* This one, where its items may be anywhere, or else the one nearest to it whose may; VEM_AUTO: it is
 * this one, and need not be said. */
int vem_i_search_apart(int kind);
/* The one that tries all clusters and holds the closest. */
int vem_i_search_plain(void);
/* The searches that try all clusters: holding all of them, or the closest. */
vem_i_search_spec vem_i_search_all(int32_t clusters);
vem_i_search_spec vem_i_search_closest(int32_t clusters, int32_t held, double margin);

/* Room for more clusters. */
void vem_i_search_make_room(vem_i_search_spec *spec, int32_t capacity);

vem_status vem_i_search_new(vem_i_run *run, const vem_i_search_spec *spec,
                            const vem_view *view, const vem_i_scorer *scorer,
                            vem_i_search **search);
void vem_i_search_free(vem_i_search *search);
/* Clusters of an item that a sparse posterior stores; 1 where all are held. */
static inline int32_t vem_i_search_width(const vem_i_search_spec *spec)
{
    return spec->dense ? 1 : spec->held;
}
/* next_block for items as they lie. */
const int32_t *vem_i_search_next(vem_i_search *search, vem_i_block *block, int64_t i,
                                 int64_t end, const int32_t *held);
/* Block `number` of the view on this thread, by a search that is whole. */
vem_i_block *vem_i_search_block(vem_i_search *search, int64_t number, int thread);

/* Longest lists kept sparse; beyond it the costs of all clusters are kept (dense). */
enum { VEM_I_SPARSE_MAX = VEM_I_TOP_MAX - 1 };

/* Of searches that try all clusters: are lists slower than the costs of all? Then it is `all`,
 * whichever of them was asked for. */
static inline int vem_i_search_is_long(int64_t clusters, int64_t held)
{
    return (held >= clusters && held > 1) || held > VEM_I_SPARSE_MAX;
}

#endif
