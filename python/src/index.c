/* What builders of an index ask of a model: its centres under fewer ones, two lists for each row, and
 * the model brought up to date. */
#include "vem_python.h"

/* hierarchy(model, levels, seed, settings): (vectors, parents, levels), each a bytearray. */
static PyObject *hierarchy(PyObject *module, PyObject *args)
{
    PyObject *of_model, *settings = NULL, *result = NULL;
    int levels;
    long long seed;
    vem_hierarchy *made = NULL;
    call c;
    if (!PyArg_ParseTuple(args, "OiL|O:hierarchy", &of_model, &levels, &seed, &settings))
        return NULL;
    const vem_model *model = model_of(module, of_model);
    if (!model || !call_begin(&c, settings))
        return NULL;
    const vem_hierarchy_options options = {.size = sizeof options,
                                           .levels = levels,
                                           .seed = seed};
    call_release(&c);
    const vem_status status = vem_hierarchy_new(c.ctx, model, &options, &made);
    call_take(&c);
    if (call_check(&c, status)) {
        const int64_t nodes = vem_hierarchy_nodes(made);
        result =
            Py_BuildValue("(NNN)",
                          bytes_of(vem_hierarchy_vectors(made),
                                   nodes * vem_model_columns(model), sizeof(double)),
                          bytes_of(vem_hierarchy_parents(made), nodes, sizeof(int32_t)),
                          bytes_of(vem_hierarchy_level_of(made), nodes, sizeof(int32_t)));
    }
    vem_hierarchy_free(made);
    call_end(&c);
    return result;
}

/* spill(model, data, lambda, precision, clusters, settings): n x 2 int32 into `clusters`. */
static PyObject *spill(PyObject *module, PyObject *args)
{
    PyObject *of_model, *of_data, *out, *settings = NULL, *result = NULL;
    double lambda;
    int precision;
    Py_buffer clusters;
    call c;
    if (!PyArg_ParseTuple(args, "OOdiO|O:spill", &of_model, &of_data, &lambda, &precision,
                          &out, &settings))
        return NULL;
    const vem_model *model = model_of(module, of_model);
    const vem_data *data = model ? data_of(module, of_data) : NULL;
    if (!data || !buffer_of(out, 1, vem_data_rows(data) * 2 * (int64_t)sizeof(int32_t),
                            "the array of results", &clusters))
        return NULL;
    if (call_begin_on(&c, settings, of_data)) {
        call_release(&c);
        const vem_status status =
            vem_assign_spill(c.ctx, model, data, lambda, (vem_precision)precision,
                             clusters.buf, NULL);
        call_take(&c);
        if (call_check(&c, status))
            result = text_or_none(NULL);
        call_end(&c);
    }
    PyBuffer_Release(&clusters);
    return result;
}

/* update(data, options, model, distances, moved, settings): (model, report, what ended it or None);
 * of each cluster how far it moved (doubles), and whether it has another place (int32). */
static PyObject *update(PyObject *module, PyObject *args)
{
    PyObject *object, *dict, *from, *out[2], *settings = NULL, *result = NULL;
    vem_options options;
    vem_model *model = NULL;
    vem_report *report = NULL;
    Py_buffer distances, moved;
    call c;
    if (!PyArg_ParseTuple(args, "OOOOO|O:update", &object, &dict, &from, &out[0], &out[1],
                          &settings))
        return NULL;
    const vem_data *data = data_of(module, object);
    const vem_model *before = data ? model_of(module, from) : NULL;
    if (!before)
        return NULL;
    const int64_t clusters = vem_model_clusters(before);
    if (!buffer_of(out[0], 1, clusters * (int64_t)sizeof(double),
                   "the array of distances", &distances))
        return NULL;
    if (buffer_of(out[1], 1, clusters * (int64_t)sizeof(int32_t), "the array of places",
                  &moved)) {
        if (call_begin_on(&c, settings, object)) {
            if (options_from(&c, dict, &options)) {
                call_release(&c);
                const vem_status status =
                    vem_update(c.ctx, data, &options, before, &model, &report,
                               distances.buf, moved.buf);
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
        }
        PyBuffer_Release(&moved);
    }
    PyBuffer_Release(&distances);
    return result;
}

PyMethodDef index_methods[] = {
    {"hierarchy", hierarchy, METH_VARARGS, "hierarchy(model, levels, seed, settings)"},
    {"spill", spill, METH_VARARGS,
     "spill(model, data, lambda, precision, clusters, settings)"},
    {"update", update, METH_VARARGS,
     "update(data, options, model, distances, moved, settings)"},
    {NULL, NULL, 0, NULL}};
