/* What the verbs of the command share. The command sees the library through vem/vem.h
 * only. */
#ifndef VEM_CLI_H
#define VEM_CLI_H

#include <jansson.h>
#include <stdio.h>

#include "vem/vem.h"

/* Exit status. Anything wrong with the words and values of the command line is CLI_USAGE. */
enum { CLI_DONE = 0, CLI_FAILED = 1, CLI_USAGE = 2 };

/* ---- Options (args.c) ---- */

/* An option of the command itself; those of the library's table are joined to it. */
typedef struct cli_option {
    const char *name;     /* without "--" */
    char letter;          /* 0: none */
    const char *group;    /* heading in the help */
    const char *argument; /* NULL: a flag */
    const char *help;
} cli_option;

/* An own option whose value is a file. */
typedef enum cli_file_use {
    CLI_READS,
    CLI_WRITES,
    CLI_WRITES_LABELS, /* replaces nothing but labels */
    CLI_WRITES_CLASSES /* replaces nothing but classes, which a vem command made up */
} cli_file_use;

typedef struct cli_file {
    const char *name; /* of the option */
    cli_file_use use;
    const char *endings; /* that what is written may have ("npy csv"); NULL: any */
} cli_file;

enum { CLI_MOST_OPTIONS = 32 };

/* How data are read: the same options in every command that reads some. */
#define CLI_READ_OPTIONS                                                                 \
    {"columns", 0, "Data", "LIST",                                                       \
     "columns to use, by number or name: 1,3,5-8 or x,y; of names that hold commas the " \
     "longest that fits counts"},                                                        \
        {"id", 0, "Data", "COLUMN",                                                      \
         "columns to leave out, by number or name: 1 or name,city; may be repeated; "    \
         "they come back beside the labels in a .csv"},                                  \
        {"header", 0, "Data", "yes|no",                                                  \
         "is the first row of a text table its header? default: yes, if it has more "    \
         "words "                                                                        \
         "than numbers, or years behind an --id"},                                       \
        {"decimal", 0, "Data", "SIGN",                                                   \
         "decimal sign of numbers in text, . or ,; default: ., or , if a table with "    \
         "semicolons has it"},                                                           \
    {                                                                                    \
        "missing", 0, "Data", "error|drop|mean",                                         \
            "missing values (NaN; in text also NA, N/A, n.a., null, ? and nothing): "    \
            "refused, left out with their rows, or replaced by the mean of the column; " \
            "default: "                                                                  \
            "error"                                                                      \
    }

/* What a fit reads beside its data and writes, and how it talks: the same in fit and select. */
#define CLI_WEIGHTS_OPTION                                                               \
    {                                                                                    \
        "weights", 0, "Data", "FILE",                                                    \
            "one weight per row (.npy, .csv or .txt), none negative"                     \
    }
#define CLI_RESULT_OPTIONS(IO, model, kept)                                              \
    {"output", 'o', IO, "FILE", model},                                                  \
        {"labels", 0, IO, "FILE",                                                        \
         "the cluster of each row, from 0 (.npy, .csv or .csv.gz)"},                     \
        {"trace", 0, IO, "FILE",                                                         \
         "free energy, pairs and seconds of each step (.csv or .json)"},                 \
        {"checkpoint", 0, IO, "FILE", kept},                                             \
    {                                                                                    \
        "resume", 0, IO, NULL,                                                           \
            "go on from FILE of --checkpoint, to the same result; from the beginning "   \
            "where it is not there yet"                                                  \
    }
#define CLI_TALK_OPTIONS(IO)                                                             \
    {"json", 0, IO, NULL, "print the result as one JSON object"},                        \
        {"quiet", 'q', IO, NULL, "no progress and no summary"},                          \
    {                                                                                    \
        "verbose", 'v', IO, NULL, "also what is about to be done, and every step"        \
    }
#define CLI_TRUTH_COLUMN_OPTION(IO)                                                      \
    {                                                                                    \
        "truth-column", 0, IO, "COLUMN",                                                 \
            "name or number of the column of a --truth table that holds the classes; "   \
            "otherwise the one named label, class, cluster, target, truth or species"    \
    }
/* The conjugate prior: the same in select and tree (prior.c). */
#define CLI_PRIOR_OPTIONS                                                                \
    {"prior-mean", 0, "Prior", "LIST|FILE",                                              \
     "where means of clusters are expected, a value for each column; default: the mean " \
     "of all rows"},                                                                     \
        {"prior-strength", 0, "Prior", "XI", "rows that this is worth; default 0.01"},   \
        {"prior-dof", 0, "Prior", "ETA",                                                 \
         "rows that the expected shape is worth; default: columns + 1 (2 for families "  \
         "diag and iso)"},                                                               \
        {"prior-scale", 0, "Prior", "LIST|FILE",                                         \
         "ETA times the expected variance: one number, one for each column, or a "       \
         "matrix; default: ETA XI times the variances of the columns"},                  \
    {                                                                                    \
        "prior-count", 0, "Prior", "PHI",                                                \
            "rows that each cluster is expected to have beside its own; default 1"       \
    }
#define CLI_HOLDOUT_OPTION                                                               \
    {                                                                                    \
        "holdout", 0, "Model", "SHARE",                                                  \
            "rows that are not fitted: the likelihood of each mixture is measured on "   \
            "them; default 0"                                                            \
    }
#define CLI_RESULT_FILES                                                                 \
    {"weights", CLI_READS, NULL}, {"output", CLI_WRITES, "npz"},                         \
        {"labels", CLI_WRITES_LABELS, "npy csv csv.gz"},                                 \
        {"trace", CLI_WRITES, "csv json"},                                               \
    {                                                                                    \
        "checkpoint", CLI_WRITES, NULL                                                   \
    }

/* Another thing that the command does when one of its options is given. What has no part in
 * it is refused, not ignored. */
typedef struct cli_mode {
    const char *option;         /* that asks for it; NULL ends the list */
    const char *const *taken;   /* names of all options beside it, NULL at the end; or */
    const char *const *refused; /* of those that cannot stand beside it */
    const char *why;            /* ends the sentence */
} cli_mode;

typedef struct cli_args cli_args;

typedef struct cli_command {
    const char *name;
    const char *operands; /* as in the usage line */
    const char *purpose;  /* one line */
    const char *details;  /* paragraphs for the help, or NULL */
    const char *examples; /* lines for the help */
    const cli_option *own;
    int own_count;
    const cli_file *files; /* an entry without a name ends it; NULL: none */
    const char *const
        *former; /* pairs of an option's former and present name, NULL at the
                                  end; NULL: none */
    const char *const
        *shared; /* names in the library's table, NULL at the end; NULL: all */
    const char *const
        *meanings; /* pairs of such a name and what it means in this command, where
                              the table says something else; NULL at the end; NULL: none */
    const cli_mode *modes; /* NULL: none */
    int takes_numbers;     /* --clusters may be several: 2-40, or 5,10,20 */
    int operand_count;
    int more_operands;        /* 1: any number of them, at least operand_count */
    const char *const *words; /* that the operand may be, NULL at the end; NULL: files */
    void (*more_help)(FILE *stream); /* after the options, or NULL */
    int (*run)(cli_args *args);
} cli_command;

#define CLI_COUNT_ROW(...) +1
enum { CLI_SHARED_OPTIONS = 0 VEM_OPTION_TABLE(CLI_COUNT_ROW) };

struct cli_args {
    const cli_command *command;
    vem_ctx *ctx;
    vem_options options; /* of the library's table */
    char **operands;
    int operand_count;
    const char *values[CLI_MOST_OPTIONS]; /* of the own options; a flag's value is "" */
    unsigned char given[CLI_SHARED_OPTIONS]; /* which of the library's were given */
    int wants_help;
    const char *numbers; /* of clusters, where there are several; else NULL */
    /* What reading the data told, for --json and the model; NULL: no data yet. */
    const vem_data *data;
    char *joined[CLI_MOST_OPTIONS]; /* values that were given in several words */
    const vem_model *model;         /* that was read; data are read for it */
};

extern const cli_command cli_update, cli_fit, cli_predict, cli_score, cli_coreset,
    cli_merge, cli_seed, cli_step, cli_generate, cli_info, cli_sample, cli_describe,
    cli_select, cli_tree;
extern const cli_command *const cli_commands[]; /* NULL at the end */

/* Fills in args from the words after the verb. CLI_DONE, or CLI_USAGE after a message. */
int cli_parse(cli_args *args, int count, char **words);
/* What was given beside the option of a mode: for modes that files decide, and not options alone. */
int cli_check_mode(const cli_args *args, const cli_mode *mode);
/* Value of an own option, or NULL when it was not given. */
const char *cli_value(const cli_args *args, const char *name);
/* Letter of an option of the library's table, or 0; does this command take it? */
char cli_shared_letter(const char *name);
int cli_takes_shared(const cli_command *command, const char *name);
/* Which of the names `text` is; `what` ("--method", "KIND") begins the message otherwise. */
int cli_read_choice(const char *what, const char *text, const char *const *names,
                    int count, int *value);

/* ---- Operands (operands.c) ---- */

/* Patterns become the files that match; the operands are then the command's own. */
int cli_expand(cli_args *args);
/* What cli_parse and cli_expand took. */
void cli_forget(cli_args *args);
/* DATA: the operands from `first`, which is one of them, to the last. */
const char *const *cli_data_files(const cli_args *args, const char *first,
                                  int32_t *count);
/* "a.npy and 3 more" */
/* The operand with which they begin: models come before them. */
const char *cli_first_data(const cli_args *args);
const char *cli_data_name(const cli_args *args, const char *first, char text[256]);

/* ---- Help and man page (help.c, man.c) ---- */

enum { CLI_MOST_LINES = 160 }; /* options of a command */
typedef struct cli_help_line {
    const char *name, *argument, *group;
    char letter;
    const char
        *choices;   /* "a|b|c"; NULL: any value, or none where there is no argument */
    int is_file;    /* its value may be one */
    char text[512]; /* help, choices, bounds and default in one sentence */
} cli_help_line;

/* All options of a command, in groups. Returns how many. */
int cli_help_lines(const cli_command *command, cli_help_line *lines, int capacity);
void cli_help_all(FILE *stream);
void cli_help_command(FILE *stream, const cli_command *command);
/* vem.1; and vem-NAME.1 of one command. */
void cli_man_page(FILE *stream);
void cli_man_command(FILE *stream, const cli_command *command);

/* ---- Completion (complete.c) ---- */

/* A script that makes a shell (bash, zsh, fish) complete words of the command line. */
int cli_complete(FILE *stream, const char *shell);

/* ---- Talking to people (talk.c) ---- */

/* One sentence to standard error, after "vem: ". */
__attribute__((format(printf, 1, 2))) void cli_error(const char *format, ...);
/* The same for what is good to know, unless --quiet. */
__attribute__((format(printf, 2, 3))) void cli_note(const cli_args *args,
                                                    const char *format, ...);
/* Text out of a file, fit to be shown on a terminal: no control codes, no broken UTF-8; cut to
 * fit. Whatever a file says is printed through this. */
const char *cli_clean(const char *text, char *out, size_t size);
/* The first characters of such a text, at most so many; gives how many. Tables count characters, not
 * bytes. */
int cli_first(const char *text, int most, char *out, size_t size);
/* The library's sentence about a failure; gives the exit status that belongs to it. */
int cli_failure(const cli_args *args, vem_status status);

/* What CLI_PRIOR_OPTIONS say; the arrays are its own. */
typedef struct cli_prior {
    vem_prior_options options;
    double *mean, *scale;
} cli_prior;
/* The names of these options, and the first of them that was given, or NULL. */
extern const char *const cli_prior_names[];
const char *cli_prior_given(const cli_args *args);
int cli_read_prior(cli_args *args, cli_prior *prior);
/* Once there are data. */
int cli_read_share(const cli_args *args, const char *name, double *value);
int cli_check_prior(const cli_prior *prior, const vem_data *data);
void cli_free_prior(cli_prior *prior);
/* 1234567 as "1,234,567". */
const char *cli_count(int64_t value, char text[32]);
/* "1 row", "2 rows", "1,234,567 rows": `one` with an s unless there is one of them. */
const char *cli_counted(int64_t value, const char *one, char text[48]);
const char *cli_seconds(double seconds, char text[32]);
const char *cli_dtype(vem_dtype type);
double cli_clock(void);
/* Columns of the terminal that `descriptor` is, or 80. */
int cli_width(int descriptor);
/* Text from `column` on, broken at spaces before `width`; `at` columns are taken. */
void cli_wrap(FILE *stream, const char *text, int column, int at, int width);

/* ---- Files (files.c) ---- */

int cli_has_ending(const char *path, const char *ending);
/* Before anything is read: every file that is to be written has a right ending and can be, is no
 * other output, and none of those that are read, under whatever name. CLI_DONE, or a status. */
int cli_check_files(const cli_args *args);
/* Can it be opened? What is read late should be missed early. */
int cli_check_readable(const char *path);
const char *cli_reason(int error); /* in the words of the library */
/* Has the output one of these endings ("npy csv")? NULL for `path`: nothing to do. */
int cli_check_ending(const char *path, const char *endings);
/* Data with --weights and CLI_READ_OPTIONS where the command has them; says
 * what was decided. */
int cli_read_data(cli_args *args, const char *path, vem_data **data, double *seconds);
int cli_read_model(cli_args *args, const char *path, const char *data_path,
                   vem_model **model);
/* What `score --index` does once model and data are there (index.c). */
/* The number of --spill. */
int cli_read_spill(const char *text, double *lambda);
int cli_score_index(cli_args *args, const vem_model *model, const vem_data *data,
                    const char *path, double began);
/* --precision, or what the type of the data suggests. */
vem_precision cli_precision(const cli_args *args);

/* A whole number in [1, high] from an own option; CLI_DONE without the option leaves *value
 * as it is. */
int cli_read_whole(const cli_args *args, const char *name, double high, int64_t *value);
/* Levels of a hierarchy, 2 to 8; 0 without the option (fitting.c). */
int cli_read_levels(const cli_args *args, int64_t *levels);
/* The same, or the word all: *value is `all` then. */
int cli_read_whole_or_all(const cli_args *args, const char *name, double high,
                          int64_t all, int64_t *value);

/* ---- Progress and signals (progress.c, signals.c) ---- */

void cli_progress_begin(cli_args *args);
/* Wipes the bar, so that other lines start on a clean one. */
void cli_progress_end(void);
/* The plan told people that the work takes about so long. */
void cli_progress_expect(double seconds);
/* The work at hand is to stop at this clock; 0: it need not. Has it come to that? */
void cli_progress_until(double clock);
int cli_progress_late(void);
/* For work that the command does itself. Returns 1 when it should stop. */
int cli_progress_tell(const char *phase, int64_t done, int64_t total);

/* The first Ctrl-C (SIGTERM, SIGHUP) is answered and remembered, the second ends the process
 * at once. */
void cli_signals_begin(int quiet);
/* A fit is at its steps, so that ending well leaves a model: the answer says so. */
void cli_signals_in_steps(int yes);
int cli_interrupted(void);
/* 128 and the number of the signal, as shells count; what people call it. */
int cli_interrupt_status(void);
const char *cli_interrupt_name(void);
/* While input is read there is no result yet: the first Ctrl-C ends the command, even
 * when it waits for a pipe. */
void cli_nothing_to_lose(int yes);
/* The first of them ends this command at once, whatever it is at. */
void cli_never_to_lose(void);

/* A mapped input that becomes shorter ends the command, with a sentence and CLI_FAILED. */
void cli_watch_inputs(const vem_ctx *ctx);

/* ---- JSON (json.c) ---- */

/* A number, or null when it is not finite. */
json_t *cli_json_real(double value);
/* Any bytes as a string; what is not UTF-8 is taken for Latin-1. NULL gives null. */
json_t *cli_json_text(const char *text);
/* As the model's "meta"; gives `meta` back. */
vem_status cli_json_into_model(const cli_args *args, json_t *meta, vem_model *model);
/* {"command": ..., "version": ...} to start from. */
json_t *cli_json_begin(const cli_args *args);
/* One line on standard output; takes the object over. CLI_DONE or CLI_FAILED. */
int cli_json_print(json_t *object);
json_t *cli_json_options(const vem_options *options);

/* A member of a struct under its own name. */
#define CLI_JSON_REAL(object, from, member)                                              \
    json_object_set_new(object, #member, cli_json_real((from)->member))
#define CLI_JSON_WHOLE(object, from, member)                                             \
    json_object_set_new(object, #member, json_integer((json_int_t)(from)->member))

/* ---- Mixtures of several numbers of clusters (path.c) ---- */

json_t *cli_path_json(const vem_path *path);
/* Which was chosen, by what and by how much. */
void cli_choice_json(const cli_args *args, const vem_path *path, json_t *object);
/* The same, and the mixtures around the chosen one, with --verbose all of them. ended: by Ctrl-C
 * or --time, before the search was over. */
void cli_print_path(const cli_args *args, const vem_path *path, int ended);
/* What this free energy is, if one of its mixtures has it: with what the method adds to it. */
const char *cli_energy_name(const cli_args *args, const vem_path *path, double energy);

/* ---- Classes that are known (truth.c) ---- */

typedef struct cli_truth {
    int64_t *classes; /* of the rows of the data; NULL: none were given */
    char *column;     /* of a table that has several; else NULL */
} cli_truth;

/* --truth-column needs --truth. */
int cli_check_truth(const cli_args *args);
/* As many as there are rows, those left out of `data` (NULL: none) included. */
int cli_read_truth(const cli_args *args, const vem_data *data, int64_t rows,
                   cli_truth *truth);
void cli_truth_free(cli_truth *truth);

/* ---- Trees (tree.c, tree_tell.c) ---- */

/* A tree, and what was asked of it. */
typedef struct cli_grown {
    vem_dendrogram *tree;
    const vem_data *data; /* NULL: the tree was read */
    int64_t cut;          /* clusters; 0: none */
    vem_dendrogram_agreement purity;
    vem_agreement agreement; /* of the cut with the truth */
    const char *truth_column;
    double seconds_read, seconds;
} cli_grown;
int cli_tree_json(const cli_args *args, const cli_grown *grown);
void cli_tree_words(const cli_args *args, const cli_grown *grown);
/* vem info of a tree. */
int cli_tree_info(cli_args *args);

/* ---- Statistics that add up (accumulate.c) ---- */

/* Before the data are read: what --accumulate needs beside it. */
int cli_check_accumulate(const cli_args *args);
/* The E-step of `model` over `data`, into the file of --accumulate. */
int cli_accumulate(cli_args *args, const vem_model *model, const vem_data *data,
                   double seconds_read, double began);
/* What statistics say, for --json. */
void cli_stats_json(json_t *object, const vem_stats *stats);
int cli_stats_info(cli_args *args);
int cli_data_info(cli_args *args);

/* ---- Long fits (checkpoint.c) ---- */

/* By --checkpoint and --resume, where they are given. */
int cli_set_checkpoint(cli_args *args);

/* ---- What a fit reports (report.c) ---- */

json_t *cli_trace_json(const vem_report *report);
int cli_trace_write(cli_args *args, const vem_report *report, const char *path);
/* The "meta" that travels with a model. */
vem_status cli_set_meta(cli_args *args, const vem_report *report, vem_model *model);
/* several: it was of several numbers of clusters. */
void cli_print_summary(const cli_args *args, const vem_report *report,
                       const vem_path *path, double seconds_read, double seconds_total);
/* Lines of text as a list; and wrapped, the first after a label. */
json_t *cli_sentences(const char *lines);
void cli_print_lines(const char *label, const char *lines);
json_t *cli_report_json(const cli_args *args, const vem_report *report,
                        double seconds_read, double seconds_total);

/* ---- What fit and select share (fitting.c) ---- */

/* DATA, of whose reading --time counts the seconds. */
int cli_read_in_time(cli_args *args, vem_data **data, double *seconds_read, double began);
/* From now on a plan of a fit of these data is told where it is long, or no more. */
void cli_announce(cli_args *args, int yes);
/* What select tells beside its model (select_more.c). */
enum { CLI_MOST_RESAMPLES = 100000 };
typedef struct cli_more {
    int64_t resamples; /* of --stability; 0: none */
    vem_stability stability;
    vem_flows *flows; /* of --flows or --picture; NULL: none */
} cli_more;
/* Where the clusters are now, of a model that was there before (update.c). */
typedef struct cli_drift {
    int32_t clusters;
    double *distances; /* of each cluster */
    int32_t *moved;    /* 1: it has another place */
} cli_drift;
/* What a fit has found. */
typedef struct cli_found {
    vem_report *report;
    vem_model *model;
    vem_path *path;     /* NULL: there is none, nor what follows */
    const char *method; /* that found it */
    const vem_select_options *select;
    cli_more *more;         /* to be found when the model is written */
    const cli_drift *drift; /* NULL: no model was before */
    int32_t nodes, levels;  /* of --hierarchy, as it was written; 0: none was */
} cli_found;
/* NULL: nothing is told. */
vem_status cli_write_drift(cli_args *args, const cli_drift *drift);
void cli_drift_json(const cli_drift *drift, json_t *object);
void cli_print_drift(const cli_drift *drift);
/* "2-40", "5,10-12": the numbers, ascending, from malloc. */
int cli_read_numbers(const char *text, int32_t **numbers, int64_t *count);
int cli_read_more(const cli_args *args, cli_more *more);
int cli_find_more(cli_args *args, const cli_found *found, const vem_data *data,
                  double began);
void cli_more_json(const cli_more *more, json_t *object);
void cli_print_more(const cli_args *args, const cli_more *more);
void cli_free_more(cli_more *more);
/* vem select --picture FILE MODEL. */
int cli_draw_path(cli_args *args);
/* A fit is over, as `status` says: writes what was asked for, tells it, and gives the exit status. What
 * was found is freed. */
int cli_fit_over(cli_args *args, vem_status status, cli_found *found,
                 const vem_data *data, double seconds_read, double began);

/* ---- processes.c: under mpirun ---- */

/* First and last thing of main; the end gives the exit status back. */
void cli_processes_begin(int *count, char ***words);
int cli_processes_end(int code);
/* The context knows of the others. */
vem_status cli_processes_join(vem_ctx *ctx);
/* How many there are; and is this the one that writes? */
int cli_processes(void);
int cli_writes(void);
/* What all of them have sent; each of them calls it. */
int64_t cli_processes_bytes(const vem_ctx *ctx);
/* Both in a summary, where there are several. */
void cli_processes_json(const vem_ctx *ctx, json_t *object);

#endif
