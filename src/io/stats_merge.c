/* The sum of statistics in files.
 *
 * A sum is right only if each part is in it once. Parts are known by their rows and by their
 * numbers (model/marks.h); a merge names the files of those that come twice. */
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/memory.h"
#include "io/io.h"
#include "model/part.h"

/* A file of a merge: which it is, and where it stands in the sum. */
typedef struct summand {
    uint64_t digest, device, node;
    int64_t path;
} summand;

/* A part that a file holds. */
typedef struct holding {
    vem_i_mark mark; /* first, so that marks and holdings have one order */
    int64_t path;
} holding;

typedef struct holdings {
    holding *list;
    int64_t count, room, of;
} holdings;

static int compare(uint64_t a, uint64_t b)
{
    return a < b ? -1 : a > b;
}

static int by_file(const void *a, const void *b)
{
    const summand *x = a, *y = b;
    const int order = compare(x->device, y->device);
    return order ? order : compare(x->node, y->node);
}

static int by_digest(const void *a, const void *b)
{
    const summand *x = a, *y = b;
    return compare(x->digest, y->digest);
}

/* A file named twice would count twice. */
static vem_status check_distinct(vem_i_run *run, const char *const *paths, int64_t count,
                                 summand *summands)
{
    qsort(summands, (size_t)count, sizeof *summands, by_file);
    for (int64_t i = 1; i < count; i++)
        if (by_file(&summands[i - 1], &summands[i]) == 0)
            return vem_i_fail(
                run, VEM_BAD_OPTION,
                "%s and %s are the same file, whose rows would count twice.",
                paths[summands[i - 1].path], paths[summands[i].path]);
    return VEM_OK;
}

static vem_status hold(vem_i_run *run, const vem_i_marks *marks, int64_t path,
                       holdings *all)
{
    if (all->count + marks->count > all->room) {
        const int64_t room = 2 * (all->count + marks->count);
        holding *list;
        vem_status status = vem_i_take(run, &list, (size_t)room, sizeof *list);
        if (status != VEM_OK)
            return status;
        if (all->count > 0)
            memcpy(list, all->list, (size_t)all->count * sizeof *list);
        vem_i_free(all->list);
        all->list = list;
        all->room = room;
    }
    for (int64_t i = 0; i < marks->count; i++)
        all->list[all->count++] = (holding){marks->list[i], path};
    all->of = marks->of;
    return VEM_OK;
}

/* Different files may hold the same part: a copy, or a part that was asked for again. */
static vem_status check_parts(vem_i_run *run, const char *const *paths, holdings *all)
{
    char why[256];
    if (all->count > 1)
        qsort(all->list, (size_t)all->count, sizeof *all->list, vem_i_mark_order);
    for (int64_t i = 1; i < all->count; i++) {
        const holding *a = &all->list[i - 1], *b = &all->list[i];
        if (!vem_i_mark_same(&a->mark, &b->mark))
            continue;
        vem_i_mark_tell(&a->mark, &b->mark, all->of, why, sizeof why);
        return vem_i_fail(run, VEM_BAD_DATA, "%s and %s do not add up: %s.",
                          paths[a->path], paths[b->path], why);
    }
    return VEM_OK;
}

/* Reads every file once: do they belong together, and in which order will they be added? */
static vem_status survey(vem_i_run *run, const char *const *paths, int64_t count,
                         summand *summands)
{
    vem_stats *first = NULL, *part = NULL;
    holdings all = {0};
    vem_status status = VEM_OK;
    struct stat facts = {0};
    char why[256];
    for (int64_t i = 0; status == VEM_OK && i < count; i++) {
        status = vem_i_stats_read(run, paths[i], &part);
        if (status != VEM_OK)
            break;
        summands[i] = (summand){.digest = vem_i_part_digest(part), .path = i};
        if (stat(paths[i], &facts) == 0) {
            summands[i].device = (uint64_t)facts.st_dev;
            summands[i].node = (uint64_t)facts.st_ino;
        }
        if (first && vem_i_part_unlike(first, part, why, sizeof why))
            status = vem_i_fail(run, VEM_BAD_DATA, "%s and %s do not add up: %s.",
                                paths[0], paths[i], why);
        if (status == VEM_OK)
            status = hold(run, &part->marks, i, &all);
        if (first)
            vem_stats_free(part);
        else
            first = part;
    }
    vem_stats_free(first);
    if (status == VEM_OK)
        status = check_distinct(run, paths, count, summands);
    if (status == VEM_OK)
        status = check_parts(run, paths, &all);
    vem_i_free(all.list);
    if (status == VEM_OK)
        qsort(summands, (size_t)count, sizeof *summands, by_digest);
    return status;
}

static vem_status add_files(vem_i_run *run, const char *const *paths, int64_t count,
                            const summand *summands, vem_stats **stats)
{
    vem_stats *sum = NULL, *part;
    vem_status status = vem_i_stats_read(run, paths[summands[0].path], &sum);
    for (int64_t i = 1; status == VEM_OK && i < count; i++) {
        status = vem_i_stats_read(run, paths[summands[i].path], &part);
        if (status != VEM_OK)
            break;
        status = vem_i_part_add(run, sum, part);
        vem_stats_free(part);
    }
    if (status == VEM_OK)
        *stats = sum;
    else
        vem_stats_free(sum);
    return status;
}

vem_status vem_i_stats_merge(vem_i_run *run, const char *const *paths, int64_t count,
                             vem_stats **stats)
{
    summand *summands;
    vem_status status = vem_i_take(run, &summands, (size_t)count, sizeof *summands);
    if (status != VEM_OK)
        return status;
    status = survey(run, paths, count, summands);
    if (status == VEM_OK)
        status = add_files(run, paths, count, summands, stats);
    vem_i_free(summands);
    return status;
}
