/* The loop: E-step, end?, moves, M-step; and who watches it. */
#ifndef VEM_EM_EM_H
#define VEM_EM_EM_H

#include "data/cells.h"
#include "em/move.h"
#include "em/schedule.h"

struct vem_i_em;

/* Moves of a loop, at most. */
enum { VEM_I_MOVES = 5 };

/* What those are told who watch the steps of a loop: checkpoint, deadline, undo; and who gives it
 * other items before a step (moves/descend.h). */
typedef enum vem_i_event {
    VEM_I_STEP_BEGINS, /* the loop could be left here and entered again (em_record.c); with
                          em->within it was entered, and the E-step is done already */
    VEM_I_STEP_SCORED, /* the E-step is over; who wants an end or a stop has it with this step */
    VEM_I_STEP_ASKED, /* nothing has happened, but time has passed: who wants what by now? */
    VEM_I_STEP_RESTS, /* the loop ends here, unless a move lets it go on */
    VEM_I_STEP_LAST,  /* the loop ends here, and could be entered again */
    VEM_I_STEP_ENDS,  /* the M-step is over, and what follows it */
    VEM_I_STEP_LEFT   /* the E-step was given up in its middle */
} vem_i_event;

/* What they answer. */
typedef enum vem_i_wish {
    VEM_I_GO_ON,
    VEM_I_ENOUGH, /* it ends as out of its budget */
    VEM_I_STOP    /* it was told to */
} vem_i_wish;

/* They watch, and change nothing that F is of; but descend, which changes what the items are before an E-step,
 * when all that is held is found anew (moves/descend.h). */
typedef struct vem_i_observer {
    int (*observe)(void *user, struct vem_i_em *em, vem_i_event event); /* or NULL */
    void *user;
} vem_i_observer;
/* Who watches, in the order in which they are told. */
enum {
    VEM_I_WATCHES_FIT,     /* checkpoint, what the starts missed (fit/attempt.c) */
    VEM_I_WATCHES_DESCENT, /* other items before a step (moves/descend.c) */
    VEM_I_WATCHES_UNDO,    /* what the last whole step was, deadline (em/last_step.c) */
    VEM_I_WATCHES_RUN,     /* stops (em_watch.c) */
    VEM_I_OBSERVERS
};

/* Items that may be divided where the loop rests (moves/refine.c): cells: of the view; NULL: they may
 * not. */
typedef struct vem_i_divisible {
    vem_i_cells *cells;
    int64_t expand; /* so many at a time; 0: as many as promise something */
    /* Asked at every rest: is F near enough? What is scored for it counts there. NULL: nobody. */
    vem_status (*near_enough)(void *user, struct vem_i_em *em, int *enough);
    void *user;
} vem_i_divisible;

/* What follows the E-step at hand. */
typedef enum vem_i_next {
    VEM_I_NEXT_M,
    VEM_I_NEXT_E,  /* of the same model: its items were divided */
    VEM_I_NEXT_END /* em->outcome says why */
} vem_i_next;

typedef struct vem_i_em {
    /* What is asked. */
    vem_i_run *run;
    const vem_options *options; /* resolved; but for the limit of steps, which is: */
    int64_t max_steps;          /* of this loop */
    const vem_view *view;
    vem_i_constraints constraints;
    int64_t
        shared_steps; /* M-steps with one variance and flat weights before all is freed */
    int64_t steps_before;         /* of the loops before this one, for whoever is told */
    const vem_trace_step *before; /* the last of them, or NULL */
    int variance_unknown; /* all variances are one guess: the first E-step tells (HFL 8)
                           */
    int scale_free; /* the tolerance is a change of F beside D / 2, not beside |F| */
    vem_i_schedule schedule;
    vem_i_listed moves[VEM_I_MOVES]; /* tried in this order */
    /* What they are made of (moves/moves.c); the loop asks the moves themselves. */
    int grows;    /* clusters are inserted, up to the capacity of the model */
    int hands_on; /* what is held begins another loop: the limit of steps ends it behind
                                the moves, not before them */
    int priced;   /* prices of clusters change (moves/price.c) */
    vem_i_divisible divisible;
    vem_i_move_name routine; /* made before every step: the loop may rest all the same */
    uint64_t seed;           /* of what they are drawn from */
    vem_i_observer observers[VEM_I_OBSERVERS];
    int may_skip; /* whether an E-step may be given up (parallel.h): then it can be undone */
    /* What it works on. The model is in the units of the view. */
    vem_model *model;
    vem_i_scorer scorer;
    vem_i_estep *estep;
    const vem_i_search_spec *search; /* of its search */
    vem_i_posterior posterior;
    vem_i_stats stats;
    /* Where it is: before step `step`, or within it, after its E-step, where a state is written or
     * read there. */
    int64_t step;
    int within;
    vem_i_next next;
    vem_i_step doing; /* in the step, where it is within one */
    int midway; /* the E-step at hand has changed the model (epoch.c): there is no way back */
    /* What happened. */
    vem_status failed;   /* of a move that could not be made for an error */
    vem_outcome outcome; /* BUDGET with 0 steps: F and labels are not known */
    int64_t steps, pairs;
    int64_t reseeds; /* rounds in which clusters were reseeded, or might have been */
    double free_energy,
        free_energy_first; /* per unit of mass, in the units of the data */
    vem_i_trace trace;
} vem_i_em;

/* Takes all memory the loop needs. run, options, view, model are set by the caller; the search has
 * room for as many clusters as the model. */
vem_status vem_i_em_new(vem_i_em *em, const vem_i_search_spec *search);
void vem_i_em_free(vem_i_em *em);
/* From the beginning, or from where a record left it. */
vem_status vem_i_em_run(vem_i_em *em);
/* The E-step of a loop that keeps its statistics in blocks, all of which it knows: block after block,
 * with an M-step between them. */
vem_i_estep_result vem_i_em_epoch(vem_i_em *em, const vem_progress *told);
/* The view has another number of items, no more than it was made for. */
void vem_i_em_resize(vem_i_em *em);
/* Items or clusters are others: the next step looks at all items. */
void vem_i_em_forget_blocks(const vem_i_em *em);
/* Tells all observers, and says what they want (em_watch.c). */
vem_i_wish vem_i_em_observe(vem_i_em *em, vem_i_event event);
int vem_i_em_stopped(vem_i_em *em);    /* asked between two events */
void vem_i_em_watch_run(vem_i_em *em); /* the run becomes an observer */
/* All that the rest of the loop depends on. Read into a loop that was made with the same
 * options and a model of as many clusters as there were at its beginning. */
void vem_i_em_record(vem_i_record *record, vem_i_em *em);
/* The change of F from one step to the next at which the loop rests. 0: when nothing moves. */
double vem_i_em_threshold(const vem_i_em *em, double free_energy);
/* About how many more steps until then (steps_left.c); 0: no idea. */
double vem_i_em_steps_left(const vem_i_em *em);
/* How many clusters there are and will be, for whoever is told. */
void vem_i_em_tell_size(const vem_i_em *em, vem_progress *told);
/* After the E-step: does the loop end, or does a move at rest let it go on? em->next says it
 * (em_rest.c). */
vem_status vem_i_em_rest(vem_i_em *em);
/* One more move, behind those that it has; there is a slot for it. */
vem_status vem_i_em_take_move(vem_i_em *em, const vem_i_move *move);
/* The moves of this moment, one after the other, until one has acted, where there is anything for them
 * to do. */
void vem_i_em_moves(vem_i_em *em, vem_i_moment when);
/* One of them: its name and what it acted on go into the trace. 0: it was not made. */
int vem_i_em_act(vem_i_em *em, const vem_i_listed *listed);
/* The first move of a moment; NULL: there is none. */
const vem_i_move *vem_i_em_move(const vem_i_em *em, vem_i_moment when);
/* For moves: what is held is scored and weighed again with the scorer as it is now. Returns
 * F per unit of mass. */
double vem_i_em_again(vem_i_em *em);
/* The same, for `holds` of a move: F is no less than in the E-step. */
int vem_i_em_holds(vem_i_em *em);
/* Scores made beside the E-step: they count for the fit and for the step at hand. */
void vem_i_em_count(vem_i_em *em, int64_t pairs);

#endif
