/* With balls for clusters the squared distance is a sum over columns, and column j has the share
 *
 *     s_j = var_j / sum_k var_k
 *
 * of its mean over pairs of rows. Where one column has nearly all of it, or a few of many, the
 * clusters are those of these columns alone: rarely what was meant when columns have units of
 * their own. The variances are known from the view; nothing is computed twice. */
#include "fit/advice.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/plain.h"
#include "comm/comm.h"

enum {
    FEW = 3,
    SPARE = 4, /* columns that may be named; of at least so many times as many */
    BLOCK_VALUES = 1 << 13
};
static const double ONE_HOLDS = 0.95, FEW_HOLD = 0.99;

typedef struct share {
    double share;
    int32_t column;
} share;

static int by_share(const void *a, const void *b)
{
    const share *x = a, *y = b;
    if (x->share != y->share)
        return x->share > y->share ? -1 : 1;
    return x->column < y->column ? -1 : x->column > y->column;
}

static void append_name(const vem_data *data, int32_t column, const char *before,
                        char *text, size_t size)
{
    const char *name = vem_data_column_name(data, column);
    char shown[VEM_I_SHOWN];
    size_t used = 0;
    while (used < size && text[used])
        used++;
    snprintf(text + used, size - used, "%s%d%s%s%s", before,
             (int)vem_i_data_column_number(data, column), name ? " (" : "",
             name ? vem_i_names_shown(name, strlen(name), shown) : "", name ? ")" : "");
}

/* The view says 1 for the deviation of a constant column. */
static int is_constant(const vem_view *view, int32_t j)
{
    return view->deviations[j] == 1;
}

static void tell(const vem_data *data, const share *shares, int32_t count, double sum,
                 char *text, size_t size)
{
    char names[320] = "", percent[32];
    for (int32_t k = 0; k < count; k++)
        append_name(data, shares[k].column,
                    k == 0           ? ""
                    : k == count - 1 ? " and "
                                     : ", ",
                    names, sizeof names);
    if (sum < 0.9999)
        vem_i_plain_print(percent, sizeof percent, "%.4g %%", 100 * sum);
    else
        snprintf(percent, sizeof percent, "more than 99.99 %%");
    snprintf(text, size,
             "column%s %s %s %s of the squared distance between rows and decide%s",
             count == 1 ? "" : "s", names, count == 1 ? "holds" : "hold", percent,
             count == 1 ? "s" : "");
}

vem_status vem_i_columns_that_decide(vem_i_run *run, const vem_data *data,
                                     const vem_view *view, char *text, size_t size)
{
    const double total = view->variance * view->d;
    text[0] = 0;
    if ((view->scale && !view->whitened) || !(total > 0) || view->d < 2)
        return VEM_OK;
    share *shares;
    vem_status status = vem_i_take(run, &shares, (size_t)view->d, sizeof *shares);
    if (status != VEM_OK)
        return status;
    int32_t varying = 0;
    for (int32_t j = 0; j < view->d; j++)
        if (!is_constant(view, j))
            shares[varying++] =
                (share){view->deviations[j] * view->deviations[j] / total, j};
    qsort(shares, (size_t)varying, sizeof *shares, by_share);
    double sum = 0;
    for (int32_t k = 0; k < FEW && k + 1 < varying; k++) {
        sum += shares[k].share;
        if (sum >= (k == 0 ? ONE_HOLDS : FEW_HOLD) &&
            (k == 0 || varying >= SPARE * (k + 1))) {
            tell(data, shares, k + 1, sum, text, size);
            break;
        }
    }
    vem_i_free(shares);
    return VEM_OK;
}

vem_status vem_i_advise_units(vem_i_run *run, const vem_data *data, const vem_view *view,
                              const vem_options *options, vem_report *report)
{
    const vem_i_family *family = vem_i_family_of(options->family);
    char told[VEM_I_TOLD];
    if (!vem_i_has_one_unit(family) || options->normalize)
        return VEM_OK;
    const vem_status status =
        vem_i_columns_that_decide(run, data, view, told, sizeof told);
    if (status == VEM_OK && told[0])
        vem_i_report_note(report,
                          "%s the clusters almost alone: if the columns have different "
                          "units, --standardize or --family diag makes all of them "
                          "count.",
                          told);
    return status;
}

/* Of the columns that several processes have found, those that all have. */
static vem_status keep_common(vem_i_run *run, int32_t *columns, int32_t *count, int32_t d)
{
    unsigned char *gone = NULL;
    const vem_status status = vem_i_take(run, &gone, (size_t)d, 1);
    if (status != VEM_OK)
        return status;
    memset(gone, 1, (size_t)d);
    for (int32_t k = 0; k < *count; k++)
        gone[columns[k]] = 0;
    run->peers->combine(run->peers, VEM_I_OR_BYTES, gone, (size_t)d);
    *count = 0;
    for (int32_t j = 0; j < d; j++)
        if (!gone[j])
            columns[(*count)++] = j;
    vem_i_free(gone);
    return VEM_OK;
}

/* Nearly always no column is left after the first few rows. */
vem_status vem_i_constant_columns(vem_i_run *run, const vem_data *data, char *text,
                                  size_t size, int32_t *count)
{
    const int64_t d = data->d, block = d < BLOCK_VALUES ? BLOCK_VALUES / d : 1;
    int32_t *columns = NULL, left = 0;
    double *first = NULL, *rows = NULL;
    const vem_i_comm *comm = run->peers;
    const int64_t begin = comm ? vem_i_spaced(data->n, comm->size, comm->rank) : 0,
                  end =
                      comm ? vem_i_spaced(data->n, comm->size, comm->rank + 1) : data->n;
    vem_status status = vem_i_take(run, &columns, (size_t)d, sizeof *columns);
    if (status == VEM_OK)
        status = vem_i_take(run, &first, (size_t)d, sizeof *first);
    if (status == VEM_OK)
        status = vem_i_take(run, &rows, (size_t)(block * d), sizeof *rows);
    for (int32_t j = 0; status == VEM_OK && j < d; j++)
        columns[left++] = j;
    if (status == VEM_OK)
        vem_i_data_load(data, 0, 1, VEM_DOUBLE, first, (int32_t)d);
    for (int64_t i = begin; status == VEM_OK && left > 0 && i < end; i += block) {
        const int64_t many = end - i < block ? end - i : block;
        int32_t kept = 0;
        vem_i_data_load(data, i, many, VEM_DOUBLE, rows, d);
        for (int32_t k = 0; k < left; k++) {
            int64_t r = 0;
            while (r < many && rows[r * d + columns[k]] == first[columns[k]])
                r++;
            if (r == many)
                columns[kept++] = columns[k];
        }
        left = kept;
        vem_i_residence_check(run);
    }
    if (status == VEM_OK && comm)
        status = keep_common(run, columns, &left, (int32_t)d);
    text[0] = '\0';
    for (int32_t k = 0; status == VEM_OK && k < left && k <= FEW; k++)
        append_name(data, columns[k],
                    k == 0    ? ""
                    : k < FEW ? ", "
                              : ", ... ",
                    text, size);
    *count = left;
    vem_i_free(columns);
    vem_i_free(first);
    vem_i_free(rows);
    return status;
}

int32_t vem_i_level_columns(const vem_data *data, const vem_model *model,
                            const vem_i_constraints *limits, char *text, size_t size)
{
    int32_t count = 0;
    text[0] = '\0';
    for (int32_t j = 0; limits->units && j < model->d; j++) {
        const double least = limits->floor * limits->units[j] * limits->units[j];
        int level = 1;
        for (int64_t c = 0; level && c < model->clusters; c++)
            level = vem_i_cluster_shape(model, c)[vem_i_variance_at(model, j)] <=
                    least * (1 + 1e-6);
        if (!level)
            continue;
        if (count < FEW)
            append_name(data, j, count ? ", " : "", text, size);
        else if (count == FEW)
            append_name(data, j, ", ... ", text, size);
        count++;
    }
    return count;
}

void vem_i_floored_place(const vem_data *data, const vem_model *model,
                         const vem_i_constraints *limits, char *text, size_t size)
{
    const int by_column = model->family->by_column;
    text[0] = '\0';
    for (int64_t c = 0; by_column && c < model->clusters; c++)
        for (int32_t j = 0; j < model->d; j++) {
            if (vem_i_cluster_shape(model, c)[vem_i_variance_at(model, j)] >
                vem_i_floor_column(limits, j) * (1 + 1e-6))
                continue;
            snprintf(text, size, " (cluster %lld in column ", (long long)c);
            append_name(data, j, "", text, size);
            snprintf(text + strlen(text), size - strlen(text), ")");
            return;
        }
}

vem_status vem_i_advise_constant(vem_i_run *run, const vem_data *data, vem_report *report)
{
    char names[320];
    int32_t count = 0;
    const vem_status status =
        vem_i_constant_columns(run, data, names, sizeof names, &count);
    if (status == VEM_OK && count > 0 && data->n > 1)
        vem_i_report_note(report,
                          "column%s %s %s constant: %s variance there is what the prior "
                          "says, and adds to the evidence; --columns can leave %s out.",
                          count == 1 ? "" : "s", names, count == 1 ? "is" : "are",
                          count == 1 ? "its" : "their", count == 1 ? "it" : "them");
    return status;
}

void vem_i_advise_floor(const vem_data *data, const vem_view *view,
                        const vem_model *model, const vem_i_constraints *limits,
                        int64_t floored, const vem_options *asked,
                        const vem_options *resolved, vem_report *report)
{
    char cause[80], names[320];
    const int32_t level = vem_i_level_columns(data, model, limits, names, sizeof names);
    /* All of them: not the columns but the clusters are too small. */
    if (level > 0 && level < model->d) {
        vem_i_report_note(report,
                          "column%s %s %s constant, or nearly so, in every cluster: "
                          "%s variance there is what --floor %g leaves %s, and adds to "
                          "the free energy; --columns can leave %s out.",
                          level == 1 ? "" : "s", names, level == 1 ? "is" : "are",
                          level == 1 ? "its" : "their", resolved->floor,
                          level == 1 ? "it" : "them", level == 1 ? "it" : "them");
        return;
    }
    const double least = resolved->floor * (limits->units ? 1 : view->variance);
    if (limits->floor > least)
        snprintf(cause, sizeof cause, "The least number that %s precision divides by",
                 vem_choice_name("precision", (int)resolved->precision));
    else if (resolved->floor > asked->floor)
        vem_i_plain_print(cause, sizeof cause, "The least --floor in %s precision, %.2g,",
                          vem_choice_name("precision", (int)resolved->precision),
                          resolved->floor);
    else
        vem_i_plain_print(cause, sizeof cause, "--floor %g", resolved->floor);
    char where[160];
    vem_i_floored_place(data, model, limits, where, sizeof where);
    vem_i_report_note(
        report,
        "%s keeps variances of %lld of %lld clusters from falling further%s: "
        "those hold too few or too similar rows for family %s. A larger --floor%s "
        "would help.",
        cause, (long long)floored, (long long)model->clusters, where,
        vem_choice_name("family", (int)model->family->kind),
        *where ? ", fewer clusters, or to leave that column out with --id,"
               : " or fewer clusters");
}

int vem_i_has_few_rows(const vem_data *data, const vem_options *options,
                       const vem_prior_options *prior, int32_t rows_each)
{
    return options->family == VEM_AUTO && !(prior && prior->scale) &&
           data->n < (int64_t)rows_each * data->d;
}

const char *vem_i_few_rows(const vem_data *data, char told[VEM_I_FEW])
{
    snprintf(told, VEM_I_FEW, "%lld %s few beside %d column%s", (long long)data->n,
             data->n == 1 ? "row is" : "rows are", data->d, data->d == 1 ? "" : "s");
    return told;
}

const char *vem_i_few_rows_note(const vem_data *data, const vem_i_family *family,
                                char note[VEM_I_TOLD])
{
    char told[VEM_I_FEW];
    snprintf(note, VEM_I_TOLD,
             "clusters are those of family %s: %s, and the evidence of a covariance "
             "matrix for each cluster would be that of its prior. --family full takes "
             "them all the same.",
             vem_choice_name("family", (int)family->kind), vem_i_few_rows(data, told));
    return note;
}
