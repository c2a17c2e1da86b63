/* The closest pair of a set that changes: each way against all pairs, under random updates. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

#include "base/rng.h"
#include "select/closest_pair.h"

#include "context.h"
#include "fake_clock.h"

enum { MOST = 400 };

/* Any symmetric numbers; with `steps` many of them are equal. */
typedef struct table {
    uint64_t seed;
    uint32_t steps;
} table;

static double distance_of(const table *t, int32_t a, int32_t b)
{
    const uint64_t low = (uint64_t)(a < b ? a : b), high = (uint64_t)(a < b ? b : a);
    vem_i_rng rng = vem_i_rng_at(t->seed, VEM_RNG_TEST, 7, low * MOST + high);
    return t->steps ? (double)vem_i_rng_below(&rng, t->steps) - 2
                    : vem_i_rng_uniform(&rng) - 0.5;
}

static void measure(const void *user, int32_t from, const int32_t *to, int64_t count,
                    double *out, int thread)
{
    (void)thread;
    for (int64_t i = 0; i < count; i++) {
        assert_int_not_equal(from, to[i]);
        out[i] = distance_of(user, from, to[i]);
    }
}

static vem_i_pair_found least(const table *t, const int32_t *live, int count)
{
    vem_i_pair_found best = {-1, -1, 0};
    for (int i = 0; i < count; i++)
        for (int j = i + 1; j < count; j++) {
            const vem_i_pair_found one =
                vem_i_pair_of(live[i], live[j], distance_of(t, live[i], live[j]));
            if (vem_i_pair_before(one, best))
                best = one;
        }
    return best;
}

static void check_find(vem_i_closest *closest, const table *t, int exact)
{
    vem_i_pair_found found;
    assert_int_equal(vem_i_closest_find(closest, &found), VEM_OK);
    const vem_i_pair_found best = least(t, closest->live, closest->count);
    assert_int_equal(found.a < 0, best.a < 0);
    if (best.a < 0)
        return;
    assert_true(found.distance == best.distance);
    assert_true(found.distance == distance_of(t, found.a, found.b));
    if (exact) {
        assert_int_equal(found.a, best.a);
        assert_int_equal(found.b, best.b);
    }
}

/* Merges mixed with other insertions and removals. */
static void run_updates(vem_pairs_method method, uint64_t seed, uint32_t steps)
{
    const table t = {seed, steps};
    const vem_i_distances distances = {(void *)&t, measure, 1e4};
    vem_i_verb verb;
    vem_i_run *run = vem_i_begin(ctx, &verb);
    vem_i_rng rng = vem_i_rng_at(seed, VEM_RNG_TEST, 8, 0);
    vem_i_closest *closest;
    int32_t next = 60;
    const int exact = method != VEM_PAIRS_CONGA || steps == 0;
    assert_int_equal(vem_i_closest_new(run, method, &distances, MOST, &closest), VEM_OK);
    assert_int_equal(vem_i_closest_begin(closest, next), VEM_OK);
    check_find(closest, &t, exact);
    while (closest->count > 0 && next < MOST) {
        const uint64_t what = vem_i_rng_below(&rng, 8);
        vem_i_pair_found pair;
        if (what == 0) {
            const uint64_t at = vem_i_rng_below(&rng, (uint64_t)closest->count);
            assert_int_equal(vem_i_closest_remove(closest, closest->live[at]), VEM_OK);
        } else if (what == 1) {
            assert_int_equal(vem_i_closest_insert(closest, next++), VEM_OK);
        } else if (closest->count > 1) {
            assert_int_equal(vem_i_closest_find(closest, &pair), VEM_OK);
            assert_int_equal(vem_i_closest_remove(closest, pair.a), VEM_OK);
            assert_int_equal(vem_i_closest_remove(closest, pair.b), VEM_OK);
            assert_int_equal(vem_i_closest_insert(closest, next++), VEM_OK);
        } else {
            assert_int_equal(vem_i_closest_remove(closest, closest->live[0]), VEM_OK);
        }
        check_find(closest, &t, exact);
    }
    assert_true(closest->count == 0 || next == MOST);
    vem_i_closest_free(closest);
}

static void updates(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 8; seed++)
        for (int method = 0; method < VEM_PAIRS_COUNT; method++) {
            run_updates((vem_pairs_method)method, seed, 0);
            run_updates((vem_pairs_method)method, seed, 4); /* mostly ties */
        }
}

/* An object between others: fastpair's order is that of the numbers. */
static void insertions_in_between(void **state)
{
    (void)state;
    for (int method = 0; method < VEM_PAIRS_COUNT; method++) {
        const table t = {99, 0};
        const vem_i_distances distances = {(void *)&t, measure, 1};
        vem_i_verb verb;
        vem_i_closest *closest;
        assert_int_equal(vem_i_closest_new(vem_i_begin(ctx, &verb),
                                           (vem_pairs_method)method, &distances, MOST,
                                           &closest),
                         VEM_OK);
        for (int32_t i = 0; i < 90; i++) {
            assert_int_equal(vem_i_closest_insert(closest, i * 37 % 90), VEM_OK);
            check_find(closest, &t, 1);
        }
        vem_i_closest_free(closest);
    }
}

/* What is counted is what is measured: brute force looks at every pair each time. */
static void counts(void **state)
{
    (void)state;
    const table t = {5, 0};
    const vem_i_distances distances = {(void *)&t, measure, 1};
    vem_i_verb verb;
    vem_i_run *run = vem_i_begin(ctx, &verb);
    vem_i_closest *closest;
    vem_i_pair_found pair;
    assert_int_equal(vem_i_closest_new(run, VEM_PAIRS_BRUTE, &distances, MOST, &closest),
                     VEM_OK);
    assert_int_equal(vem_i_closest_begin(closest, 20), VEM_OK);
    assert_int_equal(closest->evaluations, 0);
    assert_int_equal(vem_i_closest_find(closest, &pair), VEM_OK);
    assert_int_equal(closest->evaluations, 190);
    vem_i_closest_free(closest);
    assert_int_equal(vem_i_closest_new(run, VEM_PAIRS_FASTPAIR, &distances, MOST,
                                       &closest),
                     VEM_OK);
    assert_int_equal(vem_i_closest_begin(closest, 20), VEM_OK);
    assert_int_equal(closest->evaluations, 190);
    assert_int_equal(vem_i_closest_find(closest, &pair), VEM_OK);
    assert_int_equal(closest->evaluations, 190);
    assert_int_equal(vem_i_closest_insert(closest, 20), VEM_OK);
    assert_int_equal(closest->evaluations, 210);
    vem_i_closest_free(closest);
}

/* Distances since the last look whether to go on, and the most there were. */
typedef struct patience {
    table t;
    int64_t measured, at_last, most;
    int64_t looks, stop_at;
    vem_progress last;
} patience;

static void measure_patiently(const void *user, int32_t from, const int32_t *to,
                              int64_t count, double *out, int thread)
{
    patience *p = (patience *)user; /* one thread */
    measure(&p->t, from, to, count, out, thread);
    p->measured += count;
}

static int look(void *user, const vem_progress *told)
{
    patience *p = user;
    const int64_t since = p->measured - p->at_last;
    p->most = since > p->most ? since : p->most;
    p->at_last = p->measured;
    p->last = *told;
    return ++p->looks == p->stop_at;
}

/* Merges to the end; the status of what ended them. */
static vem_status merge_all(patience *p, vem_pairs_method method, int32_t n)
{
    const vem_i_distances distances = {p, measure_patiently, 1};
    vem_i_verb verb;
    vem_ctx_set_progress(ctx, look, p);
    vem_i_run *run = vem_i_begin(ctx, &verb);
    run->threads = 1;
    vem_i_closest *closest;
    vem_i_pair_found pair;
    assert_int_equal(vem_i_closest_new(run, method, &distances, MOST, &closest), VEM_OK);
    vem_status status = vem_i_closest_begin(closest, n);
    closest->told = (vem_progress){.phase = "merge", .done = 7, .total = 9};
    for (int32_t next = n; status == VEM_OK && closest->count > 1; next++) {
        status = vem_i_closest_find(closest, &pair);
        if (status == VEM_OK)
            status = vem_i_closest_remove(closest, pair.a);
        if (status == VEM_OK)
            status = vem_i_closest_remove(closest, pair.b);
        if (status == VEM_OK)
            status = vem_i_closest_insert(closest, next);
    }
    vem_i_closest_free(closest);
    vem_ctx_set_progress(ctx, NULL, NULL);
    return status;
}

/* A stop ends the work at once, wherever it comes. */
static void stops_anywhere(vem_pairs_method method, int32_t n, int64_t looks,
                           int64_t stride)
{
    for (int64_t k = 1; k < looks; k += stride) {
        patience some = {.t = {11, 0}, .stop_at = k};
        assert_int_equal(merge_all(&some, method, n), VEM_STOPPED);
        assert_int_equal(some.measured, some.at_last);
    }
}

/* Whether to go on is asked after at most twice as many distances as there are objects
 * (a scan, and an insertion before it), and a stop ends the work there. */
static void looks_often(void **state)
{
    (void)state;
    fake_tick = 1; /* every look is told */
    for (int method = 0; method < VEM_PAIRS_COUNT; method++) {
        patience all = {.t = {11, 0}};
        assert_int_equal(merge_all(&all, (vem_pairs_method)method, MOST / 2), VEM_OK);
        assert_in_range(all.most, 1, MOST);
        assert_string_equal(all.last.phase, "merge"); /* in the words of the owner */
        assert_int_equal(all.last.done, 7);
        stops_anywhere((vem_pairs_method)method, MOST / 2, all.looks, 1 + all.looks / 50);
        patience few = {.t = {11, 0}};
        assert_int_equal(merge_all(&few, (vem_pairs_method)method, 24), VEM_OK);
        stops_anywhere((vem_pairs_method)method, 24, few.looks, 1);
    }
    fake_tick = 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(updates),
        cmocka_unit_test(insertions_in_between),
        cmocka_unit_test(counts),
        cmocka_unit_test(looks_often),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
