/* Eigenvalues of a covariance matrix, held at or above a floor.
 *
 * The matrix A becomes tridiagonal by reflections, T = Q A Q' (Householder), and T diagonal
 * by rotations (implicit QL with shifts; Golub and Van Loan, 8.3). Row k of Q is then the
 * eigenvector of value k, which is how rows are walked throughout: a reflection I - u u' / h
 * acts on each row of Q by itself, and a sweep of rotations on a strip of columns at a time.
 *
 * With a few values l_k below the floor f,
 *
 *     A + sum_{l_k < f} (f - l_k) v_k v_k'
 *
 * has them at it and leaves the rest as it was, to the bit. */
#include <float.h>
#include <math.h>
#include <string.h>

#include "model/linalg.h"
#include "model/pair.h"

enum {
    STRIP = 8,
    SWEEPS = 60 /* of one value; two are the rule */
};

static double dot(const double *a, const double *b, int64_t n)
{
    vem_i_pair sums[4] = {{0}};
    int64_t k = 0;
    for (; k + 8 <= n; k += 8)
        for (int c = 0; c < 4; c++)
            sums[c] += vem_i_load(a + k + 2 * c) * vem_i_load(b + k + 2 * c);
    const vem_i_pair all = (sums[0] + sums[1]) + (sums[2] + sums[3]);
    double sum = all[0] + all[1];
    for (; k < n; k++)
        sum += a[k] * b[k];
    return sum;
}

static void add_times(double factor, const double *from, int64_t n, double *to)
{
    for (int64_t k = 0; k < n; k++)
        to[k] += factor * from[k];
}

/* Row i of the lower triangle, i values before its diagonal, becomes the reflection u that
 * leaves one of them; the rows before follow. Returns h = |u|^2 / 2, 0: nothing to do. */
static double reflect(double *matrix, int64_t d, int64_t i, double *beside, double *p)
{
    double *u = matrix + i * d, scale = 0;
    for (int64_t k = 0; k < i; k++)
        scale = fmax(scale, fabs(u[k]));
    *beside = i ? u[i - 1] : 0;
    if (i < 2 || scale == 0)
        return 0;
    for (int64_t k = 0; k < i; k++) /* squares neither vanish nor overflow */
        u[k] /= scale;
    double square = dot(u, u, i), length = copysign(sqrt(square), u[i - 1]);
    const double h = square + fabs(u[i - 1] * length);
    *beside = -scale * length;
    u[i - 1] += length;
    /* p = A u / h from one triangle, then A -= u q' + q u' with q = p - (u.p / 2h) u. */
    for (int64_t j = 0; j < i; j++) {
        const double *row = matrix + j * d;
        p[j] = dot(row, u, j + 1);
        add_times(u[j], row, j, p);
    }
    for (int64_t k = 0; k < i; k++)
        p[k] /= h;
    add_times(-dot(u, p, i) / (2 * h), u, i, p);
    for (int64_t j = 0; j < i; j++) {
        double *row = matrix + j * d;
        add_times(-u[j], p, j + 1, row);
        add_times(-p[j], u, j + 1, row);
    }
    return h;
}

/* Lower triangle -> values (diagonal), beside (what stands beside it, from 1), q (d x d). */
static void tridiagonal(double *matrix, int64_t d, double *values, double *beside,
                        double *h, double *p, double *q)
{
    for (int64_t i = d - 1; i >= 0; i--)
        h[i] = reflect(matrix, d, i, &beside[i], p);
    for (int64_t i = 0; i < d; i++)
        values[i] = matrix[i * d + i];
    memset(q, 0, (size_t)(d * d) * sizeof *q);
    for (int64_t i = 0; i < d; i++) {
        const double *u = matrix + i * d;
        for (int64_t j = 0; h[i] > 0 && j < i; j++)
            add_times(-dot(q + j * d, u, i) / h[i], u, i, q + j * d);
        q[i * d + i] = 1;
    }
}

/* Rotations of rows last, last - 1, ... first of q, each with the row after it. */
static void rotate(double *q, int64_t d, int64_t first, int64_t last,
                   const double *cosine, const double *sine)
{
    int64_t j = 0;
    for (; j + STRIP <= d; j += STRIP) {
        vem_i_pair carried[STRIP / 2];
        for (int c = 0; c < STRIP / 2; c++)
            carried[c] = vem_i_load(q + (last + 1) * d + j + 2 * c);
        for (int64_t i = last; i >= first; i--) {
            double *row = q + i * d + j;
            const vem_i_pair co = {cosine[i], cosine[i]}, si = {sine[i], sine[i]};
            for (int c = 0; c < STRIP / 2; c++) {
                const vem_i_pair here = vem_i_load(row + 2 * c),
                                 up = si * here + co * carried[c];
                carried[c] = co * here - si * carried[c];
                memcpy(row + d + 2 * c, &up, sizeof up);
            }
        }
        memcpy(q + first * d + j, carried, sizeof carried);
    }
    for (; j < d; j++)
        for (int64_t i = last; i >= first; i--) {
            double *low = q + i * d + j, *high = low + d;
            const double here = *low, carried = *high;
            *high = sine[i] * here + cosine[i] * carried;
            *low = cosine[i] * here - sine[i] * carried;
        }
}

/* One sweep on the block first .. last of the tridiagonal matrix (e_i stands between i and
 * i + 1), with Wilkinson's shift. */
static void sweep(double *d, double *e, int64_t first, int64_t last, double *cosine,
                  double *sine)
{
    double g = (d[first + 1] - d[first]) / (2 * e[first]), r = hypot(g, 1);
    g = d[last] - d[first] + e[first] / (g + copysign(r, g));
    double s = 1, c = 1, p = 0;
    for (int64_t i = last - 1; i >= first; i--) {
        const double f = s * e[i], b = c * e[i];
        r = hypot(f, g);
        e[i + 1] = r;
        if (r == 0) { /* the block falls apart: nothing is left to turn */
            d[i + 1] -= p;
            e[last] = 0;
            for (; i >= first; i--) {
                cosine[i] = 1;
                sine[i] = 0;
            }
            return;
        }
        s = f / r;
        c = g / r;
        g = d[i + 1] - p;
        r = (d[i] - g) * s + 2 * c * b;
        p = s * r;
        d[i + 1] = g + p;
        g = c * r - b;
        cosine[i] = c;
        sine[i] = s;
    }
    d[first] -= p;
    e[first] = g;
    e[last] = 0;
}

/* What stands beside the diagonal is 0 when it is below the rounding of the largest number:
 * a perturbation of that size is in the matrix anyway. 0: some value did not settle. */
static int diagonal(double *values, double *beside, int64_t d, double *cosine,
                    double *sine, double *q)
{
    double nothing = 0;
    for (int64_t i = 1; i < d; i++)
        beside[i - 1] = beside[i];
    beside[d - 1] = 0;
    for (int64_t i = 0; i < d; i++)
        nothing = fmax(nothing, DBL_EPSILON * (fabs(values[i]) + fabs(beside[i])));
    for (int64_t first = 0; first < d; first++)
        for (int sweeps = 0;; sweeps++) {
            int64_t last = first;
            while (last < d - 1 && !(fabs(beside[last]) <= nothing))
                last++;
            if (last == first)
                break;
            if (sweeps == SWEEPS)
                return 0;
            sweep(values, beside, first, last, cosine, sine);
            rotate(q, d, first, last - 1, cosine, sine);
        }
    return 1;
}

int64_t vem_i_floor_work(int32_t d)
{
    int64_t n = d;
    return n * n + 6 * n; /* eigenvectors, values, and what the reflections leave */
}

int vem_i_eigen(double *matrix, int32_t d, double *values, double *vectors, double *work)
{
    double *beside = work, *h = work + d, *p = work + 2 * (int64_t)d;
    tridiagonal(matrix, d, values, beside, h, p, vectors);
    return diagonal(values, beside, d, h, p, vectors);
}

/* The lower triangle is what the upper one says. */
static void mirror(double *matrix, int64_t d)
{
    for (int64_t i = 1; i < d; i++)
        for (int64_t j = 0; j < i; j++)
            matrix[i * d + j] = matrix[j * d + i];
}

/* Adds sum_k factor_k v_k v_k' to the upper triangle; rows of v with factor 0 are left out.
 * Four at a time, so that the matrix is walked less often. */
static void add_squares(double *matrix, int64_t d, const double *factors, const double *v)
{
    for (int64_t k = 0; k < d;) {
        const double *row[4];
        double factor[4] = {0};
        int some = 0;
        for (; k < d && some < 4; k++)
            if (factors[k] != 0) {
                row[some] = v + k * d;
                factor[some++] = factors[k];
            }
        if (some == 0)
            return;
        for (int s = some; s < 4; s++)
            row[s] = row[0];
        for (int64_t i = 0; i < d; i++) {
            const double a = factor[0] * row[0][i], b = factor[1] * row[1][i];
            const double c = factor[2] * row[2][i], e = factor[3] * row[3][i];
            double *out = matrix + i * d;
            for (int64_t j = i; j < d; j++)
                out[j] +=
                    (a * row[0][j] + b * row[1][j]) + (c * row[2][j] + e * row[3][j]);
        }
    }
}

static double clamp_eigenvalues(double *matrix, int32_t d, double floor, double *work)
{
    double *values = work, *vectors = work + d, *rest = vectors + (int64_t)d * d;
    double *diagonals = rest + 3 * (int64_t)d, trace = 0, lacks = 0;
    for (int64_t j = 0; j < d; j++)
        trace += diagonals[j] = matrix[j * d + j];
    const int settled = vem_i_eigen(matrix, d, values, vectors, rest);
    for (int64_t j = 0; j < d; j++)
        matrix[j * d + j] = diagonals[j];
    if (settled) {
        for (int64_t k = 0; k < d; k++) {
            values[k] = values[k] < floor ? floor - values[k] : 0;
            lacks += fmin(values[k] / floor, 1);
        }
        add_squares(matrix, d, values, vectors);
        mirror(matrix, d);
        return lacks;
    }
    /* Numbers at the edge of the type: the nearest shape that is certain. */
    memset(matrix, 0, (size_t)d * (size_t)d * sizeof(double));
    for (int64_t j = 0; j < d; j++)
        matrix[j * d + j] = fmax(trace / d, floor);
    return 0;
}

double vem_i_floor_eigenvalues(double *matrix, int32_t d, double floor, double *work)
{
    double trace = 0;
    for (int64_t j = 0; j < d; j++)
        trace += matrix[j * d + j];
    floor = fmax(floor, 4 * d * DBL_EPSILON * trace);
    memcpy(work, matrix, (size_t)d * (size_t)d * sizeof(double));
    for (int64_t j = 0; j < d; j++)
        work[j * d + j] -= floor;
    return vem_i_cholesky(work, d) ? 0 : clamp_eigenvalues(matrix, d, floor, work);
}
