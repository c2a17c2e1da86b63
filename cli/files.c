/* Files the command reads and writes: what can be refused before the work starts is. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli.h"

int cli_has_ending(const char *path, const char *ending)
{
    const size_t length = strlen(path), tail = strlen(ending);
    return length > tail + 1 && path[length - tail - 1] == '.' &&
           strcasecmp(path + length - tail, ending) == 0;
}

static int has_one_of(const char *path, const char *endings)
{
    char list[64];
    snprintf(list, sizeof list, "%s", endings);
    char *rest = NULL;
    for (char *e = strtok_r(list, " ", &rest); e; e = strtok_r(NULL, " ", &rest))
        if (cli_has_ending(path, e))
            return 1;
    return 0;
}

/* The directory that a path names a file in. */
static char *directory_of(const char *path)
{
    const char *slash = strrchr(path, '/');
    if (!slash)
        return strdup(".");
    return slash == path ? strdup("/") : strndup(path, (size_t)(slash - path));
}

static int same_file(const struct stat *a, const char *path)
{
    struct stat b;
    return stat(path, &b) == 0 && a->st_dev == b.st_dev && a->st_ino == b.st_ino;
}

static int check_directory(const char *path)
{
    char *directory = directory_of(path);
    if (!directory) {
        cli_error("memory could not be had.");
        return CLI_FAILED;
    }
    struct stat facts;
    const char *reason = NULL;
    if (stat(directory, &facts) != 0)
        reason = strerror(errno);
    else if (!S_ISDIR(facts.st_mode))
        reason = strerror(ENOTDIR);
    else if (access(directory, W_OK | X_OK) != 0)
        reason = strerror(errno);
    if (reason)
        cli_error("%s cannot be written: the directory %s: %s.", path, directory, reason);
    free(directory);
    return reason ? CLI_FAILED : CLI_DONE;
}

int cli_check_output(const char *path, const char *input, const char *endings)
{
    if (!path)
        return CLI_DONE;
    if (endings && !has_one_of(path, endings)) {
        cli_error("%s cannot be written: its name must end with one of these: %s.", path,
                  endings);
        return CLI_USAGE;
    }
    struct stat facts;
    if (stat(path, &facts) != 0)
        return check_directory(path);
    if (S_ISDIR(facts.st_mode)) {
        cli_error("%s cannot be written: it is a directory.", path);
        return CLI_FAILED;
    }
    if (input && same_file(&facts, input)) {
        cli_error("%s is the input; it would be overwritten. Name another output.", path);
        return CLI_USAGE;
    }
    return S_ISREG(facts.st_mode) ? check_directory(path) : CLI_DONE;
}

int cli_check_distinct(const char *option_a, const char *a, const char *option_b,
                       const char *b)
{
    if (!a || !b || strcmp(a, b) != 0)
        return CLI_DONE;
    cli_error("--%s and --%s name the same file, %s.", option_a, option_b, a);
    return CLI_USAGE;
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
