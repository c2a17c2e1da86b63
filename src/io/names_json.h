/* What a model knows of its columns, in its meta: "columns" (a list of names), "ids" (a list),
 * how they were picked, "picked_columns" and "picked_ids", and their means, "missing_means".
 * Files of 0.1 have none of them. */
#ifndef VEM_IO_NAMES_JSON_H
#define VEM_IO_NAMES_JSON_H

#include <jansson.h>

#include "base/names.h"
#include "io/io.h"

/* Sets what there is, and takes away what there is not. 0: memory could not be had. */
int vem_i_names_to_json(const vem_i_names *names, int32_t count, json_t *json);
/* A list of columns must have `count` names, one of means as many. */
vem_status vem_i_names_from_json(vem_i_run *run, const char *path, const json_t *json,
                                 int64_t count, vem_i_names *names);

/* Any bytes as UTF-8: what is not is taken for Latin-1. NULL: memory could not be had. */
json_t *vem_i_text_to_json(const char *text);
/* A list of texts under a key (NULL: it is taken away), and read again in one block (NULL and 0
 * where there is none). */
int vem_i_texts_to_json(char *const *texts, int32_t count, const char *key, json_t *json);
vem_status vem_i_texts_from_json(vem_i_run *run, const char *path, const json_t *json,
                                 const char *key, char ***texts, int32_t *count);

/* An array of bytes as JSON, for the caller to give back; NULL where it is no object. */
vem_status vem_i_npz_json(vem_i_run *run, vem_i_npz *npz, const char *name,
                          json_t **json);

#endif
