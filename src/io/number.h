/* Decimal text to double, rounded exactly as strtod rounds, whatever the locale.
 *
 * m digits and a power of ten, w 10^e:
 *   - w <= 2^53 and |e| <= 22: both are exact doubles, so one multiplication or division
 * is correctly rounded (Clinger 1990). Inline below; nearly all numbers end here.
 *   - w < 2^64 and |e| <= 27: 5^|e| < 2^64, so the product or the quotient with its
 * remainder is exact in 128-bit integers and is rounded by hand (number.c).
 *   - more than 19 digits: if w and w + 1 (the digits beyond cut off or rounded up) give
 * the same double, it is the answer; else, and for exponents beyond, strtod. */
#ifndef VEM_IO_NUMBER_H
#define VEM_IO_NUMBER_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

extern const double vem_i_exact_tens[23];
extern const uint32_t vem_i_small_tens[9];

/* As vem_i_number_with, for anything the short way below does not do. */
const char *vem_i_number_slow(const char *at, const char *end, char point, double *value);
/* inf, infinity or nan, in any case, with or without a sign: where it ends, or NULL. */
const char *vem_i_number_word(const char *at, const char *end, double *value);
/* digits 10^exponent for 0 < digits and |exponent| <= VEM_I_MOST_FIVES, correctly
 * rounded. */
double vem_i_number_compose(uint64_t digits, int exponent);
enum { VEM_I_MOST_FIVES = 27 }; /* 5^27 < 2^63 < 5^28 */
/* An exponent at `at` ("e-12") and where it ends, or 0 and `at`. */
const char *vem_i_number_exponent(const char *at, const char *end, int *exponent);

/* Append up to 8 digits found at `at`; returns how many. */
static inline int vem_i_number_digits(const char *at, const char *end, uint64_t *number)
{
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
    if (end - at >= 8) {
        /* Eight characters at once: a byte of `t` below 10 is a digit. */
        uint64_t t;
        memcpy(&t, at, 8);
        t ^= 0x3030303030303030u;
        const uint64_t others =
            (((t & 0x7f7f7f7f7f7f7f7fu) + 0x7676767676767676u) | t) & 0x8080808080808080u;
        if (others & 0x80)
            return 0;
        const int count = others ? __builtin_ctzll(others) >> 3 : 8;
        t <<= 64 - 8 * count; /* leading zeros for the digits that are missing */
        t = (t * 10 + (t >> 8)) & 0x00ff00ff00ff00ffu;
        t = (t * 100 + (t >> 16)) & 0x0000ffff0000ffffu;
        t = (t * 10000 + (t >> 32)) & 0xffffffffu;
        *number = *number * vem_i_small_tens[count] + t;
        return count;
    }
#endif
    int count = 0;
    for (; count < 8 && at + count < end; count++) {
        const unsigned digit = (unsigned)(unsigned char)at[count] - '0';
        if (digit > 9)
            break;
        *number = *number * 10 + digit;
    }
    return count;
}

/* The number that begins at `at` (no blanks before it): its value, and where it ends, or
 * NULL when there is none. `point` is the decimal sign. */
static inline const char *vem_i_number_with(const char *at, const char *end, char point,
                                            double *value)
{
    if (at == end)
        return NULL;
    const int negative = *at == '-'; /* no branches here: signs are hard to foretell */
    const char *p = at + (negative | (*at == '+'));
    uint64_t digits = 0;
    const char *first = p;
    int64_t count;
    int got, fraction = 0;
    for (unsigned digit; p < end && (digit = (unsigned)(unsigned char)*p - '0') <= 9; p++)
        digits = digits * 10 + digit;
    count = p - first;
    if (p < end && *p == point) {
        p++;
        do {
            got = vem_i_number_digits(p, end, &digits);
            p += got;
            fraction += got;
        } while (got == 8 && fraction < 24);
    }
    count += fraction;
    if (count == 0 || count > 19)
        return vem_i_number_slow(at, end, point, value);
    int exponent = 0;
    if (p < end && (*p | 0x20) == 'e')
        p = vem_i_number_exponent(p, end, &exponent);
    exponent -= fraction;
    double magnitude;
    if (digits <= (uint64_t)1 << 53 && exponent >= -22 && exponent <= 22)
        magnitude = exponent < 0 ? (double)digits / vem_i_exact_tens[-exponent]
                                 : (double)digits * vem_i_exact_tens[exponent];
    else if (digits && exponent >= -VEM_I_MOST_FIVES && exponent <= VEM_I_MOST_FIVES)
        magnitude = vem_i_number_compose(digits, exponent);
    else
        return vem_i_number_slow(at, end, point, value);
    uint64_t bits;
    memcpy(&bits, &magnitude, sizeof bits);
    bits |= (uint64_t)negative << 63;
    memcpy(value, &bits, sizeof bits);
    return p;
}

#endif
