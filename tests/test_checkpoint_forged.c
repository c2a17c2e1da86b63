/* States that someone wrote who knows the format and its sum: a sentence or a fit, but no crash, no
 * label that is none, no number that is not one. */
#include "base/record.h"
#include "checkpoint_states.h"

/* Someone who knows the sum can write anything: a sentence or a fit, but no crash. */
static void forged(void **state)
{
    (void)state;
    for (int search = VEM_SEARCH_ALL; search < VEM_SEARCH_COUNT; search++) {
        size_t size;
        begin(search);
        if (search == VEM_SEARCH_ALL)
            options.held = options.clusters;
        char *bytes = state_at(4, &size), *forgery = malloc(size);
        path_name file = path_of("forged", search);
        const char *path = file.text;
        enum { MARK = 32, TAIL = 16 };
        for (size_t at = MARK; at < size - TAIL; at += 7 * (size_t)grid_stride()) {
            memcpy(forgery, bytes, size);
            memset(forgery + at, at % 2 ? 0xff : 0x7f, at % 3 ? 1 : 4);
            uint64_t sum = vem_i_mix(0, forgery + MARK, size - MARK - TAIL);
            memcpy(forgery + size - 8, &sum, sizeof sum);
            spill(path, forgery, size);
            vem_status status = resume(path);
            if (status != VEM_OK)
                assert_true(strlen(vem_ctx_message(ctx)) > 10);
        }
        free(forgery);
        free(bytes);
        end();
    }
}

/* With more than 4,096 clusters groups hold several, and what the next step looks at is made
 * anew from the groups of the clusters: what the file says of the places must agree. */
static void forged_groups(void **state)
{
    (void)state;
    enum { CLUSTERS = 4200, ROWS = 4300 };
    size_t size;
    begin(VEM_SEARCH_GROUPS);
    grid_data_free(&data);
    data = grid_data_new(SET_OVERLAPPING, WEIGHTS_NONE, ROWS, 1, 5);
    options = grid_options(CLUSTERS, VEM_ISO_SHARED, VEM_PRIOR_FLAT, 1, VEM_SINGLE, 6);
    options.search = VEM_SEARCH_GROUPS;
    options.max_steps = 6;
    options.tolerance = 0;
    options.swaps = 0;
    options.seeding = VEM_SEED_RANDOM;
    char *bytes = state_at(5, &size), *forgery = malloc(size);
    path_name file = path_of("forged", 9);
    const char *path = file.text;
    int64_t near_count, one = 1, zero = 0;
    memcpy(&near_count, values_of(bytes, size, "near_count", 0), sizeof near_count);
    assert_true(near_count > 1); /* the state is one with lists */
    assert_memory_equal(values_of(bytes, size, "sorted", 0), &one, sizeof one);
    for (int attack = 0; attack < 6; attack++) {
        static const char *const blamed[] = {"near",        "group_of", "sorted",
                                             "cell_starts", "members",  "cell_of"};
        memcpy(forgery, bytes, size);
        if (attack == 0 || attack == 2) /* every list names group 0 again and again */
            for (int32_t k = 0; k < near_count; k++)
                memset(values_of(forgery, size, "near", 0) + 4 * k, 0, 4);
        if (attack == 1 || attack == 2) /* and all clusters are in it */
            memset(values_of(forgery, size, "group_of", 0), 0, 4 * CLUSTERS);
        if (attack == 2) {
            memcpy(values_of(forgery, size, "sorted", 0), &zero, sizeof zero);
            int32_t *near = (int32_t *)(void *)values_of(forgery, size, "near", 0);
            for (int32_t k = 0; k < near_count; k++)
                near[k] = k;
        }
        if (attack == 3)
            memset(values_of(forgery, size, "cell_starts", 0) + 4, 0, 4);
        if (attack == 4)
            memset(values_of(forgery, size, "members", 0), 0, 8);
        if (attack == 5) { /* a group of a cell that is one too many */
            char *cells = values_of(forgery, size, "cell_of", 0);
            uint64_t shape[2];
            memcpy(shape, cells - sizeof shape, sizeof shape);
            int32_t *of = (int32_t *)(void *)cells, last = 0;
            for (uint64_t k = 0; k < shape[0] * shape[1] / sizeof *of; k++)
                last = of[k] > last ? of[k] : last;
            of[0] = last + 1;
        }
        seal(forgery, size);
        spill(path, forgery, size);
        refused(path, blamed[attack]);
    }
    /* Means of buckets and groups that are no numbers: nothing is nearest to them. */
    static const char *const places[] = {"cell_means", "group_means"};
    static const float wrong[] = {NAN, INFINITY, -INFINITY};
    for (int k = 0; k < 6; k++) {
        memcpy(forgery, bytes, size);
        char *means = values_of(forgery, size, places[k % 2], 0);
        uint64_t shape[2];
        memcpy(shape, means - sizeof shape, sizeof shape);
        assert_int_equal(shape[1], sizeof *wrong);
        for (uint64_t i = 0; i < shape[0]; i++)
            memcpy(means + i * sizeof *wrong, &wrong[k / 2], sizeof *wrong);
        seal(forgery, size);
        spill(path, forgery, size);
        refused(path, places[k % 2]);
    }
    free(forgery);
    free(bytes);
    end();
}

/* A neighbor that is no cluster is refused. */
static void forged_neighbors(void **state)
{
    (void)state;
    enum { C = 9 };
    for (int search = VEM_SEARCH_EXACT; search <= VEM_SEARCH_ESTIMATED; search++) {
        static const int32_t wrong[] = {-1, C, C + 1};
        size_t size;
        begin(search);
        char *bytes = state_at(4, &size);
        path_name file = path_of("forged", 20 + search);
        for (int i = 0; i < 3; i++) {
            memcpy(values_of(bytes, size, "neighbors", 0) + 4, &wrong[i], 4);
            seal(bytes, size);
            spill(file.text, bytes, size);
            refused(file.text, "neighbors");
        }
        free(bytes);
        end();
    }
}

/* Labels of the best restart so far are clusters, all of them. */
static void forged_labels(void **state)
{
    (void)state;
    size_t size = 0;
    char *bytes = NULL;
    int64_t best = 0;
    begin(VEM_SEARCH_CLOSEST);
    options.algorithm = VEM_ALGORITHM_GMM;
    for (int64_t step = 1; !best; step++) { /* in the second restart there is one */
        free(bytes);
        bytes = state_at(step, &size);
        memcpy(&best, values_of(bytes, size, "has_best", 0), sizeof best);
    }
    path_name file = path_of("forged", 30);
    char *labels = values_of(bytes, size, "labels", 0);
    uint64_t count;
    memcpy(&count, labels - 16, sizeof count);
    assert_int_equal(count, data.n);
    const int32_t wrong[] = {-1, (int32_t)options.clusters};
    int32_t right;
    memcpy(&right, labels + 28, sizeof right);
    for (int i = 0; i < 2; i++) {
        memcpy(labels + 28, &wrong[i], sizeof right);
        seal(bytes, size);
        spill(file.text, bytes, size);
        refused(file.text, "labels");
    }
    memcpy(labels + 28, &right, sizeof right);
    seal(bytes, size);
    spill(file.text, bytes, size);
    assert_int_equal(resume(file.text), VEM_OK);
    free(bytes);
    end();
}

/* Counters that a later sum would carry over the edge; numbers that no fit has. */
static void forged_counters(void **state)
{
    (void)state;
    static const char *const counters[] = {"steps",  "pairs", "seed_pairs",
                                           "rounds", "count", "scored_pairs",
                                           "moves",  "at"};
    static const char *const reals[] = {"seconds", "means", "weights", "variances"};
    const int64_t most = INT64_MAX;
    const double none = NAN;
    size_t size;
    begin(VEM_SEARCH_CLOSEST);
    options.restarts = 1;
    options.algorithm =
        VEM_ALGORITHM_GMM; /* no starts: swaps, and more than a few steps */
    char *bytes = state_at(4, &size), *forgery = malloc(size);
    path_name file = path_of("forged", 10);
    const char *path = file.text;
    for (size_t i = 0; i < sizeof counters / sizeof *counters; i++) {
        memcpy(forgery, bytes, size);
        memcpy(values_of(forgery, size, counters[i], 0), &most, sizeof most);
        seal(forgery, size);
        spill(path, forgery, size);
        refused(path, counters[i]);
    }
    for (size_t i = 0; i < sizeof reals / sizeof *reals; i++) {
        memcpy(forgery, bytes, size);
        memcpy(values_of(forgery, size, reals[i], 0), &none, sizeof none);
        seal(forgery, size);
        spill(path, forgery, size);
        refused(path, reals[i]);
    }
    const double far = 1e200, nothing[9] = {0}; /* costs that are no numbers */
    memcpy(forgery, bytes, size);
    memcpy(values_of(forgery, size, "means", 0), &far, sizeof far);
    seal(forgery, size);
    spill(path, forgery, size);
    refused(path, "means");
    memcpy(forgery, bytes, size);
    memcpy(values_of(forgery, size, "weights", 0), nothing, sizeof nothing);
    seal(forgery, size);
    spill(path, forgery, size);
    refused(path, "weights");
    const double negative = -1; /* a number, but no variance */
    memcpy(forgery, bytes, size);
    memcpy(values_of(forgery, size, "variances", 0), &negative, sizeof negative);
    seal(forgery, size);
    spill(path, forgery, size);
    refused(path, "variances");
    memcpy(forgery, bytes, size);
    memcpy(values_of(forgery, size, "step", 0) + 8, &most, sizeof most);
    seal(forgery, size);
    spill(path, forgery, size);
    refused(path, "step");
    free(forgery);
    free(bytes);
    end();
}

/* Means of counts that leave rows no cluster. */
static void forged_counts(void **state)
{
    (void)state;
    GRID_EACH_COUNTS (family) {
        const double ends[] = {0, 1};
        size_t size;
        begin(VEM_SEARCH_CLOSEST);
        grid_suit((vem_family_kind)family, &data);
        options.family = family;
        options.restarts = 1;
        options.swaps = 0;
        options.clusters = 3;
        char *bytes = state_at(2, &size), *forgery = malloc(size);
        path_name file = path_of("forged", 40 + family);
        for (int k = 0; k < (family == VEM_BERNOULLI ? 2 : 1); k++) {
            memcpy(forgery, bytes, size);
            char *means = values_of(forgery, size, "means", 0);
            for (int i = 0; i < 3 * 2; i++)
                memcpy(means + 8 * i, &ends[k], sizeof *ends);
            seal(forgery, size);
            spill(file.text, forgery, size);
            refused(file.text, "means");
        }
        spill(file.text, bytes, size);
        assert_int_equal(resume(file.text), VEM_OK);
        free(forgery);
        free(bytes);
        end();
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(forged),           cmocka_unit_test(forged_groups),
        cmocka_unit_test(forged_neighbors), cmocka_unit_test(forged_labels),
        cmocka_unit_test(forged_counters),  cmocka_unit_test(forged_counts),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
