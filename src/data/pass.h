/* One pass over rows as stored: every value is checked, moved and summed. */
#ifndef VEM_DATA_PASS_H
#define VEM_DATA_PASS_H

#include "data/data.h"
#include "kernels/kernels.h"

typedef struct vem_i_pass {
    vem_i_run *run;
    const vem_data *data;
    int64_t first, n;
    int64_t
        whole; /* rows of all processes, of which this one has these; 0: these are all */
    int64_t halo; /* and the last of these are the next one's (data/together.h) */
    int32_t d;
    int normalize;
    const double *mass;    /* NULL: 1. Those of the whole lie around it */
    const double *center;  /* subtracted */
    const double *divisor; /* NULL: 1 */
    int squares;           /* sum squares instead of values */
    const vem_i_kernels *kernels;
    char *out; /* n x d of the type of `kernels`; NULL: nothing is written */
    int as_stored; /* out gets rows as the data have them, and pages of a mapped file that have been
                      read are let go, so that the rows are resident once */
    double *row; /* one row, for the caller */

    /* For the pass itself. */
    int64_t per_shard, per_block;
    int32_t group; /* rows of a wide row */
    char *scratch; /* per thread */
    size_t scratch_bytes;
    double *sums;    /* shards x d: of values, or of squares */
    double largest;  /* of all shards, after a pass */
    double *extreme; /* shards: largest |value| with a mass, where squares are summed */
    int64_t *place;  /* shards: the row that has it; -1: not looked for */
    double *masses;  /* shards */
    int64_t *bad;    /* shards: place of the first value that is not finite, or -1 */
} vem_i_pass;

/* Rows of all processes, and their masses (NULL: 1). */
static inline int64_t vem_i_pass_rows(const vem_i_pass *p)
{
    return p->whole ? p->whole : p->n;
}
static inline const double *vem_i_pass_masses(const vem_i_pass *p)
{
    return p->mass && p->whole ? p->mass - p->first : p->mass;
}
/* Rows of a shard, where there are n of them. */
int64_t vem_i_pass_shard(int64_t n, int32_t d);
/* Memory for the passes over the rows that p names: run, data, first, n, d, normalize and
 * kernels are set. On failure free it as well. */
vem_status vem_i_pass_new(vem_i_pass *p);
void vem_i_pass_free(vem_i_pass *p);
/* A failure that names the heaviest row: beside its weight the others leave no variance that the
 * precision can compute with. */
vem_status vem_i_pass_refuse_heavy(const vem_i_pass *p, vem_precision precision);
/* A failure that names a row of zeros, which has no direction; row as counted from 0. */
vem_status vem_i_refuse_zeros(vem_i_run *run, int64_t row);
/* Run one pass: `total` receives d sums, `mass` that of the masses. The first value that is
 * not finite is refused with its row and column. */
vem_status vem_i_pass_run(vem_i_pass *p, const char *phase, double *total, double *mass);
/* Writes these rows of the data to `out`, one for each of the n rows of the pass, as the pass that wrote the
 * others: every value has been checked. */
void vem_i_pass_fetch(vem_i_pass *p, const uint32_t *rows);
/* The largest |value| that the last pass met in a row with a mass; the pass was one that
 * summed squares. And the first row that has it, which takes a moment to find. */
double vem_i_pass_extreme(const vem_i_pass *p);
int64_t vem_i_pass_extreme_row(const vem_i_pass *p);
/* "Row 3, column 2 (height)" of a row of the pass. */
void vem_i_pass_name(const vem_i_pass *p, int64_t row, int32_t column, char *text,
                     size_t size);

#endif
