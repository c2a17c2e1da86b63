/* What select tells beside its model: how members move between its mixtures, a picture
 * of that, and how stable the choice is. All of it is done when the model is written. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"

int cli_read_more(const cli_args *args, cli_more *more)
{
    *more = (cli_more){.stability = {.size = sizeof more->stability, .share = 0.9}};
    if (cli_value(args, "flows") && !cli_value(args, "json")) {
        cli_error("--flows is told with --json only; --picture FILE.svg shows the same.");
        return CLI_USAGE;
    }
    const int code =
        cli_read_whole(args, "stability", CLI_MOST_RESAMPLES, &more->resamples);
    if (code != CLI_DONE || more->resamples == 0)
        return code;
    more->stability.resamples = (int32_t)more->resamples;
    more->stability.clusters = calloc((size_t)more->resamples, sizeof(int32_t));
    more->stability.ari = calloc((size_t)more->resamples, sizeof(double));
    if (more->stability.clusters && more->stability.ari)
        return CLI_DONE;
    cli_error("memory for %lld resamples could not be had.", (long long)more->resamples);
    return CLI_FAILED;
}

void cli_free_more(cli_more *more)
{
    free(more->stability.clusters);
    free(more->stability.ari);
    vem_flows_free(more->flows);
    *more = (cli_more){0};
}

/* ---- find ---- */

static vem_status find_flows(cli_args *args, const vem_report *report,
                             const vem_path *path, const vem_data *data, cli_more *more)
{
    const char *picture = cli_value(args, "picture");
    const vem_flow_options o = {.size = sizeof o,
                                .seed = args->options.seed,
                                .precision =
                                    (vem_precision)vem_report_options(report)->precision};
    /* The Ctrl-C that ended the fit must not end this: the picture was asked for. */
    if (cli_interrupted())
        vem_ctx_set_progress(args->ctx, NULL, NULL);
    vem_status status = vem_path_flows(args->ctx, path, data, &o, &more->flows);
    cli_progress_end();
    if (status == VEM_OK && picture)
        status = vem_path_draw(args->ctx, path, more->flows, picture);
    return status;
}

static vem_status find_stability(cli_args *args, const cli_found *found,
                                 const vem_data *data, double began, cli_more *more)
{
    vem_options o = args->options;
    if (cli_interrupted())
        return VEM_OK;
    if (o.time !=
        VEM_AUTO) { /* what it chose for all rows, it chooses for some of them */
        vem_ctx_set_spent(args->ctx, cli_clock() - began);
        o.coreset = vem_report_options(found->report)->coreset;
    }
    const vem_status status = vem_select_stability(args->ctx, data, &o, found->select,
                                                   found->model, &more->stability);
    cli_progress_end();
    return status;
}

int cli_find_more(cli_args *args, const cli_found *found, const vem_data *data,
                  double began)
{
    cli_more *more = found->more;
    vem_status status = VEM_OK;
    if (vem_path_count(found->path) == 0) { /* there was no time for one mixture */
        if (cli_value(args, "picture"))
            cli_note(args, "there is no path that could be drawn.");
        return CLI_DONE;
    }
    if (cli_value(args, "picture") || cli_value(args, "flows"))
        status = find_flows(args, found->report, found->path, data, more);
    if (status == VEM_OK && more->resamples > 0)
        status = find_stability(args, found, data, began, more);
    return status == VEM_OK ? CLI_DONE : cli_failure(args, status);
}

/* ---- tell ---- */

static json_t *flows_json(const vem_flows *flows)
{
    json_t *list = json_array();
    for (int32_t i = 0; i + 1 < vem_flows_count(flows); i++) {
        int64_t count;
        const vem_flow *flow = vem_flows_at(flows, i, &count);
        json_t *pair = json_object(), *shares = json_array();
        json_object_set_new(pair, "clusters",
                            json_pack("[i, i]", vem_flows_clusters(flows, i),
                                      vem_flows_clusters(flows, i + 1)));
        for (int64_t k = 0; k < count; k++)
            json_array_append_new(shares, json_pack("[i, i, f]", flow[k].from, flow[k].to,
                                                    flow[k].share));
        json_object_set_new(pair, "shares", shares);
        json_array_append_new(list, pair);
    }
    return list;
}

static json_t *stability_json(const vem_stability *s)
{
    json_t *o = json_object(), *clusters = json_array(), *ari = json_array();
    for (int32_t i = 0; i < s->done; i++) {
        json_array_append_new(clusters, json_integer(s->clusters[i]));
        json_array_append_new(ari, cli_json_real(s->ari[i]));
    }
    CLI_JSON_WHOLE(o, s, resamples);
    CLI_JSON_WHOLE(o, s, done);
    CLI_JSON_WHOLE(o, s, rows);
    json_object_set_new(o, "share", cli_json_real(s->share));
    json_object_set_new(o, "clusters", clusters);
    json_object_set_new(o, "ari", ari);
    json_object_set_new(o, "clusters_mean",
                        cli_json_real(s->done ? s->clusters_mean : NAN));
    json_object_set_new(o, "clusters_sd", cli_json_real(s->done ? s->clusters_sd : NAN));
    json_object_set_new(o, "ari_mean", cli_json_real(s->done ? s->ari_mean : NAN));
    json_object_set_new(o, "ari_sd", cli_json_real(s->done ? s->ari_sd : NAN));
    return o;
}

void cli_more_json(const cli_more *more, json_t *object)
{
    if (more->flows)
        json_object_set_new(object, "flows", flows_json(more->flows));
    if (more->resamples > 0)
        json_object_set_new(object, "stability", stability_json(&more->stability));
}

static int compare_numbers(const void *a, const void *b)
{
    const int32_t x = *(const int32_t *)a, y = *(const int32_t *)b;
    return x < y ? -1 : x > y;
}

/* "5 (once), 6 (19 times)". */
static void print_counts(const vem_stability *s)
{
    enum { SHOWN = 12 };
    int32_t *sorted = malloc((size_t)s->done * sizeof *sorted);
    int shown = 0;
    if (!sorted)
        return;
    memcpy(sorted, s->clusters, (size_t)s->done * sizeof *sorted);
    qsort(sorted, (size_t)s->done, sizeof *sorted, compare_numbers);
    for (int32_t i = 0, end; i < s->done; i = end) {
        for (end = i + 1; end < s->done && sorted[end] == sorted[i];)
            end++;
        if (shown++ < SHOWN)
            printf(end - i == 1 ? "%s%d (once)" : "%s%d (%d times)", i ? ", " : "",
                   sorted[i], end - i);
    }
    if (shown > SHOWN)
        printf(" and %d other numbers", shown - SHOWN);
    free(sorted);
}

static void print_stability(const vem_stability *s)
{
    char a[48], b[48];
    if (s->done == 0) {
        printf("  %-13s no resample came to its end%s\n", "stability",
               cli_interrupted() ? "" : ": --time was over");
        return;
    }
    printf("  %-13s %s of %s (%.0f %%); clusters found: ", "stability",
           cli_counted(s->done, "resample", a), cli_counted(s->rows, "row", b),
           100 * s->share);
    print_counts(s);
    printf("\n  %-13s in the mean %.4g", "", s->clusters_mean);
    if (s->done > 1)
        printf(" +- %.2g", s->clusters_sd);
    printf("; agreement of labels with the model's: ARI %.3g", s->ari_mean);
    if (s->done > 1)
        printf(" +- %.2g", s->ari_sd);
    putchar('\n');
    if (s->done < s->resamples)
        printf("  %-13s %d of %d resamples were done%s\n", "note", s->done, s->resamples,
               cli_interrupted() ? "" : ": then --time was over");
}

void cli_print_more(const cli_args *args, const cli_more *more)
{
    if (more->resamples > 0)
        print_stability(&more->stability);
    if (cli_value(args, "picture"))
        printf("  %-13s %s\n", "picture", cli_value(args, "picture"));
}

/* ---- a picture without rows ---- */

int cli_draw_path(cli_args *args)
{
    const char *picture = cli_value(args, "picture");
    static const char *const beside[] = {"json", "quiet", "verbose", NULL};
    static const cli_mode mode = {"picture", beside, NULL,
                                  "draws what MODEL holds and fits nothing"};
    vem_path *path = NULL;
    if (args->operand_count > 1) {
        cli_error("%s holds mixtures, not rows: --picture draws them, and takes one such "
                  "file.",
                  args->operands[0]);
        return CLI_USAGE;
    }
    if (cli_check_mode(args, &mode) != CLI_DONE)
        return CLI_USAGE;
    vem_status status = vem_path_read(args->ctx, args->operands[0], &path);
    if (status == VEM_OK)
        status = vem_path_draw(args->ctx, path, NULL, picture);
    int code = status == VEM_OK ? CLI_DONE : cli_failure(args, status);
    if (code == CLI_DONE && cli_value(args, "json")) {
        json_t *o = cli_json_begin(args);
        json_object_set_new(o, "clusters", json_integer(vem_path_chosen(path)));
        cli_choice_json(args, path, o);
        json_object_set_new(o, "path", cli_path_json(path));
        code = cli_json_print(o);
    } else if (code == CLI_DONE && !cli_value(args, "quiet")) {
        cli_print_path(args, path, 0);
        printf("  %-13s %s\n", "picture", picture);
    }
    vem_path_free(path);
    return code;
}
