#include "io/number.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/plain.h"

const double vem_i_exact_tens[23] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
                                     1e8,  1e9,  1e10, 1e11, 1e12, 1e13, 1e14, 1e15,
                                     1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};
const uint32_t vem_i_small_tens[9] = {1,      10,      100,      1000,     10000,
                                      100000, 1000000, 10000000, 100000000};

enum {
    KEPT_DIGITS = 800,     /* no double or midpoint of two has more than 768 */
    FAR_EXPONENT = 1 << 26 /* beyond it everything is 0 or infinite */
};

__extension__ typedef unsigned __int128 wide;

static int is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* The parts of a decimal number: 0.d1 d2 d3 ... without leading zeros, times 10^point. */
typedef struct decimal {
    const char *first; /* first digit that is not 0; NULL: the number is 0 */
    const char *last;  /* behind the last digit; the point may lie between */
    int64_t point;
    int negative;
} decimal;

/* clang-format off: one number a line otherwise */
static const uint64_t fives[VEM_I_MOST_FIVES + 1] = {1u,
                                                     5u,
                                                     25u,
                                                     125u,
                                                     625u,
                                                     3125u,
                                                     15625u,
                                                     78125u,
                                                     390625u,
                                                     1953125u,
                                                     9765625u,
                                                     48828125u,
                                                     244140625u,
                                                     1220703125u,
                                                     6103515625u,
                                                     30517578125u,
                                                     152587890625u,
                                                     762939453125u,
                                                     3814697265625u,
                                                     19073486328125u,
                                                     95367431640625u,
                                                     476837158203125u,
                                                     2384185791015625u,
                                                     11920928955078125u,
                                                     59604644775390625u,
                                                     298023223876953125u,
                                                     1490116119384765625u,
                                                     7450580596923828125u};
/* clang-format on */

/* (bits + a fraction below 1 that is not 0 if `inexact`) 2^exponent, ties to even. bits
 * >= 2^54 or exact; the result is a normal number for all exponents met here. */
static double round_wide(wide bits, int exponent, int inexact)
{
    const uint64_t high = (uint64_t)(bits >> 64);
    const int width =
        high ? 128 - __builtin_clzll(high) : 64 - __builtin_clzll((uint64_t)bits);
    uint64_t mantissa = (uint64_t)bits;
    if (width > 53) {
        const int drop = width - 53;
        mantissa = (uint64_t)(bits >> drop);
        const wide rest = bits & (((wide)1 << drop) - 1), half = (wide)1 << (drop - 1);
        if (rest > half || (rest == half && (inexact || (mantissa & 1))))
            mantissa++;
        exponent += drop;
    }
    const uint64_t scale_bits = (uint64_t)(1023 + exponent) << 52;
    double scale;
    memcpy(&scale, &scale_bits, sizeof scale);
    return (double)mantissa * scale;
}

double vem_i_number_compose(uint64_t digits, int exponent)
{
    if (exponent >= 0)
        return round_wide((wide)digits * fives[exponent], exponent, 0);
    const uint64_t divisor = fives[-exponent];
    const int lift = __builtin_clzll(digits), shift = 63 - __builtin_clzll(divisor);
    /* The quotient lies in [2^62, 2^64): room to round, and no wide quotient. */
    const wide dividend = (wide)(digits << lift) << shift;
    return round_wide(dividend / divisor, exponent - shift - lift,
                      dividend % divisor != 0);
}

/* Exact for any number of digits: strtod on "DIGITSeEXPONENT", which has no decimal point
 * and so reads the same in every locale. */
static double by_strtod(const decimal *number)
{
    char text[KEPT_DIGITS + 32];
    int kept = 0;
    const char *p = number->first;
    for (; p < number->last && kept < KEPT_DIGITS; p++)
        if (is_digit(*p))
            text[kept++] = *p;
    for (; p < number->last; p++)
        if (is_digit(*p) && *p != '0') {
            text[kept++] = '1'; /* something beyond: enough to leave a midpoint */
            break;
        }
    snprintf(text + kept, 32, "e%lld", (long long)(number->point - kept));
    return strtod(text, NULL);
}

static double magnitude_of(const decimal *number)
{
    if (!number->first)
        return 0;
    uint64_t digits = 0;
    int count = 0, beyond = 0;
    const char *p = number->first;
    for (; p < number->last && count < 19; p++)
        if (is_digit(*p)) {
            digits = digits * 10 + (uint64_t)(*p - '0');
            count++;
        }
    for (; p < number->last && !beyond; p++)
        beyond = is_digit(*p) && *p != '0';
    if (digits == 0) /* the text changed while it was looked at */
        return 0;
    const int64_t exponent = number->point - count;
    if (exponent < -VEM_I_MOST_FIVES || exponent > VEM_I_MOST_FIVES)
        return by_strtod(number);
    const double below = vem_i_number_compose(digits, (int)exponent);
    if (beyond && below != vem_i_number_compose(digits + 1, (int)exponent))
        return by_strtod(number);
    return below;
}

const char *vem_i_number_exponent(const char *at, const char *end, int *exponent)
{
    *exponent = 0;
    if (at == end || (*at | 0x20) != 'e')
        return at;
    int size = 0;
    const char *p = at + 1;
    const int negative = p < end && *p == '-';
    if (p < end && (*p == '-' || *p == '+'))
        p++;
    if (p == end || !is_digit(*p))
        return at;
    for (; p < end && is_digit(*p); p++)
        if (size < FAR_EXPONENT)
            size = size * 10 + (*p - '0');
    *exponent = negative ? -size : size;
    return p;
}

const char *vem_i_number_word(const char *at, const char *end, double *value)
{
    const int negative = at < end && *at == '-';
    if (at < end && (*at == '-' || *at == '+'))
        at++;
    static const char *const words[] = {"nan", "infinity", "inf"};
    for (int i = 0; i < 3; i++) {
        const size_t length = strlen(words[i]);
        if ((size_t)(end - at) >= length && vem_i_same_word(at, at + length, words[i])) {
            *value = i == 0 ? __builtin_nan("") : __builtin_inf();
            *value = negative ? -*value : *value;
            return at + length;
        }
    }
    return NULL;
}

const char *vem_i_number_slow(const char *at, const char *end, char point, double *value)
{
    const char *p = at;
    decimal number = {.negative = p < end && *p == '-'};
    if (p < end && (*p == '-' || *p == '+'))
        p++;
    const char *start = p;
    const char *dot = NULL;
    for (; p < end && (is_digit(*p) || (*p == point && !dot)); p++) {
        if (*p == point)
            dot = p;
        else if (*p != '0' && !number.first)
            number.first = p;
    }
    if (p - start == (dot ? 1 : 0))
        return NULL;
    number.last = p;
    int exponent;
    p = vem_i_number_exponent(p, end, &exponent);
    if (number.first) {
        /* Digits between the first that counts and the decimal point, or zeros after it.
         */
        const char *decimal_point = dot ? dot : number.last;
        number.point = decimal_point - number.first;
        if (number.point < 0)
            number.point++;
        number.point += exponent;
    }
    const double magnitude = magnitude_of(&number);
    *value = number.negative ? -magnitude : magnitude;
    return p;
}
