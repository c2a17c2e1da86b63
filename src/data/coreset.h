/* Coresets: a weighted sample that stands for all rows, drawn in two sequential passes with
 * memory that does not grow with the number of rows (docs/math/coresets.md).
 *
 *     pass 1 (column_moments.c)  mass, mean and sum of squares of the columns
 *     pass 2 (coreset.c)         the chance of each row, and the draws that fall on it
 *
 * Both are fed chunk by chunk, in the order of the rows; vem_i_coreset feeds all rows of one
 * vem_data. Chunks may have any number of whole pieces of vem_i_piece_rows rows (the last
 * chunk any number of rows), and how a file is cut into them does not change a bit of the
 * result; nor do the threads. Of several processes (comm/comm.h) each has one chunk: what is
 * known of the rows before it comes from the one before, and all of them get the whole. */
#ifndef VEM_DATA_CORESET_H
#define VEM_DATA_CORESET_H

#include "data/data.h"

/* Rows of one piece, the unit in which sums are taken. */
int64_t vem_i_piece_rows(int32_t d);

/* A chunk: `count` rows of `data` from `first` on, which are the rows number `at`, at + 1,
 * ... of the whole. */
typedef struct vem_i_chunk {
    const vem_data *data;
    int64_t first, count, at;
} vem_i_chunk;

/* Pass 1: what is known of the rows so far, in the units they are stored in (divided by
 * their length where that is asked for). */
typedef struct vem_i_column_moments {
    int32_t d;
    int normalize;
    double unit;     /* weights count in these: a power of two near their mean */
    double mass;     /* sum of the weights, in units */
    double *mean;    /* d */
    double *squares; /* d: weighted sum of squares about the mean, in units */
    int64_t rows;
    int64_t last; /* the last row of positive weight; -1: none */
    /* How much work there will be, for the progress function: rows of all passes. */
    int64_t total;
} vem_i_column_moments;

/* `weights` (n, or NULL): all of them, to find their unit. */
vem_status vem_i_column_moments_new(vem_i_run *run, int32_t d, int normalize,
                                    const double *weights, int64_t n,
                                    vem_i_column_moments *moments);
vem_status vem_i_column_moments_add(vem_i_run *run, vem_i_column_moments *moments,
                                    vem_i_chunk chunk);
/* What the weights alone tell, without a look at the rows: enough for a uniform sample. It
 * owns nothing. */
vem_i_column_moments vem_i_column_moments_weights(int32_t d, const double *weights,
                                                  int64_t n);
void vem_i_column_moments_free(vem_i_column_moments *moments);

typedef struct vem_i_coreset_request {
    int64_t size;
    vem_coreset_method method;
    uint64_t seed;
    /* How the engine will see the rows; distances are taken so. */
    int normalize, standardize, whiten;
    const double *scale; /* d factors that columns are divided by, or NULL */
} vem_i_coreset_request;

/* Pass 2. */
typedef struct vem_i_draw {
    const vem_i_column_moments *moments;
    int64_t size;
    double *factors;   /* d: 1 / scale, or NULL */
    double rest;       /* c_n = rest + slope * (squared distance to the mean) */
    double slope;      /* 0: rows need not be looked at */
    double *places;    /* `size` ordered uniform numbers (places.c): where in the running
                          sum */
    double sum;        /* of the chances so far */
    int64_t next;      /* draws placed so far */
    int64_t done;      /* rows seen */
    vem_data *coreset; /* whole when all rows were seen */
} vem_i_draw;

/* `like` gives the type and the columns; `scale` (NULL: 1) what columns are divided by;
 * `moments` lives as long as the draw. On failure nothing is kept. */
vem_status vem_i_draw_new(vem_i_run *run, const vem_i_coreset_request *request,
                          const vem_data *like, const vem_i_column_moments *moments,
                          const double *scale, vem_i_draw *draw);
vem_status vem_i_draw_add(vem_i_run *run, vem_i_draw *draw, vem_i_chunk chunk);
void vem_i_draw_free(vem_i_draw *draw);

/* All rows of `data`. size >= n: all of them, with their own weights. scale (NULL, or d
 * values to fill in): what columns are divided by under `standardize` and `whiten`. */
vem_status vem_i_coreset(vem_i_run *run, const vem_data *data,
                         const vem_i_coreset_request *request, double *scale,
                         vem_data **coreset);
/* What columns are divided by to have variance 1; 1 where they are constant. */
void vem_i_column_moments_scale(const vem_i_column_moments *moments, double *scale);

/* `size` ordered places in [0, 1); room for one more. */
void vem_i_draw_places(vem_i_run *run, uint64_t seed, int64_t size, double *places);
/* The first of places[from .. size - 1] that is not below `sum`. */
int64_t vem_i_places_below(const double *places, int64_t from, int64_t size, double sum);

/* ---- shared by the two passes ---- */

/* The rows that this process passes: all of them, or whole pieces of its own. */
vem_i_chunk vem_i_coreset_own(const vem_i_run *run, const vem_data *data);

/* Rows in a wave: pieces that are worked on at once. */
int64_t vem_i_wave_rows(int32_t d);
/* The sentence for a stop in either pass. */
vem_status vem_i_coreset_stopped(vem_i_run *run);
/* "Row 3, column 2 is NaN." of the first such value of the chunk; VEM_OK: there is none. */
vem_status vem_i_refuse_bad(vem_i_run *run, vem_i_chunk chunk, int normalize);
/* What made the moments of the chunk no numbers: such a value or, where there is none, the largest one.
 * Of several processes: of all their chunks. */
vem_status vem_i_refuse_moments(vem_i_run *run, vem_i_chunk chunk, int normalize);

#endif
