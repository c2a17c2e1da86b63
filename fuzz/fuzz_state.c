/* States of fits: each input changes a state that a fit wrote, puts its sum right, and goes
 * on from it for a step or two. The first byte chooses the fit, the second the step. */
#include <stdio.h>
#include <unistd.h>

#include "base/record.h"
#include "edits.h"
#include "fuzz.h"
#include "io/state_file.h"

enum { ROWS = 48, COLUMNS = 2, MOST_STATES = 12, MARK = 32, TAIL = 16 };

typedef struct situation {
    int search, family, clusters, held, swaps, empty, finish, restarts, precision,
        algorithm;
    vem_options options;
    char *states[MOST_STATES];
    size_t sizes[MOST_STATES];
    int count;
} situation;

static situation situations[] = {
    {.search = VEM_SEARCH_GROUPS, .clusters = 20, .held = 1, .swaps = 2, .precision = 1},
    {.search = VEM_SEARCH_GROUPS, .clusters = 18, .held = 2, .family = VEM_DIAG},
    {.search = VEM_SEARCH_GROUPS,
     .clusters = 16,
     .held = 2,
     .empty = VEM_EMPTY_DROP,
     .finish = 1},
    {.search = VEM_SEARCH_CLOSEST, .clusters = 6, .held = 2, .swaps = 2, .restarts = 2},
    {.search = VEM_SEARCH_CLOSEST, .clusters = 4, .held = 1, .family = VEM_FULL},
    {.search = VEM_SEARCH_ESTIMATED,
     .clusters = 12,
     .held = 2,
     .empty = VEM_EMPTY_RESEED},
    {.search = VEM_SEARCH_EXACT,
     .clusters = 12,
     .held = 1,
     .restarts = 2,
     .precision = 1},
    {.search = VEM_SEARCH_ALL, .clusters = 3, .held = 3, .family = VEM_FULL, .swaps = 1},
};
enum { SITUATIONS = sizeof situations / sizeof *situations };

static vem_ctx *ctx;
static vem_data *rows;
static double values[ROWS * COLUMNS];
static char path[64];
static const char *forged; /* NULL: states are files */
static size_t forged_size;

/* ---- states in memory ---- */

vem_status __real_vem_i_state_open(vem_i_run *c, const char *p, vem_i_state_file *s);
vem_status __wrap_vem_i_state_open(vem_i_run *c, const char *p, vem_i_state_file *s);
vem_status __wrap_vem_i_state_open(vem_i_run *c, const char *p, vem_i_state_file *s)
{
    if (!forged)
        return __real_vem_i_state_open(c, p, s);
    char *copy;
    vem_status status = vem_i_take(c, &copy, forged_size ? forged_size : 1, 1);
    if (status != VEM_OK)
        return status;
    memcpy(copy, forged, forged_size);
    vem_i_file file = {.bytes = copy, .size = forged_size};
    return vem_i_state_parse(c, p, &file, s);
}

vem_status __real_vem_i_state_create(vem_i_run *c, const char *p, vem_i_state_file *s);
vem_status __wrap_vem_i_state_create(vem_i_run *c, const char *p, vem_i_state_file *s);
vem_status __wrap_vem_i_state_create(vem_i_run *c, const char *p, vem_i_state_file *s)
{
    return forged ? vem_i_fail(c, VEM_IO_ERROR, "No state is written here.")
                  : __real_vem_i_state_create(c, p, s);
}

int __real_vem_i_state_exists(const char *p);
int __wrap_vem_i_state_exists(const char *p);
int __wrap_vem_i_state_exists(const char *p)
{
    return forged ? 1 : __real_vem_i_state_exists(p);
}

int __real_vem_i_state_is_foreign(const char *p);
int __wrap_vem_i_state_is_foreign(const char *p);
int __wrap_vem_i_state_is_foreign(const char *p)
{
    return forged ? 0 : __real_vem_i_state_is_foreign(p);
}

/* ---- fits ---- */

static void keep(int resume)
{
    const vem_checkpoint c = {.size = sizeof c, .path = path, .resume = resume};
    if (vem_ctx_set_checkpoint(ctx, &c) != VEM_OK)
        abort();
}

static vem_options options_of(const situation *s)
{
    vem_options o;
    vem_options_init(&o);
    o.clusters = s->clusters;
    o.search = s->search;
    o.family = s->family;
    o.held = s->held;
    o.swaps = s->swaps;
    o.empty = s->empty;
    o.finish = s->finish;
    o.restarts = s->restarts ? s->restarts : 1;
    o.precision = s->precision ? VEM_SINGLE : VEM_DOUBLE;
    o.algorithm = VEM_ALGORITHM_KMEANS;
    o.tolerance = 1e-5;
    o.max_steps = 24;
    o.seed = 3;
    if (s->search == VEM_SEARCH_EXACT || s->search == VEM_SEARCH_ESTIMATED)
        o.reach = 4;
    return o;
}

static vem_status fit(const situation *s)
{
    vem_model *model = NULL;
    vem_report *report = NULL;
    vem_status status = vem_fit(ctx, rows, &s->options, NULL, &model, &report);
    if (status != VEM_OK && vem_ctx_message(ctx)[0] == '\0')
        abort(); /* an error without a sentence */
    vem_model_free(model);
    vem_report_free(report);
    return status;
}

/* Copies the state of the step before, while the states of a situation are made. */
static int copy_state(void *user, const vem_progress *p)
{
    situation *s = user;
    FILE *stream;
    if (strcmp(p->phase, "em") != 0 || p->total != 1 || s->count == MOST_STATES ||
        !(stream = fopen(path, "rb")))
        return 0;
    char *bytes = malloc(1 << 20);
    s->states[s->count] = bytes;
    s->sizes[s->count] = bytes ? fread(bytes, 1, 1 << 20, stream) : 0;
    s->count += s->sizes[s->count] > MARK + TAIL;
    fclose(stream);
    return 0;
}

static int stop_soon(void *user, const vem_progress *p)
{
    int *told = user;
    return strcmp(p->phase, "em") == 0 && p->total == 1 && ++*told >= 2;
}

int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerInitialize(int *argc, char ***argv)
{
    (void)argc;
    (void)argv;
    snprintf(path, sizeof path, "state-%d.tmp", (int)getpid());
    for (int i = 0; i < ROWS * COLUMNS; i++)
        values[i] = (i * 7919 % 1009) / 100.0 + (i / 16) * 5;
    if (vem_ctx_new(&ctx) != VEM_OK || vem_ctx_set_threads(ctx, 1) != VEM_OK ||
        vem_data_borrow(ctx, VEM_FLOAT64, values, ROWS, COLUMNS, 0, 0, &rows) != VEM_OK)
        abort();
    for (int i = 0; i < SITUATIONS; i++) {
        situation *s = &situations[i];
        s->options = options_of(s);
        keep(0);
        vem_ctx_set_progress(ctx, copy_state, s);
        if (fit(s) != VEM_OK || s->count < 2) {
            fprintf(stderr, "situation %d: %d states. %s\n", i, s->count,
                    vem_ctx_message(ctx));
            abort();
        }
    }
    remove(path);
    keep(1);
    return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    static char copy[1 << 20];
    fuzz_input in = {bytes, size};
    const unsigned first = fuzz_byte(&in);
    const situation *s = &situations[first % SITUATIONS];
    const unsigned step = fuzz_byte(&in) % (unsigned)s->count;
    int told = 0;
    if (first >= 0xf8) { /* as it comes */
        forged = (const char *)in.bytes;
        forged_size = in.left;
    } else {
        forged = copy;
        forged_size = s->sizes[step];
        memcpy(copy, s->states[step], forged_size);
        while (in.left > 3)
            fuzz_edit(&in, copy + MARK, forged_size - MARK - TAIL);
        const uint64_t sum = vem_i_mix(0, copy + MARK, forged_size - MARK - TAIL);
        memcpy(copy + forged_size - sizeof sum, &sum, sizeof sum);
    }
    vem_ctx_set_progress(ctx, stop_soon, &told);
    fit(s);
    forged = NULL;
    return 0;
}
