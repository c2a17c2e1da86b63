/* Coresets from the first pass to the last: what is known of the rows, the draw, and the rows that it has
 * found, as data of their own (coreset.c, column_moments.c). */
#include <math.h>

#include "base/memory.h"
#include "data/coreset.h"
#include "data/unit.h"

/* An empty coreset of `size` rows like those of `like`. */
static vem_status coreset_new(vem_i_run *run, const vem_data *like, int64_t size,
                              vem_data **coreset)
{
    const size_t width = vem_i_dtype_bytes(like->type), d = (size_t)like->d;
    vem_data *made;
    vem_status status = vem_i_data_new(run, &made);
    if (status != VEM_OK)
        return status;
    made->type = like->type;
    made->n = size;
    made->d = like->d;
    made->column_stride = (int64_t)width;
    made->row_stride = (int64_t)(d * width);
    made->format = "coreset";
    const vem_i_room list[] = {
        {&made->owned, (size_t)size, d * width, 0},
        {&made->weights, (size_t)size, sizeof(double), 0},
        {&made->indices, (size_t)size, sizeof(int64_t), 0},
        {&made->numbers, d, sizeof(int32_t), 0},
    };
    status = vem_i_take_rooms(run, list, VEM_I_COUNT(list));
    const vem_i_names table = vem_i_data_table(like);
    vem_i_names names;
    if (status == VEM_OK)
        status = vem_i_names_copy(run, &table, &names);
    if (status == VEM_OK)
        vem_i_data_take_table(made, &names);
    if (status != VEM_OK) {
        vem_data_free(made);
        return status;
    }
    made->base = made->owned;
    for (int32_t j = 0; made->numbers && j < like->d; j++)
        made->numbers[j] = vem_i_data_column_number(like, j);
    *coreset = made;
    return VEM_OK;
}

void vem_i_draw_free(vem_i_draw *draw)
{
    vem_i_free(draw->factors);
    vem_i_free(draw->places);
    vem_data_free(draw->coreset);
    *draw = (vem_i_draw){0};
}

vem_status vem_i_draw_new(vem_i_run *run, const vem_i_coreset_request *request,
                          const vem_data *like, const vem_i_column_moments *moments,
                          const double *scale, vem_i_draw *draw)
{
    const size_t d = (size_t)like->d;
    vem_status status = VEM_OK;
    *draw = (vem_i_draw){.moments = moments, .size = request->size, .rest = 2};
    if (request->method == VEM_CORESET_LIGHTWEIGHT) {
        double squares = 0;
        if (scale)
            status = vem_i_take(run, &draw->factors, d, sizeof(double));
        for (size_t j = 0; status == VEM_OK && !run->counted && j < d; j++) {
            if (scale)
                draw->factors[j] = 1 / scale[j];
            const double factor = scale ? draw->factors[j] : 1;
            squares += moments->squares[j] * factor * factor;
        }
        if (isfinite(moments->mass / squares) || run->counted) {
            draw->rest = 1;
            draw->slope = run->counted ? 1 : moments->mass / squares;
        }
    }
    if (status == VEM_OK)
        status =
            vem_i_take(run, &draw->places, (size_t)request->size + 1, sizeof(double));
    if (status == VEM_OK)
        status = coreset_new(run, like, request->size, &draw->coreset);
    if (status == VEM_OK && !run->counted)
        vem_i_draw_places(run, request->seed, request->size, draw->places);
    if (status != VEM_OK)
        vem_i_draw_free(draw);
    return status;
}

void vem_i_column_moments_scale(const vem_i_column_moments *moments, double *scale)
{
    for (int32_t j = 0; j < moments->d; j++)
        scale[j] =
            moments->squares[j] > 0 ? sqrt(moments->squares[j] / moments->mass) : 1;
}

/* Every row, with the weight it has. */
static vem_status take_all(vem_i_run *run, const vem_data *data, vem_data **coreset)
{
    vem_status status = coreset_new(run, data, data->n, coreset);
    if (status != VEM_OK)
        return status;
    vem_data *made = *coreset;
    for (int64_t i = 0; i < data->n; i++) {
        vem_i_data_copy_row(data, i, (char *)made->owned + i * made->row_stride);
        made->weights[i] = data->weights ? data->weights[i] : 1;
        made->indices[i] = i;
    }
    return VEM_OK;
}

static vem_status draw_all(vem_i_run *run, const vem_data *data,
                           const vem_i_coreset_request *request,
                           const vem_i_column_moments *moments, const double *scale,
                           vem_data **coreset)
{
    vem_i_draw draw;
    vem_status status = vem_i_draw_new(run, request, data, moments, scale, &draw);
    if (status != VEM_OK)
        return status;
    status = vem_i_draw_add(run, &draw, vem_i_coreset_own(run, data));
    if (status == VEM_OK && request->method == VEM_CORESET_UNIFORM)
        status =
            vem_i_refuse_bad(run,
                             (vem_i_chunk){.data = draw.coreset, .count = request->size},
                             request->normalize);
    if (status == VEM_OK) {
        *coreset = draw.coreset;
        draw.coreset = NULL;
    }
    vem_i_draw_free(&draw);
    return status;
}

vem_status vem_i_coreset(vem_i_run *run, const vem_data *data,
                         const vem_i_coreset_request *request, double *scale,
                         vem_data **coreset)
{
    const int everything = request->size >= data->n;
    if (data->sparse.starts)
        return vem_i_fail(
            run, VEM_BAD_OPTION,
            "The rows are sparse, and a coreset of them would not be: fit all "
            "rows.");
    if (request->method == VEM_CORESET_UNIFORM && !everything) {
        vem_i_column_moments known =
            vem_i_column_moments_weights(data->d, data->weights, data->n);
        known.total = data->n;
        return draw_all(run, data, request, &known, NULL, coreset);
    }
    vem_i_column_moments moments;
    vem_status status = vem_i_column_moments_new(run, data->d, request->normalize,
                                                 data->weights, data->n, &moments);
    if (status != VEM_OK)
        return status;
    moments.total = everything ? data->n : 2 * data->n;
    const uint64_t before = vem_i_counted(run);
    status = vem_i_column_moments_add(run, &moments, vem_i_coreset_own(run, data));
    const int divided = request->standardize || request->whiten;
    const uint64_t first = vem_i_count_back(run, before);
    if (status == VEM_OK && divided && !run->counted)
        vem_i_column_moments_scale(&moments, scale);
    for (int32_t j = 0;
         status == VEM_OK && request->whiten && !run->counted && j < data->d; j++)
        scale[j] = vem_i_column_unit(moments.squares[j] / moments.mass, moments.mean[j]);
    if (status == VEM_OK)
        status = everything ? take_all(run, data, coreset)
                            : draw_all(run, data, request, &moments,
                                       divided ? scale : request->scale, coreset);
    vem_i_count_least(run, first);
    vem_i_column_moments_free(&moments);
    return status;
}
