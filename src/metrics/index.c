/* Lists of rows, and queries that look into some of them.
 *
 * List c has n_c rows. A query takes the lists in the order of |q - mu_c|^2, ties by number, so that
 * with P of them it scans
 *
 *     s(P) = sum_{r < P} n_{c(r)}     rows,
 *
 * and has found those of its nearest rows whose list is among them. Where rows are in two lists, a query scans a
 * row with the first of these that it takes, and not again. Means over the queries are taken for
 * P = 1, 2, ... up to 64, and then for numbers that grow by a twentieth, to all. */
#include "metrics/index.h"

#include <math.h>
#include <stdlib.h>

#include "base/memory.h"
#include "model/family.h"
#include "search/search.h"

enum { ONE_BY_ONE = 64, TWENTIETH = 20 };

/* The number of lists that follows. */
static int32_t next_probes(int32_t probes, int32_t clusters)
{
    const int64_t next =
        probes < ONE_BY_ONE ? (int64_t)probes + 1 : probes + probes / TWENTIETH;
    return next < clusters ? (int32_t)next : clusters;
}

/* Rows of each list; `sizes` are 0 before. */
static void count_rows(const int32_t *labels, int64_t rows, int64_t *sizes)
{
    for (int64_t i = 0; i < rows; i++)
        if (labels[i] >= 0)
            sizes[labels[i]]++;
}

vem_status vem_i_index_new(vem_i_run *run, const int32_t *labels, int64_t rows,
                           int32_t lists, int32_t clusters, vem_index **out)
{
    int64_t *sizes = NULL;
    vem_index *index = NULL;
    vem_status status = vem_i_take_structs(run, &index, 1, sizeof *index);
    if (status == VEM_OK)
        status = vem_i_take_zeroed(run, &sizes, (size_t)clusters, sizeof *sizes);
    if (status != VEM_OK) {
        vem_i_free(index);
        return status;
    }
    count_rows(labels, rows * lists, sizes);
    int64_t listed = 0;
    for (int32_t c = 0; c < clusters; c++)
        listed += sizes[c];
    index->lists = lists;
    vem_index_summary *s = &index->summary;
    s->size = sizeof *s;
    s->rows = rows;
    s->clusters = clusters;
    s->mean = (double)listed / clusters;
    double squares = 0;
    for (int32_t c = 0; c < clusters; c++) {
        const double off = (double)sizes[c] - s->mean;
        squares += off * off;
        s->largest = sizes[c] > s->largest ? sizes[c] : s->largest;
        s->empty += sizes[c] == 0;
        s->over += (double)sizes[c] > VEM_INDEX_OVER * s->mean;
    }
    s->cv = sqrt(squares / clusters) / s->mean;
    vem_i_free(sizes);
    *out = index;
    return VEM_OK;
}

/* ---- One query ---- */

typedef struct list {
    double square;
    int32_t cluster;
} list;

/* Rows in the same two lists: a query meets them in the one that it takes first. */
typedef struct shared {
    int32_t one, other; /* one <= other; -1: none */
    int64_t rows;
} shared;

typedef struct probing {
    const vem_index *index;
    const int32_t *labels;
    const int64_t *neighbors;
    vem_i_search *search;
    int32_t clusters;
    int64_t *sizes; /* of the lists; where rows are in two, per thread: rows that a
                        query first meets in its r-th list */
    shared *pairs;  /* of lists, where rows are in two */
    int64_t pair_count;
    int32_t *probes; /* of each point */
    list *order;     /* per thread: clusters */
    int32_t *ranks;  /* per thread: clusters */
    double *scanned; /* queries x points */
    int32_t *found;
} probing;

static int by_distance(const void *a, const void *b)
{
    const list *x = a, *y = b;
    if (x->square != y->square)
        return x->square < y->square ? -1 : 1;
    return x->cluster < y->cluster ? -1 : x->cluster > y->cluster;
}

/* The first of two lists that is looked into. */
static int32_t first_of(const probing *t, int32_t one, int32_t other,
                        const int32_t *ranks)
{
    const int32_t a = one >= 0 ? ranks[one] : t->clusters;
    const int32_t b = other >= 0 ? ranks[other] : t->clusters;
    return a < b ? a : b;
}

static int32_t first_rank(const probing *t, int64_t row, const int32_t *ranks)
{
    const int32_t lists = t->index->lists, *labels = t->labels + row * lists;
    return first_of(t, labels[0], labels[lists - 1], ranks);
}

/* Rows met in each list of the order, where they are in two. */
static void meet_rows(const probing *t, const int32_t *ranks, int64_t *met)
{
    for (int32_t r = 0; r <= t->clusters; r++)
        met[r] = 0;
    for (int64_t k = 0; k < t->pair_count; k++)
        met[first_of(t, t->pairs[k].one, t->pairs[k].other, ranks)] += t->pairs[k].rows;
}

static int by_lists(const void *a, const void *b)
{
    const shared *x = a, *y = b;
    return x->one != y->one ? (x->one > y->one) - (x->one < y->one)
                            : (x->other > y->other) - (x->other < y->other);
}

/* Pairs are fewer than rows, and each query walks them. */
static vem_status count_pairs(vem_i_run *run, probing *t)
{
    const int64_t rows = t->index->summary.rows;
    const vem_status status = vem_i_take(run, &t->pairs, (size_t)rows, sizeof *t->pairs);
    if (status != VEM_OK)
        return status;
    for (int64_t i = 0; i < rows; i++) {
        const int32_t a = t->labels[2 * i], b = t->labels[2 * i + 1];
        t->pairs[i] = (shared){a < b ? a : b, a < b ? b : a, 1};
    }
    qsort(t->pairs, (size_t)rows, sizeof *t->pairs, by_lists);
    t->pair_count = 0;
    for (int64_t i = 0; i < rows; i++)
        if (i > 0 && by_lists(&t->pairs[t->pair_count - 1], &t->pairs[i]) == 0)
            t->pairs[t->pair_count - 1].rows++;
        else
            t->pairs[t->pair_count++] = t->pairs[i];
    return VEM_OK;
}

static void follow(const probing *t, int64_t query, const list *order, int32_t *ranks,
                   int64_t *met)
{
    const int32_t points = t->index->count, wanted = t->index->summary.neighbors;
    double *scanned = t->scanned + query * points;
    int32_t *found = t->found + query * points;
    int64_t rows = 0;
    for (int32_t r = 0; r < t->clusters; r++)
        ranks[order[r].cluster] = r;
    if (met)
        meet_rows(t, ranks, met);
    for (int32_t r = 0, g = 0; r < t->clusters; r++) {
        rows += met ? met[r] : t->sizes[order[r].cluster];
        if (r + 1 == t->probes[g]) {
            found[g] = 0;
            scanned[g++] = (double)rows;
        }
    }
    for (int32_t k = 0; k < wanted; k++) {
        const int32_t rank = first_rank(t, t->neighbors[query * wanted + k], ranks);
        for (int32_t g = points - 1; g >= 0 && t->probes[g] > rank; g--)
            found[g]++;
    }
}

static void probe_block(void *arg, int64_t number, int thread)
{
    const probing *t = arg;
    const vem_i_block *block = vem_i_search_block(t->search, number, thread);
    list *order = t->order + (int64_t)thread * t->clusters;
    for (int32_t p = 0; p < block->n; p++) {
        for (int32_t c = 0; c < t->clusters; c++)
            order[c] = (list){vem_i_value(block->view->kernels, block->costs,
                                          (int64_t)c * block->capacity + p),
                              c};
        qsort(order, (size_t)t->clusters, sizeof *order, by_distance);
        follow(t, vem_i_block_item(block, p), order,
               t->ranks + (int64_t)thread * t->clusters,
               t->index->lists > 1 ? t->sizes + thread * ((int64_t)t->clusters + 1)
                                   : NULL);
    }
}

/* ---- All of them ---- */

static int by_size(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

static void put_points(const probing *t, vem_index *index, double *column)
{
    const int64_t queries = index->summary.queries, points = index->count;
    const int64_t last = (int64_t)ceil(0.99 * (double)queries) - 1;
    for (int64_t g = 0; g < points; g++) {
        double scanned = 0, found = 0;
        for (int64_t q = 0; q < queries; q++) {
            column[q] = t->scanned[q * points + g];
            scanned += column[q];
            found += t->found[q * points + g];
        }
        qsort(column, (size_t)queries, sizeof *column, by_size);
        index->points[g] =
            (vem_index_point){.size = sizeof *index->points,
                              .probes = t->probes[g],
                              .scanned = scanned / (double)queries,
                              .scanned_p99 = column[last],
                              .recall =
                                  found / ((double)queries * index->summary.neighbors)};
    }
}

vem_status vem_i_index_probe(vem_i_run *run, vem_index *index, const int32_t *labels,
                             const vem_view *queries, const vem_model *means,
                             const int64_t *neighbors)
{
    const int32_t clusters = means->clusters;
    const size_t lists = (size_t)clusters, each = (size_t)queries->n;
    const vem_i_search_spec all = vem_i_search_all(clusters);
    probing t = {.index = index,
                 .labels = labels,
                 .neighbors = neighbors,
                 .clusters = clusters};
    vem_i_scorer scorer = {0};
    double *column = NULL;
    index->count = 1;
    for (int32_t p = 1; p < clusters; p = next_probes(p, clusters))
        index->count++;
    const size_t points = (size_t)index->count, threads = (size_t)run->threads;
    const vem_i_room rooms[] = {{&t.sizes, threads * (lists + 1), sizeof *t.sizes, 1},
                                {&t.probes, points, sizeof *t.probes, 0},
                                {&t.order, threads, lists * sizeof *t.order, 0},
                                {&t.ranks, threads, lists * sizeof *t.ranks, 0},
                                {&t.scanned, each, points * sizeof *t.scanned, 0},
                                {&t.found, each, points * sizeof *t.found, 0},
                                {&column, each, sizeof *column, 0}};
    vem_status status = vem_i_take_rooms(run, rooms, VEM_I_COUNT(rooms));
    if (status == VEM_OK)
        status = vem_i_take(run, &index->points, points, sizeof *index->points);
    if (status == VEM_OK && index->lists > 1)
        status = count_pairs(run, &t);
    if (status == VEM_OK)
        status = vem_i_scorer_for(run, queries, vem_i_model_shape(means), &scorer);
    if (status == VEM_OK)
        status = vem_i_search_new(run, &all, queries, &scorer, &t.search);
    if (status == VEM_OK) {
        const vem_progress told = {.phase = "measure", .free_energy = NAN};
        const int32_t items = t.search->blocks[0].capacity;
        if (index->lists == 1)
            count_rows(labels, index->summary.rows, t.sizes);
        for (int32_t g = 0, p = 1; g < index->count; g++, p = next_probes(p, clusters))
            t.probes[g] = p;
        vem_i_scorer_prepare_distances(run, means, NULL, &scorer);
        if (vem_i_parallel_watched(run, vem_i_shards(queries->n, items),
                                   (double)items * clusters * queries->d, probe_block, &t,
                                   &told, 1))
            status = vem_i_fail_stopped(run, "while queries looked into lists");
        else
            put_points(&t, index, column);
    }
    vem_i_free(t.pairs);
    vem_i_search_free(t.search);
    vem_i_scorer_free(&scorer);
    vem_i_free_rooms(rooms, VEM_I_COUNT(rooms));
    return status;
}

vem_index_point vem_i_index_between(const vem_index *index, double rows)
{
    const vem_index_point *p = index->points;
    int32_t g = 0;
    while (g < index->count && p[g].scanned < rows)
        g++;
    if (g == index->count || (g == 0 && p[0].scanned > rows))
        return (vem_index_point){sizeof *p, NAN, NAN, NAN, NAN};
    const vem_index_point low = p[g > 0 ? g - 1 : 0], high = p[g];
    const double by = high.scanned > low.scanned
                          ? (rows - low.scanned) / (high.scanned - low.scanned)
                          : 0;
    return (vem_index_point){.size = sizeof *p,
                             .probes = low.probes + by * (high.probes - low.probes),
                             .scanned = rows,
                             .scanned_p99 = low.scanned_p99 +
                                            by * (high.scanned_p99 - low.scanned_p99),
                             .recall = low.recall + by * (high.recall - low.recall)};
}

void vem_index_free(vem_index *index)
{
    if (index)
        vem_i_free(index->points);
    vem_i_free(index);
}
