/* A path of mixtures, as JSON and as a table. */
#include <math.h>
#include <stddef.h>
#include <string.h>

#include "cli.h"

json_t *cli_path_json(const vem_path *path)
{
    json_t *list = json_array();
    for (int32_t i = 0; i < vem_path_count(path); i++) {
        const vem_path_point *p = vem_path_at(path, i);
        json_t *row = json_object();
        CLI_JSON_WHOLE(row, p, clusters);
        CLI_JSON_WHOLE(row, p, steps);
        CLI_JSON_WHOLE(row, p, parameters);
        CLI_JSON_REAL(row, p, free_energy);
        CLI_JSON_REAL(row, p, log_likelihood);
        CLI_JSON_REAL(row, p, log_likelihood_se);
        CLI_JSON_REAL(row, p, entropy);
        CLI_JSON_REAL(row, p, aic);
        CLI_JSON_REAL(row, p, bic);
        CLI_JSON_REAL(row, p, icl);
        if (isfinite(p->held_out))
            CLI_JSON_REAL(row, p, held_out);
        if (isfinite(p->seconds))
            CLI_JSON_REAL(row, p, seconds);
        CLI_JSON_REAL(row, p, objective);
        json_array_append_new(list, row);
    }
    return list;
}

/* ---- the choice ---- */

void cli_choice_json(const cli_args *args, const vem_path *path, json_t *object)
{
    vem_path_summary s = {.size = sizeof s};
    if (vem_path_describe(args->ctx, path, &s) != VEM_OK)
        return;
    json_object_set_new(object, "criterion", json_string(s.criterion));
    CLI_JSON_REAL(object, &s, objective);
    CLI_JSON_REAL(object, &s, margin);
    json_object_set_new(object, "next", s.next ? json_integer(s.next) : json_null());
    json_object_set_new(object, "limit", s.limit ? json_integer(s.limit) : json_null());
    if (s.held_out_clusters > 0)
        CLI_JSON_WHOLE(object, &s, held_out_clusters);
}

/* Twice the log of the odds, as Kass and Raftery (1995) put it into words. */
static const char *words_of(double twice)
{
    return twice < 2    ? "undecided between the two"
           : twice < 6  ? "better, not by much"
           : twice < 10 ? "better"
                        : "clearly better";
}

const char *cli_energy_name(const cli_args *args, const vem_path *path, double energy)
{
    vem_path_summary s = {.size = sizeof s};
    int32_t at = 0;
    /* A model that is none of the path had soft steps after it, for its likelihood alone. */
    while (at < vem_path_count(path) && vem_path_at(path, at)->free_energy != energy)
        at++;
    if (at == vem_path_count(path) || vem_path_describe(args->ctx, path, &s) != VEM_OK ||
        s.tested || s.measured)
        return "free energy";
    return s.lower ? "free energy less what parameters cost" : s.criterion;
}

/* A margin says nothing about numbers that were not tried: words of odds are for searches that
 * came to their end below their limit. */
static const char *sure(const vem_path_summary *s, int ended)
{
    return s->floored > 0 ? "that is what --floor makes of clusters with next to no "
                            "variance, and no evidence"
           : ended        ? "the search was ended, and others may be better"
           : s->limit > 0 && s->clusters >= s->limit
               ? "no larger number was tried, and more may be better"
               : words_of(s->lower ? s->margin : 2 * s->margin);
}

static void print_choice(const vem_path_summary *s, int ended)
{
    char a[48], c[48];
    if (s->next == 0)
        return;
    cli_counted(s->next, "cluster", c);
    if (s->margin < 0)
        printf("  %-13s %s would have a %s that is %.4g %s, but --min-clusters forbids "
               "it\n",
               "how sure", c, s->criterion, -s->margin, s->lower ? "lower" : "higher");
    else
        printf("  %-13s %s of %s is %.4g %s than that of %s, the best other one "
               "tried: %s\n",
               "how sure", s->criterion, cli_counted(s->clusters, "cluster", a),
               s->margin, s->lower ? "lower" : "higher", c, sure(s, ended));
}

/* ---- the table ---- */

enum { MOST_LINES = 12, MOST_COLUMNS = 8 };

typedef struct column {
    const char *name;
    size_t at;   /* of the value in a vem_path_point */
    int sampled; /* measured, of a sample where others could not be */
} column;

static double value_of(const vem_path_point *p, const column *c)
{
    double value;
    memcpy(&value, (const char *)p + c->at, sizeof value);
    return value;
}

/* What there is to say: the objective, the criteria, and nothing twice. */
static int choose_columns(const vem_path *path, const vem_path_summary *s,
                          column *columns)
{
    /* Where the objective is one of them, or chose nothing. */
    const int measured = s->measured || s->tested;
    const column all[] = {
        {measured ? "free energy" : s->criterion,
         measured ? offsetof(vem_path_point, free_energy)
                  : offsetof(vem_path_point, objective),
         0},
        {"log-lik.", offsetof(vem_path_point, log_likelihood), 1},
        {"BIC", offsetof(vem_path_point, bic), 1},
        {"AIC", offsetof(vem_path_point, aic), 1},
        {"ICL", offsetof(vem_path_point, icl), 1},
        {"held-out", offsetof(vem_path_point, held_out), 0},
        {"seconds", offsetof(vem_path_point, seconds), 0},
    };
    int count = 0;
    for (size_t k = 0; k < sizeof all / sizeof *all; k++) {
        int known = 0;
        for (int32_t i = 0; i < vem_path_count(path); i++)
            known |= isfinite(value_of(vem_path_at(path, i), &all[k])) != 0;
        if (known && (k == 0 || measured || strcmp(all[k].name, s->criterion) != 0))
            columns[count++] = all[k];
    }
    return count;
}

static void print_line(const vem_path_point *p, const column *columns, int count,
                       const char *chosen)
{
    printf("  %8d", p->clusters);
    for (int k = 0; k < count; k++) {
        const double value = value_of(p, &columns[k]);
        char text[32] = "";
        if (isfinite(value))
            snprintf(text, sizeof text, "%s%.8g",
                     columns[k].sampled && p->log_likelihood_se > 0 ? "~" : "", value);
        printf(" %14s", text);
    }
    if (chosen)
        printf("  chosen by %s", chosen);
    putchar('\n');
}

/* What the marks mean: rows of a sample are the same for all mixtures, not those of the fit. */
static void print_sampled(const vem_path *path, int32_t first, int32_t end)
{
    double most = 0;
    for (int32_t i = first; i < end; i++)
        most = fmax(most, vem_path_at(path, i)->log_likelihood_se);
    if (most > 0)
        printf(
            "  %8s of a sample of the rows, log-lik. within about %.2g: to compare with "
            "each other, not\n  %8s with exact values; vem score of a mixture that "
            "--pick takes is exact\n",
            "~", 2 * most, "");
}

void cli_print_path(const cli_args *args, const vem_path *path, int ended)
{
    vem_path_summary s = {.size = sizeof s};
    column columns[MOST_COLUMNS];
    char a[48];
    if (vem_path_describe(args->ctx, path, &s) != VEM_OK || s.count == 0)
        return;
    print_choice(&s, ended);
    if (s.held_out_clusters > 0 && s.count > 1)
        printf("  %-13s most likely with %s%s\n", "held-out rows",
               cli_counted(s.held_out_clusters, "cluster", a),
               s.held_out_clusters == s.clusters ? ", too" : "; they do not choose");
    const int count = choose_columns(path, &s, columns);
    int32_t first = 0, end = s.count, at = 0;
    while (at < s.count && vem_path_at(path, at)->clusters != s.clusters)
        at++;
    if (s.count > MOST_LINES && !cli_value(args, "verbose")) {
        first = at - MOST_LINES / 2;
        first = first < 0                      ? 0
                : first > s.count - MOST_LINES ? s.count - MOST_LINES
                                               : first;
        end = first + MOST_LINES;
    }
    printf("  %8s", "clusters");
    for (int k = 0; k < count; k++)
        printf(" %14s", columns[k].name);
    putchar('\n');
    for (int32_t i = first; i < end; i++)
        print_line(vem_path_at(path, i), columns, count,
                   i != at    ? NULL
                   : s.tested ? "its test"
                              : s.criterion);
    print_sampled(path, first, end);
    if (end - first < s.count)
        printf("  %8s %d more, from %d to %d clusters: with -v\n", "...",
               s.count - (end - first), vem_path_at(path, 0)->clusters,
               vem_path_at(path, s.count - 1)->clusters);
}
