/* Checked allocation. Everything is 64-byte aligned so that kernels may use aligned
 * vectors. */
#ifndef VEM_BASE_MEMORY_H
#define VEM_BASE_MEMORY_H

#include "base/ctx.h"

/* count * size bytes (product checked), aligned to 64, not cleared. NULL on failure.
 * count 0 gives a valid pointer. Free with vem_i_free. */
void *vem_i_alloc(size_t count, size_t size);
void *vem_i_calloc(size_t count, size_t size);
void vem_i_free(void *memory);

/* As vem_i_alloc, but writes *out and records a message: VEM_OK or VEM_NO_MEMORY. */
vem_status vem_i_take(vem_ctx *ctx, void *out_pointer, size_t count, size_t size);
vem_status vem_i_take_zeroed(vem_ctx *ctx, void *out_pointer, size_t count, size_t size);

/* Several arrays, so that one list says what an object takes, gives back, and plans. */
typedef struct vem_i_room {
    void *out; /* address of the pointer, which is NULL or was taken so */
    size_t count, size;
    int zeroed;
} vem_i_room;
#define VEM_I_COUNT(list) (sizeof(list) / sizeof *(list))

/* What was taken before a failure stays; arrays of count 0 are left out. */
vem_status vem_i_take_rooms(vem_ctx *ctx, const vem_i_room *list, size_t count);
void vem_i_free_rooms(const vem_i_room *list, size_t count);
uint64_t vem_i_rooms_bytes(const vem_i_room *list, size_t count);

#endif
