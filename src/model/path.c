#include "model/path.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/memory.h"

vem_status vem_i_path_new(vem_i_run *run, int32_t capacity, vem_path **path)
{
    vem_path *made;
    const size_t count = (size_t)capacity;
    vem_status status = vem_i_take_structs(run, &made, 1, sizeof *made);
    if (status != VEM_OK)
        return status;
    made->capacity = capacity;
    status = vem_i_take_zeroed(run, &made->points, count, sizeof *made->points);
    if (status == VEM_OK)
        status = vem_i_take_zeroed(run, &made->models, count, sizeof(vem_model *));
    if (status != VEM_OK) {
        vem_path_free(made);
        return status;
    }
    *path = made;
    return VEM_OK;
}

void vem_path_free(vem_path *path)
{
    if (!path)
        return;
    for (int32_t i = 0; i < path->count; i++)
        vem_model_free(path->models[i]);
    vem_i_free(path->points);
    vem_i_free(path->models);
    vem_i_free(path);
}

void vem_i_path_plan(vem_i_run *dry, vem_i_shape shape, int32_t count)
{
    vem_path *path = NULL;
    void *models;
    /* Bytes are linear in the clusters: each takes the mean of the least and the most. */
    const vem_i_shape least =
        vem_i_shape_of(shape.family, shape.clusters - count + 1, shape.d);
    const uint64_t two = vem_i_model_bytes(dry, least) + vem_i_model_bytes(dry, shape);
    vem_i_path_new(dry, shape.clusters, &path);
    vem_i_take(dry, &models, (size_t)count, (size_t)(two / 2));
    vem_path_free(path);
}

int32_t vem_i_path_find(const vem_path *path, int32_t clusters)
{
    for (int32_t i = 0; i < path->count; i++)
        if (path->points[i].clusters == clusters)
            return i;
    return -1;
}

/* Makes room for a number of clusters. */
static int32_t open_place(vem_path *path, int32_t clusters)
{
    int32_t at = path->count;
    for (; at > 0 && path->points[at - 1].clusters > clusters; at--) {
        path->points[at] = path->points[at - 1];
        path->models[at] = path->models[at - 1];
    }
    path->models[at] = NULL;
    path->count++;
    return at;
}

/* Nothing of it is measured. */
static vem_path_point blank_point(int32_t clusters, int64_t steps, double free_energy)
{
    return (vem_path_point){.clusters = clusters,
                            .steps = steps,
                            .free_energy = free_energy,
                            .log_likelihood = NAN,
                            .log_likelihood_se = NAN,
                            .entropy = NAN,
                            .aic = NAN,
                            .bic = NAN,
                            .icl = NAN,
                            .held_out = NAN,
                            .seconds = NAN,
                            .objective = NAN};
}

vem_status vem_i_path_add(vem_i_run *run, vem_path *path, const vem_model *model,
                          double free_energy, int64_t steps)
{
    int32_t at = vem_i_path_find(path, model->clusters);
    if (at >= 0 && !(free_energy >= path->points[at].free_energy))
        return VEM_OK;
    if (at < 0 && path->count == path->capacity)
        return VEM_OK; /* never: there are no more clusters than that */
    vem_model *copy;
    vem_status status = vem_i_model_blank(run, vem_i_model_shape(model), &copy);
    if (status != VEM_OK)
        return status;
    vem_i_model_assign(model, copy);
    if (at < 0)
        at = open_place(path, model->clusters);
    vem_model_free(path->models[at]);
    path->models[at] = copy;
    path->points[at] = blank_point(model->clusters, steps, free_energy);
    return VEM_OK;
}

vem_status vem_i_path_append(vem_i_run *run, vem_path *path, const vem_path_point *point,
                             vem_model *model)
{
    if (path->count == path->capacity ||
        (path->count > 0 && point->clusters <= path->points[path->count - 1].clusters)) {
        vem_model_free(model);
        return vem_i_fail(run, VEM_BAD_DATA,
                          "The numbers of clusters of a path do not ascend.");
    }
    path->points[path->count] = *point;
    path->models[path->count++] = model;
    return VEM_OK;
}

int32_t vem_i_path_best(const vem_path *path, int32_t least, int lower)
{
    const vem_path_point *best = NULL;
    for (int32_t i = 0; i < path->count; i++) {
        const vem_path_point *p = &path->points[i];
        if (p->clusters >= least && (!best || (lower ? p->objective < best->objective
                                                     : p->objective > best->objective)))
            best = p;
    }
    if (!best && path->count > 0)
        best = &path->points[path->count - 1];
    return best ? best->clusters : 0;
}

int32_t vem_i_path_next(const vem_path *path, int lower, double *margin)
{
    const int32_t at = vem_i_path_find(path, path->chosen);
    int32_t next = -1;
    *margin = NAN;
    for (int32_t i = 0; at >= 0 && i < path->count; i++) {
        const double more = path->points[at].objective - path->points[i].objective;
        const double each = lower ? -more : more;
        if (i != at && !isnan(each) && !(each >= *margin)) {
            *margin = each;
            next = i;
        }
    }
    return next;
}

void vem_i_path_record(vem_i_record *r, vem_path *path, vem_i_shape shape)
{
    int64_t count = path->count;
    vem_i_record_count(r, "path", &count, 0, path->capacity);
    for (int32_t i = 0; r->status == VEM_OK && i < count; i++) {
        int64_t steps = path->points[i].steps, clusters = path->points[i].clusters;
        double f = path->points[i].free_energy;
        vem_model *model = path->models[i];
        vem_i_record_count(r, "path_steps", &steps, 0, VEM_I_RECORD_MOST);
        vem_i_record_count(r, "path_clusters", &clusters,
                           i > 0 ? path->points[i - 1].clusters + 1 : 1, shape.capacity);
        vem_i_record_reals(r, "path_free_energy", &f, 1, -DBL_MAX, DBL_MAX);
        if (r->status != VEM_OK)
            return;
        if (r->reading) {
            const vem_i_shape each = {shape.family, (int32_t)clusters, (int32_t)clusters,
                                      shape.d};
            r->status = vem_i_model_blank(r->run, each, &model);
            if (r->status != VEM_OK)
                return;
            path->models[i] = model;
            path->points[i] = blank_point((int32_t)clusters, steps, f);
            path->count = i + 1;
        }
        vem_i_model_record(r, model);
        if (r->status == VEM_OK && model->clusters != clusters)
            vem_i_record_refuse(r, "path");
    }
}

int32_t vem_path_count(const vem_path *path)
{
    return path ? path->count : 0;
}

const vem_path_point *vem_path_at(const vem_path *path, int32_t index)
{
    return path && index >= 0 && index < path->count ? &path->points[index] : NULL;
}

int32_t vem_path_chosen(const vem_path *path)
{
    return path ? path->chosen : 0;
}

/* "1 to 4, 6 and 9"; of very many the first, and the last. */
static const char *print_numbers(const vem_path *path, char *text, size_t size)
{
    const vem_path_point *p = path->points;
    enum { LAST = 48 }; /* room for what ends the list */
    size_t length = 0;
    text[0] = '\0';
    for (int32_t i = 0, end; i < path->count; i = end) {
        for (end = i + 1; end < path->count; end++)
            if (p[end].clusters != p[i].clusters + end - i)
                break;
        const char *before = i == 0 ? "" : end == path->count ? " and " : ", ";
        if (length + LAST + LAST > size) {
            snprintf(text + length, size - length, " and more, up to %d",
                     p[path->count - 1].clusters);
            break;
        }
        if (end - i > 2)
            length += (size_t)snprintf(text + length, size - length, "%s%d to %d", before,
                                       p[i].clusters, p[end - 1].clusters);
        else if (end - i == 2)
            length += (size_t)snprintf(text + length, size - length, "%s%d%s%d", before,
                                       p[i].clusters, end == path->count ? " and " : ", ",
                                       p[i + 1].clusters);
        else
            length += (size_t)snprintf(text + length, size - length, "%s%d", before,
                                       p[i].clusters);
    }
    return text;
}

vem_status vem_path_pick(vem_ctx *ctx, const vem_path *path, int32_t clusters,
                         vem_model **model)
{
    VEM_I_NEED(ctx, ctx, path, model);
    vem_i_verb verb;
    vem_i_run *run = vem_i_within(ctx, &verb);
    const int32_t at = vem_i_path_find(path, clusters);
    char list[256];
    if (at < 0 && path->count > 0)
        return vem_i_fail(run, VEM_BAD_OPTION,
                          "There is no mixture of %d clusters on the path, which has "
                          "those of %s; a fit of that number (-k %d) makes one.",
                          clusters, print_numbers(path, list, sizeof list), clusters);
    if (at < 0)
        return vem_i_fail(run, VEM_BAD_OPTION, "The path has no mixtures.");
    return vem_model_copy(ctx, path->models[at], model);
}
