/* Structs that callers hand over by pointer begin with their size, so that a program and a
 * library of different versions agree on what is there: members are only ever added at the
 * end. What the caller's struct does not have is taken as 0, and is never written; what it has and we do
 * not know must be 0, or more was asked for than we can do. */
#include "base/structs.h"

#include <string.h>

static size_t size_of(const void *given)
{
    size_t size;
    memcpy(&size, given, sizeof size); /* the first member of each of them */
    return size;
}

vem_status vem_i_struct_check(vem_i_run *run, const char *type, const void *given,
                              size_t whole)
{
    enum { LARGEST = 4096 }; /* of later versions; beyond it nobody has set the size */
    if (size_of(given) > sizeof whole && size_of(given) <= LARGEST)
        return VEM_OK;
    return vem_i_fail(run, VEM_BAD_OPTION,
                      "The size of %s is %zu, but it must be set to sizeof(%s), %zu.",
                      type, size_of(given), type, whole);
}

vem_status vem_i_struct_in(vem_i_run *run, const char *type, const void *given,
                           void *ours, size_t whole)
{
    const vem_status status = vem_i_struct_check(run, type, given, whole);
    if (status != VEM_OK)
        return status;
    const size_t size = size_of(given);
    for (size_t i = whole; i < size; i++)
        if (((const char *)given)[i] != 0)
            return vem_i_fail(run, VEM_BAD_OPTION,
                              "A member of %s is set that this library, version %s, does "
                              "not have: the program was compiled with a later vem.h.",
                              type, VEM_VERSION);
    memset(ours, 0, whole);
    memcpy(ours, given, size < whole ? size : whole);
    memcpy(ours, &whole, sizeof whole);
    return VEM_OK;
}

void vem_i_struct_out(const void *ours, void *given, size_t whole)
{
    const size_t size = size_of(given), least = size < whole ? size : whole;
    if (least > sizeof size)
        memcpy((char *)given + sizeof size, (const char *)ours + sizeof size,
               least - sizeof size);
}
