/* Which columns to keep: "1,3,5-8" or "x,y". A word that is the name of a column means
 * that column, even if it looks like a number; of names that hold commas the longest that fits
 * counts. A name that several columns have is refused: only numbers tell them apart. */
#include "io/io.h"

#include <inttypes.h>
#include <string.h>

#include "base/memory.h"
#include "base/nearest.h"

/* What is known of the file's columns. */
typedef struct table {
    const char *name;
    char *const *names;
    int32_t stored;
} table;

/* The column whose name the list begins with, up to a comma or its end, which *end is set to;
 * the longest, and of those the first. -1: there is none. */
static int32_t find_name(const table *file, const char *list, const char **end)
{
    int32_t found = -1;
    size_t longest = 0;
    for (int32_t j = 0; file->names && j < file->stored; j++) {
        const size_t length = strlen(file->names[j]);
        if ((found >= 0 && length <= longest) ||
            strncmp(file->names[j], list, length) != 0)
            continue;
        const char *behind = list + length;
        while (*behind == ' ')
            behind++;
        if (*behind != ',' && *behind != '\0')
            continue;
        found = j;
        longest = length;
        *end = behind;
    }
    return found;
}

static const char *shown(const char *name, char text[VEM_I_SHOWN])
{
    return vem_i_names_shown(name, strlen(name), text);
}

/* A name was asked for that a later column has, too. */
static vem_status refuse_twice(vem_i_run *run, const table *file, int32_t first)
{
    char name[VEM_I_SHOWN];
    for (int32_t j = first + 1; j < file->stored; j++)
        if (strcmp(file->names[j], file->names[first]) == 0)
            return vem_i_fail(run, VEM_BAD_OPTION,
                              "%s has two columns named \"%s\", %" PRId32 " and %" PRId32
                              ": say which one by its number.",
                              file->name, shown(file->names[first], name), first + 1,
                              j + 1);
    return VEM_OK;
}

/* A whole number at the beginning of [*at, end), saturated; -1 if there is none. */
static int64_t read_count(const char **at, const char *end)
{
    int64_t number = -1;
    for (; *at < end && **at >= '0' && **at <= '9'; (*at)++) {
        number = (number < 0 ? 0 : number) * 10 + (**at - '0');
        if (number > INT32_MAX)
            number = INT32_MAX;
    }
    return number;
}

static vem_status no_such_name(vem_i_run *run, const table *file, const char *word,
                               size_t length)
{
    char list[300] = "", asked[VEM_I_SHOWN], name[VEM_I_SHOWN], hint[128];
    size_t used = 0;
    vem_i_names_shown(word, length, asked);
    if (!file->names)
        return vem_i_fail(
            run, VEM_BAD_OPTION,
            "%s has no column named \"%s\": its columns have no names, only "
            "numbers from 1 to %" PRId32 ".",
            file->name, asked, file->stored);
    for (int32_t j = 0; j < file->stored && used < 200; j++)
        used += (size_t)snprintf(list + used, sizeof list - used, "%s%s", j ? ", " : "",
                                 shown(file->names[j], name));
    vem_i_name_hint(asked, (const char *const *)file->names, file->stored, "\"",
                    "\"? Its", "; its", hint);
    return vem_i_fail(run, VEM_BAD_OPTION,
                      "%s has no column named \"%s\"%s columns are %s%s.", file->name,
                      asked, hint, list, used >= 200 ? ", ..." : "");
}

/* The range of stored columns that a word of the list means, which is no name; counts from 0,
 * ends included. */
static vem_status read_word(vem_i_run *run, const table *file, const char *word,
                            size_t length, int32_t *first, int32_t *last)
{
    const char *p = word, *end = word + length;
    char asked[VEM_I_SHOWN];
    const int64_t low = read_count(&p, end);
    int64_t high = low;
    if (low >= 0 && p < end && *p == '-') {
        p++;
        high = read_count(&p, end);
    }
    if (low < 0 || high < 0 || p != end)
        return no_such_name(run, file, word, length);
    if (low < 1 || high > file->stored || low > high)
        return vem_i_fail(run, VEM_BAD_OPTION,
                          "Column %s was asked for, but %s has columns 1 to %" PRId32 ".",
                          vem_i_names_shown(word, length, asked), file->name,
                          file->stored);
    *first = (int32_t)low - 1;
    *last = (int32_t)high - 1;
    return VEM_OK;
}

/* The columns that the list begins with, and where it goes on: at a comma or its end. */
static vem_status read_item(vem_i_run *run, const table *file, const char *list,
                            int32_t *first, int32_t *last, const char **end)
{
    while (*list == ' ')
        list++;
    *first = *last = find_name(file, list, end);
    if (*first >= 0)
        return refuse_twice(run, file, *first);
    size_t length = strcspn(list, ",");
    *end = list + length;
    while (length > 0 && list[length - 1] == ' ')
        length--;
    return read_word(run, file, list, length, first, last);
}

/* Append the columns of the list to chosen[0 .. *count-1]; `seen` marks them. */
static vem_status read_list(vem_i_run *run, const table *file, const char *list,
                            int32_t *chosen, int32_t *count, char *seen)
{
    for (const char *at = list; at;) {
        int32_t first = 0, last = 0;
        const char *end = NULL;
        vem_status status = read_item(run, file, at, &first, &last, &end);
        if (status != VEM_OK)
            return status;
        for (int32_t j = first; j <= last; j++) {
            if (seen[j])
                return vem_i_fail(run, VEM_BAD_OPTION,
                                  "Column %" PRId32 " of %s is asked for twice.", j + 1,
                                  file->name);
            seen[j] = 1;
            chosen[(*count)++] = j;
        }
        at = *end ? end + 1 : NULL;
    }
    return VEM_OK;
}

/* `is_id` and `seen` are zeroed, for each stored column. */
static vem_status choose(vem_i_run *run, const table *file, const char *columns,
                         const char *id, vem_i_columns *found, char *is_id, char *seen)
{
    vem_status status = VEM_OK;
    if (id)
        status = read_list(run, file, id, found->ids, &found->id_count, is_id);
    if (status == VEM_OK && columns)
        status = read_list(run, file, columns, found->chosen, &found->count, seen);
    if (status != VEM_OK)
        return status;
    for (int32_t j = 0; !columns && j < file->stored; j++)
        found->chosen[found->count++] = j;
    for (int32_t k = 0; k < found->id_count; k++)
        is_id[found->ids[k]] = 1;
    int32_t kept = 0;
    for (int32_t j = 0; j < found->count; j++)
        if (!is_id[found->chosen[j]])
            found->chosen[kept++] = found->chosen[j];
    found->count = kept;
    char ids[VEM_I_SHOWN];
    if (kept == 0)
        return vem_i_fail(run, VEM_BAD_OPTION, "No column of %s is left when %s (%s).",
                          file->name,
                          found->id_count > 1 ? "the ids are left out"
                                              : "the id is left out",
                          id ? shown(id, ids) : "");
    return VEM_OK;
}

void vem_i_columns_free(vem_i_columns *columns)
{
    vem_i_free(columns->chosen);
    vem_i_free(columns->ids);
    *columns = (vem_i_columns){0};
}

vem_status vem_i_columns_resolve(vem_i_run *run, const char *name, const char *columns,
                                 const char *id, char *const *names, int32_t stored,
                                 vem_i_columns *found)
{
    const table file = {name, names, stored};
    *found = (vem_i_columns){.count = stored};
    if (!columns && !id)
        return VEM_OK;
    found->count = 0;
    char *marks = NULL;
    vem_status status =
        vem_i_take(run, &found->chosen, (size_t)stored, sizeof *found->chosen);
    if (status == VEM_OK)
        status = vem_i_take(run, &found->ids, (size_t)stored, sizeof *found->ids);
    if (status == VEM_OK)
        status = vem_i_take_zeroed(run, &marks, (size_t)stored, 2);
    if (status == VEM_OK)
        status = choose(run, &file, columns, id, found, marks, marks + stored);
    vem_i_free(marks);
    if (status != VEM_OK)
        vem_i_columns_free(found);
    return status;
}

/* ---- columns like those of a model, or of the file before ---- */

static int32_t count_named(char *const *names, int32_t count, const char *name)
{
    int32_t found = 0;
    for (int32_t j = 0; j < count; j++)
        found += vem_i_names_same(names[j], name);
    return found;
}

/* A name that the file does have, but not as often; -1: none. */
static int32_t find_scarce(const table *file, char *const *names, int32_t count,
                           const char *missed)
{
    for (int32_t j = 0; j < count; j++) {
        const int32_t had =
            missed[j] ? count_named(file->names, file->stored, names[j]) : 0;
        if (had > 0 && had < count_named(names, count, names[j]))
            return j;
    }
    return -1;
}

/* "a", "b" and 3 more: those of `count` names that the file does not have. */
static vem_status lacks(vem_i_run *run, const table *file, const char *owner,
                        char *const *names, int32_t names_count, const char *missed)
{
    char list[400] = "", name[VEM_I_SHOWN];
    size_t used = 0;
    int32_t count = 0, told = 0;
    const int32_t scarce = find_scarce(file, names, names_count, missed);
    if (scarce >= 0)
        return vem_i_fail(run, VEM_BAD_DATA,
                          "%s has %" PRId32 " of the %" PRId32
                          " columns named \"%s\" that %s has.",
                          file->name,
                          count_named(file->names, file->stored, names[scarce]),
                          count_named(names, names_count, names[scarce]),
                          shown(names[scarce], name), owner);
    for (int32_t j = 0; j < names_count; j++) {
        if (!missed[j])
            continue;
        count++;
        if (told < 4) {
            used += (size_t)snprintf(list + used, sizeof list - used, "%s\"%s\"",
                                     told ? ", " : "", shown(names[j], name));
            told++;
        }
    }
    if (count > told)
        snprintf(list + used, sizeof list - used, " and %" PRId32 " more", count - told);
    return vem_i_fail(run, VEM_BAD_DATA, "%s has no column%s %s, which %s has.",
                      file->name, count == 1 ? "" : "s", list, owner);
}

static int is_free(const table *file, const char *free_columns, int32_t j,
                   const char *name)
{
    return j < file->stored && free_columns[j] && vem_i_names_same(file->names[j], name);
}

/* Those of `like`, by name, of the columns that are marked as free. The marks go. */
static vem_status pick_named(vem_i_run *run, const table *file, const vem_i_names *like,
                             char *free_columns, vem_i_columns *found)
{
    char *missed;
    int any = 0;
    vem_status status = vem_i_take_zeroed(run, &missed, (size_t)like->count, 1);
    if (status != VEM_OK)
        return status;
    int32_t *chosen;
    status = vem_i_take(run, &chosen, (size_t)like->count, sizeof *chosen);
    for (int32_t k = 0; status == VEM_OK && k < like->count; k++) {
        int32_t j = k; /* most files have the same order */
        if (!is_free(file, free_columns, j, like->columns[k]))
            for (j = 0; j < file->stored; j++)
                if (is_free(file, free_columns, j, like->columns[k]))
                    break;
        missed[k] = j == file->stored;
        any |= missed[k];
        if (!missed[k]) {
            chosen[k] = j;
            free_columns[j] = 0;
        }
    }
    if (status == VEM_OK && any) {
        status = lacks(run, file, like->owner, like->columns, like->count, missed);
        vem_i_free(chosen);
    } else if (status == VEM_OK) {
        vem_i_free(found->chosen);
        found->chosen = chosen;
        found->count = like->count;
    }
    vem_i_free(missed);
    return status;
}

/* The id columns of `like` that the file has; `all`: it must have all of them. */
static vem_status pick_ids(vem_i_run *run, const table *file, const vem_i_names *like,
                           const char *free_columns, int all, vem_i_columns *found)
{
    if (found->ids || !like->ids)
        return VEM_OK;
    char *missed = NULL;
    vem_status status =
        vem_i_take(run, &found->ids, (size_t)like->id_count, sizeof *found->ids);
    if (status == VEM_OK)
        status = vem_i_take_zeroed(run, &missed, (size_t)like->id_count, 1);
    for (int32_t k = 0; status == VEM_OK && k < like->id_count; k++) {
        int32_t j = 0;
        while (j < file->stored && !is_free(file, free_columns, j, like->ids[k]))
            j++;
        missed[k] = j == file->stored;
        if (!missed[k])
            found->ids[found->id_count++] = j;
    }
    if (status == VEM_OK && all && found->id_count < like->id_count)
        status = lacks(run, file, like->owner, like->ids, like->id_count, missed);
    vem_i_free(missed);
    return status;
}

/* Among the columns that no name took, is there one of such a name? Then it might have been
 * meant as well. -1: there is none. */
static int32_t find_double(const table *file, const vem_i_names *like,
                           const char *free_columns)
{
    for (int32_t j = 0; j < file->stored; j++)
        for (int32_t k = 0; free_columns[j] && k < like->count; k++)
            if (vem_i_names_same(file->names[j], like->columns[k]))
                return j;
    return -1;
}

/* As they were picked for the fit, if those have the right names. */
static int pick_again(const table *file, const vem_i_names *like, vem_i_columns *found)
{
    vem_i_columns again;
    if ((!like->picked && !like->picked_id) ||
        vem_i_columns_resolve(NULL, file->name, like->picked, like->picked_id,
                              file->names, file->stored, &again) != VEM_OK)
        return 0;
    int same = again.count == like->count;
    for (int32_t k = 0; same && k < like->count; k++)
        same = vem_i_names_same(file->names[again.chosen[k]], like->columns[k]);
    vem_i_columns_free(same ? found : &again);
    if (same)
        *found = again;
    return same;
}

/* Names that the file has more often than `like`: which are meant? Where nothing was asked for
 * this time, what was then. */
static vem_status settle_doubles(vem_i_run *run, const table *file,
                                 const vem_i_names *like, const char *free_columns,
                                 int asked, vem_i_columns *found)
{
    const int32_t twice = find_double(file, like, free_columns);
    char name[VEM_I_SHOWN];
    if (twice < 0 || (!asked && pick_again(file, like, found)))
        return VEM_OK;
    return vem_i_fail(run, VEM_BAD_DATA,
                      "%s has more columns named \"%s\" than %s has (column %" PRId32
                      " is one): say which columns are meant by their numbers.",
                      file->name, shown(file->names[twice], name), like->owner,
                      twice + 1);
}

static vem_status by_name(vem_i_run *run, const table *file, const vem_i_names *like,
                          const char *columns, const char *id, vem_i_columns *found)
{
    char *free_columns;
    const int all = like->decide && like->ids && id;
    if (like->decide) { /* numbers meant columns of the first file */
        columns = NULL;
        id = like->ids ? NULL : id;
    }
    vem_status status = vem_i_columns_resolve(run, file->name, columns, id, file->names,
                                              file->stored, found);
    if (status != VEM_OK)
        return status;
    status = vem_i_take_zeroed(run, &free_columns, (size_t)file->stored, 1);
    if (status == VEM_OK) {
        for (int32_t j = 0; j < found->count; j++)
            free_columns[found->chosen ? found->chosen[j] : j] = 1;
        /* Columns that were asked for under other names stand as they are. */
        status = pick_named(columns ? NULL : run, file, like, free_columns, found);
        if (status == VEM_BAD_DATA && columns)
            status = VEM_OK;
        else if (status == VEM_OK)
            status = settle_doubles(run, file, like, free_columns, columns || id, found);
        if (status == VEM_OK)
            status = pick_ids(run, file, like, free_columns, all, found);
        vem_i_free(free_columns);
    }
    if (status != VEM_OK)
        vem_i_columns_free(found);
    return status;
}

static vem_status by_number(vem_i_run *run, const table *file, const vem_i_names *like,
                            const char *columns, const char *id, vem_i_columns *found)
{
    /* As they were picked for the fit, where that fits. */
    if (!columns && !id && file->stored != like->count &&
        (like->picked || like->picked_id)) {
        if (vem_i_columns_resolve(NULL, file->name, like->picked, like->picked_id,
                                  file->names, file->stored, found) == VEM_OK) {
            if (found->count == like->count)
                return VEM_OK;
            vem_i_columns_free(found);
        }
    }
    return vem_i_columns_resolve(run, file->name, columns, id, file->names, file->stored,
                                 found);
}

vem_status vem_i_columns_like(vem_i_run *run, const char *name, const vem_i_names *like,
                              const char *columns, const char *id, char *const *names,
                              int32_t stored, vem_i_columns *found)
{
    const table file = {name, names, stored};
    if (!like)
        return vem_i_columns_resolve(run, name, columns, id, names, stored, found);
    vem_status status = names && like->columns
                            ? by_name(run, &file, like, columns, id, found)
                            : by_number(run, &file, like, columns, id, found);
    if (status == VEM_OK && found->count != like->count) {
        status = vem_i_fail(run, VEM_BAD_DATA,
                            "%s has %" PRId32 " column%s%s, but %s has %" PRId32 ".",
                            name, found->count, found->count == 1 ? "" : "s",
                            names || !like->columns ? "" : " without names", like->owner,
                            like->count);
        vem_i_columns_free(found);
    }
    return status;
}
