/* Log-likelihood and entropy of the posteriors, in one look at all clusters.
 *
 *     L = sum_i w_i log sum_c p(c, x_i)
 *     H = -sum_i w_i sum_c r_ic log r_ic,     r_ic = p(c, x_i) / sum_c' p(c', x_i)
 *
 * Clusters are met in tiles, so that memory does not grow with their number. Of the costs v_c
 * of a tile, with u_c = (v_c - min v) / 2 and Z = sum_c exp(-u_c), r_c = exp(-u_c) / Z,
 *
 *     l = -min v / 2 + log Z,     h = sum_c r_c u_c + log Z,
 *
 * and two sets of clusters, of which a has the larger l, join by the rule for grouped
 * events: with g = l_a - l_b >= 0, e = exp(-g), z = log(1 + e),
 *
 *     l = l_a + z,     h = (h_a + e h_b) / (1 + e) + z + g e / (1 + e).
 *
 * Every term of h is positive: nothing cancels, and the entropy of well separated clusters
 * keeps its digits. */
#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "base/parallel.h"
#include "base/residence.h"
#include "data/together.h"
#include "metrics/metrics.h"
#include "model/spread.h"

/* Scratch of one thread. */
typedef struct scratch {
    void *panels, *norms;
    void *costs, *shares; /* VEM_I_TILE rows of VEM_I_BLOCK */
    double *log_sum, *entropy, *tile_log_sum, *tile_entropy; /* VEM_I_BLOCK each */
} scratch;

typedef struct task {
    vem_i_run *run;
    const vem_view *view;
    const vem_i_scorer *scorer;
    scratch *scratch;              /* per thread */
    double *log_sums, *entropies;  /* per item, or NULL */
    double *block_sum, *block_ent; /* per block, weighted */
} task;

/* Entropy of one tile from the costs and, after the softmax, their shares of it. Columns
 * are items, so that the inner loops run over neighbors in memory. */
#define DEFINE_ENTROPY(T)                                                                \
    static void entropy_##T(const T *costs, const T *shares, int32_t n, int32_t count,   \
                            double *out)                                                 \
    {                                                                                    \
        T least[VEM_I_BLOCK], most[VEM_I_BLOCK];                                         \
        double sum[VEM_I_BLOCK] = {0}, energy[VEM_I_BLOCK] = {0};                        \
        memcpy(least, costs, (size_t)n * sizeof *least);                                 \
        memcpy(most, shares, (size_t)n * sizeof *most);                                  \
        for (int32_t c = 1; c < count; c++)                                              \
            for (int32_t p = 0; p < n; p++) {                                            \
                const T v = costs[c * VEM_I_BLOCK + p], r = shares[c * VEM_I_BLOCK + p]; \
                least[p] = v < least[p] ? v : least[p];                                  \
                most[p] = r > most[p] ? r : most[p];                                     \
            }                                                                            \
        for (int32_t c = 0; c < count; c++)                                              \
            for (int32_t p = 0; p < n; p++) {                                            \
                const T v = costs[c * VEM_I_BLOCK + p], r = shares[c * VEM_I_BLOCK + p]; \
                sum[p] += (double)r;                                                     \
                energy[p] += r > 0 ? (double)r * (double)(v - least[p]) : 0;             \
            }                                                                            \
        for (int32_t p = 0; p < n; p++) {                                                \
            const double top = (double)most[p], others = fmax(sum[p] - top, 0);          \
            out[p] = top > 0 ? energy[p] / 2 + log1p(others / top) : 0;                  \
        }                                                                                \
    }
/* A macro because the two compute types share the text and nothing else can be generic
 * here. */
DEFINE_ENTROPY(float)
DEFINE_ENTROPY(double)

static void join_tile(scratch *s, int32_t n)
{
    for (int32_t p = 0; p < n; p++) {
        double la = s->log_sum[p], lb = s->tile_log_sum[p];
        double ha = s->entropy[p], hb = s->tile_entropy[p];
        if (lb > la) {
            const double l = la, h = ha;
            la = lb;
            ha = hb;
            lb = l;
            hb = h;
        }
        const double gap = la - lb, e = lb == -INFINITY ? 0 : exp(-gap);
        const double z = log1p(e);
        s->log_sum[p] = la + z;
        s->entropy[p] = e > 0 ? (ha + e * hb) / (1 + e) + z + gap * e / (1 + e) : ha;
    }
}

static void run_block(void *arg, int64_t number, int thread)
{
    const task *t = arg;
    const vem_view *view = t->view;
    const vem_i_kernels *kernels = view->kernels;
    const vem_i_scorer *scorer = t->scorer;
    scratch *s = &t->scratch[thread];
    const int64_t begin = vem_i_view_shard(view, VEM_I_BLOCK, number);
    const int32_t n = (int32_t)(vem_i_view_shard(view, VEM_I_BLOCK, number + 1) - begin);
    vem_i_items items = vem_i_items_at(view, begin, NULL, n);
    vem_i_items_pack(view, NULL, s->panels, s->norms, &items);
    vem_i_residence_check(t->run);
    for (int32_t p = 0; p < n; p++) {
        s->log_sum[p] = -INFINITY;
        s->entropy[p] = 0;
    }
    for (int32_t c = 0; c < scorer->clusters; c += VEM_I_TILE) {
        const int32_t more = scorer->clusters - c,
                      count = more < VEM_I_TILE ? more : VEM_I_TILE;
        scorer->family->score_tile(scorer, &items, c, count, s->costs, VEM_I_BLOCK);
        memcpy(s->shares, s->costs, (size_t)count * VEM_I_BLOCK * kernels->element);
        kernels->softmax(s->shares, n, count, VEM_I_BLOCK, NULL, s->tile_log_sum);
        if (kernels->precision == VEM_SINGLE)
            entropy_float(s->costs, s->shares, n, count, s->tile_entropy);
        else
            entropy_double(s->costs, s->shares, n, count, s->tile_entropy);
        join_tile(s, n);
    }
    double log_sum = 0, entropy = 0;
    for (int32_t p = 0; p < n; p++) {
        const double w = vem_i_view_mass(view, begin + p);
        if (w > 0) { /* an item without mass may be anywhere, even at infinity */
            log_sum += w * s->log_sum[p];
            entropy += w * s->entropy[p];
        }
        if (t->log_sums)
            t->log_sums[begin + p] = s->log_sum[p];
        if (t->entropies)
            t->entropies[begin + p] = s->entropy[p];
    }
    t->block_sum[number] = log_sum;
    t->block_ent[number] = entropy;
}

static void free_scratch(vem_i_run *run, task *t)
{
    for (int i = 0; t->scratch && i < run->threads; i++) {
        vem_i_free(t->scratch[i].panels);
        vem_i_free(t->scratch[i].norms);
        vem_i_free(t->scratch[i].costs);
        vem_i_free(t->scratch[i].shares);
        vem_i_free(t->scratch[i].log_sum);
    }
    vem_i_free(t->scratch);
    vem_i_free(t->block_sum);
}

static vem_status take_scratch(vem_i_run *run, task *t, int64_t blocks)
{
    const size_t element = t->view->kernels->element, block = VEM_I_BLOCK;
    vem_status status =
        vem_i_take_structs(run, &t->scratch, (size_t)run->threads, sizeof *t->scratch);
    for (int i = 0; status == VEM_OK && i < run->threads; i++) {
        scratch *s = &t->scratch[i];
        const vem_i_room list[] = {{&s->panels, vem_i_view_is_sparse(t->view) ? 0 : block,
                                    (size_t)t->view->d * element, 0},
                                   {&s->norms, block, element, 0},
                                   {&s->costs, VEM_I_TILE, block * element, 0},
                                   {&s->shares, VEM_I_TILE, block * element, 0},
                                   {&s->log_sum, 4 * block, sizeof(double), 0}};
        status = vem_i_take_rooms(run, list, VEM_I_COUNT(list));
        if (s->log_sum) {
            s->entropy = s->log_sum + block;
            s->tile_log_sum = s->entropy + block;
            s->tile_entropy = s->tile_log_sum + block;
        }
    }
    if (status == VEM_OK)
        status = vem_i_take(run, &t->block_sum, 2 * (size_t)blocks, sizeof(double));
    if (t->block_sum)
        t->block_ent = t->block_sum + blocks;
    return status;
}

vem_status vem_i_posteriors(vem_i_run *run, const vem_view *view, const vem_model *model,
                            double *log_likelihoods, double *entropies,
                            vem_i_posteriors_sums *sums)
{
    vem_i_scorer scorer = {0};
    const int64_t blocks = vem_i_view_shards(view, VEM_I_BLOCK);
    task t = {.run = run,
              .view = view,
              .scorer = &scorer,
              .log_sums = log_likelihoods,
              .entropies = entropies};
    vem_status status = vem_i_scorer_for(run, view, vem_i_model_shape(model), &scorer);
    if (status == VEM_OK && view->spread_kind != VEM_I_SPREAD_NONE)
        status = vem_i_scorer_take_spread(run, &scorer);
    if (status == VEM_OK)
        status = take_scratch(run, &t, blocks);
    if (status == VEM_OK && !run->counted) {
        vem_progress told = {.phase = "measure", .free_energy = NAN};
        vem_i_scorer_prepare(run, model, &scorer);
        if (vem_i_parallel_watched(run, blocks,
                                   (double)VEM_I_BLOCK * model->clusters * model->d,
                                   run_block, &t, &told, VEM_I_SKIP))
            status = vem_i_fail_stopped(run, "while distances were measured");
    }
    if (status == VEM_OK && !run->counted) {
        const double shift = vem_i_view_log_jacobian(view) - 0.5 * scorer.base;
        for (int64_t i = 0; log_likelihoods && i < view->n; i++)
            log_likelihoods[i] += shift + (view->log_base ? view->log_base[i] : 0);
        sums->log_likelihood =
            view->mass_unit * (vem_i_view_sum(run, view, VEM_I_BLOCK, t.block_sum) +
                               view->total_mass * (shift + view->log_base_mean));
        sums->entropy =
            view->mass_unit * vem_i_view_sum(run, view, VEM_I_BLOCK, t.block_ent);
    }
    free_scratch(run, &t);
    vem_i_scorer_free(&scorer);
    return status;
}

vem_i_criteria vem_i_criteria_of(int64_t parameters, double mass, double log_likelihood,
                                 double entropy)
{
    vem_i_criteria c = {.aic = 2 * (double)parameters - 2 * log_likelihood,
                        .bic = (double)parameters * log(mass) - 2 * log_likelihood};
    c.icl = c.bic + 2 * entropy;
    return c;
}
