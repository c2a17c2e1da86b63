/* Checks of the kernels on rows that are stored narrower than T: to the bit what the plain kernels
 * find on rows that were widened and moved first. */
#include "kernel_checks.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct rows {
    vem_i_stored how;
    void *stored; /* n rows, ld apart */
    void *wide;   /* the same as T, d apart */
    double *origin;
    uint32_t *items;
    int64_t ld;
    int32_t n, d;
    char where[80];
} rows;

static void *take(int64_t count, size_t size)
{
    void *made = calloc((size_t)count, size);
    if (!made)
        exit(1);
    return made;
}

/* Every kind of a half that is finite: tiny ones, which are not normal, too. */
static uint16_t half_at(int64_t i)
{
    const uint16_t bits = (uint16_t)kernel_below(1 << 16);
    const uint16_t exponent = i % 7 == 0 ? 0 : (uint16_t)(8 + kernel_below(14));
    return (uint16_t)((bits & 0x83ff) | exponent << 10);
}

/* Every kind of a finite bfloat16: tiny ones, too. */
static uint16_t bfloat_at(int64_t i)
{
    const uint16_t bits = (uint16_t)kernel_below(1 << 16);
    const uint16_t exponent = i % 7 == 0 ? 0 : (uint16_t)(120 + kernel_below(14));
    return (uint16_t)((bits & 0x807f) | exponent << 7);
}

static rows rows_new(const vem_i_kernels *table, vem_i_stored_type type, int32_t n,
                     int32_t d)
{
    rows r = {.how.type = type, .n = n, .d = d, .ld = d + 3};
    const int64_t count = (n - 1) * r.ld + d;
    r.stored = take(count, vem_i_stored_bytes(type));
    r.wide = kernel_values(table, (int64_t)n * d);
    r.origin = take(d, sizeof *r.origin);
    r.items = take(n, sizeof *r.items);
    for (int64_t i = 0; i < count; ++i)
        if (type == VEM_I_STORED_F2)
            ((uint16_t *)r.stored)[i] = half_at(i);
        else if (type == VEM_I_STORED_BF)
            ((uint16_t *)r.stored)[i] = bfloat_at(i);
        else
            ((uint8_t *)r.stored)[i] = (uint8_t)kernel_below(256);
    for (int32_t j = 0; j < d; ++j)
        r.origin[j] = j % 5 == 0 ? 0 : 100 * kernel_uniform();
    r.how.origin = r.origin;
    for (int32_t i = 0; i < n; ++i) {
        r.items[i] = (uint32_t)(n - 1 - i);
        for (int32_t j = 0; j < d; ++j)
            kernel_set(table, r.wide, (int64_t)i * d + j,
                       vem_i_stored_value(type, r.stored, i * r.ld + j) - r.origin[j]);
    }
    snprintf(r.where, sizeof r.where, "type %d, n %d, d %d", (int)type, (int)n, (int)d);
    return r;
}

static void rows_free(rows *r)
{
    free(r->stored);
    free(r->wide);
    free(r->origin);
    free(r->items);
}

static int same(const vem_i_kernels *table, const rows *r, const char *what,
                const void *got, const void *want, int64_t count)
{
    int bad = 0;
    for (int64_t i = 0; i < count; ++i) {
        const double g = kernel_get(table, got, i), w = kernel_get(table, want, i);
        bad += g == w ? 0 : kernel_mismatch(table, what, r->where, i, g, w, 0);
    }
    return bad;
}

static int check_load(const vem_i_kernels *table, const rows *r, const uint32_t *items)
{
    void *got = kernel_values(table, (int64_t)r->n * r->d);
    void *want = kernel_values(table, (int64_t)r->n * r->d);
    for (int64_t i = 0; i < r->n; ++i)
        memcpy((char *)want + (size_t)(i * r->d) * table->element,
               (char *)r->wide + (size_t)((items ? items[i] : i) * r->d) * table->element,
               (size_t)r->d * table->element);
    table->stored_load(&r->how, r->stored, r->ld, items, r->n, r->d, got, r->d);
    const int bad = same(table, r, "stored_load", got, want, (int64_t)r->n * r->d);
    free(got);
    free(want);
    return bad;
}

static int check_packed(const vem_i_kernels *table, const rows *r, const uint32_t *items,
                        int centered)
{
    const int64_t slots = kernel_slots(table, r->n), count = slots * r->d;
    void *got = kernel_values(table, count + slots),
         *want = kernel_values(table, count + slots);
    void *got_norms = (char *)got + (size_t)count * table->element;
    void *want_norms = (char *)want + (size_t)count * table->element;
    const void *origin = centered ? r->wide : NULL; /* the first row will do */
    table->pack(r->wide, r->d, items, r->n, r->d, origin, want, want_norms);
    table->stored_pack(&r->how, r->stored, r->ld, items, r->n, r->d, origin, got,
                       got_norms);
    const int bad = same(table, r, "stored_pack", got, want, count + slots);
    free(got);
    free(want);
    return bad;
}

/* m clusters: the first rows. */
static int check_scored(const vem_i_kernels *table, const rows *r, const uint32_t *items,
                        int32_t m)
{
    const int64_t count = (int64_t)m * r->n;
    void *got = kernel_values(table, count), *want = kernel_values(table, count);
    void *scale = kernel_values(table, r->n), *bias = kernel_values(table, r->n);
    int32_t *index = take(count, sizeof *index);
    int bad = 0;
    kernel_fill(table, scale, r->n, 1);
    kernel_fill(table, bias, r->n, 1);
    for (int64_t k = 0; k < count; ++k)
        index[k] = (int32_t)kernel_below(r->n + 1) - 1;
    table->iso_pairs(r->wide, r->d, items, r->n, r->d, r->wide, r->d, scale, bias, m,
                     index, want, r->n);
    table->stored_pairs(&r->how, r->stored, r->ld, items, r->n, r->d, r->wide, r->d,
                        scale, bias, m, index, got, r->n);
    bad += same(table, r, "stored_pairs", got, want, count);
    if (!items && m <= r->n) {
        table->distances(r->wide, r->d, r->n, r->d, r->wide, r->d, m, want, r->n);
        table->stored_distances(&r->how, r->stored, r->ld, r->n, r->d, r->wide, r->d, m,
                                got, r->n);
        bad += same(table, r, "stored_distances", got, want, count);
    }
    free(got);
    free(want);
    free(scale);
    free(bias);
    free(index);
    return bad;
}

static int check_summed(const vem_i_kernels *table, const rows *r, const uint32_t *items,
                        int weighted)
{
    double *got = take(r->d + 2, sizeof *got), *want = take(r->d + 2, sizeof *want);
    void *q = kernel_values(table, r->n);
    int bad = 0;
    for (int32_t i = 0; i < r->n; ++i)
        kernel_set(table, q, i, i % 3 ? fabs(kernel_uniform()) : 0);
    want[r->d + 1] = table->iso_rows(r->wide, r->d, items, weighted ? q : NULL, r->n,
                                     r->d, r->wide, want, want + r->d);
    got[r->d + 1] =
        table->stored_rows(&r->how, r->stored, r->ld, items, weighted ? q : NULL, r->n,
                           r->d, r->wide, got, got + r->d);
    for (int32_t j = 0; j < r->d + 2; ++j)
        bad += got[j] == want[j] ? 0
                                 : kernel_mismatch(table, "stored_rows", r->where, j,
                                                   got[j], want[j], 0);
    free(got);
    free(want);
    free(q);
    return bad;
}

static int check_at(const vem_i_kernels *table, vem_i_stored_type type, int32_t n,
                    int32_t d)
{
    rows r = rows_new(table, type, n, d);
    int bad = 0;
    for (int listed = 0; listed < 2; ++listed) {
        const uint32_t *items = listed ? r.items : NULL;
        bad += check_load(table, &r, items);
        for (int k = 0; k < 2; ++k) {
            bad += check_packed(table, &r, items, k);
            bad += check_summed(table, &r, items, k);
        }
        for (int32_t m = 1; m <= 5; m += m < 3 ? 1 : 2)
            bad += check_scored(table, &r, items, m);
    }
    rows_free(&r);
    return bad;
}

int check_stored(const vem_i_kernels *table)
{
    static const int32_t wide[] = {127, 129, 768, 1024, 1100};
    int bad = 0;
    kernel_seed(37);
    for (int type = VEM_I_STORED_U1; type <= VEM_I_STORED_BF; ++type) {
        for (const int32_t *g = grid_n; *g; ++g) {
            const int32_t n = grid_items(table, *g);
            for (const int32_t *d = grid_d; *d; ++d)
                bad += check_at(table, (vem_i_stored_type)type, n, *d);
        }
        for (size_t k = 0; k < sizeof wide / sizeof *wide; ++k)
            bad += check_at(table, (vem_i_stored_type)type, k % 2 ? 19 : 300, wide[k]);
    }
    return bad;
}
