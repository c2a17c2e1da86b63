/* Streams: merge-and-reduce of lightweight coresets (docs/math/streaming.md).
 *
 * Rows fill an open bucket of m. A full one goes to level 0, as it is; where level l has a
 * bucket already, the two are merged to 2m weighted rows, reduced to a lightweight coreset
 * of m, and that goes to level l + 1, as in counting with binary digits. So n rows need at
 * most m (log2(n/m) + 2) rows of memory, and 2m more while two buckets are merged. At any
 * time the union of the open bucket and the levels is a weighted coreset of all rows.
 *
 * Error. Write phi for the cost of any centers Q and phi(mean) for that of the mean alone; a
 * lightweight coreset has |phi_C - phi| <= eps/2 (phi + phi(mean)). The union of coresets of
 * disjoint sets is one of their union with the same eps, since phi(mean) of the parts adds up
 * to no more than that of the whole. Reducing once more gives 1 + 3/2 eps'' =
 * (1 + 3/2 eps)(1 + 3/2 eps'), so for all Q at once, in the worst case, the error after L
 * levels is about L eps. For fixed Q it is far smaller: every reduction is unbiased given
 * those before, so variances add up, and a reduction at level l, of n 2^(l-L) rows, adds its
 * variance with weight 2^(l-L): in all no more than 1 + 1/2 + 1/4 + ... < 2 times that of
 * one coreset of m rows of everything.
 *
 * The draws of a reduction depend on the seed and on its number, so the coreset is a function
 * of the rows, their order and the seed; how they were cut into batches does not matter. */
#include "data/stream.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "base/parallel.h"
#include "base/rng.h"
#include "data/coreset.h"
#include "data/points.h"
#include "data/unit.h"

typedef vem_i_stream_bucket bucket;

/* ---- buckets ---- */

static size_t row_bytes(const vem_stream *s)
{
    return (size_t)s->d * vem_i_dtype_bytes(s->type);
}

static void empty_bucket(bucket *b)
{
    vem_i_free(b->x);
    vem_i_free(b->weights);
    vem_i_free(b->indices);
    *b = (bucket){0};
}

static vem_status take_bucket(vem_i_run *run, const vem_stream *s, int64_t rows,
                              bucket *b)
{
    bucket made = {0};
    vem_status status = vem_i_take(run, &made.x, (size_t)rows, row_bytes(s));
    if (status == VEM_OK)
        status = vem_i_take(run, &made.weights, (size_t)rows, sizeof(double));
    if (status == VEM_OK)
        status = vem_i_take(run, &made.indices, (size_t)rows, sizeof(int64_t));
    if (status == VEM_OK)
        *b = made;
    else
        empty_bucket(&made);
    return status;
}

static void append(const vem_stream *s, bucket *to, const bucket *from)
{
    const size_t n = (size_t)from->n, at = (size_t)to->n;
    if (!from->x || n == 0)
        return;
    memcpy((char *)to->x + at * row_bytes(s), from->x, n * row_bytes(s));
    memcpy(to->weights + at, from->weights, n * sizeof(double));
    memcpy(to->indices + at, from->indices, n * sizeof(int64_t));
    to->n += from->n;
}

/* A bucket's arrays as data that own them. */
static vem_status give_bucket(vem_i_run *run, const vem_stream *s, bucket *b,
                              vem_data **data)
{
    vem_data *made;
    vem_status status = vem_i_data_new(run, &made);
    if (status != VEM_OK)
        return status;
    made->type = s->type;
    made->n = b->n;
    made->d = s->d;
    made->base = made->owned = b->x;
    made->row_stride = (int64_t)row_bytes(s);
    made->column_stride = (int64_t)vem_i_dtype_bytes(s->type);
    made->weights = b->weights;
    made->indices = b->indices;
    made->format = "coreset";
    *b = (bucket){0};
    *data = made;
    return VEM_OK;
}

/* ---- reduce ---- */

/* A coreset of m of the rows of `data`, as a bucket. */
static vem_status reduce(vem_i_run *run, const vem_stream *s, const vem_data *data,
                         bucket *out)
{
    vem_i_rng rng = vem_i_rng_at(s->seed, VEM_RNG_CORESET, 1, (uint64_t)s->reductions);
    const uint64_t high = vem_i_rng_bits(&rng), low = vem_i_rng_bits(&rng);
    const vem_i_coreset_request request = {.size = s->m,
                                           .method = VEM_CORESET_LIGHTWEIGHT,
                                           .seed = high << 32 | low};
    vem_data *drawn;
    vem_status status = vem_i_coreset(run, data, &request, NULL, &drawn);
    if (status != VEM_OK)
        return status;
    for (int64_t k = 0; k < drawn->n; k++)
        drawn->indices[k] = data->indices[drawn->indices[k]];
    *out = (bucket){.x = drawn->owned,
                    .weights = drawn->weights,
                    .indices = drawn->indices,
                    .n = drawn->n};
    drawn->owned = NULL;
    drawn->weights = NULL;
    drawn->indices = NULL;
    vem_data_free(drawn);
    return VEM_OK;
}

static vem_status merge(vem_i_run *run, const vem_stream *s, const bucket *a,
                        const bucket *b, bucket *out)
{
    bucket both;
    vem_data *data = NULL;
    vem_status status = take_bucket(run, s, a->n + b->n, &both);
    if (status != VEM_OK)
        return status;
    append(s, &both, a);
    append(s, &both, b);
    status = give_bucket(run, s, &both, &data);
    if (status == VEM_OK)
        status = reduce(run, s, data, out);
    vem_data_free(data);
    empty_bucket(&both);
    return status;
}

/* The pending bucket finds its level. What fails leaves it pending, and nothing is lost. */
static vem_status carry(vem_i_run *run, vem_stream *s)
{
    while (s->pending.x) {
        bucket *level = &s->levels[s->place], reduced;
        if (!level->x) {
            *level = s->pending;
            s->pending = (bucket){0};
            return VEM_OK;
        }
        vem_status status = merge(run, s, level, &s->pending, &reduced);
        if (status != VEM_OK)
            return status;
        empty_bucket(level);
        empty_bucket(&s->pending);
        s->pending = reduced;
        s->place++;
        s->reductions++;
    }
    return VEM_OK;
}

/* ---- rows come in ---- */

static vem_status check_batch(vem_i_run *run, const vem_stream *s, const vem_data *batch)
{
    if (s->d && s->d != batch->d)
        return vem_i_fail(run, VEM_BAD_DATA,
                          "The batch has %d columns, but the stream has %d.", batch->d,
                          s->d);
    if (s->d && s->type == VEM_FLOAT32 && !vem_i_dtype_is_single(batch->type))
        return vem_i_fail(run, VEM_BAD_DATA,
                          "The stream began with single precision; values of this batch "
                          "are of another type and would lose digits.");
    if (batch->n > INT64_MAX / 2 - s->rows)
        return vem_i_fail(run, VEM_BAD_DATA,
                          "The stream cannot count more rows than it has.");
    const double mass = batch->weights ? vem_i_sum(batch->weights, batch->n) : 0;
    if (!isfinite(s->mass + mass))
        return vem_i_fail(
            run, VEM_BAD_DATA,
            "The weights of the stream add up to more than a number holds.");
    return vem_i_refuse_bad(run, (vem_i_chunk){.data = batch, .count = batch->n},
                            s->normalize);
}

/* The exact sum of the weights, as far as two doubles go. */
static void add_mass(vem_stream *s, double weight)
{
    const double sum = s->mass + weight;
    s->mass_rest +=
        fabs(s->mass) >= fabs(weight) ? s->mass - sum + weight : weight - sum + s->mass;
    s->mass = sum;
}

static void take_row(vem_stream *s, const vem_data *batch, int64_t row, double *scratch)
{
    const double weight = batch->weights ? batch->weights[row] : 1;
    const int64_t index = s->rows++;
    bucket *open = &s->open;
    if (!(weight > 0))
        return;
    add_mass(s, weight);
    char *out = (char *)open->x + (size_t)open->n * row_bytes(s);
    if (s->normalize) {
        vem_i_data_load(batch, row, 1, VEM_DOUBLE, scratch, s->d);
        vem_i_normalize_row(scratch, s->d);
        for (int32_t j = 0; j < s->d; j++) {
            if (s->type == VEM_FLOAT32)
                ((float *)(void *)out)[j] = (float)scratch[j];
            else
                ((double *)(void *)out)[j] = scratch[j];
        }
    } else {
        vem_i_data_load(batch, row, 1, s->type == VEM_FLOAT32 ? VEM_SINGLE : VEM_DOUBLE,
                        out, s->d);
    }
    open->weights[open->n] = weight;
    open->indices[open->n++] = index;
}

vem_status vem_i_stream_add(vem_i_run *run, vem_stream *stream, const vem_data *batch)
{
    double *scratch;
    vem_status status = check_batch(run, stream, batch);
    if (status == VEM_OK)
        status = vem_i_take(run, &scratch, (size_t)batch->d, sizeof *scratch);
    if (status != VEM_OK)
        return status;
    if (!stream->d) {
        stream->d = batch->d;
        stream->type = vem_i_dtype_is_single(batch->type) ? VEM_FLOAT32 : VEM_FLOAT64;
    }
    for (int64_t i = 0; status == VEM_OK && i < batch->n; i++) {
        if (stream->open.n == stream->m && !stream->pending.x) {
            stream->pending = stream->open;
            stream->place = 0;
            stream->open = (bucket){0};
        }
        status = carry(run, stream);
        if (status == VEM_OK && !stream->open.x)
            status = take_bucket(run, stream, stream->m, &stream->open);
        if (status == VEM_OK)
            take_row(stream, batch, i, scratch);
    }
    vem_i_free(scratch);
    return status;
}

/* ---- what is known ---- */

void vem_stream_free(vem_stream *s)
{
    if (!s)
        return;
    empty_bucket(&s->open);
    empty_bucket(&s->pending);
    for (int l = 0; l < VEM_I_STREAM_LEVELS; l++)
        empty_bucket(&s->levels[l]);
    vem_i_free(s);
}

int64_t vem_stream_rows(const vem_stream *s)
{
    return s ? s->rows : 0;
}

int64_t vem_stream_kept(const vem_stream *s)
{
    int64_t kept = s ? s->open.n + s->pending.n : 0;
    for (int l = 0; s && l < VEM_I_STREAM_LEVELS; l++)
        kept += s->levels[l].n;
    return kept;
}

double vem_stream_mass(const vem_stream *s)
{
    return s ? s->mass + s->mass_rest : 0;
}

vem_status vem_i_stream_coreset(vem_i_run *run, const vem_stream *stream,
                                vem_data **coreset)
{
    const int64_t kept = vem_stream_kept(stream);
    bucket all;
    if (kept == 0)
        return vem_i_fail(run, VEM_BAD_DATA,
                          "The stream holds no rows of positive weight: %lld came.",
                          (long long)stream->rows);
    vem_status status = take_bucket(run, stream, kept, &all);
    if (status != VEM_OK)
        return status;
    for (int l = VEM_I_STREAM_LEVELS - 1; l >= 0; l--)
        append(stream, &all, &stream->levels[l]);
    append(stream, &all, &stream->pending);
    append(stream, &all, &stream->open);
    status = give_bucket(run, stream, &all, coreset);
    empty_bucket(&all);
    return status;
}
