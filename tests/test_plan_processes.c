/* Plans of several processes: each tells what it takes itself. They are threads here, so that the memory
 * that is taken is that of all. */
#define CONTEXT_THREADS 1
#include <errno.h>
#include <malloc.h>

#include "processes.h"

#include "asked.h"
#include "fit/memory_plan.h"
#include "fit/resolve.h"
#include "run.h"

enum { N = 60000, D = 4, SIZE = 2 };

static size_t highest;
static int watching;

static size_t in_use(void)
{
    struct mallinfo2 info = mallinfo2();
    return info.uordblks + info.hblkhd;
}

int posix_memalign(void **memory, size_t alignment, size_t bytes)
{
    static pthread_mutex_t held = PTHREAD_MUTEX_INITIALIZER;
    void *made = memalign(alignment, bytes);
    if (!made)
        return ENOMEM;
    *memory = made;
    pthread_mutex_lock(&held);
    if (watching) {
        const size_t now = in_use();
        highest = now > highest ? now : highest;
    }
    pthread_mutex_unlock(&held);
    return 0;
}

typedef struct process {
    vem_i_comm comm;
    const grid_data *rows;
    vem_options options;
    uint64_t planned;
    vem_status status;
    char message[512];
} process;

static void hear(void *user, const vem_forecast *forecast)
{
    ((process *)user)->planned = forecast->bytes;
}

static void *fit(void *arg)
{
    process *p = arg;
    vem_ctx *own;
    assert_int_equal(vem_ctx_new(&own), VEM_OK);
    vem_ctx_set_threads(own, 1);
    vem_ctx_set_forecast(own, hear, p);
    own->comm = &p->comm;
    vem_data *data = grid_borrow(own, p->rows);
    p->status = vem_fit(own, data, &p->options, NULL, NULL, NULL);
    snprintf(p->message, sizeof p->message, "%s", vem_ctx_message(own));
    vem_data_free(data);
    vem_ctx_free(own);
    return NULL;
}

/* The first process keeps a number in all clusters with the lists and labels of all rows. */
static void the_first_plans_for_all_rows(void **state)
{
    (void)state;
    process all[SIZE];
    grid_data rows = grid_data_new(SET_OVERLAPPING, WEIGHTS_REAL, N, D, 5);
    for (int r = 0; r < SIZE; r++)
        all[r] =
            (process){.comm = process_of(r, SIZE),
                      .rows = &rows,
                      .options = asked_of("clusters=100 algorithm=kmeans search=closest "
                                          "seeding=random balance=1.5 max-steps=3")};
    malloc_trim(0);
    const size_t before = in_use();
    highest = before;
    watching = 1;
    run_processes(SIZE, fit, all, sizeof *all);
    watching = 0;
    uint64_t planned = 0;
    for (int r = 0; r < SIZE; r++) {
        if (all[r].status != VEM_OK)
            fail_msg("%d: %s", r, all[r].message);
        planned += all[r].planned;
    }
#ifndef VEM_SANITIZED /* whose memory is not counted */
    const double taken = (double)(highest - before);
    if (!((double)planned >= 0.98 * taken - 200e3) ||
        !((double)planned <= 1.6 * taken + 200e3))
        fail_msg("planned %.3f and %.3f MB, took %.3f MB", (double)all[0].planned / 1e6,
                 (double)all[1].planned / 1e6, taken / 1e6);
#else
    (void)planned;
#endif
    /* Labels, masses, and ever so many numbers and distances. */
    assert_true(all[0].planned > all[1].planned + (uint64_t)N * 16 * 8);
    grid_data_free(&rows);
}

static vem_i_plan plan_of(const vem_data *data, const char *list)
{
    vem_options resolved;
    const vem_options asked = asked_of(list);
    assert_int_equal(vem_i_fit_resolve(run_of(ctx), data, &asked, NULL, &resolved),
                     VEM_OK);
    return vem_i_plan_of(run_of(ctx), data, &asked, &resolved, 0);
}

/* With other options it is still the plan of the rows of this process, and of what they are for. */
static void other_options_leave_whose_rows_they_are(void **state)
{
    (void)state;
    grid_data rows = grid_data_new(SET_OVERLAPPING, WEIGHTS_NONE, N, D, 5);
    vem_data *data = grid_borrow(ctx, &rows);
    vem_i_plan whole = plan_of(data, "clusters=100 algorithm=kmeans"), part = whole;
    const vem_i_use use = {.only_seeds = 1,
                           .by_columns = 1,
                           .different = 1,
                           .own = {0, N / 2 + 100, 100},
                           .whole = N};
    vem_i_programme_use(&part.programme, &use);
    vem_options o = whole.programme.options;
    o.clusters = 50;
    const vem_i_plan fewer = vem_i_plan_with(&part, &o);
    assert_int_equal(fewer.programme.rows, N / 2 + 100);
    assert_int_equal(fewer.programme.items, N / 2 + 100);
    assert_int_equal(fewer.programme.count, 1);
    assert_int_equal(fewer.programme.stages[0].kind, VEM_I_STAGE_SEED);
    assert_true(fewer.programme.scale_free && fewer.programme.use.different);
    assert_true(vem_i_plan_bytes(&part) < vem_i_plan_bytes(&whole));
    assert_true(vem_i_plan_bytes(&fewer) < vem_i_plan_bytes(&part));
    /* Of a coreset all have all. */
    o.coreset = 5000;
    assert_int_equal(vem_i_plan_with(&part, &o).programme.rows, 5000);
    vem_data_free(data);
    grid_data_free(&rows);
}

/* What a loop finds when it begins decides how it looks for clusters: there is room for each. */
static void loops_have_room_whatever_was_found(void **state)
{
    (void)state;
    grid_data rows = grid_data_new(SET_OVERLAPPING, WEIGHTS_NONE, N, D, 5);
    vem_data *data = grid_borrow(ctx, &rows);
    vem_i_plan plan =
        plan_of(data, "clusters=40 family=iso-shared held=3 search=closest swaps=9");
    assert_null(vem_i_programme_find(&plan.programme, VEM_I_STAGE_LISTED));
    assert_non_null(vem_i_programme_find(&plan.programme, VEM_I_STAGE_KMEANS));
    uint64_t with[VEM_I_FOUNDS], most = 0, least = UINT64_MAX;
    for (int found = 0; found < VEM_I_FOUNDS; found++) {
        vem_i_plan one = plan;
        for (int i = 0; i < one.programme.count; i++)
            for (int f = 0; f < VEM_I_FOUNDS; f++)
                one.programme.stages[i].looks[f] = plan.programme.stages[i].looks[found];
        with[found] = vem_i_plan_bytes(&one);
        most = with[found] > most ? with[found] : most;
        least = with[found] < least ? with[found] : least;
    }
    assert_true(with[VEM_I_FOUND_LITTLE] < with[VEM_I_FOUND_SOME]);
    assert_true(vem_i_plan_bytes(&plan) == most && least < most);
    vem_data_free(data);
    grid_data_free(&rows);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_first_plans_for_all_rows),
        cmocka_unit_test(other_options_leave_whose_rows_they_are),
        cmocka_unit_test(loops_have_room_whatever_was_found),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
