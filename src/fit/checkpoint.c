/* When the state of a fit is written, and what its file says.
 *
 *     version, options, shape of the data, sum over the model to start from   whose it is
 *     sum over the rows                                                       the same
 *     restart, and the best one before it                                     the same
 *     the attempt, the loop                                    attempt_record, em_record
 *
 * Writing costs time, so a state is written at most so often that it takes a twentieth of
 * it. A write that fails is told and no more: the old file stays, the fit goes on. */
#include "fit/checkpoint.h"

#include <math.h>
#include <stdio.h>

#include "comm/comm.h"
#include "fit/checkpoint_inside.h"

static const double SHARE = 20; /* at least this many times the cost of the last one */

/* One sentence of two parts, without the stop at its end. */
static void tell(const vem_i_checkpoint *k, int warning, const char *subject,
                 const char *rest)
{
    const vem_checkpoint *c = &k->run->ctx->checkpoint;
    if (!vem_i_checkpoint_is_first(k->run))
        return;
    char sentence[2 * sizeof k->run->ctx->message + 16];
    snprintf(sentence, sizeof sentence, "%.1020s %.1020s.", subject, rest);
    vem_i_say_plainly(k->run->ctx, sentence);
    if (c->notice)
        c->notice(c->user, warning, sentence);
}

vem_status vem_i_checkpoint_open(vem_i_checkpoint *k, vem_i_run *run,
                                 const vem_data *data, const vem_options *asked,
                                 const vem_options *resolved, const vem_model *start)
{
    const char *path = run->ctx->checkpoint.path;
    *k = (vem_i_checkpoint){.run = run,
                            .data = data,
                            .options = resolved,
                            .ours = vem_i_is_ours(asked),
                            .timed = asked->coreset == VEM_AUTO,
                            .start = vem_i_checkpoint_sum_model(start),
                            .max_steps = resolved->max_steps,
                            .restart = 1,
                            .began = vem_i_clock(),
                            .fresh = 1};
    const int first = vem_i_checkpoint_is_first(run);
    if (vem_i_checkpoint_told(run, first && vem_i_state_is_foreign(path)))
        return vem_i_fail(run, VEM_BAD_OPTION,
                          "%s is there already and is no state of a fit; it would be "
                          "overwritten. Name another file for the checkpoint.",
                          path);
    const int exists = vem_i_checkpoint_told(run, first && vem_i_state_exists(path));
    if (!run->ctx->checkpoint.resume && exists)
        tell(k, 0, path, "is the state of an earlier fit and will be replaced");
    if (run->ctx->checkpoint.resume && !exists)
        tell(k, 0, path, "is not there yet: the fit starts from the beginning");
    if (!run->ctx->checkpoint.resume || !exists)
        return VEM_OK;
    vem_status status = vem_i_checkpoint_open_state(run, path, &k->from);
    if (status != VEM_OK)
        return status;
    k->resuming = 1;
    vem_i_checkpoint_record_owner(&k->from.record, k);
    return k->from.record.status;
}

vem_status vem_i_checkpoint_begin(vem_i_checkpoint *k, const vem_view *view,
                                  int64_t fewest, vem_model **best, vem_report *report)
{
    k->best = best;
    k->report = report;
    k->view = *view;
    k->rows = vem_i_checkpoint_sum_rows(k->run, view);
    vem_i_comm_stepped(k->run->peers, 1);
    if (!k->resuming)
        return VEM_OK;
    vem_i_checkpoint_record_rows(&k->from.record, k);
    const vem_status status = k->from.record.status;
    if (status == VEM_OK && k->max_steps < fewest) {
        tell(k, 0, k->run->ctx->checkpoint.path,
             "has few steps, which are made otherwise than the first of many: the fit "
             "starts from the beginning");
        vem_i_checkpoint_close(k);
        return VEM_OK;
    }
    vem_i_checkpoint_record_fit(&k->from.record, k);
    return k->from.record.status;
}

void vem_i_checkpoint_close(vem_i_checkpoint *k)
{
    if (k->resuming && vem_i_checkpoint_is_first(k->run))
        vem_i_state_close(&k->from);
    k->resuming = 0;
}

/* ---- reading ---- */

int vem_i_checkpoint_resumes(const vem_i_checkpoint *k)
{
    return k && k->resuming;
}

vem_i_record *vem_i_checkpoint_reading(vem_i_checkpoint *k)
{
    return &k->from.record;
}

int vem_i_checkpoint_limit_differs(const vem_i_checkpoint *k)
{
    return k->max_steps != k->options->max_steps;
}

vem_status vem_i_checkpoint_refuse_steps(const vem_i_checkpoint *k, const char *why)
{
    return vem_i_fail(k->run, VEM_BAD_OPTION,
                      "%s was written by a fit with --max-steps %lld, which cannot go on "
                      "with --max-steps %lld: %s.",
                      k->run->ctx->checkpoint.path, (long long)k->max_steps,
                      (long long)k->options->max_steps, why);
}

void vem_i_checkpoint_resumed(vem_i_checkpoint *k, int64_t step)
{
    char where[sizeof k->run->ctx->message];
    k->report->summary.resumed_step = step;
    snprintf(where, sizeof where, "from %.900s at step %lld",
             k->run->ctx->checkpoint.path, (long long)step);
    tell(k, 0, "resumed", where);
    k->fresh = 0;
    k->written = 1;
    k->last = vem_i_clock();
    vem_i_checkpoint_close(k);
}

/* ---- writing ---- */

static vem_status write_state(vem_i_checkpoint *k,
                              void (*state)(vem_i_record *record, void *user), void *user)
{
    vem_i_state_file file;
    uint64_t bytes;
    vem_status status =
        vem_i_checkpoint_create_state(k->run, k->run->ctx->checkpoint.path, &file);
    if (status != VEM_OK)
        return status;
    vem_i_checkpoint_record_owner(&file.record, k);
    vem_i_checkpoint_record_rows(&file.record, k);
    vem_i_checkpoint_record_fit(&file.record, k);
    state(&file.record, user);
    if (vem_i_checkpoint_is_first(k->run))
        status = vem_i_state_commit(&file, &bytes);
    return (vem_status)vem_i_checkpoint_told(k->run, (int)status);
}

void vem_i_checkpoint_write(vem_i_checkpoint *k, int must,
                            void (*state)(vem_i_record *record, void *user), void *user)
{
    const double seconds = k->run->ctx->checkpoint.seconds, now = vem_i_clock();
    const double wait = seconds > 0 ? fmax(seconds, SHARE * k->cost) : 0;
    const int due = vem_i_comm_by_files(k->run->peers)
                        ? !must && vem_i_comm_is_due(k->run->peers)
                        : must || k->fresh || now - k->last >= wait;
    if (k->closed || !vem_i_checkpoint_told(k->run, due))
        return;
    const int failed = write_state(k, state, user) != VEM_OK;
    if (!failed)
        vem_i_comm_stepped(k->run->peers, 0);
    if (failed && !k->failing)
        tell(k, 1, k->run->ctx->message, "The fit goes on without a new checkpoint");
    if (failed)
        k->run->ctx->message[0] = '\0';
    k->failing = failed;
    k->written |= !failed;
    k->last = vem_i_clock();
    k->cost = k->last - now;
    k->fresh = 0;
    k->closed = must && k->run->watch->stop;
}
