/* Labels of which no cluster has more than its share (docs/math/balance.md). */
#ifndef VEM_MOVES_CAP_H
#define VEM_MOVES_CAP_H

#include "data/view.h"
#include "model/model.h"

/* Rows that all weigh the same: no cluster keeps more than max(floor(cap n / C),
 * ceil(n / C)) of them, with cap = 1 none has fewer than floor(n / C) either, and the
 * sum of the costs (as the model has them, prices included) is the least there is, as
 * far as rows go to clusters near their own. Other rows: no cluster weighs more than
 * cap W / C and the heaviest row. labels: of all items. *moved: how many of them are
 * others now. *kept: 0 where a stop, or the end of the time, came before the cap was kept. */
vem_status vem_i_cap(vem_i_run *run, const vem_view *view, const vem_model *model,
                     double cap, int32_t *labels, int64_t *moved, int *kept);

#endif
