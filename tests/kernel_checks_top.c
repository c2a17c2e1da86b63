/* Checks of pack, gather, dot_top and select_top. */
#include "kernel_checks.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int check_pack_at(const vem_i_kernels *table, int32_t d, int32_t n, int listed,
                         int centered)
{
    const int64_t ld = d + 3, total = 2 * n;
    const int32_t slots = kernel_slots(table, n);
    void *x = kernel_values(table, (total - 1) * ld + d),
         *origin = kernel_values(table, d);
    void *panels = kernel_values(table, (int64_t)slots * d),
         *norms = kernel_values(table, slots);
    uint32_t *items = malloc((size_t)n * sizeof *items);
    kernel_fill(table, x, (total - 1) * ld + d, 3);
    kernel_fill(table, origin, d, 3);
    for (int32_t p = 0; p < n; ++p)
        items[p] = (uint32_t)kernel_below(total);
    table->pack(x, ld, listed ? items : NULL, n, d, centered ? origin : NULL, panels,
                norms);
    int bad = 0;
    char where[80];
    snprintf(where, sizeof where, "d %d, n %d, listed %d, centered %d", d, n, listed,
             centered);
    for (int32_t p = 0; p < slots; ++p) {
        const int32_t item = p < n ? p : n - 1;
        double norm = 0;
        for (int32_t j = 0; j < d; ++j) {
            const int64_t at = (listed ? (int64_t)items[item] : item) * ld + j;
            const double raw = kernel_get(table, x, at);
            double want = centered ? raw - kernel_get(table, origin, j) : raw;
            if (table->precision == VEM_SINGLE)
                want = (double)(float)want;
            const int32_t panel = table->panel;
            const double got =
                kernel_get(table, panels,
                           (int64_t)(p / panel) * panel * d + j * panel + p % panel);
            if (got != want)
                bad += kernel_mismatch(table, "pack", where, p, got, want, 0);
            norm += want * want;
        }
        const double got = kernel_get(table, norms, p);
        const double bound = kernel_epsilon(table) * (d + 2) * norm;
        if (!(fabs(got - norm) <= bound))
            bad += kernel_mismatch(table, "a norm of pack", where, p, got, norm, bound);
    }
    table->pack(x, ld, listed ? items : NULL, n, d, centered ? origin : NULL, panels,
                NULL);
    free(x);
    free(origin);
    free(panels);
    free(norms);
    free(items);
    return bad;
}

int check_pack(const vem_i_kernels *table)
{
    int bad = 0;
    kernel_seed(1);
    for (const int32_t *d = grid_d; *d; ++d)
        for (const int32_t *n = grid_n; *n; ++n)
            for (int how = 0; how < 4; ++how)
                bad += check_pack_at(table, *d, grid_items(table, *n), how & 1, how >> 1);
    return bad;
}

/* Rows keep their distance ldo, and what lies between them is not written. */
static int check_gather_at(const vem_i_kernels *table, int32_t d, int32_t n, int centered)
{
    const vem_i_kernels *ref = kernel_reference(table);
    const int64_t ld = d + 3, ldo = d + 2, total = 2 * n, size = (n - 1) * ldo + d;
    void *x = kernel_values(table, (total - 1) * ld + d),
         *origin = kernel_values(table, d);
    void *out = kernel_values(table, size), *wanted = kernel_values(table, size);
    void *norms = kernel_values(table, n), *wanted_norms = kernel_values(table, n);
    int32_t *items = malloc((size_t)n * sizeof *items);
    if (!items)
        exit(1);
    kernel_fill(table, x, (total - 1) * ld + d, 3);
    kernel_fill(table, origin, d, 3);
    for (int64_t i = 0; i < size; ++i) {
        kernel_set(table, out, i, 77);
        kernel_set(table, wanted, i, 77);
    }
    for (int32_t p = 0; p < n; ++p)
        items[p] = (int32_t)kernel_below(total);
    table->gather(x, ld, items, n, d, centered ? origin : NULL, out, ldo, norms);
    ref->gather(x, ld, items, n, d, centered ? origin : NULL, wanted, ldo, wanted_norms);
    int bad = 0;
    char where[80];
    snprintf(where, sizeof where, "d %d, n %d, centered %d", d, n, centered);
    for (int64_t i = 0; i < size; ++i) {
        const double got = kernel_get(table, out, i), want = kernel_get(table, wanted, i);
        if (got != want)
            bad += kernel_mismatch(table, "gather", where, i / ldo, got, want, 0);
    }
    for (int32_t p = 0; p < n; ++p) {
        double norm = 0, first = kernel_get(table, x, items[p] * ld);
        first -= centered ? kernel_get(table, origin, 0) : 0;
        for (int32_t j = 0; j < d; ++j)
            norm += pow(kernel_get(table, wanted, p * ldo + j), 2);
        const double got = kernel_get(table, norms, p);
        const double bound = kernel_epsilon(table) * (d + 2) * norm;
        if (!(fabs(got - norm) <= bound))
            bad += kernel_mismatch(table, "a norm of gather", where, p, got, norm, bound);
        /* The reference copied the right row. */
        const double copied = kernel_get(table, wanted, p * ldo);
        if (!(fabs(copied - first) <= kernel_epsilon(table) * fabs(first)))
            bad += kernel_mismatch(ref, "gather", where, p, copied, first, 0);
    }
    table->gather(x, ld, items, n, d, centered ? origin : NULL, out, ldo, NULL);
    void *owned[] = {x, origin, out, wanted, norms, wanted_norms, items};
    for (size_t i = 0; i < sizeof owned / sizeof owned[0]; ++i)
        free(owned[i]);
    return bad;
}

int check_gather(const vem_i_kernels *table)
{
    int bad = 0;
    kernel_seed(29);
    for (const int32_t *d = grid_d; *d; ++d)
        for (const int32_t *n = grid_n; *n; ++n)
            for (int centered = 0; centered < 2; ++centered)
                bad += check_gather_at(table, *d, grid_items(table, *n), centered);
    return bad;
}

/* One problem for dot_top: items, clusters and their terms. */
typedef struct problem {
    int32_t d, n, m;
    int64_t ld, ldc;
    void *x, *centers, *norms, *scale, *bias;
} problem;

static problem problem_new(const vem_i_kernels *table, int32_t d, int32_t n, int32_t m,
                           int integers)
{
    problem a = {.d = d, .n = n, .m = m, .ld = d, .ldc = d + 1};
    a.x = kernel_values(table, n * a.ld);
    a.centers = kernel_values(table, (m - 1) * a.ldc + d);
    a.norms = kernel_values(table, m);
    a.scale = kernel_values(table, m);
    a.bias = kernel_values(table, m);
    if (integers) {
        kernel_fill_integers(table, a.x, n * a.ld, 2);
        kernel_fill_integers(table, a.centers, (m - 1) * a.ldc + d, 2);
        /* Duplicates: exact ties between different clusters. */
        for (int32_t c = 2; c < m; c += 3)
            for (int32_t j = 0; j < d; ++j)
                kernel_set(table, a.centers, c * a.ldc + j,
                           kernel_get(table, a.centers, (c - 2) * a.ldc + j));
    } else {
        kernel_fill(table, a.x, n * a.ld, 2);
        kernel_fill(table, a.centers, (m - 1) * a.ldc + d, 2);
    }
    for (int32_t c = 0; c < m; ++c) {
        double norm = 0;
        for (int32_t j = 0; j < d; ++j)
            norm += pow(kernel_get(table, a.centers, c * a.ldc + j), 2);
        kernel_set(table, a.norms, c, norm);
        kernel_set(table, a.scale, c, integers ? 0.5 : 1.5 + kernel_uniform());
        kernel_set(table, a.bias, c,
                   integers ? (double)kernel_below(2) : kernel_uniform());
    }
    return a;
}

static void problem_free(problem *a)
{
    free(a->x);
    free(a->centers);
    free(a->norms);
    free(a->scale);
    free(a->bias);
}

static int64_t apart(const vem_i_kernels *table, int32_t n)
{
    return kernel_slots(table, n) + table->panel;
}

/* Runs dot_top in calls of `piece` clusters; best and index are new, ldv apart. */
static void run_dot_top(const vem_i_kernels *table, const problem *a, int32_t top,
                        int32_t piece, void **best, int32_t **index)
{
    const int64_t ldv = apart(table, a->n);
    const int32_t slots = kernel_slots(table, a->n);
    void *norms = kernel_values(table, slots);
    void *panels = kernel_panels(table, a->x, a->ld, a->n, a->d, norms);
    *best = kernel_values(table, (top - 1) * ldv + slots);
    *index = malloc((size_t)((top - 1) * ldv + slots) * sizeof **index);
    for (int64_t i = 0; i < (top - 1) * ldv + slots; ++i) {
        kernel_set(table, *best, i, INFINITY);
        (*index)[i] = -1;
    }
    for (int32_t c = 0; c < a->m; c += piece) {
        const size_t size = table->element;
        const int32_t take = a->m - c < piece ? a->m - c : piece;
        table->dot_top(panels, norms, a->n, a->d,
                       (const char *)a->centers + (size_t)(c * a->ldc) * size, a->ldc,
                       (const char *)a->norms + (size_t)c * size,
                       (const char *)a->scale + (size_t)c * size,
                       (const char *)a->bias + (size_t)c * size, take, 1000 + c, top,
                       *best, *index, ldv);
    }
    free(norms);
    free(panels);
}

static int same_lists(const vem_i_kernels *table, const char *what, const char *where,
                      int32_t n, int32_t top, const void *best, const int32_t *index,
                      int64_t ldv, const void *want_best, const int32_t *want_index,
                      int64_t want_ldv)
{
    for (int32_t r = 0; r < top; ++r)
        for (int32_t p = 0; p < n; ++p) {
            const double got = kernel_get(table, best, r * ldv + p);
            const double want = kernel_get(table, want_best, r * want_ldv + p);
            const int32_t at = index[r * ldv + p], want_at = want_index[r * want_ldv + p];
            if (!(got == want))
                return kernel_mismatch(table, what, where, p, got, want, 0);
            if (at != want_at)
                return kernel_mismatch(table, "an index", where, p, at, want_at, 0);
        }
    return 0;
}

/* Integer data are exact in any order of summation: the lists must be the same, ties too.
 */
int check_dot_top_exact(const vem_i_kernels *table)
{
    const vem_i_kernels *reference = kernel_reference(table);
    int bad = 0;
    kernel_seed(2);
    for (const int32_t *d = grid_d; *d; ++d)
        for (const int32_t *g = grid_n; *g; ++g)
            for (const int32_t *m = grid_m; *m; ++m) {
                const int32_t n = grid_items(table, *g);
                problem a = problem_new(table, *d, n, *m, 1);
                /* The longest list holds the shorter ones. */
                void *want;
                int32_t *want_index;
                run_dot_top(reference, &a, VEM_I_TOP_MAX, *m, &want, &want_index);
                for (const int32_t *top = grid_top; *top; ++top)
                    for (int pieces = 1; pieces <= 2; ++pieces) {
                        void *best;
                        int32_t *index;
                        char where[80];
                        snprintf(where, sizeof where,
                                 "d %d, n %d, m %d, top %d, %d calls", *d, n, *m, *top,
                                 pieces);
                        run_dot_top(table, &a, *top, (*m + pieces - 1) / pieces, &best,
                                    &index);
                        bad += same_lists(table, "a cost of dot_top", where, n, *top,
                                          best, index, apart(table, n), want, want_index,
                                          apart(reference, n));
                        free(best);
                        free(index);
                    }
                free(want);
                free(want_index);
                problem_free(&a);
            }
    return bad;
}

/* Real data: each kept cost is that of its cluster within rounding, the lists ascend,
 * name no cluster twice, and rank r is as good as the true rank r within rounding. */
static int check_rounded_at(const vem_i_kernels *table, const problem *a, int32_t top)
{
    const vem_i_kernels *reference = kernel_reference(table);
    const int64_t ldv = apart(table, a->n), want_ldv = apart(reference, a->n);
    void *best, *want;
    int32_t *index, *want_index;
    int bad = 0;
    run_dot_top(table, a, top, a->m, &best, &index);
    run_dot_top(reference, a, top, a->m, &want, &want_index);
    char where[80];
    snprintf(where, sizeof where, "d %d, n %d, m %d, top %d", a->d, a->n, a->m, top);
    for (int32_t p = 0; p < a->n; ++p)
        for (int32_t r = 0; r < top; ++r) {
            const int32_t c = index[r * ldv + p] - 1000;
            const double got = kernel_get(table, best, r * ldv + p);
            if (r >= a->m) {
                if (c != -1001 || !(got > 0 && isinf(got)))
                    bad += kernel_mismatch(table, "an unused rank", where, p, got,
                                           INFINITY, 0);
                continue;
            }
            if (c < 0 || c >= a->m)
                return bad + kernel_mismatch(table, "an index", where, p, c, 0, a->m);
            double square = 0, size = 0;
            for (int32_t j = 0; j < a->d; ++j) {
                const double x = kernel_get(table, a->x, p * a->ld + j);
                const double y = kernel_get(table, a->centers, c * a->ldc + j);
                square += (x - y) * (x - y);
                size += x * x + y * y;
            }
            const double scale = kernel_get(table, a->scale, c);
            const double bias = kernel_get(table, a->bias, c);
            /* Any cluster's terms are at most 2.5 (4 d + 4 d) + 1 here. */
            const double bound =
                kernel_epsilon(table) * (a->d + 8) * (scale * size + fabs(bias) + 20);
            if (!(fabs(got - (scale * square + bias)) <= bound))
                bad += kernel_mismatch(table, "a cost of dot_top", where, p, got,
                                       scale * square + bias, bound);
            const double rank = kernel_get(table, want, r * want_ldv + p);
            if (!(fabs(got - rank) <= 4 * bound))
                bad += kernel_mismatch(table, "a rank of dot_top", where, p, got, rank,
                                       4 * bound);
            if (r > 0 && !(kernel_get(table, best, (r - 1) * ldv + p) <= got))
                bad += kernel_mismatch(table, "the order of dot_top", where, p, got, rank,
                                       0);
            for (int32_t s = 0; s < r; ++s)
                if (index[s * ldv + p] == index[r * ldv + p])
                    bad += kernel_mismatch(table, "a repeated index", where, p, c, -1, 0);
        }
    free(best);
    free(index);
    free(want);
    free(want_index);
    return bad;
}

int check_dot_top_rounded(const vem_i_kernels *table)
{
    int bad = 0;
    kernel_seed(3);
    for (const int32_t *d = grid_d; *d; ++d)
        for (const int32_t *m = grid_m; *m; ++m)
            for (const int32_t *top = grid_top; *top; ++top) {
                problem a = problem_new(table, *d, table->panel + 5, *m, 0);
                bad += check_rounded_at(table, &a, *top);
                problem_free(&a);
            }
    /* More clusters than one stretch of the kernel holds. */
    for (int32_t top = 1; top <= 4; ++top) {
        problem a = problem_new(table, 2, 40, 1501, 0),
                b = problem_new(table, 600, 9, 200, 0);
        bad += check_rounded_at(table, &a, top) + check_rounded_at(table, &b, top);
        problem_free(&a);
        problem_free(&b);
    }
    return bad;
}

int check_select_top(const vem_i_kernels *table)
{
    const vem_i_kernels *reference = kernel_reference(table);
    int bad = 0;
    kernel_seed(4);
    for (const int32_t *g = grid_n; *g; ++g)
        for (const int32_t *m = grid_m; *m; ++m)
            for (const int32_t *top = grid_top; *top; ++top) {
                const int32_t n = grid_items(table, *g);
                const int listed = kernel_below(2) == 0;
                const int32_t rows = *m > *top ? *m : *top;
                const int64_t ldv =
                    320; /* more than 256, and a multiple of every panel */
                void *costs = kernel_values(table, rows * ldv);
                void *best = kernel_values(table, rows * ldv);
                void *want = kernel_values(table, rows * ldv);
                int32_t *index = malloc((size_t)(rows * ldv) * sizeof *index);
                int32_t *want_index = malloc((size_t)(rows * ldv) * sizeof *index);
                int32_t *ids = malloc((size_t)(rows * ldv) * sizeof *ids);
                kernel_fill_integers(table, costs, rows * ldv, 6);
                for (int64_t i = 0; i < rows * ldv; ++i) {
                    ids[i] = (int32_t)kernel_below(1000000);
                    if (kernel_below(10) == 0)
                        kernel_set(table, costs, i, INFINITY);
                    kernel_set(table, best, i, INFINITY);
                    kernel_set(table, want, i, INFINITY);
                    index[i] = want_index[i] = -1;
                }
                for (int call = 0; call < 2; ++call) {
                    table->select_top(costs, listed ? ids : NULL, n, *m, 7 * call, *top,
                                      best, index, ldv);
                    reference->select_top(costs, listed ? ids : NULL, n, *m, 7 * call,
                                          *top, want, want_index, ldv);
                }
                char where[80];
                snprintf(where, sizeof where, "n %d, m %d, top %d", n, *m, *top);
                bad += same_lists(table, "a cost of select_top", where, n, *top, best,
                                  index, ldv, want, want_index, ldv);
                free(costs);
                free(best);
                free(want);
                free(index);
                free(want_index);
                free(ids);
            }
    return bad;
}
