#include "base/alloc.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum { ALIGNMENT = 64 };
/* From this size on memory is asked for in huge pages where the system has them: its first
 * touch costs several times less. */
static const size_t HUGE_FROM = (size_t)8 << 20, PAGE = 4096;

void *vem_i_alloc(size_t count, size_t size)
{
    size_t bytes;
    if (__builtin_mul_overflow(count, size, &bytes) || bytes > SIZE_MAX / 2)
        return NULL;
    if (bytes == 0)
        bytes = 1;
    void *memory = NULL;
    if (posix_memalign(&memory, ALIGNMENT, bytes) != 0)
        return NULL;
    if (bytes >= HUGE_FROM) { /* advice: nothing depends on it */
        char *first = (char *)memory + (PAGE - (uintptr_t)memory % PAGE) % PAGE;
        madvise(first, (bytes - (size_t)(first - (char *)memory)) / PAGE * PAGE,
                MADV_HUGEPAGE);
    }
    return memory;
}

void *vem_i_calloc(size_t count, size_t size)
{
    void *memory = vem_i_alloc(count, size);
    if (memory)
        memset(memory, 0, count * size);
    return memory;
}

void vem_i_free(void *memory)
{
    free(memory);
}
