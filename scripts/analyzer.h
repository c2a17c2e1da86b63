/* For clang-tidy only, put before every file of src/: the analyzer sees one file at a
 * time and would otherwise suppose that a failure may return VEM_OK. */
#ifndef VEM_SCRIPTS_ANALYZER_H
#define VEM_SCRIPTS_ANALYZER_H

#include <stdio.h>

#include "base/run.h"

#define vem_i_fail(run, status, ...)                                                     \
    ((void)(run), (void)snprintf(NULL, 0, __VA_ARGS__), (vem_status)(status))
#define vem_i_fail_memory(run, bytes) ((void)(run), (void)(bytes), VEM_NO_MEMORY)

#endif
