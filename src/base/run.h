/* One call of a verb, as all below it see it: how many threads, until when, with how much memory,
 * and who is told how far it is. A verb begins with one; whoever wants less (one thread, an earlier
 * end), or tells it in other words, hands on a copy. The context stays as its owner set it, but for its message. */
#ifndef VEM_BASE_RUN_H
#define VEM_BASE_RUN_H

#include "base/ctx.h"

/* Work in parts whose progress is told as one (base/whole.h). */
typedef struct vem_i_whole {
    const char *phase; /* NULL: there is none */
    int64_t rows;
    double low, high; /* share of it that the part at hand is */
    int passes, pass; /* over its rows */
    double within;    /* the pass */
    double told;      /* share that was told last */
} vem_i_whole;

/* What was told and heard while a verb runs; one for all copies of a run. */
typedef struct vem_i_watch {
    double start;                /* clock when the verb began */
    double last;                 /* clock of the last call, to keep them a few a second */
    int64_t restart, restarts;   /* of a fit */
    int64_t resample, resamples; /* of a selection */
    _Atomic int stop;            /* the progress function said so */
    int asked;         /* it did here; of several processes none stops before all know */
    double shared;     /* seconds of the first process's clock, as all of them know it */
    const char *where; /* what the verb was doing when it was stopped; "" before */
    int team_asked, team; /* the largest team so far: wanted, and had */
    vem_i_whole whole;
    size_t unplanned; /* bytes that a plan could not have to be made; 0: it had all */
} vem_i_watch;

typedef struct vem_i_run {
    vem_ctx *ctx; /* kernels, files, settings, message; NULL: only a status travels */
    int threads;
    double deadline;          /* when the verb should be done, by vem_i_now; 0: none */
    uint64_t limit;           /* most resident bytes; 0: no limit */
    uint64_t *counted;        /* what constructors would take is added, and not taken
                          (base/memory.h); NULL: it is taken */
    struct vem_i_comm *comm;  /* other processes, which have other rows of what is worked
                          on; NULL: here are all of them */
    struct vem_i_comm *peers; /* other processes that run the same verb: clock, stops and
                          files are common to all. Those of `comm`, or where `comm` is NULL
                          they do the same with the same rows; NULL: none */
    vem_progress_fn progress; /* who is told how far the verb is; or NULL */
    void *progress_user;
    vem_i_watch *watch;
} vem_i_run;

/* What the public function of a verb keeps while it works. */
typedef struct vem_i_verb {
    vem_i_run run;
    vem_i_watch watch;
} vem_i_verb;

/* The run of a verb: first thing it does. Clears the message. ctx may be NULL. */
vem_i_run *vem_i_begin(vem_ctx *ctx, vem_i_verb *verb);
/* The same for what other verbs call in their middle, and what tells nobody how far it is: the
 * message stays. */
vem_i_run *vem_i_within(vem_ctx *ctx, vem_i_verb *verb);
/* The same run for a task that has a thread to itself. */
vem_i_run vem_i_run_alone(const vem_i_run *run);

/* Record a sentence and give the status back: `return vem_i_fail(run, VEM_BAD_DATA,
 * ...)`. run may be NULL (then only the status travels). Not for use inside parallel
 * tasks. */
__attribute__((format(printf, 3, 4))) vem_status
vem_i_fail(vem_i_run *run, vem_status status, const char *format, ...);
/* Same for memory: names the bytes that could not be had. */
vem_status vem_i_fail_memory(vem_i_run *run, size_t bytes);
/* Same for a stop, or a deadline: "Stopped %s.", `where` a constant. */
vem_status vem_i_fail_stopped(vem_i_run *run, const char *where);

/* Tell the progress function, at most every 0.1 s unless `force`. Returns 1 when a stop
 * was requested now or earlier in this verb, or the deadline has passed. Only from the thread
 * that called the verb. */
int vem_i_progress(vem_i_run *run, const vem_progress *progress, int force);
/* The clock that deadlines are told by, and where it stood when the verb began. Of several
 * processes it is the first one's since then, and moves on only where all of them meet, so that all
 * of them are late at the same moment. */
double vem_i_now(const vem_i_run *run);
double vem_i_began(const vem_i_run *run);
/* The verb has a deadline, and it has passed. Safe from parallel tasks. */
int vem_i_late(const vem_i_run *run);

#endif
