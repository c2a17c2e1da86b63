/* An attempt that can be left and entered again: which loop it is in, what the loops before
 * it did, and in which order the rows lie. */
#include "fit/attempt_inside.h"
#include "fit/order.h"

#include <float.h>
#include <string.h>

#include "base/memory.h"
#include "data/together.h"

/* The same of several processes: then there is one for each of their own rows. What they hear of each
 * other while a state is read is not said again by parts that meet in files: these see it when labels go back
 * (order.c). */
static vem_status check_together(vem_i_record *r, const vem_view *view,
                                 const uint32_t *rows)
{
    int64_t *places = NULL, missing = 0;
    unsigned char *ones = NULL, *seen = NULL;
    const vem_i_room list[] = {
        {&places, (size_t)view->n, sizeof *places, 0},
        {&ones, (size_t)view->n, 1, 0},
        {&seen, (size_t)view->n, 1, 1},
    };
    if (vem_i_comm_by_files(r->run->comm))
        return VEM_OK;
    vem_status status = vem_i_take_rooms(r->run, list, VEM_I_COUNT(list));
    if (status != VEM_OK)
        vem_i_comm_fail(r->run->comm, status);
    for (int64_t i = 0; status == VEM_OK && i < view->n; i++) {
        places[i] = rows[i];
        ones[i] = 1;
    }
    if (status == VEM_OK)
        status = vem_i_view_exchange(r->run, view, vem_i_view_own(view), places, ones, 1,
                                     seen);
    for (int64_t i = 0; status == VEM_OK && i < view->n; i++)
        missing |= !seen[i];
    vem_i_free_rooms(list, VEM_I_COUNT(list));
    r->run->comm->combine(r->run->comm, VEM_I_SUM_INT, &missing, 1);
    if (status == VEM_OK && missing > 0)
        vem_i_record_refuse(r, "rows");
    return status == VEM_OK ? r->status : status;
}

static vem_status read_order_together(vem_i_record *r, vem_i_attempt *a)
{
    uint32_t *rows = NULL;
    vem_status status = vem_i_take(r->run, &rows, (size_t)a->view->n, sizeof *rows);
    if (status == VEM_OK) {
        vem_i_record_row_numbers(r, a->view, "rows", rows, a->view->global_n);
        status = r->status;
    }
    if (status == VEM_OK)
        status = check_together(r, a->view, rows);
    if (status == VEM_OK)
        return vem_i_order_take(a->run, a->points, rows);
    vem_i_free(rows);
    return status;
}

/* Every item once? */
static vem_status check_order(vem_i_record *r, const uint32_t *order, int64_t n)
{
    unsigned char *seen = NULL;
    vem_status status = vem_i_take_zeroed(r->run, &seen, (size_t)n, 1);
    for (int64_t i = 0; status == VEM_OK && r->status == VEM_OK && i < n; i++)
        if (order[i] >= n || seen[order[i]]++)
            vem_i_record_refuse(r, "rows");
    vem_i_free(seen);
    return status == VEM_OK ? r->status : status;
}

static vem_status read_order(vem_i_record *r, vem_i_attempt *a)
{
    uint32_t *order = NULL;
    const size_t n = (size_t)a->view->n;
    vem_status status = vem_i_take_zeroed(r->run, &order, n, sizeof *order);
    if (status == VEM_OK) {
        vem_i_record_block(r, "rows", order, n, sizeof *order);
        status = r->status;
    }
    if (status == VEM_OK)
        status = check_order(r, order, a->view->n);
    if (status == VEM_OK)
        status = vem_i_points_reorder(a->run, a->points, order, 1);
    vem_i_free(order);
    return status;
}

static void record_order(vem_i_record *r, vem_i_attempt *a)
{
    int ordered = a->points && a->points->rows;
    vem_i_record_int(r, "ordered", &ordered, 0, a->points != NULL);
    if (r->status != VEM_OK || !ordered)
        return;
    if (r->reading)
        r->status = a->run->comm ? read_order_together(r, a) : read_order(r, a);
    else
        vem_i_record_row_numbers(r, &a->points->view, "rows", a->points->rows,
                                 a->points->view.global_n);
}

/* What that took is counted already. */
static vem_status look_along_again(vem_i_attempt *a)
{
    const int64_t pairs = a->seed_pairs;
    const vem_status status = vem_i_attempt_look_along(a);
    a->seed_pairs = pairs;
    return status;
}

/* Along axes: of all rows, as they were looked at, and then of those along the axes. */
static void record_orders(vem_i_record *r, vem_i_attempt *a, int loop, int along)
{
    const int there = loop == VEM_I_LOOP_LEADING;
    if (there && !along)
        vem_i_record_refuse(r, "axes");
    if (!there || r->status != VEM_OK) {
        record_order(r, a);
        if (r->reading)
            a->axes = along;
        return;
    }
    vem_i_points *const points = a->points;
    if (!r->reading)
        a->points = a->whole_points;
    record_order(r, a);
    a->points = points;
    if (r->reading && r->status == VEM_OK)
        r->status = look_along_again(a);
    if (r->reading && r->status == VEM_OK && a->axes != along)
        vem_i_record_refuse(r, "axes");
    if (r->status == VEM_OK)
        record_order(r, a);
}

/* How many axes there were. So few steps as are allowed now would not be made along any. */
static void record_axes(vem_i_record *r, const vem_i_attempt *a, int *along)
{
    const vem_i_stage *leading = vem_i_programme_find(a->programme, VEM_I_STAGE_LEADING);
    const int fewer = r->reading && vem_i_checkpoint_limit_differs(a->checkpoint);
    vem_i_record_int(r, "axes", along, 0,
                     leading ? leading->axes
                     : fewer ? INT32_MAX
                             : 0);
    if (r->status == VEM_OK && !leading && *along > 0)
        r->status = vem_i_checkpoint_refuse_steps(a->checkpoint,
                                                  "it has begun along leading axes, and "
                                                  "a fit of so few steps does not");
}

/* The model of the fit while the start runs: means and one variance are all it has yet. */
static void record_wanted(vem_i_record *r, vem_i_attempt *a)
{
    const vem_options *o = &a->programme->options;
    double variance = a->wanted ? vem_i_model_variance(a->wanted) : 0;
    if (r->reading && r->status == VEM_OK)
        r->status = vem_i_model_blank(a->run,
                                      vem_i_shape_of(vem_i_family_of(o->family),
                                                     (int32_t)o->clusters, a->view->d),
                                      &a->wanted);
    if (r->status != VEM_OK)
        return;
    vem_i_record_reals(r, "wanted", a->wanted->means,
                       (size_t)a->wanted->clusters * (size_t)a->wanted->d, -DBL_MAX,
                       DBL_MAX);
    vem_i_record_reals(r, "variance", &variance, 1, 0, DBL_MAX);
    if (r->reading && r->status == VEM_OK)
        vem_i_model_set_variance(a->wanted, variance);
}

/* Is there, or was there, a loop before the one that was asked for: after starts the one for crowded
 * samples, else k-means? */
static int begins_hard(const vem_i_attempt *a)
{
    const vem_i_stage *before =
        vem_i_programme_find(a->programme,
                             a->started ? VEM_I_STAGE_LISTED : VEM_I_STAGE_KMEANS);
    return before && !vem_i_attempt_spares(a, before);
}

/* The stage that a record speaks of. What the limit of steps decides must be as it was. */
static void read_stage(vem_i_record *r, vem_i_attempt *a, int loop, int missed, int hard)
{
    const vem_i_programme *p = a->programme;
    a->missed = missed == VEM_I_MISSED_ROWS     ? VEM_I_MISSED_ROWS
                : missed == VEM_I_MISSED_PLACES ? VEM_I_MISSED_PLACES
                : missed == VEM_I_MISSED_CROWD  ? VEM_I_MISSED_CROWD
                : missed == VEM_I_MISSED_SOME   ? VEM_I_MISSED_SOME
                                                : VEM_I_MISSED_NONE;
    a->started = p->starts.runs > 0 && a->missed < VEM_I_MISSED_PLACES;
    while (a->at < p->count &&
           !(p->stages[a->at].is.loop && (int)p->stages[a->at].is.number == loop))
        a->at++;
    const int as_before = hard == begins_hard(a) && a->at < p->count;
    if (vem_i_checkpoint_limit_differs(a->checkpoint) &&
        (a->checkpoint->limited || !as_before))
        r->status = vem_i_checkpoint_refuse_steps(a->checkpoint,
                                                  "that limit has shaped an earlier part "
                                                  "of it");
    else if (!as_before)
        vem_i_record_refuse(r, "hard_start");
}

void vem_i_attempt_record(vem_i_record *r, vem_i_attempt *a)
{
    const vem_options *o = &a->programme->options;
    int loop = (int)a->programme->stages[a->at].is.number;
    int along = a->axes;
    int missed = (int)a->missed, hard = begins_hard(a);
    int64_t clusters = a->loop_clusters;
    double seconds[] = {a->seconds_seed, vem_i_clock() - a->clock};
    vem_i_record_int(r, "loop", &loop, VEM_I_LOOP_LEADING, VEM_I_LOOP_BALANCE);
    record_axes(r, a, &along);
    vem_i_record_int(r, "hard_start", &hard, 0, 1);
    vem_i_record_int(r, "missed", &missed, VEM_I_MISSED_NONE, VEM_I_MISSED_ROWS);
    vem_i_record_int(r, "guess", &a->beginning.variance_unknown, 0, 1);
    vem_i_record_count(r, "shared", &a->beginning.shared_steps, 0, INT32_MAX);
    vem_i_record_int(r, "labels", &a->beginning.labels_known, 0, 1);
    vem_i_record_count(r, "steps", &a->steps, 0, VEM_I_RECORD_MOST);
    vem_i_record_count(r, "pairs", &a->pairs, 0, VEM_I_RECORD_MOST);
    vem_i_record_count(r, "seed_pairs", &a->seed_pairs, 0, VEM_I_RECORD_MOST);
    VEM_I_RECORD(r, "free_energy", a->free_energy);
    VEM_I_RECORD(r, "free_energy_first", a->free_energy_first);
    vem_i_record_reals(r, "seconds", seconds, 2, 0, VEM_I_RECORD_SECONDS);
    vem_i_trace_record(r, &a->trace);
    record_orders(r, a, loop, along);
    if (a->cells && r->status == VEM_OK)
        vem_i_cells_record(r, a->cells);
    if (loop == VEM_I_LOOP_KMEANS)
        record_wanted(r, a);
    vem_i_record_count(r, "loop_clusters", &clusters, 1, o->clusters);
    if (a->path)
        vem_i_path_record(r, a->path, vem_i_attempt_shape(a, o->family, 1));
    if (!r->reading || r->status != VEM_OK)
        return;
    a->seconds_seed = seconds[0];
    a->clock = vem_i_clock() - seconds[1];
    a->looping = 1;
    read_stage(r, a, loop, missed, hard);
    if (r->status != VEM_OK)
        return;
    const vem_i_stage *stage = &a->programme->stages[a->at];
    if (stage->is.after && a->trace.count == 0)
        vem_i_record_refuse(r, "trace"); /* what is finished has a last step */
    else
        r->status = vem_i_model_blank(a->run,
                                      vem_i_attempt_shape(a, stage->options.family,
                                                          (int32_t)clusters),
                                      &a->model);
}
