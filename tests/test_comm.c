/* Sums over processes are those of one, to the bit, however the shards are spread. */
#define CONTEXT_THREADS 1
#include "processes.h"

#include "data/together.h"
#include "metrics/chunks.h"

/* ---- what they do ---- */

typedef struct process {
    vem_i_comm comm;
    const double *values; /* of all shards */
    int64_t from, to, total;
    double sum;
    double *chained; /* `wide` sums */
    int64_t wide;
} process;

static void add_own(void *arg, double *sums, int64_t from, int64_t to)
{
    const process *t = arg;
    for (int64_t s = t->from; s < t->to; s++)
        for (int64_t i = from; i < to; i++)
            sums[i] += t->values[s] / (double)(i + 1);
}

static void *work(void *arg)
{
    process *t = arg;
    const vem_i_run run = {.ctx = ctx, .comm = &t->comm};
    t->sum = vem_i_comm_shards(&run, t->values + t->from, t->to - t->from, t->total);
    vem_i_comm_chain(&t->comm, t->chained, t->wide, add_own, t);
    return NULL;
}

static void meet(const double *values, int64_t total, int size, const int64_t *cuts,
                 int64_t wide)
{
    process all[MOST];
    double *one = calloc((size_t)wide, sizeof *one);
    process alone = {.values = values, .to = total};
    assert_non_null(one);
    add_own(&alone, one, 0, wide);
    for (int p = 0; p < size; p++) {
        all[p] = (process){.comm = process_of(p, size),
                           .values = values,
                           .from = cuts[p],
                           .to = cuts[p + 1],
                           .total = total,
                           .wide = wide,
                           .chained = calloc((size_t)wide, sizeof(double))};
        assert_non_null(all[p].chained);
    }
    run_processes(size, work, all, sizeof *all);
    const double sum = vem_i_sum(values, total);
    for (int p = 0; p < size; p++) {
        assert_memory_equal(&all[p].sum, &sum, sizeof sum);
        assert_memory_equal(all[p].chained, one, (size_t)wide * sizeof *one);
        free(all[p].chained);
    }
    free(one);
}

static void sums_are_those_of_one(void **state)
{
    (void)state;
    enum { TOTAL = 3000 };
    static double values[TOTAL];
    for (int64_t s = 0; s < TOTAL; s++)
        values[s] = sin((double)s) * exp((double)(s % 37));
    const int64_t totals[] = {1, 5, 63, 64, 65, 129, 1000, TOTAL};
    for (size_t k = 0; k < sizeof totals / sizeof *totals; k++)
        for (int size = 1; size <= MOST; size++) {
            int64_t even[MOST + 1], odd[MOST + 1];
            for (int p = 0; p <= size; p++) {
                even[p] = totals[k] * p / size;
                /* Some have nothing, and the last nearly all. */
                odd[p] = p == size ? totals[k] : totals[k] * p / size / 7;
            }
            meet(values, totals[k], size, even, 5);
            meet(values, totals[k], size, odd, 5);
        }
    const int64_t cuts[] = {0, 10, 11, 40};
    meet(values, 40, 3, cuts, (1 << 15) + 77); /* in pieces */
}

/* Every shard is counted by one process, which has all of it. */
static void shards_are_counted_once(void **state)
{
    (void)state;
    enum { N = 1000 };
    for (int64_t per = 1; per < 200; per += 13)
        for (int64_t cut = 0; cut <= N; cut += 17) {
            int64_t from, to, next, end;
            vem_i_own_shards(0, cut, per, &from, &to);
            vem_i_own_shards(cut, N - cut, per, &next, &end);
            assert_int_equal(from, 0);
            assert_int_equal(to + (end - next), vem_i_shards(N, per));
            if (end > next)
                assert_int_equal(cut / per + next, to);
        }
}

/* What a process does by itself has the deadline of the verb, unless that is by the clock of several. */
static void alone_there_is_one_clock(void **state)
{
    (void)state;
    vem_i_comm comm = process_of(1, 2);
    vem_i_run run = {.deadline = 7};
    assert_true(vem_i_comm_alone(&run).deadline == 7);
    run.comm = run.peers = &comm;
    assert_true(vem_i_comm_alone(&run).deadline == 0);
    assert_null(vem_i_comm_alone(&run).comm);
}

static void nothing(vem_i_comm *comm, vem_i_combining how, void *values, size_t count)
{
    (void)comm, (void)how, (void)values, (void)count;
}

/* What ends a run is told as it is: in the process that could not go on by its own status and sentence, in
 * the others as a process that is gone. */
static void a_failure_keeps_its_sentence(void **state)
{
    (void)state;
    vem_i_comm comm = {.rank = 1, .size = 2, .combine = nothing};
    vem_i_watch watch = {0};
    vem_i_run run = {.ctx = ctx, .watch = &watch, .comm = &comm, .peers = &comm};
    assert_int_equal(vem_i_comm_agree(&run), VEM_OK);
    assert_int_equal(vem_i_comm_fail(&comm, vem_i_fail_memory(&run, 12345)),
                     VEM_NO_MEMORY);
    char sentence[200];
    snprintf(sentence, sizeof sentence, "%s", vem_ctx_message(ctx));
    assert_int_equal(vem_i_comm_agree(&run), VEM_NO_MEMORY);
    assert_string_equal(vem_ctx_message(ctx), sentence);
    comm = (vem_i_comm){.rank = 0, .size = 2, .failed = 1, .combine = nothing};
    assert_int_equal(vem_i_comm_agree(&run), VEM_IO_ERROR);
    assert_non_null(strstr(vem_ctx_message(ctx), "Another process is gone"));
    /* The first that is known counts: one that is gone is not blamed on what follows here. */
    vem_i_comm_fail(&comm, VEM_NO_MEMORY);
    assert_int_equal(vem_i_comm_agree(&run), VEM_IO_ERROR);
}

/* ---- a stop ---- */

static int meetings, others_ask_from; /* 0: never */
static int chunks_seen;

static void meet_others(vem_i_comm *comm, vem_i_combining how, void *values, size_t count)
{
    (void)comm, (void)how, (void)count;
    meetings++;
    ((int64_t *)values)[0] += others_ask_from > 0 && meetings >= others_ask_from;
}

static int ask_to_stop(void *user, const vem_progress *told)
{
    (void)told;
    return user != NULL;
}

static vem_status see_chunk(vem_i_run *run, void *arg, const vem_view *view,
                            const vem_model *model, int64_t first)
{
    const vem_progress told = {.phase = "assign", .free_energy = NAN};
    (void)arg, (void)view, (void)model, (void)first;
    chunks_seen++;
    return vem_i_progress(run, &told, 1) ? vem_i_fail_stopped(run, "here") : VEM_OK;
}

static void go_through(const vem_model *model, const vem_data *data, int rank, void *asks,
                       int others)
{
    vem_i_comm comm = {.rank = rank, .size = 2, .combine = meet_others};
    vem_i_watch watch = {0};
    vem_i_run run = {.ctx = ctx,
                     .threads = 1,
                     .watch = &watch,
                     .comm = &comm,
                     .peers = &comm,
                     .progress = ask_to_stop,
                     .progress_user = asks};
    meetings = chunks_seen = 0;
    others_ask_from = others;
    assert_int_equal(vem_i_for_chunks(&run, model, data, VEM_SINGLE, "assign", 1,
                                      see_chunk, NULL),
                     asks || others ? VEM_STOPPED : VEM_OK);
}

/* Each goes through its own rows, one is asked to stop: all do so at the same meeting, and nobody waits for who
 * is gone. Who has fewer chunks comes to as many meetings. */
static void a_stop_is_heard_where_all_meet(void **state)
{
    (void)state;
    enum { CHUNK = 1 << 17, ROWS = 4 * CHUNK + 1 };
    const double mean = 0, variance = 1;
    float *rows = calloc(ROWS, sizeof *rows);
    vem_data *data;
    vem_model *model;
    assert_non_null(rows);
    assert_int_equal(vem_data_borrow(ctx, VEM_FLOAT32, rows, ROWS, 1, 0, 0, &data),
                     VEM_OK);
    assert_int_equal(vem_model_new(ctx, VEM_ISO_SHARED, 1, 1, &mean, NULL, &variance,
                                   &model),
                     VEM_OK);
    for (int rank = 0; rank < 2; rank++) {
        go_through(model, data, rank, NULL, 0);
        assert_int_equal(chunks_seen, 2 + rank);
        assert_int_equal(meetings, 4);
        go_through(model, data, rank, &rank, 0); /* asked in the first chunk */
        assert_int_equal(chunks_seen, 1);
        assert_int_equal(meetings, 2);
        go_through(model, data, rank, NULL, 2); /* the other one was */
        assert_int_equal(chunks_seen, 1);
        assert_int_equal(meetings, 2);
    }
    vem_model_free(model);
    vem_data_free(data);
    free(rows);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sums_are_those_of_one),
        cmocka_unit_test(shards_are_counted_once),
        cmocka_unit_test(alone_there_is_one_clock),
        cmocka_unit_test(a_failure_keeps_its_sentence),
        cmocka_unit_test(a_stop_is_heard_where_all_meet),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
