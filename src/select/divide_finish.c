/* --finish soft: the number of clusters was found with each item in one of them. Where
 * clusters overlap their variances come out too small, because each is cut off where
 * another begins. So steps follow in which items share clusters, from the mixture that
 * is chosen and with as many clusters: EM for the likelihood alone, without prior and
 * price, as `vem fit --init` makes it of the model, but to its end. Neither the path nor
 * the choice depend on it. */
#include "select/divide_inside.h"

/* The mixture that will be chosen (api/select.c): the best that is allowed. */
static int32_t chosen(const vem_i_divider *t, vem_path *path)
{
    const vem_i_select_type *method =
        vem_i_select_type_of((int)t->selection->select->method);
    vem_i_path_judge(method, 1, path);
    return vem_i_path_find(path, vem_i_path_best(path, t->least, method->lower));
}

vem_status vem_i_divide_finish(vem_i_divider *t)
{
    vem_i_restarts *fits = t->selection->fits;
    vem_path *path = fits->path;
    vem_i_divide_loop l = {0};
    fits->report->options.held = 1;
    const int32_t at = path->count > 0 ? chosen(t, path) : -1;
    if (at < 0 || vem_i_divide_is_over(t))
        return VEM_OK;
    const int same = path->points[at].clusters == t->model->clusters;
    const vem_i_objective searched = *t->objective;
    t->objective->constraints.conjugate = NULL;
    t->objective->constraints.price = t->objective->price = 0;
    t->hard = 0;
    vem_status status = vem_i_divide_run(t, same ? t->model : path->models[at],
                                         same ? t->labels : NULL, 1, &l);
    *t->objective = searched;
    if (status == VEM_OK && l.attempt.steps > 0) {
        const vem_options *o = &l.programme.options;
        status = vem_i_divide_take(t, &l, l.attempt.free_energy, VEM_I_MOVE_SOFTEN, 0);
        fits->softened = 1;
        fits->report->options.held = o->held;
        fits->report->options.search = o->search;
        fits->report->options.reach = o->reach;
    }
    vem_i_attempt_free(&l.attempt);
    return status;
}
