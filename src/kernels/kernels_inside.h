/* The tables of this build, one per instruction set and type. Only cpu.c and the files
 * that define them need this. */
#ifndef VEM_KERNELS_KERNELS_INSIDE_H
#define VEM_KERNELS_KERNELS_INSIDE_H

#include "kernels/kernels.h"

extern const vem_i_kernels vem_i_kernels_reference_single, vem_i_kernels_reference_double;
extern const vem_i_kernels vem_i_kernels_baseline_single, vem_i_kernels_baseline_double;
extern const vem_i_kernels vem_i_kernels_avx2_single, vem_i_kernels_avx2_double;
extern const vem_i_kernels vem_i_kernels_avx512_single, vem_i_kernels_avx512_double;
extern const vem_i_kernels vem_i_kernels_neon_single, vem_i_kernels_neon_double;

#endif
