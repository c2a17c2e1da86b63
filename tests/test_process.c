/* The library is a guest in its process: whatever it does, on however many threads at once, what
 * belongs to the process is as it was, before, meanwhile and afterwards. (Version 0.1 left the
 * thread number of a BLAS at 1.) */
#define _GNU_SOURCE /* dl_iterate_phdr, environ */
#include <dirent.h>
#include <fcntl.h>
#include <fenv.h>
#include <link.h>
#include <locale.h>
#include <omp.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "grid.h"
#include "io_test.h"

#include "base/record.h"

enum { SIGNALS = 65, LIMITS = 8 };

/* What all threads share. */
typedef struct shared {
    struct sigaction actions[SIGNALS];
    struct rlimit limits[LIMITS];
    uint64_t environment;
    char locale[256], directory[256], mask[64];
} shared;

static void read_mask(char *mask, size_t size)
{
    FILE *file = fopen("/proc/self/status", "r");
    char line[256];
    while (file && fgets(line, sizeof line, file))
        if (strncmp(line, "Umask:", 6) == 0)
            snprintf(mask, size, "%.40s", line);
    if (file)
        fclose(file);
}

static shared look(void)
{
    shared s;
    memset(&s, 0, sizeof s); /* compared byte by byte */
    for (int i = 1; i < SIGNALS; i++) {
        struct sigaction action = {0};
        if (sigaction(i, NULL, &action) == 0) {
            s.actions[i].sa_handler = action.sa_handler;
            s.actions[i].sa_flags = action.sa_flags;
        }
    }
    for (int i = 0; i < LIMITS; i++)
        getrlimit(i, &s.limits[i]);
    for (char **entry = environ; *entry; entry++)
        s.environment = vem_i_mix(s.environment, *entry, strlen(*entry));
    snprintf(s.locale, sizeof s.locale, "%s", setlocale(LC_ALL, NULL));
    if (!getcwd(s.directory, sizeof s.directory))
        s.directory[0] = '\0';
    read_mask(s.mask, sizeof s.mask);
    return s;
}

/* What the calling thread has for itself. */
typedef struct own {
    int rounding, threads, dynamic, levels, chunk;
    omp_sched_t schedule;
    sigset_t blocked;
    locale_t locale;
} own;

static own look_at_thread(void)
{
    own o;
    memset(&o, 0, sizeof o);
    o.rounding = fegetround();
    o.threads = omp_get_max_threads();
    o.dynamic = omp_get_dynamic();
    o.levels = omp_get_max_active_levels();
    omp_get_schedule(&o.schedule, &o.chunk);
    pthread_sigmask(SIG_BLOCK, NULL, &o.blocked);
    o.locale = uselocale((locale_t)0);
    return o;
}

/* Numbers so small that a processor told to be fast would take them for 0. */
static int keeps_small_numbers(void)
{
    volatile double least = 0x1p-1074, half = 0x1p-1000;
    return least + least > 0 && half * 0x1p-60 > 0;
}

static int open_files(void)
{
    DIR *directory = opendir("/proc/self/fd");
    int count = 0;
    while (directory && readdir(directory))
        count++;
    if (directory)
        closedir(directory);
    return count;
}

/* ---- what the library does ---- */

static char paths[2][7][200];

static void check(vem_ctx *ctx, vem_status status)
{
    if (status != VEM_OK)
        fprintf(stderr, "%s\n", vem_ctx_message(ctx)); /* which the test finds */
}

static void use_files(vem_ctx *ctx, int who, const vem_model *model, const vem_data *rows)
{
    const char *const bad[] = {"1,2\n3,x\n", "%%MatrixMarket nonsense\n", "\x93NUMPY"};
    static const char *const endings[] = {"csv", "mtx", "npy"};
    vem_data *data = NULL;
    vem_model *back = NULL;
    int32_t labels[600];
    check(ctx, vem_model_write(ctx, model, paths[who][0]));
    check(ctx, vem_model_read(ctx, paths[who][0], &back));
    check(ctx, vem_assign(ctx, back, rows, 1, VEM_DOUBLE, labels, NULL));
    check(ctx, vem_labels_write(ctx, paths[who][1], labels, 600));
    check(ctx, vem_data_read(ctx, paths[who][1], NULL, &data));
    vem_data_free(data);
    vem_model_free(back);
    for (int k = 0; k < 3; k++) { /* what is refused says so to nobody but the caller */
        char path[210];
        snprintf(path, sizeof path, "%s.%s", paths[who][2], endings[k]);
        FILE *file = fopen(path, "w");
        fputs(bad[k], file);
        fclose(file);
        if (vem_data_read(ctx, path, NULL, &data) == VEM_OK)
            fprintf(stderr, "%s was read\n", path);
        remove(path);
    }
    char set[230]; /* no HDF5, whose own library likes to print */
    snprintf(set, sizeof set, "%s:/rows", paths[who][3]);
    FILE *file = fopen(paths[who][3], "w");
    fputs("nothing", file);
    fclose(file);
    if (vem_data_read(ctx, set, NULL, &data) == VEM_OK)
        fprintf(stderr, "%s was read\n", set);
}

static void work(int who)
{
    vem_ctx *ctx = NULL;
    if (vem_ctx_new(&ctx) != VEM_OK)
        return;
    vem_ctx_set_threads(ctx, 2);
    grid_data data = grid_data_new(SET_OVERLAPPING, WEIGHTS_REAL, 600, 12, 7);
    vem_data *rows = grid_borrow(ctx, &data);
    const vem_checkpoint state = {.size = sizeof state, .path = paths[who][4]};
    GRID_EACH_SHAPED (family) {
        vem_options o =
            grid_options(4, (vem_family_kind)family, VEM_PRIOR_FREE, 4, VEM_DOUBLE, 8);
        vem_model *model = NULL;
        vem_report *report = NULL;
        vem_ctx_set_checkpoint(ctx, &state);
        check(ctx, vem_fit(ctx, rows, &o, NULL, &model, &report));
        vem_ctx_set_checkpoint(ctx, NULL);
        if (family == 0)
            use_files(ctx, who, model, rows);
        vem_report_free(report);
        vem_model_free(model);
    }
    vem_options o;
    vem_options_init(&o);
    o.memory = INT64_C(1) << 32;
    const vem_select_options select = {.size = sizeof select, .max_clusters = 5};
    const vem_dendrogram_options joined = {.size = sizeof joined};
    vem_path *path = NULL;
    vem_dendrogram *tree = NULL;
    check(ctx, vem_select(ctx, rows, &o, &select, NULL, &path, NULL));
    check(ctx, vem_path_draw(ctx, path, NULL, paths[who][5]));
    check(ctx, vem_agglomerate(ctx, rows, &o, &joined, &tree));
    check(ctx, vem_dendrogram_write_newick(ctx, tree, NULL, paths[who][6]));
    vem_path_free(path);
    vem_dendrogram_free(tree);
    vem_data_free(rows);
    grid_data_free(&data);
    vem_ctx_free(ctx);
}

static _Atomic int changed; /* as seen meanwhile, or by a thread for itself */
static _Atomic int left;    /* threads that work */
static shared before;

static void *work_beside(void *who)
{
    fesetround(FE_UPWARD); /* not the usual one: it must be as it was, whatever it was */
    const own mine = look_at_thread();
    work(*(const int *)who);
    const own now = look_at_thread();
    if (memcmp(&mine, &now, sizeof now) != 0 || !keeps_small_numbers())
        changed = 1;
    left--;
    return NULL;
}

/* ---- the test ---- */

/* Standard output and error into a file; returns what they were. */
static void redirect(const char *path, int kept[2])
{
    fflush(stdout);
    fflush(stderr);
    const int file = open(path, O_CREAT | O_TRUNC | O_RDWR | O_APPEND, 0600);
    for (int i = 0; i < 2; i++) {
        kept[i] = dup(1 + i);
        dup2(file, 1 + i);
    }
    close(file);
}

static void put_back(const int kept[2])
{
    fflush(stdout);
    fflush(stderr);
    for (int i = 0; i < 2; i++) {
        dup2(kept[i], 1 + i);
        close(kept[i]);
    }
}

static void a_guest(void **state)
{
    static const char *const names[] = {"m.npz", "l.csv", "bad",  "x.h5",
                                        "state", "p.svg", "t.nwk"};
    static const int who[2] = {0, 1};
    pthread_t threads[2];
    int kept[2];
    struct stat said;
    (void)state;
    for (int i = 0; i < 2; i++)
        for (int k = 0; k < 7; k++)
            snprintf(paths[i][k], sizeof paths[i][k], "%s/%d%s", io_directory, i,
                     names[k]);
    srand(77);
    const int drawn = rand();
    work(0); /* once before: what a first call opens for good is open */
    const int files = open_files();
    before = look();
    const own mine = look_at_thread();
    char out[200];
    snprintf(out, sizeof out, "%s/said", io_directory);
    srand(77);
    redirect(out, kept);
    left = 2;
    for (int i = 0; i < 2; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, work_beside, (void *)&who[i]),
                         0);
    while (left > 0) {
        const shared now = look();
        if (memcmp(&now, &before, sizeof now) != 0)
            changed = 1;
        usleep(500);
    }
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    put_back(kept);
    assert_int_equal(changed, 0);
    assert_int_equal(rand(), drawn);
    const shared after = look();
    const own now = look_at_thread();
    assert_memory_equal(&after, &before, sizeof after);
    assert_memory_equal(&now, &mine, sizeof now);
    assert_true(keeps_small_numbers());
    assert_int_equal(open_files(), files);
    assert_int_equal(stat(out, &said), 0);
    if (said.st_size != 0)
        fail_msg("%lld bytes were printed", (long long)said.st_size);
}

static int name_library(struct dl_phdr_info *info, size_t size, void *found)
{
    (void)size;
    if (strstr(info->dlpi_name, "blas") || strstr(info->dlpi_name, "lapack"))
        *(int *)found = 1;
    return 0;
}

/* What has a thread number of the process is not even there. */
static void no_blas(void **state)
{
    int found = 0;
    (void)state;
    dl_iterate_phdr(name_library, &found);
    assert_int_equal(found, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(a_guest),
                                       cmocka_unit_test(no_blas)};
    return cmocka_run_group_tests(tests, io_setup, io_teardown);
}
