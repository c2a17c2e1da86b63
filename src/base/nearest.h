/* What a mistyped name was meant to be. */
#ifndef VEM_BASE_NEAREST_H
#define VEM_BASE_NEAREST_H

#include "vem/vem.h"

/* As vem_name_hint; `after` stands behind the name, with the mark of the question. */
const char *vem_i_name_hint(const char *word, const char *const *names, int count,
                            const char *before, const char *after, const char *otherwise,
                            char text[128]);

#endif
