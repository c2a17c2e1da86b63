/* Manual pages, made from the same tables as the help: docs/vem.1 is what `vem --man`
 * prints, and a test compares the two; those of single commands (`vem --man fit`) are made when
 * they are installed. */
#include <ctype.h>
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

static void put_options(FILE *stream, const cli_command *command)
{
    static cli_help_line lines[CLI_MOST_LINES];
    const int count = cli_help_lines(command, lines, CLI_MOST_LINES);
    const char *group = "";
    for (int i = 0; i < count; i++) {
        if (strcmp(group, lines[i].group) != 0) {
            group = lines[i].group;
            fprintf(stream, ".SS %s\n", group);
        }
        put_option(stream, &lines[i]);
    }
}

static void put_usage(FILE *stream, const cli_command *command)
{
    fprintf(stream, ".B vem %s\n", command->name);
    put(stream, command->operands);
    fputs(" [OPTIONS]\n", stream);
}

static void put_command(FILE *stream, const cli_command *command)
{
    fprintf(stream, ".SH VEM %s\n", command->name);
    put_usage(stream, command);
    fputs(".PP\n", stream);
    put(stream, command->purpose);
    fputc('\n', stream);
    if (command->details)
        put_verbatim(stream, command->details);
    put_options(stream, command);
    if (command->examples) {
        fputs(".SS Examples\n", stream);
        put_verbatim(stream, command->examples);
    }
}

static void put_head(FILE *stream, const char *title, const char *made_by)
{
    fprintf(stream,
            ".\\\" Made by \"vem \\-\\-man%s\"; edit the tables of options instead.\n"
            ".TH %s 1 \"\" \"vem %s\" \"User Commands\"\n.SH NAME\n",
            made_by, title, vem_version());
}

static void put_data(FILE *stream)
{
    fputs("DATA is .npy, .csv, .tsv, .txt, .fvecs, .bvecs, .fbin, .u8bin, .i8bin, "
          ".safetensors (FILE.safetensors:NAME: that tensor), each also with .gz behind "
          "it, a coreset .npz, sparse counts as .mtx or scipy's .npz, FILE.h5:/path "
          "where the build has HDF5, or \\- for CSV on standard input.\n"
          "A model is an .npz file that numpy.load opens. Every file is written whole or "
          "not at all.\n"
          ".PP\nWhere no default is shown, the preset or the size of the data decide.\n",
          stream);
}

static void put_end(FILE *stream)
{
    fputs(
        ".SH ENVIRONMENT\n.TP\n.B VEM_CPU\n"
        "Instruction set of the kernels: baseline, avx2, avx512, neon or reference. "
        "Chosen by the processor when it is not set.\n"
        ".TP\n.B VEM_CHECKPOINT_SECONDS\n"
        "Seconds between two states that \\-\\-checkpoint writes, 120 when it is not "
        "set; 0: before every step.\n"
        ".SH EXIT STATUS\n0 done, 1 failed, 2 wrong usage, 10 more to do (vem step), 130 "
        "interrupted, 143 terminated. Ctrl\\-C "
        "during a fit ends it after the current step and writes the model, and the state "
        "with \\-\\-checkpoint; a second Ctrl\\-C ends at once.\n",
        stream);
}

/* The other pages; `own` is the one that refers to them. */
static void put_also(FILE *stream, const cli_command *own)
{
    fputs(".SH SEE ALSO\n", stream);
    if (own)
        fputs(".BR vem (1),\n", stream);
    for (int i = 0; cli_commands[i]; i++)
        if (cli_commands[i] != own)
            fprintf(stream, ".BR vem\\-%s (1),\n", cli_commands[i]->name);
    fputs(".BR libvem (3)\n", stream);
}

void cli_man_command(FILE *stream, const cli_command *command)
{
    char title[64] = "VEM\\-", made_by[64];
    size_t used = strlen(title);
    for (const char *c = command->name; *c && used + 1 < sizeof title; c++)
        title[used++] = (char)toupper((unsigned char)*c);
    snprintf(made_by, sizeof made_by, " %s", command->name);
    put_head(stream, title, made_by);
    fprintf(stream, "vem\\-%s \\- ", command->name);
    put(stream, command->purpose);
    fputs("\n.SH SYNOPSIS\n", stream);
    put_usage(stream, command);
    fputs(".SH DESCRIPTION\n", stream);
    put_data(stream);
    if (command->details)
        put_verbatim(stream, command->details);
    fputs(".SH OPTIONS\n", stream);
    put_options(stream, command);
    if (command->examples) {
        fputs(".SH EXAMPLES\n", stream);
        put_verbatim(stream, command->examples);
    }
    put_end(stream);
    put_also(stream, command);
}

void cli_man_page(FILE *stream)
{
    put_head(stream, "VEM", "");
    fputs("vem \\- clustering as maximisation of one free energy\n.SH SYNOPSIS\n",
          stream);
    for (int i = 0; cli_commands[i]; i++) {
        if (i)
            fputs(".br\n", stream);
        put_usage(stream, cli_commands[i]);
    }
    fputs(
        ".SH DESCRIPTION\n"
        "Fits mixtures of Gaussians, k\\-means among them, by variational EM; every step "
        "raises one number, the free energy.\n",
        stream);
    put_data(stream);
    for (int i = 0; cli_commands[i]; i++)
        put_command(stream, cli_commands[i]);
    put_end(stream);
    put_also(stream, NULL);
}
