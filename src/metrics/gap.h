/* How far the bound of a fit on cells is below the likelihood of all rows. */
#ifndef VEM_METRICS_GAP_H
#define VEM_METRICS_GAP_H

#include "data/cells.h"
#include "model/model.h"

typedef struct vem_i_gap {
    double mean; /* log-likelihood less F, per unit of mass */
    double se;   /* its standard error; 0: all rows were looked at */
    int64_t rows;
    int64_t pairs; /* scored for it, of rows and cells */
} vem_i_gap;

/* Of this model, in the units of the view, whose F on the cells is `free_energy`. Can run dry. */
vem_status vem_i_gap_of(vem_i_run *run, const vem_i_cells *cells, const vem_model *model,
                        double free_energy, uint64_t seed, vem_i_gap *gap);

#endif
