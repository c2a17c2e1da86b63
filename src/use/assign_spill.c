/* A second list for each row.
 *
 * A row x in the list of its nearest mean c1 alone is lost to a query that does not look there.
 * By a second list c2 it is found from another side, and that helps as far as the two fail for
 * different queries. A query q finds c1 late where q - x points away from c1, along the
 * residual r = x - c1; a second residual parallel to r fails for the same queries. So c2 is the
 * mean of least
 *
 *     |x - c|^2 + lambda ((x - c).r)^2 / |r|^2,     c != c1,
 *
 * (the idea of SOAR: Sun, Simcha, Dopson, Guo, Kumar, 2023). lambda = 0 is the second nearest.
 * What is compared is that times 1 / (1 + lambda), which is no more than |x - c|^2 and so a number where that is.
 * Looked at are the NEAR nearest means of a row, which a guided search finds; in the order of
 * their distances, and no further than where these alone exceed the least cost so far. Of equal
 * costs the nearer one is taken, by number where these are equal, too. They are listed for a chunk
 * of rows at a time. */
#include <math.h>

#include "base/memory.h"
#include "base/parallel.h"
#include "base/residence.h"
#include "model/family.h"
#include "use/assign.h"
#include "use/means_alone.h"

enum { NEAR = 32, ROWS_PER_TASK = 1024 };
static const double LAMBDA_MOST = 1e6;

typedef struct spilling {
    double lambda;
    int32_t near;         /* means listed for each row */
    const int32_t *list;  /* of the rows at hand: n x near, nearest first */
    int32_t *clusters;    /* n x 2 */
    double *squares;      /* n x 2, or NULL */
    const vem_view *view; /* of the rows at hand */
    const vem_model *model;
    int64_t first;
    vem_i_run *run;
} spilling;

/* |x - c|^2, and (x - c).(x - c1). */
static double square_of(const spilling *s, int64_t row, int32_t c, int32_t c1,
                        double *along)
{
    const int64_t d = s->model->d;
    const double *mean = s->model->means + c * d, *nearest = s->model->means + c1 * d;
    double square = 0;
    *along = 0;
    for (int64_t j = 0; j < d; j++) {
        const double x = vem_i_value(s->view->kernels, s->view->x, row * s->view->ld + j);
        square += (x - mean[j]) * (x - mean[j]);
        *along += (x - mean[j]) * (x - nearest[j]);
    }
    return square;
}

static void spill_row(const spilling *s, int64_t row)
{
    const int32_t *list = s->list + row * s->near;
    double along, least = INFINITY, scale = s->view->scale ? s->view->scale[0] : 1;
    const double nearest = square_of(s, row, list[0], list[0], &along);
    int32_t *clusters = s->clusters + (s->first + row) * 2;
    const double plain = 1 / (1 + s->lambda), parallel = s->lambda / (1 + s->lambda);
    double found = NAN;
    clusters[0] = list[0];
    clusters[1] = -1;
    for (int32_t k = 1; k < s->near && list[k] >= 0; k++) {
        const double square = square_of(s, row, list[k], list[0], &along);
        const double cost =
            plain * square + (nearest > 0 ? parallel * (along / nearest * along) : 0);
        if (plain * square > least) /* none of those that follow is less */
            break;
        if (cost < least || clusters[1] < 0) { /* a residual of almost 0: infinite */
            least = cost;
            found = square;
            clusters[1] = list[k];
        }
    }
    if (s->squares) {
        s->squares[(s->first + row) * 2] = nearest * scale * scale;
        s->squares[(s->first + row) * 2 + 1] = found * scale * scale;
    }
}

static void spill_rows(void *arg, int64_t number, int thread)
{
    (void)thread;
    const spilling *s = arg;
    const int64_t begin = number * ROWS_PER_TASK, left = s->view->n - begin;
    for (int64_t i = 0; i < left && i < ROWS_PER_TASK; i++)
        spill_row(s, begin + i);
    vem_i_residence_check(s->run);
}

static vem_status spill_chunk(vem_i_run *run, void *arg, const vem_view *view,
                              const vem_model *model, int64_t first)
{
    const vem_progress told = {.phase = "assign", .free_energy = NAN};
    spilling *s = arg;
    s->view = view;
    s->model = model;
    s->first = first;
    s->run = run;
    const double work = (double)ROWS_PER_TASK * s->near * model->d;
    return vem_i_parallel_watched(run, vem_i_shards(view->n, ROWS_PER_TASK), work,
                                  spill_rows, s, &told, VEM_I_SKIP)
               ? vem_i_fail_stopped(run, "while rows were assigned")
               : VEM_OK;
}

static vem_status check(vem_i_run *run, const vem_model *model, const vem_data *data,
                        double lambda)
{
    if (!model->family->has_places || data->sparse.starts)
        return vem_i_fail(run, VEM_BAD_DATA,
                          "A second list goes by distances, which %s has none of.",
                          model->family->has_places ? "a table of sparse rows"
                                                    : "a mixture of counts");
    if (!(lambda >= 0 && lambda <= LAMBDA_MOST))
        return vem_i_fail(run, VEM_BAD_OPTION,
                          "--spill is %g, but it must lie between 0 and %g.", lambda,
                          LAMBDA_MOST);
    if (model->clusters == 1)
        return vem_i_fail(run, VEM_BAD_OPTION,
                          "Each row is to be in two lists, but the model has one "
                          "cluster.");
    return VEM_OK;
}

vem_status vem_i_assign_spill(vem_i_run *run, const vem_model *model,
                              const vem_data *data, double lambda,
                              vem_precision precision, int32_t *clusters, double *squares)
{
    int32_t *list = NULL;
    vem_model *balls = NULL;
    spilling s = {.lambda = lambda,
                  .near = model->clusters < NEAR ? model->clusters : NEAR,
                  .clusters = clusters,
                  .squares = squares};
    vem_status status = check(run, model, data, lambda);
    precision = vem_i_precision_for(model, data, precision);
    const int64_t chunk = vem_i_chunk_rows(data->d),
                  rows = data->n < chunk ? data->n : chunk;
    if (status == VEM_OK)
        status = vem_i_take(run, &list, (size_t)rows, (size_t)s.near * sizeof *list);
    if (status == VEM_OK)
        status = vem_i_means_alone(run, model, &balls);
    s.list = list;
    if (status == VEM_OK) {
        const vem_assign_options how = {.size = sizeof how,
                                        .top = s.near,
                                        .precision = precision};
        status = vem_i_assign_each(run, balls, data, &how, list, spill_chunk, &s);
    }
    vem_model_free(balls);
    vem_i_free(list);
    return status;
}
