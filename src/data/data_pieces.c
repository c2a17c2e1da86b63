/* Rows of several files that are one, where they lie: each piece is mapped by itself, and what asks for
 * rows gets them out of the piece that has them. Values are those that rows would have in one packed
 * array, and so are the kernels that take them. */
#include "data/data.h"

#include "base/alloc.h"

void vem_i_pieces_free(vem_data *data)
{
    for (int32_t p = 0; data->pieces && p < data->part_count; p++)
        vem_data_free(data->pieces[p]);
    vem_i_free(data->pieces);
    data->pieces = NULL;
}

const vem_data *vem_i_piece_of(const vem_data *data, int64_t row, int64_t *local)
{
    int32_t low = 0,
            high = data->part_count; /* the last part that begins at or before it */
    while (high - low > 1) {
        const int32_t middle = low + (high - low) / 2;
        if (data->parts[middle].first <= row)
            low = middle;
        else
            high = middle;
    }
    *local = row - data->parts[low].first;
    return data->pieces[low];
}

void vem_i_pieces_load(const vem_data *data, int64_t first, int64_t count,
                       vem_precision to, void *out, int64_t ld)
{
    const size_t width = to == VEM_SINGLE ? sizeof(float) : sizeof(double);
    for (int64_t done = 0, some; done < count; done += some) {
        int64_t local;
        const vem_data *piece = vem_i_piece_of(data, first + done, &local);
        some = piece->n - local < count - done ? piece->n - local : count - done;
        vem_i_data_load(piece, local, some, to, (char *)out + (size_t)(done * ld) * width,
                        ld);
    }
}

const char *vem_i_pieces_rows(const vem_data *data, int64_t first, int64_t count,
                              void *scratch)
{
    const int64_t bytes = (int64_t)vem_i_dtype_bytes(data->type);
    int64_t local;
    const vem_data *piece = vem_i_piece_of(data, first, &local);
    const char *rows = piece->base + local * piece->row_stride;
    if (local + count <= piece->n && !piece->columns && !piece->swapped &&
        piece->column_stride == bytes && piece->row_stride == bytes * data->d &&
        (uintptr_t)rows % (uintptr_t)bytes == 0)
        return rows;
    for (int64_t i = 0; i < count; i++)
        vem_i_data_copy_row(data, first + i, (char *)scratch + i * bytes * data->d);
    return scratch;
}
