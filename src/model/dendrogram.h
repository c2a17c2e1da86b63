/* A tree of merges: the noun vem_dendrogram. Leaves are rows, or groups of rows. */
#ifndef VEM_MODEL_DENDROGRAM_H
#define VEM_MODEL_DENDROGRAM_H

#include "base/run.h"

struct vem_dendrogram {
    int64_t leaves;               /* N, at least 2 */
    int64_t rows;                 /* of the data */
    vem_dendrogram_merge *merges; /* N - 1, in the order in which they were made */
    int32_t *leaf_of;             /* of each row; NULL: leaves are rows */
    int64_t rows_read;            /* with those that were left out */
    int64_t *row_of; /* of each row: which of these it is; NULL: all are there */
    char **ids;      /* of the rows, in one block, texts behind pointers; NULL: none */
    char *id_name;   /* what the ids are called; NULL: nothing */
    vem_dendrogram_info about;
    char *notes; /* "" or a sentence a line */
};

/* Room for row_of, where fewer rows than were read are in the tree. */
vem_status vem_i_dendrogram_leave_out(vem_i_run *run, int64_t rows_read,
                                      vem_dendrogram *tree);
vem_status vem_i_dendrogram_new(vem_i_run *run, int64_t leaves, int64_t rows, int grouped,
                                vem_dendrogram **tree);
/* Heights from deltas: their cumulative maximum, from 0 on; sizes from the ids; and
 * what the summary says of the evidence. VEM_BAD_DATA: the ids are those of no tree
 * (`source` names it in the sentence). */
vem_status vem_i_dendrogram_settle(vem_i_run *run, const char *source,
                                   vem_dendrogram *tree);
/* One more sentence; too long a text is cut. */
__attribute__((format(printf, 2, 3))) void vem_i_dendrogram_note(vem_dendrogram *tree,
                                                                 const char *format, ...);

/* What a leaf is called: its name, where there are names, or else its id, or else its
 * number, for which there is room. */
enum { VEM_I_LEAF_NUMBER = 24 };
const char *vem_i_dendrogram_leaf_name(const vem_dendrogram *tree,
                                       const char *const *names, int64_t leaf,
                                       char number[VEM_I_LEAF_NUMBER]);

/* The nodes under which lie the K clusters of a cut: node_of_leaf[i] is the cluster of
 * leaf i, numbered by their first leaves. */
vem_status vem_i_dendrogram_clusters(vem_i_run *run, const vem_dendrogram *tree,
                                     int64_t clusters, int32_t *cluster_of_leaf);
/* Leaves in the order in which a picture shows them, where no two branches cross:
 * start[node] is the place of the first leaf of a node, 2 N - 1 of them. `weights`:
 * how many places a leaf takes (NULL: 1). */
void vem_i_dendrogram_places(const vem_dendrogram *tree, const int64_t *weights,
                             int64_t *start, int64_t *size);

#endif
