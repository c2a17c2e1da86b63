/* What a folder tells of its parts: which are done, failed, wait, or are to be called. */
#include <dirent.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "comm/files.h"

/* Is all there that this file names, one in a line? */
static int has_awaited(const char *folder, FILE *file)
{
    char name[128];
    int all = 1;
    while (all && fgets(name, sizeof name, file)) {
        name[strcspn(name, "\n")] = '\0';
        all = vem_i_files_has(folder, name);
    }
    return all;
}

vem_part_state vem_i_files_state(const char *folder, int rank, char *sentence,
                                 size_t size)
{
    char path[VEM_I_PATH];
    vem_i_part_path(folder, VEM_I_PART_DONE, rank, path);
    if (access(path, F_OK) == 0)
        return VEM_PART_DONE;
    vem_i_part_path(folder, VEM_I_PART_FAILED, rank, path);
    FILE *file = fopen(path, "re");
    if (file) {
        const size_t got = size && !*sentence ? fread(sentence, 1, size - 1, file) : 0;
        if (got > 0)
            sentence[got] = '\0';
        fclose(file);
        return VEM_PART_FAILED;
    }
    vem_i_part_path(folder, VEM_I_PART_AWAITS, rank, path);
    file = fopen(path, "re");
    if (!file) /* never called, or lost */
        return VEM_PART_CALL;
    const int all = has_awaited(folder, file);
    fclose(file);
    return all ? VEM_PART_CALL : VEM_PART_WAITS;
}

void vem_i_files_clear(const char *folder, int parts, int all)
{
    char path[VEM_I_PATH];
    for (int p = 0; p < parts; p++) {
        vem_i_part_path(folder, VEM_I_PART_FAILED, p, path);
        unlink(path);
    }
    DIR *listing = all ? opendir(folder) : NULL;
    for (const struct dirent *e; listing && (e = readdir(listing));) {
        if (!vem_i_part_is_file(e->d_name) || strncmp(e->d_name, "done.", 5) == 0)
            continue;
        snprintf(path, sizeof path, "%.3800s/%.255s", folder, e->d_name);
        unlink(path);
    }
    if (listing)
        closedir(listing);
}
