/* Two-level seeding, of rows that lie in one process or of those that it has of several (two_level.c). */
#ifndef VEM_SEED_TWO_LEVEL_INSIDE_H
#define VEM_SEED_TWO_LEVEL_INSIDE_H

#include "seed/seed.h"
#include "seed/two_level_apart.h"

/* Buckets for so many clusters among n rows. */
int32_t vem_i_two_level_buckets(int64_t n, int32_t clusters);
/* `view`: the rows that are chosen from, all of `whole`, or those of the buckets that are `owned`. */
vem_status vem_i_two_level_choose(vem_i_run *run, const vem_view *view,
                                  const vem_view *whole, const vem_i_owned *owned,
                                  int32_t clusters, uint64_t seed, vem_i_seeds *seeds);

#endif
