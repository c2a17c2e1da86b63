/* What is known on the way: columns, clusters, rows (describe.c, describe_rows.c). */
#ifndef VEM_USE_DESCRIBE_INSIDE_H
#define VEM_USE_DESCRIBE_INSIDE_H

#include "data/data.h"
#include "model/model.h"

typedef struct vem_i_survey {
    vem_i_run *run;
    const vem_model *model;
    const vem_data *data;
    vem_cluster *clusters;
    double *means, *variances; /* D: of the columns */
    double *nearness;          /* C x VEM_SHOWN_ROWS: of the exemplars */
    int32_t *best;             /* n x top */
    double *chance;            /* n x top */
    int32_t top;
    double mass, doubtful;
    double total; /* of a row, where means are shares of it; else 1 */
} vem_i_survey;

static inline double vem_i_survey_weight(const vem_i_survey *survey, int64_t row)
{
    return survey->data->weights ? survey->data->weights[row] : 1;
}

/* Of the rows that belong to a cluster: exemplars, and moments of the columns about the mixture's
 * mean (sums: 2 D, from 0). Of sparse rows in time that goes with their values. */
vem_status vem_i_describe_rows(vem_i_survey *survey, double *sums);

#endif
