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
    vem_status status =
        vem_i_options_resolve(fits->run, &asked, fits->view->n, fits->view->d,
                              VEM_FLOAT64, vem_i_view_row_values(fits->view), &o);
    if (status != VEM_OK)
        return status;
    *programme = vem_i_programme_of(&o, vem_i_is_ours(&asked), 0, fits->view->n,
                                    fits->view->d, vem_i_view_row_values(fits->view));
    *attempt = (vem_i_attempt){.run = fits->run,
                               .programme = programme,
                               .view = fits->view,
                               .seed = (uint64_t)o.seed,
                               .run_starts = vem_i_starts_run};
    return vem_i_attempt_run(attempt);
}

/* The fit of one number of several: its steps follow those of the numbers before it, and its
 * labels are the result's until there are those of the next. */
static vem_status adopt(vem_i_restarts *fits, vem_i_attempt *a)
{
    vem_report *report = fits->report;
    vem_summary *s = &report->summary;
    vem_status status = VEM_OK;
    for (int64_t i = 0; status == VEM_OK && i < a->trace.count; i++) {
        vem_trace_step line = a->trace.steps[i];
        line.step += s->steps;
        status = vem_i_trace_add(fits->run, &report->trace, &line);
    }
    if (s->steps == 0)
        s->free_energy_first = a->free_energy_first;
    s->outcome = a->outcome;
    s->clusters = a->model->clusters;
    s->steps += a->steps;
    s->free_energy = a->free_energy;
    s->restart = 1;
    s->seed_pairs += a->seed_pairs;
    s->scored_pairs += a->pairs;
    s->seconds_seed += a->seconds_seed;
    s->seconds_em += a->seconds_em;
    if (status == VEM_OK)
        status =
            vem_i_path_add(fits->run, fits->path, a->model, a->free_energy, s->steps);
    vem_model_free(fits->model);
    vem_i_free(report->labels);
    fits->model = a->model;
    report->labels = a->labels;
    a->model = NULL;
    a->labels = NULL;
    return status;
}

static vem_status fit_alone(const vem_i_selection *s, int32_t clusters)
{
    vem_i_restarts *fits = s->fits;
    vem_i_programme programme;
    vem_i_attempt attempt = {0};
    const double clock = vem_i_clock();
    vem_status status = fit_one(s, clusters, &programme, &attempt);
    if (status == VEM_OK && attempt.steps > 0) {
        status = adopt(fits, &attempt);
        const int32_t at = vem_i_path_find(fits->path, fits->model->clusters);
        if (at >= 0)
            fits->path->points[at].seconds = vem_i_clock() - clock;
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

/* There are no more clusters than distinct rows: larger numbers are left out. A range that begins
 * above them is refused as a fit of its least number is; of the rows of a resample, which nobody
 * chose, as many clusters are made as there can be. */
static vem_status keep_distinct(const vem_i_selection *s, int32_t *numbers,
                                int64_t *count)
{
    vem_i_restarts *fits = s->fits;
    const int64_t least = fits->inside ? 1 : numbers[0];
    vem_status status = vem_i_check_rows(fits, least, numbers[*count - 1]);
    if (status != VEM_OK)
        return status;
    if (numbers[0] > fits->most)
        numbers[0] = (int32_t)fits->most;
    while (*count > 1 && numbers[*count - 1] > fits->most)
        --*count;
    return VEM_OK;
}

static vem_status run(vem_i_selection *s)
{
    const vem_options *o = &s->fits->programme->options;
    vem_i_objective objective = vem_i_selection_objective(s);
    const vem_i_family *family = objective.family;
    const int divides =
        vem_i_has_shapes(family) && (!family->shared || vem_i_is_round(family));
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
        status = keep_distinct(s, numbers, &count);
    if (status == VEM_OK)
        status = divides ? vem_i_divide_into(s, &objective, fit_one, numbers, count)
                         : fit_each(s, numbers, count);
    vem_i_free(numbers);
    return status;
}

static uint64_t bytes(const vem_i_run *run, const vem_i_programme *programme, int32_t d)
{
    uint64_t bytes;
    vem_i_run dry = vem_i_run_dry(run, &bytes);
    vem_i_path_plan(&dry,
                    vem_i_shape_of(vem_i_family_of(programme->options.family),
                                   (int32_t)programme->options.clusters, d),
                    (int32_t)programme->options.clusters);
    return bytes + vem_i_divide_bytes(run, programme, d);
}

static const char HOW[] =
    "the first number is fitted as vem fit does, and each other from the one "
    "before it, by dividing clusters, far ones from a fit too, or by itself where "
    "clusters share a shape or have none; each search suits its number.";

const vem_i_select_type vem_i_select_type_sweep = {.kind = VEM_SELECT_SWEEP,
                                                   .criterion = "BIC",
                                                   .lower = 1,
                                                   .ends =
                                                       ": fits of more end with fewer",
                                                   .listed = 1,
                                                   .stateless = 1,
                                                   .told = {.how = HOW},
                                                   .most = 20,
                                                   .prepare = prepare,
                                                   .bytes = bytes,
                                                   .run = run};
