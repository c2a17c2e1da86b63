/* How stable a selection is: the same on random parts of the rows. */
#ifndef VEM_SELECT_STABILITY_H
#define VEM_SELECT_STABILITY_H

#include "data/data.h"
#include "model/model.h"

/* A whole selection. */
typedef vem_status vem_i_chooser(vem_i_run *run, const vem_data *data,
                                 const vem_options *options,
                                 const vem_select_options *select, vem_model **model,
                                 vem_report **report);

/* Parts and agreement with `model`, which was chosen from all rows, as `s` asks; it is filled in. Of a
 * stop or the end of the time those that were done. */
vem_status vem_i_stability(vem_i_run *run, const vem_data *data,
                           const vem_options *options, const vem_select_options *select,
                           const vem_model *model, vem_i_chooser *choose,
                           vem_stability *s);

#endif
