/* The context: what every verb needs and nothing that belongs to one of them. */
#ifndef VEM_BASE_CTX_H
#define VEM_BASE_CTX_H

#include "vem/vem.h"

struct vem_i_residence; /* src/base/residence.h */
struct vem_i_kernels;   /* src/kernels/kernels.h; the base only carries the pointers */

/* Work in parts whose progress is told as one (base/whole.h). */
typedef struct vem_i_whole {
    const char *phase; /* NULL: there is none */
    int64_t rows;
    double low, high; /* share of it that the part at hand is */
    int passes, pass; /* over its rows */
    double within;    /* the pass */
    double told;      /* share that was told last */
} vem_i_whole;

struct vem_ctx {
    int threads;
    int team_asked, team; /* the largest team so far: wanted, and had */
    const struct vem_i_kernels *kernels_single;
    const struct vem_i_kernels *kernels_double;
    const char *cpu;
    vem_progress_fn progress;
    void *progress_user;
    double progress_last;      /* clock of the last call, to keep them a few a second */
    double progress_start;     /* clock when the running verb began */
    int64_t restart, restarts; /* of the running fit, for the progress function */
    _Atomic int
        stop_requested; /* the progress function said stop during the running verb */
    double deadline;    /* clock at which the running verb should be done; 0: none */
    vem_forecast_fn forecast;
    void *forecast_user;
    double spent;              /* seconds of --time that are over when a fit begins */
    vem_checkpoint checkpoint; /* its path from malloc, or NULL */
    uint64_t memory; /* most resident bytes, by vem_ctx_set_memory; 0: no limit */
    uint64_t limit;  /* the same, of the running verb, whose options may say otherwise */
    struct vem_i_residence *residence; /* the mapped files */
    int spills_all; /* what may rest in a temporary file does: tests set it */
    vem_i_whole whole;
    char message[1024];
};

/* Record a sentence and give the status back: `return vem_i_fail(ctx, VEM_BAD_DATA,
 * ...)`. ctx may be NULL (then only the status travels). Not for use inside parallel
 * tasks. */
__attribute__((format(printf, 3, 4))) vem_status
vem_i_fail(vem_ctx *ctx, vem_status status, const char *format, ...);
/* Same for memory: names the bytes that could not be had. */
vem_status vem_i_fail_memory(vem_ctx *ctx, size_t bytes);

/* A public verb was given NULL for an argument that it cannot do without: a sentence with both
 * names. */
vem_status vem_i_fail_null(vem_ctx *ctx, const char *verb, const char *argument);
#define VEM_I_NEED(ctx, pointer, argument)                                               \
    do {                                                                                 \
        if (!(pointer))                                                                  \
            return vem_i_fail_null((ctx), __func__, (argument));                         \
    } while (0)

/* Verbs call this first: clears the message and starts the progress clock. */
void vem_i_begin(vem_ctx *ctx);

/* Tell the progress function, at most every 0.1 s unless `force`. Returns 1 when a stop
 * was requested now or earlier in this verb, or the deadline has passed. Only from the thread that called the verb.
 */
int vem_i_progress(vem_ctx *ctx, const vem_progress *progress, int force);

/* The verb has a deadline, and it has passed. Safe from parallel tasks. */
int vem_i_late(const vem_ctx *ctx);

/* Monotonic seconds. */
double vem_i_clock(void);
/* Highest resident size of this process so far, in bytes (0 where unknown). */
uint64_t vem_i_peak_bytes(void);

#endif
