/* Readers that make values of their own put them into a temporary file where memory is short:
 * the same values, wherever they rest. */
#include <fcntl.h>
#include <sys/stat.h>

#include "io_test.h"
#include "run.h"

enum { ROWS = 700, COLUMNS = 3 };

static void same_values(const vem_data *a, const vem_data *b)
{
    static double x[ROWS * COLUMNS], y[ROWS * COLUMNS];
    assert_int_equal(a->n, ROWS);
    assert_int_equal(b->n, ROWS);
    assert_int_equal(a->d, b->d);
    assert_int_equal(a->d, COLUMNS);
    assert_int_equal(vem_data_get(io_ctx, a, 0, ROWS, x), VEM_OK);
    assert_int_equal(vem_data_get(io_ctx, b, 0, ROWS, y), VEM_OK);
    assert_memory_equal(x, y, sizeof x);
}

/* Read in memory and in a file; the latter comes back. */
static vem_data *read_twice(const char *path)
{
    vem_data *inside = NULL, *spilled = NULL;
    assert_int_equal(vem_data_read(io_ctx, path, NULL, &inside), VEM_OK);
    assert_null(inside->mapping);
    io_ctx->spills_all = 1;
    assert_int_equal(vem_data_read(io_ctx, path, NULL, &spilled), VEM_OK);
    io_ctx->spills_all = 0;
    assert_non_null(spilled->mapping);
    assert_null(spilled->mapping->path);
    assert_null(spilled->owned);
    same_values(inside, spilled);
    vem_data_free(inside);
    return spilled;
}

static char *table(void)
{
    char *text = malloc(ROWS * COLUMNS * 24), *at = text;
    for (int i = 0; i < ROWS; i++)
        at += sprintf(at, "%d,%.3f,%g\n", i, i / 7.0, 1e-5 * i * i);
    return text;
}

static void a_text_table(void **state)
{
    (void)state;
    char *text = table();
    vem_data_free(read_twice(io_put("x.csv", text, strlen(text))));
    /* What is wrong is still said. */
    char *fifth = strchr(text, '\n') + 1;
    *fifth = 'x';
    vem_data *data = NULL;
    io_ctx->spills_all = 1;
    assert_int_equal(vem_data_read(io_ctx, io_put("y.csv", text, strlen(text)), NULL,
                                   &data),
                     VEM_BAD_DATA);
    io_ctx->spills_all = 0;
    assert_non_null(strstr(vem_ctx_message(io_ctx), "row 2"));
    free(text);
}

/* Ids, rows left out and what gzip packed rest in files as well. */
static void what_is_kept(void **state)
{
    enum { GONE = ROWS / 7 };
    (void)state;
    char *text = malloc(ROWS * 40), *at = text;
    for (int i = 0; i < ROWS; i++)
        at += sprintf(at, i % 7 == 3 ? "name %d,NA,%d\n" : "name %d,%d.5,7\n", i, i);
    const vem_read_options options = {.size = sizeof options,
                                      .id = "1",
                                      .keep_ids = 1,
                                      .missing = VEM_MISSING_DROP};
    const char *path = io_put("x.csv", text, strlen(text));
    io_ctx->spills_all = 1;
    vem_data *data = NULL;
    assert_int_equal(vem_data_read(io_ctx, path, &options, &data), VEM_OK);
    io_ctx->spills_all = 0;
    assert_non_null(data->ids->spill);
    assert_non_null(data->kept_spill);
    assert_int_equal(vem_data_rows(data), ROWS - GONE);
    assert_int_equal(vem_data_rows_read(data), ROWS);
    for (int64_t i = 0; i < ROWS - GONE; i++) {
        char name[24];
        double row[2];
        assert_int_equal(vem_data_get(io_ctx, data, i, 1, row), VEM_OK);
        const int64_t was = vem_data_row(data, i);
        snprintf(name, sizeof name, "name %d", (int)was);
        assert_true(row[0] == (double)was + 0.5 && was % 7 != 3);
        assert_string_equal(vem_data_id(data, 0, was), name);
    }
    vem_data_free(data);
    free(text);
}

static void an_archive(void **state)
{
    (void)state;
    double rows[ROWS * COLUMNS];
    const char *path = io_path("x.npz");
    for (int i = 0; i < ROWS * COLUMNS; i++)
        rows[i] = i * 0.25;
    const vem_i_array array = {"rows", VEM_FLOAT64, rows, 2, {ROWS, COLUMNS}};
    assert_int_equal(vem_i_npz_write(run_of(io_ctx), path, &array, 1), VEM_OK);
    vem_data_free(read_twice(path));
}

/* A pipe is longer than its buffer of a megabyte. */
static void a_pipe(void **state)
{
    (void)state;
    enum { LINES = 300000 };
    const char *path = io_path("pipe.csv");
    assert_int_equal(mkfifo(path, 0600), 0);
    const pid_t child = fork();
    if (child == 0) {
        FILE *stream = fopen(path, "w");
        for (int i = 0; stream && i < LINES; i++)
            fprintf(stream, "%d,%d\n", i, 2 * i);
        if (stream)
            fclose(stream);
        _exit(0);
    }
    vem_data *data = NULL;
    io_ctx->spills_all = 1;
    assert_int_equal(vem_data_read(io_ctx, path, NULL, &data), VEM_OK);
    io_ctx->spills_all = 0;
    assert_int_equal(data->n, LINES);
    double row[2];
    for (int64_t i = 0; i < LINES; i += 4999) {
        assert_int_equal(vem_data_get(io_ctx, data, i, 1, row), VEM_OK);
        assert_true(row[0] == (double)i && row[1] == (double)(2 * i));
    }
    vem_data_free(data);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_text_table),
        cmocka_unit_test(what_is_kept),
        cmocka_unit_test(an_archive),
        cmocka_unit_test(a_pipe),
    };
    return cmocka_run_group_tests(tests, io_setup, io_teardown);
}
