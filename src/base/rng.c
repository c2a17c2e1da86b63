#include "base/rng.h"

#include <math.h>

#include <Random123/philox.h>

vem_i_rng vem_i_rng_at(uint64_t seed, vem_i_purpose purpose, uint32_t step, uint64_t item)
{
    return (vem_i_rng){.seed = seed,
                       .purpose = (uint32_t)purpose,
                       .step = step,
                       .item = item};
}

uint32_t vem_i_rng_bits(vem_i_rng *rng)
{
    if (rng->left == 0) {
        /* The key holds the seed; the counter holds everything else. The purpose takes
         * the top byte of the word that holds the index, so an item may draw 2^24 blocks.
         */
        philox4x32_key_t key = {{(uint32_t)rng->seed, (uint32_t)(rng->seed >> 32)}};
        philox4x32_ctr_t counter = {{(uint32_t)rng->item, (uint32_t)(rng->item >> 32),
                                     rng->step, rng->purpose << 24 ^ rng->index}};
        philox4x32_ctr_t block = philox4x32(counter, key);
        for (int i = 0; i < 4; i++)
            rng->words[i] = block.v[i];
        rng->index++;
        rng->left = 4;
    }
    return rng->words[--rng->left];
}

double vem_i_rng_uniform(vem_i_rng *rng)
{
    uint64_t high = vem_i_rng_bits(rng);
    uint64_t low = vem_i_rng_bits(rng);
    return (double)((high << 32 | low) >> 11) * 0x1p-53;
}

double vem_i_rng_open(vem_i_rng *rng)
{
    return vem_i_rng_uniform(rng) + 0x1p-54;
}

uint64_t vem_i_rng_below(vem_i_rng *rng, uint64_t bound)
{
    /* Reject the short last stretch of the 64-bit range, so every value is equally
     * likely. */
    uint64_t limit = UINT64_MAX - UINT64_MAX % bound;
    for (;;) {
        uint64_t high = vem_i_rng_bits(rng);
        uint64_t bits = high << 32 | vem_i_rng_bits(rng);
        if (bits < limit)
            return bits % bound;
    }
}

void vem_i_rng_distinct(vem_i_rng *rng, int32_t bound, int32_t without, int32_t count,
                        int32_t *out)
{
    int32_t found = 0, room = bound - (without >= 0);
    if (count > room / 4) {
        /* Many of few: one walk that takes each number with the chance that is left. */
        for (int32_t c = 0, left = room; c < bound && found < count; c++) {
            if (c == without)
                continue;
            if ((int32_t)vem_i_rng_below(rng, (uint64_t)left) < count - found)
                out[found++] = c;
            left--;
        }
        return;
    }
    while (found < count) {
        int32_t c = (int32_t)vem_i_rng_below(rng, (uint64_t)bound), k = 0;
        while (k < found && out[k] != c)
            k++;
        if (k == found && c != without)
            out[found++] = c;
    }
}

double vem_i_rng_normal(vem_i_rng *rng)
{
    /* Box-Muller; the second value is dropped to keep the stream free of hidden state. */
    double radius = sqrt(-2.0 * log(vem_i_rng_open(rng)));
    return radius * cos(6.283185307179586477 * vem_i_rng_uniform(rng));
}

double vem_i_rng_gamma(vem_i_rng *rng, double shape)
{
    /* Marsaglia and Tsang (2000); shapes below 1 through shape + 1 and a power. */
    if (shape < 1.0) {
        double lifted = vem_i_rng_gamma(rng, shape + 1.0);
        return lifted * pow(vem_i_rng_open(rng), 1.0 / shape);
    }
    double d = shape - 1.0 / 3.0, c = 1.0 / sqrt(9.0 * d);
    for (;;) {
        double z = vem_i_rng_normal(rng), v = 1.0 + c * z;
        if (v <= 0)
            continue;
        v = v * v * v;
        if (log(vem_i_rng_open(rng)) < 0.5 * z * z + d - d * v + d * log(v))
            return d * v;
    }
}
