/* vem merge STATS... -o MODEL.npz */
#include <stdlib.h>
#include <string.h>

#include "cli.h"

#define IO "Input and output"

static const cli_option own[] = {
    {"output", 'o', IO, "FILE", "the next model, as .npz that numpy.load opens"},
    {"expect", 0, IO, "N",
     "how many parts there are: fewer or more are refused (parts numbered with --part "
     "tell "
     "it by themselves)"},
    {"json", 0, IO, NULL, "print what was merged as one JSON object"},
    {"quiet", 'q', IO, NULL, "no summary"},
};

static const cli_file files[] = {
    {"output", CLI_WRITES, "npz"},
    {NULL, CLI_READS, NULL},
};

static const char *const shared[] = {"threads", NULL};

/* The "meta" of the next model. Its own free energy is not known: the next E-step tells. */
static vem_status set_meta(const cli_args *args, const vem_stats *stats, vem_model *model)
{
    vem_stats_summary s = {.size = sizeof s};
    vem_stats_describe(stats, &s);
    json_t *meta = cli_json_begin(args), *step = json_object();
    cli_stats_json(step, stats);
    json_object_set_new(meta, "rows_used", json_integer(s.rows_used));
    json_object_set_new(meta, "steps", json_integer(1));
    json_object_set_new(meta, "outcome",
                        json_string(vem_outcome_name(VEM_OUTCOME_STEP_LIMIT)));
    json_object_set_new(meta, "merged", step);
    return cli_json_into_model(args, meta, model);
}

static int tell(const cli_args *args, const vem_stats *stats)
{
    const char *output = cli_value(args, "output");
    if (cli_value(args, "json")) {
        json_t *o = cli_json_begin(args);
        cli_stats_json(o, stats);
        json_object_set_new(o, "output", cli_json_text(output));
        return cli_json_print(o);
    }
    if (!cli_value(args, "quiet")) {
        vem_stats_summary s = {.size = sizeof s};
        char a[48], b[48];
        vem_stats_describe(stats, &s);
        printf("vem merge: %s, %s; the model they were made with has free energy %.10g "
               "per row; the next one is written to %s\n",
               cli_counted(s.parts, "part", a), cli_counted(s.rows, "row", b),
               s.free_energy, output);
    }
    return CLI_DONE;
}

static int run(cli_args *args)
{
    vem_stats *stats = NULL;
    vem_model *model = NULL;
    if (!cli_value(args, "output")) {
        cli_error("the file to write is missing: name it with -o MODEL.npz.");
        return CLI_USAGE;
    }
    int64_t expected = VEM_AUTO;
    if (cli_read_whole(args, "expect", 1e12, &expected) != CLI_DONE)
        return CLI_USAGE;
    vem_status status = vem_stats_merge(args->ctx, (const char *const *)args->operands,
                                        args->operand_count, &stats);
    if (status == VEM_OK)
        status = vem_stats_expect(args->ctx, stats, expected);
    if (status == VEM_OK)
        status = vem_stats_next(args->ctx, stats, &model);
    if (status == VEM_OK)
        status = set_meta(args, stats, model);
    if (status == VEM_OK)
        status = vem_model_write(args->ctx, model, cli_value(args, "output"));
    const int code = status == VEM_OK ? tell(args, stats) : cli_failure(args, status);
    vem_model_free(model);
    vem_stats_free(stats);
    return code;
}

const cli_command cli_merge = {
    .name = "merge",
    .operands = "STATS... -o MODEL.npz",
    .purpose = "add up statistics of parts and take the next step",
    .details =
        "STATS are files that vem fit --accumulate wrote for disjoint parts of the "
        "data,\n"
        "all with the same model and options. Their sum is that of one E-step over all\n"
        "rows, and the model written is what the M-step makes of it: N parts and a "
        "merge\n"
        "are one step of a fit, to rounding. The order of the files does not matter; a "
        "part\n"
        "that comes twice, also as a copy, is refused, and so is a merge that lacks one "
        "of\n"
        "the parts numbered with fit --part I/N, or has not --expect N of them. The\n"
        "free energy told is that of the model the statistics were made with: stop when\n"
        "it no longer rises.\n",
    .examples =
        "  vem fit part1.npy --init model0.npz --accumulate s1.npz    # on one machine\n"
        "  vem fit part2.npy --init model0.npz --accumulate s2.npz    # on another\n"
        "  vem merge s1.npz s2.npz -o model1.npz --json\n",
    .own = own,
    .own_count = sizeof own / sizeof *own,
    .files = files,
    .shared = shared,
    .operand_count = 1,
    .more_operands = 1,
    .run = run,
};
