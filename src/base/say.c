/* What the library says to people names an option as they know it: --max-steps where the command
 * speaks, max_steps where a program does. Sentences are written with dashes, which mark what is
 * an option; for programs they are taken off. */
#include <string.h>

#include "base/options.h"
#include "base/plain.h"

/* What has a name beside the table of options: members of vem_read_options, vem_checkpoint,
 * vem_select_options, vem_dendrogram_options and vem_index_options, and the start of a fit. */
static int is_name(const char *word)
{
    static const char *const others[] = {"checkpoint",  "columns",        "decimal",
                                         "families",    "header",         "holdout",
                                         "id",          "init",           "leaves",
                                         "method",      "max-clusters",   "min-clusters",
                                         "missing",     "neighbors",      "pick",
                                         "prior-count", "prior-dof",      "prior-mean",
                                         "prior-scale", "prior-strength", "resume"};
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        if (strcmp(word, others[i]) == 0)
            return 1;
    return vem_i_option_is(word);
}

void vem_i_say_plainly(const vem_ctx *ctx, char *text)
{
    if (ctx && ctx->dashes)
        return;
    for (char *at = text; (at = strstr(at, "--")); at += 2) {
        char word[32];
        const size_t length = strspn(at + 2, "abcdefghijklmnopqrstuvwxyz-");
        if ((at > text && !strchr(" (\n", at[-1])) || length >= sizeof word)
            continue;
        memcpy(word, at + 2, length);
        word[length] = '\0';
        if (!is_name(word))
            continue;
        for (char *dash = word; (dash = strchr(dash, '-'));)
            *dash = '_';
        memmove(at, word, length);
        memmove(at + length, at + 2 + length, strlen(at + 2 + length) + 1);
    }
}

void vem_i_say(vem_ctx *ctx, const char *format, va_list args)
{
    if (!ctx)
        return;
    vem_i_plain_vprint(ctx->message, sizeof ctx->message, format, args);
    vem_i_say_plainly(ctx, ctx->message);
}
