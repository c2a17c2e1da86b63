/* Words of the command line -> options. The library's table and the command's own table
 * are searched as one; values of the former are checked by the library against their
 * bounds. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli.h"

typedef struct found {
    int own;                       /* index in the command's table, or -1 */
    const vem_option_info *shared; /* row of the library's table, or NULL */
    int row;                       /* its index there */
    int is_flag;
    int may_be_alone; /* its argument is in brackets: it may be left out */
} found;

char cli_shared_letter(const char *name)
{
    return strcmp(name, "clusters") == 0 ? 'k' : 0;
}

static int is_among(const char *name, const char *const *names)
{
    for (; names && *names; names++)
        if (strcmp(*names, name) == 0)
            return 1;
    return 0;
}

int cli_takes_shared(const cli_command *command, const char *name)
{
    return !command->shared || is_among(name, command->shared);
}

static int find_option(const cli_command *command, const char *name, char letter,
                       found *option)
{
    for (int i = 0; i < command->own_count; i++) {
        const cli_option *own = &command->own[i];
        if (name ? strcmp(own->name, name) == 0 : own->letter == letter) {
            *option = (found){.own = i, .is_flag = !own->argument};
            return 1;
        }
    }
    for (int i = 0; i < vem_option_count(); i++) {
        const vem_option_info *info = vem_option_at(i);
        if (!cli_takes_shared(command, info->name))
            continue;
        if (name ? strcmp(info->name, name) == 0
                 : cli_shared_letter(info->name) == letter) {
            *option = (found){.own = -1,
                              .shared = info,
                              .row = i,
                              .is_flag = info->kind == VEM_KIND_FLAG,
                              .may_be_alone = info->argument && *info->argument == '['};
            return 1;
        }
    }
    return 0;
}

static int unknown_option(const cli_command *command, const char *name)
{
    enum { MOST = CLI_MOST_OPTIONS + 128 };
    const char *names[MOST];
    int count = 0;
    for (const char *const *pair = command->former; pair && *pair; pair += 2)
        if (strcmp(pair[0], name) == 0) {
            cli_error("vem %s has no option --%s any more: say --%s.", command->name,
                      name, pair[1]);
            return CLI_USAGE;
        }
    names[count++] = "help";
    for (int i = 0; i < command->own_count; i++)
        names[count++] = command->own[i].name;
    for (int i = 0; i < vem_option_count() && count < MOST; i++)
        if (cli_takes_shared(command, vem_option_at(i)->name))
            names[count++] = vem_option_at(i)->name;
    char hint[128], help[128];
    snprintf(help, sizeof help, "; \"vem %s --help\" lists them.", command->name);
    cli_error("there is no option --%s%s", name,
              vem_name_hint(name, names, count, "--", help, hint));
    return CLI_USAGE;
}

/* Lists of columns grow; of other options the last counts. */
static int may_be_repeated(const char *name)
{
    return strcmp(name, "id") == 0 || strcmp(name, "columns") == 0;
}

static int join(cli_args *args, int own, const char *value)
{
    const size_t size = strlen(args->values[own]) + strlen(value) + 2;
    char *both = malloc(size);
    if (!both) {
        cli_error("memory could not be had.");
        return CLI_FAILED;
    }
    snprintf(both, size, "%s,%s", args->values[own], value);
    free(args->joined[own]);
    args->values[own] = args->joined[own] = both;
    return CLI_DONE;
}

static int set_value(cli_args *args, const found *option, const char *value)
{
    if (option->shared) {
        if (!value) /* what stands alone is set */
            value = option->is_flag ? "1" : vem_choice_name(option->shared->name, 1);
        args->given[option->row] = 1;
        if (args->command->takes_numbers &&
            strcmp(option->shared->name, "clusters") == 0 && *value &&
            strpbrk(value + 1, ",-:. ")) { /* several: whoever runs it reads them */
            args->numbers = value;
            return CLI_DONE;
        }
        args->numbers =
            strcmp(option->shared->name, "clusters") == 0 ? NULL : args->numbers;
        const vem_status status =
            vem_options_set(args->ctx, &args->options, option->shared->name, value);
        return status == VEM_OK ? CLI_DONE : cli_failure(args, status);
    }
    const cli_option *own = &args->command->own[option->own];
    if (option->is_flag && value) {
        cli_error("--%s takes no value, but \"%s\" was given.", own->name, value);
        return CLI_USAGE;
    }
    if (value && *value == '\0') {
        cli_error("the value of --%s is empty.", own->name);
        return CLI_USAGE;
    }
    if (args->values[option->own] && value && may_be_repeated(own->name))
        return join(args, option->own, value);
    args->values[option->own] = value ? value : "";
    return CLI_DONE;
}

/* The word after an option. Another long option there means that the value was forgotten.
 */
static const char *next_value(int count, char **words, int *place)
{
    if (*place + 1 >= count || strncmp(words[*place + 1], "--", 2) == 0)
        return NULL;
    return words[++*place];
}

enum { MOST_CHOICES = 16 };

/* Where the value may be left out, the next word is one only if it is a choice: it may as
 * well be the data. */
static const char *next_choice(const found *option, int count, char **words, int *place)
{
    const char *name;
    if (*place + 1 >= count)
        return NULL;
    for (int i = 0; (name = vem_choice_name(option->shared->name, i)); i++)
        if (strcmp(name, words[*place + 1]) == 0)
            return words[++*place];
    /* A mistyped one is no file: the library says what it should have been. */
    const char *names[MOST_CHOICES];
    int choices = 0;
    while (choices < MOST_CHOICES &&
           (names[choices] = vem_choice_name(option->shared->name, choices)))
        choices++;
    const char *word = words[*place + 1];
    if (*word != '-' && vem_name_nearest(word, names, choices) && access(word, F_OK) != 0)
        return words[++*place];
    return NULL;
}

static int parse_long(cli_args *args, int count, char **words, int *place)
{
    char name[64];
    const char *word = words[*place] + 2, *equals = strchr(word, '=');
    const size_t length = equals ? (size_t)(equals - word) : strlen(word);
    snprintf(name, sizeof name, "%.*s", (int)(length < 63 ? length : 63), word);
    if (strcmp(name, "help") == 0) {
        args->wants_help = 1;
        return CLI_DONE;
    }
    found option;
    if (!find_option(args->command, name, 0, &option))
        return unknown_option(args->command, name);
    const char *value = equals ? equals + 1 : NULL;
    if (!value && option.may_be_alone) {
        value = next_choice(&option, count, words, place);
    } else if (!value && !option.is_flag && !(value = next_value(count, words, place))) {
        cli_error("--%s needs a value.", name);
        return CLI_USAGE;
    }
    return set_value(args, &option, value);
}

/* -k 5, -k5, and flags in one word as in -qv. */
static int parse_short(cli_args *args, int count, char **words, int *place)
{
    for (const char *letter = words[*place] + 1; *letter; letter++) {
        if (*letter == 'h') {
            args->wants_help = 1;
            return CLI_DONE;
        }
        found option;
        if (!find_option(args->command, NULL, *letter, &option)) {
            if (*letter == 'k' && args->command == &cli_select)
                cli_error("there is no option -k: --max-clusters limits the search, "
                          "--pick K takes a mixture that it has found, and vem fit -k K "
                          "fits so many clusters.");
            else
                cli_error("there is no option -%c; \"vem %s --help\" lists them.",
                          *letter, args->command->name);
            return CLI_USAGE;
        }
        const char *value = NULL;
        if (!option.is_flag) {
            value = letter[1] ? letter + 1 : next_value(count, words, place);
            if (!value) {
                cli_error("-%c needs a value.", *letter);
                return CLI_USAGE;
            }
        }
        const int code = set_value(args, &option, value);
        if (code != CLI_DONE || value)
            return code;
    }
    return CLI_DONE;
}

const char *cli_value(const cli_args *args, const char *name)
{
    for (int i = 0; i < args->command->own_count; i++)
        if (strcmp(args->command->own[i].name, name) == 0)
            return args->values[i];
    return NULL;
}

static int check_beside(const cli_mode *mode, const char *name)
{
    const int stands =
        strcmp(name, mode->option) == 0 ||
        (mode->taken ? is_among(name, mode->taken) : !is_among(name, mode->refused));
    if (stands)
        return CLI_DONE;
    cli_error("--%s cannot stand beside --%s, which %s.", name, mode->option, mode->why);
    return CLI_USAGE;
}

int cli_check_mode(const cli_args *args, const cli_mode *mode)
{
    const cli_command *command = args->command;
    int code = CLI_DONE;
    for (int i = 0; code == CLI_DONE && i < command->own_count; i++)
        if (args->values[i])
            code = check_beside(mode, command->own[i].name);
    for (int i = 0; code == CLI_DONE && i < CLI_SHARED_OPTIONS; i++)
        if (args->given[i])
            code = check_beside(mode, vem_option_at(i)->name);
    return code;
}

static int check_modes(const cli_args *args)
{
    int code = CLI_DONE;
    const cli_mode *mode = args->command->modes;
    for (; code == CLI_DONE && mode && mode->option; mode++)
        if (cli_value(args, mode->option))
            code = cli_check_mode(args, mode);
    return code;
}

int cli_parse(cli_args *args, int count, char **words)
{
    const cli_command *command = args->command;
    int only_operands = 0;
    args->operands = words;
    for (int i = 0; i < count; i++) {
        const char *word = words[i];
        int code = CLI_DONE;
        if (!only_operands && strcmp(word, "--") == 0) {
            only_operands = 1;
        } else if (!only_operands && strncmp(word, "--", 2) == 0) {
            code = parse_long(args, count, words, &i);
        } else if (!only_operands && word[0] == '-' && word[1] != '\0') {
            code = parse_short(args, count, words, &i);
        } else if (args->operand_count == command->operand_count &&
                   !command->more_operands) {
            cli_error("\"%s\" is one word too many; usage: vem %s %s [OPTIONS].", word,
                      command->name, command->operands);
            code = CLI_USAGE;
        } else {
            args->operands[args->operand_count++] = words[i]; /* never beyond word i */
        }
        if (code != CLI_DONE)
            return code;
        if (args->wants_help)
            return CLI_DONE;
    }
    if (args->operand_count < command->operand_count) {
        const char *missing = command->operands;
        for (int i = 0; i < args->operand_count; i++)
            missing += strcspn(missing, " ") + 1;
        const int length = (int)strcspn(missing, " .");
        cli_error("%.*s is missing; usage: vem %s %s [OPTIONS].", length, missing,
                  command->name, command->operands);
        return CLI_USAGE;
    }
    return check_modes(args);
}

/* 1000000, or 1e6. */
static int whole_number(const char *text, double high, int64_t *value)
{
    char *end;
    errno = 0;
    const long long digits = strtoll(text, &end, 10);
    if (end != text && *end == '\0') {
        *value = digits;
        return errno != ERANGE && digits >= 1 && (double)digits <= high;
    }
    const double number = strtod(text, &end);
    if (end == text || *end != '\0' || !(number >= 1 && number <= high) ||
        number != floor(number))
        return 0;
    *value = (int64_t)number;
    return 1;
}

/* "-n (--rows)", or "--top" where there is no letter. */
static const char *both_names(const cli_args *args, const char *name,
                              char text[static 64])
{
    found option;
    char letter = 0;
    if (find_option(args->command, name, 0, &option))
        letter = option.own >= 0 ? args->command->own[option.own].letter
                                 : cli_shared_letter(name);
    if (letter)
        snprintf(text, 64, "-%c (--%s)", letter, name);
    else
        snprintf(text, 64, "--%s", name);
    return text;
}

static int read_whole(const cli_args *args, const char *name, double high,
                      const char *otherwise, int64_t *value)
{
    const char *text = cli_value(args, name);
    if (!text)
        return CLI_DONE;
    int64_t number;
    if (!whole_number(text, high, &number)) {
        char both[64];
        cli_error("%s is %s, but it must be a whole number between 1 and %.10g%s.",
                  both_names(args, name, both), text, high, otherwise);
        return CLI_USAGE;
    }
    *value = number;
    return CLI_DONE;
}

int cli_read_whole(const cli_args *args, const char *name, double high, int64_t *value)
{
    return read_whole(args, name, high, "", value);
}

int cli_read_whole_or_all(const cli_args *args, const char *name, double high,
                          int64_t all, int64_t *value)
{
    const char *text = cli_value(args, name);
    if (!text || strcmp(text, "all") != 0)
        return read_whole(args, name, high, ", or all", value);
    *value = all;
    return CLI_DONE;
}

int cli_read_choice(const char *what, const char *text, const char *const *names,
                    int count, int *value)
{
    char list[256] = "";
    for (int i = 0; i < count; i++) {
        if (strcmp(names[i], text) == 0) {
            *value = i;
            return CLI_DONE;
        }
        const size_t used = strlen(list);
        snprintf(list + used, sizeof list - used, "%s%s", i ? "|" : "", names[i]);
    }
    char hint[128];
    cli_error("%s is \"%s\", but it must be one of %s%s", what, text, list,
              vem_name_hint(text, names, count, "", ".", hint));
    return CLI_USAGE;
}
