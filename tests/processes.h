/* Processes that are threads of one program, which meet at a barrier: the communicator of each
 * (comm/comm.h). One group of them at a time. */
#ifndef VEM_TESTS_PROCESSES_H
#define VEM_TESTS_PROCESSES_H

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "comm/comm.h"
#include "context.h"

enum { MOST = 8 };

/* What they share. */
static pthread_barrier_t barrier;
static const void *shown[MOST]; /* what each has for the others to see */
static char *sent[MOST][MOST];  /* from, to */
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;

/* A message lies there until its receiver has taken it; there is one at a time. */
static void send(vem_i_comm *comm, int to, const void *bytes, size_t count)
{
    char *copy = malloc(count + 1);
    assert_non_null(copy);
    memcpy(copy, bytes, count);
    pthread_mutex_lock(&mutex);
    while (sent[comm->rank][to])
        pthread_cond_wait(&changed, &mutex);
    sent[comm->rank][to] = copy;
    pthread_cond_broadcast(&changed);
    pthread_mutex_unlock(&mutex);
}

static void receive(vem_i_comm *comm, int from, void *bytes, size_t count)
{
    pthread_mutex_lock(&mutex);
    while (!sent[from][comm->rank])
        pthread_cond_wait(&changed, &mutex);
    memcpy(bytes, sent[from][comm->rank], count);
    free(sent[from][comm->rank]);
    sent[from][comm->rank] = NULL;
    pthread_cond_broadcast(&changed);
    pthread_mutex_unlock(&mutex);
}

static void broadcast(vem_i_comm *comm, int from, void *bytes, size_t count)
{
    shown[comm->rank] = bytes;
    pthread_barrier_wait(&barrier);
    if (comm->rank != from)
        memcpy(bytes, shown[from], count);
    pthread_barrier_wait(&barrier);
}

static void gather(vem_i_comm *comm, const void *mine, void *all, const size_t *counts)
{
    size_t at = 0;
    shown[comm->rank] = mine;
    pthread_barrier_wait(&barrier);
    for (int p = 0; p < comm->size; at += counts[p++])
        memcpy((char *)all + at, shown[p], counts[p]);
    pthread_barrier_wait(&barrier);
}

static void combine_one(vem_i_combining how, void *to, const void *from, size_t i)
{
    if (how == VEM_I_SUM_INT)
        ((int64_t *)to)[i] += ((const int64_t *)from)[i];
    else if (how == VEM_I_LEAST_INT && ((const int64_t *)from)[i] < ((int64_t *)to)[i])
        ((int64_t *)to)[i] = ((const int64_t *)from)[i];
    else if (how == VEM_I_MOST_REAL && ((const double *)from)[i] > ((double *)to)[i])
        ((double *)to)[i] = ((const double *)from)[i];
    else if (how == VEM_I_OR_BYTES)
        ((char *)to)[i] = (char)(((char *)to)[i] | ((const char *)from)[i]);
}

static void combine(vem_i_comm *comm, vem_i_combining how, void *values, size_t count)
{
    const size_t bytes = count * (how == VEM_I_OR_BYTES ? 1 : sizeof(int64_t));
    char *met = malloc(bytes + 1);
    assert_non_null(met);
    memcpy(met, values, bytes);
    shown[comm->rank] = values;
    pthread_barrier_wait(&barrier);
    for (int p = 0; p < comm->size; p++)
        for (size_t i = 0; p != comm->rank && i < count; i++)
            combine_one(how, met, shown[p], i);
    pthread_barrier_wait(&barrier);
    memcpy(values, met, bytes);
    free(met);
}

static void leave_group(vem_i_comm *comm)
{
    (void)comm;
}

static vem_i_comm process_of(int rank, int size)
{
    return (vem_i_comm){.rank = rank,
                        .size = size,
                        .send = send,
                        .receive = receive,
                        .broadcast = broadcast,
                        .combine = combine,
                        .gather = gather,
                        .free = leave_group};
}

/* Each runs with its own argument, `bytes` apart. */
static inline void run_processes(int size, void *(*work)(void *), void *args,
                                 size_t bytes)
{
    pthread_t threads[MOST];
    pthread_barrier_init(&barrier, NULL, (unsigned)size);
    for (int p = 0; p < size; p++)
        assert_int_equal(pthread_create(&threads[p], NULL, work,
                                        (char *)args + (size_t)p * bytes),
                         0);
    for (int p = 0; p < size; p++)
        pthread_join(threads[p], NULL);
    pthread_barrier_destroy(&barrier);
}

#endif
