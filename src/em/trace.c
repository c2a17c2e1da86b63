#include "em/trace.h"

#include <stdlib.h>

vem_status vem_i_trace_add(vem_i_run *run, vem_i_trace *t, const vem_trace_step *line)
{
    if (t->count == t->capacity) {
        /* Taken as the loop goes, a few bytes for each step: nobody knows how many there will be, and
         * the limit may be 2^60. */
        const int64_t capacity = 2 * t->capacity + 64;
        vem_trace_step *grown = realloc(t->steps, (size_t)capacity * sizeof *grown);
        if (!grown)
            return vem_i_fail_memory(run, (size_t)capacity * sizeof *grown);
        t->steps = grown;
        t->capacity = capacity;
    }
    t->steps[t->count++] = *line;
    return VEM_OK;
}

vem_trace_step *vem_i_trace_last(const vem_i_trace *t)
{
    return &t->steps[t->count - 1];
}

void vem_i_trace_name(vem_i_trace *t, vem_i_move_name move, int64_t moved)
{
    vem_i_trace_last(t)->move = vem_i_move_names[move];
    vem_i_trace_last(t)->moved = moved;
}

void vem_i_trace_free(vem_i_trace *t)
{
    free(t->steps);
    *t = (vem_i_trace){0};
}

const char *const vem_i_move_names[VEM_I_MOVE_NAMES] = {
    [VEM_I_MOVE_SWAP] = "swap",       [VEM_I_MOVE_DROP] = "drop",
    [VEM_I_MOVE_RESEED] = "reseed",   [VEM_I_MOVE_FINISH] = "finish",
    [VEM_I_MOVE_REFINE] = "refine",   [VEM_I_MOVE_INSERT] = "insert",
    [VEM_I_MOVE_DESCEND] = "descend", [VEM_I_MOVE_SPLIT] = "split",
    [VEM_I_MOVE_JOIN] = "join",       [VEM_I_MOVE_SPLIT_JOIN] = "split and join",
    [VEM_I_MOVE_RESPLIT] = "resplit", [VEM_I_MOVE_SETTLE] = "settle",
    [VEM_I_MOVE_SOFTEN] = "soften",   [VEM_I_MOVE_BESIDE] = "beside",
    [VEM_I_MOVE_PRICE] = "price",     [VEM_I_MOVE_CAP] = "cap"};

static void record_step(vem_i_record *r, vem_trace_step *s)
{
    int64_t move = 0;
    while (move < VEM_I_MOVE_NAMES - 1 && vem_i_move_names[move] != s->move)
        move++;
    int64_t whole[] = {s->step, s->pairs, s->changed, s->empty, s->moved, move};
    double real[] = {s->free_energy, s->seconds};
    vem_i_record_block(r, "step", whole, sizeof whole / sizeof *whole, sizeof *whole);
    vem_i_record_block(r, "energy", real, sizeof real / sizeof *real, sizeof *real);
    for (int i = 0; i < 5; i++)
        if (r->status == VEM_OK &&
            (whole[i] < -VEM_I_RECORD_MOST || whole[i] > VEM_I_RECORD_MOST))
            vem_i_record_refuse(r, "step");
    if (r->status == VEM_OK && (whole[5] < 0 || whole[5] >= VEM_I_MOVE_NAMES))
        vem_i_record_refuse(r, "step");
    if (r->status == VEM_OK)
        *s = (vem_trace_step){.step = whole[0],
                              .pairs = whole[1],
                              .changed = whole[2],
                              .empty = whole[3],
                              .moved = whole[4],
                              .move = vem_i_move_names[whole[5]],
                              .free_energy = real[0],
                              .seconds = real[1]};
}

void vem_i_trace_record(vem_i_record *r, vem_i_trace *t)
{
    /* No more than the rest of the file has room for. */
    int64_t most = r->reading ? (int64_t)(r->left / sizeof(vem_trace_step)) : INT64_MAX;
    int64_t count = t->count;
    vem_i_record_count(r, "trace", &count, 0, most);
    for (int64_t i = 0; r->status == VEM_OK && i < count; i++) {
        if (r->reading)
            r->status = vem_i_trace_add(r->run, t, &(vem_trace_step){0});
        if (r->status == VEM_OK)
            record_step(r, &t->steps[i]);
    }
}
