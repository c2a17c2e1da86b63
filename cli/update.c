/* vem update MODEL DATA -o NEW.npz: the clusters of a model, brought up to date. */
#include <stdlib.h>
#include <string.h>

#include "cli.h"

#define IO "Input and output"

enum { NAMED = 12 }; /* clusters that the summary names */

static const cli_option own[] = {
    CLI_WEIGHTS_OPTION,
    CLI_READ_OPTIONS,
    CLI_RESULT_OPTIONS(
        IO, "the model, as .npz that numpy.load opens",
        "keep the state of the fit in FILE: every two minutes, and at the end"),
    {"drift", 0, IO, "FILE",
     "how far each cluster moved, and 1 where it has another place (.npy or .csv)"},
    CLI_TALK_OPTIONS(IO),
};

static const cli_file files[] = {
    CLI_RESULT_FILES,
    {"drift", CLI_WRITES, "npy csv csv.gz"},
    {NULL, CLI_READS, NULL},
};

static const char *const shared[] = {"search",  "held",      "reach",     "explore",
                                     "probe",   "margin",    "floor",     "swaps",
                                     "balance", "seed",      "tolerance", "max-steps",
                                     "coreset", "precision", "threads",   "memory",
                                     "time",    "measure",   NULL};

/* ---- drift ---- */

static vem_status write_drift(cli_args *args, const cli_drift *drift, const char *path)
{
    static const char *const names[] = {"distance", "moved"};
    void *table = NULL;
    vem_status status =
        vem_array_new(args->ctx, (size_t)drift->clusters * 2 * sizeof(double), &table);
    if (status != VEM_OK)
        return status;
    for (int32_t c = 0; c < drift->clusters; c++) {
        ((double *)table)[2 * (int64_t)c] = drift->distances[c];
        ((double *)table)[2 * (int64_t)c + 1] = drift->moved[c];
    }
    status = vem_array_write_named(args->ctx, path, VEM_FLOAT64, table, drift->clusters,
                                   2, names);
    vem_array_free(args->ctx, table);
    return status;
}

vem_status cli_write_drift(cli_args *args, const cli_drift *drift)
{
    const char *path = cli_value(args, "drift");
    return drift && path ? write_drift(args, drift, path) : VEM_OK;
}

void cli_drift_json(const cli_drift *drift, json_t *object)
{
    if (!drift)
        return;
    json_t *distances = json_array(), *moved = json_array();
    for (int32_t c = 0; c < drift->clusters; c++) {
        json_array_append_new(distances, cli_json_real(drift->distances[c]));
        if (drift->moved[c])
            json_array_append_new(moved, json_integer(c));
    }
    json_object_set_new(object, "drift", distances);
    json_object_set_new(object, "moved", moved);
}

static int by_size(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

void cli_print_drift(const cli_drift *drift)
{
    char kept[48], moved[48];
    double *stayed = drift ? malloc((size_t)drift->clusters * sizeof *stayed) : NULL;
    int32_t count = 0, named = 0;
    if (!stayed)
        return;
    for (int32_t c = 0; c < drift->clusters; c++)
        if (!drift->moved[c])
            stayed[count++] = drift->distances[c];
    qsort(stayed, (size_t)count, sizeof *stayed, by_size);
    printf("  %-13s %s stayed", "drift", cli_counted(count, "cluster", kept));
    if (count > 0)
        printf(" (moved by %.4g in the median, %.4g at most)", stayed[count / 2],
               stayed[count - 1]);
    free(stayed);
    const int32_t others = drift->clusters - count;
    printf("; %s %s in another place%s", others ? cli_count(others, moved) : "none",
           others > 1 ? "are" : "is", others ? ": " : "");
    for (int32_t c = 0; c < drift->clusters && named < NAMED; c++)
        if (drift->moved[c])
            printf("%s%d", named++ ? ", " : "", (int)c);
    printf("%s\n", others > named ? ", ..." : "");
}

/* ---- the command ---- */

static vem_status new_drift(cli_args *args, const vem_model *before, cli_drift *drift)
{
    void *distances = NULL, *moved = NULL;
    const size_t clusters = (size_t)vem_model_clusters(before);
    vem_status status = vem_array_new(args->ctx, clusters * sizeof(double), &distances);
    if (status == VEM_OK)
        status = vem_array_new(args->ctx, clusters * sizeof(int32_t), &moved);
    *drift = (cli_drift){(int32_t)clusters, distances, moved};
    return status;
}

static int run(cli_args *args)
{
    const double began = cli_clock();
    vem_model *before = NULL;
    vem_data *data = NULL;
    double seconds_read = 0;
    cli_drift drift = {0};
    int code = cli_set_checkpoint(args);
    if (code == CLI_DONE)
        code = cli_read_model(args, args->operands[0], args->operands[1], &before);
    if (code != CLI_DONE)
        return code;
    cli_progress_begin(args);
    code = cli_read_in_time(args, &data, &seconds_read, began);
    if (code == CLI_DONE) {
        cli_found found = {.drift = &drift};
        cli_announce(args, 1);
        vem_status status = new_drift(args, before, &drift);
        if (status == VEM_OK)
            status = vem_update(args->ctx, data, &args->options, before, &found.model,
                                &found.report, drift.distances, drift.moved);
        code = cli_fit_over(args, status, &found, data, seconds_read, began);
    }
    vem_array_free(args->ctx, drift.distances);
    vem_array_free(args->ctx, drift.moved);
    vem_data_free(data);
    vem_model_free(before);
    return code;
}

const cli_command cli_update = {
    .name = "update",
    .operands = "MODEL DATA... -o NEW.npz",
    .purpose = "fit a model again to rows that have changed; clusters keep their numbers",
    .details =
        "The fit begins with the clusters of MODEL, of which none is added or lost. "
        "Those\n"
        "that are empty or hardly needed now move to where rows have become many "
        "(--swaps 0:\n"
        "none does), so that large ones are divided; all others keep their numbers and\n"
        "follow their rows. DATA are all rows that the clusters should be of, old ones\n"
        "that still count among them. The summary says how far the clusters moved and\n"
        "which have another place, --json (drift, moved) and --drift the same of each;\n"
        "distances are in the units of the data. What a list of an index holds is as it\n"
        "was where the cluster stayed, but for rows at its border (vem predict). Say\n"
        "--balance again where clusters should stay even.\n",
    .examples = "  vem update model.npz data.npy -o model2.npz\n"
                "  vem update model.npz 'part-*.npy' -o model2.npz --drift drift.csv\n",
    .own = own,
    .own_count = sizeof own / sizeof *own,
    .files = files,
    .shared = shared,
    .operand_count = 2,
    .more_operands = 1,
    .run = run,
};
