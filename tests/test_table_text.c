/* Text where numbers should be: which values, which columns, and what helps. */
#include "io_test.h"

/* A column of which some values are text, but not half of them, has errors in it. */
static void some_values(void **state)
{
    (void)state;
    io_refuses(
        io_text("one.csv", "a,b\n1,2\n3,x\n5,6\n"), VEM_BAD_DATA,
        "1 of 3 values of this column is no number: correct it, or leave it empty");
    io_refuses(io_text("two.csv", "a,b\n1,2\n3,x\n5,6\n7,y\n9,1\n"), VEM_BAD_DATA,
               "2 of 5 values of this column are no numbers: correct them");
    io_says("--missing drop or mean.");
}

/* One of which half or more are text is a column of text, and is named as --id takes it. */
static void columns_of_text(void **state)
{
    (void)state;
    io_refuses(io_text("half.csv", "a,b\n1,2\n3,x\n5,6\n7,y\n"), VEM_BAD_DATA,
               "A column of text is left out with --id b (vem info lists the columns).");
    /* A column without values is no column of text; names that a shell would read are not given. */
    io_refuses(io_text("none.csv", "a,b,c,d\nx,,1,u\ny,,2,v\nz,,3,w\n"), VEM_BAD_DATA,
               "Columns of text are left out with --id a,d (vem info");
    io_refuses(io_text("odd.csv", "a b,b,c\nx,1,1\ny,2,2\nz,3,3\n"), VEM_BAD_DATA,
               "A column of text is left out with --id 1 (vem info");
}

/* Without names the first row may be names; a later one is not. */
static void rows_of_names(void **state)
{
    (void)state;
    const vem_read_options how = {.size = sizeof how, .header = VEM_HEADER_NO};
    static const char names[] = "If this row names the columns, say --header yes.";
    vem_data *data = NULL;
    const char *first = io_text("first.csv", "a,b\n1,x\n");
    assert_int_equal(vem_data_read(io_ctx, first, &how, &data), VEM_BAD_DATA);
    io_says(names);
    const char *later = io_text("later.csv", "1,2\na,b\nc,d\n");
    assert_int_equal(vem_data_read(io_ctx, later, &how, &data), VEM_BAD_DATA);
    io_says("Columns of text are left out with --id 1,2");
    assert_null(strstr(vem_ctx_message(io_ctx), names));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(some_values),
        cmocka_unit_test(columns_of_text),
        cmocka_unit_test(rows_of_names),
    };
    return cmocka_run_group_tests(tests, io_setup, io_teardown);
}
