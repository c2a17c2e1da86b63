/* Lightweight coresets (Bachem, Lucic and Krause 2018) and uniform samples.
 *
 * With weights w (sum W), mean m and d_n the distance of row n to it,
 *
 *     q_n = w_n / (2 W) + w_n d_n^2 / (2 sum_i w_i d_i^2)
 *     N' draws from q, independent, with replacement; a draw of row n weighs w_n / (N' q_n).
 *
 * The sum of the weights of the draws has the mean W, and the weighted cost of any fixed
 * centers the cost of all rows as its mean. With c_n = 1 + W d_n^2 / sum_i w_i d_i^2
 *
 *     q_n = w_n c_n / (2 W),     weight = 2 W / (N' c_n) <= 2 W / N',
 *
 * which never divides by w_n. Where all rows are equal, and for a uniform sample, c_n = 2:
 * q_n = w_n / W and every draw weighs W / N'. Each draw is a row of the coreset, so a row
 * drawn twice is there twice.
 *
 * Draws fall on ordered places u_(k) (places.c), so one sequential pass over the running sum
 * of q finds their rows: draw k falls on the first n whose q_0 + ... + q_n exceeds u_(k). The
 * sum is taken over stretches of rows and pieces of stretches in the order of the rows, so
 * that rows that no draw falls on are passed by the stretch; what rounding leaves over goes to
 * the last row of positive weight, of a piece and of the whole.
 *
 * The c of wide rows are kept until the draws are known. Beside narrow rows they would be half
 * of what goes through the memory, so only the sums of the stretches are kept, and the c of
 * the few stretches that a draw falls into are computed again, to the same bits. So it is too where
 * several processes pass the rows (comm/comm.h), each its own pieces: before it knows its draws it waits
 * for what the running sum is before them. */
#include "data/coreset.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "base/parallel.h"
#include "comm/comm.h"
#include "data/stretch.h"
#include "data/unit.h"

enum {
    STRETCH = 64, /* rows whose chances are added up before they join the sum */
    NARROW = 32,  /* bytes of a row; c has 8, and is kept beside wider ones */
    LINE = 8      /* doubles of a cache line */
};

/* ---- A wave of pieces ---- */

typedef struct wave {
    vem_i_run *run;
    vem_i_draw *draw;
    vem_i_chunk chunk;
    int looks;                     /* at the rows; 0: c is `rest` for all of them */
    int bytes;                     /* rows are bytes as stored, no column has a factor */
    int64_t first, end, per_piece; /* rows of the data */
    int64_t pieces;
    double *c;        /* of the rows of the wave; NULL: not kept */
    double *sums;     /* of q, per stretch */
    int64_t per_sums; /* stretches of a piece */
    double *totals;   /* per piece: sum of q */
    double *base;     /* per piece: sum of q before it */
    int64_t *draws;   /* pieces + 1: which fall into it */
    double *scratch;  /* per thread: c of a piece, converted rows of a block */
    size_t scratch_doubles;
} wave;

static double weight_of(const wave *w, int64_t row)
{
    const double *weights = w->chunk.data->weights;
    return weights ? weights[row] / w->draw->moments->unit : 1;
}

/* The chance of a row. */
static double chance(const wave *w, int64_t row, double c)
{
    const double weight = weight_of(w, row);
    return weight > 0 ? weight * c * (0.5 / w->draw->moments->mass) : 0;
}

/* Of rows begin .. end - 1; c begins with the first of them. */
static double add_chances(const wave *w, int64_t begin, int64_t end, const double *c)
{
    double sum[4] = {0};
    const int64_t n = end - begin;
    int64_t i = 0;
    if (w->chunk.data->weights) {
        for (; i + 4 <= n; i += 4)
            for (int k = 0; k < 4; k++)
                sum[k] += chance(w, begin + i + k, c[i + k]);
        for (; i < n; i++)
            sum[0] += chance(w, begin + i, c[i]);
        return (sum[0] + sum[1]) + (sum[2] + sum[3]);
    }
    for (; i + 4 <= n; i += 4)
        for (int k = 0; k < 4; k++)
            sum[k] += c[i + k];
    for (; i < n; i++)
        sum[0] += c[i];
    return ((sum[0] + sum[1]) + (sum[2] + sum[3])) * (0.5 / w->draw->moments->mass);
}

/* Of rows first, ...: as many as fit into the scratch, or any number of bytes as stored. */
static void look(const wave *w, int64_t first, int64_t count, double *scratch, double *c)
{
    const vem_i_draw *draw = w->draw;
    const vem_data *data = w->chunk.data;
    if (w->bytes) {
        w->run->ctx->kernels_single->byte_spread(vem_i_bytes_at(data, 0, first),
                                                 data->row_stride, count, data->d,
                                                 draw->moments->mean, c);
    } else {
        const vem_i_stretch s = vem_i_stretch_at(w->run, data, draw->moments->normalize,
                                                 first, count, scratch);
        s.kernels->spread(s.x, s.ld, count, data->d, draw->moments->mean, draw->factors,
                          c);
    }
    for (int64_t k = 0; k < count; k++)
        c[k] = draw->rest + draw->slope * c[k];
}

/* c of rows begin .. end - 1, of one piece: kept, or made for now. */
static const double *c_of(const wave *w, int64_t begin, int64_t end, int make, int thread)
{
    double *own = w->scratch + (size_t)thread * w->scratch_doubles;
    double *c = w->c ? w->c + (begin - w->first) : own;
    const int64_t rows = w->bytes ? end - begin : vem_i_block_rows(w->chunk.data->d);
    for (int64_t i = begin; !w->looks && i < end; i++)
        own[i - begin] = w->draw->rest;
    if (!w->looks)
        return own;
    for (int64_t i = begin; (make || !w->c) && i < end; i += rows)
        look(w, i, end - i < rows ? end - i : rows, own + w->per_piece, c + (i - begin));
    return c;
}

static void run_chances(void *arg, int64_t number, int thread)
{
    const wave *w = arg;
    const int64_t begin = w->first + number * w->per_piece;
    const int64_t end = begin + w->per_piece < w->end ? begin + w->per_piece : w->end;
    if (!w->looks && !w->chunk.data->weights) {
        w->totals[number] = (double)(end - begin) / w->draw->moments->mass;
        return;
    }
    const double *c = c_of(w, begin, end, 1, thread);
    double total = 0, *sums = w->sums + number * w->per_sums;
    for (int64_t i = begin; i < end; i += STRETCH) {
        const int64_t stop = end - i < STRETCH ? end : i + STRETCH;
        total += *sums++ = add_chances(w, i, stop, c + (i - begin));
    }
    w->totals[number] = total;
}

static void take(const wave *w, int64_t k, int64_t row, double c)
{
    const vem_i_draw *draw = w->draw;
    const vem_data *data = w->chunk.data;
    const vem_i_column_moments *s = draw->moments;
    const size_t bytes = (size_t)data->d * vem_i_dtype_bytes(data->type);
    draw->coreset->weights[k] = s->mass * s->unit / (double)draw->size * (2 / c);
    draw->coreset->indices[k] = w->chunk.at + (row - w->chunk.first);
    vem_i_data_copy_row(data, row, (char *)draw->coreset->owned + (size_t)k * bytes);
}

/* Draws k .. to - 1, which fall on rows begin .. end - 1, whose sum starts at `base`; the
 * last row of positive weight takes what rounding leaves. */
static void take_stretch(const wave *w, int64_t begin, int64_t end, double base,
                         int64_t k, int64_t to, int thread)
{
    const double *places = w->draw->places;
    const double *c = k < to ? c_of(w, begin, end, 0, thread) : NULL;
    int64_t fallen = end - 1;
    double sum = base;
    for (int64_t i = begin; i < end && k < to; i++) {
        if (!(weight_of(w, i) > 0))
            continue;
        sum += chance(w, i, c[i - begin]);
        for (; k < to && places[k] < sum; k++)
            take(w, k, i, c[i - begin]);
        fallen = i;
    }
    for (; k < to; k++)
        take(w, k, fallen, c[fallen - begin]);
}

static void run_draws(void *arg, int64_t number, int thread)
{
    const wave *w = arg;
    const vem_i_draw *draw = w->draw;
    const int64_t begin = w->first + number * w->per_piece, to = w->draws[number + 1];
    const int64_t end = begin + w->per_piece < w->end ? begin + w->per_piece : w->end;
    const double *sums = w->sums + number * w->per_sums;
    int64_t k = w->draws[number], left = end - 1;
    double base = w->base[number];
    if (!w->looks && !w->chunk.data->weights) { /* every row has the same chance */
        for (; k < to; k++) {
            const double off = (draw->places[k] - base) * draw->moments->mass;
            const int64_t row = begin + (int64_t)off;
            take(w, k, row < end ? row : end - 1, draw->rest);
        }
        return;
    }
    for (int64_t i = begin; i < end && k < to; i += STRETCH, sums++) {
        const int64_t stop = end - i < STRETCH ? end : i + STRETCH;
        int64_t here = k;
        while (here < to && draw->places[here] < base + *sums)
            here++;
        take_stretch(w, i, stop, base, k, here, thread);
        k = here;
        base += *sums;
    }
    while (left > begin && !(weight_of(w, left) > 0))
        left--;
    take_stretch(w, left, left + 1, INFINITY, k, to, thread); /* what rounding left */
}

static int is_number(const wave *w)
{
    double probe = 0;
    for (int64_t p = 0; p < w->pieces; p++)
        probe += w->totals[p] * 0;
    return probe == 0;
}

static vem_status refuse_overflow(vem_i_run *run)
{
    return vem_i_fail(run, VEM_BAD_DATA,
                      "Squares of distances to the mean overflow: rescale the data.");
}

/* Which draws fall into which piece of the wave. */
static void allot(wave *w)
{
    vem_i_draw *draw = w->draw;
    const int64_t last = draw->moments->last - w->chunk.at + w->chunk.first;
    for (int64_t p = 0; p < w->pieces; p++) {
        const int64_t begin = w->first + p * w->per_piece;
        w->base[p] = draw->sum;
        w->draws[p] = draw->next;
        draw->sum += w->totals[p];
        if (last >= begin && last < begin + w->per_piece)
            draw->next = draw->size;
        else if (w->totals[p] > 0)
            draw->next =
                vem_i_places_below(draw->places, draw->next, draw->size, draw->sum);
    }
    w->draws[w->pieces] = draw->next;
}

vem_status vem_i_coreset_stopped(vem_i_run *run)
{
    return vem_i_fail_stopped(run, "while the coreset was drawn");
}

static vem_status run_waves(vem_i_run *run, wave *w)
{
    vem_i_draw *draw = w->draw;
    const vem_i_chunk *chunk = &w->chunk;
    const int64_t rows = vem_i_wave_rows(chunk->data->d);
    vem_progress told = {.phase = "reduce",
                         .done = draw->moments->total - draw->moments->rows + draw->done,
                         .total = draw->moments->total,
                         .free_energy = NAN};
    for (int64_t done = 0; done < chunk->count; done += rows) {
        const int64_t count = chunk->count - done < rows ? chunk->count - done : rows;
        w->pieces = vem_i_shards(count, w->per_piece);
        w->first = chunk->first + done;
        w->end = w->first + count;
        if (vem_i_parallel_watched(run, w->pieces, (double)w->per_piece * chunk->data->d,
                                   run_chances, w, &told, VEM_I_SKIP))
            return vem_i_coreset_stopped(run);
        if (!is_number(w))
            return refuse_overflow(run);
        allot(w);
        if (vem_i_parallel_watched(run, w->pieces, (double)w->per_piece * 2, run_draws, w,
                                   &told, VEM_I_SKIP))
            return vem_i_coreset_stopped(run);
        draw->done += count;
        told.done += count;
        if (vem_i_progress(run, &told, 0))
            return vem_i_coreset_stopped(run);
    }
    return VEM_OK;
}

/* What a process takes over from those before it. */
typedef struct turn {
    double sum;
    int64_t next, overflow;
} turn;

static void allot_own(void *arg, void *state)
{
    wave *w = arg;
    vem_i_draw *draw = w->draw;
    turn *t = state;
    draw->sum = t->sum;
    draw->next = t->next;
    if (!is_number(w))
        t->overflow = 1;
    else
        allot(w);
    t->sum = draw->sum;
    t->next = draw->next;
}

/* Each process has some of the draws; here they become those of all. */
static vem_status share_draws(vem_i_run *run, const vem_i_draw *draw)
{
    vem_i_comm *comm = run->comm;
    const vem_data *made = draw->coreset;
    const size_t size = (size_t)draw->size;
    comm->combine(comm, VEM_I_OR_BYTES, made->owned, size * (size_t)made->row_stride);
    comm->combine(comm, VEM_I_OR_BYTES, made->weights, size * sizeof *made->weights);
    comm->combine(comm, VEM_I_OR_BYTES, made->indices, size * sizeof *made->indices);
    const vem_status status = vem_i_comm_agree(run);
    return status == VEM_OK && run->watch->stop ? vem_i_coreset_stopped(run) : status;
}

/* Of several processes: all pieces of this one are a wave. The running sum goes from one to the next,
 * piece by piece as one process adds it up. */
static vem_status run_together(vem_i_run *run, wave *w)
{
    vem_i_draw *draw = w->draw;
    const vem_data *made = draw->coreset;
    const size_t size = (size_t)draw->size;
    const vem_progress told = {.phase = "reduce", .free_energy = NAN};
    turn t = {0};
    w->first = w->chunk.first;
    w->end = w->chunk.first + w->chunk.count;
    w->pieces = vem_i_shards(w->chunk.count, w->per_piece);
    vem_i_parallel_watched(run, w->pieces, (double)w->per_piece * w->chunk.data->d,
                           run_chances, w, &told, 0);
    vem_i_comm_turn(run->comm, &t, sizeof t, allot_own, w);
    if (t.overflow)
        return refuse_overflow(run);
    memset(made->owned, 0, size * (size_t)made->row_stride);
    memset(made->weights, 0, size * sizeof *made->weights);
    memset(made->indices, 0, size * sizeof *made->indices);
    vem_i_parallel_watched(run, w->pieces, (double)w->per_piece * 2, run_draws, w, &told,
                           0);
    return share_draws(run, draw);
}

vem_status vem_i_draw_add(vem_i_run *run, vem_i_draw *draw, vem_i_chunk chunk)
{
    const int32_t d = chunk.data->d;
    wave w = {.run = run, .draw = draw, .chunk = chunk, .per_piece = vem_i_piece_rows(d)};
    const int64_t most = run->comm ? chunk.count : vem_i_wave_rows(d);
    const size_t rows = (size_t)(chunk.count < most ? chunk.count : most);
    const size_t pieces = (size_t)vem_i_shards((int64_t)rows, w.per_piece);
    w.looks = draw->slope > 0;
    w.bytes = w.looks && !draw->factors &&
              vem_i_bytes_at(chunk.data, draw->moments->normalize, 0);
    const int keeps =
        !run->comm && (size_t)d * vem_i_dtype_bytes(chunk.data->type) > NARROW;
    const size_t values = (size_t)vem_i_block_rows(d) * (size_t)d;
    w.scratch_doubles = (size_t)w.per_piece + (values + LINE - 1) / LINE * LINE;
    w.per_sums = vem_i_shards(w.per_piece, STRETCH);
    const vem_i_room list[] = {
        {&w.totals, pieces, sizeof(double), 0},
        {&w.base, pieces, sizeof(double), 0},
        {&w.draws, pieces + 1, sizeof(int64_t), 0},
        {&w.sums, pieces * (size_t)w.per_sums, sizeof(double), 0},
        {&w.c, w.looks && keeps ? rows : 0, sizeof(double), 0},
        {&w.scratch, (size_t)run->threads, w.scratch_doubles * sizeof(double), 0},
    };
    vem_status status = vem_i_take_rooms(run, list, VEM_I_COUNT(list));
    if (status == VEM_OK && !run->counted)
        status = run->comm ? run_together(run, &w) : run_waves(run, &w);
    vem_i_free_rooms(list, VEM_I_COUNT(list));
    return status;
}
