/* Vectors, as the kernels see them.
 *
 * Vectors are the vector types of GCC and clang: + - * and integer operators work on all
 * of them. What the operators cannot say well is a handful of functions with the suffix
 * _f (float) or _d (double), written once per instruction set:
 *
 *     fma(a, b, c)          a * b + c, in one rounding where the processor can
 *     fma_one(a, b, c)      the same for single values. Where two kernels owe each other the same
 *                           bits it is written out: a compiler that may contract a * b + c
 *                           does so in one of them and not in the other
 *     min, max              per lane
 *     less(a, b)            a mask;  any(mask)  is it true in a lane
 *     select(mask, a, b)    a where the mask is true, else b;  select_index: the same for
 * ivec load_part(p, n)       n < lanes values, the rest 0; reads nothing behind them
 *     widen_f(p)            as many floats as a vector has doubles, as doubles
 *     widen_u1, _i1, _f2, _bf   the same for bytes, signed bytes, IEEE halves and bfloat16
 *     join_f(low, high)     two vectors of doubles as one of floats
 *     load_bytes_w(p), _f   bytes as words; as integers of 32 bits
 *     dot_pairs(a, b)       a0 b0 + a1 b1, a2 b2 + a3 b3, ... of words
 *     fold(v)               sum of the 16-byte pieces
 *     zip_low, zip_high     a0 b0 a1 b1, a2 b2 a3 b3 (double: a0 b0, a1 b1) in each 16
 * bytes
 *
 * and from them: load, store, set1, weave_low, weave_high, sum, sum4. The file that includes this one defines
 * one of SIMD_AVX512, SIMD_AVX2, SIMD_SSE2, SIMD_NEON, SIMD_PORTABLE. */
#ifndef VEM_KERNELS_SIMD_H
#define VEM_KERNELS_SIMD_H

#include <stdint.h>
#include <string.h>

#if defined(SIMD_AVX512)
enum { SIMD_BYTES = 64 };
#elif defined(SIMD_AVX2)
enum { SIMD_BYTES = 32 };
#else
enum { SIMD_BYTES = 16 };
#endif
enum { LANES_w = SIMD_BYTES / 2, LANES_f = SIMD_BYTES / 4, LANES_d = SIMD_BYTES / 8 };

#define INLINE static inline __attribute__((always_inline, unused))
#if defined(__clang__)
#define UNROLL_4 _Pragma("clang loop unroll_count(4)")
#define SHUFFLE(a, b, type, ...) __builtin_shufflevector(a, b, __VA_ARGS__)
#else
#define UNROLL_4 _Pragma("GCC unroll 4")
#define SHUFFLE(a, b, type, ...) __builtin_shuffle(a, b, (type){__VA_ARGS__})
#endif

typedef float vec_f __attribute__((vector_size(SIMD_BYTES)));
typedef double vec_d __attribute__((vector_size(SIMD_BYTES)));
/* Integers of the same width: cluster numbers in lanes, and the bits of a value. */
typedef int32_t ivec_f __attribute__((vector_size(SIMD_BYTES)));
typedef int64_t ivec_d __attribute__((vector_size(SIMD_BYTES)));
typedef uint32_t uvec_f __attribute__((vector_size(SIMD_BYTES)));
typedef uint64_t uvec_d __attribute__((vector_size(SIMD_BYTES)));
/* Four or two values, whatever the instruction set. */
typedef float four_f __attribute__((vector_size(16)));
typedef double two_d __attribute__((vector_size(16)));
typedef int32_t four_i __attribute__((vector_size(16)));
typedef int32_t half_d __attribute__((vector_size(SIMD_BYTES / 2)));
/* Bytes, as words. */
typedef int16_t wvec __attribute__((vector_size(SIMD_BYTES)));

#if !defined(SIMD_AVX512) && !defined(SIMD_AVX2)
/* Vectors of 16 bytes have two doubles. */
INLINE vec_d widen_u1(const uint8_t *p)
{
    return (vec_d){(double)p[0], (double)p[1]};
}
INLINE vec_d widen_i1(const int8_t *p)
{
    return (vec_d){(double)p[0], (double)p[1]};
}
INLINE vec_d widen_f2(const uint16_t *p)
{
    return (vec_d){(double)vem_i_half(p[0]), (double)vem_i_half(p[1])};
}
INLINE vec_d widen_bf(const uint16_t *p)
{
    return (vec_d){(double)vem_i_bfloat(p[0]), (double)vem_i_bfloat(p[1])};
}
INLINE vec_f join_f(vec_d low, vec_d high)
{
    return (vec_f){(float)low[0], (float)low[1], (float)high[0], (float)high[1]};
}
#endif

#if defined(SIMD_AVX512) || defined(SIMD_AVX2) || defined(SIMD_SSE2)
#include "kernels/simd_x86.h"
#elif defined(SIMD_NEON)
#include "kernels/simd_neon.h"
#else
#include "kernels/simd_portable.h"
#endif

/* Kernels that read rows once, in their order, ask for what they will read: `bytes` of it
 * that lie READ_AHEAD behind p. Four rows at a time are four short streams, which the
 * processor does not foresee by itself. Nothing has to be there. */
enum { READ_AHEAD = 1 << 13, CACHE_LINE = 64 };

INLINE void ask_ahead(const void *p, int32_t bytes)
{
    for (int32_t k = 0; k < bytes; k += CACHE_LINE)
        __builtin_prefetch((const void *)((uintptr_t)p + READ_AHEAD + (uintptr_t)k));
}

#if defined(__FMA__) || defined(__aarch64__)
INLINE float fma_one_f(float a, float b, float c)
{
    return __builtin_fmaf(a, b, c);
}
INLINE double fma_one_d(double a, double b, double c)
{
    return __builtin_fma(a, b, c);
}
#else
INLINE float fma_one_f(float a, float b, float c)
{
    return a * b + c;
}
INLINE double fma_one_d(double a, double b, double c)
{
    return a * b + c;
}
#endif

INLINE vec_f load_f(const float *p)
{
    vec_f v;
    memcpy(&v, p, sizeof v);
    return v;
}

INLINE vec_d load_d(const double *p)
{
    vec_d v;
    memcpy(&v, p, sizeof v);
    return v;
}

INLINE void store_f(float *p, vec_f v)
{
    memcpy(p, &v, sizeof v);
}

INLINE void store_d(double *p, vec_d v)
{
    memcpy(p, &v, sizeof v);
}

INLINE vec_f set1_f(float value)
{
    return value - (vec_f){0};
}

INLINE vec_d set1_d(double value)
{
    return value - (vec_d){0};
}

/* Cluster numbers are int32_t in memory and as wide as T in lanes. */
INLINE ivec_f load_index_f(const int32_t *p)
{
    ivec_f v;
    memcpy(&v, p, sizeof v);
    return v;
}

INLINE ivec_d load_index_d(const int32_t *p)
{
    half_d v;
    memcpy(&v, p, sizeof v);
    return __builtin_convertvector(v, ivec_d);
}

INLINE void store_index_f(int32_t *p, ivec_f v)
{
    memcpy(p, &v, sizeof v);
}

INLINE void store_index_d(int32_t *p, ivec_d v)
{
    const half_d half = __builtin_convertvector(v, half_d);
    memcpy(p, &half, sizeof half);
}

INLINE ivec_f set1_index_f(int32_t value)
{
    return value - (ivec_f){0};
}

INLINE ivec_d set1_index_d(int64_t value)
{
    return value - (ivec_d){0};
}

/* a0 b0 a1 b1 ... of the lower and of the upper half of two vectors. */
INLINE vec_f weave_low_f(vec_f a, vec_f b)
{
#if defined(SIMD_AVX512)
    return SHUFFLE(a, b, ivec_f, 0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23);
#elif defined(SIMD_AVX2)
    return SHUFFLE(a, b, ivec_f, 0, 8, 1, 9, 2, 10, 3, 11);
#else
    return SHUFFLE(a, b, ivec_f, 0, 4, 1, 5);
#endif
}

INLINE vec_f weave_high_f(vec_f a, vec_f b)
{
#if defined(SIMD_AVX512)
    return SHUFFLE(a, b, ivec_f, 8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30, 15,
                   31);
#elif defined(SIMD_AVX2)
    return SHUFFLE(a, b, ivec_f, 4, 12, 5, 13, 6, 14, 7, 15);
#else
    return SHUFFLE(a, b, ivec_f, 2, 6, 3, 7);
#endif
}

INLINE vec_d weave_low_d(vec_d a, vec_d b)
{
#if defined(SIMD_AVX512)
    return SHUFFLE(a, b, ivec_d, 0, 8, 1, 9, 2, 10, 3, 11);
#elif defined(SIMD_AVX2)
    return SHUFFLE(a, b, ivec_d, 0, 4, 1, 5);
#else
    return SHUFFLE(a, b, ivec_d, 0, 2);
#endif
}

INLINE vec_d weave_high_d(vec_d a, vec_d b)
{
#if defined(SIMD_AVX512)
    return SHUFFLE(a, b, ivec_d, 4, 12, 5, 13, 6, 14, 7, 15);
#elif defined(SIMD_AVX2)
    return SHUFFLE(a, b, ivec_d, 2, 6, 3, 7);
#else
    return SHUFFLE(a, b, ivec_d, 1, 3);
#endif
}

INLINE float sum_f(vec_f v)
{
    const four_f s = fold_f(v);
    return (s[0] + s[2]) + (s[1] + s[3]);
}

INLINE double sum_d(vec_d v)
{
    const two_d s = fold_d(v);
    return s[0] + s[1];
}

/* The sums of four vectors at once, for about the price of one and a half: rows and
 * columns change places while the vectors are added, and only one is folded. */
INLINE void sum4_f(vec_f a, vec_f b, vec_f c, vec_f d, float *out)
{
    const vec_f ab = zip_low_f(a, b) + zip_high_f(a, b); /* a0+a2 b0+b2 a1+a3 b1+b3 */
    const vec_f cd = zip_low_f(c, d) + zip_high_f(c, d);
    const vec_f low = (vec_f)zip_low_d((vec_d)ab, (vec_d)cd);
    const vec_f high = (vec_f)zip_high_d((vec_d)ab, (vec_d)cd);
    const four_f sums = fold_f(low + high);
    memcpy(out, &sums, sizeof sums);
}

INLINE void sum4_d(vec_d a, vec_d b, vec_d c, vec_d d, double *out)
{
    const two_d ab = fold_d(zip_low_d(a, b) + zip_high_d(a, b));
    const two_d cd = fold_d(zip_low_d(c, d) + zip_high_d(c, d));
    memcpy(out, &ab, sizeof ab);
    memcpy(out + 2, &cd, sizeof cd);
}

/* Four sums of integers, by the additions of sum4_f. */
INLINE void sum4_index(ivec_f a, ivec_f b, ivec_f c, ivec_f d, int32_t *out)
{
    const ivec_f ab =
        (ivec_f)zip_low_f((vec_f)a, (vec_f)b) + (ivec_f)zip_high_f((vec_f)a, (vec_f)b);
    const ivec_f cd =
        (ivec_f)zip_low_f((vec_f)c, (vec_f)d) + (ivec_f)zip_high_f((vec_f)c, (vec_f)d);
    const ivec_f low = (ivec_f)zip_low_d((vec_d)ab, (vec_d)cd);
    const ivec_f high = (ivec_f)zip_high_d((vec_d)ab, (vec_d)cd);
    const ivec_f all = low + high;
    four_i pieces[LANES_f / 4];
    memcpy(pieces, &all, sizeof all);
    for (int k = 1; k < LANES_f / 4; ++k)
        pieces[0] += pieces[k];
    memcpy(out, pieces, sizeof *pieces);
}

#endif
