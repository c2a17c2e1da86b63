/* The run of a test's own calls into the library, one for each context, as it is set now. */
#ifndef VEM_TESTS_RUN_H
#define VEM_TESTS_RUN_H

#include "base/run.h"

vem_i_run *run_of(vem_ctx *ctx);

#endif
