/* Runs the kernel checks without a test framework, for emulated processors.
 * Every table of this build that the processor runs, both types, on a thinner grid; exit
 * status 1 on a mismatch. */
#include "kernel_checks.h"

#include <stdio.h>

int main(void)
{
    int bad = 0;
    grid_thin();
    for (const char *const *name = vem_i_kernels_names(); *name; ++name)
        for (int precision = VEM_SINGLE; precision <= VEM_DOUBLE; ++precision) {
            const vem_i_kernels *table =
                vem_i_kernels_find(*name, (vem_precision)precision);
            if (!table)
                continue;
            for (const kernel_check *check = kernel_checks; check->name; ++check) {
                const int mismatches = check->run(table);
                printf("%s %-9s %-6s %s\n", mismatches ? "FAILED" : "ok    ", *name,
                       precision == VEM_DOUBLE ? "double" : "single", check->name);
                bad += mismatches;
            }
        }
    printf("%d mismatches\n", bad);
    return bad != 0;
}
