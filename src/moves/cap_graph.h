/* The clusters as a graph: an edge from a to b is the cheapest way to move a row from
 * a to b. */
#ifndef VEM_MOVES_CAP_GRAPH_H
#define VEM_MOVES_CAP_GRAPH_H

#include "data/items.h"
#include "model/family.h"

/* Clusters that rows of one can go to. */
enum { VEM_I_CAP_NEAR = 10 };
/* With at most so many clusters, all of them. */
enum { VEM_I_CAP_ALL = 64 };

/* Rows of a cluster that are kept for each of them, so that not all are looked at when
 * one goes. */
enum { VEM_I_CAP_LIST = 32 };

#define VEM_I_NO_ROW UINT32_MAX

typedef struct vem_i_cap_graph {
    vem_i_run *run;
    const vem_view *view;
    const vem_model *model;
    vem_i_scorer scorer;
    int32_t clusters, reach; /* edges of a cluster */
    int32_t *labels;         /* n, borrowed */
    double *masses;          /* C */
    /* Rows of a cluster, in a ring without beginning: */
    uint32_t *first;        /* C: one of them */
    uint32_t *after, *prev; /* n */
    /* Of a cluster that was looked at: */
    unsigned char *known; /* C */
    int32_t *near;        /* C x reach: where its rows can go */
    uint32_t
        *best; /* C x reach x VEM_I_CAP_LIST: rows that go there for least, in order, */
    float *least;          /* and what they cost more per unit of mass */
    unsigned char *listed; /* C x reach: how many; 0: there is no row */
    float *beyond;         /* C x reach: rows that are not listed cost no less */
    float *more;           /* n x reach: what each row costs more there */
    /* Scratch. */
    double *distance; /* reach */
    int32_t *index;   /* (reach + 1) x VEM_I_BLOCK */
    void *costs;      /* the same, of T */
    uint32_t *rows;   /* VEM_I_BLOCK */
} vem_i_cap_graph;

vem_status vem_i_cap_graph_new(vem_i_run *run, const vem_view *view,
                               const vem_model *model, int32_t *labels,
                               vem_i_cap_graph *graph);
void vem_i_cap_graph_free(vem_i_cap_graph *graph);
/* Its edges are there from now on. */
void vem_i_cap_look(vem_i_cap_graph *graph, int32_t cluster);
/* The row that takes this edge (a place in `near`), and what it costs more.
 * VEM_I_NO_ROW: none does. */
static inline uint32_t vem_i_cap_row(const vem_i_cap_graph *graph, int64_t edge)
{
    return graph->listed[edge] ? graph->best[edge * VEM_I_CAP_LIST] : VEM_I_NO_ROW;
}
static inline float vem_i_cap_least(const vem_i_cap_graph *graph, int64_t edge)
{
    return graph->least[edge * VEM_I_CAP_LIST];
}
/* The row goes there. */
void vem_i_cap_move(vem_i_cap_graph *graph, uint32_t row, int32_t to);
/* Where no edge leads: of the rows of a cluster the one that goes to any of the `open`
 * clusters (C flags) for least. VEM_I_NO_ROW: it has none of a mass. */
uint32_t vem_i_cap_far(vem_i_cap_graph *graph, int32_t cluster, const unsigned char *open,
                       int32_t *to);

#endif
