/* Labels that keep a number, where processes share the rows. */
#ifndef VEM_MOVES_CAP_APART_H
#define VEM_MOVES_CAP_APART_H

#include "moves/cap_rows.h"

typedef struct vem_i_cap_apart vem_i_cap_apart;

/* Under a run of several processes, which make all of these calls together. */
vem_status vem_i_cap_apart_new(vem_i_run *run, const vem_view *view,
                               vem_i_cap_apart **apart);
void vem_i_cap_apart_free(vem_i_cap_apart *apart);
/* As those of cap.h, of all rows; labels are those of the view. */
int vem_i_cap_apart_is_kept(vem_i_cap_apart *apart, int32_t clusters, double cap,
                            const int32_t *labels, double *masses);
vem_status vem_i_cap_apart_run(vem_i_cap_apart *apart, const vem_model *model, double cap,
                               int32_t *labels, double *prices, int *kept);

#endif
