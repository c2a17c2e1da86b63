/* The leading principal axes of a sample, by subspace iteration.
 *
 *     A <- orthonormal rows of (A K),     K = sum_i x_i x_i'  over the sample,
 *
 * from rows of the sample, a few times, then by Ritz's way the axes themselves: eigenvectors
 * of A K A'. Nothing depends on how exact they are, they only have to be of unit length and
 * at right angles. Products with K come from the tile kernel, whose values do not depend on
 * where in a tile they stand; the rest is in double, row by row in a fixed order. So the bits
 * are the same for any number of threads. */
#include <float.h>
#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "base/parallel.h"
#include "coarse/leading_inside.h"
#include "model/linalg.h"

enum {
    STEPS = 3,   /* products with K before the last */
    TOGETHER = 8 /* rows of A that a task takes */
};
/* Rows that lie in fewer dimensions: the first share of the trace that is added to the
 * diagonal, and the factor between one try and the next. */
static const double RIDGE = 1e-13, HARDER = 1e3;

typedef struct task {
    const vem_i_axes_sample *sample;
    const vem_i_kernels *kernels;
    int32_t d, wanted;
    int64_t ld;       /* of `square`, `now` and `next`: d, filled up to whole panels */
    void *turned;     /* d x n of T: the columns of the sample */
    void *square;     /* d x ld of T: K */
    void *now, *next; /* wanted x ld of T: A, A K */
    void *zeros;      /* of T, as many as rows of any product */
    void *panels;     /* per thread: VEM_I_AXES packed items */
    size_t panels_size;
    double *a, *b;       /* wanted x d */
    double *gram, *turn; /* wanted x wanted */
    double *values;      /* wanted */
    double *work;        /* 3 wanted */
} task;

static void *at(const task *t, void *rows, int64_t place)
{
    return (char *)rows + (size_t)place * t->kernels->element;
}

/* out[c][p] = sum_j items[p][j] rows[c][j] for the items of one block. */
static void multiply(const task *t, void *items, int64_t lda, int64_t block,
                     int32_t inner, const void *rows, int64_t ldb, int32_t count,
                     void *out, int thread)
{
    const int64_t first = block * VEM_I_AXES, left = t->d - first;
    const int32_t n = left < VEM_I_AXES ? (int32_t)left : VEM_I_AXES;
    void *panels = (char *)t->panels + (size_t)thread * t->panels_size;
    t->kernels->pack(at(t, items, first * lda), lda, NULL, n, inner, NULL, panels, NULL);
    t->kernels->dot_tile(panels, n, inner, rows, ldb, t->zeros, count, at(t, out, first),
                         t->ld);
}

static void square_block(void *arg, int64_t block, int thread)
{
    const task *t = arg;
    const int32_t n = (int32_t)t->sample->n;
    multiply(t, t->turned, n, block, n, t->turned, n, t->d, t->square, thread);
}

static void step_block(void *arg, int64_t block, int thread)
{
    const task *t = arg;
    multiply(t, t->square, t->ld, block, t->d, t->now, t->ld, t->wanted, t->next, thread);
}

static void turn_column(void *arg, int64_t block, int thread)
{
    (void)thread;
    const task *t = arg;
    const int64_t n = t->sample->n, first = block * VEM_I_AXES;
    const int64_t end = first + VEM_I_AXES < t->d ? first + VEM_I_AXES : t->d;
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = first; j < end; j++)
            memcpy(at(t, t->turned, j * n + i), at(t, t->sample->x, i * t->d + j),
                   t->kernels->element);
}

/* ---- orthonormal rows ---- */

static double dot(const double *a, const double *b, int64_t n)
{
    double s[4] = {0};
    int64_t j = 0;
    for (; j + 4 <= n; j += 4)
        for (int k = 0; k < 4; k++)
            s[k] += a[j + k] * b[j + k];
    for (; j < n; j++)
        s[0] += a[j] * b[j];
    return (s[0] + s[1]) + (s[2] + s[3]);
}

/* Some rows of the lower triangle of B B', or of B A' (gram). */
static void gram_rows(void *arg, int64_t number, int thread)
{
    (void)thread;
    const task *t = arg;
    const int64_t m = t->wanted, d = t->d, end = (number + 1) * TOGETHER;
    for (int64_t i = number * TOGETHER; i < end && i < m; i++)
        for (int64_t k = 0; k <= i; k++)
            t->gram[i * m + k] = dot(t->b + i * d, t->a + k * d, d);
}

/* Some rows of a = turn b. */
static void turn_rows(void *arg, int64_t number, int thread)
{
    (void)thread;
    const task *t = arg;
    const int64_t m = t->wanted, d = t->d, end = (number + 1) * TOGETHER;
    for (int64_t i = number * TOGETHER; i < end && i < m; i++) {
        double *to = t->a + i * d;
        memset(to, 0, (size_t)d * sizeof *to);
        for (int64_t k = 0; k < m; k++) {
            const double factor = t->turn[i * m + k], *from = t->b + k * d;
            if (factor == 0)
                continue;
            for (int64_t j = 0; j < d; j++)
                to[j] += factor * from[j];
        }
    }
}

static void for_rows(vem_i_run *run, task *t, vem_i_task work)
{
    vem_i_parallel_light(run, vem_i_shards(t->wanted, TOGETHER),
                         (double)TOGETHER * t->wanted * t->d, work, t);
}

/* B from the product, to begin with. */
static void take_next(task *t)
{
    for (int64_t i = 0; i < t->wanted; i++)
        vem_i_widen(t->kernels, at(t, t->next, i * t->ld), t->d, t->b + i * t->d);
}

/* a = L^-1 b with L L' = B B', so that the rows of a are orthonormal. Where B has not the
 * rank, a little is added to the diagonal: rows that are nothing but roundings stay short. 0:
 * B is no set of numbers. */
static int straighten_once(vem_i_run *run, task *t)
{
    const int64_t m = t->wanted;
    double *const own = t->a;
    double trace = 0, ridge = RIDGE;
    t->a = t->b;
    for_rows(run, t, gram_rows);
    t->a = own;
    for (int64_t i = 0; i < m; i++)
        trace += t->gram[i * m + i];
    if (!(trace > 0) || !isfinite(trace))
        return 0;
    for (;; ridge *= HARDER) {
        memcpy(t->turn, t->gram, (size_t)(m * m) * sizeof *t->turn);
        for (int64_t i = 0; i < m; i++)
            t->turn[i * m + i] += ridge * trace / (double)m;
        if (vem_i_cholesky(t->turn, t->wanted))
            break;
        if (ridge > 1)
            return 0;
    }
    vem_i_invert_lower(t->turn, t->wanted);
    for (int64_t i = 0; i < m; i++) /* above the diagonal is what it was made of */
        for (int64_t k = i + 1; k < m; k++)
            t->turn[i * m + k] = 0;
    for_rows(run, t, turn_rows);
    return 1;
}

/* Twice: where some axes are far longer than others, once leaves angles. */
static int straighten(vem_i_run *run, task *t)
{
    if (!straighten_once(run, t))
        return 0;
    memcpy(t->b, t->a, (size_t)t->wanted * (size_t)t->d * sizeof *t->b);
    return straighten_once(run, t);
}

/* The product of A, narrowed, with K. */
static void step(vem_i_run *run, task *t)
{
    vem_i_parallel(run, vem_i_shards(t->d, VEM_I_AXES), step_block, t);
    take_next(t);
}

static void narrow(task *t)
{
    for (int64_t i = 0; i < t->wanted; i++)
        vem_i_narrow(t->kernels, t->a + i * t->d, t->d, at(t, t->now, i * t->ld));
}

/* From rows a that span what K stretches most, with b = a K, to the axes of K in there. */
static int to_axes(vem_i_run *run, task *t, double *axes)
{
    const int64_t m = t->wanted;
    for_rows(run, t, gram_rows);
    for (int64_t i = 0; i < m; i++) /* both triangles */
        for (int64_t k = 0; k < i; k++)
            t->gram[k * m + i] = t->gram[i * m + k];
    if (!vem_i_eigen(t->gram, t->wanted, t->values, t->turn, t->work))
        return 0;
    memcpy(t->b, t->a, (size_t)(m * t->d) * sizeof *t->b);
    for_rows(run, t, turn_rows);
    for (int64_t to = 0; to < m; to++) { /* the longest first */
        int64_t best = 0;
        for (int64_t i = 1; i < m; i++)
            if (t->values[i] > t->values[best])
                best = i;
        memcpy(axes + to * t->d, t->a + best * t->d, (size_t)t->d * sizeof *axes);
        t->values[best] = -INFINITY;
    }
    return 1;
}

static int find(vem_i_run *run, task *t, double *axes)
{
    const int64_t blocks = vem_i_shards(t->d, VEM_I_AXES);
    vem_i_parallel(run, blocks, turn_column, t);
    vem_i_parallel(run, blocks, square_block, t);
    for (int64_t i = 0; i < t->wanted; i++) {
        const int64_t row = i * t->sample->n / t->wanted;
        memcpy(at(t, t->now, i * t->ld), at(t, t->sample->x, row * t->d),
               (size_t)t->d * t->kernels->element);
    }
    for (int k = 0; k < STEPS; k++) {
        step(run, t);
        if (!(k + 1 < STEPS ? straighten_once(run, t) : straighten(run, t)))
            return 0; /* angles matter in the end */
        narrow(t);
    }
    step(run, t);
    return to_axes(run, t, axes);
}

vem_status vem_i_axes_find(vem_i_run *run, const vem_i_axes_sample *sample,
                           int32_t wanted, double *axes)
{
    const vem_i_kernels *kernels = sample->kernels;
    const int64_t d = sample->d, n = sample->n;
    task t = {.sample = sample, .kernels = kernels, .d = sample->d, .wanted = wanted};
    t.ld = vem_i_shards(d, VEM_I_AXES) * VEM_I_AXES;
    const size_t element = kernels->element, m = (size_t)wanted,
                 inner = (size_t)(n > d ? n : d);
    t.panels_size = VEM_I_AXES * inner * element;
    const vem_i_room list[] = {
        {&t.turned, (size_t)d, (size_t)n * element, 0},
        {&t.square, (size_t)d, (size_t)t.ld * element, 0},
        {&t.now, m, (size_t)t.ld * element, 0},
        {&t.next, m, (size_t)t.ld * element, 0},
        {&t.zeros, (size_t)t.ld, element, 1},
        {&t.panels, (size_t)run->threads, t.panels_size, 0},
        {&t.a, m, (size_t)d * sizeof(double), 0},
        {&t.b, m, (size_t)d * sizeof(double), 0},
        {&t.gram, m, m * sizeof(double), 0},
        {&t.turn, m, m * sizeof(double), 0},
        {&t.values, m, sizeof(double), 0},
        {&t.work, m, 3 * sizeof(double), 0},
    };
    vem_status status = vem_i_take_rooms(run, list, VEM_I_COUNT(list));
    if (status == VEM_OK && !run->counted && !find(run, &t, axes))
        memset(axes, 0, m * (size_t)d * sizeof *axes); /* rows that are all alike */
    vem_i_free_rooms(list, VEM_I_COUNT(list));
    return status;
}
