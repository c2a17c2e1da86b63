/* How many clusters are tried where nobody says, or as many as were asked for. */
#include "fit/cells_plan.h"
#include "select/select.h"

/* Clusters, where the caller leaves it open: as many as have so many rows for each
 * column, no more than this, or than this many bytes of one matrix each; but not fewer
 * than that. */
enum { ROWS_EACH = 4, MOST = 10000, BYTES = 1 << 26, FEWEST = 20 };

/* What a coreset or cells of the caller's leave of a number that he leaves open. */
static int64_t within_items(const vem_options *o, const vem_data *data, int64_t most)
{
    int64_t rows = data->n;
    if (o->coreset != VEM_AUTO && o->coreset < rows)
        rows = o->coreset;
    most = most < rows ? most : rows;
    if (o->cells > 0 && o->cells < rows && vem_i_clusters_of_cells(o->cells) < most)
        most = vem_i_clusters_of_cells(o->cells);
    return most;
}

int32_t vem_i_select_most(const vem_options *o, const vem_select_options *s,
                          const vem_data *data)
{
    const vem_i_select_type *method = vem_i_select_type_of((int)s->method);
    const int64_t columns = (int64_t)data->d + 1,
                  room = BYTES / (int64_t)sizeof(double) / columns / columns;
    int64_t most = data->n / (ROWS_EACH * columns);
    if (s->numbers)
        return s->numbers[s->number_count - 1];
    most = most < room ? most : room;
    most = most < FEWEST ? FEWEST : most > MOST ? MOST : most;
    most = s->max_clusters ? s->max_clusters
                           : within_items(o, data, method->most ? method->most : most);
    if (most < s->min_clusters)
        most = s->min_clusters;
    return (int32_t)(most < data->n ? most
                                    : data->n); /* a path is as long as it can be */
}
