/* Two things bound a fit: blocks of rows against blocks of clusters, and reading. The first
 * is the kernel that scans all clusters, on all threads at once, so that a machine shared
 * with others is seen as it is; the second is a look at the first rows, twice. */
#include "fit/machine_speed.h"

#include <math.h>

#include "base/memory.h"
#include "base/parallel.h"
#include "data/view.h"

enum { ROWS = VEM_I_BLOCK, CENTERS = 64, TASKS = 16, TIMES = 4 };
/* Slower than this share of the usual: something else may have come between, so look again,
 * for twice as long; but a machine that is simply slow has had its time. */
static const double DOUBTFUL = 0.6, ENOUGH = 3;
enum { LOOKS = 3 };
/* Of what the kernel does alone a fit reaches this share. */
static const double REACHED = 1.0 / 3;
static const double LEAST = 4e-3, MOST = 0.1; /* seconds */
static const int64_t LOOK = INT64_C(4) << 20; /* bytes */

typedef struct race {
    const vem_i_kernels *kernels;
    int32_t d;
    int64_t rounds;
    char *rows, *centers, *zeros, *lists; /* lists: one per thread */
    int32_t *index;
} race;

/* Tasks for each thread, as in a fit: one that has to wait leaves more to the others. */
static void run_lane(void *arg, int64_t task, int thread)
{
    (void)task;
    const race *r = arg;
    char *best = r->lists + (size_t)thread * ROWS * r->kernels->element;
    int32_t *index = r->index + (int64_t)thread * ROWS;
    for (int64_t i = 0; i < ROWS; i++) {
        vem_i_store(r->kernels, best, i, INFINITY);
        index[i] = -1;
    }
    for (int64_t k = 0; k < r->rounds; k++)
        r->kernels->dot_top(r->rows, r->zeros, ROWS, r->d, r->centers, r->d, r->zeros,
                            r->zeros, r->zeros, CENTERS, 0, 1, best, index, ROWS);
}

/* After a round to wake the threads, or make them: the best of a few times. Beside other work
 * short times are longer than their share of long ones. */
static double time_lanes(vem_i_run *run, race *r, int threads)
{
    const int64_t rounds = r->rounds, tasks = (int64_t)TASKS * threads;
    vem_i_run some = *run;
    some.threads = threads;
    r->rounds = 1;
    vem_i_parallel(&some, threads, run_lane, r);
    r->rounds = rounds;
    double best = INFINITY;
    for (int time = 0; time < TIMES; time++) {
        const double clock = vem_i_clock();
        vem_i_parallel(&some, tasks, run_lane, r);
        best = fmin(best, vem_i_clock() - clock);
    }
    return best;
}

static vem_status measure_blocks(vem_i_run *run, race *r, int threads, double enough,
                                 vem_i_speed *speed)
{
    const size_t element = r->kernels->element, many = (size_t)threads;
    const size_t d = (size_t)r->d;
    const vem_i_room list[] = {
        {&r->rows, ROWS * d, element, 1},
        {&r->centers, CENTERS * d, element, 1},
        {&r->zeros, ROWS, element, 1},
        {&r->lists, many * ROWS, element, 0},
        {&r->index, many * ROWS, sizeof *r->index, 0},
    };
    vem_status status = vem_i_take_rooms(run, list, VEM_I_COUNT(list));
    if (status == VEM_OK) {
        const double round = ROWS * CENTERS * (2 * (double)r->d + VEM_I_PAIR_OVERHEAD);
        r->rounds =
            1 + (int64_t)(enough * speed->operations / (TIMES * TASKS * round * threads));
        const double usual = speed->operations, begun = vem_i_clock();
        double found = 0;
        for (int look = 0; look < LOOKS && found < DOUBTFUL * usual &&
                           (look == 0 || vem_i_clock() - begun < ENOUGH * enough);
             look++) {
            const double seconds = time_lanes(run, r, threads);
            if (!(seconds > 0))
                break; /* too quick for the clock */
            found = fmax(found,
                         REACHED * (double)r->rounds * round * TASKS * threads / seconds);
            r->rounds *= 2;
        }
        if (found > 0)
            speed->operations = found;
    }
    vem_i_free_rooms(list, VEM_I_COUNT(list));
    return status;
}

static double load_all(const vem_data *data, vem_precision precision, int64_t rows,
                       int64_t per, void *out)
{
    const double clock = vem_i_clock();
    for (int64_t i = 0; i < rows; i += per)
        vem_i_data_load(data, i, rows - i < per ? rows - i : per, precision, out,
                        data->d);
    return vem_i_clock() - clock;
}

static vem_status measure_reading(vem_i_run *run, const vem_data *data,
                                  vem_precision precision, vem_i_speed *speed)
{
    const int64_t row = data->d * (int64_t)vem_i_dtype_bytes(data->type);
    int64_t rows = LOOK / row + 1, per = 64;
    rows = rows < data->n ? rows : data->n;
    void *out;
    vem_status status =
        vem_i_take(run, &out, (size_t)(per * (int64_t)data->d), sizeof(double));
    if (status != VEM_OK)
        return status;
    const double cold = load_all(data, precision, rows, per, out);
    const double warm = load_all(data, precision, rows, per, out);
    if (cold > 0)
        speed->cold = (double)(rows * row) / cold;
    if (warm > 0)
        speed->warm = (double)(rows * row) / warm;
    vem_i_free(out);
    return VEM_OK;
}

vem_status vem_i_speed_measure(vem_i_run *run, const vem_data *data,
                               vem_precision precision, int threads, double seconds,
                               vem_i_speed *speed)
{
    race r = {.kernels = precision == VEM_SINGLE ? run->ctx->kernels_single
                                                 : run->ctx->kernels_double,
              .d = data->d};
    vem_status status =
        measure_blocks(run, &r, threads, fmin(fmax(seconds, LEAST), MOST), speed);
    return status == VEM_OK ? measure_reading(run, data, precision, speed) : status;
}
