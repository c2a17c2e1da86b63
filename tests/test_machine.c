/* What is known of the machine, and what a limit of memory leaves: numbers that others plan by. */
#include <fcntl.h>
#include <unistd.h>

#include "base/machine.h"
#include "base/record.h"
#include "base/residence.h"
#include "fake_clock.h"

#include "context.h"

static const uint64_t MB = 1 << 20;

/* Less than there is in all: the kernel has some of it. */
static void memory_that_is_there(void **state)
{
    (void)state;
    unsigned long long total = 0;
    FILE *file = fopen("/proc/meminfo", "r");
    if (!file || fscanf(file, "MemTotal: %llu", &total) != 1)
        skip();
    fclose(file);
    assert_in_range(vem_i_available_bytes(), 1, total * 1024 - 1);
    assert_in_range(vem_i_resident_bytes(), MB, total * 1024);
}

/* Programs without a standard input have files of number 0. */
static void files_of_number_0(void **state)
{
    (void)state;
    const int held = dup(STDIN_FILENO);
    close(STDIN_FILENO);
    const uint64_t resident = vem_i_resident_bytes();
    const int free_again = open("/dev/null", O_RDONLY);
    if (held >= 0) {
        dup2(held, STDIN_FILENO);
        close(held);
    }
    assert_true(resident > 0);
    assert_int_equal(free_again, STDIN_FILENO); /* it was closed */
}

/* ---- control groups ---- */

/* What these files say instead; NULL: they are not there. Others are as they are. */
static const char *const told_files[] = {"/proc/meminfo",
                                         "/sys/fs/cgroup/memory.max",
                                         "/sys/fs/cgroup/memory.current",
                                         "/sys/fs/cgroup/memory.stat",
                                         "/sys/fs/cgroup/memory/memory.limit_in_bytes",
                                         "/sys/fs/cgroup/memory/memory.usage_in_bytes",
                                         "/sys/fs/cgroup/memory/memory.stat"};
enum { FILES = sizeof told_files / sizeof *told_files };
static const char *told[FILES];
static int telling;

/* In the place of the C library's. */
FILE *fopen(const char *path, const char *mode)
{
    assert_true(mode[0] == 'r'); /* nothing is written here */
    for (int i = 0; telling && i < FILES; i++)
        if (strcmp(path, told_files[i]) == 0)
            return told[i] ? fmemopen((void *)told[i], strlen(told[i]), "r") : NULL;
    const int file = open(path, O_RDONLY | O_CLOEXEC);
    return file < 0 ? NULL : fdopen(file, "r");
}

/* The least of what the machine and its control groups leave: pages of files do not count, and a
 * group without a limit says nothing. */
static void memory_of_control_groups(void **state)
{
    (void)state;
    static const struct {
        const char *files[FILES];
        uint64_t expected; /* in MB */
    } cases[] = {
        {{NULL}, 0},
        {{"MemTotal: 1048576 kB\nMemAvailable:  524288 kB\n"}, 512},
        {{"MemAvailable: 524288 kB\n", "max\n", "104857600\n"}, 512},
        {{"MemAvailable: 524288 kB\n", NULL, "104857600\n"}, 512},
        {{"MemAvailable: 524288 kB\n", "104857600\n", NULL}, 512},
        {{"MemAvailable: 524288 kB\n", "104857600\n", "73400320\n"}, 30},
        {{"MemAvailable: 524288 kB\n", "104857600\n", "73400320\n",
          "anon 1\nfile 20971520\n"},
         50},
        {{"MemAvailable: 20480 kB\n", "104857600\n", "73400320\n"}, 20},
        {{"MemAvailable: 524288 kB\n", NULL, NULL, NULL, "104857600\n", "73400320\n",
          "cache 1\ntotal_cache 10485760\n"},
         40},
        {{"MemAvailable: 524288 kB\n", "104857600\n", "73400320\n", NULL, "max\n",
          "104333312\n"},
         30},
    };
    telling = 1;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        memcpy(told, cases[i].files, sizeof told);
        if (vem_i_available_bytes() != cases[i].expected * MB)
            fail_msg("case %d: %llu bytes", (int)i,
                     (unsigned long long)vem_i_available_bytes());
    }
    /* More in use than there may be: next to nothing, but not nothing. */
    memcpy(told, cases[5].files, sizeof told);
    told[1] = "1048576\n";
    assert_int_equal(vem_i_available_bytes(), 1);
    telling = 0;
}

static vem_i_run limited(uint64_t limit, int threads)
{
    vem_i_run run = *vem_i_begin(ctx, &(vem_i_verb){0});
    run.limit = limit;
    run.threads = threads;
    return run;
}

/* A sixteenth twice, no less than 6 and no more than 512 MB, and 8 MB for each thread; for pages that
 * come between two looks no more than a quarter. */
static void windows(void **state)
{
    (void)state;
    static const uint64_t expected[][3] = {{64, 2, 16 + 6},
                                           {96, 1, 6 + 8 + 6},
                                           {1024, 2, 64 + 16 + 64},
                                           {1024, 32, 256 + 64},
                                           {16384, 1, 1024 + 8 + 512}};
    for (int i = 0; i < 5; i++) {
        const vem_i_run run = limited(1, (int)expected[i][1]);
        assert_int_equal(vem_i_residence_window(&run, expected[i][0] * MB),
                         expected[i][2] * MB);
    }
}

static void what_a_limit_leaves(void **state)
{
    (void)state;
    vem_i_run run = limited(UINT64_C(1) << 50, 1);
    const uint64_t left = vem_i_residence_left(&run);
    assert_true(left < run.limit - MB && left > run.limit / 2);
    run.limit = MB; /* less than is in use */
    assert_int_equal(vem_i_residence_left(&run), 1);
}

/* State files depend on the sums, fits on the draws: both stay what they are. */
static void sums_and_draws_stay(void **state)
{
    (void)state;
    static const char bytes[] = "twenty-four bytes, whole";
    assert_true(vem_i_mix(7, bytes, 0) == 7); /* nothing adds nothing */
    assert_true(vem_i_mix(7, bytes, 24) ==
                vem_i_mix(vem_i_mix(7, bytes, 16), bytes + 16, 8));
    assert_true(vem_i_mix(7, bytes, 20) ==
                vem_i_mix(vem_i_mix(7, bytes, 16), bytes + 16, 4));
    /* A quarter of the numbers is still drawn one by one: not in their order. */
    int falls = 0;
    for (uint64_t k = 0; k < 20; k++) {
        int32_t out[4];
        vem_i_rng rng = vem_i_rng_at(1, VEM_RNG_TEST, 0, k);
        vem_i_rng_distinct(&rng, 16, -1, 4, out);
        for (int i = 1; i < 4; i++)
            falls += out[i] < out[i - 1];
    }
    assert_true(falls > 0);
}

/* Every look at the clock takes a second: what a part took is no more than there were looks. */
static void seconds_of_the_parts(void **state)
{
    (void)state;
    grid_data data = grid_data_new(SET_SEPARATED, WEIGHTS_NONE, 200, 2, 5);
    for (int coreset = 0; coreset < 2; coreset++) {
        vem_options o;
        vem_options_init(&o);
        o.clusters = 3;
        o.measure = VEM_MEASURE_EXACT;
        o.coreset = coreset ? 50 : VEM_AUTO;
        fake_tick = 1;
        const int64_t before = fake_looks;
        grid_fit fit = grid_run(ctx, &data, &o, NULL);
        const double most = (double)(fake_looks - before);
        const vem_summary *s = fit.summary;
        assert_true(s->seconds_measure >= 1 && s->seconds_measure < most);
        const double parts[] = {s->seconds_reduce, s->seconds_seed, s->seconds_em,
                                s->seconds_total};
        for (int i = 0; i < 4; i++)
            assert_true(parts[i] >= 0 && parts[i] < most);
        fake_tick = 0;
        grid_fit_free(&fit);
    }
    grid_data_free(&data);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(memory_that_is_there),
        cmocka_unit_test(memory_of_control_groups),
        cmocka_unit_test(files_of_number_0),
        cmocka_unit_test(windows),
        cmocka_unit_test(what_a_limit_leaves),
        cmocka_unit_test(sums_and_draws_stay),
        cmocka_unit_test(seconds_of_the_parts),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
