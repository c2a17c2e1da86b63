/* The module vem._vem: its state, its types, and the tables of the library. */
#include <string.h>

#include "vem_python.h"

module_state *state_of(PyObject *module)
{
    return PyModule_GetState(module);
}

PyTypeObject *type_from(PyObject *module, PyType_Spec *spec)
{
    PyObject *type = PyType_FromModuleAndSpec(module, spec, NULL);
    if (type && PyModule_AddType(module, (PyTypeObject *)type) != 0)
        Py_CLEAR(type);
    return (PyTypeObject *)type;
}

/* ---- Tables ---- */

static PyObject *options(PyObject *module, PyObject *none)
{
    (void)module, (void)none;
    static const char *const kinds[] = {"int", "real", "choice", "flag"};
    PyObject *list = PyList_New(0);
    for (int i = 0; list && i < vem_option_count(); i++) {
        const vem_option_info *o = vem_option_at(i);
        PyObject *row =
            Py_BuildValue("(ssdddzzs)", o->name, kinds[o->kind], o->default_value, o->low,
                          o->high, o->choices, o->argument, o->help);
        if (!row || PyList_Append(list, row) != 0)
            Py_CLEAR(list);
        Py_XDECREF(row);
    }
    return list;
}

static PyObject *families(PyObject *module, PyObject *none)
{
    (void)module, (void)none;
#define FAMILY(kind, symbol, name, what) {kind, name, what},
    static const struct {
        vem_family_kind kind;
        const char *name, *what;
    } table[] = {VEM_FAMILY_TABLE(FAMILY)};
#undef FAMILY
    PyObject *list = PyList_New(0);
    for (size_t i = 0; list && i < sizeof table / sizeof *table; i++) {
        PyObject *row = Py_BuildValue("(ssii)", table[i].name, table[i].what,
                                      vem_family_axes(table[i].kind),
                                      vem_family_shared(table[i].kind));
        if (!row || PyList_Append(list, row) != 0)
            Py_CLEAR(list);
        Py_XDECREF(row);
    }
    return list;
}

static PyObject *methods(PyObject *module, PyObject *none)
{
    (void)module, (void)none;
#define SELECT(NAME, symbol, name, what) name,
#define TREE(NAME, name, what) #name,
    static const char *const select[] = {VEM_SELECT_TABLE(SELECT) NULL};
    static const char *const tree[] = {VEM_DENDROGRAM_TABLE(TREE) NULL};
    static const char *const pairs[] = {VEM_PAIRS_TABLE(TREE) NULL};
#undef SELECT
#undef TREE
    static const char *const generators[] = {"birch-grid", "birch-random", "separated",
                                             "tau-separated", NULL};
    static const char *const coresets[] = {"lightweight", "uniform", NULL};
    static const struct {
        const char *name;
        const char *const *words;
    } tables[] = {{"select", select},
                  {"tree", tree},
                  {"pairs", pairs},
                  {"generate", generators},
                  {"coreset", coresets}};
    PyObject *dict = PyDict_New();
    for (size_t i = 0; dict && i < sizeof tables / sizeof *tables; i++) {
        PyObject *list = PyList_New(0);
        for (const char *const *word = tables[i].words; list && *word; word++) {
            PyObject *text = PyUnicode_FromString(*word);
            if (!text || PyList_Append(list, text) != 0)
                Py_CLEAR(list);
            Py_XDECREF(text);
        }
        if (!put(dict, tables[i].name, list))
            Py_CLEAR(dict);
    }
    return dict;
}

static PyObject *version(PyObject *module, PyObject *none)
{
    (void)module, (void)none;
    return PyUnicode_FromString(vem_version());
}

static PyObject *file_kind(PyObject *module, PyObject *path)
{
    (void)module;
    PyObject *bytes = NULL;
    if (!PyUnicode_FSConverter(path, &bytes))
        return NULL;
    PyObject *kind = PyUnicode_FromString(vem_file_kind(PyBytes_AsString(bytes)));
    Py_DECREF(bytes);
    return kind;
}

PyMethodDef table_methods[] = {
    {"options", options, METH_NOARGS,
     "The option table: (name, kind, default, low, high, choices, argument, help)."},
    {"families", families, METH_NOARGS, "Families: (name, what it is, axes, shared)."},
    {"methods", methods, METH_NOARGS,
     "Names of the methods of select, trees, closest pairs, generate and coreset."},
    {"version", version, METH_NOARGS, "Version of the library."},
    {"file_kind", file_kind, METH_O, "What a file holds: data, model, tree, ..."},
    {NULL, NULL, 0, NULL}};

/* ---- The module ---- */

static int execute(PyObject *module)
{
    PyMethodDef *const tables[] = {
        table_methods,  data_methods,  model_methods, fit_methods,
        select_methods, use_methods,   tree_methods,  stream_methods,
        arrow_methods,  index_methods, NULL};
    for (PyMethodDef *const *table = tables; *table; table++)
        if (PyModule_AddFunctions(module, *table) != 0)
            return -1;
    if (!data_register(module) || !model_register(module) || !select_register(module) ||
        !tree_register(module) || !stream_register(module) || !arrow_register(module))
        return -1;
    return 0;
}

static int traverse(PyObject *module, visitproc visit, void *arg)
{
    module_state *s = state_of(module);
    if (!s)
        return 0;
    Py_VISIT(s->data_type);
    Py_VISIT(s->model_type);
    Py_VISIT(s->tree_type);
    Py_VISIT(s->stream_type);
    Py_VISIT(s->path_type);
    Py_VISIT(s->arrow_type);
    return 0;
}

static int clear(PyObject *module)
{
    module_state *s = state_of(module);
    if (!s)
        return 0;
    Py_CLEAR(s->data_type);
    Py_CLEAR(s->model_type);
    Py_CLEAR(s->tree_type);
    Py_CLEAR(s->stream_type);
    Py_CLEAR(s->path_type);
    Py_CLEAR(s->arrow_type);
    return 0;
}

static void free_module(void *module)
{
    clear(module);
}

static PyModuleDef_Slot slots[] = {{Py_mod_exec, (void *)execute}, {0, NULL}};

static PyModuleDef definition = {.m_base = PyModuleDef_HEAD_INIT,
                                 .m_name = "vem._vem",
                                 .m_doc =
                                     "The library behind vem, as it is: see help(vem).",
                                 .m_size = sizeof(module_state),
                                 .m_slots = slots,
                                 .m_traverse = traverse,
                                 .m_clear = clear,
                                 .m_free = free_module};

PyMODINIT_FUNC PyInit__vem(void);
PyMODINIT_FUNC PyInit__vem(void)
{
    return PyModuleDef_Init(&definition);
}
