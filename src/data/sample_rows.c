#include "data/sample_rows.h"

#include "base/memory.h"

vem_status vem_i_sample_rows(vem_i_run *run, const vem_data *data,
                             const vem_i_sample *sample, vem_i_sampled_rows *rows)
{
    const size_t row = (size_t)data->d * vem_i_dtype_bytes(data->type);
    *rows = (vem_i_sampled_rows){0};
    vem_status status = vem_i_take(run, &rows->values, (size_t)sample->size, row);
    if (status == VEM_OK)
        status = vem_i_take(run, &rows->numbers, (size_t)data->d, sizeof *rows->numbers);
    if (status != VEM_OK || run->counted)
        return status;
    for (int64_t i = 0; i < sample->size; i++) {
        vem_i_data_copy_row(data, sample->rows[i], rows->values + (size_t)i * row);
        vem_i_residence_check(run);
    }
    for (int32_t j = 0; j < data->d; j++)
        rows->numbers[j] = vem_i_data_column_number(data, j);
    rows->data = (vem_data){.type = data->type,
                            .n = sample->size,
                            .d = data->d,
                            .base = rows->values,
                            .row_stride = (int64_t)row,
                            .column_stride = (int64_t)vem_i_dtype_bytes(data->type),
                            .numbers = rows->numbers,
                            .names = data->names,
                            .indices = sample->rows,
                            .format = data->format};
    return VEM_OK;
}

void vem_i_sample_rows_free(vem_i_sampled_rows *rows)
{
    vem_i_free(rows->values);
    vem_i_free(rows->numbers);
    *rows = (vem_i_sampled_rows){0};
}
