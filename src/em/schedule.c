#include "em/schedule.h"

enum {
    FIND_STEPS = 3,
    LAST_PROBE = 2, /* the step of the last phase in which all items look around again */
    REFRESH = 4     /* then lists are found anew every so many steps */
};
static const double RELAX = 1.5;

void vem_i_schedule_settle(vem_i_schedule *s, int probes)
{
    s->phase = VEM_I_SETTLE;
    s->count = LAST_PROBE - (probes ? 1 : 0);
}

vem_i_step vem_i_schedule_next(vem_i_schedule *s)
{
    vem_i_step step = {.relax = 1, .may_end = 1};
    if (!s->groups && s->rounds == 0)
        return step;
    int probe = s->groups ? s->probe : 0;
    s->count++;
    switch (s->phase) {
    case VEM_I_FIND:
        step.relax = RELAX;
        step.may_end = 0;
        /* What the seeding knows is good enough for shared lists to begin with. */
        step.plan.probe = s->count == 1 && s->placed ? 0 : probe;
        step.plan.only_far = s->crowded && s->count == FIND_STEPS;
        if (s->count == FIND_STEPS) {
            s->phase = s->rounds > 0 ? VEM_I_SWAP : VEM_I_SETTLE;
            s->count = 0;
        }
        break;
    case VEM_I_SWAP:
        step.swap = step.plan.look_further = 1;
        step.may_end = 0;
        s->phase = VEM_I_CALM;
        break;
    case VEM_I_CALM:
        /* Shared lists miss what moved far: every second round those items look around
         * that are far from their cluster. */
        s->count--;
        step.relax = RELAX;
        step.may_end = 0;
        step.plan.probe = s->count % 2 == 0 ? probe : 0;
        step.plan.only_far = 1;
        s->phase = s->count < s->rounds ? VEM_I_SWAP : VEM_I_SETTLE;
        if (s->phase == VEM_I_SETTLE)
            s->count = 0;
        break;
    case VEM_I_PRICE:
        step.swap = step.plan.look_further = 1;
        step.plan.fresh = s->count % REFRESH == 0;
        step.may_end = 0;
        if (s->count >= s->rounds)
            vem_i_schedule_settle(s, 0);
        break;
    case VEM_I_SETTLE:
        /* The clusters hardly move any more: lists stay good for a while. */
        step.plan.probe = s->count == LAST_PROBE ? probe : 0;
        step.plan.only_far = s->crowded;
        step.plan.fresh = s->count % REFRESH == 0;
        step.may_end = !s->groups || s->count > LAST_PROBE;
        break;
    }
    return step;
}

void vem_i_schedule_gain(vem_i_schedule *s, double gain)
{
    if (!(gain >= s->enough) && s->phase == VEM_I_CALM)
        s->rounds = s->count; /* this round is the last */
    if (!(gain >= s->enough) && s->phase == VEM_I_PRICE)
        vem_i_schedule_settle(s, 0);
}
