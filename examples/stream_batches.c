/* Rows that come in batches and are not kept: a coreset of all so far, and a model of it at any time.
 *
 *     cc stream_batches.c $(pkg-config --cflags --libs vem) && ./a.out
 */
#include <inttypes.h>
#include <stdio.h>

#include <vem/vem.h>

enum { BATCHES = 40, BATCH = 2500, COLUMNS = 2, CLUSTERS = 2 };

/* A batch from two heaps at (0, 0) and (10, 5), nearly normal. */
static void next_batch(float *rows, uint32_t *state)
{
    for (int i = 0; i < BATCH * COLUMNS; i++) {
        double sum = -6;
        for (int k = 0; k < 12; k++) {
            *state = *state * 1664525u + 1013904223u;
            sum += *state / 4294967296.0;
        }
        const int second = i / COLUMNS % 2;
        rows[i] = (float)(sum + (second ? (i % COLUMNS == 0 ? 10 : 5) : 0));
    }
}

static vem_status add_batches(vem_ctx *ctx, vem_stream *stream)
{
    static float rows[BATCH * COLUMNS];
    uint32_t state = 1;
    vem_status status = VEM_OK;
    for (int b = 0; status == VEM_OK && b < BATCHES; b++) {
        next_batch(rows, &state);
        vem_data *batch = NULL;
        status = vem_data_borrow(ctx, VEM_FLOAT32, rows, BATCH, COLUMNS, 0, 0, &batch);
        if (status == VEM_OK)
            status = vem_stream_add(ctx, stream, batch);
        vem_data_free(batch);
    }
    printf("%" PRId64 " rows came, %" PRId64 " are kept\n", vem_stream_rows(stream),
           vem_stream_kept(stream));
    return status;
}

static vem_status show_model(vem_ctx *ctx, const vem_stream *stream)
{
    vem_options options;
    vem_options_init(&options);
    options.clusters = CLUSTERS;
    vem_model *model = NULL;
    const vem_status status = vem_stream_model(ctx, stream, &options, NULL, &model, NULL);
    const double *means = vem_model_means(model);
    for (int c = 0; status == VEM_OK && c < CLUSTERS; c++)
        printf("cluster %d: mean (%.1f, %.1f)\n", c, means[c * COLUMNS],
               means[c * COLUMNS + 1]);
    vem_model_free(model);
    return status;
}

int main(void)
{
    vem_ctx *ctx = NULL;
    vem_stream *stream = NULL;
    const vem_stream_options options = {.size = sizeof options,
                                        .bucket = 1000,
                                        .seed = 1};
    vem_status status = vem_ctx_new(&ctx);
    if (status == VEM_OK)
        status = vem_stream_new(ctx, &options, &stream);
    if (status == VEM_OK)
        status = add_batches(ctx, stream);
    if (status == VEM_OK)
        status = show_model(ctx, stream);
    if (status != VEM_OK)
        fprintf(stderr, "%s\n", vem_ctx_message(ctx));
    vem_stream_free(stream);
    vem_ctx_free(ctx);
    return status != VEM_OK;
}
