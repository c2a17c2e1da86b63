/* Rows of a temporary file that lie far apart are read, not mapped: the same bits, and as many reads as
 * there are rows; rows that lie together are looked at where they are. */
#include <string.h>

#include "base/rng.h"
#include "base/spill.h"
#include "data/items.h"
#include "em/last_step.h"
#include "fake_clock.h"
#include "grid.h"
#include "run.h"

#define CONTEXT_THREADS 2
#include "context.h"

enum { N = 4000, LISTED = 300 };

/* Rows of d values of T; a list of them whose rows lie `apart` rows from each other. */
typedef struct rows {
    vem_i_mapping *file;
    vem_view inside, outside;
    uint32_t list[LISTED];
} rows;

static void make(rows *r, const vem_i_kernels *kernels, int32_t d, uint32_t apart)
{
    const size_t bytes = (size_t)N * (size_t)d * kernels->element;
    char *x = malloc(bytes);
    assert_non_null(x);
    for (int64_t i = 0; i < N * (int64_t)d; i++) {
        vem_i_rng rng = vem_i_rng_at(5, VEM_RNG_TEST, 0, (uint64_t)i);
        vem_i_store(kernels, x, i, vem_i_rng_uniform(&rng) - 0.5);
    }
    assert_int_equal(vem_i_spill_new(run_of(ctx), bytes, &r->file), VEM_OK);
    memcpy(r->file->bytes, x, bytes);
    r->inside = (vem_view){
        .kernels = kernels, .x = x, .n = N, .ld = d, .d = d, .global_n = N, .used = N};
    r->outside = r->inside;
    r->outside.x = r->file->bytes;
    r->outside.spilled = 1;
    r->outside.spill = r->file;
    for (uint32_t p = 0; p < LISTED; p++)
        r->list[p] = p * apart % N;
}

static void discard(rows *r)
{
    free((void *)(uintptr_t)r->inside.x);
    vem_i_mapping_free(r->file);
}

/* What the three kernels make of the first n of the list. */
typedef struct made {
    double *panels, norms[LISTED + 64], costs[2 * LISTED], sum[2048], second, total;
} made;

static void use(const vem_view *view, const uint32_t *list, int64_t n, int weighted,
                made *m)
{
    const vem_i_kernels *kernels = view->kernels;
    const int32_t d = view->d;
    static double means[3 * 2048], q[LISTED], ones[3], zeros[3]; /* room for as many T */
    static int32_t index[2 * LISTED];
    const size_t room = (size_t)(LISTED + 64) * (size_t)d;
    *m = (made){.panels = calloc(room, sizeof(double))};
    assert_non_null(m->panels);
    for (int k = 0; k < 3; k++) {
        vem_i_store(kernels, ones, k, 1);
        vem_i_store(kernels, zeros, k, 0);
        for (int32_t j = 0; j < d; j++)
            vem_i_store(kernels, means, k * d + j, 0.01 * k);
    }
    for (int p = 0; p < LISTED; p++) {
        vem_i_store(kernels, q, p, 1.0 / (1 + p % 7));
        index[p] = p % 3;
        index[LISTED + p] = p % 5 == 0 ? -1 : (p + 1) % 3;
    }
    vem_i_items items = vem_i_items_at(view, 0, list, n);
    if (n <= VEM_I_BLOCK)
        vem_i_items_pack(view, NULL, m->panels, m->norms, &items);
    vem_i_items_pairs(kernels, &items, d, means, d, ones, zeros, 2, index, m->costs,
                      LISTED);
    m->total = vem_i_items_rows(kernels, &items, weighted ? q : NULL, d, means, m->sum,
                                &m->second);
}

static void compare(rows *r, int64_t n, int weighted, int64_t reads)
{
    made a, b;
    use(&r->inside, r->list, n, weighted, &a);
    const int64_t before = r->file->reads;
    use(&r->outside, r->list, n, weighted, &b);
    assert_int_equal(r->file->reads - before, reads);
    assert_memory_equal(a.panels, b.panels,
                        (size_t)(LISTED + 64) * (size_t)r->inside.d * sizeof(double));
    assert_memory_equal(a.norms, b.norms, sizeof a.norms);
    assert_memory_equal(a.costs, b.costs, sizeof a.costs);
    assert_memory_equal(a.sum, b.sum, sizeof a.sum);
    assert_true(a.second == b.second && a.total == b.total);
    free(a.panels);
    free(b.panels);
}

static void rows_far_apart_are_read(void **state)
{
    (void)state;
    static rows r;
    for (int wide = 0; wide < 2; wide++) {
        const vem_i_kernels *kernels = wide ? ctx->kernels_double : ctx->kernels_single;
        const int32_t d = 1024 / (int32_t)kernels->element;
        for (int weighted = 0; weighted < 2; weighted++) {
            make(&r, kernels, d, 777);
            compare(&r, LISTED, weighted, 2 * LISTED); /* no block: not packed */
            compare(&r, VEM_I_BLOCK, weighted, 3 * VEM_I_BLOCK);
            compare(&r, 65, weighted, 3 * 65);
            compare(&r, 4, weighted, 3 * 4);
            compare(&r, 3, weighted, 0); /* too few to be worth it */
            discard(&r);
        }
        make(&r, kernels, d, 1); /* together */
        compare(&r, LISTED, 0, 0);
        discard(&r);
        make(&r, kernels, d + 1,
             777); /* runs of rows have no room; packing and pairs go on */
        compare(&r, VEM_I_BLOCK, 0, 2 * VEM_I_BLOCK);
        discard(&r);
        make(&r, kernels, 1, 777); /* the whole file is one piece */
        compare(&r, VEM_I_BLOCK, 0, 0);
        discard(&r);
    }
}

/* A file that cannot be read is looked at. */
static void without_a_descriptor(void **state)
{
    (void)state;
    char bytes[] = "0123456789", out[4] = "";
    vem_i_mapping mapping = {.bytes = bytes, .size = sizeof bytes, .file = -1};
    vem_i_mapping_read(&mapping, bytes + 3, 3, out);
    assert_string_equal(out, "345");
    mapping.file = 1 << 20; /* no such descriptor */
    vem_i_mapping_read(&mapping, bytes + 5, 3, out);
    assert_string_equal(out, "567");
    assert_int_equal(mapping.reads, 0);
}

/* Fits that begin from a model do not put their rows in order. */
static void the_same_bits_from_a_model(void **state)
{
    (void)state;
    for (int weights = WEIGHTS_NONE; weights <= WEIGHTS_REAL; weights += WEIGHTS_REAL)
        for (int held = 1; held <= 2; held++) {
            grid_data data =
                grid_data_new(SET_OVERLAPPING, (grid_weights)weights, 6000, 100, 31);
            vem_model *start = grid_start(ctx, &data, VEM_ISO_SHARED, 300);
            vem_options o;
            vem_options_init(&o);
            o.search = VEM_SEARCH_GROUPS;
            o.held = held;
            o.swaps = held == 1 ? 4 : 0;
            o.max_steps = 5;
            grid_fit inside = grid_run(ctx, &data, &o, start);
            ctx->spills_all = 1;
            grid_fit spilled = grid_run(ctx, &data, &o, start);
            ctx->spills_all = 0;
            assert_memory_equal(vem_model_means(inside.model),
                                vem_model_means(spilled.model),
                                (size_t)300 * 100 * sizeof(double));
            assert_memory_equal(inside.labels, spilled.labels,
                                (size_t)data.n * sizeof(int32_t));
            assert_true(inside.summary->free_energy == spilled.summary->free_energy);
            grid_fit_free(&inside);
            grid_fit_free(&spilled);
            vem_model_free(start);
            grid_data_free(&data);
        }
}

typedef struct stopper {
    int64_t calls, stop_at, after; /* of the loop: all, and those after the stop */
    int64_t step;
} stopper;

static int stop_at_call(void *user, const vem_progress *p)
{
    stopper *s = user;
    if (strcmp(p->phase, "em") != 0)
        return 0;
    s->after += s->step > 0;
    if (++s->calls != s->stop_at)
        return 0;
    s->step = p->step;
    return 1;
}

/* A stop does not wait for the end of a step that reads rows from a file: what comes back is, to the
 * bit, the fit of the steps before it. */
static void a_stop_within_a_step(void **state)
{
    (void)state;
    vem_ctx_set_threads(ctx, 1); /* which call comes when is then the same everywhere */
    const double worth_leaving = vem_i_worth_leaving;
    vem_i_worth_leaving = 0;
    grid_data data = grid_data_new(SET_OVERLAPPING, WEIGHTS_NONE, 20000, 8, 32);
    vem_model *start = grid_start(ctx, &data, VEM_ISO_SHARED, 200);
    int64_t given_up = 0, nothing = 0, ended = 0;
    for (int64_t k = 1; !ended; k++) {
        vem_options o;
        vem_options_init(&o);
        o.search = VEM_SEARCH_GROUPS;
        o.max_steps = 4;
        o.tolerance = 0;
        stopper s = {.stop_at = k};
        grid_fit stopped;
        fake_tick = 1; /* every look at the clock is worth a call */
        ctx->spills_all = 1;
        vem_ctx_set_progress(ctx, stop_at_call, &s);
        const vem_status status = grid_try(ctx, &data, &o, start, &stopped);
        vem_ctx_set_progress(ctx, NULL, NULL);
        ctx->spills_all = 0;
        fake_tick = 0;
        if (s.step == 0) {
            assert_int_equal(status, VEM_OK);
            grid_fit_free(&stopped);
            ended = 1;
            continue;
        }
        if (status != VEM_OK) {
            assert_int_equal(status, VEM_STOPPED);
            assert_int_equal(s.step, 1);
            nothing++;
            continue;
        }
        assert_int_equal(stopped.summary->outcome, VEM_OUTCOME_STOPPED);
        assert_in_range(stopped.summary->steps, s.step - 1, s.step);
        given_up += stopped.summary->steps == s.step - 1;
        assert_in_range(s.after, 0, 2); /* the end, not a step of shards */
        o.max_steps = stopped.summary->steps;
        grid_fit counted = grid_run(ctx, &data, &o, start);
        assert_memory_equal(vem_model_means(counted.model),
                            vem_model_means(stopped.model),
                            (size_t)200 * 8 * sizeof(double));
        assert_memory_equal(counted.labels, stopped.labels,
                            (size_t)data.n * sizeof(int32_t));
        assert_true(counted.summary->free_energy == stopped.summary->free_energy);
        grid_fit_free(&counted);
        grid_fit_free(&stopped);
    }
    vem_i_worth_leaving = worth_leaving;
    if (given_up == 0 || nothing == 0)
        fail_msg("%d steps given up, %d fits without a result", (int)given_up,
                 (int)nothing);
    vem_model_free(start);
    grid_data_free(&data);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_far_apart_are_read),
        cmocka_unit_test(without_a_descriptor),
        cmocka_unit_test(the_same_bits_from_a_model),
        cmocka_unit_test(a_stop_within_a_step),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
