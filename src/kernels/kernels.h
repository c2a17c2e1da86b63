/* The kernel table: everything that touches numbers of the compute type T in bulk.
 *
 * kernels_ref.c defines each entry in plain C. kernels.inc is compiled once per
 * instruction set and type; cpu.c picks one table per type when a context is made. All
 * pointers to values are `void *` here and mean T * (float or double by `precision`).
 *
 * Panels. A panel holds `panel` items, transposed: element (dimension j, item p) at
 * [j * panel + p]. A block of n items is ceil(n / panel) panels one after another, each
 * d * panel long. Slots after the n-th item repeat the last item, so they are finite and
 * their results are thrown away.
 *
 * Costs. The cost of cluster c for item x is  v(x,c) = -2 log p(c, x)  up to a constant
 * that the caller knows; smaller is better. Rows of costs have a stride `ldv` (a multiple
 * of `panel`), item p of the block at column p, and are written for all slots of all
 * panels.
 *
 * Bounds on d, n, m: all >= 1 unless said. Nothing allocates except on the stack, where
 * no kernel uses more than 64 KiB. */
#ifndef VEM_KERNELS_KERNELS_H
#define VEM_KERNELS_KERNELS_H

#include <string.h>

#include "base/run.h"

/* Largest number of items in a block (n of the block kernels). A multiple of every
 * `panel`. */
enum { VEM_I_BLOCK = 256 };
/* Longest chain of additions in T of a moment, for vectors of 16 bytes and more. Of doubles,
 * which have half the lanes, twice as many. */
enum { VEM_I_CHAIN = 64 };
/* Longest list that dot_top and select_top keep. Longer lists are sorted by the caller.
 */
enum { VEM_I_TOP_MAX = 65 };

/* Sums over dimensions. A long sum of T in one register errs by up to one rounding of itself
 * per term, and does so where the terms are alike. So sums are taken in runs of VEM_I_RUN
 * dimensions that are added up afterwards; where vectors lie along the dimensions, in runs
 * of VEM_I_ROW_RUN vectors whose sums are added in double. */
enum { VEM_I_RUN = 256, VEM_I_ROW_RUN = 64 };

/* Roundings on the way of a term into the sum over d dimensions that dot_top or a tile
 * takes: with u the unit roundoff, such a sum errs by less than (steps u / (1 - steps u))
 * times the sum of the terms' sizes. */
static inline double vem_i_sum_steps(int32_t d)
{
    return d <= VEM_I_RUN ? d : VEM_I_RUN + (d + VEM_I_RUN - 1) / VEM_I_RUN;
}

/* Places behind the point that byte_spread keeps of a center. */
enum { VEM_I_BYTE_BITS = 45 };

#define VEM_I_LEAST_SINGLE 1e-30
#define VEM_I_LEAST_DOUBLE 1e-300

/* Rows of which zeros are left out. */
typedef struct vem_i_sparse {
    /* Of each row: where its entries begin and end. starts NULL: not sparse. */
    const int64_t *starts, *ends;
    const int32_t *columns; /* of the entries, ascending within a row */
    /* The narrowest that holds them all; all NULL: every value is 1. */
    const uint8_t *bytes;
    const float *values;
    const double *wide;
} vem_i_sparse;

static inline double vem_i_sparse_value(const vem_i_sparse *s, int64_t entry)
{
    return s->bytes    ? (double)s->bytes[entry]
           : s->values ? (double)s->values[entry]
           : s->wide   ? s->wide[entry]
                       : 1;
}

/* Clusters that the sparse kernels have at hand at a time. */
enum { VEM_I_SPARSE_CLUSTERS = 64 };

/* Rows that rest in the type they were given in, narrower than T. A value of T is
 * (v - origin_j) in double, rounded to T. */
typedef enum vem_i_stored_type {
    VEM_I_STORED_PLAIN, /* they are T, and nothing is subtracted */
    VEM_I_STORED_U1,
    VEM_I_STORED_I1,
    VEM_I_STORED_F2, /* IEEE halves */
    VEM_I_STORED_BF  /* bfloat16 */
} vem_i_stored_type;

typedef struct vem_i_stored {
    vem_i_stored_type type;
    const double *origin; /* d */
} vem_i_stored;

/* Bytes of a value that is stored so; not of PLAIN. */
static inline size_t vem_i_stored_bytes(vem_i_stored_type type)
{
    return type >= VEM_I_STORED_F2 ? 2 : 1;
}

/* The value of an IEEE half; every one is a float. A sign, 5 bits of exponent (bias 15), 10 of
 * fraction. Below 2^-14 the fraction is a number of 2^-24; an exponent of 31 is infinite or
 * no number. */
static inline float vem_i_half(uint16_t bits)
{
    const uint32_t sign = (uint32_t)(bits >> 15) << 31, fraction = bits & 0x3ff;
    const uint32_t exponent = (bits >> 10) & 31;
    float value;
    if (exponent == 0) {
        value = (float)fraction * 0x1p-24f;
        return sign ? -value : value;
    }
    const uint32_t word =
        sign | (exponent == 31 ? 255 : exponent + 112) << 23 | fraction << 13;
    memcpy(&value, &word, sizeof value);
    return value;
}

/* The value of a bfloat16: a float of which the lower half is 0. */
static inline float vem_i_bfloat(uint16_t bits)
{
    const uint32_t word = (uint32_t)bits << 16;
    float value;
    memcpy(&value, &word, sizeof value);
    return value;
}

/* Value j of such a row, as it is stored. */
static inline double vem_i_stored_value(vem_i_stored_type type, const void *row,
                                        int64_t j)
{
    return type == VEM_I_STORED_U1   ? (double)((const uint8_t *)row)[j]
           : type == VEM_I_STORED_I1 ? (double)((const int8_t *)row)[j]
           : type == VEM_I_STORED_F2 ? (double)vem_i_half(((const uint16_t *)row)[j])
                                     : (double)vem_i_bfloat(((const uint16_t *)row)[j]);
}

typedef struct vem_i_kernels {
    const char *name; /* "reference", "baseline", "avx2", "avx512", "neon" */
    vem_precision precision;
    size_t element; /* sizeof(T) */
    int32_t panel;  /* items per panel; divides VEM_I_BLOCK */
    int32_t lanes;

    /* Rows -> panels. Item p is row items[p] of x (items NULL: row p), ld elements apart;
     * `origin` (d values, NULL: 0) is subtracted. norms (NULL or one per slot): squared
     * length of what was packed. */
    void (*pack)(const void *x, int64_t ld, const uint32_t *items, int32_t n, int32_t d,
                 const void *origin, void *panels, void *norms);

    /* Listed rows of x, ld apart, together and about an origin (d values, NULL: 0): row p of
     * out, ldo apart. norms (NULL or n): squared lengths of what was written. */
    void (*gather)(const void *x, int64_t ld, const int32_t *items, int32_t n, int32_t d,
                   const void *origin, void *out, int64_t ldo, void *norms);

    /* The dense workhorse: scaled squared distances by the dot product, fused with the
     * running best `top` of each item; writes no distance matrix.
     *     v(p,c) = scale_c (norms_p + center_norm_c - 2 x_p . center_c) + bias_c
     * centers: m rows, ldc apart.
     * best, index: `top` rows of length ldv, rank r of item p at [r * ldv + p],
     * ascending; the caller starts them with +inf / -1, further calls go on from what
     * they hold. Cluster c is numbered first + c. A tie goes to what came first. 1 <= top
     * <= VEM_I_TOP_MAX; top 1 and 2 never leave the vector lanes. */
    void (*dot_top)(const void *panels, const void *norms, int32_t n, int32_t d,
                    const void *centers, int64_t ldc, const void *center_norms,
                    const void *scale, const void *bias, int32_t m, int32_t first,
                    int32_t top, void *best, int32_t *index, int64_t ldv);

    /* Merge m rows of costs (ldv apart) into the running best lists; as dot_top. `ids`
     * (NULL or m rows, ldv apart): what each cost is numbered, instead of first + c. */
    void (*select_top)(const void *costs, const int32_t *ids, int32_t n, int32_t m,
                       int32_t first, int32_t top, void *best, int32_t *index,
                       int64_t ldv);

    /* Costs from direct differences, no cancellation:
     *     iso   v = scale_c * |x - mean_c|^2 + bias_c
     *     diag  v = sum_j (x_j * a_cj - b_cj)^2 + bias_c      a = 1/sd, b = mean/sd
     *     full  v = |U_c (x - mean_c)|^2 + bias_c
     * rows of means, a, b are ldc apart; U_c is lower triangular (inverse Cholesky
     * factor), packed by rows, d (d + 1) / 2 values, ldf apart (0: one for all). */
    void (*iso_tile)(const void *panels, int32_t n, int32_t d, const void *means,
                     int64_t ldc, const void *scale, const void *bias, int32_t m,
                     void *costs, int64_t ldv);
    void (*diag_tile)(const void *panels, int32_t n, int32_t d, const void *a,
                      const void *b, int64_t ldc, const void *bias, int32_t m,
                      void *costs, int64_t ldv);
    void (*full_tile)(const void *panels, int32_t n, int32_t d, const void *means,
                      int64_t ldc, const void *factors, int64_t ldf, const void *bias,
                      int32_t m, void *costs, int64_t ldv);
    /* Costs that are linear in the item, for families of counts:
     *     v = sum_j x_j a_cj + bias_c,    rows of a are ldc apart. */
    void (*dot_tile)(const void *panels, int32_t n, int32_t d, const void *a, int64_t ldc,
                     const void *bias, int32_t m, void *costs, int64_t ldv);

    /* Costs of listed pairs by direct differences: costs[r * ldv + p] for item p (row
     * items[p] of x, items NULL: row p) and cluster index[r * ldv + p], r < m; an index
     * of -1 gives +inf. scale and bias are looked up by cluster. */
    void (*iso_pairs)(const void *x, int64_t ld, const uint32_t *items, int32_t n,
                      int32_t d, const void *means, int64_t ldc, const void *scale,
                      const void *bias, int32_t m, const int32_t *index, void *costs,
                      int64_t ldv);

    /* The same for the other shapes; a, b, factors as in the tiles. */
    void (*diag_pairs)(const void *x, int64_t ld, const uint32_t *items, int32_t n,
                       int32_t d, const void *a, const void *b, int64_t ldc,
                       const void *bias, int32_t m, const int32_t *index, void *costs,
                       int64_t ldv);
    void (*full_pairs)(const void *x, int64_t ld, const uint32_t *items, int32_t n,
                       int32_t d, const void *means, int64_t ldc, const void *factors,
                       int64_t ldf, const void *bias, int32_t m, const int32_t *index,
                       void *costs, int64_t ldv);
    void (*dot_pairs)(const void *x, int64_t ld, const uint32_t *items, int32_t n,
                      int32_t d, const void *a, int64_t ldc, const void *bias, int32_t m,
                      const int32_t *index, void *costs, int64_t ldv);

    /* What is linear in rows that come with the items (their spreads), rows of x listed as in
     * the pairs. To costs that are there already is added  sum_j x_pj w_cj,  rows of w ldw
     * apart; in the tile for all slots of all panels, in the pairs where the index is not -1.
     *     rows  sum_j += sum_p q_p x_pj, in double (q NULL: all 1; a row of q = 0 adds nothing) */
    void (*linear_tile)(const void *x, int64_t ld, const uint32_t *items, int32_t n,
                        int32_t d, const void *w, int64_t ldw, int32_t m, void *costs,
                        int64_t ldv);
    void (*linear_pairs)(const void *x, int64_t ld, const uint32_t *items, int32_t n,
                         int32_t d, const void *w, int64_t ldw, int32_t m,
                         const int32_t *index, void *costs, int64_t ldv);
    void (*linear_rows)(const void *x, int64_t ld, const uint32_t *items, const void *q,
                        int64_t n, int32_t d, double *sum);

    /* Squared distances of n rows to m centers, row form: out[c * ldo + i]. */
    void (*distances)(const void *x, int64_t ld, int64_t n, int32_t d,
                      const void *centers, int64_t ldc, int32_t m, void *out,
                      int64_t ldo);

    /* The same kernels, to the same bits, on rows that are stored narrower than T, ld elements of
     * that type apart: pack, iso_pairs, distances, iso_rows (below); how->type is not PLAIN. And rows of
     * them as T, listed (items NULL: row p), ldo apart. */
    void (*stored_pack)(const vem_i_stored *how, const void *x, int64_t ld,
                        const uint32_t *items, int32_t n, int32_t d, const void *origin,
                        void *panels, void *norms);
    void (*stored_pairs)(const vem_i_stored *how, const void *x, int64_t ld,
                         const uint32_t *items, int32_t n, int32_t d, const void *means,
                         int64_t ldc, const void *scale, const void *bias, int32_t m,
                         const int32_t *index, void *costs, int64_t ldv);
    void (*stored_distances)(const vem_i_stored *how, const void *x, int64_t ld,
                             int64_t n, int32_t d, const void *centers, int64_t ldc,
                             int32_t m, void *out, int64_t ldo);
    double (*stored_rows)(const vem_i_stored *how, const void *x, int64_t ld,
                          const uint32_t *items, const void *q, int64_t n, int32_t d,
                          const void *mean, double *sum, double *second);
    void (*stored_load)(const vem_i_stored *how, const void *x, int64_t ld,
                        const uint32_t *items, int64_t n, int32_t d, void *out,
                        int64_t ldo);

    /* In place: costs (m rows, ldv apart, n <= VEM_I_BLOCK items) become
     *     q_c = exp(-(v_c - min v)/2) / sum_c' exp(-(v_c' - min v)/2)
     * and log_sum[p] = -min v / 2 + log sum exp(...) in double. +inf costs give exactly
     * 0; where all are +inf, log_sum is -inf. An exponential below VEM_I_LEAST_SINGLE or
     * VEM_I_LEAST_DOUBLE is 0: beside the largest, which is 1, it is nothing, and
     * products with it would be subnormal and slow. mass (NULL or n doubles): q is
     * multiplied by it afterwards; an item of mass 0 gives 0. */
    void (*softmax)(void *costs, int32_t n, int32_t m, int64_t ldv, const double *mass,
                    double *log_sum);

    /* Moments about a mean, added to the double accumulators: with e_i = x_i - mean,
     *     sum_j += sum_i q_i e_ij
     *     iso   *second   += sum_i q_i |e_i|^2
     *     diag  second_j  += sum_i q_i e_ij^2
     *     full  second_jk += sum_i q_i e_ij e_ik, the lower triangle packed by rows
     * sum_collect takes the sums alone, of the items as they are: e_i = x_i.
     * In iso_rows the items are listed rows of x, q NULL: all 1.
     * Each returns sum_i q_i. In *_collect the items are a block
     * of panels, q has n values of type T; items with q = 0 add nothing. Sums inside one
     * call may run in T; they meet the accumulators in double. No sum in T is a chain of
     * more than VEM_I_CHAIN additions, and six more join the lanes, on every instruction
     * set: it is off by no more than 80 u times the sum of its absolute terms (u = 2^-24,
     * 2^-53). */
    double (*iso_rows)(const void *x, int64_t ld, const uint32_t *items, const void *q,
                       int64_t n, int32_t d, const void *mean, double *sum,
                       double *second);
    double (*iso_collect)(const void *panels, const void *q, int32_t n, int32_t d,
                          const void *mean, double *sum, double *second);
    double (*diag_collect)(const void *panels, const void *q, int32_t n, int32_t d,
                           const void *mean, double *sum, double *second);
    double (*full_collect)(const void *panels, const void *q, int32_t n, int32_t d,
                           const void *mean, double *sum, double *second);
    double (*sum_collect)(const void *panels, const void *q, int32_t n, int32_t d,
                          double *sum);

    /* The same for sparse rows (data/sparse.h), of which item p is row items[p], or p; here row j of a
     * belongs to column j and has a value for each cluster, lda apart.
     *     sparse_tile      v(p,c) = bias_c + sum_e x_e a[column_e * lda + c], c < m
     *     sparse_collect   block[c] += q_cp,  block[(1 + column_e) * ldb + c] += q_cp x_e, in double,
     *                      with q_cp at q[c * ldq + p] */
    void (*sparse_tile)(const vem_i_sparse *x, const uint32_t *items, int32_t n,
                        const void *a, int64_t lda, const void *bias, int32_t m,
                        void *costs, int64_t ldv);
    void (*sparse_collect)(const vem_i_sparse *x, const uint32_t *items, int32_t n,
                           const void *q, int64_t ldq, int32_t m, double *block,
                           int64_t ldb);

    /* Rows as they are stored, ld elements apart, all arithmetic in double: with
     * e_i = x_i - center,
     *     moments  sum_j += sum_i w_i e_ij,  squares_j += sum_i w_i e_ij^2
     *     spread   out_i = sum_j (e_ij factor_j)^2
     * weights NULL and factors NULL: all 1. A value that is not finite makes the sums of
     * its dimension so, whatever its weight. */
    void (*moments)(const void *x, int64_t ld, int64_t n, int32_t d,
                    const double *weights, const double *center, double *sum,
                    double *squares);
    void (*spread)(const void *x, int64_t ld, int64_t n, int32_t d, const double *center,
                   const double *factors, double *out);

    /* The same rows moved: with e_ij = (x_ij - center_j) / divisor_j in double,
     *     out_ij = e_ij rounded to T,  squares_j += sum_i w_i e_ij^2
     * out (rows ldo apart) may be NULL, or x itself with ldo = ld. weights NULL and divisors
     * NULL: all 1. Returns the largest |e_ij|; beside a value that is not finite, whatever
     * its weight, that is any number, and the squares of its dimension are not finite. */
    double (*recenter)(const void *x, int64_t ld, int64_t n, int32_t d,
                       const double *weights, const double *center,
                       const double *divisors, void *out, int64_t ldo, double *squares);

    /* Rows of bytes, ld apart, in whole numbers; the same in the tables of both types.
     *     byte_moments   sum_j += sum_i x_ij,  squares_j += sum_i x_ij^2: exact. The caller
     *                    starts at 0 and adds 2^16 rows at most, which 32 bits hold.
     *     byte_spread    out_i = sum_j (x_ij - m_j)^2, where m_j is center_j, in [0, 255],
     *                    rounded to a multiple of 2^-VEM_I_BYTE_BITS; right to a few
     *                    roundings of itself. */
    void (*byte_moments)(const uint8_t *x, int64_t ld, int64_t n, int32_t d,
                         uint32_t *sum, uint32_t *squares);
    void (*byte_spread)(const uint8_t *x, int64_t ld, int64_t n, int32_t d,
                        const double *center, double *out);
} vem_i_kernels;

/* Tables for one instruction set; NULL when this build or this processor does not have
 * it. `cpu` NULL: the best this processor has, or what VEM_CPU names. */
const vem_i_kernels *vem_i_kernels_find(const char *cpu, vem_precision precision);
/* Names of all tables in this build, whether this processor runs them or not; NULL at the
 * end. */
const char *const *vem_i_kernels_names(void);

#endif
