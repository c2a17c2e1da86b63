/* Fits. */
#include <math.h>

#include "vem_python.h"

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

PyMethodDef fit_methods[] = {
    {"fit", fit, METH_VARARGS,
     "fit(data, options, start=None, settings=None): (Model, report, exception or None)"},
    {"allowed", allowed, METH_O, "allowed(settings): bytes that may still be taken"},
    {"forecast", forecast, METH_VARARGS, "forecast(data, options, settings=None)"},
    {NULL, NULL, 0, NULL}};
