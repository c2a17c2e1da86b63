/* Fits, and selections of a number of clusters. */
#include <math.h>

#include "vem_python.h"

enum { MOST_FAMILIES = 32 };

/* ---- Reports ---- */

static PyObject *step_to(const vem_trace_step *s)
{
    return Py_BuildValue("(LdLLLzLd)", (long long)s->step, s->free_energy,
                         (long long)s->pairs, (long long)s->changed, (long long)s->empty,
                         s->move, (long long)s->moved, s->seconds);
}

static PyObject *trace_to(const vem_report *report)
{
    PyObject *list = PyList_New(0);
    const vem_trace_step *steps = vem_report_trace(report);
    for (int64_t t = 0; list && t < vem_report_trace_count(report); t++) {
        PyObject *step = step_to(&steps[t]);
        if (!step || PyList_Append(list, step) != 0)
            Py_CLEAR(list);
        Py_XDECREF(step);
    }
    return list;
}

static int put_numbers(PyObject *dict, const vem_summary *s)
{
    const struct {
        const char *name;
        double value;
    } reals[] = {{"rows_used", s->rows_used},
                 {"free_energy", s->free_energy},
                 {"free_energy_first", s->free_energy_first},
                 {"quantization_error", s->quantization_error},
                 {"log_likelihood", s->log_likelihood},
                 {"aic", s->aic},
                 {"bic", s->bic},
                 {"icl", s->icl},
                 {"seconds", s->seconds_total}};
    const struct {
        const char *name;
        int64_t value;
    } wholes[] = {{"clusters", s->clusters},     {"steps", s->steps},
                  {"init_steps", s->init_steps}, {"scored_pairs", s->scored_pairs},
                  {"seed_pairs", s->seed_pairs}, {"restart", s->restart},
                  {"items", s->items},           {"floored", s->floored},
                  {"parameters", s->parameters}, {"peak_bytes", (int64_t)s->peak_bytes}};
    for (size_t i = 0; i < sizeof reals / sizeof *reals; i++)
        if (!put(dict, reals[i].name, PyFloat_FromDouble(reals[i].value)))
            return 0;
    for (size_t i = 0; i < sizeof wholes / sizeof *wholes; i++)
        if (!put(dict, wholes[i].name, PyLong_FromLongLong(wholes[i].value)))
            return 0;
    return 1;
}

PyObject *report_to(const vem_report *report)
{
    const vem_summary *s = vem_report_summary(report);
    PyObject *dict = PyDict_New();
    if (dict && put_numbers(dict, s) &&
        put(dict, "outcome", text_or_none(vem_outcome_name(s->outcome))) &&
        put(dict, "options", options_to(vem_report_options(report))) &&
        put(dict, "choices", text_or_none(vem_report_choices(report))) &&
        put(dict, "notes", text_or_none(vem_report_notes(report))) &&
        put(dict, "stopping", text_or_none(vem_report_stopping(report))) &&
        put(dict, "trace", trace_to(report)) &&
        put(dict, "labels",
            vem_report_labels(report)
                ? bytes_of(vem_report_labels(report), s->n, sizeof(int32_t))
                : text_or_none(NULL)))
        return dict;
    Py_XDECREF(dict);
    return NULL;
}

/* ---- Fit ---- */

static PyObject *fit(PyObject *module, PyObject *args)
{
    PyObject *object, *dict, *from = Py_None, *settings = NULL, *result = NULL;
    const vem_model *start = NULL;
    vem_options options;
    vem_model *model = NULL;
    vem_report *report = NULL;
    call c;
    if (!PyArg_ParseTuple(args, "OO|OO:fit", &object, &dict, &from, &settings))
        return NULL;
    const vem_data *data = data_of(module, object);
    if (!data || (from != Py_None && !(start = model_of(module, from))) ||
        !call_begin_on(&c, settings, object))
        return NULL;
    if (options_from(&c, dict, &options)) {
        call_release(&c);
        const vem_status status = vem_fit(c.ctx, data, &options, start, &model, &report);
        call_take(&c);
        if (call_check(&c, status)) {
            PyObject *told = report_to(report), *made = model_wrap(module, model);
            PyObject *raised = c.raised ? c.raised : Py_None;
            result = told && made ? PyTuple_Pack(3, made, told, raised) : NULL;
            Py_XDECREF(told);
            Py_XDECREF(made);
        }
        vem_report_free(report);
    }
    call_end(&c);
    return result;
}

static PyObject *forecast(PyObject *module, PyObject *args)
{
    PyObject *object, *dict, *settings = NULL, *result = NULL;
    vem_options options;
    vem_forecast found = {.size = sizeof found};
    call c;
    if (!PyArg_ParseTuple(args, "OO|O:forecast", &object, &dict, &settings))
        return NULL;
    const vem_data *data = data_of(module, object);
    if (!data || !call_begin_on(&c, settings, object))
        return NULL;
    if (options_from(&c, dict, &options)) {
        call_release(&c);
        const vem_status status = vem_plan_fit(c.ctx, data, &options, NULL, &found);
        call_take(&c);
        if (call_check(&c, status))
            result = Py_BuildValue("{s:K,s:K,s:K,s:d}", "bytes",
                                   (unsigned long long)found.bytes, "spilled",
                                   (unsigned long long)found.spilled, "allowed",
                                   (unsigned long long)found.allowed, "seconds",
                                   found.seconds);
    }
    call_end(&c);
    return result;
}

/* allowed(settings): bytes that may still be taken, by the limit or by the machine, as the plan of a
 * fit of one row says; 0: not known. */
static PyObject *allowed(PyObject *module, PyObject *settings)
{
    (void)module;
    static const double row[1] = {0};
    vem_options options;
    vem_forecast found = {.size = sizeof found};
    vem_data *data = NULL;
    PyObject *result = NULL;
    call c;
    if (!call_begin(&c, settings))
        return NULL;
    vem_options_init(&options);
    options.clusters = 1;
    vem_status status =
        vem_data_borrow(c.ctx, VEM_FLOAT64, row, 1, 1, sizeof *row, sizeof *row, &data);
    if (status == VEM_OK)
        status = vem_plan_fit(c.ctx, data, &options, NULL, &found);
    vem_data_free(data);
    if (call_check(&c, status))
        result = PyLong_FromUnsignedLongLong(found.allowed);
    call_end(&c);
    return result;
}

/* ---- Select ---- */

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
            Py_BuildValue("{s:i,s:L,s:d,s:d,s:L,s:d,s:d,s:d,s:d,s:d}", "clusters",
                          p->clusters, "steps", (long long)p->steps, "free_energy",
                          p->free_energy, "log_likelihood", p->log_likelihood,
                          "parameters", (long long)p->parameters, "entropy", p->entropy,
                          "aic", p->aic, "bic", p->bic, "icl", p->icl, "objective",
                          p->objective);
        if (!row || PyList_Append(list, row) != 0)
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
        result = Py_BuildValue("{s:s,s:i,s:i,s:d,s:i,s:d}", "criterion", s.criterion,
                               "lower", s.lower, "clusters", s.clusters, "objective",
                               s.objective, "next", s.next, "margin", s.margin);
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

/* Numbers of families, from a tuple; 0: failed. */
static int families_from(PyObject *tuple, int32_t *kinds, vem_select_options *how)
{
    const Py_ssize_t count = PyTuple_Size(tuple);
    if (count < 0 || count > MOST_FAMILIES) {
        if (count >= 0)
            PyErr_SetString(PyExc_ValueError, "there are not so many families.");
        return 0;
    }
    for (Py_ssize_t i = 0; i < count; i++) {
        const long kind = PyLong_AsLong(PyTuple_GetItem(tuple, i));
        if (kind == -1 && PyErr_Occurred())
            return 0;
        kinds[i] = (int32_t)kind;
    }
    how->families = count > 0 ? kinds : NULL;
    how->family_count = count;
    return 1;
}

/* select(data, options, method, least, most, prior or None, families, settings) */
static PyObject *select_clusters(PyObject *module, PyObject *args)
{
    PyObject *object, *dict, *prior, *families, *settings = NULL, *result = NULL;
    int32_t kinds[MOST_FAMILIES];
    int method, least, most;
    Py_buffer views[2] = {{.obj = NULL}, {.obj = NULL}};
    vem_prior_options conjugate = {.size = sizeof conjugate};
    call c;
    if (!PyArg_ParseTuple(args, "OOiiiOO|O:select", &object, &dict, &method, &least,
                          &most, &prior, &families, &settings))
        return NULL;
    const vem_data *data = data_of(module, object);
    if (!data)
        return NULL;
    vem_select_options how = {.size = sizeof how,
                              .method = (vem_select_method)method,
                              .min_clusters = least,
                              .max_clusters = most};
    int ready = families_from(families, kinds, &how);
    if (ready && PyDict_Check(prior)) {
        ready = prior_from(prior, views, &conjugate);
        how.prior = &conjugate;
    }
    if (ready && call_begin_on(&c, settings, object)) {
        result = run_select(module, &c, data, dict, &how);
        call_end(&c);
    }
    for (int i = 0; i < 2; i++)
        if (views[i].obj)
            PyBuffer_Release(&views[i]);
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

int fit_register(PyObject *module)
{
    return (state_of(module)->path_type = type_from(module, &spec)) != NULL;
}

PyMethodDef fit_methods[] = {
    {"fit", fit, METH_VARARGS,
     "fit(data, options, start=None, settings=None): (Model, report, exception or None)"},
    {"allowed", allowed, METH_O, "allowed(settings): bytes that may still be taken"},
    {"forecast", forecast, METH_VARARGS, "forecast(data, options, settings=None)"},
    {"select", select_clusters, METH_VARARGS,
     "select(data, options, method, min, max, prior, settings=None): (Model, report, "
     "exception or None, Path)"},
    {"path_pick", path_pick, METH_VARARGS, "path_pick(path, clusters): Model"},
    {"path_write", path_write, METH_VARARGS, "path_write(path, model, file)"},
    {"path_read", path_read, METH_O, "path_read(file): Path"},
    {NULL, NULL, 0, NULL}};
