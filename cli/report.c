/* What a fit reports: in words, as JSON, as a trace, and as the meta of the model file.
 */
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli.h"

json_t *cli_trace_json(const vem_report *report)
{
    const vem_trace_step *steps = vem_report_trace(report);
    json_t *list = json_array();
    for (int64_t t = 0; t < vem_report_trace_count(report); t++) {
        const vem_trace_step *s = &steps[t];
        json_t *row = json_object();
        json_object_set_new(row, "step", json_integer(s->step));
        json_object_set_new(row, "free_energy", cli_json_real(s->free_energy));
        json_object_set_new(row, "pairs", json_integer(s->pairs));
        json_object_set_new(row, "changed",
                            s->changed < 0 ? json_null() : json_integer(s->changed));
        json_object_set_new(row, "empty", json_integer(s->empty));
        json_object_set_new(row, "move", cli_json_text(s->move));
        json_object_set_new(row, "moved", json_integer(s->moved));
        json_object_set_new(row, "seconds", cli_json_real(s->seconds));
        json_array_append_new(list, row);
    }
    return list;
}

static char *trace_csv(const vem_report *report, size_t *length)
{
    const vem_trace_step *steps = vem_report_trace(report);
    char *text = NULL;
    FILE *stream = open_memstream(&text, length);
    if (!stream)
        return NULL;
    fputs("step,free_energy,pairs,changed,empty,move,moved,seconds\n", stream);
    for (int64_t t = 0; t < vem_report_trace_count(report); t++) {
        const vem_trace_step *s = &steps[t];
        char changed[24] = "";
        if (s->changed >= 0)
            snprintf(changed, sizeof changed, "%" PRId64, s->changed);
        fprintf(stream,
                "%" PRId64 ",%.17g,%" PRId64 ",%s,%" PRId64 ",%s,%" PRId64 ",%.6g\n",
                s->step, s->free_energy, s->pairs, changed, s->empty,
                s->move ? s->move : "", s->moved, s->seconds);
    }
    if (fclose(stream) != 0) {
        free(text);
        return NULL;
    }
    return text;
}

int cli_trace_write(cli_args *args, const vem_report *report, const char *path)
{
    char *text;
    size_t length;
    if (cli_has_ending(path, "json")) {
        json_t *list = cli_trace_json(report);
        text = json_dumps(list, JSON_INDENT(1) | JSON_REAL_PRECISION(17));
        json_decref(list);
        length = text ? strlen(text) : 0;
    } else {
        text = trace_csv(report, &length);
    }
    if (!text) {
        cli_error("memory for the trace could not be had.");
        return CLI_FAILED;
    }
    const vem_status status = vem_text_write(args->ctx, path, text, length);
    free(text);
    return status == VEM_OK ? CLI_DONE : cli_failure(args, status);
}

vem_status cli_set_meta(cli_args *args, const vem_report *report, vem_model *model)
{
    const vem_summary *s = vem_report_summary(report);
    const vem_options *options = vem_report_options(report);
    json_t *meta = json_object();
    json_object_set_new(meta, "version", json_string(vem_version()));
    json_object_set_new(meta, "family",
                        cli_json_text(vem_choice_name("family", options->family)));
    json_object_set_new(meta, "options", cli_json_options(options));
    json_object_set_new(meta, "seed", json_integer(options->seed));
    json_object_set_new(meta, "rows_used", json_integer((json_int_t)s->rows_used));
    json_object_set_new(meta, "stopping", cli_json_text(vem_report_stopping(report)));
    json_object_set_new(meta, "outcome", json_string(vem_outcome_name(s->outcome)));
    json_object_set_new(meta, "steps", json_integer(s->steps));
    json_object_set_new(meta, "floored", json_integer(s->floored));
    json_object_set_new(meta, "free_energy", cli_json_real(s->free_energy));
    json_object_set_new(meta, "normalize", json_boolean(vem_model_normalizes(model)));
    json_object_set_new(meta, "metric",
                        cli_json_text(
                            vem_choice_name("metric", (int)vem_model_metric(model))));
    json_object_set_new(meta, "trace", cli_trace_json(report));
    return cli_json_into_model(args, meta, model);
}

/* ---- In words ---- */

enum { INDENT = 16 };

void cli_print_lines(const char *label, const char *lines)
{
    const int width = cli_width(STDOUT_FILENO);
    while (lines && *lines) {
        const size_t length = strcspn(lines, "\n");
        char line[1024], clean[1024]; /* names of columns may be in it */
        snprintf(line, sizeof line, "%.*s", (int)length, lines);
        const int at = printf("  %-13s ", label);
        cli_wrap(stdout, cli_clean(line, clean, sizeof clean), INDENT, at, width);
        label = "";
        lines += length;
        lines += *lines == '\n';
    }
}

static const char *outcome_words(vem_outcome outcome)
{
    static char stopped[32];
    switch (outcome) {
    case VEM_OUTCOME_CONVERGED: return "converged";
    case VEM_OUTCOME_STEP_LIMIT: return "reached the step limit";
    case VEM_OUTCOME_STOPPED:
        snprintf(stopped, sizeof stopped, "stopped by %s", cli_interrupt_name());
        return stopped;
    case VEM_OUTCOME_BUDGET: return "reached its budget";
    }
    return "ended";
}

/* Numbers with a standard error, and no more digits than it leaves. */
static void print_estimate(const char *name, double value, double error)
{
    if (!(error > 0)) {
        printf("%s %.10g", name, value);
        return;
    }
    const double digits = 2 + floor(log10(fmax(fabs(value), error) / error));
    printf("%s %#.*g +- %.2g", name, digits < 10 ? (int)digits : 10, value, error);
}

static void print_measures(const vem_summary *s, const vem_options *options)
{
    char a[32];
    const int places = isfinite(s->quantization_error); /* clusters of counts are none */
    if (!places && !isfinite(s->log_likelihood))
        return;
    printf("  %-13s ", s->log_likelihood_se > 0 ? "estimated" : "measured");
    if (places)
        print_estimate("quantisation error", s->quantization_error,
                       s->quantization_error_se);
    print_estimate(places ? ", log-likelihood" : "log-likelihood", s->log_likelihood,
                   s->log_likelihood_se);
    fputs(" per row", stdout);
    if (options->measure == VEM_MEASURE_SAMPLE)
        printf(s->measured_rows < s->n ? ", from %s rows" : ", exact over all %s rows",
               cli_count(s->measured_rows, a));
    printf(
        "\n  %-13s AIC %.8g, BIC %.8g, ICL %.8g with %s parameter%s, lower is better\n",
        "criteria", s->aic, s->bic, s->icl, cli_count(s->parameters, a),
        s->parameters == 1 ? "" : "s");
    if (isfinite(s->quantization_error_coreset))
        printf("  %-13s quantisation error %.6g, log-likelihood %.6g per row, flattered "
               "by the fit\n",
               "coreset's own", s->quantization_error_coreset, s->log_likelihood_coreset);
}

/* What acted on clusters between the steps: how often, and on how many. */
static void print_moves(const vem_report *report)
{
    enum { MOST = 16 }; /* kinds */
    const vem_trace_step *steps = vem_report_trace(report);
    const char *names[MOST];
    int64_t times[MOST], moved[MOST];
    int count = 0;
    for (int64_t t = 0; t < vem_report_trace_count(report); t++) {
        int k = 0;
        if (!steps[t].move)
            continue;
        while (k < count && strcmp(names[k], steps[t].move) != 0)
            k++;
        if (k == MOST)
            continue;
        if (k == count) {
            names[count] = steps[t].move;
            times[count] = moved[count] = 0;
            count++;
        }
        times[k]++;
        moved[k] += steps[t].moved;
    }
    for (int k = 0; k < count; k++) {
        char a[32], b[32];
        if (k == 0)
            printf("  %-13s ", "moves");
        printf("%s%s %s", k == 0 ? "" : ", ", cli_count(times[k], a), names[k]);
        if (moved[k] > 0)
            printf(" (%s in all)", cli_count(moved[k], b));
    }
    if (count > 0)
        putchar('\n');
}

/* Who took the time, and how many pairs: for those who ask. */
static void print_details(const vem_report *report, double seconds_read)
{
    char a[32], b[32];
    const vem_summary *s = vem_report_summary(report);
    cli_print_lines("chosen", vem_report_choices(report));
    print_moves(report);
    printf("  %-13s %s scored, %s in the seeding\n", "pairs",
           cli_count(s->scored_pairs, a), cli_count(s->seed_pairs, b));
    printf("  %-13s %s reading, %s seeding, ", "seconds", cli_seconds(seconds_read, a),
           cli_seconds(s->seconds_seed, b));
    if (s->cells > 0)
        printf("%s the tree, ", cli_seconds(s->seconds_tree, a));
    printf("%s fitting, %s measuring\n", cli_seconds(s->seconds_em, a),
           cli_seconds(s->seconds_measure, b));
}

static int compare_sizes(const void *a, const void *b)
{
    const int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return x < y ? -1 : x > y;
}

/* Rows of the clusters: least, median, largest, and how many have none. After a fit on a
 * coreset rows have no labels. */
static void print_sizes(const vem_report *report)
{
    const vem_summary *s = vem_report_summary(report);
    const int32_t *labels = vem_report_labels(report);
    const size_t count = (size_t)s->clusters;
    int64_t *sizes = labels ? calloc(count, sizeof *sizes) : NULL;
    char a[48], b[32], c[32], e[32];
    if (!labels && s->items < s->n)
        printf("  %-13s not counted, because %s fitted: vem describe MODEL DATA counts "
               "them\n",
               "sizes", s->cells ? "cells were" : "a coreset was");
    if (!sizes)
        return;
    for (int64_t i = 0; i < s->n; i++)
        if (labels[i] >= 0 && labels[i] < s->clusters)
            sizes[labels[i]]++;
    qsort(sizes, count, sizeof *sizes, compare_sizes);
    size_t empty = 0;
    while (empty < count && sizes[empty] == 0)
        empty++;
    printf("  %-13s least %s, median %s, largest %s; %s empty\n", "sizes",
           cli_counted(sizes[0], "row", a),
           cli_count((sizes[(count - 1) / 2] + sizes[count / 2]) / 2, b),
           cli_count(sizes[count - 1], c), empty ? cli_count((int64_t)empty, e) : "none");
    free(sizes);
}

static void print_clusters(int32_t clusters, const vem_options *options, int verbose)
{
    char a[32];
    printf("  %-13s %s, %s", "clusters", cli_count(clusters, a),
           vem_choice_name("family", options->family));
    if (options->metric != VEM_METRIC_L2)
        printf(", metric %s", vem_choice_name("metric", options->metric));
    if (options->held == 1)
        fputs(", each row in one", stdout);
    else
        printf(", each row in up to %s", cli_count(options->held, a));
    if (options->algorithm == VEM_AUTO)
        printf("; search %s%s\n", vem_choice_name("search", options->search),
               verbose ? "" : " (-v says why)");
    else
        printf("; algorithm %s\n", vem_choice_name("algorithm", options->algorithm));
}

/* Was a coreset fitted, as it is or in cells? */
static int is_of_coreset(const vem_summary *s, const vem_options *options)
{
    return options->coreset != VEM_AUTO && options->coreset < s->n;
}

/* several: all numbers of clusters that were looked at; energy: what the free energy is. */
static void print_outcome(const vem_summary *s, const vem_options *options, int several,
                          const char *energy)
{
    char a[48], b[32];
    printf("  %-13s %s after %s", "outcome", outcome_words(s->outcome),
           cli_counted(s->steps, "step", a));
    if (several)
        fputs(" in all, of several numbers of clusters", stdout);
    if (options->restarts > 1)
        printf(" (restart %s of %s is the best)", cli_count(s->restart, a),
               cli_count(options->restarts, b));
    if (isfinite(s->free_energy))
        printf("; %s %.10g per row%s", energy, s->free_energy,
               is_of_coreset(s, options) ? " of the coreset" : "");
    putchar('\n');
    if (options->balance != VEM_BALANCE_NONE && isfinite(s->cv))
        printf("  %-13s CV %.3f, the largest cluster is %.3g times the mean\n", "sizes",
               s->cv, s->largest);
    if (s->cells)
        printf("  %-13s %s of a kd-tree stood for the rows%s", "cells",
               cli_count(s->cells, a),
               is_of_coreset(s, options) ? " of the coreset" : "");
    if (s->cells && isfinite(s->gap)) {
        printf("; %s log-likelihood is %.3g",
               is_of_coreset(s, options) ? "the coreset's own" : "their", s->gap);
        if (s->gap_se > 0)
            printf(" (+- %.2g)", s->gap_se);
        fputs(" higher than F", stdout);
    }
    if (s->cells)
        putchar('\n');
}

/* What to type next: the data, where they are one file, read as they were for the fit. (Columns
 * and ids are known to the model.) */
static void print_model(const cli_args *args, const char *output)
{
    static const char *const reading[] = {"missing", "header", "decimal"};
    printf("  %-13s %s; more with: vem describe %s", "model", output, output);
    const char *data = cli_first_data(args);
    if (args->operand_count == args->command->operand_count && strcmp(data, "-") != 0) {
        printf(" %s", data);
        for (size_t i = 0; i < sizeof reading / sizeof *reading; i++)
            if (cli_value(args, reading[i]))
                printf(" --%s %s", reading[i], cli_value(args, reading[i]));
    }
    putchar('\n');
}

void cli_print_summary(const cli_args *args, const vem_report *report,
                       const vem_path *path, double seconds_read, double seconds_total)
{
    const vem_summary *s = vem_report_summary(report);
    const vem_options *options = vem_report_options(report);
    char a[48], b[48], name[256];
    printf("vem %s %s: %s, %s", args->command->name,
           cli_data_name(args, cli_first_data(args), name), cli_counted(s->n, "row", a),
           cli_counted(s->d, "column", b));
    const char *share = cli_value(args, "holdout");
    if (share && s->items == s->n && s->rows_used < (double)s->n)
        printf("; %s fitted, the others held out or of no weight",
               cli_counted((int64_t)s->rows_used, "row", a));
    putchar('\n');
    if (cli_value(args, "verbose"))
        print_details(report, seconds_read);
    print_clusters(s->clusters, options, cli_value(args, "verbose") != NULL);
    print_sizes(report);
    print_outcome(s, options, vem_path_count(path) > 1,
                  cli_energy_name(args, path, s->free_energy));
    print_measures(s, options);
    cli_print_lines("note", vem_report_notes(report));
    printf("  %-13s %s s, peak memory %s\n", "time", cli_seconds(seconds_total, a),
           vem_bytes_print((double)s->peak_bytes, b));
    const char *output = cli_value(args, "output");
    if (output)
        print_model(args, output);
    else
        printf("  %-13s not written; name a file with -o MODEL.npz\n", "model");
}

/* ---- As JSON ---- */

json_t *cli_sentences(const char *lines)
{
    json_t *list = json_array();
    while (*lines) {
        const size_t length = strcspn(lines, "\n");
        json_array_append_new(list, json_stringn(lines, length));
        lines += length;
        lines += *lines == '\n';
    }
    return list;
}

static json_t *choice(const char *option, int value)
{
    const char *name = vem_choice_name(option, value);
    return json_string(name ? name : "auto");
}

json_t *cli_report_json(const cli_args *args, const vem_report *report,
                        double seconds_read, double seconds_total)
{
    const vem_summary *s = vem_report_summary(report);
    const vem_options *options = vem_report_options(report);
    json_t *o = cli_json_begin(args);
    json_object_set_new(o, "algorithm", choice("algorithm", options->algorithm));
    json_object_set_new(o, "family", choice("family", options->family));
    json_object_set_new(o, "metric", choice("metric", options->metric));
    json_object_set_new(o, "search", choice("search", options->search));
    CLI_JSON_WHOLE(o, s, n);
    CLI_JSON_WHOLE(o, s, d);
    CLI_JSON_WHOLE(o, s, clusters);
    CLI_JSON_WHOLE(o, s, floored);
    CLI_JSON_WHOLE(o, s, items);
    CLI_JSON_WHOLE(o, s, rows_used);
    json_object_set_new(o, "held", json_integer(options->held));
    json_object_set_new(o, "reach",
                        options->reach == VEM_AUTO
                            ? json_null() /* this search has no graph */
                            : json_integer(options->reach));
    json_object_set_new(o, "stopping", cli_json_text(vem_report_stopping(report)));
    json_object_set_new(o, "outcome", json_string(vem_outcome_name(s->outcome)));
    CLI_JSON_WHOLE(o, s, steps);
    CLI_JSON_WHOLE(o, s, init_steps);
    CLI_JSON_REAL(o, s, free_energy);
    CLI_JSON_REAL(o, s, free_energy_first);
    CLI_JSON_WHOLE(o, s, scored_pairs);
    CLI_JSON_WHOLE(o, s, seed_pairs);
    CLI_JSON_WHOLE(o, s, reduce_pairs);
    CLI_JSON_REAL(o, s, quantization_error);
    CLI_JSON_REAL(o, s, log_likelihood);
    CLI_JSON_WHOLE(o, s, parameters);
    CLI_JSON_REAL(o, s, entropy);
    CLI_JSON_REAL(o, s, aic);
    CLI_JSON_REAL(o, s, bic);
    CLI_JSON_REAL(o, s, icl);
    CLI_JSON_REAL(o, s, quantization_error_se);
    CLI_JSON_REAL(o, s, log_likelihood_se);
    CLI_JSON_REAL(o, s, quantization_error_coreset);
    CLI_JSON_REAL(o, s, log_likelihood_coreset);
    CLI_JSON_WHOLE(o, s, cells);
    CLI_JSON_REAL(o, s, cv);
    CLI_JSON_REAL(o, s, largest);
    CLI_JSON_REAL(o, s, gap);
    CLI_JSON_REAL(o, s, gap_se);
    json_object_set_new(o, "gap_of",
                        !isfinite(s->gap)           ? json_null()
                        : is_of_coreset(s, options) ? json_string("coreset")
                                                    : json_string("rows"));
    CLI_JSON_WHOLE(o, s, measured_rows);
    json_t *seconds = json_object();
    json_object_set_new(seconds, "read", cli_json_real(seconds_read));
    json_object_set_new(seconds, "reduce", cli_json_real(s->seconds_reduce));
    json_object_set_new(seconds, "seed", cli_json_real(s->seconds_seed));
    json_object_set_new(seconds, "em", cli_json_real(s->seconds_em));
    json_object_set_new(seconds, "tree", cli_json_real(s->seconds_tree));
    json_object_set_new(seconds, "measure", cli_json_real(s->seconds_measure));
    json_object_set_new(seconds, "total", cli_json_real(seconds_total));
    json_object_set_new(o, "seconds", seconds);
    json_object_set_new(o, "threads", json_integer(vem_ctx_threads(args->ctx)));
    json_object_set_new(o, "seed", json_integer(options->seed));
    CLI_JSON_WHOLE(o, s, peak_bytes);
    CLI_JSON_WHOLE(o, s, restart);
    json_object_set_new(o, "cpu", json_string(vem_ctx_cpu(args->ctx)));
    json_object_set_new(o, "options", cli_json_options(options));
    json_object_set_new(o, "choices", cli_sentences(vem_report_choices(report)));
    json_object_set_new(o, "notes", cli_sentences(vem_report_notes(report)));
    return o;
}
