/* The kernels for processors with AVX-512 F, DQ, VL and BW. The build gives this file its
 * own flags (-mavx512f -mavx512dq -mavx512vl -mavx512bw -mfma); plain gcc is told here.
 */
#include "kernels/kernels_inside.h"

#if defined(__x86_64__)
#if !(defined(__AVX512F__) && defined(__AVX512DQ__) && defined(__AVX512BW__))
#if defined(__clang__)
#error "Compile this file with -mavx512f -mavx512dq -mavx512vl -mavx512bw -mfma."
#endif
#pragma GCC target("avx512f,avx512dq,avx512vl,avx512bw,avx2,fma,f16c")
#endif

#define SIMD_AVX512
#define ISA avx512
#define ISA_NAME "avx512"
#include "kernels/kernels_types.inc"
#endif
