/* A fit of rows most of which are repetitions is made on the different ones, with the sum of the weights of
 * those that are alike: F, its steps and the likelihood only sum over rows, so that they are the same to
 * rounding, and a step costs a share. What depends on rows alone (the sample of the starts, the draws of a seeding) goes
 * by weights, so that its chances are the same too. Labels, counts of rows and criteria are told of all rows; a state has
 * the shape of the data, and all else (fingerprint, posterior) of the different rows.
 *
 * It is the default's choice; a preset is the paper's algorithm on the rows as they come. And only where
 * nothing counts rows: not for even clusters (a cap could not divide rows that are alike), coresets and
 * cells, nor for searches that average over rows without weights (an estimated graph). */
#include "api/fit_repeats.h"

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

static int may_merge(const vem_i_fitting *f)
{
    const vem_data *data = f->data;
    const vem_options *o = f->asked;
    return vem_i_is_ours(o) && o->search == VEM_AUTO && o->coreset == VEM_AUTO &&
           o->balance == VEM_BALANCE_NONE && o->blocks <= 1 && !f->method && !f->path &&
           (!f->inside || f->only_seeds) && !data->sparse.starts &&
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
static uint64_t limit_of(const vem_i_fitting *f, const vem_options *resolved)
{
    return resolved->memory == VEM_AUTO ? f->run.ctx->memory : (uint64_t)resolved->memory;
}

vem_status vem_i_fit_merge(vem_i_fitting *f)
{
    vem_options resolved;
    f->all = f->data;
    if (!may_merge(f))
        return VEM_OK;
    vem_status status =
        vem_i_fit_resolve(&f->run, f->data, f->asked, f->start, &resolved);
    if (status == VEM_NO_MEMORY &&
        f->run.comm) /* of this process, for which others wait */
        return vem_i_comm_fail(f->run.comm, status);
    if (status != VEM_OK || !pays(&resolved, f->data->d))
        return status;
    if (f->run.comm) /* they do not know what others have */
        return vem_i_repeats_look(&f->run, f->data, &f->repeated);
    vem_i_run run = f->run;
    run.limit = limit_of(f, &resolved);
    const uint64_t room = run.limit ? vem_i_residence_left(&run) / 4 * 3 : 0;
    status = vem_i_repeats_find(&run, f->data, room, &f->repeats);
    if (status != VEM_OK || f->repeats.rows.n < LEAST_EACH * resolved.clusters) {
        f->crowded = f->repeats.crowded;
        vem_i_repeats_free(&f->repeats);
        return status;
    }
    f->data = &f->repeats.rows;
    vem_i_data_rest(f->all);
    return VEM_OK;
}

void vem_i_fit_unmerge(vem_i_fitting *f)
{
    vem_summary *s = &f->report->summary;
    vem_i_repeats *r = &f->repeats;
    const int32_t *labels = f->report->labels;
    if (f->crowded)
        vem_i_report_note(f->report,
                          "rows that are alike were not put together, for which %s: the "
                          "fit is another one than with more of it.",
                          limit_of(f, &f->resolved) ? "--memory leaves no room"
                                                    : "there was no memory");
    if (f->repeated)
        vem_i_report_note(f->report,
                          "many rows seem to be repetitions: one process puts rows that "
                          "are alike together where most are, over %d processes they are "
                          "not put together, and the model may be another one.",
                          f->run.ctx->comm->size);
    if (f->data == f->all)
        return;
    s->n = f->all->n;
    s->rows_used = r->used;
    if (s->measured_rows == r->rows.n)
        s->measured_rows = s->n;
    if (labels) {
        for (int64_t i = 0; i < s->n; i++)
            r->places[i] = labels[r->places[i]];
        vem_i_free(f->report->labels);
        f->report->labels = r->places;
        r->places = NULL;
    }
    vem_i_report_say(
        f->report,
        "%lld different rows stand for the %lld rows, each with the weight of "
        "those that are alike: the same fit in fewer items.",
        (long long)r->rows.n, (long long)s->n);
}
