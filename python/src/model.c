/* Models: made of arrays, read, written, and looked at. */
#include <string.h>

#include "vem_python.h"

static void model_dealloc(PyObject *self)
{
    PyTypeObject *type = Py_TYPE(self);
    vem_model_free(((model_object *)self)->model);
    ((freefunc)PyType_GetSlot(type, Py_tp_free))(self);
    Py_DECREF(type);
}

PyObject *model_wrap(PyObject *module, vem_model *model)
{
    PyTypeObject *type = state_of(module)->model_type;
    model_object *object =
        (model_object *)((allocfunc)PyType_GetSlot(type, Py_tp_alloc))(type, 0);
    if (object)
        object->model = model;
    else
        vem_model_free(model);
    return (PyObject *)object;
}

vem_model *model_of(PyObject *module, PyObject *object)
{
    if (PyObject_TypeCheck(object, state_of(module)->model_type))
        return ((model_object *)object)->model;
    PyErr_SetString(PyExc_TypeError, "a vem._vem.Model is needed.");
    return NULL;
}

static PyObject *names_to(const vem_model *m)
{
    if (!vem_model_column_name(m, 0))
        return text_or_none(NULL);
    PyObject *list = PyList_New(0);
    for (int32_t j = 0; list && j < vem_model_columns(m); j++) {
        PyObject *name = text_or_none(vem_model_column_name(m, j));
        if (!name || PyList_Append(list, name) != 0)
            Py_CLEAR(list);
        Py_XDECREF(name);
    }
    return list;
}

static PyObject *doubles(const double *values, int64_t count)
{
    return values ? bytes_of(values, count, sizeof *values) : text_or_none(NULL);
}

/* Everything a model is, as plain objects: what model_new takes. */
static PyObject *model_state(PyObject *self, PyObject *none)
{
    (void)none;
    const vem_model *m = ((model_object *)self)->model;
    const int32_t clusters = vem_model_clusters(m), d = vem_model_columns(m);
    PyObject *dict = PyDict_New();
    if (dict &&
        put(dict, "family",
            text_or_none(vem_choice_name("family", (int)vem_model_family(m)))) &&
        put(dict, "clusters", PyLong_FromLong(clusters)) &&
        put(dict, "columns", PyLong_FromLong(d)) &&
        put(dict, "means", doubles(vem_model_means(m), (int64_t)clusters * d)) &&
        put(dict, "weights", doubles(vem_model_weights(m), clusters)) &&
        put(dict, "variances",
            doubles(vem_model_variance_count(m) ? vem_model_variances(m) : NULL,
                    (int64_t)vem_model_variance_count(m))) &&
        put(dict, "scale", doubles(vem_model_scale(m), d)) &&
        put(dict, "column_means", doubles(vem_model_column_means(m), d)) &&
        put(dict, "prior", PyLong_FromLong(vem_model_prior(m))) &&
        put(dict, "normalizes", PyLong_FromLong(vem_model_normalizes(m))) &&
        put(dict, "metric", PyLong_FromLong((long)vem_model_metric(m))) &&
        put(dict, "names", names_to(m)) &&
        put(dict, "meta", text_or_none(vem_model_meta(m))))
        return dict;
    Py_XDECREF(dict);
    return NULL;
}

static PyObject *parameters(PyObject *self, void *closure)
{
    (void)closure;
    return PyLong_FromLongLong(vem_model_parameters(((model_object *)self)->model));
}

static PyObject *shape(PyObject *self, void *closure)
{
    (void)closure;
    const vem_model *m = ((model_object *)self)->model;
    return Py_BuildValue("(ii)", vem_model_clusters(m), vem_model_columns(m));
}

static PyObject *model_write(PyObject *self, PyObject *path)
{
    PyObject *bytes = NULL, *result = NULL;
    call c;
    if (!PyUnicode_FSConverter(path, &bytes))
        return NULL;
    if (call_begin(&c, NULL)) {
        call_release(&c);
        const vem_status status = vem_model_write(c.ctx, ((model_object *)self)->model,
                                                  PyBytes_AsString(bytes));
        call_take(&c);
        if (call_check(&c, status))
            result = text_or_none(NULL);
        call_end(&c);
    }
    Py_DECREF(bytes);
    return result;
}

static vem_status set_names(vem_ctx *ctx, vem_model *model, PyObject *names);

/* label(names or None, meta or None): before anyone else has the model. */
static PyObject *model_label(PyObject *self, PyObject *args)
{
    PyObject *names, *result = NULL;
    const char *meta;
    call c;
    vem_model *model = ((model_object *)self)->model;
    if (!PyArg_ParseTuple(args, "Oz:label", &names, &meta) || !call_begin(&c, NULL))
        return NULL;
    vem_status status = names == Py_None ? VEM_OK : set_names(c.ctx, model, names);
    if (status == VEM_OK && meta)
        status = vem_model_set_meta(c.ctx, model, meta);
    if (!PyErr_Occurred() && call_check(&c, status))
        result = text_or_none(NULL);
    call_end(&c);
    return result;
}

static PyMethodDef methods[] = {
    {"state", model_state, METH_NOARGS, "everything it is, as model_new takes it"},
    {"label", model_label, METH_VARARGS, "label(names or None, meta or None)"},
    {"write", model_write, METH_O, "write(path): a file as the command writes it"},
    {NULL, NULL, 0, NULL}};
static PyGetSetDef properties[] = {{"parameters", parameters, NULL,
                                    "numbers that were fitted", NULL},
                                   {"shape", shape, NULL, "clusters and columns", NULL},
                                   {NULL, NULL, NULL, NULL, NULL}};
static PyType_Slot slots[] = {{Py_tp_dealloc, (void *)model_dealloc},
                              {Py_tp_methods, methods},
                              {Py_tp_getset, properties},
                              {Py_tp_doc, "A mixture."},
                              {0, NULL}};
static PyType_Spec spec = {"vem._vem.Model", sizeof(model_object), 0,
                           Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION, slots};

int model_register(PyObject *module)
{
    return (state_of(module)->model_type = type_from(module, &spec)) != NULL;
}

/* ---- How they are made ---- */

/* Doubles of an item of a dict. 1: they are there, or the item is None (then NULL). */
static int doubles_of(PyObject *dict, const char *name, int64_t count, Py_buffer *view)
{
    PyObject *item = PyDict_GetItemString(dict, name);
    view->obj = NULL;
    view->buf = NULL;
    if (!item || item == Py_None)
        return 1;
    if (buffer_of(item, 0, count * (int64_t)sizeof(double), name, view))
        return 1;
    view->obj = NULL;
    return 0;
}

static int number_of(PyObject *dict, const char *name, int fallback)
{
    PyObject *item = PyDict_GetItemString(dict, name);
    return item && item != Py_None ? (int)PyLong_AsLong(item) : fallback;
}

static int family_of(PyObject *dict)
{
    PyObject *item = PyDict_GetItemString(dict, "family");
    for (int f = 0; item && PyUnicode_Check(item) && f < VEM_FAMILIES; f++)
        if (PyUnicode_CompareWithASCIIString(item, vem_choice_name("family", f)) == 0)
            return f;
    PyErr_SetString(PyExc_ValueError, "there is no such family.");
    return -1;
}

static vem_status set_names(vem_ctx *ctx, vem_model *model, PyObject *names)
{
    const int32_t d = vem_model_columns(model);
    vem_status status = VEM_NO_MEMORY;
    PyObject *keep = PyList_New(0);
    const char **texts = PyMem_Malloc((size_t)d * sizeof *texts);
    if (keep && !texts)
        PyErr_NoMemory();
    int ready = keep && texts && PyList_Check(names) && PyList_Size(names) == d;
    for (int32_t j = 0; ready && j < d; j++) {
        PyObject *item = PyList_GetItem(names, j);
        PyObject *bytes = item ? PyUnicode_AsUTF8String(item) : NULL;
        ready = bytes && PyList_Append(keep, bytes) == 0;
        texts[j] = bytes ? PyBytes_AsString(bytes) : NULL;
        if (ready && strlen(texts[j]) != (size_t)PyBytes_Size(bytes)) {
            PyErr_Format(PyExc_ValueError, "the name of column %d has a NUL in it.",
                         j + 1);
            ready = 0;
        }
        Py_XDECREF(bytes);
    }
    if (ready)
        status = vem_model_set_column_names(ctx, model, texts);
    else if (!PyErr_Occurred())
        PyErr_SetString(PyExc_ValueError, "names must be a list with one text a column.");
    PyMem_Free(texts);
    Py_XDECREF(keep);
    return status;
}

static vem_status dress(call *c, vem_model *model, PyObject *dict, const double *scale,
                        const double *column_means)
{
    PyObject *names = PyDict_GetItemString(dict, "names");
    PyObject *meta = PyDict_GetItemString(dict, "meta");
    vem_status status = VEM_OK;
    if (scale)
        status = vem_model_set_scale(c->ctx, model, scale);
    if (status == VEM_OK && column_means)
        status = vem_model_set_column_means(c->ctx, model, column_means);
    if (status == VEM_OK && names && names != Py_None)
        status = set_names(c->ctx, model, names);
    if (status == VEM_OK && meta && meta != Py_None) {
        PyObject *text = PyUnicode_AsUTF8String(meta);
        status = text ? vem_model_set_meta(c->ctx, model, PyBytes_AsString(text))
                      : VEM_NO_MEMORY;
        Py_XDECREF(text);
    }
    const int prior = number_of(dict, "prior", -1);
    if (prior >= 0)
        vem_model_set_prior(model, (vem_prior_kind)prior);
    vem_model_set_normalizes(model, number_of(dict, "normalizes", 0));
    const int metric = number_of(dict, "metric", VEM_METRIC_L2);
    if (status == VEM_OK && metric != VEM_METRIC_L2)
        status = vem_model_set_metric(c->ctx, model, (vem_metric)metric);
    return status;
}

/* A number of doubles, or more than any array has. */
static int64_t times(int64_t a, int64_t b)
{
    const int64_t most = INT64_MAX / (int64_t)sizeof(double);
    return a < 0 || b < 0 ? 0 : a > 0 && b > most / a ? most : a * b;
}

static PyObject *model_new(PyObject *module, PyObject *dict)
{
    enum { MEANS, WEIGHTS, VARIANCES, SCALE, COLUMN_MEANS, ARRAYS };
    static const char *const names[ARRAYS] = {"means", "weights", "variances", "scale",
                                              "column_means"};
    Py_buffer views[ARRAYS];
    PyObject *result = NULL;
    call c;
    if (!PyDict_Check(dict)) {
        PyErr_SetString(PyExc_TypeError, "a dict is needed, as state() gives it.");
        return NULL;
    }
    const int family = family_of(dict);
    const int32_t clusters = number_of(dict, "clusters", 0),
                  d = number_of(dict, "columns", 0);
    if (family < 0 || PyErr_Occurred())
        return NULL;
    const int axes = vem_family_axes((vem_family_kind)family);
    int64_t shape = vem_family_shared((vem_family_kind)family) == 1 ? 1 : clusters;
    for (int a = 0; a < axes; a++)
        shape = times(shape, d);
    const int64_t counts[ARRAYS] = {times(clusters, d), clusters, axes < 0 ? 0 : shape, d,
                                    d};
    int held = 0;
    while (held < ARRAYS && doubles_of(dict, names[held], counts[held], &views[held]))
        held++;
    if (held == ARRAYS && call_begin(&c, NULL)) {
        vem_model *model = NULL;
        vem_status status = vem_model_new(c.ctx, (vem_family_kind)family, clusters, d,
                                          views[MEANS].buf, views[WEIGHTS].buf,
                                          axes < 0 ? NULL : views[VARIANCES].buf, &model);
        if (status == VEM_OK)
            status = dress(&c, model, dict, views[SCALE].buf, views[COLUMN_MEANS].buf);
        if (status == VEM_OK && !PyErr_Occurred()) {
            result = model_wrap(module, model);
        } else {
            vem_model_free(model);
            if (!PyErr_Occurred())
                call_check(&c, status);
        }
        call_end(&c);
    }
    while (held > 0)
        if (views[--held].obj)
            PyBuffer_Release(&views[held]);
    return result;
}

static PyObject *model_read(PyObject *module, PyObject *path)
{
    PyObject *bytes = NULL, *result = NULL;
    call c;
    vem_model *model = NULL;
    if (!PyUnicode_FSConverter(path, &bytes))
        return NULL;
    if (call_begin(&c, NULL)) {
        call_release(&c);
        const vem_status status = vem_model_read(c.ctx, PyBytes_AsString(bytes), &model);
        call_take(&c);
        if (call_check(&c, status))
            result = model_wrap(module, model);
        call_end(&c);
    }
    Py_DECREF(bytes);
    return result;
}

PyMethodDef model_methods[] = {{"model_new", model_new, METH_O,
                                "model_new(dict): a Model of what state() gives"},
                               {"model_read", model_read, METH_O, "model_read(path)"},
                               {NULL, NULL, 0, NULL}};
