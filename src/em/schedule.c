#include "em/schedule.h"
#include <stdlib.h>
#include <string.h>

enum { FIND_STEPS = 3, REFRESH = 4 };
static const double RELAX = 1.5;

static vem_i_stage plain(void)
{
    return (vem_i_stage){.relax = 1, .may_end = 1};
}

vem_i_stage vem_i_schedule_next(vem_i_schedule *s)
{
    vem_i_stage stage = plain();
    if (!s->groups && s->rounds == 0)
        return stage;
    s->count++;
    switch (s->phase) {
    case VEM_I_FIND:
        stage.step.probe = s->groups ? s->probe : 0;
        if (getenv("FS") && getenv("FS")[s->count - 1] == 'g')
            stage.step.probe = 0;
        if (getenv("FS") && getenv("FS")[s->count - 1] == 'f') stage.step.only_far = 1;
        stage.relax = RELAX;
        stage.may_end = 0;
        if (s->count == (getenv("FS") ? (int)strlen(getenv("FS")) : FIND_STEPS)) {
            s->phase = s->rounds > 0 ? VEM_I_SWAP : VEM_I_SETTLE;
            s->count = 0;
        }
        break;
    case VEM_I_SWAP:
        stage.swap = stage.step.look_further = 1;
        stage.may_end = 0;
        s->phase = VEM_I_CALM;
        break;
    case VEM_I_CALM:
        /* Shared lists miss what moved far: every second round the items look around. */
        s->count--;
        stage.step.probe = s->groups && s->count % 2 == 0 ? s->probe : 0;
        stage.step.only_far = getenv("CFAR") != NULL;
        stage.relax = RELAX;
        stage.may_end = 0;
        s->phase = s->count < s->rounds ? VEM_I_SWAP : VEM_I_SETTLE;
        if (s->phase == VEM_I_SETTLE)
            s->count = 0;
        break;
    case VEM_I_SETTLE:
        /* The clusters hardly move any more: lists stay good for a while. */
        stage.step.fresh = s->count % REFRESH == 0;
        break;
    }
    return stage;
}

void vem_i_schedule_gain(vem_i_schedule *s, double gain)
{
    if (gain < s->enough && s->phase == VEM_I_CALM)
        s->rounds = s->count; /* this round is the last */
}
