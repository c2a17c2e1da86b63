/* The verb `agglomerate`: what the leaves are, whether they fit, and the tree (select/tree_grow.h). */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "api/fitting.h"
#include "base/memory.h"
#include "base/options.h"
#include "base/structs.h"
#include "fit/advice.h"
#include "fit/presets.h"
#include "model/evidence.h"
#include "select/select.h"
#include "select/tree_grow.h"
#include "use/assign.h"

enum { DEFAULT_LEAVES = 2000 };

/* ---- before ---- */

/* Clusters have a covariance matrix each unless the caller says otherwise, or rows are so
 * few for each column that its evidence would be that of the prior: noise would fall into
 * clusters (docs/math/trees.md). */
enum { ROWS_FOR_MATRICES = 10 };

static int has_few_rows(const vem_i_growing *g)
{
    return g->asked.method == VEM_DENDROGRAM_BAYES &&
           vem_i_has_few_rows(g->data, g->options, g->asked.prior, ROWS_FOR_MATRICES);
}

static const vem_i_family *family_for(const vem_i_growing *g)
{
    const int64_t asked = g->options->family;
    return vem_i_family_of((int)(asked != VEM_AUTO ? asked
                                 : has_few_rows(g) ? vem_i_columns_family()
                                                   : vem_i_mixture_family()));
}

static vem_status check(const vem_i_growing *g)
{
    const vem_options *o = g->options;
    const vem_dendrogram_options *t = &g->asked;
    const int64_t n = g->data->n;
    if (!vem_dendrogram_method_name(t->method))
        return vem_i_fail(g->run, VEM_BAD_OPTION, "There is no method number %d.",
                          (int)t->method);
    if (!vem_pairs_method_name(t->pairs))
        return vem_i_fail(g->run, VEM_BAD_OPTION, "There is no way of pairs number %d.",
                          (int)t->pairs);
    if (n < 2)
        return vem_i_fail(g->run, VEM_BAD_DATA,
                          "A tree needs at least 2 rows, but there is %s.",
                          n == 1 ? "1" : "none");
    if (t->leaves < 0 || t->leaves == 1)
        return vem_i_fail(g->run, VEM_BAD_OPTION,
                          "--leaves is %lld, but a tree has at least 2 leaves.",
                          (long long)t->leaves);
    if (t->method == VEM_DENDROGRAM_BAYES && !vem_i_has_evidence(g->family))
        return vem_i_fail(g->run, VEM_BAD_OPTION,
                          "--family is %s, but evidence is that of full, diag or iso.",
                          vem_choice_name("family", o->family));
    if (t->method != VEM_DENDROGRAM_BAYES && o->family != VEM_AUTO)
        return vem_i_fail(g->run, VEM_BAD_OPTION,
                          "--family is %s, but linkages (--method %s) have none.",
                          vem_choice_name("family", o->family),
                          vem_dendrogram_method_name(t->method));
    if (o->metric != VEM_METRIC_L2)
        return vem_i_fail(
            g->run, VEM_BAD_OPTION,
            "--metric is %s, but trees are grown by distances in space: use "
            "--normalize, of whose rows the nearest have the least angle.",
            vem_choice_name("metric", o->metric));
    double total = 0;
    for (int64_t i = 0; g->data->weights && i < n; i++) {
        total += g->data->weights[i];
        if (!(g->data->weights[i] > 0)) {
            return vem_i_fail(g->run, VEM_BAD_DATA,
                              "Row %lld has the weight 0: it has no place in a tree; "
                              "leave it out.",
                              (long long)vem_i_data_row_number(g->data, i) + 1);
        }
    }
    return g->data->weights && t->method == VEM_DENDROGRAM_BAYES
               ? vem_i_select_check_total(g->run, total, 0)
               : VEM_OK;
}

/* ---- leaves ---- */

/* The clusters of a fast fit, and which row belongs to which. */
static vem_status group_rows(vem_i_growing *g)
{
    vem_model *model = NULL;
    vem_report *report = NULL;
    vem_options o = *g->options;
    o.clusters = g->asked.leaves;
    o.family = VEM_AUTO;
    if (o.time != VEM_AUTO) /* half of it, and what is left of that */
        o.time =
            g->run->ctx->spent + fmax(1e-9, 0.5 * (g->run->deadline - vem_i_clock()));
    vem_i_fitting f = {.run = *g->run,
                       .data = g->data,
                       .asked = &o,
                       .clusters_by = "--leaves"};
    vem_status status = vem_i_fitting_run(&f, &model, &report);
    if (status == VEM_OK && g->run->watch->stop)
        status = VEM_STOPPED;
    if (status == VEM_OK)
        status = vem_i_take(g->run, &g->labels, (size_t)g->data->n, sizeof *g->labels);
    if (status == VEM_OK && vem_report_labels(report))
        memcpy(g->labels, vem_report_labels(report),
               (size_t)g->data->n * sizeof *g->labels);
    else if (status == VEM_OK)
        status = vem_i_label(g->run, model, g->data, (vem_precision)VEM_AUTO, g->labels);
    if (status == VEM_OK)
        g->groups = vem_model_clusters(model);
    vem_model_free(model);
    vem_report_free(report);
    return status;
}

/* Distances follow the columns of the largest spread, and so does the prior of covariance matrices,
 * which is the same in all directions. */
static vem_status tell_units(const vem_i_growing *g)
{
    const int bayes = g->asked.method == VEM_DENDROGRAM_BAYES;
    char told[VEM_I_TOLD];
    if (g->options->normalize || (bayes && (vem_i_is_diagonal(g->family) ||
                                            (g->asked.prior && g->asked.prior->scale))))
        return VEM_OK;
    const vem_status status =
        vem_i_columns_that_decide(g->run, g->data, g->view, told, sizeof told);
    if (status == VEM_OK && told[0])
        vem_i_dendrogram_note(g->tree,
                              "%s the merges almost alone: if the columns have different "
                              "units, --standardize%s makes all of them count.",
                              told, bayes ? " or --family diag" : "");
    return status;
}

static vem_status tell(const vem_i_growing *g)
{
    const vem_dendrogram_info *s = &g->tree->about;
    char few[VEM_I_TOLD];
    if (g->labels)
        vem_i_dendrogram_note(g->tree,
                              "leaves are %lld groups of the %lld rows, the clusters of "
                              "a fit by k-means%s.",
                              (long long)s->leaves, (long long)s->n,
                              g->asked.method == VEM_DENDROGRAM_BAYES
                                  ? ""
                                  : "; distances are those of their means");
    else if (g->asked.leaves >= g->data->n)
        vem_i_dendrogram_note(g->tree,
                              "--leaves %lld is as many as there are rows, or more: "
                              "leaves are the rows.",
                              (long long)g->asked.leaves);
    if (has_few_rows(g))
        vem_i_dendrogram_note(g->tree, "%s",
                              vem_i_few_rows_note(g->data, g->family, few));
    if (s->clusters == s->leaves && s->leaves > 2)
        vem_i_dendrogram_note(g->tree, "no merge has more evidence than the leaves as "
                                       "they are.");
    const vem_status status = tell_units(g);
    vem_i_say_plainly(g->run->ctx, g->tree->notes);
    return status;
}

/* Time was over: how far it came cannot be told from here, but what would help can. */
static vem_status fail_late(const vem_i_growing *g)
{
    char advice[64] = "";
    if (!vem_i_is_grouped(g) && g->data->n > DEFAULT_LEAVES)
        snprintf(advice, sizeof advice, ", or --leaves %d, which needs less",
                 DEFAULT_LEAVES);
    else if (vem_i_is_grouped(g))
        snprintf(advice, sizeof advice, ", or fewer --leaves");
    return vem_i_fail(g->run, VEM_STOPPED,
                      "--time %g was over before the tree was whole, and half a tree is "
                      "none: it needs more%s.",
                      g->options->time, advice);
}

static vem_status grow(vem_i_growing *g)
{
    const double start = vem_i_clock();
    vem_status status = vem_i_tree_plan(g);
    if (status == VEM_OK && vem_i_is_grouped(g))
        status = group_rows(g);
    const double loading = vem_i_clock();
    if (status == VEM_OK)
        status = vem_i_tree_load(g);
    const double merging = vem_i_clock();
    if (status == VEM_OK)
        status = vem_i_tree_grow(g);
    if (status == VEM_OK) {
        vem_dendrogram_info *s = &g->tree->about;
        if (g->labels)
            memcpy(g->tree->leaf_of, g->labels, (size_t)g->data->n * sizeof *g->labels);
        status = tell(g);
        s->seconds_leaves = loading - start;
        s->seconds_load = merging - loading;
        s->seconds_merge = vem_i_clock() - merging;
        s->seconds_total = vem_i_clock() - g->began;
        s->peak_bytes = vem_i_peak_bytes();
    }
    if (status == VEM_STOPPED && g->run->watch->stop)
        return vem_i_fail_stopped(g->run, "before the tree was whole");
    if (status == VEM_STOPPED && vem_i_late(g->run))
        return fail_late(g);
    return status;
}

vem_status vem_agglomerate(vem_ctx *ctx, const vem_data *data, const vem_options *options,
                           const vem_dendrogram_options *tree_options,
                           vem_dendrogram **tree)
{
    VEM_I_NEED(ctx, ctx, data, options, tree_options, tree);
    vem_i_verb verb;
    vem_i_run *run = vem_i_begin(ctx, &verb);
    vem_options asked;
    vem_i_growing g = {.run = run,
                       .data = data,
                       .options = &asked,
                       .began = vem_i_clock()};
    vem_status status = vem_i_struct_in(run, "vem_dendrogram_options", tree_options,
                                        &g.asked, sizeof g.asked);
    if (status == VEM_OK)
        status = vem_i_options_in(run, options, &asked);
    if (status == VEM_OK)
        status = vem_i_options_check(run, &asked);
    if (status == VEM_OK) {
        g.family = family_for(&g);
        status = check(&g);
    }
    if (status != VEM_OK)
        return status;
    if (asked.threads > 0)
        run->threads = vem_i_threads_had((int)asked.threads);
    if (asked.memory != VEM_AUTO)
        run->limit = (uint64_t)asked.memory;
    if (asked.time != VEM_AUTO)
        run->deadline = g.began + fmax(asked.time - ctx->spent, 1e-9);
    status = grow(&g);
    vem_i_points_free(g.points);
    vem_i_leaves_free(&g.leaves);
    vem_i_free(g.labels);
    if (status == VEM_OK) {
        *tree = g.tree;
        g.tree = NULL;
    }
    vem_dendrogram_free(g.tree);
    return status;
}
