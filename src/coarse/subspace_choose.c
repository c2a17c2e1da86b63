/* How many axes serve: tried on the sample itself.
 *
 * Centers are found in the sample by a few steps of k-means. A row of the sample holds the
 * second nearest of them, o, and looks from there for the nearest, as rows that share a list
 * do: two proposals by  |c - o|^2 - 2 P(x - o).P(c - o), decided by their distances in all
 * columns. Axes serve along which no more than one row in five hundred misses the nearest. Rows of
 * a fit miss far fewer, because most of them hold it already. */
#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "base/parallel.h"
#include "coarse/lloyd.h"
#include "coarse/subspace_inside.h"

enum {
    CENTERS = 256,
    PER_CENTER = 4, /* rows of the sample a center has at least */
    LLOYD_STEPS = 2,
    QUERIES = 1024,
    TOGETHER = 16, /* rows that a task looks at */
    NUMBERS = 8    /* of axes, at most, that are tried */
};
enum {
    MISSED_OF = 512, /* of so many rows one may miss its center, */
    MORE = 1         /* along so many times VEM_I_AXES fewer axes than are taken */
};
/* A loss below this share of its squared distance is none to a row. */
static const double ENOUGH = 1e-6;

typedef struct task {
    const vem_i_axes_sample *sample;
    const vem_model *centers;
    int32_t most, numbers;
    int64_t queries;
    const void *axes, *zeros;
    void *rows;    /* queries x most of T: along the axes */
    void *along;   /* centers x most of T */
    void *narrow;  /* centers x d of T */
    void *far;     /* centers x queries of T: squared distances */
    void *between; /* centers x centers of T: squared distances */
    double *lost;  /* queries x (NUMBERS + 1): what is lost, and the squared error */
} task;

static int64_t query_row(const task *t, int64_t query)
{
    return query * t->sample->n / t->queries;
}

/* The two centers of least cost so far, for one number of axes. */
typedef struct best_two {
    double cost[2];
    int32_t center[2];
} best_two;

static void keep(best_two *b, double cost, int32_t center)
{
    if (cost < b->cost[0]) {
        b->cost[1] = b->cost[0];
        b->center[1] = b->center[0];
        b->cost[0] = cost;
        b->center[0] = center;
    } else if (cost < b->cost[1]) {
        b->cost[1] = cost;
        b->center[1] = center;
    }
}

/* The second nearest of the centers, and how near the nearest is. */
static int32_t second_nearest(const task *t, int64_t query, double *least)
{
    best_two nearest = {{INFINITY, INFINITY}, {0, 0}};
    for (int32_t c = 0; c < t->centers->clusters; c++)
        keep(&nearest, vem_i_value(t->sample->kernels, t->far, c * t->queries + query),
             c);
    *least = nearest.cost[0];
    return nearest.center[1];
}

static void try_query(const task *t, int64_t query)
{
    const vem_i_kernels *kernels = t->sample->kernels;
    const int64_t most = t->most, count = t->centers->clusters;
    best_two found[NUMBERS];
    double from[NUMBERS * VEM_I_AXES], least;
    double *lost = t->lost + query * (NUMBERS + 1);
    const int64_t o = second_nearest(t, query, &least);
    for (int32_t k = 0; k < t->numbers; k++)
        found[k] = (best_two){{INFINITY, INFINITY}, {(int32_t)o, (int32_t)o}};
    for (int64_t j = 0; j < (int64_t)t->numbers * VEM_I_AXES; j++)
        from[j] = vem_i_value(kernels, t->rows, query * most + j) -
                  vem_i_value(kernels, t->along, o * most + j);
    for (int64_t c = 0; c < count; c++) {
        double product = 0;
        for (int32_t k = 0; k < t->numbers; k++) {
            for (int64_t j = k * VEM_I_AXES; j < (k + 1) * VEM_I_AXES; j++)
                product += from[j] * (vem_i_value(kernels, t->along, c * most + j) -
                                      vem_i_value(kernels, t->along, o * most + j));
            keep(&found[k], vem_i_value(kernels, t->between, c * count + o) - 2 * product,
                 (int32_t)c);
        }
    }
    for (int32_t k = 0; k < t->numbers; k++) {
        const int32_t *center = found[k].center;
        lost[k] = fmin(vem_i_value(kernels, t->far, center[0] * t->queries + query),
                       vem_i_value(kernels, t->far, center[1] * t->queries + query)) -
                  least;
    }
    lost[NUMBERS] = least;
}

static void try_queries(void *arg, int64_t number, int thread)
{
    (void)thread;
    const task *t = arg;
    const vem_i_axes_sample *s = t->sample;
    const int64_t begin = number * TOGETHER, end = begin + TOGETHER, d = s->d;
    const size_t element = s->kernels->element;
    for (int64_t q = begin; q < end && q < t->queries; q++) {
        const void *x = (const char *)s->x + (size_t)(query_row(t, q) * d) * element;
        vem_i_axes_project(s->kernels, t->axes, s->d, t->most, t->zeros, x, d, 1,
                           (char *)t->rows + (size_t)(q * t->most) * element);
        s->kernels->distances(x, d, 1, s->d, t->narrow, d, t->centers->clusters,
                              (char *)t->far + (size_t)q * element, t->queries);
        try_query(t, q);
    }
}

/* The fewest axes along which hardly a row misses its center, and some more. */
static int32_t fewest(const task *t)
{
    for (int32_t k = 0; k < t->numbers; k++) {
        int64_t missed = 0;
        for (int64_t q = 0; q < t->queries; q++)
            missed += t->lost[q * (NUMBERS + 1) + k] >
                      ENOUGH * t->lost[q * (NUMBERS + 1) + NUMBERS];
        if (missed <= t->queries / MISSED_OF) {
            const int32_t more = k + 1 + MORE;
            return (more < t->numbers ? more : t->numbers) * VEM_I_AXES;
        }
    }
    return 0;
}

/* Means of the sample's rows, from rows at even spaces. */
static vem_status find_centers(vem_i_run *run, const vem_view *part, vem_i_lloyd *l)
{
    const int64_t d = part->d, count = l->centers->clusters;
    for (int64_t c = 0; !run->counted && c < count; c++)
        vem_i_view_widen(part, c * part->n / count, l->centers->means + c * d);
    if (run->counted)
        return vem_i_lloyd_assign(run, l, part, l->bucket_of, NULL);
    return vem_i_lloyd_run(run, l, LLOYD_STEPS);
}

static void look(vem_i_run *run, task *t)
{
    const vem_i_axes_sample *s = t->sample;
    const int64_t d = s->d, count = t->centers->clusters;
    vem_i_narrow(s->kernels, t->centers->means, count * d, t->narrow);
    vem_i_axes_project(s->kernels, t->axes, s->d, t->most, t->zeros, t->narrow, d, count,
                       t->along);
    s->kernels->distances(t->narrow, d, count, s->d, t->narrow, d, (int32_t)count,
                          t->between, count);
    vem_i_parallel_light(run, vem_i_shards(t->queries, TOGETHER),
                         (double)TOGETHER * (double)count * (double)d, try_queries, t);
}

vem_status vem_i_axes_choose(vem_i_run *run, const vem_view *view,
                             const vem_i_axes_sample *sample, const void *axes,
                             int32_t most, const void *zeros, int32_t *columns)
{
    const int64_t n = sample->n;
    const int32_t count =
        n / PER_CENTER < CENTERS ? (int32_t)(n / PER_CENTER) : (int32_t)CENTERS;
    const vem_i_shape shape =
        vem_i_shape_of(vem_i_family_of_distances(0), count, sample->d);
    const vem_view part = vem_i_view_drawn(view, sample->x, sample->d, n);
    /* Nobody may end this early: the choice would be another. */
    vem_i_watch watch = {0};
    vem_i_run own = *run;
    own.watch = run->counted ? run->watch : &watch;
    own.progress = NULL;
    own.deadline = 0;
    vem_i_scorer scorer = {0};
    vem_i_lloyd lloyd = {.view = &part, .scorer = &scorer};
    task t = {.sample = sample,
              .axes = axes,
              .zeros = zeros,
              .most = most,
              .queries = n < QUERIES ? n : QUERIES};
    t.numbers = most / VEM_I_AXES < NUMBERS ? most / VEM_I_AXES : NUMBERS;
    const size_t element = sample->kernels->element, width = (size_t)most * element;
    const size_t centers = (size_t)count;
    const vem_i_room list[] = {
        {&lloyd.bucket_of, (size_t)n, sizeof(int32_t), 0},
        {&lloyd.members, (size_t)n, sizeof(int32_t), 0},
        {&lloyd.starts, centers + 1, sizeof(int32_t), 0},
        {&t.rows, (size_t)t.queries, width, 0},
        {&t.along, centers, width, 0},
        {&t.narrow, centers, (size_t)sample->d * element, 0},
        {&t.far, centers, (size_t)t.queries * element, 0},
        {&t.between, centers, centers * element, 0},
        {&t.lost, (size_t)t.queries, (NUMBERS + 1) * sizeof(double), 0},
    };
    *columns = 0;
    vem_status status = vem_i_take_rooms(&own, list, VEM_I_COUNT(list));
    if (status == VEM_OK)
        status = vem_i_model_blank(&own, shape, &lloyd.centers);
    if (status == VEM_OK)
        status = vem_i_scorer_new(&own, sample->kernels, shape, &scorer);
    if (status == VEM_OK)
        status = find_centers(&own, &part, &lloyd);
    if (status == VEM_OK && !run->counted) {
        t.centers = lloyd.centers;
        look(&own, &t);
        *columns = fewest(&t);
    }
    vem_i_scorer_free(&scorer);
    vem_model_free(lloyd.centers);
    vem_i_free_rooms(list, VEM_I_COUNT(list));
    return status;
}
