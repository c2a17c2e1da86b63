/* What a constructor of a model, a scorer or statistics has to know. */
#ifndef VEM_MODEL_SHAPE_H
#define VEM_MODEL_SHAPE_H

#include "base/run.h"

typedef struct vem_i_family vem_i_family;

typedef struct vem_i_shape {
    const vem_i_family *family;
    int32_t clusters;
    int32_t capacity; /* clusters there is room for: no fewer */
    int32_t d;
} vem_i_shape;

/* The family of this number; NULL: there is none. */
const vem_i_family *vem_i_family_of(int kind);
/* No room for more clusters. */
vem_i_shape vem_i_shape_of(const vem_i_family *family, int32_t clusters, int32_t d);

#endif
