/* Data and models the command reads. */
#include <string.h>
#include <strings.h>

#include "cli.h"

int cli_has_ending(const char *path, const char *ending)
{
    const size_t length = strlen(path), tail = strlen(ending);
    return length > tail + 1 && path[length - tail - 1] == '.' &&
           strcasecmp(path + length - tail, ending) == 0;
}

int cli_read_data(cli_args *args, const char *path, vem_data **data, double *seconds)
{
    const double start = cli_clock();
    const vem_read_options options = {.size = sizeof options,
                                      .columns = cli_value(args, "columns"),
                                      .id = cli_value(args, "id"),
                                      .weights = cli_value(args, "weights")};
    cli_nothing_to_lose(1);
    const vem_status status = vem_data_read(args->ctx, path, &options, data);
    cli_nothing_to_lose(0);
    if (status != VEM_OK)
        return cli_failure(args, status);
    if (seconds)
        *seconds = cli_clock() - start;
    if (cli_interrupted()) {
        vem_data_free(*data);
        *data = NULL;
        return cli_failure(args, VEM_STOPPED);
    }
    return CLI_DONE;
}

int cli_read_model(cli_args *args, const char *path, const char *data_path,
                   vem_model **model)
{
    /* The likeliest slip deserves its own sentence. */
    if (data_path && strcmp(vem_file_kind(path), "data") == 0 &&
        strcmp(vem_file_kind(data_path), "model") == 0) {
        cli_error("%s is data and %s is a model; the model comes first.", path,
                  data_path);
        return CLI_USAGE;
    }
    const vem_status status = vem_model_read(args->ctx, path, model);
    return status == VEM_OK ? CLI_DONE : cli_failure(args, status);
}

vem_precision cli_precision(const cli_args *args, const vem_data *data)
{
    if (args->options.precision != VEM_AUTO)
        return (vem_precision)args->options.precision;
    const vem_dtype type = vem_data_dtype(data);
    return type == VEM_FLOAT32 || type == VEM_UINT8 ? VEM_SINGLE : VEM_DOUBLE;
}
