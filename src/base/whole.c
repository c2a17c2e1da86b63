#include "base/whole.h"

#include <math.h>
#include <string.h>

int vem_i_whole_begin(vem_i_run *run, const char *phase, int64_t rows)
{
    if (run->watch->whole.phase)
        return 0;
    run->watch->whole =
        (vem_i_whole){.phase = phase, .rows = rows, .high = 1, .passes = 1};
    return 1;
}

void vem_i_whole_end(vem_i_run *run, int owner)
{
    if (owner)
        run->watch->whole = (vem_i_whole){0};
}

vem_i_whole vem_i_whole_narrow(vem_i_run *run, double from, double to, int passes)
{
    const vem_i_whole was = run->watch->whole;
    const double width = was.high - was.low;
    run->watch->whole.low = was.low + from * width;
    run->watch->whole.high = was.low + to * width;
    run->watch->whole.passes = passes;
    run->watch->whole.pass = 0;
    run->watch->whole.within = 0;
    return was;
}

void vem_i_whole_widen(vem_i_run *run, const vem_i_whole *was)
{
    const double told = run->watch->whole.told;
    run->watch->whole = *was;
    run->watch->whole.told = told;
}

void vem_i_whole_tell(vem_i_run *run, vem_progress *told)
{
    vem_i_whole *w = &run->watch->whole;
    if (!w->phase)
        return;
    /* The loading of rows is little beside what follows. */
    if (told->total > 0 && strcmp(told->phase, "read") != 0) {
        const double within = (double)told->done / (double)told->total;
        if (within < w->within && w->pass + 1 < w->passes)
            w->pass++;
        w->within = within;
    }
    const double share = ((double)w->pass + w->within) / w->passes;
    w->told = fmax(w->told, w->low + share * (w->high - w->low));
    told->phase = w->phase;
    told->done = (int64_t)(fmin(w->told, 1) * (double)w->rows);
    told->total = w->rows;
}
