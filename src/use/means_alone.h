/* The means of a model and nothing else: whoever goes by it goes by the nearest of them. */
#ifndef VEM_USE_MEANS_ALONE_H
#define VEM_USE_MEANS_ALONE_H

#include "model/model.h"

/* As balls of one size. The size is 1, or where squares of distances might
 * be no numbers in single precision, a power of two as large as the model is wide, so that passes over rows
 * divide by it (metrics/chunks.h). */
vem_status vem_i_means_alone(vem_i_run *run, const vem_model *model, vem_model **balls);

#endif
