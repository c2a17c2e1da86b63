/* Selections of a number of clusters, their paths, and how stable they are. */
#include <math.h>

#include "vem_python.h"

static void path_dealloc(PyObject *self)
{
    PyTypeObject *type = Py_TYPE(self);
    vem_path_free(((path_object *)self)->path);
    ((freefunc)PyType_GetSlot(type, Py_tp_free))(self);
    Py_DECREF(type);
}

static PyObject *path_wrap(PyObject *module, vem_path *path)
{
    PyTypeObject *type = state_of(module)->path_type;
    path_object *object =
        (path_object *)((allocfunc)PyType_GetSlot(type, Py_tp_alloc))(type, 0);
    if (object)
        object->path = path;
    else
        vem_path_free(path);
    return (PyObject *)object;
}

static PyObject *path_points(PyObject *self, PyObject *none)
{
    (void)none;
    const vem_path *path = ((path_object *)self)->path;
    PyObject *list = PyList_New(0);
    for (int32_t i = 0; list && i < vem_path_count(path); i++) {
        const vem_path_point *p = vem_path_at(path, i);
        PyObject *row =
            Py_BuildValue("{s:i,s:L,s:d,s:d,s:d,s:L,s:d,s:d,s:d,s:d,s:d}", "clusters",
                          p->clusters, "steps", (long long)p->steps, "free_energy",
                          p->free_energy, "log_likelihood", p->log_likelihood,
                          "log_likelihood_se", p->log_likelihood_se, "parameters",
                          (long long)p->parameters, "entropy", p->entropy, "aic", p->aic,
                          "bic", p->bic, "icl", p->icl, "objective", p->objective);
        int right = row != NULL;
        if (right && isfinite(p->held_out))
            right = put(row, "held_out", PyFloat_FromDouble(p->held_out));
        if (!right || PyList_Append(list, row) != 0)
            Py_CLEAR(list);
        Py_XDECREF(row);
    }
    return list;
}

static PyObject *path_summary(PyObject *self, PyObject *none)
{
    (void)none;
    vem_path_summary s = {.size = sizeof s};
    PyObject *result = NULL;
    call c;
    if (!call_begin(&c, NULL))
        return NULL;
    if (call_check(&c, vem_path_describe(c.ctx, ((path_object *)self)->path, &s)))
        result = Py_BuildValue("{s:s,s:i,s:i,s:d,s:i,s:d,s:i,s:L}", "criterion",
                               s.criterion, "lower", s.lower, "clusters", s.clusters,
                               "objective", s.objective, "next", s.next, "margin",
                               s.margin, "held_out_clusters", s.held_out_clusters,
                               "limit", (long long)s.limit);
    call_end(&c);
    return result;
}

static PyObject *path_pick(PyObject *module, PyObject *args)
{
    PyObject *object, *result = NULL;
    int clusters;
    vem_model *model = NULL;
    call c;
    if (!PyArg_ParseTuple(args, "O!i:path_pick", state_of(module)->path_type, &object,
                          &clusters) ||
        !call_begin(&c, NULL))
        return NULL;
    if (call_check(&c,
                   vem_path_pick(c.ctx, ((path_object *)object)->path, clusters, &model)))
        result = model_wrap(module, model);
    call_end(&c);
    return result;
}

static PyObject *path_write(PyObject *module, PyObject *args)
{
    PyObject *object, *from, *file = NULL, *result = NULL;
    call c;
    if (!PyArg_ParseTuple(args, "O!OO&:path_write", state_of(module)->path_type, &object,
                          &from, PyUnicode_FSConverter, &file))
        return NULL;
    const vem_model *model = model_of(module, from);
    if (model && call_begin(&c, NULL)) {
        call_release(&c);
        const vem_status status = vem_path_write(c.ctx, ((path_object *)object)->path,
                                                 model, PyBytes_AsString(file));
        call_take(&c);
        if (call_check(&c, status))
            result = text_or_none(NULL);
        call_end(&c);
    }
    Py_DECREF(file);
    return result;
}

static PyObject *path_read(PyObject *module, PyObject *file)
{
    PyObject *bytes = NULL, *result = NULL;
    vem_path *path = NULL;
    call c;
    if (!PyUnicode_FSConverter(file, &bytes))
        return NULL;
    if (call_begin(&c, NULL)) {
        call_release(&c);
        const vem_status status = vem_path_read(c.ctx, PyBytes_AsString(bytes), &path);
        call_take(&c);
        if (call_check(&c, status))
            result = path_wrap(module, path);
        call_end(&c);
    }
    Py_DECREF(bytes);
    return result;
}

int prior_from(PyObject *dict, Py_buffer views[2], vem_prior_options *prior)
{
    static const char *const names[3] = {"strength", "dof", "count"};
    double *const numbers[3] = {&prior->strength, &prior->dof, &prior->count};
    views[0].obj = views[1].obj = NULL;
    for (int i = 0; i < 3; i++) {
        PyObject *item = PyDict_GetItemString(dict, names[i]);
        if (item && item != Py_None)
            *numbers[i] = PyFloat_AsDouble(item);
        if (PyErr_Occurred())
            return 0;
    }
    PyObject *mean = PyDict_GetItemString(dict, "mean");
    PyObject *scale = PyDict_GetItemString(dict, "scale");
    if (mean && mean != Py_None) {
        if (!buffer_of(mean, 0, 0, "mean", &views[0]))
            return 0;
        prior->mean = views[0].buf;
        prior->mean_values = (int64_t)(views[0].len / (Py_ssize_t)sizeof(double));
    }
    if (scale && scale != Py_None) {
        if (!buffer_of(scale, 0, 0, "scale", &views[1]))
            return 0;
        prior->scale = views[1].buf;
        prior->scale_values = (int64_t)(views[1].len / (Py_ssize_t)sizeof(double));
    }
    return 1;
}

static PyObject *run_select(PyObject *module, call *c, const vem_data *data,
                            PyObject *dict, const vem_select_options *how)
{
    vem_options options;
    vem_model *model = NULL;
    vem_path *path = NULL;
    vem_report *report = NULL;
    if (!options_from(c, dict, &options))
        return NULL;
    call_release(c);
    const vem_status status =
        vem_select(c->ctx, data, &options, how, &model, &path, &report);
    call_take(c);
    if (!call_check(c, status))
        return NULL;
    PyObject *told = report_to(report), *made = model_wrap(module, model);
    PyObject *found = path_wrap(module, path);
    PyObject *raised = c->raised ? c->raised : Py_None;
    PyObject *result =
        told && made && found ? PyTuple_Pack(4, made, told, raised, found) : NULL;
    Py_XDECREF(told);
    Py_XDECREF(made);
    Py_XDECREF(found);
    vem_report_free(report);
    return result;
}

/* What a selection is asked for, and what it borrows while it runs. */
typedef struct request {
    vem_select_options how;
    vem_prior_options prior;
    Py_buffer views[2];
    int32_t families[VEM_FAMILIES];
} request;

/* Numbers of families, from a tuple; 0: failed. */
static int families_from(PyObject *tuple, request *r)
{
    const Py_ssize_t count = PyTuple_Size(tuple);
    if (count < 0 || count > VEM_FAMILIES) {
        if (count >= 0)
            PyErr_SetString(PyExc_ValueError, "there are not so many families.");
        return 0;
    }
    for (Py_ssize_t i = 0; i < count; i++) {
        const long kind = PyLong_AsLong(PyTuple_GetItem(tuple, i));
        if (kind == -1 && PyErr_Occurred())
            return 0;
        r->families[i] = (int32_t)kind;
    }
    r->how.families = count > 0 ? r->families : NULL;
    r->how.family_count = count;
    return 1;
}

/* Gives 0 with an exception. Either way request_free. */
static int request_from(int method, int least, int most, PyObject *prior,
                        PyObject *families, double holdout, request *r)
{
    *r = (request){.how = {.size = sizeof r->how,
                           .method = (vem_select_method)method,
                           .min_clusters = least,
                           .max_clusters = most,
                           .holdout = holdout},
                   .prior = {.size = sizeof r->prior}};
    if (PyDict_Check(prior)) {
        if (!prior_from(prior, r->views, &r->prior))
            return 0;
        r->how.prior = &r->prior;
    }
    return families_from(families, r);
}

static void request_free(request *r)
{
    for (int i = 0; i < 2; i++)
        if (r->views[i].obj)
            PyBuffer_Release(&r->views[i]);
}

static PyObject *select_clusters(PyObject *module, PyObject *args)
{
    PyObject *object, *dict, *prior, *families, *settings = NULL, *result = NULL;
    int method, least, most;
    double holdout;
    request r;
    call c;
    if (!PyArg_ParseTuple(args, "OOiiiOOd|O:select", &object, &dict, &method, &least,
                          &most, &prior, &families, &holdout, &settings))
        return NULL;
    const vem_data *data = data_of(module, object);
    if (!data)
        return NULL;
    if (request_from(method, least, most, prior, families, holdout, &r) &&
        call_begin_on(&c, settings, object)) {
        result = run_select(module, &c, data, dict, &r.how);
        call_end(&c);
    }
    request_free(&r);
    return result;
}

static PyObject *run_stability(call *c, const vem_data *data, PyObject *dict,
                               const request *r, const vem_model *model, vem_stability *s)
{
    vem_options options;
    if (!options_from(c, dict, &options))
        return NULL;
    call_release(c);
    const vem_status status =
        vem_select_stability(c->ctx, data, &options, &r->how, model, s);
    call_take(c);
    if (!call_check(c, status))
        return NULL;
    PyObject *clusters = PyList_New(s->done), *ari = PyList_New(s->done);
    for (int32_t i = 0; clusters && ari && i < s->done; i++) {
        PyList_SetItem(clusters, i, PyLong_FromLong(s->clusters[i]));
        PyList_SetItem(ari, i, PyFloat_FromDouble(s->ari[i]));
    }
    PyObject *told =
        clusters && ari
            ? Py_BuildValue("{s:i,s:i,s:L,s:d,s:O,s:O,s:d,s:d,s:d,s:d}", "resamples",
                            s->resamples, "done", s->done, "rows", (long long)s->rows,
                            "share", s->share, "clusters", clusters, "ari", ari,
                            "clusters_mean", s->clusters_mean, "clusters_sd",
                            s->clusters_sd, "ari_mean", s->ari_mean, "ari_sd", s->ari_sd)
            : NULL;
    PyObject *result =
        told ? PyTuple_Pack(2, told, c->raised ? c->raised : Py_None) : NULL;
    Py_XDECREF(told);
    Py_XDECREF(clusters);
    Py_XDECREF(ari);
    return result;
}

static PyObject *stability(PyObject *module, PyObject *args)
{
    PyObject *object, *dict, *prior, *families, *fitted, *settings = NULL, *result = NULL;
    int method, least, most;
    double holdout;
    vem_stability s = {.size = sizeof s, .share = 0.9};
    request r;
    call c;
    if (!PyArg_ParseTuple(args, "OOiiiOOdOi|O:stability", &object, &dict, &method, &least,
                          &most, &prior, &families, &holdout, &fitted, &s.resamples,
                          &settings))
        return NULL;
    const vem_data *data = data_of(module, object);
    const vem_model *model = data ? model_of(module, fitted) : NULL;
    if (!model)
        return NULL;
    const size_t count = s.resamples > 0 ? (size_t)s.resamples : 1;
    s.clusters = PyMem_Calloc(count, sizeof *s.clusters);
    s.ari = PyMem_Calloc(count, sizeof *s.ari);
    if (!s.clusters || !s.ari)
        PyErr_NoMemory();
    else {
        if (request_from(method, least, most, prior, families, holdout, &r) &&
            call_begin_on(&c, settings, object)) {
            result = run_stability(&c, data, dict, &r, model, &s);
            call_end(&c);
        }
        request_free(&r);
    }
    PyMem_Free(s.clusters);
    PyMem_Free(s.ari);
    return result;
}

static PyMethodDef methods[] = {{"points", path_points, METH_NOARGS,
                                 "a dict for each number of clusters"},
                                {"summary", path_summary, METH_NOARGS,
                                 "which was chosen, by what"},
                                {NULL, NULL, 0, NULL}};
static PyType_Slot slots[] = {{Py_tp_dealloc, (void *)path_dealloc},
                              {Py_tp_methods, methods},
                              {Py_tp_doc, "Mixtures of several numbers of clusters."},
                              {0, NULL}};
static PyType_Spec spec = {"vem._vem.Path", sizeof(path_object), 0,
                           Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION, slots};

int select_register(PyObject *module)
{
    return (state_of(module)->path_type = type_from(module, &spec)) != NULL;
}

PyMethodDef select_methods[] = {
    {"select", select_clusters, METH_VARARGS,
     "select(data, options, method, min, max, prior, families, holdout, settings=None): "
     "(Model, report, exception or None, Path)"},
    {"stability", stability, METH_VARARGS,
     "stability(data, options, method, min, max, prior, families, holdout, model, "
     "resamples, settings=None): (dict, exception or None)"},
    {"path_pick", path_pick, METH_VARARGS, "path_pick(path, clusters): Model"},
    {"path_write", path_write, METH_VARARGS, "path_write(path, model, file)"},
    {"path_read", path_read, METH_O, "path_read(file): Path"},
    {NULL, NULL, 0, NULL}};
