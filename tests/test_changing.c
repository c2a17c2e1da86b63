/* Files that change while they are read: a sentence, and no write beyond what was counted (a
 * sanitizer would see one). The clock goes on with every look, so that the progress function is
 * called between the two looks at a file, and changes it. */
#include "io_test.h"
#include "run.h"

#include "data/missing.h"

typedef struct change {
    char *bytes;
    const char *after;
    size_t size;
} change;

/* Readers that tell no progress look at the clock where memory is limited: at the look of this
 * number the bytes change. */
static struct {
    int64_t looks, at; /* at 0: never */
    change made;
} by_clock;

double vem_i_clock(void)
{
    static _Atomic int64_t looks;
    if (by_clock.at > 0 && ++by_clock.looks == by_clock.at)
        memcpy(by_clock.made.bytes, by_clock.made.after, by_clock.made.size);
    return 1000.0 + (double)++looks;
}

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
        table("1,2\n3,4\n", "1,2\n\n\n\n\n", times, "changed while"); /* rows go */
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

/* Entries of sparse rows are counted first, then put where their rows begin. */
static void sparse(const char *before, const char *after)
{
    enum { LIMIT = 1 << 30 };
    static const char head[] =
        "%%MatrixMarket matrix coordinate integer general\n3 4 6\n";
    char text[200], later[200];
    vem_data *data = NULL;
    const size_t size = (size_t)snprintf(text, sizeof text, "%s%s", head, before);
    snprintf(later, sizeof later, "%s%s", head, after);
    assert_int_equal(strlen(later), size);
    assert_int_equal(vem_i_data_new(run_of(io_ctx), &data), VEM_OK);
    vem_i_run run = *run_of(io_ctx);
    run.limit = LIMIT;
    by_clock.looks = 0;
    by_clock.at = 2; /* the first look is after the first entry of the first pass */
    by_clock.made = (change){text, later, size};
    const vem_status status = vem_i_mtx_parse(&run, "t.mtx", text, size, data);
    by_clock.at = 0;
    assert_true(by_clock.looks >= 2);
    assert_int_equal(status, VEM_BAD_DATA);
    io_says("t.mtx changed while it was read.");
    assert_null(data->sparse.starts);
    vem_data_free(data);
}

static void sparse_rows(void **state)
{
    static const char entries[] = "1 1 1\n1 2 1\n2 1 1\n3 1 1\n3 2 1\n3 3 1\n";
    static const char *const others[] = {
        "1 1 1\n1 2 1\n1 3 1\n1 4 1\n2 2 1\n2 3 1\n", /* rows that were shorter */
        "1 1 1\n3 1 1\n3 2 1\n3 3 1\n3 4 1\n2 1 1\n",
        "1 1 1\n1 2 1\n2 1 7\n3 1 1\n3 2 1\n3 3 1\n", /* a value of no room */
        "1 1 1\n1 2 1\n2 4 1\n3 1 1\n3 2 1\n3 3 1\n", /* a column */
        "1 1 1\n1 2 1\n9 1 1\n3 1 1\n3 9 1\n3 3 1\n", /* rows and columns beyond */
    };
    (void)state;
    vem_ctx_set_threads(io_ctx, 1);
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        sparse(entries, others[i]);
    vem_ctx_set_threads(io_ctx, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tables),
        cmocka_unit_test(missing_values),
        cmocka_unit_test(sparse_rows),
    };
    return cmocka_run_group_tests(tests, io_setup, io_teardown);
}
