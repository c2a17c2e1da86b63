/* Rows drawn from a mixture.
 *
 *     c ~ weights,     x = mu_c + A_c z,     z ~ N(0, 1) in every column,     A_c A_c' = Sigma_c
 *
 * Where weights are prices (--balance), clusters are drawn alike. A_c is diagonal but for full covariances, where it is the lower Cholesky factor. The cluster
 * is found from one uniform number in the sums of the weights, normals are Box and Muller's
 * (base/rng.c). Families of counts draw their own (model/counts.h); where means are shares of a
 * row's total, that is drawn from Poisson's law about the mean total of the rows of the fit.
 * All numbers of a row are keyed by (seed, row): it is the same for any number
 * of threads, and for rows drawn in several calls. */
#include "use/draw.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "base/parallel.h"
#include "base/residence.h"
#include "base/rng.h"
#include "model/family.h"
#include "model/units.h"

enum { ROWS_PER_TASK = 256 };

typedef struct task {
    vem_i_run *run;
    const vem_model *model;
    vem_i_drawer *draw; /* of the family; NULL: normal */
    uint64_t seed;
    int64_t first, n;
    double *sums;    /* C: of the weights */
    double *factors; /* of matrices: one D x D for each shape, lower; else NULL */
    double *normals; /* threads x D */
    double total;    /* of a row, where means are shares */
    double *rows;
    int32_t *labels;
} task;

/* The first cluster whose sum lies above u; never one of weight 0. */
static int32_t find_cluster(const task *t, double u)
{
    const double goal = u * t->sums[t->model->clusters - 1];
    int32_t low = 0, high = t->model->clusters - 1;
    while (low < high) {
        const int32_t middle = low + (high - low) / 2;
        if (t->sums[middle] > goal)
            high = middle;
        else
            low = middle + 1;
    }
    return low;
}

static void draw_row(const task *t, int64_t i, double *z)
{
    const vem_model *m = t->model;
    const int64_t d = m->d;
    vem_i_rng rng = vem_i_rng_at(t->seed, VEM_RNG_MIXTURE, 0, (uint64_t)(t->first + i));
    const int64_t c = find_cluster(t, vem_i_rng_uniform(&rng));
    const double *mean = m->means + c * d;
    const double *factor =
        t->factors ? t->factors + (vem_i_cluster_shape(m, c) - m->variances) : NULL;
    double *row = t->rows + i * d;
    if (t->labels)
        t->labels[i] = (int32_t)c;
    if (t->draw) {
        t->draw(&rng, mean, m->d, t->total, row);
        return;
    }
    for (int32_t j = 0; j < d; j++)
        z[j] = vem_i_rng_normal(&rng);
    for (int32_t j = 0; j < d; j++) {
        double off = 0;
        if (factor)
            for (int64_t k = 0; k <= j; k++)
                off += factor[j * d + k] * z[k];
        else
            off = vem_i_model_deviation(m, c, j) * z[j];
        row[j] = mean[j] + off;
    }
}

static void run_rows(void *arg, int64_t number, int thread)
{
    const task *t = arg;
    const int64_t begin = number * ROWS_PER_TASK, end = begin + ROWS_PER_TASK;
    for (int64_t i = begin; i < end && i < t->n; i++)
        draw_row(t, i, t->normals + (int64_t)thread * t->model->d);
    vem_i_residence_check(t->run);
}

/* Normals of 53 random bits lie within 9. */
static vem_status check_reach(vem_i_run *run, const vem_model *m)
{
    for (int64_t c = 0; c < m->clusters; c++)
        for (int32_t j = 0; j < m->d; j++) {
            const double mean = m->means[c * m->d + j],
                         deviation = vem_i_model_deviation(m, c, j);
            if (!isfinite(fabs(mean) + 9 * deviation))
                return vem_i_fail(run, VEM_BAD_DATA,
                                  "Cluster %lld has mean %g and deviation %g in column "
                                  "%d: rows of it are no numbers of double precision.",
                                  (long long)c + 1, mean, deviation, (int)j + 1);
        }
    return VEM_OK;
}

static vem_status factorize(vem_i_run *run, task *t)
{
    const vem_model *m = t->model;
    const size_t matrix = (size_t)m->d * (size_t)m->d,
                 count = vem_model_variance_count(m);
    if (vem_i_has_shares(m->family)) {
        t->total = vem_i_model_total(m);
        if (!(t->total > 0))
            return vem_i_fail(
                run, VEM_BAD_DATA,
                "The model does not know the means of its columns, and so not "
                "how large the total of a row of family %s is.",
                vem_choice_name("family", (int)m->family->kind));
    }
    if (!vem_i_takes_products(m->family))
        return VEM_OK;
    vem_status status = vem_i_take(run, &t->factors, count, sizeof(double));
    if (status == VEM_OK)
        memcpy(t->factors, m->variances, count * sizeof(double));
    for (int32_t s = 0; status == VEM_OK && s < vem_i_model_shapes(m); s++)
        if (!vem_i_cholesky(t->factors + (size_t)s * matrix, m->d))
            status = vem_i_fail(run, VEM_BAD_DATA,
                                "The covariance matrix of cluster %" PRId32
                                " is not positive definite.",
                                s + 1);
    return status;
}

vem_status vem_i_draw(vem_i_run *run, const vem_model *model, uint64_t seed,
                      int64_t first, int64_t n, double *rows, int32_t *labels)
{
    task t = {.run = run,
              .model = model,
              .draw = vem_i_drawer_of(model->family),
              .seed = seed,
              .first = first,
              .n = n,
              .rows = rows,
              .labels = labels};
    vem_status status = vem_i_take(run, &t.sums, (size_t)model->clusters, sizeof *t.sums);
    if (status == VEM_OK)
        status = vem_i_take(run, &t.normals, (size_t)run->threads,
                            (size_t)model->d * sizeof *t.normals);
    if (status == VEM_OK)
        status = check_reach(run, model);
    if (status == VEM_OK)
        status = factorize(run, &t);
    if (status == VEM_OK) {
        double sum = 0;
        for (int32_t c = 0; c < model->clusters; c++)
            t.sums[c] = sum += vem_i_model_share(model, c);
        const double work = t.factors ? (double)model->d * model->d : 40.0 * model->d;
        vem_progress told = {.phase = "sample", .free_energy = NAN};
        if (vem_i_parallel_watched(run, vem_i_shards(n, ROWS_PER_TASK),
                                   ROWS_PER_TASK * work, run_rows, &t, &told, VEM_I_SKIP))
            status = vem_i_fail_stopped(run, "while rows were drawn");
    }
    vem_i_free(t.sums);
    vem_i_free(t.normals);
    vem_i_free(t.factors);
    return status;
}
