/* The Cholesky factor and its inverse, in double and on the thread that calls.
 *
 *     A = L L',   L_ij = (A_ij - sum_{k<j} L_ik L_jk) / L_jj,   L_jj^2 = A_jj - sum L_jk^2
 *
 * Rows lie side by side, so every sum is a product of two rows. They are taken in tiles of
 * TILE x TILE: a tile first loses what the columns to its left contribute, then is solved
 * against the factor's tile on the diagonal. The inverse U = L^-1 comes row by row,
 *
 *     U_ij = -(sum_{j<=k<i} L_ik U_kj) / L_ii,
 *
 * a strip of columns at a time, whose sums stay in registers.
 *
 * No library does this for us: a threaded one has a number of threads that belongs to the
 * whole process, and changing it is not ours to do. */
#include <math.h>
#include <string.h>

#include "model/linalg.h"
#include "model/pair.h"

enum { TILE = 4, STRIP = 8 };

/* out_rc = rows_r . columns_c over the first n values, for two columns. */
static void products(const double *const rows[TILE], const double *a, const double *b,
                     int64_t n, double out[TILE][2])
{
    vem_i_pair sums[TILE][2] = {{{0}}};
    int64_t k = 0;
    for (; k + 2 <= n; k += 2) {
        const vem_i_pair left = vem_i_load(a + k), right = vem_i_load(b + k);
        for (int r = 0; r < TILE; r++) {
            const vem_i_pair row = vem_i_load(rows[r] + k);
            sums[r][0] += row * left;
            sums[r][1] += row * right;
        }
    }
    for (int r = 0; r < TILE; r++)
        for (int c = 0; c < 2; c++)
            out[r][c] = sums[r][c][0] + sums[r][c][1];
    for (; k < n; k++)
        for (int r = 0; r < TILE; r++) {
            out[r][0] += rows[r][k] * a[k];
            out[r][1] += rows[r][k] * b[k];
        }
}

/* Rows i .. and columns j .. of the factor, up to TILE each; the columns before j are
 * done. 0: a pivot is not positive. */
static int factor_tile(double *matrix, int64_t d, int64_t i, int64_t j)
{
    const double *rows[TILE];
    const int64_t height = d - i < TILE ? d - i : TILE,
                  width = d - j < TILE ? d - j : TILE;
    for (int64_t r = 0; r < TILE; r++) /* past the last: repeated, and thrown away */
        rows[r] = matrix + (i + (r < height ? r : height - 1)) * d;
    for (int64_t c = 0; c < width; c += 2) {
        double sums[TILE][2];
        const int64_t next = c + 1 < width ? c + 1 : c;
        products(rows, matrix + (j + c) * d, matrix + (j + next) * d, j, sums);
        for (int64_t r = 0; r < height; r++)
            for (int64_t k = c; k <= next; k++)
                if (j + k <= i + r)
                    matrix[(i + r) * d + j + k] -= sums[r][k - c];
    }
    for (int64_t c = 0; c < width; c++) {
        const double *across = matrix + (j + c) * d + j;
        for (int64_t r = i == j ? c : 0; r < height; r++) {
            double *row = matrix + (i + r) * d + j, sum = row[c];
            for (int64_t k = 0; k < c; k++)
                sum -= row[k] * across[k];
            if (i + r > j + c) {
                row[c] = sum / across[c];
            } else {
                if (!(sum > 0) || !isfinite(sum))
                    return 0;
                row[c] = sqrt(sum);
            }
        }
    }
    return 1;
}

int vem_i_cholesky(double *matrix, int32_t d)
{
    for (int64_t i = 0; i < d; i += TILE)
        for (int64_t j = 0; j <= i; j += TILE)
            if (!factor_tile(matrix, d, i, j))
                return 0;
    return 1;
}

/* sum_k row_k U_kj for j0 <= j < j0 + STRIP and k < n, of which the first STRIP rows are
 * still short: U_kj = 0 for j > k. */
static void strip(const double *matrix, int64_t d, const double *row, int64_t j0,
                  int64_t n, double out[STRIP])
{
    vem_i_pair sums[STRIP / 2] = {{0}};
    int64_t k = j0;
    memset(out, 0, STRIP * sizeof *out);
    for (; k < n && k < j0 + STRIP; k++)
        for (int64_t j = j0; j <= k; j++)
            out[j - j0] += row[k] * matrix[k * d + j];
    for (; k < n; k++) {
        const double *from = matrix + k * d + j0;
        const vem_i_pair factor = {row[k], row[k]};
        for (int c = 0; c < STRIP / 2; c++)
            sums[c] += factor * vem_i_load(from + 2 * c);
    }
    for (int c = 0; c < STRIP; c++)
        out[c] += sums[c / 2][c % 2];
}

void vem_i_invert_lower(double *matrix, int32_t d)
{
    for (int64_t i = 0; i < d; i++) {
        double *row = matrix + i * d, inverse = 1 / row[i], sums[STRIP];
        /* L_ij is needed no more once its strip is done: later strips start at k > j. */
        for (int64_t j = 0; j < i; j += STRIP) {
            strip(matrix, d, row, j, i, sums);
            for (int64_t k = j; k < i && k < j + STRIP; k++)
                row[k] = -sums[k - j] * inverse;
        }
        row[i] = inverse;
    }
}
