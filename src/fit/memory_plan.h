/* What a fit will take, before it takes it: bytes (memory_plan.c) and seconds
 * (time_estimate.c). */
#ifndef VEM_FIT_MEMORY_PLAN_H
#define VEM_FIT_MEMORY_PLAN_H

#include "data/data.h"
#include "fit/machine_speed.h"
#include "fit/programme.h"

/* The fit in question. */
typedef struct vem_i_plan {
    vem_i_run *run;
    vem_i_programme programme;
    int64_t n;
    int32_t d;
    vem_dtype type;
    int weighted;       /* the rows have weights */
    int sparse;         /* the rows are, and are not copied */
    int64_t row_values; /* that a row has, on average: d, or of sparse rows fewer */
    int widens; /* the copy of the rows is of the type of the arithmetic in any case */
    uint64_t beside;          /* bytes of what is kept and used beside the fit */
    uint64_t taken, highest;  /* that were taken for it before, so that they are in no
                                 `left` any more; and the most that there were of these */
    int spill;                /* its copy of the rows rests in a temporary file */
    uint64_t limit;           /* most resident bytes while it runs; 0: none */
    const vem_i_speed *speed; /* measured; NULL: usual rates */
    const char
        *clusters_by; /* the option that says how many clusters, where a verb has no other
                                 that makes a fit smaller; NULL: it has all of them */
} vem_i_plan;

/* `asked`: as given, to tell what is ours to choose. */
vem_i_plan vem_i_plan_of(vem_i_run *run, const vem_data *data, const vem_options *asked,
                         const vem_options *resolved, int warm);
/* The same fit with other options, which are resolved too. */
vem_i_plan vem_i_plan_with(const vem_i_plan *plan, const vem_options *options);
/* How its copy of the rows rests: as the data are stored, where all stages can read them so. */
vem_i_stored_type vem_i_plan_stored(const vem_i_plan *plan);
/* Bytes of that. */
uint64_t vem_i_plan_rows(const vem_i_plan *plan);
/* Bytes beside the input at the peak. */
uint64_t vem_i_plan_bytes(const vem_i_plan *plan);
/* About how long, from the work that can be counted before it is done. */
double vem_i_plan_seconds(const vem_i_plan *plan);
/* The part of it that comes after the last step. */
double vem_i_plan_seconds_after(const vem_i_plan *plan);
/* What estimates take the machine for where nothing was measured. */
vem_i_speed vem_i_speed_usual(const vem_i_plan *plan);

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

#endif
