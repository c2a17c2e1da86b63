/* --time: how much of a fit there is time for, what is given up, and until when. */
#ifndef VEM_FIT_BUDGET_H
#define VEM_FIT_BUDGET_H

#include "fit/memory_plan.h"
#include "fit/report.h"

typedef struct vem_i_budget {
    double asked;    /* --time, for messages */
    double seconds;  /* that are left of it; 0: as many as it takes */
    double whole;    /* estimate for all that was asked, in seconds */
    double after;    /* of it: after the last step of what was chosen */
    int64_t rows;    /* that would be fitted without a limit */
    int64_t coreset; /* that are fitted instead; 0: as asked */
    int64_t held; /* clusters of a row that would be held, where fewer are; 0: as asked */
    int64_t steps; /* that should fit; 0: as many as such a fit takes */
    int rows_stay; /* what was asked for does not go with a coreset */
    int sampled;   /* measures of all rows were asked for; a sample is taken */
    int fits;      /* the estimate for what was chosen is within the time */
} vem_i_budget;

/* The most that fits on a machine of this speed. `resolved`: the options of the whole fit,
 * and then of what was chosen; nothing else decides, and no option that was asked for is
 * changed but `measure`. */
vem_status vem_i_budget_choose(vem_i_run *run, const vem_data *data,
                               const vem_options *asked, const vem_model *start,
                               const vem_i_speed *speed, vem_options *resolved,
                               vem_i_budget *budget);
/* All that is decided before a fit: its options, what --time leaves of them, and its programme
 * with what it takes. */
vem_status vem_i_plan_fit(vem_i_run *run, const vem_data *data, const vem_options *asked,
                          const vem_model *start, vem_options *resolved,
                          vem_i_budget *budget, vem_i_plan *plan);
/* What it takes, in numbers, after vem_i_plan_settle. */
vem_forecast vem_i_plan_forecast(const vem_i_plan *plan, const vem_data *data,
                                 const vem_i_budget *budget);
/* The clock is set: for the work up to the last step, then for what comes after. */
void vem_i_budget_begin(vem_i_run *run, const vem_i_budget *budget);
void vem_i_budget_end_steps(vem_i_run *run, const vem_i_budget *budget);
/* At the end, among the report's notes: what was given up, and how far it came. */
void vem_i_budget_say(vem_report *report, const vem_i_budget *budget);
/* Time ran out before there was a model: the sentence. */
vem_status vem_i_budget_fail(vem_i_run *run, const vem_i_budget *budget,
                             int64_t clusters);

#endif
