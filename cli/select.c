/* vem select DATA -o MODEL.npz */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"

#define IO "Input and output"
#define METHOD_NAME(NAME, symbol, name, what) name,
#define METHOD_CHOICE(NAME, symbol, name, what) "|" name

#define FAMILY_NAME(NAME, symbol, name, what) name,

static const char *const methods[] = {VEM_SELECT_TABLE(METHOD_NAME)};
static const char *const family_names[] = {VEM_FAMILY_TABLE(FAMILY_NAME)};

enum { FAMILIES = VEM_FAMILIES };

static const cli_option own[] = {
    {"method", 0, "Model", &(VEM_SELECT_TABLE(METHOD_CHOICE))[1],
     "how mixtures are found and one is chosen; default: bayes"},
    {"min-clusters", 0, "Model", "A",
     "fewest clusters that may be chosen, where so many rows differ: a search that would "
     "end "
     "with fewer divides on (greedy, which inserts, ends there and says so); default 1"},
    {"max-clusters", 0, "Model", "K",
     "most clusters that are tried; default 20 for greedy and sweep, else by the rows"},
    {"families", 0, "Model", "NAME,...",
     "search each of these families, as in full,diag,iso, and take the one with the best "
     "criterion; each takes the time of a search"},
    {"pick", 0, "Model", "K",
     "no fit: the mixture of K clusters of a path that select wrote"},
    {"stability", 0, "Model", "R",
     "do the same on R random parts of the rows, 90 % of them each, and tell how often "
     "which number of clusters is found and how labels agree"},
    CLI_HOLDOUT_OPTION,
    CLI_PRIOR_OPTIONS,
    CLI_WEIGHTS_OPTION,
    CLI_READ_OPTIONS,
    CLI_RESULT_OPTIONS(
        IO, "the chosen model, with all mixtures beside it, as .npz",
        "keep the state in FILE: after the first step, every two minutes, at the end"),
    {"picture", 0, IO, "FILE",
     "the criterion against the number of clusters, and how rows move between them "
     "(.svg); "
     "of a MODEL that select wrote instead of DATA: the first of the two"},
    {"flows", 0, IO, NULL,
     "with --json: the shares of the rows that move between clusters of mixtures"},
    CLI_TALK_OPTIONS(IO),
};

static const cli_file files[] = {
    CLI_RESULT_FILES,
    {"picture", CLI_WRITES, "svg"},
    {NULL, CLI_READS, NULL},
};

static const char *const shared[] = {"family",    "prior",       "search",    "held",
                                     "reach",     "explore",     "probe",     "tolerance",
                                     "max-steps", "empty",       "floor",     "coreset",
                                     "cells",     "depth",       "expand",    "precision",
                                     "finish",    "standardize", "normalize", "threads",
                                     "memory",    "time",        "seed",      "measure",
                                     NULL};

static const char *const meanings[] = {
    "family",
    "what a cluster looks like: full, diag or iso (bayes, vb, bic, icl); iso-shared "
    "(gmeans, kmeans-bic); greedy takes these and diag-shared and full-shared; sweep "
    "takes all that fit takes, also those of counts; default full, with "
    "gmeans "
    "and kmeans-bic iso-shared, with bayes and vb diag where there are fewer than 5 rows "
    "for "
    "each column",
    "finish",
    "soft: when the number of clusters is found, steps follow in which rows share them "
    "(bayes, "
    "icl): labels and likelihoods are those of the mixture then, and clusters that "
    "overlap have their whole width; "
    "the path is as without it",
    NULL};

static const char *const of_a_path[] = {"output", "json", "quiet", "verbose", NULL};

static const cli_mode modes[] = {
    {"pick", of_a_path, NULL,
     "fits nothing and reads no rows: it takes a mixture out of MODEL"},
    {NULL, NULL, NULL, NULL},
};

/* ---- select ---- */

/* Names with commas between them. */
static int read_families(const cli_args *args, int32_t *families,
                         vem_select_options *select)
{
    const char *at = cli_value(args, "families");
    int code = CLI_DONE, kind = 0;
    while (at && code == CLI_DONE) {
        char name[64];
        const size_t length = strcspn(at, ",");
        snprintf(name, sizeof name, "%.*s", (int)(length < 63 ? length : 63), at);
        code = cli_read_choice("--families", name, family_names, FAMILIES, &kind);
        for (int64_t k = 0; code == CLI_DONE && k < select->family_count; k++)
            if (families[k] == kind) {
                cli_error("--families has %s twice.", name);
                code = CLI_USAGE;
            }
        if (code == CLI_DONE)
            families[select->family_count++] = kind;
        at = at[length] ? at + length + 1 : NULL;
    }
    select->families = select->family_count > 0 ? families : NULL;
    return code;
}

static int read_request(cli_args *args, int32_t *families, vem_select_options *select,
                        cli_prior *prior)
{
    int64_t least = 0, most = 0;
    int method = 0, code = CLI_DONE;
    if (cli_value(args, "method"))
        code = cli_read_choice("--method", cli_value(args, "method"), methods,
                               VEM_SELECT_COUNT, &method);
    if (code == CLI_DONE)
        code = cli_read_whole(args, "min-clusters", 2147483000.0, &least);
    if (code == CLI_DONE)
        code = cli_read_whole(args, "max-clusters", 2147483000.0, &most);
    *select = (vem_select_options){.size = sizeof *select,
                                   .method = (vem_select_method)method,
                                   .min_clusters = (int32_t)least,
                                   .max_clusters = (int32_t)most};
    if (code == CLI_DONE)
        code = read_families(args, families, select);
    if (code == CLI_DONE)
        code = cli_read_share(args, "holdout", &select->holdout);
    if (code == CLI_DONE)
        code = cli_read_prior(args, prior);
    if (cli_prior_given(args))
        select->prior = &prior->options;
    return code == CLI_DONE ? cli_set_checkpoint(args) : code;
}

static int find(cli_args *args, const vem_select_options *select, cli_more *more,
                const vem_data *data, double seconds_read, double began)
{
    cli_found found = {.method = methods[select->method], .select = select, .more = more};
    cli_announce(args, 1);
    const vem_status status = vem_select(args->ctx, data, &args->options, select,
                                         &found.model, &found.path, &found.report);
    return cli_fit_over(args, status, &found, data, seconds_read, began);
}

/* ---- pick ---- */

/* Its meta is that of the chosen model, but for what it says of the fit. */
static vem_status set_meta(cli_args *args, const vem_path *path,
                           const vem_path_point *point, vem_model *model)
{
    const char *text = vem_model_meta(model);
    json_t *meta = text ? json_loads(text, 0, NULL) : NULL;
    if (!meta)
        return VEM_OK;
    json_object_del(meta, "trace");
    json_object_del(meta, "floored");
    json_object_set_new(meta, "picked", json_integer(point->clusters));
    json_object_set_new(meta, "steps", json_integer(point->steps));
    json_object_set_new(meta, "free_energy", cli_json_real(point->free_energy));
    json_object_set_new(meta, "free_energy_is",
                        json_string(cli_energy_name(args, path, point->free_energy)));
    return cli_json_into_model(args, meta, model);
}

static int pick(cli_args *args)
{
    const char *file = args->operands[0], *output = cli_value(args, "output");
    int64_t clusters = 0;
    vem_path *path = NULL;
    vem_model *model = NULL;
    int code = cli_read_whole(args, "pick", 2147483000.0, &clusters);
    if (code == CLI_DONE && args->operand_count > 1) {
        cli_error("--pick takes one file, the MODEL that vem select wrote.");
        code = CLI_USAGE;
    }
    if (code == CLI_DONE && !output) {
        cli_error("--pick writes a model: name it with -o OTHER.npz.");
        code = CLI_USAGE;
    }
    if (code != CLI_DONE)
        return code;
    vem_status status = vem_path_read(args->ctx, file, &path);
    if (status == VEM_OK)
        status = vem_path_pick(args->ctx, path, (int32_t)clusters, &model);
    const vem_path_point *point = NULL;
    for (int32_t i = 0; status == VEM_OK && i < vem_path_count(path); i++)
        if (vem_path_at(path, i)->clusters == clusters)
            point = vem_path_at(path, i);
    if (point)
        status = set_meta(args, path, point, model);
    if (status == VEM_OK)
        status = vem_model_write(args->ctx, model, output);
    code = status == VEM_OK ? CLI_DONE : cli_failure(args, status);
    if (code == CLI_DONE && cli_value(args, "json")) {
        json_t *o = cli_json_begin(args);
        json_object_set_new(o, "clusters", json_integer(clusters));
        CLI_JSON_REAL(o, point, free_energy);
        CLI_JSON_REAL(o, point, log_likelihood);
        CLI_JSON_REAL(o, point, log_likelihood_se);
        CLI_JSON_REAL(o, point, bic);
        code = cli_json_print(o);
    } else if (code == CLI_DONE && !cli_value(args, "quiet")) {
        char c[48];
        printf("%s: %s, %s %.10g per row", output, cli_counted(clusters, "cluster", c),
               cli_energy_name(args, path, point->free_energy), point->free_energy);
        if (isfinite(point->bic)) /* there was time to measure it */
            printf(point->log_likelihood_se > 0
                       ? ", BIC about %.8g, of a sample of the rows"
                       : ", BIC %.8g",
                   point->bic);
        putchar('\n');
    }
    vem_path_free(path);
    vem_model_free(model);
    return code;
}

static int run(cli_args *args)
{
    const double began = cli_clock();
    vem_select_options select;
    int32_t families[FAMILIES];
    cli_prior prior = {0};
    cli_more more;
    vem_data *data = NULL;
    double seconds_read = 0;
    if (cli_value(args, "pick"))
        return pick(args);
    if (cli_value(args, "picture") && vem_file_has_path(args->operands[0]))
        return cli_draw_path(args);
    int code = cli_read_more(args, &more);
    if (code == CLI_DONE)
        code = read_request(args, families, &select, &prior);
    if (code == CLI_DONE) {
        cli_progress_begin(args);
        code = cli_read_in_time(args, &data, &seconds_read, began);
    }
    if (code == CLI_DONE)
        code = cli_check_prior(&prior, data);
    if (code == CLI_DONE)
        code = find(args, &select, &more, data, seconds_read, began);
    vem_data_free(data);
    cli_free_prior(&prior);
    cli_free_more(&more);
    return code;
}

const cli_command cli_select = {
    .name = "select",
    .operands = "DATA... -o MODEL.npz",
    .purpose = "find the number of clusters too",
    .details =
        "The number of clusters is found with the mixture itself. --method bayes\n"
        "(Bayesian k-means, the default) divides and joins clusters as long as the\n"
        "evidence of rows and labels rises, with all parameters integrated out under a\n"
        "prior that follows the data; each row is in one cluster. vb is the same with\n"
        "soft assignments, bic and icl do it for a criterion of the likelihood, gmeans\n"
        "divides round clusters whose rows are no normal sample, kmeans-bic is k-means\n"
        "under BIC.\n"
        "\n"
        "Tables are headed by what chose: hard BIC and hard ICL (kmeans-bic, icl) take\n"
        "the likelihood of rows and labels together, each row in one cluster; BIC and\n"
        "ICL beside them are those of the mixture, measured.\n"
        "\n"
        "--method greedy begins with one cluster and inserts one after the other where\n"
        "the free energy gains most, with steps of all clusters in between: mixtures\n"
        "of 1 to K clusters in one run, of which the one of the least BIC is the\n"
        "model.\n"
        "\n"
        "Clusters have full covariances and fitted weights unless --family and --prior\n"
        "say otherwise. The file holds the model and, beside it, the best mixture of\n"
        "every number of clusters that was tried; --pick takes one out of it\n"
        "afterwards. Each is measured on all rows, with --measure sample, and where\n"
        "that would take longer than the search, on some of them. Ctrl-C, or --time,\n"
        "ends the search; what was found until then is written; before the first step\n"
        "there is nothing, and nothing is written. For likelihoods of rows between\n"
        "clusters let rows share them at the end: --finish soft.\n"
        "\n"
        "Counts are taken as the numbers they are, with Gaussian clusters: what a\n"
        "method does with rows does not depend on what they mean. Mixtures of counts\n"
        "are found by --method sweep --family poisson (multinomial, bernoulli), by\n"
        "their BIC; other methods refuse these families, and sparse rows, which only\n"
        "these families take.\n",
    .examples =
        "  vem select data.npy -o model.npz --labels labels.csv\n"
        "  vem select data.npy --method greedy --max-clusters 12 -o model.npz\n"
        "  vem select data.csv --max-clusters 50 --family diag -o model.npz\n"
        "  vem select data.npy --families full,diag,iso --finish soft -o model.npz\n"
        "  vem select --pick 7 model.npz -o seven.npz\n"
        "  vem select data.npy --stability 20 --picture path.svg -o model.npz\n",
    .own = own,
    .own_count = sizeof own / sizeof *own,
    .files = files,
    .shared = shared,
    .meanings = meanings,
    .modes = modes,
    .operand_count = 1,
    .more_operands = 1,
    .run = run,
};
