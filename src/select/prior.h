/* The conjugate prior of a selection, in the units of its view. */
#ifndef VEM_SELECT_PRIOR_H
#define VEM_SELECT_PRIOR_H

#include "data/view.h"
#include "model/evidence.h"

/* asked: NULL where all of it is to be chosen. */
vem_status vem_i_prior_new(vem_i_run *run, const vem_view *view,
                           const vem_i_family *family, const vem_prior_options *asked,
                           vem_i_conjugate *conjugate);

#endif
