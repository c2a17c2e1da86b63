#include "base/blas.h"

/* Present when the BLAS is OpenBLAS; any other is left as it is. */
extern void openblas_set_num_threads(int threads) __attribute__((weak));
extern int openblas_get_num_threads(void) __attribute__((weak));

vem_i_blas_state vem_i_blas_single(int needed)
{
    vem_i_blas_state state = {0};
    if (needed && openblas_set_num_threads && openblas_get_num_threads) {
        state.threads = openblas_get_num_threads();
        openblas_set_num_threads(1);
    }
    return state;
}

void vem_i_blas_restore(vem_i_blas_state state)
{
    if (state.threads > 0)
        openblas_set_num_threads(state.threads);
}
