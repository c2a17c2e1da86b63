/* How members move between the mixtures of a path.
 *
 * Rows of one sample (data/sample.c: row i of stratum h stands for the mass  w_i
 * N_h/n_h)  are labelled by each mixture, with its most probable cluster. The flow from
 * cluster a of one mixture to cluster b of the next is the share of the mass whose
 * labels are a and then b. */
#include "select/flows.h"

#include "base/memory.h"
#include "base/whole.h"
#include "data/sample_rows.h"
#include "use/assign.h"

enum { MIXTURES = 12, ROWS = 20000, FEWEST = 1024, MOST_VALUES = 1 << 24 };

typedef struct flowing {
    vem_i_run *run;
    const vem_path *path;
    vem_precision precision;
    int32_t *shown; /* of the mixtures of the path: those that are looked at */
    int32_t count;
    vem_i_sample sample;
    vem_i_sampled_rows rows;
    double *mass; /* of the rows */
    double total;
    int32_t *labels[2]; /* of this mixture and the one before, in turns */
} flowing;

/* Every `step`-th of the path, such that the chosen one is among them. */
static vem_status pick_mixtures(flowing *f, int32_t most)
{
    const vem_path *path = f->path;
    const int32_t step = (path->count + most - 1) / most,
                  chosen = vem_i_path_find(path, path->chosen);
    vem_status status =
        vem_i_take(f->run, &f->shown, (size_t)path->count, sizeof *f->shown);
    for (int32_t i = (chosen < 0 ? 0 : chosen) % step;
         status == VEM_OK && i < path->count; i += step)
        f->shown[f->count++] = i;
    return status;
}

static vem_status draw_rows(flowing *f, const vem_data *data, const vem_flow_options *o)
{
    vem_i_sample *s = &f->sample;
    int64_t size = MOST_VALUES / data->d;
    size = size < FEWEST ? FEWEST : size;
    const int64_t most = o->rows ? o->rows : ROWS;
    size = size < most ? size : most;
    vem_status status =
        vem_i_sample_new(f->run, data->weights, data->n, size, (uint64_t)o->seed, s);
    if (status == VEM_OK)
        status = vem_i_sample_rows(f->run, data, s, &f->rows);
    const size_t rows = (size_t)s->size;
    const vem_i_room list[] = {
        {&f->mass, rows, sizeof *f->mass, 0},
        {&f->labels[0], rows, sizeof(int32_t), 0},
        {&f->labels[1], rows, sizeof(int32_t), 0},
    };
    if (status == VEM_OK)
        status = vem_i_take_rooms(f->run, list, VEM_I_COUNT(list));
    for (int64_t i = 0; status == VEM_OK && i < s->size; i++) {
        const int h = s->strata[i];
        f->mass[i] =
            (s->weights ? s->weights[i] : 1) * (double)s->count[h] / (double)s->taken[h];
        f->total += f->mass[i];
    }
    return status;
}

static vem_status flow(flowing *f, vem_flows *flows)
{
    vem_status status = VEM_OK;
    flows->rows = f->sample.size;
    const int owner = vem_i_whole_begin(f->run, "assign", f->sample.size);
    for (int32_t i = 0; status == VEM_OK && i < f->count; i++) {
        int32_t *now = f->labels[i % 2], *before = f->labels[(i + 1) % 2];
        vem_i_assign a = {.top = 1, .clusters = now};
        const vem_i_whole was = vem_i_whole_narrow(f->run, (double)i / f->count,
                                                   (double)(i + 1) / f->count, 1);
        status = vem_i_for_chunks(f->run, f->path->models[f->shown[i]], &f->rows.data,
                                  f->precision, "assign", 1, vem_i_assign_scan, &a);
        vem_i_whole_widen(f->run, &was);
        if (status == VEM_OK)
            vem_i_flows_weigh(flows, i, now, f->mass, f->total);
        if (status == VEM_OK && i > 0)
            status =
                vem_i_flows_put(f->run, flows, i - 1, before, now, f->mass, f->total);
    }
    vem_i_whole_end(f->run, owner);
    return status;
}

vem_status vem_i_path_flows(vem_i_run *run, const vem_path *path, const vem_data *data,
                            const vem_flow_options *o, vem_flows **flows)
{
    flowing f = {.run = run, .path = path, .precision = o->precision};
    vem_flows *made = NULL;
    int32_t *clusters = NULL;
    vem_status status = pick_mixtures(&f, o->mixtures ? o->mixtures : MIXTURES);
    if (status == VEM_OK)
        status = vem_i_take(run, &clusters, (size_t)f.count, sizeof *clusters);
    for (int32_t i = 0; status == VEM_OK && i < f.count; i++)
        clusters[i] = path->points[f.shown[i]].clusters;
    if (status == VEM_OK)
        status = vem_i_flows_new(run, clusters, f.count, &made);
    if (status == VEM_OK)
        status = draw_rows(&f, data, o);
    if (status == VEM_OK)
        status = flow(&f, made);
    if (status == VEM_OK)
        *flows = made;
    else
        vem_flows_free(made);
    vem_i_free(clusters);
    vem_i_free(f.shown);
    vem_i_free(f.mass);
    vem_i_free(f.labels[0]);
    vem_i_free(f.labels[1]);
    vem_i_sample_rows_free(&f.rows);
    vem_i_sample_free(&f.sample);
    return status;
}
