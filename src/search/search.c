/* From options to a spec, and from a spec to a search. */
#include "search/search.h"

#include "base/memory.h"
#include "base/options.h"

#define TYPE(NAME, name, whole) &vem_i_search_type_##name,
static const vem_i_search_type *const types[] = {VEM_SEARCH_TABLE(TYPE)};

const vem_i_search_type *vem_i_search_type_of(int kind)
{
    return types[kind];
}

int vem_i_search_plain(void)
{
    return VEM_SEARCH_CLOSEST;
}

int vem_i_search_apart(int kind)
{
    return types[kind]->apart ? VEM_AUTO : vem_i_search_plain();
}

static int32_t at_most(int64_t value, int32_t most)
{
    return value < most ? (int32_t)value : most;
}

vem_i_search_spec vem_i_search_all(int32_t clusters)
{
    return (vem_i_search_spec){.type = &vem_i_search_type_all,
                               .whole = 1,
                               .dense = 1,
                               .clusters = clusters,
                               .capacity = clusters,
                               .held = clusters};
}

vem_i_search_spec vem_i_search_closest(int32_t clusters, int32_t held, double margin)
{
    if (vem_i_search_is_long(clusters, held)) {
        vem_i_search_spec all = vem_i_search_all(clusters);
        all.held = at_most(held, clusters);
        return all;
    }
    return (vem_i_search_spec){.type = &vem_i_search_type_closest,
                               .whole = 1,
                               .clusters = clusters,
                               .capacity = clusters,
                               .held = held,
                               .margin = margin};
}

vem_i_search_spec vem_i_search_for(const vem_options *o, uint64_t seed)
{
    const int32_t clusters = (int32_t)o->clusters, held = (int32_t)o->held;
    if (o->search == VEM_SEARCH_ALL)
        return vem_i_search_all(clusters);
    const vem_i_search_type *type = types[o->search];
    if (vem_i_search_is_whole(o->search)) {
        vem_i_search_spec spec =
            vem_i_search_closest(clusters, held, type->takes_margin ? o->margin : 0);
        spec.type = spec.dense ? spec.type : type;
        return spec;
    }
    return (vem_i_search_spec){.type = type,
                               .clusters = clusters,
                               .capacity = clusters,
                               .held = held,
                               .reach = at_most(o->reach, clusters),
                               .explore = o->explore > 0 ? (int32_t)o->explore : 0,
                               .seed = seed,
                               .probe = o->probe > 0 ? (int32_t)o->probe : 0};
}

void vem_i_search_make_room(vem_i_search_spec *spec, int32_t capacity)
{
    if (capacity <= spec->capacity)
        return;
    if (spec->dense && spec->held == spec->capacity)
        spec->held = capacity;
    spec->capacity = capacity;
}

/* The arrays behind the scratch of a thread. */
static size_t list_scratch(const vem_i_search_spec *spec, int32_t d,
                           const vem_i_kernels *kernels, void *scratch, vem_i_room *list)
{
    return spec->type->scratch ? spec->type->scratch(spec, d, kernels, scratch, list) : 0;
}

static vem_status take_thread(vem_i_search *s, const vem_i_block_shape *shape, int thread)
{
    vem_i_block *block = &s->blocks[thread];
    vem_i_room list[VEM_I_SEARCH_ARRAYS];
    vem_status status = vem_i_block_new(s->run, shape, s->view, s->scorer, thread, block);
    block->scratch = s->scratch + (size_t)thread * s->spec.type->scratch_size;
    const size_t count =
        list_scratch(&s->spec, s->view->d, s->view->kernels, block->scratch, list);
    return status == VEM_OK ? vem_i_take_rooms(s->run, list, count) : status;
}

vem_status vem_i_search_new(vem_i_run *run, const vem_i_search_spec *spec,
                            const vem_view *view, const vem_i_scorer *scorer,
                            vem_i_search **search)
{
    const vem_i_search_type *type = spec->type;
    const vem_i_block_shape shape = type->shape(spec, view->kernels);
    const size_t threads = (size_t)run->threads;
    vem_i_search *s;
    vem_status status = vem_i_take_structs(run, &s, 1, type->size);
    if (status != VEM_OK)
        return status;
    s->spec = *spec;
    s->run = run;
    s->view = view;
    s->scorer = scorer;
    status = vem_i_take_structs(run, &s->scratch, threads, type->scratch_size);
    if (status == VEM_OK)
        status = vem_i_take_structs(run, &s->blocks, threads, sizeof *s->blocks);
    for (int i = 0; status == VEM_OK && i < run->threads; i++)
        status = take_thread(s, &shape, i);
    if (status == VEM_OK && type->create)
        status = type->create(s);
    if (status == VEM_OK)
        *search = s;
    else
        vem_i_search_free(s);
    return status;
}

void vem_i_search_free(vem_i_search *s)
{
    if (!s)
        return;
    if (s->spec.type->free)
        s->spec.type->free(s);
    for (int i = 0; s->blocks && i < s->run->threads; i++) {
        vem_i_room list[VEM_I_SEARCH_ARRAYS];
        if (s->blocks[i].scratch)
            vem_i_free_rooms(list, list_scratch(&s->spec, 0, s->view->kernels,
                                                s->blocks[i].scratch, list));
        vem_i_block_free(&s->blocks[i]);
    }
    vem_i_free(s->scratch);
    vem_i_free(s->blocks);
    vem_i_free(s);
}

const int32_t *vem_i_search_next(vem_i_search *search, vem_i_block *block, int64_t i,
                                 int64_t end, const int32_t *held)
{
    vem_i_block_load(block, i, at_most(end - i, block->capacity));
    return held ? held + i * vem_i_search_width(&search->spec) : NULL;
}

vem_i_block *vem_i_search_block(vem_i_search *search, int64_t number, int thread)
{
    vem_i_block *block = &search->blocks[thread];
    vem_i_search_next(search, block, number * block->capacity, search->view->n, NULL);
    search->spec.type->find(search, block, NULL);
    return block;
}
