/* Pixels, answers, counts of few values and what was rounded have far fewer different rows than rows.
 * Whatever only sums over rows is the same of the different ones x_j with their weights
 *
 *     w_j = sum of w_i over the rows i that are alike,
 *
 * in a share of the time. Whether there are so few is found out in three looks, each of which is made
 * only where the one before it leaves it open, so that data without repetitions pay for the first one alone:
 *
 *     some rows   s = sqrt(24 n) drawn at random. Where at most n / 3 rows are different, two draws are alike
 *                 with a chance of 3 / n or more, so that s^2 / 2 pairs give 36 or more; fewer than
 *                 18 (three deviations less) say no. Draws at even distances would not meet what
 *                 lies together, as in data that are sorted
 *     one in 16   of all different rows, by their hash: how many there are, to a percent or so
 *     all         with a table of them
 *
 * Rows are alike when their bytes are, in the order of this machine. (0 and -0 are two rows then, which
 * costs nothing but an item.) */
#include "data/repeats.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/parallel.h"
#include "base/rng.h"

enum { SHARE = 3, MEETINGS = 18, SLICES = 16 };
static const double DRAWS = 24;
/* Rows that are hashed together, before the table is asked for them: their places in it are on the way then. */
enum { TOGETHER = 256, TOLD = 256 * TOGETHER };
/* Slots that are looked at, for each row, before the hash is no use (rows that were made to meet). */
enum { PROBES = 16 };
static const uint64_t ODD = UINT64_C(0x9E3779B97F4A7C15);

/* ---- rows as bytes ---- */

typedef struct source {
    const vem_data *data;
    size_t bytes;  /* of a row */
    int plain;     /* rows are as they lie */
    char *scratch; /* TOGETHER rows, where not */
} source;

static int is_plain(const vem_data *data)
{
    return !data->pieces && !data->columns && !data->swapped &&
           data->column_stride == (int64_t)vem_i_dtype_bytes(data->type);
}

static vem_status source_new(vem_i_run *run, const vem_data *data, source *s)
{
    *s = (source){.data = data,
                  .bytes = (size_t)data->d * vem_i_dtype_bytes(data->type),
                  .plain = is_plain(data)};
    return vem_i_take(run, &s->scratch, TOGETHER, s->bytes);
}

/* At most TOGETHER rows, *stride apart. */
static const char *rows_of(const source *s, int64_t first, int64_t count, int64_t *stride)
{
    *stride = s->plain ? s->data->row_stride : (int64_t)s->bytes;
    if (s->plain)
        return s->data->base + first * s->data->row_stride;
    for (int64_t i = 0; i < count; i++)
        vem_i_data_copy_row(s->data, first + i, s->scratch + (size_t)i * s->bytes);
    return s->scratch;
}

static uint64_t mix(uint64_t h)
{
    h *= ODD;
    return h ^ h >> 32;
}

/* The bytes behind the last word, fewer than eight, as one: as two halves where these overlap. */
static inline uint64_t rest_of(const char *row, size_t bytes)
{
    uint32_t low, high;
    uint64_t word = 0;
    if (bytes >= sizeof low) {
        memcpy(&low, row, sizeof low);
        memcpy(&high, row + bytes - sizeof high, sizeof high);
        return (uint64_t)high << 32 | low;
    }
    for (size_t k = 0; k < bytes; k++)
        word = word << 8 | (unsigned char)row[k];
    return word;
}

static inline uint64_t hash_of(const char *row, size_t bytes)
{
    uint64_t h = bytes, word;
    for (; bytes >= sizeof word; bytes -= sizeof word, row += sizeof word) {
        memcpy(&word, row, sizeof word);
        h = mix(h ^ word);
    }
    return mix(mix(h ^ rest_of(row, bytes)));
}

static inline int same_rows(const char *a, const char *b, size_t bytes)
{
    uint64_t x, y;
    for (; bytes >= sizeof x; bytes -= sizeof x, a += sizeof x, b += sizeof y) {
        memcpy(&x, a, sizeof x);
        memcpy(&y, b, sizeof y);
        if (x != y)
            return 0;
    }
    return rest_of(a, bytes) == rest_of(b, bytes);
}

/* ---- some rows ---- */

static int compare_rows(const void *a, const void *b)
{
    const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return x < y ? -1 : x > y;
}

/* Values that are there before, of sorted ones; they are left out. */
static int64_t drop_same(uint64_t *values, int64_t n)
{
    int64_t kept = 0;
    for (int64_t i = 0; i < n; i++)
        if (i == 0 || values[i] != values[i - 1])
            values[kept++] = values[i];
    return kept;
}

static vem_status look_at_some(vem_i_run *run, const source *s, int *likely)
{
    const int64_t n = s->data->n, draws = (int64_t)sqrt(DRAWS * (double)n);
    uint64_t *some = NULL;
    *likely = 0;
    const vem_status status = vem_i_take(run, &some, (size_t)draws, sizeof *some);
    if (status != VEM_OK)
        return status;
    vem_i_rng rng = vem_i_rng_at(0, VEM_RNG_REPEATS, 0, 0);
    for (int64_t k = 0; k < draws; k++)
        some[k] = vem_i_rng_below(&rng, (uint64_t)n);
    qsort(some, (size_t)draws, sizeof *some, compare_rows);
    const int64_t rows = drop_same(some, draws);
    for (int64_t k = 0; k < rows; k++) {
        int64_t stride;
        vem_i_residence_check(run);
        some[k] = hash_of(rows_of(s, (int64_t)some[k], 1, &stride), s->bytes);
    }
    qsort(some, (size_t)rows, sizeof *some, compare_rows);
    *likely = rows - drop_same(some, rows) >= MEETINGS;
    vem_i_free(some);
    return VEM_OK;
}

/* ---- a table of different rows ---- */

typedef struct slot {
    uint32_t tag; /* high bits of the hash */
    int32_t row;  /* + 1; 0: free */
} slot;

typedef struct table {
    size_t bytes; /* of a row */
    slot *slots;
    size_t mask;
    char *rows;
    double *weights;
    int64_t *indices;
    int64_t count, room; /* of rows */
    int64_t most;        /* rows after which it gives up, */
    int64_t probes;      /* or slots, those that are left */
    uint64_t slice;      /* only hashes of which these bits are 0 */
    uint64_t allowed;    /* bytes that it may take; 0: any. More: it is */
    int crowded;
    uint64_t highest; /* bytes that it took */
} table;

static void table_free(table *t)
{
    vem_i_free(t->slots);
    vem_i_free(t->rows);
    vem_i_free(t->weights);
    vem_i_free(t->indices);
}

/* A table for about so many rows seldom grows. */
static int64_t room_for(int64_t about)
{
    return about + about / 8 + TOGETHER;
}

/* Bytes of its rows, */
static uint64_t kept_bytes(int64_t room, size_t bytes)
{
    return (uint64_t)room * (bytes + sizeof(double) + sizeof(int64_t));
}

/* and of all, at most; a power of two of slots is less than four for each row. */
static uint64_t table_bytes(int64_t room, size_t bytes)
{
    return kept_bytes(room, bytes) + (uint64_t)room * 4 * sizeof(slot);
}

static void place_slot(table *t, uint64_t hash, int64_t row)
{
    size_t at = hash & t->mask;
    while (t->slots[at].row)
        at = (at + 1) & t->mask;
    t->slots[at] = (slot){(uint32_t)(hash >> 32), (int32_t)(row + 1)};
}

/* Room for so many rows, unless it is crowded. */
static vem_status table_grow(vem_i_run *run, table *t, int64_t room)
{
    const uint64_t both = table_bytes(t->room, t->bytes) + table_bytes(room, t->bytes);
    t->crowded = t->allowed > 0 && both > t->allowed;
    if (t->crowded)
        return VEM_OK;
    t->highest = both > t->highest ? both : t->highest;
    table old = *t;
    size_t capacity = 1024;
    while (capacity < 2 * (size_t)room)
        capacity *= 2;
    const vem_i_room list[] = {
        {&t->slots, capacity, sizeof(slot), 1},
        {&t->rows, (size_t)room, t->bytes, 0},
        {&t->weights, (size_t)room, sizeof(double), 0},
        {&t->indices, (size_t)room, sizeof(int64_t), 0},
    };
    t->slots = NULL;
    t->rows = NULL;
    t->weights = NULL;
    t->indices = NULL;
    const vem_status status = vem_i_take_rooms(run, list, VEM_I_COUNT(list));
    if (status == VEM_OK) {
        const size_t count = (size_t)t->count;
        t->mask = capacity - 1;
        t->room = room;
        if (old.rows && old.weights && old.indices) {
            memcpy(t->rows, old.rows, count * t->bytes);
            memcpy(t->weights, old.weights, count * sizeof(double));
            memcpy(t->indices, old.indices, count * sizeof(int64_t));
        }
        for (size_t k = 0; k < count; k++)
            place_slot(t, hash_of(t->rows + k * t->bytes, t->bytes), (int64_t)k);
    }
    table_free(&old);
    return status;
}

/* The number of a row in the table, which it may become now; there is room for it. */
static int32_t number_of(table *t, const char *row, uint64_t hash, int64_t index)
{
    const uint32_t tag = (uint32_t)(hash >> 32);
    size_t at = hash & t->mask;
    for (; t->slots[at].row; at = (at + 1) & t->mask, t->probes--) {
        const slot *s = &t->slots[at];
        if (s->tag == tag &&
            same_rows(t->rows + (size_t)(s->row - 1) * t->bytes, row, t->bytes))
            return s->row - 1;
    }
    const int32_t made = (int32_t)t->count++;
    t->slots[at] = (slot){tag, made + 1};
    memcpy(t->rows + (size_t)made * t->bytes, row, t->bytes);
    t->weights[made] = 0;
    t->indices[made] = index;
    return made;
}

static int gives_up(const table *t)
{
    return t->count > t->most || t->probes < 0;
}

/* Rows first .. first + count - 1. */
static void enter_rows(const source *s, table *t, int64_t first, int64_t count,
                       vem_i_repeats *r)
{
    uint64_t hashes[TOGETHER];
    int64_t stride;
    const char *rows = rows_of(s, first, count, &stride);
    const double *weights = s->data->weights;
    for (int64_t i = 0; i < count; i++) {
        hashes[i] = hash_of(rows + i * stride, s->bytes);
        __builtin_prefetch(&t->slots[hashes[i] & t->mask]);
    }
    for (int64_t i = 0; i < count; i++) {
        if (hashes[i] & t->slice)
            continue;
        const int32_t number =
            number_of(t, rows + i * stride, hashes[i],
                      r ? vem_i_data_row_number(s->data, first + i) : 0);
        if (!r)
            continue;
        const double weight = weights ? weights[first + i] : 1;
        r->places[first + i] = number;
        r->used += weight > 0;
        t->weights[number] += weight;
    }
}

/* All rows, until it gives up or is stopped; then *done is 0. */
static vem_status enter_all(vem_i_run *run, const source *s, table *t, vem_i_repeats *r,
                            int *done)
{
    const int64_t n = s->data->n;
    vem_progress told = {.phase = "read", .total = n};
    vem_status status = VEM_OK;
    *done = 0;
    for (int64_t i = 0; status == VEM_OK && i < n; i += TOGETHER) {
        const int64_t count = n - i < TOGETHER ? n - i : TOGETHER;
        if (t->room - t->count < count)
            status = table_grow(run, t, 2 * t->room + count);
        if (status != VEM_OK || t->crowded)
            return status;
        enter_rows(s, t, i, count, r);
        vem_i_residence_check(run);
        told.done = i;
        if (gives_up(t) || (i % TOLD == 0 && vem_i_progress(run, &told, 0)))
            return VEM_OK;
    }
    *done = 1;
    return status;
}

/* ---- the looks ---- */

/* Different rows, at most. A table is full only when TOGETHER rows have come, and numbers its rows from 1. */
static int64_t most_of(int64_t n)
{
    const int64_t numbers = INT32_MAX - TOGETHER;
    return n / SHARE < numbers ? n / SHARE : numbers;
}

/* How many different rows there are, about; 0: more than pay, or than there is room to count. */
static vem_status look_at_slice(vem_i_run *run, const source *s, int64_t most,
                                uint64_t room, int64_t *about, int *crowded)
{
    /* Bits of the tag, which say nothing of the place. */
    table t = {.bytes = s->bytes,
               .most = most / SLICES,
               .probes = PROBES * s->data->n,
               .slice = (uint64_t)(SLICES - 1) << 60,
               .allowed = room};
    int done = 0;
    vem_status status = table_grow(run, &t, TOGETHER);
    if (status == VEM_OK && !t.crowded)
        status = enter_all(run, s, &t, NULL, &done);
    *crowded = t.crowded;
    *about = done ? t.count * SLICES + 1 : 0;
    table_free(&t);
    return status;
}

/* The data, but for where their values lie. */
static vem_status take_rows(vem_i_run *run, const vem_data *data, table *t,
                            vem_i_repeats *r)
{
    int32_t *numbers = NULL;
    const vem_status status = vem_i_take(run, &numbers, (size_t)data->d, sizeof *numbers);
    if (status != VEM_OK)
        return status;
    for (int32_t j = 0; j < data->d; j++)
        numbers[j] = vem_i_data_column_number(data, j);
    r->rows = *data;
    r->rows.n = t->count;
    r->rows.swapped = 0;
    r->rows.base = r->rows.owned = t->rows;
    r->rows.row_stride = (int64_t)t->bytes;
    r->rows.column_stride = (int64_t)vem_i_dtype_bytes(data->type);
    r->rows.columns = NULL;
    r->rows.pieces = NULL;
    r->rows.mapping = NULL;
    r->rows.numbers = numbers;
    r->rows.weights = t->weights;
    r->rows.indices = t->indices;
    t->rows = NULL;
    t->weights = NULL;
    t->indices = NULL;
    return VEM_OK;
}

static vem_status make(vem_i_run *run, const source *s, int64_t most, uint64_t room,
                       int64_t about, vem_i_repeats *r)
{
    const int64_t n = s->data->n;
    const uint64_t places = (uint64_t)n * sizeof *r->places;
    table t = {.bytes = s->bytes, .most = most, .probes = PROBES * n};
    int done = 0;
    r->crowded = room > 0 && places + table_bytes(room_for(about), s->bytes) > room;
    if (r->crowded)
        return VEM_OK;
    t.allowed = room > 0 ? room - places : 0;
    vem_status status = vem_i_take(run, &r->places, (size_t)n, sizeof *r->places);
    if (status == VEM_OK)
        status = table_grow(run, &t, room_for(about));
    if (status == VEM_OK)
        status = enter_all(run, s, &t, r, &done);
    const uint64_t kept = places + kept_bytes(t.room, t.bytes);
    if (status == VEM_OK && done)
        status = take_rows(run, s->data, &t, r);
    table_free(&t);
    if (status != VEM_OK || !done)
        vem_i_repeats_free(r);
    r->crowded = t.crowded;
    if (r->rows.n > 0) {
        r->kept = kept;
        r->highest = places + t.highest;
    }
    return status;
}

/* It saves time, and a fit can do without: no memory for it is no failure. */
static vem_status spared(vem_i_run *run, vem_status status)
{
    if (status != VEM_NO_MEMORY)
        return status;
    run->ctx->message[0] = '\0';
    return VEM_OK;
}

vem_status vem_i_repeats_look(vem_i_run *run, const vem_data *data, int *likely)
{
    source s;
    *likely = 0;
    vem_status status = source_new(run, data, &s);
    if (status == VEM_OK)
        status = look_at_some(run, &s, likely);
    vem_i_free(s.scratch);
    return spared(run, status);
}

vem_status vem_i_repeats_find(vem_i_run *run, const vem_data *data, uint64_t room,
                              vem_i_repeats *r)
{
    source s;
    int likely = 0;
    const int64_t most = most_of(data->n);
    int64_t about = 0;
    *r = (vem_i_repeats){0};
    vem_status status = source_new(run, data, &s);
    if (status == VEM_OK)
        status = look_at_some(run, &s, &likely);
    if (status == VEM_OK && likely)
        status = look_at_slice(run, &s, most, room, &about, &r->crowded);
    if (status == VEM_OK && about > 0)
        status = make(run, &s, most, room, about, r);
    vem_i_free(s.scratch);
    r->crowded |= status == VEM_NO_MEMORY;
    return spared(run, status);
}

void vem_i_repeats_free(vem_i_repeats *r)
{
    vem_i_free(r->rows.owned);
    vem_i_free(r->rows.weights);
    vem_i_free(r->rows.indices);
    vem_i_free(r->rows.numbers);
    vem_i_free(r->places);
    *r = (vem_i_repeats){0};
}
