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
 * by (|S_a| + |S_b|)^2 - |S|^2 = 2 (|S_a| |S_b| - S_a . S_b): that form cancels nothing.
 *
 * All of it is passes over the items, each a sum of d + 2 numbers, and what follows from the sums. */
#include "moves/split.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "base/residence.h"

enum { POWER_STEPS = 3, MEANS_STEPS = 2, FIRST_LOOK = 16 };

/* Passes in their order: the first item, from which sums are taken; the mean; the first direction;
 * better ones; halves. */
enum {
    FIRST,
    ALL,
    LOOK,
    PROJECTED,
    SECOND = PROJECTED + POWER_STEPS,
    PASSES = SECOND + MEANS_STEPS + 1
};
_Static_assert((int)PASSES == (int)VEM_I_SPLIT_PASSES, "see split.h");

/* Scratch of one thread. */
typedef struct bench {
    vem_i_halving own;
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
            {&b->own.sum, d, sizeof(double), 0},
            {&b->own.mean, d, element, 0},
            {&b->own.pair, d, 2 * element, 0},
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
        vem_i_free(b->own.sum);
        vem_i_free(b->own.mean);
        vem_i_free(b->own.pair);
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

int vem_i_lot_next(const vem_i_splittable *cluster, const vem_view *view,
                   const vem_i_posterior *posterior, int64_t *at, vem_i_lot *lot)
{
    const vem_i_edges *e = cluster->edges;
    const int64_t before = e ? e->n[0] : 0, behind = e ? e->n[1] : 0, own = *at - before,
                  left = cluster->n - own;
    if (*at < before)
        *lot = (vem_i_lot){e->view, e->posterior, e->items[0] + *at,
                           (int32_t)(before - *at)};
    else if (left > 0)
        *lot = (vem_i_lot){view, posterior, cluster->items + own,
                           left < VEM_I_BLOCK ? (int32_t)left : VEM_I_BLOCK};
    else if (-left < behind)
        *lot = (vem_i_lot){e->view, e->posterior, e->items[1] - left,
                           (int32_t)(behind + left)};
    else
        return 0;
    *at += lot->n;
    return 1;
}

/* Squared distances of some items to the two centers. */
static void meet(const vem_i_splitter *s, const bench *b, const vem_i_halving *h,
                 const vem_i_lot *lot)
{
    const vem_view *view = lot->view;
    const vem_i_items listed = vem_i_items_at(view, 0, lot->items, lot->n);
    vem_i_residence_check(s->run);
    vem_i_items_pairs(view->kernels, &listed, view->d, h->pair, view->d, s->one, s->zero,
                      2, b->index, b->costs, VEM_I_BLOCK);
}

/* Row `which` of the pair becomes  mean + factor * v. */
static void put(const vem_i_splitter *s, const vem_i_halving *h, int which, double factor,
                const double *v)
{
    const vem_i_kernels *kernels = s->view->kernels;
    int64_t d = s->view->d;
    for (int64_t j = 0; j < d; j++)
        vem_i_store(kernels, h->pair, which * d + j,
                    vem_i_value(kernels, h->mean, j) + factor * v[j]);
}

static double length(const double *v, int32_t d)
{
    double sum = 0;
    for (int32_t j = 0; j < d; j++)
        sum += v[j] * v[j];
    return sqrt(sum);
}

/* sum_i f_i (x_i - mean) into h->sum, sum_i f_i into h->total; f is the weight, times the projection
 * on the direction, or only of items nearer to the second center. */
static void gather_sums(const vem_i_splitter *s, const bench *b,
                        const vem_i_splittable *cluster, int pass, vem_i_halving *h)
{
    const vem_i_kernels *kernels = s->view->kernels;
    vem_i_lot lot;
    for (int64_t at = 0; vem_i_lot_next(cluster, s->view, s->posterior, &at, &lot);) {
        if (pass != ALL)
            meet(s, b, h, &lot);
        else
            vem_i_residence_check(s->run);
        for (int32_t k = 0; k < lot.n; k++) {
            double f = vem_i_first_weight(lot.view, lot.posterior, lot.items[k]);
            if (pass != ALL) {
                double near = vem_i_value(kernels, b->costs, k);
                double far = vem_i_value(kernels, b->costs, VEM_I_BLOCK + k);
                f *= pass < SECOND ? 0.25 * (far - near) : far < near;
            }
            vem_i_store(kernels, b->weights, k, f);
        }
        const vem_i_items listed = vem_i_items_at(lot.view, 0, lot.items, lot.n);
        h->total += vem_i_items_rows(kernels, &listed, b->weights, s->view->d, h->mean,
                                     h->sum, &h->squares);
    }
}

/* The first guess: from the mean to the farthest of a few items. */
static void first_direction(const vem_i_splitter *s, const vem_i_lot *first,
                            const vem_i_halving *h)
{
    const vem_i_kernels *kernels = s->view->kernels;
    const int32_t d = s->view->d;
    double farthest = -1;
    for (int32_t k = 0; k < first->n && k < FIRST_LOOK; k++) {
        const int64_t item = first->items[k];
        double square = 0;
        for (int32_t j = 0; j < d; j++) {
            double e =
                vem_i_view_value(first->view, item, j) - vem_i_value(kernels, h->mean, j);
            square += e * e;
        }
        if (square > farthest) {
            farthest = square;
            for (int32_t j = 0; j < d; j++)
                h->sum[j] = vem_i_view_value(first->view, item, j) -
                            vem_i_value(kernels, h->mean, j);
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
static double split_on_sphere(const vem_i_splitter *s, const vem_i_halving *b, double own,
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

void vem_i_split_pass(const vem_i_splitter *s, const vem_i_splittable *cluster, int pass,
                      int thread, vem_i_halving *h)
{
    if (pass != FIRST && pass != LOOK) {
        gather_sums(s, &s->benches[thread], cluster, pass, h);
        return;
    }
    int64_t at = 0;
    vem_i_lot lot;
    if ((cluster->edges && !cluster->edges->begins) ||
        !vem_i_lot_next(cluster, s->view, s->posterior, &at, &lot))
        return;
    if (pass == FIRST)
        vem_i_view_widen(lot.view, lot.items[0], h->sum);
    else
        first_direction(s, &lot, h);
}

/* The mean of the items, and how far they lie from it. */
static int follow_all(const vem_i_splitter *s, vem_i_halving *h)
{
    const vem_i_kernels *kernels = s->view->kernels;
    const int32_t d = s->view->d;
    const double all = h->total;
    h->mass[0] = h->all = all;
    h->mass[1] = 0;
    if (!(all > 0))
        return 0;
    for (int64_t j = 0; j < d; j++)
        vem_i_store(kernels, h->mean, j,
                    vem_i_value(kernels, h->mean, j) + h->sum[j] / all);
    double shift = length(h->sum, d) / all;
    h->radius = sqrt(fmax(h->squares / all - shift * shift, 0));
    return 1;
}

/* On both sides of the mean, along the sum. */
static int follow_direction(const vem_i_splitter *s, vem_i_halving *h)
{
    double size = length(h->sum, s->view->d);
    if (!(size > 0) || !(h->radius > 0))
        return 0;
    put(s, h, 0, h->radius / size, h->sum);
    put(s, h, 1, -h->radius / size, h->sum);
    return 1;
}

static int follow_sides(const vem_i_splitter *s, vem_i_halving *h)
{
    const double all = h->all, other = h->total, own = all - other;
    if (!(other > 0) || !(own > 0))
        return 0;
    /* About the mean of all, the first moments of the halves are opposite. */
    put(s, h, 0, -1 / own, h->sum);
    put(s, h, 1, 1 / other, h->sum);
    h->mass[0] = own;
    h->mass[1] = other;
    double distance = length(h->sum, s->view->d) * (1 / own + 1 / other);
    h->gain = s->sphere.origin ? split_on_sphere(s, h, own, other)
                               : own / all * other * distance * distance;
    return !s->sphere.origin || h->gain > 0;
}

int vem_i_split_follow(const vem_i_splitter *s, int pass, vem_i_halving *h)
{
    if (pass == FIRST)
        vem_i_narrow(s->view->kernels, h->sum, s->view->d, h->mean);
    else if (pass == ALL)
        return follow_all(s, h);
    else
        return pass < SECOND ? follow_direction(s, h) : follow_sides(s, h);
    return 1;
}

double vem_i_split(const vem_i_splitter *s, const vem_i_splittable *cluster, int thread,
                   void *first, void *second, double mass[2])
{
    vem_i_halving *h = &s->benches[thread].own;
    const size_t row = (size_t)s->view->d * s->view->kernels->element;
    int goes = 1;
    for (int pass = 0; pass < PASSES && goes; pass++) {
        memset(h->sum, 0, (size_t)s->view->d * sizeof *h->sum);
        h->total = h->squares = 0;
        vem_i_split_pass(s, cluster, pass, thread, h);
        goes = vem_i_split_follow(s, pass, h);
    }
    memcpy(mass, h->mass, sizeof h->mass);
    if (!goes)
        return 0;
    memcpy(first, h->pair, row);
    memcpy(second, (const char *)h->pair + row, row);
    return h->gain;
}
