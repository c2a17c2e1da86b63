/* vem fit ... --checkpoint FILE [--resume] */
#include <math.h>
#include <stdlib.h>

#include "cli.h"

/* Seconds between two states, unless VEM_CHECKPOINT_SECONDS says otherwise. */
static const double SECONDS = 120;

static void on_notice(void *user, int warning, const char *sentence)
{
    const cli_args *args = user;
    if (!warning && cli_value(args, "quiet"))
        return;
    cli_progress_end();
    cli_error("%s", sentence);
}

static int read_seconds(double *seconds)
{
    const char *text = getenv("VEM_CHECKPOINT_SECONDS");
    char *end;
    if (!text)
        return CLI_DONE;
    *seconds = strtod(text, &end);
    if (end == text || *end != '\0' || !isfinite(*seconds) || *seconds < 0) {
        cli_error("VEM_CHECKPOINT_SECONDS is \"%s\", but it must be a number of seconds, "
                  "not negative.",
                  text);
        return CLI_USAGE;
    }
    return CLI_DONE;
}

int cli_set_checkpoint(cli_args *args)
{
    const char *path = cli_value(args, "checkpoint");
    if (!path && cli_value(args, "resume")) {
        cli_error(
            "--resume needs the file to go on from: name it with --checkpoint FILE.");
        return CLI_USAGE;
    }
    if (!path)
        return CLI_DONE;
    if (cli_value(args, "accumulate")) {
        cli_error("--checkpoint cannot stand beside --accumulate, which is one step.");
        return CLI_USAGE;
    }
    vem_checkpoint checkpoint = {.size = sizeof checkpoint,
                                 .path = path,
                                 .seconds = SECONDS,
                                 .resume = cli_value(args, "resume") != NULL,
                                 .notice = on_notice,
                                 .user = args};
    const int code = read_seconds(&checkpoint.seconds);
    if (code != CLI_DONE)
        return code;
    const vem_status status = vem_ctx_set_checkpoint(args->ctx, &checkpoint);
    return status == VEM_OK ? CLI_DONE : cli_failure(args, status);
}
