/* A selection within another verb. */
#ifndef VEM_API_SELECT_H
#define VEM_API_SELECT_H

#include "api/fitting.h"

/* The evidence of a covariance matrix is that of its prior until there are so many rows
 * for each column: noise of fewer falls into clusters, and of more does not
 * (docs/math/bayes.md). With fewer rows than the second number it does in any family. */
enum { VEM_I_ROWS_FOR_MATRICES = 5, VEM_I_ROWS_FOR_ANY = 20 };

/* Do these go together, and with the rows? */
vem_status vem_i_select_check(vem_i_run *run, const vem_data *data, const vem_options *o,
                              const vem_select_options *select);

/* As vem_select. Where not `measured`, the mixtures are measured only if the choice
 * needs it. */
vem_status vem_i_select(vem_i_run *run, const vem_data *data, const vem_options *options,
                        const vem_select_options *select, int measured, vem_model **model,
                        vem_path **path, vem_report **report);

/* The same for several families (select->families), by vem_i_select for each
 * (select_families.c). */
vem_status vem_i_select_families(vem_i_run *run, const vem_data *data,
                                 const vem_options *options,
                                 const vem_select_options *select, int measured,
                                 vem_model **model, vem_path **path, vem_report **report);
/* Once the mixture is chosen (select_notes.c). */
void vem_i_select_notes(const vem_i_fitting *fitting);

#endif
