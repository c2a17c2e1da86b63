/* The means of a model and nothing else: whoever goes by it goes by the nearest of them. */
#ifndef VEM_API_MEANS_ALONE_H
#define VEM_API_MEANS_ALONE_H

#include "model/model.h"

/* As balls of one size, about an origin (NULL: 0). */
vem_status vem_i_means_alone(vem_i_run *run, const vem_model *model, const double *origin,
                             vem_model **balls);

#endif
