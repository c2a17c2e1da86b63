/* A sum by pairs over processes.
 *
 *     sum(a, n) = a_1 + ... + a_n in order          n <= LEAF
 *               = sum(first half) + sum(the rest)   else                     (vem_i_sum)
 *
 * is a tree over the numbers of the shards. A process knows a stretch of them, and so all nodes that
 * lie within its stretch. It tells the value of those that are not within another such node, and of
 * leaves that reach beyond its stretch the shards themselves: at most 2 (LEAF + log2 of their number)
 * numbers. Then everybody has the numbers of all, walks the same tree, and takes them as it comes to
 * them. */
#include "base/memory.h"
#include "base/parallel.h"
#include "comm/comm.h"

enum { LEAF = VEM_I_SUM_LEAF, MOST = 2 * (LEAF + 64) };

typedef struct stretches {
    const int64_t *begins; /* size + 1: which shards a process has */
    int size;
    const double *values; /* this process's, */
    int rank;             /* while it tells; or */
    double *told;         /* what was told: */
    int64_t *at;          /* where each process is in it */
    int64_t count;
} stretches;

/* Who has shard `s`. */
static int owner(const stretches *t, int64_t s)
{
    int p = 0;
    while (t->begins[p + 1] <= s)
        p++;
    return p;
}

static int within(const stretches *t, int p, int64_t from, int64_t to)
{
    return from >= t->begins[p] && to <= t->begins[p + 1];
}

static void tell(stretches *t, int64_t from, int64_t n)
{
    const int64_t begin = t->begins[t->rank], end = t->begins[t->rank + 1];
    if (from + n <= begin || from >= end)
        return;
    if (within(t, t->rank, from, from + n)) {
        t->told[t->count++] = vem_i_sum(t->values + (from - begin), n);
        return;
    }
    if (n > LEAF) {
        tell(t, from, n / 2);
        tell(t, from + n / 2, n - n / 2);
        return;
    }
    for (int64_t s = from; s < from + n; s++)
        if (s >= begin && s < end)
            t->told[t->count++] = t->values[s - begin];
}

static double walk(stretches *t, int64_t from, int64_t n)
{
    const int p = owner(t, from);
    if (within(t, p, from, from + n))
        return t->told[t->at[p]++];
    if (n > LEAF) {
        const double first = walk(t, from, n / 2);
        return first + walk(t, from + n / 2, n - n / 2);
    }
    double sum = 0;
    for (int64_t s = from; s < from + n; s++)
        sum += t->told[t->at[owner(t, s)]++];
    return sum;
}

double vem_i_comm_shards(const vem_i_run *run, const double *values, int64_t count,
                         int64_t total)
{
    vem_i_comm *comm = run->comm;
    if (comm->files)
        return comm->files->shards(comm, values, count, total);
    vem_i_run alone = vem_i_comm_alone(run);
    const size_t size = (size_t)comm->size;
    double mine[MOST] = {0}, sum = 0;
    size_t *bytes = NULL;
    int64_t *begins = NULL, *at = NULL;
    double *all = NULL;
    const vem_i_room rooms[] = {{&bytes, size, sizeof *bytes, 0},
                                {&begins, 2 * size + 1, sizeof *begins, 0},
                                {&all, size * MOST, sizeof *all, 0}};
    const vem_status status = vem_i_take_rooms(&alone, rooms, VEM_I_COUNT(rooms));
    if (status != VEM_OK)
        vem_i_comm_fail(comm, status);
    for (size_t p = 0; !comm->failed && p < size; p++)
        bytes[p] = sizeof(int64_t);
    if (!comm->failed) {
        at = begins + size + 1;
        comm->gather(comm, &count, at, bytes);
    }
    if (!comm->failed) {
        begins[0] = 0;
        for (size_t p = 0; p < size; p++)
            begins[p + 1] = begins[p] + at[p];
        stretches t = {.begins = begins,
                       .size = comm->size,
                       .values = values,
                       .rank = comm->rank,
                       .told = mine};
        tell(&t, 0, total);
        for (size_t p = 0; p < size; p++)
            bytes[p] = MOST * sizeof(double);
        comm->gather(comm, mine, all, bytes);
        for (size_t p = 0; p < size; p++)
            at[p] = (int64_t)p * MOST;
        t.told = all;
        t.at = at;
        if (!comm->failed)
            sum = walk(&t, 0, total);
    }
    vem_i_free_rooms(rooms, VEM_I_COUNT(rooms));
    return sum;
}
