/* How far we are, on standard error: a bar on a terminal, a line every few seconds in a
 * log, nothing with -q. */
#include <math.h>
#include <string.h>
#include <unistd.h>

#include "cli.h"

enum { BAR = 10, LINE = 256 };
static const double LOG_SECONDS = 3.0;

/* One command runs per process, so its progress needs no handle. */
static struct {
    int on, terminal, drawn;
    char phase[16];
    double phase_began;  /* clock */
    double phase_offset; /* what was done when the phase was first seen */
    double done;         /* at the last call */
    double last_line;
    double until; /* clock; 0: as long as it takes */
} state;

static const char *phase_name(const char *phase)
{
    static const char *const names[][2] = {
        {"read", "reading"},  {"reduce", "reducing"},     {"seed", "seeding"},
        {"em", "fitting"},    {"measure", "measuring"},   {"assign", "assigning"},
        {"score", "scoring"}, {"generate", "generating"}, {"look", "looking"}};
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

/* Steps or rows done; within "em" the running step counts by its share. */
static double amount_done(const vem_progress *p)
{
    const double within = p->total > 0 ? (double)p->done / (double)p->total : 0;
    if (strcmp(p->phase, "em") != 0)
        return (double)p->done;
    return fmax((double)p->step - 1, 0) + within;
}

static double amount_total(const vem_progress *p)
{
    return strcmp(p->phase, "em") == 0 ? (double)p->max_steps : (double)p->total;
}

/* Steps or rows still to do. A fit may converge before its last step: then *about is what it
 * looks like. */
static double amount_left(const vem_progress *p, double done, int *about)
{
    const double left = amount_total(p) - done;
    const double likely = p->steps_left - (done - fmax((double)p->step - 1, 0));
    *about = p->steps_left > 0 && likely < left;
    return *about ? fmax(likely, 0) : left;
}

/* "step 3/300, F = -6.01, 12 steps/s, about 25 s left"; before that can be told, "< 25 s",
 * if all steps were made. */
static void put_words(char *text, const vem_progress *p, double now)
{
    const int steps = strcmp(p->phase, "em") == 0;
    const double done = amount_done(p), total = amount_total(p);
    const double spent = now - state.phase_began;
    const double rate = spent > 0.05 ? (done - state.phase_offset) / spent : 0;
    int used = 0;
    if (steps)
        used = snprintf(text, LINE, "step %lld/%lld", (long long)p->step,
                        (long long)p->max_steps);
    else if (total > 0)
        used = snprintf(text, LINE, "%.0f%%", 100 * done / total);
    else
        used = snprintf(text, LINE, "%.0f s", p->seconds);
    if (steps && isfinite(p->free_energy))
        used += snprintf(text + used, LINE - (size_t)used, ", F = %.6g", p->free_energy);
    if (!(rate > 0))
        return;
    if (steps && rate < 0.1)
        used += snprintf(text + used, LINE - (size_t)used, ", %.3g s a step", 1 / rate);
    else if (steps)
        used += snprintf(text + used, LINE - (size_t)used, ", %.3g steps/s", rate);
    if (total > done) {
        char left[32];
        int about;
        put_time(left, sizeof left, amount_left(p, done, &about) / rate);
        snprintf(text + used, LINE - (size_t)used, ", %s%s left",
                 about   ? "about "
                 : steps ? "< "
                         : "",
                 left);
    }
}

static void draw_bar(const vem_progress *p, const char *words)
{
    char bar[BAR + 1], line[2 * LINE];
    const double total = amount_total(p);
    const int full = total > 0 ? (int)(fmin(amount_done(p) / total, 1) * BAR) : 0;
    memset(bar, '.', BAR);
    memset(bar, '#', (size_t)full);
    bar[BAR] = '\0';
    snprintf(line, sizeof line, "%-10s [%s] %s", phase_name(p->phase), bar, words);
    fprintf(stderr, "\r%.*s\033[K", cli_width(STDERR_FILENO) - 1, line);
    fflush(stderr);
    state.drawn = 1;
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

static int on_progress(void *user, const vem_progress *p)
{
    (void)user;
    if (!state.on)
        return must_stop();
    const double now = cli_clock();
    const double done = amount_done(p);
    /* Another phase, or the same one from its start, as in the next restart. */
    if (strcmp(state.phase, p->phase) != 0 || done < state.done) {
        snprintf(state.phase, sizeof state.phase, "%s", p->phase);
        state.phase_began = now;
        state.phase_offset = done;
    }
    state.done = done;
    char words[LINE];
    if (state.terminal) {
        put_words(words, p, now);
        draw_bar(p, words);
    } else if (now - state.last_line >= LOG_SECONDS) {
        state.last_line = now;
        put_words(words, p, now);
        fprintf(stderr, "vem: %s: %s\n", phase_name(p->phase), words);
    }
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

void cli_progress_end(void)
{
    if (state.drawn) {
        fputs("\r\033[K", stderr);
        fflush(stderr);
    }
    state.drawn = 0;
}

void cli_progress_begin(cli_args *args)
{
    state.on = !cli_value(args, "quiet");
    state.terminal = isatty(STDERR_FILENO);
    state.last_line = cli_clock();
    cli_signals_begin();
    vem_ctx_set_progress(args->ctx, on_progress, NULL);
}
