/* Trees of merges. */
#include "vem_python.h"

static void tree_dealloc(PyObject *self)
{
    PyTypeObject *type = Py_TYPE(self);
    vem_dendrogram_free(((tree_object *)self)->tree);
    ((freefunc)PyType_GetSlot(type, Py_tp_free))(self);
    Py_DECREF(type);
}

static PyObject *tree_wrap(PyObject *module, vem_dendrogram *tree)
{
    PyTypeObject *type = state_of(module)->tree_type;
    tree_object *object =
        (tree_object *)((allocfunc)PyType_GetSlot(type, Py_tp_alloc))(type, 0);
    if (object)
        object->tree = tree;
    else
        vem_dendrogram_free(tree);
    return (PyObject *)object;
}

static PyObject *summary(PyObject *self, PyObject *none)
{
    (void)none;
    const vem_dendrogram *tree = ((tree_object *)self)->tree;
    const vem_dendrogram_info *s = vem_dendrogram_summary(tree);
    return Py_BuildValue("{s:L,s:L,s:L,s:d,s:d,s:L,s:N}", "rows", (long long)s->n,
                         "leaves", (long long)s->leaves, "clusters",
                         (long long)s->clusters, "log_evidence", s->log_evidence,
                         "log_evidence_leaves", s->log_evidence_leaves, "distances",
                         (long long)s->distances, "notes",
                         text_or_none(vem_dendrogram_notes(tree)));
}

/* merges(buffer of 6 doubles a merge): a, b, height, leaves, delta, log evidence. */
static PyObject *merges(PyObject *self, PyObject *out)
{
    const vem_dendrogram *tree = ((tree_object *)self)->tree;
    const int64_t count = vem_dendrogram_leaves(tree) - 1;
    Py_buffer view;
    if (!buffer_of(out, 1, count * 6 * (int64_t)sizeof(double), "the array of merges",
                   &view))
        return NULL;
    double *row = view.buf;
    for (int64_t k = 0; k < count; k++, row += 6) {
        const vem_dendrogram_merge *m = vem_dendrogram_at(tree, k);
        row[0] = (double)m->a;
        row[1] = (double)m->b;
        row[2] = m->height;
        row[3] = (double)m->size;
        row[4] = m->delta;
        row[5] = m->log_evidence;
    }
    PyBuffer_Release(&view);
    return text_or_none(NULL);
}

static PyObject *cut(PyObject *self, PyObject *args)
{
    const vem_dendrogram *tree = ((tree_object *)self)->tree;
    long long clusters;
    PyObject *labels, *result = NULL;
    Py_buffer view;
    call c;
    if (!PyArg_ParseTuple(args, "LO:cut", &clusters, &labels) ||
        !buffer_of(labels, 1, vem_dendrogram_rows(tree) * (int64_t)sizeof(int32_t),
                   "the array of labels", &view))
        return NULL;
    if (call_begin(&c, NULL)) {
        call_release(&c);
        const vem_status status = vem_dendrogram_cut(c.ctx, tree, clusters, view.buf);
        call_take(&c);
        if (call_check(&c, status))
            result = text_or_none(NULL);
        call_end(&c);
    }
    PyBuffer_Release(&view);
    return result;
}

static PyObject *tree_write(PyObject *self, PyObject *path)
{
    PyObject *bytes = NULL, *result = NULL;
    call c;
    if (!PyUnicode_FSConverter(path, &bytes))
        return NULL;
    if (call_begin(&c, NULL)) {
        call_release(&c);
        const vem_status status = vem_dendrogram_write(c.ctx, ((tree_object *)self)->tree,
                                                       PyBytes_AsString(bytes));
        call_take(&c);
        if (call_check(&c, status))
            result = text_or_none(NULL);
        call_end(&c);
    }
    Py_DECREF(bytes);
    return result;
}

static PyMethodDef methods[] = {
    {"summary", summary, METH_NOARGS, "rows, leaves, clusters of the most evidence, ..."},
    {"merges", merges, METH_O, "merges(buffer of 6 doubles for each merge)"},
    {"cut", cut, METH_VARARGS, "cut(clusters, buffer of int32): labels; 0: by evidence"},
    {"write", tree_write, METH_O, "write(path)"},
    {NULL, NULL, 0, NULL}};
static PyType_Slot slots[] = {{Py_tp_dealloc, (void *)tree_dealloc},
                              {Py_tp_methods, methods},
                              {Py_tp_doc, "A tree of merges."},
                              {0, NULL}};
static PyType_Spec spec = {"vem._vem.Tree", sizeof(tree_object), 0,
                           Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION, slots};

int tree_register(PyObject *module)
{
    return (state_of(module)->tree_type = type_from(module, &spec)) != NULL;
}

static PyObject *agglomerate(PyObject *module, PyObject *args)
{
    PyObject *object, *dict, *prior, *settings = NULL, *result = NULL;
    int method, pairs;
    long long leaves;
    Py_buffer views[2] = {{.obj = NULL}, {.obj = NULL}};
    vem_prior_options conjugate = {.size = sizeof conjugate};
    vem_options options;
    vem_dendrogram *tree = NULL;
    call c;
    if (!PyArg_ParseTuple(args, "OOiiLO|O:agglomerate", &object, &dict, &method, &pairs,
                          &leaves, &prior, &settings))
        return NULL;
    const vem_data *data = data_of(module, object);
    if (!data)
        return NULL;
    vem_dendrogram_options how = {.size = sizeof how,
                                  .method = (vem_dendrogram_method)method,
                                  .pairs = (vem_pairs_method)pairs,
                                  .leaves = leaves};
    int ready = 1;
    if (PyDict_Check(prior)) {
        ready = prior_from(prior, views, &conjugate);
        how.prior = &conjugate;
    }
    if (ready && call_begin_on(&c, settings, object)) {
        if (options_from(&c, dict, &options)) {
            call_release(&c);
            const vem_status status = vem_agglomerate(c.ctx, data, &options, &how, &tree);
            call_take(&c);
            if (call_check(&c, status))
                result = tree_wrap(module, tree);
        }
        call_end(&c);
    }
    for (int i = 0; i < 2; i++)
        if (views[i].obj)
            PyBuffer_Release(&views[i]);
    return result;
}

static PyObject *tree_read(PyObject *module, PyObject *path)
{
    PyObject *bytes = NULL, *result = NULL;
    vem_dendrogram *tree = NULL;
    call c;
    if (!PyUnicode_FSConverter(path, &bytes))
        return NULL;
    if (call_begin(&c, NULL)) {
        call_release(&c);
        const vem_status status =
            vem_dendrogram_read(c.ctx, PyBytes_AsString(bytes), &tree);
        call_take(&c);
        if (call_check(&c, status))
            result = tree_wrap(module, tree);
        call_end(&c);
    }
    Py_DECREF(bytes);
    return result;
}

PyMethodDef tree_methods[] = {
    {"agglomerate", agglomerate, METH_VARARGS,
     "agglomerate(data, options, method, pairs, leaves, prior, settings): Tree"},
    {"tree_read", tree_read, METH_O, "tree_read(path): Tree"},
    {NULL, NULL, 0, NULL}};
