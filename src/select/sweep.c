/* A fit of each of several numbers of clusters. The first is made as vem_fit makes it,
 * and each other goes on from the one before it: clusters are divided where the
 * likelihood gains most, and at the number that is asked for near pairs are divided anew
 * as long as it gains (divide.c). A number that is not the next one is fitted from the
 * beginning, too. Families whose clusters have no cost of their own are fitted each time
 * from the beginning. */
#include "base/memory.h"
#include "fit/presets.h"
#include "fit/starts.h"
#include "select/divide.h"

static void prepare(vem_options *o)
{
    if (o->family == VEM_AUTO)
        o->family = vem_i_mixture_family();
    if (o->empty == VEM_AUTO)
        o->empty = VEM_EMPTY_DROP;
}

/* Of so many clusters, from the beginning. */
static vem_status fit_one(const vem_i_selection *s, int32_t clusters,
                          vem_i_programme *programme, vem_i_attempt *attempt)
{
    const vem_i_restarts *fits = s->fits;
    vem_options asked = *s->asked, o;
    asked.clusters = clusters;
    asked.precision = fits->programme->options.precision;
    asked.coreset = VEM_AUTO;
    asked.cells = 0;
    vem_status status = vem_i_options_resolve(fits->run, &asked, fits->view->n,
                                              fits->view->d, VEM_FLOAT64, &o);
    if (status != VEM_OK)
        return status;
    *programme = vem_i_programme_of(&o, asked.algorithm == VEM_AUTO, 0, fits->view->n,
                                    fits->view->d);
    *attempt = (vem_i_attempt){.run = fits->run,
                               .programme = programme,
                               .view = fits->view,
                               .seed = (uint64_t)o.seed,
                               .run_starts = vem_i_starts_run};
    return vem_i_attempt_run(attempt);
}

static vem_status fit_alone(const vem_i_selection *s, int32_t clusters)
{
    vem_i_restarts *fits = s->fits;
    vem_i_programme programme;
    vem_i_attempt attempt = {0};
    const double clock = vem_i_clock();
    vem_status status = fit_one(s, clusters, &programme, &attempt);
    if (status == VEM_OK && attempt.steps > 0) {
        status = vem_i_path_add(fits->run, fits->path, attempt.model, attempt.free_energy,
                                attempt.steps);
        const int32_t at = vem_i_path_find(fits->path, attempt.model->clusters);
        if (at >= 0)
            fits->path->points[at].seconds = vem_i_clock() - clock;
        vem_model_free(fits->model);
        fits->model = attempt.model;
        attempt.model = NULL;
        vem_summary *sum = &fits->report->summary;
        sum->outcome = attempt.outcome;
        sum->clusters = fits->model->clusters;
        sum->steps += attempt.steps;
        sum->free_energy = attempt.free_energy;
        sum->free_energy_first = attempt.free_energy_first;
        sum->restart = 1;
        sum->scored_pairs += attempt.pairs;
        sum->seconds_em += attempt.seconds_em;
    }
    vem_i_attempt_free(&attempt);
    return status;
}

static vem_status fit_each(vem_i_selection *s, const int32_t *numbers, int64_t count)
{
    vem_i_run *run = s->fits->run;
    vem_status status = VEM_OK;
    for (int64_t k = 0; status == VEM_OK && k < count; k++)
        if (!run->watch->stop && !vem_i_late(run))
            status = fit_alone(s, numbers[k]);
    if (status == VEM_STOPPED && s->fits->model)
        status = VEM_OK;
    return status;
}

static vem_status run(vem_i_selection *s)
{
    const vem_options *o = &s->fits->programme->options;
    vem_i_objective objective = vem_i_selection_objective(s);
    const vem_i_family *family = objective.family;
    const int divides = family->axes >= 0 && (!family->shared || family->axes == 0);
    int32_t *numbers = NULL;
    int64_t count = s->select->number_count;
    const int32_t least = s->select->min_clusters > 0 ? s->select->min_clusters : 1;
    if (!s->select->numbers)
        count = o->clusters - least + 1;
    vem_status status =
        vem_i_take(s->fits->run, &numbers, (size_t)count, sizeof *numbers);
    for (int64_t k = 0; status == VEM_OK && k < count; k++)
        numbers[k] = s->select->numbers ? s->select->numbers[k] : least + (int32_t)k;
    if (status == VEM_OK)
        status = divides ? vem_i_divide_into(s, &objective, fit_one, numbers, count)
                         : fit_each(s, numbers, count);
    vem_i_free(numbers);
    return status;
}

static uint64_t bytes(const vem_i_run *run, const vem_i_programme *programme, int32_t d)
{
    return vem_i_divide_bytes(run, programme, d) +
           vem_i_path_bytes(run,
                            vem_i_shape_of(vem_i_family_of(programme->options.family),
                                           (int32_t)programme->options.clusters, d));
}

static const char HOW[] =
    "the first number is fitted as vem fit does, and each other from the one "
    "before it, by dividing clusters, far ones from a fit too; each search suits its "
    "number.";

const vem_i_select_type vem_i_select_type_sweep = {.kind = VEM_SELECT_SWEEP,
                                                   .criterion = "BIC",
                                                   .lower = 1,
                                                   .told = {.how = HOW},
                                                   .most = 20,
                                                   .prepare = prepare,
                                                   .bytes = bytes,
                                                   .run = run};
