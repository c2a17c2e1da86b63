/* What a mistyped name was meant to be: the name at the least edit distance. */
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "vem/vem.h"

/* Edit distance (insert, delete, replace, swap of neighbors), up to 31 letters. */
static int distance(const char *a, const char *b)
{
    enum { MOST = 32 };
    int row[3][MOST + 1];
    const int m = (int)strlen(a), n = (int)strlen(b);
    if (m >= MOST || n >= MOST)
        return MOST;
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

const char *vem_name_nearest(const char *word, const char *const *names, int count)
{
    if (!word || !names)
        return NULL;
    const size_t length = strlen(word);
    const char *best = NULL;
    int least = length < 4 ? 1 : (int)length / 3 + 1;
    for (int i = 0; i < count; i++) {
        /* The beginning of a name, or other capitals, are the likeliest slips of all. */
        const int prefix = length >= 2 && strncasecmp(names[i], word, length) == 0;
        const int far = prefix ? 0 : distance(word, names[i]);
        if (far < least || (far == least && !best)) {
            least = far;
            best = names[i];
        }
    }
    return best;
}

const char *vem_name_hint(const char *word, const char *const *names, int count,
                          const char *before, const char *otherwise, char text[128])
{
    const char *near = vem_name_nearest(word, names, count);
    if (near)
        snprintf(text, 128, "; did you mean %s%s?", before ? before : "", near);
    else
        snprintf(text, 128, "%s", otherwise ? otherwise : "");
    return text;
}
