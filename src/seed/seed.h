/* Where the means start: rows of the data, chosen by one of four methods. All weighted;
 * random numbers are keyed by the seed and the number of the center, so threads change
 * nothing. */
#ifndef VEM_SEED_SEED_H
#define VEM_SEED_SEED_H

#include "data/view.h"
#include "model/contract.h"

typedef struct vem_i_seeds {
    int64_t *items;  /* the C rows chosen, by their numbers in the whole */
    int32_t chosen;  /* how many were, when a stop was requested before the last */
    double variance; /* HFL (8) for these centers when the method knows it, else NAN */
    int64_t pairs;   /* distances evaluated */
    const vem_progress
        *told; /* how far the whole is of which this is a part; NULL: this is all */
    int32_t
        *first; /* NULL, or one per item: the number in `items` of a chosen center that
                        is near; -1 where the method does not know one */
    const double
        *totals; /* of sparse rows, for k-means++: what their values are divided by
                             (roots.h) */
} vem_i_seeds;

/* Room for the rows that will be chosen; `items` is the caller's to free. */
vem_status vem_i_seeds_room(vem_i_run *run, int32_t clusters, vem_i_seeds *seeds);
/* `items` has room for `clusters` rows. Run dry (base/memory.h), it counts what a method takes. */
vem_status vem_i_seed(vem_i_run *run, const vem_view *view, vem_seeding method,
                      int32_t clusters, int64_t chain, uint64_t seed, vem_i_seeds *seeds);

/* The same among rows as this family sees them (counts.c). Where its clusters have no places `first` is
 * not known. */
vem_status vem_i_seed_for(vem_i_run *run, const vem_view *view,
                          const vem_i_family *family, vem_seeding method,
                          int32_t clusters, int64_t chain, uint64_t seed,
                          vem_i_seeds *seeds);
enum { VEM_I_SEED_VALUES = 1 << 24 }; /* of a table of them */
/* Among how many, of a family without places; and do these methods go through sparse rows as they are, without a table? */
int64_t vem_i_seed_rows(int64_t n, int32_t d, const vem_i_family *family, int sparse,
                        vem_seeding method, int32_t clusters);
/* Values that k-means++ reads in a pass over n rows of so many values each. */
double vem_i_seed_values(const vem_i_family *family, int64_t n, int32_t d,
                         int64_t row_values, int64_t clusters);
static inline int vem_i_seed_stays_sparse(vem_seeding method)
{
    return method == VEM_SEED_PLUSPLUS || method == VEM_SEED_PLUSPLUS_GREEDY;
}

/* The methods. They write `first` where they know it, and leave it alone elsewhere. */
vem_status vem_i_seed_random(vem_i_run *run, const vem_view *view, int32_t clusters,
                             uint64_t seed, vem_i_seeds *seeds);
vem_status vem_i_seed_plusplus(vem_i_run *run, const vem_view *view, int32_t clusters,
                               int32_t candidates, uint64_t seed, vem_i_seeds *seeds);
vem_status vem_i_seed_two_level(vem_i_run *run, const vem_view *view, int32_t clusters,
                                uint64_t seed, vem_i_seeds *seeds);
vem_status vem_i_seed_afkmc2(vem_i_run *run, const vem_view *view, int32_t clusters,
                             int64_t chain, uint64_t seed, vem_i_seeds *seeds);

/* Draws of items with given chances: the sum per shard, then a walk inside one shard. */
enum { VEM_I_SEED_SHARD = 1024 };
typedef struct vem_i_sampler {
    vem_i_run *run; /* NULL: of one process */
    const vem_view *view;
    int64_t shards;
    double *sums; /* per shard */
    double total;
    /* Of several processes: */
    int64_t from, to;   /* the shards counted here (data/together.h), */
    double before, end; /* and what comes before them; and all of it, added up in order */
} vem_i_sampler;
/* `sums` have changed. */
void vem_i_sampler_add_up(vem_i_sampler *sampler);
/* The chances are the masses. */
void vem_i_sampler_by_mass(vem_i_sampler *sampler);
/* Chance of item i; must be >= 0 and the same at every call between two updates. */
typedef double (*vem_i_chance)(const void *arg, int64_t item);
/* The item at `uniform` in [0, 1) of the cumulated chances (NULL: the masses); never one of chance
 * 0 unless all are 0. */
int64_t vem_i_sampler_draw(const vem_i_sampler *sampler, vem_i_chance chance,
                           const void *arg, double uniform);

/* Several draws; their numbers in the whole. Of several processes all make the same call. */
void vem_i_sampler_draw_all(const vem_i_sampler *sampler, vem_i_chance chance,
                            const void *arg, const double *uniforms, int64_t count,
                            int64_t *numbers);

/* Candidates per center of greedy k-means++. */
int32_t vem_i_greedy_candidates(int32_t clusters);
/* AFK-MC2 in pieces, so that the papers' numbers can be tested. */
/* Proposal q_i = w_i d2_i / (2 sum w d2) + w_i / (2 W); w_i / W when all d2 are 0. */
double vem_i_afkmc2_proposal(double mass, double d2, double total_mass,
                             double total_weighted_d2);
/* The state a chain ends in: candidate numbers 0 .. length-1, keys w d2 / q, and one
 * uniform per proposal (the first is not used). */
int64_t vem_i_afkmc2_chain(const double *keys, const double *uniforms, int64_t length);

#endif
