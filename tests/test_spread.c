/* What several processes take where nobody asked, what they refuse, and which rows each of them has: as
 * each of them works it out by itself. */
#define CONTEXT_THREADS 1
#include "asked.h"

#include "comm/comm.h"
#include "data/pass.h"
#include "data/together.h"
#include "em/estep.h"
#include "fit/presets.h"
#include "fit/processes.h"
#include "fit/resolve.h"
#include "run.h"
#include "seed/seed.h"

/* What the others say: the same as this one, or that it is another fit. */
static int64_t said, differs;

static void answer(vem_i_comm *comm, vem_i_combining how, void *values, size_t count)
{
    int64_t *ends = values;
    (void)comm;
    if (how != VEM_I_LEAST_INT || count != 2)
        return;
    said = ends[0];
    ends[differs > 0] -= differs != 0;
}

static vem_i_comm process_of(int rank, int size)
{
    return (vem_i_comm){.rank = rank, .size = size, .combine = answer};
}

static vem_i_run run_by(vem_i_comm *comm)
{
    vem_i_run run = *run_of(ctx);
    run.comm = run.peers = comm;
    return run;
}

static double *values;

/* Rows whose values are all different; some at a time. */
static vem_data *rows_of(int64_t n, int32_t d)
{
    vem_data *data = NULL;
    values = malloc((size_t)(n * d) * sizeof *values);
    assert_non_null(values);
    for (int64_t i = 0; i < n * d; i++) {
        vem_i_rng rng = vem_i_rng_at(5, VEM_RNG_TEST, 0, (uint64_t)i);
        values[i] = vem_i_rng_uniform(&rng);
    }
    assert_int_equal(vem_data_borrow(ctx, VEM_FLOAT64, values, n, d, 0, 0, &data),
                     VEM_OK);
    return data;
}

static void free_rows(vem_data *data)
{
    vem_data_free(data);
    free(values);
}

/* ---- what is taken ---- */

static const struct {
    int64_t n;
    int32_t d;
    const char *asked, *is,
        *then; /* what is taken, and what one process takes; NULL: that, too */
} taken[] = {
    {1000, 2, "clusters=5", NULL, NULL},
    {1000, 2, "clusters=64", NULL, NULL},
    {1000, 2, "clusters=65", NULL, NULL},
    {1000, 2, "clusters=65 seeding=random", NULL, NULL},
    {1000, 2, "clusters=65 swaps=3", NULL, NULL},
    {1000, 2, "clusters=65 search=closest", NULL, NULL},
    {1000, 2, "clusters=65 search=groups", NULL, NULL},
    {1000, 2, "clusters=65 search=estimated", NULL, NULL},
    {1000, 2, "clusters=65 search=estimated seeding=two-level", NULL, NULL},
    {1000, 2, "clusters=65 coreset=500", NULL, NULL},
    {1000, 2, "clusters=65 coreset=1000", NULL, NULL},
    {1000, 2, "clusters=65 algorithm=kmeans", NULL, NULL},
    {250000, 2, "clusters=5 family=full", "--cells 0", "--cells 32768"},
    {250000, 2, "clusters=5 family=full cells=0", NULL, NULL},
    {250000, 2, "clusters=5 family=diag", NULL, NULL},
};

static void what_is_taken_is_said(void **state)
{
    (void)state;
    vem_i_comm comm = process_of(1, 3);
    vem_i_run run = run_by(&comm);
    for (size_t k = 0; k < sizeof taken / sizeof *taken; k++) {
        vem_data *data = rows_of(taken[k].n, taken[k].d);
        const vem_options given = asked_of(taken[k].asked), *asked = &given;
        vem_options alone, is;
        vem_i_spread spread = {0};
        char note[512] = "";
        if (taken[k].is)
            snprintf(note, sizeof note,
                     "over 3 processes the fit took %s, where one process takes %s and "
                     "finds another model, mostly a better one.",
                     taken[k].is, taken[k].then);
        assert_int_equal(vem_i_processes_choose(&run, data, NULL, &asked, &spread),
                         VEM_OK);
        assert_string_equal(spread.note, note);
        assert_int_equal(vem_i_fit_resolve(&run, data, &given, NULL, &alone), VEM_OK);
        assert_int_equal(vem_i_fit_resolve(&run, data, asked, NULL, &is), VEM_OK);
        /* All but that is what one process takes. */
        if (taken[k].is) {
            is.search = alone.search, is.seeding = alone.seeding;
            is.cells = alone.cells, is.depth = alone.depth;
            is.reach = alone.reach, is.probe = alone.probe;
        }
        assert_memory_equal(&is, &alone, sizeof is);
        free_rows(data);
    }
}

/* From a model nothing is seeded; one process has nothing to choose; and what cannot be is said. */
static void what_is_not_chosen(void **state)
{
    (void)state;
    vem_i_comm comm = process_of(0, 2);
    vem_i_run run = run_by(&comm);
    vem_data *data = rows_of(100, 2);
    vem_options given = asked_of("search=estimated");
    const vem_options *asked = &given;
    vem_i_spread spread = {0};
    double means[70 * 2];
    vem_model *start;
    for (int i = 0; i < 70 * 2; i++)
        means[i] = i;
    assert_int_equal(vem_model_new(ctx, VEM_ISO_SHARED, 70, 2, means, NULL, (double[]){1},
                                   &start),
                     VEM_OK);
    assert_int_equal(vem_i_processes_choose(&run, data, start, &asked, &spread), VEM_OK);
    assert_string_equal(spread.note, "");
    vem_model_free(start);
    asked = &given;
    given = asked_of("clusters=65");
    run.comm = NULL;
    assert_int_equal(vem_i_processes_choose(&run, data, NULL, &asked, &spread), VEM_OK);
    assert_ptr_equal(asked, &given);
    assert_string_equal(spread.note, "");
    run.comm = &comm;
    given.clusters = 101;
    assert_int_equal(vem_i_processes_choose(&run, data, NULL, &asked, &spread),
                     VEM_BAD_DATA);
    assert_non_null(strstr(vem_ctx_message(ctx), "100 rows, 101 clusters"));
    free_rows(data);
}

/* ---- who has which rows ---- */

static vem_i_programme programme_of(vem_i_run *run, const vem_data *data,
                                    const vem_options *asked)
{
    vem_options resolved;
    assert_int_equal(vem_i_fit_resolve(run, data, asked, NULL, &resolved), VEM_OK);
    return vem_i_programme_of(&resolved, vem_i_is_ours(asked), 0, data->n, data->d,
                              data->d);
}

static int64_t up_to(int64_t end, int64_t per, int64_t n)
{
    const int64_t whole = (end + per - 1) / per * per;
    return whole < n ? whole : n;
}

/* Rows are spread by shards of `shard` rows, as evenly as these allow, and all of a process's smaller shards
 * are there. */
static void check_places(int64_t n, int32_t d, const char *list, int64_t shard)
{
    const int64_t sizes[] = {shard,
                             VEM_I_BLOCK,
                             VEM_I_ESTEP_SHARD,
                             VEM_I_SEED_SHARD,
                             VEM_I_SUBSET_SHARD,
                             vem_i_pass_shard(n, d)};
    const int64_t shards = (n + shard - 1) / shard;
    vem_data *data = rows_of(n, d);
    const vem_options asked = asked_of(list);
    for (int size = 1; size <= shards && size < 12; size++) {
        int64_t end = 0;
        for (int rank = 0; rank < size; rank++) {
            vem_i_comm comm = process_of(rank, size);
            vem_i_run run = run_by(&comm);
            const vem_i_programme p = programme_of(&run, data, &asked);
            vem_i_points_request r = {0};
            vem_i_span place;
            assert_int_equal(vem_i_processes_cut(&run, data, &asked, &p, &r), VEM_OK);
            assert_int_equal(r.whole, n);
            assert_int_equal(r.first, end);
            end = up_to(shards * (rank + 1) / size * shard, 1, n);
            int64_t last = end;
            for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
                last = up_to(end, sizes[i], n) > last ? up_to(end, sizes[i], n) : last;
            assert_int_equal(r.first + r.count, last);
            assert_int_equal(r.halo, last - end);
            /* Of a sample of so many the same, where it is not small. */
            assert_int_equal(vem_i_processes_share(&run, &p, n, d, &place), n > 32768);
            if (n > 32768) {
                assert_int_equal(place.first, r.first);
                assert_int_equal(place.count, r.count);
                assert_int_equal(place.halo, r.halo);
            }
        }
        assert_int_equal(end, n);
    }
    free_rows(data);
}

static void rows_are_spread(void **state)
{
    (void)state;
    check_places(9000, 3, "clusters=5 algorithm=kmeans", 1000);
    check_places(9001, 3, "clusters=5 algorithm=kmeans", 1001);
    check_places(1024, 3, "clusters=5 algorithm=kmeans", 1024);
    check_places(32768, 2, "clusters=5", 1024);
    check_places(32769, 2, "clusters=5", 993);
    check_places(100000, 40, "clusters=5 family=diag", 1563);
}

/* ---- what is refused ---- */

static void assert_refused(vem_i_run *run, const vem_data *data, const char *list,
                           const char *sentence)
{
    const vem_options asked = asked_of(list);
    const vem_i_programme p = programme_of(run, data, &asked);
    vem_i_points_request r = {0};
    assert_int_equal(vem_i_processes_cut(run, data, &asked, &p, &r), VEM_BAD_OPTION);
    assert_string_equal(vem_ctx_message(ctx), sentence);
    assert_int_equal(r.whole, 0);
}

static const struct {
    const char *asked, *what;
} refused[] = {
    {"clusters=5 family=diag cells=100", "--cells is not possible yet: use --cells 0."},
    {"clusters=5 family=full prior=free search=all blocks=4",
     "--blocks is not possible yet: use --blocks 1."},
    {"clusters=5 algorithm=greedy",
     "--algorithm greedy is not possible yet: use --algorithm gmm."},
    {"clusters=5 algorithm=kmeans search=boxes",
     "this search is not possible yet: use --search all, closest, exact, estimated or "
     "groups."},
};

static void what_is_not_spread_is_refused(void **state)
{
    (void)state;
    vem_i_comm comm = process_of(0, 2);
    vem_i_run run = run_by(&comm);
    vem_data *data = rows_of(3000, 2);
    for (size_t k = 0; k < sizeof refused / sizeof *refused; k++) {
        char sentence[300];
        snprintf(sentence, sizeof sentence, "Over several processes %s", refused[k].what);
        assert_refused(&run, data, refused[k].asked, sentence);
    }
    comm.size = 4;
    assert_refused(&run, data, "clusters=5 algorithm=kmeans",
                   "3000 rows are added up in 3 parts of 1000, so that 4 processes have "
                   "no work for all: use no more than 3.");
    /* A coreset all have, and so there is nothing that is not possible. */
    for (size_t k = 0; k < sizeof refused / sizeof *refused; k++) {
        char list[200];
        vem_i_points_request r = {0};
        snprintf(list, sizeof list, "%s coreset=1000", refused[k].asked);
        const vem_options asked = asked_of(list);
        const vem_i_programme p = programme_of(&run, data, &asked);
        assert_int_equal(vem_i_processes_cut(&run, data, &asked, &p, &r), VEM_OK);
        assert_int_equal(r.whole, 0);
    }
    free_rows(data);
}

/* ---- is it the same fit? ---- */

static int64_t number_of(vem_i_run *run, const vem_data *data, const char *list)
{
    const vem_options asked = asked_of(list);
    assert_int_equal(vem_i_processes_meet(run, data, &asked), VEM_OK);
    return said;
}

static void all_make_the_same_fit(void **state)
{
    (void)state;
    vem_i_comm comm = process_of(0, 2);
    vem_i_run run = run_by(&comm);
    vem_data *data = rows_of(3000, 2);
    double weights[3000];
    const int64_t number = number_of(&run, data, "clusters=5");
    static const char *const same[] = {"clusters=5 threads=3", "clusters=5 memory=1G",
                                       "clusters=5 time=7"};
    static const char *const other[] = {"clusters=6", "clusters=5 seed=2",
                                        "clusters=5 swaps=3", "clusters=5 tolerance=1e-3",
                                        "clusters=5 floor=0.1"};
    for (size_t k = 0; k < sizeof same / sizeof *same; k++)
        assert_true(number_of(&run, data, same[k]) == number);
    for (size_t k = 0; k < sizeof other / sizeof *other; k++)
        assert_false(number_of(&run, data, other[k]) == number);
    for (int64_t at = 0; at < 2; at++) { /* the first row, and the last value of it */
        values[at] += 1;
        assert_false(number_of(&run, data, "clusters=5") == number);
        values[at] -= 1;
    }
    for (int64_t i = 0; i < 3000; i++)
        weights[i] = 1;
    assert_int_equal(vem_data_set_weights(ctx, data, weights, 3000), VEM_OK);
    const int64_t even = number_of(&run, data, "clusters=5");
    weights[2999] = 2;
    assert_int_equal(vem_data_set_weights(ctx, data, weights, 3000), VEM_OK);
    assert_false(number_of(&run, data, "clusters=5") == even);
    const vem_options asked = asked_of("clusters=5");
    for (differs = -1; differs <= 1; differs += 2) {
        assert_int_equal(vem_i_processes_meet(&run, data, &asked), VEM_BAD_OPTION);
        assert_non_null(
            strstr(vem_ctx_message(ctx), "The processes do not make the same fit: "));
    }
    differs = 0;
    free_rows(data);
}

/* ---- one process ---- */

/* A group of one is none: nothing is sent to anybody, and nothing is refused. */
static void one_process_is_alone(void **state)
{
    (void)state;
    static const char *const lists[] = {"clusters=3", "clusters=70",
                                        "clusters=3 family=full search=all blocks=4",
                                        "clusters=3 family=diag cells=100",
                                        "clusters=3 algorithm=greedy family=diag"};
    vem_data *data = rows_of(600, 2);
    for (size_t k = 0; k < sizeof lists / sizeof *lists; k++) {
        const vem_options asked = asked_of(lists[k]);
        vem_i_comm comm = {.size = 1}; /* without anything that can be called */
        vem_model *alone, *one;
        assert_int_equal(vem_fit(ctx, data, &asked, NULL, &alone, NULL), VEM_OK);
        ctx->comm = &comm;
        const vem_status status = vem_fit(ctx, data, &asked, NULL, &one, NULL);
        ctx->comm = NULL;
        if (status != VEM_OK)
            fail_msg("%s: %s", lists[k], vem_ctx_message(ctx));
        grid_assert_models(one, alone, 0, lists[k]);
        vem_model_free(alone);
        vem_model_free(one);
    }
    free_rows(data);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_taken_is_said),
        cmocka_unit_test(what_is_not_chosen),
        cmocka_unit_test(rows_are_spread),
        cmocka_unit_test(what_is_not_spread_is_refused),
        cmocka_unit_test(all_make_the_same_fit),
        cmocka_unit_test(one_process_is_alone),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
