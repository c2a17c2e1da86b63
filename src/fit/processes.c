/* Rows over processes.
 *
 * Statistics are added up shard by shard, in an order that is that of one process. A shard of a loop
 * is about a 64th of the rows; S is the largest of those of all loops, and process p of P has the rows
 *
 *     [ floor(T p / P) S,  floor(T (p + 1) / P) S ),     T = ceil(n / S) ,
 *
 * so that no sum of a large shard is made twice. Smaller shards (of the seeding, of the passes that
 * read, of log sums) are cut elsewhere: the rows of those that begin in a process's stretch and end
 * behind it are its halo (data/together.h).
 *
 * A coreset does not grow with the rows. All draw it together, each from its own rows, and have it then;
 * and each fits all of it, to the same bits. So on a coreset there is nothing that several processes
 * cannot do. So it is with the sample of few clusters' starts; its larger one is an eighth of the rows, and
 * lies in all processes as the rows do. */
#include "fit/processes.h"

#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "base/record.h"
#include "comm/comm.h"
#include "data/pass.h"
#include "data/sparse.h"
#include "em/estep.h"
#include "model/family.h"
#include "seed/seed.h"

/* ---- what is not spread ---- */

typedef struct asked_fit {
    vem_i_run *run;
    const vem_data *data;
    const vem_options *asked;
    const vem_i_programme *p;
} asked_fit;

static int is_celled(const asked_fit *f)
{
    return f->p->celled;
}

static int has_blocks(const asked_fit *f)
{
    return f->p->options.blocks > 1;
}

static int grows(const asked_fit *f)
{
    return f->p->grows;
}

static int is_other(const vem_i_stage *stage)
{
    return stage->is.whole && !vem_i_search_type_of(stage->options.search)->apart;
}

static int has_other_search(const asked_fit *f)
{
    for (int i = 0; i < f->p->count; i++)
        if (is_other(&f->p->stages[i]))
            return 1;
    return 0;
}

/* All kinds are named, so that the compiler asks about the next one. */
static int has_other_loop(const asked_fit *f)
{
    for (int i = 0; i < f->p->count; i++)
        switch (f->p->stages[i].kind) {
        case VEM_I_STAGE_STARTS:
        case VEM_I_STAGE_SEED:
        case VEM_I_STAGE_KMEANS:
        case VEM_I_STAGE_LISTED:
        case VEM_I_STAGE_FIT:
        case VEM_I_STAGE_FINISH:
        case VEM_I_STAGE_BALANCE: break;
        case VEM_I_STAGE_LEADING:
            if (vem_i_comm_by_files(f->run->comm))
                return 1;
            break;
        }
    return 0;
}

/* What comes first is told: what others follow from. */
static const struct {
    int (*is)(const asked_fit *f);
    const char *what, *instead; /* NULL: the searches that can be, */
    int ordered; /* also those that order their items, which have such loops */
} others[] = {
    {is_celled, "--cells is", "--cells 0", 0},
    {has_blocks, "--blocks is", "--blocks 1", 0},
    {grows, "--algorithm greedy is", "--algorithm gmm", 0},
    {has_other_search, "this search is", NULL, 1},
    {has_other_loop, "a loop along principal axes in parts that meet in files is", NULL,
     0},
};

/* Those whose items may be those of several processes. */
static int is_apart(int kind, int ordered)
{
    const vem_i_search_type *type = vem_i_search_type_of(kind);
    return type->apart && (ordered || !type->ordered);
}

/* "--search all, closest or ..." */
static void name_searches(int ordered, char *text, size_t size)
{
    int left = 0;
    for (int kind = 0; kind < VEM_SEARCH_COUNT; kind++)
        left += is_apart(kind, ordered);
    int at = snprintf(text, size, "--search");
    const char *before = " ";
    for (int kind = 0; kind < VEM_SEARCH_COUNT; kind++)
        if (is_apart(kind, ordered)) {
            at += snprintf(text + at, size - (size_t)at, "%s%s", before,
                           vem_choice_name("search", kind));
            before = --left > 1 ? ", " : " or ";
        }
}

static vem_status refuse_others(const asked_fit *f)
{
    char searches[200];
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        if (others[i].is(f)) {
            name_searches(others[i].ordered, searches, sizeof searches);
            return vem_i_fail(f->run, VEM_BAD_OPTION,
                              "Over several processes %s not possible yet: use %s.",
                              others[i].what,
                              others[i].instead ? others[i].instead : searches);
        }
    return VEM_OK;
}

/* ---- is it the same fit for all? ---- */

/* Some rows, and all weights: each process has read them for itself. */
static vem_status mix_rows(vem_i_run *run, const vem_data *data, uint64_t *sum)
{
    enum { SOME = 64 };
    const size_t bytes = (size_t)data->d * vem_i_dtype_bytes(data->type);
    const int64_t rows = data->n < SOME ? data->n : SOME;
    if (data->weights)
        *sum = vem_i_mix(*sum, data->weights, (size_t)data->n * sizeof(double));
    if (data->sparse.starts)
        return VEM_OK;
    char *row = NULL;
    const vem_status status = vem_i_take(run, &row, bytes, 1);
    for (int64_t i = 0; status == VEM_OK && i < rows; i++) {
        vem_i_data_copy_row(data, vem_i_spaced(data->n, rows, i), row);
        *sum = vem_i_mix(*sum, row, bytes);
    }
    vem_i_free(row);
    return status;
}

/* A number for what all must have in common: rows, options, and the kernels, since seeding chooses by
 * distances that each process takes for itself. Threads, memory and time may be others. */
static vem_status fingerprint(vem_i_run *run, const vem_data *data,
                              const vem_options *options, int64_t *number)
{
    const int64_t sizes[] = {data->n, data->d, (int64_t)data->type};
    uint64_t sum = vem_i_mix(0, sizes, sizeof sizes);
    const vem_status status = mix_rows(run, data, &sum);
    const int state[] = {run->ctx->checkpoint.path != NULL, run->ctx->checkpoint.resume};
    sum = vem_i_mix(sum, run->ctx->cpu, strlen(run->ctx->cpu));
    sum = vem_i_mix(sum, state, sizeof state);
    for (int i = 0; i < vem_option_count(); i++) {
        char text[128];
        const char *name = vem_option_at(i)->name;
        if (strcmp(name, "threads") == 0 || strcmp(name, "memory") == 0 ||
            strcmp(name, "time") == 0 || /* the first one's clock decides */
            !vem_options_get(options, name, text, sizeof text))
            continue;
        sum = vem_i_mix(sum, text, strlen(text));
    }
    *number = (int64_t)(sum >> 2);
    return status;
}

vem_status vem_i_processes_meet(vem_i_run *run, const vem_data *data,
                                const vem_options *options)
{
    if (!run->comm)
        return VEM_OK;
    int64_t own = 0;
    const vem_status status = fingerprint(run, data, options, &own);
    if (status != VEM_OK)
        return vem_i_comm_fail(run->comm, status);
    int64_t ends[] = {own, -own};
    run->comm->combine(run->comm, VEM_I_LEAST_INT, ends, 2);
    if (ends[0] == -ends[1])
        return vem_i_comm_agree(run);
    return vem_i_fail(
        run, VEM_BAD_OPTION,
        "The processes do not make the same fit: rows, options and kernels (%s "
        "here; VEM_CPU chooses them) must be those of all.",
        run->ctx->cpu);
}

/* ---- who has which rows ---- */

/* The end of the shards of this size that begin before row `end`. */
static int64_t after(int64_t end, int64_t per, int64_t n)
{
    const int64_t whole = vem_i_shards(end, per) * per;
    return whole < n ? whole : n;
}

static int64_t later(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

/* Of all rows, and the entries of sparse ones; -1: they are not. */
typedef struct all_rows {
    int64_t n;
    int32_t d;
    int64_t entries;
} all_rows;

enum { PARTS = 64, PART_LEAST = 1024 };
/* Rows of a sample that all have. */
enum { SAMPLE_MOST = 1 << 15 };

/* Items of a shard of a stage's statistics. Where clusters own their sums there are none, and any items
 * can lie together: as many as a shard would have. */
static int64_t shard_of(const vem_i_stage *stage, const all_rows *s)
{
    const int64_t n = s->n;
    const int32_t d = s->d;
    const vem_options *o = &stage->options;
    const vem_i_search_spec *spec = &stage->looks[VEM_I_FOUND_LITTLE].search;
    const int64_t parts = vem_i_shards(n, PART_LEAST);
    const int64_t items = vem_i_estep_shard(spec,
                                            vem_i_shape_of(vem_i_family_of(o->family),
                                                           (int32_t)o->clusters, d),
                                            n, s->entries);
    return items > 0 ? items : vem_i_shards(n, parts < PARTS ? parts : PARTS);
}

/* Items of a stage's search that no process can have in part. */
static int64_t stretch_of(const vem_i_stage *stage)
{
    const vem_i_search_spec *spec = &stage->looks[VEM_I_FOUND_LITTLE].search;
    return spec->type->stretch ? spec->type->stretch(spec) : 1;
}

static int64_t largest_shard(const vem_i_programme *p, const all_rows *s)
{
    int64_t most = 1;
    for (int i = 0; i < p->count; i++)
        if (p->stages[i].is.whole)
            most = later(most, shard_of(&p->stages[i], s));
    return most;
}

static int64_t parts_of(const vem_i_programme *p, const all_rows *s)
{
    return vem_i_shards(s->n, largest_shard(p, s));
}

static vem_i_span place_of(const vem_i_run *run, const vem_i_programme *p,
                           const all_rows *s)
{
    const int64_t n = s->n;
    const int32_t d = s->d;
    const int64_t most = largest_shard(p, s), shards = vem_i_shards(n, most),
                  rank = run->comm->rank, size = run->comm->size;
    const int64_t first = shards * rank / size * most;
    int64_t end = shards * (rank + 1) / size * most, last = end < n ? end : n;
    end = last;
    const int64_t sizes[] = {most,
                             VEM_I_BLOCK,
                             VEM_I_ESTEP_SHARD,
                             VEM_I_SEED_SHARD,
                             VEM_I_SUBSET_SHARD,
                             vem_i_pass_shard(n, d)};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        last = later(last, after(end, sizes[i], n));
    for (int i = 0; i < p->count; i++)
        if (p->stages[i].is.whole) {
            last = later(last, after(end, shard_of(&p->stages[i], s), n));
            last = later(last, after(end, stretch_of(&p->stages[i]), n));
        }
    return (vem_i_span){first, last - first, last - end};
}

int vem_i_processes_share(const vem_i_run *run, const vem_i_programme *p, int64_t n,
                          int32_t d, vem_i_span *place)
{
    const all_rows s = {n, d, -1};
    if (!run->comm || n <= SAMPLE_MOST || parts_of(p, &s) < run->comm->size)
        return 0;
    *place = place_of(run, p, &s);
    return 1;
}

vem_status vem_i_processes_cut(vem_i_run *run, const vem_data *data,
                               const vem_options *asked, const vem_i_programme *p,
                               vem_i_points_request *request)
{
    const asked_fit f = {run, data, asked, p};
    if (!run->comm)
        return VEM_OK;
    vem_status status = vem_i_processes_meet(run, data, &p->options);
    if (status == VEM_OK && !p->reduced)
        status = refuse_others(&f);
    if (status != VEM_OK || p->reduced)
        return status;
    const all_rows s = {data->n, data->d,
                        data->sparse.starts ? vem_i_sparse_entries(data->sparse, data->n)
                                            : -1};
    const int64_t n = data->n, shards = parts_of(p, &s);
    if (shards < run->comm->size)
        return vem_i_fail(run, VEM_BAD_OPTION,
                          "%lld rows are added up in %lld parts of %lld, so that %d "
                          "processes have no work for all: use no more than %lld.",
                          (long long)n, (long long)shards,
                          (long long)largest_shard(p, &s), run->comm->size,
                          (long long)shards);
    const vem_i_span place = place_of(run, p, &s);
    request->first = place.first;
    request->count = place.count;
    request->halo = place.halo;
    request->whole = n;
    return VEM_OK;
}

void vem_i_processes_note(const vem_i_run *run, const vem_data *data,
                          const vem_i_spread *spread, vem_report *report)
{
    if (*spread->note)
        vem_i_report_note(report, "%s", spread->note);
    if (run->peers && !data->pieces && !(data->mapping && data->mapping->path))
        vem_i_report_note(
            report,
            "each of the %d processes has read all rows into its memory; of "
            ".npy, .fvecs, .bvecs, .fbin, .u8bin, .i8bin and .safetensors files of one "
            "type it maps "
            "its own part.",
            run->peers->size);
}
