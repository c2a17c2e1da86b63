/* What is known of a table's columns: their names and means, of the data that were read and of
 * the model that was made of them, so that it finds its columns in another file and knows what
 * stands for their missing values. */
#ifndef VEM_BASE_NAMES_H
#define VEM_BASE_NAMES_H

#include "base/run.h"

typedef struct vem_i_names {
    const char *owner; /* whose they are, for messages: "the model"; not owned */
    int32_t count;     /* columns of values */
    char **columns;    /* their names, in one block; NULL: they have none */
    int32_t id_count;
    char **ids; /* names of the id columns, in one block; NULL: they have none */
    char *picked, *picked_id; /* how they were asked for (--columns, --id); NULL: not */
    double *means;            /* of the columns over the rows of a fit; NULL: not known */
    int decide; /* of the first of several files: whatever was asked for, and by which
                   number, the others give the columns of these names */
} vem_i_names;

/* What is copied has no owner, and decides nothing. On failure *to is empty. */
vem_status vem_i_names_copy(vem_i_run *run, const vem_i_names *from, vem_i_names *to);
void vem_i_names_free(vem_i_names *names);
/* A list of names, or one text, in memory of its own. */
vem_status vem_i_names_list(vem_i_run *run, const char *const *from, int32_t count,
                            char ***list);
vem_status vem_i_names_text(vem_i_run *run, const char *from, char **text);
/* `count` means, or none. */
vem_status vem_i_names_means(vem_i_run *run, const double *from, int32_t count,
                             double **means);

/* Bytes as UTF-8, cut to fit: what is not UTF-8 is taken for Latin-1. */
void vem_i_names_utf8(const char *name, char *out, size_t capacity);
/* As it stands in a sentence: [name, name + length), of which the byte behind begins no part of a
 * character, as UTF-8, cut at a character. */
enum { VEM_I_SHOWN = 64 };
const char *vem_i_names_shown(const char *name, size_t length, char text[VEM_I_SHOWN]);
/* The same name, in whichever of the two encodings? */
int vem_i_names_same(const char *a, const char *b);

#endif
