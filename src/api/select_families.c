/* A selection of several families: each is searched by itself, and the one whose chosen
 * mixture has the best objective is the result. Evidence, BIC and ICL of the same rows
 * compare families as they compare numbers of clusters: what a shape costs is in them. So
 * clusters that are balls are found as such, with fewer parameters than matrices have. */
#include <math.h>

#include "api/fitting.h"
#include "api/select.h"
#include "base/plain.h"
#include "fit/report.h"

/* What a family led to. */
typedef struct result {
    vem_model *model;
    vem_path *path;
    vem_report *report;
} result;

static void result_free(result *r)
{
    vem_model_free(r->model);
    vem_path_free(r->path);
    vem_report_free(r->report);
    *r = (result){0};
}

/* More is better. For each row that counts: coresets of different families may be of
 * different sizes. */
static double worth(const vem_i_select_type *method, const vem_path *path)
{
    const int32_t at = vem_i_path_find(path, path->chosen);
    if (at < 0 || !(path->mass > 0))
        return -INFINITY;
    const double objective = path->points[at].objective / path->mass;
    return isnan(objective) ? -INFINITY : method->lower ? -objective : objective;
}

/* One that follows others, which took their part of the time. */
static vem_status select_one(vem_i_run *run, const vem_data *data, vem_options *o,
                             const vem_select_options *s, int64_t left, int measured,
                             result *r)
{
    vem_i_run part = *run; /* with a clock of its own */
    vem_i_watch watch = *run->watch;
    if (o->time != VEM_AUTO) {
        const double spent = run->ctx->spent; /* before, which the budget takes off */
        watch.start = vem_i_clock();
        const double rest = o->time - spent - (watch.start - run->watch->start);
        o->time = spent + fmax(rest / (double)left, 1e-9);
        part.watch = &watch;
    }
    const vem_status status =
        vem_i_select(&part, data, o, s, measured, &r->model, &r->path, &r->report);
    if (watch.stop)
        run->watch->stop = 1;
    return status;
}

/* The work of all is that of the result. */
static void add_work(vem_summary *to, const vem_summary *from)
{
    to->scored_pairs += from->scored_pairs;
    to->seed_pairs += from->seed_pairs;
    to->reduce_pairs += from->reduce_pairs;
    to->seconds_reduce += from->seconds_reduce;
    to->seconds_seed += from->seconds_seed;
    to->seconds_em += from->seconds_em;
    to->seconds_tree += from->seconds_tree;
    to->seconds_measure += from->seconds_measure;
    to->seconds_total += from->seconds_total;
}

static void tell(int64_t k, const result *r, char *text, size_t size, size_t *used)
{
    const int32_t at = vem_i_path_find(r->path, r->path->chosen);
    if (*used < size)
        *used +=
            (size_t)vem_i_plain_print(text + *used, size - *used,
                                      "%s%s %.8g (%d cluster%s)", k > 0 ? ", " : "",
                                      vem_choice_name("family",
                                                      (int)r->model->family->kind),
                                      at < 0 ? NAN : r->path->points[at].objective,
                                      r->path->chosen, r->path->chosen == 1 ? "" : "s");
}

static vem_status check(vem_i_run *run, const vem_options *o, const vem_select_options *s)
{
    const vem_i_select_type *method = vem_i_select_type_of((int)s->method);
    if (s->family_count < 1)
        return vem_i_fail(run, VEM_BAD_OPTION, "There is no family to compare.");
    if (o->family != VEM_AUTO)
        return vem_i_fail(run, VEM_BAD_OPTION,
                          "--family is one family and --families are several: only one "
                          "of the two can be.");
    for (int64_t k = 0; k < s->family_count; k++)
        if (!vem_choice_name("family", s->families[k]))
            return vem_i_fail(run, VEM_BAD_OPTION, "There is no family number %d.",
                              s->families[k]);
        else if (method->takes && !method->takes(vem_i_family_of(s->families[k])))
            return vem_i_fail(run, VEM_BAD_OPTION,
                              "--families has %s, but with --method %s they are %s.",
                              vem_choice_name("family", s->families[k]),
                              vem_i_select_name(s->method), method->families);
    if (method->last)
        return vem_i_fail(run, VEM_BAD_OPTION,
                          "--families are compared by an objective, and this method has "
                          "none.");
    if (run->ctx->checkpoint.path)
        return vem_i_fail(run, VEM_BAD_OPTION,
                          "A selection of several families keeps no state: --checkpoint "
                          "and --resume do not go with --families.");
    return VEM_OK;
}

/* The sentence, when all are done. */
static void say(const vem_i_select_type *method, const result *best, const char *told)
{
    const vem_options *o = &best->report->options;
    vem_i_report_say(best->report, "family %s, the %s %s of %s.",
                     vem_choice_name("family", (int)best->model->family->kind),
                     method->lower ? "least" : "largest", method->criterion, told);
    if (o->coreset != VEM_AUTO && o->coreset < best->report->summary.n)
        vem_i_report_note(best->report, "families were compared on coresets, of which "
                                        "each family has its own.");
}

/* All, one after the other; of a stop or the end of the time those that were done. */
static vem_status select_all(vem_i_run *run, const vem_data *data,
                             const vem_options *options, const vem_select_options *select,
                             int measured, result *best)
{
    const vem_i_select_type *method = vem_i_select_type_of((int)select->method);
    vem_select_options one = *select;
    vem_summary others = {0};
    char told[1024] = "";
    size_t used = 0;
    vem_status status = VEM_OK;
    one.families = NULL;
    one.family_count = 0;
    for (int64_t k = 0; status == VEM_OK && k < select->family_count; k++) {
        vem_options o = *options;
        result r = {0};
        o.family = (int)select->families[k];
        if (k > 0 && run->watch->stop)
            break;
        status = select_one(run, data, &o, &one, select->family_count - k, measured, &r);
        if (status != VEM_OK)
            break;
        tell(k, &r, told, sizeof told, &used);
        if (!best->model || worth(method, r.path) > worth(method, best->path)) {
            const result worse = *best;
            *best = r;
            r = worse;
        }
        if (r.report)
            add_work(&others, &r.report->summary);
        result_free(&r);
    }
    if (status == VEM_STOPPED && best->model)
        status = VEM_OK;
    if (status == VEM_OK) {
        add_work(&best->report->summary, &others);
        if (run->watch->stop)
            best->report->summary.outcome = VEM_OUTCOME_STOPPED;
        say(method, best, told);
    }
    return status;
}

vem_status vem_i_select_families(vem_i_run *run, const vem_data *data,
                                 const vem_options *options,
                                 const vem_select_options *select, int measured,
                                 vem_model **model, vem_path **path, vem_report **report)
{
    result best = {0};
    vem_status status = check(run, options, select);
    if (status == VEM_OK)
        status = select_all(run, data, options, select, measured, &best);
    if (status == VEM_OK && model) {
        *model = best.model;
        best.model = NULL;
    }
    if (status == VEM_OK && path) {
        *path = best.path;
        best.path = NULL;
    }
    if (status == VEM_OK && report) {
        *report = best.report;
        best.report = NULL;
    }
    result_free(&best);
    return status;
}
