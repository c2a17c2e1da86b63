/* How stable a selection is: the same on R random parts of the rows.
 *
 *     part r   a share s of the rows with a positive weight, drawn without replacement (in
 *              strata of nearly equal weight, data/sample.c); the others weigh 0, so that
 *              nothing is copied
 *     K_r      clusters that a selection on part r finds
 *     ARI_r    agreement (metrics/external.c) of its labels with those of the model that
 *              was chosen from all rows, on the rows of part r. Of many rows a sample is
 *              compared
 *
 * Told are all K_r and ARI_r with their means and standard deviations. Seeds of parts and
 * of their fits are functions of (seed, r) alone. */
#include "select/stability.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "base/rng.h"
#include "data/sample_rows.h"
#include "use/assign.h"

/* Rows whose labels are compared: where the error of an ARI is below 0.01. Fewer of very
 * many values. */
enum { COMPARED = 50000, COMPARED_VALUES = 1 << 26 };

typedef struct comparing {
    vem_i_run *run;
    const vem_data *data;
    const vem_model *model;
    vem_i_chooser *choose;
    vem_precision precision;
    vem_i_sample sample; /* of all rows: those that are compared */
    vem_i_sampled_rows rows;
    int32_t *labels, *others; /* of them: the model's, the resample's */
    int64_t *first, *second;  /* of those in the resample */
    double *weights;          /* of all rows, in the resample */
} comparing;

static vem_status label(const comparing *c, const vem_model *model, int32_t *labels)
{
    return vem_i_label(c->run, model, &c->rows.data, c->precision, labels);
}

static void comparing_free(comparing *c)
{
    vem_i_sample_rows_free(&c->rows);
    vem_i_sample_free(&c->sample);
    vem_i_free(c->labels);
    vem_i_free(c->others);
    vem_i_free(c->first);
    vem_i_free(c->second);
    vem_i_free(c->weights);
}

static vem_status comparing_new(vem_i_run *run, const vem_data *data,
                                const vem_options *options, const vem_model *model,
                                comparing *c)
{
    *c = (comparing){.run = run,
                     .data = data,
                     .model = model,
                     .precision = (vem_precision)options->precision};
    int64_t size = COMPARED_VALUES / data->d;
    size = size < 1024 ? 1024 : size > COMPARED ? COMPARED : size;
    vem_status status = vem_i_sample_new(run, data->weights, data->n, size,
                                         (uint64_t)options->seed, &c->sample);
    if (status == VEM_OK)
        status = vem_i_sample_rows(run, data, &c->sample, &c->rows);
    const size_t rows = (size_t)c->sample.size;
    const vem_i_room list[] = {
        {&c->labels, rows, sizeof *c->labels, 0},
        {&c->others, rows, sizeof *c->others, 0},
        {&c->first, rows, sizeof *c->first, 0},
        {&c->second, rows, sizeof *c->second, 0},
        {&c->weights, (size_t)data->n, sizeof *c->weights, 0},
    };
    if (status == VEM_OK)
        status = vem_i_take_rooms(run, list, VEM_I_COUNT(list));
    return status == VEM_OK ? label(c, model, c->labels) : status;
}

/* Rows that count. */
static int64_t rows_used(const vem_data *data)
{
    int64_t used = data->weights ? 0 : data->n;
    for (int64_t i = 0; data->weights && i < data->n; i++)
        used += data->weights[i] > 0;
    return used;
}

/* The weights of part r; the others' become 0. */
static vem_status draw(comparing *c, int64_t size, uint64_t seed, int64_t *rows)
{
    const vem_data *data = c->data;
    vem_i_sample part;
    vem_status status =
        vem_i_sample_new(c->run, data->weights, data->n, size, seed, &part);
    if (status != VEM_OK)
        return status;
    memset(c->weights, 0, (size_t)data->n * sizeof *c->weights);
    for (int64_t i = 0; i < part.size; i++)
        c->weights[part.rows[i]] = data->weights ? data->weights[part.rows[i]] : 1;
    *rows = part.size;
    vem_i_sample_free(&part);
    return VEM_OK;
}

/* Labels of the rows of the part that are compared. */
static vem_status agree(comparing *c, const vem_model *found, double *ari)
{
    int64_t count = 0;
    vem_agreement agreement = {.size = sizeof agreement};
    vem_status status = label(c, found, c->others);
    if (status != VEM_OK)
        return status;
    for (int64_t i = 0; i < c->sample.size; i++)
        if (c->weights[c->sample.rows[i]] > 0) {
            c->first[count] = c->others[i];
            c->second[count++] = c->labels[i];
        }
    *ari = NAN;
    if (count == 0)
        return VEM_OK;
    status = vem_compare(c->run->ctx, c->first, c->second, count, &agreement);
    *ari = agreement.ari;
    return status;
}

static int64_t seed_of(int64_t seed, int32_t r, uint64_t what)
{
    vem_i_rng rng = vem_i_rng_at((uint64_t)seed, VEM_RNG_RESAMPLE, (uint32_t)r, what);
    return (int64_t)(vem_i_rng_bits(&rng) >> 1);
}

/* What was found, so far. */
typedef struct found {
    double *clusters, *ari;
    int32_t done;
    int64_t rows;
} found;

/* VEM_STOPPED: it did not come to its end. */
static vem_status run_one(comparing *c, const vem_options *options,
                          const vem_select_options *select, int32_t r, int64_t size,
                          found *f)
{
    vem_options o = *options;
    vem_model *model = NULL;
    vem_report *report = NULL;
    o.time = VEM_AUTO; /* a budget may change what is done: the deadline is the run's */
    o.seed = seed_of(options->seed, r, 1);
    vem_status status = draw(c, size, (uint64_t)seed_of(options->seed, r, 0), &f->rows);
    if (status != VEM_OK)
        return status;
    vem_data rows = *c->data;
    rows.weights = c->weights;
    status = c->choose(c->run, &rows, &o, select, &model, &report);
    const vem_outcome outcome =
        status == VEM_OK ? vem_report_summary(report)->outcome : VEM_OUTCOME_STOPPED;
    vem_report_free(report);
    if (status == VEM_OK &&
        (outcome == VEM_OUTCOME_STOPPED || outcome == VEM_OUTCOME_BUDGET))
        status = VEM_STOPPED; /* it ended before its time */
    if (status == VEM_OK)
        status = agree(c, model, &f->ari[f->done]);
    if (status == VEM_OK)
        f->clusters[f->done++] = model->clusters;
    vem_model_free(model);
    return status;
}

static vem_status run_all(vem_i_run *run, const vem_data *data,
                          const vem_options *options, const vem_select_options *select,
                          const vem_model *model, vem_i_chooser *choose,
                          const vem_stability *s, found *f)
{
    comparing c;
    const int64_t used = rows_used(data), wanted = (int64_t)(s->share * (double)used);
    vem_status status = comparing_new(run, data, options, model, &c);
    c.choose = choose;
    run->watch->resamples = s->resamples;
    for (int32_t r = 0; status == VEM_OK && r < s->resamples; r++) {
        run->watch->resample = r + 1;
        status = run_one(&c, options, select, r, wanted < 1 ? 1 : wanted, f);
    }
    comparing_free(&c);
    return status;
}

/* sd: NAN of fewer than two. */
static void mean_of(const double *values, int32_t count, double *mean, double *sd)
{
    double sum = 0, squares = 0;
    for (int32_t i = 0; i < count; i++)
        sum += values[i];
    *mean = count > 0 ? sum / count : NAN;
    for (int32_t i = 0; i < count; i++)
        squares += (values[i] - *mean) * (values[i] - *mean);
    *sd = count > 1 ? sqrt(squares / (count - 1)) : NAN;
}

static void put(const found *f, vem_stability *s)
{
    s->done = f->done;
    s->rows = f->rows;
    for (int32_t i = 0; i < f->done; i++) {
        if (s->clusters)
            s->clusters[i] = (int32_t)f->clusters[i];
        if (s->ari)
            s->ari[i] = f->ari[i];
    }
    mean_of(f->clusters, f->done, &s->clusters_mean, &s->clusters_sd);
    mean_of(f->ari, f->done, &s->ari_mean, &s->ari_sd);
}

vem_status vem_i_stability(vem_i_run *run, const vem_data *data,
                           const vem_options *options, const vem_select_options *select,
                           const vem_model *model, vem_i_chooser *choose,
                           vem_stability *s)
{
    found f = {0};
    const vem_i_room list[] = {
        {&f.clusters, (size_t)s->resamples, sizeof(double), 0},
        {&f.ari, (size_t)s->resamples, sizeof(double), 0},
    };
    vem_status status = vem_i_take_rooms(run, list, VEM_I_COUNT(list));
    if (status == VEM_OK)
        status = run_all(run, data, options, select, model, choose, s, &f);
    if (status == VEM_STOPPED) { /* what there is is the result */
        run->ctx->message[0] = '\0';
        status = VEM_OK;
    }
    if (status == VEM_OK)
        put(&f, s);
    vem_i_free_rooms(list, VEM_I_COUNT(list));
    return status;
}
