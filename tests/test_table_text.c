/* Text: where numbers should be, which values, which columns, and what helps; names; trees for R. */
#include "base/names.h"
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
    const char *later = io_text("later.csv", "1,2,0\na,b,1\nc,d,2\n");
    assert_int_equal(vem_data_read(io_ctx, later, &how, &data), VEM_BAD_DATA);
    io_says("Columns of text are left out with --id 1,2");
    assert_null(strstr(vem_ctx_message(io_ctx), names));
    const char *all = io_text("all.csv", "1,2\na,b\nc,d\n");
    assert_int_equal(vem_data_read(io_ctx, all, &how, &data), VEM_BAD_DATA);
    io_says("All columns that are taken are text");
    assert_null(strstr(vem_ctx_message(io_ctx), "--id"));
}

/* Names that are not UTF-8 are taken for Latin-1. */
static void names_in_latin(void **state)
{
    (void)state;
    vem_data *data = io_read(io_text("latin.csv", "caf\xe9 noir,b\n1,2\n3,4\n"));
    char text[64];
    vem_i_names_utf8("caf\xe9 noir", text, sizeof text);
    assert_string_equal(text, "caf\xc3\xa9 noir");
    vem_i_names_utf8("caf\xc3\xa9", text, sizeof text);
    assert_string_equal(text, "caf\xc3\xa9");
    assert_string_equal(vem_data_column_name(data, 1), "b");
    vem_data_free(data);
}

/* A tree as R has it: what is merged, how high, and every leaf with its name. */
static void trees_for_r(void **state)
{
    (void)state;
    const double rows[] = {0, 0, 1, 0, 10, 0, 11.5, 0};
    const vem_dendrogram_options how = {.size = sizeof how,
                                        .method = VEM_DENDROGRAM_AVERAGE};
    vem_options o;
    vem_data *data = NULL;
    vem_dendrogram *tree = NULL;
    char text[2000] = "";
    const char *path = io_path("tree.json"), *const names[] = {"u", "v", "w", "x"};
    assert_int_equal(vem_data_borrow(io_ctx, VEM_FLOAT64, rows, 4, 2, 0, 0, &data),
                     VEM_OK);
    vem_options_init(&o);
    if (vem_agglomerate(io_ctx, data, &o, &how, &tree) != VEM_OK)
        fail_msg("%s", vem_ctx_message(io_ctx));
    assert_int_equal(vem_dendrogram_write_r(io_ctx, tree, names, path), VEM_OK);
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    text[fread(text, 1, sizeof text - 1, file)] = '\0';
    fclose(file);
    for (char *at = text; (at = strpbrk(at, " \n"));)
        memmove(at, at + 1, strlen(at));
    if (!strstr(text, "\"labels\":[\"u\",\"v\",\"w\",\"x\"]") ||
        !strstr(text, "\"merge\":[[-1,-2],[-3,-4],[1,2]]"))
        fail_msg("%s", text);
    vem_dendrogram_free(tree);
    vem_data_free(data);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(some_values),   cmocka_unit_test(columns_of_text),
        cmocka_unit_test(rows_of_names), cmocka_unit_test(names_in_latin),
        cmocka_unit_test(trees_for_r),
    };
    return cmocka_run_group_tests(tests, io_setup, io_teardown);
}
