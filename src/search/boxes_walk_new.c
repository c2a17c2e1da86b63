/* The memory of a walk over boxes. */
#include <string.h>

#include "base/memory.h"
#include "base/parallel.h"
#include "search/boxes_inside.h"

/* Most roots: on each level of the tree no more than TASKS nodes are above one. */
enum { MOST_ROOTS = VEM_I_BOXES_TASKS * VEM_I_BOXES_DEPTH + 1 };

static int64_t least(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

static size_t rooms_of_walker(const vem_i_walk *t, vem_i_walker *k, vem_i_room list[15])
{
    const vem_i_scorer *s = t->scorer;
    const size_t c = (size_t)s->capacity, d = (size_t)s->d, real = sizeof(double),
                 element = s->kernels->element, block = VEM_I_BLOCK;
    const vem_i_room rooms[] = {
        {&k->lists, c, (VEM_I_BOXES_DEPTH + 2) * sizeof *k->lists, 0},
        {&k->costs, c, sizeof *k->costs, 0},
        {&k->center, d, real, 0},
        {&k->half, d, real, 0},
        {&k->slopes, d, real, 0},
        {&k->others, d, real, 0},
        {&k->work, d, real, 0},
        {&k->panels, block, d * element, 0},
        {&k->tile, block, VEM_I_TILE * element, 0},
        {&k->best, block, 2 * element, 0},
        {&k->q, block, element, 0},
        {&k->index, block, 2 * sizeof *k->index, 0},
        {&k->got, block, sizeof *k->got, 0},
        {&k->places, c + 2, sizeof *k->places, 0},
        {&k->sorted, block, sizeof *k->sorted, 0},
    };
    memcpy(list, rooms, sizeof rooms);
    return VEM_I_COUNT(rooms);
}

static size_t rooms_of(vem_i_walk *t, vem_i_room list[6])
{
    const size_t roots = (size_t)least(MOST_ROOTS, t->boxes->tree->spec.nodes),
                 c = (size_t)t->scorer->capacity;
    const vem_i_room rooms[] = {
        {&t->touched, VEM_I_BOXES_TASKS + 1, c, 0},
        {&t->alive, roots, (size_t)t->words * sizeof *t->alive, 0},
        {&t->decided, roots, sizeof *t->decided, 0},
        {&t->work, (size_t)t->scorer->d, sizeof *t->work, 0},
        {&t->label, (size_t)t->boxes->tree->spec.nodes, sizeof *t->label, 0},
        {&t->stamp, (size_t)t->boxes->tree->spec.nodes, sizeof *t->stamp, 1},
    };
    memcpy(list, rooms, sizeof rooms);
    return VEM_I_COUNT(rooms);
}

static vem_status take_walker(vem_i_walk *t, vem_i_walker *k)
{
    vem_i_shape shape = vem_i_scorer_shape(t->scorer);
    vem_i_room list[15];
    shape.clusters = shape.capacity = (int32_t)least(shape.capacity, VEM_I_TILE);
    vem_i_run alone = vem_i_run_alone(t->run); /* no scratch for other threads */
    vem_status status = vem_i_take_rooms(t->run, list, rooms_of_walker(t, k, list));
    return status == VEM_OK
               ? vem_i_scorer_new(&alone, t->scorer->kernels, shape, &k->some)
               : status;
}

vem_status vem_i_walk_new(vem_i_run *run, const vem_i_boxes *boxes,
                          const vem_i_scorer *scorer, vem_i_block *blocks,
                          vem_i_walk **walk)
{
    vem_i_walk *t;
    vem_i_room list[6];
    vem_status status = vem_i_take_structs(run, &t, 1, sizeof *t);
    if (status != VEM_OK)
        return status;
    t->run = run;
    t->boxes = boxes;
    t->scorer = scorer;
    t->blocks = blocks;
    t->words = vem_i_shards(scorer->capacity, 64);
    status = vem_i_box_coster_new(run, scorer, &t->coster);
    if (status == VEM_OK)
        status = vem_i_take_rooms(run, list, rooms_of(t, list));
    if (status == VEM_OK)
        status = vem_i_take_structs(run, &t->walkers, (size_t)run->threads,
                                    sizeof *t->walkers);
    for (int i = 0; status == VEM_OK && i < run->threads; i++)
        status = take_walker(t, &t->walkers[i]);
    if (status == VEM_OK)
        status = vem_i_take_structs(run, &t->partial, VEM_I_BOXES_TASKS + 1,
                                    sizeof *t->partial);
    for (int i = 0; status == VEM_OK && i <= VEM_I_BOXES_TASKS; i++)
        status = vem_i_stats_new(run, vem_i_scorer_shape(scorer), &t->partial[i]);
    if (status == VEM_OK)
        *walk = t;
    else
        vem_i_walk_free(t);
    return status;
}

void vem_i_walk_free(vem_i_walk *t)
{
    vem_i_room list[15];
    if (!t)
        return;
    for (int i = 0; t->walkers && i < t->run->threads; i++) {
        vem_i_free_rooms(list, rooms_of_walker(t, &t->walkers[i], list));
        vem_i_scorer_free(&t->walkers[i].some);
    }
    for (int i = 0; t->partial && i <= VEM_I_BOXES_TASKS; i++)
        vem_i_stats_free(&t->partial[i]);
    vem_i_free_rooms(list, rooms_of(t, list));
    vem_i_box_coster_free(&t->coster);
    vem_i_free(t->walkers);
    vem_i_free(t->partial);
    vem_i_free(t);
}
