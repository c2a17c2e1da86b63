/* A fit as its verbs see it: resolve, load, run, measure, report (fit.c). */
#ifndef VEM_API_FITTING_H
#define VEM_API_FITTING_H

#include "fit/alike.h"
#include "fit/budget.h"
#include "fit/processes.h"
#include "select/select.h"

typedef struct vem_i_fitting {
    vem_i_run run; /* the caller's, but for its threads, its limit and its deadline */
    const vem_data *data;
    const vem_options *asked; /* as given */
    const vem_model *start;   /* in the units of the data, or NULL */
    /* Where the number of clusters is to be found, else NULL: how, what takes the mixtures, and what
     * makes `model` one of them, in the units of the view. */
    const vem_i_select_type *method;
    const vem_select_options *select;
    vem_path *path;
    vem_status (*choose)(struct vem_i_fitting *fitting);
    int32_t least;    /* clusters of what may be chosen */
    int celled;       /* cells are its choice, not the caller's */
    int few;          /* rows, so that the family is not that of mixtures */
    int64_t distinct; /* rows, counted no further than the clusters; 0: not counted */
    int softened;     /* the model is none of the path, as in vem_i_restarts */
    int only_seeds;   /* no loop: the model is the one that the first would begin with */
    int inside; /* part of a verb that has a plan and a state of its own: it tells no forecast and
                   keeps no state */
    const char *clusters_by; /* of the plan (memory_plan.h) */
    /* What it works on. */
    const vem_data *all; /* as given; `data` may be */
    vem_i_alike alike;   /* the different rows of it */
    vem_options resolved;
    vem_i_budget budget;
    vem_i_plan plan;
    vem_i_checkpoint checkpoint;
    vem_i_points *points;
    vem_i_spread spread;       /* of several processes: what is other than asked */
    vem_i_points_request rows; /* and the rows of this one */
    vem_i_cells *cells;        /* of those, or NULL */
    vem_model *model;
    vem_report *report;
    double clock; /* when it began */
} vem_i_fitting;

/* Model and report, which may be NULL, are changed where it succeeds. */
vem_status vem_i_fitting_run(vem_i_fitting *fitting, vem_model **model,
                             vem_report **report);
/* Its parts (fit_load.c): the rows as the engine sees them, and their cells where the fit takes those. */
vem_status vem_i_fitting_load(vem_i_fitting *fitting);
vem_status vem_i_fitting_divide(vem_i_fitting *fitting);
/* Measures of the model, which ends in the units of the data (fit_measure.c). */
vem_status vem_i_fitting_measure(vem_i_fitting *fitting);
/* When the model is measured: what there is to say of how it ended (fit_notes.c). */
void vem_i_fit_notes(const vem_i_fitting *fitting);
/* What the masses of its clusters, by the labels, and their mean say. */
void vem_i_fit_note_sizes(const vem_i_fitting *fitting, const double *masses,
                          double mean);

#endif
