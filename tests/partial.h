/* Partial E-steps (Forster and Luecke 2018), taken apart and written down again.
 *
 * `partial` runs one E-step of a neighborhood search through the pieces of the engine,
 * with the graph and what the items hold in the test's hands. `naive_partial` is a whole
 * fit as the paper has it: the averages over all touched pairs in a C x C matrix, plain
 * loops, double; it shares the random draws with the engine and nothing else. */
#ifndef VEM_TESTS_PARTIAL_H
#define VEM_TESTS_PARTIAL_H

#include "data/points.h"
#include "em/estep.h"
#include "grid.h"
#include "search/graph.h"

typedef struct partial {
    vem_ctx *ctx;
    vem_data *rows;
    vem_i_points *points;
    vem_model *model; /* about the origin of the view */
    vem_i_scorer scorer;
    vem_i_search *search;
    vem_i_graph *graph; /* the same */
    vem_i_posterior posterior;
    vem_i_stats stats;
    vem_i_estep *estep; /* normalises and collects what `partial_find` found */
    int64_t pairs;      /* of the last partial_find, the graph's included */
    int32_t *tried;     /* n x candidates: what each item tried, -1 behind the last */
    int32_t candidates;
} partial;

/* Double precision. Nothing is held at first: the first step draws. */
void partial_new(partial *p, vem_ctx *ctx, const grid_data *data, const vem_model *model,
                 vem_i_search_spec search);
void partial_free(partial *p);
/* Items begin to hold this (n x held). */
void partial_hold(partial *p, const int32_t *held);
/* One search, evidence included; the graph stays as it is until partial_settle. */
void partial_find(partial *p);
void partial_settle(partial *p);
/* The search itself: kind exact or estimated. */
vem_i_search_spec partial_spec(int kind, int32_t clusters, int32_t held, int32_t reach,
                               int32_t explore, uint64_t seed);
/* F per unit of mass and the statistics of what is held. */
double partial_normalize(partial *p);
/* The M-step. */
void partial_maximize(partial *p, vem_prior_kind prior);
/* Sum and count of the distances between items nearest to c and cluster t. */
void partial_evidence(const partial *p, int32_t c, int32_t t, double *sum, int *count);

/* A shared isotropic, flat fit with the estimated graph. */
typedef struct naive_partial {
    const grid_data *data;
    int32_t clusters, held, reach, explore;
    uint64_t seed;
    double *means, variance;
    int32_t *holds, *graph; /* n x held, clusters x reach */
    int64_t step, pairs;    /* steps done; pairs of the last */
    double free_energy;     /* of the last, per unit of mass */
} naive_partial;

naive_partial naive_partial_new(const grid_data *data, const vem_model *start,
                                int32_t held, int32_t reach, int32_t explore,
                                uint64_t seed);
void naive_partial_free(naive_partial *p);
void naive_partial_estep(naive_partial *p);
void naive_partial_mstep(naive_partial *p);

/* A fit by a neighborhood search: flat, double, tolerance 0, random seeds. */
vem_options partial_options(int kind, int64_t clusters, int family, int64_t held,
                            int64_t reach, int64_t explore, int64_t max_steps);
/* F never falls but after a move; every row has a label. */
void partial_assert_sound(const grid_fit *fit);

#endif
