/* --time: how much of a fit there is time for, what is given up, and until when. */
#ifndef VEM_API_EFFORT_H
#define VEM_API_EFFORT_H

#include "api/plan.h"
#include "api/report.h"

typedef struct vem_i_effort {
    double seconds;  /* asked for; 0: as many as it takes */
    double whole;    /* forecast of all that was asked, in seconds */
    double after;    /* of it: after the last step of what was chosen */
    int64_t rows;    /* that would be fitted without a limit */
    int64_t coreset; /* that are fitted instead; 0: as asked */
    int64_t held; /* clusters of a row that would be held, where fewer are; 0: as asked */
    int64_t steps; /* that should fit; 0: as many as such a fit takes */
    int sampled;   /* measures of all rows were asked for; a sample is taken */
    int fits;      /* the forecast of what was chosen is within the time */
} vem_i_effort;

/* The most that fits on a machine of this pace. `resolved`: the options of the whole fit,
 * and then of what was chosen; nothing else decides, and no option that was asked for is
 * changed but `measure`. */
vem_status vem_i_effort_choose(vem_ctx *ctx, const vem_data *data,
                               const vem_options *asked, const vem_model *start,
                               const vem_i_pace *pace, vem_options *resolved,
                               vem_i_effort *effort);
/* The same after a measurement of the machine. Without --time it does nothing. */
vem_status vem_i_effort_measure(vem_ctx *ctx, const vem_data *data,
                                const vem_options *asked, const vem_model *start,
                                vem_options *resolved, vem_i_effort *effort);
/* The clock is set: for the work up to the last step, then for what comes after. */
void vem_i_effort_begin(vem_ctx *ctx, const vem_i_effort *effort);
void vem_i_effort_end_steps(vem_ctx *ctx, const vem_i_effort *effort);
/* What was given up, and at the end how far it came, among the report's notes. */
void vem_i_effort_say(vem_report *report, const vem_i_effort *effort);
void vem_i_effort_say_end(vem_report *report, const vem_i_effort *effort);
/* Time ran out before there was a model: the sentence. */
vem_status vem_i_effort_fail(vem_ctx *ctx, const vem_i_effort *effort, int64_t clusters);

#endif
