/* The rows of a fit as the engine sees them: reduced, loaded, divided into cells. */
#include "api/fitting.h"
#include "base/parallel.h"
#include "comm/comm.h"
#include "fit/reduce.h"

/* The rows as the engine sees them. Columns of a model with a variance for each are divided by
 * their deviation, so that nothing depends on their units; that of other models is theirs to
 * keep. */
vem_status vem_i_fitting_load(vem_i_fitting *f)
{
    const vem_options *o = &f->resolved;
    vem_summary *s = &f->report->summary;
    vem_i_reduction reduction = {0};
    const double *scale = f->start && !o->standardize ? f->start->scale : NULL;
    const vem_i_support *support = vem_i_support_of(vem_i_family_of(o->family));
    const int by_column = vem_i_family_of(o->family)->by_column;
    const int whiten = !scale && !o->standardize && by_column;
    vem_status status = vem_i_reduce(&f->run, f->data, o, whiten, scale, &reduction);
    /* Of a coreset, too, all rows are looked at. */
    if (status == VEM_OK && support && reduction.rows != f->data)
        status = vem_i_reduce_support(&f->run, f->data, support);
    if (reduction.rows != f->data) /* which all processes have */
        f->run = vem_i_comm_alike(&f->run);
    const vem_i_points_request request = {.first = f->rows.first,
                                          .count = f->rows.count,
                                          .whole = f->rows.whole,
                                          .halo = f->rows.halo,
                                          .precision = (vem_precision)o->precision,
                                          .normalize = vem_i_normalize_of(o),
                                          .standardize = o->standardize,
                                          .whiten = whiten,
                                          .shaped = by_column,
                                          .even = !whiten && !o->standardize && !scale &&
                                                  !support,
                                          .support = support,
                                          .scale = scale ? scale : reduction.scale,
                                          .floor_share = support ? 0 : o->floor,
                                          .stored = vem_i_plan_stored(&f->plan),
                                          .spill = f->plan.spill,
                                          .phase = "read"};
    if (status == VEM_OK)
        status = vem_i_points_new(&f->run, reduction.rows, &request, &f->points);
    if (status == VEM_OK) {
        s->size = sizeof *s;
        f->report->options = *o;
        s->n = f->data->n;
        s->d = f->data->d;
        s->items = f->points->view.global_n;
        s->rows_used = (double)f->points->view.used;
        s->reduce_pairs = reduction.pairs;
    }
    vem_i_reduction_free(&reduction);
    if (status == VEM_OK) {
        s->seconds_reduce = vem_i_clock() - f->clock;
        vem_i_data_rest(f->data); /* the view has its own copy */
    }
    return status;
}

/* Cells of the rows, where the fit sees those. */
vem_status vem_i_fitting_divide(vem_i_fitting *f)
{
    const vem_options *o = &f->resolved;
    const vem_i_cells_request request = {.kind = vem_i_family_of(o->family)->needs,
                                         .most = f->plan.programme.items,
                                         .depth = (int32_t)o->depth,
                                         .boxes = vem_i_descends(o),
                                         .times = f->start ? 1 : o->restarts};
    if (!f->plan.programme.celled)
        return VEM_OK;
    const vem_status status =
        vem_i_cells_new(&f->run, &f->points->view, &request, &f->cells);
    if (status == VEM_OK)
        f->report->summary.seconds_tree = f->cells->seconds;
    return status;
}
