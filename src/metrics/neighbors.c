/* The rows nearest to queries, exactly: brute force by tiles.
 *
 * The rows of a chunk are the clusters of a mixture of balls, so that the closest search, which
 * proposes by tiles and decides by direct differences, finds the nearest of them for every query.
 * The lists of the chunks are merged by
 *
 *     |x - q|^2 = sum_j (x_j - q_j)^2
 *
 * in double, of the values as the views have them; ties go to the row that comes first. */
#include "metrics/neighbors.h"

#include <math.h>

#include "base/memory.h"
#include "base/whole.h"
#include "metrics/chunks.h"
#include "model/family.h"
#include "search/search.h"

typedef struct neighbors {
    const vem_view *queries, *rows; /* of the chunk */
    int64_t first;                  /* its first row */
    vem_i_search *search;
    int32_t count;
    int32_t
        held; /* no more than the chunk has, and then all of them: no list says which */
    double *squares;  /* queries x count, ascending */
    int64_t *numbers; /* of the rows; -1: none yet */
} neighbors;

static double square_between(const vem_view *a, int64_t i, const vem_view *b, int64_t k)
{
    const void *x = vem_i_view_row(a, i), *y = vem_i_view_row(b, k);
    double sum = 0;
    for (int32_t j = 0; j < a->d; j++) {
        const double off = vem_i_value(a->kernels, x, j) - vem_i_value(b->kernels, y, j);
        sum += off * off;
    }
    return sum;
}

/* Into the list of a query, if it is one of its nearest. */
static void insert(const neighbors *t, int64_t query, double square, int64_t number)
{
    double *squares = t->squares + query * t->count;
    int64_t *numbers = t->numbers + query * t->count;
    int32_t at = t->count;
    while (at > 0 && (numbers[at - 1] < 0 || square < squares[at - 1] ||
                      (square == squares[at - 1] && number < numbers[at - 1])))
        at--;
    if (at == t->count)
        return;
    for (int32_t r = t->count - 1; r > at; r--) {
        squares[r] = squares[r - 1];
        numbers[r] = numbers[r - 1];
    }
    squares[at] = square;
    numbers[at] = number;
}

static void merge_block(void *arg, int64_t number, int thread)
{
    const neighbors *t = arg;
    const vem_i_block *block = vem_i_search_block(t->search, number, thread);
    for (int32_t p = 0; p < block->n; p++) {
        const int64_t query = vem_i_block_item(block, p);
        for (int64_t r = 0; r < t->held; r++) {
            const int32_t c = t->search->spec.dense
                                  ? (int32_t)r
                                  : block->index[r * block->capacity + p];
            insert(t, query, square_between(t->queries, query, t->rows, c), t->first + c);
        }
    }
}

/* The nearest rows of a chunk. */
static vem_status take_chunk(vem_i_run *run, neighbors *t)
{
    const vem_view *rows = t->rows;
    const int32_t n = (int32_t)rows->n;
    const vem_i_shape shape = vem_i_shape_of(vem_i_family_of_distances(0), n, rows->d);
    vem_i_scorer scorer = {0};
    vem_model *model = NULL;
    t->held = t->count < n ? t->count : n;
    const vem_i_search_spec closest = vem_i_search_closest(n, t->held, 0);
    vem_status status = vem_i_model_blank(run, shape, &model);
    for (int64_t i = 0; status == VEM_OK && i < n; i++)
        vem_i_widen(rows->kernels, vem_i_view_row(rows, i), rows->d,
                    model->means + i * rows->d);
    if (status == VEM_OK)
        status = vem_i_scorer_for(run, t->queries, shape, &scorer);
    if (status == VEM_OK)
        status = vem_i_search_new(run, &closest, t->queries, &scorer, &t->search);
    if (status == VEM_OK) {
        const vem_progress told = {.phase = "measure", .free_energy = NAN};
        const int32_t items = t->search->blocks[0].capacity;
        vem_i_scorer_prepare_distances(run, model, NULL, &scorer);
        if (vem_i_parallel_watched(run, vem_i_shards(t->queries->n, items),
                                   (double)items * n * rows->d, merge_block, t, &told, 1))
            status = vem_i_fail_stopped(run, "while nearest rows were looked for");
    }
    vem_i_search_free(t->search);
    t->search = NULL;
    vem_i_scorer_free(&scorer);
    vem_model_free(model);
    return status;
}

vem_status vem_i_neighbors(vem_i_run *run, const vem_data *data,
                           const vem_i_points_request *request, const vem_view *queries,
                           int32_t count, int64_t *found)
{
    const int64_t step = vem_i_chunk_rows(data->d), lists = queries->n * count;
    neighbors t = {.queries = queries, .count = count, .numbers = found};
    vem_status status = vem_i_take(run, &t.squares, (size_t)lists, sizeof(double));
    for (int64_t i = 0; status == VEM_OK && i < lists; i++)
        found[i] = -1;
    const int owner = vem_i_whole_begin(run, "measure", data->n);
    for (; status == VEM_OK && t.first < data->n; t.first += step) {
        vem_i_points_request part = *request;
        vem_i_points *points = NULL;
        part.first = t.first;
        part.count = data->n - t.first < step ? data->n - t.first : step;
        const vem_i_whole was =
            vem_i_whole_narrow(run, (double)t.first / (double)data->n,
                               (double)(t.first + part.count) / (double)data->n, 2);
        status = vem_i_points_new(run, data, &part, &points);
        if (status == VEM_OK) {
            t.rows = &points->view;
            status = take_chunk(run, &t);
        }
        vem_i_points_free(points);
        vem_i_whole_widen(run, &was);
    }
    vem_i_whole_end(run, owner);
    vem_i_free(t.squares);
    return status;
}
