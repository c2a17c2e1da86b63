/* The nearest buckets of the items of a block: first the nearest regions, then the nearest of
 * the buckets of those.
 *
 * An item wants what keeps to a limit that at least so many of its costs keep to. The limit is
 * found by bisection of the range of these costs, which lie together: a count is a loop
 * without branches. Of buckets a few more than asked for will do (SLACK), which saves half of
 * the counts. Equal costs, and those closer together than the range over 2^HALVINGS, may let
 * in more. Nothing depends on the other items of the block. */
#include <string.h>

#include "coarse/buckets.h"

enum { HALVINGS = 16, SLACK = 16, LANES = 8 };

#define DEFINE_LIMIT(T)                                                                  \
    /* At least `wanted` of the n costs are no greater than what is returned. */         \
    static T limit_##T(const T *costs, int64_t n, int32_t wanted, int32_t slack)         \
    {                                                                                    \
        T least[LANES], most[LANES];                                                     \
        for (int j = 0; j < LANES; j++)                                                  \
            least[j] = most[j] = costs[0];                                               \
        for (int64_t i = 0; i + LANES <= n; i += LANES)                                  \
            for (int j = 0; j < LANES; j++) {                                            \
                const T v = costs[i + j];                                                \
                least[j] = v < least[j] ? v : least[j];                                  \
                most[j] = v > most[j] ? v : most[j];                                     \
            }                                                                            \
        T low = least[0], high = most[0];                                                \
        for (int j = 1; j < LANES; j++) {                                                \
            low = least[j] < low ? least[j] : low;                                       \
            high = most[j] > high ? most[j] : high;                                      \
        }                                                                                \
        for (int64_t i = n / LANES * LANES; i < n; i++) {                                \
            low = costs[i] < low ? costs[i] : low;                                       \
            high = costs[i] > high ? costs[i] : high;                                    \
        }                                                                                \
        if (n <= wanted)                                                                 \
            return high;                                                                 \
        for (int step = 0; step < HALVINGS; step++) {                                    \
            const T middle = low + (high - low) / 2;                                     \
            int32_t count = 0;                                                           \
            for (int64_t i = 0; i < n; i++)                                              \
                count += costs[i] <= middle;                                             \
            if (count >= wanted)                                                         \
                high = middle;                                                           \
            else                                                                         \
                low = middle;                                                            \
            if (count >= wanted && count <= wanted + slack)                              \
                break;                                                                   \
        }                                                                                \
        return high;                                                                     \
    }                                                                                    \
    /* Columns of a tile, each behind what its item has. */                              \
    static void append_##T(const T *tile, int32_t count, const int32_t *rows, int32_t m, \
                           T *costs, int64_t stride, const int32_t *at)                  \
    {                                                                                    \
        for (int32_t p = 0; p < m; p++) {                                                \
            T *to = costs + (rows ? rows[p] : p) * stride + (rows ? at[rows[p]] : 0);    \
            for (int64_t k = 0; k < count; k++)                                          \
                to[k] = tile[k * VEM_I_BLOCK + p];                                       \
        }                                                                                \
    }                                                                                    \
    /* A bit for each of the costs that keep to the limit. */                            \
    static void mark_##T(const T *costs, int32_t count, T limit, uint64_t bit,           \
                         uint64_t *wants, int64_t stride)                                \
    {                                                                                    \
        int32_t within[64] = {0}; /* without branches, which would be guessed wrong */   \
        for (int64_t first = 0; first < count; first += 64) {                            \
            const int32_t end = count - first < 64 ? (int32_t)(count - first) : 64;      \
            int32_t found = 0;                                                           \
            for (int32_t k = 0; k < end; k++) {                                          \
                within[found] = k;                                                       \
                found += costs[first + k] <= limit;                                      \
            }                                                                            \
            for (int32_t i = 0; i < found; i++)                                          \
                wants[(first + within[i]) * stride] |= bit;                              \
        }                                                                                \
    }
/* A macro because the two compute types share the text and nothing else can be generic
 * here. */
DEFINE_LIMIT(float)
DEFINE_LIMIT(double)

static int is_single(const vem_i_scorer *s)
{
    return s->kernels->precision == VEM_SINGLE;
}

static void append(const vem_i_scorer *s, int32_t count, const int32_t *rows, int32_t m,
                   vem_i_choice *c)
{
    if (is_single(s))
        append_float(c->tile, count, rows, m, c->costs, c->stride, c->cost_count);
    else
        append_double(c->tile, count, rows, m, c->costs, c->stride, c->cost_count);
}

static double limit_of(const vem_i_scorer *s, const vem_i_choice *c, int64_t p, int64_t n,
                       int32_t wanted, int32_t slack)
{
    return is_single(s)
               ? (double)limit_float((const float *)c->costs + p * c->stride, n, wanted,
                                     slack)
               : limit_double((const double *)c->costs + p * c->stride, n, wanted, slack);
}

/* Of the costs of item p, from `at` on, those within the limit. */
static void mark(const vem_i_scorer *s, const vem_i_choice *c, int64_t p, int64_t at,
                 int32_t count, double limit, uint64_t *wants, int64_t stride)
{
    const uint64_t bit = (uint64_t)1 << (p % 64);
    if (is_single(s))
        mark_float((const float *)c->costs + p * c->stride + at, count, (float)limit, bit,
                   wants + p / 64, stride);
    else
        mark_double((const double *)c->costs + p * c->stride + at, count, limit, bit,
                    wants + p / 64, stride);
}

/* The regions each item looks into. */
static void choose_regions(const vem_i_buckets *b, const vem_view *view,
                           const uint32_t *items, int32_t n, int32_t reach,
                           vem_i_choice *c)
{
    const int64_t words = VEM_I_BLOCK / 64;
    memset(c->wants, 0, (size_t)(b->regions * words) * sizeof *c->wants);
    vem_i_items some = vem_i_items_at(view, 0, items, n);
    vem_i_items_pack(view, NULL, c->panels, c->norms, &some);
    b->coarse.family->score_tile(&b->coarse, &some, 0, b->regions, c->tile, VEM_I_BLOCK);
    c->pairs += (int64_t)n * b->regions;
    append(&b->coarse, b->regions, NULL, n, c);
    for (int32_t p = 0; p < n; p++)
        mark(&b->coarse, c, p, 0, b->regions,
             limit_of(&b->coarse, c, p, b->regions, reach, 0), c->wants, words);
}

/* The m packed items in `rows` of the block meet the buckets of a region. */
static void score_region(const vem_i_buckets *b, const vem_i_items *packed,
                         int32_t region, vem_i_choice *c)
{
    const int32_t first = b->region_starts[region], m = (int32_t)packed->n;
    const int32_t count = b->region_starts[region + 1] - first;
    b->scorer.family->score_tile(&b->scorer, packed, first, count, c->tile, VEM_I_BLOCK);
    c->pairs += (int64_t)m * count;
    append(&b->scorer, count, c->rows, m, c);
    for (int32_t i = 0; i < m; i++) {
        const int64_t p = c->rows[i];
        c->met[p * b->regions + c->met_count[p]++] = region;
        c->cost_count[p] += count;
    }
}

/* Those of the items of a block that look into a region meet its buckets. */
static void meet_region(const vem_i_buckets *b, const vem_view *view,
                        const uint32_t *items, int32_t n, int32_t region, vem_i_choice *c)
{
    int32_t m = 0;
    for (int32_t p = 0; p < n; p++)
        if (c->wants[region * (VEM_I_BLOCK / 64) + p / 64] >> (p % 64) & 1) {
            c->items[m] = items[p];
            c->rows[m++] = p;
        }
    if (m == 0)
        return;
    vem_i_items some = vem_i_items_at(view, 0, c->items, m);
    vem_i_items_pack(view, NULL, c->panels, c->norms, &some);
    score_region(b, &some, region, c);
}

static void meet_all_regions(const vem_i_buckets *b, const vem_view *view,
                             const uint32_t *items, int32_t n, vem_i_choice *c)
{
    vem_i_items all = vem_i_items_at(view, 0, items, n);
    vem_i_items_pack(view, NULL, c->panels, c->norms, &all);
    for (int32_t p = 0; p < n; p++)
        c->rows[p] = p;
    for (int32_t r = 0; r < b->regions; r++)
        score_region(b, &all, r, c);
}

void vem_i_buckets_choose(const vem_i_buckets *b, const vem_view *view,
                          const uint32_t *items, int32_t n, int32_t probes,
                          vem_i_choice *c, uint64_t *wants, int64_t stride)
{
    if (probes >= b->count) { /* all, whatever they cost */
        for (int64_t k = 0; k < b->count; k++)
            for (int32_t p = 0; p < n; p++)
                wants[k * stride + p / 64] |= (uint64_t)1 << (p % 64);
        return;
    }
    memset(c->met_count, 0, VEM_I_BLOCK * sizeof *c->met_count);
    memset(c->cost_count, 0, VEM_I_BLOCK * sizeof *c->cost_count);
    if (b->reach[probes] < b->regions) {
        choose_regions(b, view, items, n, b->reach[probes], c);
        for (int32_t r = 0; r < b->regions; r++)
            meet_region(b, view, items, n, r, c);
    } else
        meet_all_regions(b, view, items, n, c);
    for (int64_t p = 0; p < n; p++) {
        const double limit =
            limit_of(&b->scorer, c, p, c->cost_count[p], probes, probes / SLACK);
        int64_t at = 0;
        for (int32_t i = 0; i < c->met_count[p]; i++) {
            const int32_t region = c->met[p * b->regions + i];
            const int64_t first = b->region_starts[region];
            const int32_t count = (int32_t)(b->region_starts[region + 1] - first);
            mark(&b->scorer, c, p, at, count, limit, wants + first * stride, stride);
            at += count;
        }
    }
}

void vem_i_choice_rooms(const vem_i_buckets *b, const vem_view *view,
                        vem_i_choice *choice, vem_i_room *rooms)
{
    const size_t block = VEM_I_BLOCK, index = sizeof(int32_t);
    const size_t element = view->kernels->element, regions = (size_t)b->regions;
    size_t rows = regions;
    for (size_t r = 0; r < regions; r++) {
        const size_t count = (size_t)(b->region_starts[r + 1] - b->region_starts[r]);
        rows = count > rows ? count : rows;
    }
    /* Not a power of 2, at which the caches would put all items into one place. */
    choice->stride = (int64_t)(((size_t)b->count + regions) / 16 * 16 + 16) | 16;
    const vem_i_room list[VEM_I_CHOICE_ROOMS] = {
        {&choice->panels, block, (size_t)view->d * element, 1},
        {&choice->norms, block, element, 1},
        {&choice->tile, rows, block * element, 1},
        {&choice->costs, block, (size_t)choice->stride * element, 0},
        {&choice->met, block, regions * index, 0},
        {&choice->met_count, block, index, 0},
        {&choice->cost_count, block, index, 0},
        {&choice->wants, regions, block / 64 * sizeof *choice->wants, 0},
        {&choice->rows, block, index, 0},
        {&choice->items, block, sizeof *choice->items, 1},
    };
    memcpy(rooms, list, sizeof list);
}
