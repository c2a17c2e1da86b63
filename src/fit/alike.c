/* A fit of rows most of which are repetitions is made on the different ones, with the sum of the weights of
 * those that are alike: F, its steps and the likelihood only sum over rows, so that they are the same to
 * rounding, and a step costs a share. What depends on rows alone (the sample of the starts, the draws of a seeding) goes
 * by weights, so that its chances are the same too. Labels, counts of rows and criteria are told of all rows; a state has
 * the shape of the data, and all else (fingerprint, posterior) of the different rows.
 *
 * It is the default's choice; a preset is the paper's algorithm on the rows as they come. And only where
 * nothing counts rows: not for even clusters (a cap could not divide rows that are alike), coresets and
 * cells, nor for searches that average over rows without weights (an estimated graph). */
#include "fit/alike.h"

#include "base/memory.h"
#include "base/residence.h"
#include "comm/comm.h"
#include "fit/presets.h"
#include "fit/resolve.h"
#include "model/family.h"
#include "search/search.h"

/* Fewer rows are fitted before it is known what they are. */
static const int64_t FEWEST_ROWS = 1 << 16;
/* Products of a row in a step, below which a table of rows costs as much as the steps. */
static const double LEAST_WORK = 24;
/* Different rows for each cluster, at least. */
enum { LEAST_EACH = 8 };
/* Seconds for a row of the table, about, and the share of --time that it may take. */
static const double ROW_SECONDS = 1e-7, TIME_SHARE = 0.1;

static int may_merge(const vem_data *data, const vem_options *o)
{
    return vem_i_is_ours(o) && o->search == VEM_AUTO && o->coreset == VEM_AUTO &&
           o->balance == VEM_BALANCE_NONE && o->blocks <= 1 && !data->sparse.starts &&
           data->n >= FEWEST_ROWS &&
           (o->time == VEM_AUTO || (double)data->n * ROW_SECONDS <= TIME_SHARE * o->time);
}

static int pays(const vem_options *resolved, int32_t d)
{
    const double columns =
        vem_i_takes_products(vem_i_family_of(resolved->family)) ? (double)d * d : d;
    return resolved->cells <= 0 && (double)resolved->clusters * columns >= LEAST_WORK;
}

/* --memory; 0: not given. */
static uint64_t limit_of(const vem_i_run *run, const vem_options *resolved)
{
    return resolved->memory == VEM_AUTO ? run->ctx->memory : (uint64_t)resolved->memory;
}

vem_status vem_i_alike_find(vem_i_run *run, const vem_data *data,
                            const vem_options *asked, const vem_model *start,
                            vem_i_alike *alike)
{
    vem_options resolved;
    if (!may_merge(data, asked))
        return VEM_OK;
    vem_status status = vem_i_fit_resolve(run, data, asked, start, &resolved);
    if (status == VEM_NO_MEMORY && run->comm) /* of this process, for which others wait */
        return vem_i_comm_fail(run->comm, status);
    if (status != VEM_OK || !pays(&resolved, data->d))
        return status;
    if (run->comm) /* they do not know what others have */
        return vem_i_repeats_look(run, data, &alike->likely);
    vem_i_run limited = *run;
    limited.limit = limit_of(run, &resolved);
    const uint64_t room = limited.limit ? vem_i_residence_left(&limited) / 4 * 3 : 0;
    status = vem_i_repeats_find(&limited, data, room, &alike->repeats);
    if (status != VEM_OK || alike->repeats.rows.n < LEAST_EACH * resolved.clusters) {
        alike->crowded = alike->repeats.crowded;
        vem_i_repeats_free(&alike->repeats);
        return status;
    }
    vem_i_data_rest(data);
    return VEM_OK;
}

void vem_i_alike_tell(const vem_i_run *run, const vem_data *all,
                      const vem_options *resolved, vem_i_alike *alike, vem_report *report)
{
    vem_summary *s = &report->summary;
    vem_i_repeats *r = &alike->repeats;
    const int32_t *labels = report->labels;
    if (alike->crowded)
        vem_i_report_note(report,
                          "rows that are alike were not put together, for which %s: the "
                          "fit is another one than with more of it.",
                          limit_of(run, resolved) ? "--memory leaves no room"
                                                  : "there was no memory");
    if (alike->likely)
        vem_i_report_note(report,
                          "many rows seem to be repetitions: one process puts rows that "
                          "are alike together where most are, over %d processes they are "
                          "not put together, and the model may be another one.",
                          run->ctx->comm->size);
    if (r->rows.n == 0)
        return;
    s->n = all->n;
    s->rows_used = r->used;
    if (s->measured_rows == r->rows.n)
        s->measured_rows = s->n;
    if (labels) {
        for (int64_t i = 0; i < s->n; i++)
            r->places[i] = labels[r->places[i]];
        vem_i_free(report->labels);
        report->labels = r->places;
        r->places = NULL;
    }
    vem_i_report_say(
        report,
        "%lld different rows stand for the %lld rows, each with the weight of "
        "those that are alike: the same fit in fewer items.",
        (long long)r->rows.n, (long long)s->n);
}
