/* Files as such, the binary formats, weights, and writing whole or not at all. */
#include "io_test.h"
#include "run.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>

static void no_file(void **state)
{
    (void)state;
    io_refuses(io_path("absent.npy"), VEM_IO_ERROR, "there is no such file");
    io_refuses(io_path("absent.npz"), VEM_IO_ERROR, "there is no such file");
    io_refuses(io_directory, VEM_IO_ERROR, "is a directory, not a file");
    io_refuses(io_text("empty.npy", ""), VEM_BAD_DATA, "is empty");
    io_refuses(io_text("empty.fvecs", ""), VEM_BAD_DATA, "is empty");
    io_refuses(io_text("data.xlsx", "1,2\n"), VEM_UNSUPPORTED, "vem reads .npy, .csv");
    if (geteuid() != 0) {
        const char *path = io_text("secret.csv", "1,2\n");
        chmod(path, 0);
        io_refuses(path, VEM_IO_ERROR, "permission denied");
    }
}

static void kinds(void **state)
{
    (void)state;
    assert_string_equal(vem_file_kind("-"), "data");
    assert_string_equal(vem_file_kind(io_text("k.csv", "1,2\n")), "data");
    assert_string_equal(vem_file_kind(io_path("absent.csv")), "unknown");
    assert_string_equal(vem_file_kind(io_text("k.doc", "1,2\n")), "unknown");
    assert_string_equal(vem_file_kind(io_text("k.npz", "1,2\n")), "unknown");
    assert_string_equal(vem_file_kind("x.h5:/rows"), "data");
}

/* A pipe has no size and no ending: it is read to its end, as text. */
static void pipes(void **state)
{
    const double expected[] = {1, 2, 3, 4};
    int ends[2];
    (void)state;
    assert_int_equal(pipe(ends), 0);
    assert_int_equal(write(ends[1], "1,2\n3,4\n", 8), 8);
    close(ends[1]);
    char path[64];
    snprintf(path, sizeof path, "/dev/fd/%d", ends[0]);
    vem_data *data = io_read(path);
    io_holds(data, 2, 2, expected);
    vem_data_free(data);
    close(ends[0]);
}

static void standard_input(void **state)
{
    enum { ROWS = 400000 }; /* more than one buffer */
    (void)state;
    FILE *stream = fopen(io_path("in.csv"), "w");
    for (int i = 0; i < ROWS; i++)
        fprintf(stream, "%d,%d\n", i, -i);
    fclose(stream);
    const int saved = dup(0), file = open(io_path("in.csv"), O_RDONLY);
    dup2(file, 0);
    vem_data *data = io_read("-");
    double last[2];
    assert_int_equal(vem_data_rows(data), ROWS);
    vem_data_get(io_ctx, data, ROWS - 1, 1, last);
    assert_true(last[0] == ROWS - 1 && last[1] == 1 - ROWS);
    vem_data_free(data);
    io_refuses("-", VEM_BAD_DATA, "Standard input is empty"); /* it was read to its end */
    dup2(saved, 0);
    close(saved);
    close(file);
}

static void vecs(void **state)
{
    const double expected[] = {1, 2, 3, 4};
    const char fvecs[] = "\2\0\0\0\0\0\x80\x3f\0\0\0\x40\2\0\0\0\0\0\x40\x40\0\0\x80\x40";
    const char bvecs[] = "\2\0\0\0\1\2\2\0\0\0\3\4";
    char bad[24];
    (void)state;
    vem_data *data = io_read(io_put("a.fvecs", fvecs, 24));
    assert_int_equal(vem_data_dtype(data), VEM_FLOAT32);
    assert_string_equal(vem_data_format(data), "fvecs");
    io_holds(data, 2, 2, expected);
    vem_data_free(data);
    data = io_read(io_put("a.bvecs", bvecs, 12));
    assert_int_equal(vem_data_dtype(data), VEM_UINT8);
    io_holds(data, 2, 2, expected);
    vem_data_free(data);
    io_refuses(io_put("t.fvecs", fvecs, 23), VEM_BAD_DATA,
               "row 2 has 11 bytes, but a row of dimension 2 has 12");
    io_refuses(io_put("t.fvecs", fvecs, 3), VEM_BAD_DATA, "has 3 bytes");
    memcpy(bad, fvecs, 24);
    bad[12] = 3;
    io_refuses(io_put("d.fvecs", bad, 24), VEM_BAD_DATA,
               "row 2 has dimension 3, but row 1 has 2");
    io_refuses(io_put("z.fvecs", "\0\0\0\0", 4), VEM_BAD_DATA, "row 1 has dimension 0");
    io_refuses(io_put("n.bvecs", "\xff\xff\xff\xff", 4), VEM_BAD_DATA,
               "row 1 has dimension -1");
    io_refuses(io_put("h.fvecs", "\xff\xff\xff\x7f", 4), VEM_BAD_DATA, "is truncated");
}

static void bin(void **state)
{
    const double expected[] = {1, 2, 3, 4};
    const char u8bin[] = "\2\0\0\0\2\0\0\0\1\2\3\4";
    const char fbin[] = "\2\0\0\0\1\0\0\0\0\0\x80\x3f\0\0\0\x40";
    (void)state;
    vem_data *data = io_read(io_put("a.u8bin", u8bin, 12));
    assert_int_equal(vem_data_dtype(data), VEM_UINT8);
    io_holds(data, 2, 2, expected);
    vem_data_free(data);
    data = io_read(io_put("a.fbin", fbin, 16));
    assert_string_equal(vem_data_format(data), "fbin");
    io_holds(data, 2, 1, expected);
    vem_data_free(data);
    data = io_read(io_put("a.i8bin", "\1\0\0\0\3\0\0\0\x80\xff\x7f", 11));
    assert_string_equal(vem_data_format(data), "i8bin");
    assert_int_equal(vem_data_dtype(data), VEM_INT8);
    io_holds(data, 1, 3, (const double[]){-128, -1, 127});
    vem_data_free(data);
    io_refuses(io_put("t.i8bin", "\1\0\0\0\3\0\0\0\x80\xff", 10), VEM_BAD_DATA,
               "2 bytes of values follow");
    io_refuses(io_put("h.i8bin", "\xff\xff\xff\xff\xff\xff\xff\x7f\1", 9), VEM_BAD_DATA,
               "announces 4294967295 rows");
    io_refuses(io_put("n.i8bin", "\1\0\0\0\xff\xff\xff\xff\1", 9), VEM_BAD_DATA,
               "4294967295 columns");
    io_refuses(io_put("t.u8bin", u8bin, 11), VEM_BAD_DATA,
               "2 rows of 2 columns (4 bytes), but 3 bytes of values follow");
    io_refuses(io_put("t.u8bin", u8bin, 13), VEM_BAD_DATA,
               "but 5 bytes of values follow");
    io_refuses(io_put("t.u8bin", u8bin, 7), VEM_BAD_DATA, "has 7 bytes");
    io_refuses(io_put("z.u8bin", "\0\0\0\0\2\0\0\0", 8), VEM_BAD_DATA, "0 rows");
    io_refuses(io_put("h.fbin", "\xff\xff\xff\xff\xff\xff\xff\x7f", 8), VEM_BAD_DATA,
               "but 0 bytes of values follow");
}

static void weights_of(const char *weights, vem_status expected, const char *words)
{
    vem_data *data = NULL;
    const char *path = io_text("rows.csv", "1,2\n3,4\n5,6\n");
    const vem_read_options options = {.size = sizeof options, .weights = weights};
    assert_int_equal(vem_data_read(io_ctx, path, &options, &data), expected);
    if (expected != VEM_OK) {
        io_says(words);
        return;
    }
    const double *found = vem_data_weights(data);
    assert_true(found[0] == 0.5 && found[1] == 0 && found[2] == 2);
    vem_data_free(data);
}

static void weights(void **state)
{
    const double good[] = {0.5, 0, 2};
    (void)state;
    const char *npy = io_path("w.npy");
    assert_int_equal(vem_array_write(io_ctx, npy, VEM_FLOAT64, good, 3, 1), VEM_OK);
    weights_of(npy, VEM_OK, NULL);
    weights_of(io_text("w.csv", "weight\n0.5\n0\n2\n"), VEM_OK, NULL);
    weights_of(io_text("w.txt", "0.5\n0\n"), VEM_BAD_DATA,
               "w.txt has 2 weights, but the data have 3 rows");
    weights_of(io_text("w.txt", "0.5\n-3\n1"), VEM_BAD_DATA,
               "w.txt, row 2: the weight is -3");
    weights_of(io_text("w.txt", "0.5\n1\nnan"), VEM_BAD_DATA, "row 3: the weight is nan");
    weights_of(io_text("w.txt", "0\n0\n0\n"), VEM_BAD_DATA, "the weights sum to 0");
    weights_of(io_text("w.txt", "1e308\n1e308\n1e308\n"), VEM_BAD_DATA, "sum to inf");
    weights_of(io_text("w.txt", "1 1\n1 1\n1 1\n"), VEM_BAD_DATA,
               "has 2 columns, but weights have exactly 1");
    weights_of(io_path("absent.csv"), VEM_IO_ERROR, "there is no such file");
}

static void coreset(void **state)
{
    const double rows[] = {1, 2, 3, 4}, mass[] = {3, 5}, negative[] = {3, -5};
    vem_i_array arrays[] = {{"rows", VEM_FLOAT64, rows, 2, {2, 2}},
                            {"weights", VEM_FLOAT64, mass, 1, {2}}};
    (void)state;
    const char *path = io_path("coreset.npz");
    assert_int_equal(vem_i_npz_write(run_of(io_ctx), path, arrays, 2), VEM_OK);
    assert_string_equal(vem_file_kind(path), "data");
    vem_data *data = io_read(path);
    io_holds(data, 2, 2, rows);
    assert_memory_equal(vem_data_weights(data), mass, sizeof mass);
    vem_data_free(data);
    const vem_read_options more = {.size = sizeof more, .weights = path};
    assert_int_equal(vem_data_read(io_ctx, path, &more, &data), VEM_BAD_OPTION);
    io_says("carries weights of its own");
    arrays[1].values = negative;
    assert_int_equal(vem_i_npz_write(run_of(io_ctx), path, arrays, 2), VEM_OK);
    io_refuses(path, VEM_BAD_DATA, "Array weights of");
    assert_int_equal(vem_i_npz_write(run_of(io_ctx), path, arrays + 1, 1), VEM_OK);
    io_refuses(path, VEM_BAD_DATA, "needs an array named rows");
}

/* Integers of every kind, all the way; anything else is named by row. */
static void labels(void **state)
{
    const int32_t written[] = {3, -1, 0};
    int64_t *read = NULL, n = 0;
    (void)state;
    const char *const names[] = {"l.npy", "l.csv", "l.txt"};
    for (int i = 0; i < 3; i++) {
        const char *path = io_path(names[i]);
        assert_int_equal(vem_labels_write(io_ctx, path, written, 3), VEM_OK);
        assert_int_equal(vem_labels_read(io_ctx, path, &read, &n), VEM_OK);
        assert_true(n == 3 && read[0] == 3 && read[1] == -1 && read[2] == 0);
        free(read);
    }
    const int64_t large[] = {INT64_MAX, INT64_MIN};
    const char *path = io_path("large.npy");
    assert_int_equal(vem_array_write(io_ctx, path, VEM_INT64, large, 2, 1), VEM_OK);
    assert_int_equal(vem_labels_read(io_ctx, path, &read, &n), VEM_OK);
    assert_true(read[0] == INT64_MAX && read[1] == INT64_MIN);
    free(read);
    assert_int_equal(vem_labels_read(io_ctx, io_text("b.csv", "1\n2.5\n"), &read, &n),
                     VEM_BAD_DATA);
    io_says("row 2: 2.5 is no label");
    assert_int_equal(vem_labels_read(io_ctx, io_text("b.csv", "1\nnan\n"), &read, &n),
                     VEM_BAD_DATA);
    assert_int_equal(vem_labels_read(io_ctx, io_text("b.csv", "1,2\n"), &read, &n),
                     VEM_BAD_DATA);
    io_says("has 2 columns, but labels have exactly 1");
    assert_int_equal(vem_labels_write(io_ctx, io_path("l.doc"), written, 3),
                     VEM_BAD_OPTION);
    io_says("the ending must be .npy, .csv or .csv.gz");
}

static void soft(void **state)
{
    const int32_t clusters[] = {4, 1, 0, 2};
    const double probabilities[] = {0.75, 0.25, 0.1, 1.0 / 3};
    vem_i_npz *npz;
    vem_data *data;
    int rank;
    int64_t dims[4];
    (void)state;
    const char *path = io_path("soft.npz");
    assert_int_equal(vem_soft_write(io_ctx, path, clusters, probabilities, 2, 2), VEM_OK);
    assert_int_equal(vem_i_npz_open(run_of(io_ctx), path, &npz), VEM_OK);
    assert_int_equal(vem_i_npz_get(run_of(io_ctx), npz, "probabilities", &data, &rank,
                                   dims),
                     VEM_OK);
    assert_true(rank == 2 && dims[0] == 2 && dims[1] == 2);
    io_holds(data, 2, 2, probabilities);
    vem_data_free(data);
    assert_int_equal(vem_i_npz_get(run_of(io_ctx), npz, "clusters", &data, &rank, dims),
                     VEM_OK);
    assert_int_equal(vem_data_dtype(data), VEM_INT32);
    vem_data_free(data);
    assert_int_equal(vem_i_npz_get(run_of(io_ctx), npz, "nothing", &data, &rank, dims),
                     VEM_BAD_DATA);
    io_says("holds no array named nothing");
    vem_i_npz_close(npz);

    path = io_path("soft.csv");
    assert_int_equal(vem_soft_write(io_ctx, path, clusters, probabilities, 2, 2), VEM_OK);
    const double expected[] = {1, 4, 0.75, 1, 0.25, 2, 0, 0.1, 2, 1.0 / 3};
    data = io_read(path);
    io_holds(data, 2, 5, expected);
    assert_string_equal(vem_data_column_name(data, 4), "probability_2");
    vem_data_free(data);
    assert_int_equal(vem_soft_write(io_ctx, io_path("s.npy"), clusters, probabilities, 2,
                                    2),
                     VEM_BAD_OPTION);
    io_says(".npz, .csv or .csv.gz");
}

static void arrays_as_text(void **state)
{
    const float f4[] = {0.1f, 16777216, -1e-30f, 3.14159274f};
    const double f8[] = {0.1, 1e300, -1.0 / 3, 5e-324};
    const uint8_t u1[] = {0, 1, 2, 255};
    const void *const values[] = {f4, f8, u1};
    (void)state;
    for (int type = VEM_FLOAT32; type <= VEM_UINT8; type++) {
        double expected[4];
        for (int i = 0; i < 4; i++)
            expected[i] = type == VEM_FLOAT32   ? (double)f4[i]
                          : type == VEM_FLOAT64 ? f8[i]
                                                : u1[i];
        const char *path = io_path("t.csv");
        assert_int_equal(vem_array_write(io_ctx, path, (vem_dtype)type, values[type], 2,
                                         2),
                         VEM_OK);
        vem_data *data = io_read(path);
        double rows[4];
        vem_data_get(io_ctx, data, 0, 2, rows);
        for (int i = 0; i < 4; i++)
            assert_true(type == VEM_FLOAT32 ? (float)rows[i] == f4[i]
                                            : rows[i] == expected[i]);
        vem_data_free(data);
    }
}

static void holds_text(const char *path, const char *text)
{
    char found[64] = "";
    FILE *stream = fopen(path, "r");
    assert_non_null(stream);
    found[fread(found, 1, sizeof found - 1, stream)] = '\0';
    fclose(stream);
    assert_string_equal(found, text);
}

static void replaces(void **state)
{
    struct stat info;
    (void)state;
    const char *path = io_path("note.txt"), *link = io_path("link.txt");
    assert_int_equal(vem_text_write(io_ctx, path, "old", 3), VEM_OK);
    holds_text(path, "old");
    chmod(path, 0640);
    assert_int_equal(symlink(path, link), 0);
    assert_int_equal(vem_text_write(io_ctx, link, "newer", 5), VEM_OK);
    holds_text(path, "newer"); /* through the link, which stays one */
    assert_int_equal(lstat(link, &info), 0);
    assert_true(S_ISLNK(info.st_mode));
    assert_int_equal(stat(path, &info), 0);
    assert_int_equal(info.st_mode & 0777, 0640);
    assert_int_equal(vem_text_write(io_ctx, io_path("no/such/dir.txt"), "x", 1),
                     VEM_IO_ERROR);
    io_says("there is no such file or directory");
    assert_int_equal(vem_text_write(io_ctx, io_directory, "x", 1), VEM_IO_ERROR);
    io_says("it is a directory");
}

/* Nothing is seen before the commit, and nothing is left of a file given up. */
static void not_before_commit(void **state)
{
    vem_i_output *output;
    (void)state;
    const char *path = io_path("later.txt");
    assert_int_equal(vem_i_output_open(run_of(io_ctx), path, &output), VEM_OK);
    fputs("half", vem_i_output_stream(output));
    fflush(vem_i_output_stream(output));
    assert_int_not_equal(access(path, F_OK), 0);
    vem_i_output_cancel(output);
    assert_int_not_equal(access(path, F_OK), 0);
    vem_i_output_cancel(NULL);
}

static void full_disk(void **state)
{
    static char large[1 << 20];
    const double rows[] = {1, 2};
    const vem_i_array array = {"rows", VEM_FLOAT64, rows, 1, {2}};
    (void)state;
    assert_int_equal(vem_text_write(io_ctx, "/dev/null", "x", 1), VEM_OK);
    if (access("/dev/full", W_OK) == 0) {
        assert_int_equal(vem_text_write(io_ctx, "/dev/full", "x", 1), VEM_IO_ERROR);
        io_says("/dev/full could not be written: the disk is full");
        assert_int_equal(vem_i_npz_write(run_of(io_ctx), "/dev/full", &array, 1),
                         VEM_IO_ERROR);
        io_says("the disk is full");
    }
    /* A limit on the size of files stands in for a disk that fills while we write. */
    const char *path = io_text("kept.txt", "old");
    struct rlimit before, small;
    getrlimit(RLIMIT_FSIZE, &before);
    small = before;
    small.rlim_cur = 4096;
    void (*handler)(int) = signal(SIGXFSZ, SIG_IGN);
    setrlimit(RLIMIT_FSIZE, &small);
    vem_status status = vem_text_write(io_ctx, path, large, sizeof large);
    char message[1024];
    strcpy(message, vem_ctx_message(io_ctx));
    const vem_i_array big = {"rows", VEM_UINT8, large, 1, {sizeof large}};
    vem_status npz_status = vem_i_npz_write(run_of(io_ctx), io_path("big.npz"), &big, 1);
    setrlimit(RLIMIT_FSIZE, &before);
    signal(SIGXFSZ, handler);
    assert_int_equal(status, VEM_IO_ERROR);
    assert_non_null(strstr(message, "kept.txt could not be written: the"));
    assert_int_equal(npz_status, VEM_IO_ERROR);
    io_says("big.npz could not be written");
    holds_text(path, "old");
    assert_int_not_equal(access(io_path("big.npz"), F_OK), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_file),
        cmocka_unit_test(kinds),
        cmocka_unit_test(pipes),
        cmocka_unit_test(standard_input),
        cmocka_unit_test(vecs),
        cmocka_unit_test(bin),
        cmocka_unit_test(weights),
        cmocka_unit_test(coreset),
        cmocka_unit_test(labels),
        cmocka_unit_test(soft),
        cmocka_unit_test(arrays_as_text),
        cmocka_unit_test(replaces),
        cmocka_unit_test(not_before_commit),
        cmocka_unit_test(full_disk),
    };
    return cmocka_run_group_tests(tests, io_setup, io_teardown);
}
