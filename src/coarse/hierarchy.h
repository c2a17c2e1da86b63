/* The clusters in two levels, by their means: about 3 sqrt(C) buckets, and inside each bucket
 * groups of a few clusters. Items look for clusters through them:
 *
 *     probe   the clusters of the P buckets nearest to the item
 *     lists   the clusters of the groups nearest to the group of the cluster it holds
 *
 * There are about 4,096 groups however many clusters there are, so that the nearest groups
 * of every group, found exactly, cost the same for any C. Where there are hundreds of
 * buckets, what was in one before may look only at the 64 nearest to it. */
#ifndef VEM_COARSE_HIERARCHY_H
#define VEM_COARSE_HIERARCHY_H

#include "base/record.h"
#include "model/family.h"

typedef struct vem_i_hierarchy {
    vem_i_run *run;
    const vem_i_kernels *kernels;
    int32_t clusters, d;
    int32_t per;     /* clusters of a group, about */
    int32_t buckets; /* 0: not built yet */
    int32_t groups, most_groups, most_buckets;
    int32_t *members;                  /* C: clusters by group, groups by bucket */
    int32_t *rank;                     /* C: place of a cluster in `members` */
    int32_t *bucket_of, *group_of;     /* C */
    int32_t *bucket_starts;            /* buckets + 1, into members */
    int32_t *bucket_groups;            /* buckets + 1: first group of a bucket */
    int32_t *group_starts;             /* groups + 1, into members */
    void *bucket_means;                /* buckets x d of T */
    void *bucket_norms, *ones, *zeros; /* buckets or groups, whichever are more: of T */
    void *group_means, *group_norms;   /* groups x d, groups, of T */
    int32_t near_buckets;  /* buckets near a bucket that are known, own included */
    int32_t *buckets_near; /* buckets x VEM_I_NEAR_BUCKETS, the nearest first */
    int32_t near_count;    /* groups of a list, own included */
    int32_t *near;         /* groups x near_most */
    char *scratch;         /* per thread */
    size_t scratch_size;
    const vem_i_scorer *scorer; /* of the call at hand */
    int32_t *fresh;             /* C: scratch of the sort */
} vem_i_hierarchy;

/* Buckets that are known to lie near a bucket, at most. */
#ifndef VEM_SMALL_HIERARCHY
enum { VEM_I_NEAR_BUCKETS = 64 };
#else
enum { VEM_I_NEAR_BUCKETS = 8 };
#endif

/* Buckets of so many clusters. */
int32_t vem_i_hierarchy_buckets(int32_t clusters);
/* Clusters of one group, where shared lists are made of groups. */
int32_t vem_i_group_size(int32_t clusters);
/* `per`: clusters of a group. */
vem_status vem_i_hierarchy_new(vem_i_run *run, const vem_i_kernels *kernels,
                               int32_t clusters, int32_t d, int32_t per,
                               vem_i_hierarchy *hierarchy);
void vem_i_hierarchy_free(vem_i_hierarchy *hierarchy);

/* Buckets by `steps` further steps of k-means over the means, from where they are (or, the
 * first time, from clusters at even spaces), and new groups inside. Returns the distances
 * taken. */
int64_t vem_i_hierarchy_build(vem_i_hierarchy *hierarchy, const vem_i_scorer *scorer,
                              int steps);
/* Are there so many buckets that whoever knows where it is should look only at those near it?
 */
int vem_i_hierarchy_is_large(const vem_i_hierarchy *hierarchy);
/* The groups nearest to each group by their present means: as many as have about `reach`
 * clusters. */
int64_t vem_i_hierarchy_near(vem_i_hierarchy *hierarchy, const vem_i_scorer *scorer,
                             int32_t reach);
/* Clusters moved: place them into the groups of others, then put the whole in order. With one
 * cluster more, everything is built anew with the next build. */
void vem_i_hierarchy_move(vem_i_hierarchy *hierarchy, int32_t cluster, int32_t beside);
void vem_i_hierarchy_sort(vem_i_hierarchy *hierarchy);
/* Clusters were dropped: everything is built anew with the next build. */
void vem_i_hierarchy_forget(vem_i_hierarchy *hierarchy);
/* The means of the buckets are given: their norms, and which are near which, follow. */
int64_t vem_i_hierarchy_settle(vem_i_hierarchy *hierarchy);
/* `sorted`: no cluster waits to be sorted into another group; `listed`: the nearest groups
 * are known. Room is that of the hierarchy as it was made. */
void vem_i_hierarchy_record(vem_i_record *record, vem_i_hierarchy *hierarchy,
                            int32_t clusters, int sorted, int listed);

#endif
