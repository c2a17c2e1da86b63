/* Which tables this build has, and which of them this processor runs. The processor is
 * asked here and nowhere else; loops call through the table that was picked. */
#include "kernels/kernels.h"
#include "kernels/kernels_inside.h"

#include <stdlib.h>
#include <string.h>
#if defined(__x86_64__)
#include <cpuid.h>
#endif

static int always(void)
{
    return 1;
}

#if defined(__x86_64__)
/* Not every compiler's __builtin_cpu_supports knows it. That the system keeps its registers, AVX2 says. */
static int has_f16c(void)
{
    unsigned a, b, c, d;
    return __get_cpuid(1, &a, &b, &c, &d) && (c & bit_F16C);
}

static int has_avx2(void)
{
    __builtin_cpu_init();
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && has_f16c();
}

static int has_avx512(void)
{
    return has_avx2() && __builtin_cpu_supports("avx512f") &&
           __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl") &&
           __builtin_cpu_supports("avx512bw");
}
#endif

typedef struct table {
    const vem_i_kernels *single_table, *double_table;
    int (*runs)(void);
} table;

/* Best first: without a name the first that runs is taken. */
static const table tables[] = {
#if defined(__x86_64__)
    {&vem_i_kernels_avx512_single, &vem_i_kernels_avx512_double, has_avx512},
    {&vem_i_kernels_avx2_single, &vem_i_kernels_avx2_double, has_avx2},
#elif defined(__aarch64__)
    {&vem_i_kernels_neon_single, &vem_i_kernels_neon_double, always},
#endif
    {&vem_i_kernels_baseline_single, &vem_i_kernels_baseline_double, always},
    {&vem_i_kernels_reference_single, &vem_i_kernels_reference_double, always},
};

static const char *const names[] = {
#if defined(__x86_64__)
    "avx512", "avx2",
#elif defined(__aarch64__)
    "neon",
#endif
    "baseline", "reference", NULL};

const char *const *vem_i_kernels_names(void)
{
    return names;
}

const vem_i_kernels *vem_i_kernels_find(const char *cpu, vem_precision precision)
{
    if (!cpu)
        cpu = getenv("VEM_CPU");
    if (cpu && !cpu[0])
        cpu = NULL;
    for (size_t i = 0; i < sizeof tables / sizeof tables[0]; ++i) {
        if (cpu && strcmp(cpu, names[i]) != 0)
            continue;
        if (tables[i].runs())
            return precision == VEM_DOUBLE ? tables[i].double_table
                                           : tables[i].single_table;
    }
    return NULL;
}
