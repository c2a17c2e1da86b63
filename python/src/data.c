/* Data: rows of a buffer, of a file, of a sparse matrix. */
#include <string.h>

#include "vem_python.h"

/* ---- The type ---- */

static void data_dealloc(PyObject *self)
{
    data_object *object = (data_object *)self;
    PyTypeObject *type = Py_TYPE(self);
    vem_data_free(object->data);
    vem_ctx_free(object->ctx);
    if (object->view.obj)
        PyBuffer_Release(&object->view);
    ((freefunc)PyType_GetSlot(type, Py_tp_free))(self);
    Py_DECREF(type);
}

static data_object *data_new(PyObject *module)
{
    PyTypeObject *type = state_of(module)->data_type;
    return (data_object *)((allocfunc)PyType_GetSlot(type, Py_tp_alloc))(type, 0);
}

PyObject *data_wrap(PyObject *module, vem_data *data)
{
    data_object *object = data_new(module);
    if (object)
        object->data = data;
    else
        vem_data_free(data);
    return (PyObject *)object;
}

vem_data *data_of(PyObject *module, PyObject *object)
{
    if (PyObject_TypeCheck(object, state_of(module)->data_type))
        return ((data_object *)object)->data;
    PyErr_SetString(PyExc_TypeError, "a vem._vem.Data is needed.");
    return NULL;
}

static PyObject *get_shape(PyObject *self, void *closure)
{
    (void)closure;
    const vem_data *data = ((data_object *)self)->data;
    return Py_BuildValue("(Li)", (long long)vem_data_rows(data), vem_data_columns(data));
}

static PyObject *get_dtype(PyObject *self, void *closure)
{
    (void)closure;
    return PyLong_FromLong(vem_data_dtype(((data_object *)self)->data));
}

static PyObject *get_names(PyObject *self, void *closure)
{
    (void)closure;
    const vem_data *data = ((data_object *)self)->data;
    if (!vem_data_column_name(data, 0))
        return text_or_none(NULL);
    PyObject *list = PyList_New(0);
    for (int32_t j = 0; list && j < vem_data_columns(data); j++) {
        PyObject *name = text_or_none(vem_data_column_name(data, j));
        if (!name || PyList_Append(list, name) != 0)
            Py_CLEAR(list);
        Py_XDECREF(name);
    }
    return list;
}

static PyObject *get_weights(PyObject *self, void *closure)
{
    (void)closure;
    const vem_data *data = ((data_object *)self)->data;
    return vem_data_weights(data)
               ? bytes_of(vem_data_weights(data), vem_data_rows(data), sizeof(double))
               : text_or_none(NULL);
}

static PyObject *get_indices(PyObject *self, void *closure)
{
    (void)closure;
    const vem_data *data = ((data_object *)self)->data;
    return vem_data_indices(data)
               ? bytes_of(vem_data_indices(data), vem_data_rows(data), sizeof(int64_t))
               : text_or_none(NULL);
}

/* Which rows of the file they are, where some were left out. */
static PyObject *get_places(PyObject *self, void *closure)
{
    (void)closure;
    const vem_data *data = ((data_object *)self)->data;
    const int64_t n = vem_data_rows(data);
    if (vem_data_rows_read(data) == n)
        return text_or_none(NULL);
    PyObject *array =
        PyByteArray_FromStringAndSize(NULL, (Py_ssize_t)n * (Py_ssize_t)sizeof(int64_t));
    for (int64_t i = 0; array && i < n; i++) {
        const int64_t row = vem_data_row(data, i);
        memcpy(PyByteArray_AsString(array) + (size_t)i * sizeof row, &row, sizeof row);
    }
    return array;
}

static PyObject *get_rows_read(PyObject *self, void *closure)
{
    (void)closure;
    return PyLong_FromLongLong(vem_data_rows_read(((data_object *)self)->data));
}

static PyObject *set_weights(PyObject *self, PyObject *weights)
{
    vem_data *data = ((data_object *)self)->data;
    Py_buffer view;
    call c;
    if (!buffer_of(weights, 0, vem_data_rows(data) * (int64_t)sizeof(double),
                   "sample_weight", &view))
        return NULL;
    int done = call_begin_on(&c, NULL, self);
    if (done) {
        done =
            call_check(&c, vem_data_set_weights(c.ctx, data, view.buf,
                                                (int64_t)(view.len /
                                                          (Py_ssize_t)sizeof(double))));
        call_end(&c);
    }
    PyBuffer_Release(&view);
    return done ? text_or_none(NULL) : NULL;
}

static PyObject *get_rows(PyObject *self, PyObject *args)
{
    const vem_data *data = ((data_object *)self)->data;
    long long first, count;
    PyObject *out;
    Py_buffer view;
    call c;
    if (!PyArg_ParseTuple(args, "LLO:get", &first, &count, &out))
        return NULL;
    if (first < 0 || count < 0 || count > vem_data_rows(data) - first) {
        PyErr_SetString(PyExc_ValueError, "there are not so many rows.");
        return NULL;
    }
    if (!buffer_of(out, 1, count * vem_data_columns(data) * (int64_t)sizeof(double),
                   "the array of rows", &view))
        return NULL;
    int done = call_begin_on(&c, NULL, self);
    if (done) {
        call_release(&c);
        const vem_status status = vem_data_get(c.ctx, data, first, count, view.buf);
        call_take(&c);
        done = call_check(&c, status);
        call_end(&c);
    }
    PyBuffer_Release(&view);
    return done ? text_or_none(NULL) : NULL;
}

static PyMethodDef methods[] = {{"set_weights", set_weights, METH_O,
                                 "set_weights(buffer of doubles)"},
                                {"get", get_rows, METH_VARARGS,
                                 "get(first, count, buffer of doubles)"},
                                {NULL, NULL, 0, NULL}};
static PyGetSetDef properties[] = {
    {"shape", get_shape, NULL, "rows and columns", NULL},
    {"dtype", get_dtype, NULL, "number of the type in vem_dtype", NULL},
    {"names", get_names, NULL, "names of the columns, or None", NULL},
    {"weights", get_weights, NULL, "doubles, or None", NULL},
    {"indices", get_indices, NULL, "of a coreset: int64, or None", NULL},
    {"places", get_places, NULL, "int64: the rows of the file, or None for all", NULL},
    {"rows_read", get_rows_read, NULL, "rows of the file, those left out included", NULL},
    {NULL, NULL, NULL, NULL, NULL}};
static PyType_Slot slots[] = {{Py_tp_dealloc, (void *)data_dealloc},
                              {Py_tp_methods, methods},
                              {Py_tp_getset, properties},
                              {Py_tp_doc, "Rows as stored."},
                              {0, NULL}};
static PyType_Spec spec = {"vem._vem.Data", sizeof(data_object), 0,
                           Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION, slots};

int data_register(PyObject *module)
{
    return (state_of(module)->data_type = type_from(module, &spec)) != NULL;
}

/* ---- How they are made ---- */

/* The type of a buffer's values by the letter of its format and their size; -1: none of ours. */
static int dtype_of(const Py_buffer *view)
{
    const char *format = view->format ? view->format : "B";
    if (strchr("@=<", *format))
        format++;
    if (!*format || format[1])
        return -1;
    const char kind = *format;
    const Py_ssize_t size = view->itemsize;
    if (kind == 'e' && size == 2)
        return VEM_FLOAT16;
    if (kind == 'f' && size == 4)
        return VEM_FLOAT32;
    if (kind == 'd' && size == 8)
        return VEM_FLOAT64;
    if (strchr("bhilq", kind))
        return size == 1   ? VEM_INT8
               : size == 2 ? VEM_INT16
               : size == 4 ? VEM_INT32
               : size == 8 ? VEM_INT64
                           : -1;
    if (strchr("BHIL?", kind))
        return size == 1   ? VEM_UINT8
               : size == 2 ? VEM_UINT16
               : size == 4 ? VEM_UINT32
                           : -1;
    return -1;
}

static PyObject *borrow(PyObject *module, PyObject *array)
{
    call c;
    data_object *object = data_new(module);
    if (!object)
        return NULL;
    if (PyObject_GetBuffer(array, &object->view, PyBUF_STRIDES | PyBUF_FORMAT) != 0) {
        object->view.obj = NULL;
        Py_DECREF(object);
        return NULL;
    }
    const Py_buffer *view = &object->view;
    const int type = dtype_of(view);
    uintptr_t odd = view->ndim == 2 ? (uintptr_t)view->buf : 0;
    for (int i = 0; i < 2 && view->ndim == 2; i++)
        odd |= (uintptr_t)view->strides[i];
    if (view->ndim != 2 || type < 0 || view->shape[1] > INT32_MAX)
        PyErr_Format(PyExc_TypeError,
                     "rows of format '%s' in %d dimensions cannot be borrowed.",
                     view->format ? view->format : "B", view->ndim);
    else if (odd % (uintptr_t)view->itemsize)
        PyErr_SetString(PyExc_ValueError, "values lie where their type cannot lie.");
    else if (call_begin(&c, NULL)) {
        call_check(&c, vem_data_borrow(c.ctx, (vem_dtype)type, view->buf, view->shape[0],
                                       (int32_t)view->shape[1], view->strides[0],
                                       view->strides[1], &object->data));
        if (object->data)
            call_leave(&c, (PyObject *)object);
        call_end(&c);
    }
    if (object->data)
        return (PyObject *)object;
    Py_DECREF(object);
    return NULL;
}

static PyObject *sparse(PyObject *module, PyObject *args)
{
    long long n;
    int d;
    PyObject *arrays[3], *settings = NULL, *result = NULL;
    static const char *const names[3] = {"indptr", "indices", "data"};
    Py_buffer views[3];
    int held = 0;
    call c;
    vem_data *data = NULL;
    if (!PyArg_ParseTuple(args, "LiOOO|O:sparse", &n, &d, &arrays[0], &arrays[1],
                          &arrays[2], &settings))
        return NULL;
    if (n < 1) {
        PyErr_SetString(PyExc_ValueError, "a sparse matrix needs at least one row.");
        return NULL;
    }
    int64_t bytes = (n + 1) * (int64_t)sizeof(int64_t);
    while (held < 3 && buffer_of(arrays[held], 0, bytes, names[held], &views[held])) {
        if (held == 0) {
            const int64_t entries = ((const int64_t *)views[0].buf)[n];
            if (entries > INT64_MAX / 16) {
                PyErr_Format(PyExc_ValueError,
                             "indptr ends with %lld, beyond all arrays.",
                             (long long)entries);
                PyBuffer_Release(&views[0]);
                return NULL;
            }
            bytes = entries < 0 ? 0 : entries * (int64_t)sizeof(int32_t);
        } else {
            bytes *= 2;
        }
        held++;
    }
    if (held == 3 && call_begin(&c, settings)) {
        call_release(&c);
        const vem_status status =
            vem_data_sparse(c.ctx, n, d, views[0].buf, views[1].buf, views[2].buf, &data);
        call_take(&c);
        if (call_check(&c, status))
            result = data_wrap(module, data);
        call_end(&c);
    }
    while (held > 0)
        PyBuffer_Release(&views[--held]);
    return result;
}

/* A word of a dict, or NULL; the bytes live as long as `keep`. */
static int word_of(PyObject *dict, const char *name, PyObject *keep, const char **word)
{
    PyObject *item = PyDict_GetItemString(dict, name);
    *word = NULL;
    if (!item || item == Py_None)
        return 1;
    PyObject *text = PyObject_Str(item);
    PyObject *bytes = text ? PyUnicode_AsUTF8String(text) : NULL;
    Py_XDECREF(text);
    if (!bytes || PyList_Append(keep, bytes) != 0) {
        Py_XDECREF(bytes);
        return 0;
    }
    *word = PyBytes_AsString(bytes);
    Py_DECREF(bytes); /* `keep` has it */
    return 1;
}

static int choice_of(const char *word, const char *const *words, int count,
                     const char *name, int *value)
{
    if (!word)
        return 1;
    for (int i = 0; i < count; i++)
        if (strcmp(words[i], word) == 0) {
            *value = i;
            return 1;
        }
    PyErr_Format(PyExc_ValueError, "%s cannot be '%s'.", name, word);
    return 0;
}

static int read_options_from(PyObject *dict, PyObject *keep, vem_read_options *options)
{
    static const char *const headers[] = {"auto", "yes", "no"};
    static const char *const treatments[] = {"error", "drop", "mean"};
    const char *header, *missing, *decimal, *counts;
    int chosen_header = 0, chosen_missing = 0;
    *options = (vem_read_options){.size = sizeof *options};
    if (!word_of(dict, "columns", keep, &options->columns) ||
        !word_of(dict, "id", keep, &options->id) ||
        !word_of(dict, "weights", keep, &options->weights) ||
        !word_of(dict, "header", keep, &header) ||
        !word_of(dict, "missing", keep, &missing) ||
        !word_of(dict, "decimal", keep, &decimal) ||
        !word_of(dict, "counts", keep, &counts) ||
        !choice_of(header, headers, 3, "header", &chosen_header) ||
        !choice_of(missing, treatments, 3, "missing", &chosen_missing))
        return 0;
    options->header = (vem_header)chosen_header;
    options->missing = (vem_missing)chosen_missing;
    options->decimal = decimal ? *decimal : 0;
    options->counts = counts && strcmp(counts, "True") == 0;
    return 1;
}

static PyObject *read_files(PyObject *module, PyObject *args)
{
    enum { MOST = 1 << 16 };
    PyObject *paths, *dict, *model = Py_None, *settings = NULL, *result = NULL;
    if (!PyArg_ParseTuple(args, "O!O!|OO:read", &PyList_Type, &paths, &PyDict_Type, &dict,
                          &model, &settings))
        return NULL;
    const Py_ssize_t count = PyList_Size(paths);
    if (count < 1 || count > MOST) {
        PyErr_SetString(PyExc_ValueError, "1 to 65536 files can be read as one.");
        return NULL;
    }
    vem_read_options options;
    vem_data *data = NULL;
    call c;
    PyObject *keep = PyList_New(0);
    const char **names = PyMem_Malloc((size_t)count * sizeof *names);
    int ready = keep && names;
    if (!names)
        PyErr_NoMemory();
    for (Py_ssize_t i = 0; ready && i < count; i++) {
        PyObject *bytes = NULL;
        ready = PyUnicode_FSConverter(PyList_GetItem(paths, i), &bytes) &&
                PyList_Append(keep, bytes) == 0;
        names[i] = bytes ? PyBytes_AsString(bytes) : NULL;
        Py_XDECREF(bytes);
    }
    ready = ready && read_options_from(dict, keep, &options);
    if (ready && model != Py_None)
        ready = (options.model = model_of(module, model)) != NULL;
    if (ready && call_begin(&c, settings)) {
        call_release(&c);
        const vem_status status =
            count == 1
                ? vem_data_read(c.ctx, names[0], &options, &data)
                : vem_data_read_parts(c.ctx, names, (int32_t)count, &options, &data);
        call_take(&c);
        if (call_check(&c, status))
            result = data_wrap(module, data);
        if (result)
            call_leave(&c, result);
        call_end(&c);
    }
    PyMem_Free(names);
    Py_XDECREF(keep);
    return result;
}

PyMethodDef data_methods[] = {
    {"borrow", borrow, METH_O, "borrow(buffer): Data of a 2-D buffer, without a copy"},
    {"sparse", sparse, METH_VARARGS,
     "sparse(n, d, indptr int64, indices int32, data float64): Data, copied"},
    {"read", read_files, METH_VARARGS, "read(paths, options, model=None, settings=None)"},
    {NULL, NULL, 0, NULL}};
