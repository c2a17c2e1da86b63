/* How many threads can be had.
 *
 * OpenMP's runtime ends the process when a thread cannot be made (a limit on processes, or on
 * the address space that stacks take). So before a team grows, as many threads as it needs
 * are made here, all alive at once, and ended again: a failure is then a smaller number. */
#include <pthread.h>
#include <stdlib.h>

#include "base/parallel.h"

static void *wait_at(void *arg)
{
    pthread_mutex_t *gate = arg;
    pthread_mutex_lock(gate); /* until all that can be had are there */
    pthread_mutex_unlock(gate);
    return NULL;
}

int vem_i_threads_had(int wanted)
{
    pthread_mutex_t gate = PTHREAD_MUTEX_INITIALIZER;
    pthread_t *made = wanted > 1 ? malloc((size_t)(wanted - 1) * sizeof *made) : NULL;
    int count = 0;
    if (!made)
        return 1;
    pthread_mutex_lock(&gate);
    while (count < wanted - 1 && pthread_create(&made[count], NULL, wait_at, &gate) == 0)
        count++;
    pthread_mutex_unlock(&gate);
    for (int i = 0; i < count; i++)
        pthread_join(made[i], NULL);
    pthread_mutex_destroy(&gate);
    free(made);
    if (count == wanted - 1)
        return wanted;
    /* At the limit: half of them, so that the stacks leave room for what they work on. */
    return count / 2 + 1;
}
