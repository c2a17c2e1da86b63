/* Two halves of a cluster, each with a shape of its own. */
#ifndef VEM_MOVES_SHAPE_H
#define VEM_MOVES_SHAPE_H

#include "em/em.h"
#include "moves/split.h"

typedef struct vem_i_shaper vem_i_shaper;

vem_status vem_i_shaper_new(const vem_i_em *em, const vem_i_splitter *splitter,
                            vem_i_shaper **shaper);
void vem_i_shaper_free(vem_i_shaper *shaper);

/* What F gains when this cluster becomes two, and the two (means, shapes, weights; good
 * until the thread asks again). 0: they cannot be told apart, or one would be too small. The
 * same bits every time it is asked between an E-step and the next change of the model. */
double vem_i_shape_halves(vem_i_shaper *shaper, const vem_i_splittable *cluster,
                          int thread, const vem_model **halves);

#endif
