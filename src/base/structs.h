/* Structs of callers, which begin with their size. `type` is the name of the struct, `whole`
 * its size as the library knows it. */
#ifndef VEM_BASE_STRUCTS_H
#define VEM_BASE_STRUCTS_H

#include "base/run.h"

/* Was the size set at all? */
vem_status vem_i_struct_check(vem_i_run *run, const char *type, const void *given,
                              size_t whole);
/* A copy of what the caller gave, 0 where it gave nothing. */
vem_status vem_i_struct_in(vem_i_run *run, const char *type, const void *given,
                           void *ours, size_t whole);
/* Results into the caller's struct, as many as it has room for; its size stays. */
void vem_i_struct_out(const void *ours, void *given, size_t whole);

#endif
