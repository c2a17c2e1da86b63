/* Memory that rests in a temporary file. */
#ifndef VEM_BASE_SPILL_H
#define VEM_BASE_SPILL_H

#include "base/residence.h"

/* `bytes` of zeros, to read and write at mapping->bytes, in a file without a name in
 * VEM_TMPDIR, TMPDIR, /var/tmp or /tmp, whichever is the first that is set or there. The
 * space is had when this returns, so that no write meets a full disk. Free with
 * vem_i_mapping_free. */
vem_status vem_i_spill_new(vem_i_run *run, size_t bytes, vem_i_mapping **spill);
/* Should something of this size that stays for long rest in a file: does it take more than
 * half of what is left? */
int vem_i_spill_wanted(vem_i_run *run, uint64_t bytes);
/* count * size bytes at *out: in memory (then *spill is NULL; free with vem_i_free) or, where
 * vem_i_spill_wanted, in *spill. */
vem_status vem_i_spill_take(vem_i_run *run, void *out, size_t count, size_t size,
                            vem_i_mapping **spill);

/* The same for bytes that come one after the other: a descriptor to write to, then what was
 * written as a mapping. The descriptor is the caller's to close. */
vem_status vem_i_spill_open(vem_i_run *run, int *descriptor);
vem_status vem_i_spill_map(vem_i_run *run, int descriptor, size_t bytes,
                           vem_i_mapping **spill);
/* "A temporary file of 3.80 GiB in /var/tmp could not be made: ..." */
vem_status vem_i_fail_spill(vem_i_run *run, uint64_t bytes, int error);

#endif
