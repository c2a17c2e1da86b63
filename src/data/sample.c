/* Rows of positive weight are put into strata by the power of two below their weight,
 *
 *     h = floor(log2(max w / w)),   everything below 2^-63 of the greatest weight together,
 *
 * so that within a stratum weights differ by a factor of two at most; rows of equal weight
 * are one stratum. Of the N_h rows of stratum h with mass M_h a simple random sample without
 * replacement of n_h rows is taken, n_h in proportion to M_h (which is Neyman's choice where
 * the values of the rows scatter alike), but never more than there are, what is left over
 * going to the others, and never fewer than two, without which there is no variance.
 *
 * Each row has a key, a uniform number that is a function of (seed, row); the n_h least keys
 * of a stratum are its sample. So neither threads nor the cutting of a file can change it,
 * and two fits with one seed are measured on the same rows. A first pass counts the rows
 * whose key is below a bound that slightly more than n_h of them are expected to pass, a
 * second keeps them, and only these are sorted. */
#include "data/sample.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/parallel.h"
#include "base/rng.h"

enum { SHARD = 1 << 14 };

typedef struct candidate {
    double key;
    int64_t row;
    int stratum;
} candidate;

typedef struct draw {
    vem_i_run *run;
    const double *weights;
    int64_t n;
    uint64_t seed;
    double unit;
    double bound[VEM_I_STRATA];
    int64_t *starts; /* per shard: its first candidate, when counted */
    candidate *out;  /* NULL: only count */
} draw;

/* -1: a row that counts for nothing. */
static int stratum_of(const double *weights, double unit, int64_t row)
{
    if (!weights)
        return 0;
    if (!(weights[row] > 0))
        return -1;
    int exponent;
    frexp(weights[row] / unit, &exponent);
    /* 1 itself is 0.5 * 2^1; a quotient that vanished counts as the least. */
    if (!(weights[row] / unit > 0) || -exponent >= VEM_I_STRATA)
        return VEM_I_STRATA - 1;
    return exponent > 0 ? 0 : -exponent;
}

static void run_shard(void *arg, int64_t shard, int thread)
{
    (void)thread;
    draw *t = arg;
    int64_t begin = shard * SHARD, end = begin + SHARD < t->n ? begin + SHARD : t->n;
    int64_t at = t->out ? t->starts[shard] : 0;
    for (int64_t i = begin; i < end; i++) {
        int h = stratum_of(t->weights, t->unit, i);
        if (h < 0)
            continue;
        vem_i_rng rng = vem_i_rng_at(t->seed, VEM_RNG_SAMPLE, 0, (uint64_t)i);
        double key = vem_i_rng_uniform(&rng);
        if (key >= t->bound[h])
            continue;
        if (t->out)
            t->out[at] = (candidate){.key = key, .row = i, .stratum = h};
        at++;
    }
    if (!t->out)
        t->starts[shard] = at;
}

static int by_key(const void *a, const void *b)
{
    const candidate *x = a, *y = b;
    if (x->stratum != y->stratum)
        return x->stratum < y->stratum ? -1 : 1;
    if (x->key != y->key)
        return x->key < y->key ? -1 : 1;
    return x->row < y->row ? -1 : x->row > y->row;
}

static int by_row(const void *a, const void *b)
{
    const candidate *x = a, *y = b;
    return x->row < y->row ? -1 : x->row > y->row;
}

/* Rows and mass of the strata. */
static void survey(const double *weights, int64_t n, vem_i_sample *s, double *masses)
{
    s->unit = 1;
    s->mass = (double)n;
    masses[0] = (double)n;
    s->count[0] = n;
    if (!weights)
        return;
    s->unit = s->mass = masses[0] = 0;
    s->count[0] = 0;
    for (int64_t i = 0; i < n; i++)
        s->unit = fmax(s->unit, weights[i]);
    for (int64_t i = 0; i < n; i++) {
        int h = stratum_of(weights, s->unit, i);
        if (h < 0)
            continue;
        s->count[h]++;
        masses[h] += weights[i] / s->unit;
    }
    for (int h = 0; h < VEM_I_STRATA; h++)
        s->mass += masses[h];
}

/* n_h: strata that their share would exhaust are taken whole and the rest is shared again,
 * until none is. */
static void allocate(vem_i_sample *s, const double *masses, int64_t size)
{
    int whole[VEM_I_STRATA] = {0};
    for (int again = 1; again;) {
        double left = (double)size, mass = 0;
        for (int h = 0; h < VEM_I_STRATA; h++) {
            left -= whole[h] ? (double)s->count[h] : 0;
            mass += whole[h] ? 0 : masses[h];
        }
        again = 0;
        for (int h = 0; h < VEM_I_STRATA; h++) {
            if (whole[h])
                continue;
            double share = left > 0 && mass > 0 ? left * masses[h] / mass : 0;
            double taken = fmax(2, ceil(share));
            if (taken >= (double)s->count[h]) {
                whole[h] = again = 1;
                taken = (double)s->count[h];
            }
            s->taken[h] = (int64_t)taken;
        }
    }
    for (int h = 0; h < VEM_I_STRATA; h++)
        s->size += s->taken[h];
}

static void set_bounds(draw *t, const vem_i_sample *s, double slack)
{
    for (int h = 0; h < VEM_I_STRATA; h++) {
        double most = (double)s->taken[h] + slack * (sqrt((double)s->taken[h]) + 4);
        t->bound[h] = s->taken[h] == 0             ? 0
                      : s->taken[h] == s->count[h] ? 1
                                                   : fmin(1, most / (double)s->count[h]);
    }
}

/* How many candidates there are, and where those of each shard begin; run dry, how many there
 * will be about. */
static int64_t count_candidates(draw *t, const vem_i_sample *sample, int64_t shards)
{
    int64_t total = 0;
    for (int h = 0; t->run->counted && h < VEM_I_STRATA; h++)
        total += (int64_t)ceil(t->bound[h] * (double)sample->count[h]);
    if (t->run->counted)
        return total;
    t->out = NULL;
    vem_i_parallel_light(t->run, shards, SHARD * 50.0, run_shard, t);
    for (int64_t s = 0; s < shards; s++) {
        int64_t count = t->starts[s];
        t->starts[s] = total;
        total += count;
    }
    return total;
}

/* The candidates, by stratum and key. They are `*found`. */
static vem_status gather(draw *t, const vem_i_sample *sample, int64_t *found)
{
    const int64_t shards = vem_i_shards(t->n, SHARD),
                  total = count_candidates(t, sample, shards);
    vem_status status = vem_i_take(t->run, &t->out, (size_t)total, sizeof *t->out);
    if (status != VEM_OK || t->run->counted)
        return status;
    vem_i_parallel_light(t->run, shards, SHARD * 50.0, run_shard, t);
    qsort(t->out, (size_t)total, sizeof *t->out, by_key);
    *found = total;
    return VEM_OK;
}

/* Keeps the first n_h of each stratum in front. Returns 0 where there are too few. */
static int select_least(draw *t, int64_t found, const vem_i_sample *s)
{
    int64_t kept = 0, position = 0;
    for (int64_t i = 0, last = -1; i < found; i++) {
        const candidate c = t->out[i];
        position = c.stratum == last ? position + 1 : 0;
        last = c.stratum;
        if (position < s->taken[c.stratum])
            t->out[kept++] = c;
    }
    return kept == s->size;
}

static vem_status fill(draw *t, vem_i_sample *s)
{
    int64_t found = 0;
    vem_status status = VEM_OK;
    /* Eight standard deviations of room: a second round is all but impossible. */
    for (double slack = 8; status == VEM_OK; slack *= 8) {
        vem_i_free(t->out);
        set_bounds(t, s, slack);
        status = gather(t, s, &found);
        if (status != VEM_OK || t->run->counted || select_least(t, found, s))
            break;
    }
    size_t size = (size_t)s->size;
    if (status == VEM_OK)
        status = vem_i_take(t->run, &s->rows, size, sizeof *s->rows);
    if (status == VEM_OK)
        status = vem_i_take(t->run, &s->strata, size, sizeof *s->strata);
    if (status == VEM_OK && t->weights)
        status = vem_i_take(t->run, &s->weights, size, sizeof *s->weights);
    if (status != VEM_OK || t->run->counted)
        return status;
    qsort(t->out, size, sizeof *t->out, by_row);
    for (size_t i = 0; i < size; i++) {
        s->rows[i] = t->out[i].row;
        s->strata[i] = (uint8_t)t->out[i].stratum;
        if (s->weights)
            s->weights[i] = t->weights[s->rows[i]] / s->unit;
    }
    return VEM_OK;
}

vem_status vem_i_sample_new(vem_i_run *run, const double *weights, int64_t n,
                            int64_t size, uint64_t seed, vem_i_sample *sample)
{
    vem_i_sample made = {0};
    double masses[VEM_I_STRATA] = {0};
    survey(run->counted ? NULL : weights, n, &made, masses);
    allocate(&made, masses, size);
    draw t = {.run = run, .weights = weights, .n = n, .seed = seed, .unit = made.unit};
    vem_status status =
        vem_i_take(run, &t.starts, (size_t)vem_i_shards(n, SHARD), sizeof *t.starts);
    if (status == VEM_OK)
        status = fill(&t, &made);
    vem_i_free(t.starts);
    vem_i_free(t.out);
    if (status == VEM_OK)
        *sample = made;
    else
        vem_i_sample_free(&made);
    return status;
}

void vem_i_sample_free(vem_i_sample *sample)
{
    vem_i_free(sample->rows);
    vem_i_free(sample->strata);
    vem_i_free(sample->weights);
    memset(sample, 0, sizeof *sample);
}
