/* Statistics and models: each input changes statistics that a part of a fit made, with a
 * right digest and right checksums, and does with them what a merge does. The first byte
 * chooses the family and what is read, the second which array is malformed and how. */
#include <inttypes.h>
#include <math.h>

#include "archive_target.h"
#include "edits.h"
#include "model/family.h"
#include "model/part.h"

enum { ROWS = 30, COLUMNS = 2, CLUSTERS = 3, FAMILIES = VEM_FAMILIES };

static vem_stats *parts[FAMILIES];
int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerInitialize(int *argc, char ***argv)
{
    (void)argc;
    (void)argv;
    static double values[ROWS * COLUMNS], bits[ROWS * COLUMNS];
    const double places[CLUSTERS * COLUMNS] = {0, 1, 5, 4, 9, 10},
                                   shares[CLUSTERS * COLUMNS] = {0.25, 0.75,  0.5,
                                                                 0.5,  0.875, 0.125};
    vem_data *reals, *counts;
    for (int i = 0; i < ROWS * COLUMNS; i++) {
        values[i] = i * 7919 % 1009 / 100.0;
        bits[i] = i * 7919 % 1009 % 2;
    }
    target_begin();
    if (vem_data_borrow(ctx, VEM_FLOAT64, values, ROWS, COLUMNS, 0, 0, &reals) !=
            VEM_OK ||
        vem_data_borrow(ctx, VEM_FLOAT64, bits, ROWS, COLUMNS, 0, 0, &counts) != VEM_OK)
        abort();
    for (int family = 0; family < FAMILIES; family++) {
        double variances[CLUSTERS * COLUMNS * COLUMNS];
        for (int i = 0; i < CLUSTERS * COLUMNS * COLUMNS; i++)
            variances[i] =
                vem_family_axes((vem_family_kind)family) == 2 && i % 4 % 3 ? 0.1 : 2;
        vem_model *model;
        vem_options o;
        const int shaped = vem_family_axes((vem_family_kind)family) >= 0;
        const double *means = shaped ? places : shares;
        const vem_data *rows = shaped ? reals : counts;
        vem_options_init(&o);
        o.clusters = CLUSTERS;
        o.family = family;
        o.algorithm = VEM_ALGORITHM_GMM;
        if (vem_model_new(ctx, (vem_family_kind)family, CLUSTERS, COLUMNS, means, NULL,
                          variances, &model) != VEM_OK ||
            vem_accumulate(ctx, model, rows, &o, &parts[family]) != VEM_OK) {
            fprintf(stderr, "%s\n", vem_ctx_message(ctx));
            abort();
        }
        vem_model_free(model);
    }
    vem_data_free(reals);
    vem_data_free(counts);
    return 0;
}

/* All values of a part, one after another. */
typedef struct sheet {
    double means[CLUSTERS * COLUMNS], weights[CLUSTERS],
        variances[CLUSTERS * COLUMNS * COLUMNS], mass[CLUSTERS],
        first[CLUSTERS * COLUMNS], second[CLUSTERS * COLUMNS * COLUMNS], totals[3];
    int64_t counts[4];
} sheet;

static sheet sheet_of(const vem_stats *part)
{
    sheet s = {.totals = {part->mass, part->free_energy, part->squared_error},
               .counts = {part->rows, part->rows_used, part->pairs, part->parts}};
    const vem_model *m = part->model;
    const int full = m->family->shape_axes == 2;
    const size_t seconds =
        m->family->shape_axes < 0 ? 0 : (size_t)1 << m->family->shape_axes;
    memcpy(s.means, m->means, sizeof s.means);
    memcpy(s.weights, m->weights, sizeof s.weights);
    memcpy(s.variances, m->variances, vem_model_variance_count(m) * sizeof(double));
    for (int32_t c = 0; c < CLUSTERS; c++) {
        const double *second = vem_i_stats_second(&part->sums, c);
        double *to = s.second + (size_t)c * seconds;
        s.mass[c] = *vem_i_stats_mass(&part->sums, c);
        memcpy(s.first + c * COLUMNS, vem_i_stats_mass(&part->sums, c) + 1,
               COLUMNS * sizeof(double));
        if (full) {
            to[0] = second[0];
            to[1] = to[2] = second[1];
            to[3] = second[2];
        } else {
            memcpy(to, second, seconds * sizeof(double));
        }
    }
    return s;
}

static void write_meta(char text[1024], const vem_stats *part, sheet *s, unsigned odd)
{
    vem_model model = *part->model;
    model.means = s->means;
    model.weights = s->weights;
    model.variances = s->variances;
    snprintf(text, 1024,
             "{\"kind\":\"statistics\",\"family\":\"%s\",\"prior\":\"%s\","
             "\"search\":\"%s\",\"precision\":\"%s\",\"held\":%d,\"floor\":%s,"
             "\"normalize\":%s,\"model\":\"%016" PRIx64 "\"}",
             vem_choice_name("family", (int)model.family->kind),
             odd == 1 ? "?" : vem_choice_name("prior", (int)part->prior),
             vem_choice_name("search", odd == 2 ? VEM_SEARCH_GROUPS : (int)part->search),
             vem_choice_name("precision", (int)part->precision),
             odd == 3 ? 2000000000 : (int)part->held, odd == 4 ? "-1e999" : "0.001",
             odd == 5 ? "true" : "false", vem_i_model_digest(&model) + (odd == 5));
}

static void build(const vem_stats *part, sheet *s, unsigned odd)
{
    static const char *const second_shapes[] = {"(3,)", "(3, 2)", "(3, 2, 2)"};
    static const char *const shared_shapes[] = {"(1,)", "(2,)", "(2, 2)"};
    static const char *const odd_shapes[TARGET_SHAPES] = {
        "(0,)", "(4611686018427387904, 4)", "(2, 2)", "()", "(3, 2, 2, 1, 1)", "(3, 0)"};
    const vem_i_family *family = part->model->family;
    const char *const *variance_shapes = family->shared ? shared_shapes : second_shapes;
    const int axes =
        family->shape_axes < 0 ? 0 : family->shape_axes; /* without shapes: see below */
    const size_t seconds = ((size_t)CLUSTERS << axes) * 8;
    const size_t variances = family->shape_axes < 0
                                 ? seconds
                                 : vem_model_variance_count(part->model) * sizeof(double);
    char meta[1024], length[32];
    write_meta(meta, part, s, odd < 8 ? odd : 0);
    snprintf(length, sizeof length, "(%zu,)", strlen(meta));
    /* Moments about other places than the means. */
    const int moved = odd == 6 || odd == 7 || (odd >= 16 && odd / 16 % 3 == 0);
    /* Families without shapes have no such arrays, but where a way puts them there. */
    const int none = family->shape_axes < 0;
    const target_array arrays[] = {
        {"means", "<f8", "(3, 2)", s->means, sizeof s->means, 0},
        {"weights", "<f8", "(3,)", s->weights, sizeof s->weights, 0},
        {"variances", "<f8", variance_shapes[axes], s->variances, variances, none},
        {"mass", "<f8", "(3,)", s->mass, sizeof s->mass, 0},
        {moved ? "first_about" : "first", "<f8", "(3, 2)", s->first, sizeof s->first, 0},
        {moved ? "second_about" : "second", "<f8", second_shapes[axes], s->second,
         seconds, none},
        {"totals", "<f8", "(3,)", s->totals, sizeof s->totals, 0},
        {"counts", "<i8", "(4,)", s->counts, sizeof s->counts, 0},
        {"meta", "|u1", length, meta, strlen(meta), 0},
        {"about", "<f8", "(3, 2)", s->first, sizeof s->first, 0}};
    enum { ARRAYS = sizeof arrays / sizeof *arrays };
    /* From 16 on: which one, and in which way. */
    target_build(arrays, ARRAYS - !moved, odd >= 16 ? odd % 16 : ARRAYS, odd / 16,
                 odd_shapes);
}

/* What is handed out is finite. */
static void check_model(const vem_model *m)
{
    const size_t count = vem_model_variance_count(m);
    for (size_t i = 0; i < count; i++)
        if (!isfinite(m->variances[i]))
            abort();
    for (int64_t i = 0; i < (int64_t)m->clusters * m->d; i++)
        if (!isfinite(m->means[i]))
            abort();
    for (int32_t c = 0; c < m->clusters; c++)
        if (!isfinite(m->weights[c]))
            abort();
}

static void merge(void)
{
    vem_stats *stats = NULL, *again = NULL;
    vem_model *next = NULL;
    if (vem_stats_read(ctx, "fuzz.npz", &stats) == VEM_OK &&
        vem_stats_read(ctx, "fuzz.npz", &again) == VEM_OK) {
        vem_stats_summary summary = {.size = sizeof summary};
        if (vem_stats_add(ctx, stats, again) == VEM_OK &&
            vem_stats_next(ctx, stats, &next) == VEM_OK) {
            vem_stats_describe(stats, &summary);
            check_model(next);
        }
    }
    vem_model_free(next);
    vem_stats_free(stats);
    vem_stats_free(again);
}

static void read_model(void)
{
    vem_model *model = NULL;
    if (vem_model_read(ctx, "fuzz.npz", &model) == VEM_OK)
        check_model(model);
    else if (vem_ctx_message(ctx)[0] == '\0')
        abort(); /* an error without a sentence */
    vem_model_free(model);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    fuzz_input in = {bytes, size};
    const unsigned first = fuzz_byte(&in), odd = fuzz_byte(&in);
    const vem_stats *part = parts[first % FAMILIES];
    sheet s = sheet_of(part);
    while (in.left > 3)
        fuzz_edit(&in, (char *)&s, sizeof s);
    build(part, &s, odd);
    if (first & 4) {
        /* Without the sums it is a model. */
        archive *a = &made;
        for (size_t i = 0; i + 8 < a->size; i++)
            if (memcmp(a->bytes + i, "mass.npy", 8) == 0)
                a->bytes[i] = 'n';
        read_model();
    } else {
        merge();
    }
    return 0;
}
