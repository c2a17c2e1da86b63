/* Rows that come several times, as one row with all of their weights. */
#ifndef VEM_DATA_REPEATS_H
#define VEM_DATA_REPEATS_H

#include "data/data.h"

typedef struct vem_i_repeats {
    vem_data
        rows; /* the different ones in the order in which they come first; n is 0: they were
                      not made. Values, weights and indices are its own, all else is borrowed */
    int32_t *places;        /* of each row of the data: which of these it is */
    double used;            /* rows of the data with a positive weight */
    uint64_t kept, highest; /* bytes of all that; and that there were while it was made */
    int crowded; /* they were not made, because there is no room, or no memory */
} vem_i_repeats;

/* Makes them where most rows are repetitions: at most a third of them are different. Which they are
 * is a function of the data alone. The data are dense, and must outlive them. `room`: bytes that may
 * be taken; 0: any. After a stop there are none. */
vem_status vem_i_repeats_find(vem_i_run *run, const vem_data *data, uint64_t room,
                              vem_i_repeats *repeats);
void vem_i_repeats_free(vem_i_repeats *repeats);
/* By some of the rows: are most of them likely to be repetitions? */
vem_status vem_i_repeats_look(vem_i_run *run, const vem_data *data, int *likely);

#endif
