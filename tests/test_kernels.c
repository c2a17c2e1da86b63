/* Every kernel table that this processor runs, float and double, against the reference.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kernel_checks.h"

/* What one cmocka test runs. */
typedef struct subject {
    const vem_i_kernels *table;
    const kernel_check *check;
    char name[80];
} subject;

static void run_check(void **state)
{
    const subject *s = *state;
    assert_int_equal(s->check->run(s->table), 0);
}

static void finds_tables(void **state)
{
    (void)state;
    assert_non_null(vem_i_kernels_find("reference", VEM_SINGLE));
    assert_int_equal(vem_i_kernels_find("reference", VEM_DOUBLE)->precision, VEM_DOUBLE);
    assert_non_null(vem_i_kernels_find("baseline", VEM_SINGLE));
    assert_null(vem_i_kernels_find("abacus", VEM_SINGLE));
    setenv("VEM_CPU", "abacus", 1);
    assert_null(vem_i_kernels_find(NULL, VEM_SINGLE));
    setenv("VEM_CPU", "reference", 1);
    assert_string_equal(vem_i_kernels_find(NULL, VEM_DOUBLE)->name, "reference");
    setenv("VEM_CPU", "", 1);
    assert_non_null(vem_i_kernels_find(NULL, VEM_DOUBLE));
    unsetenv("VEM_CPU");
    assert_non_null(vem_i_kernels_find(NULL, VEM_DOUBLE));
}

static void tables_are_whole(void **state)
{
    (void)state;
    for (const char *const *name = vem_i_kernels_names(); *name; ++name)
        for (int precision = VEM_SINGLE; precision <= VEM_DOUBLE; ++precision) {
            const vem_i_kernels *k = vem_i_kernels_find(*name, (vem_precision)precision);
            if (!k)
                continue;
            assert_string_equal(k->name, *name);
            assert_int_equal(k->precision, precision);
            assert_int_equal(k->element, precision == VEM_DOUBLE ? 8 : 4);
            assert_int_equal(VEM_I_BLOCK % k->panel, 0);
        }
}

int main(void)
{
    enum { MOST = 256 };
    static subject subjects[MOST];
    static struct CMUnitTest tests[MOST + 2];
    size_t count = 0;
    for (const char *const *name = vem_i_kernels_names(); *name; ++name)
        for (int precision = VEM_SINGLE; precision <= VEM_DOUBLE; ++precision) {
            const vem_i_kernels *table =
                vem_i_kernels_find(*name, (vem_precision)precision);
            for (const kernel_check *check = kernel_checks; table && check->name;
                 ++check) {
                subject *s = &subjects[count];
                s->table = table;
                s->check = check;
                snprintf(s->name, sizeof s->name, "%s %s: %s", *name,
                         precision == VEM_DOUBLE ? "double" : "single", check->name);
                tests[count++] = (struct CMUnitTest){.name = s->name,
                                                     .test_func = run_check,
                                                     .initial_state = s};
            }
        }
    tests[count++] = (struct CMUnitTest){.name = "find", .test_func = finds_tables};
    tests[count++] = (struct CMUnitTest){.name = "whole", .test_func = tables_are_whole};
    return _cmocka_run_group_tests("kernels", tests, count, NULL, NULL);
}
