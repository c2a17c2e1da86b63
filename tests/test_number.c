/* Decimal text: the same double as strtod, to the bit, and the same end. */
#include "io_test.h"

#include "base/rng.h"
#include "io/number.h"

static void check(const char *text)
{
    /* An exact copy, so that a sanitizer sees a read beyond the end. */
    const size_t length = strlen(text);
    char *copy = malloc(length + (length == 0));
    memcpy(copy, text, length);
    char *expected_end;
    const double expected = strtod(text, &expected_end);
    double value = 0;
    const char *end = vem_i_number_with(copy, copy + length, '.', &value);
    if (!end)
        end = vem_i_number_word(copy, copy + length, &value);
    const ptrdiff_t used = end ? end - copy : 0;
    if (used != expected_end - text)
        fail_msg("%s: %d characters used, not %d", text, (int)used,
                 (int)(expected_end - text));
    if (end && memcmp(&value, &expected, sizeof value) != 0 && !isnan(expected))
        fail_msg("%s: %.17g, not %.17g", text, value, expected);
    free(copy);
}

static void hard_cases(void **state)
{
    static const char *const texts[] = {
        "1.",
        "+.5",
        ".",
        "-",
        "+",
        "",
        "e5",
        "1e",
        "1e+",
        "1e5x",
        "1E-5",
        "-0",
        "0",
        "0.000e99999999999",
        "1e400",
        "1e-400",
        "4.9e-324",
        "2.4703282292062327208e-324",
        "2.4703282292062328e-324",
        "2.2250738585072011e-308",
        "1.7976931348623158e308",
        "1.7976931348623159e308",
        "9007199254740993",
        "9007199254740992.99999999999999999",
        "nan",
        "NaN",
        "-inf",
        "Infinity",
        "infx",
        "000000000000000000000000000000001.5",
        "0.000000000000000000000000000000000000000000000000000015",
        "123456789012345678901234567890",
        "9223372036854775808",
        "18446744073709551615",
        "18446744073709551616",
        "1e22",
        "1e23",
        "8.5e22",
        "1..5",
        "1.5.5",
        "99999999999999999999999999999999e-10",
        "6.25e-2",
        "12345678.12345678",
        "--1",
        "+-1",
        "1 2",
        "1,2",
        "12345678",
        "123456789,",
        "0.1",
        "1.0000000000000001110223024625156541",
        "1.00000000000000011102230246251565404236316680908203125",
        "1.00000000000000011102230246251565404236316680908203124",
        "1.00000000000000011102230246251565404236316680908203126",
        "1e+27",
        "1e-27",
        "9999999999999999999e27",
        "9999999999999999999e-27",
        "1e-99999999999"};
    (void)state;
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        check(texts[i]);
}

static void very_long(void **state)
{
    char text[3001];
    (void)state;
    memset(text, '7', 3000);
    text[3000] = '\0';
    check(text);
    text[1] = '.';
    check(text);
    memset(text, '0', 2000); /* a midpoint, and the smallest bit above it */
    memcpy(text, "9007199254740993.", 17);
    text[2000] = '\0';
    check(text);
    text[1999] = '1';
    check(text);
}

static void random_numbers(void **state)
{
    char text[512];
    vem_i_rng rng = vem_i_rng_at(1, VEM_RNG_TEST, 0, 0);
    (void)state;
    for (int i = 0; i < 60000; i++) {
        const uint64_t bits = (uint64_t)vem_i_rng_bits(&rng) << 32 | vem_i_rng_bits(&rng);
        double any;
        memcpy(&any, &bits, sizeof any);
        snprintf(text, sizeof text, "%.*e", (int)vem_i_rng_below(&rng, 25), any);
        check(text);
        const double usual =
            vem_i_rng_normal(&rng) * pow(10, (double)vem_i_rng_below(&rng, 40) - 20);
        snprintf(text, sizeof text, "%.*g", (int)vem_i_rng_below(&rng, 22) + 1, usual);
        check(text);
        snprintf(text, sizeof text, "%.*f", (int)vem_i_rng_below(&rng, 30), usual);
        check(text);
        snprintf(text, sizeof text, "%llu.%llue%d",
                 (unsigned long long)(bits >> vem_i_rng_below(&rng, 64)),
                 (unsigned long long)vem_i_rng_bits(&rng),
                 (int)vem_i_rng_below(&rng, 60) - 30);
        check(text);
    }
}

/* Exactly between two doubles: ties go to even, and one digit far behind decides
 * otherwise. */
static void midpoints(void **state)
{
    char text[512];
    vem_i_rng rng = vem_i_rng_at(2, VEM_RNG_TEST, 0, 0);
    (void)state;
    for (int i = 0; i < 20000; i++) {
        const uint64_t odd =
            (vem_i_rng_below(&rng, (uint64_t)1 << 53) | 1) + ((uint64_t)1 << 53);
        const int shift = (int)vem_i_rng_below(&rng, 30);
        /* odd / 2^shift has 54 significant bits, so long double or __float128 would print
         * it; by hand it needs neither: whole part, then digits of the remainder. */
        uint64_t whole = odd >> shift, rest = odd & (((uint64_t)1 << shift) - 1);
        int used = snprintf(text, sizeof text, "%llu.", (unsigned long long)whole);
        for (int k = 0; k < shift; k++) {
            rest *= 10;
            text[used++] = (char)('0' + (rest >> shift));
            rest &= ((uint64_t)1 << shift) - 1;
        }
        for (uint64_t zeros = vem_i_rng_below(&rng, 30); zeros > 0; zeros--)
            text[used++] = '0';
        text[used] = '\0';
        check(text);
        memcpy(text + used, "1", 2);
        check(text);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(hard_cases),
        cmocka_unit_test(very_long),
        cmocka_unit_test(random_numbers),
        cmocka_unit_test(midpoints),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
