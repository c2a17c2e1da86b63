/* How far we are, on standard error: a bar on a terminal, a line every few seconds in a
 * log, nothing with -q. */
#include <math.h>
#include <string.h>
#include <unistd.h>

#include "cli.h"

enum {
    BAR = 10,
    LINE = 256,
    WIDE = 50 /* columns from which on there is room for a bar */
};
static const double LOG_SECONDS = 3.0;
/* With less than this share of it left, a plan is not believed any more. */
static const double PLAN_OVER = 0.1;

/* One command runs per process, so its progress needs no handle. */
static struct {
    int on, terminal, drawn;
    char phase[16];
    double phase_began;  /* clock */
    double phase_offset; /* what was done when the phase was first seen */
    double done;         /* at the last call */
    double last_line;
    char said[2][LINE + 32]; /* in the last line, and the last of rounds (has_no_end) */
    double until;            /* clock; 0: as long as it takes */
    double expected, began;  /* seconds, as the plan told; clock, then */
    double share;            /* of the phase; it never falls while the phase lasts */
    int64_t restart;         /* of the fit */
    double restart_began;    /* clock */
    int64_t resample;        /* of a selection */
    double resamples_began, resample_began; /* clocks */
    int steps;                              /* each step is a line of a table */
    int64_t step_told, step_restart;
} state;

static const char *phase_name(const char *phase)
{
    static const char *const names[][2] = {
        {"read", "reading"},  {"reduce", "reducing"},     {"seed", "seeding"},
        {"em", "fitting"},    {"measure", "measuring"},   {"assign", "assigning"},
        {"score", "scoring"}, {"generate", "generating"}, {"look", "looking"},
        {"pair", "pairing"},  {"merge", "merging"},       {"divide", "dividing"},
        {"cap", "evening"},   {"sample", "sampling"}};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(names[i][0], phase) == 0)
            return names[i][1];
    return phase;
}

static void put_time(char *text, size_t capacity, double seconds)
{
    if (seconds < 100)
        snprintf(text, capacity, "%.0f s", seconds);
    else if (seconds < 6000)
        snprintf(text, capacity, "%.0f min", seconds / 60);
    else
        snprintf(text, capacity, "%.1f h", seconds / 3600);
}

/* Nobody knows how many rounds follow: what is left of this one says nothing of the end. */
static int has_no_end(const vem_progress *p)
{
    return strcmp(p->phase, "divide") == 0;
}

/* Steps or rows done; within "em" the running step counts by its share. */
static double amount_done(const vem_progress *p)
{
    const double within = p->total > 0 ? (double)p->done / (double)p->total : 0;
    if (strcmp(p->phase, "em") != 0)
        return (double)p->done;
    if (p->max_clusters > 0) /* a step costs as much as there are clusters */
        return (double)p->clusters * p->clusters;
    return fmax((double)p->step - 1, 0) + within;
}

static double amount_total(const vem_progress *p)
{
    if (p->max_clusters > 0 && !has_no_end(p))
        return (double)p->max_clusters * p->max_clusters;
    return strcmp(p->phase, "em") == 0 ? (double)p->max_steps : (double)p->total;
}

/* Steps or rows still to do. A fit may converge before its last step: then *about is what it
 * looks like. */
static double amount_left(const vem_progress *p, double done, int *about)
{
    const double left = amount_total(p) - done;
    *about = p->max_clusters > 0;
    if (*about)
        return left;
    const double likely = p->steps_left - (done - fmax((double)p->step - 1, 0));
    *about = p->steps_left > 0 && likely < left;
    return *about ? fmax(likely, 0) : left;
}

/* Seconds until the end of the phase (of a fit: of all its restarts) as well as can be told: from
 * the steps that its loop has left; before that is known, what is left of the plan that people were told, until that has turned out
 * too short; else (*least) if all steps were made. 0: nothing can be told, as in the first step. */
static double seconds_left(const vem_progress *p, double done, double rate, double now,
                           int *least)
{
    int about;
    double left = amount_left(p, done, &about) / rate;
    double planned = state.expected - (now - state.began);
    const int steps = strcmp(p->phase, "em") == 0;
    if (planned < PLAN_OVER * state.expected)
        planned = 0;
    if (steps && p->restarts > 1) /* those to come take as long as this one will */
        left += (now - state.restart_began + left) * (double)(p->restarts - p->restart);
    *least = steps && !about && !(planned > 0);
    if (*least && done < 1)
        return 0;
    return steps && !about && planned > 0 ? fmin(planned, left) : left;
}

/* Of all resamples, from those that are done; 0: none is. */
static double seconds_of_resamples(const vem_progress *p, double now)
{
    if (p->resample < 2)
        return 0;
    const double each =
        (state.resample_began - state.resamples_began) / (double)(p->resample - 1);
    return fmax(0, each * (double)(p->resamples - p->resample + 1) -
                       (now - state.resample_began));
}

/* One more piece, if it fits. */
static void add(char *text, int room, const char *piece)
{
    const size_t used = strlen(text);
    if (used + strlen(piece) <= (size_t)(room > 0 ? room : 0))
        memcpy(text + used, piece, strlen(piece) + 1);
}

/* "step 3/300, about 25 s left, F = -6.01, 12 steps/s": as much of it as fits, the most
 * important first. */
static void put_words(char *text, int room, const vem_progress *p, double now)
{
    const int steps = strcmp(p->phase, "em") == 0;
    const double done = amount_done(p), total = amount_total(p);
    const double spent = now - state.phase_began;
    const double rate = spent > 0.05 ? (done - state.phase_offset) / spent : 0;
    char piece[64];
    room = room < LINE - 1 ? room : LINE - 1;
    text[0] = '\0';
    if (p->resamples > 0) {
        snprintf(piece, sizeof piece, "resample %lld/%lld, ", (long long)p->resample,
                 (long long)p->resamples);
        add(text, room, piece);
    }
    if (p->restarts > 1) {
        snprintf(piece, sizeof piece, "restart %lld/%lld, ", (long long)p->restart,
                 (long long)p->restarts);
        add(text, room, piece);
    }
    if (steps && p->max_clusters > 0)
        snprintf(piece, sizeof piece, "%d/%d clusters, step %lld", p->clusters,
                 p->max_clusters, (long long)p->step);
    else if (steps)
        snprintf(piece, sizeof piece, "step %lld/%lld", (long long)p->step,
                 (long long)p->max_steps);
    else if (has_no_end(p))
        snprintf(piece, sizeof piece, "%d cluster%s so far", p->clusters,
                 p->clusters == 1 ? "" : "s");
    else if (total > 0)
        snprintf(piece, sizeof piece, "%.0f%%", 100 * state.share);
    else
        snprintf(piece, sizeof piece, "%.0f s", p->seconds);
    add(text, room, piece);
    if (p->resamples > 0 || (rate > 0 && total > done && !has_no_end(p))) {
        char words[32];
        int least = 0;
        const double left = p->resamples > 0 ? seconds_of_resamples(p, now)
                                             : seconds_left(p, done, rate, now, &least);
        put_time(words, sizeof words, left);
        snprintf(piece, sizeof piece, ", %s%s left", least ? "< " : "about ", words);
        if (left >= 0.5) /* "0 s" says nothing */
            add(text, room, piece);
    }
    if ((steps || has_no_end(p)) && isfinite(p->free_energy)) {
        snprintf(piece, sizeof piece, ", F = %.6g", p->free_energy);
        add(text, room, piece);
    }
    if (steps && rate > 0 && p->max_clusters == 0) {
        if (rate < 0.1)
            snprintf(piece, sizeof piece, ", %.3g s a step", 1 / rate);
        else
            snprintf(piece, sizeof piece, ", %.3g steps/s", rate);
        add(text, room, piece);
    }
}

/* Never longer than the terminal is wide: a line that wraps could not be wiped. */
static void draw_bar(const vem_progress *p, double now)
{
    char bar[BAR + 4] = "", words[LINE];
    const int width = cli_width(STDERR_FILENO) - 1;
    const int with_bar = width >= WIDE;
    if (with_bar) {
        const int full = (int)(state.share * BAR);
        bar[0] = '[';
        memset(bar + 1, '.', BAR);
        memset(bar + 1, '#', (size_t)full);
        memcpy(bar + 1 + BAR, "] ", 3);
    }
    const int head = with_bar ? 11 + BAR + 3 : (int)strlen(phase_name(p->phase)) + 1;
    put_words(words, width - head, p, now);
    if (with_bar)
        fprintf(stderr, "\r%-10s %s%s\033[K", phase_name(p->phase), bar, words);
    else
        fprintf(stderr, "\r%s %s\033[K", phase_name(p->phase), words);
    fflush(stderr);
    state.drawn = 1;
}

void cli_progress_expect(double seconds)
{
    state.expected = seconds;
    state.began = cli_clock();
}

void cli_progress_until(double clock)
{
    state.until = clock;
}

int cli_progress_late(void)
{
    return state.until > 0 && cli_clock() >= state.until;
}

static int must_stop(void)
{
    return cli_interrupted() || cli_progress_late();
}

void cli_progress_end(void)
{
    if (state.drawn) {
        fputs("\r\033[K", stderr);
        fflush(stderr);
    }
    state.drawn = 0;
}

/* A line of the table of steps, as soon as it is known; its head where a fit begins. */
static void put_step(const vem_progress *p)
{
    const vem_trace_step *s = p->last;
    const int begins = state.step_restart != p->restart;
    if (!begins && s->step <= state.step_told)
        return;
    cli_progress_end();
    if (begins)
        fprintf(stderr, "%6s %20s %15s %12s %6s %9s\n", "step", "free energy", "pairs",
                "changed", "empty", "seconds");
    fprintf(stderr, "%6lld %20.12g %15lld %12lld %6lld %9.3g", (long long)s->step,
            s->free_energy, (long long)s->pairs, (long long)s->changed,
            (long long)s->empty, s->seconds);
    if (s->move)
        fprintf(stderr, "  %s %lld", s->move, (long long)s->moved);
    fputc('\n', stderr);
    state.step_told = s->step;
    state.step_restart = p->restart;
}

/* A line of a log, where there is something new to say. */
static void put_line(const vem_progress *p, double now)
{
    char words[LINE], line[sizeof state.said[0]], *said = state.said[has_no_end(p)];
    put_words(words, LINE, p, now);
    snprintf(line, sizeof line, "%s: %s", phase_name(p->phase), words);
    if (strcmp(line, said) == 0)
        return;
    memcpy(said, line, sizeof line);
    state.last_line = now;
    fprintf(stderr, "vem: %s\n", line);
}

static int on_progress(void *user, const vem_progress *p)
{
    (void)user;
    if (!state.on)
        return must_stop();
    const double now = cli_clock();
    const double done = amount_done(p);
    cli_signals_in_steps(strcmp(p->phase, "em") == 0 && p->restarts > 0 &&
                         p->resamples == 0);
    if (p->restart != state.restart) {
        state.restart = p->restart;
        state.restart_began = now;
    }
    if (p->resample != state.resample) {
        state.resample = p->resample;
        state.resample_began = now;
        if (p->resample == 1)
            state.resamples_began = now;
    }
    /* Another phase, or the same one from its start, as in the next restart. */
    if (strcmp(state.phase, p->phase) != 0 || done < state.done) {
        snprintf(state.phase, sizeof state.phase, "%s", p->phase);
        state.phase_began = now;
        state.phase_offset = done;
        state.share = 0;
    }
    state.done = done;
    if (state.steps && p->last && p->resamples == 0)
        put_step(p);
    const double total = amount_total(p);
    state.share = fmax(state.share, total > 0 ? fmin(done / total, 1) : 0);
    if (state.terminal)
        draw_bar(p, now);
    else if (now - state.last_line >= LOG_SECONDS)
        put_line(p, now);
    return must_stop();
}

int cli_progress_tell(const char *phase, int64_t done, int64_t total)
{
    static double last;
    const double now = cli_clock();
    if (now - last >= 0.1) {
        last = now;
        const vem_progress p = {.phase = phase,
                                .done = done,
                                .total = total,
                                .free_energy = NAN,
                                .seconds = now - state.phase_began};
        return on_progress(NULL, &p);
    }
    return cli_interrupted();
}

void cli_progress_begin(cli_args *args)
{
    state.on = !cli_value(args, "quiet");
    state.steps = cli_value(args, "verbose") != NULL;
    state.terminal = isatty(STDERR_FILENO);
    state.last_line = cli_clock();
    cli_signals_begin(!state.on);
    cli_nothing_to_lose(0);
    vem_ctx_set_progress(args->ctx, on_progress, NULL);
}
