/* Centres as an index has them (IVF): the rows lie in lists, one for each cluster, and a query looks
 * into the lists whose means are nearest to it. What its user pays is the rows in these lists; what he
 * gets is the share of the nearest rows that are among them.
 *
 * A part of vem.h, which includes it: rules of ownership, NULL, sizes and threads stand there. */
#ifndef VEM_VEM_H
#include "vem.h"
#elif !defined(VEM_VEM_INDEX_H)
#define VEM_VEM_INDEX_H

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Lists of an index ---- */

/* The lists of a model, and what queries find in them. */
typedef struct vem_index vem_index;

/* What is asked of vem_index_score. */
typedef struct vem_index_options {
    size_t size; /* sizeof(vem_index_options) */
    int32_t
        neighbors; /* nearest rows of a query that should be found, at most 64; 0: 10 */
    double lambda; /* of vem_assign_spill, where rows are in two lists */
    int32_t
        lists; /* that a row is in: 0 or 1: one; 2: two. A row in two lists of a query is
                      scanned once */
    const int32_t *
        labels; /* the list of each row (-1: none, it is in no size and never found), which
                    stay the caller's, as a fit or a prediction gave them; NULL: that of
                    the nearest mean */
} vem_index_options;

/* One number of lists. Means are over the queries. */
typedef struct vem_index_point {
    size_t size;        /* sizeof(vem_index_point) */
    double probes;      /* lists that a query looks into */
    double scanned;     /* rows in these, */
    double scanned_p99; /* and what 99 of 100 queries do not exceed */
    double recall;      /* share of the nearest rows that are in them */
} vem_index_point;

/* Lists of more rows than so many times the mean are counted. */
enum { VEM_INDEX_OVER = 4 };

/* How even the lists are. */
typedef struct vem_index_summary {
    size_t size;                 /* sizeof(vem_index_summary) */
    int64_t rows, queries;       /* how many there are */
    int32_t clusters, neighbors; /* lists, and nearest rows that a query should find */
    double mean;                 /* rows of a list */
    double cv;                   /* standard deviation of the sizes over their mean */
    int64_t largest;             /* rows of the longest list */
    int64_t empty;               /* lists without rows */
    int64_t over;                /* lists of more than VEM_INDEX_OVER times the mean */
} vem_index_summary;

/* How a model serves as the coarse quantiser of an index of these rows. As an index does it, rows are
 * in the list of the nearest mean, in the units of the data: shapes, weights and scales of the model do
 * not count (vem_assign_guided finds it, with its share of misses); with `labels` where these say, as in an
 * index that is given its lists, even ones say. Queries, which are dense rows of as
 * many columns, look into the lists of the nearest means. Their nearest rows are found by comparing
 * them with every row. Where the model is of rows of length 1, rows and queries get that length.
 * options may be NULL: all 0. */
VEM_API vem_status vem_index_score(vem_ctx *ctx, const vem_model *model,
                                   const vem_data *data, const vem_data *queries,
                                   vem_precision precision,
                                   const vem_index_options *options, vem_index **index);
/* Two lists for each row, so that rows on a border are found from both sides: that of the nearest mean c1, and of the
 * 32 nearest means the other one of least |x - c|^2 + lambda ((x - c).r)^2 / |r|^2, where r = x - c1: its residual
 * should not be parallel to the first one. lambda: 0 (the second nearest) to a million. clusters is n x 2, squares
 * (n x 2, or NULL) gets the squared distances. As an index does it, by the means alone, in the units of the data; models of
 * one cluster, mixtures of counts and sparse rows are refused. */
VEM_API vem_status vem_assign_spill(vem_ctx *ctx, const vem_model *model,
                                    const vem_data *data, double lambda,
                                    vem_precision precision, int32_t *clusters,
                                    double *squares);
/* Frees an index. */
VEM_API void vem_index_free(vem_index *index);
/* Into the caller's struct. */
VEM_API vem_status vem_index_describe(vem_ctx *ctx, const vem_index *index,
                                      vem_index_summary *summary);
/* How many points it has. */
VEM_API int32_t vem_index_count(const vem_index *index);
/* By the number of lists, which grows from 1 to all: one by one at first, then by a twentieth. NULL:
 * there are not so many. (Each by itself: the struct may grow.) */
VEM_API const vem_index_point *vem_index_at(const vem_index *index, int32_t number);
/* The point at which a query scans this share of all rows, in between by straight lines. Where one
 * list is more than that already, or all lists are less, its members are NAN. */
VEM_API vem_status vem_index_scan(vem_ctx *ctx, const vem_index *index, double share,
                                  vem_index_point *point);
/* A picture (.svg): recall against the share of the rows that is scanned. */
VEM_API vem_status vem_index_draw(vem_ctx *ctx, const vem_index *index, const char *file);

/* ---- Trees of centres ---- */

/* The clusters of a model under fewer centres, as indexes of several levels have them. Nodes
 * 0 .. C - 1 are the clusters, with their own numbers; those of the levels above follow. */
typedef struct vem_hierarchy vem_hierarchy;

/* What is asked of vem_hierarchy_new. */
typedef struct vem_hierarchy_options {
    size_t size;    /* sizeof(vem_hierarchy_options) */
    int32_t levels; /* the clusters' own counted: 2 to 8; 0: 2, and 3 for more than 65,536
                       clusters */
    int64_t seed;   /* of the k-means of each level */
} vem_hierarchy_options;

/* Each level has the C^(1/levels)-th part of the nodes below it, their k-means (by their weights, where
 * the model fitted those); the parent of a node is the nearest of them. Like an index it goes by the
 * means in the units of the data. options may be NULL: all 0. */
VEM_API vem_status vem_hierarchy_new(vem_ctx *ctx, const vem_model *model,
                                     const vem_hierarchy_options *options,
                                     vem_hierarchy **hierarchy);
/* Frees a hierarchy. */
VEM_API void vem_hierarchy_free(vem_hierarchy *hierarchy);
/* Nodes of all levels. */
VEM_API int32_t vem_hierarchy_nodes(const vem_hierarchy *hierarchy);
/* How many levels it has. */
VEM_API int32_t vem_hierarchy_levels(const vem_hierarchy *hierarchy);
VEM_API const double *
vem_hierarchy_vectors(const vem_hierarchy *hierarchy); /* nodes x D */
/* The parent of each node; -1 at the top. */
VEM_API const int32_t *vem_hierarchy_parents(const vem_hierarchy *hierarchy);
/* The level of each node; 0: clusters. */
VEM_API const int32_t *vem_hierarchy_level_of(const vem_hierarchy *hierarchy);
/* .npz: vectors, parents, levels. .csv, .csv.gz: id, parent (nothing at the top), vector ("[1,2]"), as
 * data bases load it. */
VEM_API vem_status vem_hierarchy_write(vem_ctx *ctx, const vem_hierarchy *hierarchy,
                                       const char *path);

#ifdef __cplusplus
}
#endif

#endif
