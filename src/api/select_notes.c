/* What a selection has to say of its choice. */
#include "api/fitting.h"
#include "api/select.h"
#include "fit/advice.h"

/* Clusters that the rows do not speak for. */
static void report_few(const vem_i_fitting *f)
{
    const long long n = f->data->n;
    char note[VEM_I_TOLD], few[VEM_I_FEW];
    if (f->few)
        vem_i_report_note(f->report, "%s",
                          vem_i_few_rows_note(f->data,
                                              vem_i_family_of((int)f->resolved.family),
                                              note));
    else if (f->method->takes_prior && vem_i_takes_products(f->model->family) &&
             n < (int64_t)VEM_I_ROWS_FOR_MATRICES * f->data->d)
        vem_i_report_note(f->report,
                          "%s: the evidence of a covariance matrix for each cluster is "
                          "that of its prior more than that of the rows, and clusters "
                          "may be found where there are none; --family diag needs fewer "
                          "rows.",
                          vem_i_few_rows(f->data, few));
    if (f->method->takes_prior && n < VEM_I_ROWS_FOR_ANY && f->path->chosen > 1)
        vem_i_report_note(f->report,
                          "%lld rows are few: what is found is the prior's more than "
                          "theirs.",
                          n);
}

static void report_choice(const vem_i_fitting *f)
{
    const int32_t asked = (int32_t)f->resolved.clusters;
    vem_report *report = f->report;
    const vem_path *path = f->path;
    const int32_t last = path->points[path->count - 1].clusters;
    int32_t first = last; /* that may be chosen */
    for (int32_t i = path->count - 1; i >= 0 && path->points[i].clusters >= f->least; i--)
        first = path->points[i].clusters;
    const int ended = report->summary.outcome == VEM_OUTCOME_CONVERGED ||
                      report->summary.outcome == VEM_OUTCOME_STEP_LIMIT;
    if (f->method->last && path->chosen == f->least && f->least > 1)
        vem_i_report_say(report, "%d clusters, the fewest that --min-clusters allows.",
                         path->chosen);
    else if (f->method->last)
        vem_i_report_say(report,
                         "%d cluster%s: rows of each are a normal sample, as far as a "
                         "test can tell.",
                         path->chosen, path->chosen == 1 ? "" : "s");
    else
        vem_i_report_say(report,
                         "%d cluster%s, the %s %s of %d to %d clusters%s; --pick K takes "
                         "another mixture of the path.",
                         path->chosen, path->chosen == 1 ? "" : "s",
                         f->method->lower ? "least" : "largest", f->method->criterion,
                         first, last, path->count == 1 ? " (there is no other)" : "");
    if (last < asked && !f->method->by_energy && f->distinct == last)
        vem_i_report_note(report, "the path ends with %d of %d clusters: there %s.", last,
                          asked,
                          last == 1 ? "is one distinct row"
                                    : "are no more distinct rows");
    else if (last < asked && !f->method->by_energy)
        vem_i_report_note(report, "the path ends with %d of %d clusters%s.", last, asked,
                          ended ? f->method->ends : "");
    if (path->chosen == asked && path->chosen > f->least && path->count > 1 && ended &&
        !f->method->last)
        vem_i_report_note(report,
                          "%s is best at the largest number tried: a larger %s may find "
                          "a better one.",
                          f->method->criterion,
                          f->select->numbers ? "number" : "--max-clusters");
    if (f->select->numbers && f->resolved.prior == VEM_PRIOR_FLAT &&
        f->resolved.held == 1)
        vem_i_report_note(report,
                          "these are k-means, family %s with equal weights, by BIC: for "
                          "the number of clusters --family full --prior free compares "
                          "mixtures, and vem select searches.",
                          vem_choice_name("family", (int)f->resolved.family));
    if (f->least > last)
        vem_i_report_note(report, "that is fewer than --min-clusters %d.", f->least);
}

void vem_i_select_notes(const vem_i_fitting *f)
{
    report_choice(f);
    report_few(f);
}
