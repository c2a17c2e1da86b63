/* Rows as stored, some at a time, as the kernels of the passes take them. */
#ifndef VEM_DATA_STRETCH_H
#define VEM_DATA_STRETCH_H

#include "data/data.h"
#include "kernels/kernels.h"

/* Rows that are converted at a time where they cannot be used as stored. */
int64_t vem_i_block_rows(int32_t d);
/* Rows of equal weight to take as one: wide enough, and whole vectors. */
int32_t vem_i_group_rows(int32_t d);
/* Rows of bytes where they lie, data->row_stride apart; NULL: they are none, or have to be
 * converted. */
const uint8_t *vem_i_bytes_at(const vem_data *data, int normalize, int64_t first);

/* Can the kernels use the values where they lie? */
int vem_i_lies_well(const vem_data *data);
/* Some rows for the kernels: as stored where that is possible, else converted (and divided
 * by their length) into `scratch`, which holds vem_i_block_rows rows of doubles. */
typedef struct vem_i_stretch {
    const vem_i_kernels *kernels;
    const void *x;
    int64_t ld;
} vem_i_stretch;
vem_i_stretch vem_i_stretch_at(const vem_i_run *run, const vem_data *data, int normalize,
                               int64_t first, int64_t count, void *scratch);

#endif
