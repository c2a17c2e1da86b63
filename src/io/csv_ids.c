#include "io/csv.h"

#include <string.h>

#include "base/memory.h"
#include "base/spill.h"

int64_t vem_i_csv_id_bytes(const vem_i_csv *csv, const char *at)
{
    int64_t bytes = csv->columns.id_count; /* a NUL each */
    for (int32_t j = 0; at && j < csv->stored; j++) {
        const vem_i_field field = vem_i_csv_field(csv, at);
        at = field.next;
        if (csv->slot[j] >= 0)
            bytes += field.text_end - field.text;
    }
    return bytes;
}

int vem_i_csv_put_ids(const vem_i_csv *csv, const char *at, const char *text, char **out,
                      const char *room, int64_t *places)
{
    for (int32_t j = 0; j < csv->stored; j++) {
        if (!at)
            return 0;
        const vem_i_field field = vem_i_csv_field(csv, at);
        at = field.next;
        if (csv->slot[j] < 0)
            continue;
        const size_t left = (size_t)(room - *out);
        const size_t length = vem_i_csv_unquote(&field, *out, left);
        if (length + 1 > left)
            return 0;
        places[csv->slot[j]] = *out - text;
        *out += length + 1;
    }
    return 1;
}

vem_status vem_i_csv_ids_new(vem_i_run *run, const vem_i_csv *csv, int64_t rows,
                             int64_t bytes, vem_i_ids **ids)
{
    vem_i_ids *made;
    const int32_t count = csv->columns.id_count;
    size_t size;
    vem_status status = vem_i_take_zeroed(run, &made, 1, sizeof *made);
    if (status != VEM_OK)
        return status;
    made->count = count;
    if (__builtin_mul_overflow((size_t)rows, (size_t)count * sizeof(int64_t), &size) ||
        __builtin_add_overflow(size, (size_t)bytes, &size))
        status = vem_i_fail_memory(run, SIZE_MAX);
    if (status == VEM_OK)
        status = vem_i_spill_take(run, &made->places, size, 1, &made->spill);
    if (status == VEM_OK)
        made->text = (char *)(made->places + rows * count);
    if (status == VEM_OK && csv->names)
        status = vem_i_csv_some_names(run, csv, csv->columns.ids, count, &made->names);
    if (status == VEM_OK)
        *ids = made;
    else
        vem_i_ids_free(made);
    return status;
}
