/* All attempts of a fit: restarts from different seeds, of which the best counts. */
#ifndef VEM_FIT_RESTARTS_H
#define VEM_FIT_RESTARTS_H

#include "fit/attempt.h"

typedef struct vem_i_restarts {
    vem_i_run *run;
    const vem_i_programme *programme;
    const vem_view *view;
    vem_i_points *points;         /* whose rows may be put in order, or NULL */
    vem_i_cells *cells;           /* the view is their cut, or NULL */
    const vem_model *start;       /* in the units of the data, or NULL */
    vem_i_checkpoint *checkpoint; /* of the state, or NULL */
    vem_path *path;     /* of one restart, or NULL; with it there need not be rows for
                                     all clusters */
    vem_report *report; /* of the best so far, and of the work of all */
    vem_model *model;   /* the best so far, in the units of the view */
    int softened; /* of a selection: soft steps followed, so that the model is none of the
                           mixtures of the path */
    int inside;   /* part of a verb that chose the rows, not the caller */
    int64_t
        most; /* distinct rows, counted no further than the clusters; 0: not counted */
} vem_i_restarts;

/* Are there rows, and distinct ones, for so many clusters? The latter are counted into
 * restarts->most, no further than `most`. */
vem_status vem_i_check_rows(vem_i_restarts *restarts, int64_t clusters, int64_t most);
/* After a check that there are enough distinct rows. */
vem_status vem_i_restarts_run(vem_i_restarts *restarts);

#endif
