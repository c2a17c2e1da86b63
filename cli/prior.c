/* The options of a conjugate prior: numbers, lists of numbers, or files of them. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"

const char *const cli_prior_names[] = {"prior-mean",  "prior-strength", "prior-dof",
                                       "prior-scale", "prior-count",    NULL};

const char *cli_prior_given(const cli_args *args)
{
    for (int i = 0; cli_prior_names[i]; i++)
        if (cli_value(args, cli_prior_names[i]))
            return cli_prior_names[i];
    return NULL;
}

static int read_number(const cli_args *args, const char *name, double *value)
{
    const char *text = cli_value(args, name);
    char *end;
    if (!text)
        return CLI_DONE;
    *value = strtod(text, &end);
    if (end != text && *end == '\0' && *value > 0 && isfinite(*value))
        return CLI_DONE;
    cli_error("--%s is %s, but it must be a positive number.", name, text);
    return CLI_USAGE;
}

/* "1.5,2,3"; 0: it is no such list. */
static int64_t parse_list(const char *text, double **values)
{
    int64_t count = 1;
    for (const char *at = text; *at; at++)
        count += *at == ',';
    double *made = malloc((size_t)count * sizeof *made);
    const char *at = text;
    for (int64_t k = 0; made && k < count; k++) {
        char *end;
        made[k] = strtod(at, &end);
        if (end == at || (*end != '\0' && *end != ',')) {
            free(made);
            return 0;
        }
        at = end + 1;
    }
    *values = made;
    return made ? count : 0;
}

static int read_values(cli_args *args, const char *name, double **values, int64_t *count)
{
    const char *text = cli_value(args, name);
    vem_data *data = NULL;
    if (!text)
        return CLI_DONE;
    *count = parse_list(text, values);
    if (*count > 0)
        return CLI_DONE;
    const vem_read_options plain = {.size = sizeof plain};
    vem_status status = vem_data_read(args->ctx, text, &plain, &data);
    if (status == VEM_OK) {
        const int64_t rows = vem_data_rows(data);
        *count = rows * vem_data_columns(data);
        *values = malloc((size_t)*count * sizeof **values);
        status =
            *values ? vem_data_get(args->ctx, data, 0, rows, *values) : VEM_NO_MEMORY;
    }
    vem_data_free(data);
    return status == VEM_OK ? CLI_DONE : cli_failure(args, status);
}

int cli_read_prior(cli_args *args, cli_prior *prior)
{
    vem_prior_options *o = &prior->options;
    *o = (vem_prior_options){.size = sizeof *o};
    int code = read_number(args, "prior-strength", &o->strength);
    if (code == CLI_DONE)
        code = read_number(args, "prior-dof", &o->dof);
    if (code == CLI_DONE)
        code = read_number(args, "prior-count", &o->count);
    if (code == CLI_DONE)
        code = read_values(args, "prior-mean", &prior->mean, &o->mean_values);
    if (code == CLI_DONE)
        code = read_values(args, "prior-scale", &prior->scale, &o->scale_values);
    o->mean = prior->mean;
    o->scale = prior->scale;
    return code;
}

int cli_check_prior(const cli_prior *prior, const vem_data *data)
{
    const long long values = prior->options.mean_values;
    if (!prior->mean || values == vem_data_columns(data))
        return CLI_DONE;
    cli_error("--prior-mean has %lld values, but the data have %d columns.", values,
              vem_data_columns(data));
    return CLI_USAGE;
}

void cli_free_prior(cli_prior *prior)
{
    free(prior->mean);
    free(prior->scale);
    prior->mean = prior->scale = NULL;
}
