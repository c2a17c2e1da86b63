/* The options table: every row can be set, read back and refused; presets are the
 * papers'; contradictions are told. */
#include "base/options.h"
#include "grid.h"
#include "run.h"

#include "context.h"

static void refused(vem_options *o, const char *name, const char *value)
{
    vem_options before = *o;
    if (vem_options_set(ctx, o, name, value) != VEM_BAD_OPTION)
        fail_msg("--%s %s was taken", name, value);
    assert_memory_equal(&before, o, sizeof before);
    if (!strstr(vem_ctx_message(ctx), name))
        fail_msg("\"%s\" does not name --%s", vem_ctx_message(ctx), name);
}

static void taken(vem_options *o, const char *name, const char *value)
{
    char text[64];
    if (vem_options_set(ctx, o, name, value) != VEM_OK)
        fail_msg("%s", vem_ctx_message(ctx));
    assert_int_equal(vem_options_get(o, name, text, sizeof text), 1);
    assert_string_equal(text, value);
}

static void check_numbers(vem_options *o, const vem_option_info *info)
{
    char text[64];
    const char *const never[] = {"", "x", "1x", "1 2", "nan", "--"};
    const char *format = info->kind == VEM_KIND_REAL ? "%.15g" : "%.0f";
    snprintf(text, sizeof text, format, info->low);
    taken(o, info->name, text);
    snprintf(text, sizeof text, format, info->high);
    taken(o, info->name, text);
    snprintf(text, sizeof text, format, info->low - 1);
    refused(o, info->name, text);
    snprintf(text, sizeof text, format, info->high * 1.5 + 1);
    refused(o, info->name, text);
    assert_non_null(strstr(vem_ctx_message(ctx), "between"));
    for (size_t k = 0; k < sizeof never / sizeof *never; k++)
        refused(o, info->name, never[k]);
    if (info->kind == VEM_KIND_REAL && info->high > 0.3)
        taken(o, info->name, /* to the last digit */
              info->low > 0.3 ? "1.3000000000000003" : "0.30000000000000004");
    if (info->kind != VEM_KIND_REAL) {
        refused(o, info->name, "0.5");
        refused(o, info->name, "99999999999999999999999");
    } else {
        refused(o, info->name, "inf");
        refused(o, info->name, "1e400");
    }
}

static void check_choices(vem_options *o, const vem_option_info *info)
{
    char words[256], *rest = words, *word;
    int value = 0;
    snprintf(words, sizeof words, "%s", info->choices);
    while ((word = strsep(&rest, "|"))) {
        taken(o, info->name, word);
        assert_string_equal(vem_choice_name(info->name, value++), word);
    }
    assert_null(vem_choice_name(info->name, value));
    assert_null(vem_choice_name(info->name, -1));
    refused(o, info->name, "");
    refused(o, info->name, "no-such-thing");
    refused(o, info->name, info->choices);
    assert_non_null(strstr(vem_ctx_message(ctx), info->choices));
}

static void every_row_of_the_table(void **state)
{
    (void)state;
    char text[64];
    for (int i = 0; i < vem_option_count(); i++) {
        const vem_option_info *info = vem_option_at(i);
        vem_options o;
        vem_options_init(&o);
        assert_int_equal(o.size, sizeof o);
        assert_null(strchr(info->name, '_'));
        assert_non_null(info->help);
        assert_int_equal(vem_options_get(&o, info->name, text, sizeof text), 1);
        if (info->default_value == VEM_AUTO)
            assert_string_equal(text, "auto");
        assert_int_equal(vem_i_options_check(run_of(ctx), &o), VEM_OK);
        if (info->kind == VEM_KIND_CHOICE)
            check_choices(&o, info);
        else
            check_numbers(&o, info);
        assert_true((info->argument == NULL) == (info->kind == VEM_KIND_FLAG));
    }
    assert_null(vem_option_at(-1));
    assert_null(vem_option_at(vem_option_count()));
    vem_options o;
    vem_options_init(&o);
    refused(&o, "no-such-option", "1");
    assert_int_equal(vem_options_get(&o, "no-such-option", text, sizeof text), 0);
    assert_null(vem_choice_name("no-such-option", 0));
    assert_null(vem_choice_name("clusters", 0));
}

/* The papers' settings, preset by preset. */
static void presets(void **state)
{
    (void)state;
    const struct {
        const char *name, *family, *prior, *search, *seeding;
        int64_t held, reach; /* held 0: C; reach 0: none */
        double margin, tolerance;
        int64_t max_steps;
    } rows[] = {
        {"kmeans", "iso-shared", "flat", "closest", "kmeans++", 1, 0, 0, 0, 300},
        {"lazy-kmeans", "iso-shared", "flat", "closest", "kmeans++", 1, 0, 0.1, 0, 300},
        {"kmeans-c", "iso-shared", "flat", "closest", "kmeans++", 2, 0, 0, 1e-6, 300},
        {"gmm", "full", "free", "all", "kmeans++", 0, 0, 0, 1e-6, 300},
        {"var-kmeans-x", "iso-shared", "flat", "exact", "afkmc2", 1, 5, 0, 1e-4, 200},
        {"var-kmeans-s", "iso-shared", "flat", "estimated", "afkmc2", 1, 5, 0, 1e-4, 200},
        {"var-gmm-x", "iso-shared", "flat", "exact", "afkmc2", 5, 5, 0, 1e-4, 200},
        {"var-gmm-s", "iso-shared", "flat", "estimated", "afkmc2", 5, 5, 0, 1e-4, 200},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        vem_options o, r;
        vem_options_init(&o);
        taken(&o, "algorithm", rows[i].name);
        o.clusters = 10;
        assert_int_equal(vem_options_resolve(ctx, &o, 1000, 3, VEM_FLOAT64, &r), VEM_OK);
        assert_string_equal(vem_choice_name("family", r.family), rows[i].family);
        assert_string_equal(vem_choice_name("prior", r.prior), rows[i].prior);
        assert_string_equal(vem_choice_name("search", r.search), rows[i].search);
        assert_string_equal(vem_choice_name("seeding", r.seeding), rows[i].seeding);
        assert_int_equal(r.held, rows[i].held ? rows[i].held : 10);
        assert_true(r.margin == rows[i].margin);
        assert_true(r.tolerance == rows[i].tolerance);
        assert_int_equal(r.max_steps, rows[i].max_steps);
        if (rows[i].reach)
            assert_true(r.reach == rows[i].reach && r.explore == 0 && r.chain == 20);
        assert_int_equal(r.empty, VEM_EMPTY_KEEP); /* with a name; reseed without */
        assert_true(r.floor == 1e-6);
        assert_int_equal(r.restarts, 1);
        assert_int_equal(r.init_steps, 0);
    }
}

static vem_status resolve(vem_options *o, vem_options *r)
{
    return vem_options_resolve(ctx, o, 1000, 3, VEM_FLOAT64, r);
}

/* More cells where rows are many, as far as they pay. */
static void cells_of_kd_em(void **state)
{
    (void)state;
    const struct {
        int64_t n, clusters, cells;
        int fine; /* the first cells are as many, and the end is that of exact EM */
    } cases[] = {{1000, 12, 8192, 0},     {200000, 12, 12500, 1},
                 {1 << 20, 12, 49152, 1}, {4096000, 64, 256000, 1},
                 {100000, 64, 16384, 0},  {1 << 30, 2, 8192, 1},
                 {1 << 30, 64, 262144, 1}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        vem_options o, r;
        vem_options_init(&o);
        o.algorithm = VEM_ALGORITHM_KD_EM;
        o.clusters = cases[i].clusters;
        assert_int_equal(vem_options_resolve(ctx, &o, cases[i].n, 2, VEM_FLOAT64, &r),
                         VEM_OK);
        assert_int_equal(r.cells, cases[i].cells);
        assert_int_equal(r.depth == 28, cases[i].fine);
        assert_true(r.tolerance == (cases[i].fine ? 1e-6 : 1e-5));
        vem_options again; /* what was settled can be asked for */
        assert_int_equal(vem_options_resolve(ctx, &r, cases[i].n, 2, VEM_FLOAT64, &again),
                         VEM_OK);
        assert_true(again.cells == r.cells && again.depth == r.depth &&
                    again.tolerance == r.tolerance);
        o.depth = 11; /* what is said stands */
        o.tolerance = 1e-3;
        assert_int_equal(vem_options_resolve(ctx, &o, cases[i].n, 2, VEM_FLOAT64, &r),
                         VEM_OK);
        assert_true(r.depth == 11 && r.tolerance == 1e-3);
    }
}

static void what_is_said_beside_a_preset_stands(void **state)
{
    (void)state;
    vem_options o, r;
    vem_options_init(&o);
    o.algorithm = VEM_ALGORITHM_KMEANS;
    o.clusters = 8;
    o.held = 3;
    o.prior = VEM_PRIOR_FREE;
    o.family = VEM_DIAG;
    o.empty = VEM_EMPTY_DROP;
    o.tolerance = 0.25;
    o.max_steps = 7;
    o.seeding = VEM_SEED_AFKMC2;
    o.chain = 3;
    assert_int_equal(resolve(&o, &r), VEM_OK);
    assert_true(r.held == 3 && r.prior == VEM_PRIOR_FREE && r.family == VEM_DIAG &&
                r.empty == VEM_EMPTY_DROP && r.tolerance == 0.25 && r.max_steps == 7 &&
                r.seeding == VEM_SEED_AFKMC2 && r.chain == 3);
    vem_options_init(&o);
    o.algorithm = VEM_ALGORITHM_LAZY_KMEANS; /* its margin gives way to what is asked */
    o.clusters = 8;
    o.held = 2;
    assert_int_equal(resolve(&o, &r), VEM_OK);
    assert_true(r.margin == 0);
    vem_options_init(&o);
    o.algorithm = VEM_ALGORITHM_KMEANS_C; /* cannot hold two of one */
    o.clusters = 1;
    assert_int_equal(resolve(&o, &r), VEM_OK);
    assert_int_equal(r.held, 1);
    vem_options_init(&o);
    o.algorithm = VEM_ALGORITHM_KMEANS;
    o.clusters = 8;
    o.search = VEM_SEARCH_ALL;
    assert_int_equal(resolve(&o, &r), VEM_OK);
    assert_int_equal(r.held, 8);
}

static void without_a_preset(void **state)
{
    (void)state;
    vem_options o, r, again;
    vem_options_init(&o);
    o.clusters = 8;
    assert_int_equal(resolve(&o, &r), VEM_OK);
    assert_true(r.family == VEM_ISO_SHARED && r.held == 1 && r.empty == VEM_EMPTY_RESEED);
    for (int i = 0; i < vem_option_count(); i++) { /* nothing that counts stays open */
        char text[64];
        const vem_option_info *info = vem_option_at(i);
        vem_options_get(&r, info->name, text, sizeof text);
        const char *open =
            "algorithm threads memory time coreset reach explore probe " /* other searches */
            "cells depth expand gap tau";                                /* and items */
        if (!strstr(open, info->name))
            assert_string_not_equal(text, "auto");
    }
    vem_options once = r;
    assert_int_equal(vem_options_resolve(ctx, &r, 1000, 3, VEM_FLOAT64, &again), VEM_OK);
    assert_memory_equal(&once, &again, sizeof r); /* resolving twice changes nothing */
    o.family = VEM_FULL;
    assert_int_equal(resolve(&o, &r), VEM_OK);
    assert_true(r.prior == VEM_PRIOR_FREE && r.held == 8 && r.search == VEM_SEARCH_ALL);
    o.clusters = 5000;
    assert_int_equal(vem_options_resolve(ctx, &o, 1 << 20, 3, VEM_FLOAT64, &r), VEM_OK);
    assert_true(r.held < 5000 && r.search == VEM_SEARCH_GROUPS);
    const vem_precision expected[] = {[VEM_FLOAT32] = VEM_SINGLE,
                                      [VEM_FLOAT64] = VEM_DOUBLE,
                                      [VEM_UINT8] = VEM_SINGLE,
                                      [VEM_INT32] = VEM_DOUBLE,
                                      [VEM_INT64] = VEM_DOUBLE};
    for (int type = VEM_FLOAT32; type <= VEM_INT64; type++) {
        assert_int_equal(vem_options_resolve(ctx, &o, 1 << 20, 3, (vem_dtype)type, &r),
                         VEM_OK);
        assert_int_equal(r.precision, expected[type]);
    }
}

static void contradiction(vem_options *o, const char *word)
{
    vem_options r, untouched;
    memset(&r, 7, sizeof r);
    untouched = r;
    assert_int_equal(resolve(o, &r), VEM_BAD_OPTION);
    assert_memory_equal(&r, &untouched, sizeof r);
    if (!strstr(vem_ctx_message(ctx), word))
        fail_msg("\"%s\" does not speak of %s", vem_ctx_message(ctx), word);
}

static void contradictions(void **state)
{
    (void)state;
    vem_options o;
    vem_options_init(&o);
    contradiction(&o, "clusters");
    o.clusters = 5;
    o.held = 6;
    contradiction(&o, "--held is 6");
    o.held = 3;
    o.search = VEM_SEARCH_ALL;
    contradiction(&o, "--search all");
    vem_options_init(&o);
    o.clusters = 5;
    o.margin = 0.2;
    o.held = 2;
    contradiction(&o, "--margin");
    o.held = 1;
    o.family = VEM_DIAG;
    contradiction(&o, "--margin");
    o.family = VEM_ISO_SHARED;
    o.prior = VEM_PRIOR_FREE;
    contradiction(&o, "--margin");
    vem_options_init(&o);
    o.clusters = 5;
    o.size = sizeof o - 1;
    contradiction(&o, "vem_options_init");
}

/* Values that no text gave. */
static void wild_structs(void **state)
{
    (void)state;
    vem_options o;
    vem_options_init(&o);
    o.clusters = 0;
    contradiction(&o, "--clusters is 0");
    o.clusters = INT64_MAX;
    contradiction(&o, "--clusters");
    o.clusters = 5;
    o.tolerance = NAN;
    contradiction(&o, "--tolerance");
    o.tolerance = INFINITY;
    contradiction(&o, "--tolerance");
    o.tolerance = 0;
    o.family = VEM_FAMILIES;
    contradiction(&o, "--family");
    o.family = -2;
    contradiction(&o, "--family");
    o.family = 0;
    o.floor = 0;
    contradiction(&o, "--floor");
    o.floor = -1;
    contradiction(&o, "--floor");
    o.floor = 1e-6;
    o.standardize = 2;
    contradiction(&o, "--standardize");
    o.standardize = 0;
    o.restarts = -1;
    contradiction(&o, "--restarts");
}

/* A number that is no choice is told beside the choices, not beside bounds that are none. */
static void choices_have_numbers(void **state)
{
    (void)state;
    vem_ctx *own = NULL;
    vem_options options, resolved;
    assert_int_equal(vem_ctx_new(&own), VEM_OK);
    vem_options_init(&options);
    options.clusters = 2;
    options.family = 77;
    assert_int_equal(vem_options_resolve(own, &options, 100, 2, VEM_FLOAT64, &resolved),
                     VEM_BAD_OPTION);
    char expected[256];
    snprintf(expected, sizeof expected, "77, but its choices %s have the numbers 0 to %d",
             &(VEM_FAMILY_TABLE(VEM_FAMILY_CHOICE_ROW))[1], VEM_FAMILIES - 1);
    assert_non_null(strstr(vem_ctx_message(own), expected));
    vem_ctx_free(own);
}

/* A program is told names as it writes them, the command as a person types them. */
static void names_of_options(void **state)
{
    (void)state;
    static const char *const said[2] = {"max_steps is 0,", "--max-steps is 0,"};
    vem_options o, resolved;
    vem_options_init(&o);
    o.clusters = 2;
    o.max_steps = 0;
    for (int dashes = 0; dashes <= 1; dashes++) {
        vem_ctx_set_dashes(ctx, dashes);
        assert_int_equal(vem_options_resolve(ctx, &o, 100, 2, VEM_FLOAT64, &resolved),
                         VEM_BAD_OPTION);
        assert_ptr_equal(strstr(vem_ctx_message(ctx), said[dashes]),
                         vem_ctx_message(ctx));
    }
    static const char *const names[] = {"max-steps", "max_steps", "--max-steps"};
    for (int i = 0; i < 3; i++) {
        assert_int_equal(vem_options_set(ctx, &o, names[i], i == 1 ? "7" : "5"), VEM_OK);
        assert_int_equal(o.max_steps, i == 1 ? 7 : 5);
    }
    assert_int_equal(vem_options_set(ctx, &o, "max_step", "5"), VEM_BAD_OPTION);
    vem_ctx_set_dashes(ctx, 0);
    char text[] = "(--time 3) --weird.npy x--held --held-out --coreset\n--init";
    vem_i_say_plainly(ctx, text);
    assert_string_equal(text, "(time 3) --weird.npy x--held --held-out coreset\ninit");
    vem_ctx_set_dashes(ctx, 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(choices_have_numbers),
        cmocka_unit_test(names_of_options),
        cmocka_unit_test(every_row_of_the_table),
        cmocka_unit_test(presets),
        cmocka_unit_test(cells_of_kd_em),
        cmocka_unit_test(what_is_said_beside_a_preset_stands),
        cmocka_unit_test(without_a_preset),
        cmocka_unit_test(contradictions),
        cmocka_unit_test(wild_structs),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
