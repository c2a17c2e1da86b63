/* A loop over all items with the clusters there are, as searches for their number make
 * it, and what it found is worth. */
#include "search/boxes.h"
#include "select/divide_inside.h"

enum {
    FEW_STEPS = 10, /* of a loop that moves will follow, */
    ALL_STEPS = 200 /* and of one that may be the last */
};

static const double LAST_TOLERANCE = 1e-7;

/* last: to the very end. */
static vem_status options_for(const vem_i_divider *t, int32_t clusters, int last,
                              vem_options *o)
{
    const int64_t steps = t->filling ? 1 : last ? ALL_STEPS : FEW_STEPS;
    const vem_options *r = &t->selection->fits->programme->options;
    vem_options asked = *t->selection->asked;
    asked.clusters = clusters;
    asked.precision = r->precision;
    asked.coreset = VEM_AUTO;
    asked.cells = 0;
    asked.depth = VEM_AUTO;
    asked.swaps = 0;
    if (t->hard) {
        asked.held = 1;
        if (asked.search != VEM_AUTO && vem_i_search_is_whole((int)asked.search))
            asked.search = VEM_AUTO; /* for one cluster each */
    } else if (asked.held != VEM_AUTO && asked.held > clusters) {
        asked.held = clusters;
    }
    if (t->filling)
        asked.empty = VEM_EMPTY_KEEP;
    if (t->stays && !t->hard) /* after the search: their number is known */
        asked.empty = VEM_EMPTY_KEEP;
    asked.measure = VEM_MEASURE_NONE;
    const vem_status status =
        vem_i_options_resolve(t->run, &asked, t->view->n, t->view->d, VEM_FLOAT64,
                              vem_i_view_row_values(t->view), o);
    if (status != VEM_OK)
        return status;
    if (o->max_steps > steps)
        o->max_steps = steps;
    if (last && asked.tolerance == VEM_AUTO)
        o->tolerance = o->held == 1 ? 0 : LAST_TOLERANCE;
    return VEM_OK;
}

vem_status vem_i_divide_run(vem_i_divider *t, const vem_model *start,
                            const int32_t *first, int last, vem_i_divide_loop *l)
{
    const vem_i_restarts *fits = t->selection->fits;
    vem_options o;
    vem_status status = options_for(t, start->clusters, last, &o);
    if (status == VEM_OK)
        status = vem_i_divide_boxes(t, &o);
    if (status != VEM_OK)
        return status;
    l->programme = vem_i_programme_on_sample(&o, VEM_I_FROM_ATTEMPT, t->view->n);
    l->attempt = (vem_i_attempt){.run = t->run,
                                 .programme = &l->programme,
                                 .view = t->view,
                                 .cells = fits->cells,
                                 .still = 1,
                                 .boxes = t->boxes,
                                 .start = start,
                                 .first = first,
                                 .seed = (uint64_t)o.seed,
                                 .conjugate = t->objective->constraints.conjugate,
                                 .price = t->objective->price / t->objective->total};
    status = vem_i_attempt_run(&l->attempt);
    t->pairs += l->attempt.pairs;
    return status;
}

double vem_i_divide_worth(vem_i_divider *t, const vem_i_divide_loop *l)
{
    const vem_i_attempt *a = &l->attempt;
    if (a->steps == 0)
        return -INFINITY;
    if (!t->objective->family->shared || t->fixed || t->objective->tests)
        return a->free_energy;
    vem_i_partition_read(t->run, t->parts, a->labels, a->model, &t->next);
    return vem_i_view_log_shift(t->view) -
           vem_i_objective_total(t->objective, t->next.all) / t->objective->total;
}
