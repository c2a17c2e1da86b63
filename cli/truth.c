/* Classes of rows that are known before: --truth and --truth-column. */
#include <stdlib.h>

#include "cli.h"

int cli_check_truth(const cli_args *args)
{
    if (!cli_value(args, "truth-column") || cli_value(args, "truth"))
        return CLI_DONE;
    cli_error("--truth-column says which column of --truth FILE holds the classes, but "
              "there is no --truth.");
    return CLI_USAGE;
}

int cli_read_truth(const cli_args *args, const vem_data *data, int64_t rows,
                   cli_truth *truth)
{
    const char *path = cli_value(args, "truth");
    int64_t count = 0;
    if (!path)
        return CLI_DONE;
    const vem_status status =
        vem_classes_read_column(args->ctx, path, rows, cli_value(args, "truth-column"),
                                &truth->classes, &count, &truth->column);
    if (status != VEM_OK)
        return cli_failure(args, status);
    if (count != rows) {
        cli_error("%s has %lld labels, but there are %lld rows.", path, (long long)count,
                  (long long)rows);
        return CLI_FAILED;
    }
    for (int64_t i = 0; data && i < vem_data_rows(data); i++)
        truth->classes[i] = truth->classes[vem_data_row(data, i)];
    return CLI_DONE;
}

void cli_truth_free(cli_truth *truth)
{
    free(truth->classes);
    free(truth->column);
    *truth = (cli_truth){0};
}
