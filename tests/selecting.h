/* What the tests of vem_select share: heaps of rows, and selections of them. After a context `ctx`. */
#ifndef VEM_TESTS_SELECTING_H
#define VEM_TESTS_SELECTING_H

#include "grid.h"

/* Balls, ellipsoids where `turned`, about centers of a grid, `apart` deviations from each other. */
static inline grid_data heaps(int32_t count, int64_t each, int32_t d, double apart,
                              int turned, int32_t *truth)
{
    grid_data data = {.n = count * each, .d = d};
    data.x = malloc((size_t)(data.n * d) * sizeof(double));
    for (int64_t i = 0; i < data.n; i++) {
        const int32_t c = (int32_t)(i / each);
        vem_i_rng center = vem_i_rng_at(5, VEM_RNG_TEST, 0, (uint64_t)c),
                  noise = vem_i_rng_at(6, VEM_RNG_TEST, 1, (uint64_t)i);
        double z[16], at = 0;
        for (int32_t j = 0; j < d; j++)
            z[j] = vem_i_rng_normal(&noise);
        for (int32_t j = 0; j < d; j++) {
            /* Cells of a grid with so many sides, and some play within each. */
            const double cell = floor(c / pow(3, j));
            const double place =
                apart * (cell - 3 * floor(cell / 3)) + 0.5 * vem_i_rng_uniform(&center);
            at = turned && j > 0 ? z[j] + 0.6 * z[j - 1] : z[j];
            data.x[i * d + j] = place + at;
        }
        if (truth)
            truth[i] = c;
    }
    return data;
}

typedef struct found {
    vem_model *model;
    vem_path *path;
    vem_report *report;
} found;

static inline vem_status try_select(const grid_data *data, const vem_options *o,
                                    const vem_select_options *s, found *f)
{
    vem_data *rows = grid_borrow(ctx, data);
    *f = (found){0};
    const vem_status status =
        vem_select(ctx, rows, o, s, &f->model, &f->path, &f->report);
    vem_data_free(rows);
    return status;
}

static inline found find(const grid_data *data, vem_select_method method,
                         const vem_options *o, int32_t least, int32_t most)
{
    const vem_select_options s = {.size = sizeof s,
                                  .method = method,
                                  .min_clusters = least,
                                  .max_clusters = most};
    found f;
    if (try_select(data, o, &s, &f) != VEM_OK)
        fail_msg("%s", vem_ctx_message(ctx));
    return f;
}

static inline void found_free(found *f)
{
    vem_model_free(f->model);
    vem_path_free(f->path);
    vem_report_free(f->report);
}

static inline vem_options options(vem_family_kind family)
{
    vem_options o;
    vem_options_init(&o);
    if ((int)family >= 0)
        o.family = (int)family;
    return o;
}

#endif
