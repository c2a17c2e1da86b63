#include "grid.h"

const char *const grid_set_names[SET_COUNT] = {"overlapping",   "separated",
                                               "duplicates",    "constant column",
                                               "offset of 1e6", "heavy tails"};
const char *const grid_weights_names[WEIGHTS_COUNT] = {"no weights", "integer weights",
                                                       "weights with zeros",
                                                       "real weights"};

/* ---- Families ---- */

/* The next family after this one that has shapes, or has none. */
static int family_after(int family, int shaped)
{
    do
        family++;
    while (family < VEM_FAMILIES && grid_is_shaped(family) != shaped);
    return family;
}

int grid_shaped_after(int family)
{
    return family_after(family, 1);
}

int grid_counts_after(int family)
{
    return family_after(family, 0);
}

int grid_shaped_count(void)
{
    int count = 0;
    GRID_EACH_SHAPED (family)
        count++;
    return count;
}

vem_family_kind grid_shaped(int index)
{
    int family = grid_shaped_after(VEM_AUTO);
    for (; index > 0; index--)
        family = grid_shaped_after(family);
    assert_true(family < VEM_FAMILIES);
    return (vem_family_kind)family;
}

static void *take(size_t count, size_t size)
{
    void *memory = calloc(count ? count : 1, size);
    assert_non_null(memory);
    return memory;
}

/* ---- Data ---- */

double *grid_rows(grid_set set, int64_t n, int32_t d, uint64_t seed)
{
    double *x = take((size_t)(n * d), sizeof *x);
    const double spread = set == SET_SEPARATED ? 20 : 2.5;
    for (int64_t i = 0; i < n; i++) {
        int64_t source = set == SET_DUPLICATES ? i / 3 : i;
        vem_i_rng rng = vem_i_rng_at(seed, VEM_RNG_TEST, 1, (uint64_t)source);
        int64_t blob = (int64_t)vem_i_rng_below(&rng, 5);
        /* One factor per row gives the columns a correlation for the full family. */
        double common = vem_i_rng_normal(&rng), tail = 1;
        if (set == SET_HEAVY)
            tail = 1 / sqrt(vem_i_rng_gamma(&rng, 1.0)); /* Student t, 2 degrees */
        for (int32_t j = 0; j < d; j++) {
            vem_i_rng place =
                vem_i_rng_at(seed, VEM_RNG_TEST, 2, (uint64_t)(blob * d + j));
            double center = spread * vem_i_rng_normal(&place);
            double e = 0.8 * vem_i_rng_normal(&rng) + 0.6 * common;
            x[i * d + j] = center + tail * e * (1 + 0.5 * (double)(j % 3));
        }
        if (set == SET_CONSTANT && d > 1)
            x[i * d + d - 1] = 3.25;
        if (set == SET_OFFSET)
            for (int32_t j = 0; j < d; j++)
                x[i * d + j] += j % 2 ? -1e6 : 1e6;
    }
    return x;
}

double *grid_weigh(grid_weights kind, int64_t n, uint64_t seed)
{
    if (kind == WEIGHTS_NONE)
        return NULL;
    double *w = take((size_t)n, sizeof *w);
    for (int64_t i = 0; i < n; i++) {
        vem_i_rng rng = vem_i_rng_at(seed, VEM_RNG_TEST, 3, (uint64_t)i);
        w[i] = kind == WEIGHTS_REAL ? 0.05 + 3 * vem_i_rng_uniform(&rng)
                                    : 1 + (double)vem_i_rng_below(&rng, 3);
        if (kind == WEIGHTS_ZEROS && i % 5 == 2)
            w[i] = 0;
    }
    return w;
}

grid_data grid_data_new(grid_set set, grid_weights weights, int64_t n, int32_t d,
                        uint64_t seed)
{
    return (grid_data){.n = n,
                       .d = d,
                       .x = grid_rows(set, n, d, seed),
                       .weights = grid_weigh(weights, n, seed)};
}

int grid_has_rows(vem_family_kind family, int32_t d)
{
    return family != VEM_BERNOULLI || d >= 8;
}

void grid_suit(vem_family_kind family, grid_data *data)
{
    enum { MOST = 12 };
    for (int64_t i = 0; !grid_is_shaped(family) && i < data->n * data->d; i++) {
        const double x = data->x[i] - 1e6 * round(data->x[i] / 1e6);
        data->x[i] = family == VEM_BERNOULLI ? x > 1 : fmod(floor(fabs(x)), MOST);
    }
}

void grid_data_free(grid_data *data)
{
    free(data->x);
    free(data->weights);
    data->x = data->weights = NULL;
}

static double weight_of(const grid_data *data, int64_t i)
{
    return data->weights ? data->weights[i] : 1;
}

/* Variance of column j. */
static double column_variance(const grid_data *data, int32_t j)
{
    double mass = 0, mean = 0, squares = 0, base = data->x[j];
    for (int64_t i = 0; i < data->n; i++)
        mass += weight_of(data, i);
    for (int64_t i = 0; i < data->n; i++)
        mean += weight_of(data, i) * (data->x[i * data->d + j] - base) / mass;
    for (int64_t i = 0; i < data->n; i++) {
        double e = data->x[i * data->d + j] - base - mean;
        squares += weight_of(data, i) * e * e / mass;
    }
    return squares;
}

double grid_variance(const grid_data *data)
{
    double total = 0;
    for (int32_t j = 0; j < data->d; j++)
        total += column_variance(data, j);
    return total / data->d;
}

static double column_mean(const grid_data *data, int32_t j)
{
    double mass = 0, sum = 0;
    for (int64_t i = 0; i < data->n; i++) {
        mass += weight_of(data, i);
        sum += weight_of(data, i) * data->x[i * data->d + j];
    }
    return sum / mass;
}

void grid_floors(const grid_data *data, vem_family_kind family, double share,
                 double *floors)
{
    if (!grid_is_shaped(family)) {
        for (int32_t j = 0; j < data->d; j++)
            floors[j] = column_mean(data, j);
        return;
    }
    for (int32_t j = 0; j < data->d; j++) {
        double variance = column_variance(data, j), constant = data->x[j];
        if (vem_family_axes(family) == 0)
            variance = grid_variance(data);
        else if (variance == 0)
            variance = constant == 0 ? 1 : constant * constant;
        floors[j] = share * variance;
    }
}

/* ---- Starts and fits ---- */

static int same_row(const grid_data *data, int64_t i, const double *mean)
{
    return memcmp(data->x + i * data->d, mean, (size_t)data->d * sizeof(double)) == 0;
}

/* Rows from the middle of `clusters` equal stretches, the next free one where a row is
 * taken already or weighs nothing. */
static void spread_means(const grid_data *data, int32_t clusters, double *means)
{
    for (int32_t c = 0; c < clusters; c++) {
        int64_t i = (2 * c + 1) * data->n / (2 * clusters), tried = 0;
        for (;; i = (i + 1) % data->n, tried++) {
            assert_true(tried <= 2 * data->n);
            int taken = weight_of(data, i) <= 0;
            /* Rows of few bits are few: then one is taken twice. */
            for (int32_t before = 0; before < c && !taken && tried < data->n; before++)
                taken = same_row(data, i, means + (int64_t)before * data->d);
            if (!taken)
                break;
        }
        memcpy(means + (int64_t)c * data->d, data->x + i * data->d,
               (size_t)data->d * sizeof(double));
    }
}

/* Rows of counts half way to the mean of all; of multinomial as shares. */
static void soften(const grid_data *data, vem_family_kind family, int32_t clusters,
                   double *means)
{
    for (int32_t c = 0; c < clusters; c++) {
        double *mean = means + (int64_t)c * data->d, sum = 0;
        for (int32_t j = 0; j < data->d; j++) {
            mean[j] = 0.5 * mean[j] + 0.5 * column_mean(data, j) +
                      (family == VEM_BERNOULLI ? 0 : 0.01);
            sum += mean[j];
        }
        for (int32_t j = 0; family == VEM_MULTINOMIAL && j < data->d; j++)
            mean[j] /= sum;
    }
}

vem_model *grid_start(vem_ctx *ctx, const grid_data *data, vem_family_kind family,
                      int32_t clusters)
{
    const size_t c = (size_t)clusters, d = (size_t)data->d;
    const int axes = vem_family_axes(family);
    const size_t shape = axes < 0 ? 0 : axes == 0 ? 1 : axes == 1 ? d : d * d;
    const size_t count = shape * (vem_family_shared(family) ? 1 : c);
    double *means = take(c * d, sizeof *means), variance = grid_variance(data);
    double *variances = take(count, sizeof *variances);
    spread_means(data, clusters, means);
    if (!grid_is_shaped(family))
        soften(data, family, clusters, means);
    for (size_t i = 0; i < count; i++)
        variances[i] = axes == 2 && i % shape % (d + 1) ? 0 : variance;
    vem_model *model = NULL;
    vem_status status =
        vem_model_new(ctx, family, clusters, data->d, means, NULL, variances, &model);
    if (status != VEM_OK)
        fail_msg("%s", vem_ctx_message(ctx));
    free(means);
    free(variances);
    return model;
}

vem_options grid_options(int64_t clusters, vem_family_kind family, vem_prior_kind prior,
                         int64_t held, vem_precision precision, int64_t max_steps)
{
    vem_options o;
    vem_options_init(&o);
    o.clusters = clusters;
    o.family = family;
    o.prior = prior;
    o.held = held;
    o.search = held == clusters ? VEM_SEARCH_ALL : VEM_SEARCH_CLOSEST;
    o.precision = precision;
    o.max_steps = max_steps;
    o.tolerance = 0;
    o.margin = 0;
    o.empty = VEM_EMPTY_KEEP;
    return o;
}

vem_data *grid_borrow_rows(vem_ctx *ctx, const grid_data *data, int64_t first,
                           int64_t end)
{
    vem_data *rows = NULL;
    vem_status status = vem_data_borrow(ctx, VEM_FLOAT64, data->x + first * data->d,
                                        end - first, data->d, 0, 0, &rows);
    if (status == VEM_OK && data->weights)
        status = vem_data_set_weights(ctx, rows, data->weights + first, end - first);
    if (status != VEM_OK)
        fail_msg("%s", vem_ctx_message(ctx));
    return rows;
}

vem_data *grid_borrow(vem_ctx *ctx, const grid_data *data)
{
    return grid_borrow_rows(ctx, data, 0, data->n);
}

vem_status grid_try(vem_ctx *ctx, const grid_data *data, const vem_options *options,
                    const vem_model *start, grid_fit *fit)
{
    vem_data *rows = grid_borrow(ctx, data);
    grid_fit made = {0};
    vem_status status = vem_fit(ctx, rows, options, start, &made.model, &made.report);
    vem_data_free(rows);
    if (status != VEM_OK) {
        assert_null(made.model);
        assert_null(made.report);
        return status;
    }
    made.summary = vem_report_summary(made.report);
    made.options = vem_report_options(made.report);
    made.trace = vem_report_trace(made.report);
    made.trace_count = vem_report_trace_count(made.report);
    made.labels = vem_report_labels(made.report);
    *fit = made;
    return VEM_OK;
}

grid_fit grid_run(vem_ctx *ctx, const grid_data *data, const vem_options *options,
                  const vem_model *start)
{
    grid_fit fit = {0};
    if (grid_try(ctx, data, options, start, &fit) != VEM_OK)
        fail_msg("%s", vem_ctx_message(ctx));
    return fit;
}

void grid_fit_free(grid_fit *fit)
{
    vem_model_free(fit->model);
    vem_report_free(fit->report);
    memset(fit, 0, sizeof *fit);
}

vem_scores grid_score(vem_ctx *ctx, const vem_model *model, const grid_data *data,
                      int32_t held, vem_precision precision)
{
    vem_data *rows = grid_borrow(ctx, data);
    vem_scores scores = {.size = sizeof scores};
    vem_status status = vem_score(ctx, model, rows, held, precision, &scores);
    vem_data_free(rows);
    if (status != VEM_OK)
        fail_msg("%s", vem_ctx_message(ctx));
    return scores;
}

/* ---- The grid ---- */

static const int32_t dimensions[] = {1, 2, 3, 8, 17, 40};
enum {
    FAMILIES = VEM_FAMILIES,
    PRIORS = 2,
    HELD = 5,
    PRECISIONS = 2,
    DIMENSIONS = sizeof dimensions / sizeof *dimensions
};

int grid_count(void)
{
    return FAMILIES * PRIORS * HELD * PRECISIONS * WEIGHTS_COUNT * DIMENSIONS * SET_COUNT;
}

grid_case grid_at(int index)
{
    grid_case c = {.clusters = GRID_CLUSTERS};
    c.family = (vem_family_kind)(index % FAMILIES);
    index /= FAMILIES;
    c.prior = (vem_prior_kind)(index % PRIORS);
    index /= PRIORS;
    c.held = 1 + index % HELD; /* 1, 2, 3, C-1, C */
    index /= HELD;
    c.precision = (vem_precision)(index % PRECISIONS);
    index /= PRECISIONS;
    c.weights = (grid_weights)(index % WEIGHTS_COUNT);
    index /= WEIGHTS_COUNT;
    c.d = dimensions[index % DIMENSIONS];
    index /= DIMENSIONS;
    c.set = (grid_set)index;
    return c;
}

int grid_stride(void)
{
#ifdef VEM_SANITIZED
    return grid_turns(
        7); /* shares no factor with the grid, so every axis is still visited */
#else
    return 1;
#endif
}

int grid_turns(int stride)
{
    const int shaped = grid_shaped_count(), counts[] = {VEM_FAMILIES, shaped, shaped - 1};
    for (size_t k = 0; k < sizeof counts / sizeof *counts;) {
        int a = stride, b = counts[k++];
        while (b > 0) {
            const int rest = a % b;
            a = b;
            b = rest;
        }
        if (a > 1) { /* a factor that both have */
            stride++;
            k = 0;
        }
    }
    return stride;
}

const char *grid_name(const grid_case *c)
{
    static char text[200];
    snprintf(text, sizeof text, "%s, prior %s, held %d of %d, %s, %s, d = %d, %s",
             vem_choice_name("family", c->family), vem_choice_name("prior", c->prior),
             c->held, c->clusters, vem_choice_name("precision", c->precision),
             grid_weights_names[c->weights], c->d, grid_set_names[c->set]);
    return text;
}

/* ---- Comparisons ---- */

int grid_close(const double *a, const double *b, size_t count, double tolerance)
{
    double size = 1e-300;
    for (size_t i = 0; i < count; i++)
        size = fmax(size, fabs(b[i]));
    for (size_t i = 0; i < count; i++)
        if (!(fabs(a[i] - b[i]) <= tolerance * size))
            return 0;
    return 1;
}

void grid_assert_models(const vem_model *a, const vem_model *b, double tolerance,
                        const char *what)
{
    size_t c = (size_t)vem_model_clusters(a), d = (size_t)vem_model_columns(a);
    assert_int_equal(vem_model_clusters(a), vem_model_clusters(b));
    assert_int_equal(vem_model_family(a), vem_model_family(b));
    if (!grid_close(vem_model_means(a), vem_model_means(b), c * d, tolerance))
        fail_msg("the means differ: %s", what);
    if (!grid_close(vem_model_weights(a), vem_model_weights(b), c, tolerance))
        fail_msg("the weights differ: %s", what);
    if (!grid_close(vem_model_variances(a), vem_model_variances(b),
                    vem_model_variance_count(b), tolerance))
        fail_msg("the variances differ: %s", what);
}

void grid_assert_near(double value, double expected, double tolerance, const char *what)
{
    if (!(fabs(value - expected) <= tolerance))
        fail_msg("%.17g is not %.17g: %s", value, expected, what);
}

void *grid_zeros(int64_t count, size_t size)
{
    void *made = calloc((size_t)count, size);
    assert_non_null(made);
    return made;
}
