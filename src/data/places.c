/* Where the draws of a coreset fall. Order statistics of N' uniform numbers are the places of
 * a Poisson process: with N' + 1 exponential spacings E_k,
 *
 *     u_(k) = (E_0 + ... + E_k) / (E_0 + ... + E_N').
 *
 * E_k is a function of (seed, k). They come out ordered: nothing has to be sorted. */
#include <math.h>

#include "base/parallel.h"
#include "base/rng.h"
#include "data/coreset.h"

enum { SPACINGS = 1 << 12 }; /* of a task */

typedef struct spacing {
    uint64_t seed;
    int64_t count;
    double *out;
} spacing;

static void run_spacings(void *arg, int64_t task, int thread)
{
    const spacing *s = arg;
    const int64_t end =
        (task + 1) * SPACINGS < s->count ? (task + 1) * SPACINGS : s->count;
    (void)thread;
    for (int64_t k = task * SPACINGS; k < end; k++) {
        vem_i_rng rng = vem_i_rng_at(s->seed, VEM_RNG_CORESET, 0, (uint64_t)k);
        s->out[k] = -log(vem_i_rng_open(&rng));
    }
}

void vem_i_draw_places(vem_i_run *run, uint64_t seed, int64_t size, double *places)
{
    spacing s = {.seed = seed, .count = size + 1, .out = places};
    vem_i_parallel_light(run, vem_i_shards(s.count, SPACINGS), SPACINGS * 100.0,
                         run_spacings, &s);
    for (int64_t k = 1; k <= size; k++)
        places[k] += places[k - 1];
    for (int64_t k = 0; k < size; k++)
        places[k] /= places[size];
}

int64_t vem_i_places_below(const double *places, int64_t from, int64_t size, double sum)
{
    int64_t low = from, high = size;
    while (low < high) {
        const int64_t middle = low + (high - low) / 2;
        if (places[middle] < sum)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}
