/* A fit whose rows are spread over processes (comm/comm.h): what can be, and who has which rows. */
#ifndef VEM_FIT_PROCESSES_H
#define VEM_FIT_PROCESSES_H

#include "data/points.h"
#include "data/subset.h"
#include "fit/programme.h"
#include "fit/report.h"

/* Do all processes make the same fit, of these rows, with these options? */
vem_status vem_i_processes_meet(vem_i_run *run, const vem_data *data,
                                const vem_options *options);
/* What they take where it was not asked, as options, and the sentence that tells what one process would
 * take; "": the same. */
typedef struct vem_i_spread {
    vem_options options;
    char note[512];
} vem_i_spread;
/* `asked` becomes that. Nothing where there is one process, or --algorithm says it. */
vem_status vem_i_processes_choose(vem_i_run *run, const vem_data *data,
                                  const vem_model *start, const vem_options **asked,
                                  vem_i_spread *spread);
/* The rows of this process, or a sentence that says what to use instead; `request` is told of them
 * (first, count, whole, halo). Nothing where there is one process. */
vem_status vem_i_processes_cut(vem_i_run *run, const vem_data *data,
                               const vem_options *asked, const vem_i_programme *programme,
                               vem_i_points_request *request);

/* A sample of n items of d columns, and a programme on it: does each of several processes have a part of
 * it, and which? Few items all have. */
int vem_i_processes_share(const vem_i_run *run, const vem_i_programme *programme,
                          int64_t n, int32_t d, vem_i_span *place);

/* Notes: that, and where every process has read all rows into its memory. */
void vem_i_processes_note(const vem_i_run *run, const vem_data *data,
                          const vem_i_spread *spread, vem_report *report);

#endif
