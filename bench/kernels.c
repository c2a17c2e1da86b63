/* Speed of each kernel, one thread, beside the multiply-add peak measured in the same
 * run.
 *
 *     kernels [TABLE [d [m]]]      default: every table this processor runs, d 100, m
 * 4096
 *
 * Every figure is the best of many short repeats, because machines are shared. Operations
 * are counted as the definitions need them (a multiply-add is two), per second in 10^9.
 */
#include "kernels/kernels.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { N = VEM_I_BLOCK };

typedef struct bench {
    const vem_i_kernels *k;
    int32_t d, m;
    int64_t rows;
    void *x, *panels, *norms, *centers, *center_norms, *scale, *bias, *factors, *best,
        *costs;
    void *saved, *q, *mean;
    int32_t *index;
    uint32_t *items;
    double *sum, *second, *log_sum;
    int32_t top;
} bench;

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void *values(const vem_i_kernels *k, int64_t count, double size)
{
    void *v = aligned_alloc(64, ((size_t)count * k->element + 4095) / 64 * 64);
    if (!v) {
        fprintf(stderr, "Out of memory.\n");
        exit(1);
    }
    for (int64_t i = 0; i < count; ++i) {
        const double value = size * ((double)rand() / RAND_MAX - 0.5);
        if (k->precision == VEM_DOUBLE)
            ((double *)v)[i] = value;
        else
            ((float *)v)[i] = (float)value;
    }
    return v;
}

static void run_pack(bench *b)
{
    b->k->pack(b->x, b->d, b->items, N, b->d, b->mean, b->panels, b->norms);
}

static void run_dot_top(bench *b)
{
    for (int64_t i = 0; i < (int64_t)b->top * N; ++i) {
        b->index[i] = -1;
        if (b->k->precision == VEM_DOUBLE)
            ((double *)b->best)[i] = INFINITY;
        else
            ((float *)b->best)[i] = INFINITY;
    }
    b->k->dot_top(b->panels, b->norms, N, b->d, b->centers, b->d, b->center_norms,
                  b->scale, b->bias, b->m, 0, b->top, b->best, b->index, N);
}

static void run_select_top(bench *b)
{
    for (int64_t i = 0; i < (int64_t)b->top * N; ++i)
        if (b->k->precision == VEM_DOUBLE)
            ((double *)b->best)[i] = INFINITY;
        else
            ((float *)b->best)[i] = INFINITY;
    b->k->select_top(b->saved, NULL, N, b->m, 0, b->top, b->best, b->index, N);
}

static void run_iso_tile(bench *b)
{
    b->k->iso_tile(b->panels, N, b->d, b->centers, b->d, b->scale, b->bias, b->m,
                   b->costs, N);
}

static void run_diag_tile(bench *b)
{
    b->k->diag_tile(b->panels, N, b->d, b->centers, b->centers, b->d, b->bias, b->m,
                    b->costs, N);
}

static void run_full_tile(bench *b)
{
    b->k->full_tile(b->panels, N, b->d, b->centers, b->d, b->factors,
                    (int64_t)b->d * (b->d + 1) / 2, b->bias, 16, b->costs, N);
}

static void run_iso_pairs(bench *b)
{
    b->k->iso_pairs(b->x, b->d, b->items, N, b->d, b->centers, b->d, b->scale, b->bias, 4,
                    b->index, b->costs, N);
}

static void run_distances(bench *b)
{
    b->k->distances(b->x, b->d, N, b->d, b->centers, b->d, 16, b->costs, N);
}

static void run_distances_one(bench *b)
{
    b->k->distances(b->x, b->d, b->rows, b->d, b->centers, b->d, 1, b->costs, b->rows);
}

static void run_softmax(bench *b)
{
    memcpy(b->costs, b->saved, (size_t)b->m * N * b->k->element);
    b->k->softmax(b->costs, N, b->m, N, NULL, b->log_sum);
}

static void run_iso_rows(bench *b)
{
    b->k->iso_rows(b->x, b->d, b->items, NULL, b->rows, b->d, b->mean, b->sum, b->second);
}

static void run_iso_collect(bench *b)
{
    b->k->iso_collect(b->panels, b->q, N, b->d, b->mean, b->sum, b->second);
}

static void run_diag_collect(bench *b)
{
    b->k->diag_collect(b->panels, b->q, N, b->d, b->mean, b->sum, b->second);
}

static void run_full_collect(bench *b)
{
    b->k->full_collect(b->panels, b->q, N, b->d, b->mean, b->sum, b->second);
}

/* Seconds of one call: the best of repeats that together take about `budget` seconds. */
static double best_time(void (*run)(bench *), bench *b, double budget)
{
    int calls = 1;
    double best = INFINITY;
    const double end = now() + budget;
    run(b);
    for (int repeat = 0; repeat < 10 || now() < end; ++repeat) {
        const double start = now();
        for (int i = 0; i < calls; ++i)
            run(b);
        const double each = (now() - start) / calls;
        best = each < best ? each : best;
        if (repeat == 0)
            calls = each > 1e-3 ? 1 : (int)(1e-3 / (each + 1e-9)) + 1;
    }
    return best;
}

/* The peak: ten independent chains of multiply-adds in registers, as many as latency
 * times units needs and a few more. A macro, because each instruction set needs its own
 * function. */
#if defined(__x86_64__)
#define PEAK(name, isa, type, bytes)                                                     \
    __attribute__((target(isa), noinline)) static double name(int64_t rounds)            \
    {                                                                                    \
        typedef type vec __attribute__((vector_size(bytes)));                            \
        vec a = {1}, b = {2}, c = {3}, d = {4}, e = {5}, f = {6}, g = {7}, h = {8},      \
            i = {9}, j = {10}; /* different, or the compiler keeps only one of them */   \
        vec x = a + (type)0.999, y = a + (type)1e-3;                                     \
        for (int64_t r = 0; r < rounds; ++r) {                                           \
            a = a * x + y;                                                               \
            b = b * x + y;                                                               \
            c = c * x + y;                                                               \
            d = d * x + y;                                                               \
            e = e * x + y;                                                               \
            f = f * x + y;                                                               \
            g = g * x + y;                                                               \
            h = h * x + y;                                                               \
            i = i * x + y;                                                               \
            j = j * x + y;                                                               \
            __asm__ volatile("" : "+m"(rounds));                                         \
        }                                                                                \
        a += b + c + d + e + f + g + h + i + j;                                          \
        return (double)a[0];                                                             \
    }
PEAK(peak_avx512_single, "avx512f,fma", float, 64)
PEAK(peak_avx512_double, "avx512f,fma", double, 64)
PEAK(peak_avx2_single, "avx2,fma", float, 32)
PEAK(peak_avx2_double, "avx2,fma", double, 32)
PEAK(peak_baseline_single, "sse2", float, 16)
PEAK(peak_baseline_double, "sse2", double, 16)

static double peak(const vem_i_kernels *k)
{
    static volatile double sink;
    const int wide = strcmp(k->name, "avx512") == 0, half = strcmp(k->name, "avx2") == 0;
    const int lanes = (wide ? 16 : half ? 8 : 4) / (k->precision == VEM_DOUBLE ? 2 : 1);
    double (*run)(int64_t) = k->precision == VEM_DOUBLE ? wide   ? peak_avx512_double
                                                          : half ? peak_avx2_double
                                                                 : peak_baseline_double
                             : wide                     ? peak_avx512_single
                             : half                     ? peak_avx2_single
                                                        : peak_baseline_single;
    double best = INFINITY;
    for (int repeat = 0; repeat < 200; ++repeat) {
        const double start = now();
        sink = run(100000);
        const double each = now() - start;
        best = each < best ? each : best;
    }
    (void)sink;
    return 2.0 * 10 * lanes * 100000 / best / 1e9;
}
#else
static double peak(const vem_i_kernels *k)
{
    (void)k;
    return NAN;
}
#endif

static void report(bench *b, const char *name, void (*run)(bench *), double operations,
                   double bytes, double top)
{
    const double seconds = best_time(run, b, 0.1);
    printf("  %-22s %10.1f GFLOP/s %6.1f %%", name, operations / seconds / 1e9,
           100 * operations / seconds / 1e9 / top);
    printf("   %9.2f us %8.2f GB/s\n", 1e6 * seconds, bytes / seconds / 1e9);
}

static void run_table(const vem_i_kernels *k, int32_t d, int32_t m)
{
    bench a = {.k = k, .d = d, .m = m, .rows = 16384}, *b = &a;
    const int64_t triangle = (int64_t)d * (d + 1) / 2;
    b->x = values(k, b->rows * d, 2);
    b->panels = values(k, (int64_t)N * d, 2);
    b->norms = values(k, N, 2);
    b->centers = values(k, (int64_t)m * d, 2);
    b->center_norms = values(k, m, 2);
    b->scale = values(k, m, 2);
    b->bias = values(k, m, 2);
    b->factors = values(k, 16 * triangle, 2);
    b->best = values(k, VEM_I_TOP_MAX * N, 2);
    b->costs = values(k, (int64_t)(m > 64 ? m : 64) * N, 2);
    b->saved = values(k, (int64_t)(m > 64 ? m : 64) * N, 20);
    b->q = values(k, N, 1);
    b->mean = values(k, d, 1);
    b->index = calloc(VEM_I_TOP_MAX * N, sizeof *b->index);
    b->items = malloc((size_t)b->rows * sizeof *b->items);
    b->sum = calloc((size_t)d, sizeof *b->sum);
    b->second = calloc((size_t)triangle, sizeof *b->second);
    b->log_sum = calloc(N, sizeof *b->log_sum);
    if (!b->index || !b->items || !b->sum || !b->second || !b->log_sum)
        exit(1);
    for (int64_t i = 0; i < b->rows; ++i)
        b->items[i] = (uint32_t)((uint64_t)i * 7919 % (uint64_t)b->rows);
    /* True squared lengths, one scale: then the lists behave as they do in use. */
    for (int32_t c = 0; c < m; ++c) {
        double norm = 0;
        for (int32_t j = 0; j < d; ++j) {
            const int64_t at = (int64_t)c * d + j;
            const double v = k->precision == VEM_DOUBLE
                                 ? ((double *)b->centers)[at]
                                 : (double)((float *)b->centers)[at];
            norm += v * v;
        }
        if (k->precision == VEM_DOUBLE) {
            ((double *)b->center_norms)[c] = norm;
            ((double *)b->scale)[c] = 1;
        } else {
            ((float *)b->center_norms)[c] = (float)norm;
            ((float *)b->scale)[c] = 1;
        }
    }
    run_pack(b);

    const double top = peak(k), size = (double)k->element, pairs = (double)N * m;
    printf("%s %s, d %d, m %d: peak %.1f GFLOP/s\n", k->name,
           k->precision == VEM_DOUBLE ? "double" : "single", d, m, top);
    report(b, "pack", run_pack, 3.0 * N * d, 2.0 * N * d * size, top);
    static const int32_t tops[] = {1, 2, 3, 5, 65};
    for (size_t i = 0; i < sizeof tops / sizeof tops[0]; ++i) {
        char name[40];
        snprintf(name, sizeof name, "dot_top, top %d", tops[i]);
        b->top = tops[i];
        report(b, name, run_dot_top, 2 * pairs * d, (double)m * d * size, top);
    }
    b->top = 1;
    report(b, "select_top, top 1", run_select_top, pairs, pairs * size, top);
    b->top = 5;
    report(b, "select_top, top 5", run_select_top, pairs, pairs * size, top);
    report(b, "iso_tile", run_iso_tile, 3 * pairs * d, pairs * size, top);
    report(b, "diag_tile", run_diag_tile, 4 * pairs * d, pairs * size, top);
    report(b, "full_tile, m 16", run_full_tile,
           16.0 * N * (2.0 * (double)triangle + 3 * d), 16.0 * N * size, top);
    report(b, "iso_pairs, 4", run_iso_pairs, 12.0 * N * d, 5.0 * N * d * size, top);
    report(b, "distances, m 16", run_distances, 48.0 * N * d, (double)N * d * size, top);
    report(b, "distances, 16384 rows", run_distances_one, 3.0 * (double)b->rows * d,
           (double)b->rows * d * size, top);
    report(b, "softmax", run_softmax, pairs, pairs * size, top);
    report(b, "iso_rows, 16384 rows", run_iso_rows, 4.0 * (double)b->rows * d,
           (double)b->rows * d * size, top);
    report(b, "iso_collect", run_iso_collect, 5.0 * N * d, (double)N * d * size, top);
    report(b, "diag_collect", run_diag_collect, 5.0 * N * d, (double)N * d * size, top);
    report(b, "full_collect", run_full_collect, N * (2.0 * (double)triangle + 3 * d),
           (double)N * d * size, top);
    void *owned[] = {b->x,     b->panels, b->norms,   b->centers, b->center_norms,
                     b->scale, b->bias,   b->factors, b->best,    b->costs,
                     b->saved, b->q,      b->mean,    b->index,   b->items,
                     b->sum,   b->second, b->log_sum};
    for (size_t i = 0; i < sizeof owned / sizeof owned[0]; ++i)
        free(owned[i]);
}

int main(int argc, char **argv)
{
    const int32_t d = argc > 2 ? atoi(argv[2]) : 100, m = argc > 3 ? atoi(argv[3]) : 4096;
    if (d < 1 || m < 16) {
        fprintf(stderr, "Usage: kernels [TABLE [d [m]]] with d >= 1 and m >= 16.\n");
        return 2;
    }
    for (const char *const *name = vem_i_kernels_names(); *name; ++name)
        for (int precision = VEM_SINGLE; precision <= VEM_DOUBLE; ++precision) {
            const vem_i_kernels *k = vem_i_kernels_find(*name, (vem_precision)precision);
            const int wanted =
                argc > 1 ? strcmp(argv[1], *name) == 0 : strcmp("reference", *name) != 0;
            if (k && wanted)
                run_table(k, d, m);
        }
    return 0;
}
