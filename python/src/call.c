/* A call into the library: its context, the interpreter lock, Ctrl-C, and what statuses mean. */
#include <limits.h>
#include <string.h>

#include "vem_python.h"

/* Seconds between two looks at signals, where nobody else is told of the progress. */
static const double PATIENCE = 0.05;

int put(PyObject *dict, const char *name, PyObject *value)
{
    if (!value)
        return 0;
    const int failed = PyDict_SetItemString(dict, name, value);
    Py_DECREF(value);
    return failed == 0;
}

PyObject *text_or_none(const char *text)
{
    if (text)
        return PyUnicode_DecodeUTF8(text, (Py_ssize_t)strlen(text), "replace");
    Py_INCREF(Py_None);
    return Py_None;
}

PyObject *bytes_of(const void *values, int64_t count, size_t size)
{
    PyObject *array =
        PyByteArray_FromStringAndSize(NULL, (Py_ssize_t)count * (Py_ssize_t)size);
    if (array && count > 0)
        memcpy(PyByteArray_AsString(array), values, (size_t)count * size);
    return array;
}

int buffer_of(PyObject *object, int writable, int64_t bytes, const char *what,
              Py_buffer *view)
{
    if (PyObject_GetBuffer(object, view, writable ? PyBUF_WRITABLE : PyBUF_SIMPLE) != 0)
        return 0;
    if (view->len >= bytes)
        return 1;
    PyErr_Format(PyExc_ValueError, "%s has %zd bytes, but %lld are needed.", what,
                 view->len, (long long)bytes);
    PyBuffer_Release(view);
    return 0;
}

static PyObject *progress_to(const vem_progress *p)
{
    PyObject *dict = PyDict_New();
    if (dict && put(dict, "phase", text_or_none(p->phase)) &&
        put(dict, "done", PyLong_FromLongLong(p->done)) &&
        put(dict, "total", PyLong_FromLongLong(p->total)) &&
        put(dict, "step", PyLong_FromLongLong(p->step)) &&
        put(dict, "max_steps", PyLong_FromLongLong(p->max_steps)) &&
        put(dict, "free_energy", PyFloat_FromDouble(p->free_energy)) &&
        put(dict, "seconds", PyFloat_FromDouble(p->seconds)) &&
        put(dict, "restart", PyLong_FromLongLong(p->restart)) &&
        put(dict, "restarts", PyLong_FromLongLong(p->restarts)) &&
        put(dict, "clusters", PyLong_FromLong(p->clusters)))
        return dict;
    Py_XDECREF(dict);
    return NULL;
}

/* What the pending exception is, as an object; it is no longer pending. */
static PyObject *caught(void)
{
    PyObject *type, *value, *trace;
    PyErr_Fetch(&type, &value, &trace);
    PyErr_NormalizeException(&type, &value, &trace);
    if (value && trace)
        PyException_SetTraceback(value, trace);
    Py_XDECREF(type);
    Py_XDECREF(trace);
    return value;
}

/* Called by the library in the thread of the call, without the interpreter lock. */
static int on_progress(void *user, const vem_progress *progress)
{
    call *c = user;
    if (c->raised)
        return 1;
    if (!c->progress && progress->seconds - c->asked < PATIENCE)
        return 0;
    c->asked = progress->seconds;
    call_take(c);
    int stop = PyErr_CheckSignals() != 0;
    if (!stop && c->progress) {
        PyObject *told = progress_to(progress);
        PyObject *answer =
            told ? PyObject_CallFunctionObjArgs(c->progress, told, NULL) : NULL;
        /* Only True stops: what a function happens to return is no answer. */
        stop = !answer || answer == Py_True;
        Py_XDECREF(answer);
        Py_XDECREF(told);
    }
    if (stop && PyErr_Occurred())
        c->raised = caught();
    call_release(c);
    return stop;
}

/* A setting, borrowed; NULL: it was not given. */
static PyObject *setting(PyObject *settings, const char *name)
{
    PyObject *item =
        settings && settings != Py_None ? PyDict_GetItemString(settings, name) : NULL;
    return item == Py_None ? NULL : item;
}

/* Calls without settings are small and take one thread: in a process that was forked the others are
 * gone, which only Python is told of (_base.py). */
static int set_threads(call *c, PyObject *settings)
{
    PyObject *given = setting(settings, "threads");
    long long threads = settings && settings != Py_None ? 0 : 1; /* 0: all */
    if (given) {
        threads = PyLong_AsLongLong(given);
        if (PyErr_Occurred())
            return 0;
        if (threads < 1 || threads > INT_MAX) {
            PyErr_Format(PyExc_ValueError,
                         "n_threads is %lld, but it must be at least 1.", threads);
            return 0;
        }
    }
    if (threads == c->threads) /* to set them is to try whether they can be had */
        return 1;
    if (!call_check(c, vem_ctx_set_threads(c->ctx, (int)threads)))
        return 0;
    c->threads = (int)threads;
    return 1;
}

/* Bytes, or text such as "1G", which the option table reads. */
static int set_memory(call *c, PyObject *given)
{
    vem_options options;
    if (!given && !c->limited)
        return 1;
    c->limited = given != NULL;
    vem_options_init(&options);
    options.memory = 0;
    if (given) {
        PyObject *shown = PyObject_Str(given);
        PyObject *text = shown ? PyUnicode_AsUTF8String(shown) : NULL;
        const int done = text && call_check(c, vem_options_set(c->ctx, &options, "memory",
                                                               PyBytes_AsString(text)));
        Py_XDECREF(shown);
        Py_XDECREF(text);
        if (!done)
            return 0;
    }
    const int64_t bytes = options.memory > 0 ? (int64_t)options.memory : 0;
    return call_check(c, vem_ctx_set_memory(c->ctx, bytes));
}

int call_begin_on(call *c, PyObject *settings, PyObject *rows)
{
    data_object *lender = (data_object *)rows;
    *c = (call){0};
    if (settings && settings != Py_None && !PyDict_Check(settings)) {
        PyErr_SetString(PyExc_TypeError, "settings must be a dict.");
        return 0;
    }
    if (lender && lender->ctx && !atomic_exchange(&lender->lent, 1)) {
        c->lender = lender;
        c->ctx = lender->ctx;
        c->threads = lender->threads;
        c->limited = lender->limited;
    } else if (vem_ctx_new(&c->ctx) != VEM_OK) {
        PyErr_NoMemory();
        return 0;
    }
    c->progress = setting(settings, "progress");
    /* With dashes, options are known for what they are: `say` puts its names in their place. */
    c->say = setting(settings, "say");
    vem_ctx_set_dashes(c->ctx, c->say != NULL);
    vem_ctx_set_progress(c->ctx, on_progress, c);
    if (set_threads(c, settings) && set_memory(c, setting(settings, "memory")))
        return 1;
    call_end(c);
    return 0;
}

int call_begin(call *c, PyObject *settings)
{
    return call_begin_on(c, settings, NULL);
}

void call_end(call *c)
{
    Py_CLEAR(c->raised);
    if (c->lender) {
        vem_ctx_set_progress(c->ctx, NULL, NULL);
        c->lender->threads = c->threads;
        c->lender->limited = c->limited;
        atomic_store(&c->lender->lent, 0);
    } else {
        vem_ctx_free(c->ctx);
    }
    *c = (call){0};
}

void call_leave(call *c, PyObject *rows)
{
    data_object *object = (data_object *)rows;
    vem_ctx_set_progress(c->ctx, NULL, NULL);
    object->ctx = c->ctx;
    object->threads = c->threads;
    object->limited = c->limited;
    c->ctx = NULL;
}

void call_release(call *c)
{
    c->saved = PyEval_SaveThread();
}

void call_take(call *c)
{
    PyEval_RestoreThread(c->saved);
}

/* What the library says of a file that is not there (src/base/system.c): it has one status for all
 * that the system refuses. */
static int is_absent(const call *c, vem_status status)
{
    return status == VEM_IO_ERROR &&
           strstr(vem_ctx_message(c->ctx), "there is no such file or directory") != NULL;
}

int call_check(call *c, vem_status status)
{
    if (status == VEM_OK)
        return 1;
    if (c->raised) {
        PyErr_SetObject((PyObject *)Py_TYPE(c->raised), c->raised);
        return 0;
    }
    PyObject *kind = status == VEM_NO_MEMORY     ? PyExc_MemoryError
                     : is_absent(c, status)      ? PyExc_FileNotFoundError
                     : status == VEM_IO_ERROR    ? PyExc_OSError
                     : status == VEM_UNSUPPORTED ? PyExc_NotImplementedError
                     : status == VEM_STOPPED     ? PyExc_RuntimeError
                                                 : PyExc_ValueError;
    PyObject *sentence = text_or_none(vem_ctx_message(c->ctx));
    if (sentence && c->say) {
        PyObject *said = PyObject_CallFunctionObjArgs(c->say, sentence, NULL);
        Py_DECREF(sentence);
        sentence = said;
    }
    if (sentence)
        PyErr_SetObject(kind, sentence);
    Py_XDECREF(sentence);
    return 0;
}

int options_from(call *c, PyObject *dict, vem_options *options)
{
    vem_options_init(options);
    if (!dict || dict == Py_None)
        return 1;
    if (!PyDict_Check(dict)) {
        PyErr_SetString(PyExc_TypeError, "options must be a dict.");
        return 0;
    }
    PyObject *key, *value;
    Py_ssize_t at = 0;
    while (PyDict_Next(dict, &at, &key, &value)) {
        if (value == Py_None)
            continue;
        PyObject *shown = value == Py_True    ? PyUnicode_FromString("1")
                          : value == Py_False ? PyUnicode_FromString("0")
                                              : PyObject_Str(value);
        PyObject *name = shown ? PyUnicode_AsUTF8String(key) : NULL;
        PyObject *text = name ? PyUnicode_AsUTF8String(shown) : NULL;
        const int done =
            text && call_check(c, vem_options_set(c->ctx, options, PyBytes_AsString(name),
                                                  PyBytes_AsString(text)));
        Py_XDECREF(shown);
        Py_XDECREF(name);
        Py_XDECREF(text);
        if (!done)
            return 0;
    }
    return 1;
}

PyObject *options_to(const vem_options *options)
{
    PyObject *dict = PyDict_New();
    for (int i = 0; dict && i < vem_option_count(); i++) {
        const vem_option_info *info = vem_option_at(i);
        char text[64] = "";
        PyObject *value;
        if (!vem_options_get(options, info->name, text, sizeof text))
            continue;
        if (strcmp(text, "auto") == 0 && info->default_value == VEM_AUTO)
            value = text_or_none(NULL);
        else if (info->kind == VEM_KIND_CHOICE || /* or a word in the place of a number */
                 (info->choices && text[0] >= 'a'))
            value = text_or_none(text);
        else if (info->kind == VEM_KIND_FLAG)
            value = PyBool_FromLong(text[0] != '0');
        else if (info->kind == VEM_KIND_INT)
            value = PyLong_FromDouble(PyOS_string_to_double(text, NULL, NULL));
        else
            value = PyFloat_FromDouble(PyOS_string_to_double(text, NULL, NULL));
        if (!put(dict, info->name, value))
            Py_CLEAR(dict);
    }
    return dict;
}
