/* The kernels for 64-bit ARM. */
#include "kernels/kernels_inside.h"

#if defined(__aarch64__)
#define SIMD_NEON
#define ISA neon
#define ISA_NAME "neon"
#include "kernels/kernels_types.inc"
#endif
