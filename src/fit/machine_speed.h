/* How fast this machine is, by a short measurement. */
#ifndef VEM_FIT_MACHINE_SPEED_H
#define VEM_FIT_MACHINE_SPEED_H

#include "data/data.h"

typedef struct vem_i_speed {
    double operations; /* a second, of all threads, in whole blocks of distances */
    double cold;       /* bytes a second of rows that are read for the first time */
    double warm;       /* and again, by one thread */
} vem_i_speed;

/* Operations of a pair beside those of its columns. */
enum { VEM_I_PAIR_OVERHEAD = 16 };

/* Takes about so many seconds, but some milliseconds at least and a tenth of a second at most,
 * by the speed that is guessed before. Where the clock does not move, `speed` stays as it was. */
vem_status vem_i_speed_measure(vem_i_run *run, const vem_data *data,
                               vem_precision precision, int threads, double seconds,
                               vem_i_speed *speed);

#endif
