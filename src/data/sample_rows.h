/* The rows of a sample, side by side, as data. */
#ifndef VEM_DATA_SAMPLE_ROWS_H
#define VEM_DATA_SAMPLE_ROWS_H

#include "data/data.h"
#include "data/sample.h"

typedef struct vem_i_sampled_rows {
    vem_data data; /* without weights; its rows know where they are from */
    char *values;
    int32_t *numbers;
} vem_i_sampled_rows;

/* Names of columns and rows are those of `data` and `sample`, which must outlive it. On
 * failure free it as well. */
vem_status vem_i_sample_rows(vem_i_run *run, const vem_data *data,
                             const vem_i_sample *sample, vem_i_sampled_rows *rows);
void vem_i_sample_rows_free(vem_i_sampled_rows *rows);

#endif
