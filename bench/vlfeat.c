/* EM for a mixture with diagonal covariances by VLFeat, beside ours. Called by
 * mixtures.py.
 *
 *     vlfeat ROWS D START C ITERATIONS THREADS        prints seconds and the
 * log-likelihood
 *
 * ROWS is a file of bare floats, row after row; START one of weights, means and
 * variances. VLFeat leaves out of its M-step posteriors below 0.01 and stops by itself
 * when the likelihood changes by less than 1e-5 of itself, so its time is a lower bound.
 */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <vl/generic.h>
#include <vl/gmm.h>

static float *read_floats(const char *path, size_t *count)
{
    FILE *file = fopen(path, "rb");
    if (!file || fseek(file, 0, SEEK_END) != 0) {
        fprintf(stderr, "%s could not be read.\n", path);
        exit(1);
    }
    *count = (size_t)ftell(file) / sizeof(float);
    rewind(file);
    float *values = malloc(*count * sizeof(float));
    if (!values || fread(values, sizeof(float), *count, file) != *count) {
        fprintf(stderr, "%s could not be read.\n", path);
        exit(1);
    }
    fclose(file);
    return values;
}

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* Seconds of a fit of so many iterations. */
static double run(VlGMM *gmm, const float *rows, size_t n, const float *start, size_t c,
                  size_t d, size_t iterations)
{
    vl_gmm_set_priors(gmm, start);
    vl_gmm_set_means(gmm, start + c);
    vl_gmm_set_covariances(gmm, start + c + c * d);
    vl_gmm_set_max_num_iterations(gmm, iterations);
    const double began = now();
    vl_gmm_cluster(gmm, rows, n);
    return now() - began;
}

int main(int argc, char **argv)
{
    if (argc != 7) {
        fprintf(stderr, "usage: vlfeat ROWS D START C ITERATIONS THREADS\n");
        return 2;
    }
    size_t count, start_count;
    float *rows = read_floats(argv[1], &count);
    float *start = read_floats(argv[3], &start_count);
    const size_t d = strtoul(argv[2], NULL, 10), c = strtoul(argv[4], NULL, 10);
    const size_t iterations = strtoul(argv[5], NULL, 10);
    vl_set_num_threads(strtoul(argv[6], NULL, 10));
    VlGMM *gmm = vl_gmm_new(VL_TYPE_FLOAT, d, c);
    vl_gmm_set_initialization(gmm, VlGMMCustom);
    vl_gmm_set_num_repetitions(gmm, 1);
    vl_gmm_set_covariance_lower_bound(gmm, 0);
    const double first = run(gmm, rows, count / d, start, c, d, 0);
    const double last = run(gmm, rows, count / d, start, c, d, iterations);
    printf("{\"seconds\": %.9g, \"log_likelihood\": %.12g}\n",
           (last - first) / (double)iterations,
           vl_gmm_get_loglikelihood(gmm) / (double)(count / d));
    vl_gmm_delete(gmm);
    free(rows);
    free(start);
    return 0;
}
