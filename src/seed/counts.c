/* Seeds among rows of counts. Long rows lie far from all others, whatever their columns say, so
 * that squared distances of counts mislead every method. They are taken between rows as their
 * family sees them (model/contract.h: roots, of shares where means are shares), of a sample where
 * there are many rows, each of which stands for an equal part of the mass. A sample of sparse rows is
 * a table only for methods that need one (AFK-MC2, two-level): k-means++ takes them as they are
 * (roots.h), however many columns there are. */
#include "base/memory.h"
#include "base/residence.h"
#include "data/points.h"
#include "data/sparse.h"
#include "data/together.h"
#include "seed/roots.h"
#include "seed/seed.h"

/* Rows of the sample: at least, and for each cluster. */
enum { LEAST = 8192, EACH = 64, TWICE = 2 };

/* As they are, without a sample? */
static int are_seen_as_they_are(const vem_i_family *family, int sparse)
{
    return !vem_i_stabilizer_of(family) && !sparse;
}

int64_t vem_i_seed_rows(int64_t n, int32_t d, const vem_i_family *family, int sparse,
                        vem_seeding method, int32_t clusters)
{
    if (are_seen_as_they_are(family, sparse))
        return n;
    const int64_t wanted = LEAST + EACH * (int64_t)clusters, most = VEM_I_SEED_VALUES / d,
                  fewest = TWICE * (int64_t)clusters;
    int64_t rows =
        wanted < most || (sparse && vem_i_seed_stays_sparse(method)) ? wanted : most;
    rows = rows > fewest ? rows : fewest;
    return rows < n ? rows : n;
}

double vem_i_seed_values(const vem_i_family *family, int64_t n, int32_t d,
                         int64_t row_values, int64_t clusters)
{
    const int sparse = row_values < d;
    if (family->has_places || are_seen_as_they_are(family, sparse))
        return (double)n * (double)d;
    return (double)vem_i_seed_rows(n, d, family, sparse, VEM_SEED_PLUSPLUS,
                                   (int32_t)clusters) *
           (double)row_values;
}

/* The rows of the sample, as a table of T or, sparse, where they begin and end. */
typedef struct sample {
    int64_t rows;
    int64_t *items;
    char *x;
    double *row;
    int64_t *starts;
    double *totals;
} sample;

static vem_status take_sample(vem_i_run *run, const vem_view *view, vem_seeding method,
                              sample *s)
{
    const size_t rows = (size_t)s->rows, d = (size_t)view->d;
    const int lists = vem_i_view_is_sparse(view) && vem_i_seed_stays_sparse(method),
              table = !lists && method != VEM_SEED_RANDOM;
    const vem_i_room list[] = {
        {&s->items, rows, sizeof(int64_t), 0},
        {&s->x, table ? rows : 0, d * view->kernels->element, 0},
        {&s->row, table ? d : 0, sizeof(double), 0},
        {&s->starts, lists ? rows : 0, 2 * sizeof(int64_t), 0},
        {&s->totals, lists ? rows : 0, sizeof(double), 0},
    };
    return vem_i_take_rooms(run, list, VEM_I_COUNT(list));
}

static void free_sample(sample *s)
{
    vem_i_free(s->items);
    vem_i_free(s->x);
    vem_i_free(s->row);
    vem_i_free(s->starts);
    vem_i_free(s->totals);
}

/* The masses of all items, of which processes share the rows. */
static const double *all_masses(const vem_i_run *run, const vem_view *view)
{
    return run->comm && view->mass ? view->mass - view->first : view->mass;
}

static void fill_sample(vem_i_run *run, const vem_view *view, const vem_i_family *family,
                        sample *s)
{
    const size_t row = (size_t)view->d * view->kernels->element;
    const int64_t n = view->global_n;
    vem_i_stabilizer *const stabilize = vem_i_stabilizer_of(family);
    if (s->rows < n)
        vem_i_pick_by_mass(all_masses(run, view), n, (int)s->rows, s->items);
    for (int64_t i = 0; s->rows == n && i < n; i++)
        s->items[i] = i;
    const vem_i_sparse all = vem_i_sparse_from(view->sparse, -view->first);
    if (run->comm && s->x)
        vem_i_view_rows(run, view, s->items, s->rows, s->x);
    for (int64_t i = 0; i < s->rows; i++) {
        const int64_t item = s->items[i];
        if (s->starts) {
            s->starts[i] = all.starts[item]; /* every process has those of all rows */
            s->starts[s->rows + i] = all.ends[item];
            s->totals[i] = vem_i_root_total(family, &all, item);
        }
        if (!s->x)
            continue;
        if (run->comm)
            vem_i_widen(view->kernels, s->x + (size_t)i * row, view->d, s->row);
        else
            vem_i_view_widen(view, item, s->row);
        if (stabilize)
            stabilize(s->row, view->d);
        vem_i_narrow(view->kernels, s->row, view->d, s->x + (size_t)i * row);
        vem_i_residence_check(run);
    }
}

/* The rows of the sample as a view. */
static vem_view seen_of(const vem_i_run *run, const vem_view *view, const sample *s)
{
    vem_view seen = vem_i_view_drawn(view, s->x, view->d, s->rows);
    if (s->starts) {
        seen.sparse = view->sparse;
        seen.sparse.starts = s->starts;
        seen.sparse.ends = s->starts + s->rows;
    }
    if (s->rows == view->global_n) {
        seen.mass = all_masses(run, view);
        seen.total_mass = view->total_mass;
        seen.used = view->used;
    }
    return seen;
}

vem_status vem_i_seed_for(vem_i_run *run, const vem_view *view,
                          const vem_i_family *family, vem_seeding method,
                          int32_t clusters, int64_t chain, uint64_t seed,
                          vem_i_seeds *seeds)
{
    const int sparse = vem_i_view_is_sparse(view);
    if (family->has_places || are_seen_as_they_are(family, sparse))
        return vem_i_seed(run, view, method, clusters, chain, seed, seeds);
    sample s = {.rows = vem_i_seed_rows(view->global_n, view->d, family, sparse, method,
                                        clusters)};
    vem_status status = take_sample(run, view, method, &s);
    if (status == VEM_OK) {
        if (!run->counted) /* a plan looks at nothing */
            fill_sample(run, view, family, &s);
        const vem_view seen = seen_of(run, view, &s);
        seeds->totals = s.totals;
        vem_i_run alone = vem_i_comm_alone(run); /* all draw the same from the sample */
        alone.progress = run->peers ? NULL : run->progress;
        status = vem_i_seed(&alone, &seen, method, clusters, chain, seed, seeds);
        seeds->totals = NULL;
        for (int32_t k = 0; status == VEM_OK && !run->counted && k < clusters; k++)
            seeds->items[k] = s.items[seeds->items[k]];
    }
    free_sample(&s);
    return status;
}
