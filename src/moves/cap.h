/* Labels of which no cluster has more than its share (docs/math/balance.md). */
#ifndef VEM_MOVES_CAP_H
#define VEM_MOVES_CAP_H

#include "data/view.h"
#include "model/contract.h"
#include "model/model.h"
#include "moves/cap_rows.h"

/* Rows that all weigh the same, n of them, and any that weigh nothing: no cluster keeps
 * more than max(floor(cap n / C), ceil(n / C)) of them, with cap = 1 none has fewer than floor(n / C) either, and the sum of
 * the costs (as the model has them, prices included) is the least there is; with more
 * than 64 clusters, nearly. Other rows: no cluster weighs more than cap W / C and the
 * heaviest of its own rows. labels: of all items. prices: C, by which they are what costs least.
 * *kept: 0 where a stop, or the end of the time, came before the cap was kept. lister: makes the
 * lists of rows that are elsewhere; NULL: they are here. */
vem_status vem_i_cap(vem_i_run *run, const vem_view *view, const vem_model *model,
                     double cap, int32_t *labels, double *prices, int *kept,
                     const vem_i_cap_lister *lister);

/* Do they keep it already? Of rows of different weights: is none above cap W / C? masses: C, scratch. */
int vem_i_cap_is_kept(const vem_view *view, int32_t clusters, double cap,
                      const int32_t *labels, double *masses);

#endif
