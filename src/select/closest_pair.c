#include "select/closest_pair.h"

#include <math.h>
#include <string.h>

enum { ROOMS = 3 + VEM_I_CLOSEST_ROOMS };

#define TYPE(NAME, name, what) &vem_i_closest_type_##name,
static const vem_i_closest_type *const types[] = {VEM_PAIRS_TABLE(TYPE)};
#undef TYPE

/* ---- Scans ---- */

typedef struct scan {
    const vem_i_distances *distances;
    int32_t from;
    const int32_t *to;
    int64_t count;
    vem_i_pair_found *best;
} scan;

static vem_i_pair_found nearest_of(const vem_i_distances *distances, int32_t from,
                                   const int32_t *to, int64_t count, int thread)
{
    double out[VEM_I_SCAN];
    vem_i_pair_found best = {-1, -1, 0};
    for (int64_t begin = 0; begin < count; begin += VEM_I_SCAN) {
        const int64_t piece = count - begin < VEM_I_SCAN ? count - begin : VEM_I_SCAN;
        distances->measure(distances->user, from, to + begin, piece, out, thread);
        for (int64_t i = 0; i < piece; i++)
            if (best.a < 0 || out[i] < best.distance)
                best = (vem_i_pair_found){from, to[begin + i], out[i]};
    }
    return best;
}

static void scan_piece(void *arg, int64_t task, int thread)
{
    const scan *s = arg;
    const int64_t begin = task * VEM_I_SCAN;
    const int64_t piece = s->count - begin < VEM_I_SCAN ? s->count - begin : VEM_I_SCAN;
    s->best[task] = nearest_of(s->distances, s->from, s->to + begin, piece, thread);
}

vem_status vem_i_closest_look(const vem_i_closest *closest)
{
    return vem_i_progress(closest->run, &closest->told, 0) ? VEM_STOPPED : VEM_OK;
}

vem_status vem_i_closest_scan(vem_i_closest *closest, int32_t from, const int32_t *to,
                              int64_t count, vem_i_pair_found *found)
{
    scan s = {&closest->distances, from, to, count, closest->best};
    const int64_t pieces = vem_i_shards(count, VEM_I_SCAN);
    vem_i_pair_found best = {-1, -1, 0};
    vem_i_parallel_light(closest->run, pieces, closest->distances.operations * VEM_I_SCAN,
                         scan_piece, &s);
    for (int64_t i = 0; i < pieces; i++)
        if (best.a < 0 || s.best[i].distance < best.distance)
            best = s.best[i];
    closest->evaluations += count;
    *found = best.a < 0 ? best : vem_i_pair_of(best.a, best.b, best.distance);
    return vem_i_closest_look(closest);
}

/* ---- The set ---- */

int32_t vem_i_closest_place(const vem_i_closest *closest, int32_t object)
{
    int32_t low = 0, high = closest->count;
    while (low < high) {
        const int32_t middle = low + (high - low) / 2;
        if (closest->live[middle] < object)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* All that the set keeps: how many arrays. */
static size_t rooms_of(vem_i_closest *c, vem_i_room list[ROOMS])
{
    const size_t count = (size_t)c->capacity;
    const size_t pieces = (size_t)vem_i_shards(c->capacity, VEM_I_SCAN);
    list[0] = (vem_i_room){&c->live, count, sizeof *c->live, 0};
    list[1] = (vem_i_room){&c->list, count, sizeof *c->list, 0};
    list[2] = (vem_i_room){&c->best, pieces, sizeof *c->best, 0};
    return 3 + (c->type->rooms ? c->type->rooms(c, list + 3) : 0);
}

vem_status vem_i_closest_new(vem_i_run *run, vem_pairs_method method,
                             const vem_i_distances *distances, int32_t capacity,
                             vem_i_closest **closest)
{
    const vem_i_closest_type *type = types[method];
    vem_i_room rooms[ROOMS];
    vem_i_closest *made;
    vem_status status = vem_i_take_structs(run, &made, 1, type->size);
    if (status != VEM_OK)
        return status;
    made->type = type;
    made->run = run;
    made->distances = *distances;
    made->capacity = capacity;
    made->told = (vem_progress){.phase = "pair", .free_energy = NAN};
    status = vem_i_take_rooms(run, rooms, rooms_of(made, rooms));
    if (status == VEM_OK && made->live && type->clear)
        type->clear(made);
    if (status != VEM_OK) {
        vem_i_closest_free(made);
        return status;
    }
    *closest = made;
    return VEM_OK;
}

void vem_i_closest_free(vem_i_closest *closest)
{
    vem_i_room rooms[ROOMS];
    if (!closest)
        return;
    vem_i_free_rooms(rooms, rooms_of(closest, rooms));
    vem_i_free(closest);
}

vem_status vem_i_closest_begin(vem_i_closest *closest, int32_t count)
{
    for (int32_t i = 0; i < count; i++)
        closest->live[i] = i;
    closest->count = count;
    return closest->type->begin ? closest->type->begin(closest) : VEM_OK;
}

vem_status vem_i_closest_insert(vem_i_closest *closest, int32_t object)
{
    const int32_t at = vem_i_closest_place(closest, object);
    memmove(closest->live + at + 1, closest->live + at,
            (size_t)(closest->count - at) * sizeof *closest->live);
    closest->live[at] = object;
    closest->count++;
    return closest->type->inserted ? closest->type->inserted(closest, object) : VEM_OK;
}

vem_status vem_i_closest_remove(vem_i_closest *closest, int32_t object)
{
    const int32_t at = vem_i_closest_place(closest, object);
    closest->count--;
    memmove(closest->live + at, closest->live + at + 1,
            (size_t)(closest->count - at) * sizeof *closest->live);
    return closest->type->removed ? closest->type->removed(closest, object) : VEM_OK;
}

vem_status vem_i_closest_find(vem_i_closest *closest, vem_i_pair_found *pair)
{
    *pair = (vem_i_pair_found){-1, -1, 0};
    return closest->count < 2 ? VEM_OK : closest->type->find(closest, pair);
}

/* ---- Brute force ---- */

static vem_status find_brute(vem_i_closest *closest, vem_i_pair_found *pair)
{
    vem_status status = VEM_OK;
    for (int32_t i = 0; status == VEM_OK && i + 1 < closest->count; i++) {
        vem_i_pair_found found;
        status = vem_i_closest_scan(closest, closest->live[i], closest->live + i + 1,
                                    closest->count - i - 1, &found);
        if (vem_i_pair_before(found, *pair))
            *pair = found;
    }
    return status;
}

const vem_i_closest_type vem_i_closest_type_brute = {
    .size = sizeof(vem_i_closest),
    .find = find_brute,
};
