/* What vem describe found, as tables for a terminal of 80 columns, as JSON and as CSV. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "describe.h"

enum { WIDTH = 80, NUMBER = 11, MOST_MERGES = 5, NAME = 64 };

/* From the model, else from the data, else "column 3" in `text`: as it is, for files. */
static const char *stored_name(const cli_findings *f, int32_t j, char text[NAME])
{
    const char *name = vem_model_column_name(f->model, j);
    if (!name && f->data)
        name = vem_data_column_name(f->data, j);
    if (name)
        return name;
    snprintf(text, NAME, "column %d", (int)j + 1);
    return text;
}

/* The same for a terminal. */
static const char *column_name(const cli_findings *f, int32_t j, char text[NAME])
{
    char plain[NAME];
    return cli_clean(stored_name(f, j, plain), text, NAME);
}

/* "12 %", "0.3 %", and nothing where there is no number. */
static const char *percent(double share, char text[16])
{
    if (!isfinite(share))
        snprintf(text, 16, "-");
    else
        snprintf(text, 16, share < 0.0995 ? "%.1f %%" : "%.0f %%", 100 * share);
    return text;
}

/* ---- Words ---- */

static void print_head(const cli_findings *f)
{
    char a[48], b[48], c[48];
    const char *family = vem_choice_name("family", (int)vem_model_family(f->model));
    printf("%s: %s (%s), %s", f->model_path,
           cli_counted(vem_model_clusters(f->model), "cluster", a), family ? family : "?",
           cli_counted(vem_model_columns(f->model), "column", b));
    if (f->data)
        printf("; %s of %s", cli_counted(vem_data_rows(f->data), "row", c), f->data_name);
    putchar('\n');
}

/* "income +2.1, rate -0.8" in what is left of the line; a sign where there is no room for all. */
#define SIGN " ..."
static void print_differences(const cli_findings *f, const vem_cluster *it, int room)
{
    for (int k = 0; k < VEM_SHOWN_COLUMNS && it->columns[k] >= 0; k++) {
        char name[NAME], first[NAME], text[NAME + 24];
        const int shown =
            cli_first(column_name(f, it->columns[k], name), 20, first, sizeof first);
        const int bytes = snprintf(text, sizeof text, "%s%s %+.1f", k ? ", " : "", first,
                                   it->differences[k]);
        const int length = bytes - (int)strlen(first) + shown; /* in characters */
        const int more = k + 1 < VEM_SHOWN_COLUMNS && it->columns[k + 1] >= 0
                             ? (int)sizeof SIGN - 1
                             : 0;
        if (length + more > room) {
            fputs(SIGN, stdout);
            break;
        }
        fputs(text, stdout);
        room -= length;
    }
    putchar('\n');
}

/* "-" where no column varies: there is nothing to compare with. */
static const char *spread_of(const vem_cluster *it, char text[16])
{
    if (isfinite(it->spread))
        snprintf(text, 16, "%.3g", it->spread);
    else
        snprintf(text, 16, "-");
    return text;
}

static void print_clusters(const cli_findings *f, int64_t shown)
{
    char a[32], share[16], doubt[16], spread[16];
    const int width = cli_width(STDOUT_FILENO);
    int left;
    if (f->data)
        printf("\n%8s %12s %6s %6s %8s %7s  %s\n", "cluster", "rows", "share", "spread",
               "doubtful", "nearest", "differs most in");
    else
        printf("\n%8s %10s %6s %7s  %s\n", "cluster", "weight", "spread", "nearest",
               "differs most in");
    for (int64_t i = 0; i < shown; i++) {
        const int32_t c = f->order[i];
        const vem_cluster *it = &f->clusters[c];
        char nearest[16] = "-";
        if (it->nearest >= 0)
            snprintf(nearest, sizeof nearest, "%d", (int)it->nearest);
        if (f->data)
            left = printf("%8d %12s %6s %6s %8s %7s  ", (int)c, cli_count(it->rows, a),
                          percent(it->mass / f->about.mass, share), spread_of(it, spread),
                          percent(it->doubtful, doubt), nearest);
        else
            left = printf("%8d %10.4g %6s %7s  ", (int)c, it->weight,
                          spread_of(it, spread), nearest);
        print_differences(f, it, width - left);
    }
}

/* How much of a column's variance lies between the clusters: those that tell most about them
 * are shown where not all have room. */
static double between(const cli_findings *f, int32_t j)
{
    const int32_t d = vem_model_columns(f->model);
    const double *means = vem_model_means(f->model);
    double sum = 0, weights = 0;
    for (int64_t c = 0; c < vem_model_clusters(f->model); c++) {
        const vem_cluster *it = &f->clusters[c];
        const double w = f->data ? it->mass : it->weight;
        const double off = (means[c * d + j] - f->about.means[j]) / f->about.sds[j];
        if (isfinite(off))
            sum += w * off * off;
        weights += w;
    }
    return weights > 0 ? sum / weights : 0;
}

/* As many as have room, in the order of the data; how many. */
static int choose_columns(const cli_findings *f, int32_t *columns)
{
    enum { MOST = (WIDTH - 8) / (NUMBER + 1) };
    const int32_t d = vem_model_columns(f->model);
    const int count = d < MOST ? d : MOST;
    double values[MOST];
    int filled = 0;
    for (int32_t j = 0; j < d; j++) {
        const double value = d > MOST ? between(f, j) : 0;
        if (filled == count) { /* the least of them makes room, if it is less */
            int least = 0;
            for (int k = 1; k < count; k++)
                if (values[k] < values[least])
                    least = k;
            if (!(value > values[least]))
                continue;
            for (int k = least; k + 1 < count; k++) {
                values[k] = values[k + 1];
                columns[k] = columns[k + 1];
            }
            filled--;
        }
        values[filled] = value;
        columns[filled++] = j;
    }
    return count;
}

/* Five digits of what the column is about: its largest mean and its deviation say how many stand
 * behind the point, the same in all rows. What is less is the rounding of zero. */
static void print_mean(const cli_findings *f, int32_t j, double mean)
{
    const int32_t d = vem_model_columns(f->model);
    const double *means = vem_model_means(f->model);
    double most = fabs(f->about.means[j]);
    for (int64_t c = 0; c < vem_model_clusters(f->model); c++)
        most = fmax(most, fabs(means[c * d + j]));
    const int digits = most > 0 ? (int)floor(log10(most)) + 1 : 1;
    if (!(most >= 1e-3 && most < 1e7)) {
        printf(" %*.4g", NUMBER, fabs(mean) < 1e-9 * most ? 0.0 : mean);
        return;
    }
    const int behind = digits >= 5 ? 0 : 5 - (digits > 0 ? digits : 0);
    const double unit = pow(10, -behind);
    printf(" %*.*f", NUMBER, behind, fabs(mean) < unit / 2 ? 0.0 : mean);
}

/* The name at the head of a column of means; its length. Where there is room for its beginning only,
 * and another one shown begins alike, or it ends with the number of a column, its end is shown. */
static int head_of(const cli_findings *f, const int32_t *columns, int count, int at,
                   char out[NAME])
{
    char name[NAME], other[NAME], first[NAME];
    const char *end = column_name(f, columns[at], name);
    int all = cli_first(end, NAME, first, sizeof first);
    cli_first(end, NUMBER, out, NAME);
    int alike = all > NUMBER && stored_name(f, columns[at], other) == other;
    for (int k = 0; k < count && !alike; k++) {
        cli_first(column_name(f, columns[k], other), NUMBER, first, sizeof first);
        alike = k != at && strcmp(first, out) == 0;
    }
    if (all <= NUMBER || !alike)
        return all < NUMBER ? all : NUMBER;
    for (; all > NUMBER - 2; all--)
        end += vem_utf8_length(end) ? vem_utf8_length(end) : 1;
    snprintf(out, NAME, "..%s", end);
    return NUMBER;
}

static void print_means(const cli_findings *f, int64_t shown)
{
    int32_t columns[WIDTH];
    const int32_t d = vem_model_columns(f->model);
    const int count = choose_columns(f, columns);
    printf("\nMeans");
    if (count < d)
        printf(" of the %d columns that tell the clusters apart most; --csv has all %d",
               count, (int)d);
    printf("\n%8s", "cluster");
    for (int k = 0; k < count; k++) {
        char head[NAME];
        const int length = head_of(f, columns, count, k, head);
        printf(" %*s%s", NUMBER - length, "", head);
    }
    putchar('\n');
    for (int64_t i = 0; i <= shown; i++) { /* everything comes last */
        const double *means = f->about.means;
        if (i < shown) {
            means = vem_model_means(f->model) + (int64_t)f->order[i] * d;
            printf("%8d", (int)f->order[i]);
        } else {
            printf("%8s", "all");
        }
        for (int k = 0; k < count; k++)
            print_mean(f, columns[k], means[columns[k]]);
        putchar('\n');
    }
}

static void print_exemplars(const cli_findings *f, int64_t shown)
{
    if (!f->data)
        return;
    const int ids = vem_data_ids(f->data) > 0;
    printf("\n%8s  exemplars (rows nearest to the mean, from 1)\n", "cluster");
    for (int64_t i = 0; i < shown; i++) {
        const vem_cluster *it = &f->clusters[f->order[i]];
        printf("%8d ", (int)f->order[i]);
        for (int k = 0; k < VEM_SHOWN_ROWS && it->exemplars[k] >= 0; k++) {
            const int64_t row = vem_data_row(f->data, it->exemplars[k]);
            char id[24];
            printf("%s %" PRId64, k ? "," : "", row + 1);
            if (ids)
                printf(" %s", cli_clean(vem_data_id(f->data, 0, row), id, sizeof id));
        }
        puts(it->exemplars[0] < 0 ? " none" : "");
    }
}

static void print_merges(const cli_findings *f)
{
    char a[32], share[16];
    if (!f->merge_count)
        return;
    printf("\nLikely merges (%s)\n", f->data ? "rows shared, of the smaller cluster"
                                             : "overlap of the distributions");
    for (int32_t k = 0; k < f->merge_count && k < MOST_MERGES; k++)
        printf("%8d and %d: %s\n", (int)f->merges[k].a, (int)f->merges[k].b,
               percent(f->merges[k].common, share));
    if (f->merge_count > MOST_MERGES)
        printf("%8s and %s more (--json lists all)\n", "",
               cli_count(f->merge_count - MOST_MERGES, a));
}

void cli_describe_words(const cli_findings *f)
{
    const int32_t clusters = vem_model_clusters(f->model);
    const int64_t shown = f->first < clusters ? f->first : clusters;
    char a[48], share[16];
    print_head(f);
    print_clusters(f, shown);
    print_means(f, shown);
    print_exemplars(f, shown);
    print_merges(f);
    puts("\ndiffers: its mean less that of all, in standard deviations of the column\n"
         "spread: its standard deviation beside that of the columns, 1 as wide as all");
    if (f->data)
        printf("%s of the rows are doubtful (probability below 0.9)\n",
               percent(f->about.doubtful, share));
    if (f->about.approximate)
        printf(
            "The rows' clusters are approximate: recall %.5g on a sample, above %.5g for "
            "all rows\n",
            f->about.recall, f->about.recall_least);
    if (shown < clusters)
        printf("%s not shown: --first all shows them\n",
               cli_counted(clusters - shown, "more cluster", a));
}

/* ---- JSON ---- */

static json_t *cluster_json(const cli_findings *f, int32_t c)
{
    const vem_cluster *it = &f->clusters[c];
    const int32_t d = vem_model_columns(f->model);
    const double *means = vem_model_means(f->model) + (int64_t)c * d;
    json_t *o = json_object(), *list = json_array(), *far = json_array();
    json_object_set_new(o, "cluster", json_integer(c));
    json_object_set_new(o, "weight", cli_json_real(it->weight));
    json_object_set_new(o, "spread", cli_json_real(it->spread));
    json_object_set_new(o, "nearest",
                        it->nearest < 0 ? json_null() : json_integer(it->nearest));
    json_object_set_new(o, "overlap", cli_json_real(it->overlap));
    for (int32_t j = 0; j < d; j++)
        json_array_append_new(list, cli_json_real(means[j]));
    json_object_set_new(o, "means", list);
    for (int k = 0; k < VEM_SHOWN_COLUMNS && it->columns[k] >= 0; k++) {
        char name[NAME];
        json_t *row = json_object();
        json_object_set_new(row, "column",
                            cli_json_text(stored_name(f, it->columns[k], name)));
        json_object_set_new(row, "difference", cli_json_real(it->differences[k]));
        json_array_append_new(far, row);
    }
    json_object_set_new(o, "differs", far);
    if (!f->data)
        return o;
    json_object_set_new(o, "rows", json_integer(it->rows));
    json_object_set_new(o, "size", cli_json_real(it->mass));
    json_object_set_new(o, "share", cli_json_real(it->mass / f->about.mass));
    json_object_set_new(o, "doubtful", cli_json_real(it->doubtful));
    json_object_set_new(o, "rival",
                        it->rival < 0 ? json_null() : json_integer(it->rival));
    json_object_set_new(o, "shared", cli_json_real(it->shared));
    json_t *rows = json_array();
    for (int k = 0; k < VEM_SHOWN_ROWS && it->exemplars[k] >= 0; k++) {
        const int64_t number = vem_data_row(f->data, it->exemplars[k]);
        json_t *row = json_object();
        json_object_set_new(row, "row", json_integer(number + 1));
        json_object_set_new(row, "id",
                            vem_data_ids(f->data) > 0
                                ? cli_json_text(vem_data_id(f->data, 0, number))
                                : json_null());
        json_array_append_new(rows, row);
    }
    json_object_set_new(o, "exemplars", rows);
    return o;
}

int cli_describe_json(const cli_args *args, const cli_findings *f)
{
    const int32_t clusters = vem_model_clusters(f->model);
    const int32_t d = vem_model_columns(f->model);
    json_t *o = cli_json_begin(args), *columns = json_array(), *list = json_array();
    json_t *merges = json_array();
    json_object_set_new(o, "family",
                        cli_json_text(
                            vem_choice_name("family", (int)vem_model_family(f->model))));
    json_object_set_new(o, "clusters", json_integer(clusters));
    json_object_set_new(o, "d", json_integer(d));
    json_object_set_new(o, "n",
                        f->data ? json_integer(vem_data_rows(f->data)) : json_null());
    json_object_set_new(o, "doubtful", cli_json_real(f->about.doubtful));
    json_object_set_new(o, "approximate", json_boolean(f->about.approximate));
    json_object_set_new(o, "recall", cli_json_real(f->about.recall));
    json_object_set_new(o, "recall_least", cli_json_real(f->about.recall_least));
    for (int32_t j = 0; j < d; j++) {
        char name[NAME];
        json_t *row = json_object();
        json_object_set_new(row, "name", cli_json_text(stored_name(f, j, name)));
        json_object_set_new(row, "mean", cli_json_real(f->about.means[j]));
        json_object_set_new(row, "sd", cli_json_real(f->about.sds[j]));
        json_array_append_new(columns, row);
    }
    json_object_set_new(o, "columns", columns);
    for (int64_t i = 0; i < clusters && i < f->first; i++)
        json_array_append_new(list, cluster_json(f, f->order[i]));
    json_object_set_new(o, "found", list);
    for (int32_t k = 0; k < f->merge_count; k++) {
        json_t *row = json_object();
        json_object_set_new(row, "a", json_integer(f->merges[k].a));
        json_object_set_new(row, "b", json_integer(f->merges[k].b));
        json_object_set_new(row, "common", cli_json_real(f->merges[k].common));
        json_array_append_new(merges, row);
    }
    json_object_set_new(o, "merges", merges);
    return cli_json_print(o);
}

/* ---- CSV ---- */

/* What there is none of is an empty field. */
static void put_real(FILE *stream, double value)
{
    if (isfinite(value))
        fprintf(stream, ",%.10g", value);
    else
        fputc(',', stream);
}

static void put_whole(FILE *stream, int64_t value, int64_t least)
{
    if (value >= least)
        fprintf(stream, ",%" PRId64, value);
    else
        fputc(',', stream);
}

static void put_cluster(const cli_findings *f, FILE *stream, int32_t c)
{
    const vem_cluster *it = &f->clusters[c];
    const int32_t d = vem_model_columns(f->model);
    const double *means = vem_model_means(f->model) + (int64_t)c * d;
    fprintf(stream, "%" PRId32, c);
    put_real(stream, it->weight);
    put_real(stream, it->spread);
    put_whole(stream, it->nearest, 0);
    put_real(stream, it->overlap);
    if (f->data) {
        put_whole(stream, it->rows, 0);
        put_real(stream, it->mass);
        put_real(stream, it->doubtful);
        put_whole(stream,
                  it->exemplars[0] < 0 ? 0 : vem_data_row(f->data, it->exemplars[0]) + 1,
                  1);
    }
    for (int32_t j = 0; j < d; j++)
        fprintf(stream, ",%.17g", means[j]);
    fputc('\n', stream);
}

int cli_describe_csv(cli_args *args, const cli_findings *f)
{
    char *text = NULL, name[NAME];
    size_t length = 0;
    FILE *stream = open_memstream(&text, &length);
    if (stream) {
        fputs("cluster,weight,spread,nearest,overlap", stream);
        if (f->data)
            fputs(",rows,size,doubtful,exemplar", stream);
        for (int32_t j = 0; j < vem_model_columns(f->model); j++) {
            fputc(',', stream);
            vem_csv_put(stream, stored_name(f, j, name));
        }
        fputc('\n', stream);
        for (int32_t i = 0; i < vem_model_clusters(f->model); i++)
            put_cluster(f, stream, f->order[i]);
    }
    if (!stream || fclose(stream) != 0) {
        free(text);
        cli_error("memory for the table could not be had.");
        return CLI_FAILED;
    }
    const vem_status status =
        vem_text_write(args->ctx, cli_value(args, "csv"), text, length);
    free(text);
    return status == VEM_OK ? CLI_DONE : cli_failure(args, status);
}
