/* The families there are: the lines of VEM_FAMILY_TABLE. */
#include <string.h>

#include "model/family.h"

#define ENTRY(kind, symbol, name, what) [kind] = &vem_i_family_##symbol,
static const vem_i_family *const families[VEM_FAMILIES] = {VEM_FAMILY_TABLE(ENTRY)};

const vem_i_family *vem_i_family_of(int kind)
{
    return kind >= 0 && kind < VEM_FAMILIES ? families[kind] : NULL;
}

const vem_i_family *vem_i_family_named(const char *name)
{
    for (int kind = 0; kind < VEM_FAMILIES; kind++)
        if (strcmp(name, vem_choice_name("family", kind)) == 0)
            return families[kind];
    return NULL;
}

const vem_i_family *vem_i_family_of_distances(int by_column)
{
    return by_column ? &vem_i_family_diag : &vem_i_family_iso_shared;
}

int vem_i_can_express(const vem_i_family *family, const vem_i_family *other)
{
    if (family->of_counts || other->of_counts)
        return family == other;
    return family->shape_axes >= other->shape_axes && family->shared <= other->shared;
}

vem_i_shape vem_i_shape_of(const vem_i_family *family, int32_t clusters, int32_t d)
{
    return (vem_i_shape){family, clusters, clusters, d};
}

int vem_family_axes(vem_family_kind family)
{
    const vem_i_family *found = vem_i_family_of((int)family);
    return found ? found->shape_axes : -1;
}

int vem_family_shared(vem_family_kind family)
{
    const vem_i_family *found = vem_i_family_of((int)family);
    return found ? found->shared : -1;
}
