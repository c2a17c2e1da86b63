/* The state of a long fit in a file: when it is written, whose it is, how it is read. */
#ifndef VEM_FIT_CHECKPOINT_H
#define VEM_FIT_CHECKPOINT_H

#include "data/cells.h"
#include "data/data.h"
#include "fit/report.h"
#include "io/state_file.h"

typedef struct vem_i_checkpoint {
    vem_i_run *run;
    /* Whose state it is. */
    const vem_data *data;
    const vem_options *options; /* resolved */
    int ours;                   /* no preset was named */
    int timed;                  /* --time may have chosen a coreset */
    uint64_t start, rows;       /* sums over the model to start from and over the rows */
    int64_t different;          /* rows, where those that are alike are one; else 0 */
    int64_t max_steps;          /* of the fit that wrote the file, when reading */
    /* The fit. */
    int64_t restart;          /* the one at work, from 1 */
    vem_model **best;         /* of those before it; *best NULL: there is none */
    vem_report *report;       /* with the best one's summary, trace and labels */
    vem_view view;            /* of the rows, or of the first cells */
    const vem_i_cells *cells; /* NULL: of rows */
    int limited;              /* a loop that is over came to its limit of steps */
    double began;             /* when the fit did, less what earlier runs took */
    /* The file. */
    int fresh;     /* the restart has not been written yet */
    int failing;   /* the last try failed, and that was told */
    int closed;    /* the fit was stopped, or its limit cut a loop that is not the last:
                          what is there is what to resume */
    int in_starts; /* it was stopped where there is nothing to keep */
    int written;   /* the file is a state of this fit */
    double last, cost; /* when the state was written, and how long that took */
    int resuming;      /* `from` is open */
    vem_i_state_file from;
} vem_i_checkpoint;

/* By the context's checkpoint; checks whose file it is as far as that can be known without
 * a look at the rows. It stays where it is. */
vem_status vem_i_checkpoint_open(vem_i_checkpoint *checkpoint, vem_i_run *run,
                                 const vem_data *data, const vem_options *asked,
                                 const vem_options *resolved, const vem_model *start);
/* Before the first restart: the rows are here. What earlier restarts found is read. With a limit of
 * less than `fewest` steps the fit was another one from the seeding on: then it begins again. */
vem_status vem_i_checkpoint_begin(vem_i_checkpoint *checkpoint, const vem_view *view,
                                  int64_t fewest, vem_model **best, vem_report *report);
void vem_i_checkpoint_close(vem_i_checkpoint *checkpoint);

/* Is there a state to resume from? The checkpoint may be NULL. Then the record reads it, and at
 * its end the step is told. */
int vem_i_checkpoint_resumes(const vem_i_checkpoint *checkpoint);
vem_i_record *vem_i_checkpoint_reading(vem_i_checkpoint *checkpoint);
void vem_i_checkpoint_resumed(vem_i_checkpoint *checkpoint, int64_t step);
/* Was the file written under another limit of steps? What it says then cannot always be gone on
 * from: the sentence. */
int vem_i_checkpoint_limit_differs(const vem_i_checkpoint *checkpoint);
vem_status vem_i_checkpoint_refuse_steps(const vem_i_checkpoint *checkpoint,
                                         const char *why);
/* Now, if it is time, or if it must be: what the record is given after what the checkpoint
 * itself has to say. */
void vem_i_checkpoint_write(vem_i_checkpoint *checkpoint, int must,
                            void (*state)(vem_i_record *record, void *user), void *user);

#endif
