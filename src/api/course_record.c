/* A course that can be left and entered again: which loop it is in, what the loops before
 * it did, and in which order the rows lie. */
#include "api/course.h"

#include <float.h>
#include <string.h>

#include "base/memory.h"

/* Every item once? */
static vem_status check_order(vem_i_record *r, const uint32_t *order, int64_t n)
{
    unsigned char *seen = NULL;
    vem_status status = vem_i_take_zeroed(r->ctx, &seen, (size_t)n, 1);
    for (int64_t i = 0; status == VEM_OK && r->status == VEM_OK && i < n; i++)
        if (order[i] >= n || seen[order[i]]++)
            vem_i_record_refuse(r, "rows");
    vem_i_free(seen);
    return status == VEM_OK ? r->status : status;
}

static vem_status read_order(vem_i_record *r, vem_i_course *c)
{
    uint32_t *order = NULL;
    const size_t n = (size_t)c->view->n;
    vem_status status = vem_i_take_zeroed(r->ctx, &order, n, sizeof *order);
    if (status == VEM_OK) {
        vem_i_record_block(r, "rows", order, n, sizeof *order);
        status = r->status;
    }
    if (status == VEM_OK)
        status = check_order(r, order, c->view->n);
    if (status == VEM_OK)
        status = vem_i_points_reorder(c->ctx, c->points, order);
    vem_i_free(order);
    return status;
}

static void record_order(vem_i_record *r, vem_i_course *c)
{
    int ordered = c->points && c->points->rows;
    vem_i_record_int(r, "ordered", &ordered, 0, c->points != NULL);
    if (r->status != VEM_OK || !ordered)
        return;
    if (r->reading)
        r->status = read_order(r, c);
    else
        vem_i_record_block(r, "rows", c->points->rows, (size_t)c->view->n,
                           sizeof(uint32_t));
}

/* The model of the fit while the start runs: means and one variance are all it has yet. */
static void record_wanted(vem_i_record *r, vem_i_course *c)
{
    const vem_options *o = c->options;
    double variance = c->wanted ? vem_i_model_variance(c->wanted) : 0;
    if (r->reading && r->status == VEM_OK)
        r->status = vem_i_model_blank(c->ctx, (vem_family_kind)o->family,
                                      (int32_t)o->clusters, c->view->d, &c->wanted);
    if (r->status != VEM_OK)
        return;
    vem_i_record_reals(r, "wanted", c->wanted->means,
                       (size_t)c->wanted->clusters * (size_t)c->wanted->d, -DBL_MAX,
                       DBL_MAX);
    vem_i_record_reals(r, "variance", &variance, 1, 0, DBL_MAX);
    if (r->reading && r->status == VEM_OK)
        vem_i_model_set_variance(c->wanted, variance);
}

void vem_i_course_record(vem_i_record *r, vem_i_course *c)
{
    int at = (int)c->at, missed = (int)c->missed;
    int64_t clusters = c->loop_clusters;
    double seconds[] = {c->seconds_seed, vem_i_clock() - c->clock};
    vem_i_record_int(r, "loop", &at, VEM_I_LOOP_START, VEM_I_LOOP_FINISH);
    vem_i_record_int(r, "hard_start", &c->hard_start, 0, 1);
    vem_i_record_int(r, "missed", &missed, VEM_I_MISSED_NONE, VEM_I_MISSED_ROWS);
    vem_i_record_int(r, "guess", &c->beginning.variance_unknown, 0, 1);
    vem_i_record_count(r, "shared", &c->beginning.shared_steps, 0, INT32_MAX);
    vem_i_record_int(r, "labels", &c->beginning.labels_known, 0, 1);
    vem_i_record_count(r, "steps", &c->steps, 0, VEM_I_RECORD_MOST);
    vem_i_record_count(r, "pairs", &c->pairs, 0, VEM_I_RECORD_MOST);
    vem_i_record_count(r, "seed_pairs", &c->seed_pairs, 0, VEM_I_RECORD_MOST);
    VEM_I_RECORD(r, "free_energy", c->free_energy);
    VEM_I_RECORD(r, "free_energy_first", c->free_energy_first);
    vem_i_record_reals(r, "seconds", seconds, 2, 0, VEM_I_RECORD_SECONDS);
    vem_i_record_trace(r, &c->trace, &c->trace_count);
    record_order(r, c);
    if (at == VEM_I_LOOP_START)
        record_wanted(r, c);
    vem_i_record_count(r, "loop_clusters", &clusters, 1, c->options->clusters);
    if (!r->reading || r->status != VEM_OK)
        return;
    c->at = at == VEM_I_LOOP_START    ? VEM_I_LOOP_START
            : at == VEM_I_LOOP_LISTED ? VEM_I_LOOP_LISTED
            : at == VEM_I_LOOP_FIT    ? VEM_I_LOOP_FIT
                                      : VEM_I_LOOP_FINISH;
    c->missed = missed == VEM_I_MISSED_ROWS     ? VEM_I_MISSED_ROWS
                : missed == VEM_I_MISSED_PLACES ? VEM_I_MISSED_PLACES
                : missed == VEM_I_MISSED_SOME   ? VEM_I_MISSED_SOME
                                                : VEM_I_MISSED_NONE;
    if (c->missed >= VEM_I_MISSED_PLACES)
        c->tried = 0;
    c->seconds_seed = seconds[0];
    c->clock = vem_i_clock() - seconds[1];
    if (c->at == VEM_I_LOOP_FINISH && c->trace_count == 0)
        vem_i_record_refuse(r, "trace"); /* what is finished has a last step */
    else
        r->status = vem_i_model_blank(c->ctx,
                                      c->at == VEM_I_LOOP_START
                                          ? VEM_ISO_SHARED
                                          : (vem_family_kind)c->options->family,
                                      (int32_t)clusters, c->view->d, &c->model);
}
