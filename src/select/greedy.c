/* Greedy mixture learning: one fit that begins with one cluster and inserts the others
 * (moves/insert.c). Where it rests before an insertion, and where it ends, there is a
 * mixture of the path. Unlike the preset of the name it stops by a rule that does not
 * depend on the units of the data: every mixture of the path is converged alike. */
#include "base/memory.h"
#include "select/select.h"

static const double TOLERANCE = 1e-4;

static void prepare(vem_options *options)
{
    options->algorithm = VEM_ALGORITHM_GREEDY;
    if (options->tolerance == VEM_AUTO)
        options->tolerance = TOLERANCE;
}

static uint64_t bytes(const vem_i_run *run, const vem_i_programme *programme, int32_t d)
{
    uint64_t bytes;
    vem_i_run dry = vem_i_run_dry(run, &bytes);
    vem_i_path_plan(&dry,
                    vem_i_shape_of(vem_i_family_of(programme->options.family),
                                   (int32_t)programme->options.clusters, d),
                    (int32_t)programme->options.clusters);
    return bytes;
}

static vem_status run(vem_i_selection *selection)
{
    return vem_i_restarts_run(selection->fits);
}

const vem_i_select_type vem_i_select_type_greedy = {
    .kind = VEM_SELECT_GREEDY,
    .criterion = "BIC",
    .lower = 1,
    .takes = vem_i_has_shapes,
    .families = "iso, diag, full or a shared one",
    .inserts = 1,
    .ends =
        ": no insertion that was tried raises the free energy, and fits of more clusters "
        "may have a lower BIC; --method sweep makes and compares them",
    .celled = 1,
    .most = 20,
    .prepare = prepare,
    .bytes = bytes,
    .run = run};
