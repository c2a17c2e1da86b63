/* Linux tells these things in files; where they are absent nothing is known, which is no
 * error. */
#include "base/machine.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* The number after `key` at the beginning of a line, or of the file for "". */
static int read_number(const char *path, const char *key, uint64_t *value)
{
    FILE *file = fopen(path, "r");
    if (!file)
        return 0;
    char line[256];
    int found = 0;
    const size_t length = strlen(key);
    while (!found && fgets(line, sizeof line, file))
        found = strncmp(line, key, length) == 0 &&
                sscanf(line + length, " %" SCNu64, value) == 1;
    fclose(file);
    return found;
}

/* What a control group leaves: its limit less what is in use; pages of files that it counts
 * as used are given up when they are needed. */
static uint64_t left_in(const char *limit, const char *used, const char *stat,
                        const char *files)
{
    uint64_t most, now, cached = 0;
    if (!read_number(limit, "", &most) || !read_number(used, "", &now))
        return UINT64_MAX; /* "max", or no such group */
    (void)read_number(stat, files, &cached);
    now = now > cached ? now - cached : 0;
    return most > now ? most - now : 1;
}

uint64_t vem_i_available_bytes(void)
{
    uint64_t kilobytes = 0;
    if (!read_number("/proc/meminfo", "MemAvailable:", &kilobytes))
        return 0;
    uint64_t least = kilobytes * 1024;
    const uint64_t groups[] = {left_in("/sys/fs/cgroup/memory.max",
                                       "/sys/fs/cgroup/memory.current",
                                       "/sys/fs/cgroup/memory.stat", "file "),
                               left_in("/sys/fs/cgroup/memory/memory.limit_in_bytes",
                                       "/sys/fs/cgroup/memory/memory.usage_in_bytes",
                                       "/sys/fs/cgroup/memory/memory.stat",
                                       "total_cache ")};
    for (int i = 0; i < 2; i++)
        least = groups[i] < least ? groups[i] : least;
    return least;
}

/* The second number of statm, in pages. Read often, so without streams. */
uint64_t vem_i_resident_bytes(void)
{
    char text[128] = "";
    uint64_t pages = 0;
    const int file = open("/proc/self/statm", O_RDONLY | O_CLOEXEC);
    if (file < 0)
        return 0;
    const ssize_t got = read(file, text, sizeof text - 1);
    close(file);
    const char *at = got > 0 ? strchr(text, ' ') : NULL;
    for (at = at ? at + 1 : ""; *at >= '0' && *at <= '9'; at++)
        pages = pages * 10 + (uint64_t)(*at - '0');
    const long page = sysconf(_SC_PAGESIZE);
    return page > 0 ? pages * (uint64_t)page : 0;
}
