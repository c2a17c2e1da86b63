/* vem score --index QUERIES: what an index with these centres pays and finds. */
#include <math.h>
#include <stdlib.h>

#include "cli.h"

static const double shares[] = {0.005, 0.01, 0.02, 0.05};
enum { SHARES = sizeof shares / sizeof *shares };

static json_t *point_of(const vem_index_point *point, double share)
{
    json_t *o = json_object();
    json_object_set_new(o, "share", cli_json_real(share));
    json_object_set_new(o, "probes", cli_json_real(point->probes));
    json_object_set_new(o, "scanned", cli_json_real(point->scanned));
    json_object_set_new(o, "scanned_p99", cli_json_real(point->scanned_p99));
    json_object_set_new(o, "recall", cli_json_real(point->recall));
    return o;
}

static int print_json(const cli_args *args, const vem_index_summary *s,
                      const vem_index_point *at, const vem_index *index, int64_t unlisted,
                      double seconds)
{
    json_t *o = cli_json_begin(args), *budgets = json_array(), *curve = json_array();
    json_object_set_new(o, "n", json_integer(s->rows));
    if (cli_value(args, "lists"))
        json_object_set_new(o, "unlisted", json_integer(unlisted));
    json_object_set_new(o, "clusters", json_integer(s->clusters));
    json_object_set_new(o, "queries", json_integer(s->queries));
    json_object_set_new(o, "neighbors", json_integer(s->neighbors));
    json_object_set_new(o, "size_mean", cli_json_real(s->mean));
    json_object_set_new(o, "size_cv", cli_json_real(s->cv));
    json_object_set_new(o, "size_largest", json_integer(s->largest));
    json_object_set_new(o, "size_empty", json_integer(s->empty));
    json_object_set_new(o, "size_over", json_integer(s->over));
    for (int k = 0; k < SHARES; k++)
        json_array_append_new(budgets, point_of(&at[k], shares[k]));
    for (int32_t g = 0; g < vem_index_count(index); g++) {
        const vem_index_point *point = vem_index_at(index, g);
        json_array_append_new(curve, point_of(point, point->scanned / (double)s->rows));
    }
    json_object_set_new(o, "budgets", budgets);
    json_object_set_new(o, "curve", curve);
    json_object_set_new(o, "threads", json_integer(vem_ctx_threads(args->ctx)));
    json_object_set_new(o, "seconds", cli_json_real(seconds));
    return cli_json_print(o);
}

static void print_words(const cli_args *args, const vem_index_summary *s,
                        const vem_index_point *at, int64_t unlisted)
{
    char a[48], b[48], c[48];
    const char *lists = cli_value(args, "lists"), *picture = cli_value(args, "picture");
    printf("%s in %s%s%s%s; %s %s\n", cli_counted(s->rows, "row", a),
           cli_counted(s->clusters, "list", b),
           cli_value(args, "spill") ? ", each in two of them" : "", lists ? " of " : "",
           lists ? lists : "", cli_count(s->queries, c),
           s->queries == 1 ? "query" : "queries");
    if (unlisted > 0)
        printf("  %-15s %s in no list, never scanned and never found\n", "unlisted",
               cli_counted(unlisted, "row", a));
    printf("  %-15s mean %.1f, CV %.3f, largest %s; %s empty, %s of more than %d times "
           "the mean\n",
           "sizes", s->mean, s->cv, cli_count(s->largest, a), cli_count(s->empty, b),
           cli_count(s->over, c), VEM_INDEX_OVER);
    printf("  rows scanned    lists of a query   recall@%-3d  99 of 100 queries scan at "
           "most\n",
           s->neighbors);
    for (int k = 0; k < SHARES; k++)
        if (isfinite(at[k].recall))
            printf("  %10.1f %%   %18.1f   %9.4f   %31.2f %%\n", 100 * shares[k],
                   at[k].probes, at[k].recall, 100 * at[k].scanned_p99 / (double)s->rows);
        else
            printf("  %10.1f %%   one list has more rows than that\n", 100 * shares[k]);
    if (picture)
        printf("  %-15s %s\n", "picture", picture);
}

int cli_read_spill(const char *text, double *lambda)
{
    char *end;
    const double value = strtod(text, &end);
    if (end == text || *end != '\0' || !(value >= 0 && value <= 1e6)) {
        cli_error("--spill is %s, but it must be a number between 0 and 1000000.", text);
        return CLI_USAGE;
    }
    *lambda = value;
    return CLI_DONE;
}

/* --lists FILE: the list of each row of the data, those that were left out included; -1: none. */
static int read_lists(const cli_args *args, const vem_data *data, int32_t clusters,
                      int32_t **lists, int64_t *unlisted)
{
    const char *path = cli_value(args, "lists");
    const int64_t n = vem_data_rows(data), rows = vem_data_rows_read(data);
    int64_t *labels = NULL, count = 0;
    if (!path)
        return CLI_DONE;
    const vem_status status = vem_labels_read(args->ctx, path, &labels, &count);
    if (status != VEM_OK)
        return cli_failure(args, status);
    int code = count == rows ? CLI_DONE : CLI_FAILED;
    if (code != CLI_DONE)
        cli_error("%s has %lld labels, but there are %lld rows.", path, (long long)count,
                  (long long)rows);
    *lists = malloc((size_t)n * sizeof **lists + 1);
    if (code == CLI_DONE && !*lists) {
        cli_error("memory for %lld labels could not be had.", (long long)n);
        code = CLI_FAILED;
    }
    for (int64_t i = 0; code == CLI_DONE && i < n; i++) {
        const int64_t row = vem_data_row(data, i);
        (*lists)[i] = (int32_t)labels[row];
        *unlisted += labels[row] == -1;
        if (labels[row] < -1 || labels[row] >= clusters) {
            cli_error(
                "%s says that row %lld is in list %lld, but the model has lists 0 to "
                "%d.",
                path, (long long)row + 1, (long long)labels[row], clusters - 1);
            code = CLI_FAILED;
        }
    }
    free(labels);
    return code;
}

int cli_score_index(cli_args *args, const vem_model *model, const vem_data *data,
                    const char *path, double began)
{
    vem_index_options options = {.size = sizeof options};
    vem_index_summary summary = {.size = sizeof summary};
    vem_index_point at[SHARES];
    vem_index *index = NULL;
    vem_data *queries = NULL;
    cli_args other = *args; /* reads one file, like DATA */
    char *words[] = {(char *)path};
    int64_t neighbors = 0, unlisted = 0;
    other.operands = words;
    other.operand_count = 1;
    int code = cli_read_whole(args, "neighbors", 64, &neighbors);
    if (code == CLI_DONE && cli_value(args, "spill")) {
        options.lists = 2;
        code = cli_read_spill(cli_value(args, "spill"), &options.lambda);
    }
    int32_t *lists = NULL;
    if (code == CLI_DONE)
        code = read_lists(args, data, vem_model_clusters(model), &lists, &unlisted);
    if (code == CLI_DONE)
        code = cli_read_data(&other, path, &queries, NULL);
    if (code != CLI_DONE) {
        free(lists);
        return code;
    }
    options.labels = lists;
    options.neighbors = (int32_t)neighbors;
    vem_status status = vem_index_score(args->ctx, model, data, queries,
                                        cli_precision(args), &options, &index);
    if (status == VEM_OK)
        status = vem_index_describe(args->ctx, index, &summary);
    for (int k = 0; status == VEM_OK && k < SHARES; k++) {
        at[k].size = sizeof at[k];
        status = vem_index_scan(args->ctx, index, shares[k], &at[k]);
    }
    if (status == VEM_OK && cli_value(args, "picture"))
        status = vem_index_draw(args->ctx, index, cli_value(args, "picture"));
    cli_progress_end();
    if (status != VEM_OK)
        code = cli_failure(args, status);
    else if (cli_value(args, "json"))
        code = print_json(args, &summary, at, index, unlisted, cli_clock() - began);
    else
        print_words(args, &summary, at, unlisted);
    vem_index_free(index);
    vem_data_free(queries);
    free(lists);
    return code;
}
