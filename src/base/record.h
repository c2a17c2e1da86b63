/* The state of a computation as a sequence of named blocks.
 *
 * One function per noun says what its state is; the record either writes it or reads it
 * back, so that the two cannot disagree. Reading trusts nothing: name and size of every
 * block must be what is expected, and the caller checks values: indices against what they
 * point into, counters so that sums of them cannot overflow, and what can be told from
 * other blocks against those. The first failure leaves its sentence in the context; after it nothing passes,
 * so that a caller need not look at every call. */
#ifndef VEM_BASE_RECORD_H
#define VEM_BASE_RECORD_H

#include "base/run.h"

/* Bytes before the values of a block. */
enum { VEM_I_RECORD_HEADING = 40 };

typedef struct vem_i_record {
    vem_i_run *run;
    const char *path; /* for messages */
    int reading;
    /* Writes bytes or fills them in. Not VEM_OK: with a message. */
    vem_status (*pass)(void *user, void *bytes, size_t size);
    void *user;
    /* Where several processes pass the same: what the one does that has the file. NULL else. */
    vem_status (*file)(void *user, void *bytes, size_t size);
    void *file_user;
    uint64_t left;     /* reading: bytes that are still there */
    vem_status status; /* of the first failure */
    char ahead
        [VEM_I_RECORD_HEADING]; /* what was read of the next block, to know its name */
    int looked_ahead;
} vem_i_record;

/* `count` values of `size` bytes. Names have up to 23 letters. */
void vem_i_record_block(vem_i_record *record, const char *name, void *values,
                        size_t count, size_t size);
/* Reading: is the next block of this name? Nothing is taken. 0 also where there is none. */
int vem_i_record_is_next(vem_i_record *record, const char *name);
#define VEM_I_RECORD(record, name, variable)                                             \
    vem_i_record_block(record, name, &(variable), 1, sizeof(variable))
/* The same for whole numbers that must lie between `low` and `high` when read. */
void vem_i_record_indices(vem_i_record *record, const char *name, int32_t *values,
                          size_t count, int64_t low, int64_t high);
void vem_i_record_count(vem_i_record *record, const char *name, int64_t *value,
                        int64_t low, int64_t high);
void vem_i_record_int(vem_i_record *record, const char *name, int *value, int low,
                      int high);
/* Counters that only grow: seven of them, each as large as a file may claim, and what a fit
 * adds to them still are an int64_t. */
#define VEM_I_RECORD_MOST (INT64_C(1) << 60)
/* Seconds that anything can have taken: 30,000 years. */
#define VEM_I_RECORD_SECONDS 1e12
/* Real numbers that must be finite and between `low` and `high` when read. */
void vem_i_record_reals(vem_i_record *record, const char *name, double *values,
                        size_t count, double low, double high);
/* The same of the type of the arithmetic, `size` bytes each: float or double. */
void vem_i_record_elements(vem_i_record *record, const char *name, void *values,
                           size_t count, size_t size, double low, double high);
/* What was read cannot be: the part `name` is to blame. */
void vem_i_record_refuse(vem_i_record *record, const char *name);

/* A sum over 64-bit words that a change of any one word changes for sure. A last word that is
 * not whole is filled up with zeros. */
uint64_t vem_i_mix(uint64_t sum, const void *bytes, size_t size);

#endif
