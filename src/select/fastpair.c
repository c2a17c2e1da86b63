/* Every object knows its nearest among those with larger numbers.
 *
 * After Eppstein's FastPair, in the order of the numbers and lazily. An object x
 * answers for the pairs (x, y), y > x, with a key: the least of their distances, or
 * less. New objects have the largest numbers and measure all that there are; where
 * that is nearer than the key of x, it becomes the key, and is exact. When the nearest
 * of x is removed, what is left is no nearer than it was: the key stays as a bound,
 * and x is scanned again only when no other key is less. Most are not: their next
 * partner comes before.
 *
 * The least key, once it is exact, is the closest pair, and the first of those that
 * are equally close: scans keep the first, new objects replace only what is farther.
 *
 * N (N - 1) / 2 distances at the beginning, the number of objects for each insertion,
 * and one scan for each bound that came up. */
#include <math.h>

#include "select/closest_pair.h"

typedef struct fastpair {
    vem_i_closest base;
    double *key;      /* INFINITY: x answers for nothing */
    int32_t *nearest; /* -1: removed, the key is a bound */
    double *out;      /* of the object that is inserted */
} fastpair;

static size_t rooms(vem_i_closest *closest, vem_i_room *list)
{
    fastpair *f = (fastpair *)closest;
    const size_t count = (size_t)closest->capacity;
    list[0] = (vem_i_room){&f->key, count, sizeof *f->key, 0};
    list[1] = (vem_i_room){&f->nearest, count, sizeof *f->nearest, 0};
    list[2] = (vem_i_room){&f->out, count, sizeof *f->out, 0};
    return 3;
}

static void keep(fastpair *f, int32_t x, vem_i_pair_found found)
{
    f->key[x] = found.a < 0 ? INFINITY : found.distance;
    f->nearest[x] = found.b;
}

/* Objects from both ends, so that each task has about as many pairs. */
static void begin_some(void *arg, int64_t task, int thread)
{
    fastpair *f = arg;
    const vem_i_closest *c = &f->base;
    const int64_t ends[2] = {task, c->count - 1 - task};
    for (int k = 0; k < (ends[0] < ends[1] ? 2 : 1); k++) {
        const int64_t i = ends[k];
        const int32_t x = c->live[i];
        double out[VEM_I_SCAN];
        vem_i_pair_found best = {-1, -1, 0};
        for (int64_t at = i + 1; at < c->count; at += VEM_I_SCAN) {
            const int64_t piece = c->count - at < VEM_I_SCAN ? c->count - at : VEM_I_SCAN;
            c->distances.measure(c->distances.user, x, c->live + at, piece, out, thread);
            for (int64_t j = 0; j < piece; j++)
                if (best.a < 0 || out[j] < best.distance)
                    best = (vem_i_pair_found){x, c->live[at + j], out[j]};
        }
        keep(f, x, best);
    }
}

static vem_status begin(vem_i_closest *closest)
{
    const double operations = closest->distances.operations * closest->count;
    if (vem_i_parallel_watched(closest->run, (closest->count + 1) / 2, operations,
                               begin_some, closest, &closest->told, VEM_I_SKIP))
        return VEM_STOPPED;
    closest->evaluations += (int64_t)closest->count * (closest->count - 1) / 2;
    return VEM_OK;
}

static void measure_some(void *arg, int64_t task, int thread)
{
    fastpair *f = arg;
    const vem_i_closest *c = &f->base;
    const int64_t begin = task * VEM_I_SCAN, left = c->count - 1 - begin;
    c->distances.measure(c->distances.user, c->live[c->count - 1], c->live + begin,
                         left < VEM_I_SCAN ? left : VEM_I_SCAN, f->out + begin, thread);
}

/* The object is the last of the list (its number is the largest). */
static vem_status inserted_last(fastpair *f, int32_t object)
{
    vem_i_closest *c = &f->base;
    const int32_t others = c->count - 1;
    vem_i_parallel_light(c->run, vem_i_shards(others, VEM_I_SCAN),
                         c->distances.operations * VEM_I_SCAN, measure_some, f);
    c->evaluations += others;
    for (int32_t i = 0; i < others; i++) {
        const int32_t x = c->live[i];
        if (f->out[i] < f->key[x]) {
            f->key[x] = f->out[i];
            f->nearest[x] = object;
        }
    }
    f->key[object] = INFINITY;
    f->nearest[object] = -1;
    return vem_i_closest_look(c);
}

static vem_status inserted(vem_i_closest *closest, int32_t object)
{
    fastpair *f = (fastpair *)closest;
    const int32_t at = vem_i_closest_place(closest, object);
    if (at == closest->count - 1)
        return inserted_last(f, object);
    /* One in between answers for those behind it, and those before it for it. */
    vem_i_pair_found found;
    vem_status status = VEM_OK;
    for (int32_t i = 0; status == VEM_OK && i < at; i++) {
        status = vem_i_closest_scan(closest, closest->live[i], &object, 1, &found);
        const int32_t x = closest->live[i];
        if (found.distance < f->key[x] ||
            (found.distance == f->key[x] && object < f->nearest[x]))
            keep(f, x, found);
    }
    if (status == VEM_OK)
        status = vem_i_closest_scan(closest, object, closest->live + at + 1,
                                    closest->count - at - 1, &found);
    if (status == VEM_OK)
        keep(f, object, found);
    return status;
}

static vem_status removed(vem_i_closest *closest, int32_t object)
{
    fastpair *f = (fastpair *)closest;
    for (int32_t i = 0; i < closest->count; i++)
        if (f->nearest[closest->live[i]] == object)
            f->nearest[closest->live[i]] = -1;
    return VEM_OK;
}

static vem_status find(vem_i_closest *closest, vem_i_pair_found *pair)
{
    fastpair *f = (fastpair *)closest;
    for (;;) {
        int32_t at = 0;
        for (int32_t i = 1; i + 1 < closest->count; i++)
            if (f->key[closest->live[i]] < f->key[closest->live[at]])
                at = i;
        const int32_t x = closest->live[at];
        if (f->nearest[x] >= 0) {
            *pair = vem_i_pair_of(x, f->nearest[x], f->key[x]);
            return VEM_OK;
        }
        vem_i_pair_found found;
        const vem_status status = vem_i_closest_scan(closest, x, closest->live + at + 1,
                                                     closest->count - at - 1, &found);
        if (status != VEM_OK)
            return status;
        keep(f, x, found);
    }
}

const vem_i_closest_type vem_i_closest_type_fastpair = {
    .size = sizeof(fastpair),
    .rooms = rooms,
    .begin = begin,
    .inserted = inserted,
    .removed = removed,
    .find = find,
};
