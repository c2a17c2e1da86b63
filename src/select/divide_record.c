/* A search that can be left and entered again, to the same bits: between two rounds it
 * depends on the labels, the model of these, which clusters and pairs were looked at, and
 * what was done so often that it must end. A round that was begun when it was stopped is
 * begun again.
 *
 * The labels L of a state are worth no less than its free energy F says: the best
 * parameters for L alone are at least as good as those that F was measured with, and
 * where rows share clusters the share of the one that a row is labelled with is the
 * largest, so at least 1 / K:
 *
 *     worth(L) >= F - log K ,     with one cluster for each row  worth(L) >= F .
 *
 * Where all clusters share a variance, F has that of the most likelihood, J / (D W), and
 * the objective J / (D (W - K)): by this it may be lower, D/2 (log(W / (W - K)) - K / W)
 * for a unit of mass. Where weights are 1 / K each they have no price in F, and in the objective
 * K - 1 of them have. */
#include <float.h>
#include <math.h>

#include "select/divide_inside.h"

/* Of F in single precision, and more: labels of another model are far worse. */
static const double ROUNDING = 1e-4;

/* Method and prior: those of the options are compared by the checkpoint itself. */
static uint64_t owner_of(const vem_i_divider *t)
{
    const vem_i_objective *o = t->objective;
    const vem_i_conjugate *c = o->constraints.conjugate;
    const int64_t numbers[] = {(int64_t)t->selection->select->method, t->least, t->most};
    uint64_t sum = vem_i_mix(1, numbers, sizeof numbers);
    sum = vem_i_mix(sum, &o->total, sizeof o->total);
    if (!c)
        return sum;
    const double prior[] = {c->strength, c->dof, c->count};
    sum = vem_i_mix(sum, prior, sizeof prior);
    sum = vem_i_mix(sum, c->mean, (size_t)c->d * sizeof(double));
    return vem_i_mix(sum, c->scale,
                     (size_t)vem_i_shape_values(c->family, c->d) * sizeof(double));
}

static void record_labels(vem_i_record *r, vem_i_divider *t)
{
    vem_i_record_indices(r, "labels", t->labels, (size_t)t->view->n, 0,
                         t->model->clusters - 1);
    vem_i_record_block(r, "seen", t->groups.seen, (size_t)t->model->clusters,
                       sizeof(double));
    for (int32_t c = 0; r->reading && r->status == VEM_OK && c < t->model->clusters; c++)
        if (t->groups.seen[c] < 0 || isinf(t->groups.seen[c])) /* NAN: it was not */
            vem_i_record_refuse(r, "seen");
    vem_i_record_count(r, "tried", &t->tried_count, 0, VEM_I_TRIED * t->capacity);
    if (r->status == VEM_OK)
        vem_i_record_reals(r, "pairs_tried", t->tried,
                           VEM_I_TRIED_KEY * (size_t)t->tried_count, -DBL_MAX, DBL_MAX);
}

void vem_i_divide_check(vem_i_record *r, const vem_i_divider *t)
{
    const vem_i_objective *o = t->objective;
    const vem_i_partition *g = &t->groups;
    const double clusters = g->count, total = o->total;
    const int alone = t->hard || vem_i_divide_alone(t);
    double less = alone ? 0 : log(clusters);
    for (int32_t c = 0; c < g->count;
         c++) /* after a loop there may be, and the cost says nothing */
        if (vem_i_group_lack(o, vem_i_partition_at(g, c)) > 0)
            return;
    if (o->family->shared && clusters < total)
        less += 0.5 * o->d * (log(total / (total - clusters)) - clusters / total);
    if (o->constraints.prior == VEM_PRIOR_FLAT)
        less += o->price * (clusters - 1) / total;
    const double worth =
        vem_i_view_log_shift(t->view) - vem_i_objective_total(o, g->all) / total;
    if (!(worth >= t->free_energy - less - ROUNDING * (1 + fabs(t->free_energy))))
        vem_i_record_refuse(r, "labels");
}

void vem_i_divide_record(vem_i_record *r, vem_i_divider *t)
{
    const vem_i_shape shape = {t->objective->family, 1, t->most, t->view->d};
    const uint64_t owner = owner_of(t);
    uint64_t theirs = owner;
    VEM_I_RECORD(r, "selection", theirs);
    if (r->status == VEM_OK && theirs != owner)
        r->status = vem_i_fail(r->run, VEM_BAD_OPTION,
                               "%s belongs to another selection: there the method, its "
                               "limits or its prior were others.",
                               r->path);
    vem_i_record_count(r, "steps", &t->steps, 0, VEM_I_RECORD_MOST);
    vem_i_record_count(r, "pairs", &t->pairs, 0, VEM_I_RECORD_MOST);
    vem_i_record_int(r, "settled", &t->settled, 0, 1);
    vem_i_record_int(r, "hard", &t->hard, 0, t->hard);
    vem_i_record_int(r, "forced", &t->forced, 0, INT32_MAX - 1);
    vem_i_record_int(r, "again", &t->again, 0, INT32_MAX - 1);
    vem_i_record_reals(r, "free_energy", &t->free_energy, 1, -DBL_MAX, DBL_MAX);
    vem_i_record_reals(r, "free_energy_first", &t->free_energy_first, 1, -DBL_MAX,
                       DBL_MAX);
    vem_i_trace_record(r, &t->trace);
    if (r->status == VEM_OK)
        vem_i_path_record(r, t->selection->fits->path, shape);
    if (r->reading && r->status == VEM_OK)
        r->status = vem_i_model_blank(t->run, shape, &t->model);
    if (r->status != VEM_OK)
        return;
    vem_i_model_record(r, t->model);
    vem_i_record_reals(r, "offset", &t->model->offset, 1, -DBL_MAX, DBL_MAX);
    if (r->status == VEM_OK)
        record_labels(r, t);
}
