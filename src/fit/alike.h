/* Rows that are alike, fitted as one with all of their weights. */
#ifndef VEM_FIT_ALIKE_H
#define VEM_FIT_ALIKE_H

#include "data/repeats.h"
#include "fit/report.h"

typedef struct vem_i_alike {
    vem_i_repeats repeats; /* repeats.rows are fitted where there are some */
    int likely;  /* most rows are likely to be alike, and processes leave them so */
    int crowded; /* there was no room to put them together */
} vem_i_alike;

/* The different rows, where the options leave that open and it pays. */
vem_status vem_i_alike_find(vem_i_run *run, const vem_data *data,
                            const vem_options *asked, const vem_model *start,
                            vem_i_alike *alike);
/* Numbers and labels of the report become those of all rows, and it says so. */
void vem_i_alike_tell(const vem_i_run *run, const vem_data *all,
                      const vem_options *resolved, vem_i_alike *alike,
                      vem_report *report);

#endif
