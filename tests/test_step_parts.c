/* Parts of a fit that meet in a folder, as a program of its own calls them (vem/parts.h): one context for
 * each, called by turns, of which those that wait fail and are called again. */
#define CONTEXT_THREADS 2
#include <dirent.h>
#include <sys/stat.h>
#include <unistd.h>

#include "context.h"
#include "vem/parts.h"

enum { N = 5000, D = 3, C = 6, MOST_CALLS = 400 };

static float rows[N * D];
static double weights[N];
static vem_data *data;
static char folder[] = "/tmp/vem-parts-XXXXXX";

static void empty_folder(void)
{
    char path[512];
    DIR *listing = opendir(folder);
    for (const struct dirent *e; listing && (e = readdir(listing));) {
        snprintf(path, sizeof path, "%s/%s", folder, e->d_name);
        if (e->d_name[0] != '.')
            unlink(path);
    }
    if (listing)
        closedir(listing);
}

static int make(void **state)
{
    if (set_up(state) != 0 || !mkdtemp(folder))
        return -1;
    for (int i = 0; i < N; i++) {
        for (int j = 0; j < D; j++)
            rows[i * D + j] = (float)(4 * sin(i % 5 + j) + sin(7 * i + 3 * j));
        weights[i] = i % 7 ? 1 + 0.5 * sin(i) : 0;
    }
    return vem_data_borrow(ctx, VEM_FLOAT32, rows, N, D, 0, 0, &data) == VEM_OK ? 0 : -1;
}

static int unmake(void **state)
{
    empty_folder();
    rmdir(folder);
    vem_data_free(data);
    return tear_down(state);
}

static int left, awaited_last;
static char said_last[8192];

static void leaves(void *user, int32_t awaited, const char *sentence)
{
    assert_ptr_equal(user, &left);
    left++;
    snprintf(said_last, sizeof said_last, "%s", sentence);
    awaited_last = awaited;
}

static vem_status call(int32_t part, int32_t parts, const vem_options *options,
                       const vem_model *start, vem_model **model)
{
    vem_ctx *own = NULL;
    const vem_parts_options o = {.size = sizeof o,
                                 .folder = folder,
                                 .part = part,
                                 .parts = parts,
                                 .leaves = leaves,
                                 .user = &left};
    assert_int_equal(vem_ctx_new(&own), VEM_OK);
    assert_int_equal(vem_ctx_set_threads(own, 2), VEM_OK);
    assert_int_equal(vem_ctx_set_parts(own, &o), VEM_OK);
    const vem_status status = vem_fit(own, data, options, start, model, NULL);
    if (status == VEM_OK)
        assert_int_equal(vem_parts_end(own, &o, NULL), VEM_OK);
    else
        assert_int_equal(status, VEM_IO_ERROR);
    vem_ctx_free(own);
    return status;
}

static void same(const vem_model *a, const vem_model *b)
{
    assert_memory_equal(vem_model_means(a), vem_model_means(b), C * D * sizeof(double));
    assert_memory_equal(vem_model_weights(a), vem_model_weights(b), C * sizeof(double));
}

static void has_the_bits_of_one(vem_options options, int32_t parts,
                                const vem_model *start)
{
    vem_model *whole = NULL, *found[4] = {NULL};
    vem_part_state states[4];
    char sentence[64];
    int calls = 0, done = 0;
    empty_folder();
    assert_int_equal(vem_fit(ctx, data, &options, start, &whole, NULL), VEM_OK);
    for (; done < parts && calls < MOST_CALLS;) {
        assert_int_equal(vem_parts_look(ctx, folder, parts, states, sentence, 64),
                         VEM_OK);
        done = 0;
        for (int32_t p = parts; p >= 1; p--) {
            if (states[p - 1] == VEM_PART_CALL) {
                const int before = left;
                const vem_status status = call(p, parts, &options, start, &found[p - 1]);
                assert_int_equal(left - before, status != VEM_OK);
                calls++;
            }
            done += states[p - 1] == VEM_PART_DONE;
        }
    }
    assert_int_equal(done, parts);
    for (int32_t p = 0; p < parts; p++) {
        same(found[p], whole);
        vem_model_free(found[p]);
    }
    vem_model_free(whole);
}

static void by_turns(void **state)
{
    (void)state;
    vem_options options;
    vem_model *start = NULL;
    vem_options_init(&options);
    options.clusters = C;
    options.algorithm = VEM_ALGORITHM_KMEANS;
    assert_int_equal(vem_seed(ctx, data, &options, &start), VEM_OK);
    options.max_steps = 6;
    has_the_bits_of_one(options, 3, start);
    options.algorithm = VEM_AUTO;
    options.family = VEM_DIAG;
    options.search = VEM_SEARCH_ALL;
    options.swaps = 0;
    has_the_bits_of_one(options, 2, start);
    options.search = VEM_SEARCH_CLOSEST;
    options.held = 2;
    options.swaps = 1;
    has_the_bits_of_one(options, 4, start);
    vem_model_free(start);
}

/* The sums of each cluster in turn, from rows: of all pieces one waits for another somewhere. */
static void from_rows(void **state)
{
    (void)state;
    vem_options options;
    vem_options_init(&options);
    options.clusters = C;
    options.algorithm = VEM_ALGORITHM_KMEANS;
    options.seeding = VEM_SEED_RANDOM;
    options.max_steps = 3;
    has_the_bits_of_one(options, 2, NULL);
}

static void what_parts_tell(void **state)
{
    (void)state;
    vem_part_state states[2];
    char sentence[8];
    vem_parts_options o = {.size = sizeof o, .folder = folder, .part = 2, .parts = 2};
    empty_folder();
    assert_int_equal(vem_parts_end(ctx, &o, "No rows are there."), VEM_OK);
    assert_int_equal(vem_parts_look(ctx, folder, 2, states, sentence, sizeof sentence),
                     VEM_OK);
    assert_int_equal(states[0], VEM_PART_CALL);
    assert_int_equal(states[1], VEM_PART_FAILED);
    assert_string_equal(sentence, "No rows");
    assert_int_equal(vem_parts_clear(ctx, folder, 2, 0), VEM_OK);
    assert_int_equal(vem_parts_look(ctx, folder, 2, states, sentence, sizeof sentence),
                     VEM_OK);
    assert_int_equal(states[1], VEM_PART_CALL);
    assert_string_equal(sentence, "");
    o.part = 3;
    assert_int_equal(vem_ctx_set_parts(ctx, &o), VEM_BAD_OPTION);
    assert_string_equal(vem_ctx_message(ctx),
                        "The part is 3, but it must lie between 1 and 2.");
    o.parts = 65;
    assert_int_equal(vem_ctx_set_parts(ctx, &o), VEM_BAD_OPTION);
    o.parts = 3;
    o.wait = NAN;
    assert_int_equal(vem_ctx_set_parts(ctx, &o), VEM_BAD_OPTION);
    o.wait = 0;
    o.folder = "/dev/null/parts";
    assert_int_equal(vem_ctx_set_parts(ctx, &o), VEM_IO_ERROR);
    assert_int_equal(vem_parts_end(ctx, &o, NULL), VEM_IO_ERROR);
    assert_int_equal(vem_ctx_set_parts(ctx, NULL), VEM_OK);
}

/* What is cleared is what parts write, and what they have left half written. */
static void clears_its_own(void **state)
{
    (void)state;
    static const char *const names[] = {"state.1",    "m0.1",           "r7",
                                        "k3.2",       "s0.1.2",         "swept",
                                        "at.2",       "m1.1.f~",        "m1.notes",
                                        "kmeans.npz", "r2d2",           "s1.txt",
                                        "done.1",     "state.tex",      "swept.old",
                                        "at.2.txt",   "m12.1.npz.other"};
    enum { OWN = 8, ALL = sizeof names / sizeof *names };
    char path[256];
    empty_folder();
    for (int i = 0; i < ALL; i++) {
        snprintf(path, sizeof path, "%s/%s", folder, names[i]);
        FILE *file = fopen(path, "w");
        assert_non_null(file);
        fclose(file);
    }
    assert_int_equal(vem_parts_clear(ctx, folder, 2, 1), VEM_OK);
    for (int i = 0; i < ALL; i++) {
        snprintf(path, sizeof path, "%s/%s", folder, names[i]);
        assert_int_equal(access(path, F_OK) == 0, i >= OWN);
    }
}

/* A file that is cut short is none, and what a part said before must be what it says. */
static void damaged_and_other(void **state)
{
    (void)state;
    char path[256];
    vem_options options;
    vem_model *model = NULL;
    vem_options_init(&options);
    options.clusters = C;
    options.algorithm = VEM_ALGORITHM_KMEANS;
    empty_folder();
    assert_int_equal(call(1, 2, &options, NULL, &model), VEM_IO_ERROR);
    assert_int_equal(awaited_last, 2);
    snprintf(path, sizeof path, "%s/m0.1", folder);
    assert_int_equal(truncate(path, 20), 0);
    assert_int_equal(call(1, 2, &options, NULL, &model), VEM_IO_ERROR);
    assert_int_equal(awaited_last, 2); /* it has said it again */
    struct stat info;
    assert_int_equal(stat(path, &info), 0);
    assert_true(info.st_size > 20);
    options.seed++;
    assert_int_equal(call(1, 2, &options, NULL, &model), VEM_IO_ERROR);
    assert_int_equal(awaited_last, 0);
}

/* The two numbers with which a file begins; 0: they are not there. */
static int numbers_of(const char *name, const char *format, long long *a, long long *b)
{
    char path[256];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *file = fopen(path, "r");
    const int had = file ? fscanf(file, format, a, b) : 0;
    if (file)
        fclose(file);
    return had == 2;
}

/* Calls parts 2 and 1 by turns until part 1 awaits what part 2 has said since, and cuts that short: with `past`
 * of a call that the state of part 2 is beyond. */
static void cut_what_is_awaited(const vem_options *options, int past, char path[256])
{
    vem_model *model = NULL;
    long long call_1, of, loaded, state;
    struct stat info;
    empty_folder();
    for (int calls = 0; calls < MOST_CALLS; calls++) {
        assert_int_equal(call(1, 2, options, NULL, &model), VEM_IO_ERROR);
        assert_int_equal(call(2, 2, options, NULL, &model), VEM_IO_ERROR);
        const int has_state = numbers_of("at.2", "%lld %lld", &loaded, &state);
        if (!numbers_of("awaits.1", "m%lld.%lld", &call_1, &of))
            continue;
        snprintf(path, 256, "%s/m%lld.2", folder, call_1);
        if (of != 2 || stat(path, &info) != 0 ||
            past != (has_state && call_1 >= loaded && call_1 < state))
            continue;
        assert_int_equal(truncate(path, info.st_size - 1), 0);
        snprintf(path, 256, "%s/r%lld", folder, call_1);
        unlink(path); /* what would do instead */
        snprintf(path, 256, "%s/m%lld.2", folder, call_1);
        return;
    }
    fail();
}

/* What another part says is as not there when it is damaged, and is said again; never, where that part is
 * past it: then the fit cannot go on, and says so. Nobody takes it away. */
static void damaged_by_the_other(void **state)
{
    (void)state;
    char path[256], sentence[64];
    vem_options options;
    vem_model *model = NULL;
    vem_part_state states[2];
    vem_options_init(&options);
    options.clusters = C;
    options.algorithm = VEM_ALGORITHM_KMEANS;
    options.seeding = VEM_SEED_RANDOM;
    options.max_steps = 6;
    cut_what_is_awaited(&options, 0, path);
    assert_int_equal(call(1, 2, &options, NULL, &model), VEM_IO_ERROR);
    assert_int_equal(awaited_last, 2);
    assert_int_equal(access(path, F_OK), 0);
    assert_int_equal(vem_parts_look(ctx, folder, 2, states, sentence, sizeof sentence),
                     VEM_OK);
    assert_int_equal(states[1], VEM_PART_CALL);
    assert_int_equal(call(2, 2, &options, NULL, &model), VEM_IO_ERROR);
    assert_int_equal(vem_parts_look(ctx, folder, 2, states, sentence, sizeof sentence),
                     VEM_OK);
    assert_int_equal(states[0], VEM_PART_CALL); /* it has been said again */
    cut_what_is_awaited(&options, 1, path);
    assert_int_equal(call(1, 2, &options, NULL, &model), VEM_IO_ERROR);
    assert_int_equal(awaited_last, 0);
    assert_non_null(strstr(said_last, "is damaged, and part 2 will not say it again"));
    assert_int_equal(access(path, F_OK), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(by_turns),          cmocka_unit_test(from_rows),
        cmocka_unit_test(what_parts_tell),   cmocka_unit_test(clears_its_own),
        cmocka_unit_test(damaged_and_other), cmocka_unit_test(damaged_by_the_other),
    };
    return cmocka_run_group_tests(tests, make, unmake);
}
