/* The weights of rows in overlapping cells, as the paper's footnote has it optimised.
 *
 * With the posteriors q_A of the cells fixed,
 *
 *     F' = sum_i w_i [ log p(x_i) - sum_A beta_iA KL(q_A, posterior of row i) ]
 *
 * is linear in the weights of a row: the best are 1 for the cell of least divergence and 0 for the others.
 * So the best overlapping cells are a partition again, though not one by hyperplanes, and finding it
 * takes the posterior of every row, which is an E-step over all of them. Posteriors are made anew for the
 * cells that come of it: F does not fall by that either. */
#include "moves/share.h"

#include <math.h>

#include "base/memory.h"
#include "base/parallel.h"
#include "model/spread.h"

typedef struct share {
    const vem_i_em *em;
    vem_i_overlap *overlap;
    vem_i_scorer scorer; /* of the type of the rows */
    int32_t *clusters;   /* all of them */
    double *q;           /* cells x C */
    double *neg;         /* of each cell: sum_c q log q */
    double *costs;       /* per thread: room for C values of T */
    int64_t *moved;      /* per thread */
} share;

static double *costs_of(const share *t, int thread)
{
    return t->costs + (int64_t)thread * t->em->scorer.clusters;
}

/* The posterior of a cell, as the E-step has it. */
static void take_cell(void *arg, int64_t cell, int thread)
{
    const share *t = arg;
    const vem_i_scorer *s = &t->em->scorer;
    const vem_i_items item = vem_i_items_at(&t->overlap->view, cell, NULL, 1);
    double *costs = costs_of(t, thread), *q = t->q + cell * s->clusters;
    double least = INFINITY, sum = 0, neg = 0;
    s->family->score_pairs(s, &item, s->clusters, t->clusters, costs, 1);
    for (int32_t c = 0; c < s->clusters; c++)
        least = fmin(least, costs[c]);
    for (int32_t c = 0; c < s->clusters; c++)
        sum += q[c] = exp(-0.5 * (costs[c] - least));
    for (int32_t c = 0; c < s->clusters; c++) {
        q[c] /= sum;
        neg += q[c] > 0 ? q[c] * log(q[c]) : 0;
    }
    t->neg[cell] = neg;
}

/* Of equal cells the first. */
static void place_row(void *arg, int64_t i, int thread)
{
    const share *t = arg;
    const vem_i_scorer *s = &t->scorer;
    vem_i_overlap *o = t->overlap;
    const vem_i_items item = vem_i_items_at(o->rows, i, NULL, 1);
    void *costs = costs_of(t, thread);
    double least = INFINITY;
    int64_t best = o->starts[i];
    s->family->score_pairs(s, &item, s->clusters, t->clusters, costs, 1);
    for (int64_t k = o->starts[i]; k < o->starts[i + 1]; k++) {
        const double *q = t->q + o->members[k] * (int64_t)s->clusters;
        double divergence = t->neg[o->members[k]];
        if (!(o->mass[o->members[k]] > 0))
            continue;
        for (int32_t c = 0; c < s->clusters; c++)
            if (q[c] > 0)
                divergence += 0.5 * q[c] * vem_i_value(s->kernels, costs, c);
        if (divergence < least) {
            least = divergence;
            best = k;
        }
    }
    t->moved[thread] += o->weights[best] < 1;
    for (int64_t k = o->starts[i]; k < o->starts[i + 1]; k++)
        o->weights[k] = k == best;
}

vem_status vem_i_overlap_share(vem_i_em *em, vem_i_overlap *overlap, int64_t *moved)
{
    vem_i_run *run = em->run;
    const int32_t clusters = em->model->clusters;
    const size_t count = (size_t)clusters, threads = (size_t)run->threads;
    share t = {.em = em, .overlap = overlap};
    const vem_i_room list[] = {
        {&t.clusters, count, sizeof *t.clusters, 0},
        {&t.q, (size_t)overlap->cells * count, sizeof *t.q, 0},
        {&t.neg, (size_t)overlap->cells, sizeof *t.neg, 0},
        {&t.costs, threads * count, sizeof(double), 0},
        {&t.moved, threads, sizeof *t.moved, 1},
    };
    vem_status status =
        vem_i_scorer_for(run, overlap->rows, vem_i_model_shape_with_room(em->model),
                         &t.scorer);
    if (status == VEM_OK)
        status = vem_i_take_rooms(run, list, VEM_I_COUNT(list));
    *moved = 0;
    if (status == VEM_OK) {
        const double work = (double)clusters * em->view->d * em->view->d;
        for (int32_t c = 0; c < clusters; c++)
            t.clusters[c] = c;
        vem_i_scorer_prepare(run, em->model, &em->scorer);
        vem_i_scorer_prepare(run, em->model, &t.scorer);
        vem_i_parallel_light(run, overlap->cells, work, take_cell, &t);
        vem_i_parallel_light(run, overlap->rows->n, work, place_row, &t);
        for (size_t k = 0; k < threads; k++)
            *moved += t.moved[k];
        vem_i_overlap_sum(overlap);
    }
    vem_i_free_rooms(list, VEM_I_COUNT(list));
    vem_i_scorer_free(&t.scorer);
    return status;
}
