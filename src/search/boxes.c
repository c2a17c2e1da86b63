/* The closest cluster, box by box of a kd-tree where that pays: docs/math/boxes.md.
 *
 * Where each item holds one cluster, items are dense rows without spread and clusters
 * have shapes, a step is a walk over boxes (boxes_walk.c) that gives every row the
 * label of the plain sweep. In all other cases, in steps that look for the next best
 * cluster, and where boxes do not pay, it is that sweep (coarse/nearest.c).
 *
 * Boxes pay by what the last such step counted, never by the clock, so that the same
 * fit takes the same steps on every machine. After a step that took more than a sweep
 * the sweep is taken for a while, and longer each time. */
#include "search/boxes.h"

#include <stdio.h>

#include "base/memory.h"
#include "coarse/nearest.h"
#include "model/moments.h"

typedef struct boxes_search {
    vem_i_search search;
    vem_i_boxes *own;
    vem_i_walk *walk;
    vem_i_labelled last;
    int same;            /* what is held is what the last walk left */
    int64_t rest, pause; /* sweeps to come, and after the next step that does not pay */
} boxes_search;

/* Statistics of all tasks together, at most. */
static const uint64_t MOST_BYTES = UINT64_C(256) << 20;
/* A bound takes as long as  1 + BOUND / d  scores of a pair, which a kernel makes many
 * of at once (docs/constants.md). */
static const double BOUND = 48;
enum { FIRST_PAUSE = 2, LONGEST_PAUSE = 64 };

/* A tree costs some ten sweeps of few clusters, which fits of this many and more make
 * up for in few columns (docs/constants.md). */
enum { PAY_CLUSTERS = 12, PAY_COLUMNS = 4, PAY_ROWS = 256 };

int64_t vem_i_boxes_most(int64_t n)
{
    return n / PAY_ROWS;
}

int vem_i_boxes_pay(const vem_i_family *family, int64_t n, int32_t d, int64_t clusters)
{
    return vem_i_has_shapes(family) && d <= PAY_COLUMNS && clusters >= PAY_CLUSTERS &&
           vem_i_boxes_most(n) >= clusters;
}

int vem_i_boxes_suit(const vem_view *view, const vem_i_family *family)
{
    return vem_i_has_shapes(family) && !vem_i_view_is_sparse(view) &&
           view->spread_kind == VEM_I_SPREAD_NONE && view->n <= UINT32_MAX;
}

static vem_i_block_shape shape(const vem_i_search_spec *spec,
                               const vem_i_kernels *kernels)
{
    (void)kernels;
    return vem_i_closest_shape(spec->held);
}

static double work(const vem_i_search_spec *spec, double n, double pair)
{
    return vem_i_search_type_closest.work(spec, n, pair); /* at most */
}

/* By the sizes alone. */
static int is_for(const vem_i_search *s)
{
    const vem_view *view = s->view;
    const vem_i_scorer *scorer = s->scorer;
    const uint64_t stride = (uint64_t)vem_i_stats_stride(scorer->family, view->d);
    return s->spec.held == 1 && vem_i_boxes_suit(view, scorer->family) &&
           !scorer->precisions && !scorer->by_column &&
           stride * (uint64_t)scorer->capacity <=
               MOST_BYTES / sizeof(double) / (VEM_I_BOXES_TASKS + 1);
}

static vem_status create(vem_i_search *search)
{
    boxes_search *t = (boxes_search *)search;
    if (!is_for(search))
        return VEM_OK;
    const vem_i_boxes *boxes = search->spec.boxes;
    vem_status status = VEM_OK;
    if (boxes && (boxes->tree->view != search->view ||
                  !vem_i_moments_alike(boxes->family, search->scorer->family)))
        boxes = NULL; /* of other rows, or with other moments */
    if (!boxes) {
        status = vem_i_boxes_new(search->run, search->view, search->scorer->family, 0,
                                 &t->own);
        boxes = t->own;
        if (status == VEM_STOPPED)
            return VEM_OK; /* the loop hears of it, and has what it needs to end */
    }
    if (status == VEM_OK)
        status =
            vem_i_walk_new(search->run, boxes, search->scorer, search->blocks, &t->walk);
    search->labels = status == VEM_OK;
    return status;
}

static void free_boxes(vem_i_search *search)
{
    boxes_search *t = (boxes_search *)search;
    vem_i_walk_free(t->walk);
    vem_i_boxes_free(t->own);
}

static void find(vem_i_search *search, vem_i_block *block, const int32_t *before)
{
    (void)before;
    vem_i_block_closest(block, search->spec.held, search->extra);
    block->pairs += (int64_t)block->n * block->scorer->clusters;
}

static int64_t prepare(vem_i_search *search, const vem_i_step_plan *plan, double average,
                       const int32_t *held)
{
    (void)plan;
    (void)average;
    (void)held;
    /* Whatever else changes what is held says so there. */
    ((boxes_search *)search)->same = search->labelled;
    search->labelled = 0;
    return 0;
}

static int label(vem_i_search *search, int32_t *held, int known, const vem_progress *told,
                 int may_skip, vem_i_stats *stats, vem_i_labelled *result)
{
    boxes_search *t = (boxes_search *)search;
    /* The last step again, where a loop is entered after it: whether it paid or not. */
    if (!t->walk || (t->rest > 0 && !search->labelled))
        return 0;
    vem_i_walk_run(t->walk, held, known, t->same, told, may_skip, stats, result);
    t->last = *result;
    search->labelled = 1;
    return 1;
}

static void settle(vem_i_search *search, int found)
{
    boxes_search *t = (boxes_search *)search;
    if (!found || !t->walk)
        return;
    if (!search->labelled) {
        t->rest -= t->rest > 0;
        return;
    }
    const double all = (double)search->view->n * search->scorer->clusters;
    const double bound = 1 + BOUND / search->view->d;
    if ((double)t->last.scored + bound * (double)t->last.bounds < all) {
        t->pause = 0;
        return;
    }
    t->pause = t->pause == 0 ? FIRST_PAUSE : 2 * t->pause;
    t->pause = t->pause < LONGEST_PAUSE ? t->pause : LONGEST_PAUSE;
    t->rest = t->pause;
}

static void record(vem_i_record *r, vem_i_search *search, int32_t clusters,
                   const int32_t *held)
{
    boxes_search *t = (boxes_search *)search;
    (void)clusters;
    (void)held;
    vem_i_record_int(r, "labelled", &search->labelled, 0, search->labels);
    vem_i_record_count(r, "rest", &t->rest, 0, LONGEST_PAUSE);
    vem_i_record_count(r, "pause", &t->pause, 0, LONGEST_PAUSE);
}

static void tell(const vem_options *o, char *text, size_t size)
{
    snprintf(
        text, size,
        "exact search (%s): every row gets the cluster that trying all would give it, "
        "most of them box by box of a kd-tree; --search closest tries all.",
        vem_choice_name("search", o->search));
}

const vem_i_search_type vem_i_search_type_boxes = {.size = sizeof(boxes_search),
                                                   .tell = tell,
                                                   .shape = shape,
                                                   .work = work,
                                                   .create = create,
                                                   .free = free_boxes,
                                                   .prepare = prepare,
                                                   .next_block = vem_i_search_next,
                                                   .find = find,
                                                   .label = label,
                                                   .settle = settle,
                                                   .record = record};
