/* How members move between neighbouring mixtures of a path: the noun vem_flows. */
#ifndef VEM_MODEL_FLOWS_H
#define VEM_MODEL_FLOWS_H

#include "model/path.h"

struct vem_flows {
    int32_t count;     /* mixtures */
    int64_t rows;      /* of the sample */
    int32_t *clusters; /* of each mixture */
    double **shares;   /* of each: of its clusters */
    vem_flow **flows;  /* of each: to the next one */
    int64_t *lengths;  /* how many */
};

/* Room for so many mixtures, and for the shares of each. */
vem_status vem_i_flows_new(vem_i_run *run, const int32_t *clusters, int32_t count,
                           vem_flows **flows);
/* The table of two labellings of `rows` rows with these masses, whose sum is `total`:
 * flows from mixture `at` to the next. Sums are taken in the order of the rows. */
vem_status vem_i_flows_put(vem_i_run *run, vem_flows *flows, int32_t at,
                           const int32_t *from, const int32_t *to, const double *mass,
                           double total);
/* The same for the shares of mixture `at`. */
void vem_i_flows_weigh(vem_flows *flows, int32_t at, const int32_t *labels,
                       const double *mass, double total);

#endif
