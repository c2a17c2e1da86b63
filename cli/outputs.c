/* Files that the command line says are written: what can be refused before the work starts
 * is, for every command in the same way. The tables of options say which values are files. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli.h"

/* Which file a path means, so that links and other spellings are seen through. One that is
 * not there yet is told by its directory and its name in it. */
typedef struct identity {
    int known;
    dev_t device;
    ino_t inode;
    const char *name; /* NULL: the file itself is there */
} identity;

/* The directory that a path names a file in. */
static char *directory_of(const char *path)
{
    const char *slash = strrchr(path, '/');
    if (!slash)
        return strdup(".");
    return slash == path ? strdup("/") : strndup(path, (size_t)(slash - path));
}

static identity identify(const char *path)
{
    struct stat facts;
    identity found = {0};
    const char *slash = strrchr(path, '/');
    char *directory = NULL;
    if (stat(path, &facts) != 0) {
        found.name = slash ? slash + 1 : path;
        directory = directory_of(path);
        if (!directory || stat(directory, &facts) != 0) {
            free(directory);
            return found;
        }
    }
    free(directory);
    found.known = 1;
    found.device = facts.st_dev;
    found.inode = facts.st_ino;
    return found;
}

static int is_same(const identity *a, const identity *b)
{
    return a->known && b->known && a->device == b->device && a->inode == b->inode &&
           !a->name == !b->name && (!a->name || strcmp(a->name, b->name) == 0);
}

/* Devices and pipes take what they are given, under any name. */
static int is_device(const char *path)
{
    return strncmp(path, "/dev/", 5) == 0 && strncmp(path, "/dev/shm/", 9) != 0;
}

/* ---- one output ---- */

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

static int check_no_directory(const char *path)
{
    struct stat facts;
    const size_t length = strlen(path);
    if ((length == 0 || path[length - 1] != '/') &&
        !(stat(path, &facts) == 0 && S_ISDIR(facts.st_mode)))
        return CLI_DONE;
    cli_error("%s cannot be written: it is a directory.", path);
    return CLI_FAILED;
}

int cli_check_ending(const char *path, const char *endings)
{
    if (!path || !endings || is_device(path) || has_one_of(path, endings))
        return CLI_DONE;
    cli_error("%s cannot be written: its name must end with %s%s.", path,
              strchr(endings, ' ') ? "one of these: " : ".", endings);
    return CLI_USAGE;
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
        reason = cli_reason(errno);
    else if (!S_ISDIR(facts.st_mode))
        reason = strerror(ENOTDIR);
    else if (access(directory, W_OK | X_OK) != 0)
        reason = cli_reason(errno);
    if (reason)
        cli_error("%s cannot be written: the directory %s: %s.", path, directory, reason);
    free(directory);
    return reason ? CLI_FAILED : CLI_DONE;
}

static int check_writable(const char *path)
{
    struct stat facts;
    if (stat(path, &facts) != 0)
        return check_directory(path);
    if (access(path, W_OK) != 0) {
        cli_error("%s cannot be written: %s.", path, cli_reason(errno));
        return CLI_FAILED;
    }
    if (!S_ISREG(facts.st_mode) || is_device(path))
        return CLI_DONE;
    /* A link is followed to the directory in which the file is replaced. */
    char *target = realpath(path, NULL);
    const int code = check_directory(target ? target : path);
    free(target);
    return code;
}

/* Labels come out under a name that is easily the one of the true classes. */
static int check_replaces_labels(const cli_args *args, const cli_file *file)
{
    struct stat facts;
    const char *path = cli_value(args, file->name);
    if (stat(path, &facts) != 0 || !S_ISREG(facts.st_mode) || facts.st_size == 0 ||
        is_device(path))
        return CLI_DONE;
    if (file->use == CLI_WRITES_LABELS ? vem_file_is_labels(path)
                                       : vem_file_is_classes(path))
        return CLI_DONE;
    cli_error("--%s %s would replace a file that is there and holds no labels as vem %s "
              "writes them: name another file, or remove it first.",
              file->name, path, args->command->name);
    return CLI_USAGE;
}

/* ---- outputs against what is read, and against each other ---- */

static int refuse_input(const char *option, const char *path, const char *input)
{
    const int spelt = strcmp(path, input) == 0;
    cli_error(
        "%s is the input%s%s; it would be overwritten by --%s. Name another output.",
        path, spelt ? "" : " ", spelt ? "" : input, option);
    return CLI_USAGE;
}

/* Is `input` the file that is written? In FILE.h5:/path the file is before the colon. */
static int is_input(const identity *output, const char *input)
{
    identity file;
    struct stat facts;
    if (strcmp(input, "-") == 0) {
        if (fstat(STDIN_FILENO, &facts) != 0 || !S_ISREG(facts.st_mode))
            return 0;
        file = (identity){.known = 1, .device = facts.st_dev, .inode = facts.st_ino};
        return is_same(output, &file);
    }
    file = identify(input);
    int same = !file.name && is_same(output, &file);
    for (const char *colon = input; !same && (colon = strchr(colon, ':')); colon++) {
        char *start = strndup(input, (size_t)(colon - input));
        file = identify(start ? start : "");
        same = !file.name && is_same(output, &file);
        free(start);
    }
    return same;
}

static int check_against(const cli_args *args, const cli_file *written,
                         const identity *output)
{
    const char *path = cli_value(args, written->name);
    struct stat facts;
    if (stat(path, &facts) == 0 && !S_ISREG(facts.st_mode))
        return CLI_DONE; /* a pipe or a device replaces nothing */
    for (int i = 0; i < args->operand_count; i++)
        if (is_input(output, args->operands[i]))
            return refuse_input(written->name, path, args->operands[i]);
    for (const cli_file *file = args->command->files; file->name; file++) {
        const char *other = cli_value(args, file->name);
        if (!other || file == written)
            continue;
        if (file->use == CLI_READS && is_input(output, other))
            return refuse_input(written->name, path, other);
        const identity twin = identify(other);
        if (file < written && file->use != CLI_READS && is_same(output, &twin)) {
            cli_error("--%s and --%s name the same file, %s.", file->name, written->name,
                      path);
            return CLI_USAGE;
        }
    }
    return CLI_DONE;
}

/* As the library says it of files that it opens. */
const char *cli_reason(int error)
{
    return error == ENOENT                     ? "there is no such file or directory"
           : error == EACCES || error == EPERM ? "permission denied"
                                               : strerror(error);
}

/* What is read late should be missed early. FILE.h5:/path is left to its reader. */
int cli_check_readable(const char *path)
{
    if (strcmp(path, "-") == 0 || strchr(path, ':') || access(path, R_OK) == 0)
        return CLI_DONE;
    cli_error("%s could not be opened: %s.", path, cli_reason(errno));
    return CLI_FAILED;
}

/* Is it rather the name of a column that was given in place of a file? */
static int check_truth_file(const char *path)
{
    if (strpbrk(path, "./:-") || access(path, F_OK) == 0)
        return cli_check_readable(path);
    cli_error("%s could not be opened: %s. A column of a file is asked for by --truth "
              "FILE --truth-column %s.",
              path, cli_reason(errno), path);
    return CLI_FAILED;
}

int cli_check_files(const cli_args *args)
{
    for (const cli_file *file = args->command->files; file && file->name; file++) {
        const char *path = cli_value(args, file->name);
        if (!path)
            continue;
        const int truth = strcmp(file->name, "truth") == 0;
        if (file->use == CLI_READS &&
            (truth ? check_truth_file(path) : cli_check_readable(path)) != CLI_DONE)
            return CLI_FAILED;
        if (file->use == CLI_READS)
            continue;
        int code = check_no_directory(path);
        if (code == CLI_DONE)
            code = cli_check_ending(path, file->endings);
        if (code == CLI_DONE)
            code = check_writable(path);
        const identity output = identify(path);
        if (code == CLI_DONE)
            code = check_against(args, file, &output);
        if (code == CLI_DONE && file->use != CLI_WRITES)
            code = check_replaces_labels(args, file);
        if (code != CLI_DONE)
            return code;
    }
    return CLI_DONE;
}
