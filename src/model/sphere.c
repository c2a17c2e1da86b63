/* Means on the unit sphere.
 *
 * Rows x are of length 1, and so are means mu: then |x - mu|^2 = 2 (1 - x . mu), and the nearest mean
 * is the one of the largest cosine. With n the mass that a cluster holds and S the sum of its rows
 *
 *     sum_i w_i |x_i - mu|^2 = 2 (n - S . mu)  >=  2 (n - |S|),      equal for mu = S / |S|,
 *
 * which is the M-step (scorer.c: vem_i_move_mean): whatever S . mu was, it becomes |S|. Where S is 0
 * all means are as good, and the old one stays. */
#include "model/sphere.h"

#include "data/unit.h"

double vem_i_sphere_least(vem_precision precision)
{
    return precision == VEM_SINGLE ? 0x1p-20 : 0x1p-46;
}

void vem_i_sphere_place(const vem_i_sphere *sphere, int32_t d, double *mean)
{
    for (int32_t j = 0; j < d; j++)
        mean[j] = vem_i_sphere_out(sphere, mean[j], j);
    vem_i_normalize_row(mean, d);
    if (vem_i_row_is_zero(mean, d))
        mean[0] = 1;
    for (int32_t j = 0; j < d; j++)
        mean[j] = vem_i_sphere_in(sphere, mean[j], j);
}
