#include "select/triangle.h"

#include <math.h>

/* The log of a product, taken before it is no number any more. */
typedef struct product {
    double value, log;
} product;

static void multiply(product *p, double factor)
{
    p->value *= factor;
    if (p->value > 1e150) {
        p->log += log(p->value);
        p->value = 1;
    }
}

double vem_i_triangle_factorize(double *a, int64_t n)
{
    product all = {1, 0};
    for (int64_t i = 0; i < n; i++) {
        double *row = a + i * (i + 1) / 2;
        for (int64_t j = 0; j < i; j++) {
            const double *other = a + j * (j + 1) / 2;
            row[j] = (row[j] - vem_i_dot(row, other, j)) / other[j];
        }
        const double pivot = fmax(row[i] - vem_i_dot(row, row, i), 1);
        multiply(&all, pivot);
        row[i] = sqrt(pivot);
    }
    return all.log + log(all.value);
}

void vem_i_triangle_invert(double *a, int64_t n)
{
    for (int64_t j = 0; j < n; j++) {
        a[j * (j + 1) / 2 + j] = 1 / a[j * (j + 1) / 2 + j];
        for (int64_t i = j + 1; i < n; i++) {
            double *row = a + i * (i + 1) / 2, sum = 0;
            for (int64_t k = j; k < i; k++)
                sum += row[k] * a[k * (k + 1) / 2 + j];
            row[j] = -sum / row[i];
        }
    }
}

void vem_i_triangle_add(double *matrix, const double *v, int64_t d)
{
    for (int64_t i = 0, at = 0; i < d; i++)
        for (int64_t j = 0; j <= i; j++, at++)
            matrix[at] += v[i] * v[j];
}
