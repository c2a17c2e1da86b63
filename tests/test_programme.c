/* What a programme has resolved: its stages, and how each loop looks for clusters, whatever the stages
 * before it will have found. */
#include "context.h"
#include "fit/programme.h"
#include "run.h"

enum { ROWS = 200000 };

/* Of options by name and value. */
static vem_i_programme programme_of(const char *const words[][2], int count, int64_t n,
                                    int32_t d, int warm)
{
    vem_options asked, o;
    vem_options_init(&asked);
    for (int i = 0; i < count; i++)
        assert_int_equal(vem_options_set(ctx, &asked, words[i][0], words[i][1]), VEM_OK);
    assert_int_equal(vem_options_resolve(ctx, &asked, n, d, VEM_FLOAT32, &o), VEM_OK);
    return vem_i_programme_of(&o, asked.algorithm == VEM_AUTO, warm, n, d, d);
}
#define PROGRAMME(words, d, warm)                                                        \
    programme_of(words, (int)(sizeof(words) / sizeof *(words)), ROWS, d, warm)

static const vem_i_stage *stage_of(const vem_i_programme *p, vem_i_stage_kind kind)
{
    const vem_i_stage *stage = vem_i_programme_find(p, kind);
    assert_non_null(stage);
    return stage;
}

/* Nothing that is found changes any loop but the one that was asked for. */
static void check_others(const vem_i_programme *p)
{
    for (int i = 0; i < p->count; i++)
        for (int f = 0; f < VEM_I_FOUNDS && p->stages[i].kind != VEM_I_STAGE_FIT; f++) {
            const vem_i_looks *looks = p->stages[i].looks;
            assert_int_equal(looks[f].swaps, looks[0].swaps);
            assert_int_equal(looks[f].search.reach, looks[0].search.reach);
        }
}

static void settles_after_axes(void **state)
{
    (void)state;
    static const char *const words[][2] = {{"clusters", "2000"}};
    const vem_i_programme p = PROGRAMME(words, 300, 0), few = PROGRAMME(words, 4, 0);
    const vem_i_stage *leading = stage_of(&p, VEM_I_STAGE_LEADING),
                      *fit = stage_of(&p, VEM_I_STAGE_FIT);
    assert_true(leading->axes > 0 && leading->leaves == 1 && leading->swapped);
    assert_true(leading->looks[VEM_I_FOUND_LITTLE].swaps > 0);
    assert_true(fit->looks[VEM_I_FOUND_LITTLE].swaps > 0); /* axes may not serve */
    assert_int_equal(fit->looks[VEM_I_FOUND_ALONG].swaps, 0);
    assert_int_equal(fit->looks[VEM_I_FOUND_ALONG].search.reach, 16);
    assert_true(fit->looks[VEM_I_FOUND_LITTLE].search.reach > 16);
    assert_int_equal(fit->leaves, 0);
    check_others(&p);
    assert_null(vem_i_programme_find(&few, VEM_I_STAGE_LEADING));
    fit = stage_of(&few, VEM_I_STAGE_FIT);
    assert_int_equal(fit->looks[VEM_I_FOUND_ALONG].search.reach,
                     fit->looks[VEM_I_FOUND_LITTLE].search.reach);
}

/* Of many rows and clusters: longer lists the more clusters; and the loop along axes ends no earlier than the
 * one in all columns, where clusters have many rows. */
static void many_rows_and_clusters(void **state)
{
    (void)state;
    static const struct {
        const char *clusters;
        int64_t n;
        int32_t reach, later;
    } cases[] = {{"16384", 100000, 16, 1}, {"1023", 500000, 16, 1},
                 {"1024", 131071, 16, 1},  {"1024", 131072, 16, 0},
                 {"4096", 500000, 16, 0},  {"8192", 500000, 32, 1},
                 {"16384", 500000, 64, 1}, {"65536", 5000000, 64, 0}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const char *const words[][2] = {{"clusters", cases[i].clusters}};
        const vem_i_programme p = programme_of(words, 1, cases[i].n, 300, 0);
        const vem_i_stage *fit = stage_of(&p, VEM_I_STAGE_FIT);
        assert_int_equal(fit->looks[VEM_I_FOUND_ALONG].search.reach, cases[i].reach);
        assert_int_equal(stage_of(&p, VEM_I_STAGE_LEADING)->options.tolerance >
                             fit->options.tolerance,
                         cases[i].later);
    }
}

/* The starts have swapped; where their sample was crowded one loop does so once more. */
static void swaps_after_starts(void **state)
{
    (void)state;
    static const char *const hard[][2] = {{"clusters", "12"}};
    static const char *const shaped[][2] = {{"clusters", "12"}, {"family", "diag"}};
    static const char *const preset[][2] = {{"clusters", "12"}, {"algorithm", "kmeans"}};
    const vem_i_programme p = PROGRAMME(hard, 4, 0), q = PROGRAMME(shaped, 4, 0),
                          warm = PROGRAMME(hard, 4, 1), r = PROGRAMME(preset, 4, 0);
    const vem_i_stage *fit = stage_of(&p, VEM_I_STAGE_FIT);
    assert_true(p.starts.runs > 0 && p.can_swap);
    assert_null(vem_i_programme_find(&p, VEM_I_STAGE_LISTED));
    assert_true(fit->looks[VEM_I_FOUND_LITTLE].swaps > 1);
    assert_int_equal(fit->looks[VEM_I_FOUND_STARTS].swaps, 0);
    assert_int_equal(fit->looks[VEM_I_FOUND_SOME].swaps, 1);
    check_others(&p);
    assert_true(q.starts.runs > 0 && q.can_swap);
    assert_true(stage_of(&q, VEM_I_STAGE_LISTED)->looks[VEM_I_FOUND_SOME].swaps > 1);
    fit = stage_of(&q, VEM_I_STAGE_FIT);
    for (int f = 0; f < VEM_I_FOUNDS; f++)
        assert_int_equal(fit->looks[f].swaps, 0);
    check_others(&q);
    assert_int_equal(warm.starts.runs, 0);
    assert_null(vem_i_programme_find(&warm, VEM_I_STAGE_SEED));
    assert_int_equal(r.starts.runs, 0);
    assert_false(r.can_swap);
}

/* The runs of the starts are those of the stage that makes them. */
static void starts_have_programmes(void **state)
{
    (void)state;
    static const char *const words[][2] = {{"clusters", "12"},
                                           {"finish", "hard"},
                                           {"held", "3"},
                                           {"init-steps", "2"}};
    const vem_i_programme p = PROGRAMME(words, 4, 0);
    const vem_i_stage *starts = stage_of(&p, VEM_I_STAGE_STARTS);
    const vem_i_starts_programmes each = vem_i_programmes_of_starts(&p);
    assert_int_equal(starts->options.init_steps, 0);
    assert_int_equal(starts->options.finish, VEM_FINISH_SOFT);
    assert_int_equal(stage_of(&p, VEM_I_STAGE_FIT)->options.init_steps, 2);
    assert_non_null(vem_i_programme_find(&p, VEM_I_STAGE_FINISH));
    assert_int_equal(each.fresh.from, VEM_I_FROM_ROWS);
    assert_int_equal(each.moved.from, VEM_I_FROM_ATTEMPT);
    assert_int_equal(each.fresh.items, p.starts.rows);
    assert_int_equal(each.larger.items, p.starts.larger);
    assert_non_null(vem_i_programme_find(&each.fresh, VEM_I_STAGE_SEED));
    assert_null(vem_i_programme_find(&each.moved, VEM_I_STAGE_SEED));
    assert_null(vem_i_programme_find(&each.fresh, VEM_I_STAGE_FINISH));
    assert_true(stage_of(&each.moved, VEM_I_STAGE_FIT)->looks[0].swaps > 0);
    assert_int_equal(stage_of(&each.larger, VEM_I_STAGE_FIT)->looks[0].swaps, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(settles_after_axes),
                                       cmocka_unit_test(many_rows_and_clusters),
                                       cmocka_unit_test(swaps_after_starts),
                                       cmocka_unit_test(starts_have_programmes)};
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
