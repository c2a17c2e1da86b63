/* The kernels for processors with AVX2 and FMA. The build gives this file its
 * own flags (-mavx2 -mfma); plain gcc is told here. */
#include "kernels/kernels_inside.h"

#if defined(__x86_64__)
#if !(defined(__AVX2__) && defined(__FMA__))
#if defined(__clang__)
#error "Compile this file with -mavx2 -mfma."
#endif
#pragma GCC target("avx2,fma")
#endif

#define SIMD_AVX2
#define ISA avx2
#define ISA_NAME "avx2"
#include "kernels/kernels_types.inc"
#endif
