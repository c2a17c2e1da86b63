/* vem fit DATA -k C -o MODEL.npz */
#include <stdlib.h>
#include <string.h>

#include "cli.h"

#define IO "Input and output"

static const cli_option own[] = {
    {"init", 0, "Start", "MODEL",
     "start from the means, weights and variances of a model"},
    CLI_HOLDOUT_OPTION,
    CLI_WEIGHTS_OPTION,
    CLI_READ_OPTIONS,
    CLI_RESULT_OPTIONS(
        IO, "the model, as .npz that numpy.load opens",
        "keep the state of the fit in FILE: after the seeding, every two minutes, at the "
        "end"),
    {"hierarchy", 0, IO, "FILE",
     "the means under fewer centres, level by level, for indexes that descend: .npz "
     "(vectors, parents, levels) or .csv (id, parent, vector); nearest are means in the "
     "units of the data, also after --standardize"},
    {"levels", 0, IO, "L",
     "levels of --hierarchy, that of the clusters counted; 2 to 8; default: 2, and 3 for "
     "more than 65,536 clusters"},
    {"picture", 0, IO, "FILE",
     "of several numbers, as in -k 2-40: BIC against the number of clusters, and how "
     "rows "
     "move between them (.svg)"},
    {"accumulate", 0, IO, "FILE",
     "no fit: the statistics of one E-step of --init over DATA, as .npz for vem merge"},
    {"part", 0, IO, "I/N",
     "with --accumulate: DATA is part I of N, so that vem merge knows which are missing"},
    CLI_TALK_OPTIONS(IO),
};

static const cli_file files[] = {
    {"init", CLI_READS, NULL},
    CLI_RESULT_FILES,
    {"hierarchy", CLI_WRITES, "npz csv csv.gz"},
    {"picture", CLI_WRITES, "svg"},
    {"accumulate", CLI_WRITES, "npz"},
    {NULL, CLI_READS, NULL},
};

static const char *const no_sums[] = {"output",  "labels",    "trace",  "checkpoint",
                                      "resume",  "hierarchy", "levels", "measure",
                                      "picture", NULL};

static const cli_mode modes[] = {
    {"accumulate", NULL, no_sums,
     "fits nothing; vem merge writes the next model, and vem score measures it"},
    {NULL, NULL, NULL, NULL},
};

/* The presets as the library resolves them, so that this table cannot be wrong. */
static void print_presets(FILE *stream)
{
    enum { CLUSTERS = 97 }; /* any number that is no preset's own: it shows as C */
    vem_ctx *ctx = NULL;
    if (vem_ctx_new(&ctx) != VEM_OK)
        return;
    fprintf(stream,
            "\nPresets (--algorithm); options beside one override it:\n"
            "  %-14s %-11s %-5s %-9s %-5s %-6s %-9s %-9s %s\n",
            "", "family", "prior", "search", "held", "margin", "seeding", "tolerance",
            "max steps");
    for (int a = 0; vem_choice_name("algorithm", a); a++) {
        vem_options asked, full;
        vem_options_init(&asked);
        vem_options_init(&full);
        asked.algorithm = a;
        asked.clusters = CLUSTERS;
        if (vem_options_resolve(ctx, &asked, 1000, 2, VEM_FLOAT64, &full) != VEM_OK)
            continue;
        char held[16] = "C", margin[16] = "";
        const char *seeding =
            a == VEM_ALGORITHM_GREEDY ? "one" : vem_choice_name("seeding", full.seeding);
        if (full.held != CLUSTERS)
            snprintf(held, sizeof held, "%d", (int)full.held);
        if (full.margin > 0)
            snprintf(margin, sizeof margin, "%.3g", full.margin);
        fprintf(stream, "  %-14s %-11s %-5s %-9s %-5s %-6s %-9s %-9.3g %d\n",
                vem_choice_name("algorithm", a), vem_choice_name("family", full.family),
                vem_choice_name("prior", full.prior),
                vem_choice_name("search", full.search), held, margin, seeding,
                full.tolerance, (int)full.max_steps);
    }
    fputs(
        "lwcs-kmeans and vc-gmm fit a coreset, of --coreset rows; without it about 16 "
        "C.\n"
        "kd-em fits cells of a kd-tree, up to --cells of them; without it 256 C, and at "
        "least 8192;\nof many rows one for each 16, up to 4096 C, and then the tolerance "
        "is "
        "1e-06.\n"
        "moore-em looks for its cells anew in every step, down to --depth, and takes the "
        "posteriors\nat their means: the only one in which F may fall from step to "
        "step. With --balance F\ncontains what clusters cost, and falls where that "
        "changes: price in the trace.\n"
        "incremental-em makes an M-step after each of --blocks parts of the rows; "
        "without "
        "it 25.\n"
        "greedy begins with one cluster and inserts the others where F gains most; its "
        "steps\n"
        "are those of each number of clusters.\n"
        "Without --algorithm the size of the data decides, and the summary says what "
        "was\n"
        "chosen and why. Where no default is shown, the preset or the data decide.\n",
        stream);
    vem_ctx_free(ctx);
}

/* Everything that can be known to be wrong before the data are read. */
static int check_early(cli_args *args, vem_model **start)
{
    const char *init = cli_value(args, "init");
    int code = cli_value(args, "accumulate") ? cli_check_accumulate(args) : CLI_DONE;
    if (cli_value(args, "part") && !cli_value(args, "accumulate")) {
        cli_error("--part numbers what --accumulate writes; without that it has no use.");
        return CLI_USAGE;
    }
    if (code == CLI_DONE)
        code = cli_set_checkpoint(args);
    if (code == CLI_DONE && init)
        code = cli_read_model(args, init, NULL, start);
    if (code != CLI_DONE)
        return code;
    if (*start && args->options.clusters == VEM_AUTO)
        args->options.clusters = vem_model_clusters(*start);
    if (cli_processes() > 1 && cli_value(args, "accumulate")) {
        cli_error("over several processes a model is fitted: --accumulate goes without "
                  "mpirun.");
        return CLI_USAGE;
    }
    if (args->options.clusters == VEM_AUTO && !args->numbers) {
        cli_error("the number of clusters is missing: say it with -k C.");
        return CLI_USAGE;
    }
    if (args->numbers && (init || cli_value(args, "accumulate"))) {
        cli_error(
            "-k %s is several numbers of clusters: --init and --accumulate do not go "
            "with that.",
            args->numbers);
        return CLI_USAGE;
    }
    if (!args->numbers && cli_value(args, "holdout")) {
        cli_error(
            "--holdout compares several numbers of clusters, as in -k 2-40. To hold "
            "rows out of one fit give those rows to vem score.");
        return CLI_USAGE;
    }
    if (!args->numbers && cli_value(args, "picture")) {
        cli_error("--picture compares several numbers of clusters, as in -k 2-40.");
        return CLI_USAGE;
    }
    /* Contradictions among the options do not depend on the data: what few rows and many
     * refuse. */
    vem_options resolved = args->options, asked = args->options;
    if (args->numbers)
        asked.clusters = 2;
    vem_status status =
        vem_options_resolve(args->ctx, &asked, 1000, 2, VEM_FLOAT64, &resolved);
    if (status != VEM_OK)
        status = vem_options_resolve(args->ctx, &asked, INT64_C(1) << 30, 2, VEM_FLOAT64,
                                     &resolved);
    if (status == VEM_OK && args->numbers && args->options.family == VEM_AUTO)
        args->options.family = resolved.family;
    if (status == VEM_OK && args->numbers && args->options.prior == VEM_AUTO)
        args->options.prior = resolved.prior;
    if (status != VEM_OK)
        return cli_failure(args, status);
    if (cli_value(args, "hierarchy") && vem_family_axes(resolved.family) < 0) {
        cli_error("--hierarchy goes by distances, which family %s has none of.",
                  vem_choice_name("family", resolved.family));
        return CLI_USAGE;
    }
    if (cli_value(args, "levels") && !cli_value(args, "hierarchy")) {
        cli_error("--levels says how many levels --hierarchy FILE has; there is no such "
                  "file.");
        return CLI_USAGE;
    }
    int64_t levels = 0;
    return cli_read_levels(args, &levels);
}

/* -k 2-40: a fit of each number, and the one of the least BIC. */
static int sweep(cli_args *args, const vem_select_options *select, const vem_data *data,
                 double seconds_read, double began)
{
    cli_more more;
    const int code = cli_read_more(args, &more);
    if (code != CLI_DONE)
        return code;
    cli_found found = {.method = "sweep", .select = select, .more = &more};
    cli_announce(args, 1);
    const vem_status status = vem_select(args->ctx, data, &args->options, select,
                                         &found.model, &found.path, &found.report);
    const int end = cli_fit_over(args, status, &found, data, seconds_read, began);
    cli_free_more(&more);
    return end;
}

static int fit(cli_args *args, const vem_model *start, const vem_data *data,
               double seconds_read, double began)
{
    cli_found found = {0};
    cli_announce(args, 1);
    const vem_status status =
        vem_fit(args->ctx, data, &args->options, start, &found.model, &found.report);
    return cli_fit_over(args, status, &found, data, seconds_read, began);
}

static int run(cli_args *args)
{
    const double began = cli_clock();
    vem_model *start = NULL;
    vem_data *data = NULL;
    double seconds_read = 0;
    int32_t *numbers = NULL;
    vem_select_options select = {.size = sizeof select, .method = VEM_SELECT_SWEEP};
    int code = check_early(args, &start);
    if (code == CLI_DONE && args->numbers)
        code = cli_read_numbers(args->numbers, &numbers, &select.number_count);
    if (code == CLI_DONE)
        code = cli_read_share(args, "holdout", &select.holdout);
    select.numbers = numbers;
    if (code == CLI_DONE) {
        cli_progress_begin(args);
        code = cli_read_in_time(args, &data, &seconds_read, began);
    }
    if (code == CLI_DONE) {
        code = cli_value(args, "accumulate")
                   ? cli_accumulate(args, start, data, seconds_read, began)
               : args->numbers ? sweep(args, &select, data, seconds_read, began)
                               : fit(args, start, data, seconds_read, began);
        vem_data_free(data);
    }
    vem_model_free(start);
    free(numbers);
    return code;
}

const cli_command cli_fit = {
    .name = "fit",
    .operands = "DATA... -k C -o MODEL.npz",
    .purpose = "fit a mixture to the rows of DATA",
    .details =
        "DATA is .npy, .csv, .tsv, .txt, .fvecs, .bvecs, .fbin, .u8bin, .i8bin,\n"
        ".safetensors (:NAME behind it says which tensor), a coreset .npz (with its\n"
        "weights), for families of counts also sparse .mtx or .npz (scipy's),\n"
        "FILE.h5:/path where the build has HDF5, or - for CSV on standard input;\n"
        ".csv.gz and the like are decompressed. Several files, or a\n"
        "pattern in quotes ('part-*.npy'), are one set of rows in the order given "
        "(sparse\n"
        "counts are one file). The model knows the names of its columns and ids: later\n"
        "commands find them by name.\n"
        "Told is the free energy, which every step raises: the log-likelihood of a row "
        "(in\n"
        "nats) as far as the clusters that count for it explain it. \"each row in up to "
        "3\"\n"
        "are those: the 3 most probable (--held), all others have probability 0 for it.\n"
        "Ctrl-C ends the fit after the current step and writes the model; before the "
        "first\n"
        "step (reading, seeding) there is none, and nothing is written.\n"
        "After --coreset, --measure and --labels look at all rows; what the coreset "
        "itself\n"
        "would say is printed beside. --measure sample looks at as many rows as cost "
        "little\n"
        "beside the fit (1024 to 131072) and says how far off it may be.\n"
        "With several numbers, -k 2-40 or -k 5,10,20, each is fitted from the one before "
        "it\n"
        "by dividing clusters one by one, which takes much longer than fits of these\n"
        "numbers alone (100,200 of 10,000 x 128: 14 s in place of 0.2 s), and a table\n"
        "compares them; the model is the one of the least BIC, the file holds all\n"
        "(vem select --pick K). --holdout 0.2 measures them on rows that were not "
        "fitted.\n"
        "--time SECONDS counts from the start, reading included: the machine is measured "
        "for\n"
        "some milliseconds, then as many rows and steps are taken as fit. The summary "
        "says\n"
        "what was given up; what was asked for by an option is not, but --measure may "
        "look\n"
        "at a sample, and is left out where no time remains. Labels after a coreset are\n"
        "assigned when the fit is over, and take longer.\n"
        "With --checkpoint FILE --resume the same command line may be given again and "
        "again,\n"
        "after a crash or a Ctrl-C, until the fit is done; --max-steps, --threads, "
        "--memory and\n"
        "--measure may be others then.\n"
        "With --init MODEL --accumulate FILE nothing is fitted: the statistics of one\n"
        "E-step are written, and vem merge turns those of all parts of the data into "
        "the\n"
        "next model. Family, prior, held, search (all, closest) and floor count there;\n"
        "options of seeding, stopping and moves have no part in it.\n",
    .examples =
        "  vem fit data.npy -k 100 -o model.npz\n"
        "  vem fit data.csv -k 10 --algorithm gmm --family diag --labels out.csv\n"
        "  vem fit data.npy -k 50 --algorithm kmeans --restarts 10 --measure --json\n"
        "  vem fit data.npy -k 2-40 --family full --holdout 0.2 -o model.npz\n"
        "  vem fit data.npy -k 4096 --time 60 -o model.npz\n"
        "  vem fit data.csv -k 8 --columns 2-5 --standardize -o model.npz\n"
        "  vem fit data.npy -k 9999 -o model.npz --checkpoint state --resume\n"
        "  vem fit data.npy -k 4096 -o model.npz --hierarchy centres.csv\n"
        "  vem fit part1.npy --init model.npz --accumulate stats1.npz --part 1/8\n",
    .own = own,
    .own_count = sizeof own / sizeof *own,
    .files = files,
    .modes = modes,
    .takes_numbers = 1,
    .operand_count = 1,
    .more_help = print_presets,
    .more_operands = 1,
    .run = run,
};
