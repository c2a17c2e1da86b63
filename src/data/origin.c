/* The origin of a view: the mean of the rows, or what is nearer to them.
 *
 * A row at 1e10 among a thousand moves their mean by 1e7, and about such an origin the other
 * rows lose their digits when they are stored in single precision. So a few rows from all
 * over the data say where most of them are: where the mean of a column lies farther from
 * their median than FAR times the spread of the middle of them, the median is the origin.
 * Elsewhere, and so nearly always, it is the mean. A column whose middle does not vary (most
 * of its values are 0, say) keeps the mean. */
#include <math.h>
#include <stdlib.h>

#include "base/memory.h"
#include "base/residence.h"
#include "data/points.h"

enum { FAR = 8, MOST = 63, FEW = 15, MANY_COLUMNS = 4096 };

static int compare_doubles(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

double vem_i_median(double *values, int count, double *spread)
{
    qsort(values, (size_t)count, sizeof *values, compare_doubles);
    if (spread)
        *spread = values[count - 1 - count / 10] - values[count / 10];
    return values[count / 2];
}

void vem_i_pick_by_mass(const double *mass, int64_t n, int count, int64_t *picked)
{
    double total = 0, sum = 0;
    int64_t at = -1, last = 0; /* `sum` is the mass of those up to `at` */
    for (int64_t i = 0; mass && i < n; i++)
        total += mass[i];
    for (int64_t k = 0; k < count; k++) {
        while (mass && sum <= ((double)k + 0.5) * (total / count) && at + 1 < n) {
            sum += mass[++at];
            last = mass[at] > 0 ? at : last;
        }
        /* n / count each; no product that could overflow. */
        picked[k] = mass ? last : n / count * k + (n % count * (2 * k + 1)) / (2 * count);
    }
}

vem_status vem_i_origin_settle(const vem_i_pass *p, double *origin, double *shift)
{
    const int picked = p->d > MANY_COLUMNS ? FEW : MOST;
    int64_t items[MOST];
    double *rows, column[MOST];
    vem_status status =
        vem_i_take(p->run, &rows, (size_t)picked * (size_t)p->d, sizeof *rows);
    if (status != VEM_OK)
        return status;
    vem_i_pick_by_mass(vem_i_pass_masses(p), vem_i_pass_rows(p), picked, items);
    for (int k = 0; k < picked; k++) {
        double *row = rows + (int64_t)k * p->d;
        vem_i_data_load(p->data, (p->whole ? 0 : p->first) + items[k], 1, VEM_DOUBLE, row,
                        p->d);
        vem_i_row_to_length(p->normalize, row, p->d);
        vem_i_residence_check(p->run); /* each may bring in 2 MB around it */
    }
    for (int32_t j = 0; j < p->d; j++) {
        double spread;
        for (int k = 0; k < picked; k++)
            column[k] = rows[(int64_t)k * p->d + j];
        const double middle = vem_i_median(column, picked, &spread), mean = origin[j];
        if (spread > 0 && fabs(mean - middle) > FAR * spread)
            origin[j] = middle;
        shift[j] = mean - origin[j];
    }
    vem_i_free(rows);
    return VEM_OK;
}
