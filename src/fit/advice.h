/* What a person may want to know of the columns before trusting a fit. */
#ifndef VEM_FIT_ADVICE_H
#define VEM_FIT_ADVICE_H

#include "data/data.h"
#include "data/view.h"
#include "fit/report.h"
#include "model/family.h"

enum { VEM_I_TOLD = 480 };
/* Where few columns hold nearly all of the squared distance between rows, in the units of the view:
 * "column 2 (income) holds 99.98 % of the squared distance between rows and decides"; else "". */
vem_status vem_i_columns_that_decide(vem_i_run *run, const vem_data *data,
                                     const vem_view *view, char *text, size_t size);
/* Balls in the units of the data follow the columns of the largest spread: a note, where few
 * columns hold nearly all of it. */
vem_status vem_i_advise_units(vem_i_run *run, const vem_data *data, const vem_view *view,
                              const vem_options *options, vem_report *report);
/* A note of columns that have the same value in all rows, where their variance is what a prior says. */
vem_status vem_i_advise_constant(vem_i_run *run, const vem_data *data,
                                 vem_report *report);
/* A note of what the floor holds: variances of so many clusters of a model in the units of the view. */
void vem_i_advise_floor(const vem_data *data, const vem_view *view,
                        const vem_model *model, const vem_i_constraints *limits,
                        int64_t floored, const vem_options *asked,
                        const vem_options *resolved, vem_report *report);
/* Are the rows too few for a covariance matrix in each cluster, with less than `rows_each` for each
 * column, and is the family left open? A scale of the caller's says what clusters look like. */
int vem_i_has_few_rows(const vem_data *data, const vem_options *options,
                       const vem_prior_options *prior, int32_t rows_each);
enum { VEM_I_FEW = 80 };
/* "8 rows are few beside 1 column" */
const char *vem_i_few_rows(const vem_data *data, char told[VEM_I_FEW]);
/* The note where clusters have that family instead. */
const char *vem_i_few_rows_note(const vem_data *data, const vem_i_family *family,
                                char note[VEM_I_TOLD]);
/* Columns that have the same value in all rows: how many, and the names of the first few in `text`. */
vem_status vem_i_constant_columns(vem_i_run *run, const vem_data *data, char *text,
                                  size_t size, int32_t *count);
/* Columns of a diagonal or full model (in the units of the view) whose variance is the least that
 * `limits` allow in every cluster, because they are constant or nearly so: how many, and their
 * names in `text`. */
int32_t vem_i_level_columns(const vem_data *data, const vem_model *model,
                            const vem_i_constraints *limits, char *text, size_t size);

/* Of such a model: a cluster and the column in which it is as narrow as `limits` allow, " (cluster 2
 * in column age)"; "" where no column is. */
void vem_i_floored_place(const vem_data *data, const vem_model *model,
                         const vem_i_constraints *limits, char *text, size_t size);

#endif
