/* For every two clusters a and b the rows of a that go to b for least, kept while rows
 * move: where lists have all clusters. */
#ifndef VEM_MOVES_CAP_EDGES_H
#define VEM_MOVES_CAP_EDGES_H

#include "moves/cap_rows.h"

/* Rows that are known of a and b. Whoever has used them up looks at all rows of a. */
enum { VEM_I_CAP_KNOWN = 32 };

/* What a row costs more in b than in a, without prices; among equals the first row. */
typedef struct vem_i_cap_step {
    double more;
    uint32_t row;
} vem_i_cap_step;

typedef struct vem_i_cap_edges {
    vem_i_cap_rows *rows;
    vem_i_cap_step *known; /* C x C x VEM_I_CAP_KNOWN: the least last; some have left a */
    vem_i_cap_step *limit; /* C x C: rows of a from here on need not be known */
    int32_t *count;        /* C x C */
    int32_t *empty;        /* C x C: of a, what is to be looked for */
    int64_t *looked; /* C: rows, for each b, that were looked at since it was cleared */
} vem_i_cap_edges;

vem_status vem_i_cap_edges_new(vem_i_cap_rows *rows, vem_i_cap_edges *edges);
void vem_i_cap_edges_free(vem_i_cap_edges *edges);
/* Nothing is known: rows have moved otherwise. */
void vem_i_cap_edges_clear(vem_i_cap_edges *edges);
/* What is known of a is right for all b. Other threads may do that for other a. */
void vem_i_cap_edges_look(vem_i_cap_edges *edges, int32_t a);
/* The least of them; its row is VEM_I_NO_ROW where a has no rows. Of a that was looked
 * at, since rows moved. */
vem_i_cap_step vem_i_cap_edges_least(const vem_i_cap_edges *edges, int32_t a, int32_t b);
/* The row has come to its cluster. */
void vem_i_cap_edges_came(vem_i_cap_edges *edges, uint32_t row);

#endif
