/* The context: what its owner set for all verbs, and the last message. Not changed while a verb runs
 * (base/run.h), but for the message. */
#ifndef VEM_BASE_CTX_H
#define VEM_BASE_CTX_H

#include <stdarg.h>

#include "vem/vem.h"

struct vem_i_residence; /* src/base/residence.h */
struct vem_i_kernels;   /* src/kernels/kernels.h; the base only carries the pointers */
struct vem_i_comm;      /* src/comm/comm.h */

struct vem_ctx {
    int threads;
    const struct vem_i_kernels *kernels_single;
    const struct vem_i_kernels *kernels_double;
    const char *cpu;
    vem_progress_fn progress;
    void *progress_user;
    vem_forecast_fn forecast;
    void *forecast_user;
    double spent;              /* seconds of --time that are over when a fit begins */
    vem_checkpoint checkpoint; /* its path from malloc, or NULL */
    uint64_t memory;           /* most resident bytes; 0: no limit */
    struct vem_i_residence *residence; /* the mapped files */
    struct vem_i_comm
        *comm;      /* processes that share the rows; NULL: there is one. Owned */
    int dashes;     /* options are named as the command does */
    int spills_all; /* what may rest in a temporary file does: tests set it */
    char message[1024];
};

/* A sentence in the message; ctx may be NULL (say.c). */
void vem_i_say(vem_ctx *ctx, const char *format, va_list args);
/* Text that has options with dashes, as the context wants them; it becomes no longer. */
void vem_i_say_plainly(const vem_ctx *ctx, char *text);
/* The same with a status, for public functions that have no run yet. */
__attribute__((format(printf, 3, 4))) vem_status
vem_i_refuse(vem_ctx *ctx, vem_status status, const char *format, ...);
/* A public verb was given NULL for an argument that it cannot do without: a sentence with both
 * names. */
#define VEM_I_NEED(ctx, ...)                                                             \
    do {                                                                                 \
        const void *const needed[] = {__VA_ARGS__};                                      \
        if (vem_i_need((ctx), __func__, needed, sizeof needed / sizeof *needed,          \
                       #__VA_ARGS__) != VEM_OK)                                          \
            return VEM_BAD_OPTION;                                                       \
    } while (0)
vem_status vem_i_need(vem_ctx *ctx, const char *verb, const void *const *needed,
                      size_t count, const char *names);

/* Monotonic seconds. */
double vem_i_clock(void);
/* Highest resident size of this process so far, in bytes (0 where unknown). */
uint64_t vem_i_peak_bytes(void);

#endif
