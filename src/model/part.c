#include "model/part.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "base/parallel.h"
#include "base/plain.h"
#include "model/family.h"

vem_status vem_i_part_new(vem_i_run *run, vem_model *model, vem_stats **part)
{
    vem_stats *made;
    vem_status status = vem_i_take_zeroed(run, &made, 1, sizeof *made);
    if (status != VEM_OK) {
        vem_model_free(model);
        return status;
    }
    made->model = model;
    made->parts = 1;
    const size_t means = (size_t)model->clusters * (size_t)model->d;
    status = vem_i_stats_new(run, vem_i_model_shape(model), &made->sums);
    if (status == VEM_OK)
        status = vem_i_take(run, &made->about, means, sizeof(double));
    if (status == VEM_OK)
        status = vem_i_take_zeroed(run, &made->marks.list, 1, sizeof *made->marks.list);
    if (status != VEM_OK) {
        vem_stats_free(made);
        return status;
    }
    made->marks.count = 1;
    if (model->family->shape_axes < 0)
        memset(made->about, 0, means * sizeof(double));
    else
        memcpy(made->about, model->means, means * sizeof(double));
    *part = made;
    return VEM_OK;
}

void vem_stats_free(vem_stats *stats)
{
    if (!stats)
        return;
    vem_model_free(stats->model);
    vem_i_stats_free(&stats->sums);
    vem_i_free(stats->about);
    vem_i_free(stats->marks.list);
    vem_i_free(stats);
}

/* ---- the same model and options ---- */

static int same_doubles(const double *a, const double *b, size_t count)
{
    return memcmp(a, b, count * sizeof *a) == 0;
}

static int same_model(const vem_model *a, const vem_model *b)
{
    const size_t clusters = (size_t)a->clusters, d = (size_t)a->d;
    return same_doubles(a->means, b->means, clusters * d) &&
           same_doubles(a->weights, b->weights, clusters) &&
           same_doubles(a->variances, b->variances, vem_model_variance_count(a)) &&
           !a->scale == !b->scale && (!a->scale || same_doubles(a->scale, b->scale, d));
}

static int differ_in_choice(const char *option, int a, int b, char *why, size_t size)
{
    if (a == b)
        return 0;
    snprintf(why, size, "one was made with --%s %s, the other with %s", option,
             vem_choice_name(option, a), vem_choice_name(option, b));
    return 1;
}

int vem_i_part_unlike(const vem_stats *a, const vem_stats *b, char *why, size_t size)
{
    const vem_model *m = a->model, *n = b->model;
    if (m->clusters != n->clusters || m->d != n->d) {
        snprintf(why, size,
                 "one model has %d clusters and %d columns, the other %d and %d",
                 m->clusters, m->d, n->clusters, n->d);
        return 1;
    }
    if (differ_in_choice("family", (int)m->family->kind, (int)n->family->kind, why,
                         size) ||
        differ_in_choice("prior", (int)a->prior, (int)b->prior, why, size) ||
        differ_in_choice("search", (int)a->search, (int)b->search, why, size) ||
        differ_in_choice("precision", (int)a->precision, (int)b->precision, why, size))
        return 1;
    if (a->held != b->held) {
        snprintf(why, size, "one was made with --held %d, the other with %d", a->held,
                 b->held);
        return 1;
    }
    if (a->floor != b->floor) {
        vem_i_plain_print(why, size,
                          "one was made with --floor %.17g, the other with %.17g",
                          a->floor, b->floor);
        return 1;
    }
    if (differ_in_choice("metric", (int)vem_model_metric(m), (int)vem_model_metric(n),
                         why, size))
        return 1;
    if (m->normalizes != n->normalizes) {
        snprintf(why, size, "one was made with --normalize, the other without");
        return 1;
    }
    if (!same_model(m, n)) {
        snprintf(why, size, "they were made with different models (%016llx and %016llx)",
                 (unsigned long long)vem_i_model_digest(m),
                 (unsigned long long)vem_i_model_digest(n));
        return 1;
    }
    return vem_i_marks_unlike(&a->marks, &b->marks, why, size);
}

int vem_i_part_differ(const vem_stats *a, const vem_stats *b, char *why, size_t size)
{
    return vem_i_part_unlike(a, b, why, size) ||
           vem_i_marks_differ(&a->marks, &b->marks, why, size);
}

int vem_i_part_moved(const vem_stats *part)
{
    if (part->model->family->shape_axes < 0)
        return 0; /* always about 0 */
    return !same_doubles(part->about, part->model->means,
                         (size_t)part->model->clusters * (size_t)part->model->d);
}

/* ---- sums ---- */

int64_t vem_i_part_work(const vem_stats *part)
{
    return part->sums.stride + 2 * (int64_t)part->sums.d;
}

void vem_i_part_join(vem_stats *part, int32_t c, const double *from, const double *about,
                     double *work)
{
    const int64_t d = part->sums.d, stride = part->sums.stride;
    double *own = part->sums.block + c * stride, *own_about = part->about + c * d;
    double *e = work + stride, *more_e = e + d;
    if (!(from[0] > 0))
        return;
    if (!(own[0] > 0))
        memcpy(own_about, about, (size_t)d * sizeof *own_about);
    if (same_doubles(own_about, about, (size_t)d)) {
        for (int64_t k = 0; k < stride; k++)
            own[k] += from[k];
        return;
    }
    for (int64_t j = 0; j < d; j++) {
        const double apart = about[j] - own_about[j];
        const double center =
            own_about[j] +
            (own[1 + j] + from[1 + j] + from[0] * apart) / (own[0] + from[0]);
        e[j] = own_about[j] - center;
        more_e[j] = about[j] - center;
        own_about[j] = center;
    }
    memcpy(work, own, (size_t)stride * sizeof *own);
    memset(own, 0, (size_t)stride * sizeof *own);
    vem_i_shift shift = {.e = e, .scale = part->model->scale, .mass = 1, .distance = 1};
    vem_i_moments_add(part->model->family, part->sums.d, work, &shift, own);
    shift.e = more_e;
    vem_i_moments_add(part->model->family, part->sums.d, from, &shift, own);
}

vem_status vem_i_part_add(vem_i_run *run, vem_stats *to, const vem_stats *from)
{
    int64_t rows, used, pairs, parts;
    char why[256];
    if (vem_i_part_differ(to, from, why, sizeof why))
        return vem_i_fail(run, VEM_BAD_OPTION, "These statistics do not add up: %s.",
                          why);
    if (__builtin_add_overflow(to->rows, from->rows, &rows) ||
        __builtin_add_overflow(to->rows_used, from->rows_used, &used) ||
        __builtin_add_overflow(to->pairs, from->pairs, &pairs) ||
        __builtin_add_overflow(to->parts, from->parts, &parts))
        return vem_i_fail(run, VEM_BAD_DATA,
                          "The statistics claim more rows than can be counted.");
    double *work;
    vem_status status = vem_i_take(run, &work, (size_t)vem_i_part_work(to), sizeof *work);
    if (status != VEM_OK)
        return status;
    status = vem_i_marks_add(run, &to->marks, &from->marks);
    if (status != VEM_OK) {
        vem_i_free(work);
        return status;
    }
    for (int32_t c = 0; c < to->sums.clusters; c++)
        vem_i_part_join(to, c, from->sums.block + c * from->sums.stride,
                        from->about + (int64_t)c * from->sums.d, work);
    vem_i_free(work);
    to->mass += from->mass;
    to->free_energy += from->free_energy;
    to->squared_error += from->squared_error;
    to->rows = rows;
    to->rows_used = used;
    to->pairs = pairs;
    to->parts = parts;
    return VEM_OK;
}

/* ---- digests: FNV-1a over the bytes of the values, lowest first ---- */

static uint64_t digest_word(uint64_t hash, uint64_t word)
{
    for (int i = 0; i < 8; i++, word >>= 8)
        hash = (hash ^ (word & 255)) * UINT64_C(0x100000001b3);
    return hash;
}

static uint64_t digest_doubles(uint64_t hash, const double *values, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        uint64_t bits;
        memcpy(&bits, &values[i], sizeof bits);
        hash = digest_word(hash, bits);
    }
    return hash;
}

static const uint64_t START = UINT64_C(0xcbf29ce484222325);

uint64_t vem_i_model_digest(const vem_model *model)
{
    const size_t clusters = (size_t)model->clusters, d = (size_t)model->d;
    uint64_t hash = digest_word(START, (uint64_t)model->family->kind);
    hash = digest_word(hash, (uint64_t)clusters);
    hash = digest_word(hash, (uint64_t)d);
    hash = digest_word(hash, (uint64_t)model->normalizes);
    hash = digest_doubles(hash, model->means, clusters * d);
    hash = digest_doubles(hash, model->weights, clusters);
    hash = digest_doubles(hash, model->variances, vem_model_variance_count(model));
    return model->scale ? digest_doubles(hash, model->scale, d) : hash;
}

uint64_t vem_i_part_digest(const vem_stats *part)
{
    const double totals[] = {part->mass, part->free_energy, part->squared_error};
    uint64_t hash = digest_doubles(START, totals, sizeof totals / sizeof *totals);
    hash = digest_word(hash, (uint64_t)part->rows);
    if (vem_i_part_moved(part))
        hash = digest_doubles(hash, part->about,
                              (size_t)part->sums.clusters * (size_t)part->sums.d);
    return digest_doubles(hash, part->sums.block,
                          (size_t)(part->sums.clusters * part->sums.stride));
}

/* ---- soundness ---- */

uint64_t vem_i_part_fingerprint(const vem_stats *stats)
{
    const uint64_t words[] = {vem_i_model_digest(stats->model),
                              (uint64_t)stats->prior,
                              (uint64_t)stats->search,
                              (uint64_t)stats->precision,
                              (uint64_t)stats->held,
                              (uint64_t)stats->marks.of};
    uint64_t sum = vem_i_mix(1, words, sizeof words);
    sum = vem_i_mix(sum, &stats->floor, sizeof stats->floor);
    return vem_i_mix(sum, stats->marks.list,
                     (size_t)stats->marks.count * sizeof *stats->marks.list);
}

int vem_i_part_is_sound(const vem_stats *part)
{
    /* Probabilities of single precision add up to 1 no better than this. */
    static const double CLOSE = 1e-3;
    const vem_i_stats *s = &part->sums;
    const vem_i_family *family = part->model->family;
    double mass = 0, probe = 0;
    for (int64_t i = 0; i < s->clusters * s->stride; i++)
        probe += s->block[i] * 0;
    for (int64_t i = 0; i < (int64_t)s->clusters * s->d; i++)
        probe += part->about[i] * 0;
    if (probe != 0 || !isfinite(part->free_energy) || !isfinite(part->mass) ||
        !(part->squared_error >= 0) || isinf(part->squared_error))
        return 0;
    for (int32_t c = 0; c < s->clusters; c++) {
        if (!(*vem_i_stats_mass(s, c) >= 0))
            return 0;
        mass += *vem_i_stats_mass(s, c);
    }
    for (int32_t j = 0; j < vem_i_square_count(family, s->d); j++)
        for (int32_t c = 0; c < s->clusters; c++)
            if (!(vem_i_stats_second(s, c)[vem_i_square_at(family, j)] >= 0))
                return 0;
    return part->mass >= 0 && fabs(mass - part->mass) <= CLOSE * part->mass &&
           part->rows >= 1 && part->rows_used >= 0 && part->rows_used <= part->rows &&
           part->pairs >= 0 && part->parts >= 1;
}
