/* What fit and select share: data read within --time, the plan told, results written and told. */
#include <string.h>

#include "cli.h"
#include "vem/mpi.h"

/* Seconds as a person would say them. */
static const char *about(double seconds, char text[32])
{
    if (seconds < 1.5)
        snprintf(text, 32, "1 second");
    else if (seconds < 90)
        snprintf(text, 32, "%.0f seconds", seconds);
    else if (seconds < 90 * 60)
        snprintf(text, 32, "%.0f minutes", seconds / 60);
    else if (seconds < 48 * 3600)
        snprintf(text, 32, "%.0f hours", seconds / 3600);
    else
        snprintf(text, 32, "%.0f days", seconds / 86400);
    return text;
}

/* Whoever forgot -o learns it before the work, not after. */
static void tell_unwritten(const cli_args *args)
{
    const cli_file *file = args->command->files;
    int written = cli_value(args, "json") != NULL;
    for (; !written && file && file->name; file++)
        written = file->use != CLI_READS && cli_value(args, file->name);
    if (!written)
        cli_note(args,
                 "no file is named, and nothing will be written: -o %s keeps what is "
                 "found.",
                 args->command == &cli_tree ? "TREE.npz" : "MODEL.npz");
}

/* Rounds follow as long as they gain, and the forecast is of one: nobody knows how many there are. */
static int has_rounds(const cli_args *args)
{
    const char *method = cli_value(args, "method");
    return args->command == &cli_select &&
           (!method || (strcmp(method, "greedy") != 0 && strcmp(method, "sweep") != 0));
}

/* Before a long fit, what it will take; with --verbose before any. */
static void tell_plan(void *user, const vem_forecast *forecast)
{
    enum { LONG = 5, LONG_ROUND = 1, A_TREE_TOO_LONG = 600 }; /* seconds */
    cli_args *args = user;
    const vem_data *data = args->data;
    char n[48], columns[48], threads[48], memory[32], time[32];
    const int verbose = cli_value(args, "verbose") != NULL;
    if (cli_value(args, "quiet"))
        return;
    if (forecast->spilled)
        cli_note(
            args,
            "the rows do not fit into the memory%s: they rest in a temporary file of %s, "
            "which can make each step several times slower.",
            args->options.memory == VEM_AUTO ? " there is" : " that --memory allows",
            vem_bytes_print((double)forecast->spilled, memory));
    if (!verbose && forecast->seconds < (has_rounds(args) ? LONG_ROUND : LONG))
        return;
    cli_progress_end();
    fprintf(stderr, "vem %s: %s, %s of %s (%s)", vem_version(),
            cli_counted(vem_data_rows(data), "row", n),
            cli_counted(vem_data_columns(data), "column", columns),
            cli_dtype(vem_data_dtype(data)), vem_data_format(data));
    if (verbose)
        fprintf(stderr, "; %s, %s kernels",
                cli_counted(vem_ctx_threads(args->ctx), "thread", threads),
                vem_ctx_cpu(args->ctx));
    fprintf(stderr, "; needs about %s beside the input",
            vem_bytes_print((double)forecast->bytes, memory));
    if (forecast->spilled)
        fprintf(stderr, ", %s of disk",
                vem_bytes_print((double)forecast->spilled, memory));
    fprintf(stderr,
            has_rounds(args) ? " and at least %s; rounds of the search add to it\n"
                             : " and about %s\n",
            about(forecast->seconds, time));
    if (args->command == &cli_tree && forecast->seconds > A_TREE_TOO_LONG &&
        !cli_value(args, "leaves"))
        cli_note(args, "--leaves 2000 makes a tree of 2,000 groups of rows instead, in "
                       "far less time.");
    tell_unwritten(args);
    cli_progress_expect(forecast->seconds);
}

void cli_announce(cli_args *args, int yes)
{
    vem_ctx_set_forecast(args->ctx, yes ? tell_plan : NULL, yes ? args : NULL);
}

/* Labels of all rows: the fit's own, or after a fit on a coreset an exact assignment. */
static vem_status write_labels(cli_args *args, const vem_report *report,
                               const vem_model *model, const vem_data *data,
                               const char *path)
{
    const vem_summary *s = vem_report_summary(report);
    const int known = vem_report_labels(report) != NULL;
    if (cli_processes() > 1 && vem_mpi_labels(report, NULL, NULL))
        return vem_mpi_labels_write(args->ctx, path, data, report);
    if (known && vem_data_rows_read(data) == s->n)
        return vem_labels_write_rows(args->ctx, path, data, vem_report_labels(report),
                                     s->n);
    void *labels = NULL;
    const int64_t all = vem_data_rows_read(data);
    vem_status status = vem_array_new(args->ctx, (size_t)all * sizeof(int32_t), &labels);
    if (status != VEM_OK)
        return status;
    /* The Ctrl-C that ended the fit must not end this: the file was asked for. */
    if (cli_interrupted())
        vem_ctx_set_progress(args->ctx, NULL, NULL);
    if (known)
        memcpy(labels, vem_report_labels(report), (size_t)s->n * sizeof(int32_t));
    else
        status = vem_assign(args->ctx, model, data, 1,
                            (vem_precision)vem_report_options(report)->precision, labels,
                            NULL);
    cli_progress_end();
    if (status == VEM_OK && cli_writes())
        status =
            vem_data_spread(args->ctx, data, labels, sizeof(int32_t), &(int32_t){-1});
    if (status == VEM_OK && cli_writes())
        status = vem_labels_write_rows(args->ctx, path, data, labels, all);
    vem_array_free(args->ctx, labels);
    return status;
}

int cli_read_levels(const cli_args *args, int64_t *levels)
{
    enum { MOST = 8 };
    const int code = cli_read_whole(args, "levels", MOST, levels);
    if (code != CLI_DONE || !cli_value(args, "levels") || *levels >= 2)
        return code;
    cli_error("--levels is %d, but it must lie between 2 and %d.", (int)*levels, MOST);
    return CLI_USAGE;
}

/* The last of all, so that who does not wait for it has the rest. */
static int write_hierarchy(cli_args *args, cli_found *found, const char *path)
{
    int64_t levels = 0;
    cli_read_levels(args, &levels); /* which was checked before the fit */
    const vem_hierarchy_options options = {.size = sizeof options,
                                           .levels = (int32_t)levels,
                                           .seed =
                                               vem_report_options(found->report)->seed};
    vem_hierarchy *hierarchy = NULL;
    if (cli_interrupted()) /* it ended the fit, and the file was asked for */
        vem_ctx_set_progress(args->ctx, NULL, NULL);
    vem_status status = vem_hierarchy_new(args->ctx, found->model, &options, &hierarchy);
    cli_progress_end();
    if (status == VEM_OK)
        status = vem_hierarchy_write(args->ctx, hierarchy, path);
    if (status == VEM_OK) {
        found->nodes = vem_hierarchy_nodes(hierarchy);
        found->levels = vem_hierarchy_levels(hierarchy);
    }
    vem_hierarchy_free(hierarchy);
    if (status == VEM_STOPPED && cli_interrupted()) {
        cli_error("interrupted; %s was not written, all other files were.", path);
        return cli_interrupt_status();
    }
    return status == VEM_OK ? CLI_DONE : cli_failure(args, status);
}

static int write_results(cli_args *args, cli_found *found, const vem_data *data)
{
    const char *output = cli_value(args, "output"), *labels = cli_value(args, "labels");
    const char *trace = cli_value(args, "trace");
    vem_status status = VEM_OK;
    if (!cli_writes()) { /* of several processes the first one does, with what the others send */
        if (labels)
            status = write_labels(args, found->report, found->model, data, labels);
        return status == VEM_OK ? CLI_DONE : cli_failure(args, status);
    }
    if (output)
        status = cli_set_meta(args, found->report, found->model);
    if (status == VEM_OK && output)
        status = found->path
                     ? vem_path_write(args->ctx, found->path, found->model, output)
                     : vem_model_write(args->ctx, found->model, output);
    if (status == VEM_OK && labels)
        status = write_labels(args, found->report, found->model, data, labels);
    if (status == VEM_OK)
        status = cli_write_drift(args, found->drift);
    if (status != VEM_OK)
        return cli_failure(args, status);
    const int code = trace ? cli_trace_write(args, found->report, trace) : CLI_DONE;
    return code == CLI_DONE && cli_value(args, "hierarchy")
               ? write_hierarchy(args, found, cli_value(args, "hierarchy"))
               : code;
}

static int tell(cli_args *args, const cli_found *found, double seconds_read,
                double seconds)
{
    if (cli_value(args, "json")) {
        json_t *o = cli_report_json(args, found->report, seconds_read, seconds);
        if (found->path) {
            json_object_set_new(o, "method", json_string(found->method));
            cli_choice_json(args, found->path, o);
            json_object_set_new(o, "path", cli_path_json(found->path));
            cli_more_json(found->more, o);
        }
        cli_drift_json(found->drift, o);
        if (found->levels > 0) {
            json_object_set_new(o, "hierarchy_nodes", json_integer(found->nodes));
            json_object_set_new(o, "hierarchy_levels", json_integer(found->levels));
        }
        cli_processes_json(args->ctx, o);
        return cli_json_print(o);
    }
    if (!cli_value(args, "quiet")) {
        const vem_outcome outcome = vem_report_summary(found->report)->outcome;
        cli_print_summary(args, found->report, found->path, seconds_read, seconds);
        if (found->path) {
            cli_print_path(args, found->path,
                           outcome == VEM_OUTCOME_STOPPED ||
                               outcome == VEM_OUTCOME_BUDGET);
            cli_print_more(args, found->more);
        }
        cli_print_drift(found->drift);
        if (found->levels > 0) {
            char above[48];
            printf("  %-13s %s: %s above the clusters, %d levels in all\n", "hierarchy",
                   cli_value(args, "hierarchy"),
                   cli_counted(found->nodes - vem_model_clusters(found->model), "centre",
                               above),
                   (int)found->levels);
        }
    }
    return CLI_DONE;
}

int cli_fit_over(cli_args *args, vem_status status, cli_found *found,
                 const vem_data *data, double seconds_read, double began)
{
    cli_announce(args, 0);
    cli_progress_end();
    if (status != VEM_OK)
        return cli_failure(args, status);
    int code = write_results(args, found, data);
    /* The first process does alone what is told beside the path. */
    if (code == CLI_DONE && found->path && cli_writes())
        code = cli_find_more(args, found, data, began);
    if (code == CLI_DONE)
        code = tell(args, found, seconds_read, cli_clock() - began);
    if (code == CLI_DONE && cli_interrupted())
        code = cli_interrupt_status();
    vem_report_free(found->report);
    vem_path_free(found->path);
    vem_model_free(found->model);
    *found = (cli_found){0};
    return code;
}

/* --time counts from the beginning: what reading leaves is the fit's. */
int cli_read_in_time(cli_args *args, vem_data **data, double *seconds_read, double began)
{
    const double time = args->options.time;
    const int limited = time != VEM_AUTO && !cli_value(args, "accumulate");
    if (limited)
        cli_progress_until(began + time);
    int code = cli_read_data(args, cli_first_data(args), data, seconds_read);
    if (code == CLI_DONE && cli_progress_late()) {
        vem_data_free(*data);
        *data = NULL;
        code = cli_failure(args, VEM_STOPPED);
    }
    cli_progress_until(0);
    if (code == CLI_DONE && limited)
        vem_ctx_set_spent(args->ctx, cli_clock() - began);
    return code;
}
