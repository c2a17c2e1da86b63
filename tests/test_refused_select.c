/* What does not go together in a search for the number of clusters: it is refused by a sentence that says
 * what does, and what stands beside it goes. */
#define CONTEXT_THREADS 1
#include "asked.h"

#include "api/select.h"
#include "comm/comm.h"
#include "run.h"

enum { N = 50 };

static const vem_prior_options prior = {.size = sizeof prior, .strength = 1};
static const int32_t up[] = {2, 5, 50}, down[] = {5, 2}, twice[] = {2, 2},
                     none[] = {0, 2}, many[] = {2, 51};

#define METHOD(name) .method = VEM_SELECT_##name
#define NUMBERS(list) .numbers = (list), .number_count = sizeof(list) / sizeof *(list)

static const struct {
    const char *asked;
    vem_select_options select;
    const char *sentence; /* NULL: it goes */
    int sparse, state, several;
} cases[] = {
    {"", {METHOD(BAYES)}, NULL, 0, 0, 0},
    {"", {METHOD(COUNT)}, "There is no method number 8.", 0, 0, 0},
    {"",
     {METHOD(BIC), .min_clusters = -1},
     "--min-clusters is -1 and --max-clusters 0, but neither may be less than 1.",
     0,
     0,
     0},
    {"",
     {METHOD(BIC), .max_clusters = -2},
     "--min-clusters is 0 and --max-clusters -2, but neither may be less than 1.",
     0,
     0,
     0},
    {"",
     {METHOD(BIC), .min_clusters = 6, .max_clusters = 5},
     "--min-clusters is 6, but --max-clusters is 5.",
     0,
     0,
     0},
    {"", {METHOD(BIC), .min_clusters = 5, .max_clusters = 5}, NULL, 0, 0, 0},
    {"",
     {METHOD(GREEDY), .min_clusters = 21},
     "--min-clusters is 21, but --max-clusters is 20 by default.",
     0,
     0,
     0},
    {"", {METHOD(GREEDY), .min_clusters = 20}, NULL, 0, 0, 0},
    {"", {METHOD(BIC), .min_clusters = 21}, NULL, 0, 0, 0},
    {"family=poisson",
     {METHOD(GREEDY)},
     "The rows are sparse, and --method greedy finds clusters of dense ones: --method "
     "sweep --family multinomial (poisson, bernoulli) finds how many there are of "
     "counts.",
     1,
     0,
     0},
    {"family=poisson", {METHOD(SWEEP)}, NULL, 1, 0, 0},
    {"family=diag-shared",
     {METHOD(BIC)},
     "--family is diag-shared, but with --method bic it is full, diag or iso; --method "
     "sweep takes any family, greedy any of Gaussian clusters.",
     0,
     0,
     0},
    {"family=poisson",
     {METHOD(KMEANS_BIC)},
     "--family is poisson, but with --method kmeans-bic it is iso-shared, as k-means "
     "has; "
     "--method sweep takes any family.",
     0,
     0,
     0},
    {"family=full",
     {METHOD(GMEANS)},
     "--family is full, but with --method gmeans it is iso-shared, as k-means has; "
     "--method sweep takes any family, greedy any of Gaussian clusters.",
     0,
     0,
     0},
    {"family=iso-shared", {METHOD(GMEANS)}, NULL, 0, 0, 0},
    {"family=diag-shared", {METHOD(GREEDY)}, NULL, 0, 0, 0},
    {"family=diag", {METHOD(VB)}, NULL, 0, 0, 0},
    {"clusters=5",
     {METHOD(BIC)},
     "--clusters has no part in a search for the number of clusters: leave it out.",
     0,
     0,
     0},
    {"algorithm=gmm",
     {METHOD(BIC)},
     "--algorithm has no part in a search for the number of clusters: leave it out.",
     0,
     0,
     0},
    {"restarts=2",
     {METHOD(BIC)},
     "--restarts has no part in a search for the number of clusters: leave it out, and "
     "fit "
     "the number that is found with --restarts; another --seed is another search.",
     0,
     0,
     0},
    {"restarts=1", {METHOD(BIC)}, NULL, 0, 0, 0},
    {"metric=cosine",
     {METHOD(KMEANS_BIC)},
     "--metric is cosine, but numbers of clusters are compared by likelihoods of rows in "
     "space: use --normalize here, and --metric in the fit of the number that is found.",
     0,
     0,
     0},
    {"prior=flat",
     {METHOD(BAYES)},
     "--prior is flat, but with this method the weights of clusters have a prior of "
     "their "
     "own, --prior-count.",
     0,
     0,
     0},
    {"prior=flat", {METHOD(BIC)}, NULL, 0, 0, 0},
    {"prior=free", {METHOD(BAYES)}, NULL, 0, 0, 0},
    {"",
     {METHOD(BIC), .prior = &prior},
     "A prior is for methods of the evidence, bayes and vb.",
     0,
     0,
     0},
    {"", {METHOD(VB), .prior = &prior}, NULL, 0, 0, 0},
    {"held=2",
     {METHOD(ICL)},
     "--held is 2, but with this method each row is in one cluster.",
     0,
     0,
     0},
    {"held=1", {METHOD(ICL)}, NULL, 0, 0, 0},
    {"held=2", {METHOD(VB)}, NULL, 0, 0, 0},
    {"finish=soft",
     {METHOD(GMEANS)},
     "--finish is soft, but with --method gmeans each row is in one cluster; bayes and "
     "icl "
     "let rows share them in the end.",
     0,
     0,
     0},
    {"finish=soft", {METHOD(ICL)}, NULL, 0, 0, 0},
    {"finish=soft", {METHOD(VB)}, NULL, 0, 0, 0},
    {"",
     {METHOD(SWEEP)},
     "A sweep over numbers of clusters keeps no state: --checkpoint and --resume do not "
     "go "
     "with it.",
     0,
     1,
     0},
    {"", {METHOD(GREEDY)}, NULL, 0, 1, 0},
    {"",
     {METHOD(SWEEP), .holdout = 1},
     "--holdout is 1, but it must lie between 0 and 1.",
     0,
     0,
     0},
    {"",
     {METHOD(SWEEP), .holdout = -0.5},
     "--holdout is -0.5, but it must lie between 0 and 1.",
     0,
     0,
     0},
    {"",
     {METHOD(SWEEP), .holdout = NAN},
     "--holdout is nan, but it must lie between 0 and 1.",
     0,
     0,
     0},
    {"", {METHOD(SWEEP), .holdout = 0.99}, NULL, 0, 0, 0},
    {"",
     {METHOD(BIC)},
     "Over several processes numbers of clusters are compared on a coreset: say "
     "--coreset "
     "with fewer than the 50 rows.",
     0,
     0,
     1},
    {"coreset=50",
     {METHOD(BIC)},
     "Over several processes numbers of clusters are compared on a coreset: say "
     "--coreset "
     "with fewer than the 50 rows.",
     0,
     0,
     1},
    {"coreset=49", {METHOD(BIC)}, NULL, 0, 0, 1},
    {"",
     {METHOD(BIC), NUMBERS(up)},
     "Several numbers of clusters are for the method sweep.",
     0,
     0,
     0},
    {"", {METHOD(SWEEP), NUMBERS(up)}, NULL, 0, 0, 0},
    {"",
     {METHOD(SWEEP), .numbers = up},
     "There is no number of clusters to fit.",
     0,
     0,
     0},
    {"",
     {METHOD(SWEEP), NUMBERS(down)},
     "Numbers of clusters are at least 1 and ascend, but 2 comes after one that is no "
     "less.",
     0,
     0,
     0},
    {"",
     {METHOD(SWEEP), NUMBERS(twice)},
     "Numbers of clusters are at least 1 and ascend, but 2 comes after one that is no "
     "less.",
     0,
     0,
     0},
    {"",
     {METHOD(SWEEP), NUMBERS(none)},
     "Numbers of clusters are at least 1 and ascend, but 0 comes.",
     0,
     0,
     0},
    {"",
     {METHOD(SWEEP), NUMBERS(many)},
     "There are fewer rows than clusters: 50 rows, 51 clusters.",
     0,
     0,
     0},
};

static vem_data *rows_of(int sparse)
{
    static double values[N];
    static int64_t starts[N + 1];
    static int32_t columns[N];
    vem_data *data;
    for (int i = 0; i < N; i++) {
        values[i] = i + 1;
        starts[i + 1] = i + 1;
    }
    assert_int_equal(sparse
                         ? vem_data_sparse(ctx, N, 1, starts, columns, values, &data)
                         : vem_data_borrow(ctx, VEM_FLOAT64, values, N, 1, 0, 0, &data),
                     VEM_OK);
    return data;
}

static void what_does_not_go_together(void **state)
{
    (void)state;
    int failed = 0;
    const vem_checkpoint kept = {.size = sizeof kept, .path = "state"};
    vem_i_comm comm = {.size = 2};
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        const vem_options asked = asked_of(cases[k].asked);
        vem_select_options select = cases[k].select;
        const char *expected = cases[k].sentence;
        vem_data *data = rows_of(cases[k].sparse);
        select.size = sizeof select;
        if (cases[k].state)
            assert_int_equal(vem_ctx_set_checkpoint(ctx, &kept), VEM_OK);
        vem_i_run run = *run_of(ctx);
        run.comm = run.peers = cases[k].several ? &comm : NULL;
        const vem_status status = vem_i_select_check(&run, data, &asked, &select);
        const char *said = status == VEM_OK ? "it goes" : vem_ctx_message(ctx);
        if ((status == VEM_OK) != !expected ||
            strcmp(said, expected ? expected : said) != 0)
            print_error("case %zu, %s\n  says:     %s\n  expected: %s\n", k,
                        cases[k].asked, said, expected ? expected : "it goes"),
                failed++;
        assert_int_equal(vem_ctx_set_checkpoint(ctx, NULL), VEM_OK);
        vem_data_free(data);
    }
    assert_int_equal(failed, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(what_does_not_go_together)};
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
