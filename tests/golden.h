/* Golden values: tests/golden/NAME, from references in Python (shared by the project's founders). */
#ifndef VEM_TESTS_GOLDEN_H
#define VEM_TESTS_GOLDEN_H

#include <jansson.h>

#include "grid.h"

/* The file, or NULL. */
json_t *golden_read(const char *name);
/* All numbers of a value, nested lists row by row; how many there were. */
size_t golden_list(const json_t *object, const char *key, double *out);
double golden_number(const json_t *object, const char *key);
/* What was found is what the file says, to 1e-9 of it. */
void golden_near(const json_t *object, const char *key, const double *found);

#endif
