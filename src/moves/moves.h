/* Moves beside the loop: they act on model and posterior and are named in the trace. */
#ifndef VEM_MOVES_MOVES_H
#define VEM_MOVES_MOVES_H

#include "em/em.h"

/* The policy for clusters that hold nothing; NULL for VEM_EMPTY_KEEP. */
vem_i_policy vem_i_empty_policy(vem_empty_policy policy);

#endif
