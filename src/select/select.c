#include "select/select.h"

#define TYPE(NAME, symbol, name, what) &vem_i_select_type_##symbol,
static const vem_i_select_type *const types[] = {VEM_SELECT_TABLE(TYPE)};

const vem_i_select_type *vem_i_select_type_of(int kind)
{
    return kind >= 0 && kind < VEM_SELECT_COUNT ? types[kind] : NULL;
}
