/* What is not asked for, where rows are spread over processes.
 *
 * What one process would take several take, too, where that is spread; else what is nearest to it, the closest
 * clusters among all, and no cells. That finds another model, and so it is said. What was asked for is not
 * changed, and refused where it is not spread. */
#include <stdio.h>
#include <string.h>

#include "comm/comm.h"
#include "fit/presets.h"
#include "fit/processes.h"
#include "fit/resolve.h"
#include "search/search.h"

enum { TEXT = 32 };

/* Adds "--search closest" to the one list, "--search groups" to the other, where these differ. */
static void compare(const char *name, const vem_options *taken, const vem_options *alone,
                    char *takes, char *would, size_t size)
{
    char now[TEXT], then[TEXT];
    if (!vem_options_get(taken, name, now, sizeof now) ||
        !vem_options_get(alone, name, then, sizeof then) || strcmp(now, then) == 0)
        return;
    const size_t a = strlen(takes), b = strlen(would);
    snprintf(takes + a, size - a, "%s--%s %s", a ? ", " : "", name, now);
    snprintf(would + b, size - b, "%s--%s %s", b ? ", " : "", name, then);
}

static void say(const vem_i_run *run, const vem_options *taken, const vem_options *alone,
                vem_i_spread *s)
{
    static const char *const names[] = {"search", "seeding", "swaps", "cells"};
    char takes[160] = "", would[160] = "";
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        compare(names[i], taken, alone, takes, would, sizeof takes);
    if (*takes)
        snprintf(
            s->note, sizeof s->note,
            "over %d processes the fit took %s, where one process takes %s and finds "
            "another model, mostly a better one.",
            run->comm->size, takes, would);
}

vem_status vem_i_processes_choose(vem_i_run *run, const vem_data *data,
                                  const vem_model *start, const vem_options **asked,
                                  vem_i_spread *s)
{
    const vem_options *given = *asked;
    vem_options alone, taken, *o = &s->options;
    if (!run->comm || !vem_i_is_ours(given))
        return VEM_OK;
    vem_status status = vem_i_fit_resolve(run, data, given, start, &alone);
    if (status != VEM_OK || vem_i_reduces(&alone, data->n))
        return status;
    *o = *given;
    if (o->cells == VEM_AUTO && alone.cells > 0)
        o->cells = 0;
    const vem_i_programme p = vem_i_programme_of(&alone, 1, start != NULL, data->n,
                                                 data->d, vem_i_data_row_values(data));
    int other = vem_i_search_apart(alone.search);
    if (vem_i_programme_find(&p, VEM_I_STAGE_LEADING) && vem_i_comm_by_files(run->comm))
        other = vem_i_search_plain();
    if (o->search == VEM_AUTO && other != VEM_AUTO) {
        o->search = other;
        if (o->swaps == VEM_AUTO) /* which a search that is asked for has none of */
            o->swaps = alone.swaps;
    }
    status = vem_i_fit_resolve(run, data, o, start, &taken);
    if (status != VEM_OK)
        return status;
    say(run, &taken, &alone, s);
    *asked = o;
    return VEM_OK;
}
