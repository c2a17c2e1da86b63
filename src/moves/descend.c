/* The cells of very fast EM (Moore 1999), as Verbeek, Nunnink and Vlassis (2006) compare with it.
 *
 * Before every E-step the tree is walked from its root. A node is divided where for some cluster c
 *
 *     max p(x|c) - min p(x|c)  >  tau pi_c        over the box of its rows,
 *
 * and can be: down to the depth that it was built to. Densities are in units of the deviations of the
 * columns, so that the rule does not depend on those of the data. The nodes where the walk ends are
 * the cells of the step, and each takes the posterior at its mean, q_A = p(c | <x>_A), which is not the
 * best that its rows could share. So F may fall, by the posteriors and by a coarser cut: the name of the
 * algorithm is the exemption from the law, and the trace says `descend`, with the nodes that were divided.
 * F is still a lower bound of the likelihood, that of the posteriors it has (model/expected.c). */
#include "moves/descend.h"

#include <math.h>

#include "base/memory.h"
#include "base/parallel.h"
#include "model/box.h"

struct vem_i_descent {
    vem_i_em *em;
    vem_i_cells *cells;
    double tau;
    double log_unit;       /* of volume, in the units of the view */
    int32_t *level, *next; /* nodes of a level, and of the one below */
    uint8_t *open;         /* of those of the level: they are divided */
    double *box;           /* per thread: 2 d, and 4 d of work */
};

static double log_unit_of(const vem_view *view)
{
    double sum = 0;
    for (int32_t j = 0; j < view->d; j++)
        sum += view->deviations ? log(view->deviations[j]) : 0.5 * log(view->variance);
    return isfinite(sum) ? sum : 0; /* one row, many times */
}

/* Does the density of a cluster vary by so much? */
static int varies(const vem_i_descent *t, int32_t node, double *box)
{
    const vem_i_scorer *s = &t->em->scorer;
    const vem_i_tree *tree = t->cells->tree;
    const int64_t d = s->d;
    for (int64_t j = 0; j < 2 * d; j++)
        box[j] = vem_i_value(tree->view->kernels, tree->boxes, node * 2 * d + j);
    for (int32_t c = 0; c < s->clusters; c++) {
        const double weight = t->em->model->weights[c];
        if (!(weight > 0))
            continue;
        const vem_i_box_bounds b = vem_i_box_bounds_of(s, c, box, box + 2 * d);
        const double top = t->log_unit - 0.5 * s->bias_wide[c] - log(weight);
        /* Not a number where both are infinite: nobody knows, so look closer. */
        if (!(exp(top - 0.5 * b.low) - exp(top - 0.5 * b.high) <= t->tau * weight))
            return 1;
    }
    return 0;
}

static void look(void *arg, int64_t i, int thread)
{
    const vem_i_descent *t = arg;
    const int32_t node = t->level[i];
    t->open[i] = t->cells->tree->left[node] >= 0 &&
                 varies(t, node, t->box + (int64_t)thread * 6 * t->em->scorer.d);
}

/* The cut of this step. Returns how many nodes were divided. */
static int64_t descend(vem_i_descent *t)
{
    vem_i_em *em = t->em;
    const vem_i_tree *tree = t->cells->tree;
    const double d = em->scorer.d, work = 100 * d * d * em->scorer.clusters;
    int64_t count = 1, cut = 0, divided = 0;
    t->level[0] = 0;
    while (count > 0) {
        int64_t below = 0;
        vem_i_parallel_light(em->run, count, work, look, t);
        for (int64_t i = 0; i < count; i++) {
            const int32_t node = t->level[i], left = tree->left[node];
            if (t->open[i]) {
                t->next[below++] = left;
                t->next[below++] = left + 1;
            } else {
                t->cells->cut.nodes[cut++] = node;
            }
        }
        divided += below / 2;
        int32_t *const level = t->level;
        t->level = t->next;
        t->next = level;
        count = below;
    }
    vem_i_cells_put_cut(t->cells, cut);
    vem_i_em_resize(em);
    return divided;
}

static int observe(void *user, vem_i_em *em, vem_i_event event)
{
    vem_i_descent *t = user;
    if (event != VEM_I_STEP_BEGINS || em->within)
        return 0;
    const double start = vem_i_clock();
    vem_i_scorer_prepare(em->run, em->model, &em->scorer);
    const int64_t divided = descend(t);
    if (em->trace.count == 0)
        return 0;
    vem_trace_step *line = vem_i_trace_last(&em->trace);
    line->seconds += vem_i_clock() - start;
    if (!line->move)
        vem_i_trace_name(&em->trace, VEM_I_MOVE_DESCEND, divided);
    return 0;
}

void vem_i_descent_free(vem_i_descent *t)
{
    if (!t)
        return;
    vem_i_free(t->level);
    vem_i_free(t->next);
    vem_i_free(t->open);
    vem_i_free(t->box);
    vem_i_free(t);
}

vem_status vem_i_descent_new(vem_i_em *em, vem_i_cells *cells, double tau,
                             vem_i_descent **descent)
{
    vem_i_descent *t;
    vem_status status = vem_i_take_structs(em->run, &t, 1, sizeof *t);
    if (status != VEM_OK)
        return status;
    const size_t most = (size_t)cells->cut.capacity;
    const vem_i_room list[] = {
        {&t->level, most, sizeof *t->level, 0},
        {&t->next, most, sizeof *t->next, 0},
        {&t->open, most, sizeof *t->open, 0},
        {&t->box, (size_t)em->run->threads, 6 * (size_t)em->view->d * sizeof(double), 0},
    };
    t->em = em;
    t->cells = cells;
    t->tau = tau;
    t->log_unit = log_unit_of(em->view);
    status = vem_i_take_rooms(em->run, list, VEM_I_COUNT(list));
    if (status != VEM_OK) {
        vem_i_descent_free(t);
        return status;
    }
    em->scorer.at_means = 1;
    em->routine = VEM_I_MOVE_DESCEND;
    em->observers[VEM_I_WATCHES_DESCENT] = (vem_i_observer){observe, t};
    *descent = t;
    return VEM_OK;
}
