/* What an attempt does when its stages have ended. */
#include "fit/attempt_inside.h"
#include "fit/order.h"
#include "model/units.h"
#include "moves/cap_rounds.h"
#include "moves/moves.h"

/* --balance CAP: labels that keep it. Without a whole step there are none. */
static vem_status keep_cap(vem_i_attempt *a)
{
    const double cap = vem_i_cap_of(&a->programme->options);
    int64_t moved = 0;
    int kept = 1; /* where not, the report says so by the sizes */
    if (!(cap > 0) || a->steps == 0)
        return VEM_OK;
    vem_i_constraints constraints =
        vem_i_constraints_of(a->view, &a->programme->options,
                             vem_i_family_of(a->programme->options.family));
    constraints.prior = VEM_PRIOR_EVEN; /* weights are prices */
    const vem_status status =
        vem_i_cap_rounds(a->run, a->view, &constraints, cap, a->model, a->labels, &moved,
                         &kept, &a->free_energy);
    if (status == VEM_OK && moved > 0)
        vem_i_trace_name(&a->trace, VEM_I_MOVE_CAP, moved);
    return status;
}

/* Labels by row of the data. */
static vem_status unorder_labels(vem_i_attempt *a)
{
    if (!a->points || !a->points->rows)
        return VEM_OK;
    return vem_i_order_back(a->run, a->points, a->labels);
}

/* Each step is told with the next one; this is the last. */
static void tell_last(const vem_i_attempt *a)
{
    const vem_progress told = {.phase = "em",
                               .done = 1,
                               .total = 1,
                               .step = a->steps,
                               .max_steps = a->programme->options.max_steps,
                               .free_energy = a->free_energy,
                               .last = vem_i_trace_last(&a->trace)};
    vem_i_progress(a->run, &told, 1);
}

vem_status vem_i_attempt_end(vem_i_attempt *a)
{
    vem_status status = keep_cap(a);
    if (status == VEM_OK)
        status = unorder_labels(a);
    if (status == VEM_OK && a->trace.count > 0 &&
        a->run_starts) /* not of a start itself */
        tell_last(a);
    return status;
}
