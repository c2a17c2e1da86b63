/* vem info of data: what the values of each column are, and which are no numbers. */
#include <math.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli.h"

enum { SHOWN_COLUMNS = 20, BLOCK_VALUES = 1 << 15 };

/* Of the finite values of a column. */
typedef struct column {
    double low, high, mean, squares;
    int64_t count, nans;
    int64_t bad_row; /* of the first value that is not finite, from 1; 0: none */
} column;

typedef struct survey {
    column *columns;
    int64_t nans, infinities;
    int64_t bad_row,
        bad_column; /* of the first value that is not finite, from 1; 0: none */
} survey;

static double deviation(const column *c)
{
    return c->count > 1 ? sqrt(c->squares / (double)c->count) : c->count ? 0 : NAN;
}

static void take_row(survey *s, const double *row, int32_t d, int64_t i)
{
    for (int32_t j = 0; j < d; j++) {
        const double x = row[j];
        column *c = &s->columns[j];
        if (!isfinite(x)) {
            *(isnan(x) ? &s->nans : &s->infinities) += 1;
            c->nans += isnan(x) != 0;
            if (!c->bad_row)
                c->bad_row = i + 1;
            if (!s->bad_row) {
                s->bad_row = i + 1;
                s->bad_column = j + 1;
            }
            continue;
        }
        c->low = c->count ? fmin(c->low, x) : x;
        c->high = c->count ? fmax(c->high, x) : x;
        c->count++;
        const double off = x - c->mean;
        c->mean += off / (double)c->count;
        c->squares += off * (x - c->mean);
    }
}

static int all_finite(const double *values, int64_t count)
{
    double probe = 0;
    for (int64_t i = 0; i < count; i++)
        probe += values[i] * 0; /* NaN when a value is NaN or infinite */
    return probe == 0;
}

/* Rows without a bad value: sums about the block's first row, then added to what is known
 * by the parallel-axis rule. `scratch` has room for four rows. */
static void take_finite(survey *s, const double *rows, int32_t d, int64_t count,
                        double *scratch)
{
    double *sum = scratch, *squares = sum + d, *low = squares + d, *high = low + d;
    for (int32_t j = 0; j < d; j++) {
        sum[j] = squares[j] = 0;
        low[j] = high[j] = rows[j];
    }
    for (int64_t i = 1; i < count; i++) {
        const double *row = rows + i * d;
        for (int32_t j = 0; j < d; j++) {
            const double x = row[j], off = x - rows[j];
            sum[j] += off;
            squares[j] += off * off;
            low[j] = x < low[j] ? x : low[j];
            high[j] = x > high[j] ? x : high[j];
        }
    }
    for (int32_t j = 0; j < d; j++) {
        column *c = &s->columns[j];
        const double n = (double)count, before = (double)c->count, all = n + before;
        const double mean = rows[j] + sum[j] / n, off = mean - c->mean;
        c->low = c->count ? fmin(c->low, low[j]) : low[j];
        c->high = c->count ? fmax(c->high, high[j]) : high[j];
        c->squares +=
            fmax(squares[j] - sum[j] * sum[j] / n, 0) + off * off * before * n / all;
        c->mean += off * n / all;
        c->count += count;
    }
}

static int take_all(cli_args *args, const vem_data *data, survey *s)
{
    const int64_t n = vem_data_rows(data);
    const int32_t d = vem_data_columns(data);
    const int64_t block = d >= BLOCK_VALUES ? 1 : BLOCK_VALUES / d;
    double *rows = malloc((size_t)(block + 4) * (size_t)d * sizeof *rows);
    s->columns = calloc((size_t)d, sizeof *s->columns);
    int code = CLI_DONE;
    if (!rows || !s->columns) {
        cli_error("memory for %d columns could not be had.", (int)d);
        code = CLI_FAILED;
    }
    for (int64_t first = 0; code == CLI_DONE && first < n; first += block) {
        const int64_t count = n - first < block ? n - first : block;
        const vem_status status = vem_data_get(args->ctx, data, first, count, rows);
        if (status != VEM_OK)
            code = cli_failure(args, status);
        else if (cli_progress_tell("look", first, n))
            code = cli_failure(args, VEM_STOPPED);
        if (code == CLI_DONE && all_finite(rows, count * d))
            take_finite(s, rows, d, count, rows + block * d);
        else
            for (int64_t i = 0; code == CLI_DONE && i < count; i++)
                take_row(s, rows + i * d, d, first + i);
    }
    free(rows);
    return code;
}

static int data_json(const cli_args *args, const vem_data *data, const survey *s,
                     double bytes)
{
    json_t *o = cli_json_begin(args), *list = json_array();
    json_object_set_new(o, "kind", json_string("data"));
    json_object_set_new(o, "format", json_string(vem_data_format(data)));
    json_object_set_new(o, "dtype", json_string(cli_dtype(vem_data_dtype(data))));
    json_object_set_new(o, "n", json_integer(vem_data_rows(data)));
    json_object_set_new(o, "d", json_integer(vem_data_columns(data)));
    json_object_set_new(o, "bytes", cli_json_real(bytes));
    json_object_set_new(o, "weighted", json_boolean(vem_data_weights(data) != NULL));
    json_object_set_new(o, "nan", json_integer(s->nans));
    json_object_set_new(o, "infinite", json_integer(s->infinities));
    json_object_set_new(o, "first_bad_row",
                        s->bad_row ? json_integer(s->bad_row) : json_null());
    json_object_set_new(o, "first_bad_column",
                        s->bad_row ? json_integer(s->bad_column) : json_null());
    for (int32_t j = 0; j < vem_data_columns(data); j++) {
        const column *c = &s->columns[j];
        json_t *row = json_object();
        json_object_set_new(row, "name", cli_json_text(vem_data_column_name(data, j)));
        json_object_set_new(row, "min", cli_json_real(c->count ? c->low : NAN));
        json_object_set_new(row, "mean", cli_json_real(c->count ? c->mean : NAN));
        json_object_set_new(row, "max", cli_json_real(c->count ? c->high : NAN));
        json_object_set_new(row, "sd", cli_json_real(deviation(c)));
        json_object_set_new(row, "missing", json_integer(c->nans));
        json_object_set_new(row, "advice",
                            cli_json_text(vem_data_column_advice(data, j)));
        json_array_append_new(list, row);
    }
    json_object_set_new(o, "columns", list);
    return cli_json_print(o);
}

/* Why columns that look like numbers were taken for text; columns of one advice share a line. */
static void advice_words(const vem_data *data)
{
    enum { MOST = 8 };
    const char *advice[MOST];
    int32_t first[MOST], count[MOST], kinds = 0;
    for (int32_t j = 0; j < vem_data_columns(data); j++) {
        const char *one = vem_data_column_advice(data, j);
        int32_t k = 0;
        while (k < kinds && advice[k] != one)
            k++;
        if (!one || k == MOST)
            continue;
        if (k == kinds) {
            advice[kinds] = one;
            first[kinds] = j;
            count[kinds++] = 0;
        }
        count[k]++;
    }
    for (int32_t k = 0; k < kinds; k++) {
        const char *name = vem_data_column_name(data, first[k]);
        char text[512], clean[48], number[48], named[64] = "", others[80] = "";
        if (name)
            snprintf(named, sizeof named, " (%s)", cli_clean(name, clean, sizeof clean));
        if (count[k] > 1)
            snprintf(others, sizeof others, " and %s",
                     cli_counted(count[k] - 1, "more column", number));
        snprintf(text, sizeof text,
                 "column %d%s%s: values that are not numbers as they are written count "
                 "as text. %s",
                 (int)first[k] + 1, named, others, advice[k]);
        cli_wrap(stdout, text, 2, printf("  "), cli_width(STDOUT_FILENO));
    }
}

/* Values that are missing here and there, and columns that have none, as those of text. */
static void bad_words(const survey *s, int64_t n, int32_t d)
{
    int32_t empty = 0, at = -1;
    int64_t nans = s->nans;
    char a[48], b[48];
    for (int32_t j = 0; j < d; j++) {
        const column *c = &s->columns[j];
        if (c->nans == n) {
            empty++;
            nans -= c->nans;
        } else if (c->bad_row && (at < 0 || c->bad_row < s->columns[at].bad_row)) {
            at = j;
        }
    }
    if (at >= 0)
        printf(
            "  %s %s NaN (missing, or text) and %s infinite; the first is in row %lld, "
            "column %d\n",
            cli_counted(nans, "value", a), nans == 1 ? "is" : "are",
            cli_count(s->infinities, b), (long long)s->columns[at].bad_row, (int)at + 1);
    else
        puts(empty ? "  every other value is finite" : "  every value is finite");
    if (empty)
        printf("  %s %s no numbers (text, or all missing): --id leaves %s out\n",
               cli_counted(empty, "column", a), empty == 1 ? "has" : "have",
               empty == 1 ? "it" : "them");
}

static void data_words(const cli_args *args, const vem_data *data, const survey *s,
                       double bytes)
{
    char a[48], b[48], files[256];
    const int32_t d = vem_data_columns(data);
    printf("%s: data (%s), %s, %s of %s", cli_data_name(args, args->operands[0], files),
           vem_data_format(data), cli_counted(vem_data_rows(data), "row", a),
           cli_counted(d, "column", b), cli_dtype(vem_data_dtype(data)));
    if (bytes > 0)
        printf(", %s", vem_bytes_print(bytes, a));
    printf("%s\n", vem_data_weights(data) ? ", weighted" : "");
    printf("  %-16s %12s %12s %12s %12s %8s\n", "column", "min", "mean", "max", "sd",
           "missing");
    for (int32_t j = 0; j < d && j < SHOWN_COLUMNS; j++) {
        const column *c = &s->columns[j];
        const char *name = vem_data_column_name(data, j);
        char label[64], clean[48];
        snprintf(label, sizeof label, name ? "%d %s" : "%d", (int)j + 1,
                 name ? cli_clean(name, clean, 14) : NULL);
        if (!c->count)
            printf("  %-16s %12s\n", label, "no numbers");
        else
            printf("  %-16s %12.6g %12.6g %12.6g %12.6g %8s\n", label, c->low, c->mean,
                   c->high, deviation(c), cli_count(c->nans, a));
    }
    if (d > SHOWN_COLUMNS)
        printf("  and %s (--json lists all)\n",
               cli_counted(d - SHOWN_COLUMNS, "more column", a));
    bad_words(s, vem_data_rows(data), d);
    advice_words(data);
}

int cli_data_info(cli_args *args)
{
    vem_data *data = NULL;
    survey s = {0};
    struct stat facts;
    double bytes = 0;
    for (int i = 0; i < args->operand_count; i++)
        bytes += stat(args->operands[i], &facts) == 0 ? (double)facts.st_size : NAN;
    int code = cli_read_data(args, args->operands[0], &data, NULL);
    if (code == CLI_DONE)
        code = take_all(args, data, &s);
    cli_progress_end();
    if (code == CLI_DONE && cli_value(args, "json"))
        code = data_json(args, data, &s, bytes);
    else if (code == CLI_DONE)
        data_words(args, data, &s, bytes);
    free(s.columns);
    vem_data_free(data);
    return code;
}
