/* simd.h for x86-64: AVX-512 (F, DQ, VL, BW), AVX2 with FMA, and SSE2, the baseline. */
#ifndef VEM_KERNELS_SIMD_X86_H
#define VEM_KERNELS_SIMD_X86_H

#include <immintrin.h>

#if defined(SIMD_AVX512)

/* Clusters in a register tile of two vectors of items: 24 sums in 32 registers. */
#define TILE_BIG 12
#define TILE_SMALL 4

typedef __mmask16 mask_f;
typedef __mmask8 mask_d;

INLINE vec_f fma_f(vec_f a, vec_f b, vec_f c)
{
    return _mm512_fmadd_ps(a, b, c);
}
INLINE vec_d fma_d(vec_d a, vec_d b, vec_d c)
{
    return _mm512_fmadd_pd(a, b, c);
}
INLINE vec_f min_f(vec_f a, vec_f b)
{
    return _mm512_min_ps(a, b);
}
INLINE vec_d min_d(vec_d a, vec_d b)
{
    return _mm512_min_pd(a, b);
}
INLINE vec_f max_f(vec_f a, vec_f b)
{
    return _mm512_max_ps(a, b);
}
INLINE vec_d max_d(vec_d a, vec_d b)
{
    return _mm512_max_pd(a, b);
}
INLINE mask_f less_f(vec_f a, vec_f b)
{
    return _mm512_cmp_ps_mask(a, b, _CMP_LT_OQ);
}
INLINE mask_d less_d(vec_d a, vec_d b)
{
    return _mm512_cmp_pd_mask(a, b, _CMP_LT_OQ);
}
INLINE int any_f(mask_f mask)
{
    return mask != 0;
}
INLINE int any_d(mask_d mask)
{
    return mask != 0;
}
INLINE vec_f select_f(mask_f mask, vec_f a, vec_f b)
{
    return _mm512_mask_blend_ps(mask, b, a);
}
INLINE vec_d select_d(mask_d mask, vec_d a, vec_d b)
{
    return _mm512_mask_blend_pd(mask, b, a);
}
INLINE ivec_f select_index_f(mask_f mask, ivec_f a, ivec_f b)
{
    return (ivec_f)_mm512_mask_blend_epi32(mask, (__m512i)b, (__m512i)a);
}
INLINE ivec_d select_index_d(mask_d mask, ivec_d a, ivec_d b)
{
    return (ivec_d)_mm512_mask_blend_epi64(mask, (__m512i)b, (__m512i)a);
}
INLINE vec_f load_part_f(const float *p, int32_t n)
{
    return _mm512_maskz_loadu_ps((__mmask16)((1u << n) - 1), p);
}
INLINE vec_d load_part_d(const double *p, int32_t n)
{
    return _mm512_maskz_loadu_pd((__mmask8)((1u << n) - 1), p);
}
INLINE vec_d widen_f(const float *p)
{
    return _mm512_cvtps_pd(_mm256_loadu_ps(p));
}
INLINE vec_d widen_u1(const uint8_t *p)
{
    return _mm512_cvtepi32_pd(_mm256_cvtepu8_epi32(_mm_loadl_epi64((const void *)p)));
}
INLINE vec_d widen_i1(const int8_t *p)
{
    return _mm512_cvtepi32_pd(_mm256_cvtepi8_epi32(_mm_loadl_epi64((const void *)p)));
}
INLINE vec_d widen_f2(const uint16_t *p)
{
    return _mm512_cvtps_pd(_mm256_cvtph_ps(_mm_loadu_si128((const __m128i_u *)p)));
}
INLINE vec_d widen_bf(const uint16_t *p)
{
    const __m256i words = _mm256_cvtepu16_epi32(_mm_loadu_si128((const __m128i_u *)p));
    return _mm512_cvtps_pd(_mm256_castsi256_ps(_mm256_slli_epi32(words, 16)));
}
INLINE vec_f join_f(vec_d low, vec_d high)
{
    return _mm512_insertf32x8(_mm512_castps256_ps512(_mm512_cvtpd_ps(low)),
                              _mm512_cvtpd_ps(high), 1);
}
INLINE wvec load_bytes_w(const uint8_t *p)
{
    return (wvec)_mm512_cvtepu8_epi16(_mm256_loadu_si256((const __m256i_u *)p));
}
INLINE ivec_f load_bytes_f(const uint8_t *p)
{
    return (ivec_f)_mm512_cvtepu8_epi32(_mm_loadu_si128((const __m128i_u *)p));
}
INLINE ivec_f dot_pairs(wvec a, wvec b)
{
    return (ivec_f)_mm512_madd_epi16((__m512i)a, (__m512i)b);
}
INLINE vec_f zip_low_f(vec_f a, vec_f b)
{
    return _mm512_unpacklo_ps(a, b);
}
INLINE vec_f zip_high_f(vec_f a, vec_f b)
{
    return _mm512_unpackhi_ps(a, b);
}
INLINE vec_d zip_low_d(vec_d a, vec_d b)
{
    return _mm512_unpacklo_pd(a, b);
}
INLINE vec_d zip_high_d(vec_d a, vec_d b)
{
    return _mm512_unpackhi_pd(a, b);
}
INLINE four_f fold_f(vec_f v)
{
    const __m256 h = _mm512_castps512_ps256(v) + _mm512_extractf32x8_ps(v, 1);
    return _mm256_castps256_ps128(h) + _mm256_extractf128_ps(h, 1);
}
INLINE two_d fold_d(vec_d v)
{
    const __m256d h = _mm512_castpd512_pd256(v) + _mm512_extractf64x4_pd(v, 1);
    return _mm256_castpd256_pd128(h) + _mm256_extractf128_pd(h, 1);
}

#elif defined(SIMD_AVX2)

/* 12 sums in 16 registers. */
#define TILE_BIG 6
#define TILE_SMALL 3

typedef ivec_f mask_f;
typedef ivec_d mask_d;

INLINE vec_f fma_f(vec_f a, vec_f b, vec_f c)
{
    return _mm256_fmadd_ps(a, b, c);
}
INLINE vec_d fma_d(vec_d a, vec_d b, vec_d c)
{
    return _mm256_fmadd_pd(a, b, c);
}
INLINE vec_f min_f(vec_f a, vec_f b)
{
    return _mm256_min_ps(a, b);
}
INLINE vec_d min_d(vec_d a, vec_d b)
{
    return _mm256_min_pd(a, b);
}
INLINE vec_f max_f(vec_f a, vec_f b)
{
    return _mm256_max_ps(a, b);
}
INLINE vec_d max_d(vec_d a, vec_d b)
{
    return _mm256_max_pd(a, b);
}
INLINE mask_f less_f(vec_f a, vec_f b)
{
    return (mask_f)_mm256_cmp_ps(a, b, _CMP_LT_OQ);
}
INLINE mask_d less_d(vec_d a, vec_d b)
{
    return (mask_d)_mm256_cmp_pd(a, b, _CMP_LT_OQ);
}
INLINE int any_f(mask_f mask)
{
    return _mm256_movemask_ps((__m256)mask) != 0;
}
INLINE int any_d(mask_d mask)
{
    return _mm256_movemask_pd((__m256d)mask) != 0;
}
INLINE vec_f select_f(mask_f mask, vec_f a, vec_f b)
{
    return _mm256_blendv_ps(b, a, (__m256)mask);
}
INLINE vec_d select_d(mask_d mask, vec_d a, vec_d b)
{
    return _mm256_blendv_pd(b, a, (__m256d)mask);
}
INLINE ivec_f select_index_f(mask_f mask, ivec_f a, ivec_f b)
{
    return (ivec_f)_mm256_blendv_ps((__m256)b, (__m256)a, (__m256)mask);
}
INLINE ivec_d select_index_d(mask_d mask, ivec_d a, ivec_d b)
{
    return (ivec_d)_mm256_blendv_pd((__m256d)b, (__m256d)a, (__m256d)mask);
}
INLINE vec_f load_part_f(const float *p, int32_t n)
{
    const ivec_f lane = {0, 1, 2, 3, 4, 5, 6, 7};
    return _mm256_maskload_ps(p, (__m256i)(lane < n));
}
INLINE vec_d load_part_d(const double *p, int32_t n)
{
    const ivec_d lane = {0, 1, 2, 3};
    return _mm256_maskload_pd(p, (__m256i)(lane < (int64_t)n));
}
INLINE vec_d widen_f(const float *p)
{
    return _mm256_cvtps_pd(_mm_loadu_ps(p));
}
INLINE vec_d widen_u1(const uint8_t *p)
{
    int32_t four;
    memcpy(&four, p, sizeof four);
    return _mm256_cvtepi32_pd(_mm_cvtepu8_epi32(_mm_cvtsi32_si128(four)));
}
INLINE vec_d widen_i1(const int8_t *p)
{
    int32_t four;
    memcpy(&four, p, sizeof four);
    return _mm256_cvtepi32_pd(_mm_cvtepi8_epi32(_mm_cvtsi32_si128(four)));
}
INLINE vec_d widen_f2(const uint16_t *p)
{
    return _mm256_cvtps_pd(_mm_cvtph_ps(_mm_loadl_epi64((const __m128i_u *)p)));
}
INLINE vec_d widen_bf(const uint16_t *p)
{
    const __m128i words = _mm_cvtepu16_epi32(_mm_loadl_epi64((const __m128i_u *)p));
    return _mm256_cvtps_pd(_mm_castsi128_ps(_mm_slli_epi32(words, 16)));
}
INLINE vec_f join_f(vec_d low, vec_d high)
{
    return _mm256_set_m128(_mm256_cvtpd_ps(high), _mm256_cvtpd_ps(low));
}
INLINE wvec load_bytes_w(const uint8_t *p)
{
    return (wvec)_mm256_cvtepu8_epi16(_mm_loadu_si128((const __m128i_u *)p));
}
INLINE ivec_f load_bytes_f(const uint8_t *p)
{
    return (ivec_f)_mm256_cvtepu8_epi32(_mm_loadl_epi64((const __m128i_u *)p));
}
INLINE ivec_f dot_pairs(wvec a, wvec b)
{
    return (ivec_f)_mm256_madd_epi16((__m256i)a, (__m256i)b);
}
INLINE vec_f zip_low_f(vec_f a, vec_f b)
{
    return _mm256_unpacklo_ps(a, b);
}
INLINE vec_f zip_high_f(vec_f a, vec_f b)
{
    return _mm256_unpackhi_ps(a, b);
}
INLINE vec_d zip_low_d(vec_d a, vec_d b)
{
    return _mm256_unpacklo_pd(a, b);
}
INLINE vec_d zip_high_d(vec_d a, vec_d b)
{
    return _mm256_unpackhi_pd(a, b);
}
INLINE four_f fold_f(vec_f v)
{
    return _mm256_castps256_ps128(v) + _mm256_extractf128_ps(v, 1);
}
INLINE two_d fold_d(vec_d v)
{
    return _mm256_castpd256_pd128(v) + _mm256_extractf128_pd(v, 1);
}

#else /* SIMD_SSE2 */

/* 12 sums, two vectors of items, a broadcast and a product: all 16 registers. */
#define TILE_BIG 6
#define TILE_SMALL 3

typedef ivec_f mask_f;
typedef ivec_d mask_d;

INLINE vec_f fma_f(vec_f a, vec_f b, vec_f c)
{
    return a * b + c;
}
INLINE vec_d fma_d(vec_d a, vec_d b, vec_d c)
{
    return a * b + c;
}
INLINE vec_f min_f(vec_f a, vec_f b)
{
    return _mm_min_ps(a, b);
}
INLINE vec_d min_d(vec_d a, vec_d b)
{
    return _mm_min_pd(a, b);
}
INLINE vec_f max_f(vec_f a, vec_f b)
{
    return _mm_max_ps(a, b);
}
INLINE vec_d max_d(vec_d a, vec_d b)
{
    return _mm_max_pd(a, b);
}
INLINE mask_f less_f(vec_f a, vec_f b)
{
    return a < b;
}
INLINE mask_d less_d(vec_d a, vec_d b)
{
    return a < b;
}
INLINE int any_f(mask_f mask)
{
    return _mm_movemask_ps((__m128)mask) != 0;
}
INLINE int any_d(mask_d mask)
{
    return _mm_movemask_pd((__m128d)mask) != 0;
}
INLINE vec_f select_f(mask_f mask, vec_f a, vec_f b)
{
    return (vec_f)((mask & (ivec_f)a) | (~mask & (ivec_f)b));
}
INLINE vec_d select_d(mask_d mask, vec_d a, vec_d b)
{
    return (vec_d)((mask & (ivec_d)a) | (~mask & (ivec_d)b));
}
INLINE ivec_f select_index_f(mask_f mask, ivec_f a, ivec_f b)
{
    return (mask & a) | (~mask & b);
}
INLINE ivec_d select_index_d(mask_d mask, ivec_d a, ivec_d b)
{
    return (mask & a) | (~mask & b);
}
INLINE vec_f load_part_f(const float *p, int32_t n)
{
    return (vec_f){p[0], n > 1 ? p[1] : 0, n > 2 ? p[2] : 0, 0};
}
INLINE vec_d load_part_d(const double *p, int32_t n)
{
    (void)n; /* a part of two lanes is one */
    return (vec_d){p[0], 0};
}
INLINE vec_d widen_f(const float *p)
{
    return (vec_d){(double)p[0], (double)p[1]};
}
INLINE wvec load_bytes_w(const uint8_t *p)
{
    return (wvec)_mm_unpacklo_epi8(_mm_loadl_epi64((const __m128i_u *)p),
                                   _mm_setzero_si128());
}
INLINE ivec_f load_bytes_f(const uint8_t *p)
{
    return (ivec_f){p[0], p[1], p[2], p[3]};
}
INLINE ivec_f dot_pairs(wvec a, wvec b)
{
    return (ivec_f)_mm_madd_epi16((__m128i)a, (__m128i)b);
}
INLINE vec_f zip_low_f(vec_f a, vec_f b)
{
    return _mm_unpacklo_ps(a, b);
}
INLINE vec_f zip_high_f(vec_f a, vec_f b)
{
    return _mm_unpackhi_ps(a, b);
}
INLINE vec_d zip_low_d(vec_d a, vec_d b)
{
    return _mm_unpacklo_pd(a, b);
}
INLINE vec_d zip_high_d(vec_d a, vec_d b)
{
    return _mm_unpackhi_pd(a, b);
}
INLINE four_f fold_f(vec_f v)
{
    return v;
}
INLINE two_d fold_d(vec_d v)
{
    return v;
}

#endif
#endif
