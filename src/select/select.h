/* Finding the number of clusters: methods that make mixtures of several numbers of them, and the
 * choice among these. */
#ifndef VEM_SELECT_SELECT_H
#define VEM_SELECT_SELECT_H

#include "fit/restarts.h"

/* One per line of VEM_SELECT_TABLE (vem.h). */
typedef struct vem_i_select_type {
    vem_select_method kind;
    /* What the caller left open of the options of its fits. */
    void (*prepare)(vem_options *options);
    /* The mixtures of 1 ... max clusters (those of fits->programme), in the units of the view, into
     * fits->path, and the one that was found last into fits->model. What ends a fit early ends this:
     * the path is what there is. */
    vem_status (*run)(vem_i_restarts *fits);
} vem_i_select_type;

#define VEM_I_SELECT_TYPE(NAME, name, what)                                              \
    extern const vem_i_select_type vem_i_select_type_##name;
VEM_SELECT_TABLE(VEM_I_SELECT_TYPE)
#undef VEM_I_SELECT_TYPE

/* By its number; NULL: there is none. */
const vem_i_select_type *vem_i_select_type_of(int kind);

/* Likelihood, entropy and criteria of every mixture of a path, over all rows or a sample of them by
 * options->measure. The summary has what samples are sized by. */
vem_status vem_i_path_measure(vem_i_run *run, const vem_data *data, const vem_view *view,
                              const vem_options *options, int reduced,
                              const vem_summary *summary, vem_path *path);

#endif
