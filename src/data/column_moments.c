/* Pass 1 of a coreset: mass, mean and sum of squares of the columns.
 *
 * Rows are cut into pieces by their number alone. In a piece, with e = x - s about one of
 * its own rows s,
 *
 *     W = sum w,   S_j = sum w e_j,   Q_j = sum w e_j^2,
 *     mean_j = s_j + S_j / W,   M_j = Q_j - S_j^2 / W.
 *
 * s is a heaviest row of the piece (the first one, without weights). That bounds the loss in
 * M: s itself lies w_s (s_j - mean_j)^2 into M_j and w_s >= W / n, so Q_j <= (n + 1) M_j: at
 * most n + 1 times the rounding of Q is lost, whatever the data, an outlier as s included.
 * Pieces join in their order by the parallel-axis rule, which subtracts nothing:
 *
 *     M = M_a + M_b + (mean_b - mean_a)^2 W_a W_b / (W_a + W_b).
 *
 * Rows of bytes without weights need no s: their sums are whole numbers, S and Q are exact
 * and so is n Q - S^2, which is n M.
 *
 * Narrow rows are taken several at a time as if they were one wide row, so that vectors are
 * full; their sums are folded when the piece ends. */
#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "base/parallel.h"
#include "data/coreset.h"
#include "data/missing.h"
#include "data/pass.h"
#include "data/stretch.h"
#include "data/unit.h"

enum {
    PIECE_VALUES = 1 << 17,
    PIECE_ROWS = 64,           /* at least: joining pieces is serial */
    PIECE_ROWS_MOST = 1 << 13, /* 32 bits hold the sums of bytes, a cache the chances */
    WAVE_PIECES = 256,
    WAVE_PIECES_LEAST = 16,
    WAVE_VALUES = 1 << 24, /* rows that are drawn may still be in a cache */
    WAVE_SUMS =
        1 << 21, /* and as few pieces as their sums ask for, to bound the memory */
    LINE = 8     /* doubles of a cache line */
};

int64_t vem_i_piece_rows(int32_t d)
{
    const int64_t rows = PIECE_VALUES / d;
    if (rows < PIECE_ROWS)
        return PIECE_ROWS;
    return rows > PIECE_ROWS_MOST ? PIECE_ROWS_MOST : rows / 4 * 4; /* as kernels do */
}

int64_t vem_i_wave_rows(int32_t d)
{
    const int64_t rows = vem_i_piece_rows(d), fit = WAVE_VALUES / (rows * d);
    int64_t pieces = fit < WAVE_PIECES ? fit : WAVE_PIECES;
    pieces = WAVE_SUMS / d < pieces ? WAVE_SUMS / d : pieces;
    return rows * (pieces < WAVE_PIECES_LEAST ? WAVE_PIECES_LEAST : pieces);
}

vem_status vem_i_refuse_bad(vem_i_run *run, vem_i_chunk chunk, int normalize)
{
    double *row = NULL;
    vem_status status = vem_i_take(run, &row, (size_t)chunk.data->d, sizeof *row);
    for (int64_t i = 0; status == VEM_OK && i < chunk.count; i++) {
        const int64_t number =
            chunk.data->indices ? chunk.data->indices[chunk.first + i] : chunk.at + i;
        vem_i_data_load(chunk.data, chunk.first + i, 1, VEM_DOUBLE, row, chunk.data->d);
        if (normalize == VEM_I_DIRECTIONS && vem_i_row_is_zero(row, chunk.data->d))
            status = vem_i_refuse_zeros(run, number);
        for (int32_t j = 0; status == VEM_OK && j < chunk.data->d; j++)
            if (!isfinite(row[j])) {
                char place[160];
                vem_i_data_place(chunk.data, number, j, place, sizeof place);
                status = vem_i_data_refuse(run, chunk.data, 0, place, row[j]);
            }
    }
    vem_i_free(row);
    return status;
}

/* A power of two near the mean weight. */
static double unit_of(const double *weights, int64_t n)
{
    int exponent = 0;
    if (weights)
        frexp(vem_i_sum(weights, n) / (double)n, &exponent);
    return ldexp(1, exponent);
}

vem_i_column_moments vem_i_column_moments_weights(int32_t d, const double *weights,
                                                  int64_t n)
{
    vem_i_column_moments s = {.d = d, .unit = unit_of(weights, n), .mass = (double)n};
    s.rows = n;
    s.last = n - 1;
    if (weights) {
        s.mass = vem_i_sum(weights, n) / s.unit;
        while (s.last > 0 && !(weights[s.last] > 0))
            s.last--;
    }
    return s;
}

vem_status vem_i_column_moments_new(vem_i_run *run, int32_t d, int normalize,
                                    const double *weights, int64_t n,
                                    vem_i_column_moments *moments)
{
    *moments = (vem_i_column_moments){.d = d,
                                      .normalize = normalize,
                                      .unit = unit_of(weights, n),
                                      .last = -1};
    vem_status status = vem_i_take_zeroed(run, &moments->mean, (size_t)d, sizeof(double));
    if (status == VEM_OK)
        status = vem_i_take_zeroed(run, &moments->squares, (size_t)d, sizeof(double));
    if (status != VEM_OK)
        vem_i_column_moments_free(moments);
    return status;
}

void vem_i_column_moments_free(vem_i_column_moments *moments)
{
    vem_i_free(moments->mean);
    vem_i_free(moments->squares);
    moments->mean = moments->squares = NULL;
}

/* ---- A piece ---- */

/* Sums of one piece: mass, then mean and squares. */
typedef struct piece {
    double mass;
    int64_t last; /* row of the data; -1: none of positive weight */
    double *mean, *squares;
} piece;

typedef struct wave {
    vem_i_run *run;
    const vem_data *data;
    int normalize;
    double unit;
    int64_t first, end, per_piece; /* rows of the data */
    int64_t per_block;             /* rows that go to a kernel at once */
    int32_t group;                 /* rows of a wide row; 1 with weights, which differ */
    piece *pieces;
    char *scratch; /* per thread */
    size_t scratch_bytes;
} wave;

/* Scratch of a thread: shift, sum and squares of a wide row, weights and converted rows of
 * a block; each from a cache line on. */
typedef struct desk {
    double *shift, *sum, *squares, *weights, *rows;
} desk;

static size_t lines(int64_t doubles)
{
    return (size_t)((doubles + LINE - 1) / LINE * LINE);
}

static size_t scratch_doubles(int32_t d, int32_t group)
{
    const int64_t rows = vem_i_block_rows(d);
    return 3 * lines((int64_t)group * d) + lines(rows) + lines(rows * d);
}

static desk desk_of(const wave *w, int thread)
{
    const int32_t d = w->data->d;
    double *shift = (double *)(void *)(w->scratch + (size_t)thread * w->scratch_bytes);
    double *sum = shift + lines((int64_t)w->group * d);
    double *squares = sum + lines((int64_t)w->group * d);
    double *weights = squares + lines((int64_t)w->group * d);
    return (desk){shift, sum, squares, weights, weights + lines(vem_i_block_rows(d))};
}

static int64_t heaviest(const double *weights, int64_t first, int64_t end)
{
    int64_t best = first;
    for (int64_t i = first; weights && i < end; i++)
        if (weights[i] > weights[best])
            best = i;
    return best;
}

static void add_block(const wave *w, int64_t first, int64_t count, const desk *on)
{
    const int32_t d = w->data->d;
    const vem_i_stretch s =
        vem_i_stretch_at(w->run, w->data, w->normalize, first, count, on->rows);
    const size_t element = s.kernels->element;
    const double *weights = w->data->weights ? on->weights : NULL;
    int64_t done = 0;
    for (int64_t i = 0; weights && i < count; i++)
        on->weights[i] = w->data->weights[first + i] / w->unit;
    if (s.ld == d && w->group > 1) {
        const int64_t wide = count / w->group;
        s.kernels->moments(s.x, (int64_t)d * w->group, wide, d * w->group, NULL,
                           on->shift, on->sum, on->squares);
        done = wide * w->group;
    }
    if (done < count)
        s.kernels->moments((const char *)s.x + (size_t)(done * s.ld) * element, s.ld,
                           count - done, d, weights, on->shift, on->sum, on->squares);
}

/* The mass and the last row of positive weight of rows begin .. end - 1. */
static void weigh(const wave *w, int64_t begin, int64_t end, piece *p)
{
    const double *all = w->data->weights;
    p->mass = all ? 0 : (double)(end - begin);
    p->last = all ? -1 : end - 1;
    for (int64_t i = begin; all && i < end; i++) {
        p->mass += all[i] / w->unit;
        p->last = all[i] > 0 ? i : p->last;
    }
}

static void add_values(const wave *w, int64_t begin, int64_t end, const desk *on,
                       piece *p)
{
    const int32_t d = w->data->d;
    const int64_t wide = (int64_t)d * w->group;
    double *shift = on->shift, *sum = on->sum, *squares = on->squares;
    vem_i_data_load(w->data, heaviest(w->data->weights, begin, end), 1, VEM_DOUBLE, shift,
                    d);
    vem_i_row_to_length(w->normalize, shift, d);
    for (int64_t j = d; j < wide; j++)
        shift[j] = shift[j - d];
    memset(sum, 0, (size_t)wide * sizeof *sum);
    memset(squares, 0, (size_t)wide * sizeof *squares);
    for (int64_t i = begin; i < end; i += w->per_block)
        add_block(w, i, end - i < w->per_block ? end - i : w->per_block, on);
    for (int64_t k = d; k < wide; k += d)
        for (int32_t j = 0; j < d; j++) {
            sum[j] += sum[k + j];
            squares[j] += squares[k + j];
        }
    const double mass = p->mass > 0 ? p->mass : 1;
    for (int32_t j = 0; j < d; j++) {
        p->mean[j] = shift[j] + sum[j] / mass;
        const double about = squares[j] - sum[j] / mass * sum[j];
        p->squares[j] = about > 0 || isnan(about) ? about : 0;
    }
}

/* Rows of bytes without weights. */
static void add_bytes(const wave *w, int64_t begin, int64_t end, const desk *on, piece *p)
{
    const int32_t d = w->data->d;
    const int64_t wide = (int64_t)d * w->group, ld = w->data->row_stride, n = end - begin;
    const vem_i_kernels *kernels = w->run->ctx->kernels_single;
    const uint8_t *rows = vem_i_bytes_at(w->data, 0, begin);
    uint32_t *sum = (uint32_t *)(void *)on->sum, *squares = (void *)on->squares;
    memset(sum, 0, (size_t)wide * sizeof *sum);
    memset(squares, 0, (size_t)wide * sizeof *squares);
    const int64_t joined = ld == d ? n / w->group : 0, done = joined * w->group;
    if (joined > 0)
        kernels->byte_moments(rows, wide, joined, (int32_t)wide, sum, squares);
    kernels->byte_moments(rows + done * ld, ld, n - done, d, sum, squares);
    for (int64_t k = d; k < wide; k += d)
        for (int32_t j = 0; j < d; j++) {
            sum[j] += sum[k + j];
            squares[j] += squares[k + j];
        }
    for (int32_t j = 0; j < d; j++) {
        const uint64_t about =
            (uint64_t)n * squares[j] - (uint64_t)sum[j] * (uint64_t)sum[j];
        p->mean[j] = (double)sum[j] / (double)n;
        p->squares[j] = (double)about / (double)n;
    }
}

static void run_piece(void *arg, int64_t number, int thread)
{
    const wave *w = arg;
    piece *p = &w->pieces[number];
    const int64_t begin = w->first + number * w->per_piece;
    const int64_t end = begin + w->per_piece < w->end ? begin + w->per_piece : w->end;
    const desk on = desk_of(w, thread);
    weigh(w, begin, end, p);
    if (!w->data->weights && vem_i_bytes_at(w->data, w->normalize, begin))
        add_bytes(w, begin, end, &on, p);
    else
        add_values(w, begin, end, &on, p);
}

/* ---- The whole ---- */

static void join(vem_i_column_moments *s, const piece *p)
{
    if (!(p->mass > 0)) { /* nothing, but a bad value must not be overlooked */
        for (int32_t j = 0; j < s->d; j++)
            s->squares[j] += p->squares[j] * 0 + p->mean[j] * 0;
        return;
    }
    const double mass = s->mass + p->mass, share = p->mass / mass;
    for (int32_t j = 0; j < s->d; j++) {
        const double off = p->mean[j] - s->mean[j];
        s->squares[j] += p->squares[j] + (s->mass > 0 ? off * off * s->mass * share : 0);
        s->mean[j] = s->mass > 0 ? s->mean[j] + off * share : p->mean[j];
    }
    s->mass = mass;
}

/* The row and column that lie farthest from 0, for the message that squares overflow. */
static vem_status refuse_large(vem_i_run *run, vem_i_chunk chunk)
{
    double *row, largest = -1;
    int64_t at = 0;
    int32_t column = 0;
    char place[160];
    vem_status status = vem_i_take(run, &row, (size_t)chunk.data->d, sizeof *row);
    if (status != VEM_OK)
        return status;
    for (int64_t i = 0; i < chunk.count; i++) {
        vem_i_data_load(chunk.data, chunk.first + i, 1, VEM_DOUBLE, row, chunk.data->d);
        for (int32_t j = 0; j < chunk.data->d; j++)
            if (fabs(row[j]) > largest) {
                largest = fabs(row[j]);
                at = i;
                column = j;
            }
    }
    vem_i_free(row);
    vem_i_data_place(chunk.data, chunk.at + at, column, place, sizeof place);
    return vem_i_fail(run, VEM_BAD_DATA,
                      "%s lies %.3g from 0; squares of distances to the mean overflow: "
                      "rescale the data.",
                      place, largest);
}

static int is_finite(const vem_i_column_moments *s)
{
    double probe = 0, sum = 0;
    for (int32_t j = 0; j < s->d; j++) {
        probe += s->mean[j] * 0;
        sum += s->squares[j];
    }
    return probe == 0 && isfinite(sum);
}

static vem_status run_waves(vem_i_run *run, vem_i_column_moments *moments,
                            vem_i_chunk chunk, wave *w)
{
    const int64_t rows = vem_i_wave_rows(moments->d);
    vem_progress told = {.phase = "reduce",
                         .done = moments->rows,
                         .total = moments->total,
                         .free_energy = NAN};
    for (int64_t done = 0; done < chunk.count; done += rows) {
        const int64_t count = chunk.count - done < rows ? chunk.count - done : rows;
        const int64_t pieces = vem_i_shards(count, w->per_piece);
        w->first = chunk.first + done;
        w->end = w->first + count;
        if (vem_i_parallel_watched(run, pieces, (double)w->per_piece * moments->d,
                                   run_piece, w, &told, VEM_I_SKIP))
            return vem_i_coreset_stopped(run);
        for (int64_t p = 0; p < pieces; p++) {
            join(moments, &w->pieces[p]);
            if (w->pieces[p].last >= 0)
                moments->last = chunk.at + (w->pieces[p].last - chunk.first);
        }
        moments->rows += count;
        if (!is_finite(moments)) {
            const vem_i_chunk part = {chunk.data, w->first, count, chunk.at + done};
            vem_status status = vem_i_refuse_bad(run, part, moments->normalize);
            return status == VEM_OK ? refuse_large(run, part) : status;
        }
        told.done = moments->rows;
        if (vem_i_progress(run, &told, 0))
            return vem_i_coreset_stopped(run);
    }
    return VEM_OK;
}

vem_status vem_i_column_moments_add(vem_i_run *run, vem_i_column_moments *moments,
                                    vem_i_chunk chunk)
{
    const size_t d = (size_t)moments->d;
    wave w = {.run = run,
              .data = chunk.data,
              .normalize = moments->normalize,
              .unit = moments->unit,
              .per_piece = vem_i_piece_rows(moments->d),
              .group = chunk.data->weights ? 1 : vem_i_group_rows(moments->d)};
    const int64_t block = vem_i_block_rows(moments->d), whole = 4 * w.group;
    double *sums = NULL;
    w.per_block = block < whole ? block : block / whole * whole;
    if (!w.normalize && !chunk.data->weights && vem_i_lies_well(chunk.data))
        w.per_block = w.per_piece;
    w.scratch_bytes = scratch_doubles(moments->d, w.group) * sizeof(double);
    const int64_t rows = vem_i_wave_rows(moments->d);
    const size_t pieces =
        (size_t)vem_i_shards(chunk.count < rows ? chunk.count : rows, w.per_piece);
    const vem_i_room list[] = {
        {&w.pieces, pieces, sizeof *w.pieces, 0},
        {&sums, pieces * 2, d * sizeof *sums, 0},
        {&w.scratch, (size_t)run->threads, w.scratch_bytes, 0},
    };
    vem_status status = vem_i_take_rooms(run, list, VEM_I_COUNT(list));
    for (size_t p = 0; status == VEM_OK && !run->counted && p < pieces; p++) {
        w.pieces[p].mean = sums + 2 * p * d;
        w.pieces[p].squares = sums + (2 * p + 1) * d;
    }
    if (status == VEM_OK && !run->counted)
        status = run_waves(run, moments, chunk, &w);
    vem_i_free_rooms(list, VEM_I_COUNT(list));
    return status;
}
