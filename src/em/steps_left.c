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
    if (em->options->tolerance == 0 && !em->search->dense)
        return (double)em->trace.steps[line].changed;
    return fabs(em->trace.steps[line].free_energy -
                em->trace.steps[line - 1].free_energy);
}

double vem_i_em_steps_left(const vem_i_em *em)
{
    const int64_t last = em->trace.count - 1;
    const int64_t span = last / 3 > LEAST ? last / 3 : LEAST;
    /* Before that the clusters are still being found, or swapped. */
    if (last < LEAST + 1 || !em->doing.may_end)
        return 0;
    for (int64_t t = last - span; t <= last; t++)
        if (em->trace.steps[t].moved > 0)
            return 0;
    const int hard = em->options->tolerance == 0;
    double threshold = hard ? 1 : vem_i_em_threshold(em, em->free_energy);
    if (hard && em->search->dense)
        return 0; /* until F no longer rises: when rounding says so */
    double now = change(em, last), then = change(em, last - span);
    if (now <= threshold)
        return 1;
    if (!(now < then))
        return 0;
    return ceil((double)span * log(threshold / now) / log(now / then));
}
