/* Scripts by which shells complete the words of a command line, made from the same tables as the
 * help: commands, their options, and values where these are words. Where a file is meant the shell
 * completes it by itself; a value that is a number is left alone. */
#include <string.h>

#include "cli.h"

/* The help of an option up to the end of its first clause: a line beside the option. */
static void first_clause(const char *text, char *out, size_t size)
{
    int depth = 0;
    size_t length = 0;
    for (; text[length]; length++) {
        depth += (text[length] == '(') - (text[length] == ')');
        if (depth == 0 && text[length] == ';')
            break;
    }
    snprintf(out, size, "%.*s", (int)length, text);
}

/* Text for a string in single quotes; a sign of `special` gets a backslash. */
static void escape(FILE *stream, const char *text, const char *special,
                   const char *apostrophe)
{
    for (const char *c = text; *c; c++) {
        if (*c == '\'') {
            fputs(apostrophe, stream);
            continue;
        }
        if (strchr(special, *c))
            fputc('\\', stream);
        fputc(*c, stream);
    }
}

/* "a|b|c" as "a b c" */
static void put_words(FILE *stream, const char *choices)
{
    for (const char *c = choices; *c; c++)
        fputc(*c == '|' ? ' ' : *c, stream);
}

static void put_names(FILE *stream, const char *const *names)
{
    for (; *names; names++)
        fprintf(stream, "%s%s", *names, names[1] ? " " : "");
}

static void put_commands(FILE *stream)
{
    for (int i = 0; cli_commands[i]; i++)
        fprintf(stream, "%s%s", i ? " " : "", cli_commands[i]->name);
}

/* ---- bash ---- */

/* The case of an option that takes a value: words, files (nothing said: bash completes them), or
 * nothing that could be known. */
static void put_bash_value(FILE *stream, const cli_help_line *line)
{
    fputs("        ", stream);
    if (line->letter)
        fprintf(stream, "-%c | ", line->letter);
    fprintf(stream, "--%s) ", line->name);
    if (line->choices) { /* what may stand alone may be followed by anything else */
        fputs(line->argument[0] == '[' ? "operands='" : "words='", stream);
        put_words(stream, line->choices);
        fputs("' ;;\n", stream);
    } else {
        fputs(line->is_file ? "return ;;\n" : "_vem_nothing; return ;;\n", stream);
    }
}

static void put_bash_command(FILE *stream, const cli_command *command)
{
    static cli_help_line lines[CLI_MOST_LINES];
    const int count = cli_help_lines(command, lines, CLI_MOST_LINES);
    fprintf(stream, "    %s)\n        options='--help", command->name);
    for (int i = 0; i < count; i++)
        fprintf(stream, " --%s", lines[i].name);
    fputs("'\n", stream);
    if (command->words) {
        fputs("        operands='", stream);
        put_names(stream, command->words);
        fputs("'\n", stream);
    }
    fputs("        case $before in\n", stream);
    for (int i = 0; i < count; i++)
        if (lines[i].argument)
            put_bash_value(stream, &lines[i]);
    fputs("        esac\n        ;;\n", stream);
}

static void complete_bash(FILE *stream)
{
    fputs("# Completion of vem in bash, made by \"vem --completion bash\".\n\n"
          "_vem_nothing() { compopt +o default +o bashdefault 2>/dev/null; }\n\n"
          "_vem()\n{\n"
          "    local current=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD - "
          "1]}\n"
          "    local options='' operands='' words=''\n"
          "    COMPREPLY=()\n"
          "    # --option=value comes as three words\n"
          "    if [ \"$current\" = = ]; then\n"
          "        current=''\n"
          "    elif [ \"$before\" = = ]; then\n"
          "        before=${COMP_WORDS[COMP_CWORD - 2]}\n"
          "    fi\n"
          "    if [ \"$COMP_CWORD\" -eq 1 ]; then\n"
          "        words='",
          stream);
    put_commands(stream);
    fputs(" --help --version'\n"
          "        COMPREPLY=($(compgen -W \"$words\" -- \"$current\"))\n"
          "        return\n    fi\n"
          "    case ${COMP_WORDS[1]} in\n    help | --help)\n        operands='",
          stream);
    put_commands(stream);
    fputs("'\n        ;;\n", stream);
    for (int i = 0; cli_commands[i]; i++)
        put_bash_command(stream, cli_commands[i]);
    fputs("    esac\n"
          "    if [ -z \"$words\" ]; then\n"
          "        case $current in\n"
          "        -*) words=$options ;;\n"
          "        *) words=$operands ;;\n"
          "        esac\n"
          "    fi\n"
          "    COMPREPLY=($(compgen -W \"$words\" -- \"$current\"))\n"
          "}\n\ncomplete -o bashdefault -o default -F _vem vem\n",
          stream);
}

/* ---- zsh ---- */

static void escape_zsh(FILE *stream, const char *text)
{
    escape(stream, text, "\\[]:", "'\\''");
}

static void put_zsh_option(FILE *stream, const cli_help_line *line)
{
    char help[512];
    first_clause(line->text, help, sizeof help);
    fputs("            ", stream);
    if (line->letter)
        fprintf(stream, "'(-%c --%s)'{-%c,--%s}'[", line->letter, line->name,
                line->letter, line->name);
    else
        fprintf(stream, "'--%s[", line->name);
    escape_zsh(stream, help);
    fputc(']', stream);
    if (line->argument) {
        const int alone = line->argument[0] == '[';
        fputs(alone ? "::" : ":", stream);
        escape_zsh(stream, line->choices ? "value" : line->argument);
        if (line->choices) {
            fputs(":(", stream);
            put_words(stream, line->choices);
            fputc(')', stream);
        } else {
            fputs(line->is_file ? ":_files" : ": ", stream);
        }
    }
    fputs("' \\\n", stream);
}

static void complete_zsh(FILE *stream)
{
    static cli_help_line lines[CLI_MOST_LINES];
    fputs(
        "#compdef vem\n# Completion of vem in zsh, made by \"vem --completion zsh\".\n\n"
        "_vem() {\n    local -a commands\n    commands=(\n",
        stream);
    for (int i = 0; cli_commands[i]; i++) {
        fprintf(stream, "        '%s:", cli_commands[i]->name);
        escape_zsh(stream, cli_commands[i]->purpose);
        fputs("'\n", stream);
    }
    fputs("    )\n"
          "    if ((CURRENT == 2)); then\n"
          "        _describe -t commands command commands\n"
          "        _arguments '--help[what there is]' '--version[which it is]'\n"
          "        return\n    fi\n"
          "    local verb=$words[2]\n"
          "    shift words\n    ((CURRENT--))\n"
          "    case $verb in\n"
          "    help | --help) _describe -t commands command commands ;;\n",
          stream);
    for (int i = 0; cli_commands[i]; i++) {
        const cli_command *command = cli_commands[i];
        const int count = cli_help_lines(command, lines, CLI_MOST_LINES);
        fprintf(stream, "    %s)\n        _arguments -s \\\n", command->name);
        fputs("            '(-h --help)'{-h,--help}'[options, with examples]' \\\n",
              stream);
        for (int j = 0; j < count; j++)
            put_zsh_option(stream, &lines[j]);
        if (command->words) {
            fputs("            '1:kind:(", stream);
            put_names(stream, command->words);
            fputs(")' \\\n", stream);
        }
        fputs("            '*:file:_files'\n        ;;\n", stream);
    }
    fputs("    esac\n}\n\n"
          "if [[ $funcstack[1] == _vem ]]; then\n    _vem \"$@\"\nelse\n    compdef _vem "
          "vem\nfi\n",
          stream);
}

/* ---- fish ---- */

static void put_fish_option(FILE *stream, const char *command, const cli_help_line *line)
{
    char help[512];
    first_clause(line->text, help, sizeof help);
    fprintf(stream, "complete -c vem -n '__fish_seen_subcommand_from %s' -l %s", command,
            line->name);
    if (line->letter)
        fprintf(stream, " -s %c", line->letter);
    if (line->choices) {
        fputs(line->argument[0] == '[' ? " -a '" : " -x -a '", stream);
        put_words(stream, line->choices);
        fputc('\'', stream);
    } else if (line->argument) {
        fputs(line->is_file ? " -r" : " -x", stream);
    }
    fputs(" -d '", stream);
    escape(stream, help, "\\", "\\'");
    fputs("'\n", stream);
}

static void complete_fish(FILE *stream)
{
    static cli_help_line lines[CLI_MOST_LINES];
    fputs("# Completion of vem in fish, made by \"vem --completion fish\".\n\n"
          "complete -c vem -n __fish_use_subcommand -f -l help -d 'what there is'\n"
          "complete -c vem -n __fish_use_subcommand -f -l version -d 'which it is'\n"
          "complete -c vem -n '__fish_seen_subcommand_from help' -f -a '",
          stream);
    put_commands(stream);
    fputs("'\n", stream);
    for (int i = 0; cli_commands[i]; i++) {
        const cli_command *command = cli_commands[i];
        const int count = cli_help_lines(command, lines, CLI_MOST_LINES);
        fprintf(stream, "\ncomplete -c vem -n __fish_use_subcommand -f -a %s -d '",
                command->name);
        escape(stream, command->purpose, "\\", "\\'");
        fprintf(stream,
                "'\ncomplete -c vem -n '__fish_seen_subcommand_from %s' -l help -s h -d "
                "'options, with examples'\n",
                command->name);
        if (command->words) {
            fprintf(stream, "complete -c vem -n '__fish_seen_subcommand_from %s' -f -a '",
                    command->name);
            put_names(stream, command->words);
            fputs("'\n", stream);
        }
        for (int j = 0; j < count; j++)
            put_fish_option(stream, command->name, &lines[j]);
    }
}

int cli_complete(FILE *stream, const char *shell)
{
    if (strcmp(shell, "bash") == 0)
        complete_bash(stream);
    else if (strcmp(shell, "zsh") == 0)
        complete_zsh(stream);
    else if (strcmp(shell, "fish") == 0)
        complete_fish(stream);
    else {
        cli_error("--completion is for one of bash, zsh and fish.");
        return CLI_USAGE;
    }
    return CLI_DONE;
}
