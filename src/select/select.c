#include "select/select.h"

#include <stdio.h>
#include <string.h>

#define TYPE(NAME, symbol, name, what) &vem_i_select_type_##symbol,
static const vem_i_select_type *const types[] = {VEM_SELECT_TABLE(TYPE)};

#define NAME(NAME, symbol, name, what) name,
static const char *const names[] = {VEM_SELECT_TABLE(NAME)};

const char *vem_i_select_name(vem_select_method method)
{
    return names[method];
}

const char *vem_i_select_names(int (*is)(const vem_i_select_type *type),
                               char text[VEM_I_METHODS])
{
    int left = 0, told = 0;
    for (int kind = 0; kind < VEM_SELECT_COUNT; kind++)
        left += is(types[kind]) != 0;
    text[0] = '\0';
    for (int kind = 0; kind < VEM_SELECT_COUNT; kind++) {
        if (!is(types[kind]))
            continue;
        const size_t at = strlen(text);
        left--;
        snprintf(text + at, VEM_I_METHODS - at, "%s%s",
                 told++ == 0 ? ""
                 : left == 0 ? " and "
                             : ", ",
                 names[kind]);
    }
    return text;
}

const vem_i_select_type *vem_i_select_type_of(int kind)
{
    return kind >= 0 && kind < VEM_SELECT_COUNT ? types[kind] : NULL;
}
