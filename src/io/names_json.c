#include "io/names_json.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "base/memory.h"

static const char MEANS[] = "missing_means";

json_t *vem_i_text_to_json(const char *name)
{
    const size_t capacity = 2 * strlen(name) + 1;
    char *text = vem_i_alloc(capacity, 1);
    if (!text)
        return NULL;
    vem_i_names_utf8(name, text, capacity);
    json_t *json = json_string(text);
    vem_i_free(text);
    return json;
}

static int set_text(json_t *json, const char *key, const char *text)
{
    json_object_del(json, key);
    return !text || json_object_set_new(json, key, vem_i_text_to_json(text)) == 0;
}

/* Names, or numbers where there are any. */
static int set_list(json_t *json, const char *key, char *const *names,
                    const double *numbers, int32_t count)
{
    json_object_del(json, key);
    if (!names && !numbers)
        return 1;
    json_t *list = json_array();
    int done = list != NULL;
    for (int32_t j = 0; done && j < count; j++)
        done = json_array_append_new(list, numbers ? json_real(numbers[j])
                                                   : vem_i_text_to_json(names[j])) == 0;
    if (done)
        return json_object_set_new(json, key, list) == 0;
    json_decref(list);
    return 0;
}

int vem_i_texts_to_json(char *const *texts, int32_t count, const char *key, json_t *json)
{
    return set_list(json, key, texts, NULL, count);
}

int vem_i_names_to_json(const vem_i_names *names, int32_t count, json_t *json)
{
    return set_list(json, "columns", names->columns, NULL, count) &&
           set_list(json, "ids", names->ids, NULL, names->id_count) &&
           set_text(json, "picked_columns", names->picked) &&
           set_text(json, "picked_ids", names->picked_id) &&
           set_list(json, MEANS, NULL, names->means, count);
}

/* All of them are texts. */
vem_status vem_i_texts_from_json(vem_i_run *run, const char *path, const json_t *json,
                                 const char *key, char ***names, int32_t *count)
{
    const json_t *list = json_object_get(json, key);
    const size_t size = json_array_size(list);
    if (size == 0 || size > INT32_MAX)
        return VEM_OK;
    const char **texts;
    vem_status status = vem_i_take(run, &texts, size, sizeof *texts);
    if (status != VEM_OK)
        return status;
    for (size_t i = 0; status == VEM_OK && i < size; i++) {
        texts[i] = json_string_value(json_array_get(list, i));
        if (!texts[i])
            status = vem_i_fail(run, VEM_BAD_DATA,
                                "%s: entry %zu of %s in its meta is no text.", path,
                                i + 1, key);
    }
    if (status == VEM_OK)
        status = vem_i_names_list(run, texts, (int32_t)size, names);
    if (status == VEM_OK)
        *count = (int32_t)size;
    vem_i_free(texts);
    return status;
}

static vem_status get_means(vem_i_run *run, const char *path, const json_t *json,
                            int64_t count, double **means)
{
    const json_t *list = json_object_get(json, MEANS);
    const size_t size = json_array_size(list);
    if (size == 0)
        return VEM_OK;
    if (size != (size_t)count)
        return vem_i_fail(
            run, VEM_BAD_DATA,
            "%s: its meta has %zu means for missing values, but it has %" PRId64
            " columns.",
            path, size, count);
    vem_status status = vem_i_take(run, means, size, sizeof **means);
    for (size_t j = 0; status == VEM_OK && j < size; j++) {
        const json_t *value = json_array_get(list, j);
        (*means)[j] = json_number_value(value);
        if (!json_is_number(value) || !isfinite((*means)[j]))
            status = vem_i_fail(run, VEM_BAD_DATA,
                                "%s: entry %zu of %s in its meta is no number.", path,
                                j + 1, MEANS);
    }
    return status;
}

vem_status vem_i_names_from_json(vem_i_run *run, const char *path, const json_t *json,
                                 int64_t count, vem_i_names *names)
{
    vem_i_names made = {0};
    vem_status status =
        vem_i_texts_from_json(run, path, json, "columns", &made.columns, &made.count);
    if (status == VEM_OK && made.columns && made.count != count)
        status =
            vem_i_fail(run, VEM_BAD_DATA,
                       "%s: its meta names %" PRId32 " columns, but it has %" PRId64 ".",
                       path, made.count, count);
    if (status == VEM_OK)
        status = vem_i_texts_from_json(run, path, json, "ids", &made.ids, &made.id_count);
    if (status == VEM_OK)
        status =
            vem_i_names_text(run,
                             json_string_value(json_object_get(json, "picked_columns")),
                             &made.picked);
    if (status == VEM_OK)
        status =
            vem_i_names_text(run, json_string_value(json_object_get(json, "picked_ids")),
                             &made.picked_id);
    if (status == VEM_OK)
        status = get_means(run, path, json, count, &made.means);
    if (status == VEM_OK)
        *names = made;
    else
        vem_i_names_free(&made);
    return status;
}

vem_status vem_i_npz_json(vem_i_run *run, vem_i_npz *npz, const char *name, json_t **json)
{
    vem_data *bytes;
    int rank;
    int64_t dims[4];
    *json = NULL;
    const vem_status status = vem_i_npz_get(run, npz, name, &bytes, &rank, dims);
    if (status != VEM_OK)
        return status;
    if (bytes->type == VEM_UINT8 && rank == 1)
        *json = json_loadb(bytes->base, (size_t)bytes->n, 0, NULL);
    vem_data_free(bytes);
    if (!json_is_object(*json)) {
        json_decref(*json);
        *json = NULL;
    }
    return VEM_OK;
}
