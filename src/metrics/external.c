/* Agreement of a clustering with given classes.
 *
 *     n_kj   rows in cluster k and class j;   a_k, b_j  its sums;   n  their total
 *     I      = sum_kj n_kj/n log( n n_kj / (a_k b_j) )
 *     H(a)   = - sum_k a_k/n log( a_k/n )
 *     NMI    = I / ((H(a) + H(b)) / 2)          both partitions trivial: 1; only one: 0
 *     ARI    = (S - Sa Sb/T) / ((Sa + Sb)/2 - Sa Sb/T)      denominator 0: 1
 *              S = sum_kj n_kj(n_kj-1)/2, Sa and Sb the same of the margins, T = n(n-1)/2
 *     purity = 1/n sum_k max_j n_kj
 *
 * NMI has the arithmetic mean (Manning et al., as in Luecke & Forster); ARI is Hubert and
 * Arabie's. Labels are any integers, so a hash table numbers them first; then rows are
 * sorted by cluster, and one row of the contingency table exists at a time. Memory is
 * O(n) whatever the number of clusters. Pairs are counted in long double: exact far
 * beyond 2^53. */
#include <math.h>

#include "base/bucket_sort.h"
#include "base/memory.h"
#include "base/run.h"
#include "base/structs.h"
#include "metrics/numbering.h"

/* ---- Sums over the contingency table ---- */

typedef struct sums {
    double entropy_clusters, entropy_classes, information;
    long double pairs, pairs_clusters, pairs_classes;
    int64_t pure; /* rows that belong to the largest class of their cluster */
} sums;

static long double pairs_of(int64_t count)
{
    return 0.5L * (long double)count * (long double)(count - 1);
}

static double entropy_term(int64_t count, double n)
{
    const double share = (double)count / n;
    return count > 0 ? -share * log(share) : 0.0;
}

/* rows[start[k] .. start[k+1]-1] are the classes of cluster k's rows; `seen` is zeroed.
 */
static sums sum_table(const int64_t *rows, const int64_t *start, int64_t clusters,
                      const int64_t *class_size, int64_t classes, int64_t n,
                      int64_t *seen)
{
    sums s = {0};
    const double total = (double)n;
    for (int64_t j = 0; j < classes; j++) {
        s.entropy_classes += entropy_term(class_size[j], total);
        s.pairs_classes += pairs_of(class_size[j]);
    }
    for (int64_t k = 0; k < clusters; k++) {
        const int64_t size = start[k + 1] - start[k];
        s.entropy_clusters += entropy_term(size, total);
        s.pairs_clusters += pairs_of(size);
        for (int64_t i = start[k]; i < start[k + 1]; i++)
            seen[rows[i]]++;
        int64_t largest = 0;
        for (int64_t i = start[k]; i < start[k + 1]; i++) {
            const int64_t j = rows[i], count = seen[j];
            if (count == 0)
                continue; /* this class was taken at an earlier row */
            seen[j] = 0;
            const double ratio =
                (double)count / (double)size * (total / (double)class_size[j]);
            s.information += (double)count / total * log(ratio);
            s.pairs += pairs_of(count);
            largest = count > largest ? count : largest;
        }
        s.pure += largest;
    }
    return s;
}

static void finish(const sums *s, int64_t clusters, int64_t classes, int64_t n,
                   vem_agreement *agreement)
{
    if (clusters == 1 || classes == 1) {
        agreement->nmi = clusters == classes ? 1.0 : 0.0;
    } else {
        const double mean = 0.5 * (s->entropy_clusters + s->entropy_classes);
        agreement->nmi = fmin(fmax(s->information / mean, 0.0), 1.0);
    }
    const long double all = pairs_of(n);
    const long double mean = 0.5L * (s->pairs_clusters + s->pairs_classes);
    const long double chance = all > 0 ? s->pairs_clusters * (s->pairs_classes / all) : 0;
    agreement->ari =
        mean > chance ? (double)((s->pairs - chance) / (mean - chance)) : 1.0;
    agreement->purity = (double)s->pure / (double)n;
    agreement->clusters = clusters;
    agreement->classes = classes;
}

/* ---- The verb ---- */

typedef struct scratch {
    int64_t *cluster, *class_of; /* numbers of each row's labels */
    int64_t *start;              /* clusters + 1 */
    int64_t *rows;               /* classes of the rows, by cluster */
    int64_t *class_size, *seen;  /* classes */
} scratch;

static void scratch_free(scratch *s)
{
    vem_i_free(s->cluster);
    vem_i_free(s->class_of);
    vem_i_free(s->start);
    vem_i_free(s->rows);
    vem_i_free(s->class_size);
    vem_i_free(s->seen);
}

static vem_status compare(vem_i_run *run, const int64_t *clusters, const int64_t *classes,
                          int64_t n, scratch *s, vem_agreement *agreement)
{
    int64_t cluster_count = 0, class_count = 0;
    vem_status status = vem_i_take(run, &s->cluster, (size_t)n, sizeof *s->cluster);
    if (status == VEM_OK)
        status = vem_i_take(run, &s->class_of, (size_t)n, sizeof *s->class_of);
    if (status == VEM_OK)
        status = vem_i_number_labels(run, clusters, n, s->cluster, &cluster_count);
    if (status == VEM_OK)
        status = vem_i_number_labels(run, classes, n, s->class_of, &class_count);
    const size_t starts = (size_t)cluster_count + 1, sizes = (size_t)class_count;
    if (status == VEM_OK)
        status = vem_i_take_zeroed(run, &s->start, starts, sizeof *s->start);
    if (status == VEM_OK)
        status = vem_i_take(run, &s->rows, (size_t)n, sizeof *s->rows);
    if (status == VEM_OK)
        status = vem_i_take_zeroed(run, &s->class_size, sizes, sizeof *s->class_size);
    if (status == VEM_OK)
        status = vem_i_take_zeroed(run, &s->seen, sizes, sizeof *s->seen);
    if (status != VEM_OK)
        return status;

    int64_t *end = s->start + 1;
    for (int64_t i = 0; i < n; i++) {
        end[s->cluster[i]]++;
        s->class_size[s->class_of[i]]++;
    }
    vem_i_bucket_places(end, cluster_count, 1, 0, 0);
    for (int64_t i = 0; i < n; i++)
        s->rows[end[s->cluster[i]]++] = s->class_of[i];
    const sums table = sum_table(s->rows, s->start, cluster_count, s->class_size,
                                 class_count, n, s->seen);
    finish(&table, cluster_count, class_count, n, agreement);
    return VEM_OK;
}

vem_status vem_compare(vem_ctx *ctx, const int64_t *clusters, const int64_t *classes,
                       int64_t n, vem_agreement *agreement)
{
    VEM_I_NEED(ctx, ctx, clusters, classes, agreement);
    vem_i_run *run = vem_i_within(ctx, &(vem_i_verb){0});
    vem_agreement found;
    vem_status status =
        vem_i_struct_in(run, "vem_agreement", agreement, &found, sizeof found);
    if (status != VEM_OK)
        return status;
    if (n < 1)
        return vem_i_fail(run, VEM_BAD_DATA,
                          "There are %lld rows to compare; at least 1 is needed.",
                          (long long)n);
    scratch s = {0};
    status = compare(run, clusters, classes, n, &s, &found);
    scratch_free(&s);
    if (status == VEM_OK)
        vem_i_struct_out(&found, agreement, sizeof found);
    return status;
}
