/* The files that a command is told to read. A pattern that the shell left alone ("part-*.npy")
 * stands for the files that match it, in the order of their names. */
#include <glob.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "cli.h"

/* In FILE.h5:/path and FILE.safetensors:NAME, where what is behind the file begins; else the end of
 * the word. Endings may be in capitals. */
static const char *tail_of(const char *word)
{
    static const char *const marks[] = {".h5:", ".hdf5:", ".safetensors:",
                                        ".safetensors.gz:"};
    for (; *word; word++)
        for (size_t i = 0; i < sizeof marks / sizeof *marks; i++)
            if (strncasecmp(word, marks[i], strlen(marks[i])) == 0)
                return word + strlen(marks[i]) - 1;
    return word;
}

static int add(char ***list, int *count, const char *word, size_t length,
               const char *tail)
{
    char **longer = realloc(*list, ((size_t)*count + 1) * sizeof **list);
    if (longer)
        *list = longer;
    char *copy = longer ? malloc(length + strlen(tail) + 1) : NULL;
    if (!copy) {
        cli_error("memory for the names of %d files could not be had.", *count + 1);
        return CLI_FAILED;
    }
    memcpy(copy, word, length);
    memcpy(copy + length, tail, strlen(tail) + 1);
    (*list)[(*count)++] = copy;
    return CLI_DONE;
}

static int add_matches(char ***list, int *count, const char *word)
{
    const char *tail = tail_of(word);
    const size_t length = (size_t)(tail - word);
    glob_t found = {0};
    char *pattern = strndup(word, length);
    const int failed = pattern ? glob(pattern, 0, NULL, &found) : GLOB_NOSPACE;
    int code = CLI_DONE;
    free(pattern);
    if (failed == GLOB_NOMATCH) {
        cli_error("no file has a name like %s.", word);
        code = CLI_FAILED;
    } else if (failed) {
        cli_error("the files %s could not be looked for.", word);
        code = CLI_FAILED;
    }
    for (size_t i = 0; code == CLI_DONE && i < found.gl_pathc; i++)
        code = add(list, count, found.gl_pathv[i], strlen(found.gl_pathv[i]), tail);
    if (!failed)
        globfree(&found);
    return code;
}

static int is_pattern(const char *word)
{
    char *file = strndup(word, (size_t)(tail_of(word) - word));
    const int wild = file && strpbrk(file, "*?[") && access(file, F_OK) != 0;
    free(file);
    return wild;
}

int cli_expand(cli_args *args)
{
    char **list = NULL;
    int count = 0, code = CLI_DONE;
    for (int i = 0; code == CLI_DONE && i < args->operand_count; i++) {
        const char *word = args->operands[i];
        code = is_pattern(word) ? add_matches(&list, &count, word)
                                : add(&list, &count, word, strlen(word), "");
    }
    args->operands = list;
    args->operand_count = count;
    if (count == 0)
        free(list);
    return code;
}

void cli_forget(cli_args *args)
{
    for (int i = 0; i < args->operand_count; i++)
        free(args->operands[i]);
    if (args->operand_count > 0)
        free(args->operands);
    for (int i = 0; i < CLI_MOST_OPTIONS; i++)
        free(args->joined[i]);
}

const char *const *cli_data_files(const cli_args *args, const char *first, int32_t *count)
{
    int i = 0;
    while (i + 1 < args->operand_count && args->operands[i] != first)
        i++;
    *count = args->operand_count - i;
    return (const char *const *)args->operands + i;
}

const char *cli_first_data(const cli_args *args)
{
    return args->operands[args->command->operand_count - 1];
}

const char *cli_data_name(const cli_args *args, const char *first, char text[256])
{
    int32_t count;
    cli_data_files(args, first, &count);
    if (count < 2)
        return first;
    snprintf(text, 256, "%.200s and %d more", first, (int)count - 1);
    return text;
}
