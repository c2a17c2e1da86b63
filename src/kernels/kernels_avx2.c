/* The kernels for processors with AVX2, FMA and F16C. The build gives this file its
 * own flags (-mavx2 -mfma -mf16c); plain gcc is told here. */
#include "kernels/kernels_inside.h"

#if defined(__x86_64__)
#if !(defined(__AVX2__) && defined(__FMA__) && defined(__F16C__))
#if defined(__clang__)
#error "Compile this file with -mavx2 -mfma -mf16c."
#endif
#pragma GCC target("avx2,fma,f16c")
#endif

#define SIMD_AVX2
#define ISA avx2
#define ISA_NAME "avx2"
#include "kernels/kernels_types.inc"
#endif
