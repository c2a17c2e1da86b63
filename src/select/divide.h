/* The number of clusters by dividing and joining them, as long as an objective gains. */
#ifndef VEM_SELECT_DIVIDE_H
#define VEM_SELECT_DIVIDE_H

#include "select/partition.h"
#include "select/select.h"

/* Of the family and the rows of a selection, without a prior or a price (methods.c). */
vem_i_objective vem_i_selection_objective(const vem_i_selection *selection);
/* From one cluster; the objective is that of the selection's method. */
vem_status vem_i_divide(vem_i_selection *selection, vem_i_objective *objective);
/* A fit of so many clusters from the beginning; the caller frees the attempt. */
typedef vem_status (*vem_i_fit_afresh)(const vem_i_selection *selection, int32_t clusters,
                                       vem_i_programme *programme,
                                       vem_i_attempt *attempt);
/* The best for each of these numbers, which ascend, each from the one before; the
 * objective ranks divisions. The first is fitted afresh, and so is one that lies more
 * than 1 beyond the one before: there many divisions are made at once, and the better of
 * the two is taken. */
vem_status vem_i_divide_into(vem_i_selection *selection, vem_i_objective *objective,
                             vem_i_fit_afresh fit, const int32_t *numbers, int64_t count);
/* What that takes beside the fits, with the mixtures that it keeps. */
uint64_t vem_i_divide_bytes(const vem_i_run *run, const vem_i_programme *programme,
                            int32_t d);
/* The same where a test divides. */
uint64_t vem_i_divide_test_bytes(const vem_i_run *run, const vem_i_programme *programme,
                                 int32_t d);

#endif
