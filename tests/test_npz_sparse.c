/* Sparse matrices as scipy.sparse.save_npz writes them: rows, columns or entries one after another,
 * longer than what is read at a time; and broken ones. */
#include "io_test.h"
#include "run.h"

enum { N = 2 * VEM_I_STREAM + 5, D = 7, ENTRIES = 2 * N };

/* Row i holds i % 9 + 1 in column i % D and 300 + i in the column after that. */
static double value_at(int64_t i, int32_t j)
{
    return j == i % D ? (double)(i % 9 + 1) : j == (i + 1) % D ? (double)(300 + i) : 0;
}

static int64_t starts[N + 1], minor[ENTRIES], major[ENTRIES], shape[2] = {N, D};
static double values[ENTRIES];

/* The arrays of a format; entries go by rows unless by columns. */
static int64_t fill(int by_columns)
{
    int64_t at = 0;
    const int64_t lines = by_columns ? D : N, across = by_columns ? N : D;
    for (int64_t a = 0; a < lines; a++) {
        starts[a] = at;
        for (int64_t b = 0; b < across; b++) {
            const double value =
                by_columns ? value_at(b, (int32_t)a) : value_at(a, (int32_t)b);
            if (value == 0)
                continue;
            major[at] = a;
            minor[at] = b;
            values[at++] = value;
        }
    }
    starts[lines] = at;
    assert_int_equal(at, ENTRIES);
    return lines;
}

static const char *put(const char *format, int64_t lines)
{
    const char *path = io_path("sparse.npz");
    const int coo = strcmp(format, "coo") == 0;
    const vem_i_array arrays[] = {
        {"format", VEM_UINT8, format, 1, {3}},
        {"shape", VEM_INT64, shape, 1, {2}},
        {"data", VEM_FLOAT64, values, 1, {ENTRIES}},
        {coo ? "col" : "indices", VEM_INT64, minor, 1, {ENTRIES}},
        {coo ? "row" : "indptr",
         VEM_INT64,
         coo ? major : starts,
         1,
         {coo ? ENTRIES : lines + 1}},
    };
    assert_int_equal(vem_i_npz_write(run_of(io_ctx), path, arrays, 5), VEM_OK);
    return path;
}

static void same_rows(const char *path)
{
    static double rows[N * D];
    for (int64_t i = 0; i < N; i++)
        for (int32_t j = 0; j < D; j++)
            rows[i * D + j] = value_at(i, j);
    vem_data *data = io_read(path);
    io_holds(data, N, D, rows);
    vem_data_free(data);
}

static void formats(void **state)
{
    (void)state;
    same_rows(put("csr", fill(0)));
    same_rows(put("csc", fill(1)));
    fill(0);
    same_rows(put("coo", N));
    fill(0);
    for (int64_t e = 0; e < ENTRIES / 2; e++) { /* in any order */
        const int64_t other = ENTRIES - 1 - e, row = major[e], column = minor[e];
        const double value = values[e];
        major[e] = major[other], minor[e] = minor[other], values[e] = values[other];
        major[other] = row, minor[other] = column, values[other] = value;
    }
    same_rows(put("coo", N));
}

/* Each is told with its place, behind the first piece that is read, too. */
static void broken(void **state)
{
    (void)state;
    const int64_t lines = fill(0), late = VEM_I_STREAM + 3;
    io_refuses(put("dia", lines), VEM_UNSUPPORTED, "is a sparse matrix of format dia");
    starts[late] = 5;
    io_refuses(put("csr", lines), VEM_BAD_DATA,
               "falls: number 4100 is 5, and the one before it 8196.");
    fill(0);
    starts[0] = 1;
    io_refuses(put("csr", lines), VEM_BAD_DATA, "does not begin with 0");
    fill(0);
    starts[lines]--;
    io_refuses(put("csr", lines), VEM_BAD_DATA,
               "ends with 16393, but there are 16394 values");
    fill(0);
    io_refuses(put("csr", lines - 1), VEM_BAD_DATA,
               "has 8197 numbers, but 8198 are needed for 8197 rows");
    minor[late] = D;
    io_refuses(put("csr", lines), VEM_BAD_DATA, "sparse.npz");
    fill(0);
    major[late] = -1;
    io_refuses(put("coo", lines), VEM_BAD_DATA, "sparse.npz");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(formats),
        cmocka_unit_test(broken),
    };
    return cmocka_run_group_tests(tests, io_setup, io_teardown);
}
