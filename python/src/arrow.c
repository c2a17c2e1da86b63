/* Tables of others by the Arrow C data interface: a batch of rows at a time.
 *
 * A capsule "arrow_array_stream" is a stream of batches that can be read once. Its rows are
 * structs whose fields are numbers, or lists of numbers of a fixed length (or are such lists). A
 * batch is written as rows of doubles where the caller wants them; what is null becomes NaN. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "vem_python.h"

/* The structs of the interface; their layout is its definition. */
typedef struct arrow_schema {
    const char *format, *name, *metadata;
    int64_t flags, n_children;
    struct arrow_schema **children, *dictionary;
    void (*release)(struct arrow_schema *);
    void *private_data;
} arrow_schema;
typedef struct arrow_array {
    int64_t length, null_count, offset, n_buffers, n_children;
    const void **buffers;
    struct arrow_array **children, *dictionary;
    void (*release)(struct arrow_array *);
    void *private_data;
} arrow_array;
typedef struct arrow_stream {
    int (*get_schema)(struct arrow_stream *, arrow_schema *);
    int (*get_next)(struct arrow_stream *, arrow_array *);
    const char *(*get_last_error)(struct arrow_stream *);
    void (*release)(struct arrow_stream *);
    void *private_data;
} arrow_stream;

typedef struct arrow_object {
    PyObject_HEAD PyObject *capsule; /* owns the stream */
    arrow_stream *stream;
    arrow_schema schema;
    arrow_array batch; /* the last one; release NULL: none */
    int64_t columns;
    int busy; /* a call has let go of the interpreter lock */
} arrow_object;

/* A producer may wait for threads of its own that need the lock: it is not held while others work.
 * Meanwhile nobody else may use the stream. 0: somebody does, with an exception. */
static int leave(arrow_object *a, PyThreadState **saved)
{
    if (a->busy) {
        PyErr_SetString(PyExc_RuntimeError,
                        "the Arrow stream is read by another thread.");
        return 0;
    }
    a->busy = 1;
    *saved = PyEval_SaveThread();
    return 1;
}

static void enter(arrow_object *a, PyThreadState *saved)
{
    PyEval_RestoreThread(saved);
    a->busy = 0;
}

static void arrow_dealloc(PyObject *self)
{
    arrow_object *a = (arrow_object *)self;
    PyTypeObject *type = Py_TYPE(self);
    /* A producer may run Python, which must not meet the exception that brought us here. */
    PyObject *kind, *value, *trace;
    PyErr_Fetch(&kind, &value, &trace);
    PyThreadState *saved = PyEval_SaveThread();
    if (a->batch.release)
        a->batch.release(&a->batch);
    if (a->schema.release)
        a->schema.release(&a->schema);
    PyEval_RestoreThread(saved);
    Py_XDECREF(a->capsule);
    PyErr_Restore(kind, value, trace);
    ((freefunc)PyType_GetSlot(type, Py_tp_free))(self);
    Py_DECREF(type);
}

/* Values of a row that a field holds: 1, or the length of its lists; 0: it is neither. */
static int64_t width_of(const arrow_schema *s)
{
    if (s->dictionary)
        return 0;
    if (strncmp(s->format, "+w:", 3) == 0) {
        const long long length = strtoll(s->format + 3, NULL, 10);
        return length > 0 && length <= INT32_MAX && s->n_children == 1 &&
                       width_of(s->children[0]) == 1
                   ? length
                   : 0;
    }
    return s->format[0] && !s->format[1] && strchr("bcCsSiIlLefg", s->format[0]) ? 1 : 0;
}

static int is_struct(const arrow_schema *s)
{
    return strcmp(s->format, "+s") == 0;
}

/* The columns of the rows; -1, with an exception: some field is none of ours. */
static int64_t count_columns(const arrow_schema *s)
{
    int64_t columns = 0;
    const int64_t fields = is_struct(s) ? s->n_children : 1;
    for (int64_t i = 0; i < fields; i++) {
        const arrow_schema *field = is_struct(s) ? s->children[i] : s;
        const int64_t width = width_of(field);
        if (width == 0) {
            PyErr_Format(
                PyExc_TypeError,
                "Arrow column '%s' has the format '%s': only numbers, and lists of "
                "numbers of a fixed length, can be rows.",
                field->name ? field->name : "", field->format);
            return -1;
        }
        columns += width;
    }
    if (columns < 1 || columns > INT32_MAX) {
        PyErr_Format(PyExc_ValueError,
                     "the Arrow table has %lld columns, but it must have "
                     "1 to %d.",
                     (long long)columns, INT32_MAX);
        return -1;
    }
    return columns;
}

static int bit_of(const void *bits, int64_t i)
{
    return (((const uint8_t *)bits)[i >> 3] >> (i & 7)) & 1;
}

static double half_of(uint16_t bits)
{
    const int exponent = (bits >> 10) & 31, fraction = bits & 1023;
    const double value = exponent == 0    ? ldexp(fraction, -24)
                         : exponent == 31 ? (fraction ? NAN : INFINITY)
                                          : ldexp(1024 + fraction, exponent - 25);
    return bits >> 15 ? -value : value;
}

static double value_of(char format, const void *values, int64_t i)
{
    switch (format) {
    case 'b': return bit_of(values, i);
    case 'c': return ((const int8_t *)values)[i];
    case 'C': return ((const uint8_t *)values)[i];
    case 's': return ((const int16_t *)values)[i];
    case 'S': return ((const uint16_t *)values)[i];
    case 'i': return ((const int32_t *)values)[i];
    case 'I': return ((const uint32_t *)values)[i];
    case 'l': return (double)((const int64_t *)values)[i];
    case 'L': return (double)((const uint64_t *)values)[i];
    case 'e': return half_of(((const uint16_t *)values)[i]);
    case 'f': return ((const float *)values)[i];
    default: return ((const double *)values)[i];
    }
}

static int is_null(const arrow_array *a, int64_t i)
{
    return a->null_count != 0 && a->n_buffers > 0 && a->buffers[0] &&
           !bit_of(a->buffers[0], i);
}

/* Rows first .. first + n - 1 of a field (as it counts them) into a column of `out`, ld apart. */
static void put_field(const arrow_schema *s, const arrow_array *a, int64_t first,
                      int64_t n, double *out, int64_t ld)
{
    const int64_t width = width_of(s);
    const int list = s->format[0] == '+';
    const arrow_array *numbers = list ? a->children[0] : a;
    const char format = list ? s->children[0]->format[0] : s->format[0];
    for (int64_t i = 0; i < n; i++) {
        const int64_t row = a->offset + first + i;
        for (int64_t j = 0; j < width; j++) {
            const int64_t at = list ? numbers->offset + row * width + j : row;
            out[i * ld + j] = is_null(a, row) || (list && is_null(numbers, at))
                                  ? NAN
                                  : value_of(format, numbers->buffers[1], at);
        }
    }
}

/* Does an array hold what its field says, from rows `first` on? */
static int field_fits(const arrow_schema *s, const arrow_array *a, int64_t first,
                      int64_t n)
{
    const int list = s->format[0] == '+';
    const int64_t width = width_of(s);
    const int64_t most = width > 0 ? INT64_MAX / 2 / width : 0; /* counted from 0 */
    if (width < 1 || a->length < 0 || a->length > most || a->offset < 0 ||
        a->offset > most - a->length || a->length - n < first)
        return 0;
    if (!list)
        return n == 0 || (a->n_buffers > 1 && a->buffers && a->buffers[1]);
    return a->n_children == 1 && a->children &&
           field_fits(s->children[0], a->children[0], (a->offset + first) * width,
                      n * width);
}

static int batch_fits(const arrow_object *a)
{
    const arrow_schema *s = &a->schema;
    const arrow_array *b = &a->batch;
    if (b->length < 0 || b->offset < 0 || b->offset > INT64_MAX / 4 ||
        b->length > INT64_MAX / 4)
        return 0;
    if (!is_struct(s))
        return field_fits(s, b, 0, b->length);
    int fits = b->n_children == s->n_children && (b->children || s->n_children == 0);
    for (int64_t f = 0; fits && f < s->n_children; f++)
        fits = field_fits(s->children[f], b->children[f], b->offset, b->length);
    return fits;
}

static int check_batch(const arrow_object *a)
{
    if (!a->batch.release || batch_fits(a))
        return 1;
    PyErr_SetString(PyExc_ValueError,
                    "a batch of the Arrow stream is not what its schema says.");
    return 0;
}

/* next(): rows of the next batch, or -1 at the end. */
static PyObject *arrow_next(PyObject *self, PyObject *none)
{
    (void)none;
    arrow_object *a = (arrow_object *)self;
    PyThreadState *saved;
    if (!leave(a, &saved))
        return NULL;
    if (a->batch.release)
        a->batch.release(&a->batch);
    memset(&a->batch, 0, sizeof a->batch);
    const int failed = a->stream->get_next(a->stream, &a->batch) != 0;
    enter(a, saved);
    if (failed) {
        a->batch.release = NULL; /* whatever is there is no batch */
        const char *why = a->stream->get_last_error(a->stream);
        PyErr_Format(PyExc_OSError, "the Arrow stream failed: %s.",
                     why ? why : "no reason");
        return NULL;
    }
    if (!check_batch(a))
        return NULL;
    return PyLong_FromLongLong(a->batch.release ? (long long)a->batch.length : -1);
}

/* take(first, count, buffer): rows of the batch, as doubles. A batch may be a whole table, so that
 * it, too, is taken in pieces. */
static PyObject *arrow_take(PyObject *self, PyObject *args)
{
    arrow_object *a = (arrow_object *)self;
    long long first, count;
    PyObject *out;
    PyThreadState *saved;
    Py_buffer view;
    if (!PyArg_ParseTuple(args, "LLO:take", &first, &count, &out))
        return NULL;
    if (!a->batch.release || first < 0 || count < 0 || count > a->batch.length - first) {
        PyErr_SetString(PyExc_ValueError, "the batch has not so many rows.");
        return NULL;
    }
    if (!buffer_of(out, 1, count * a->columns * (int64_t)sizeof(double),
                   "the array of rows", &view))
        return NULL;
    if (!leave(a, &saved)) {
        PyBuffer_Release(&view);
        return NULL;
    }
    double *at = view.buf;
    if (!is_struct(&a->schema))
        put_field(&a->schema, &a->batch, first, count, at, a->columns);
    else
        for (int64_t f = 0; f < a->schema.n_children; f++) {
            put_field(a->schema.children[f], a->batch.children[f],
                      a->batch.offset + first, count, at, a->columns);
            at += width_of(a->schema.children[f]);
        }
    at = view.buf;
    for (int64_t i = 0; i < count; i++) /* rows that are null as a whole */
        if (is_struct(&a->schema) && is_null(&a->batch, a->batch.offset + first + i))
            for (int64_t j = 0; j < a->columns; j++)
                at[i * a->columns + j] = NAN;
    enter(a, saved);
    PyBuffer_Release(&view);
    return text_or_none(NULL);
}

/* Names of the columns where each is a field of numbers, and whether all are float32 or uint8. */
static PyObject *arrow_schema_of(PyObject *self, PyObject *none)
{
    (void)none;
    const arrow_object *a = (const arrow_object *)self;
    const arrow_schema *s = &a->schema;
    int single = 1;
    PyObject *names = PyList_New(0);
    for (int64_t f = 0; names && f < (is_struct(s) ? s->n_children : 1); f++) {
        const arrow_schema *field = is_struct(s) ? s->children[f] : s;
        const char *format =
            field->format[0] == '+' ? field->children[0]->format : field->format;
        single = single && strchr("fC", format[0]) != NULL;
        PyObject *name = text_or_none(field->name ? field->name : "");
        if (!name || PyList_Append(names, name) != 0)
            Py_CLEAR(names);
        Py_XDECREF(name);
    }
    return names ? Py_BuildValue("(NLi)", names, (long long)a->columns, single) : NULL;
}

static PyMethodDef methods[] = {
    {"next", arrow_next, METH_NOARGS, "rows of the next batch; -1: there is none"},
    {"take", arrow_take, METH_VARARGS, "take(first, count, buffer of doubles)"},
    {"schema", arrow_schema_of, METH_NOARGS, "names of the fields, columns, single"},
    {NULL, NULL, 0, NULL}};
static PyType_Slot slots[] = {{Py_tp_dealloc, (void *)arrow_dealloc},
                              {Py_tp_methods, methods},
                              {Py_tp_doc, "Batches of an Arrow stream."},
                              {0, NULL}};
static PyType_Spec spec = {"vem._vem.Arrow", sizeof(arrow_object), 0,
                           Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION, slots};

int arrow_register(PyObject *module)
{
    return (state_of(module)->arrow_type = type_from(module, &spec)) != NULL;
}

static arrow_object *arrow_new(PyObject *module)
{
    PyTypeObject *type = state_of(module)->arrow_type;
    return (arrow_object *)((allocfunc)PyType_GetSlot(type, Py_tp_alloc))(type, 0);
}

/* arrow(capsule of a stream): its batches. */
static PyObject *arrow_open(PyObject *module, PyObject *capsule)
{
    arrow_stream *stream = PyCapsule_GetPointer(capsule, "arrow_array_stream");
    if (!stream)
        return NULL;
    if (!stream->release) {
        PyErr_SetString(PyExc_ValueError, "the Arrow stream has been read already.");
        return NULL;
    }
    arrow_object *a = arrow_new(module);
    if (!a)
        return NULL;
    Py_INCREF(capsule);
    a->capsule = capsule;
    a->stream = stream;
    PyThreadState *saved = PyEval_SaveThread();
    const int failed = stream->get_schema(stream, &a->schema) != 0;
    PyEval_RestoreThread(saved);
    if (failed) {
        a->schema.release = NULL;
        PyErr_SetString(PyExc_OSError, "the Arrow stream has no schema.");
    } else {
        a->columns = count_columns(&a->schema);
    }
    if (!PyErr_Occurred())
        return (PyObject *)a;
    Py_DECREF(a);
    return NULL;
}

/* One batch as a stream of its own. */
static int no_more(arrow_stream *stream, arrow_array *out)
{
    (void)stream;
    memset(out, 0, sizeof *out);
    return 0;
}

static const arrow_stream ended = {.get_next = no_more};

/* arrow_batch(capsule of a schema, capsule of an array): take() gives its rows at once. */
static PyObject *arrow_batch(PyObject *module, PyObject *args)
{
    PyObject *schema_capsule, *array_capsule;
    if (!PyArg_ParseTuple(args, "OO:arrow_batch", &schema_capsule, &array_capsule))
        return NULL;
    arrow_schema *schema = PyCapsule_GetPointer(schema_capsule, "arrow_schema");
    arrow_array *array =
        schema ? PyCapsule_GetPointer(array_capsule, "arrow_array") : NULL;
    if (!array)
        return NULL;
    if (!schema->release || !array->release) {
        PyErr_SetString(PyExc_ValueError, "the Arrow array has been taken already.");
        return NULL;
    }
    const int64_t columns = count_columns(schema);
    arrow_object *a = columns > 0 ? arrow_new(module) : NULL;
    if (!a)
        return NULL;
    a->stream = (arrow_stream *)(uintptr_t)&ended;
    a->columns = columns;
    a->schema = *schema; /* they move here: the capsules have them no longer */
    a->batch = *array;
    schema->release = NULL;
    array->release = NULL;
    if (!check_batch(a)) {
        Py_DECREF(a);
        return NULL;
    }
    return Py_BuildValue("(NL)", (PyObject *)a, (long long)a->batch.length);
}

PyMethodDef arrow_methods[] = {{"arrow", arrow_open, METH_O,
                                "arrow(capsule): batches of a stream"},
                               {"arrow_batch", arrow_batch, METH_VARARGS,
                                "arrow_batch(schema, array): (Arrow, rows)"},
                               {NULL, NULL, 0, NULL}};
