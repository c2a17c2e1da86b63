/* The memory of a search, planned and taken. */
#include <string.h>

#include "base/memory.h"
#include "search/boxes.h"
#include "select/divide_inside.h"

/* Mixtures of the path, or so: how many numbers of clusters a search comes by, it finds out
 * (docs/constants.md). */
enum { KEPT = 32 };
/* Mixtures of its own beside that of the loop at hand: the best, what is better beside it, and where
 * the loop begins. */
enum { OWN = 3 };

void vem_i_divider_free(vem_i_divider *t)
{
    vem_i_parts_free(t->parts);
    vem_i_boxes_free(t->boxes);
    vem_model_free(t->model);
    vem_model_free(t->better);
    vem_i_partition_free(&t->groups);
    vem_i_partition_free(&t->next);
    vem_i_free(t->labels);
    vem_i_free(t->first);
    vem_i_free(t->to);
    vem_i_free(t->better_labels);
    vem_i_free(t->moves);
    vem_i_free(t->part);
    vem_i_free(t->items);
    vem_i_free(t->anew);
    vem_i_free(t->touched);
    vem_i_free(t->tried);
    vem_i_trace_free(&t->trace);
}

vem_status vem_i_divider_new(vem_i_divider *t)
{
    const size_t n = (size_t)t->view->n, clusters = (size_t)t->most;
    t->capacity = 4 * (int64_t)t->most + 64;
    const vem_i_room list[] = {
        {&t->labels, n, sizeof *t->labels, 1},
        {&t->first, n, sizeof *t->first, 0},
        {&t->to, clusters, sizeof *t->to, 0},
        {&t->better_labels, n, sizeof *t->better_labels, 0},
        {&t->moves, (size_t)t->capacity, sizeof *t->moves, 0},
        {&t->part, n, sizeof *t->part, 0},
        {&t->items, 2 * n, sizeof *t->items, 0},
        {&t->anew, 2 * n, sizeof *t->anew, 0},
        {&t->touched, clusters, sizeof *t->touched, 0},
        {&t->tried, VEM_I_TRIED_KEY * VEM_I_TRIED * (size_t)t->capacity, sizeof *t->tried,
         0},
    };
    vem_status status = vem_i_take_rooms(t->run, list, VEM_I_COUNT(list));
    if (status == VEM_OK)
        status =
            vem_i_partition_new(t->run, t->objective, t->view->n, t->most, &t->groups);
    if (status == VEM_OK)
        status = vem_i_partition_new(t->run, t->objective, t->view->n, t->most, &t->next);
    if (status == VEM_OK)
        status = vem_i_parts_new(t->run, t->view, t->objective, t->view->n, &t->parts);
    return status;
}

static uint64_t bytes_of(const vem_i_run *run, const vem_i_programme *programme,
                         int32_t d, int tests)
{
    uint64_t bytes;
    vem_i_run dry = vem_i_run_dry(run, &bytes);
    const vem_options *o = &programme->options;
    const vem_i_family *family = vem_i_family_of(o->family);
    const vem_view view = {.kernels = o->precision == VEM_SINGLE
                                          ? run->ctx->kernels_single
                                          : run->ctx->kernels_double,
                           .n = programme->items,
                           .ld = d,
                           .d = d};
    vem_i_objective objective = {.family = family, .d = d, .tests = tests};
    vem_i_divider t = {.run = &dry,
                       .objective = &objective,
                       .view = &view,
                       .most = (int32_t)o->clusters};
    const vem_i_shape shape = vem_i_shape_of(family, t.most, d);
    if (vem_i_divider_new(&t) == VEM_OK) {
        vem_i_divide_plan_boxes(&t);
        vem_i_price_plan(&t);
        vem_i_path_plan(&dry, shape, t.most < KEPT ? t.most : KEPT);
    }
    vem_i_divider_free(&t);
    return bytes + OWN * vem_i_model_bytes(run, shape);
}

uint64_t vem_i_divide_bytes(const vem_i_run *run, const vem_i_programme *programme,
                            int32_t d)
{
    return bytes_of(run, programme, d, 0);
}

uint64_t vem_i_divide_test_bytes(const vem_i_run *run, const vem_i_programme *programme,
                                 int32_t d)
{
    return bytes_of(run, programme, d, 1);
}
