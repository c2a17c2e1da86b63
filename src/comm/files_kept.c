/* What a process keeps for itself, how far it is, and what nobody needs any more (files.c). */
#include "comm/files_inside.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"

static void name_kept(const vem_i_comm *comm, char path[VEM_I_PATH])
{
    const vem_i_files *t = vem_i_files_of(comm);
    snprintf(path, VEM_I_PATH, "%s/k%" PRId64 ".%d", t->folder, t->at, comm->rank + 1);
}

int vem_i_files_recall(vem_i_comm *comm, const vem_i_kept *list, int count,
                       vem_i_kept *rest)
{
    char path[VEM_I_PATH];
    size_t had = 0, needed = 0, at = 0;
    name_kept(comm, path);
    char *bytes = comm->failed ? NULL : vem_i_files_read(path, &had);
    for (int i = 0; i < count; i++)
        needed += list[i].count;
    int fits = bytes && (rest ? had >= needed : had == needed);
    if (fits && rest) {
        rest->count = had - needed;
        rest->bytes = vem_i_alloc(rest->count + 1, 1);
        fits = rest->bytes != NULL;
    }
    for (int i = 0; fits && i < count; at += list[i++].count)
        memcpy(list[i].bytes, bytes + at, list[i].count);
    if (fits && rest)
        memcpy(rest->bytes, bytes + at, rest->count);
    vem_i_free(bytes);
    return fits;
}

void vem_i_files_keep(vem_i_comm *comm, const vem_i_kept *list, int count)
{
    char path[VEM_I_PATH];
    size_t needed = 0, at = 0;
    for (int i = 0; i < count; i++)
        needed += list[i].count;
    char *bytes = comm->failed ? NULL : vem_i_alloc(needed + 1, 1);
    for (int i = 0; bytes && i < count; at += list[i++].count)
        memcpy(bytes + at, list[i].bytes, list[i].count);
    name_kept(comm, path);
    if (bytes)
        vem_i_files_write(comm, path, bytes, needed);
    vem_i_free(bytes);
}

/* ---- how far it is ---- */

void vem_i_files_record(vem_i_record *r, vem_i_comm *comm)
{
    vem_i_files *t = vem_i_files_of(comm);
    vem_i_record_count(r, "call", &t->at, 0, VEM_I_RECORD_MOST);
    vem_i_record_block(r, "sent", t->sent, VEM_I_MOST_PARTS, sizeof *t->sent);
    vem_i_record_block(r, "heard", t->heard, VEM_I_MOST_PARTS, sizeof *t->heard);
    t->last = t->at;
}

int vem_i_files_pair(const char *path, int64_t pair[2])
{
    FILE *file = fopen(path, "re");
    const int read =
        file && fscanf(file, "%" SCNd64 " %" SCNd64, &pair[0], &pair[1]) == 2;
    if (file)
        fclose(file);
    return read;
}

static void write_pair(const char *path, int64_t a, int64_t b)
{
    char text[64];
    const size_t count =
        (size_t)snprintf(text, sizeof text, "%" PRId64 " %" PRId64 "\n", a, b);
    vem_i_whole_write(path, (const void *const[]){text}, &count, 1);
}

/* What at.<p> says: the calls, and of each other process how many files its state has sent to it and heard
 * from it, and from which on those that were heard are still there. */
typedef struct how_far {
    int64_t calls[2];
    struct {
        int64_t sent, heard, swept;
    } of[VEM_I_MOST_PARTS];
} how_far;

static int read_far(const vem_i_comm *comm, int rank, how_far *far)
{
    char path[VEM_I_PATH];
    vem_i_part_path(vem_i_files_of(comm)->folder, VEM_I_PART_AT, rank, path);
    FILE *file = fopen(path, "re");
    int whole =
        file && fscanf(file, "%" SCNd64 " %" SCNd64, &far->calls[0], &far->calls[1]) == 2;
    for (int p = 0; whole && p < comm->size; p++)
        whole = fscanf(file, "%" SCNd64 " %" SCNd64 " %" SCNd64, &far->of[p].sent,
                       &far->of[p].heard, &far->of[p].swept) == 3;
    if (file)
        fclose(file);
    return whole;
}

static void write_far(const vem_i_comm *comm, const how_far *far)
{
    char path[VEM_I_PATH], text[(VEM_I_MOST_PARTS + 1) * 64];
    size_t used = (size_t)snprintf(text, sizeof text, "%" PRId64 " %" PRId64 "\n",
                                   far->calls[0], far->calls[1]);
    for (int p = 0; p < comm->size; p++)
        used += (size_t)snprintf(text + used, sizeof text - used,
                                 "%" PRId64 " %" PRId64 " %" PRId64 "\n", far->of[p].sent,
                                 far->of[p].heard, far->of[p].swept);
    vem_i_part_path(vem_i_files_of(comm)->folder, VEM_I_PART_AT, comm->rank, path);
    vem_i_whole_write(path, (const void *const[]){text}, &used, 1);
}

/* Takes away what was sent to this process, that its state before this one had heard, and that the state of
 * who sent it will not send again. */
static void sweep_heard(const vem_i_comm *comm, const how_far *before, how_far *now)
{
    const vem_i_files *t = vem_i_files_of(comm);
    char path[VEM_I_PATH];
    for (int p = 0; p < comm->size; p++) {
        how_far there;
        if (now->of[p].swept >= before->of[p].heard || !read_far(comm, p, &there))
            continue;
        const int64_t sent = there.of[comm->rank].sent, heard = before->of[p].heard;
        for (; now->of[p].swept < heard && now->of[p].swept < sent; now->of[p].swept++) {
            vem_i_files_name_sent(t, now->of[p].swept, p, comm->rank, path);
            unlink(path);
        }
    }
}

/* How far the state is that was written. */
static void tell_how_far(const vem_i_comm *comm)
{
    const vem_i_files *t = vem_i_files_of(comm);
    how_far before, now = {.calls = {t->loaded, t->at}};
    const int had = read_far(comm, comm->rank, &before);
    for (int p = 0; p < comm->size; p++) {
        now.of[p].sent = t->sent[p];
        now.of[p].heard = t->heard[p];
        now.of[p].swept = had ? before.of[p].swept : t->heard_every_time[p];
    }
    if (had)
        sweep_heard(comm, &before, &now);
    write_far(comm, &now);
}

/* Takes away what no state needs, of calls that are not made every time. */
static void sweep(vem_i_comm *comm)
{
    const vem_i_files *t = vem_i_files_of(comm);
    char path[VEM_I_PATH];
    int64_t pair[2], swept[2] = {t->loaded, t->loaded}, least = INT64_MAX;
    for (int p = 0; p < comm->size; p++) {
        vem_i_part_path(t->folder, VEM_I_PART_AT, p, path);
        if (!vem_i_files_pair(path, pair))
            return;
        least = pair[1] < least ? pair[1] : least;
    }
    snprintf(path, sizeof path, "%s/swept", t->folder);
    vem_i_files_pair(path, swept);
    for (int64_t call = swept[0]; call < swept[1]; call++) {
        char name[VEM_I_PATH];
        for (int p = 0; p < comm->size; p++) {
            vem_i_files_name(t, call, p, name);
            unlink(name);
            snprintf(name, sizeof name, "%s/k%" PRId64 ".%d", t->folder, call, p + 1);
            unlink(name);
        }
        snprintf(name, sizeof name, "%s/r%" PRId64, t->folder, call);
        unlink(name);
    }
    if (least > swept[1])
        write_pair(path, swept[1], least);
}

void vem_i_files_stepped(vem_i_comm *comm, int loaded)
{
    vem_i_files *t = vem_i_files_of(comm);
    if (loaded) {
        t->loaded = t->at;
        memcpy(t->heard_every_time, t->heard, sizeof t->heard);
        return;
    }
    t->last = t->at;
    tell_how_far(comm);
    if (comm->rank == 0)
        sweep(comm);
}

int vem_i_files_is_due(vem_i_comm *comm)
{
    return !comm->failed && vem_i_files_of(comm)->last != vem_i_files_of(comm)->at;
}
