/* Files of labels and of classes are told from each other, and from any other, by how they begin: in every
 * format that is written, for any number of rows. */
#include "io_test.h"

static const int32_t rows[] = {0, 3, -1, 2, 1, 0, 0, 5, 7, 2};
static const char *const names[] = {"l.npy", "l.csv", "l.csv.gz"};

static void assert_kind(const char *path, int labels, int classes)
{
    if (vem_file_is_labels(path) != labels || vem_file_is_classes(path) != classes)
        fail_msg("%s: labels %d, classes %d", path, vem_file_is_labels(path),
                 vem_file_is_classes(path));
}

static void files_of_ours(void **state)
{
    (void)state;
    for (size_t k = 0; k < sizeof names / sizeof *names; k++)
        for (int64_t n = 1; n <= 10; n++) {
            char path[400];
            snprintf(path, sizeof path, "%s", io_path(names[k]));
            assert_int_equal(vem_labels_write(io_ctx, path, rows, n), VEM_OK);
            assert_kind(path, 1, 0);
            int64_t *back = NULL, count = 0;
            assert_int_equal(vem_labels_read(io_ctx, path, &back, &count), VEM_OK);
            assert_int_equal(count, n);
            for (int64_t i = 0; i < n; i++)
                assert_int_equal(back[i], rows[i]);
            free(back);
            const int32_t classes[] = {4, 4, 1, 0, 2, 3, 9, 9, 9, 8};
            assert_int_equal(vem_classes_write(io_ctx, path, classes, n), VEM_OK);
            assert_kind(path, 0, 1);
        }
}

static void files_of_others(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        int labels, classes;
    } tables[] = {
        {"row,label\n1,2\n", 1, 0},
        {"row,label\r\n1,2\r\n", 1, 0},
        {"row,label,id\n1,2,a\n", 1, 0},
        {"row,class\n1,2\n", 0, 1},
        {"row,labels\n1,2\n", 0, 0},
        {"Row,label\n1,2\n", 0, 0},
        {"label\n2\n", 0, 0},
        {"1,2\n", 0, 0},
        {"row,label", 0, 0},
        {"r", 0, 0},
    };
    for (size_t k = 0; k < sizeof tables / sizeof *tables; k++)
        assert_kind(io_text("t.csv", tables[k].text), tables[k].labels,
                    tables[k].classes);
    char path[400];
    const double values[4] = {1, 2, 3, 4};
    snprintf(path, sizeof path, "%s", io_path("a.npy"));
    assert_int_equal(vem_array_write(io_ctx, path, VEM_FLOAT64, values, 4, 1), VEM_OK);
    assert_kind(path, 0, 0);
    assert_int_equal(vem_array_write(io_ctx, path, VEM_INT32, rows, 10, 1), VEM_OK);
    assert_kind(path, 0, 0);
    assert_kind(io_put("short.npy", "\x93NUMPY", 6), 0, 0);
    assert_kind(io_path("none.npy"), 0, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(files_of_ours),
        cmocka_unit_test(files_of_others),
    };
    return cmocka_run_group_tests(tests, io_setup, io_teardown);
}
