/* Text tables: headers, missing values, decimal commas, ids, and files that change while they
 * are read. */
#include "io_test.h"
#include "run.h"

#include "data/missing.h"
#include "io/csv.h"

static vem_data *read_with(const char *text, vem_read_options options)
{
    vem_data *data = NULL;
    options.size = sizeof options;
    if (vem_data_read(io_ctx, io_text("t.csv", text), &options, &data) != VEM_OK)
        fail_msg("%s", vem_ctx_message(io_ctx));
    return data;
}

static void refuses(const char *text, vem_read_options options, const char *words)
{
    vem_data *data = NULL;
    options.size = sizeof options;
    assert_int_not_equal(vem_data_read(io_ctx, io_text("t.csv", text), &options, &data),
                         VEM_OK);
    io_says(words);
    assert_null(data);
}

static void ids_are_kept(void **state)
{
    const char *table =
        "name,x,y,\"the, city\"\n\"Smith, \"\"J\"\"\",1,2, Ulm\nDoe,3,4,\n";
    const double xy[] = {1, 2, 3, 4};
    (void)state;
    vem_data *data = read_with(table, (vem_read_options){.id = "4,name", .keep_ids = 1});
    io_holds(data, 2, 2, xy);
    assert_int_equal(vem_data_ids(data), 2);
    assert_string_equal(vem_data_id_name(data, 0), "the, city");
    assert_string_equal(vem_data_id_name(data, 1), "name");
    assert_string_equal(vem_data_id(data, 0, 0), "Ulm");
    assert_string_equal(vem_data_id(data, 0, 1), "");
    assert_string_equal(vem_data_id(data, 1, 0), "Smith, \"J\"");
    assert_string_equal(vem_data_id(data, 1, 1), "Doe");
    assert_null(vem_data_id(data, 2, 0));
    assert_null(vem_data_id(data, 0, 2));
    vem_data_free(data);
    data = read_with("a,1\nb,2\n", (vem_read_options){.id = "1", .keep_ids = 1});
    assert_null(vem_data_id_name(data, 0));
    assert_string_equal(vem_data_id(data, 0, 1), "b");
    vem_data_free(data);
    /* A name with a comma in it is one name. */
    data = read_with(table, (vem_read_options){.id = "the, city", .columns = "x,y"});
    io_holds(data, 2, 2, xy);
    assert_int_equal(vem_data_ids(data), 0);
    vem_data_free(data);
}

/* The two passes of the parser, on two states of a file. */
static void second_pass_meets(const char *first, const char *second, int ids)
{
    enum { SIZE = 16 };
    char before[SIZE], after[SIZE];
    const size_t size = SIZE;
    memset(before, '\n', SIZE); /* a file of the same size: blank lines are no rows */
    memset(after, '\n', SIZE);
    memcpy(before, first, strlen(first));
    memcpy(after, second, strlen(second));
    int32_t target[] = {0, 1}, slot[] = {-1, 0};
    vem_i_csv csv = {.name = "t.csv",
                     .begin = before,
                     .rows = before,
                     .end = before + size,
                     .separator = ',',
                     .decimal = '.',
                     .stored = 2,
                     .d = 2,
                     .target = target,
                     .columns = {.id_count = 1},
                     .slot = ids ? slot : NULL};
    if (ids) {
        csv.d = 1;
        target[1] = -1;
    }
    vem_i_csv_part part = {0};
    vem_i_csv_count(&csv, before, csv.end, &part);
    /* Exactly what was counted: a sanitizer sees a write beyond. */
    double *values = malloc((size_t)(part.rows * csv.d) * sizeof *values);
    int64_t *places = malloc((size_t)part.rows * sizeof *places);
    char *text = malloc((size_t)part.id_bytes + 1);
    part.values = values;
    part.places = ids ? places : NULL;
    part.text = part.out = text;
    part.room = text + part.id_bytes;
    csv.begin = csv.rows = after;
    csv.end = after + size;
    vem_i_csv_values(&csv, after, csv.end, &part);
    assert_true(part.changed || part.wrong);
    if (part.wrong) { /* whatever it says, it is a sentence */
        assert_int_equal(vem_i_csv_explain(run_of(io_ctx), &csv, part.wrong,
                                           part.wrong_row, NULL),
                         VEM_BAD_DATA);
        assert_true(strlen(vem_ctx_message(io_ctx)) > 10);
        vem_i_csv_explain(run_of(io_ctx), &csv, after, 0, NULL);
    }
    free(values);
    free(places);
    free(text);
}

static void a_file_that_changes(void **state)
{
    (void)state;
    second_pass_meets("1.00,2.000\n", "1,2\n3,4\n5,", 0);
    second_pass_meets("1.00,2.00\n", "1,2\n3,4\n5\n", 0);
    second_pass_meets("111111,222\n", "1,2\n1,2\n1,2", 0);
    second_pass_meets("1,2\n1,2\n1,2\n", "111111,22222", 0);
    second_pass_meets("1,2\n1,2\n1,2\n", "\n\n\n\n\n\n\n\n\n\n\n\n", 0);
    second_pass_meets("1,2\n1,2\n1,2\n", "1 1 1 1 1 1 ", 0);
    second_pass_meets("100000,ab\n", "1,abcdefg\n", 1);
    second_pass_meets("1000,\"\"\"\"\n", "1,abcdefgh\n", 1);
}

static void has_header(const char *text, vem_read_options options, vem_header expected,
                       int64_t rows)
{
    if (options.missing == VEM_MISSING_ERROR)
        options.missing = VEM_MISSING_KEEP;
    vem_data *data = read_with(text, options);
    assert_int_equal(vem_data_header(data), expected);
    assert_int_equal(vem_data_rows(data), rows);
    vem_data_free(data);
}

static void headers_are_decided(void **state)
{
    const vem_read_options none = {0}, yes = {.header = VEM_HEADER_YES},
                           no = {.header = VEM_HEADER_NO};
    (void)state;
    has_header("1,NA\n2,3\n", none, VEM_HEADER_NO, 2);
    has_header("NA,NaN\n2,3\n", none, VEM_HEADER_NO, 2);
    has_header("?,\n2,3\n", none, VEM_HEADER_NO, 2);
    has_header("n/a,NULL\n2,3\n", none, VEM_HEADER_NO, 2);
    has_header("x,NA\n2,3\n", none, VEM_HEADER_YES, 1);
    has_header(",x\n2,3\n", none, VEM_HEADER_YES, 1);
    has_header("x,y,2019\n1,2,3\n", none, VEM_HEADER_YES, 1);
    has_header("2019,2020\n2,3\n", none, VEM_HEADER_NO, 2);
    has_header("2019,2020\n2,3\n", yes, VEM_HEADER_YES, 1);
    has_header("1,2\n2,3\n", no, VEM_HEADER_NO, 2);
    /* A name that is no number of a column is looked for in the first row. */
    has_header("2019,2020\n2,3\n", (vem_read_options){.columns = "2020"}, VEM_HEADER_YES,
               1);
    has_header("id,2019,2020\na,2,3\n", (vem_read_options){.id = "id"}, VEM_HEADER_YES,
               1);
    /* So is a row of years, where an id is left out by its number. */
    const vem_read_options first = {.id = "1"};
    has_header("land,2019,2020\na,2,3\nb,4,5\n", first, VEM_HEADER_YES, 2);
    has_header(",1800,1900,2199\na,2,3,1\n", first, VEM_HEADER_YES, 1);
    has_header("land,2019,2020\na,2001,2005\n", first, VEM_HEADER_NO, 2);
    has_header("land,2020,2019\na,2,3\n", first, VEM_HEADER_NO, 2);
    has_header("land,2019,2019\na,2,3\n", first, VEM_HEADER_NO, 2);
    has_header("land,2019.5,2020\na,2,3\n", first, VEM_HEADER_NO, 2);
    has_header("land,1799,2020\na,2,3\n", first, VEM_HEADER_NO, 2);
    has_header("land,2019,2200\na,2,3\n", first, VEM_HEADER_NO, 2);
    has_header("land,2019\na,2\n", first, VEM_HEADER_NO, 2);
    has_header("land,2019,2020\n", first, VEM_HEADER_NO, 1);
    has_header("land,2019,2020\na,2,3\n",
               (vem_read_options){.id = "1", .header = VEM_HEADER_NO}, VEM_HEADER_NO, 2);
    /* Births and deaths are years in most rows, with gaps or without. */
    has_header("a,1900,1950\nb,1920,NA\nc,1910,1990\n", first, VEM_HEADER_NO, 3);
    has_header("a,1900,1950\nb,NA,NA\nc,1910,1990\n", first, VEM_HEADER_NO, 3);
    has_header("a,1900,1950\nb,1750,1801\nc,1910,\n", first, VEM_HEADER_NO, 3);
    has_header("a,1900,1950,\nb,1,2,3\n", first, VEM_HEADER_NO, 2);
    has_header("land,2019,2020\na,1900,1950\nb,2,3\nc,4,5\n", first, VEM_HEADER_YES, 3);
    has_header("land,2019,2020\na,,\nb,2,3\n", first, VEM_HEADER_YES, 2);
    /* Names may be percentages, above rows that have none. */
    has_header("25%,50%,75%\n1,2,3\n4,5,6\n", none, VEM_HEADER_YES, 2);
    has_header("5 %,6 %\n,\n3,4\n", none, VEM_HEADER_YES, 2);
    has_header("mean,25%,\"97,5 %\"\n1,2,3\n", none, VEM_HEADER_YES, 1);
    has_header("a,25%,50%\nb,2,3\n", first, VEM_HEADER_YES, 1);
    refuses("25%,50%\n1,2\n3%,4\n", none, "row 1 (line 1), column 1: \"25%\" is not");
    refuses("25%,50%\n", none, "row 1 (line 1), column 1: \"25%\" is not");
    refuses("25%,2\n1,2\n", none, "say --header yes");
    refuses("1,abc\n2,3\n", none,
            "row 1 (line 1), column 2: \"abc\" is not a number. If this row names the "
            "columns, say --header yes. A column of text is left out with --id 2");
    refuses("x,y\n2,3\n", no, "column 1: \"x\" is not a number");
    refuses("x,y\n2,b\n", none,
            "row 1 (line 2), column 2 (y): \"b\" is not a number. A column");
    refuses("1,2\n", (vem_read_options){.header = (vem_header)7}, "between 0 and 2");
    refuses("1,2\n", (vem_read_options){.missing = (vem_missing)9}, "between 0 and 3");
    refuses("1,2\n", (vem_read_options){.decimal = 'x'}, "'.' or ','");
}

static void decimal_commas(void **state)
{
    const double four[] = {1.5, -2e3, 0.25, 12345678.901234567};
    (void)state;
    const char *table = "1,5;-2,0e3\n,25;12345678,901234567\n";
    vem_data *data = read_with(table, (vem_read_options){0});
    io_holds(data, 2, 2, four);
    assert_int_equal(vem_data_decimal(data), ',');
    vem_data_free(data);
    data = read_with("x\n1,5\n-2,0e3\n0,25\n12345678,901234567\n",
                     (vem_read_options){.decimal = ','});
    io_holds(data, 4, 1, four);
    vem_data_free(data);
    data = read_with("1.5;-2000\n.25;12345678.901234567\n", (vem_read_options){0});
    io_holds(data, 2, 2, four);
    assert_int_equal(vem_data_decimal(data), '.');
    vem_data_free(data);
    refuses(table, (vem_read_options){.decimal = '.'},
            "\"1,5\" is not a number. If it has a "
            "decimal comma, say --decimal ,");
}

static const char gaps[] = "id,x,y\na,1,2\nb,NA,3\nc,4,?\nd,,\ne,7,8\n";

static void missing_are_refused(void **state)
{
    (void)state;
    refuses(gaps, (vem_read_options){.id = "id"},
            "4 values are missing, in 3 of 5 rows; the first in row 2, column 2 (x)");
    refuses("NA,NA\n1,\n", (vem_read_options){.missing = VEM_MISSING_DROP},
            "column 2 has no values at all; --id 2 leaves it out");
    refuses("1,NA\n2,\n", (vem_read_options){.missing = VEM_MISSING_MEAN},
            "column 2 has no values at all");
    const double two[] = {0, 0};
    refuses("1,NA\n",
            (vem_read_options){.missing = VEM_MISSING_MEAN,
                               .means = two,
                               .means_count = 3},
            "3 means were given");
}

static void missing_rows_are_dropped(void **state)
{
    const double kept[] = {1, 2, 7, 8};
    (void)state;
    const char *weights = io_text("w.txt", "1\n2\n3\n4\n5\n");
    vem_data *data = read_with(gaps, (vem_read_options){.id = "id",
                                                        .keep_ids = 1,
                                                        .weights = weights,
                                                        .missing = VEM_MISSING_DROP});
    io_holds(data, 2, 2, kept);
    assert_int_equal(vem_data_rows_read(data), 5);
    assert_int_equal(vem_data_row(data, 0), 0);
    assert_int_equal(vem_data_row(data, 1), 4);
    assert_int_equal(vem_data_missing(data), 4);
    assert_true(vem_data_weights(data)[1] == 5);
    assert_string_equal(vem_data_id(data, 0, 4), "e");
    vem_data *coreset = NULL;
    assert_int_equal(vem_coreset(io_ctx, data, 9, VEM_CORESET_UNIFORM, 1, &coreset),
                     VEM_OK);
    assert_int_equal(vem_data_indices(coreset)[1], 4);
    vem_data_free(coreset);
    vem_data_free(data);
}

static void missing_become_means(void **state)
{
    const double filled[] = {1, 2, 5.125, 3, 4, 6.125, 5.125, 6.125, 7, 8};
    const double given[] = {1, 2, -1, 3, 4, -2, -1, -2, 7, 8}, means[] = {-1, -2};
    (void)state;
    /* x: (1 + 4*3 + 7*4) / 8 with the weights 1 3 4; y: (2 + 3*... ) likewise. */
    const char *weights = io_text("w.txt", "1\n3\n3\n2\n4\n");
    vem_data *data = read_with(gaps, (vem_read_options){.id = "id",
                                                        .weights = weights,
                                                        .missing = VEM_MISSING_MEAN});
    double rows[10];
    assert_int_equal(vem_data_get(io_ctx, data, 0, 5, rows), VEM_OK);
    for (int i = 0; i < 10; i++)
        if (i != 5 && i != 7)
            assert_true(rows[i] == filled[i]);
    assert_true(fabs(rows[5] - (2 + 3 * 3 + 4 * 8) / 8.0) < 1e-14);
    assert_true(rows[5] == rows[7] && vem_data_means(data)[1] == rows[5]);
    assert_int_equal(vem_data_rows_read(data), 5);
    vem_data_free(data);
    data = read_with(gaps, (vem_read_options){.id = "id",
                                              .missing = VEM_MISSING_MEAN,
                                              .means = means,
                                              .means_count = 2});
    io_holds(data, 5, 2, given);
    vem_data_free(data);
}

/* Rows enough for many shards, in every layout: the same as by hand. */
static void missing_in_arrays(void **state)
{
    enum { N = 40011, D = 3 };
    float *values = malloc(sizeof(float) * N * D);
    int64_t gone = 0;
    (void)state;
    for (int64_t i = 0; i < N * D; i++)
        values[i] = i % 1001 == 17 ? NAN : (float)(i % 64) - 30;
    for (int64_t i = 0; i < N; i++)
        gone += isnan(values[3 * i]) || isnan(values[3 * i + 2]);
    const char *path = io_path("gaps.npy");
    assert_int_equal(vem_array_write(io_ctx, path, VEM_FLOAT32, values, N, D), VEM_OK);
    vem_read_options options = {.size = sizeof options,
                                .columns = "3,1",
                                .missing = VEM_MISSING_DROP};
    for (int threads = 1; threads <= 4; threads += 3) {
        vem_data *data = NULL;
        vem_ctx_set_threads(io_ctx, threads);
        assert_int_equal(vem_data_read(io_ctx, path, &options, &data), VEM_OK);
        assert_int_equal(vem_data_rows(data), N - gone);
        assert_int_equal(vem_data_dtype(data), VEM_FLOAT32);
        for (int64_t i = 0; i < N - gone; i++) {
            double row[2];
            vem_data_get(io_ctx, data, i, 1, row);
            const int64_t was = vem_data_row(data, i);
            assert_true(row[0] == values[3 * was + 2] && row[1] == values[3 * was]);
            assert_true(i == 0 || was > vem_data_row(data, i - 1));
        }
        vem_data_free(data);
    }
    vem_ctx_set_threads(io_ctx, 0);
    options.missing = VEM_MISSING_ERROR; /* a mapped file is looked at by the verb */
    vem_data *data = NULL, *coreset = NULL;
    assert_int_equal(vem_data_read(io_ctx, path, &options, &data), VEM_OK);
    assert_int_not_equal(vem_coreset(io_ctx, data, 9, VEM_CORESET_LIGHTWEIGHT, 1,
                                     &coreset),
                         VEM_OK);
    char words[64];
    snprintf(words, sizeof words, "in %d of %d rows", (int)gone, N);
    io_says(words);
    io_says("is NaN.");
    vem_data_free(data);
    free(values);
}

static void compressed(void **state)
{
    const double four[] = {1, 2, 3, 4};
    /* printf 'x,y\n1,2\n3,4\n' | gzip -n */
    static const unsigned char packed[] = {0x1f, 0x8b, 0x08, 0x00, 0x00, 0x00, 0x00,
                                           0x00, 0x02, 0xff, 0xab, 0xd0, 0xa9, 0xe4,
                                           0x32, 0xd4, 0x31, 0xe2, 0x32, 0xd6, 0x31,
                                           0xe1, 0x02, 0x00, 0x97, 0x44, 0x29, 0x80,
                                           0x0c, 0x00, 0x00, 0x00};
    (void)state;
    vem_data *data = io_read(io_put("a.csv.gz", packed, sizeof packed));
    io_holds(data, 2, 2, four);
    vem_data_free(data);
    unsigned char
        twice[2 * sizeof packed]; /* members follow each other, as gzip allows */
    memcpy(twice, packed, sizeof packed);
    memcpy(twice + sizeof packed, packed, sizeof packed);
    io_refuses(io_put("b.csv.gz", twice, sizeof twice), VEM_BAD_DATA,
               "\"x\" is not a number");
    io_refuses(io_put("c.txt.gz", packed, sizeof packed - 3), VEM_BAD_DATA,
               "is truncated");
    twice[sizeof packed - 6] ^= 1; /* the checksum */
    io_refuses(io_put("d.tsv.gz", twice, sizeof packed), VEM_BAD_DATA, "is broken");
    io_refuses(io_put("e.npz.gz", packed, sizeof packed), VEM_UNSUPPORTED, "ending");
    assert_string_equal(vem_file_kind(io_path("a.csv.gz")), "data");
}

static void reads_classes(const char *name, const char *text, int64_t rows, int64_t n,
                          const int64_t *expected)
{
    int64_t *classes = NULL, count = 0;
    if (vem_classes_read(io_ctx, io_text(name, text), rows, &classes, &count) != VEM_OK)
        fail_msg("%s", vem_ctx_message(io_ctx));
    assert_int_equal(count, n);
    assert_memory_equal(classes, expected, (size_t)n * sizeof *expected);
    free(classes);
}

static void classes_are_words(void **state)
{
    const int64_t four[] = {0, 1, 0, 2};
    int64_t *classes = NULL, n = 0;
    (void)state;
    reads_classes("c.txt", "Iris setosa\nIris virginica\nIris setosa\n\"x, y\"\n", 4, 4,
                  four);
    reads_classes("c.csv", "species\na\nb\na\nc\n", 4, 4, four);
    reads_classes("c.csv", "species\na\nb\na\nc\n", 0, 4, four);
    reads_classes("c.csv", "a\nb\na\nc\n", 0, 4, four);
    const int64_t again[] = {0, 1, 0}; /* the name of the column is a class, too */
    reads_classes("c.csv", "b\na\nb\na\n", 3, 3, again);
    reads_classes("c.csv", "7\n-3\n7\n9\n", 4, 4, four);
    reads_classes("c.csv", "7\n-3\n7\n9\n", 3, 4, four); /* a number is no header */
    reads_classes("c.csv", "7\n-3\n-3\n9\n", 0, 4, (const int64_t[]){0, 1, 1, 2});
    reads_classes("c.csv", "row,label\n1,u\n2,v\n3,u\n4,\n", 4, 4, four);
    reads_classes("c.tsv", "a\tClass\n1\tu\n2\tv\n3\tu\n4\tw w\n", 4, 4, four);
    assert_int_equal(vem_classes_read(io_ctx, io_text("c.csv", "a,b\nc,d\n"), 2, &classes,
                                      &n),
                     VEM_BAD_DATA);
    io_says("has 2 columns, but classes have exactly 1");
    assert_int_equal(vem_classes_read(io_ctx, io_text("c.csv", "a\n"), 0, &classes, &n),
                     VEM_OK);
    free(classes);
    /* Many words, so that the table of them grows. */
    enum { MANY = 5000 };
    char *text = malloc(MANY * 10), *at = text;
    int64_t *expected = malloc(MANY * sizeof *expected);
    for (int i = 0; i < MANY; i++) {
        expected[i] = i % 1234;
        at += sprintf(at, "w%d\n", i % 1234);
    }
    reads_classes("c.txt", text, MANY, MANY, expected);
    free(text);
    free(expected);
}

/* Of several columns the one that was asked for, and which it was. */
static void classes_of_a_column(void **state)
{
    static const char table[] = "species,type,n\na,u,1\na,v,1\nb,u,1\nb,w,1\n";
    const struct {
        const char *text, *asked, *taken;
        int64_t classes[4];
    } cases[] = {
        {table, NULL, "species", {0, 0, 1, 1}},
        {table, "type", "type", {0, 1, 0, 2}},
        {table, "2", "type", {0, 1, 0, 2}},
        {table, "n", "n", {0, 0, 0, 0}},
        {"u\nv\nu\nw\n", NULL, NULL, {0, 1, 0, 2}},
        {"u\nv\nu\nw\n", "1", NULL, {0, 1, 0, 2}},
        {"kind\nu\nv\nu\nw\n", "kind", NULL, {0, 1, 0, 2}},
    };
    int64_t *classes = NULL, n = 0;
    char *taken = NULL;
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const char *path = io_text("c.csv", cases[i].text);
        if (vem_classes_read_column(io_ctx, path, 4, cases[i].asked, &classes, &n,
                                    &taken) != VEM_OK)
            fail_msg("%s", vem_ctx_message(io_ctx));
        assert_int_equal(n, 4);
        assert_memory_equal(classes, cases[i].classes, sizeof cases[i].classes);
        assert_int_equal(!taken, !cases[i].taken);
        if (taken)
            assert_string_equal(taken, cases[i].taken);
        free(classes);
        free(taken);
    }
    const char *path = io_text("c.csv", table);
    const char *const wrong[][2] = {{"tpye", "did you mean \"type\""},
                                    {"type,n", "means 2 columns"},
                                    {"4", "has columns 1 to 3"}};
    for (size_t i = 0; i < 3; i++) {
        assert_int_equal(vem_classes_read_column(io_ctx, path, 4, wrong[i][0], &classes,
                                                 &n, &taken),
                         VEM_BAD_OPTION);
        io_says(wrong[i][1]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ids_are_kept),
        cmocka_unit_test(a_file_that_changes),
        cmocka_unit_test(headers_are_decided),
        cmocka_unit_test(decimal_commas),
        cmocka_unit_test(missing_are_refused),
        cmocka_unit_test(missing_rows_are_dropped),
        cmocka_unit_test(missing_become_means),
        cmocka_unit_test(missing_in_arrays),
        cmocka_unit_test(compressed),
        cmocka_unit_test(classes_are_words),
        cmocka_unit_test(classes_of_a_column),
    };
    return cmocka_run_group_tests(tests, io_setup, io_teardown);
}
