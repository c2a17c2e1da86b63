/* A path of mixtures, as JSON and as a table. */
#include <math.h>

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
        json_array_append_new(list, row);
    }
    return list;
}

/* A number of the table, or nothing. */
static const char *cell(double value, char text[32])
{
    if (!isfinite(value))
        return "";
    snprintf(text, 32, "%.8g", value);
    return text;
}

void cli_print_path(const vem_path *path)
{
    char a[5][32];
    printf("  %8s %14s %14s %14s %14s %14s\n", "clusters", "free energy", "log-lik.",
           "BIC", "AIC", "ICL");
    for (int32_t i = 0; i < vem_path_count(path); i++) {
        const vem_path_point *p = vem_path_at(path, i);
        printf("  %8d %14s %14s %14s %14s %14s%s\n", p->clusters,
               cell(p->free_energy, a[0]), cell(p->log_likelihood, a[1]),
               cell(p->bic, a[2]), cell(p->aic, a[3]), cell(p->icl, a[4]),
               p->clusters == vem_path_chosen(path) ? "  chosen by BIC" : "");
    }
}
