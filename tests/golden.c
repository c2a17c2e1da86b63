#include "golden.h"

enum { MOST = 256 };

json_t *golden_read(const char *name)
{
    const char *source = getenv("VEM_SOURCE");
    char path[512];
    json_error_t error;
    snprintf(path, sizeof path, "%s/tests/golden/%s", source ? source : ".", name);
    return json_load_file(path, 0, &error);
}

static size_t flatten(const json_t *value, double *out, size_t at)
{
    if (json_is_number(value)) {
        out[at] = json_number_value(value);
        return at + 1;
    }
    for (size_t i = 0; i < json_array_size(value); i++)
        at = flatten(json_array_get(value, i), out, at);
    return at;
}

size_t golden_list(const json_t *object, const char *key, double *out)
{
    const size_t n = flatten(json_object_get(object, key), out, 0);
    assert_true(n > 0);
    return n;
}

double golden_number(const json_t *object, const char *key)
{
    const json_t *value = json_object_get(object, key);
    assert_true(json_is_number(value));
    return json_number_value(value);
}

void golden_near(const json_t *object, const char *key, const double *found)
{
    double expected[MOST];
    const size_t n = golden_list(object, key, expected);
    for (size_t i = 0; i < n; i++)
        grid_assert_near(found[i], expected[i], 1e-9 * fmax(1, fabs(expected[i])), key);
}
