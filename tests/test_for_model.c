/* Rows that are read for a model: its columns are found by name or number, its ids are known
 * again, and what does not go with it is refused in a sentence that says why. */
#include "io_test.h"

/* A model of one cluster of the rows of a table. */
static vem_model *fit(const char *text, const char *columns, const char *id)
{
    const vem_read_options how = {.size = sizeof how, .columns = columns, .id = id};
    vem_data *data = NULL;
    vem_model *model = NULL;
    vem_options o;
    vem_options_init(&o);
    o.clusters = 1;
    if (vem_data_read(io_ctx, io_text("fit.csv", text), &how, &data) != VEM_OK ||
        vem_fit(io_ctx, data, &o, NULL, &model, NULL) != VEM_OK)
        fail_msg("%s", vem_ctx_message(io_ctx));
    vem_data_free(data);
    return model;
}

static vem_status read_for(const vem_model *model, const char *text, const char *columns,
                           const char *id, vem_data **data)
{
    const vem_read_options how = {
        .size = sizeof how, .columns = columns, .id = id, .model = model, .keep_ids = 1};
    *data = NULL;
    return vem_data_read(io_ctx, io_text("rows.csv", text), &how, data);
}

static void takes(const vem_model *model, const char *text, const char *columns,
                  const char *id, int64_t n, const double *values)
{
    vem_data *data;
    if (read_for(model, text, columns, id, &data) != VEM_OK)
        fail_msg("%s", vem_ctx_message(io_ctx));
    io_holds(data, n, vem_model_columns(model), values);
    vem_data_free(data);
}

static void refuses(const vem_model *model, const char *text, const char *columns,
                    const char *id, const char *words)
{
    vem_data *data;
    assert_int_equal(read_for(model, text, columns, id, &data), VEM_BAD_DATA);
    assert_null(data);
    io_says(words);
}

static void by_name(void **state)
{
    (void)state;
    vem_model *model = fit("x,y\n1,2\n3,5\n", NULL, NULL);
    const double one[2] = {7, 8};
    takes(model, "x,y\n7,8\n", NULL, NULL, 1, one);
    takes(model, "y,z,x\n8,9,7\n", NULL, NULL, 1, one);
    takes(model, "w,y,x\n9,8,7\n", NULL, "w", 1, one);
    takes(model, "7,8\n", NULL, NULL, 1, one);
    takes(model, "a,b,c\n9,7,8\n", "2-3", NULL, 1, one); /* under other names */
    refuses(model, "x,z\n7,8\n", NULL, NULL, "has no column \"y\", which the model has");
    refuses(model, "u,v\n7,8\n", NULL, NULL, "has no columns \"x\", \"y\"");
    refuses(model, "7,8,9\n", NULL, NULL, "has 3 columns without names");
    refuses(model, "7\n", NULL, NULL, "has 1 column without names, but the model has 2");
    /* It is there, but was said to be an id: it is not "1 of the 1". */
    refuses(model, "x,y\n7,8\n", NULL, "x", "has no column \"x\"");
    refuses(model, "x,y,x\n7,8,9\n", NULL, NULL, "more columns named \"x\"");
    vem_model_free(model);
    model = fit("a,b,c,d,e,f\n1,2,3,4,5,6\n2,4,6,9,1,7\n", NULL, NULL);
    refuses(model, "f,z\n1,2\n", NULL, NULL, "\"a\", \"b\", \"c\", \"d\" and 1 more");
    vem_model_free(model);
}

static void names_that_come_twice(void **state)
{
    (void)state;
    vem_model *model = fit("x,x,y\n1,2,3\n3,5,8\n", NULL, NULL);
    takes(model, "x,y,x\n7,9,8\n", NULL, NULL, 1, (const double[]){7, 8, 9});
    refuses(model, "x,y,z\n7,8,9\n", NULL, NULL,
            "has 1 of the 2 columns named \"x\" that the model has");
    vem_model_free(model);
    /* Picked by number for the fit: picked so again, where the names are right. */
    model = fit("x,x,y\n1,2,3\n3,5,8\n", "2,3", NULL);
    takes(model, "x,x,y\n7,8,9\n", NULL, NULL, 1, (const double[]){8, 9});
    refuses(model, "x,y,x\n7,8,9\n", NULL, NULL, "say which columns are meant");
    vem_model_free(model);
}

static void by_number(void **state)
{
    (void)state;
    vem_model *model = fit("1,2,3\n3,5,8\n", "3,1", NULL);
    takes(model, "7,8,9\n", NULL, NULL, 1, (const double[]){9, 7}); /* as for the fit */
    takes(model, "7,8\n", NULL, NULL, 1, (const double[]){7, 8});
    takes(model, "6,7,8,9\n", "2,4", NULL, 1, (const double[]){7, 9});
    takes(model, "a,b\n7,8\n", NULL, NULL, 1, (const double[]){7, 8});
    refuses(model, "7\n", NULL, NULL, "has 1 column, but the model has 2");
    vem_model_free(model);
    model = fit("1,2,3\n3,5,8\n", NULL, "1");
    takes(model, "7,8,9\n", NULL, NULL, 1, (const double[]){8, 9});
    refuses(model, "6,7,8,9\n", NULL, NULL, "has 4 columns, but the model has 2");
    vem_model_free(model);
}

static void ids_are_known_again(void **state)
{
    (void)state;
    vem_model *model =
        fit("name,x,city,y\nann,1,Rome,2\nbob,3,Oslo,5\n", NULL, "name,city");
    assert_int_equal(vem_model_ids(model), 2);
    vem_data *data;
    assert_int_equal(read_for(model, "y,city,x,name\n8,Bonn,7,carla\n", NULL, NULL,
                              &data),
                     VEM_OK);
    io_holds(data, 1, 2, (const double[]){7, 8});
    assert_int_equal(vem_data_ids(data), 2);
    assert_string_equal(vem_data_id_name(data, 0), "name");
    assert_string_equal(vem_data_id(data, 0, 0), "carla");
    assert_string_equal(vem_data_id(data, 1, 0), "Bonn");
    vem_data_free(data);
    /* What the file does not have of them it does without. */
    assert_int_equal(read_for(model, "city,x,y\nBonn,7,8\n", NULL, NULL, &data), VEM_OK);
    assert_int_equal(vem_data_ids(data), 1);
    assert_string_equal(vem_data_id(data, 0, 0), "Bonn");
    vem_data_free(data);
    vem_model_free(model);
}

/* Files read as one: those of the first are needed in each. */
static void ids_of_parts(void **state)
{
    (void)state;
    const char *const paths[2] = {io_text("a.csv", "name,x\nann,1\n"),
                                  io_text("b.csv", "x,z\n2,3\n")};
    const vem_read_options how = {.size = sizeof how, .id = "name", .keep_ids = 1};
    vem_data *data = NULL;
    assert_int_equal(vem_data_read_parts(io_ctx, paths, 2, &how, &data), VEM_BAD_DATA);
    assert_null(data);
    io_says("b.csv has no column \"name\"");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(by_name),      cmocka_unit_test(names_that_come_twice),
        cmocka_unit_test(by_number),    cmocka_unit_test(ids_are_known_again),
        cmocka_unit_test(ids_of_parts),
    };
    return cmocka_run_group_tests(tests, io_setup, io_teardown);
}
