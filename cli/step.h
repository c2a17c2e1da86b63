/* What vem step needs of the rest: to be another command, as one part of it. */
#ifndef VEM_CLI_STEP_H
#define VEM_CLI_STEP_H

#include "cli.h"
#include "vem/parts.h"

/* Exit status: there is more to be done. */
enum { CLI_MORE = 10 };

/* As it was called (main.c). */
extern const char *cli_program;
/* A command with these words, as if they were those of the command line. */
int cli_run_command(const cli_command *command, int count, char **words);
/* The last sentence of cli_error (talk.c). */
const char *cli_last_error(void);
/* This process is a part of a fit from now on (processes.c); what is pointed to stays where it is. */
void cli_processes_part(const vem_parts_options *options);

#endif
