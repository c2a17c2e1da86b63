#include "select/select.h"

#define TYPE(NAME, symbol, name, what) &vem_i_select_type_##symbol,
static const vem_i_select_type *const types[] = {VEM_SELECT_TABLE(TYPE)};

#define NAME(NAME, symbol, name, what) name,
static const char *const names[] = {VEM_SELECT_TABLE(NAME)};

const char *vem_i_select_name(vem_select_method method)
{
    return names[method];
}

const vem_i_select_type *vem_i_select_type_of(int kind)
{
    return kind >= 0 && kind < VEM_SELECT_COUNT ? types[kind] : NULL;
}
