/* A cluster of the new model continues a former one where each of their means is the nearest to the
 * other, as the fit sees distances: it gets that number. What is left over on both sides has another place now; it gets the numbers
 * that are left, in their order. (Steps and swaps keep no numbers of themselves: a cluster that is drawn
 * to new rows between two places, and then divided, may end at either.) */
#include "use/numbers.h"

#include <math.h>

#include "base/memory.h"
#include "use/assign.h"
#include "use/means_alone.h"

/* Between a mean of one model and a mean of another; scale: what columns are divided by, or NULL. */
static double distance(const vem_model *one, int64_t a, const vem_model *other, int64_t b,
                       const double *scale)
{
    double square = 0;
    for (int64_t j = 0; j < one->d; j++) {
        const double by = (one->means[a * one->d + j] - other->means[b * one->d + j]) /
                          (scale ? scale[j] : 1);
        square += by * by;
    }
    return sqrt(square);
}

/* The mean of `to` that is nearest to each mean of `from`. The search may miss one in a thousand; that
 * of the same number is compared with what it finds. scale: of the fit, whose distances these are. */
static vem_status find_nearest(vem_i_run *run, const vem_model *from, const vem_model *to,
                               const double *scale, int32_t *nearest)
{
    const vem_assign_options assign = {.size = sizeof assign, .precision = VEM_DOUBLE};
    vem_model *balls = NULL;
    vem_data *rows = NULL;
    vem_status status = vem_i_means_alone(run, to, &balls);
    if (status != VEM_OK)
        return status;
    balls->normalizes = 0; /* means are no rows */
    status = vem_model_set_scale(run->ctx, balls, scale);
    if (status == VEM_OK)
        status = vem_data_borrow(run->ctx, VEM_FLOAT64, from->means, from->clusters,
                                 from->d, 0, 0, &rows);
    if (status == VEM_OK)
        status = vem_i_assign_guided(run, balls, rows, &assign, nearest, NULL, NULL);
    for (int32_t c = 0; status == VEM_OK && c < from->clusters; c++)
        if (!(distance(from, c, to, nearest[c], scale) < distance(from, c, to, c, scale)))
            nearest[c] = c;
    vem_data_free(rows);
    vem_model_free(balls);
    return status;
}

/* What is at hand while clusters get their numbers. */
typedef struct matching {
    int32_t *onto,
        *back;       /* the nearest cluster before of each one after, and the other way */
    int32_t *number; /* of each cluster after */
    int32_t *taken;  /* of each number: is it one that went on? */
} matching;

static void match(matching *m, int32_t clusters)
{
    int32_t next = 0;
    for (int32_t c = 0; c < clusters; c++)
        m->taken[c] = m->onto[m->back[c]] == c;
    for (int32_t c = 0; c < clusters; c++) {
        m->number[c] = m->onto[c];
        if (m->back[m->onto[c]] == c)
            continue;
        while (m->taken[next])
            next++;
        m->number[c] = next++;
    }
}

static vem_status renumber(vem_i_run *run, const matching *m, vem_model *model)
{
    vem_model *copy = NULL;
    const vem_status status = vem_model_copy(run->ctx, model, &copy);
    if (status != VEM_OK)
        return status;
    for (int32_t c = 0; c < model->clusters; c++)
        vem_i_model_put(copy, c, model, m->number[c]);
    vem_model_free(copy);
    return VEM_OK;
}

vem_status vem_i_numbers_keep(vem_i_run *run, const vem_model *before, vem_model *model,
                              int32_t *labels, int64_t n, double *distances,
                              int32_t *moved)
{
    matching m = {0};
    const size_t clusters = (size_t)model->clusters;
    const vem_i_room rooms[] = {{&m.onto, clusters, sizeof *m.onto, 0},
                                {&m.back, clusters, sizeof *m.back, 0},
                                {&m.number, clusters, sizeof *m.number, 0},
                                {&m.taken, clusters, sizeof *m.taken, 0}};
    vem_status status = vem_i_take_rooms(run, rooms, VEM_I_COUNT(rooms));
    if (status == VEM_OK)
        status = find_nearest(run, model, before, model->scale, m.onto);
    if (status == VEM_OK)
        status = find_nearest(run, before, model, model->scale, m.back);
    if (status == VEM_OK) {
        match(&m, model->clusters);
        status = renumber(run, &m, model);
        for (int64_t i = 0; status == VEM_OK && labels && i < n; i++)
            labels[i] = m.number[labels[i]];
    }
    for (int32_t c = 0; status == VEM_OK && c < model->clusters; c++) {
        if (distances)
            distances[c] = distance(model, c, before, c, NULL);
        if (moved)
            moved[c] = !m.taken[c];
    }
    vem_i_free_rooms(rooms, VEM_I_COUNT(rooms));
    return status;
}
