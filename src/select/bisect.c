/* The power iteration and the steps of 2-means are its own: a group here is at most 4,096 rows in double,
 * copied out of their view, and is divided thousands of times in a search, on one thread each. What coarse/ and
 * data/tree_axis.c have works on a view of any size, with threads and memory of its own. */
#include "select/bisect.h"

#include <math.h>
#include <string.h>

enum { POWER_STEPS = 6, PARTS = 16 };

static double dot(const double *a, const double *b, int64_t d)
{
    double sum = 0;
    for (int64_t j = 0; j < d; j++)
        sum += a[j] * b[j];
    return sum;
}

static double square_from(const double *row, const double *mean, int64_t d)
{
    double sum = 0;
    for (int64_t j = 0; j < d; j++)
        sum += (row[j] - mean[j]) * (row[j] - mean[j]);
    return sum;
}

double vem_i_bisected_part(const vem_i_bisected *h, int32_t part, double *mean)
{
    const int64_t d = h->d;
    double mass = 0, scatter = 0;
    memset(mean, 0, (size_t)d * sizeof *mean);
    for (int64_t i = 0; i < h->n; i++)
        if (h->part[i] == part) {
            for (int64_t j = 0; j < d; j++)
                mean[j] += h->masses[i] * h->rows[i * d + j];
            mass += h->masses[i];
        }
    for (int64_t j = 0; j < d && mass > 0; j++)
        mean[j] /= mass;
    for (int64_t i = 0; i < h->n; i++)
        if (h->part[i] == part)
            scatter += h->masses[i] * square_from(h->rows + i * d, mean, d);
    return scatter;
}

/* The widest direction of a part, from its farthest row: power steps on its covariance.
 * 0: it has none. */
static int find_axis(const vem_i_bisected *h, int32_t part, const double *mean,
                     double *axis, double *sum)
{
    const int64_t d = h->d;
    double far = 0;
    for (int64_t i = 0; i < h->n; i++) {
        const double square =
            h->part[i] == part ? square_from(h->rows + i * d, mean, d) : 0;
        if (!(square > far))
            continue;
        far = square;
        for (int64_t j = 0; j < d; j++)
            axis[j] = h->rows[i * d + j] - mean[j];
    }
    for (int k = 0; k < POWER_STEPS; k++) {
        double largest = 0; /* squares of squares would overflow */
        for (int64_t j = 0; j < d; j++)
            largest = fmax(largest, fabs(axis[j]));
        for (int64_t j = 0; largest > 0 && j < d; j++)
            axis[j] /= largest;
        const double length = sqrt(dot(axis, axis, d));
        if (!(far > 0 && length > 0))
            return 0;
        for (int64_t j = 0; j < d; j++)
            axis[j] /= length;
        memset(sum, 0, (size_t)d * sizeof *sum);
        const double middle = dot(axis, mean, d);
        for (int64_t i = 0; i < h->n; i++)
            if (h->part[i] == part) {
                const double *row = h->rows + i * d;
                const double along = h->masses[i] * (dot(row, axis, d) - middle);
                for (int64_t j = 0; j < d; j++)
                    sum[j] += along * (row[j] - mean[j]);
            }
        memcpy(axis, sum, (size_t)d * sizeof *axis);
    }
    return 1;
}

/* Rows of `part` beyond its mean become part `next`. 0: there are none, or no others. */
static int cut(vem_i_bisected *h, int32_t part, int32_t next)
{
    const int64_t d = h->d;
    double *mean = h->work, *axis = h->work + d, *sum = h->work + 2 * d;
    int64_t beyond = 0, others = 0;
    vem_i_bisected_part(h, part, mean);
    if (!find_axis(h, part, mean, axis, sum))
        return 0;
    const double middle = dot(axis, mean, d);
    for (int64_t i = 0; i < h->n; i++) {
        if (h->part[i] != part)
            continue;
        if (dot(h->rows + i * d, axis, d) > middle) {
            h->part[i] = (uint8_t)next;
            beyond++;
        } else {
            others++;
        }
    }
    for (int64_t i = 0; others == 0 && i < h->n; i++)
        if (h->part[i] == next)
            h->part[i] = (uint8_t)part;
    return beyond > 0 && others > 0;
}

int32_t vem_i_bisect(vem_i_bisected *h, int32_t most)
{
    double scatter[PARTS];
    int32_t count = 1;
    memset(h->part, 0, (size_t)h->n);
    scatter[0] = vem_i_bisected_part(h, 0, h->work);
    while (count < most && count < PARTS) {
        int32_t widest = 0;
        for (int32_t p = 1; p < count; p++)
            if (scatter[p] > scatter[widest])
                widest = p;
        if (!(scatter[widest] > 0))
            break;
        if (!cut(h, widest, count)) {
            scatter[widest] = 0;
            continue;
        }
        scatter[widest] = vem_i_bisected_part(h, widest, h->work);
        scatter[count] = vem_i_bisected_part(h, count, h->work);
        count++;
    }
    return count;
}

/* Of all parts, in one pass. */
static void find_means(const vem_i_bisected *h, int32_t parts)
{
    const int64_t d = h->d;
    double mass[PARTS] = {0};
    memset(h->means, 0, (size_t)(parts * d) * sizeof *h->means);
    for (int64_t i = 0; i < h->n; i++) {
        double *mean = h->means + h->part[i] * d;
        mass[h->part[i]] += h->masses[i];
        for (int64_t j = 0; j < d; j++)
            mean[j] += h->masses[i] * h->rows[i * d + j];
    }
    for (int32_t p = 0; p < parts; p++)
        for (int64_t j = 0; j < d && mass[p] > 0; j++)
            h->means[p * d + j] /= mass[p];
}

void vem_i_bisected_lloyd(vem_i_bisected *h, int32_t parts, int steps)
{
    const int64_t d = h->d;
    int64_t changed = 1;
    for (int k = 0; k < steps && changed > 0; k++) {
        changed = 0;
        find_means(h, parts);
        for (int64_t i = 0; i < h->n; i++) {
            const double *row = h->rows + i * d;
            int32_t best = h->part[i];
            double least = square_from(row, h->means + best * d, d);
            for (int32_t p = 0; p < parts; p++) {
                const double square = square_from(row, h->means + p * d, d);
                if (square < least) {
                    least = square;
                    best = p;
                }
            }
            changed += best != h->part[i];
            h->part[i] = (uint8_t)best;
        }
    }
}
