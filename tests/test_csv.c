/* Text tables: what is understood, what is refused and with which sentence, and that
 * chunks and threads change nothing. */
#include "io_test.h"

#include "base/rng.h"

static void reads(const char *name, const char *text, int64_t n, int32_t d,
                  const double *values)
{
    vem_data *data = io_read(io_text(name, text));
    assert_string_equal(vem_data_format(data), "csv");
    assert_int_equal(vem_data_dtype(data), VEM_FLOAT64);
    io_holds(data, n, d, values);
    vem_data_free(data);
}

static void refuses(const char *text, const char *words)
{
    io_refuses(io_text("bad.csv", text), VEM_BAD_DATA, words);
}

static void separators(void **state)
{
    const double four[] = {1, 2, 3, 4};
    (void)state;
    reads("a.csv", "1,2\n3,4\n", 2, 2, four);
    reads("a.csv", "1;2\n3;4\n", 2, 2, four);
    reads("a.csv", "1\t2\n3\t4\n", 2, 2, four);
    reads("a.csv", "1 2\n3  4\n", 2, 2, four);
    reads("a.txt", "  1 \t 2  \n3\t4\n", 2, 2, four);
    reads("a.txt", "1, 2\n3 ,4\n", 2, 2, four);
    reads("a.tsv", "1\t2\n3 \t 4\n", 2, 2, four);
    reads("A.CSV", "1\n2\n3\n4", 4, 1, four);
    reads("a.csv", "a value\n1\n2\n3\n4\n", 4, 1, four);
    reads("a.txt", "1 2 3 4", 1, 4, four);
}

/* A first line that spreadsheets write for each other. */
static void separator_lines(void **state)
{
    const double four[] = {1, 2, 3, 4}, comma[] = {1.5, 2, 3, 4};
    (void)state;
    reads("a.csv", "sep=;\n1;2\n3;4\n", 2, 2, four);
    reads("a.csv", "\xef\xbb\xbfSEP=;\r\nx;y\r\n1,5;2\r\n3;4\r\n", 2, 2, comma);
    reads("a.csv", "\"sep=|\"\nx|y\n1|2\n3|4\n", 2, 2, four);
    reads("a.csv", "sep=,,\n1,2\n3,4\n", 2, 2, four);
    reads("a.tsv", "sep=;\n1;2\n3;4\n", 2, 2, four);
    reads("a.csv", "sep=\t\n1\t2\n3\t4\n", 2, 2, four);
    reads("a.csv", "sep=x\n1\n2\n3\n4\n", 4, 1, four); /* a name */
    refuses("sep=;", "holds no rows");
    refuses("sep=;\n", "holds no rows");
    /* Any sign that may stand between fields. */
    for (const char *sign = ";,|:!/&^~@$*="; *sign; sign++) {
        char text[40];
        snprintf(text, sizeof text, "sep=%c\n1%c2\n3%c4\n", *sign, *sign, *sign);
        reads("a.csv", text, 2, 2, four);
    }
}

static void line_ends(void **state)
{
    const double four[] = {1, 2, 3, 4};
    (void)state;
    reads("a.csv", "1,2\r\n3,4\r\n", 2, 2, four);
    reads("a.csv", "1,2\r\n3,4", 2, 2, four);
    reads("a.csv", "1,2\n3,4\r", 2, 2, four);
    reads("a.csv",
          "\xef\xbb\xbf"
          "1,2\n3,4",
          2, 2, four);
    reads("a.csv", "\n\n1,2\n \n\r\n3,4\n\n\n", 2, 2, four);
    reads("a.csv", "# made by hand, with \"one quote\n1,2\n#\n3,4\n# end", 2, 2, four);
    reads("a.txt", " 1 2 \r\n 3 4 \r\n", 2, 2, four);
}

static void numbers(void **state)
{
    const double many[] = {1.5e-3, -2, 0.5, 3, NAN, INFINITY, -INFINITY, 1e22};
    (void)state;
    const vem_read_options keep = {.size = sizeof keep, .missing = VEM_MISSING_KEEP};
    vem_data *data = NULL;
    const char *path = io_text("a.csv", "+1.5e-3,-2.0,.5,3.\nnan,inf,-Infinity,1e22\n");
    assert_int_equal(vem_data_read(io_ctx, path, &keep, &data), VEM_OK);
    io_holds(data, 2, 4, many);
    assert_int_equal(vem_data_missing(data), 1);
    vem_data_free(data);
    const double tenth[] = {0.1, 0.12345678901234567, 1234567890123456789.0, 1e-5};
    reads("a.csv", "0.1,0.12345678901234567\n1234567890123456789,1.0000000000000000E-05",
          2, 2, tenth);
}

static void headers(void **state)
{
    const double four[] = {1, 2, 3, 4};
    (void)state;
    vem_data *data =
        io_read(io_text("h.csv", "x, \"the \"\"y\"\", or so\" \n1,2\n3,\" 4 \"\n"));
    io_holds(data, 2, 2, four);
    assert_string_equal(vem_data_column_name(data, 0), "x");
    assert_string_equal(vem_data_column_name(data, 1), "the \"y\", or so");
    assert_null(vem_data_column_name(data, 2));
    assert_null(vem_data_column_name(data, -1));
    vem_data_free(data);
    data = io_read(io_text("h.csv", ",x\n1,2\n3,4\n")); /* as pandas writes its index */
    assert_string_equal(vem_data_column_name(data, 0), "");
    vem_data_free(data);
    data = io_read(io_text("h.csv", "1,2\n3,4\n"));
    assert_null(vem_data_column_name(data, 0));
    vem_data_free(data);
}

static void reads_columns(const char *text, const char *columns, const char *id,
                          int64_t n, int32_t d, const double *values)
{
    vem_data *data = NULL;
    vem_read_options options = {.size = sizeof options, .columns = columns, .id = id};
    if (vem_data_read(io_ctx, io_text("c.csv", text), &options, &data) != VEM_OK)
        fail_msg("%s", vem_ctx_message(io_ctx));
    io_holds(data, n, d, values);
    vem_data_free(data);
}

static void columns(void **state)
{
    const char *table =
        "name,x,y,2019\n\"Smith, J\",1,2,7\nDoe\n"; /* second row is short */
    const char *people = "name,x,y,2019\n\"Smith, J\",1,2,7\nDoe,3,4,8\n";
    const double xy[] = {1, 2, 3, 4}, yx[] = {2, 1, 4, 3}, last[] = {7, 8};
    vem_data *data = NULL;
    vem_read_options options = {.size = sizeof options};
    (void)state;
    reads_columns(people, "x,y", NULL, 2, 2, xy);
    reads_columns(people, "y,x", NULL, 2, 2, yx);
    reads_columns(people, "2-3", NULL, 2, 2, xy);
    reads_columns(people, "2-4", "4", 2, 2, xy);
    reads_columns(people, "2019", NULL, 2, 1, last); /* a name before a number */
    reads_columns(people, "4", "name", 2, 1, last);
    /* No header: text only in the column that is left out. */
    reads_columns("a,1,2\nb,3,4\n", NULL, "1", 2, 2, xy);
    reads_columns("a,1,2\nb,3,4\n", "2,3", NULL, 2, 2, xy);
    /* A quoted field may hold a line end, if it is skipped. */
    reads_columns("id,x,y\n\"a\nb\",1,2\n\"c,\"\"\n\",3,4\n", NULL, "id", 2, 2, xy);

    options.columns = "x,z";
    assert_int_equal(vem_data_read(io_ctx, io_text("c.csv", people), &options, &data),
                     VEM_BAD_OPTION);
    io_says("no column named \"z\"; its columns are name, x, y, 2019");
    options.columns = "x,y";
    assert_int_equal(vem_data_read(io_ctx, io_text("c.csv", table), &options, &data),
                     VEM_BAD_DATA);
    io_says("row 2 (line 3) has 1 fields, but the first row has 4");
    options.columns = "x";
    assert_int_equal(vem_data_read(io_ctx, io_text("c.csv", "1,2\n"), &options, &data),
                     VEM_BAD_OPTION);
    io_says("no column named \"x\": its columns have no names");
    assert_null(data);
}

static void wrong_rows(void **state)
{
    (void)state;
    refuses("x,height\n1,2\n\n3,abc\n",
            "bad.csv, row 2 (line 4), column 2 (height): \"abc\" is not a number");
    refuses("1,2\n3,4x\n", "row 2 (line 2), column 2: \"4x\" is not a number");
    refuses("1,2\n3\n", "row 2 (line 2) has 1 fields, but the first row has 2");
    refuses("1,2\n3,4,5\n", "row 2 (line 2) has 3 fields, but the first row has 2");
    refuses("1,2\n,4\n",
            "1 value is missing, in 1 of 2 rows; the first in row 2, column 1");
    refuses("1,2\n3,\n", "the first in row 2, column 2");
    refuses("1,2\n3,\"\"\n", "the first in row 2, column 2");
    refuses("1,,3\n4,5,6\n", "the first in row 1, column 2");
    refuses("1 2\n3\n", "row 2 (line 2) has 1 fields, but the first row has 2");
    refuses("1;5\n2,5;3.5\n", "\"2,5\" is not a number. If it has a decimal comma");
    refuses("1,2\n3,\"4\n", "column 2: a quote is opened and never closed");
    refuses("\"1,2\n3,4\n",
            "row 1 (line 1), column 1: a quote is opened and never closed");
    refuses("1,2\n3,\"4\"5\n", "is not a number");
    refuses("1,2\n3,0x1p3\n", "\"0x1p3\" is not a number");
    refuses("1,2\n3,1 4\n", "\"1 4\" is not a number. A column of text");
    /* Numbers for people: what to do with them, and no header is made of them. */
    refuses("1,2\n3,\"1,234,567\"\n", "\"1,234,567\" is not a number. Write numbers "
                                      "without signs between their thousands");
    refuses("1,2\n3,-1 234.5\n", "between their thousands");
    refuses("1,2\n3,12\xc2\xa0"
            "345\n",
            "between their thousands");
    refuses(
        "1,2\n3,\"1,234\"\n",
        "If the comma parts thousands, write 1234 for 1,234. Commas part the fields of "
        "this table, so they cannot be decimal commas as well");
    refuses("1;2,5\n3;1.234,5\n", "between their thousands");
    refuses("1,2\n3,12 %\n", "\"12 %\" is not a number. Write percentages without");
    refuses("1,2\n3,\"12,5%\"\n", "Write percentages without");
    refuses("\"1,234,567\",\"2,345,678\"\n3,4\n", "row 1 (line 1), column 1");
    refuses("5 %,6 %\n3 %,4\n", "row 1 (line 1), column 1");
    refuses("5 %,6 %\n3 %,4\n", "12.5 for 12.5 %. If this row names the columns, say "
                                "--header yes.");
    refuses("\"1,234\",2\n3,4\n",
            "decimal points. If this row names the columns, say --header yes.");
    refuses("1,2\n3,1234 567\n", "A column of text");
    refuses("1,2\n3,%\n", "A column of text");
    refuses("sep=,\n1,2\n3,x\n", "row 2 (line 3), column 2");
    refuses("1,2\n3,\x01\x02\n", "\"??\" is not a number");
    refuses("1\nabcdefghijklmnopqrstuvwxyzabcdefghijklmnopqrstuvwxyzabcdefghijklmnopqrstu"
            "vwxyz",
            "opqr...");
    refuses("x,y\n", "has a header, but no rows");
    refuses("# nothing\n\n", "holds no rows");
    refuses("\n", "holds no rows");
    refuses("", "is empty");
    io_refuses(io_put("u.csv",
                      "\xff\xfe"
                      "1\0",
                      4),
               VEM_UNSUPPORTED, "UTF-16");
}

/* Larger than several chunks, with everything that can stand in the way. */
static char *make_table(int64_t rows, int quotes, double *expected, size_t *size)
{
    vem_i_rng rng = vem_i_rng_at(3, VEM_RNG_TEST, 0, (uint64_t)quotes);
    char *text = malloc((size_t)rows * 200), *at = text;
    at += sprintf(at, "x,name,y\n");
    for (int64_t i = 0; i < rows; i++) {
        char number[40];
        for (int j = 0; j < 2; j++) {
            snprintf(number, sizeof number, "%.*g", 3 + (int)vem_i_rng_below(&rng, 15),
                     vem_i_rng_normal(&rng) * 100);
            expected[2 * i + j] = strtod(number, NULL);
            const char *name = !quotes                    ? "abc"
                               : vem_i_rng_below(&rng, 4) ? "\"a, b\"\"\n\"\"c\""
                                                          : "5\"";
            at +=
                j == 0 ? sprintf(at, "%s, %s,", number, name) : sprintf(at, "%s", number);
        }
        at += sprintf(at, "%s", vem_i_rng_below(&rng, 3) ? "\n" : "\r\n");
        if (vem_i_rng_below(&rng, 50) == 0)
            at += sprintf(at, "# note, \"not closed\n\n");
    }
    *size = (size_t)(at - text);
    return text;
}

static void chunks_and_threads(void **state)
{
    enum { ROWS = 40000 };
    double *expected = malloc(2 * ROWS * sizeof *expected);
    const vem_read_options options = {.size = sizeof options, .id = "name"};
    (void)state;
    for (int quotes = 0; quotes < 2; quotes++) {
        size_t size;
        char *text = make_table(ROWS, quotes, expected, &size);
        const char *path = io_put("big.csv", text, size);
        assert_true(size > 3 << 18);
        for (int threads = 1; threads <= 7; threads += 2) {
            vem_data *data = NULL;
            vem_ctx_set_threads(io_ctx, threads);
            assert_int_equal(vem_data_read(io_ctx, path, &options, &data), VEM_OK);
            io_holds(data, ROWS, 2, expected);
            vem_data_free(data);
            /* Two wrong rows: the earlier one is named, whoever found which. */
            char *late = text + size - 3, *early = text + size / 2;
            while (*early != '\n' || early[1] == '#' || early[1] == '\n')
                early++;
            *late = early[1] = 'x';
            const char *bad = io_put("worse.csv", text, size);
            assert_int_equal(vem_data_read(io_ctx, bad, &options, &data), VEM_BAD_DATA);
            if (!quotes)
                io_says(", column 1 (x): \"x");
            static char message[1024];
            if (threads == 1)
                strcpy(message, vem_ctx_message(io_ctx));
            assert_string_equal(message, vem_ctx_message(io_ctx));
            free(text);
            text = make_table(ROWS, quotes, expected, &size);
        }
        free(text);
    }
    free(expected);
    vem_ctx_set_threads(io_ctx, 0);
}

static int stop_at_once(void *user, const vem_progress *progress)
{
    assert_string_equal(progress->phase, "read");
    ++*(int *)user;
    return 1;
}

static void can_be_stopped(void **state)
{
    int calls = 0;
    vem_data *data = NULL;
    (void)state;
    const char *path = io_text("a.csv", "1,2\n3,4\n");
    vem_ctx_set_progress(io_ctx, stop_at_once, &calls);
    assert_int_equal(vem_data_read(io_ctx, path, NULL, &data), VEM_STOPPED);
    vem_ctx_set_progress(io_ctx, NULL, NULL);
    assert_int_equal(calls, 1);
    io_says("was stopped");
}

/* Names that need quotes come back as they were. */
static void names_come_back(void **state)
{
    static const char *const names[] = {"#first",  "a,b",        "say \"x\"",
                                        " blank ", "two\nlines", "plain"};
    enum { COUNT = sizeof names / sizeof *names };
    const double row[COUNT] = {1, 2, 3, 4, 5, 6};
    (void)state;
    const char *path = io_path("names.csv");
    assert_int_equal(vem_array_write_named(io_ctx, path, VEM_FLOAT64, row, 1, COUNT,
                                           names),
                     VEM_OK);
    vem_data *data = io_read(path);
    io_holds(data, 1, COUNT, row);
    for (int32_t j = 0; j < COUNT; j++)
        assert_string_equal(vem_data_column_name(data, j), names[j]);
    vem_data_free(data);
}

/* What a file is called is not taken for what is wrong with it. */
static void names_like_sentences(void **state)
{
    (void)state;
    io_refuses(io_text("a\" is not a number. b.csv", "1,2\n3,4,\n"), VEM_BAD_DATA,
               "a\" is not a number. b.csv, row 2 (line 2) has 3 fields, but the first "
               "row has 2.");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(separators),
        cmocka_unit_test(separator_lines),
        cmocka_unit_test(line_ends),
        cmocka_unit_test(numbers),
        cmocka_unit_test(headers),
        cmocka_unit_test(columns),
        cmocka_unit_test(wrong_rows),
        cmocka_unit_test(chunks_and_threads),
        cmocka_unit_test(can_be_stopped),
        cmocka_unit_test(names_come_back),
        cmocka_unit_test(names_like_sentences),
    };
    return cmocka_run_group_tests(tests, io_setup, io_teardown);
}
