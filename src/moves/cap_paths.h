/* Rows from clusters that have too many to those that have room, along the cheapest ways
 * there are: several at a time. */
#ifndef VEM_MOVES_CAP_PATHS_H
#define VEM_MOVES_CAP_PATHS_H

#include "moves/cap_edges.h"
#include "moves/cap_rows.h"

/* Edges of a cluster, where lists have not all clusters: the cheapest. */
enum { VEM_I_CAP_EDGES = 64 };

/* A row that goes from `from` to `to`. */
typedef struct vem_i_cap_edge {
    int32_t from, to;
    uint32_t row;
    float length;
} vem_i_cap_edge;

typedef struct vem_i_cap_paths {
    vem_i_cap_rows *rows;
    vem_i_cap_edges least_of; /* where lists have all clusters */
    double most, least;       /* of a cluster; least 0: any */
    int64_t rounds;           /* since it began */
    int32_t reach;            /* edges of a cluster, at most */
    vem_i_cap_edge *edges;    /* C x reach */
    int32_t *count;           /* C: of them */
    int64_t *starts;          /* C + 1: edges by where they lead to, */
    int64_t *into;            /* C x reach: their numbers */
    double *distance; /* C + 1: to where rows lack; the last is no cluster: it takes what
                         clusters with room can take, and gives what they can spare */
    int64_t *next; /* C: the edge on the way there; -1: it ends there, -2: by the last */
    int32_t *heap, *at; /* C + 1 */
    int32_t size;       /* of the heap */
    int32_t *order;     /* C: where rows are taken from */
    double *key;        /* C */
    float *nearest;     /* threads x C: of the edges of one cluster */
    uint32_t *cheapest; /* threads x C */
    int32_t *met;       /* threads x C */
} vem_i_cap_paths;

vem_status vem_i_cap_paths_new(vem_i_cap_rows *rows, vem_i_cap_paths *paths);
void vem_i_cap_paths_free(vem_i_cap_paths *paths);
/* Rows have moved otherwise, since there were paths. */
void vem_i_cap_paths_begin(vem_i_cap_paths *paths);
/* Lists of rows, and clusters, that were looked at since then. */
int64_t vem_i_cap_paths_looked(const vem_i_cap_paths *paths);
/* One round: rows that are too many go to where there is room (`fill` 0), or rows from
 * where some can be spared to where they lack (1). Returns how many paths were gone; 0:
 * there is none, or no need of one. */
int64_t vem_i_cap_paths_go(vem_i_cap_paths *paths, int fill);
/* What is too many, or lacks. */
double vem_i_cap_wanting(const vem_i_cap_paths *paths, int fill);

#endif
