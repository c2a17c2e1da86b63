/* Some rows, cut into parts. */
#ifndef VEM_SELECT_BISECT_H
#define VEM_SELECT_BISECT_H

#include <stdint.h>

typedef struct vem_i_bisected {
    int64_t n, d;
    double *rows;   /* n x d */
    double *masses; /* n */
    uint8_t *part;  /* n, written */
    double *work;   /* 3 d */
    double *means;  /* 16 d */
} vem_i_bisected;

/* In as many parts as the rows take, at most so many (up to 16): each time the part of
 * the largest scatter, at its mean, across its widest direction. Returns how many; fewer
 * where rows lie in fewer places. */
int32_t vem_i_bisect(vem_i_bisected *rows, int32_t most);
/* So many steps of k-means from these parts, or until nothing changes. */
void vem_i_bisected_lloyd(vem_i_bisected *rows, int32_t parts, int steps);
/* The mean (d) of a part; returns its scatter about it. */
double vem_i_bisected_part(const vem_i_bisected *rows, int32_t part, double *mean);

#endif
