/* The state of a fit of several processes: one file, the first process's, which is what one process would
 * write. The others say with it what the state is, and nothing of theirs passes but what rows have
 * (data/together_record.c); when it is read all get what passes. So the state does not depend on how
 * many they are.
 *
 * Processes that meet in files, and are made again one by one, each have a file of their own rows. */
#include <string.h>

#include "comm/comm.h"
#include "fit/checkpoint_inside.h"

int vem_i_checkpoint_told(const vem_i_run *run, int first)
{
    int64_t told = first;
    if (run->peers && !vem_i_comm_by_files(run->peers))
        run->peers->broadcast(run->peers, 0, &told, sizeof told);
    return (int)told;
}

int vem_i_checkpoint_is_first(const vem_i_run *run)
{
    return !run->peers || run->peers->rank == 0 || vem_i_comm_by_files(run->peers);
}

/* ---- reading ---- */

static vem_status share(vem_i_run *run, void *bytes, size_t size)
{
    run->peers->broadcast(run->peers, 0, bytes, size);
    return vem_i_comm_lost(run);
}

static vem_status get_for_all(void *user, void *bytes, size_t size)
{
    const vem_i_record *r = user;
    const vem_status status = r->file(r->file_user, bytes, size);
    return status == VEM_OK ? share(r->run, bytes, size) : status;
}

static vem_status get_from_first(void *user, void *bytes, size_t size)
{
    const vem_i_record *r = user;
    return share(r->run, bytes, size);
}

/* What is wrong with the file the first one says, and all know. */
vem_status vem_i_checkpoint_open_state(vem_i_run *run, const char *path,
                                       vem_i_state_file *from)
{
    const int first = vem_i_checkpoint_is_first(run);
    vem_i_record *r = &from->record;
    vem_status status = first ? vem_i_state_open(run, path, from) : VEM_OK;
    if (!run->peers || vem_i_comm_by_files(run->peers))
        return status;
    if (!first)
        *from = (vem_i_state_file){.record = {.run = run, .path = path, .reading = 1}};
    int64_t told[] = {(int64_t)status, status == VEM_OK ? (int64_t)r->left : 0};
    char message[sizeof run->ctx->message];
    memcpy(message, run->ctx->message, sizeof message);
    run->peers->broadcast(run->peers, 0, told, sizeof told);
    run->peers->broadcast(run->peers, 0, message, sizeof message);
    if (told[0] != VEM_OK)
        return first ? status : vem_i_fail(run, (vem_status)told[0], "%s", message);
    r->left = (uint64_t)told[1];
    r->file = first ? r->pass : NULL;
    r->file_user = first ? r->user : NULL;
    r->pass = first ? get_for_all : get_from_first;
    r->user = r;
    return VEM_OK;
}

/* ---- writing ---- */

static vem_status leave_out(void *user, void *bytes, size_t size)
{
    (void)user;
    (void)bytes;
    (void)size;
    return VEM_OK;
}

vem_status vem_i_checkpoint_create_state(vem_i_run *run, const char *path,
                                         vem_i_state_file *file)
{
    const int first = vem_i_checkpoint_is_first(run);
    const vem_status status = first ? vem_i_state_create(run, path, file) : VEM_OK;
    if (!first)
        *file =
            (vem_i_state_file){.record = {.run = run, .path = path, .pass = leave_out}};
    return (vem_status)vem_i_checkpoint_told(run, (int)status);
}
