/* Counter-based random numbers (Philox 4x32-10 of Random123).
 *
 * A number is a pure function of (seed, purpose, step, item, index): no state, no order
 * of calls, so threads and chunking cannot change it. */
#ifndef VEM_BASE_RNG_H
#define VEM_BASE_RNG_H

#include <stdint.h>

/* Purposes keep streams of different uses apart. Append; never renumber. */
typedef enum vem_i_purpose {
    VEM_RNG_SEEDING = 1,
    VEM_RNG_CHAIN = 2,
    VEM_RNG_GENERATE = 3,
    VEM_RNG_EMPTY = 4,
    VEM_RNG_RESTART = 5,
    VEM_RNG_TEST = 6,
    VEM_RNG_HELD = 7,    /* what items hold before the first step */
    VEM_RNG_GRAPH = 8,   /* neighbors before any are known */
    VEM_RNG_EXPLORE = 9, /* candidates drawn at random */
    VEM_RNG_CORESET = 10,
    VEM_RNG_GUIDED =
        20, /* assignment through buckets: their centers, rows of the sample */
    VEM_RNG_SAMPLE = 31,   /* rows on which a model is measured */
    VEM_RNG_MIXTURE = 32,  /* rows drawn from a mixture */
    VEM_RNG_STARTS = 33,   /* starts on a sample */
    VEM_RNG_INSERT = 34,   /* candidates for a cluster more */
    VEM_RNG_GAP = 35,      /* rows that are compared with their cells */
    VEM_RNG_BLOCKS = 36,   /* which rows are a block of incremental EM */
    VEM_RNG_PAIRS = 38,    /* pairs of rows, for the prior of a tree */
    VEM_RNG_RESAMPLE = 40, /* seeds of selections on part of the rows */
    VEM_RNG_REPEATS = 41   /* rows among which alike ones are looked for */
} vem_i_purpose;

typedef struct vem_i_rng {
    uint64_t seed;
    uint32_t purpose;
    uint32_t step;
    uint64_t item;
    uint32_t index; /* advances by one per block of four words */
    uint32_t words[4];
    int left;
} vem_i_rng;

vem_i_rng vem_i_rng_at(uint64_t seed, vem_i_purpose purpose, uint32_t step,
                       uint64_t item);
uint32_t vem_i_rng_bits(vem_i_rng *rng);
double vem_i_rng_uniform(vem_i_rng *rng);                 /* [0, 1), 53 bits */
double vem_i_rng_open(vem_i_rng *rng);                    /* (0, 1) */
uint64_t vem_i_rng_below(vem_i_rng *rng, uint64_t bound); /* unbiased, bound >= 1 */
/* `count` distinct numbers below `bound`, none of them `without` (-1: any). */
void vem_i_rng_distinct(vem_i_rng *rng, int32_t bound, int32_t without, int32_t count,
                        int32_t *out);
double vem_i_rng_normal(vem_i_rng *rng);
double vem_i_rng_gamma(vem_i_rng *rng, double shape); /* scale 1, shape > 0 */

#endif
