/* Inputs that are changes to something valid: a checksum or a digest would stop random bytes
 * at the door, so a target makes a right file, applies the edits, and puts its sums right.
 *
 *     an edit   2 bytes: where, in words; 1 byte: how; up to 8 bytes: the value */
#ifndef VEM_FUZZ_EDITS_H
#define VEM_FUZZ_EDITS_H

#include <math.h>
#include <stdint.h>
#include <string.h>

typedef struct fuzz_input {
    const uint8_t *bytes;
    size_t left;
} fuzz_input;

/* The next byte; 0 after the last. */
static inline unsigned fuzz_byte(fuzz_input *in)
{
    if (in->left == 0)
        return 0;
    in->left--;
    return *in->bytes++;
}

static inline uint64_t fuzz_word(fuzz_input *in, int bytes)
{
    uint64_t word = 0;
    for (int i = 0; i < bytes; i++)
        word |= (uint64_t)fuzz_byte(in) << (8 * i);
    return word;
}

/* Values at the edges of what is allowed. */
static inline uint64_t fuzz_special(unsigned which)
{
    static const double reals[] = {0.0,   -1.0,   1.0,    NAN,    INFINITY,
                                   1e308, -1e308, 5e-324, 1e-300, -INFINITY};
    static const int64_t whole[] = {0,         1,
                                    -1,        2,
                                    INT32_MAX, INT32_MIN,
                                    INT64_MAX, INT64_MIN,
                                    1 << 20,   INT64_C(1) << 60,
                                    UINT32_MAX};
    enum { REALS = sizeof reals / sizeof *reals, WHOLE = sizeof whole / sizeof *whole };
    uint64_t word;
    which %= REALS + WHOLE;
    if (which < REALS)
        memcpy(&word, &reals[which], sizeof word);
    else
        word = (uint64_t)whole[which - REALS];
    return word;
}

/* One edit of `size` >= 8 bytes. */
static inline void fuzz_edit(fuzz_input *in, char *bytes, size_t size)
{
    const size_t where = (size_t)fuzz_word(in, 2);
    const unsigned how = fuzz_byte(in);
    const int widths[] = {1, 4, 8, 8};
    const int width = widths[how & 3];
    const uint64_t word =
        (how & 3) == 3 ? fuzz_special(fuzz_byte(in)) : fuzz_word(in, width);
    /* Words of 4 bytes from the beginning; the other bit counts from the end. */
    size_t at = where * 4 % (size - 7);
    at -= at % 4;
    if (how & 4)
        at = (size - 8) / 4 * 4 - at;
    memcpy(bytes + at, &word, (size_t)width);
}

#endif
