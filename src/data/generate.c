/* Data sets whose truth is known.
 *
 *   birch-grid     centers at 4 sqrt(2) (i, j) on a square lattice, unit variance, equal
 *                  counts, D = 2
 *   birch-random   centers uniform in [0, 4 sqrt(2) sqrt(C)]^2, else the same (Luecke &
 *                  Forster)
 *   separated      |m_i - m_j| >= c sqrt(D max(lmax_i, lmax_j)) for all pairs, lmax the
 *                  largest eigenvalue of a covariance (Dasgupta; Verbeek, Nunnink &
 *                  Vlassis). Eigenvalues uniform in [1/4, 1], a random rotation, weights
 *                  from Dirichlet(5). The box of the centers grows by 1% per refused
 * draw. tau-separated  |c_i - c_j| >= tau (s_i + s_j)/2, s uniform in [1/2, 3/2], equal
 *                  counts; the deviations of each cluster are then multiplied by a
 * Gaussian D x D matrix (Kurihara & Welling). The centers come from a box much wider than
 * the clusters.
 *
 * A random number is a function of (seed, what, item): rows can be made in any order. */
#include <math.h>

#include "base/memory.h"
#include "base/parallel.h"
#include "base/rng.h"
#include "base/structs.h"
#include "base/whole.h"

/* The `step` of a draw says what is drawn; append, never renumber. */
enum { DRAW_CENTER = 1, DRAW_SHAPE, DRAW_WEIGHT, DRAW_LABEL, DRAW_ROW };

static const double BIRCH_SPACING = 5.65685424949238019521; /* 4 sqrt(2) */
enum { ROWS_PER_TASK = 1024, REFUSALS = 200 };
static const char PHASE[] = "generate", LABELLING[] = "while labelling the rows";

typedef struct maker {
    vem_i_run *run;
    vem_generator kind;
    int32_t clusters, d;
    int64_t n;
    double separation, box; /* box = 0: as wide as it takes */
    uint64_t seed;
    double *centers; /* C x D */
    double *factors; /* C x D x D: a deviation is factor * normal; NULL: the identity */
    double *radius;  /* C: half the room a cluster asks for, with its separation */
    double *rows;    /* N x D */
    int32_t *labels; /* N */
    double *normals; /* threads x D */
} maker;

static vem_i_rng draw(const maker *m, uint32_t what, int64_t item)
{
    return vem_i_rng_at(m->seed, VEM_RNG_GENERATE, what, (uint64_t)item);
}

/* Says how far a pass is, and hears whether to stop. */
static vem_status listen(const maker *m, int64_t done, int64_t total, const char *where)
{
    const vem_progress progress = {.phase = PHASE,
                                   .done = done,
                                   .total = total,
                                   .free_energy = NAN};
    return vem_i_progress(m->run, &progress, 0) ? vem_i_fail_stopped(m->run, where)
                                                : VEM_OK;
}

/* ---- Shapes ---- */

static double dot(const double *a, const double *b, int32_t d)
{
    double sum = 0;
    for (int32_t j = 0; j < d; j++)
        sum += a[j] * b[j];
    return sum;
}

/* Columns of a Gaussian matrix made orthonormal: uniform over rotations. Held as rows
 * while Gram and Schmidt work, each projection twice because once loses digits. */
static void draw_rotation(vem_i_rng *rng, int32_t d, double *q)
{
    for (int32_t i = 0; i < d; i++) {
        double *row = q + (int64_t)i * d;
        double length = 0;
        while (!(length > 1e-6)) {
            for (int32_t j = 0; j < d; j++)
                row[j] = vem_i_rng_normal(rng);
            for (int pass = 0; pass < 2; pass++)
                for (int32_t k = 0; k < i; k++) {
                    const double *other = q + (int64_t)k * d;
                    const double along = dot(row, other, d);
                    for (int32_t j = 0; j < d; j++)
                        row[j] -= along * other[j];
                }
            length = sqrt(dot(row, row, d));
        }
        for (int32_t j = 0; j < d; j++)
            row[j] /= length;
    }
}

/* factor = rotation * diag(sd). `radius` becomes c sqrt(D lmax): pairs compare the
 * maximum. */
static void shape_separated(maker *m, int32_t c)
{
    const int32_t d = m->d;
    double *factor = m->factors + (int64_t)c * d * d;
    vem_i_rng rng = draw(m, DRAW_SHAPE, c);
    draw_rotation(&rng, d, factor);
    double largest = 0;
    for (int32_t j = 0; j < d; j++) {
        const double eigenvalue = 0.25 + 0.75 * vem_i_rng_uniform(&rng);
        largest = fmax(largest, eigenvalue);
        for (int32_t i = 0; i < d; i++)
            factor[(int64_t)i * d + j] *= sqrt(eigenvalue);
    }
    m->radius[c] = m->separation * sqrt((double)d * largest);
}

static void shape_tau(maker *m, int32_t c)
{
    const int32_t d = m->d;
    double *factor = m->factors + (int64_t)c * d * d;
    vem_i_rng rng = draw(m, DRAW_SHAPE, c);
    const double sd = 0.5 + vem_i_rng_uniform(&rng);
    for (int64_t i = 0; i < (int64_t)d * d; i++)
        factor[i] = sd * vem_i_rng_normal(&rng);
    m->radius[c] = m->separation * sd / 2;
}

/* ---- Centers ---- */

static int has_room(const maker *m, int32_t c)
{
    const double *own = m->centers + (int64_t)c * m->d;
    for (int32_t k = 0; k < c; k++) {
        const double *other = m->centers + (int64_t)k * m->d;
        const double least = m->kind == VEM_SEPARATED ? fmax(m->radius[c], m->radius[k])
                                                      : m->radius[c] + m->radius[k];
        double distance = 0;
        for (int32_t j = 0; j < m->d && distance < least * least; j++)
            distance += (own[j] - other[j]) * (own[j] - other[j]);
        if (distance < least * least)
            return 0;
    }
    return 1;
}

/* One center after the other, each drawn until it has room. `patience` draws are refused
 * before the box grows; growing is not allowed in a box that the caller has chosen. */
static vem_status place_apart(maker *m, double side, int patience, int may_grow)
{
    for (int32_t c = 0; c < m->clusters; c++) {
        vem_i_rng rng = draw(m, DRAW_CENTER, c);
        double *center = m->centers + (int64_t)c * m->d;
        for (int refused = 0;; refused++) {
            for (int32_t j = 0; j < m->d; j++)
                center[j] = side * (vem_i_rng_uniform(&rng) - 0.5);
            if (has_room(m, c))
                break;
            if (refused % patience != patience - 1)
                continue;
            if (!may_grow)
                return vem_i_fail(
                    m->run, VEM_BAD_OPTION,
                    "A box of side %g has room for %d of %d centers that "
                    "are %g apart; enlarge the box or lower the separation.",
                    side, (int)c, (int)m->clusters, m->separation);
            side *= 1.01;
        }
        const vem_status status = listen(m, c, m->clusters, "while placing the centers");
        if (status != VEM_OK)
            return status;
    }
    return VEM_OK;
}

static vem_status place_centers(maker *m)
{
    const double root = sqrt((double)m->clusters);
    const int32_t edge = (int32_t)lround(root);
    double widest = 0;
    switch (m->kind) {
    case VEM_BIRCH_GRID:
        for (int32_t c = 0; c < m->clusters; c++) {
            m->centers[2 * (int64_t)c] = BIRCH_SPACING * (c / edge);
            m->centers[2 * (int64_t)c + 1] = BIRCH_SPACING * (c % edge);
        }
        return VEM_OK;
    case VEM_BIRCH_RANDOM:
        for (int32_t c = 0; c < m->clusters; c++) {
            vem_i_rng rng = draw(m, DRAW_CENTER, c);
            for (int j = 0; j < 2; j++)
                m->centers[2 * (int64_t)c + j] =
                    BIRCH_SPACING * root * vem_i_rng_uniform(&rng);
        }
        return VEM_OK;
    case VEM_SEPARATED:
        for (int32_t c = 0; c < m->clusters; c++) {
            shape_separated(m, c);
            widest = fmax(widest, m->radius[c]);
        }
        return place_apart(m, widest, 1, 1);
    case VEM_TAU_SEPARATED:
        for (int32_t c = 0; c < m->clusters; c++)
            shape_tau(m, c);
        return m->box > 0 ? place_apart(m, m->box, 50 * REFUSALS, 0)
                          : place_apart(m, 30.0, REFUSALS, 1);
    }
    return vem_i_fail(m->run, VEM_BAD_OPTION, "There is no generator number %d.",
                      (int)m->kind);
}

/* ---- Rows ---- */

/* Counts that differ by at most one, in random order. */
static vem_status label_equally(maker *m)
{
    vem_status status = VEM_OK;
    for (int64_t i = 0; i < m->n; i++)
        m->labels[i] = (int32_t)(i % m->clusters);
    for (int64_t i = m->n - 1; status == VEM_OK && i > 0; i--) {
        if (i % ROWS_PER_TASK == 0)
            status = listen(m, m->n - i, m->n, LABELLING);
        vem_i_rng rng = draw(m, DRAW_LABEL, i);
        const int64_t other = (int64_t)vem_i_rng_below(&rng, (uint64_t)i + 1);
        const int32_t kept = m->labels[i];
        m->labels[i] = m->labels[other];
        m->labels[other] = kept;
    }
    return status;
}

static vem_status label_by_weight(maker *m)
{
    double *sums;
    vem_status status = vem_i_take(m->run, &sums, (size_t)m->clusters, sizeof *sums);
    if (status != VEM_OK)
        return status;
    double total = 0;
    for (int32_t c = 0; c < m->clusters; c++) {
        vem_i_rng rng = draw(m, DRAW_WEIGHT, c);
        sums[c] = total += vem_i_rng_gamma(&rng, 5.0);
    }
    for (int64_t i = 0; status == VEM_OK && i < m->n; i++) {
        if (i % ROWS_PER_TASK == 0)
            status = listen(m, i, m->n, LABELLING);
        vem_i_rng rng = draw(m, DRAW_LABEL, i);
        const double level = total * vem_i_rng_uniform(&rng);
        int32_t low = 0, high = m->clusters - 1;
        while (low < high) {
            const int32_t middle = low + (high - low) / 2;
            if (sums[middle] > level)
                high = middle;
            else
                low = middle + 1;
        }
        m->labels[i] = low;
    }
    vem_i_free(sums);
    return status;
}

static void make_rows(void *arg, int64_t task, int thread)
{
    const maker *m = arg;
    const int32_t d = m->d;
    double *normals = m->normals + (int64_t)thread * d;
    const int64_t first = task * ROWS_PER_TASK;
    const int64_t end = first + ROWS_PER_TASK < m->n ? first + ROWS_PER_TASK : m->n;
    for (int64_t i = first; i < end; i++) {
        vem_i_rng rng = draw(m, DRAW_ROW, i);
        const double *center = m->centers + (int64_t)m->labels[i] * d;
        double *row = m->rows + i * d;
        for (int32_t j = 0; j < d; j++)
            normals[j] = vem_i_rng_normal(&rng);
        for (int32_t j = 0; j < d; j++)
            row[j] = center[j] +
                     (m->factors ? dot(m->factors + ((int64_t)m->labels[i] * d + j) * d,
                                       normals, d)
                                 : normals[j]);
    }
}

static vem_status make(maker *m)
{
    const size_t n = (size_t)m->n, clusters = (size_t)m->clusters, d = (size_t)m->d;
    const int shaped = m->kind == VEM_SEPARATED || m->kind == VEM_TAU_SEPARATED;
    const vem_i_room list[] = {
        {&m->centers, clusters, d * sizeof(double), 0},
        {&m->rows, n, d * sizeof(double), 0},
        {&m->labels, n, sizeof *m->labels, 0},
        {&m->normals, (size_t)vem_ctx_threads(m->run->ctx), d * sizeof(double), 0},
        {&m->factors, shaped ? clusters : 0, d * d * sizeof(double), 0},
        {&m->radius, shaped ? clusters : 0, sizeof *m->radius, 0},
    };
    const vem_progress told = {.phase = PHASE, .free_energy = NAN};
    vem_status status = vem_i_take_rooms(m->run, list, VEM_I_COUNT(list));
    const int owner = vem_i_whole_begin(m->run, PHASE, m->n);
    vem_i_whole_narrow(m->run, 0, 1, 3); /* centers, labels, rows */
    if (status == VEM_OK)
        status = place_centers(m);
    if (status == VEM_OK)
        status = m->kind == VEM_SEPARATED ? label_by_weight(m) : label_equally(m);
    if (status == VEM_OK &&
        vem_i_parallel_watched(m->run, vem_i_shards(m->n, ROWS_PER_TASK),
                               30.0 * ROWS_PER_TASK * m->d, make_rows, m, &told,
                               VEM_I_SKIP))
        status = vem_i_fail_stopped(m->run, "while drawing the rows");
    vem_i_whole_end(m->run, owner);
    return status;
}

/* ---- The verb ---- */

static vem_status check(vem_i_run *run, vem_generator kind, const vem_generate_options *o)
{
    const int birch = kind == VEM_BIRCH_GRID || kind == VEM_BIRCH_RANDOM;
    if (o->clusters < 1)
        return vem_i_fail(run, VEM_BAD_OPTION,
                          "The number of clusters is %d, but it must be at least 1.",
                          (int)o->clusters);
    const int64_t edge = (int64_t)lround(sqrt((double)o->clusters));
    if (kind == VEM_BIRCH_GRID && edge * edge != o->clusters)
        return vem_i_fail(
            run, VEM_BAD_OPTION,
            "The number of clusters is %d, but a grid needs a square number "
            "such as %lld.",
            (int)o->clusters, (long long)(edge * edge));
    if (birch && o->d != 0 && o->d != 2)
        return vem_i_fail(run, VEM_BAD_OPTION,
                          "The BIRCH sets have 2 dimensions, but %d are asked for.",
                          (int)o->d);
    if (o->d < 0 || o->d > 1000000)
        return vem_i_fail(
            run, VEM_BAD_OPTION,
            "The number of dimensions is %d, but it must lie between 1 and 1000000.",
            (int)o->d);
    if (o->n < 0)
        return vem_i_fail(run, VEM_BAD_OPTION,
                          "The number of rows is %lld, but it must be at least 1.",
                          (long long)o->n);
    if (!(o->separation >= 0 && o->separation <= 1e6))
        return vem_i_fail(run, VEM_BAD_OPTION,
                          "The separation is %g, but it must lie between 0 and 1e6.",
                          o->separation);
    if (!(o->box >= 0 && o->box <= 1e9))
        return vem_i_fail(run, VEM_BAD_OPTION,
                          "The side of the box is %g, but it must lie between 0 and 1e9.",
                          o->box);
    return VEM_OK;
}

vem_status vem_generate(vem_ctx *ctx, vem_generator kind,
                        const vem_generate_options *options, int64_t *n, int32_t *d,
                        double **rows, int32_t **labels, double **centers)
{
    VEM_I_NEED(ctx, ctx, options);
    vem_i_run *run = vem_i_begin(ctx, &(vem_i_verb){0});
    vem_generate_options o;
    vem_status status =
        vem_i_struct_in(run, "vem_generate_options", options, &o, sizeof o);
    if (status == VEM_OK)
        status = check(run, kind, &o);
    if (status != VEM_OK)
        return status;
    maker m = {.run = run,
               .kind = kind,
               .clusters = o.clusters,
               .d = o.d ? o.d : 2,
               .n = o.n ? o.n : 100 * (int64_t)o.clusters,
               .separation = o.separation > 0 ? o.separation : 2.0,
               .box = o.box,
               .seed = (uint64_t)o.seed};
    status = make(&m);
    vem_i_free(m.normals);
    vem_i_free(m.factors);
    vem_i_free(m.radius);
    if (status == VEM_OK) {
        if (n)
            *n = m.n;
        if (d)
            *d = m.d;
        if (rows) {
            *rows = m.rows;
            m.rows = NULL;
        }
        if (labels) {
            *labels = m.labels;
            m.labels = NULL;
        }
        if (centers) {
            *centers = m.centers;
            m.centers = NULL;
        }
    }
    vem_i_free(m.rows);
    vem_i_free(m.labels);
    vem_i_free(m.centers);
    return status;
}
