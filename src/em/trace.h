/* What happened step by step: one line each, with the name of what acted on clusters
 * beside the E- and the M-step. */
#ifndef VEM_EM_TRACE_H
#define VEM_EM_TRACE_H

#include "base/record.h"

/* The names of all moves, by their numbers in records: append. A finish is a stage of the
 * fit (fit/attempt.c), which holds fewer clusters from there on, and descending gives the
 * loop other items before every step (moves/descend.h). Between the loops of a search for the number
 * of clusters (select/divide.c) these are divided, joined, or two divided anew, several
 * at once; or the loop goes on to its end (settle), with rows that share clusters
 * (soften), or from what was found beside it. Labels are capped (cap) where a fit has ended
 * (moves/cap_rounds.c). The others are objects (em.h). */
typedef enum vem_i_move_name {
    VEM_I_MOVE_NONE,
    VEM_I_MOVE_SWAP,
    VEM_I_MOVE_DROP,
    VEM_I_MOVE_RESEED,
    VEM_I_MOVE_FINISH,
    VEM_I_MOVE_REFINE,
    VEM_I_MOVE_INSERT,
    VEM_I_MOVE_DESCEND,
    VEM_I_MOVE_SPLIT,
    VEM_I_MOVE_JOIN,
    VEM_I_MOVE_SPLIT_JOIN,
    VEM_I_MOVE_RESPLIT,
    VEM_I_MOVE_SETTLE,
    VEM_I_MOVE_SOFTEN,
    VEM_I_MOVE_BESIDE,
    VEM_I_MOVE_PRICE,
    VEM_I_MOVE_CAP,
    VEM_I_MOVE_NAMES
} vem_i_move_name;
/* Lines of a trace point to these. */
extern const char *const vem_i_move_names[VEM_I_MOVE_NAMES];

typedef struct vem_i_trace {
    vem_trace_step *steps; /* from malloc */
    int64_t count, capacity;
} vem_i_trace;

vem_status vem_i_trace_add(vem_i_run *run, vem_i_trace *trace,
                           const vem_trace_step *line);
/* The line that was added last; there is one. */
vem_trace_step *vem_i_trace_last(const vem_i_trace *trace);
/* What was done behind that step, and how many it acted on. */
void vem_i_trace_name(vem_i_trace *trace, vem_i_move_name move, int64_t moved);
/* The trace is empty when it is read. */
void vem_i_trace_record(vem_i_record *record, vem_i_trace *trace);
void vem_i_trace_free(vem_i_trace *trace);

#endif
