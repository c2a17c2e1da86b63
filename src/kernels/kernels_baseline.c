/* The kernels that every processor of this architecture runs: SSE2 on x86-64, plain
 * vector operators elsewhere. */
#if defined(__x86_64__)
#define SIMD_SSE2
#else
#define SIMD_PORTABLE
#endif
#define ISA baseline
#define ISA_NAME "baseline"
#include "kernels/kernels_types.inc"
