/* How many axes serve: tried on the sample itself.
 *
 * Three quarters of it (more of a sample of several parts) make centers: rows at even spaces, to each
 * of which the rows nearest along the axes are averaged. The others look for the nearest center along
 * 32, 64, ... axes. The fewest axes serve that lose no more than a share LOSS of the squared distances
 * beside a look in all columns. A fit of few rows loses less, since its centers are means of more rows,
 * and settles in all columns. One of many rows can find more in the columns that are left out: more
 * axes are taken then while they lower the loss by a quarter, until it is LITTLE. What noise adds to
 * the loss they would lower by less. */
#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "base/parallel.h"
#include "coarse/block.h"
#include "coarse/leading_inside.h"

enum {
    QUERY = 4,     /* one row of so many, of one part, looks for a center */
    CENTER = 8,    /* one of so many begins one */
    TOGETHER = 64, /* rows that a task looks at */
    NUMBERS = 8    /* of axes, at most, that are tried */
};
static const double LOSS = 1.2e-3, LITTLE = 2e-4, LOWER = 0.75;

typedef struct task {
    const vem_i_axes_sample *sample;
    int32_t most, numbers, centers;
    int64_t queries;
    int64_t apart; /* so many rows lie between queries */
    const void *packed, *zeros;
    void *along;       /* n x most of T: the sample along the axes */
    int32_t *nearest;  /* n: of its centers */
    int32_t *first;    /* centers: a row that it averages, and */
    int32_t *next;     /* n: the one after that; -1: none */
    double *sums;      /* d */
    void *means;       /* centers x d of T */
    void *means_along; /* centers x most of T */
    void *norms;       /* numbers x centers of T: squared lengths along so many axes */
    void *ones;        /* centers of T */
    void *none;        /* centers of T */
    char *scratch;     /* per thread: panels, norms, lists, distances */
    size_t scratch_size;
    double *lost; /* queries x (NUMBERS + 1): what is lost, and the squared distance */
} task;

/* What a thread works with. */
typedef struct desk {
    void *panels, *norms, *costs, *far;
    int32_t *index;
} desk;

static size_t rounded(size_t bytes)
{
    return (bytes + 63) / 64 * 64;
}

static size_t desk_of(const task *t, char *at, desk *d)
{
    const size_t element = t->sample->kernels->element, block = VEM_I_BLOCK * element;
    const size_t norms = rounded((size_t)t->most * block);
    const size_t costs = norms + rounded(block), index = costs + rounded(block);
    const size_t far = index + rounded(VEM_I_BLOCK * sizeof(int32_t));
    if (d)
        *d = (desk){.panels = at,
                    .norms = at + norms,
                    .costs = at + costs,
                    .index = (int32_t *)(void *)(at + index),
                    .far = at + far};
    return far + rounded((size_t)t->centers * TOGETHER * element);
}

static void *at(const task *t, void *rows, int64_t place)
{
    return (char *)rows + (size_t)place * t->sample->kernels->element;
}

/* The nearest centers of n rows of the sample, `stride` apart, along the first `axes` axes. */
static void look(const task *t, int64_t first, int64_t stride, int32_t n, int32_t axes,
                 desk *d)
{
    const vem_i_kernels *kernels = t->sample->kernels;
    kernels->pack(at(t, t->along, first * t->most), stride * t->most, NULL, n, axes, NULL,
                  d->panels, d->norms);
    vem_i_block_clear(kernels, d->costs, d->index, 1, VEM_I_BLOCK, VEM_I_BLOCK);
    kernels->dot_top(d->panels, d->norms, n, axes, t->means_along, t->most,
                     at(t, t->norms, (int64_t)(axes / VEM_I_AXES - 1) * t->centers),
                     t->ones, t->none, t->centers, 0, 1, d->costs, d->index, VEM_I_BLOCK);
}

static void project_block(void *arg, int64_t number, int thread)
{
    (void)thread;
    const task *t = arg;
    const vem_i_axes_sample *s = t->sample;
    const int64_t first = number * TOGETHER, left = s->n - first;
    vem_i_axes_project(s->kernels, t->packed, s->d, t->most, t->zeros,
                       at(t, s->x, first * s->d), s->d, left < TOGETHER ? left : TOGETHER,
                       at(t, t->along, first * t->most), t->most);
}

static void assign_block(void *arg, int64_t number, int thread)
{
    const task *t = arg;
    const int64_t first = number * VEM_I_BLOCK, left = t->sample->n - first;
    const int32_t n = left < VEM_I_BLOCK ? (int32_t)left : VEM_I_BLOCK;
    desk d;
    desk_of(t, t->scratch + (size_t)thread * t->scratch_size, &d);
    look(t, first, 1, n, t->most, &d);
    memcpy(t->nearest + first, d.index, (size_t)n * sizeof *t->nearest);
}

/* Squared lengths along 32, 64, ... axes. */
static void measure_centers(const task *t)
{
    const vem_i_kernels *kernels = t->sample->kernels;
    for (int64_t c = 0; c < t->centers; c++) {
        double norm = 0;
        for (int64_t j = 0; j < t->most; j++) {
            const double value = vem_i_value(kernels, t->means_along, c * t->most + j);
            norm += value * value;
            if ((j + 1) % VEM_I_AXES == 0 && j / VEM_I_AXES < t->numbers)
                vem_i_store(kernels, t->norms, j / VEM_I_AXES * t->centers + c, norm);
        }
    }
}

/* The rows of each center that do not ask. */
static void list_rows(const task *t)
{
    for (int32_t c = 0; c < t->centers; c++)
        t->first[c] = -1;
    for (int64_t i = t->sample->n - 1; i >= 0; i--) {
        if (i % t->apart == t->apart - 1)
            continue;
        t->next[i] = t->first[t->nearest[i]];
        t->first[t->nearest[i]] = (int32_t)i;
    }
}

/* The mean of the rows of a center that do not ask; there is one, with which it began. */
static void average(const task *t, int64_t center, const void *rows, int64_t d, void *out)
{
    const vem_i_kernels *kernels = t->sample->kernels;
    double count = 0;
    memset(t->sums, 0, (size_t)d * sizeof *t->sums);
    for (int64_t i = t->first[center]; i >= 0; i = t->next[i]) {
        const void *row = (const char *)rows + (size_t)(i * d) * kernels->element;
        count++;
        for (int64_t j = 0; j < d; j++)
            t->sums[j] += vem_i_value(kernels, row, j);
    }
    for (int64_t j = 0; count > 0 && j < d; j++)
        vem_i_store(kernels, out, center * d + j, t->sums[j] / count);
}

static void make_centers(vem_i_run *run, task *t)
{
    const vem_i_axes_sample *s = t->sample;
    const size_t element = s->kernels->element;
    for (int64_t c = 0; c < t->centers; c++) {
        memcpy(at(t, t->means, c * s->d), at(t, s->x, c * CENTER * s->d),
               (size_t)s->d * element);
        memcpy(at(t, t->means_along, c * t->most), at(t, t->along, c * CENTER * t->most),
               (size_t)t->most * element);
        vem_i_store(s->kernels, t->ones, c, 1);
    }
    measure_centers(t);
    vem_i_parallel(run, vem_i_shards(s->n, VEM_I_BLOCK), assign_block, t);
    list_rows(t);
    for (int64_t c = 0; c < t->centers; c++) {
        average(t, c, s->x, s->d, t->means);
        average(t, c, t->along, t->most, t->means_along);
    }
    measure_centers(t);
}

/* For each number of axes: how much farther the nearest along them is than the nearest. */
static void query_block(void *arg, int64_t number, int thread)
{
    const task *t = arg;
    const vem_i_axes_sample *s = t->sample;
    const vem_i_kernels *kernels = s->kernels;
    const int64_t first = number * TOGETHER, left = t->queries - first,
                  row = first * t->apart + t->apart - 1;
    const int32_t n = left < TOGETHER ? (int32_t)left : TOGETHER;
    desk d;
    desk_of(t, t->scratch + (size_t)thread * t->scratch_size, &d);
    kernels->distances(at(t, s->x, row * s->d), t->apart * s->d, n, s->d, t->means, s->d,
                       t->centers, d.far, TOGETHER);
    for (int32_t p = 0; p < n; p++) {
        double least = INFINITY;
        for (int64_t c = 0; c < t->centers; c++)
            least = fmin(least, vem_i_value(kernels, d.far, c * TOGETHER + p));
        t->lost[(first + p) * (NUMBERS + 1) + NUMBERS] = least;
    }
    for (int32_t k = 0; k < t->numbers; k++) {
        look(t, row, t->apart, n, (k + 1) * VEM_I_AXES, &d);
        for (int32_t p = 0; p < n; p++) {
            double *lost = t->lost + (first + p) * (NUMBERS + 1);
            const int64_t c = d.index[p] < 0 ? 0 : d.index[p];
            lost[k] = vem_i_value(kernels, d.far, c * TOGETHER + p) - lost[NUMBERS];
        }
    }
}

/* What is lost along that many panels of axes, as a share of the squared distances. */
static double loss_of(const task *t, int32_t k)
{
    double lost = 0, all = 0;
    for (int64_t q = 0; q < t->queries; q++) {
        lost += t->lost[q * (NUMBERS + 1) + k];
        all += t->lost[q * (NUMBERS + 1) + NUMBERS];
    }
    return lost > 0 ? lost / all : 0;
}

static int32_t fewest(const task *t)
{
    int32_t k = 0;
    while (k < t->numbers && !(loss_of(t, k) <= LOSS))
        k++;
    if (k == t->numbers)
        return 0;
    if (t->sample->parts > 1)
        while (k + 1 < t->numbers && loss_of(t, k) > LITTLE &&
               loss_of(t, k + 1) <= LOWER * loss_of(t, k))
            k++;
    return (k + 1) * VEM_I_AXES;
}

vem_status vem_i_axes_choose(vem_i_run *run, const vem_i_axes_sample *sample,
                             const void *packed, int32_t most, const void *zeros,
                             int32_t *axes, double *distance, int64_t *pairs)
{
    const size_t element = sample->kernels->element, n = (size_t)sample->n;
    task t = {.sample = sample,
              .most = most,
              .packed = packed,
              .zeros = zeros,
              .centers = (int32_t)(sample->n / CENTER),
              .queries = sample->n / QUERY / sample->parts,
              .apart = (int64_t)QUERY * sample->parts};
    t.numbers = most / VEM_I_AXES < NUMBERS ? most / VEM_I_AXES : NUMBERS;
    t.scratch_size = desk_of(&t, NULL, NULL);
    const size_t centers = (size_t)t.centers, width = (size_t)most * element;
    const vem_i_room list[] = {
        {&t.along, n, width, 0},
        {&t.nearest, n, sizeof *t.nearest, 0},
        {&t.first, centers, sizeof *t.first, 0},
        {&t.next, n, sizeof *t.next, 0},
        {&t.sums, (size_t)sample->d, sizeof *t.sums, 0},
        {&t.means, centers, (size_t)sample->d * element, 0},
        {&t.means_along, centers, width, 0},
        {&t.norms, (size_t)t.numbers, centers * element, 0},
        {&t.ones, centers, element, 0},
        {&t.none, centers, element, 1},
        {&t.scratch, (size_t)run->threads, t.scratch_size, 0},
        {&t.lost, (size_t)t.queries, (NUMBERS + 1) * sizeof(double), 0},
    };
    vem_status status = vem_i_take_rooms(run, list, VEM_I_COUNT(list));
    if (status == VEM_OK && !run->counted) {
        vem_i_parallel(run, vem_i_shards(sample->n, TOGETHER), project_block, &t);
        make_centers(run, &t);
        vem_i_parallel(run, vem_i_shards(t.queries, TOGETHER), query_block, &t);
        *axes = fewest(&t);
        for (int64_t q = 0; q < t.queries; q++)
            *distance += t.lost[q * (NUMBERS + 1) + NUMBERS] / (double)t.queries;
        *pairs += (sample->n + (t.numbers + 1) * t.queries) * t.centers;
    }
    vem_i_free_rooms(list, VEM_I_COUNT(list));
    return status;
}
