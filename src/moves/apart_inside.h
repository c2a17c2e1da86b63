/* Shared by the files that make up sums over items that processes share: who sums which (apart.c), and the
 * rows that are brought from others for it (apart_rows.c). */
#ifndef VEM_MOVES_APART_INSIDE_H
#define VEM_MOVES_APART_INSIDE_H

#include "comm/comm.h"
#include "moves/apart.h"

/* Rows that were brought together: a view of their own, and what is known of each. */
typedef struct vem_i_brought {
    vem_view view;
    vem_i_posterior posterior;
    char *rows, *q;
    double *mass;
    uint32_t *numbers; /* 0, 1, ... */
    int64_t count;
} vem_i_brought;

struct vem_i_apart {
    vem_i_em *em;
    int samples;
    const vem_i_tour *order;
    int64_t *
        places; /* (size + 1) x C: where the items of a process begin among those of a cluster */
    int64_t *mine; /* C: n_pc */
    size_t *sizes; /* size: of a gathering */
    int64_t *
        at; /* C: where the sample of a cluster begins among those that are brought here */
    vem_i_edges *edges; /* C */
    int64_t *from;      /* C: its own items that it sums begin there, */
    int64_t *own;       /* C: and are so many */
    vem_i_brought edge, sample;
};

static inline int32_t vem_i_apart_clusters(const vem_i_apart *t)
{
    return t->em->model->clusters;
}

static inline int64_t vem_i_apart_place(const vem_i_apart *t, int process, int32_t c)
{
    return t->places[(int64_t)process * vem_i_apart_clusters(t) + c];
}

/* Items of a cluster that one process is given: those at the places begin + k, or a sample. */
typedef struct vem_i_wanted {
    int32_t cluster;
    int to;
    int64_t begin, count;
    int sampled;
} vem_i_wanted;

/* The next of them, in an order that all know; *cluster and *process are 0 to begin with. */
typedef int (*vem_i_next_wanted)(const vem_i_apart *apart, int32_t *cluster, int *process,
                                 vem_i_wanted *wanted);
int vem_i_apart_next_edge(const vem_i_apart *apart, int32_t *cluster, int *process,
                          vem_i_wanted *wanted);
int vem_i_apart_next_sample(const vem_i_apart *apart, int32_t *cluster, int *process,
                            vem_i_wanted *wanted);
/* All of them, from process to process. */
vem_status vem_i_apart_bring(vem_i_apart *apart, vem_i_next_wanted next,
                             vem_i_brought *brought);
void vem_i_brought_free(vem_i_brought *brought);
/* What a round may bring here, for a plan. */
vem_status vem_i_apart_count_rows(const vem_i_apart *apart);

#endif
