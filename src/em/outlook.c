/* How far a loop is from its end.
 *
 * Near its end the changes of F (or, where nothing may move, the numbers of rows that change)
 * fall like a geometric series. The last third of the steps gives a ratio r < 1, and the last
 * change a reaches the threshold e after  log(e / a) / log r  more steps. It is told to
 * people and decides nothing. */
#include <math.h>

#include "em/em.h"

enum { LEAST = 4 };

static double change(const vem_i_em *em, int64_t line)
{
    if (em->options->tolerance == 0 && !em->search.dense)
        return (double)em->trace[line].changed;
    return fabs(em->trace[line].free_energy - em->trace[line - 1].free_energy);
}

double vem_i_em_outlook(const vem_i_em *em)
{
    const int64_t last = em->trace_count - 1;
    const int64_t span = last / 3 > LEAST ? last / 3 : LEAST;
    /* Before that the clusters are still being found, or swapped. */
    if (last < LEAST + 1 || !em->stage.may_end)
        return 0;
    for (int64_t t = last - span; t <= last; t++)
        if (em->trace[t].moved > 0)
            return 0;
    const int hard = em->options->tolerance == 0;
    double threshold = hard ? 1 : vem_i_em_threshold(em, em->free_energy);
    if (hard && em->search.dense)
        return 0; /* until F no longer rises: when rounding says so */
    double now = change(em, last), then = change(em, last - span);
    if (now <= threshold)
        return 1;
    if (!(now < then))
        return 0;
    return ceil((double)span * log(threshold / now) / log(now / then));
}
