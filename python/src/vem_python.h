/* What the files of the extension module share.
 *
 * The module is written against the limited API of Python 3.11 and sees of the library only
 * <vem/vem.h>. It has no static variable that changes: types live in the state of the module, and
 * every call makes a context of its own (or has that of the file it reads), so that calls from any
 * number of threads, with or without the interpreter lock, know nothing of each other.
 *
 * Arrays go in by the buffer protocol, without a copy; results go into buffers of the caller or come
 * back as bytearrays. What they mean is for the Python side (python/vem). */
#ifndef VEM_PYTHON_H
#define VEM_PYTHON_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <stdatomic.h>

#include <vem/vem.h>

typedef struct module_state {
    PyTypeObject *data_type, *model_type, *tree_type, *stream_type, *path_type,
        *arrow_type;
} module_state;

module_state *state_of(PyObject *module);
PyTypeObject *type_from(PyObject *module, PyType_Spec *spec);

/* ---- One call into the library (call.c) ---- */

struct data_object;

typedef struct call {
    vem_ctx *ctx;
    struct data_object *lender; /* whose the context is; NULL: this call's */
    int threads, limited;       /* of the context: 0 for all, whether it has a limit */
    PyObject *progress;         /* borrowed; NULL: nobody is told */
    PyObject *say; /* borrowed: sentences in the caller's words; NULL: as they are */
    PyThreadState *saved;
    double asked;     /* seconds of the verb at which signals were last looked at */
    PyObject *raised; /* what ended it: Ctrl-C, or an exception of `progress` */
} call;

/* `settings`: a dict that may have "threads", "memory" (bytes, or text as the command takes it),
 * "progress" and "say", or None. 0: failed, with an exception. */
int call_begin(call *c, PyObject *settings);
/* On `rows`: a Data that was checked, or NULL. Pages of a mapped file are let go only by the context
 * that mapped it, and to make one takes a tenth of a millisecond and more: so data lend theirs. Where
 * it is in use already the call has one of its own. */
int call_begin_on(call *c, PyObject *settings, PyObject *rows);
/* The context stays with `rows`, a Data; call_end follows. */
void call_leave(call *c, PyObject *rows);
void call_end(call *c);
/* Around a verb: the interpreter lock is not held between the two. */
void call_release(call *c);
void call_take(call *c);
/* 1: done. 0: the exception that the status, or what ended the call, means. */
int call_check(call *c, vem_status status);

/* Options as a dict from names to numbers or words, None being left out. 0: failed. */
int options_from(call *c, PyObject *dict, vem_options *options);
PyObject *options_to(const vem_options *options);

/* ---- Handles ---- */

typedef struct data_object {
    PyObject_HEAD vem_data *data;
    Py_buffer view;       /* what the data borrow; obj NULL: nothing */
    vem_ctx *ctx;         /* knows the mapped file; NULL: there is none */
    int threads, limited; /* as of a call */
    atomic_int lent;      /* it is in use */
} data_object;

typedef struct model_object {
    PyObject_HEAD vem_model *model;
} model_object;

typedef struct tree_object {
    PyObject_HEAD vem_dendrogram *tree;
} tree_object;

typedef struct path_object {
    PyObject_HEAD vem_path *path;
} path_object;

typedef struct stream_object {
    PyObject_HEAD vem_stream *stream;
    atomic_int busy; /* a call uses it, without the interpreter lock */
} stream_object;

/* They take the handle over, also where they fail. */
PyObject *data_wrap(PyObject *module, vem_data *data);
PyObject *model_wrap(PyObject *module, vem_model *model);
/* The handle of an argument, or NULL with a TypeError. */
vem_data *data_of(PyObject *module, PyObject *object);
vem_model *model_of(PyObject *module, PyObject *object);
/* A buffer of at least so many bytes, contiguous and (where asked) writable. 0: failed. */
int buffer_of(PyObject *object, int writable, int64_t bytes, const char *what,
              Py_buffer *view);
PyObject *bytes_of(const void *values, int64_t count, size_t size);
PyObject *text_or_none(const char *text);
PyObject *report_to(const vem_report *report);
/* A conjugate prior from a dict with strength, dof, count, mean and scale; release the views whose
 * obj is set. 0: failed. */
int prior_from(PyObject *dict, Py_buffer views[2], vem_prior_options *prior);

/* 0: failed. Sets an item and gives up the reference to the value, which may be NULL. */
int put(PyObject *dict, const char *name, PyObject *value);

/* ---- The functions and types of each file ---- */

extern PyMethodDef table_methods[], data_methods[], model_methods[], fit_methods[],
    select_methods[], use_methods[], tree_methods[], stream_methods[], arrow_methods[],
    index_methods[];
int data_register(PyObject *module);
int model_register(PyObject *module);
int select_register(PyObject *module);
int tree_register(PyObject *module);
int stream_register(PyObject *module);
int arrow_register(PyObject *module);

#endif
