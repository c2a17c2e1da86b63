/* Rows and where they may go: each has a list of clusters with what it costs there, and
 * each cluster the rows that it holds now. */
#ifndef VEM_MOVES_CAP_ROWS_H
#define VEM_MOVES_CAP_ROWS_H

#include <math.h>

#include "data/items.h"
#include "model/family.h"

/* Clusters of a list, the row's own among them. */
enum { VEM_I_CAP_WIDTH = 16 };
/* With at most so many clusters, all of them. */
enum { VEM_I_CAP_ALL = 64 };

#define VEM_I_NO_ROW UINT32_MAX

/* Who makes lists, where the rows are elsewhere (cap_apart.c): as vem_i_cap_rows_list and _scan. */
struct vem_i_cap_rows;
typedef struct vem_i_cap_lister {
    int (*list)(void *arg, struct vem_i_cap_rows *rows);
    int (*scan)(void *arg, struct vem_i_cap_rows *rows, const uint32_t *which,
                int64_t count);
    void *arg;
} vem_i_cap_lister;

typedef struct vem_i_cap_rows {
    vem_i_run *run;
    const vem_view *view;
    const vem_model *model;
    vem_i_scorer scorer, priced; /* of costs; and of costs with prices */
    int32_t clusters, width;
    int all;         /* lists have all clusters, in order */
    int32_t *labels; /* n, borrowed */
    double unit;     /* of masses: the weight of rows that all weigh the same; or 1 */
    double *masses;  /* C */
    double *price;   /* C: added to what is in a list, by whoever moves rows */
    /* Rows of a cluster, in a ring without beginning: */
    uint32_t *first;        /* C: one of them */
    uint32_t *after, *prev; /* n */
    unsigned char *own;     /* n: the place of the label in the list */
    int32_t *index;         /* n x width; NULL: cluster k is at k. -1: nothing */
    float *cost;            /* n x width: nats, above those of some cluster of the list */
    float
        *horizon; /* n: price included, clusters that are not in the list cost no less, as
                       long as prices rise; NULL: all are */
    int32_t *near; /* C x near_count: clusters that the rows of one are compared with */
    int32_t near_count;
    char *scratch; /* per thread */
    size_t scratch_size;
    const vem_i_cap_lister *lister; /* NULL: the rows are here */
} vem_i_cap_rows;

/* Labels are to be from 0 to C - 1. */
vem_status vem_i_cap_rows_new(vem_i_run *run, const vem_view *view,
                              const vem_model *model, int32_t *labels,
                              vem_i_cap_rows *rows);
void vem_i_cap_rows_free(vem_i_cap_rows *rows);
/* Fill the lists, while prices are 0. 1: a stop, or the end of the time, came before
 * that was done. */
int vem_i_cap_rows_list(vem_i_cap_rows *rows);
/* Those of some rows, which are nowhere, anew: of all clusters, by the prices now. */
int vem_i_cap_rows_scan(vem_i_cap_rows *rows, const uint32_t *which, int64_t count);

/* Exactly 1, or 0, where rows weigh the same or nothing. */
static inline double vem_i_cap_mass(const vem_i_cap_rows *r, int64_t row)
{
    return vem_i_view_mass(r->view, row) / r->unit;
}
/* The cluster at a place of a list. */
static inline int32_t vem_i_cap_at(const vem_i_cap_rows *r, int64_t row, int32_t place)
{
    return r->all ? place : r->index[row * r->width + place];
}
/* What a row costs there, price included. */
static inline double vem_i_cap_cost(const vem_i_cap_rows *r, int64_t row, int32_t place)
{
    const int32_t c = vem_i_cap_at(r, row, place);
    return c < 0 ? INFINITY : (double)r->cost[row * r->width + place] + r->price[c];
}
/* The next row of a ring; VEM_I_NO_ROW: that was all. */
static inline uint32_t vem_i_cap_next(const vem_i_cap_rows *r, int32_t c, uint32_t row)
{
    return r->after[row] == r->first[c] ? VEM_I_NO_ROW : r->after[row];
}
/* The row leaves its cluster (its label is -1 then), and enters the one at that place of
 * its list; or both. */
void vem_i_cap_leave(vem_i_cap_rows *rows, uint32_t row);
void vem_i_cap_enter(vem_i_cap_rows *rows, uint32_t row, int32_t place);
void vem_i_cap_move(vem_i_cap_rows *rows, uint32_t row, int32_t place);
/* It enters a cluster that need not be in its list, and is there then, for no cost. */
void vem_i_cap_enter_any(vem_i_cap_rows *rows, uint32_t row, int32_t cluster);

#endif
