/* A scan: every row meets every cluster. */
#include <math.h>

#include "base/memory.h"
#include "base/parallel.h"
#include "base/residence.h"
#include "em/estep.h"
#include "use/assign.h"

/* Labels alone: the closest search, without the costs of the other clusters. */
static vem_status assign_hard(vem_i_run *run, void *arg, const vem_view *view,
                              const vem_model *model, int64_t first)
{
    const vem_i_assign *a = arg;
    vem_i_scorer scorer = {0};
    vem_i_estep *estep = NULL;
    vem_i_search_spec search = vem_i_search_closest(model->clusters, 1, 0);
    vem_i_posterior posterior = {.n = view->n,
                                 .width = 1,
                                 .held =
                                     a->clusters + first}; /* straight into the result */
    vem_status status = vem_i_scorer_for(run, view, vem_i_model_shape(model), &scorer);
    if (status == VEM_OK)
        status = vem_i_estep_new(run, view, &scorer, &search, 0, &estep);
    if (status == VEM_OK) {
        vem_progress told = {.phase = "assign", .free_energy = NAN};
        vem_i_scorer_prepare(run, model, &scorer);
        if (vem_i_estep_run(estep, &posterior, NULL, &told, 1).skipped)
            status = vem_i_fail_stopped(run, "while rows were assigned");
    }
    vem_i_estep_free(estep);
    vem_i_scorer_free(&scorer);
    return status;
}

typedef struct soft_task {
    const vem_i_assign *out;
    int64_t first; /* row of the data */
    const vem_view *view;
    const vem_i_scorer *scorer;
    vem_i_search *search;
    void *best;       /* per thread: top x block, T */
    int32_t *index;   /* per thread: top x block */
    double *log_sums; /* per thread */
    int64_t *order;   /* per thread: C, for long lists */
} soft_task;

/* The `top` least costs of one item when lists are too long for the kernel. */
static void sort_column(const soft_task *t, const vem_i_block *block, int32_t p,
                        int64_t *order, int32_t *index)
{
    const vem_i_kernels *kernels = t->view->kernels;
    int32_t clusters = t->scorer->clusters;
    int64_t ldv = block->capacity;
    /* Heap sort on (cost, cluster), so that ties go to the lowest cluster. */
    for (int32_t c = 0; c < clusters; c++)
        order[c] = c;
#define BEFORE(a, b)                                                                     \
    (vem_i_value(kernels, block->costs, (a)*ldv + p) <                                   \
         vem_i_value(kernels, block->costs, (b)*ldv + p) ||                              \
     (vem_i_value(kernels, block->costs, (a)*ldv + p) ==                                 \
          vem_i_value(kernels, block->costs, (b)*ldv + p) &&                             \
      (a) < (b)))
    for (int32_t pass = clusters - 1, size = clusters; size > 0;) {
        int sifting = pass >= 0;
        int64_t at = sifting ? pass-- : 0, moving;
        if (!sifting) { /* the heap is ordered least first: take the top */
            index[(int64_t)(clusters - size) * ldv + p] = (int32_t)order[0];
            if (clusters - size + 1 == t->out->top)
                return;
            order[0] = order[--size];
        }
        moving = order[at];
        for (int64_t child; (child = 2 * at + 1) < size; at = child) {
            if (child + 1 < size && BEFORE(order[child + 1], order[child]))
                child++;
            if (!BEFORE(order[child], moving))
                break;
            order[at] = order[child];
        }
        order[at] = moving;
    }
#undef BEFORE
}

/* Of row p over all clusters. In single they add up to 1 within 1e-7 only, and who draws from them
 * wants that in double: they are divided by it. */
static double total_of(const soft_task *t, const vem_i_block *block, int32_t p)
{
    double total = 0;
    for (int64_t c = 0; c < t->scorer->clusters; c++)
        total += vem_i_value(t->view->kernels, block->costs, c * block->capacity + p);
    return total;
}

/* Probabilities of all clusters, in their order. */
static void put_all(const soft_task *t, const vem_i_block *block, int64_t begin)
{
    const int64_t clusters = t->scorer->clusters, ldv = block->capacity;
    for (int32_t p = 0; p < block->n; p++) {
        double *row = t->out->probabilities + (t->first + begin + p) * clusters;
        const double total = total_of(t, block, p);
        for (int64_t c = 0; c < clusters; c++)
            row[c] = vem_i_value(t->view->kernels, block->costs, c * ldv + p) / total;
    }
}

static void run_block(void *arg, int64_t number, int thread)
{
    soft_task *t = arg;
    const vem_i_kernels *kernels = t->view->kernels;
    const vem_i_block *block = vem_i_search_block(t->search, number, thread);
    int32_t top = t->out->top, clusters = t->scorer->clusters, ldv = block->capacity;
    int64_t begin = block->first, lists = (int64_t)top * ldv;
    char *best = (char *)t->best + (size_t)(thread * lists) * kernels->element;
    int32_t *index = t->index + thread * lists;
    double *log_sum = t->log_sums + (int64_t)thread * VEM_I_BLOCK;
    if (!t->out->clusters) {
        kernels->softmax(block->costs, block->n, clusters, ldv, NULL, log_sum);
        put_all(t, block, begin);
        vem_i_residence_check(block->run);
        return;
    }
    for (int64_t i = 0; i < lists; i++) {
        vem_i_store(kernels, best, i, INFINITY);
        index[i] = -1;
    }
    if (top <= VEM_I_TOP_MAX)
        kernels->select_top(block->costs, NULL, block->n, clusters, 0, top, best, index,
                            ldv);
    else
        for (int32_t p = 0; p < block->n; p++)
            sort_column(t, block, p, t->order + (int64_t)thread * clusters, index);
    kernels->softmax(block->costs, block->n, clusters, ldv, NULL, log_sum);
    for (int32_t p = 0; p < block->n; p++) {
        const double total = t->out->probabilities ? total_of(t, block, p) : 1;
        for (int64_t r = 0; r < top; r++) {
            int32_t c = index[r * ldv + p];
            int64_t at = (t->first + begin + p) * top + r;
            t->out->clusters[at] = c;
            if (t->out->probabilities)
                t->out->probabilities[at] =
                    c < 0 ? 0
                          : vem_i_value(kernels, block->costs, (int64_t)c * ldv + p) /
                                total;
        }
    }
    vem_i_residence_check(block->run);
}

static vem_status assign_soft(vem_i_run *run, void *arg, const vem_view *view,
                              const vem_model *model, int64_t first)
{
    const vem_i_assign *a = arg;
    vem_i_scorer scorer = {0};
    soft_task t = {.out = a, .first = first, .view = view, .scorer = &scorer};
    const vem_i_search_spec all = vem_i_search_all(model->clusters);
    const size_t threads = (size_t)run->threads, element = view->kernels->element;
    vem_status status = vem_i_scorer_for(run, view, vem_i_model_shape(model), &scorer);
    if (status == VEM_OK)
        status = vem_i_search_new(run, &all, view, &scorer, &t.search);
    const int32_t items = status == VEM_OK ? t.search->blocks[0].capacity : 0;
    const size_t lists = (size_t)a->top * (size_t)items;
    const size_t sorted = a->top > VEM_I_TOP_MAX ? (size_t)model->clusters : 0;
    const vem_i_room list[] = {{&t.best, threads, lists * element, 0},
                               {&t.index, threads, lists * sizeof(int32_t), 0},
                               {&t.log_sums, threads, VEM_I_BLOCK * sizeof(double), 0},
                               {&t.order, sorted, threads * sizeof(int64_t), 0}};
    if (status == VEM_OK)
        status = vem_i_take_rooms(run, list, VEM_I_COUNT(list));
    if (status == VEM_OK) {
        vem_progress told = {.phase = "assign", .free_energy = NAN};
        double work = (double)items * model->clusters * model->d;
        vem_i_scorer_prepare(run, model, &scorer);
        if (vem_i_parallel_watched(run, vem_i_shards(view->n, items), work, run_block, &t,
                                   &told, 1))
            status = vem_i_fail_stopped(run, "while rows were assigned");
    }
    vem_i_free_rooms(list, VEM_I_COUNT(list));
    vem_i_search_free(t.search);
    vem_i_scorer_free(&scorer);
    return status;
}

vem_status vem_i_assign_scan(vem_i_run *run, void *arg, const vem_view *view,
                             const vem_model *model, int64_t first)
{
    const vem_i_assign *a = arg;
    return (a->top == 1 && !a->probabilities ? assign_hard : assign_soft)(run, arg, view,
                                                                          model, first);
}

vem_status vem_i_label(vem_i_run *run, const vem_model *model, const vem_data *data,
                       vem_precision precision, int32_t *labels)
{
    vem_i_assign a = {.top = 1, .clusters = labels};
    return vem_i_for_chunks(run, model, data, precision, "assign", 1, vem_i_assign_scan,
                            &a);
}

vem_status vem_i_assign_check(vem_i_run *run, const vem_model *model, int32_t top)
{
    if (top >= 1 && top <= model->clusters)
        return VEM_OK;
    return vem_i_fail(
        run, VEM_BAD_OPTION,
        "--top is %d, but it must lie between 1 and the %d clusters of the model.", top,
        model->clusters);
}
