/* LAPACK is called from our own parallel loops, one thread per call: its own threads
 * would fight ours and could change the bits of a result. */
#ifndef VEM_BASE_BLAS_H
#define VEM_BASE_BLAS_H

typedef struct vem_i_blas_state {
    int threads; /* what the library was set to, 0: not ours to set */
} vem_i_blas_state;

/* `needed` 0: nothing is done, which matters because the change takes milliseconds. */
vem_i_blas_state vem_i_blas_single(int needed);
void vem_i_blas_restore(vem_i_blas_state state);

#endif
