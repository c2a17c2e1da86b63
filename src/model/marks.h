/* Which rows sums are of, so that none is counted twice or forgotten.
 *
 * A part of the data is known by a digest of its rows and weights, and, where people say so, by
 * its number: part 3 of 8. Two parts of the same rows are taken for one that comes twice, unless
 * their numbers say otherwise. */
#ifndef VEM_MODEL_MARKS_H
#define VEM_MODEL_MARKS_H

#include "base/run.h"

typedef struct vem_i_mark {
    int64_t part;  /* 1, 2, ...; 0: nobody said */
    uint64_t rows; /* a digest */
} vem_i_mark;

/* More than this is no count of anything. */
#define VEM_I_MOST_COUNT (INT64_C(1) << 53)

/* Of one part or of several that were added up. */
typedef struct vem_i_marks {
    int64_t of; /* parts in all; 0: nobody said */
    int64_t count;
    vem_i_mark *list; /* sorted */
} vem_i_marks;

/* Order by number, then by rows. */
int vem_i_mark_order(const void *a, const void *b);
/* Do two marks, of data cut into the same number of parts, stand for the same part? */
int vem_i_mark_same(const vem_i_mark *a, const vem_i_mark *b);
/* Why two marks that are the same cannot be added up, as the end of a sentence. */
void vem_i_mark_tell(const vem_i_mark *a, const vem_i_mark *b, int64_t of, char *why,
                     size_t size);
/* Are they of data cut into different numbers of parts? Then why they cannot be added up, as
 * the end of a sentence. */
int vem_i_marks_unlike(const vem_i_marks *a, const vem_i_marks *b, char *why,
                       size_t size);
/* The same, and where both have a part in common. */
int vem_i_marks_differ(const vem_i_marks *a, const vem_i_marks *b, char *why,
                       size_t size);
/* to += from, of marks that do not differ. */
vem_status vem_i_marks_add(vem_i_run *run, vem_i_marks *to, const vem_i_marks *from);
/* Sorts what was read; are these marks of parts? */
int vem_i_marks_settle(vem_i_marks *marks);
/* The numbers from 1 to `of` that are missing, as "2, 5 and 7": the first few of them. */
void vem_i_marks_missing(const vem_i_marks *marks, char *text, size_t size);

#endif
