/* Is the thread sanitizer awake, and does it understand OpenMP? Without a race this
 * program must pass; compiled with WITH_RACE it must be reported. */
#include <stdio.h>

enum { COUNT = 10000 };

int main(void)
{
    static int values[COUNT];
    int racy = 0;
    long sum = 0;
#pragma omp parallel for num_threads(4)
    for (int i = 0; i < COUNT; i++)
        values[i] = i;
        /* Reads what other threads wrote: right, because the loop above ended first. */
#pragma omp parallel for num_threads(4) reduction(+ : sum)
    for (int i = 0; i < COUNT; i++)
        sum += values[COUNT - 1 - i];
#ifdef WITH_RACE
#pragma omp parallel for num_threads(4)
    for (int i = 0; i < COUNT; i++)
        racy += values[i];
#endif
    printf("%ld %d\n", sum, racy);
    return sum == (long)COUNT * (COUNT - 1) / 2 ? 0 : 1;
}
