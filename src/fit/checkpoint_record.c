#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/plain.h"
#include "data/together.h"
#include "fit/checkpoint_inside.h"

enum { TEXT = 64, SAMPLE = 1024 };

/* ---- whose it is ---- */

uint64_t vem_i_checkpoint_sum_model(const vem_model *m)
{
    if (!m)
        return 0;
    const size_t clusters = (size_t)m->clusters, d = (size_t)m->d;
    const int64_t shape[] = {(int64_t)m->family->kind, m->clusters, m->d, m->normalizes};
    uint64_t sum = vem_i_mix(1, shape, sizeof shape);
    sum = vem_i_mix(sum, m->means, clusters * d * sizeof(double));
    sum = vem_i_mix(sum, m->weights, clusters * sizeof(double));
    sum = vem_i_mix(sum, m->variances,
                    vem_i_variance_count(m->family, m->clusters, m->d) * sizeof(double));
    return m->scale ? vem_i_mix(sum, m->scale, d * sizeof(double)) : sum;
}

/* Goes on with those of some rows that are here. */
static void mix_rows(void *arg, void *sum)
{
    const vem_view *v = arg;
    uint64_t *mixed = sum;
    const int64_t n = v->global_n, rows = n < SAMPLE ? n : SAMPLE;
    for (int64_t i = 0; i < rows; i++) {
        const int64_t row = vem_i_spaced(n, rows, i);
        if (vem_i_view_has(v, row))
            *mixed = vem_i_view_mix(v, row - v->first, *mixed);
    }
}

uint64_t vem_i_checkpoint_sum_rows(const vem_i_run *run, const vem_view *v)
{
    const size_t d = (size_t)v->d;
    const int64_t shape[] = {v->global_n, v->d, (int64_t)v->kernels->element, v->used};
    const double sizes[] = {v->total_mass, v->mass_unit, v->variance};
    uint64_t sum = vem_i_mix(1, shape, sizeof shape);
    sum = vem_i_mix(sum, sizes, sizeof sizes);
    sum = vem_i_mix(sum, v->origin, d * sizeof(double));
    if (v->scale)
        sum = vem_i_mix(sum, v->scale, d * sizeof(double));
    if (run->comm)
        vem_i_comm_turn(run->comm, &sum, sizeof sum, mix_rows, (void *)v);
    else
        mix_rows((void *)v, &sum);
    return sum;
}

/* Options that may be others when a fit goes on: they do not change the result, or, as the
 * limit of steps does, they say how far it goes. */
static int may_differ(const char *name)
{
    static const char *const free_ones[] = {"max-steps", "threads", "memory", "time",
                                            "measure"};
    for (size_t i = 0; i < sizeof free_ones / sizeof *free_ones; i++)
        if (strcmp(name, free_ones[i]) == 0)
            return 1;
    return 0;
}

__attribute__((format(printf, 2, 3))) static void refuse(vem_i_record *r,
                                                         const char *format, ...);
static void refuse(vem_i_record *r, const char *format, ...)
{
    if (r->status != VEM_OK)
        return;
    char reason[512];
    va_list args;
    va_start(args, format);
    vem_i_plain_vprint(reason, sizeof reason, format, args);
    va_end(args);
    r->status = vem_i_fail(r->run, VEM_BAD_OPTION,
                           "%s belongs to another fit, so that this one cannot go on "
                           "from it: %s.",
                           r->path, reason);
}

static void record_text(vem_i_record *r, const char *name, char text[TEXT])
{
    vem_i_record_block(r, name, text, TEXT, 1);
    text[TEXT - 1] = '\0';
}

/* A coreset that nobody asked for now was chosen by --time then, which depends on the machine. */
static int chosen_by_time(const vem_i_checkpoint *k, const char *name, const char *then)
{
    return strcmp(name, "coreset") == 0 && k->timed && strcmp(then, "auto") != 0;
}

static void compare_option(vem_i_record *r, vem_i_checkpoint *k, const char *name,
                           const char *now, const char *then)
{
    if (r->status == VEM_OK && strcmp(now, then) != 0 && !may_differ(name))
        refuse(r, "there --%s was %s, here it is %s%s%s", name, then, now,
               chosen_by_time(k, name, then) ? "; --time chose it, so say --coreset "
                                             : "",
               chosen_by_time(k, name, then) ? then : "");
}

/* An option that the state does not have was not there yet when it was written: the fit was as it is
 * by default. One that is not known here makes all that follows unknown. */
static void record_options(vem_i_record *r, vem_i_checkpoint *k)
{
    vem_options plain;
    const char *unlike = NULL; /* first of those that were not there, and are used here */
    vem_options_init(&plain);
    for (int i = 0; r->status == VEM_OK && i < vem_option_count(); i++) {
        const char *name = vem_option_at(i)->name;
        char now[TEXT] = {0}, then[TEXT] = {0};
        vem_options_get(k->options, name, now, sizeof now);
        if (r->reading && !vem_i_record_is_next(r, name)) {
            vem_options_get(&plain, name, then, sizeof then);
            if (!unlike && strcmp(now, then) != 0 && !may_differ(name))
                unlike = name;
            continue;
        }
        memcpy(then, now, sizeof then);
        record_text(r, name, then);
        compare_option(r, k, name, now, then);
        if (r->status == VEM_OK && strcmp(name, "max-steps") == 0)
            k->max_steps = strtoll(then, NULL, 10);
    }
    if (r->reading && !vem_i_record_is_next(r, "ours"))
        refuse(r,
               "another version of vem wrote it, whose options this one does not know. "
               "That version goes on from it; without --resume the fit begins again");
    if (unlike)
        refuse(r,
               "another version of vem wrote it, which had no --%s. That version goes on "
               "from it; without --resume the fit begins again",
               unlike);
}

void vem_i_checkpoint_record_owner(vem_i_record *r, vem_i_checkpoint *k)
{
    char version[TEXT] = VEM_VERSION;
    int64_t shape[] = {k->data->n, k->data->d, (int64_t)k->data->type};
    int ours = k->ours;
    uint64_t start = k->start;
    record_text(r, "version", version);
    if (r->status == VEM_OK && strcmp(version, VEM_VERSION) != 0)
        refuse(r, "it was written by vem %s, and this is vem %s", version, VEM_VERSION);
    vem_i_record_block(r, "shape", shape, 3, sizeof *shape);
    if (r->status == VEM_OK && (shape[0] != k->data->n || shape[1] != k->data->d))
        refuse(r,
               "there the data had %lld rows and %lld columns, here they have %lld and "
               "%d",
               (long long)shape[0], (long long)shape[1], (long long)k->data->n,
               k->data->d);
    if (r->status == VEM_OK && shape[2] != (int64_t)k->data->type)
        refuse(r, "its data were of another type");
    record_options(r, k);
    vem_i_record_int(r, "ours", &ours, 0, 1);
    if (r->status == VEM_OK && ours != k->ours)
        refuse(r,
               "there --algorithm was given and here it is not, or the other way round");
    VEM_I_RECORD(r, "start", start);
    if (r->status == VEM_OK && start != k->start)
        refuse(r, "there the model to start from (--init) was another one");
}

void vem_i_checkpoint_record_rows(vem_i_record *r, vem_i_checkpoint *k)
{
    uint64_t rows = k->rows;
    int64_t different = k->different;
    if (r->reading && !vem_i_record_is_next(r, "different"))
        different = 0;
    else if (different > 0 || r->reading)
        vem_i_record_count(r, "different", &different, 1, k->data->n);
    if (r->status == VEM_OK && (different > 0) != (k->different > 0))
        refuse(r,
               "there %s, here %s, which goes by the version of vem, by --memory and by "
               "--time",
               different ? "rows that are alike were one" : "each row was one",
               different ? "each row is one" : "rows that are alike are one");
    VEM_I_RECORD(r, "fingerprint", rows);
    if (r->status == VEM_OK && rows != k->rows)
        refuse(r, "the data have the same shape but other values or weights");
}

/* ---- the restarts so far ---- */

static void record_summary(vem_i_record *r, vem_report *report)
{
    vem_summary *s = &report->summary;
    vem_options *o = &report->options;
    int64_t outcome = (int64_t)s->outcome, clusters = s->clusters;
    vem_i_record_count(r, "outcome", &outcome, VEM_OUTCOME_CONVERGED, VEM_OUTCOME_BUDGET);
    vem_i_record_count(r, "clusters", &clusters, 0, o->clusters);
    vem_i_record_count(r, "held", &o->held, 1, o->held);
    vem_i_record_count(r, "steps", &s->steps, 0, VEM_I_RECORD_MOST);
    vem_i_record_count(r, "init_steps", &s->init_steps, 0, VEM_I_RECORD_MOST);
    vem_i_record_count(r, "best", &s->restart, 0, o->restarts);
    VEM_I_RECORD(r, "free_energy", s->free_energy);
    VEM_I_RECORD(r, "free_energy_first", s->free_energy_first);
    if (r->status != VEM_OK)
        return;
    s->outcome = outcome == VEM_OUTCOME_CONVERGED    ? VEM_OUTCOME_CONVERGED
                 : outcome == VEM_OUTCOME_STEP_LIMIT ? VEM_OUTCOME_STEP_LIMIT
                 : outcome == VEM_OUTCOME_STOPPED    ? VEM_OUTCOME_STOPPED
                                                     : VEM_OUTCOME_BUDGET;
    s->clusters = (int32_t)clusters;
}

/* A label for each row; on cells nobody asks for labels of these, but how many there were is told. */
static void record_labels(vem_i_record *r, vem_i_checkpoint *k)
{
    vem_report *report = k->report;
    vem_summary *s = &report->summary;
    if (k->cells) {
        vem_i_record_count(r, "best_cells", &s->cells, 1, k->cells->cut.capacity);
        s->items = s->cells;
        return;
    }
    if (r->reading)
        r->status = vem_i_take_zeroed(k->run, &report->labels, (size_t)k->view.n,
                                      sizeof(int32_t));
    if (r->status == VEM_OK)
        vem_i_record_row_indices(r, &k->view, "labels", report->labels, 1, 0,
                                 s->clusters - 1);
}

/* The best restart before this one: its line of the summary, trace, labels and model. */
static void record_best(vem_i_record *r, vem_i_checkpoint *k)
{
    vem_report *report = k->report;
    const vem_options *o = k->options;
    record_summary(r, report);
    vem_i_record_int(r, "best_missed", &report->missed, VEM_I_MISSED_NONE,
                     VEM_I_MISSED_ROWS);
    vem_i_trace_record(r, &report->trace);
    if (r->reading && r->status == VEM_OK)
        r->status = vem_i_model_blank(k->run,
                                      vem_i_shape_of(vem_i_family_of(o->family),
                                                     (int32_t)o->clusters, k->data->d),
                                      k->best);
    if (r->status != VEM_OK)
        return;
    record_labels(r, k);
    vem_i_model_record(r, *k->best);
    if (r->reading && r->status == VEM_OK &&
        (*k->best)->clusters != report->summary.clusters)
        vem_i_record_refuse(r, "clusters"); /* the labels are theirs */
}

void vem_i_checkpoint_record_fit(vem_i_record *r, vem_i_checkpoint *k)
{
    vem_summary *s = &k->report->summary;
    int best = k->best && *k->best;
    double seconds[] = {s->seconds_seed, s->seconds_em, vem_i_clock() - k->began};
    vem_i_record_count(r, "restart", &k->restart, 1, k->options->restarts);
    vem_i_record_int(r, "limited", &k->limited, 0, 1);
    vem_i_record_count(r, "scored_pairs", &s->scored_pairs, 0, VEM_I_RECORD_MOST);
    vem_i_record_count(r, "seed_pairs", &s->seed_pairs, 0, VEM_I_RECORD_MOST);
    vem_i_record_reals(r, "seconds", seconds, 3, 0, VEM_I_RECORD_SECONDS);
    if (r->reading && r->status == VEM_OK) {
        s->seconds_seed = seconds[0];
        s->seconds_em = seconds[1];
        k->began = vem_i_clock() - seconds[2];
    }
    vem_i_comm_record(r, k->run->peers);
    vem_i_record_int(r, "has_best", &best, 0, 1);
    if (best)
        record_best(r, k);
}
