/* Coresets: of data, and of rows that come in batches. */
#include "vem_python.h"

static void stream_dealloc(PyObject *self)
{
    PyTypeObject *type = Py_TYPE(self);
    vem_stream_free(((stream_object *)self)->stream);
    ((freefunc)PyType_GetSlot(type, Py_tp_free))(self);
    Py_DECREF(type);
}

static PyObject *get_rows(PyObject *self, void *closure)
{
    (void)closure;
    return PyLong_FromLongLong(vem_stream_rows(((stream_object *)self)->stream));
}

static PyObject *get_mass(PyObject *self, void *closure)
{
    (void)closure;
    return PyFloat_FromDouble(vem_stream_mass(((stream_object *)self)->stream));
}

static PyGetSetDef properties[] = {{"rows", get_rows, NULL, "taken so far", NULL},
                                   {"mass", get_mass, NULL, "sum of the weights", NULL},
                                   {NULL, NULL, NULL, NULL, NULL}};
static PyType_Slot slots[] = {{Py_tp_dealloc, (void *)stream_dealloc},
                              {Py_tp_getset, properties},
                              {Py_tp_doc, "A coreset of rows that come in batches."},
                              {0, NULL}};
static PyType_Spec spec = {"vem._vem.Stream", sizeof(stream_object), 0,
                           Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION, slots};

int stream_register(PyObject *module)
{
    return (state_of(module)->stream_type = type_from(module, &spec)) != NULL;
}

static PyObject *stream_new(PyObject *module, PyObject *args)
{
    vem_stream_options options = {.size = sizeof options};
    long long bucket, seed;
    vem_stream *stream = NULL;
    call c;
    if (!PyArg_ParseTuple(args, "LLii:stream_new", &bucket, &seed, &options.normalize,
                          &options.metric) ||
        !call_begin(&c, NULL))
        return NULL;
    options.bucket = bucket;
    options.seed = seed;
    PyTypeObject *type = state_of(module)->stream_type;
    stream_object *object = NULL;
    if (call_check(&c, vem_stream_new(c.ctx, &options, &stream))) {
        object = (stream_object *)((allocfunc)PyType_GetSlot(type, Py_tp_alloc))(type, 0);
        if (object)
            object->stream = stream;
        else
            vem_stream_free(stream);
    }
    call_end(&c);
    return (PyObject *)object;
}

/* A stream serves one call at a time. 0: another thread has it, with an exception. */
static int stream_take(stream_object *object)
{
    if (!atomic_exchange(&object->busy, 1))
        return 1;
    PyErr_SetString(PyExc_RuntimeError,
                    "another thread learns from a batch at this "
                    "moment: an estimator takes one after the other.");
    return 0;
}

static PyObject *stream_add(PyObject *module, PyObject *args)
{
    PyObject *object, *batch, *settings = NULL, *result = NULL;
    call c;
    if (!PyArg_ParseTuple(args, "O!O|O:stream_add", state_of(module)->stream_type,
                          &object, &batch, &settings))
        return NULL;
    const vem_data *data = data_of(module, batch);
    if (!data || !stream_take((stream_object *)object))
        return NULL;
    if (!call_begin_on(&c, settings, batch)) {
        atomic_store(&((stream_object *)object)->busy, 0);
        return NULL;
    }
    call_release(&c);
    const vem_status status =
        vem_stream_add(c.ctx, ((stream_object *)object)->stream, data);
    call_take(&c);
    atomic_store(&((stream_object *)object)->busy, 0);
    if (call_check(&c, status))
        result = text_or_none(NULL);
    call_end(&c);
    return result;
}

static PyObject *stream_coreset(PyObject *module, PyObject *object)
{
    PyObject *result = NULL;
    vem_data *coreset = NULL;
    call c;
    if (!PyObject_TypeCheck(object, state_of(module)->stream_type)) {
        PyErr_SetString(PyExc_TypeError, "a vem._vem.Stream is needed.");
        return NULL;
    }
    if (!stream_take((stream_object *)object))
        return NULL;
    if (!call_begin(&c, NULL)) {
        atomic_store(&((stream_object *)object)->busy, 0);
        return NULL;
    }
    call_release(&c);
    const vem_status status =
        vem_stream_coreset(c.ctx, ((stream_object *)object)->stream, &coreset);
    call_take(&c);
    atomic_store(&((stream_object *)object)->busy, 0);
    if (call_check(&c, status))
        result = data_wrap(module, coreset);
    call_end(&c);
    return result;
}

static PyObject *coreset(PyObject *module, PyObject *args)
{
    PyObject *object, *settings = NULL, *result = NULL;
    long long size, seed;
    int method;
    call c;
    vem_data *drawn = NULL;
    if (!PyArg_ParseTuple(args, "OLiL|O:coreset", &object, &size, &method, &seed,
                          &settings))
        return NULL;
    const vem_data *data = data_of(module, object);
    if (!data || !call_begin_on(&c, settings, object))
        return NULL;
    call_release(&c);
    const vem_status status =
        vem_coreset(c.ctx, data, size, (vem_coreset_method)method, seed, &drawn);
    call_take(&c);
    if (call_check(&c, status))
        result = data_wrap(module, drawn);
    call_end(&c);
    return result;
}

PyMethodDef stream_methods[] = {
    {"coreset", coreset, METH_VARARGS, "coreset(data, size, method, seed, settings)"},
    {"stream_new", stream_new, METH_VARARGS,
     "stream_new(bucket, seed, normalize, metric): Stream"},
    {"stream_add", stream_add, METH_VARARGS, "stream_add(stream, data, settings)"},
    {"stream_coreset", stream_coreset, METH_O, "stream_coreset(stream): Data"},
    {NULL, NULL, 0, NULL}};
