/* The command under mpirun: several processes, of which the first one talks and writes.
 *
 * What the others would say on standard error goes into memory. Where one of them fails alone its last
 * sentence comes out with its number, and all are ended; where all fail for the same reason the first
 * one has said so. */
#include "step.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "vem/mpi.h"

/* This process is one part of a fit (step.c); parts 0: it is not. */
static vem_parts_options part;

void cli_processes_part(const vem_parts_options *options)
{
    part = *options;
}

/* 1: it is one, and the context knows. */
static int join_parts(vem_ctx *ctx, vem_status *status)
{
    if (part.parts > 0)
        *status = vem_ctx_set_parts(ctx, &part);
    return part.parts > 0;
}

#ifdef VEM_HAS_MPI

#include <mpi.h>

static int size = 1, rank;
static int said = -1, heard = -1; /* standard error: in memory, and the real one */

/* mpirun, srun and their like say so in the environment; else there is nothing to start. */
static int is_launched(void)
{
    static const char *const names[] = {"OMPI_COMM_WORLD_SIZE", "PMIX_RANK", "PMI_RANK",
                                        "PMI_SIZE", "MPI_LOCALRANKID"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (getenv(names[i]))
            return 1;
    return 0;
}

static void be_quiet(void)
{
    FILE *null = freopen("/dev/null", "w", stdout);
    (void)null;
    fflush(stderr);
    heard = dup(STDERR_FILENO);
    said = memfd_create("vem", MFD_CLOEXEC);
    if (said >= 0 && heard >= 0)
        dup2(said, STDERR_FILENO);
}

void cli_processes_begin(int *count, char ***words)
{
    int had;
    if (!is_launched())
        return;
    MPI_Init_thread(count, words, MPI_THREAD_FUNNELED, &had);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (rank > 0)
        be_quiet();
}

vem_status cli_processes_join(vem_ctx *ctx)
{
    MPI_Comm all = MPI_COMM_WORLD;
    vem_status status = VEM_OK;
    if (join_parts(ctx, &status))
        return status;
    return size > 1 ? vem_ctx_set_mpi(ctx, &all) : VEM_OK;
}

int cli_processes(void)
{
    return part.parts > 0 ? part.parts : size;
}

int cli_writes(void)
{
    return rank == 0 && part.part <= 1;
}

int64_t cli_processes_bytes(const vem_ctx *ctx)
{
    int64_t bytes = vem_ctx_mpi_bytes(ctx);
    if (part.parts > 0)
        return bytes;
    MPI_Allreduce(MPI_IN_PLACE, &bytes, 1, MPI_INT64_T, MPI_SUM, MPI_COMM_WORLD);
    return bytes;
}

/* The last line that was said. */
static void tell_last(void)
{
    char text[4096];
    fflush(stderr);
    const off_t end = lseek(said, 0, SEEK_END), most = (off_t)sizeof text - 1;
    const ssize_t n =
        pread(said, text, (size_t)(end < most ? end : most), end < most ? 0 : end - most);
    ssize_t length = n;
    while (length > 0 && text[length - 1] == '\n')
        length--;
    if (length <= 0)
        return;
    text[length] = '\0';
    const char *line = strrchr(text, '\n');
    line = line ? line + 1 : text;
    line = strncmp(line, "vem: ", 5) == 0 ? line + 5 : line;
    dprintf(heard, "vem: process %d of %d: %s\n", rank + 1, size, line);
}

int cli_processes_end(int code)
{
    int started = 0;
    MPI_Initialized(&started);
    if (!started)
        return code;
    if (code != CLI_DONE && size > 1 && code < 128) {
        if (rank > 0) {
            signal(SIGTERM, SIG_DFL);
            usleep(500000); /* the first one, if it fails too, has ended us by then */
            tell_last();
        }
        fflush(stdout);
        fflush(stderr);
        MPI_Abort(MPI_COMM_WORLD, code);
    }
    MPI_Finalize();
    return code;
}

#else

/* Each of several processes would do the whole work, and write the same files. */
void cli_processes_begin(int *count, char ***words)
{
    const char *size = getenv("OMPI_COMM_WORLD_SIZE");
    const char *rank = getenv("OMPI_COMM_WORLD_RANK");
    (void)count;
    (void)words;
    if (size && rank && atoi(size) > 1 && atoi(rank) == 0)
        cli_error(
            "this build does not know of other processes (make MPI=1 makes one that "
            "does): each of the %d does the whole work.",
            atoi(size));
}

vem_status cli_processes_join(vem_ctx *ctx)
{
    vem_status status = VEM_OK;
    return join_parts(ctx, &status) ? status : vem_ctx_set_mpi(ctx, NULL);
}

int cli_processes(void)
{
    return part.parts > 0 ? part.parts : 1;
}

int cli_writes(void)
{
    return part.part <= 1;
}

int64_t cli_processes_bytes(const vem_ctx *ctx)
{
    return vem_ctx_mpi_bytes(ctx);
}

int cli_processes_end(int code)
{
    return code;
}

#endif

void cli_processes_json(const vem_ctx *ctx, json_t *o)
{
    if (cli_processes() < 2)
        return;
    json_object_set_new(o, "processes", json_integer(cli_processes()));
    json_object_set_new(o, "bytes_sent", json_integer(cli_processes_bytes(ctx)));
}
