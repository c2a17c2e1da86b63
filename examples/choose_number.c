/* How many clusters are there? Bayesian k-means finds the number with the mixture.
 *
 *     cc choose_number.c $(pkg-config --cflags --libs vem) && ./a.out
 *
 * The rows are generated with their classes, so that the answer can be compared with the truth. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include <vem/vem.h>

enum { CLUSTERS = 5, ROWS = 5000 };

/* What was found beside what the rows were drawn from. */
static vem_status compare(vem_ctx *ctx, const vem_model *model, const vem_data *data,
                          const int32_t *classes, int64_t n)
{
    int32_t *found = malloc(sizeof *found * (size_t)n);
    int64_t *labels = malloc(2 * sizeof *labels * (size_t)n);
    vem_agreement agreement = {.size = sizeof agreement};
    vem_status status = VEM_NO_MEMORY;
    if (found && labels)
        status = vem_assign(ctx, model, data, 1, VEM_DOUBLE, found, NULL);
    for (int64_t i = 0; status == VEM_OK && i < n; i++) {
        labels[i] = found[i];
        labels[n + i] = classes[i];
    }
    if (status == VEM_OK)
        status = vem_compare(ctx, labels, labels + n, n, &agreement);
    if (status == VEM_OK)
        printf("adjusted Rand index with the truth: %.3f\n", agreement.ari);
    free(found);
    free(labels);
    return status;
}

static vem_status choose(vem_ctx *ctx, const vem_data *data, const int32_t *classes)
{
    vem_options options;
    vem_options_init(&options);
    vem_select_options select = {.size = sizeof select, .method = VEM_SELECT_BAYES};
    vem_model *model = NULL;
    vem_path *path = NULL;
    vem_status status = vem_select(ctx, data, &options, &select, &model, &path, NULL);
    vem_path_summary summary = {.size = sizeof summary};
    if (status == VEM_OK)
        status = vem_path_describe(ctx, path, &summary);
    if (status == VEM_OK) {
        printf("%" PRId32 " clusters by %s\n", summary.clusters, summary.criterion);
        for (int32_t i = 0; i < vem_path_count(path); i++) {
            const vem_path_point *point = vem_path_at(path, i);
            printf("  %" PRId32 " clusters: %.1f\n", point->clusters, point->objective);
        }
        status = compare(ctx, model, data, classes, vem_data_rows(data));
    }
    vem_path_free(path);
    vem_model_free(model);
    return status;
}

int main(void)
{
    vem_ctx *ctx = NULL;
    vem_data *data = NULL;
    double *rows = NULL;
    int32_t *classes = NULL, d = 0;
    int64_t n = 0;
    vem_generate_options make = {.size = sizeof make,
                                 .clusters = CLUSTERS,
                                 .d = 3,
                                 .n = ROWS,
                                 .separation = 3,
                                 .seed = 1};
    vem_status status = vem_ctx_new(&ctx);
    if (status == VEM_OK)
        status = vem_generate(ctx, VEM_SEPARATED, &make, &n, &d, &rows, &classes, NULL);
    if (status == VEM_OK)
        status = vem_data_borrow(ctx, VEM_FLOAT64, rows, n, d, 0, 0, &data);
    if (status == VEM_OK)
        status = choose(ctx, data, classes);
    if (status != VEM_OK)
        fprintf(stderr, "%s\n", vem_ctx_message(ctx));
    vem_data_free(data);
    free(rows);
    free(classes);
    vem_ctx_free(ctx);
    return status != VEM_OK;
}
