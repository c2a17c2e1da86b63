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
#include "comm/comm.h"
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

vem_i_chunk vem_i_coreset_own(const vem_i_run *run, const vem_data *data)
{
    const vem_i_comm *comm = run->comm;
    const int64_t per = vem_i_piece_rows(data->d), pieces = vem_i_shards(data->n, per);
    if (!comm)
        return (vem_i_chunk){.data = data, .count = data->n};
    const int64_t first = vem_i_spaced(pieces, comm->size, comm->rank) * per;
    const int64_t end = vem_i_spaced(pieces, comm->size, comm->rank + 1) * per;
    const int64_t last = end < data->n ? end : data->n;
    return (vem_i_chunk){data, first, last - first, first};
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

static int is_finite(const vem_i_column_moments *s)
{
    double probe = 0, sum = 0;
    for (int32_t j = 0; j < s->d; j++) {
        probe += s->mean[j] * 0;
        sum += s->squares[j];
    }
    return probe == 0 && isfinite(sum);
}

/* Pieces of rows in a row, from data row `first` on. */
static void join_all(vem_i_column_moments *s, const wave *w, vem_i_chunk chunk,
                     int64_t pieces)
{
    for (int64_t p = 0; p < pieces; p++) {
        join(s, &w->pieces[p]);
        if (w->pieces[p].last >= 0)
            s->last = chunk.at + (w->pieces[p].last - chunk.first);
    }
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
        join_all(moments, w, chunk, pieces);
        moments->rows += count;
        if (!is_finite(moments)) {
            const vem_i_chunk part = {chunk.data, w->first, count, chunk.at + done};
            return vem_i_refuse_moments(run, part, moments->normalize);
        }
        told.done = moments->rows;
        if (vem_i_progress(run, &told, 0))
            return vem_i_coreset_stopped(run);
    }
    return VEM_OK;
}

/* Of several processes: what comes before this one's rows. */
typedef struct turn {
    vem_i_column_moments *moments;
    const wave *wave;
    vem_i_chunk chunk;
    int64_t pieces;
} turn;

enum {
    TOLD = 3
}; /* numbers of a turn beside those of the columns; rows are below 2^53 */

static void join_own(void *arg, void *state)
{
    turn *t = arg;
    vem_i_column_moments *s = t->moments;
    double *told = state;
    const size_t d = (size_t)s->d * sizeof(double);
    s->mass = told[0];
    s->rows = (int64_t)told[1];
    s->last = (int64_t)told[2];
    memcpy(s->mean, told + TOLD, d);
    memcpy(s->squares, told + TOLD + s->d, d);
    join_all(s, t->wave, t->chunk, t->pieces);
    s->rows += t->chunk.count;
    told[0] = s->mass;
    told[1] = (double)s->rows;
    told[2] = (double)s->last;
    memcpy(told + TOLD, s->mean, d);
    memcpy(told + TOLD + s->d, s->squares, d);
}

/* All pieces of this process at once; then they join in turn, in their order. */
static vem_status run_together(vem_i_run *run, vem_i_column_moments *moments,
                               vem_i_chunk chunk, wave *w)
{
    const size_t numbers = TOLD + 2 * (size_t)moments->d;
    turn t = {moments, w, chunk, vem_i_shards(chunk.count, w->per_piece)};
    const vem_progress told = {.phase = "reduce", .free_energy = NAN};
    double *state = NULL;
    vem_status status = vem_i_take_zeroed(run, &state, numbers, sizeof *state);
    if (status != VEM_OK)
        return status;
    state[2] = -1;
    w->first = chunk.first;
    w->end = chunk.first + chunk.count;
    vem_i_parallel_watched(run, t.pieces, (double)w->per_piece * moments->d, run_piece, w,
                           &told, 0);
    vem_i_comm_turn(run->comm, state, numbers * sizeof *state, join_own, &t);
    moments->mass = state[0];
    moments->rows = (int64_t)state[1];
    moments->last = (int64_t)state[2];
    memcpy(moments->mean, state + TOLD, (size_t)moments->d * sizeof *state);
    memcpy(moments->squares, state + TOLD + moments->d,
           (size_t)moments->d * sizeof *state);
    vem_i_free(state);
    if (!is_finite(moments))
        return vem_i_refuse_moments(run, chunk, moments->normalize);
    status = vem_i_comm_agree(run);
    return status == VEM_OK && run->watch->stop ? vem_i_coreset_stopped(run) : status;
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
    const int64_t rows = run->comm ? chunk.count : vem_i_wave_rows(moments->d);
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
        status = run->comm ? run_together(run, moments, chunk, &w)
                           : run_waves(run, moments, chunk, &w);
    vem_i_free_rooms(list, VEM_I_COUNT(list));
    return status;
}
