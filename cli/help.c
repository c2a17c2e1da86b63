/* Help, made from the library's table of options and the command's own. */
#include <string.h>

#include "cli.h"

enum { COLUMN = 26, WIDTH = 80 };

/* In the order in which they are shown; what names none of them goes into the last. */
static const char *const GROUPS[] = {"Model",  "Prior", "Start",     "Stopping",
                                     "Data",   "Index", "Computing", "Input and output",
                                     "Options"};
enum { GROUPS_COUNT = sizeof GROUPS / sizeof *GROUPS };

static const char *known_group(const char *group)
{
    for (int g = 0; g < GROUPS_COUNT; g++)
        if (strcmp(GROUPS[g], group) == 0)
            return GROUPS[g];
    return GROUPS[GROUPS_COUNT - 1];
}

/* Where an option of the library's table belongs; one that is not named here goes last.
 */
static const char *group_of(const char *name)
{
    static const char *const rows[][2] = {
        {"clusters", "Model"},     {"algorithm", "Model"},
        {"family", "Model"},       {"prior", "Model"},
        {"search", "Model"},       {"held", "Model"},
        {"reach", "Model"},        {"explore", "Model"},
        {"margin", "Model"},       {"floor", "Model"},
        {"empty", "Model"},        {"seeding", "Start"},
        {"chain", "Start"},        {"init-steps", "Start"},
        {"restarts", "Start"},     {"seed", "Start"},
        {"tolerance", "Stopping"}, {"max-steps", "Stopping"},
        {"cells", "Data"},         {"depth", "Data"},
        {"expand", "Data"},        {"gap", "Data"},
        {"blocks", "Data"},        {"tau", "Data"},
        {"coreset", "Data"},       {"standardize", "Data"},
        {"normalize", "Data"},     {"precision", "Computing"},
        {"threads", "Computing"},  {"measure", "Computing"},
        {"memory", "Computing"},   {"time", "Computing"},
        {"probe", "Model"},        {"finish", "Model"},
        {"swaps", "Start"},        {"balance", "Model"},
        {"metric", "Model"}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (strcmp(rows[i][0], name) == 0)
            return rows[i][1];
    return "Options";
}

/* What the command itself says of an option of the table; NULL: nothing. */
static const char *own_meaning(const cli_command *command, const char *name)
{
    for (const char *const *pair = command->meanings; pair && *pair; pair += 2)
        if (strcmp(pair[0], name) == 0)
            return pair[1];
    return NULL;
}

static void describe(const vem_option_info *info, char *text, size_t capacity)
{
    int used = snprintf(text, capacity, "%s", info->help);
    if (used < 0 || (size_t)used >= capacity)
        return;
    text += used;
    capacity -= (size_t)used;
    const int has_default = info->default_value != VEM_AUTO;
    switch (info->kind) {
    case VEM_KIND_CHOICE: {
        const char *word =
            has_default ? vem_choice_name(info->name, (int)info->default_value) : NULL;
        const char *join = "; one of ", *name;
        for (int i = 0; (name = vem_choice_name(info->name, i)); i++, join = ", ") {
            used = snprintf(text, capacity, "%s%s", join, name);
            if ((size_t)used >= capacity)
                return;
            text += used;
            capacity -= (size_t)used;
        }
        if (word)
            snprintf(text, capacity, "; default %s", word);
        break;
    }
    case VEM_KIND_FLAG: break;
    default:
        if (info->choices) { /* words beside numbers */
            used = snprintf(text, capacity, "; %s or", info->choices);
            if (used < 0 || (size_t)used >= capacity)
                return;
            text += used;
            capacity -= (size_t)used;
            snprintf(text, capacity, " %.10g to %.10g", info->low, info->high);
            break;
        }
        /* A bound nobody can meet is noise. */
        used = info->high < 2147483000.0
                   ? snprintf(text, capacity, "; %.10g to %.10g", info->low, info->high)
                   : snprintf(text, capacity, "; at least %.7g", info->low);
        if (has_default && (size_t)used < capacity)
            snprintf(text + used, capacity - (size_t)used, "; default %.7g",
                     info->default_value);
    }
}

/* Values that are words are spelt out where others have a name in capitals. */
static const char *choices_of(const char *argument)
{
    if (!argument || !strchr(argument, '|'))
        return NULL;
    return strpbrk(argument, "ABCDEFGHIJKLMNOPQRSTUVWXYZ") ? NULL : argument;
}

static int is_file(const cli_command *command, const cli_option *own)
{
    for (const cli_file *file = command->files; file && file->name; file++)
        if (strcmp(file->name, own->name) == 0)
            return 1;
    return own->argument &&
           (strstr(own->argument, "FILE") || strcmp(own->argument, "MODEL") == 0);
}

int cli_help_lines(const cli_command *command, cli_help_line *lines, int capacity)
{
    int count = 0;
    for (int g = 0; g < GROUPS_COUNT; g++) {
        for (int i = 0; i < vem_option_count() && count < capacity; i++) {
            const vem_option_info *info = vem_option_at(i);
            if (!cli_takes_shared(command, info->name) ||
                strcmp(group_of(info->name), GROUPS[g]) != 0)
                continue;
            cli_help_line *line = &lines[count++];
            *line = (cli_help_line){.name = info->name,
                                    .argument = info->argument,
                                    .group = GROUPS[g],
                                    .letter = cli_shared_letter(info->name),
                                    .choices = info->choices};
            const char *meaning = own_meaning(command, info->name);
            if (meaning)
                snprintf(line->text, sizeof line->text, "%s", meaning);
            else
                describe(info, line->text, sizeof line->text);
        }
        for (int i = 0; i < command->own_count && count < capacity; i++) {
            const cli_option *own = &command->own[i];
            if (known_group(own->group) != GROUPS[g])
                continue;
            cli_help_line *line = &lines[count++];
            *line = (cli_help_line){.name = own->name,
                                    .argument = own->argument,
                                    .group = GROUPS[g],
                                    .letter = own->letter,
                                    .choices = choices_of(own->argument),
                                    .is_file = is_file(command, own)};
            snprintf(line->text, sizeof line->text, "%s", own->help);
        }
    }
    return count;
}

void cli_wrap(FILE *stream, const char *text, int column, int at, int width)
{
    for (int space = column - at; space > 0; space--)
        fputc(' ', stream);
    at = at < column ? column : at;
    while (*text) {
        const int length = (int)strcspn(text, " ");
        if (at > column && at + 1 + length > width) {
            fprintf(stream, "\n%*s", column, "");
            at = column;
        } else if (at > column) {
            fputc(' ', stream);
            at++;
        }
        fprintf(stream, "%.*s", length, text);
        at += length;
        text += length;
        text += *text == ' ';
    }
    fputc('\n', stream);
}

static void print_line(FILE *stream, const cli_help_line *line)
{
    char left[64];
    char letter[8] = "    ";
    if (line->letter)
        snprintf(letter, sizeof letter, "-%c, ", line->letter);
    int at = snprintf(left, sizeof left, "  %s--%s%s%s", letter, line->name,
                      line->argument ? " " : "", line->argument ? line->argument : "");
    fputs(left, stream);
    if (at + 2 > COLUMN) {
        fputc('\n', stream);
        at = 0;
    }
    cli_wrap(stream, line->text, COLUMN, at, WIDTH);
}

void cli_help_command(FILE *stream, const cli_command *command)
{
    static cli_help_line lines[CLI_MOST_LINES];
    const int count = cli_help_lines(command, lines, CLI_MOST_LINES);
    fprintf(stream, "Usage: vem %s %s [OPTIONS]\n\n%s\n", command->name,
            command->operands, command->purpose);
    if (command->details)
        fprintf(stream, "\n%s", command->details);
    const char *group = "";
    for (int i = 0; i < count; i++) {
        if (strcmp(group, lines[i].group) != 0) {
            group = lines[i].group;
            fprintf(stream, "\n%s:\n", group);
        }
        print_line(stream, &lines[i]);
    }
    if (command->more_help)
        command->more_help(stream);
    if (command->examples)
        fprintf(stream, "\nExamples:\n%s", command->examples);
}

void cli_help_all(FILE *stream)
{
    fputs("vem: clustering as maximisation of one free energy.\n\nUsage:\n", stream);
    for (int i = 0; cli_commands[i]; i++) {
        char left[64];
        const int at = snprintf(left, sizeof left, "  vem %-9s %s", cli_commands[i]->name,
                                cli_commands[i]->operands);
        fputs(left, stream);
        cli_wrap(stream, cli_commands[i]->purpose, 42, at, WIDTH);
    }
    fputs(
        "  vem COMMAND --help                      options of a command, with examples\n"
        "  vem --version, vem --help\n\n"
        "DATA is .npy, .csv, .tsv, .txt, .fvecs, .bvecs, .fbin, .u8bin, .i8bin,\n"
        ".safetensors, a coreset .npz, sparse counts as .mtx or scipy's .npz,\n"
        "FILE.h5:/path where the build has HDF5, or - for CSV on standard input.\n\n"
        "A first try:\n"
        "  vem generate birch-grid -o data.npy --labels truth.npy\n"
        "  vem fit data.npy -k 25 -o model.npz\n"
        "  vem score model.npz data.npy --truth truth.npy\n\n"
        "Exit status: 0 done, 1 failed, 2 wrong usage, 10 more to do (vem step),\n"
        "130 interrupted, 143 terminated.\n",
        stream);
}
