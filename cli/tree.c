/* vem tree DATA -o TREE.npz */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"

#define IO "Input and output"
#define NAME(NAME, name, what) #name,
#define CHOICE(NAME, name, what) "|" #name

static const char *const methods[] = {VEM_DENDROGRAM_TABLE(NAME)};
static const char *const ways[] = {VEM_PAIRS_TABLE(NAME)};

static const cli_option own[] = {
    {"method", 0, "Model", &(VEM_DENDROGRAM_TABLE(CHOICE))[1],
     "which two clusters are joined next; default: bayes"},
    {"leaves", 0, "Data", "M",
     "first put the rows into M groups by k-means, which are the leaves: for more rows "
     "than "
     "a tree is practical for (bayes 20,000, complete and average 30,000, single "
     "200,000, "
     "about)"},
    {"pairs", 0, "Computing", &(VEM_PAIRS_TABLE(CHOICE))[1],
     "bayes: how the closest pair is kept; the tree is the same (conga: unless costs are "
     "tied); default: fastpair"},
    {"prior-mean", 0, "Prior", "LIST|FILE",
     "bayes: where means of clusters are expected, a value for each column; default: the "
     "mean of all rows"},
    {"prior-strength", 0, "Prior", "XI", "rows that this is worth; default 0.01"},
    {"prior-dof", 0, "Prior", "ETA",
     "rows that the expected shape is worth; default: columns (1 for families diag and "
     "iso)"},
    {"prior-scale", 0, "Prior", "LIST|FILE",
     "ETA times the expected variance: one number, one for each column, or a matrix; "
     "default: from the least distances of some pairs of rows"},
    {"prior-count", 0, "Prior", "PHI",
     "rows that each cluster is expected to have beside its own; default 2"},
    CLI_WEIGHTS_OPTION,
    CLI_READ_OPTIONS,
    {"output", 'o', IO, "FILE",
     "the tree as .npz: linkage (as scipy's), delta, log_evidence"},
    {"labels", 0, IO, "FILE",
     "the cluster of each row when the tree is cut into --clusters K (bayes: else into "
     "those "
     "of the most evidence) (.npy, .csv or .csv.gz)"},
    {"truth", 0, IO, "FILE",
     "classes of the rows: dendrogram purity; NMI, ARI of the cut"},
    CLI_TRUTH_COLUMN_OPTION(IO),
    {"newick", 0, IO, "FILE", "the tree as Newick text"},
    {"r", 0, IO, "FILE",
     "the tree for R: .R, which dget() reads as an hclust, or merge, height, order and "
     "labels as .json"},
    {"picture", 0, IO, "FILE", "the tree drawn, .svg"},
    CLI_TALK_OPTIONS(IO),
};

static const cli_file files[] = {
    {"weights", CLI_READS, NULL},   {"truth", CLI_READS, NULL},
    {"output", CLI_WRITES, "npz"},  {"labels", CLI_WRITES_LABELS, "npy csv csv.gz"},
    {"newick", CLI_WRITES, NULL},   {"r", CLI_WRITES, "R json"},
    {"picture", CLI_WRITES, "svg"}, {NULL, CLI_READS, NULL},
};

static const char *const shared[] = {"clusters",  "family",  "standardize",
                                     "normalize", "threads", "memory",
                                     "time",      "seed",    NULL};

static const char *const meanings[] = {
    "clusters",
    "clusters that the tree is cut into, at most its leaves; default: with bayes those "
    "of "
    "the most evidence",
    "family",
    "bayes: what a cluster looks like; one of full, diag, iso; default full, or diag "
    "where "
    "there are fewer than 10 rows for each column",
    "standardize",
    "each column to mean 0, variance 1: distances are in these units",
    "memory",
    "most memory, mapped pages of the input included: a tree that takes more is refused "
    "before the work, with the --leaves that would fit; K, M, G and T are powers of 1024 "
    "(default: what the machine can give); at least 1",
    "time",
    "end within about this time: a tree that is not whole by then is given up, and "
    "nothing is written; --leaves M needs less; at least 1e-09",
    "seed",
    "seed of the random numbers, for groups of rows (--leaves) and pairs of rows "
    "(--prior-scale); at least 0; default 1",
    NULL};

/* Options that say how a tree is made, and have no part in one that is read. */
static const char *const making[] = {"method", "leaves", "pairs",   "weights", "columns",
                                     "id",     "header", "decimal", "missing", NULL};

/* ---- before ---- */

static int read_request(cli_args *args, vem_dendrogram_options *tree)
{
    int method = 0, pairs = 0, code = CLI_DONE;
    if (cli_value(args, "method"))
        code = cli_read_choice("--method", cli_value(args, "method"), methods,
                               VEM_DENDROGRAM_COUNT, &method);
    if (code == CLI_DONE && cli_value(args, "pairs"))
        code = cli_read_choice("--pairs", cli_value(args, "pairs"), ways, VEM_PAIRS_COUNT,
                               &pairs);
    if (code == CLI_DONE && cli_value(args, "pairs") && method != VEM_DENDROGRAM_BAYES) {
        cli_error("--pairs is for --method bayes; linkages need no search for pairs.");
        code = CLI_USAGE;
    }
    *tree = (vem_dendrogram_options){.size = sizeof *tree,
                                     .method = (vem_dendrogram_method)method,
                                     .pairs = (vem_pairs_method)pairs};
    if (code == CLI_DONE)
        code = cli_read_whole(args, "leaves", 1e9, &tree->leaves);
    if (code == CLI_DONE)
        code = cli_check_truth(args);
    if (code == CLI_DONE && method != VEM_DENDROGRAM_BAYES && cli_value(args, "labels") &&
        args->options.clusters == VEM_AUTO) {
        cli_error("--labels needs to know into how many clusters the tree is cut: say it "
                  "with --clusters K (only --method bayes knows by itself).");
        code = CLI_USAGE;
    }
    return code;
}

static int check_beside_tree(const cli_args *args)
{
    const char *found = cli_prior_given(args);
    for (int i = 0; !found && making[i]; i++)
        if (cli_value(args, making[i]))
            found = making[i];
    for (int i = 0; !found && i < CLI_SHARED_OPTIONS; i++) {
        const char *name = vem_option_at(i)->name;
        if (args->given[i] && strcmp(name, "clusters") != 0 &&
            strcmp(name, "threads") != 0)
            found = name;
    }
    if (!found && args->operand_count == 1)
        return cli_check_truth(args);
    if (found)
        cli_error("--%s says how a tree is made, but %s is one already.", found,
                  args->operands[0]);
    else
        cli_error("%s is a tree: it is taken alone.", args->operands[0]);
    return CLI_USAGE;
}

/* A cut into more clusters than there are leaves, or can be. */
static int check_cut(const cli_args *args, int64_t leaves)
{
    const int64_t asked = args->options.clusters;
    if (asked == VEM_AUTO || asked <= leaves)
        return CLI_DONE;
    cli_error("--clusters is %lld, but the tree has %lld leaves.", (long long)asked,
              (long long)leaves);
    return CLI_USAGE;
}

/* ---- after ---- */

static vem_status write_exports(const cli_args *args, const cli_grown *g)
{
    vem_ctx *ctx = args->ctx;
    const char *output = cli_value(args, "output"), *newick = cli_value(args, "newick");
    const char *r = cli_value(args, "r"), *picture = cli_value(args, "picture");
    vem_status status = VEM_OK;
    if (output)
        status = vem_dendrogram_write(ctx, g->tree, output);
    if (status == VEM_OK && newick)
        status = vem_dendrogram_write_newick(ctx, g->tree, NULL, newick);
    if (status == VEM_OK && r)
        status = vem_dendrogram_write_r(ctx, g->tree, NULL, r);
    if (status == VEM_OK && picture)
        status = vem_dendrogram_draw(ctx, g->tree, NULL, g->cut, picture);
    return status;
}

/* Labels of all rows that were read, into the file, and compared with what is known. */
static vem_status write_labels(const cli_args *args, cli_grown *g, const int64_t *classes)
{
    const char *path = cli_value(args, "labels");
    const int64_t n = vem_dendrogram_rows(g->tree);
    const int64_t all = g->data ? vem_data_rows_read(g->data) : n;
    void *room = NULL;
    if (g->cut == 0 || (!path && !classes))
        return VEM_OK;
    vem_status status = vem_array_new(args->ctx, (size_t)all * sizeof(int32_t), &room);
    if (status != VEM_OK)
        return status;
    int32_t *labels = room;
    status = vem_dendrogram_cut(args->ctx, g->tree, g->cut, labels);
    if (status == VEM_OK && classes) {
        int64_t *found = malloc((size_t)n * sizeof *found);
        for (int64_t i = 0; found && i < n; i++)
            found[i] = labels[i];
        status = found ? vem_compare(args->ctx, found, classes, n, &g->agreement)
                       : VEM_NO_MEMORY;
        free(found);
    }
    if (status == VEM_OK && path && g->data) { /* which has all columns of ids */
        status =
            vem_data_spread(args->ctx, g->data, labels, sizeof *labels, &(int32_t){-1});
        if (status == VEM_OK)
            status = vem_labels_write_rows(args->ctx, path, g->data, labels, all);
    } else if (status == VEM_OK && path) {
        status = vem_dendrogram_write_labels(args->ctx, g->tree, g->cut, path);
    }
    vem_array_free(args->ctx, room);
    return status;
}

static int over(cli_args *args, cli_grown *g, const cli_truth *truth, double began)
{
    const int64_t asked = args->options.clusters, n = vem_dendrogram_rows(g->tree);
    vem_status status = VEM_OK;
    g->cut = asked != VEM_AUTO ? asked : vem_dendrogram_summary(g->tree)->clusters;
    g->purity =
        (vem_dendrogram_agreement){.size = sizeof g->purity, .pairs = NAN, .rows = NAN};
    g->agreement = (vem_agreement){.size = sizeof g->agreement,
                                   .nmi = NAN,
                                   .ari = NAN,
                                   .purity = NAN};
    g->truth_column = truth->column;
    if (g->cut == 0 && cli_value(args, "labels")) {
        cli_error(
            "--labels needs --clusters K: the tree has no evidence that would say how "
            "many clusters there are.");
        return CLI_USAGE;
    }
    const int fits = check_cut(args, vem_dendrogram_leaves(g->tree));
    if (fits != CLI_DONE)
        return fits;
    if (truth->classes)
        status = vem_dendrogram_purity(args->ctx, g->tree, truth->classes, n, &g->purity);
    if (status == VEM_OK)
        status = write_exports(args, g);
    if (status == VEM_OK)
        status = write_labels(args, g, truth->classes);
    g->seconds = cli_clock() - began;
    if (status != VEM_OK)
        return cli_failure(args, status);
    if (cli_value(args, "json"))
        return cli_tree_json(args, g);
    if (!cli_value(args, "quiet"))
        cli_tree_words(args, g);
    return CLI_DONE;
}

/* ---- the verb ---- */

static int read_tree(cli_args *args, double began)
{
    cli_grown g = {0};
    cli_truth truth = {0};
    int code = check_beside_tree(args);
    if (code != CLI_DONE)
        return code;
    const vem_status status = vem_dendrogram_read(args->ctx, args->operands[0], &g.tree);
    code = status == VEM_OK ? CLI_DONE : cli_failure(args, status);
    if (code == CLI_DONE)
        code = cli_read_truth(args, NULL, vem_dendrogram_rows_read(g.tree), &truth);
    for (int64_t i = 0;
         code == CLI_DONE && truth.classes && i < vem_dendrogram_rows(g.tree); i++)
        truth.classes[i] = truth.classes[vem_dendrogram_row(g.tree, i)];
    if (code == CLI_DONE)
        code = over(args, &g, &truth, began);
    cli_truth_free(&truth);
    vem_dendrogram_free(g.tree);
    return code;
}

static int grow_tree(cli_args *args, double began)
{
    vem_dendrogram_options options;
    cli_prior prior = {0};
    vem_data *data = NULL;
    cli_grown g = {0};
    cli_truth truth = {0};
    int code = read_request(args, &options);
    if (code == CLI_DONE)
        code = cli_read_prior(args, &prior);
    const char *given = cli_prior_given(args);
    if (given)
        options.prior = &prior.options;
    if (code == CLI_DONE && given && options.method != VEM_DENDROGRAM_BAYES) {
        cli_error("--%s is for --method bayes.", given);
        code = CLI_USAGE;
    }
    if (code == CLI_DONE) {
        cli_progress_begin(args);
        code = cli_read_in_time(args, &data, &g.seconds_read, began);
    }
    if (code == CLI_DONE)
        code = cli_check_prior(&prior, data);
    if (code ==
        CLI_DONE) /* before the work; groups may be fewer than --leaves after it */
        code = check_cut(args, options.leaves > 0 && options.leaves < vem_data_rows(data)
                                   ? options.leaves
                                   : vem_data_rows(data));
    if (code == CLI_DONE)
        code = cli_read_truth(args, data, vem_data_rows_read(data), &truth);
    if (code == CLI_DONE) {
        g.data = data;
        cli_announce(args, 1);
        const vem_status status =
            vem_agglomerate(args->ctx, data, &args->options, &options, &g.tree);
        cli_announce(args, 0);
        cli_progress_end();
        code =
            status == VEM_OK ? over(args, &g, &truth, began) : cli_failure(args, status);
    }
    cli_truth_free(&truth);
    cli_free_prior(&prior);
    vem_dendrogram_free(g.tree);
    vem_data_free(data);
    return code;
}

static int run(cli_args *args)
{
    const double began = cli_clock();
    return strcmp(vem_file_kind(args->operands[0]), "tree") == 0 ? read_tree(args, began)
                                                                 : grow_tree(args, began);
}

const cli_command cli_tree = {
    .name = "tree",
    .operands = "DATA... -o TREE.npz",
    .purpose = "agglomerative clustering: a tree of merges, cut where you like",
    .details =
        "Every row begins as a cluster of its own; the two nearest are joined until "
        "there "
        "is\n"
        "one. --method bayes joins the two whose union has the most evidence under a "
        "conjugate\n"
        "prior, and knows how many clusters have the most; single, complete and average "
        "are\n"
        "the linkages on Euclidean distances, the same as scipy's.\n"
        "TREE.npz holds scipy's linkage matrix. A TREE.npz in the place of DATA is not "
        "made\n"
        "anew: --clusters, --labels, --truth, --newick, --r and --picture work on it.\n"
        "Work grows with the square of the rows. For many, --leaves M first makes M "
        "groups;\n"
        "rows get their labels through them.\n",
    .examples =
        "  vem tree data.npy -o tree.npz --labels labels.npy --picture tree.svg\n"
        "  vem tree tree.npz --clusters 7 --labels seven.csv\n"
        "  vem tree data.csv --id name --method average --newick tree.nwk --r tree.R\n"
        "  vem tree million.npy --leaves 2000 -o tree.npz --labels labels.npy\n",
    .own = own,
    .own_count = sizeof own / sizeof *own,
    .files = files,
    .shared = shared,
    .meanings = meanings,
    .operand_count = 1,
    .more_operands = 1,
    .run = run,
};
