/* What was found, cluster by cluster.
 *
 * Columns. m_j and s_j are mean and standard deviation of column j: of the rows where there
 * are data, else of the mixture,
 *
 *     m_j = sum_c pi_c mu_cj,     s_j^2 = sum_c pi_c (Sigma_cjj + (mu_cj - m_j)^2).
 *
 * Cluster c differs in column j by (mu_cj - m_j) / s_j, and has the spread
 * sqrt(mean_j Sigma_cjj / s_j^2): both are free of units, whatever the columns measure. A ball
 * has sqrt(sum_j Sigma_cjj / sum_j s_j^2), in the units in which it is one.
 *
 * Nearest. The other cluster of largest p(c', mu_c), found by the search that predict uses.
 * How much the two have in common: overlap.c.
 *
 * Merges. With data the pairs to merge are those that rows cannot tell apart: each row adds
 * its weight times the probability of its second best cluster to the pair of its two best
 * ones; the sum is taken as a share of the smaller of the two clusters.
 *
 * Exemplars. Rows of the cluster of least sum_j (x_j - mu_cj)^2 / Sigma_cjj. */
#include "use/describe.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "base/spill.h"
#include "base/whole.h"
#include "model/family.h"
#include "model/overlap.h"
#include "model/units.h"
#include "use/assign.h"
#include "use/describe_inside.h"
#include "use/pairs.h"

enum {
    LOOK =
        4096 /* rows of two labels and chances, 96 KiB: pages between looks at memory */
};
static const double SURE = 0.9; /* below, a second cluster has more than a ninth of it */

typedef vem_i_survey survey;

/* ---- Columns ---- */

static void columns_of_mixture(survey *s)
{
    const vem_model *m = s->model;
    const int64_t d = m->d;
    memset(s->means, 0, (size_t)d * sizeof(double));
    memset(s->variances, 0, (size_t)d * sizeof(double));
    for (int64_t c = 0; c < m->clusters; c++)
        for (int32_t j = 0; j < d; j++)
            s->means[j] += vem_i_model_share(m, c) * m->means[c * d + j];
    for (int64_t c = 0; c < m->clusters; c++)
        for (int32_t j = 0; j < d; j++) {
            const double off = m->means[c * d + j] - s->means[j];
            s->variances[j] +=
                vem_i_model_share(m, c) *
                (vem_i_model_covariance(m, c, j, j) / s->total + off * off);
        }
}

/* Differences are told in deviations of the columns, which must be numbers. */
static vem_status check_columns(const survey *s)
{
    for (int32_t j = 0; j < s->model->d; j++) {
        double widest = 0;
        for (int64_t c = 0; c < s->model->clusters; c++)
            widest = fmax(widest, vem_i_model_deviation(s->model, c, j));
        const int far = !isfinite(s->variances[j]) || !isfinite(s->means[j]);
        if (far || (widest > 0 && !(s->variances[j] > 0)))
            return vem_i_fail(s->run, VEM_BAD_DATA,
                              "Column %d of the model spreads so %s that squares of it "
                              "%s: rescale the data.",
                              (int)j + 1, far ? "far" : "little",
                              far ? "overflow" : "vanish");
    }
    return VEM_OK;
}

static void difference(survey *s, int64_t c)
{
    const vem_model *m = s->model;
    vem_cluster *it = &s->clusters[c];
    double spread = 0, all = 0;
    for (int k = 0; k < VEM_SHOWN_COLUMNS; k++) {
        it->columns[k] = -1;
        it->differences[k] = NAN;
    }
    for (int32_t j = 0; j < m->d; j++) {
        if (!(s->variances[j] > 0))
            continue; /* a constant column tells nothing */
        const double off = (m->means[c * m->d + j] - s->means[j]) / sqrt(s->variances[j]);
        int k = VEM_SHOWN_COLUMNS;
        while (k > 0 &&
               (it->columns[k - 1] < 0 || fabs(off) > fabs(it->differences[k - 1])))
            k--;
        for (int r = VEM_SHOWN_COLUMNS - 1; r > k; r--) {
            it->columns[r] = it->columns[r - 1];
            it->differences[r] = it->differences[r - 1];
        }
        if (k < VEM_SHOWN_COLUMNS) {
            it->columns[k] = j;
            it->differences[k] = off;
        }
        /* A ball is as large as it is in the units in which it is one: columns of small
         * numbers would say that it is huge. */
        const double unit = !vem_i_has_one_unit(m->family) ? s->variances[j]
                            : m->scale                     ? m->scale[j] * m->scale[j]
                                                           : 1;
        spread += vem_i_model_covariance(m, c, j, j) / s->total / unit;
        all += s->variances[j] / unit;
    }
    it->spread = all > 0 ? sqrt(spread / all) : NAN;
}

/* ---- Nearest clusters ---- */

/* A mean of counts is no row of counts: the nearest is what it has most in common with. */
static void nearest_by_overlap(survey *s)
{
    const vem_model *m = s->model;
    for (int32_t c = 0; c < m->clusters; c++) {
        vem_cluster *it = &s->clusters[c];
        for (int32_t other = 0; other < m->clusters; other++) {
            const double overlap =
                other == c ? -1 : vem_i_clusters_overlap(m, c, other, NULL);
            if (overlap < 0 || !(it->nearest < 0 || overlap > it->overlap))
                continue;
            it->nearest = other;
            it->overlap = overlap;
        }
    }
}

static vem_status find_nearest(survey *s, vem_precision precision)
{
    const vem_model *m = s->model;
    const int64_t clusters = m->clusters;
    const vem_assign_options how = {.size = sizeof how, .top = 2, .precision = precision};
    int32_t *best = NULL;
    double *work = NULL;
    vem_data *centers = NULL;
    for (int64_t c = 0; c < clusters; c++) {
        s->clusters[c].nearest = -1;
        s->clusters[c].overlap = NAN;
    }
    if (clusters < 2)
        return VEM_OK;
    if (!m->family->has_places) {
        nearest_by_overlap(s);
        return VEM_OK;
    }
    vem_status status = vem_i_take(s->run, &best, 2 * (size_t)clusters, sizeof *best);
    if (status == VEM_OK && vem_i_clusters_overlap_room(m))
        status = vem_i_take(s->run, &work, vem_i_clusters_overlap_room(m), sizeof *work);
    if (status == VEM_OK)
        status = vem_data_borrow(s->run->ctx, VEM_FLOAT64, m->means, clusters, m->d, 0, 0,
                                 &centers);
    if (status == VEM_OK)
        status = vem_i_assign_guided(s->run, m, centers, &how, best, NULL, NULL);
    for (int64_t c = 0; status == VEM_OK && c < clusters; c++) {
        const int32_t other = best[2 * c + (best[2 * c] == c)];
        if (other < 0 || other == c)
            continue;
        s->clusters[c].nearest = other;
        s->clusters[c].overlap = vem_i_clusters_overlap(m, c, other, work);
    }
    vem_data_free(centers);
    vem_i_free(work);
    vem_i_free(best);
    return status;
}

/* ---- Rows ---- */

/* Sums of n terms are off by n roundings: a variance below that is none. */
static void columns_of_rows(survey *s, const double *sums)
{
    const int32_t d = s->model->d;
    const double rounding = 2 * (double)s->data->n * DBL_EPSILON;
    for (int32_t j = 0; j < d; j++) {
        const double off = sums[j] / s->mass, square = sums[d + j] / s->mass;
        const double variance = square - off * off;
        s->means[j] += off;
        s->variances[j] = variance > rounding * square ? variance : 0;
    }
}

/* Sizes, doubts, and what pairs of clusters share. */
static vem_status count_rows(survey *s)
{
    vem_i_pairs pairs = {0};
    vem_status status = VEM_OK;
    for (int64_t i = 0; status == VEM_OK && i < s->data->n; i++) {
        const int32_t *best = s->best + i * s->top;
        const double *chance = s->chance + i * s->top, w = vem_i_survey_weight(s, i);
        if (best[0] < 0 || !(w > 0))
            continue;
        vem_cluster *it = &s->clusters[best[0]];
        it->rows++;
        it->mass += w;
        s->mass += w;
        if (chance[0] < SURE) {
            it->doubtful += w;
            s->doubtful += w;
        }
        if (s->top > 1 && best[1] >= 0 && chance[1] > 0)
            status = vem_i_pairs_add(s->run, &pairs, best[0], best[1], w * chance[1]);
        if (i % LOOK == 0)
            vem_i_residence_check(s->run);
    }
    for (size_t k = 0; status == VEM_OK && k < pairs.room; k++) {
        const vem_i_pair *p = &pairs.slots[k];
        if (p->a < 0)
            continue;
        vem_cluster *a = &s->clusters[p->a], *b = &s->clusters[p->b];
        const double least = fmin(a->mass, b->mass);
        const double shared = least > 0 ? fmin(p->sum / least, 1) : 0;
        for (int side = 0; side < 2; side++) {
            vem_cluster *it = side ? b : a;
            const int32_t other = side ? p->a : p->b;
            if (!(shared > 0) || it->shared > shared ||
                (it->shared == shared && it->rival >= 0 && it->rival < other))
                continue;
            it->shared = shared;
            it->rival = other;
        }
    }
    for (int64_t c = 0; c < s->model->clusters; c++) {
        vem_cluster *it = &s->clusters[c];
        it->doubtful = it->mass > 0 ? it->doubtful / it->mass : NAN;
    }
    vem_i_pairs_free(&pairs);
    return status;
}

static vem_status meet_rows(survey *s, vem_precision precision, vem_description *about)
{
    const size_t n = (size_t)s->data->n, d = (size_t)s->model->d;
    const size_t clusters = (size_t)s->model->clusters;
    s->top = s->model->clusters > 1 ? 2 : 1;
    const vem_assign_options how = {.size = sizeof how,
                                    .top = s->top,
                                    .precision = precision};
    vem_assign_report report = {.size = sizeof report};
    void *best = NULL, *chance = NULL;
    vem_i_mapping *spill; /* vem_array_free finds it */
    double *sums = NULL;
    for (size_t c = 0; c < clusters; c++) {
        vem_cluster *it = &s->clusters[c];
        it->rows = 0;
        it->mass = it->doubtful = it->shared = 0;
    }
    vem_status status =
        vem_i_spill_take(s->run, &best, n * (size_t)s->top, sizeof(int32_t), &spill);
    if (status == VEM_OK)
        status =
            vem_i_spill_take(s->run, &chance, n * (size_t)s->top, sizeof(double), &spill);
    if (status == VEM_OK)
        status = vem_i_take_zeroed(s->run, &sums, 2 * d, sizeof *sums);
    if (status == VEM_OK)
        status =
            vem_i_take(s->run, &s->nearness, clusters, VEM_SHOWN_ROWS * sizeof(double));
    if (status == VEM_OK)
        status =
            vem_i_assign_guided(s->run, s->model, s->data, &how, best, chance, &report);
    s->best = best;
    s->chance = chance;
    if (status == VEM_OK)
        status = count_rows(s);
    if (status == VEM_OK)
        status = vem_i_describe_rows(s, sums);
    if (status == VEM_OK && s->mass > 0) {
        columns_of_rows(s, sums);
        about->approximate = report.guided;
        about->recall = report.recall;
        about->recall_least = report.recall_least;
    }
    vem_array_free(s->run->ctx, best);
    vem_array_free(s->run->ctx, chance);
    vem_i_free(s->nearness);
    vem_i_free(sums);
    return status;
}

vem_status vem_i_describe(vem_i_run *run, const vem_model *model, const vem_data *data,
                          vem_precision precision, vem_cluster *clusters,
                          vem_description *about)
{
    const size_t d = (size_t)model->d;
    survey s = {
        .run = run, .model = model, .data = data, .clusters = clusters, .total = 1};
    if (vem_i_has_shares(model->family))
        s.total = fmax(vem_i_model_total(model), 1);
    about->approximate = 0;
    about->recall = about->recall_least = 1;
    vem_status status = vem_i_take(run, &s.means, 2 * d, sizeof *s.means);
    if (status == VEM_OK) {
        s.variances = s.means + d;
        columns_of_mixture(&s);
        for (int32_t c = 0; c < model->clusters; c++) {
            vem_cluster *it = &s.clusters[c];
            it->weight = vem_i_model_share(model, c);
            it->rows = it->rival = -1;
            it->mass = it->doubtful = it->shared = NAN;
            for (int k = 0; k < VEM_SHOWN_ROWS; k++)
                it->exemplars[k] = -1;
        }
        status = check_columns(&s);
    }
    const double rows = data ? (double)data->n : 0, clusters_too = rows + model->clusters;
    const int owner = vem_i_whole_begin(run, "assign", data ? data->n : model->clusters);
    vem_i_whole whole =
        vem_i_whole_narrow(run, 0, (double)model->clusters / clusters_too, 1);
    if (status == VEM_OK)
        status = find_nearest(&s, precision);
    vem_i_whole_widen(run, &whole);
    whole = vem_i_whole_narrow(run, (double)model->clusters / clusters_too, 1, 1);
    if (status == VEM_OK && data)
        status = meet_rows(&s, precision, about);
    vem_i_whole_widen(run, &whole);
    vem_i_whole_end(run, owner);
    if (status == VEM_OK) {
        for (int64_t c = 0; c < model->clusters; c++)
            difference(&s, c);
        for (size_t j = 0; j < d; j++) {
            if (about->means)
                about->means[j] = s.means[j];
            if (about->sds)
                about->sds[j] = sqrt(s.variances[j]);
        }
        about->mass = data ? s.mass : NAN;
        about->doubtful = data && s.mass > 0 ? s.doubtful / s.mass : NAN;
    }
    vem_i_free(s.means);
    return status;
}
