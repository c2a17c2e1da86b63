/* What processes do together, by files (files.c). */
#include "comm/files_inside.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/parallel.h"

static const char other_lengths[] =
    "Parts say things of different lengths: they are not of one fit.";

/* The same of as many bytes as these. */
static void hear_into(vem_i_comm *comm, int64_t call, int p, void *to, size_t count)
{
    size_t had = 0;
    char *bytes = vem_i_files_hear(comm, call, p, &had);
    if (bytes && to && had == count)
        memcpy(to, bytes, count);
    else if (bytes)
        vem_i_files_leave(comm, 0, other_lengths);
    vem_i_free(bytes);
}

static void say_call(vem_i_comm *comm, int64_t call, const void *bytes, size_t count)
{
    char path[VEM_I_PATH];
    vem_i_files_name(vem_i_files_of(comm), call, comm->rank, path);
    vem_i_files_say(comm, path, bytes, count);
}

/* Says its own, and, unless this is a rehearsal, waits for the others. 0: nothing is to be heard. */
static int meet(vem_i_comm *comm, int64_t call, const void *bytes, size_t count)
{
    if (comm->failed)
        return 0;
    say_call(comm, call, bytes, count);
    if (vem_i_files_of(comm)->rehearsed >= 0)
        return 0;
    vem_i_files_await(comm, call, -1);
    return !comm->failed;
}

static void send(vem_i_comm *comm, int to, const void *bytes, size_t count)
{
    vem_i_files *t = vem_i_files_of(comm);
    char path[VEM_I_PATH];
    vem_i_files_name_sent(t, t->sent[to]++, comm->rank, to, path);
    vem_i_files_say(comm, path, bytes, count);
}

static void receive(vem_i_comm *comm, int from, void *bytes, size_t count)
{
    vem_i_files *t = vem_i_files_of(comm);
    char path[VEM_I_PATH];
    vem_i_files_name_sent(t, t->heard[from]++, from, comm->rank, path);
    size_t had = 0;
    char *got = vem_i_files_get(comm, path, from, &had);
    if (got && had == count)
        memcpy(bytes, got, count);
    else if (got)
        vem_i_files_leave(comm, 0, other_lengths);
    vem_i_free(got);
}

static void broadcast(vem_i_comm *comm, int from, void *bytes, size_t count)
{
    vem_i_files *t = vem_i_files_of(comm);
    const int64_t call = t->at++;
    if (comm->rank == from) {
        say_call(comm, call, bytes, count);
        return;
    }
    if (t->rehearsed >= 0)
        return;
    vem_i_files_await(comm, call, from);
    hear_into(comm, call, from, bytes, count);
}

/* Values of another process into those of this one; no order changes any. */
static void mix_in(vem_i_combining how, void *values, const void *others, size_t count)
{
    int64_t *whole = values;
    double *real = values;
    unsigned char *bits = values;
    const int64_t *whole_there = others;
    const double *real_there = others;
    const unsigned char *bits_there = others;
    for (size_t i = 0; i < count; i++)
        switch (how) {
        case VEM_I_SUM_INT: whole[i] += whole_there[i]; break;
        case VEM_I_LEAST_INT:
            whole[i] = whole_there[i] < whole[i] ? whole_there[i] : whole[i];
            break;
        case VEM_I_MOST_REAL:
            real[i] = real_there[i] > real[i] ? real_there[i] : real[i];
            break;
        case VEM_I_OR_BYTES: bits[i] |= bits_there[i]; break;
        }
}

static void combine(vem_i_comm *comm, vem_i_combining how, void *values, size_t count)
{
    static const size_t width[] = {sizeof(int64_t), sizeof(int64_t), sizeof(double), 1};
    const size_t bytes = count * width[how];
    const int64_t call = vem_i_files_of(comm)->at++;
    if (!meet(comm, call, values, bytes))
        return;
    char *there = vem_i_alloc(bytes + 1, 1);
    if (!there)
        vem_i_files_leave(comm, 0, "Memory could not be had.");
    for (int p = 0; p < comm->size && !comm->failed; p++) {
        if (p == comm->rank)
            continue;
        hear_into(comm, call, p, there, bytes);
        if (!comm->failed)
            mix_in(how, values, there, count);
    }
    vem_i_free(there);
}

static void gather(vem_i_comm *comm, const void *mine, void *all, const size_t *counts)
{
    const int64_t call = vem_i_files_of(comm)->at++;
    if (!meet(comm, call, mine, counts[comm->rank]))
        return;
    char *to = all;
    for (int p = 0; p < comm->size && !comm->failed; to += counts[p++])
        hear_into(comm, call, p, to, counts[p]);
}

/* The values of all, one process after the other. */
static double shards(vem_i_comm *comm, const double *values, int64_t count, int64_t total)
{
    const int64_t call = vem_i_files_of(comm)->at++;
    double sum = 0;
    if (!meet(comm, call, values, (size_t)count * sizeof *values))
        return 0;
    double *all = vem_i_alloc((size_t)total, sizeof *all);
    size_t at = 0;
    if (!all) {
        vem_i_files_leave(comm, 0, "Memory could not be had.");
        return 0;
    }
    for (int p = 0; p < comm->size && !comm->failed; p++) {
        size_t had = 0;
        char *bytes = vem_i_files_hear(comm, call, p, &had);
        if (bytes && at + had <= (size_t)total * sizeof *all)
            memcpy((char *)all + at, bytes, had);
        at += had;
        vem_i_free(bytes);
    }
    if (!comm->failed && at != (size_t)total * sizeof *all)
        vem_i_files_leave(comm, 0, other_lengths);
    if (!comm->failed)
        sum = vem_i_sum(all, total);
    vem_i_free(all);
    return sum;
}

static void add_blocks(vem_i_comm *comm, int64_t call, double *sums, int64_t count)
{
    for (int p = 0; p < comm->size && !comm->failed; p++) {
        size_t had = 0;
        char *bytes = vem_i_files_hear(comm, call, p, &had);
        const size_t each = (size_t)count * sizeof *sums, blocks = had / each;
        const double *values = (const double *)(const void *)bytes;
        for (size_t b = 0; bytes && b < blocks; b++)
            for (int64_t i = 0; i < count; i++)
                sums[i] += values[b * (size_t)count + (size_t)i];
        if (bytes && had % each != 0)
            vem_i_files_leave(comm, 0, other_lengths);
        vem_i_free(bytes);
    }
}

/* Whoever has all blocks first leaves their sum for the others. */
static void sum(vem_i_comm *comm, double *sums, int64_t count,
                const vem_i_own_blocks *blocks)
{
    vem_i_files *t = vem_i_files_of(comm);
    const int64_t call = t->at++, many = blocks->to - blocks->from;
    const size_t each = (size_t)count * sizeof *sums;
    char path[VEM_I_PATH];
    if (comm->failed || count == 0)
        return;
    char *mine = vem_i_alloc((size_t)many * each + 1, 1);
    if (!mine) {
        vem_i_files_leave(comm, 0, "Memory could not be had.");
        return;
    }
    for (int64_t b = 0; b < many; b++)
        memcpy(mine + (size_t)b * each, blocks->at(blocks->arg, blocks->from + b), each);
    say_call(comm, call, mine, (size_t)many * each);
    vem_i_free(mine);
    if (t->rehearsed >= 0)
        return;
    size_t had = 0;
    snprintf(path, sizeof path, "%s/r%" PRId64, t->folder, call);
    char *made = vem_i_files_read(path, &had);
    if (made && had == each) {
        memcpy(sums, made, each);
    } else {
        vem_i_files_await(comm, call, -1);
        add_blocks(comm, call, sums, count);
        if (!comm->failed)
            vem_i_files_write(comm, path, sums, each);
    }
    vem_i_free(made);
}

static void rehearse(vem_i_comm *comm, int begins)
{
    vem_i_files *t = vem_i_files_of(comm);
    if (!begins)
        t->at = t->rehearsed;
    t->rehearsed = begins ? t->at : -1;
}

static void leave_with(vem_i_comm *comm, const char *sentence)
{
    vem_i_files_leave(comm, 0, sentence);
}

static const vem_i_by_files by_files = {.sum = sum,
                                        .shards = shards,
                                        .rehearse = rehearse,
                                        .recall = vem_i_files_recall,
                                        .keep = vem_i_files_keep,
                                        .record = vem_i_files_record,
                                        .stepped = vem_i_files_stepped,
                                        .is_due = vem_i_files_is_due,
                                        .leave = leave_with};

void vem_i_files_calls(vem_i_comm *comm)
{
    comm->files = &by_files;
    comm->send = send;
    comm->receive = receive;
    comm->broadcast = broadcast;
    comm->combine = combine;
    comm->gather = gather;
}
