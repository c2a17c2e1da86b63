/* Shared by the files that make up the graph. */
#ifndef VEM_SEARCH_GRAPH_INSIDE_H
#define VEM_SEARCH_GRAPH_INSIDE_H

#include "search/graph.h"

/* Evidence is merged in parallel over this many ranges of clusters. */
enum { VEM_I_BUCKETS = 64 };

static inline int64_t vem_i_bucket_of(const vem_i_graph *graph, int32_t cluster)
{
    return (int64_t)cluster * VEM_I_BUCKETS / graph->clusters;
}

/* Cluster c and others at random: the graph before anything is known. */
void vem_i_graph_draw(vem_i_graph *graph, int32_t cluster);
/* The search by which the exact graph finds the nearest means of a mean. */
vem_i_search vem_i_graph_nearest_search(int32_t clusters, int32_t reach);

#endif
