/* Memory taken for a run, which is told when there is none. */
#ifndef VEM_BASE_MEMORY_H
#define VEM_BASE_MEMORY_H

#include "base/alloc.h"
#include "base/run.h"

/* An array: as vem_i_alloc, but writes *out and records a message: VEM_OK or VEM_NO_MEMORY. */
vem_status vem_i_take(vem_i_run *run, void *out_pointer, size_t count, size_t size);
vem_status vem_i_take_zeroed(vem_i_run *run, void *out_pointer, size_t count,
                             size_t size);
/* Structs that hold what is taken, zeroed. */
vem_status vem_i_take_structs(vem_i_run *run, void *out_pointer, size_t count,
                              size_t size);

/* Memory plans run constructors dry: under a run that counts, arrays are counted and stay NULL,
 * and structs are there, so that a constructor differs only in leaving its arrays alone. What it
 * made is freed as usual. So a plan says what will be taken, by construction; whoever hands it out
 * asks first whether there was memory to make it. */
static inline vem_i_run vem_i_run_dry(const vem_i_run *run, uint64_t *counted)
{
    vem_i_run dry = *run;
    dry.counted = counted;
    *counted = 0;
    return dry;
}

/* What was counted so far. */
static inline uint64_t vem_i_counted(const vem_i_run *run)
{
    return run->counted ? *run->counted : 0;
}
/* Where a part of the work gives back all it took, before another begins: what was counted, which
 * is `before` again; and then, that it was no less than that. */
static inline uint64_t vem_i_count_back(const vem_i_run *run, uint64_t before)
{
    const uint64_t was = vem_i_counted(run);
    if (run->counted)
        *run->counted = before;
    return was;
}
static inline void vem_i_count_least(const vem_i_run *run, uint64_t least)
{
    if (run->counted && *run->counted < least)
        *run->counted = least;
}
vem_status vem_i_plan_made(vem_i_run *run);

/* Several arrays, so that one list says what an object takes, gives back, and plans. */
typedef struct vem_i_room {
    void *out; /* address of the pointer, which is NULL or was taken so */
    size_t count, size;
    int zeroed;
} vem_i_room;
#define VEM_I_COUNT(list) (sizeof(list) / sizeof *(list))

/* What was taken before a failure stays; arrays of count 0 are left out. */
vem_status vem_i_take_rooms(vem_i_run *run, const vem_i_room *list, size_t count);
void vem_i_free_rooms(const vem_i_room *list, size_t count);

#endif
