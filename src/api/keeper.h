/* Who keeps the state of a long fit: when it is written, whose it is, how it is read. */
#ifndef VEM_API_KEEPER_H
#define VEM_API_KEEPER_H

#include "api/course.h"
#include "api/report.h"
#include "data/data.h"
#include "io/state_file.h"

typedef struct vem_i_keeper {
    vem_ctx *ctx;
    /* Whose state it is. */
    const vem_data *data;
    const vem_options *options; /* resolved */
    int ours;                   /* no preset was named */
    uint64_t start, rows;       /* sums over the model to start from and over the rows */
    int64_t max_steps;          /* of the fit that wrote the file, when reading */
    /* The fit. */
    int64_t restart;    /* the one at work, from 1 */
    vem_model **best;   /* of those before it; *best NULL: there is none */
    vem_report *report; /* with the best one's summary, trace and labels */
    int64_t items;
    int limited;  /* a loop that is over came to its limit of steps */
    double began; /* when the fit did, less what earlier runs took */
    /* The file. */
    int fresh;         /* the restart has not been written yet */
    int failing;       /* the last try failed, and that was told */
    int closed;        /* the fit was stopped: what is there is what to resume */
    int in_starts;     /* it was stopped before there was anything to keep */
    double last, cost; /* when the state was written, and how long that took */
    int resuming;      /* `from` is open */
    vem_i_state_file from;
} vem_i_keeper;

/* By the context's checkpoint; checks whose file it is as far as that can be known without
 * a look at the rows. The keeper stays where it is. */
vem_status vem_i_keeper_open(vem_i_keeper *keeper, vem_ctx *ctx, const vem_data *data,
                             const vem_options *asked, const vem_options *resolved,
                             const vem_model *start);
/* Before the first restart: the rows are here. What earlier restarts found is read. */
vem_status vem_i_keeper_begin(vem_i_keeper *keeper, const vem_view *view,
                              vem_model **best, vem_report *report);
void vem_i_keeper_close(vem_i_keeper *keeper);

/* For the course; the keeper may be NULL. */
int vem_i_keeper_resumes(const vem_i_keeper *keeper);
vem_status vem_i_keeper_resume(vem_i_keeper *keeper, vem_i_course *course);
vem_status vem_i_keeper_enter(vem_i_keeper *keeper, const vem_i_course *course,
                              vem_i_em *em);
void vem_i_keeper_leave(vem_i_keeper *keeper, vem_outcome outcome);
/* The loop's hook; `user` is the course. */
void vem_i_keeper_keep(void *user, vem_i_em *em, int must);

#endif
