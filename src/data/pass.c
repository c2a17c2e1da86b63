/* One pass over rows as stored. Sums are taken per shard, and shards, which are cut by the
 * sizes alone, are combined in their order.
 *
 * A shard runs through the kernels, on the rows where they lie if that can be. They see
 * something amiss (a sum that is not finite) but not where; such a shard is gone through
 * again value by value, which tells the first bad value, or that there is none and sums of
 * finite values overflowed. The row of the largest value is looked for in the same way, and
 * only if a message asks for it.
 *
 * Rows that lie side by side are taken several at a time as if they were one wide row, so
 * that vectors are full; their sums are folded when the shard ends. */
#include "data/pass.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "base/parallel.h"
#include "base/plain.h"
#include "data/missing.h"
#include "data/stretch.h"
#include "data/together.h"
#include "data/unit.h"
#include "data/view.h"

enum {
    SHARDS = 64,           /* for many threads */
    SHARD_LEAST = 1 << 15, /* values */
    SHARD_MOST = 1 << 19,  /* and no fewer on large data: threads that write into the same
                               huge page would both clear it, at first touch */
    SHARD_ROWS = 64 /* at least: the sums of all shards stay small beside the data */
};

/* Scratch of a thread: converted rows, then four wide rows. */
typedef struct desk {
    double *rows, *center, *divisor, *sums, *squares;
} desk;

static desk desk_of(const vem_i_pass *p, int thread)
{
    const int64_t wide = (int64_t)p->group * p->d;
    double *rows = (double *)(void *)(p->scratch + (size_t)thread * p->scratch_bytes);
    double *center = rows + p->per_block * p->d;
    return (desk){rows, center, center + wide, center + 2 * wide, center + 3 * wide};
}

/* Shards are cut by the numbers of rows in the whole. */
static int64_t begin_of(const vem_i_pass *p, int64_t shard)
{
    const int64_t begin = shard * p->per_shard - (p->whole ? p->first % p->per_shard : 0);
    return begin < 0 ? 0 : begin < p->n ? begin : p->n;
}

static int64_t end_of(const vem_i_pass *p, int64_t shard)
{
    return begin_of(p, shard + 1);
}

static int64_t shards_of(const vem_i_pass *p)
{
    return vem_i_shards((p->whole ? p->first % p->per_shard : 0) + p->n, p->per_shard);
}

/* ---- Value by value ---- */

static void run_plainly(vem_i_pass *p, int64_t shard, double *row)
{
    const int32_t d = p->d;
    double *sum = p->sums + shard * d, mass = 0, extreme = -1;
    memset(sum, 0, (size_t)d * sizeof *sum);
    for (int64_t i = begin_of(p, shard); i < end_of(p, shard); i++) {
        vem_i_data_load(p->data, p->first + i, 1, VEM_DOUBLE, row, d);
        for (int32_t j = 0; j < d; j++)
            if (!isfinite(row[j])) {
                p->bad[shard] = i * d + j;
                return;
            }
        if (p->normalize == VEM_I_DIRECTIONS && vem_i_row_is_zero(row, d)) {
            p->bad[shard] = i * d;
            return;
        }
        vem_i_row_to_length(p->normalize, row, d);
        const double w = p->mass ? p->mass[i] : 1;
        mass += w;
        double largest = 0;
        for (int32_t j = 0; j < d; j++) {
            row[j] -= p->center[j];
            if (p->divisor)
                row[j] /= p->divisor[j];
            if (w > 0)
                sum[j] += p->squares ? w * row[j] * row[j] : w * row[j];
            largest = fabs(row[j]) > largest ? fabs(row[j]) : largest;
        }
        if (w > 0 && largest > extreme) {
            extreme = largest;
            p->place[shard] = i;
        }
        if (p->out && !p->as_stored)
            vem_i_narrow(p->kernels, row, d,
                         p->out + (size_t)(i * d) * p->kernels->element);
    }
    p->masses[shard] = mass;
    p->extreme[shard] = extreme;
}

/* ---- By the kernels ---- */

/* Rows for the kernels, in a type that holds them and, if they are to be written, is not
 * narrower than what is written. */
static vem_i_stretch stretch_of(const vem_i_pass *p, int64_t first, int64_t count,
                                double *scratch)
{
    const vem_dtype type = p->data->type;
    if (p->out && p->kernels->precision == VEM_DOUBLE &&
        (type == VEM_FLOAT32 || type == VEM_UINT8) && !p->normalize) {
        vem_i_data_load(p->data, first, count, VEM_DOUBLE, scratch, p->d);
        return (vem_i_stretch){p->kernels, scratch, p->d};
    }
    return vem_i_stretch_at(p->run, p->data, p->normalize, first, count, scratch);
}

/* Rows `ld` apart and `d` wide, which may be wide rows. */
static double add_rows(const vem_i_pass *p, const desk *on, vem_i_stretch s,
                       int64_t count, int32_t d, const double *mass, void *out)
{
    const double *divisor = p->divisor ? on->divisor : NULL;
    if (!p->squares) {
        s.kernels->moments(s.x, s.ld, count, d, mass, on->center, on->sums, on->squares);
        return 0;
    }
    if (!out || s.kernels == p->kernels)
        return s.kernels->recenter(s.x, s.ld, count, d, mass, on->center, divisor, out, d,
                                   on->sums);
    const double largest = s.kernels->recenter(s.x, s.ld, count, d, mass, on->center,
                                               divisor, on->rows, d, on->sums);
    vem_i_narrow(p->kernels, on->rows, count * d, out);
    return largest;
}

/* The largest |value| of rows i .. i + count - 1 that have a mass, which the kernels do not
 * look at. */
static double largest_present(const vem_i_pass *p, const desk *on, int64_t i,
                              int64_t count)
{
    double largest = -1, *row = on->rows;
    for (int64_t r = i; r < i + count; r++) {
        if (!(p->mass[r] > 0))
            continue;
        vem_i_data_load(p->data, p->first + r, 1, VEM_DOUBLE, row, p->d);
        vem_i_row_to_length(p->normalize, row, p->d);
        for (int32_t j = 0; j < p->d; j++) {
            const double off = row[j] - p->center[j];
            largest = fmax(largest, fabs(p->divisor ? off / p->divisor[j] : off));
        }
    }
    return largest;
}

static int has_absent(const double *mass, int64_t count)
{
    for (int64_t i = 0; i < count; i++)
        if (!(mass[i] > 0))
            return 1;
    return 0;
}

static double add_block(const vem_i_pass *p, const desk *on, int64_t i, int64_t count)
{
    const int32_t d = p->d;
    vem_i_stretch s = stretch_of(p, p->first + i, count, on->rows);
    char *out =
        p->out && !p->as_stored ? p->out + (size_t)(i * d) * p->kernels->element : NULL;
    const double *mass = p->mass ? p->mass + i : NULL;
    double largest = -1;
    int64_t done = 0;
    if (p->group > 1 && s.ld == d) {
        const int32_t wide = d * p->group;
        const vem_i_stretch joined = {s.kernels, s.x, wide};
        largest = add_rows(p, on, joined, count / p->group, wide, NULL, out);
        done = count / p->group * p->group;
        s.x = (const char *)s.x + (size_t)(done * d) * s.kernels->element;
    }
    if (done < count) {
        if (out)
            out += (size_t)(done * d) * p->kernels->element;
        largest = fmax(largest, add_rows(p, on, s, count - done, d, mass, out));
    }
    if (p->squares && mass && has_absent(mass, count))
        return largest_present(p, on, i, count);
    return largest;
}

/* d values, again and again. */
static void repeat(const double *values, int32_t d, int32_t times, double *out)
{
    for (int32_t k = 0; k < times; k++)
        memcpy(out + (int64_t)k * d, values, (size_t)d * sizeof *out);
}

/* Rows as they are stored, side by side. */
static void copy_stored(const vem_i_pass *p, int64_t begin, int64_t end)
{
    const vem_data *data = p->data;
    const size_t row = (size_t)p->d * vem_i_dtype_bytes(data->type);
    for (int64_t i = begin; i < end; i++)
        vem_i_data_copy_row(data, p->first + i, p->out + (size_t)i * row);
    if (!data->pieces)
        vem_i_mapping_rest_rows(data->mapping,
                                data->base + (p->first + begin) * data->row_stride,
                                data->base + (p->first + end) * data->row_stride);
}

static void run_shard(void *arg, int64_t shard, int thread)
{
    vem_i_pass *p = arg;
    const int32_t d = p->d;
    const int64_t begin = begin_of(p, shard), end = end_of(p, shard);
    const desk on = desk_of(p, thread);
    double *sum = p->sums + shard * d, extreme = -1, probe = 0;
    repeat(p->center, d, p->group, on.center);
    if (p->divisor)
        repeat(p->divisor, d, p->group, on.divisor);
    memset(on.sums, 0, 2 * (size_t)p->group * (size_t)d * sizeof *on.sums);
    for (int64_t i = begin; i < end; i += p->per_block)
        extreme =
            fmax(extreme,
                 add_block(p, &on, i, end - i < p->per_block ? end - i : p->per_block));
    memset(sum, 0, (size_t)d * sizeof *sum);
    for (int32_t k = 0; k < p->group; k++)
        for (int32_t j = 0; j < d; j++)
            sum[j] += on.sums[(int64_t)k * d + j];
    for (int32_t j = 0; j < d; j++)
        probe += sum[j] * 0; /* NaN if any is NaN or infinite */
    double mass = p->mass ? 0 : (double)(end - begin);
    for (int64_t i = begin; p->mass && i < end; i++)
        mass += p->mass[i];
    p->masses[shard] = mass;
    p->extreme[shard] = extreme;
    p->bad[shard] = p->place[shard] = -1;
    if (probe != 0)
        run_plainly(p, shard, on.rows);
    if (p->out && p->as_stored)
        copy_stored(p, begin, end);
}

/* ---- The whole ---- */

void vem_i_pass_name(const vem_i_pass *p, int64_t row, int32_t column, char *text,
                     size_t size)
{
    vem_i_data_place(p->data, vem_i_data_row_number(p->data, p->first + row), column,
                     text, size);
}

vem_status vem_i_refuse_zeros(vem_i_run *run, int64_t row)
{
    return vem_i_fail(
        run, VEM_BAD_DATA,
        "Row %" PRId64 " has no value but 0, and so no direction, which "
        "--metric cosine goes by: leave it out, or use --normalize instead, which "
        "keeps such rows as they are.",
        row + 1);
}

vem_status vem_i_pass_refuse_heavy(const vem_i_pass *p, vem_precision precision)
{
    /* So many times all others do no harm: the square of that is far from the range. */
    const double most = precision == VEM_SINGLE ? 1e15 : 1e150;
    const int64_t n = vem_i_pass_rows(p), first = p->whole ? 0 : p->first;
    const double *weights = p->data->weights + first;
    int64_t row = 0;
    double others = 0;
    char bound[64] = "";
    for (int64_t i = 1; i < n; i++)
        row = weights[i] > weights[row] ? i : row;
    for (int64_t i = 0; i < n; i++)
        others += i == row ? 0 : weights[i];
    if (others * most < weights[row])
        vem_i_plain_print(bound, sizeof bound, "; no more than %.3g is safe",
                          others * most);
    return vem_i_fail(p->run, VEM_BAD_DATA,
                      "Row %" PRId64 " has a weight of %.3g, and all others together "
                      "%.3g: the variance they leave is too small for %s precision%s.",
                      vem_i_data_row_number(p->data, first + row) + 1, weights[row],
                      others, vem_choice_name("precision", precision), bound);
}

/* Row p->bad of a shard, which is row `row` of the pass and may be that of another process: the rows
 * as stored are there for all. */
static vem_status refuse_value(vem_i_pass *p, int64_t row, int32_t column)
{
    char place[160];
    vem_i_data_load(p->data, p->first + row, 1, VEM_DOUBLE, p->row, p->d);
    if (vem_i_row_is_zero(p->row, p->d))
        return vem_i_refuse_zeros(p->run, vem_i_data_row_number(p->data, p->first + row));
    vem_i_pass_name(p, row, column, place, sizeof place);
    return vem_i_data_refuse(p->run, p->data, 0, place, p->row[column]);
}

/* The shards that are counted here, one after the other. */
typedef struct counted {
    const vem_i_pass *p;
    int64_t from, to;
} counted;

static const double *shard_sums(const void *arg, int64_t shard)
{
    const vem_i_pass *p = arg;
    return p->sums + shard * p->d;
}

/* What the shards have found, of all processes. */
static vem_status meet(vem_i_pass *p, const counted *c, double *total, double *mass)
{
    vem_i_comm *comm = p->whole ? p->run->comm : NULL;
    int64_t bad = INT64_MAX; /* the first, as a place in the whole */
    p->largest = -1;
    for (int64_t s = c->to - 1; s >= c->from; s--) {
        bad = p->bad[s] >= 0 ? p->first * p->d + p->bad[s] : bad;
        p->largest = p->extreme[s] > p->largest ? p->extreme[s] : p->largest;
    }
    if (comm)
        comm->combine(comm, VEM_I_LEAST_INT, &bad, 1);
    if (bad < INT64_MAX)
        return refuse_value(p, bad / p->d - p->first, (int32_t)(bad % p->d));
    vem_i_comm_sum(comm, total, p->d, &(vem_i_own_blocks){shard_sums, p, c->from, c->to});
    if (!comm) {
        *mass = vem_i_sum(p->masses, c->to);
        return VEM_OK;
    }
    *mass = vem_i_comm_shards(p->run, p->masses + c->from, c->to - c->from,
                              vem_i_shards(p->whole, p->per_shard));
    comm->combine(comm, VEM_I_MOST_REAL, &p->largest, 1);
    return vem_i_comm_agree(p->run);
}

vem_status vem_i_pass_run(vem_i_pass *p, const char *phase, double *total, double *mass)
{
    const int64_t shards = shards_of(p);
    vem_progress told = {.phase = phase, .free_energy = NAN};
    double work = (double)(p->n < p->per_shard ? p->n : p->per_shard) * p->d;
    if (vem_i_parallel_watched(p->run, shards, work, run_shard, p, &told, 1))
        return vem_i_fail_stopped(p->run, "while the data were read");
    memset(total, 0, (size_t)p->d * sizeof *total);
    counted c = {p, 0, shards};
    if (p->whole)
        vem_i_own_shards(p->first, p->n - p->halo, p->per_shard, &c.from, &c.to);
    if (p->whole && vem_i_comm_rehearse(p->run->comm, 1)) {
        meet(p, &c, total, mass);
        vem_i_comm_rehearse(p->run->comm, 0);
    }
    return meet(p, &c, total, mass);
}

/* ---- Rows anywhere ---- */

enum { FETCH_ROWS = 64 };

typedef struct fetching {
    const vem_i_pass *p;
    const uint32_t *rows;
} fetching;

static void fetch_some(void *arg, int64_t number, int thread)
{
    const fetching *f = arg;
    const vem_i_pass *p = f->p;
    const desk on = desk_of(p, thread);
    const size_t row = (size_t)p->d * (p->as_stored ? vem_i_dtype_bytes(p->data->type)
                                                    : p->kernels->element);
    const int64_t begin = number * FETCH_ROWS,
                  end = begin + FETCH_ROWS < p->n ? begin + FETCH_ROWS : p->n;
    repeat(p->center, p->d, 1, on.center);
    if (p->divisor)
        repeat(p->divisor, p->d, 1, on.divisor);
    for (int64_t i = begin; i < end; i++) {
        char *out = p->out + (size_t)i * row;
        if (p->as_stored)
            vem_i_data_copy_row(p->data, f->rows[i], out);
        else
            add_rows(p, &on, stretch_of(p, f->rows[i], 1, on.rows), 1, p->d, NULL, out);
    }
    vem_i_residence_check(p->run);
}

void vem_i_pass_fetch(vem_i_pass *p, const uint32_t *rows)
{
    vem_i_parallel_light(p->run, vem_i_shards(p->n, FETCH_ROWS),
                         2.0 * FETCH_ROWS * (double)p->d, fetch_some,
                         &(fetching){p, rows});
}

double vem_i_pass_extreme(const vem_i_pass *p)
{
    return p->largest;
}

int64_t vem_i_pass_extreme_row(const vem_i_pass *p)
{
    vem_i_pass again = *p;
    int64_t from = 0, to = shards_of(p), row = INT64_MAX;
    if (p->whole)
        vem_i_own_shards(p->first, p->n - p->halo, p->per_shard, &from, &to);
    while (from < to && !(p->extreme[from] == p->largest))
        from++;
    again.out = NULL;
    if (from < to && p->place[from] < 0)
        run_plainly(&again, from, p->row);
    if (from < to && p->place[from] >= 0)
        row = p->first + p->place[from];
    if (p->whole && p->run->comm)
        p->run->comm->combine(p->run->comm, VEM_I_LEAST_INT, &row, 1);
    return row == INT64_MAX ? 0 : row - p->first;
}

int64_t vem_i_pass_shard(int64_t n, int32_t d)
{
    int64_t values = n * d / SHARDS;
    values = values < SHARD_LEAST  ? SHARD_LEAST
             : values > SHARD_MOST ? SHARD_MOST
                                   : values;
    return values / d < SHARD_ROWS ? SHARD_ROWS : values / d;
}

vem_status vem_i_pass_new(vem_i_pass *p)
{
    const int64_t d = p->d;
    p->per_shard = vem_i_pass_shard(p->whole ? p->whole : p->n, p->d);
    p->group = p->data->weights ? 1 : vem_i_group_rows(p->d); /* one weight each */
    const int64_t rows = vem_i_block_rows(p->d), whole = 4 * p->group;
    p->per_block = rows < whole ? rows : rows / whole * whole;
    p->scratch_bytes = (size_t)((p->per_block + 4 * p->group) * d + 8) *
                       sizeof(double); /* + a cache line */
    const size_t shards = (size_t)shards_of(p);
    const vem_i_room list[] = {
        {&p->scratch, (size_t)p->run->threads, p->scratch_bytes, 0},
        {&p->row, (size_t)d, sizeof(double), 0},
        {&p->sums, shards, (size_t)d * sizeof(double), 0},
        {&p->extreme, shards, sizeof(double), 0},
        {&p->masses, shards, sizeof(double), 0},
        {&p->bad, shards, sizeof(int64_t), 0},
        {&p->place, shards, sizeof(int64_t), 0},
    };
    return vem_i_take_rooms(p->run, list, VEM_I_COUNT(list));
}

void vem_i_pass_free(vem_i_pass *p)
{
    vem_i_free(p->scratch);
    vem_i_free(p->row);
    vem_i_free(p->sums);
    vem_i_free(p->extreme);
    vem_i_free(p->masses);
    vem_i_free(p->bad);
    vem_i_free(p->place);
}
