/* How many threads can be had.
 *
 * OpenMP's runtime ends the process when a thread cannot be made (a limit on processes, or on
 * the address space that stacks take). So before a team grows, as many threads as it needs
 * are made here, with stacks as large, all alive at once, and ended again: a failure is then
 * a smaller number. */
#include <ctype.h>
#include <errno.h>
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/parallel.h"

static void *wait_at(void *arg)
{
    pthread_mutex_t *gate = arg;
    pthread_mutex_lock(gate); /* until all that can be had are there */
    pthread_mutex_unlock(gate);
    return NULL;
}

/* The stack that OpenMP's threads get: OMP_STACKSIZE is a number of KiB, or with B, K, M or G
 * behind it. 0: the system's own, or it is not understood. */
static size_t stack_asked(void)
{
    static const char units[] = "BKMG";
    const char *text = getenv("OMP_STACKSIZE");
    char *end;
    errno = 0;
    const unsigned long long number = text ? strtoull(text, &end, 10) : 0;
    if (!number || errno)
        return 0;
    end += strspn(end, " \t");
    const char *unit = *end ? strchr(units, toupper((unsigned char)*end)) : units + 1;
    const int shift = unit ? 10 * (int)(unit - units) : 64;
    return shift < 64 && number <= SIZE_MAX >> shift ? (size_t)number << shift : 0;
}

int vem_i_threads_had(int wanted)
{
    pthread_attr_t how;
    pthread_mutex_t gate = PTHREAD_MUTEX_INITIALIZER;
    pthread_t *made = wanted > 1 ? malloc((size_t)(wanted - 1) * sizeof *made) : NULL;
    int count = 0;
    if (!made)
        return 1;
    const size_t stack = stack_asked();
    pthread_attr_init(&how);
    if (stack)
        pthread_attr_setstacksize(&how, stack);
    pthread_mutex_lock(&gate);
    while (count < wanted - 1 && pthread_create(&made[count], &how, wait_at, &gate) == 0)
        count++;
    pthread_mutex_unlock(&gate);
    pthread_attr_destroy(&how);
    for (int i = 0; i < count; i++)
        pthread_join(made[i], NULL);
    pthread_mutex_destroy(&gate);
    free(made);
    if (count == wanted - 1)
        return wanted;
    /* At the limit: half of them, so that the stacks leave room for what they work on. */
    return count / 2 + 1;
}
