#include "model/marks.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

int vem_i_mark_order(const void *a, const void *b)
{
    const vem_i_mark *x = a, *y = b;
    if (x->part != y->part)
        return x->part < y->part ? -1 : 1;
    return x->rows < y->rows ? -1 : x->rows > y->rows;
}

int vem_i_mark_same(const vem_i_mark *a, const vem_i_mark *b)
{
    return a->part == b->part && (a->part > 0 || a->rows == b->rows);
}

void vem_i_mark_tell(const vem_i_mark *a, const vem_i_mark *b, int64_t of, char *why,
                     size_t size)
{
    if (a->part == 0)
        snprintf(why, size,
                 "both are of the same rows (%016llx), which would count twice; if these "
                 "rows do come twice, number the parts with --part I/N",
                 (unsigned long long)a->rows);
    else
        snprintf(why, size, "both are part %lld of %lld%s", (long long)a->part,
                 (long long)of,
                 a->rows == b->rows ? ", whose rows would count twice"
                                    : ", but of different rows");
}

int vem_i_marks_unlike(const vem_i_marks *a, const vem_i_marks *b, char *why, size_t size)
{
    if (a->of == b->of)
        return 0;
    if (a->of == 0 || b->of == 0)
        snprintf(why, size,
                 "one is numbered (a part of %lld), the other is not: give all or none "
                 "of them --part",
                 (long long)(a->of > 0 ? a->of : b->of));
    else
        snprintf(why, size, "one is a part of %lld, the other one of %lld",
                 (long long)a->of, (long long)b->of);
    return 1;
}

int vem_i_marks_differ(const vem_i_marks *a, const vem_i_marks *b, char *why, size_t size)
{
    if (vem_i_marks_unlike(a, b, why, size))
        return 1;
    for (int64_t i = 0, j = 0; i < a->count && j < b->count;) {
        const vem_i_mark *x = &a->list[i], *y = &b->list[j];
        if (vem_i_mark_same(x, y)) {
            vem_i_mark_tell(x, y, a->of, why, size);
            return 1;
        }
        if (vem_i_mark_order(x, y) < 0)
            i++;
        else
            j++;
    }
    return 0;
}

vem_status vem_i_marks_add(vem_i_run *run, vem_i_marks *to, const vem_i_marks *from)
{
    vem_i_mark *list;
    const int64_t count = to->count + from->count;
    vem_status status = vem_i_take(run, &list, (size_t)count, sizeof *list);
    if (status != VEM_OK)
        return status;
    for (int64_t i = 0, j = 0, k = 0; k < count; k++) {
        const int first =
            j == from->count ||
            (i < to->count && vem_i_mark_order(&to->list[i], &from->list[j]) < 0);
        list[k] = first ? to->list[i++] : from->list[j++];
    }
    vem_i_free(to->list);
    to->list = list;
    to->count = count;
    return VEM_OK;
}

int vem_i_marks_settle(vem_i_marks *marks)
{
    qsort(marks->list, (size_t)marks->count, sizeof *marks->list, vem_i_mark_order);
    for (int64_t i = 0; i < marks->count; i++)
        if (marks->list[i].part < (marks->of > 0) || marks->list[i].part > marks->of ||
            (i > 0 && vem_i_mark_same(&marks->list[i - 1], &marks->list[i])))
            return 0;
    return 1;
}

void vem_i_marks_missing(const vem_i_marks *marks, char *text, size_t size)
{
    enum { TOLD = 8 };
    int64_t missing[TOLD], told = 0, expected = 1;
    const int64_t all = marks->of - marks->count;
    for (int64_t i = 0; i <= marks->count && told < TOLD; i++) {
        const int64_t next = i < marks->count ? marks->list[i].part : marks->of + 1;
        while (expected < next && told < TOLD)
            missing[told++] = expected++;
        expected = next + 1;
    }
    size_t used = 0;
    text[0] = '\0';
    for (int64_t i = 0; i < told && used < size; i++)
        used += (size_t)snprintf(text + used, size - used, "%s%lld",
                                 i == 0                         ? ""
                                 : i == told - 1 && told == all ? " and "
                                                                : ", ",
                                 (long long)missing[i]);
    if (told < all && used < size)
        snprintf(text + used, size - used, " and %lld more", (long long)(all - told));
}
