/* What happened in a fit. */
#ifndef VEM_FIT_REPORT_H
#define VEM_FIT_REPORT_H

#include "em/trace.h"
#include "fit/memory_plan.h"

struct vem_report {
    vem_summary summary;
    vem_options options; /* as resolved */
    vem_i_trace trace;
    int32_t *labels;
    int32_t axes; /* along which the best restart made its loop; 0: in all columns */
    int apart;    /* of several processes: the labels are those of */
    int64_t first, count; /* these rows */
    int missed;           /* by the sample of the best restart's starts (vem_i_missed) */
    char choices[4096], notes[4096];
    char stopping[256]; /* the rule, one sentence */
};

/* One more line of choices: why the fit was done this way. */
__attribute__((format(printf, 2, 3))) void vem_i_report_say(vem_report *report,
                                                            const char *format, ...);
/* One more line of notes: what is other than a caller would expect. */
__attribute__((format(printf, 2, 3))) void vem_i_report_note(vem_report *report,
                                                             const char *format, ...);
/* One sentence per decision that was not the caller's. A fit that begins otherwise than
 * the programme says (how it does, and when it stops, or NULL) tells that instead of
 * seeding, starts and search. */
typedef struct vem_i_told {
    const char *how, *stops;
} vem_i_told;
void vem_i_report_choices(vem_report *report, const vem_options *asked,
                          const vem_i_programme *programme, const vem_i_told *otherwise);

/* That cells are fitted that nobody asked for. The choices of presets are theirs, and
 * not told; who takes cells beside one says so. */
void vem_i_report_cells(vem_report *report, const vem_i_programme *programme);

/* That a coreset is fitted, where one is that --time did not choose. */
void vem_i_report_coreset(vem_report *report, const vem_options *asked);
/* That the rows rest in a temporary file, where they do. */
void vem_i_report_spill(vem_report *report, const vem_i_plan *plan);

#endif
