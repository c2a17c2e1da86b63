/* Memory, 64-byte aligned so that kernels may use aligned vectors. */
#ifndef VEM_BASE_ALLOC_H
#define VEM_BASE_ALLOC_H

#include <stddef.h>

/* count * size bytes (product checked), aligned to 64, not cleared. NULL on failure.
 * count 0 gives a valid pointer. Free with vem_i_free. */
void *vem_i_alloc(size_t count, size_t size);
void *vem_i_calloc(size_t count, size_t size);
void vem_i_free(void *memory);

#endif
