/* What the machine can give. */
#ifndef VEM_BASE_MACHINE_H
#define VEM_BASE_MACHINE_H

#include <stdint.h>

/* Bytes this process could still take without swapping or being killed: what the system
 * calls available, and no more than its control group leaves. 0: not known. */
uint64_t vem_i_available_bytes(void);
/* Resident bytes of this process, pages of files included. 0: not known. */
uint64_t vem_i_resident_bytes(void);

#endif
