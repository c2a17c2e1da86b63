/* Rows alike are counted, so that no bound depends on how their weights are rounded. */
#include "moves/cap_bounds.h"

#include <math.h>

/* A cap times a mean that should be a whole number may be below it by rounding. */
static const double ROUNDED = 1 + 1e-12;

vem_i_cap_bounds vem_i_cap_bounds_of(const double *mass, int64_t n, int32_t clusters,
                                     double cap)
{
    vem_i_cap_bounds b = {.alike = 1, .unit = 1, .count = mass ? 0 : n};
    double heaviest = 0, lightest = INFINITY, total = 0;
    for (int64_t i = 0; mass && i < n; i++) {
        if (!(mass[i] > 0))
            continue;
        heaviest = fmax(heaviest, mass[i]);
        lightest = fmin(lightest, mass[i]);
        total += mass[i];
        b.count++;
    }
    b.alike = !mass || heaviest == lightest;
    if (!b.alike) {
        b.full = cap * total / clusters;
        b.most = b.full * ROUNDED;
        return b;
    }
    const double mean = (double)b.count / clusters;
    b.unit = mass ? heaviest : 1;
    b.full = b.most = fmax(floor(cap * mean * ROUNDED), ceil(mean));
    b.least = cap == 1 ? floor(mean) : 0;
    return b;
}
