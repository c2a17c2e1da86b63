/* What a model says of rows: labels, probabilities, densities, scores; rows drawn from it. */
#include <stdlib.h>

#include "vem_python.h"

/* Most verbs here take a model, data, the precision, and a buffer for results. */
typedef struct use {
    const vem_model *model;
    const vem_data *data;
    int precision;
    Py_buffer out;
} use;

static int use_begin(PyObject *module, PyObject *model, PyObject *data, PyObject *out,
                     int64_t bytes_a_row, use *u)
{
    u->model = model_of(module, model);
    u->data = u->model ? data_of(module, data) : NULL;
    return u->data && buffer_of(out, 1, vem_data_rows(u->data) * bytes_a_row,
                                "the array of results", &u->out);
}

/* assign(model, data, top, precision, clusters, probabilities or None, settings) */
static PyObject *assign(PyObject *module, PyObject *args)
{
    PyObject *model, *data, *out, *shares, *settings = NULL, *result = NULL;
    int top, precision;
    Py_buffer probabilities = {.obj = NULL, .buf = NULL};
    use u;
    call c;
    if (!PyArg_ParseTuple(args, "OOiiOO|O:assign", &model, &data, &top, &precision, &out,
                          &shares, &settings))
        return NULL;
    if (top < 1) {
        PyErr_SetString(PyExc_ValueError,
                        "the number of clusters for a row must be 1 or more.");
        return NULL;
    }
    if (!use_begin(module, model, data, out, top * (int64_t)sizeof(int32_t), &u))
        return NULL;
    int ready =
        shares == Py_None ||
        buffer_of(shares, 1, vem_data_rows(u.data) * top * (int64_t)sizeof(double),
                  "the array of probabilities", &probabilities);
    if (ready && call_begin_on(&c, settings, data)) {
        call_release(&c);
        const vem_status status =
            vem_assign(c.ctx, u.model, u.data, top, (vem_precision)precision, u.out.buf,
                       shares == Py_None ? NULL : probabilities.buf);
        call_take(&c);
        if (call_check(&c, status))
            result = text_or_none(NULL);
        call_end(&c);
    }
    if (ready && shares != Py_None)
        PyBuffer_Release(&probabilities);
    PyBuffer_Release(&u.out);
    return result;
}

/* A verb with one array of doubles as its result, so many for each row. */
typedef vem_status (*rows_verb)(vem_ctx *ctx, const vem_model *model,
                                const vem_data *data, vem_precision precision,
                                double *out);

static PyObject *for_rows(PyObject *module, PyObject *args, rows_verb verb, int all)
{
    PyObject *model, *data, *out, *settings = NULL, *result = NULL;
    int precision;
    use u;
    call c;
    if (!PyArg_ParseTuple(args, "OOiO|O", &model, &data, &precision, &out, &settings) ||
        !model_of(module, model))
        return NULL;
    const int64_t values = all ? vem_model_clusters(model_of(module, model)) : 1;
    if (!use_begin(module, model, data, out, values * (int64_t)sizeof(double), &u))
        return NULL;
    if (call_begin_on(&c, settings, data)) {
        call_release(&c);
        const vem_status status =
            verb(c.ctx, u.model, u.data, (vem_precision)precision, u.out.buf);
        call_take(&c);
        if (call_check(&c, status))
            result = text_or_none(NULL);
        call_end(&c);
    }
    PyBuffer_Release(&u.out);
    return result;
}

static PyObject *posterior(PyObject *module, PyObject *args)
{
    return for_rows(module, args, vem_posterior, 1);
}

static PyObject *log_densities(PyObject *module, PyObject *args)
{
    return for_rows(module, args, vem_log_densities, 0);
}

static PyObject *score(PyObject *module, PyObject *args)
{
    PyObject *of_model, *of_data, *settings = NULL, *result = NULL;
    int held, precision;
    vem_scores s = {.size = sizeof s};
    call c;
    if (!PyArg_ParseTuple(args, "OOii|O:score", &of_model, &of_data, &held, &precision,
                          &settings))
        return NULL;
    const vem_model *model = model_of(module, of_model);
    const vem_data *data = model ? data_of(module, of_data) : NULL;
    if (!data || !call_begin_on(&c, settings, of_data))
        return NULL;
    call_release(&c);
    const vem_status status =
        vem_score(c.ctx, model, data, held, (vem_precision)precision, &s);
    call_take(&c);
    if (call_check(&c, status))
        result = Py_BuildValue("{s:d,s:d,s:d,s:d,s:d,s:d,s:d,s:d,s:L}", "log_likelihood",
                               s.log_likelihood, "free_energy", s.free_energy,
                               "quantization_error", s.quantization_error, "mass", s.mass,
                               "entropy", s.entropy, "aic", s.aic, "bic", s.bic, "icl",
                               s.icl, "parameters", (long long)s.parameters);
    call_end(&c);
    return result;
}

/* sample(model, seed, n, rows, labels, settings) */
static PyObject *sample(PyObject *module, PyObject *args)
{
    PyObject *of_model, *rows, *labels, *settings = NULL, *result = NULL;
    unsigned long long seed;
    long long n;
    Py_buffer x, y;
    call c;
    if (!PyArg_ParseTuple(args, "OKLOO|O:sample", &of_model, &seed, &n, &rows, &labels,
                          &settings))
        return NULL;
    const vem_model *model = model_of(module, of_model);
    if (!model ||
        !buffer_of(rows, 1, n * vem_model_columns(model) * (int64_t)sizeof(double),
                   "the array of rows", &x))
        return NULL;
    if (buffer_of(labels, 1, n * (int64_t)sizeof(int32_t), "the array of labels", &y)) {
        if (call_begin(&c, settings)) {
            call_release(&c);
            const vem_status status = vem_sample(c.ctx, model, seed, 0, n, x.buf, y.buf);
            call_take(&c);
            if (call_check(&c, status))
                result = text_or_none(NULL);
            call_end(&c);
        }
        PyBuffer_Release(&y);
    }
    PyBuffer_Release(&x);
    return result;
}

static PyObject *cluster_to(const vem_cluster *f)
{
    PyObject *dict =
        Py_BuildValue("{s:d,s:d,s:i,s:d,s:L,s:d,s:d,s:i,s:d}", "weight", f->weight,
                      "spread", f->spread, "nearest", f->nearest, "overlap", f->overlap,
                      "rows", (long long)f->rows, "mass", f->mass, "doubtful",
                      f->doubtful, "rival", f->rival, "shared", f->shared);
    if (dict &&
        put(dict, "columns",
            Py_BuildValue("(iii)", f->columns[0], f->columns[1], f->columns[2])) &&
        put(dict, "differences",
            Py_BuildValue("(ddd)", f->differences[0], f->differences[1],
                          f->differences[2])) &&
        put(dict, "exemplars",
            Py_BuildValue("(LLL)", (long long)f->exemplars[0], (long long)f->exemplars[1],
                          (long long)f->exemplars[2])))
        return dict;
    Py_XDECREF(dict);
    return NULL;
}

static PyObject *facts_to(const vem_cluster *facts, int32_t count)
{
    PyObject *list = PyList_New(0);
    for (int32_t i = 0; list && i < count; i++) {
        PyObject *fact = cluster_to(&facts[i]);
        if (!fact || PyList_Append(list, fact) != 0)
            Py_CLEAR(list);
        Py_XDECREF(fact);
    }
    return list;
}

/* describe(model, data or None, precision, settings): facts of each cluster. */
static PyObject *describe(PyObject *module, PyObject *args)
{
    PyObject *of_model, *of_data, *settings = NULL, *result = NULL;
    int precision;
    call c;
    const vem_data *data = NULL;
    if (!PyArg_ParseTuple(args, "OOi|O:describe", &of_model, &of_data, &precision,
                          &settings))
        return NULL;
    const vem_model *model = model_of(module, of_model);
    if (!model || (of_data != Py_None && !(data = data_of(module, of_data))))
        return NULL;
    const int32_t count = vem_model_clusters(model);
    vem_cluster *facts = PyMem_Calloc((size_t)count, sizeof *facts);
    if (!facts)
        return PyErr_NoMemory();
    facts[0].size = sizeof *facts;
    vem_description about = {.size = sizeof about};
    if (call_begin_on(&c, settings, data ? of_data : NULL)) {
        call_release(&c);
        const vem_status status =
            vem_describe(c.ctx, model, data, (vem_precision)precision, facts, &about);
        call_take(&c);
        if (call_check(&c, status))
            result = facts_to(facts, count);
        call_end(&c);
    }
    PyMem_Free(facts);
    return result;
}

/* generate(kind, options dict, settings): (rows, labels, centers, n, d) */
static PyObject *generate(PyObject *module, PyObject *args)
{
    (void)module;
    PyObject *settings = NULL, *result = NULL;
    int kind, clusters, d;
    long long wanted, seed;
    double separation, box;
    int64_t n = 0;
    int32_t columns = 0, *labels = NULL;
    double *rows = NULL, *centers = NULL;
    call c;
    if (!PyArg_ParseTuple(args, "iiiLddL|O:generate", &kind, &clusters, &d, &wanted,
                          &separation, &box, &seed, &settings) ||
        !call_begin(&c, settings))
        return NULL;
    const vem_generate_options options = {.size = sizeof options,
                                          .clusters = clusters,
                                          .d = d,
                                          .n = wanted,
                                          .separation = separation,
                                          .box = box,
                                          .seed = seed};
    call_release(&c);
    const vem_status status = vem_generate(c.ctx, (vem_generator)kind, &options, &n,
                                           &columns, &rows, &labels, &centers);
    call_take(&c);
    if (call_check(&c, status))
        result =
            Py_BuildValue("(NNNLi)", bytes_of(rows, n * columns, sizeof *rows),
                          bytes_of(labels, n, sizeof *labels),
                          bytes_of(centers, (int64_t)clusters * columns, sizeof *centers),
                          (long long)n, columns);
    free(rows);
    free(labels);
    free(centers);
    call_end(&c);
    return result;
}

PyMethodDef use_methods[] = {
    {"assign", assign, METH_VARARGS,
     "assign(model, data, top, precision, clusters, probabilities or None, settings)"},
    {"posterior", posterior, METH_VARARGS,
     "posterior(model, data, precision, probabilities, settings)"},
    {"log_densities", log_densities, METH_VARARGS,
     "log_densities(model, data, precision, values, settings)"},
    {"score", score, METH_VARARGS, "score(model, data, held, precision, settings)"},
    {"sample", sample, METH_VARARGS, "sample(model, seed, n, rows, labels, settings)"},
    {"describe", describe, METH_VARARGS,
     "describe(model, data or None, precision, settings)"},
    {"generate", generate, METH_VARARGS,
     "generate(kind, clusters, d, n, separation, box, seed, settings)"},
    {NULL, NULL, 0, NULL}};
