/* What the system says when it refuses. */
#ifndef VEM_BASE_SYSTEM_H
#define VEM_BASE_SYSTEM_H

#include "base/run.h"

/* "PATH could not be DONE: why." with the system's reason for `error` (an errno). */
vem_status vem_i_fail_system(vem_i_run *run, const char *path, const char *done,
                             int error);

#endif
