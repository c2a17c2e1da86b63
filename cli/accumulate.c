/* vem fit DATA --init MODEL --accumulate FILE, and what statistics say. */
#include "cli.h"

/* --part I/N; without it both are 0. */
static int read_part(const cli_args *args, int64_t *part, int64_t *of)
{
    const char *text = cli_value(args, "part");
    long long numbers[2] = {0, 0};
    int used = 0;
    if (text && (sscanf(text, "%18lld/%18lld%n", &numbers[0], &numbers[1], &used) != 2 ||
                 text[used] != '\0' || numbers[0] < 1 || numbers[1] < numbers[0])) {
        cli_error("--part is %s, but it must say which of how many parts DATA is, as in "
                  "3/8.",
                  text);
        return CLI_USAGE;
    }
    *part = numbers[0];
    *of = numbers[1];
    return CLI_DONE;
}

int cli_check_accumulate(const cli_args *args)
{
    if (!cli_value(args, "init")) {
        cli_error("--accumulate needs a model to make statistics with: name it with "
                  "--init MODEL.");
        return CLI_USAGE;
    }
    int64_t part, of;
    return read_part(args, &part, &of);
}

/* ---- what they say ---- */

void cli_stats_json(json_t *o, const vem_stats *stats)
{
    vem_stats_summary s = {.size = sizeof s};
    vem_stats_describe(stats, &s);
    json_object_set_new(o, "family",
                        cli_json_text(vem_choice_name("family", (int)s.family)));
    json_object_set_new(o, "prior",
                        cli_json_text(vem_choice_name("prior", (int)s.prior)));
    json_object_set_new(o, "search",
                        cli_json_text(vem_choice_name("search", (int)s.search)));
    json_object_set_new(o, "precision",
                        cli_json_text(vem_choice_name("precision", (int)s.precision)));
    json_object_set_new(o, "held", json_integer(s.held));
    json_object_set_new(o, "floor", cli_json_real(s.floor));
    json_object_set_new(o, "clusters", json_integer(s.clusters));
    json_object_set_new(o, "d", json_integer(s.d));
    json_object_set_new(o, "parts", json_integer(s.parts));
    json_object_set_new(o, "rows", json_integer(s.rows));
    json_object_set_new(o, "rows_used", json_integer(s.rows_used));
    json_object_set_new(o, "mass", cli_json_real(s.mass));
    json_object_set_new(o, "free_energy", cli_json_real(s.free_energy));
    json_object_set_new(o, "squared_error", cli_json_real(s.squared_error));
    json_object_set_new(o, "scored_pairs", json_integer(s.pairs));
    json_object_set_new(o, "empty", json_integer(s.empty));
    char fingerprint[20];
    snprintf(fingerprint, sizeof fingerprint, "%016llx",
             (unsigned long long)s.fingerprint);
    json_object_set_new(o, "fingerprint", json_string(fingerprint));
    json_object_set_new(o, "part", s.part > 0 ? json_integer(s.part) : json_null());
    json_object_set_new(o, "of", s.of > 0 ? json_integer(s.of) : json_null());
}

int cli_stats_info(cli_args *args)
{
    vem_stats *stats = NULL;
    const vem_status status = vem_stats_read(args->ctx, args->operands[0], &stats);
    if (status != VEM_OK)
        return cli_failure(args, status);
    int code = CLI_DONE;
    if (cli_value(args, "json")) {
        json_t *o = cli_json_begin(args);
        json_object_set_new(o, "kind", json_string("statistics"));
        cli_stats_json(o, stats);
        code = cli_json_print(o);
    } else {
        vem_stats_summary s = {.size = sizeof s};
        char a[48], b[48], c[48];
        vem_stats_describe(stats, &s);
        printf("%s: statistics (%s) of %s, for %s, %s\n", args->operands[0],
               vem_choice_name("family", (int)s.family), cli_counted(s.rows, "row", a),
               cli_counted(s.clusters, "cluster", b), cli_counted(s.d, "column", c));
        if (s.part > 0)
            printf("  %-12s %lld of %lld\n", "part", (long long)s.part, (long long)s.of);
        printf("  %-12s prior %s, search %s, held %s\n", "made with",
               vem_choice_name("prior", (int)s.prior),
               vem_choice_name("search", (int)s.search), cli_count(s.held, a));
        printf("  %-12s mass %.10g, free energy %.10g per unit of it, squared error "
               "%.10g; %s, %s empty\n",
               "sums", s.mass, s.free_energy, s.squared_error,
               cli_counted(s.parts, "part", a), cli_counted(s.empty, "cluster", b));
    }
    vem_stats_free(stats);
    return code;
}

/* ---- the E-step ---- */

static int print_json(const cli_args *args, const vem_stats *stats, double seconds_read,
                      double seconds_em, double seconds_total)
{
    json_t *o = cli_json_begin(args), *seconds = json_object();
    cli_stats_json(o, stats);
    json_object_set_new(o, "accumulate", cli_json_text(cli_value(args, "accumulate")));
    json_object_set_new(seconds, "read", cli_json_real(seconds_read));
    json_object_set_new(seconds, "em", cli_json_real(seconds_em));
    json_object_set_new(seconds, "total", cli_json_real(seconds_total));
    json_object_set_new(o, "seconds", seconds);
    json_object_set_new(o, "threads", json_integer(vem_ctx_threads(args->ctx)));
    return cli_json_print(o);
}

int cli_accumulate(cli_args *args, const vem_model *model, const vem_data *data,
                   double seconds_read, double began)
{
    const char *path = cli_value(args, "accumulate");
    const double start = cli_clock();
    vem_stats *stats = NULL;
    vem_status status = vem_accumulate(args->ctx, model, data, &args->options, &stats);
    cli_progress_end();
    const double seconds = cli_clock() - start;
    int64_t part = 0, of = 0;
    read_part(args, &part, &of);
    if (status == VEM_OK && of > 0)
        status = vem_stats_set_part(args->ctx, stats, part, of);
    if (status == VEM_OK)
        status = vem_stats_write(args->ctx, stats, path);
    int code = CLI_DONE;
    if (status != VEM_OK) {
        code = cli_failure(args, status);
    } else if (cli_value(args, "json")) {
        code = print_json(args, stats, seconds_read, seconds, cli_clock() - began);
    } else if (!cli_value(args, "quiet")) {
        vem_stats_summary s = {.size = sizeof s};
        char a[48], b[32], name[256];
        vem_stats_describe(stats, &s);
        printf("vem fit %s: statistics of %s, free energy %.10g per row; %s s; "
               "written to %s\n",
               cli_data_name(args, args->operands[0], name),
               cli_counted(s.rows, "row", a), s.free_energy,
               cli_seconds(cli_clock() - began, b), path);
    }
    vem_stats_free(stats);
    return code;
}
