/* The loop of a fit in pieces, in the test's hands: E-step, swaps, M-step one by one, and
 * costs worked out plainly from the model. */
#ifndef VEM_TESTS_ENGINE_H
#define VEM_TESTS_ENGINE_H

#include "data/points.h"
#include "em/em.h"
#include "grid.h"

typedef struct engine {
    vem_ctx *ctx;
    vem_data *rows;
    vem_i_points *points;
    vem_options options;
    vem_i_em em; /* its model is in the units of the view */
} engine;

/* The loop that would run with these options from this start, with no schedule: every step
 * is plain unless the test says otherwise. Swaps are made ready where options.swaps > 0, and with
 * options.balance prices, by the even prior; with both, swaps that know the penalty. */
void engine_new(engine *e, vem_ctx *ctx, const grid_data *data,
                const vem_options *options, const vem_model *start);
/* The same with room for so many clusters. */
void engine_new_with_room(engine *e, vem_ctx *ctx, const grid_data *data,
                          const vem_options *options, const vem_model *start,
                          int32_t capacity);
void engine_free(engine *e);
/* One E-step of the model as it is now: F per unit of mass. */
double engine_expect(engine *e, vem_i_step_plan plan);
/* Statistics of what is held, and the M-step. */
void engine_collect(engine *e);
void engine_maximize(engine *e, double relax);
/* A round of swaps: how many were made, and what it promised. */
int64_t engine_swap(engine *e, double *promised);

/* log p(c, x_i) of a cluster of any model in the units of the view, and of the engine's; in
 * the units of the data, plainly, every family. */
double engine_log_joint_of(const engine *e, const vem_model *model, int64_t item,
                           int32_t cluster);
double engine_log_joint(const engine *e, int64_t item, int32_t cluster);
/* F per unit of mass of what is held now, by that. */
double engine_free_energy(const engine *e);
/* What every item holds are distinct clusters; at least one. */
void engine_assert_sets(const engine *e);

#endif
