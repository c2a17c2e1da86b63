/* Two doubles at a time: what the baseline of every processor we know has. */
#ifndef VEM_MODEL_PAIR_H
#define VEM_MODEL_PAIR_H

#include <string.h>

typedef double vem_i_pair __attribute__((vector_size(16)));

static inline vem_i_pair vem_i_load(const double *p)
{
    vem_i_pair v;
    memcpy(&v, p, sizeof v);
    return v;
}

#endif
