/* Files that change while they are read: a sentence, and no write beyond what was counted (a
 * sanitizer would see one). The clock goes on with every look, so that the progress function is
 * called between the two looks at a file, and changes it. */
#include "io_test.h"
#include "run.h"

#include "data/missing.h"

double vem_i_clock(void)
{
    static _Atomic int64_t looks;
    return 1000.0 + (double)++looks;
}

typedef struct change {
    char *bytes;
    const char *after;
    size_t size;
} change;

static int change_between(void *user, const vem_progress *progress)
{
    const change *c = user;
    if (progress->done >= progress->total / 2 && progress->done > 0)
        memcpy(c->bytes, c->after, c->size);
    return 0;
}

/* A table of `rows` lines, each of this text. */
static char *lines(const char *line, int rows)
{
    char *text = malloc(strlen(line) * (size_t)rows + 1), *at = text;
    for (int i = 0; i < rows; i++)
        at = stpcpy(at, line);
    return text;
}

static void table(const char *before, const char *after, int times, const char *words)
{
    char *first = lines(before, times), *second = lines(after, times);
    const change c = {first, second, strlen(second)};
    const vem_read_options options = {.size = sizeof options, .id = "2", .keep_ids = 1};
    vem_data data = {0};
    assert_int_equal(strlen(first), strlen(second));
    vem_ctx_set_progress(io_ctx, change_between, (void *)&c);
    assert_int_equal(vem_i_csv_parse(run_of(io_ctx), "t.csv", first, c.size, ',',
                                     &options, &data),
                     VEM_BAD_DATA);
    vem_ctx_set_progress(io_ctx, NULL, NULL);
    io_says(words);
    assert_null(data.owned);
    free(first);
    free(second);
}

static void tables(void **state)
{
    enum { MANY = 40000 }; /* several chunks */
    (void)state;
    vem_ctx_set_threads(io_ctx, 1);
    for (int times = 1; times <= MANY; times += MANY - 1) {
        table("1234567,abc\n1,22222\n", "1,2\n3,4\n5,6\n7,8\n9,1\n", times,
              "changed while");
        table("1,2\n3,4\n5,6\n7,8\n9,1\n", "12,4567\n\n1,2222222\n\n", times,
              "changed while");
        table("1000000,ab\n", "1,abcdefgh\n", times, "changed while");
        table("1,abcdefgh\n", "xxxxxxxx,2\n", times, "is not a number");
    }
    vem_ctx_set_threads(io_ctx, 0);
}

static void missing(int now, const char *words)
{
    enum { N = 70000 };
    float *values = malloc(sizeof(float) * N), *others = malloc(sizeof(float) * N);
    vem_data *data = NULL;
    for (int64_t i = 0; i < N; i++) {
        values[i] = i % 100 ? 1 : NAN;
        others[i] = i % now ? 1 : NAN;
    }
    const change c = {(char *)values, (const char *)others, sizeof(float) * N};
    assert_int_equal(vem_data_borrow(io_ctx, VEM_FLOAT32, values, N, 1, 0, 0, &data),
                     VEM_OK);
    vem_ctx_set_progress(io_ctx, change_between, (void *)&c);
    assert_int_equal(vem_i_missing(run_of(io_ctx), "x.npy", VEM_MISSING_DROP, 0, NULL, 0,
                                   data),
                     VEM_BAD_DATA);
    vem_ctx_set_progress(io_ctx, NULL, NULL);
    io_says(words);
    vem_data_free(data);
    free(values);
    free(others);
}

static void missing_values(void **state)
{
    (void)state;
    vem_ctx_set_threads(io_ctx, 1);
    missing(50, "x.npy changed while it was read");
    missing(200, "x.npy changed while it was read");
    vem_ctx_set_threads(io_ctx, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tables),
        cmocka_unit_test(missing_values),
    };
    return cmocka_run_group_tests(tests, io_setup, io_teardown);
}
