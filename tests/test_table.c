/* Text tables: headers, missing values, decimal commas, ids, and files that change while they
 * are read. */
#include "io_test.h"

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
        assert_int_equal(vem_i_csv_explain(io_ctx, &csv, part.wrong, part.wrong_row),
                         VEM_BAD_DATA);
        assert_true(strlen(vem_ctx_message(io_ctx)) > 10);
        vem_i_csv_explain(io_ctx, &csv, after, 0);
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ids_are_kept),
        cmocka_unit_test(a_file_that_changes),
    };
    (void)refuses;
    return cmocka_run_group_tests(tests, io_setup, io_teardown);
}
