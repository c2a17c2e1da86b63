/* Paths of mixtures in model files: each input changes a right path of mixtures of 1, 2 and 3
 * clusters, with right checksums, reads it, and takes every mixture out of it. The first byte
 * chooses the family, the next two which array is malformed and how. */
#include <math.h>

#include "archive_target.h"
#include "edits.h"
#include "model/contract.h"
#include "model/model.h"

enum { COLUMNS = 2, MIXTURES = 3, CHOSEN = 2, ALL = 6, NUMBERS = 10 };

/* All values of the file, one after another. */
typedef struct sheet {
    double means[CHOSEN * COLUMNS], weights[CHOSEN],
        variances[CHOSEN * COLUMNS * COLUMNS];
    double path_means[ALL * COLUMNS], path_weights[ALL],
        path_variances[ALL * COLUMNS * COLUMNS];
    double numbers[NUMBERS][MIXTURES];
} sheet;

static void fill_shapes(const vem_i_family *family, double *values, int count)
{
    for (int i = 0; i < count; i++)
        values[i] = family->shape_axes == 2 && i % 4 % 3 ? 0.1 : 2;
}

static void fill_means(const vem_i_family *family, double *means, int clusters)
{
    for (int c = 0; c < clusters; c++)
        for (int j = 0; j < COLUMNS; j++)
            means[c * COLUMNS + j] =
                family->of_counts ? (j ? 0.75 : 0.25) : (double)(c + 3 * j);
}

static sheet sheet_of(const vem_i_family *family)
{
    sheet s;
    int at = 0;
    fill_means(family, s.means, CHOSEN);
    fill_means(family, s.path_means, ALL);
    fill_shapes(family, s.variances, CHOSEN * COLUMNS * COLUMNS);
    fill_shapes(family, s.path_variances, ALL * COLUMNS * COLUMNS);
    for (int c = 0; c < CHOSEN; c++)
        s.weights[c] = 1.0 / CHOSEN;
    for (int m = 1; m <= MIXTURES; m++)
        for (int c = 0; c < m; c++)
            s.path_weights[at++] = 1.0 / m;
    for (int k = 0; k < NUMBERS; k++)
        for (int m = 0; m < MIXTURES; m++)
            s.numbers[k][m] = k < 3 ? m + 1 : -1.5 * k - m;
    return s;
}

/* Shape of variances of so many shapes, as Python writes it. */
static size_t shape_of(const vem_i_family *family, int shapes, int is_model,
                       char text[32])
{
    static const char *const rest[] = {"", "2", "2, 2"};
    const int axes = family->shape_axes < 0 ? 0 : family->shape_axes;
    if (is_model && family->shared && axes > 0)
        snprintf(text, 32, "(%s,)", rest[axes]);
    else
        snprintf(text, 32, "(%d,%s)", shapes, rest[axes]);
    return ((size_t)shapes << axes) * sizeof(double);
}

static void build(const vem_i_family *family, const sheet *s, unsigned which,
                  unsigned way)
{
    static const char *const names[NUMBERS] = {"path_clusters",
                                               "path_steps",
                                               "path_parameters",
                                               "path_free_energy",
                                               "path_log_likelihood",
                                               "path_log_likelihood_se",
                                               "path_entropy",
                                               "path_aic",
                                               "path_bic",
                                               "path_icl"};
    static const char *const odd_shapes[TARGET_SHAPES] = {
        "(0,)", "(4611686018427387904, 4)", "(2, 2)", "()", "(3, 2, 2, 1, 1)", "(3, 0)"};
    char shape[32], path_shape[32], meta[128], length[32];
    const size_t variances = shape_of(family, family->shared ? 1 : CHOSEN, 1, shape);
    const size_t path_variances =
        shape_of(family, family->shared ? MIXTURES : ALL, 0, path_shape);
    snprintf(meta, sizeof meta, "{\"family\":\"%s\",\"prior\":\"free\"}",
             vem_choice_name("family", (int)family->kind));
    snprintf(length, sizeof length, "(%zu,)", strlen(meta));
    target_array arrays[7 + NUMBERS] = {
        {"means", "<f8", "(2, 2)", s->means, sizeof s->means, 0},
        {"weights", "<f8", "(2,)", s->weights, sizeof s->weights, 0},
        {"variances", "<f8", shape, s->variances, variances, family->of_counts != NULL},
        {"meta", "|u1", length, meta, strlen(meta), 0},
        {"path_means", "<f8", "(6, 2)", s->path_means, sizeof s->path_means, 0},
        {"path_weights", "<f8", "(6,)", s->path_weights, sizeof s->path_weights, 0},
        {"path_variances", "<f8", path_shape, s->path_variances, path_variances, 0}};
    enum { ARRAYS = sizeof arrays / sizeof *arrays };
    for (int k = 0; k < NUMBERS; k++) {
        arrays[7 + k].name = names[k];
        arrays[7 + k].type = "<f8";
        arrays[7 + k].shape = "(3,)";
        arrays[7 + k].values = s->numbers[k];
        arrays[7 + k].size = sizeof s->numbers[k];
    }
    target_build(arrays, ARRAYS, which % (2 * ARRAYS), way, odd_shapes);
}

/* What is handed out is finite, and of the numbers that the path says. */
static void check_path(const vem_path *path)
{
    for (int32_t i = 0; i < vem_path_count(path); i++) {
        const vem_path_point *point = vem_path_at(path, i);
        vem_model *m = NULL;
        if (vem_path_pick(ctx, path, point->clusters, &m) != VEM_OK ||
            vem_model_clusters(m) != point->clusters || point->steps < 0)
            abort();
        for (size_t k = 0; k < vem_model_variance_count(m); k++)
            if (!isfinite(vem_model_variances(m)[k]))
                abort();
        for (int32_t k = 0; k < m->clusters * m->d; k++)
            if (!isfinite(vem_model_means(m)[k]))
                abort();
        for (int32_t c = 0; c < m->clusters; c++)
            if (!isfinite(vem_model_weights(m)[c]))
                abort();
        vem_model_free(m);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    fuzz_input in = {bytes, size};
    const vem_i_family *family = vem_i_family_of(fuzz_byte(&in) % VEM_FAMILIES);
    const unsigned which = fuzz_byte(&in), way = fuzz_byte(&in);
    const int untouched = in.left <= 3 && way % 16 == 0;
    sheet s = sheet_of(family);
    vem_path *path = NULL;
    target_begin();
    while (in.left > 3)
        fuzz_edit(&in, (char *)&s, sizeof s);
    build(family, &s, which, way);
    if (vem_path_read(ctx, "fuzz.npz", &path) == VEM_OK)
        check_path(path);
    else if (vem_ctx_message(ctx)[0] == '\0' || (untouched && !family->of_counts))
        abort(); /* an error without a sentence, or of a right file */
    vem_path_free(path);
    return 0;
}
