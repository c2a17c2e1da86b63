/* Options that do not go together: what would be ignored is refused, by a sentence that says with what it
 * does not go and what to use; and what stands beside it goes. */
#define CONTEXT_THREADS 1
#include "asked.h"

static const struct {
    const char *asked, *sentence; /* NULL: it goes */
} cases[] = {
    {"", "The number of clusters is missing: --clusters has no default."},
    {"clusters=1", NULL},
    /* What is held. */
    {"clusters=5 held=6", "--held is 6, but there are only 5 clusters to hold."},
    {"clusters=5 held=5", NULL},
    {"clusters=5 held=4 search=all",
     "--held is 4, but --search all holds all 5 clusters; use --search closest."},
    {"clusters=5 held=5 search=all", NULL},
    {"clusters=5 held=4 search=closest", NULL},
    /* Where it looks. */
    {"clusters=5 probe=2 search=closest",
     "--probe needs --search groups; the search is closest."},
    {"clusters=5 probe=2 search=groups", NULL},
    {"clusters=5 explore=1 search=closest",
     "--explore needs --search exact or estimated; the search is closest."},
    {"clusters=5 explore=1 search=groups",
     "--explore needs --search exact or estimated; the search is groups."},
    {"clusters=5 explore=0 search=closest", NULL},
    {"clusters=5 explore=1 search=exact", NULL},
    {"clusters=5 explore=1 search=estimated", NULL},
    {"clusters=5 reach=2 search=closest",
     "--reach needs --search exact, estimated or groups; the search is closest."},
    {"clusters=5 reach=2 search=exact", NULL},
    {"clusters=5 reach=2 search=groups", NULL},
    {"clusters=5 margin=0.1 search=exact", "--margin is 0.1, but a margin needs --held "
                                           "1, --family iso-shared, --prior flat and "
                                           "--search closest."},
    {"clusters=5 margin=0.1 search=closest held=2",
     "--margin is 0.1, but a margin needs --held 1, --family iso-shared, --prior flat "
     "and "
     "--search closest."},
    {"clusters=5 margin=0.1 search=closest", NULL},
    {"clusters=5 margin=0 search=exact", NULL},
    {"clusters=5 coreset=4",
     "--coreset is 4, but 5 clusters need a coreset of at least as many rows."},
    {"clusters=5 coreset=5", NULL},
    /* Moves and finishes. */
    {"clusters=5 margin=0.1 search=closest swaps=2",
     "--swaps is 2, but with a --margin rows do not hold what is nearest to them, and a "
     "swap cannot be weighed."},
    {"clusters=5 margin=0.1 search=closest swaps=0", NULL},
    {"clusters=5 finish=hard family=diag",
     "--finish hard needs --family iso-shared and --prior flat: it ends with k-means."},
    {"clusters=5 finish=hard prior=free",
     "--finish hard needs --family iso-shared and --prior flat: it ends with k-means."},
    {"clusters=5 finish=hard held=2", NULL},
    {"clusters=5 finish=soft family=diag", NULL},
    /* Counts. */
    {"clusters=5 family=poisson standardize=1",
     "--standardize makes other numbers of counts, and family poisson takes counts as "
     "they are."},
    {"clusters=5 family=multinomial normalize=1",
     "--normalize makes other numbers of counts, and family multinomial takes counts as "
     "they are."},
    {"clusters=5 family=bernoulli standardize=1 normalize=1",
     "--standardize makes other numbers of counts, and family bernoulli takes counts as "
     "they are."},
    {"clusters=5 family=poisson swaps=1", "--swaps is 1, but swaps are weighed by "
                                          "distances, which family poisson has none of; "
                                          "several starts are made without them."},
    {"clusters=5 family=poisson swaps=0", NULL},
    {"clusters=5 family=diag standardize=1 normalize=1", NULL},
    /* Directions. */
    {"clusters=5 metric=cosine family=diag",
     "--metric is cosine, but family diag has shapes that directions do not have: it is "
     "for --family iso-shared, whose clusters are round and alike; --normalize goes with "
     "any family."},
    {"clusters=5 metric=cosine standardize=1",
     "--metric is cosine, but --standardize divides columns by their deviations, and "
     "rows "
     "have other directions then: standardize them before, or leave it out."},
    {"clusters=5 metric=cosine algorithm=greedy family=iso-shared",
     "--metric is cosine, but --algorithm greedy places clusters by distances in space."},
    {"clusters=5 metric=cosine algorithm=moore-em family=iso-shared",
     "--metric is cosine, but --algorithm moore-em places clusters by distances in "
     "space."},
    {"clusters=5 metric=cosine algorithm=kmeans", NULL},
    {"clusters=5 metric=cosine", NULL},
    /* Greedy. */
    {"clusters=5 algorithm=greedy family=poisson",
     "--family is poisson, but greedy (the method of vem select) inserts clusters with "
     "variances: one of iso, diag, full and their shared forms."},
    {"clusters=5 algorithm=greedy search=exact held=2",
     "--search is exact, but --algorithm greedy begins with one cluster, which has no "
     "neighbors: use all, closest or groups."},
    {"clusters=5 algorithm=greedy swaps=2",
     "--swaps is 2, but with --algorithm greedy clusters are inserted, not swapped."},
    {"clusters=5 algorithm=greedy seeding=kmeans++",
     "--seeding is kmeans++, but --algorithm greedy begins with one cluster, which needs "
     "no seeds: the others are inserted where F gains most."},
    {"clusters=5 algorithm=greedy seeding=random swaps=0", NULL},
    {"clusters=5 algorithm=greedy blocks=2",
     "--blocks is 2, but --algorithm greedy weighs a cluster more with all rows at "
     "once."},
    /* Blocks. */
    {"clusters=5 blocks=2 family=full search=closest held=2",
     "--blocks is 2, but blocks keep statistics of rows that hold all clusters, and here "
     "they hold 2 of 5: use --search all."},
    {"clusters=5 blocks=2 family=full search=exact held=5",
     "--blocks is 2, but blocks keep statistics of rows that hold all clusters, and "
     "--search exact need not find all of them: use --search all."},
    {"clusters=5 blocks=2 family=full search=boxes held=5", NULL},
    {"clusters=5 blocks=2 family=full search=all", NULL},
    {"clusters=5 blocks=1 family=full search=closest held=2", NULL},
    {"clusters=1 blocks=2 search=closest", NULL}, /* whose posteriors are known */
    /* Cells. */
    {"clusters=5 cells=0 algorithm=kd-em",
     "--cells is 0, the rows themselves, but --algorithm kd-em fits cells."},
    {"clusters=5 cells=0 algorithm=moore-em",
     "--cells is 0, the rows themselves, but --algorithm moore-em fits cells."},
    {"clusters=5 cells=0 algorithm=gmm", NULL},
    {"clusters=5 depth=3", "--depth needs --cells, or --algorithm kd-em or moore-em: it "
                           "is about cells."},
    {"clusters=5 expand=3",
     "--expand needs --cells, or --algorithm kd-em or moore-em: it "
     "is about cells."},
    {"clusters=5 cells=0 gap=3", "--gap needs --cells, or --algorithm kd-em or moore-em: "
                                 "it is about cells."},
    {"clusters=5 cells=19", "--cells is 19, but 5 clusters need at least 20: clusters in "
                            "the same cell would become alike."},
    {"clusters=5 cells=20", NULL},
    {"clusters=1 cells=1", NULL},
    {"clusters=300 cells=1000", NULL}, /* as many as rows */
    {"clusters=5 cells=20 depth=5",
     "--depth is 5, which is 32 cells, but --cells allows 20."},
    {"clusters=5 cells=32 depth=5", NULL},
    /* Very fast EM. */
    {"clusters=5 tau=0.1 algorithm=kd-em",
     "--tau needs --algorithm moore-em, whose rule it is."},
    {"clusters=5 tau=0.1 algorithm=moore-em", NULL},
    {"clusters=5 algorithm=moore-em family=poisson",
     "--family is poisson, but --algorithm moore-em bounds the densities of Gaussians in "
     "boxes: one of iso, diag, full and their shared forms."},
    {"clusters=5 algorithm=moore-em search=closest held=2",
     "--algorithm moore-em looks for its cells anew in every step: it needs --search all "
     "and one block."},
    {"clusters=5 algorithm=moore-em blocks=2",
     "--algorithm moore-em looks for its cells anew in every step: it needs --search all "
     "and one block."},
    {"clusters=5 algorithm=moore-em expand=2",
     "--expand is about cells that are divided where the fit rests, but --algorithm "
     "moore-em looks for them anew in every step."},
    {"clusters=5 algorithm=moore-em gap=2", "--gap is about cells that are divided where "
                                            "the fit rests, but --algorithm moore-em "
                                            "looks for them anew in every step."},
    /* Even clusters. */
    {"clusters=5 balance=soft family=diag",
     "--balance is soft, but prices of clusters are for --family iso-shared or iso."},
    {"clusters=5 balance=1.5 held=2",
     "--balance is 1.5, but prices are weighed by rows that have one cluster each: use "
     "--held 1, and another search than all."},
    {"clusters=5 balance=auto prior=free held=1 search=closest",
     "--balance is auto, but it begins with clusters of equal weight, and sets the "
     "weights itself: use --prior flat."},
    {"clusters=5 balance=soft margin=0.1 search=closest",
     "--balance is soft, but with a --margin rows do not hold what is nearest to them, "
     "and prices cannot be weighed."},
    {"clusters=5 balance=soft cells=100",
     "--balance is soft, but cells of a tree are too coarse for the borders of clusters: "
     "use --cells 0."},
    {"clusters=5 balance=2 coreset=100",
     "--balance is 2, but a fit on a coreset has no labels of all rows that could keep a "
     "number: use --balance soft, or all rows."},
    {"clusters=5 balance=2 coreset=1000", NULL}, /* which is all rows */
    {"clusters=5 balance=soft coreset=100", NULL},
    {"clusters=5 balance=2", NULL},
    {"clusters=5 balance=auto", NULL},
};

static void what_would_be_ignored(void **state)
{
    (void)state;
    int failed = 0;
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        const vem_options asked = asked_of(cases[k].asked);
        vem_options resolved;
        const vem_status status =
            vem_options_resolve(ctx, &asked, 1000, 3, VEM_FLOAT64, &resolved);
        const char *expected = cases[k].sentence,
                   *said = status == VEM_OK ? "it goes" : vem_ctx_message(ctx);
        if (status != (expected ? VEM_BAD_OPTION : VEM_OK) ||
            strcmp(said, expected ? expected : "it goes") != 0)
            print_error("%s\n  says:     %s\n  expected: %s\n", cases[k].asked, said,
                        expected ? expected : "it goes"),
                failed++;
    }
    assert_int_equal(failed, 0);
}

/* As many rows as clusters are enough, and one fewer is not. */
static void as_many_rows_as_clusters(void **state)
{
    (void)state;
    const double rows[] = {0, 10, 25, 45, 70};
    for (int64_t n = 4; n <= 5; n++) {
        vem_options o = asked_of("clusters=5 max_steps=3");
        vem_data *data;
        vem_model *model = NULL;
        assert_int_equal(vem_data_borrow(ctx, VEM_FLOAT64, rows, n, 1, 0, 0, &data),
                         VEM_OK);
        const vem_status status = vem_fit(ctx, data, &o, NULL, &model, NULL);
        assert_int_equal(status, n < 5 ? VEM_BAD_DATA : VEM_OK);
        if (n < 5)
            assert_string_equal(
                vem_ctx_message(ctx),
                "There are fewer rows than clusters: 4 rows, 5 clusters.");
        vem_model_free(model);
        vem_data_free(data);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_would_be_ignored),
        cmocka_unit_test(as_many_rows_as_clusters),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
