/* Moves: what acts on clusters, or on items, beside E- and M-step, by one contract for a loop over items
 * (em.h) and for a search for the number of clusters, between its loops (select/divide.c). */
#ifndef VEM_EM_MOVE_H
#define VEM_EM_MOVE_H

#include "base/record.h"
#include "em/trace.h"

/* When a move is tried. */
typedef enum vem_i_moment {
    VEM_I_AFTER_E, /* in the steps that the schedule has for it; the statistics follow, of what
                      is held then */
    VEM_I_AFTER_M, /* in every step that makes one; or `where_empty` */
    VEM_I_AT_REST, /* after the E-step that would be the last: where one is made, the loop goes
                      on (em_rest.c) */
    VEM_I_BETWEEN_LOOPS /* of a search for the number of clusters */
} vem_i_moment;

/* What the limit of steps is to a move at rest. */
typedef enum vem_i_limit {
    VEM_I_LIMIT_ENDS,  /* it is not asked there */
    VEM_I_LIMIT_ASKS,  /* it is asked there too, */
    VEM_I_LIMIT_RENEWS /* and the limit is that of the steps from one to the next */
} vem_i_limit;

/* One with a price is ranked by what is known and accepted by what is measured; one without is
 * made because it was asked for, and F may fall. F is what its subject maximises: of a search,
 * its objective. A state knows its subject. Members may be NULL where it says so. */
typedef struct vem_i_move {
    vem_i_move_name name; /* in the trace */
    vem_i_moment when;
    int where_empty; /* after the M-step: only in steps in which clusters hold nothing */
    /* subject: a vem_i_em, or a vem_i_divider (select/divide_inside.h). NULL: the subject is its
     * state, and there is no `free`. `free` meets what a `create` that failed left; NULL: the state
     * is another's. */
    vem_status (*create)(void *subject, void **state);
    void (*free)(void *state);
    /* What F would gain in all; not above 0: there is nothing to make. A guess, where the move
     * is measured; else no more than F gains. NULL: no price. */
    double (*price)(void *state);
    /* Makes what has that price: in a loop model and posterior change, and before the M-step the
     * scorer too. Returns how many clusters (of a search: changes) it acted on;
     * -1: it was not made, and all is as before; where that is an error its subject says so. */
    int64_t (*make)(void *state);
    /* Measures F. 0: it is not good enough to stay made. NULL: it stays. */
    int (*holds)(void *state);
    /* Everything is as before `make`; the price is that of what comes next. NULL: there is no
     * `holds`. */
    void (*undo)(void *state);
    /* It stays: whoever has to know is told. NULL: `make` has done that. */
    void (*settle)(void *state);
    int64_t tries; /* how often at most, where it is taken back; 0: once */
    int ends_loop; /* the loop ends with the last of its rounds, wherever F is by then */
    /* At rest: */
    vem_i_limit limit;
    int acts_on_items; /* the next step is an E-step of the same model */
    /* It was not asked, or there was no time to answer: might it have let the loop go on? NULL: yes. */
    int (*open)(const void *state);
    /* What its next round needs to know beside what its subject records, which was recorded
     * before; of one that acts on items, behind the search. NULL: nothing. */
    void (*record)(vem_i_record *record, void *state);
} vem_i_move;

/* A move with its state. */
typedef struct vem_i_listed {
    const vem_i_move *move; /* NULL: no more */
    void *state;
} vem_i_listed;

/* Priced, made, measured and, where it does not hold, taken back: up to `tries` times. As `make`
 * says, and -1 where it was not made or taken back; and what it promised, 0 where it was taken back. */
int64_t vem_i_move_try(const vem_i_listed *listed, double *promised);

#endif
