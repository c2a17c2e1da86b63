#include "coarse/subspace.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "base/parallel.h"
#include "coarse/subspace_inside.h"

enum {
    LEAST_COLUMNS = 160, /* below that, tiles of all columns are as fast */
    LEAST_ROWS = 8192,
    SHARE = 3,  /* axes are at most this part of the columns, */
    MOST = 256, /* and at most so many */
    SAMPLE = 4096
};

int vem_i_subspace_asked = 0;

int32_t vem_i_subspace_most(const vem_i_run *run, const vem_view *view,
                            const vem_i_family *family)
{
    const int asked = vem_i_subspace_asked;
    if (run->limit || view->spilled || (run->ctx && run->ctx->spills_all) ||
        vem_i_view_is_sparse(view) || view->spread_kind != VEM_I_SPREAD_NONE ||
        !vem_i_is_plain(family)) /* else |x'|^2 counts more for some than for others */
        return 0;
    if (asked > 0)
        return asked <= view->d ? asked / VEM_I_AXES * VEM_I_AXES : 0;
    if (view->d < LEAST_COLUMNS || view->n < LEAST_ROWS)
        return 0;
    const int32_t part = view->d / SHARE / VEM_I_AXES * VEM_I_AXES;
    return part < MOST ? part : MOST;
}

void vem_i_axes_project(const vem_i_kernels *kernels, const void *axes, int32_t d,
                        int32_t columns, const void *zeros, const void *rows, int64_t ld,
                        int64_t n, void *out)
{
    const size_t element = kernels->element;
    for (int64_t i = 0; i < n; i += VEM_I_PROJECTED) {
        const int32_t some = n - i < VEM_I_PROJECTED ? (int32_t)(n - i) : VEM_I_PROJECTED;
        /* The axes are the items of the tile, and the rows what it calls clusters: so the
         * result lies as rows do, and no row is packed. */
        kernels->dot_tile(axes, columns, d,
                          (const char *)rows + (size_t)(i * ld) * element, ld, zeros,
                          some, (char *)out + (size_t)(i * columns) * element, columns);
    }
}

/* ---- making one ---- */

static void copy_sample(const vem_view *view, vem_i_axes_sample *s)
{
    const size_t row = (size_t)view->d * view->kernels->element;
    for (int64_t i = 0; i < s->n; i++)
        memcpy((char *)s->x + (size_t)i * row, vem_i_view_row(view, i * view->n / s->n),
               row);
}

static void pack_axes(const vem_i_kernels *kernels, const double *axes, int32_t most,
                      int32_t d, void *narrow, void *packed)
{
    vem_i_narrow(kernels, axes, (int64_t)most * d, narrow);
    kernels->pack(narrow, d, NULL, most, d, NULL, packed, NULL);
}

/* All that is needed of the rows to find the axes and to choose among them. */
static vem_status find_axes(vem_i_run *run, const vem_view *view, vem_i_subspace *s)
{
    const int forced = vem_i_subspace_asked > 0;
    const int64_t n = view->n < SAMPLE ? view->n : SAMPLE;
    vem_i_axes_sample sample = {.n = n, .d = view->d, .kernels = view->kernels};
    const size_t row = (size_t)view->d * view->kernels->element, most = (size_t)s->most;
    double *axes = NULL;
    void *narrow = NULL;
    const vem_i_room list[] = {
        {&sample.x, (size_t)n, row, 0},
        {&axes, most, (size_t)view->d * sizeof(double), 0},
        {&narrow, most, row, 0},
    };
    vem_status status = vem_i_take_rooms(run, list, VEM_I_COUNT(list));
    if (status == VEM_OK && !run->counted)
        copy_sample(view, &sample);
    if (status == VEM_OK)
        status = vem_i_axes_find(run, &sample, s->most, axes);
    if (status == VEM_OK && !run->counted)
        pack_axes(view->kernels, axes, s->most, view->d, narrow, s->axes);
    if (status == VEM_OK && !forced)
        status = vem_i_axes_choose(run, view, &sample, s->axes, s->most, s->zeros,
                                   &s->columns);
    if (forced)
        s->columns = s->most;
    vem_i_free_rooms(list, VEM_I_COUNT(list));
    return status;
}

enum { ROWS_TOGETHER = 16 * VEM_I_PROJECTED };

typedef struct task {
    const vem_view *view;
    vem_i_subspace *s;
    const vem_i_scorer *from;
} task;

static void project_rows(void *arg, int64_t number, int thread)
{
    (void)thread;
    const task *t = arg;
    const int64_t begin = number * ROWS_TOGETHER, left = t->view->n - begin;
    const vem_i_kernels *kernels = t->view->kernels;
    vem_i_axes_project(kernels, t->s->axes, t->view->d, t->s->columns, t->s->zeros,
                       vem_i_view_row(t->view, begin), t->view->ld,
                       left < ROWS_TOGETHER ? left : ROWS_TOGETHER,
                       (char *)t->s->rows +
                           (size_t)(begin * t->s->columns) * kernels->element);
}

/* The arrays that stay. */
enum { ARRAYS = 6 };

static void list_arrays(vem_i_subspace *s, int64_t n, int32_t d, int32_t clusters,
                        size_t element, vem_i_room *list)
{
    const size_t most = (size_t)s->most, count = most ? (size_t)clusters : 0;
    const vem_i_room arrays[ARRAYS] = {
        {&s->axes, most, (size_t)d * element, 0},
        {&s->zeros, most ? VEM_I_PROJECTED : 0, element, 1},
        {&s->rows, most ? (size_t)n : 0, most * element, 0},
        {&s->scorer.means, count, most * element, 0},
        {&s->scorer.bias, count, element, 0},
        {&s->scorer.norms, count, element, 0},
    };
    memcpy(list, arrays, sizeof arrays);
}

vem_status vem_i_subspace_new(vem_i_run *run, const vem_view *view,
                              const vem_i_scorer *scorer, vem_i_subspace *subspace)
{
    vem_i_subspace *s = subspace;
    vem_i_room list[ARRAYS];
    *s = (vem_i_subspace){.most = vem_i_subspace_most(run, view, scorer->family)};
    if (s->most == 0)
        return VEM_OK;
    list_arrays(s, view->n, view->d, scorer->capacity, view->kernels->element, list);
    vem_status status = vem_i_take_rooms(run, list, ARRAYS);
    if (status == VEM_OK)
        status = find_axes(run, view, s);
    if (status != VEM_OK || run->counted)
        return status;
    if (s->columns == 0) { /* too much would be lost */
        vem_i_subspace_free(s);
        return VEM_OK;
    }
    s->view = vem_i_view_drawn(view, s->rows, s->columns, view->n);
    s->view.d = s->columns;
    s->scorer.kernels = scorer->kernels;
    s->scorer.wide = scorer->wide;
    s->scorer.family = scorer->family;
    s->scorer.capacity = scorer->capacity;
    s->scorer.d = s->columns;
    s->scorer.ldc = s->columns;
    task t = {.view = view, .s = s};
    vem_i_parallel_light(run, vem_i_shards(view->n, ROWS_TOGETHER),
                         (double)ROWS_TOGETHER * view->d * s->columns, project_rows, &t);
    return VEM_OK;
}

void vem_i_subspace_free(vem_i_subspace *s)
{
    vem_i_room list[ARRAYS];
    list_arrays(s, 0, 0, 0, 0, list);
    vem_i_free_rooms(list, ARRAYS);
    memset(s, 0, sizeof *s);
}

void vem_i_subspace_project(const vem_i_subspace *s, int32_t d, const void *rows,
                            int64_t ld, int64_t n, void *out)
{
    vem_i_axes_project(s->scorer.kernels, s->axes, d, s->columns, s->zeros, rows, ld, n,
                       out);
}

/* ---- the clusters of a step ---- */

static void project_means(void *arg, int64_t number, int thread)
{
    (void)thread;
    const task *t = arg;
    const vem_i_scorer *from = t->from;
    vem_i_scorer *to = &t->s->scorer;
    const vem_i_kernels *kernels = from->kernels;
    const int64_t begin = number * VEM_I_PROJECTED, left = from->clusters - begin;
    const int64_t n = left < VEM_I_PROJECTED ? left : VEM_I_PROJECTED, m = to->ldc;
    vem_i_axes_project(kernels, t->s->axes, from->d, to->d, t->s->zeros,
                       (const char *)from->means +
                           (size_t)(begin * from->ldc) * kernels->element,
                       from->ldc, n,
                       (char *)to->means + (size_t)(begin * m) * kernels->element);
    for (int64_t c = begin; c < begin + n; c++) {
        double norm = 0;
        for (int64_t j = 0; j < m; j++) {
            const double value = vem_i_value(kernels, to->means, c * m + j);
            norm += value * value;
        }
        const double rest = fmax(vem_i_value(kernels, from->norms, c) - norm, 0);
        vem_i_store(kernels, to->norms, c, norm);
        vem_i_store(kernels, to->bias, c,
                    vem_i_value(kernels, from->bias, c) +
                        vem_i_value(kernels, from->scale, c) * rest);
    }
}

void vem_i_subspace_prepare(vem_i_run *run, const vem_i_scorer *scorer, vem_i_subspace *s)
{
    task t = {.s = s, .from = scorer};
    s->scorer.clusters = scorer->clusters;
    s->scorer.base = scorer->base;
    s->scorer.scale = scorer->scale;
    vem_i_parallel_light(run, vem_i_shards(scorer->clusters, VEM_I_PROJECTED),
                         (double)VEM_I_PROJECTED * scorer->d * s->columns, project_means,
                         &t);
}
