/* Cluster an array that is already in memory.
 *
 *     cc fit_array.c $(pkg-config --cflags --libs vem) && ./a.out
 *
 * The rows are borrowed, not copied; the fit reports its progress and could be stopped
 * from there; afterwards new rows are assigned to the clusters that were found. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <vem/vem.h>

enum { ROWS = 3000, COLUMNS = 2, CLUSTERS = 3 };

/* Three round heaps of points, one after the other. */
static void fill(double *rows)
{
    static const double centers[CLUSTERS][COLUMNS] = {{0, 0}, {8, 0}, {4, 7}};
    uint32_t state = 1;
    for (int i = 0; i < ROWS; i++) {
        for (int j = 0; j < COLUMNS; j++) {
            double sum = 0; /* of 12 uniform numbers: nearly normal, variance 1 */
            for (int k = 0; k < 12; k++) {
                state = state * 1664525u + 1013904223u;
                sum += state / 4294967296.0;
            }
            rows[i * COLUMNS + j] = centers[i * CLUSTERS / ROWS][j] + sum - 6;
        }
    }
}

/* A result other than 0 would end the fit after the current step. */
static int show(void *user, const vem_progress *progress)
{
    (void)user;
    if (strcmp(progress->phase, "em") != 0)
        return 0; /* reading, seeding: there is no F yet */
    fprintf(stderr, "%s: step %lld, F = %g\n", progress->phase, (long long)progress->step,
            progress->free_energy);
    return 0;
}

static int cluster(vem_ctx *ctx, const vem_data *data)
{
    vem_options options;
    vem_options_init(&options);
    options.clusters = CLUSTERS;
    options.family = VEM_FULL;
    vem_model *model = NULL;
    vem_report *report = NULL;
    if (vem_fit(ctx, data, &options, NULL, &model, &report) != VEM_OK)
        return 1;
    const vem_summary *summary = vem_report_summary(report);
    printf("%s after %lld steps, F = %.4f per row\n", vem_outcome_name(summary->outcome),
           (long long)summary->steps, summary->free_energy);
    const double *means = vem_model_means(model);
    const double *weights = vem_model_weights(model);
    for (int c = 0; c < vem_model_clusters(model); c++)
        printf("cluster %d: weight %.3f, mean (%.2f, %.2f)\n", c, weights[c],
               means[c * COLUMNS], means[c * COLUMNS + 1]);

    /* Two clusters each for two new rows: one clear case, one between two heaps. */
    static const double fresh[2][COLUMNS] = {{8, 1}, {4, 0}};
    vem_data *more = NULL;
    int32_t clusters[2][2];
    double probabilities[2][2];
    vem_status status = vem_data_borrow(ctx, VEM_FLOAT64, fresh, 2, COLUMNS, 0, 0, &more);
    if (status == VEM_OK)
        status = vem_assign(ctx, model, more, 2, VEM_DOUBLE, &clusters[0][0],
                            &probabilities[0][0]);
    if (status == VEM_OK) {
        for (int i = 0; i < 2; i++)
            printf("(%g, %g): cluster %d with probability %.3f, cluster %d with %.3f\n",
                   fresh[i][0], fresh[i][1], (int)clusters[i][0], probabilities[i][0],
                   (int)clusters[i][1], probabilities[i][1]);
    }
    vem_data_free(more);
    vem_report_free(report);
    vem_model_free(model);
    return status == VEM_OK ? 0 : 1;
}

int main(void)
{
    vem_ctx *ctx = NULL;
    vem_data *data = NULL;
    double *rows = malloc(sizeof(double) * ROWS * COLUMNS);
    int failed = 1;
    if (rows && vem_ctx_new(&ctx) == VEM_OK) {
        fill(rows);
        vem_ctx_set_progress(ctx, show, NULL);
        if (vem_data_borrow(ctx, VEM_FLOAT64, rows, ROWS, COLUMNS, 0, 0, &data) == VEM_OK)
            failed = cluster(ctx, data);
    }
    if (failed)
        fprintf(stderr, "%s\n", ctx ? vem_ctx_message(ctx) : "There is no memory.");
    vem_data_free(data);
    vem_ctx_free(ctx);
    free(rows);
    return failed;
}
