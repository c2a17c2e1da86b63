/* All loops of a search for the number of clusters go over the same rows: those that
 * label box by box (search/boxes.h) share one tree, made when the first of them is
 * due. */
#include "search/boxes.h"
#include "select/divide_inside.h"

vem_status vem_i_divide_boxes(vem_i_divider *t, const vem_options *o)
{
    const vem_i_search_spec spec = vem_i_search_for(o, 0);
    const vem_i_family *family = vem_i_family_of(o->family);
    if (t->boxed || !spec.type->label || !vem_i_boxes_suit(t->view, family))
        return VEM_OK;
    t->boxed = 1;
    const vem_status status = vem_i_boxes_new(t->run, t->view, family, 0, &t->boxes);
    return status == VEM_STOPPED ? VEM_OK : status; /* the loop hears of it */
}

vem_status vem_i_divide_plan_boxes(vem_i_divider *t)
{
    const vem_i_family *family = t->objective->family;
    const int32_t d = t->view->d;
    int64_t clusters = vem_i_boxes_most(t->view->n);
    clusters = clusters < t->most ? clusters : t->most;
    if (!vem_i_boxes_suit(t->view, family) ||
        !vem_i_boxes_pay(family, t->view->n, d, clusters))
        return VEM_OK;
    return vem_i_boxes_new(t->run, t->view, family, 0, &t->boxes);
}
