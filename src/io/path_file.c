/* Mixtures of several numbers of clusters beside the model of an .npz, one behind the
 * other:
 *
 *     path_clusters (M)            the number of each, ascending; the chosen one is the model's
 *     path_means (sum C, D), path_weights (sum C)
 *     path_variances               shapes of all clusters, or one of each mixture where it is shared; none of
 *                                  counts
 *     path_steps, path_parameters, path_free_energy, path_log_likelihood, path_log_likelihood_se,
 *     path_entropy, path_aic, path_bic, path_icl, path_objective (M)     what each is worth
 *     path_held_out (M)            likelihood of rows that were held out, where there were some
 *     path_choice (2)              the method, by its number, and the mass of all rows
 *
 * Files of versions that had the greedy method only lack path_objective and path_choice:
 * the objective was BIC. Family, scale, columns and all that is in meta are those of the
 * model. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "io/io.h"
#include "model/contract.h"
#include "model/path.h"

/* ---- writing ---- */

/* Members of the points, in the order of the names. */
enum { NUMBERS = 12, HELD_OUT = NUMBERS - 1, OBJECTIVE = HELD_OUT - 1, BIC = 8 };
static const char *const names[NUMBERS] = {"path_clusters",
                                           "path_steps",
                                           "path_parameters",
                                           "path_free_energy",
                                           "path_log_likelihood",
                                           "path_log_likelihood_se",
                                           "path_entropy",
                                           "path_aic",
                                           "path_bic",
                                           "path_icl",
                                           "path_objective",
                                           "path_held_out"};
static const char *const choice_name = "path_choice";

static void point_numbers(const vem_path_point *p, double numbers[NUMBERS])
{
    const double all[NUMBERS] = {(double)p->clusters,
                                 (double)p->steps,
                                 (double)p->parameters,
                                 p->free_energy,
                                 p->log_likelihood,
                                 p->log_likelihood_se,
                                 p->entropy,
                                 p->aic,
                                 p->bic,
                                 p->icl,
                                 p->objective,
                                 p->held_out};
    memcpy(numbers, all, sizeof all);
}

/* All arrays in one block of doubles. */
typedef struct packed {
    double *block;
    int64_t clusters, shapes, values; /* of all mixtures; doubles of a shape */
    double *means, *weights, *variances, *numbers;
} packed;

static vem_status pack_room(vem_i_run *run, const vem_path *path, packed *p)
{
    const vem_model *first = path->models[0];
    const int64_t d = first->d;
    *p = (packed){.values = vem_i_shape_values(first->family, first->d)};
    for (int32_t i = 0; i < path->count; i++) {
        p->clusters += path->models[i]->clusters;
        p->shapes += vem_i_model_shapes(path->models[i]);
    }
    const int64_t count =
        p->clusters * (d + 1) + p->shapes * p->values + (int64_t)path->count * NUMBERS;
    vem_status status = vem_i_take(run, &p->block, (size_t)count, sizeof(double));
    if (status != VEM_OK)
        return status;
    p->means = p->block;
    p->weights = p->means + p->clusters * d;
    p->variances = p->weights + p->clusters;
    p->numbers = p->variances + p->shapes * p->values;
    return VEM_OK;
}

static void pack(const vem_path *path, const packed *p)
{
    int64_t cluster = 0, shape = 0;
    for (int32_t i = 0; i < path->count; i++) {
        const vem_model *m = path->models[i];
        double numbers[NUMBERS];
        memcpy(p->means + cluster * m->d, m->means,
               (size_t)m->clusters * (size_t)m->d * sizeof(double));
        memcpy(p->weights + cluster, m->weights, (size_t)m->clusters * sizeof(double));
        if (p->values > 0)
            memcpy(p->variances + shape * p->values, m->variances,
                   vem_model_variance_count(m) * sizeof(double));
        cluster += m->clusters;
        shape += vem_i_model_shapes(m);
        point_numbers(&path->points[i], numbers);
        for (int k = 0; k < NUMBERS; k++)
            p->numbers[k * (int64_t)path->count + i] = numbers[k];
    }
}

static int has_held_out(const vem_path *path)
{
    for (int32_t i = 0; i < path->count; i++)
        if (isfinite(path->points[i].held_out))
            return 1;
    return 0;
}

vem_status vem_path_write(vem_ctx *ctx, const vem_path *path, const vem_model *model,
                          const char *file)
{
    VEM_I_NEED(ctx, ctx, path, model, file);
    vem_i_verb verb;
    vem_i_run *run = vem_i_begin(ctx, &verb);
    vem_i_array arrays[VEM_I_MORE_ARRAYS];
    packed p;
    int count = 0;
    if (path->count == 0)
        return vem_i_model_write(run, model, file, NULL, 0);
    vem_status status = VEM_OK;
    for (int32_t i = 0; status == VEM_OK && i < path->count; i++)
        status = vem_i_model_check_finite(run, path->models[i]);
    if (status == VEM_OK)
        status = pack_room(run, path, &p);
    if (status != VEM_OK)
        return status;
    pack(path, &p);
    const int64_t d = model->d;
    arrays[count++] =
        (vem_i_array){"path_means", VEM_FLOAT64, p.means, 2, {p.clusters, d}};
    arrays[count++] =
        (vem_i_array){"path_weights", VEM_FLOAT64, p.weights, 1, {p.clusters}};
    if (p.values > 0)
        arrays[count++] = (vem_i_array){"path_variances",
                                        VEM_FLOAT64,
                                        p.variances,
                                        1 + vem_i_shape_rank(model->family),
                                        {p.shapes, d, d}};
    for (int k = 0; k < NUMBERS - !has_held_out(path); k++)
        arrays[count++] = (vem_i_array){names[k],
                                        VEM_FLOAT64,
                                        p.numbers + k * (int64_t)path->count,
                                        1,
                                        {path->count}};
    const double choice[2] = {(double)path->method, path->mass};
    arrays[count++] = (vem_i_array){choice_name, VEM_FLOAT64, choice, 1, {2}};
    status = vem_i_model_write(run, model, file, arrays, count);
    vem_i_free(p.block);
    return status;
}

/* ---- reading ---- */

typedef struct reading {
    vem_i_run *run;
    const char *file;
    vem_model *model; /* the chosen one */
    double *numbers[NUMBERS];
    double *means, *weights, *variances;
    double *choice;                  /* NULL: of an older file */
    int64_t count, clusters, shapes; /* mixtures, and of all of them */
} reading;

static vem_status refuse(const reading *r, const char *array)
{
    return vem_i_fail(r->run, VEM_BAD_DATA,
                      "%s holds no valid path: its array %s does not fit the others.",
                      r->file, array);
}

/* One number for each of `rows`, or an array of so many dimensions, each of columns. */
static vem_status get_rows(const reading *r, vem_i_npz *npz, const char *name,
                           int64_t rows, int columns, double **values)
{
    int rank;
    int64_t dims[4];
    vem_status status = vem_i_npz_doubles(r->run, npz, name, &rank, dims, values);
    if (status != VEM_OK)
        return status;
    int fits = rank == 1 + columns && dims[0] == rows;
    for (int i = 1; fits && i <= columns; i++)
        fits = dims[i] == r->model->d;
    return fits ? VEM_OK : refuse(r, name);
}

static vem_status get_numbers(reading *r, vem_i_npz *npz)
{
    int rank;
    int64_t dims[4];
    vem_status status =
        vem_i_npz_doubles(r->run, npz, names[0], &rank, dims, &r->numbers[0]);
    if (status != VEM_OK)
        return status;
    if (rank != 1 || dims[0] > INT32_MAX)
        return refuse(r, names[0]);
    r->count = dims[0];
    for (int64_t i = 0; i < r->count; i++) {
        const double c = r->numbers[0][i];
        if (!(c >= 1 && c <= INT32_MAX && c == floor(c)))
            return refuse(r, names[0]);
        if (i > 0 && c <= r->numbers[0][i - 1])
            return vem_i_fail(r->run, VEM_BAD_DATA,
                              "%s holds no valid path: the numbers of clusters in its "
                              "array %s do not ascend (%.10g after %.10g).",
                              r->file, names[0], c, r->numbers[0][i - 1]);
        r->clusters += (int64_t)c;
        r->shapes += r->model->family->shared ? 1 : (int64_t)c;
    }
    for (int k = 1; status == VEM_OK && k < NUMBERS; k++)
        if (k < OBJECTIVE || vem_i_npz_has(npz, names[k]))
            status = get_rows(r, npz, names[k], r->count, 0, &r->numbers[k]);
    for (int64_t i = 0; status == VEM_OK && i < r->count; i++)
        for (int k = 1; k <= 2; k++)
            if (!(r->numbers[k][i] >= 0 && r->numbers[k][i] < 0x1p53))
                status = refuse(r, names[k]);
    return status;
}

static vem_status get_choice(reading *r, vem_i_npz *npz, vem_path *path)
{
    if (!r->numbers[OBJECTIVE] || !vem_i_npz_has(npz, choice_name)) {
        path->method = VEM_SELECT_GREEDY;
        return VEM_OK;
    }
    vem_status status = get_rows(r, npz, choice_name, 2, 0, &r->choice);
    if (status != VEM_OK)
        return status;
    const double method = r->choice[0], mass = r->choice[1];
    if (!(method >= 0 && method < VEM_SELECT_COUNT && method == floor(method)) ||
        !(mass >= 0 && isfinite(mass)))
        return refuse(r, choice_name);
    path->method = (vem_select_method)method;
    path->mass = mass;
    return VEM_OK;
}

/* Mixture i, whose clusters and shapes begin at these numbers. */
static vem_status build(const reading *r, int64_t i, int64_t cluster, int64_t shape,
                        vem_model **model)
{
    const vem_model *like = r->model;
    const int64_t values = vem_i_shape_values(like->family, like->d);
    vem_model *made = NULL;
    vem_status status =
        vem_model_new(r->run->ctx, like->family->kind, (int32_t)r->numbers[0][i], like->d,
                      r->means + cluster * like->d, r->weights + cluster,
                      values > 0 ? r->variances + shape * values : NULL, &made);
    if (status == VEM_OK && like->scale)
        status = vem_model_set_scale(r->run->ctx, made, like->scale);
    if (status == VEM_OK) {
        const vem_i_names table = vem_i_model_table(like);
        status = vem_i_names_copy(r->run, &table, &made->table);
    }
    if (status == VEM_OK && like->meta)
        status = vem_model_set_meta(r->run->ctx, made, like->meta);
    if (status != VEM_OK) {
        char reason[512];
        snprintf(reason, sizeof reason, "%.500s", vem_ctx_message(r->run->ctx));
        vem_model_free(made);
        return vem_i_fail(r->run, status,
                          "%s holds no valid path: its mixture of %d cluster%s (number "
                          "%" PRId64 " of %" PRId64 ") is broken. %s",
                          r->file, (int)r->numbers[0][i],
                          r->numbers[0][i] == 1 ? "" : "s", i + 1, r->count, reason);
    }
    made->normalizes = like->normalizes;
    made->prior = like->prior;
    *model = made;
    return VEM_OK;
}

static vem_status build_all(const reading *r, vem_path *path)
{
    int64_t cluster = 0, shape = 0;
    vem_status status = VEM_OK;
    const int of = r->choice ? OBJECTIVE : BIC;
    for (int64_t i = 0; status == VEM_OK && i < r->count; i++) {
        const vem_path_point point = {.clusters = (int32_t)r->numbers[0][i],
                                      .steps = (int64_t)r->numbers[1][i],
                                      .parameters = (int64_t)r->numbers[2][i],
                                      .free_energy = r->numbers[3][i],
                                      .log_likelihood = r->numbers[4][i],
                                      .log_likelihood_se = r->numbers[5][i],
                                      .entropy = r->numbers[6][i],
                                      .aic = r->numbers[7][i],
                                      .bic = r->numbers[8][i],
                                      .icl = r->numbers[9][i],
                                      .objective = r->numbers[of][i],
                                      .held_out = r->numbers[HELD_OUT]
                                                      ? r->numbers[HELD_OUT][i]
                                                      : NAN,
                                      .seconds = NAN};
        vem_model *model = NULL;
        status = build(r, i, cluster, shape, &model);
        if (status == VEM_OK)
            status = vem_i_path_append(r->run, path, &point, model);
        cluster += point.clusters;
        shape += r->model->family->shared ? 1 : point.clusters;
    }
    return status;
}

static vem_status read_path(reading *r, vem_i_npz *npz, vem_path **path)
{
    vem_path *made = NULL;
    vem_status status = vem_i_model_get(r->run, r->file, npz, &r->model);
    if (status == VEM_OK)
        status = get_numbers(r, npz);
    if (status == VEM_OK)
        status = get_rows(r, npz, "path_means", r->clusters, 1, &r->means);
    if (status == VEM_OK)
        status = get_rows(r, npz, "path_weights", r->clusters, 0, &r->weights);
    if (status == VEM_OK && vem_i_shape_values(r->model->family, r->model->d) > 0)
        status = get_rows(r, npz, "path_variances", r->shapes,
                          vem_i_shape_rank(r->model->family), &r->variances);
    if (status == VEM_OK)
        status = vem_i_path_new(r->run, (int32_t)r->count, &made);
    if (status == VEM_OK)
        status = get_choice(r, npz, made);
    if (status == VEM_OK)
        status = build_all(r, made);
    if (status == VEM_OK) {
        made->chosen = r->model->clusters;
        *path = made;
        made = NULL;
    }
    vem_path_free(made);
    return status;
}

static int has_path(const vem_i_npz *npz)
{
    return vem_i_npz_has(npz, "means") && vem_i_npz_has(npz, names[0]);
}

vem_status vem_path_read(vem_ctx *ctx, const char *file, vem_path **path)
{
    VEM_I_NEED(ctx, ctx, file, path);
    vem_i_verb verb;
    vem_i_run *run = vem_i_begin(ctx, &verb);
    reading r = {.run = run, .file = file};
    vem_i_npz *npz;
    vem_status status = vem_i_npz_open(run, file, &npz);
    if (status != VEM_OK)
        return status;
    if (!has_path(npz))
        status = vem_i_fail(run, VEM_BAD_DATA,
                            "%s holds no path of mixtures: vem select writes one.", file);
    else
        status = read_path(&r, npz, path);
    vem_i_npz_close(npz);
    vem_model_free(r.model);
    for (int k = 0; k < NUMBERS; k++)
        vem_i_free(r.numbers[k]);
    vem_i_free(r.means);
    vem_i_free(r.weights);
    vem_i_free(r.variances);
    vem_i_free(r.choice);
    return status;
}

int vem_file_has_path(const char *file)
{
    vem_i_npz *npz;
    if (!file || vem_i_npz_open(NULL, file, &npz) != VEM_OK)
        return 0;
    const int has = has_path(npz);
    vem_i_npz_close(npz);
    return has;
}
