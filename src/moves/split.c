/* Where would a second cluster help most inside one? Along its widest direction.
 *
 * A few power steps  u <- sum_i w_i (e_i . u) e_i,  e = x - mean, find that direction; the
 * sides of the plane through the mean are two halves, and two steps of 2-means better
 * them. Projections come from the distances to  mean + u  and  mean - u :
 * e . u = (|e + u|^2 - |e - u|^2) / 4, with |u| near the spread of the items, where
 * little cancels.
 *
 * On the sphere the halves are directions s_a = S_a / |S_a| and s_b of the sums of their rows, and with
 * S = S_a + S_b the split is worth (model/sphere.c)
 *
 *     2 (|S_a| + |S_b| - |S|) = 2 |S_a| |S_b| |s_a - s_b|^2 / (|S_a| + |S_b| + |S|)
 *
 * by (|S_a| + |S_b|)^2 - |S|^2 = 2 (|S_a| |S_b| - S_a . S_b): that form cancels nothing. */
#include "moves/split.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "base/residence.h"

enum { POWER_STEPS = 3, MEANS_STEPS = 2, FIRST_LOOK = 16 };

/* Scratch of one thread. */
typedef struct bench {
    double *sum;    /* d */
    void *mean;     /* d of T */
    void *pair;     /* 2 x d of T: two centers */
    void *costs;    /* 2 x VEM_I_BLOCK of T */
    void *weights;  /* VEM_I_BLOCK of T */
    int32_t *index; /* 2 x VEM_I_BLOCK: 0 ... 0 1 ... 1 */
} bench;

struct vem_i_splitter {
    vem_i_run *run;
    const vem_view *view;
    const vem_i_posterior *posterior;
    bench *benches; /* per thread */
    void *one, *zero;
    double values[4]; /* room for the two of each */
    vem_i_sphere sphere;
};

vem_status vem_i_splitter_new(vem_i_run *run, const vem_view *view,
                              const vem_i_posterior *posterior, vem_i_splitter **splitter)
{
    vem_i_splitter *s;
    vem_status status = vem_i_take_structs(run, &s, 1, sizeof *s);
    if (status != VEM_OK)
        return status;
    s->run = run;
    s->view = view;
    s->posterior = posterior;
    s->one = s->values;
    s->zero = s->values + 2;
    for (int i = 0; i < 2; i++) {
        vem_i_store(view->kernels, s->one, i, 1);
        vem_i_store(view->kernels, s->zero, i, 0);
    }
    size_t threads = (size_t)run->threads, d = (size_t)view->d;
    size_t element = view->kernels->element;
    status = vem_i_take_structs(run, &s->benches, threads, sizeof *s->benches);
    for (size_t i = 0; status == VEM_OK && i < threads; i++) {
        bench *b = &s->benches[i];
        const vem_i_room list[] = {
            {&b->sum, d, sizeof(double), 0},
            {&b->mean, d, element, 0},
            {&b->pair, d, 2 * element, 0},
            {&b->costs, VEM_I_BLOCK, 2 * element, 0},
            {&b->weights, VEM_I_BLOCK, element, 0},
            {&b->index, VEM_I_BLOCK, 2 * sizeof(int32_t), 0},
        };
        status = vem_i_take_rooms(run, list, VEM_I_COUNT(list));
        for (int32_t k = 0; b->index && k < 2 * VEM_I_BLOCK; k++)
            b->index[k] = k >= VEM_I_BLOCK;
    }
    if (status == VEM_OK)
        *splitter = s;
    else
        vem_i_splitter_free(s);
    return status;
}

void vem_i_splitter_free(vem_i_splitter *s)
{
    if (!s)
        return;
    for (int i = 0; s->benches && i < s->run->threads; i++) {
        bench *b = &s->benches[i];
        vem_i_free(b->sum);
        vem_i_free(b->mean);
        vem_i_free(b->pair);
        vem_i_free(b->costs);
        vem_i_free(b->weights);
        vem_i_free(b->index);
    }
    vem_i_free(s->benches);
    vem_i_free(s);
}

void vem_i_splitter_on(vem_i_splitter *s, vem_i_sphere sphere)
{
    s->sphere = sphere;
}

/* Squared distances of n items to the two centers of the bench. */
static void meet(const vem_i_splitter *s, const bench *b, const uint32_t *items,
                 int32_t n)
{
    const vem_view *view = s->view;
    const vem_i_items listed = vem_i_items_at(view, 0, items, n);
    vem_i_residence_check(s->run);
    vem_i_items_pairs(view->kernels, &listed, view->d, b->pair, view->d, s->one, s->zero,
                      2, b->index, b->costs, VEM_I_BLOCK);
}

/* Row `which` of the pair becomes  mean + factor * v. */
static void put(const vem_i_splitter *s, const bench *b, int which, double factor,
                const double *v)
{
    const vem_i_kernels *kernels = s->view->kernels;
    int64_t d = s->view->d;
    for (int64_t j = 0; j < d; j++)
        vem_i_store(kernels, b->pair, which * d + j,
                    vem_i_value(kernels, b->mean, j) + factor * v[j]);
}

static double length(const double *v, int32_t d)
{
    double sum = 0;
    for (int32_t j = 0; j < d; j++)
        sum += v[j] * v[j];
    return sqrt(sum);
}

enum { ALL, PROJECTED, SECOND };

/* sum_i f_i (x_i - mean) into b->sum; f is the weight, times the projection on the
 * direction, or only of items nearer to the second center. Returns sum_i f_i. */
static double gather_sums(const vem_i_splitter *s, const bench *b,
                          const vem_i_splittable *cluster, int kind, double *second)
{
    const vem_i_kernels *kernels = s->view->kernels;
    double total = 0;
    memset(b->sum, 0, (size_t)s->view->d * sizeof *b->sum);
    *second = 0;
    for (int64_t i = 0; i < cluster->n; i += VEM_I_BLOCK) {
        int32_t n =
            cluster->n - i < VEM_I_BLOCK ? (int32_t)(cluster->n - i) : VEM_I_BLOCK;
        const uint32_t *items = cluster->items + i;
        if (kind != ALL)
            meet(s, b, items, n);
        else
            vem_i_residence_check(s->run);
        for (int32_t k = 0; k < n; k++) {
            double f = vem_i_first_weight(s->view, s->posterior, items[k]);
            if (kind != ALL) {
                double near = vem_i_value(kernels, b->costs, k);
                double far = vem_i_value(kernels, b->costs, VEM_I_BLOCK + k);
                f *= kind == PROJECTED ? 0.25 * (far - near) : far < near;
            }
            vem_i_store(kernels, b->weights, k, f);
        }
        const vem_i_items listed = vem_i_items_at(s->view, 0, items, n);
        total += vem_i_items_rows(kernels, &listed, b->weights, s->view->d, b->mean,
                                  b->sum, second);
    }
    return total;
}

/* The first guess: from the mean to the farthest of a few items. */
static void first_direction(const vem_i_splitter *s, const bench *b,
                            const vem_i_splittable *cluster)
{
    const vem_i_kernels *kernels = s->view->kernels;
    const int32_t d = s->view->d;
    double farthest = -1;
    for (int64_t k = 0; k < cluster->n && k < FIRST_LOOK; k++) {
        const int64_t item = cluster->items[k];
        double square = 0;
        for (int32_t j = 0; j < d; j++) {
            double e =
                vem_i_view_value(s->view, item, j) - vem_i_value(kernels, b->mean, j);
            square += e * e;
        }
        if (square > farthest) {
            farthest = square;
            for (int32_t j = 0; j < d; j++)
                b->sum[j] =
                    vem_i_view_value(s->view, item, j) - vem_i_value(kernels, b->mean, j);
        }
    }
}

/* The length of a row in the units of the data. */
static double length_of(const vem_i_splitter *s, const void *row)
{
    double sum = 0;
    for (int32_t j = 0; j < s->view->d; j++) {
        const double x =
            vem_i_sphere_out(&s->sphere, vem_i_value(s->view->kernels, row, j), j);
        sum += x * x;
    }
    return sqrt(sum);
}

/* The pair, means of the halves, to the sphere. Returns what the split is worth; 0 where a half has
 * no direction. */
static double split_on_sphere(const vem_i_splitter *s, const bench *b, double own,
                              double other)
{
    const vem_i_kernels *kernels = s->view->kernels;
    const double least = vem_i_sphere_least(kernels->precision), mass[] = {own, other};
    const int64_t d = s->view->d;
    double sums[2], square = 0;
    for (int h = 0; h < 2; h++) {
        const double length =
            length_of(s, (char *)b->pair + (size_t)(h * d) * kernels->element);
        if (!(length > least))
            return 0;
        for (int64_t j = 0; j < d; j++) {
            const double x = vem_i_value(kernels, b->pair, h * d + j);
            vem_i_store(kernels, b->pair, h * d + j,
                        vem_i_sphere_in(&s->sphere,
                                        vem_i_sphere_out(&s->sphere, x, j) / length, j));
        }
        sums[h] = mass[h] * length;
    }
    for (int64_t j = 0; j < d; j++) {
        const double e =
            vem_i_value(kernels, b->pair, j) - vem_i_value(kernels, b->pair, d + j);
        square += e * e;
    }
    return 2 * sums[0] / (sums[0] + sums[1] + (own + other) * length_of(s, b->mean)) *
           sums[1] * square;
}

double vem_i_split(const vem_i_splitter *s, const vem_i_splittable *cluster, int thread,
                   void *first, void *second, double mass[2])
{
    const bench *b = &s->benches[thread];
    const vem_i_kernels *kernels = s->view->kernels;
    int32_t d = s->view->d;
    double spread;
    /* The mean of the items, from the first of them as origin. */
    vem_i_view_copy(s->view, cluster->items[0], b->mean);
    const double all = gather_sums(s, b, cluster, ALL, &spread);
    mass[0] = all;
    mass[1] = 0;
    if (!(all > 0))
        return 0;
    for (int64_t j = 0; j < d; j++)
        vem_i_store(kernels, b->mean, j,
                    vem_i_value(kernels, b->mean, j) + b->sum[j] / all);
    double shift = length(b->sum, d) / all;
    double radius = sqrt(fmax(spread / all - shift * shift, 0));
    first_direction(s, b, cluster);
    for (int step = 0; step <= POWER_STEPS; step++) {
        double size = length(b->sum, d);
        if (!(size > 0) || !(radius > 0))
            return 0;
        put(s, b, 0, radius / size, b->sum);
        put(s, b, 1, -radius / size, b->sum);
        if (step < POWER_STEPS)
            gather_sums(s, b, cluster, PROJECTED, &spread);
    }
    double gain = 0;
    for (int step = 0; step <= MEANS_STEPS; step++) {
        double other = gather_sums(s, b, cluster, SECOND, &spread), own = all - other;
        if (!(other > 0) || !(own > 0))
            return 0;
        /* About the mean of all, the first moments of the halves are opposite. */
        put(s, b, 0, -1 / own, b->sum);
        put(s, b, 1, 1 / other, b->sum);
        mass[0] = own;
        mass[1] = other;
        double distance = length(b->sum, d) * (1 / own + 1 / other);
        gain = s->sphere.origin ? split_on_sphere(s, b, own, other)
                                : own / all * other * distance * distance;
        if (s->sphere.origin && !(gain > 0))
            return 0;
    }
    size_t row = (size_t)d * kernels->element;
    memcpy(first, b->pair, row);
    memcpy(second, (const char *)b->pair + row, row);
    return gain;
}
