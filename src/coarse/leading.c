#include "coarse/leading.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "base/parallel.h"
#include "base/residence.h"
#include "base/spill.h"
#include "coarse/leading_inside.h"
#include "data/together.h"

enum {
    LEAST_COLUMNS = 256, /* below that, all columns are as fast */
    LEAST_ROWS = 16384,
    LEAST_CLUSTERS = 128,
    SHARE = 3,  /* axes are at most this part of the columns, */
    MOST = 192, /* and at most so many */
    SAMPLE =
        4096, /* rows of which the axes are found; how many serve is tried on some more, */
    MORE_ROWS = 16,      /* one of so many rows, */
    MORE_CLUSTERS = 512, /* for so many clusters as many as axes are found of, */
    MORE = 4,            /* and no more than so many times that */
    TOGETHER =
        16 *
        VEM_I_PROJECTED /* rows that a task projects: as a shard of the seeding, which is all there in one
                                       process (data/together.h) */
};
/* Rows of which the axes know little are left to clusters of their own, which cost about W / C rows:
 * what such rows may lose, as a share of the squared distances. Rows count whose part beside the axes is so
 * many times what it is for a row of their length. */
static const double LOST = 5e-4, STRANGE = 4;
/* Squares err by so many roundings; and by no more than this share of the distances. */
static const double ROUNDINGS = 16, ROUNDED = 1e-3;

int32_t vem_i_leading_most(int64_t n, int32_t d, int64_t clusters)
{
    if (d < LEAST_COLUMNS || n < LEAST_ROWS || clusters < LEAST_CLUSTERS)
        return 0;
    const int32_t part = d / SHARE / VEM_I_AXES * VEM_I_AXES;
    return part < MOST ? part : MOST;
}

/* Whole samples of which how many axes serve is tried. */
static int64_t samples_of(int64_t n, int64_t clusters)
{
    const int64_t rows = n / MORE_ROWS / SAMPLE, centers = clusters / MORE_CLUSTERS,
                  samples = rows < centers ? rows : centers;
    return samples < 1 ? 1 : samples < MORE ? samples : MORE;
}

int vem_i_leading_many(int64_t n, int64_t clusters)
{
    return samples_of(n, clusters) > 1;
}

void vem_i_axes_project(const vem_i_kernels *kernels, const void *packed, int32_t inner,
                        int32_t count, const void *zeros, const void *rows, int64_t ld,
                        int64_t n, void *out, int64_t ldo)
{
    const size_t element = kernels->element;
    for (int64_t i = 0; i < n; i += VEM_I_PROJECTED) {
        const int32_t some = n - i < VEM_I_PROJECTED ? (int32_t)(n - i) : VEM_I_PROJECTED;
        /* The axes are the items of the tile, and the rows what it calls clusters: so the
         * result lies as rows do, and no row is packed. */
        kernels->dot_tile(packed, count, inner,
                          (const char *)rows + (size_t)(i * ld) * element, ld, zeros,
                          some, (char *)out + (size_t)(i * ldo) * element, ldo);
    }
}

/* ---- rows along the axes ---- */

/* What a task found of its rows, weighted: squares, squares along the axes, and what rows have beside
 * them beyond what is usual. */
typedef struct found {
    double whole, along, lost;
} found;

typedef struct task {
    vem_i_run *run;
    const vem_view *view;
    const vem_i_leading *leading;
    const void *packed, *zeros;
    double rounding; /* of a square, as a share of it */
    double usual,
        ratio; /* squares beside the axes: of a row worth a cluster; over those along */
    found *founds;
    char *
        rows; /* per thread: the rows at hand as T, of a view that is stored narrower; else NULL */
} task;

static double square_of(const vem_i_kernels *kernels, const void *row, int64_t d)
{
    double s[4] = {0};
    int64_t j = 0;
    for (; j + 4 <= d; j += 4)
        for (int64_t k = 0; k < 4; k++)
            s[k] += vem_i_value(kernels, row, j + k) * vem_i_value(kernels, row, j + k);
    for (; j < d; j++)
        s[0] += vem_i_value(kernels, row, j) * vem_i_value(kernels, row, j);
    return (s[0] + s[1]) + (s[2] + s[3]);
}

static void project_rows(void *arg, int64_t number, int thread)
{
    const task *t = arg;
    const vem_view *view = t->view;
    const vem_i_kernels *kernels = view->kernels;
    const vem_i_stored how = vem_i_view_how(view);
    const size_t row = (size_t)view->d * kernels->element;
    char *wide = t->rows ? t->rows + (size_t)thread * VEM_I_PROJECTED * row : NULL;
    const int64_t m = t->leading->axes, begin = vem_i_view_shard(view, TOGETHER, number),
                  end = vem_i_view_shard(view, TOGETHER, number + 1);
    found f = {0};
    for (int64_t i = begin; i < end; i += VEM_I_PROJECTED) {
        const int64_t n = end - i < VEM_I_PROJECTED ? end - i : VEM_I_PROJECTED;
        char *out = (char *)t->leading->points->x + (size_t)(i * m) * kernels->element;
        const int64_t ld = wide ? view->d : view->ld;
        const char *rows = vem_i_view_place(view, i);
        if (wide) {
            kernels->stored_load(&how, rows, view->ld, NULL, n, view->d, wide, view->d);
            rows = wide;
        }
        vem_i_axes_project(kernels, t->packed, view->d, (int32_t)m, t->zeros, rows, ld, n,
                           out, m);
        for (int64_t k = 0; k < n; k++) {
            const double w = vem_i_view_mass(view, i + k);
            const double whole =
                w *
                square_of(kernels, rows + (size_t)(k * ld) * kernels->element, view->d);
            const double along =
                w * square_of(kernels, out + (size_t)(k * m) * kernels->element, m);
            const double usual = fmax(t->usual, STRANGE * t->ratio * along);
            f.whole += whole;
            f.along += along;
            f.lost += fmax(whole - along - usual - t->rounding * whole, 0);
        }
        vem_i_residence_check(t->run);
    }
    t->founds[number] = f;
}

/* What is usual, by the sample: of rows of mean mass. */
static void expect_rest(const vem_i_axes_sample *sample, const void *along, int32_t axes,
                        int32_t most, double mass, int32_t clusters, task *t)
{
    const vem_i_kernels *kernels = sample->kernels;
    double whole = 0, part = 0;
    for (int64_t i = 0; i < sample->n; i++) {
        whole += square_of(kernels,
                           (const char *)sample->x +
                               (size_t)(i * sample->d) * kernels->element,
                           sample->d);
        part +=
            square_of(kernels,
                      (const char *)along + (size_t)(i * most) * kernels->element, axes);
    }
    const double rest = fmax(whole - part, 0);
    t->usual = rest / (double)sample->n * mass / clusters;
    t->ratio = part > 0 ? rest / part : 0;
}

static const double *found_of(const void *arg, int64_t number)
{
    const task *t = arg;
    return &t->founds[number].whole;
}

/* Task after task, of all processes. */
static void add_founds(const task *t, found *all)
{
    const vem_view *view = t->view;
    vem_i_own_blocks own = {.at = found_of, .arg = t};
    vem_i_own_shards(view->first, vem_i_view_own(view), TOGETHER, &own.from, &own.to);
    if (t->run->comm) {
        vem_i_comm_sum(t->run->comm, &all->whole, sizeof *all / sizeof all->whole, &own);
        return;
    }
    for (int64_t k = own.from; k < own.to; k++) {
        all->whole += t->founds[k].whole;
        all->along += t->founds[k].along;
        all->lost += t->founds[k].lost;
    }
}

/* The rows along the axes; *serve: nothing that counts beside the squared distance of a row that the sample
 * expects is lost, neither by far rows nor by rounding. */
static vem_status project(vem_i_run *run, task *t, double distance, int *serve)
{
    const vem_view *view = t->view;
    const int64_t shards = vem_i_view_shards(view, TOGETHER);
    const size_t row = (size_t)view->d * view->kernels->element;
    vem_status status = vem_i_take(run, &t->founds, (size_t)shards, sizeof *t->founds);
    if (status == VEM_OK && view->stored)
        status = vem_i_take(run, &t->rows, (size_t)run->threads, VEM_I_PROJECTED * row);
    if (status != VEM_OK || run->counted)
        return status;
    vem_i_parallel_light(run, shards, (double)TOGETHER * view->d * t->leading->axes,
                         project_rows, t);
    found all = {0};
    add_founds(t, &all);
    vem_i_free(t->founds);
    t->founds = NULL;
    /* F must not fall when the other columns are looked at again: no less than it can be. */
    const double rest = fmax(all.whole - all.along, 0) + t->rounding * all.whole;
    vem_view *made = &t->leading->points->view;
    made->beyond = (vem_i_beyond){view->d - t->leading->axes, rest / view->total_mass};
    *serve = all.lost <= LOST * distance * view->total_mass &&
             t->rounding * all.whole <= ROUNDED * distance * view->total_mass;
    return run->comm ? vem_i_comm_agree(run) : VEM_OK;
}

/* ---- making them ---- */

/* One from each of equal slices of the mass; the first SAMPLE of them are spread over all of it,
 * too. */
static vem_status copy_sample(vem_i_run *run, const vem_view *view, vem_i_axes_sample *s)
{
    const size_t row = (size_t)view->d * view->kernels->element;
    int64_t *picked = NULL, *spread = NULL;
    vem_status status = vem_i_take(run, &picked, (size_t)s->n, sizeof *picked);
    if (status == VEM_OK)
        status = vem_i_take(run, &spread, (size_t)s->n, sizeof *spread);
    if (status == VEM_OK && !run->counted) {
        status = vem_i_view_pick_by_mass(run, view, (int)s->n, picked);
        for (int64_t i = 0; i < s->n; i++)
            spread[i % s->parts * (s->n / s->parts) + i / s->parts] = picked[i];
        if (status == VEM_OK && run->comm)
            vem_i_view_rows(run, view, spread, s->n, s->x);
        for (int64_t i = 0; i < s->n && !run->comm; i++) {
            vem_i_view_copy(view, spread[i], (char *)s->x + (size_t)i * row);
            vem_i_residence_check(run);
        }
    }
    vem_i_free(spread);
    vem_i_free(picked);
    return status;
}

/* Room for so many axes. */
static vem_status take_basis(vem_i_run *run, const vem_view *view, int32_t axes,
                             vem_i_leading *leading)
{
    return vem_i_take(run, &leading->basis, (size_t)axes,
                      (size_t)view->d * view->kernels->element);
}

/* An empty copy of the view, along `axes` axes. */
static vem_status take_points(vem_i_run *run, const vem_view *view, int32_t axes,
                              vem_i_points **points)
{
    vem_i_points *made = NULL;
    const size_t n = (size_t)view->n, row = (size_t)axes * view->kernels->element;
    vem_status status = vem_i_take_structs(run, &made, 1, sizeof *made);
    if (status != VEM_OK || !made)
        return status;
    *points = made;
    if (view->spilled && !run->counted) {
        status = vem_i_spill_new(run, n * row, &made->spill);
        if (status == VEM_OK)
            made->x = made->spill->bytes;
    } else if (!view->spilled) {
        status = vem_i_take(run, &made->x, n, row);
    }
    if (status == VEM_OK && view->mass)
        status = vem_i_take(run, &made->mass, n, sizeof(double));
    if (status != VEM_OK || run->counted)
        return status;
    if (view->mass)
        memcpy(made->mass, view->mass, n * sizeof(double));
    made->view = *view;
    made->view.x = made->x;
    made->view.stored = VEM_I_STORED_PLAIN;
    made->view.mass = made->mass;
    made->view.d = axes;
    made->view.ld = axes;
    made->view.origin = made->view.scale = made->view.deviations = NULL;
    made->view.log_base_mean = vem_i_view_log_shift(view);
    return VEM_OK;
}

static vem_status make(vem_i_run *run, const vem_view *view, int32_t clusters,
                       const vem_i_axes_sample *sample, void *packed, const void *zeros,
                       vem_i_leading *l)
{
    const vem_i_kernels *kernels = view->kernels;
    const size_t most = (size_t)l->most;
    double *axes = NULL, distance = 0;
    int serve = 1;
    void *along = NULL;
    vem_i_axes_sample first = *sample;
    first.n /= first.parts;
    first.parts = 1;
    const vem_i_room list[] = {
        {&axes, most, (size_t)view->d * sizeof(double), 0},
        {&along, (size_t)sample->n, most * kernels->element, 0},
    };
    vem_status status = vem_i_take_rooms(run, list, VEM_I_COUNT(list));
    if (status == VEM_OK)
        status = vem_i_axes_find(run, &first, l->most, axes);
    if (status == VEM_OK && !run->counted) {
        vem_i_narrow(kernels, axes, (int64_t)most * view->d, l->basis);
        kernels->pack(l->basis, view->d, NULL, l->most, view->d, NULL, packed, NULL);
    }
    l->axes = run->counted ? l->most : 0;
    if (status == VEM_OK)
        status = vem_i_axes_choose(run, sample, packed, l->most, zeros, &l->axes,
                                   &distance, &l->pairs);
    if (status == VEM_OK && l->axes > 0)
        status = take_points(run, view, l->axes, &l->points);
    const double unit = kernels->precision == VEM_SINGLE ? FLT_EPSILON : DBL_EPSILON;
    task t = {.run = run,
              .view = view,
              .leading = l,
              .packed = packed,
              .zeros = zeros,
              .rounding = ROUNDINGS * unit};
    if (status == VEM_OK && l->axes > 0 && !run->counted) {
        vem_i_axes_project(kernels, packed, view->d, l->most, zeros, sample->x, view->d,
                           sample->n, along, l->most);
        expect_rest(sample, along, l->axes, l->most, view->total_mass, clusters, &t);
    }
    if (status == VEM_OK && l->axes > 0)
        status = project(run, &t, distance, &serve);
    vem_i_free(t.founds);
    vem_i_free(t.rows);
    vem_i_free_rooms(list, VEM_I_COUNT(list));
    if (status == VEM_OK && !serve) {
        vem_i_leading_let_go(l);
        l->axes = 0;
    }
    return status;
}

void vem_i_leading_plan(vem_i_run *dry, const vem_view *view, int32_t axes, int let_go)
{
    vem_i_leading kept = {.axes = axes};
    if (take_basis(dry, view, axes, &kept) == VEM_OK && !let_go)
        take_points(dry, view, axes, &kept.points);
    vem_i_leading_free(&kept);
}

vem_status vem_i_leading_new(vem_i_run *run, const vem_view *view, int32_t most,
                             int32_t clusters, vem_i_leading *leading)
{
    const vem_i_kernels *kernels = view->kernels;
    const int64_t parts = samples_of(view->global_n, clusters);
    vem_i_axes_sample sample = {.n = view->global_n < SAMPLE ? view->global_n
                                                             : parts * SAMPLE,
                                .d = view->d,
                                .parts = (int32_t)parts,
                                .kernels = kernels};
    const size_t row = (size_t)view->d * kernels->element;
    void *packed = NULL, *zeros = NULL;
    *leading = (vem_i_leading){.most = most};
    const vem_i_room list[] = {
        {&packed, (size_t)most, row, 0},
        {&zeros, VEM_I_PROJECTED, kernels->element, 1},
        {&sample.x, (size_t)sample.n, row, 0},
    };
    vem_status status = take_basis(run, view, most, leading);
    if (status == VEM_OK)
        status = vem_i_take_rooms(run, list, VEM_I_COUNT(list));
    if (status == VEM_OK)
        status = copy_sample(run, view, &sample);
    if (status == VEM_OK)
        status = make(run, view, clusters, &sample, packed, zeros, leading);
    vem_i_free_rooms(list, VEM_I_COUNT(list));
    if (status != VEM_OK || run->counted)
        vem_i_leading_free(leading);
    return status;
}

void vem_i_leading_let_go(vem_i_leading *leading)
{
    vem_i_points_free(leading->points);
    leading->points = NULL;
}

void vem_i_leading_free(vem_i_leading *leading)
{
    vem_i_leading_let_go(leading);
    vem_i_free(leading->basis);
    *leading = (vem_i_leading){0};
}

/* ---- back ---- */

enum { LIFTED = 64 }; /* clusters of a task */

/* The means times the axes, by the kernel of the projection: columns are its items. What rounding
 * does to a mean matters to nobody, as the means of what is held take its place. */
typedef struct lifting {
    const vem_i_kernels *kernels;
    const vem_model *narrow;
    vem_model *wide;
    char *columns; /* d x m of T: the axes, turned */
    char *packed;  /* the same in blocks of VEM_I_BLOCK */
    void *zeros;
    char *
        scratch; /* per thread: rows of means along the axes, and some columns of the others */
    size_t block, some, own; /* bytes: of a packed block, of those rows, of the scratch */
} lifting;

static int32_t columns_from(const lifting *t, int64_t first)
{
    const int64_t left = t->wide->d - first;
    return left < VEM_I_BLOCK ? (int32_t)left : VEM_I_BLOCK;
}

static void lift_some(void *arg, int64_t number, int thread)
{
    const lifting *t = arg;
    const vem_i_kernels *kernels = t->kernels;
    const int64_t d = t->wide->d, m = t->narrow->d, first = number * LIFTED,
                  left = t->narrow->clusters - first, n = left < LIFTED ? left : LIFTED;
    char *rows = t->scratch + (size_t)thread * t->own, *out = rows + t->some;
    vem_i_narrow(kernels, t->narrow->means + first * m, n * m, rows);
    for (int64_t j = 0; j < d; j += VEM_I_BLOCK) {
        const int32_t count = columns_from(t, j);
        vem_i_axes_project(kernels, t->packed + (size_t)(j / VEM_I_BLOCK) * t->block,
                           (int32_t)m, count, t->zeros, rows, m, n, out, VEM_I_BLOCK);
        for (int64_t c = 0; c < n; c++)
            vem_i_widen(kernels, out + (size_t)(c * VEM_I_BLOCK) * kernels->element,
                        count, t->wide->means + (first + c) * d + j);
    }
    for (int64_t c = first; c < first + n; c++)
        t->wide->weights[c] = t->narrow->weights[c];
}

static void turn_axes(const vem_i_leading *leading, const lifting *t)
{
    const int64_t d = t->wide->d, m = t->narrow->d;
    const size_t element = t->kernels->element;
    for (int64_t k = 0; k < m; k++)
        for (int64_t j = 0; j < d; j++)
            memcpy(t->columns + (size_t)(j * m + k) * element,
                   (const char *)leading->basis + (size_t)(k * d + j) * element, element);
    for (int64_t j = 0; j < d; j += VEM_I_BLOCK)
        t->kernels->pack(t->columns + (size_t)(j * m) * element, m, NULL,
                         columns_from(t, j), (int32_t)m, NULL,
                         t->packed + (size_t)(j / VEM_I_BLOCK) * t->block, NULL);
}

vem_status vem_i_leading_lift(vem_i_run *run, const vem_i_leading *leading,
                              const vem_i_kernels *kernels, const vem_model *narrow,
                              vem_model *wide)
{
    const size_t d = (size_t)wide->d, m = (size_t)narrow->d, element = kernels->element;
    lifting t = {.kernels = kernels, .narrow = narrow, .wide = wide};
    t.block = VEM_I_BLOCK * m * element;
    t.some = LIFTED * m * element;
    t.own = t.some + LIFTED * VEM_I_BLOCK * element;
    const vem_i_room list[] = {
        {&t.columns, d, m * element, 0},
        {&t.packed, (size_t)vem_i_shards(wide->d, VEM_I_BLOCK), t.block, 0},
        {&t.zeros, VEM_I_PROJECTED, element, 1},
        {&t.scratch, (size_t)run->threads, t.own, 0},
    };
    const vem_status status = vem_i_take_rooms(run, list, VEM_I_COUNT(list));
    if (status == VEM_OK && !run->counted) {
        turn_axes(leading, &t);
        vem_i_parallel_light(run, vem_i_shards(narrow->clusters, LIFTED),
                             (double)LIFTED * (double)d * (double)m, lift_some, &t);
        vem_i_model_set_variance(wide, vem_i_model_variance(narrow));
    }
    vem_i_free_rooms(list, VEM_I_COUNT(list));
    return status;
}
