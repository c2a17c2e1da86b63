/* Writes down what a process does with MPI: put before it by LD_PRELOAD, it stands between vem and MPI
 * (by the profiling interface: MPI_Send calls this one, which calls PMPI_Send).
 *
 * When the process ends $VEM_SPY.RANK has a line for each call, in their order:
 *
 *     kind bytes value entered left
 *
 * with the bytes that this process gives (or takes, for receive), and the nanoseconds of the clock that
 * all processes of a machine share. `value` is the first of the numbers that a sum of whole numbers
 * adds up, as this process brings it: those of two numbers are the scored pairs of a step and the rows
 * that changed (src/em/estep.c; with --time also a stop, 0, and the time: src/comm/chain.c), which
 * elsewhere are told for all processes together only.
 *
 * With VEM_SPY_WORK="MS SPREAD" a process sleeps in each step, before it tells what it has found, as if
 * it had worked: normally distributed around MS milliseconds, SPREAD a share of them. So processes that
 * share two cores can be given the work of machines.
 *
 * With VEM_SPY_BEHIND=1 what is sent goes on its way while the process goes on, one message at a time: as
 * src/comm/chain.c would do it that sends a piece while it takes the next. */
#include <inttypes.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

typedef struct call {
    const char *kind;
    int64_t bytes, value, entered, left;
} call;

enum { MOST = 1 << 20 };

static call *calls;
static int count, lost;

static int64_t now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

static int64_t bytes_of(int number, MPI_Datatype type)
{
    int size = 0;
    MPI_Type_size(type, &size);
    return (int64_t)number * size;
}

static call *enter(const char *kind, int number, MPI_Datatype type)
{
    static call nowhere;
    if (!calls)
        calls = calloc(MOST, sizeof *calls);
    lost += !calls || count == MOST;
    call *c = calls && count < MOST ? &calls[count++] : &nowhere;
    *c = (call){.kind = kind, .bytes = bytes_of(number, type), .entered = now_ns()};
    return c;
}

static int leave(call *c, int code)
{
    c->left = now_ns();
    return code;
}

/* Between 0 and 1, another stream for each process and the same in each run (splitmix64). */
static double draw(void)
{
    static uint64_t state;
    static int started;
    int rank = 0;
    if (!started) {
        MPI_Comm_rank(MPI_COMM_WORLD, &rank);
        state = ((uint64_t)rank + 1) << 32;
        started = 1;
    }
    uint64_t z = state += UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return ((double)((z ^ z >> 31) >> 11) + 0.5) / 9007199254740992.0;
}

/* The sum of twelve uniform numbers: near enough to normal. */
static void work(const char *asked)
{
    double ms = 0, spread = 0, normal = -6;
    if (sscanf(asked, "%lf %lf", &ms, &spread) != 2)
        return;
    for (int i = 0; i < 12; i++)
        normal += draw();
    ms *= 1 + spread * normal;
    if (ms > 0)
        nanosleep(&(struct timespec){.tv_sec = (time_t)(ms / 1e3),
                                     .tv_nsec =
                                         (long)(1e6 *
                                                (ms - 1e3 * (double)(long)(ms / 1e3)))},
                  NULL);
}

static MPI_Request on_its_way = MPI_REQUEST_NULL;

/* A copy of the message is sent when the one before it has left. */
static int send_behind(const void *from, int number, MPI_Datatype type, int to, int tag,
                       MPI_Comm all)
{
    static void *copy;
    const size_t bytes = (size_t)bytes_of(number, type);
    PMPI_Wait(&on_its_way, MPI_STATUS_IGNORE);
    free(copy);
    copy = malloc(bytes ? bytes : 1);
    if (!copy)
        return MPI_ERR_NO_MEM;
    memcpy(copy, from, bytes);
    return PMPI_Isend(copy, number, type, to, tag, all, &on_its_way);
}

int MPI_Send(const void *from, int number, MPI_Datatype type, int to, int tag,
             MPI_Comm all)
{
    call *c = enter("send", number, type);
    return leave(c, getenv("VEM_SPY_BEHIND")
                        ? send_behind(from, number, type, to, tag, all)
                        : PMPI_Send(from, number, type, to, tag, all));
}

int MPI_Recv(void *at, int number, MPI_Datatype type, int from, int tag, MPI_Comm all,
             MPI_Status *status)
{
    call *c = enter("receive", number, type);
    return leave(c, PMPI_Recv(at, number, type, from, tag, all, status));
}

int MPI_Bcast(void *at, int number, MPI_Datatype type, int root, MPI_Comm all)
{
    PMPI_Wait(&on_its_way, MPI_STATUS_IGNORE);
    call *c = enter("broadcast", number, type);
    return leave(c, PMPI_Bcast(at, number, type, root, all));
}

int MPI_Allreduce(const void *from, void *to, int number, MPI_Datatype type, MPI_Op op,
                  MPI_Comm all)
{
    call *c = enter("combine", number, type);
    if (type == MPI_INT64_T && op == MPI_SUM)
        c->value = *(const int64_t *)(from == MPI_IN_PLACE ? to : from);
    return leave(c, PMPI_Allreduce(from, to, number, type, op, all));
}

int MPI_Allgatherv(const void *mine, int number, MPI_Datatype type, void *others,
                   const int numbers[], const int begins[], MPI_Datatype their_type,
                   MPI_Comm all)
{
    const char *asked = getenv("VEM_SPY_WORK");
    if (asked && count > 0 && calls[count - 1].kind[0] == 'b') /* behind the broadcast */
        work(asked);
    call *c = enter("gather", number, type);
    return leave(c, PMPI_Allgatherv(mine, number, type, others, numbers, begins,
                                    their_type, all));
}

int MPI_Finalize(void)
{
    const char *name = getenv("VEM_SPY");
    char path[4096];
    int rank = 0;
    PMPI_Wait(&on_its_way, MPI_STATUS_IGNORE);
    PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
    snprintf(path, sizeof path, "%s.%d", name ? name : "spy", rank);
    FILE *file = name ? fopen(path, "w") : NULL;
    for (int i = 0; file && i < count; i++)
        fprintf(file, "%s %" PRId64 " %" PRId64 " %" PRId64 " %" PRId64 "\n",
                calls[i].kind, calls[i].bytes, calls[i].value, calls[i].entered,
                calls[i].left);
    if (file && lost)
        fprintf(file, "lost %d 0 0 0\n", lost);
    if (file)
        fclose(file);
    free(calls);
    return PMPI_Finalize();
}
