#include "fit/report.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "base/plain.h"
#include "search/search.h"

static void add_line(char *text, size_t capacity, const char *format, va_list args)
{
    size_t used = strlen(text);
    if (capacity - used < 2)
        return;
    if (used > 0) {
        text[used++] = '\n';
        text[used] = '\0';
    }
    vem_i_plain_vprint(text + used, capacity - used, format, args);
}

void vem_i_report_say(vem_report *report, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    add_line(report->choices, sizeof report->choices, format, args);
    va_end(args);
}

void vem_i_report_note(vem_report *report, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    add_line(report->notes, sizeof report->notes, format, args);
    va_end(args);
}

void vem_i_report_coreset(vem_report *report, const vem_options *asked)
{
    const vem_summary *s = &report->summary;
    const long long size = (long long)report->options.coreset;
    if (size == VEM_AUTO)
        return;
    if (s->items == s->n)
        vem_i_report_note(
            report, "all %lld rows are fitted: a coreset of %lld would be no smaller.",
            (long long)s->n, size);
    else if (asked->coreset == VEM_AUTO)
        vem_i_report_note(
            report,
            "a coreset of %lld rows, a power of two near 16 for each cluster, as in most "
            "of the paper's experiments; --coreset N' for another size.",
            size);
    else
        vem_i_report_note(
            report,
            "a coreset of %lld rows is fitted; measures and labels are of all "
            "rows.",
            size);
}

void vem_i_report_cells(vem_report *report, const vem_i_programme *p)
{
    vem_i_report_say(
        report,
        "up to %lld cells of a kd-tree stand for the %lld rows, because these are "
        "many in few columns and hardly any value comes twice: F is a lower bound, "
        "and the gap says how near. --cells 0 for the rows themselves.",
        (long long)p->items, (long long)p->rows);
}

static void say_starts(vem_report *report, const vem_i_programme *programme,
                       const vem_i_stage *stage)
{
    const int64_t rounds = stage->options.swaps;
    const vem_i_starts_plan *p = &programme->starts;
    const char *all = programme->celled    ? "more of them"
                      : programme->reduced ? "the whole coreset"
                                           : "all rows";
    char sample[80], larger[80] = "", swaps[64] = "";
    snprintf(sample, sizeof sample, "%s", all);
    if (programme->celled)
        snprintf(sample, sizeof sample, "the first %lld cells", (long long)p->rows);
    else if (p->rows < report->summary.items)
        snprintf(sample, sizeof sample, "a sample of %lld rows", (long long)p->rows);
    if (p->larger > 0)
        snprintf(larger, sizeof larger, "a sample of %lld and then with ",
                 (long long)p->larger);
    if (rounds > 0)
        snprintf(swaps, sizeof swaps, ", each with up to %lld %s of swaps",
                 (long long)rounds, rounds == 1 ? "round" : "rounds");
    vem_i_report_say(
        report,
        "up to %lld starts on %s, because few clusters make them cheap: %lld from a "
        "seeding, the others from the best so far with clusters moved elsewhere%s. The "
        "best goes on with %s%s. --swaps 0 for none of this.",
        (long long)p->runs, sample, (long long)p->fresh, swaps, larger, all);
}

/* How rows find their clusters, */
static void say_search(vem_report *report, const vem_options *asked)
{
    const vem_options *o = &report->options;
    const vem_i_search_type *type = vem_i_search_type_of(o->search);
    char text[320];
    if (asked->search != VEM_AUTO)
        return;
    if (type->tell)
        type->tell(o, text, sizeof text);
    else
        snprintf(text, sizeof text,
                 "exact search (%s): every cluster is tried for every row.",
                 vem_choice_name("search", o->search));
    vem_i_report_say(report, "%s", text);
}

/* Loops before the one that was asked for, in which swaps come: the last of them says it. */
static const char in_two_starts[] = " They come in a start by k-means and in one "
                                    "whose rows hold few clusters.";
static const char *const where_swaps_come[] = {[VEM_I_STAGE_KMEANS] =
                                                   " They come in a start by k-means.",
                                               [VEM_I_STAGE_LISTED] = in_two_starts,
                                               [VEM_I_STAGE_BALANCE] = NULL};

static void say_swaps(vem_report *report, const vem_i_programme *programme)
{
    const char *where = "";
    for (int i = 0; i < programme->count; i++)
        if (where_swaps_come[programme->stages[i].kind])
            where = where_swaps_come[programme->stages[i].kind];
    vem_i_report_say(
        report,
        "up to %lld rounds of swaps, as long as moving clusters promises to gain; "
        "--swaps 0 for none.%s",
        (long long)programme->options.swaps, where);
}

static void say_seeding(vem_report *report, const vem_i_stage *stage)
{
    const int64_t seeding = stage->options.seeding;
    vem_i_report_say(report, "seeding %s, %s.", vem_choice_name("seeding", (int)seeding),
                     seeding == VEM_SEED_TWO_LEVEL
                         ? "whose cost grows less than the number of clusters"
                         : "the best that is cheap beside the fit at this size");
}

/* and where these come from. */
static void say_begin(vem_report *report, const vem_options *asked,
                      const vem_i_programme *programme)
{
    const vem_options *o = &programme->options;
    if (programme->starts.runs == 0 && o->clusters > 1 && asked->swaps == VEM_AUTO &&
        o->swaps > 0)
        say_swaps(report, programme);
    for (int i = 0; i < programme->count; i++)
        if (programme->stages[i].kind == VEM_I_STAGE_STARTS)
            say_starts(report, programme, &programme->stages[i]);
        else if (programme->stages[i].kind == VEM_I_STAGE_SEED &&
                 asked->seeding == VEM_AUTO)
            say_seeding(report, &programme->stages[i]);
}

static void say_ours(vem_report *report, const vem_options *asked,
                     const vem_i_programme *programme, const char *how)
{
    const vem_options *o = &report->options;
    const char *family = vem_choice_name("family", o->family);
    if (asked->family == VEM_AUTO)
        vem_i_report_say(
            report,
            "family %s, the model behind k-means; --family diag or full for other "
            "shapes.",
            family);
    if (o->clusters == 1)
        vem_i_report_say(report,
                         "one cluster: its mean and its shape are those of all rows.");
    else if (asked->held == VEM_AUTO && o->held == 1)
        vem_i_report_say(
            report,
            "each row belongs to one cluster; --held 2 or more for soft assignments.");
    else if (asked->held == VEM_AUTO && o->held < o->clusters)
        vem_i_report_say(
            report,
            "each row holds its %lld most probable of %lld clusters: the others hardly "
            "count, and F stays a lower bound.",
            (long long)o->held, (long long)o->clusters);
    else if (asked->held == VEM_AUTO)
        vem_i_report_say(report, "each row holds all %lld clusters: full EM.",
                         (long long)o->clusters);
    if (!how)
        say_search(report, asked);
    if (programme->celled && asked->cells == VEM_AUTO)
        vem_i_report_cells(report, programme);
    if (how)
        vem_i_report_say(report, "%s", how);
    else
        say_begin(report, asked, programme);
}

/* When the loop ends, in the words of docs/math/free-energy.md. */
static void say_stopping(vem_report *report, int scale_free, const char *stops)
{
    const vem_summary *s = &report->summary;
    const vem_options *o = &report->options;
    const int explores = o->explore > 0;
    const char *twice = explores ? " twice running" : "";
    char *text = report->stopping;
    const size_t size = sizeof report->stopping;
    if (stops)
        snprintf(text, size, "%s", stops);
    else if (o->tolerance == 0 && vem_i_holds_all(o))
        snprintf(text, size, "stops when F no longer rises.");
    else if (o->tolerance == 0)
        snprintf(text, size, "stops when no row changes what it holds in a step%s.",
                 twice);
    else if (!scale_free)
        vem_i_plain_print(
            text, size,
            "stops when a step changes F by no more than %g max(|F|, 0.001)%s.",
            o->tolerance, twice);
    else if (vem_i_is_plain(vem_i_family_of(o->family)) && o->held == 1)
        vem_i_plain_print(
            text, size,
            "stops when a step changes the squared error by no more than %g of "
            "itself%s.",
            o->tolerance, twice);
    else
        vem_i_plain_print(text, size,
                          "stops when a step changes F by no more than %g (%g D / 2)%s.",
                          0.5 * s->d * o->tolerance, o->tolerance, twice);
    vem_i_report_say(report, "%s", text);
}

void vem_i_report_choices(vem_report *report, const vem_options *asked,
                          const vem_i_programme *programme, const vem_i_told *otherwise)
{
    const vem_options *o = &report->options;
    report->choices[0] = report->notes[0] = '\0';
    if (programme->from == VEM_I_FROM_MODEL && o->metric != asked->metric)
        vem_i_report_note(report, "--metric is %s, as for the model to start from.",
                          vem_choice_name("metric", o->metric));
    else if (programme->from == VEM_I_FROM_MODEL && o->normalize && !asked->normalize &&
             o->metric == VEM_METRIC_L2)
        vem_i_report_note(
            report, "rows are divided by their length, as for the model to start from.");
    if (o->floor > asked->floor)
        vem_i_report_note(report,
                          "--floor %g is raised to %.3g, the least that family %s in %s "
                          "precision can hold exactly.",
                          asked->floor, o->floor, vem_choice_name("family", o->family),
                          vem_choice_name("precision", o->precision));
    if (vem_i_is_ours(asked)) /* a preset is what was asked for */
        say_ours(report, asked, programme, otherwise ? otherwise->how : NULL);
    say_stopping(report, programme->scale_free, otherwise ? otherwise->stops : NULL);
}

void vem_i_report_spill(vem_report *report, const vem_i_plan *plan)
{
    char size[32], memory[32] = "";
    if (!plan->spill)
        return;
    if (plan->programme.options.memory != VEM_AUTO || plan->run->ctx->memory)
        vem_bytes_print((double)plan->limit, memory);
    vem_i_report_note(
        report,
        "the rows rest in a temporary file (%s of disk), because they do not fit into "
        "%s%s.",
        vem_bytes_print((double)vem_i_plan_spilled(plan), size),
        *memory ? "--memory " : "the memory there is", memory);
}

void vem_report_free(vem_report *report)
{
    if (!report)
        return;
    vem_i_trace_free(&report->trace);
    vem_i_free(report->labels);
    vem_i_free(report);
}

const vem_summary *vem_report_summary(const vem_report *report)
{
    return report ? &report->summary : NULL;
}

const vem_options *vem_report_options(const vem_report *report)
{
    return report ? &report->options : NULL;
}

int64_t vem_report_trace_count(const vem_report *report)
{
    return report ? report->trace.count : 0;
}

const vem_trace_step *vem_report_trace(const vem_report *report)
{
    return report ? report->trace.steps : NULL;
}

const int32_t *vem_report_labels(const vem_report *report)
{
    return report && !report->apart ? report->labels : NULL;
}

const char *vem_report_stopping(const vem_report *report)
{
    return report ? report->stopping : "";
}

const char *vem_report_choices(const vem_report *report)
{
    return report ? report->choices : "";
}

const char *vem_report_notes(const vem_report *report)
{
    return report ? report->notes : "";
}

const char *vem_outcome_name(vem_outcome outcome)
{
    switch (outcome) {
    case VEM_OUTCOME_CONVERGED: return "converged";
    case VEM_OUTCOME_STEP_LIMIT: return "step-limit";
    case VEM_OUTCOME_STOPPED: return "stopped";
    case VEM_OUTCOME_BUDGET: return "budget";
    }
    return "unknown";
}
