/* What vem describe found, between the file that finds it and the one that prints it. */
#ifndef VEM_CLI_DESCRIBE_H
#define VEM_CLI_DESCRIBE_H

#include "cli.h"

typedef struct cli_merge_pair {
    int32_t a, b;
    double common; /* 0 to 1 */
} cli_merge_pair;

/* Pairs with less in common are no candidates for a merge. */
#define CLI_LEAST_IN_COMMON 0.05

typedef struct cli_findings {
    const char *model_path, *data_path;
    char names[256]; /* what data_name may point at */
    const char *data_name;
    vem_model *model;
    vem_data *data;        /* NULL: none */
    vem_cluster *clusters; /* C */
    int32_t *order;        /* C: largest first */
    vem_description about;
    cli_merge_pair *merges; /* most in common first */
    int32_t merge_count;
    int64_t first; /* how many clusters are shown */
} cli_findings;

void cli_describe_words(const cli_findings *findings);
int cli_describe_json(const cli_args *args, const cli_findings *findings);
int cli_describe_csv(cli_args *args, const cli_findings *findings);

#endif
