/* Who watches a loop, and what they want of it: that it goes on, that it ends because there was enough
 * of it, or that it stops. The most that one of them wants counts. The run itself is the last of
 * them: it wants a stop from when the progress function said so, and where the loop asks between two
 * events, an end from the deadline on. That a step would end too late is for last_step.c to say. */
#include "base/run.h"
#include "em/em.h"

static int watch_run(void *user, vem_i_em *em, vem_i_event event)
{
    const vem_i_run *run = em->run;
    (void)user;
    if (run->watch->stop)
        return VEM_I_STOP;
    return event == VEM_I_STEP_ASKED && vem_i_late(run) ? VEM_I_ENOUGH : VEM_I_GO_ON;
}

void vem_i_em_watch_run(vem_i_em *em)
{
    em->observers[VEM_I_WATCHES_RUN] = (vem_i_observer){watch_run, NULL};
}

vem_i_wish vem_i_em_observe(vem_i_em *em, vem_i_event event)
{
    vem_i_wish most = VEM_I_GO_ON;
    for (int i = 0; i < VEM_I_OBSERVERS; i++)
        if (em->observers[i].observe) {
            const int wish = em->observers[i].observe(em->observers[i].user, em, event);
            most = wish > (int)most ? (vem_i_wish)wish : most;
        }
    return most;
}

int vem_i_em_stopped(vem_i_em *em)
{
    return vem_i_em_observe(em, VEM_I_STEP_ASKED) == VEM_I_STOP;
}
