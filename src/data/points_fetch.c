/* Rows put into another order, of processes that share them.
 *
 * What moves is the number of a row (exchange.c). Whoever has its place reads it from the data, which all
 * see, as it was read at first, so that its values are those that it had. So no process ever has its rows
 * twice, and a state needs no more than the order. Rows that were made of those, as along axes, go from process
 * to process themselves. */
#include <math.h>

#include "base/memory.h"
#include "base/spill.h"
#include "data/pass.h"
#include "data/points.h"
#include "data/together.h"

/* The weights that all have of all rows make way for those of the items here. */
static vem_status weigh_again(vem_i_run *run, vem_i_points *points, const uint32_t *rows)
{
    vem_view *view = &points->view;
    double *mass = NULL;
    if (!points->mass)
        return VEM_OK;
    const vem_status status = vem_i_take(run, &mass, (size_t)view->n, sizeof *mass);
    if (status != VEM_OK || run->counted)
        return status;
    const int exponent = ilogb(view->mass_unit);
    for (int64_t i = 0; i < view->n; i++)
        mass[i] = ldexp(points->data->weights[rows[i]], -exponent);
    vem_i_free(points->mass);
    view->mass = points->mass = mass;
    return VEM_OK;
}

vem_status vem_i_points_fetch(vem_i_run *run, vem_i_points *points, uint32_t *rows)
{
    vem_view *view = &points->view;
    const vem_data none = {0};
    vem_i_pass p = {.run = run,
                    .data = run->counted ? &none : points->data,
                    .n = view->n,
                    .d = view->d,
                    .normalize = points->normalize,
                    .center = points->origin,
                    .divisor = points->scale,
                    .squares = 1,
                    .kernels = view->kernels,
                    .out = points->x,
                    .as_stored = view->stored != VEM_I_STORED_PLAIN};
    vem_status status = weigh_again(run, points, rows);
    if (status == VEM_OK)
        status = vem_i_pass_new(&p);
    if (status == VEM_OK && !run->counted) {
        vem_i_pass_fetch(&p, rows);
        if (points->data->mapping) /* most of a file, perhaps */
            vem_i_mapping_rest(points->data->mapping);
    }
    vem_i_pass_free(&p);
    if (points->rows != rows)
        vem_i_free(points->rows);
    points->rows = rows;
    return status;
}

/* ---- rows themselves ---- */

static vem_status move_masses(vem_i_run *run, vem_i_points *points, const int64_t *places)
{
    vem_view *view = &points->view;
    double *mass = NULL;
    if (!points->mass)
        return VEM_OK;
    vem_status status = vem_i_take(run, &mass, (size_t)view->n, sizeof *mass);
    if (status == VEM_OK)
        status = vem_i_view_exchange(run, view, vem_i_view_own(view), places, view->mass,
                                     sizeof *mass, mass);
    if (status != VEM_OK || run->counted) {
        vem_i_free(mass);
        return status;
    }
    vem_i_free(points->mass);
    view->mass = points->mass = mass;
    return VEM_OK;
}

vem_status vem_i_points_move(vem_i_run *run, vem_i_points *points, const int64_t *places)
{
    vem_view *view = &points->view;
    const size_t row = (size_t)view->d * vem_i_view_element(view), n = (size_t)view->n;
    vem_i_mapping *spill = NULL;
    void *x = NULL;
    vem_status status = VEM_OK;
    if (!points->spill)
        status = vem_i_take(run, &x, n, row);
    else if (!run->counted)
        status = vem_i_spill_new(run, n * row, &spill);
    x = spill ? spill->bytes : x;
    if (status == VEM_OK)
        status = vem_i_view_exchange(run, view, vem_i_view_own(view), places, points->x,
                                     row, x);
    if (status != VEM_OK || run->counted) {
        if (!spill)
            vem_i_free(x);
        vem_i_mapping_free(spill);
        return status;
    }
    if (!points->spill)
        vem_i_free(points->x);
    vem_i_mapping_free(points->spill);
    points->spill = spill;
    view->x = points->x = x;
    if (spill)
        view->spill = spill;
    return move_masses(run, points, places);
}
