/* simd.h in nothing but vector operators, for processors without a header of their own.
 */
#ifndef VEM_KERNELS_SIMD_PORTABLE_H
#define VEM_KERNELS_SIMD_PORTABLE_H

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
    return (mask[0] | mask[1] | mask[2] | mask[3]) != 0;
}
INLINE int any_d(mask_d mask)
{
    return (mask[0] | mask[1]) != 0;
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
INLINE vec_f min_f(vec_f a, vec_f b)
{
    return select_f(less_f(a, b), a, b);
}
INLINE vec_d min_d(vec_d a, vec_d b)
{
    return select_d(less_d(a, b), a, b);
}
INLINE vec_f max_f(vec_f a, vec_f b)
{
    return select_f(less_f(a, b), b, a);
}
INLINE vec_d max_d(vec_d a, vec_d b)
{
    return select_d(less_d(a, b), b, a);
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
    return (wvec){p[0], p[1], p[2], p[3], p[4], p[5], p[6], p[7]};
}
INLINE ivec_f load_bytes_f(const uint8_t *p)
{
    return (ivec_f){p[0], p[1], p[2], p[3]};
}
INLINE ivec_f dot_pairs(wvec a, wvec b)
{
    return (ivec_f){a[0] * b[0] + a[1] * b[1], a[2] * b[2] + a[3] * b[3],
                    a[4] * b[4] + a[5] * b[5], a[6] * b[6] + a[7] * b[7]};
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
