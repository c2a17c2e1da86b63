/* What a fit is worth, and the model as it is given back. */
#include <math.h>

#include "api/fitting.h"
#include "base/memory.h"
#include "data/together.h"
#include "data/unit.h"
#include "fit/advice.h"
#include "metrics/gap.h"
#include "metrics/measure.h"
#include "metrics/sizes.h"
#include "model/units.h"

typedef vem_i_fitting fit;

/* Under a prior no floor is needed, and none tells of constant columns. */
static vem_status count_floored(fit *f)
{
    vem_summary *s = &f->report->summary;
    const vem_view *view = &f->points->view;
    if (f->method && f->method->takes_prior && !f->softened)
        return vem_i_advise_constant(&f->run, f->data, f->report);
    const vem_i_constraints limits =
        vem_i_constraints_of(view, &f->resolved, f->model->family);
    double share;
    const vem_status status =
        vem_i_floor_count(&f->run, &limits, f->model, &s->floored, &share);
    if (status == VEM_OK && s->floored > 0)
        vem_i_advise_floor(f->data, view, f->model, &limits, s->floored, f->asked,
                           &f->resolved, f->report);
    return status;
}

/* How even the clusters are, by the labels; NAN where there are none. */
static vem_status measure_sizes(fit *f)
{
    vem_summary *s = &f->report->summary;
    const vem_view *view = &f->points->view;
    const double *weights = f->data->weights;
    double *masses = NULL;
    vem_i_sizes sizes;
    s->cv = s->largest = NAN;
    if (!f->report->labels)
        return VEM_OK;
    const int shared = f->run.comm != NULL;
    const vem_i_sized_rows rows = {.labels = f->report->labels,
                                   .weights = weights && shared ? weights + view->first
                                                                : weights,
                                   .n = shared ? vem_i_view_own(view) : f->data->n};
    vem_status status = vem_i_take(&f->run, &masses, (size_t)s->clusters, sizeof *masses);
    if (status == VEM_OK)
        status = vem_i_sizes_measure(&f->run, &rows, s->clusters, masses, &sizes);
    if (status == VEM_OK) {
        s->cv = sizes.cv;
        s->largest = sizes.largest;
        vem_i_fit_note_sizes(f, masses, sizes.mean);
    }
    vem_i_free(masses);
    return status;
}

/* How far the bound on the cells is from the likelihood of the rows. */
static vem_status measure_gap(fit *f)
{
    vem_summary *s = &f->report->summary;
    vem_i_gap gap = {.mean = NAN, .se = NAN};
    vem_status status = VEM_OK;
    if (f->cells && s->steps > 0 && isfinite(s->log_likelihood))
        gap = (vem_i_gap){.mean = s->log_likelihood - s->free_energy};
    else if (f->cells && s->steps > 0)
        status = vem_i_gap_of(&f->run, f->cells, f->model, s->free_energy,
                              (uint64_t)f->resolved.seed, &gap);
    s->gap = gap.mean < 0 ? 0 : gap.mean; /* below 0 by rounding */
    s->gap_se = gap.se;
    return status == VEM_STOPPED ? VEM_OK : status;
}

/* The model in the units of the data, as it is given back. */
static vem_status finish_model(fit *f)
{
    vem_status status = vem_i_model_to_data(&f->run, &f->points->view, f->model);
    if (status != VEM_OK)
        return status;
    f->model->normalizes = vem_i_normalize_of(&f->resolved);
    if (f->model->normalizes == VEM_I_DIRECTIONS)
        status = vem_i_model_to_sphere(&f->run, f->model);
    if (status != VEM_OK)
        return status;
    vem_model_set_prior(f->model,
                        vem_i_programme_find(&f->plan.programme, VEM_I_STAGE_BALANCE)
                            ? VEM_PRIOR_EVEN
                            : (vem_prior_kind)f->resolved.prior);
    return vem_i_model_check_finite(&f->run, f->model);
}

/* Part of it in the units of the view, part in those of the data, in which the model ends. */
vem_status vem_i_fitting_measure(vem_i_fitting *f)
{
    const vem_view *view = &f->points->view;
    const int reduced = f->plan.programme.reduced;
    vem_summary *s = &f->report->summary;
    if (f->only_seeds) /* there is nothing yet to be measured */
        return finish_model(f);
    vem_status status =
        vem_i_measure_view(&f->run, view, f->model, &f->resolved, reduced, s);
    if (status == VEM_OK)
        status = measure_gap(f);
    if (status == VEM_OK)
        status = count_floored(f);
    if (status == VEM_OK)
        vem_i_fit_notes(f);
    if (status == VEM_OK)
        status = finish_model(f);
    if (status == VEM_OK && (reduced || f->cells)) {
        vem_i_free(
            f->report->labels); /* of the coreset's rows or of cells, not of the data's */
        f->report->labels = NULL;
    }
    if (status == VEM_OK)
        status = measure_sizes(f);
    if (status == VEM_OK)
        status = vem_i_measure_data(&f->run, f->data, f->model, &f->resolved, reduced, s);
    if (status == VEM_OK && f->path && f->method->by_energy && !f->softened)
        vem_i_path_know(s, f->path);
    return status;
}
