#include "data/overlap.h"

#include <string.h>

#include "base/memory.h"

/* value += weight e e', as far as the kind goes. */
static void add_square(const vem_i_overlap *o, double weight, const double *e,
                       double *spread)
{
    const int64_t d = o->rows->d;
    for (int64_t j = 0, at = 0; j < d; j++) {
        if (o->view.spread_kind == VEM_I_SPREAD_TRACE)
            spread[0] += weight * e[j] * e[j];
        else if (o->view.spread_kind == VEM_I_SPREAD_DIAG)
            spread[j] += weight * e[j] * e[j];
        for (int64_t k = 0; o->view.spread_kind == VEM_I_SPREAD_FULL && k <= j; k++, at++)
            spread[at] += weight * e[j] * e[k];
    }
}

/* One pass for masses and means, one for spreads about them. */
static void pass(vem_i_overlap *o, int second)
{
    const vem_view *rows = o->rows;
    const int64_t d = rows->d;
    double *x = o->means + o->cells * d; /* a row more */
    double *e = x + d;
    for (int64_t i = 0; i < rows->n; i++) {
        vem_i_view_widen(rows, i, x);
        for (int64_t k = o->starts[i]; k < o->starts[i + 1]; k++) {
            const int64_t cell = o->members[k];
            const double weight = vem_i_view_mass(rows, i) * o->weights[k];
            double *mean = o->means + cell * d;
            if (!second)
                o->mass[cell] += weight;
            for (int64_t j = 0; j < d; j++) {
                e[j] = x[j] - mean[j];
                if (!second && o->mass[cell] > 0) /* a running mean loses no digits */
                    mean[j] += weight / o->mass[cell] * e[j];
            }
            if (second && o->mass[cell] > 0)
                add_square(o, weight / o->mass[cell], e, o->spread + cell * o->values);
        }
    }
}

void vem_i_overlap_sum(vem_i_overlap *o)
{
    const size_t cells = (size_t)o->cells, value = sizeof(double);
    memset(o->mass, 0, cells * value);
    memset(o->means, 0, cells * (size_t)o->rows->d * value);
    if (o->values)
        memset(o->spread, 0, cells * (size_t)o->values * value);
    pass(o, 0);
    pass(o, 1);
    o->view.used = 0;
    for (int64_t a = 0; a < o->cells; a++)
        o->view.used += o->mass[a] > 0;
}

void vem_i_overlap_free(vem_i_overlap *o)
{
    if (!o)
        return;
    vem_i_free(o->weights);
    vem_i_free(o->mass);
    vem_i_free(o->means);
    vem_i_free(o->spread);
    vem_i_free(o);
}

static vem_view view_of(const vem_i_overlap *o, vem_i_spread_kind kind)
{
    vem_view view = *o->rows;
    view.kernels = o->run->ctx->kernels_double;
    view.x = o->means;
    view.stored = VEM_I_STORED_PLAIN;
    view.sparse = (vem_i_sparse){0};
    view.n = view.global_n = o->cells;
    view.first = 0;
    view.ld = view.d;
    view.spilled = 0;
    view.mass = o->mass;
    view.log_base = NULL; /* its mean is that of the rows */
    view.spread_kind = kind;
    view.spread = o->spread;
    view.spread_ld = o->values;
    return view;
}

vem_status vem_i_overlap_new(vem_i_run *run, const vem_view *rows, vem_i_spread_kind kind,
                             int64_t cells, const int64_t *starts, const int32_t *members,
                             vem_i_overlap **overlap)
{
    vem_i_overlap *o;
    vem_status status = vem_i_take_structs(run, &o, 1, sizeof *o);
    if (status != VEM_OK)
        return status;
    const size_t n = (size_t)cells, value = sizeof(double);
    o->run = run;
    o->rows = rows;
    o->starts = starts;
    o->members = members;
    o->cells = cells;
    o->values = vem_i_spread_values(kind, rows->d);
    const vem_i_room list[] = {
        {&o->weights, (size_t)starts[rows->n], value, 0},
        {&o->mass, n, value, 0},
        {&o->means, n + 2, (size_t)rows->d * value, 0},
        {&o->spread, o->values ? n : 0, (size_t)o->values * value, 0},
    };
    status = vem_i_take_rooms(run, list, VEM_I_COUNT(list));
    if (status != VEM_OK) {
        vem_i_overlap_free(o);
        return status;
    }
    for (int64_t i = 0; i < rows->n; i++)
        for (int64_t k = starts[i]; k < starts[i + 1]; k++)
            o->weights[k] = 1.0 / (double)(starts[i + 1] - starts[i]);
    o->view = view_of(o, kind);
    vem_i_overlap_sum(o);
    *overlap = o;
    return VEM_OK;
}
