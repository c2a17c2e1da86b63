/* The man page, made from the same tables as the help: docs/vem.1 is what `vem --man`
 * prints, and a test compares the two. */
#include <string.h>

#include "cli.h"

/* Text for roff: '-' that is typed stays '-', and a line cannot start a request. */
static void put(FILE *stream, const char *text)
{
    for (const char *c = text; *c; c++) {
        const int starts_line = c == text || c[-1] == '\n';
        if (starts_line && (*c == '.' || *c == '\''))
            fputs("\\&", stream);
        if (*c == '-')
            fputs("\\-", stream);
        else if (*c == '\\')
            fputs("\\e", stream);
        else
            fputc(*c, stream);
    }
}

static void put_option(FILE *stream, const cli_help_line *line)
{
    fputs(".TP\n.B ", stream);
    if (line->letter)
        fprintf(stream, "\\-%c, ", line->letter);
    fputs("\\-\\-", stream);
    put(stream, line->name);
    if (line->argument) {
        fputs(" \\fI", stream);
        put(stream, line->argument);
        fputs("\\fR", stream);
    }
    fputc('\n', stream);
    put(stream, line->text);
    fputs(".\n", stream);
}

static void put_verbatim(FILE *stream, const char *text)
{
    fputs(".PP\n.nf\n", stream);
    put(stream, text);
    fputs(".fi\n", stream);
}

static void put_command(FILE *stream, const cli_command *command)
{
    enum { MOST = 160 };
    static cli_help_line lines[MOST];
    const int count = cli_help_lines(command, lines, MOST);
    fprintf(stream, ".SH VEM %s\n.B vem %s\n", command->name, command->name);
    put(stream, command->operands);
    fputs(" [OPTIONS]\n.PP\n", stream);
    put(stream, command->purpose);
    fputc('\n', stream);
    if (command->details)
        put_verbatim(stream, command->details);
    const char *group = "";
    for (int i = 0; i < count; i++) {
        if (strcmp(group, lines[i].group) != 0) {
            group = lines[i].group;
            fprintf(stream, ".SS %s\n", group);
        }
        put_option(stream, &lines[i]);
    }
    if (command->examples) {
        fputs(".SS Examples\n", stream);
        put_verbatim(stream, command->examples);
    }
}

void cli_man_page(FILE *stream)
{
    fprintf(stream,
            ".\\\" Made by \"vem \\-\\-man\"; edit the tables of options instead.\n"
            ".TH VEM 1 \"\" \"vem %s\" \"User Commands\"\n"
            ".SH NAME\nvem \\- clustering as maximisation of one free energy\n"
            ".SH SYNOPSIS\n",
            vem_version());
    for (int i = 0; cli_commands[i]; i++) {
        fprintf(stream, "%s.B vem %s\n", i ? ".br\n" : "", cli_commands[i]->name);
        put(stream, cli_commands[i]->operands);
        fputs(" [OPTIONS]\n", stream);
    }
    fputs(
        ".SH DESCRIPTION\n"
        "Fits mixtures of Gaussians, k\\-means among them, by variational EM; every step "
        "raises one number, the free energy.\n"
        "DATA is .npy, .csv, .tsv, .txt, .fvecs, .bvecs, .fbin, .u8bin, a coreset .npz, "
        "FILE.h5:/path "
        "where the build has HDF5, or \\- for CSV on standard input.\n"
        "A model is an .npz file that numpy.load opens. Every file is written whole or "
        "not at all.\n"
        ".PP\nWhere no default is shown, the preset or the size of the data decide.\n",
        stream);
    for (int i = 0; cli_commands[i]; i++)
        put_command(stream, cli_commands[i]);
    fputs(
        ".SH ENVIRONMENT\n.TP\n.B VEM_CPU\n"
        "Instruction set of the kernels: baseline, avx2, avx512, neon or reference. "
        "Chosen by the processor when it is not set.\n"
        ".TP\n.B VEM_CHECKPOINT_SECONDS\n"
        "Seconds between two states that \\-\\-checkpoint writes, 120 when it is not "
        "set; 0: before every step.\n"
        ".SH EXIT STATUS\n0 done, 1 failed, 2 wrong usage, 130 interrupted. Ctrl\\-C "
        "during a fit ends it after the current step and writes the model, and the state "
        "with \\-\\-checkpoint; a second Ctrl\\-C ends at once.\n",
        stream);
}
