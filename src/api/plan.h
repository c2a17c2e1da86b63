/* What a fit will take, before it takes it: bytes (plan.c) and seconds (forecast.c). */
#ifndef VEM_API_PLAN_H
#define VEM_API_PLAN_H

#include "api/pace.h"
#include "base/options.h"
#include "data/data.h"

/* The fit in question. */
typedef struct vem_i_plan {
    vem_ctx *ctx;
    vem_options options; /* resolved */
    int64_t n;
    int32_t d;
    vem_dtype type;
    int weighted;           /* the rows have weights */
    int ours;               /* no preset: the fit may add loops of its own */
    int warm;               /* it starts from a model */
    int spill;              /* its copy of the rows rests in a temporary file */
    uint64_t limit;         /* most resident bytes while it runs; 0: none */
    const vem_i_pace *pace; /* measured; NULL: usual rates */
} vem_i_plan;

/* `asked`: as given, to tell what is ours to choose. */
vem_i_plan vem_i_plan_of(vem_ctx *ctx, const vem_data *data, const vem_options *asked,
                         const vem_options *resolved, int warm);
/* Bytes beside the input at the peak. */
uint64_t vem_i_plan_bytes(const vem_i_plan *plan);
/* About how long, from the work that can be counted before it is done. */
double vem_i_plan_seconds(const vem_i_plan *plan);
/* The part of it that comes after the last step. */
double vem_i_plan_seconds_after(const vem_i_plan *plan);
/* Steps that such a fit usually takes. */
double vem_i_plan_steps(const vem_i_plan *plan);
/* What forecasts take the machine for where nothing was measured. */
vem_i_pace vem_i_pace_usual(const vem_i_plan *plan);

/* Bytes in temporary files; 0 where nothing is spilled. */
uint64_t vem_i_plan_spilled(const vem_i_plan *plan);

/* What the fit may take beside what there is now: by --memory, else by the machine, and
 * without what is kept for mapped pages of `data`. 0: not known. */
uint64_t vem_i_plan_allowed(const vem_i_plan *plan, const vem_data *data);
/* A sentence and VEM_NO_MEMORY when the fit takes more than `allowed` (0: anything). */
vem_status vem_i_plan_check(const vem_i_plan *plan, uint64_t allowed);
/* All in memory where that fits, else the rows in a temporary file (sets `spill` and
 * `limit`), else a refusal. */
vem_status vem_i_plan_settle(vem_i_plan *plan, const vem_data *data);

/* The options of a fit of these data from this start (NULL: none), or why it cannot be
 * (fit.c). */
vem_status vem_i_fit_resolve(vem_ctx *ctx, const vem_data *data,
                             const vem_options *options, const vem_model *start,
                             vem_options *resolved);

#endif
