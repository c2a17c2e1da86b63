#include "base/names.h"

#include <string.h>

#include "base/memory.h"

enum { LONGEST = 512 }; /* bytes of a name that are compared across encodings */

vem_status vem_i_names_list(vem_i_run *run, const char *const *from, int32_t count,
                            char ***list)
{
    const size_t pointers = (size_t)count * sizeof(char *);
    size_t bytes = pointers;
    for (int32_t j = 0; j < count; j++)
        bytes += strlen(from[j]) + 1;
    vem_status status = vem_i_take(run, list, bytes, 1);
    if (status != VEM_OK)
        return status;
    char *at = (char *)*list + pointers;
    for (int32_t j = 0; j < count; j++) {
        (*list)[j] = at;
        at = stpcpy(at, from[j]) + 1;
    }
    return VEM_OK;
}

vem_status vem_i_names_text(vem_i_run *run, const char *from, char **text)
{
    *text = NULL;
    if (!from)
        return VEM_OK;
    const size_t bytes = strlen(from) + 1;
    vem_status status = vem_i_take(run, text, bytes, 1);
    if (status == VEM_OK)
        memcpy(*text, from, bytes);
    return status;
}

vem_status vem_i_names_means(vem_i_run *run, const double *from, int32_t count,
                             double **means)
{
    *means = NULL;
    if (!from)
        return VEM_OK;
    vem_status status = vem_i_take(run, means, (size_t)count, sizeof **means);
    if (status == VEM_OK)
        memcpy(*means, from, (size_t)count * sizeof **means);
    return status;
}

vem_status vem_i_names_copy(vem_i_run *run, const vem_i_names *from, vem_i_names *to)
{
    vem_i_names made = {.count = from->count};
    vem_status status = VEM_OK;
    if (from->columns)
        status = vem_i_names_list(run, (const char *const *)from->columns, from->count,
                                  &made.columns);
    if (status == VEM_OK && from->ids) {
        made.id_count = from->id_count;
        status = vem_i_names_list(run, (const char *const *)from->ids, from->id_count,
                                  &made.ids);
    }
    if (status == VEM_OK)
        status = vem_i_names_text(run, from->picked, &made.picked);
    if (status == VEM_OK)
        status = vem_i_names_text(run, from->picked_id, &made.picked_id);
    if (status == VEM_OK)
        status = vem_i_names_means(run, from->means, from->count, &made.means);
    if (status != VEM_OK)
        vem_i_names_free(&made);
    *to = made;
    return status;
}

void vem_i_names_free(vem_i_names *names)
{
    vem_i_free(names->columns);
    vem_i_free(names->ids);
    vem_i_free(names->picked);
    vem_i_free(names->picked_id);
    vem_i_free(names->means);
    *names = (vem_i_names){0};
}

int vem_utf8_length(const char *text)
{
    const unsigned char *c = (const unsigned char *)text;
    if (!text || !*text)
        return 0;
    const int length = c[0] < 0x80                   ? 1
                       : c[0] >= 0xc2 && c[0] < 0xe0 ? 2
                       : c[0] >= 0xe0 && c[0] < 0xf0 ? 3
                       : c[0] >= 0xf0 && c[0] < 0xf5 ? 4
                                                     : 0;
    for (int i = 1; i < length; i++)
        if ((c[i] & 0xc0) != 0x80)
            return 0;
    if ((c[0] == 0xe0 && c[1] < 0xa0) || (c[0] == 0xed && c[1] > 0x9f) ||
        (c[0] == 0xf0 && c[1] < 0x90) || (c[0] == 0xf4 && c[1] > 0x8f))
        return 0; /* too long a way to write it, a surrogate, or beyond the last */
    return length;
}

static void put_utf8(const char *name, const char *end, char *out, size_t capacity)
{
    const char *at = name;
    size_t used = 0;
    while (at < end && vem_utf8_length(at))
        at += vem_utf8_length(at);
    const int latin = at < end;
    for (at = name; at < end;) {
        char both[4];
        const unsigned char byte = (unsigned char)*at;
        int length = latin ? 1 + (byte >= 0x80) : vem_utf8_length(at);
        if (latin && length == 2) {
            both[0] = (char)(0xc0 | byte >> 6);
            both[1] = (char)(0x80 | (byte & 0x3f));
        } else {
            memcpy(both, at, (size_t)length);
        }
        if (used + (size_t)length >= capacity)
            break;
        memcpy(out + used, both, (size_t)length);
        used += (size_t)length;
        at += latin ? 1 : length;
    }
    out[used] = '\0';
}

void vem_i_names_utf8(const char *name, char *out, size_t capacity)
{
    put_utf8(name, name + strlen(name), out, capacity);
}

const char *vem_i_names_shown(const char *name, size_t length, char text[VEM_I_SHOWN])
{
    put_utf8(name, name + length, text, VEM_I_SHOWN);
    return text;
}

int vem_i_names_same(const char *a, const char *b)
{
    char first[2 * LONGEST], second[2 * LONGEST];
    size_t at = 0;
    while (a[at] && a[at] == b[at])
        at++;
    if (a[at] == b[at])
        return 1;
    if (!((a[at] | b[at]) & 0x80)) /* encodings differ beyond ASCII only */
        return 0;
    if (strlen(a) >= LONGEST || strlen(b) >= LONGEST)
        return 0;
    vem_i_names_utf8(a, first, sizeof first);
    vem_i_names_utf8(b, second, sizeof second);
    return strcmp(first, second) == 0;
}
