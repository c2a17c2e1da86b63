/* What a fit has to say of itself when its steps are over: what was stopped, given up, not reached
 * or not found, and what would help. */
#include <float.h>
#include <math.h>
#include <stdio.h>

#include "api/fitting.h"
#include "base/options.h"
#include "moves/cap_bounds.h"

/* Where a stop in the starts leaves --resume. */
static void say_resume(const vem_i_fitting *f)
{
    const vem_i_checkpoint *k = &f->checkpoint; /* zeros where there is none */
    if (!f->run.watch->stop || !k->in_starts)
        return;
    if (k->written)
        vem_i_report_note(f->report,
                          "it was stopped during the starts of restart %lld, of which no "
                          "state is kept: --resume goes on from the state before them.",
                          (long long)k->restart);
    else if (vem_i_state_exists(f->run.ctx->checkpoint.path))
        vem_i_report_note(f->report,
                          "it was stopped during the starts on a sample, of which no "
                          "state is kept: %s is still that of an earlier fit.",
                          f->run.ctx->checkpoint.path);
    else
        vem_i_report_note(f->report,
                          "it was stopped during the starts on a sample, of which no "
                          "state is kept: --resume begins again.");
}

static int has_swapped(const vem_report *report)
{
    for (int64_t t = 0; t < report->trace.count; t++)
        if (report->trace.steps[t].move == vem_i_move_names[VEM_I_MOVE_SWAP])
            return 1;
    return 0;
}

/* What was planned of the starts and turned out otherwise. */
static void say_missed(vem_report *report)
{
    if (report->missed == VEM_I_MISSED_SOME && has_swapped(report))
        vem_i_report_say(report,
                         "a round of swaps over all rows followed, because far rows "
                         "took many of the sample's places.");
    else if (report->missed == VEM_I_MISSED_CROWD)
        vem_i_report_say(report, "no starts were made, because far rows took many of the "
                                 "sample's places; the fit began with all rows, and with "
                                 "swaps.");
    else if (report->missed >= VEM_I_MISSED_PLACES)
        vem_i_report_say(report,
                         "the starts were given up, because the sample had %s; the fit "
                         "began again with all rows, and with swaps.",
                         report->missed == VEM_I_MISSED_ROWS
                             ? "missed rows that count, far ones or small groups"
                             : "fewer distinct rows than there are clusters");
}

/* Found in the rows when the fit began. */
static void say_axes(vem_report *report, int32_t d)
{
    if (report->axes > 0)
        vem_i_report_say(
            report,
            "all but the last steps look at the rows along %d principal axes "
            "instead of %d columns, because a sample loses nearly nothing by "
            "it; the last ones look at all columns.",
            (int)report->axes, (int)d);
}

/* Where --gap was not reached, how near it came and what would help. */
static void say_gap(const vem_i_fitting *f)
{
    const vem_summary *s = &f->report->summary;
    const vem_options *o = &f->resolved;
    char why[160];
    if (o->gap == VEM_AUTO)
        return;
    if (!f->cells) {
        vem_i_report_note(
            f->report,
            "--gap %g has no part in it: --cells %lld would be no fewer than "
            "there are rows, so that all of them are fitted.",
            o->gap, (long long)o->cells);
        return;
    }
    if (s->gap <= o->gap && s->gap_se > o->gap / 4)
        vem_i_report_note(
            f->report,
            "--gap %g is near what a sample of these rows can tell: the gap "
            "is %.3g +- %.2g, and may be above; --measure gives it exactly.",
            o->gap, s->gap, s->gap_se);
    if (!(s->gap > o->gap)) /* NAN: nothing was fitted */
        return;
    if (f->run.watch->stop || s->outcome == VEM_OUTCOME_BUDGET)
        snprintf(why, sizeof why, "the fit was ended before");
    else if (s->outcome == VEM_OUTCOME_STEP_LIMIT)
        snprintf(why, sizeof why, "--max-steps %lld came first", (long long)o->max_steps);
    else if (s->cells >= o->cells)
        snprintf(why, sizeof why, "all of --cells %lld are in use", (long long)o->cells);
    else if (o->held < o->clusters)
        snprintf(
            why, sizeof why,
            "--held %lld of %lld clusters keeps F so far below, however fine the cells "
            "are",
            (long long)o->held, (long long)o->clusters);
    else
        snprintf(why, sizeof why, "the sample of rows by which it ended said less");
    vem_i_report_note(f->report, "--gap %g was not reached, the gap is %.3g: %s.", o->gap,
                      s->gap, why);
}

/* Costs of counts and their base measure are large where counts are, and F and likelihoods are
 * what is left of both (docs/math/counts.md). */
static void say_rounding(const vem_i_fitting *f)
{
    static const double WORTH_TELLING = 0.01; /* nats a row */
    const double base = f->points->view.log_base_mean;
    const double terms = fabs(base) + fabs(f->report->summary.free_energy - base);
    /* Four roundings a row; sums over the rows of a cell and of all rows add some. */
    const double unit =
        32 * (f->resolved.precision == VEM_SINGLE ? FLT_EPSILON : DBL_EPSILON);
    if (base != 0 && unit * terms > WORTH_TELLING)
        vem_i_report_note(
            f->report,
            "counts are so large that rounding leaves the free energy and the "
            "log-likelihood uncertain by up to about %.2g a row: they are "
            "differences of sums near %.2g.",
            unit * terms, terms / 2);
}

/* Options about cells where all rows are fitted, and cells too few for the clusters. */
static void say_cells(const vem_i_fitting *f)
{
    const vem_options *asked = f->asked, *o = &f->resolved;
    const int64_t cells = f->report->summary.cells;
    const char *named = asked->depth != VEM_AUTO    ? "depth"
                        : asked->expand != VEM_AUTO ? "expand"
                        : asked->tau != VEM_AUTO    ? "tau"
                                                    : NULL;
    if (named && !f->cells)
        vem_i_report_note(f->report,
                          "--%s has no part in it: there would be no fewer cells than "
                          "rows, so that all of them are fitted.",
                          named);
    if (f->cells && vem_i_descends(&f->plan.programme.options) && o->clusters > 1 &&
        cells < 4 * o->clusters)
        vem_i_report_note(
            f->report,
            "the rule of moore-em left %lld cells for %lld clusters, which become alike "
            "where they share one: a smaller --tau divides more, and with many columns "
            "kd-em does better.",
            (long long)cells, (long long)o->clusters);
}

/* To find the closest half of the clusters of a row took longer than to hold all of them in every fit that
 * was timed (20 to 100 clusters, 8 to 128 columns). */
static void say_held(const vem_i_fitting *f)
{
    const vem_options *o = &f->resolved;
    if (f->asked->held == VEM_AUTO || f->method || o->held < 2 ||
        2 * o->held < o->clusters || o->held >= o->clusters ||
        !vem_i_search_is_whole((int)o->search))
        return;
    vem_i_report_note(f->report,
                      "--held is %lld of %lld clusters: steps in which rows hold all of "
                      "them (--held %lld) take less time, since none have to be found.",
                      (long long)o->held, (long long)o->clusters, (long long)o->clusters);
}

/* Fewer clusters than were asked for, where they are inserted. */
static void say_fewer(const vem_i_fitting *f)
{
    const vem_report *report = f->report;
    const int ended = report->summary.outcome == VEM_OUTCOME_CONVERGED;
    if (f->plan.programme.grows && !f->path && f->model->clusters < f->resolved.clusters)
        vem_i_report_note(f->report, "%d of %lld clusters were inserted%s.",
                          f->model->clusters, (long long)f->resolved.clusters,
                          ended ? ": no insertion that was tried raises the "
                                  "free energy"
                                : "");
}

/* A mean that stands for a missing value puts its row onto a plane of others like it. */
static void say_replaced(const vem_i_fitting *f)
{
    static const double FEW = 0.01; /* values for each row */
    const int64_t missing = vem_data_missing(f->data);
    if (!vem_data_means(f->data) || (double)missing < FEW * (double)f->all->n)
        return;
    vem_i_report_note(
        f->report,
        "%lld missing values are the means of their columns: rows with such "
        "values lie on planes, and can look like clusters of their own. %s",
        (long long)missing,
        f->path ? "--missing drop is safer for the number of clusters."
                : "--missing drop leaves them out.");
}

/* Ends that come early leave clusters larger than --balance says. */
static void note_cap(const vem_i_fitting *f, double mean)
{
    const double cap = vem_i_cap_of(&f->resolved), largest = f->report->summary.largest;
    const vem_i_cap_bounds b = vem_i_cap_bounds_of(f->data->weights, f->data->n,
                                                   f->report->summary.clusters, cap);
    if (cap > 0 && largest * mean > b.most * b.unit * (1 + 1e-9))
        vem_i_report_note(f->report,
                          "The fit was ended before --balance %g was kept: the largest "
                          "cluster has %.3g times the mean.",
                          cap, largest);
}

/* Clusters that labels do not have. */
static void note_empty(const vem_i_fitting *f, const double *masses)
{
    int64_t empty = 0;
    for (int32_t c = 0; c < f->report->summary.clusters; c++)
        empty += masses[c] == 0;
    if (empty > 0)
        vem_i_report_note(f->report,
                          "%lld of %d clusters %s the best one of no row: labels do not "
                          "have %s, and fewer clusters would do.",
                          (long long)empty, f->report->summary.clusters,
                          empty == 1 ? "is" : "are", empty == 1 ? "it" : "them");
}

void vem_i_fit_note_sizes(const vem_i_fitting *f, const double *masses, double mean)
{
    note_cap(f, mean);
    note_empty(f, masses);
}

void vem_i_fit_notes(const vem_i_fitting *f)
{
    say_replaced(f);
    say_resume(f);
    say_missed(f->report);
    say_axes(f->report, (int32_t)f->data->d);
    say_gap(f);
    say_cells(f);
    say_rounding(f);
    say_fewer(f);
    say_held(f);
}
