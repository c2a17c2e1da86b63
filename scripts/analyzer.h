/* For clang-tidy only, put before every file of src/: the analyzer sees one file at a
 * time and would otherwise suppose that a failure may return VEM_OK. */
#ifndef VEM_SCRIPTS_ANALYZER_H
#define VEM_SCRIPTS_ANALYZER_H

#include <stdio.h>

#include "base/ctx.h"

#define vem_i_fail(ctx, status, ...)                                                     \
    ((void)(ctx), (void)snprintf(NULL, 0, __VA_ARGS__), (vem_status)(status))
#define vem_i_fail_memory(ctx, bytes) ((void)(ctx), (void)(bytes), VEM_NO_MEMORY)

#endif
