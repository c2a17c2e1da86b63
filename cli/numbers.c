/* Several numbers of clusters in one word. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"

enum { MOST = 10000 }; /* numbers in all */

/* One part, "7" or "2-40"; 0: it is none. */
static int read_part(const char **at, long *first, long *last)
{
    char *end;
    errno = 0;
    *first = *last = strtol(*at, &end, 10);
    if (end == *at || *first < 1)
        return 0;
    if (*end == '-') {
        const char *second = end + 1;
        *last = strtol(second, &end, 10);
        if (end == second)
            return 0;
    }
    *at = end;
    return errno == 0 && *last >= *first && *last <= 2147483000L && *last - *first < MOST;
}

static int ascending(const void *a, const void *b)
{
    const int32_t x = *(const int32_t *)a, y = *(const int32_t *)b;
    return (x > y) - (x < y);
}

int cli_read_numbers(const char *text, int32_t **numbers, int64_t *count)
{
    int32_t *made = malloc(MOST * sizeof *made);
    int64_t have = 0, kept = 0;
    const char *at = text;
    int good = made != NULL;
    while (good) {
        long first, last;
        good = read_part(&at, &first, &last) && have + last - first < MOST;
        for (long k = first; good && k <= last; k++)
            made[have++] = (int32_t)k;
        if (!good || *at == '\0')
            break;
        good = *at++ == ',';
    }
    if (!good) {
        free(made);
        cli_error(
            "-k is \"%s\", but it must be a whole number, or, to compare several (at "
            "most %d), a range such as 2-20 or a list such as 5,10,20.",
            text, MOST);
        return CLI_USAGE;
    }
    qsort(made, (size_t)have, sizeof *made, ascending);
    for (int64_t k = 0; k < have; k++)
        if (k == 0 || made[k] != made[k - 1])
            made[kept++] = made[k];
    *numbers = made;
    *count = kept;
    return CLI_DONE;
}

int cli_read_share(const cli_args *args, const char *name, double *value)
{
    const char *text = cli_value(args, name);
    char *end;
    if (!text)
        return CLI_DONE;
    *value = strtod(text, &end);
    if (end != text && *end == '\0' && *value > 0 && *value < 1)
        return CLI_DONE;
    cli_error("--%s is %s, but it must be a number between 0 and 1.", name, text);
    return CLI_USAGE;
}
