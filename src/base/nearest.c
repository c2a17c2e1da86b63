/* What a mistyped name was meant to be: the name at the least edit distance. */
#include "base/nearest.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "base/names.h"
#include "base/plain.h"

/* Edit distance (insert, delete, replace, swap of neighbors), up to 31 letters; what is longer
 * is near to nothing. */
static int distance(const char *a, const char *b)
{
    enum { MOST = 32 };
    int row[3][MOST + 1];
    const int m = (int)strlen(a), n = (int)strlen(b);
    if (m >= MOST || n >= MOST)
        return INT_MAX;
    for (int j = 0; j <= n; j++)
        row[0][j] = j;
    for (int i = 1; i <= m; i++) {
        int *now = row[i % 3], *before = row[(i + 2) % 3], *earlier = row[(i + 1) % 3];
        now[0] = i;
        for (int j = 1; j <= n; j++) {
            int best = before[j - 1] + (a[i - 1] != b[j - 1]);
            if (before[j] + 1 < best)
                best = before[j] + 1;
            if (now[j - 1] + 1 < best)
                best = now[j - 1] + 1;
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] &&
                earlier[j - 2] + 1 < best)
                best = earlier[j - 2] + 1;
            now[j] = best;
        }
    }
    return row[m % 3][n];
}

/* Below 0: the word begins the name, -1 in other capitals. These are the likeliest slips. */
static int prefix(const char *word, size_t length, const char *name)
{
    if (strncmp(name, word, length) == 0)
        return -2;
    return strnlen(name, length) == length && vem_i_same_word(name, name + length, word)
               ? -1
               : 0;
}

const char *vem_name_nearest(const char *word, const char *const *names, int count)
{
    if (!word || !names)
        return NULL;
    const size_t length = strlen(word);
    const char *best = NULL;
    if (length < 2 || length > INT_MAX) /* any letter is near to any other */
        return NULL;
    int least = length < 4 ? 1 : (int)length / 3 + 1;
    for (int i = 0; i < count; i++) {
        int far = prefix(word, length, names[i]);
        if (far == 0)
            far = distance(word, names[i]);
        if (far < least || (far == least && !best)) {
            least = far;
            best = names[i];
        }
    }
    return best;
}

const char *vem_i_name_hint(const char *word, const char *const *names, int count,
                            const char *before, const char *after, const char *otherwise,
                            char text[128])
{
    const char *near = vem_name_nearest(word, names, count);
    char shown[VEM_I_SHOWN];
    if (near)
        snprintf(text, 128, "; did you mean %s%s%s", before,
                 vem_i_names_shown(near, strlen(near), shown), after);
    else
        snprintf(text, 128, "%s", otherwise);
    return text;
}

const char *vem_name_hint(const char *word, const char *const *names, int count,
                          const char *before, const char *otherwise, char text[128])
{
    return vem_i_name_hint(word, names, count, before ? before : "", "?",
                           otherwise ? otherwise : "", text);
}
