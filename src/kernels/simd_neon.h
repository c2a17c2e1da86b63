/* simd.h for 64-bit ARM, where NEON is always there. */
#ifndef VEM_KERNELS_SIMD_NEON_H
#define VEM_KERNELS_SIMD_NEON_H

#include <arm_neon.h>

/* 24 sums in 32 registers. */
#define TILE_BIG 12
#define TILE_SMALL 4

typedef ivec_f mask_f;
typedef ivec_d mask_d;

INLINE vec_f fma_f(vec_f a, vec_f b, vec_f c)
{
    return (vec_f)vfmaq_f32((float32x4_t)c, (float32x4_t)a, (float32x4_t)b);
}
INLINE vec_d fma_d(vec_d a, vec_d b, vec_d c)
{
    return (vec_d)vfmaq_f64((float64x2_t)c, (float64x2_t)a, (float64x2_t)b);
}
INLINE vec_f min_f(vec_f a, vec_f b)
{
    return (vec_f)vminq_f32((float32x4_t)a, (float32x4_t)b);
}
INLINE vec_d min_d(vec_d a, vec_d b)
{
    return (vec_d)vminq_f64((float64x2_t)a, (float64x2_t)b);
}
INLINE vec_f max_f(vec_f a, vec_f b)
{
    return (vec_f)vmaxq_f32((float32x4_t)a, (float32x4_t)b);
}
INLINE vec_d max_d(vec_d a, vec_d b)
{
    return (vec_d)vmaxq_f64((float64x2_t)a, (float64x2_t)b);
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
    return vmaxvq_u32((uint32x4_t)mask) != 0;
}
INLINE int any_d(mask_d mask)
{
    return vmaxvq_u32((uint32x4_t)mask) != 0;
}
INLINE vec_f select_f(mask_f mask, vec_f a, vec_f b)
{
    return (vec_f)vbslq_f32((uint32x4_t)mask, (float32x4_t)a, (float32x4_t)b);
}
INLINE vec_d select_d(mask_d mask, vec_d a, vec_d b)
{
    return (vec_d)vbslq_f64((uint64x2_t)mask, (float64x2_t)a, (float64x2_t)b);
}
INLINE ivec_f select_index_f(mask_f mask, ivec_f a, ivec_f b)
{
    return (ivec_f)vbslq_s32((uint32x4_t)mask, (int32x4_t)a, (int32x4_t)b);
}
INLINE ivec_d select_index_d(mask_d mask, ivec_d a, ivec_d b)
{
    return (ivec_d)vbslq_s64((uint64x2_t)mask, (int64x2_t)a, (int64x2_t)b);
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
    return (vec_d)vcvt_f64_f32(vld1_f32(p));
}
INLINE wvec load_bytes_w(const uint8_t *p)
{
    return (wvec)vmovl_u8(vld1_u8(p));
}
INLINE ivec_f load_bytes_f(const uint8_t *p)
{
    return (ivec_f){p[0], p[1], p[2], p[3]};
}
INLINE ivec_f dot_pairs(wvec a, wvec b)
{
    const int16x8_t x = (int16x8_t)a, y = (int16x8_t)b;
    return (ivec_f)vpaddq_s32(vmull_s16(vget_low_s16(x), vget_low_s16(y)),
                              vmull_high_s16(x, y));
}
INLINE vec_f zip_low_f(vec_f a, vec_f b)
{
    return SHUFFLE(a, b, ivec_f, 0, 4, 1, 5);
}
INLINE vec_f zip_high_f(vec_f a, vec_f b)
{
    return SHUFFLE(a, b, ivec_f, 2, 6, 3, 7);
}
INLINE vec_d zip_low_d(vec_d a, vec_d b)
{
    return SHUFFLE(a, b, ivec_d, 0, 2);
}
INLINE vec_d zip_high_d(vec_d a, vec_d b)
{
    return SHUFFLE(a, b, ivec_d, 1, 3);
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
