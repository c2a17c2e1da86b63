/* Classes as words: one a line, or a column of a table. Each word is looked up in a table of
 * those met so far (open addressing, at most half full). */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/plain.h"
#include "io/csv.h"
#include "io/number.h"

/* Words met so far: number i begins at text + starts[i] and ends before a NUL. */
typedef struct words {
    vem_i_run *run;
    char *text;
    size_t used, room;
    size_t *starts;
    int64_t count, starts_room;
    int64_t *slots; /* number + 1 of a word; 0: free */
    size_t slot_count;
} words;

static uint64_t hash_of(const char *word, size_t length)
{
    uint64_t hash = 14695981039346656037u; /* FNV-1a */
    for (size_t i = 0; i < length; i++)
        hash = (hash ^ (unsigned char)word[i]) * 1099511628211u;
    return hash ^ hash >> 29;
}

/* Memory for `wanted` things of `size` bytes: at least twice what there was. */
static vem_status grow(vem_i_run *run, void *array, size_t used, size_t *room,
                       size_t wanted, size_t size)
{
    void *old, *larger;
    if (wanted <= *room)
        return VEM_OK;
    const size_t next = wanted < 32 ? 64 : 2 * wanted;
    vem_status status = vem_i_take_zeroed(run, &larger, next, size);
    if (status != VEM_OK)
        return status;
    memcpy(&old, array, sizeof old);
    if (old)
        memcpy(larger, old, used * size);
    vem_i_free(old);
    memcpy(array, &larger, sizeof larger);
    *room = next;
    return VEM_OK;
}

static int64_t *slot_of(const words *w, const char *word, size_t length)
{
    size_t at = hash_of(word, length) % w->slot_count;
    for (; w->slots[at]; at = (at + 1) % w->slot_count) {
        const char *known = w->text + w->starts[w->slots[at] - 1];
        if (strlen(known) == length && memcmp(known, word, length) == 0)
            break;
    }
    return &w->slots[at];
}

static vem_status make_slots(words *w)
{
    if (w->slot_count > 2 * (size_t)w->count + 2)
        return VEM_OK;
    vem_i_free(w->slots);
    w->slot_count = 4 * (size_t)w->count + 64;
    vem_status status =
        vem_i_take_zeroed(w->run, &w->slots, w->slot_count, sizeof *w->slots);
    for (int64_t i = 0; status == VEM_OK && i < w->count; i++) {
        const char *word = w->text + w->starts[i];
        *slot_of(w, word, strlen(word)) = i + 1;
    }
    return status;
}

/* The number of the word that stands in the text at w->used. */
static vem_status number_of(words *w, size_t length, int64_t *number)
{
    vem_status status = make_slots(w);
    if (status != VEM_OK)
        return status;
    int64_t *slot = slot_of(w, w->text + w->used, length);
    if (!*slot) {
        size_t room = (size_t)w->starts_room;
        status = grow(w->run, &w->starts, (size_t)w->count, &room, (size_t)w->count + 1,
                      sizeof *w->starts);
        if (status != VEM_OK)
            return status;
        w->starts_room = (int64_t)room;
        w->starts[w->count++] = w->used;
        w->used += length + 1;
        *slot = w->count;
    }
    *number = *slot - 1;
    return VEM_OK;
}

/* Field `column` of the line at `at`, as a word at w->used. */
static vem_status take_word(words *w, const vem_i_csv *csv, const char *at,
                            int32_t column, int64_t row, size_t *length)
{
    vem_i_field field = {.next = at};
    for (int32_t j = 0; j <= column && field.next; j++)
        field = vem_i_csv_field(csv, field.next);
    if (column > 0 && !field.text)
        return vem_i_fail(w->run, VEM_BAD_DATA, "%s, row %" PRId64 " is too short.",
                          csv->name, row + 1);
    const size_t most = (size_t)(field.text_end - field.text);
    vem_status status = grow(w->run, &w->text, w->used, &w->room, w->used + most + 1, 1);
    if (status == VEM_OK)
        *length = vem_i_csv_unquote(&field, w->text + w->used, w->room - w->used);
    return status;
}

/* The column whose name says that it holds classes; -1: there is none. */
static int32_t column_of_classes(char *const *names, int32_t count)
{
    static const char *const known[] = {"label",  "class", "cluster",
                                        "target", "truth", "species"};
    for (int32_t j = 0; j < count; j++)
        for (size_t i = 0; i < sizeof known / sizeof *known; i++)
            if (vem_i_same_word(names[j], names[j] + strlen(names[j]), known[i]))
                return j;
    return -1;
}

/* The column that was asked for, as --columns asks. */
static vem_status column_asked(vem_i_run *run, const char *file, const char *asked,
                               char *const *names, int32_t count, int32_t *column)
{
    vem_i_columns found;
    vem_status status =
        vem_i_columns_resolve(run, file, asked, NULL, names, count, &found);
    if (status == VEM_OK && found.count != 1)
        status =
            vem_i_fail(run, VEM_BAD_OPTION,
                       "\"%s\" means %" PRId32 " columns of %s, but classes are in 1.",
                       asked, found.count, file);
    if (status == VEM_OK)
        *column = found.chosen[0];
    vem_i_columns_free(&found);
    return status;
}

/* The column that holds the classes of a table whose first row is `names`. */
static vem_status find_column(vem_i_run *run, const vem_i_csv *csv, const char *asked,
                              char *const *names, int32_t count, int32_t *column)
{
    if (asked)
        return column_asked(run, csv->name, asked, names, count, column);
    *column = count == 1 ? 0 : column_of_classes(names, count);
    return *column >= 0
               ? VEM_OK
               : vem_i_fail(
                     run, VEM_BAD_DATA,
                     "%s has %" PRId32 " columns, but classes have exactly 1, or a "
                     "column named label, class, cluster, target, truth or species; "
                     "--truth-column says which one it is.",
                     csv->name, count);
}

static int is_number(const char *word)
{
    double value;
    const char *end = word + strlen(word);
    return end > word && vem_i_number_with(word, end, '.', &value) == end;
}

/* A header is a word, never a number: in a table the line of names, or the name that was asked
 * for; else a line more than there are rows or, where their number is not known, a first word
 * that is met no more. */
static int has_header(const words *w, const int64_t *classes, int64_t n, int64_t rows,
                      int named)
{
    if (named)
        return 1;
    if (n < 2 || is_number(w->text + w->starts[0]))
        return 0;
    if (rows > 0)
        return n == rows + 1;
    for (int64_t i = 1; i < n; i++)
        if (classes[i] == 0)
            return 0;
    return 1;
}

/* All lines, the header too. */
static vem_status number_lines(words *w, const vem_i_csv *csv, int32_t column,
                               int64_t **classes, int64_t *n)
{
    size_t room = 0;
    vem_status status = VEM_OK;
    const char *at = csv->begin;
    while (status == VEM_OK && (at = vem_i_csv_next_row(csv, at)) < csv->end) {
        size_t length = 0;
        status = take_word(w, csv, at, column, *n, &length);
        if (status == VEM_OK)
            status = grow(w->run, classes, (size_t)*n, &room, (size_t)*n + 1,
                          sizeof **classes);
        if (status == VEM_OK)
            status = number_of(w, length, &(*classes)[(*n)++]);
        at = vem_i_csv_line_end(csv, at);
        at += at < csv->end;
        vem_i_residence_check(w->run);
    }
    return status;
}

/* The lines as numbers of words -> classes, without the header. */
static vem_status give_classes(const words *w, const char *file, const int64_t *numbers,
                               int64_t count, int header, vem_i_classes *out)
{
    if (count == header)
        return vem_i_fail(w->run, VEM_BAD_DATA, "%s has a header, but no rows.", file);
    const size_t bytes = ((size_t)count + 1) * sizeof *numbers; /* never 0 */
    int64_t *made = malloc(bytes);
    if (!made)
        return vem_i_fail_memory(w->run, bytes);
    /* The header's word was number 0; as a class as well it comes last. */
    for (int64_t i = header; i < count; i++)
        made[i - header] = header && numbers[i] == 0 ? w->count - 1 : numbers[i] - header;
    out->classes = made;
    out->n = count - header;
    return VEM_OK;
}

static vem_status read_words(vem_i_run *run, const vem_i_csv *csv, int64_t rows,
                             const char *asked, vem_i_classes *out)
{
    words w = {.run = run};
    int64_t *numbers = NULL, count = 0;
    int32_t column = 0, columns = 0;
    char **names = NULL, *taken = NULL;
    const char *first = vem_i_csv_next_row(csv, csv->begin);
    if (first == csv->end)
        return vem_i_fail(run, VEM_BAD_DATA, "%s holds no rows.", csv->name);
    vem_status status = vem_i_csv_names(run, csv, first, &names, &columns);
    if (status == VEM_OK)
        status = find_column(run, csv, asked, names, columns, &column);
    if (status == VEM_OK && columns > 1 && !(taken = strdup(names[column])))
        status = vem_i_fail_memory(run, strlen(names[column]) + 1);
    if (status == VEM_OK)
        status = number_lines(&w, csv, column, &numbers, &count);
    if (status == VEM_OK) {
        const int named = columns > 1 || (asked && strcmp(asked, names[0]) == 0);
        const int header = has_header(&w, numbers, count, rows, named);
        status = give_classes(&w, csv->name, numbers, count, header, out);
    }
    if (status == VEM_OK)
        out->column = taken;
    else
        free(taken);
    vem_i_free(names);
    vem_i_free(w.text);
    vem_i_free(w.starts);
    vem_i_free(w.slots);
    vem_i_free(numbers);
    return status;
}

vem_status vem_i_classes_parse(vem_i_run *run, const char *name, const char *bytes,
                               size_t size, char separator, int64_t rows,
                               const char *column, vem_i_classes *out)
{
    vem_i_csv csv = {.name = name,
                     .begin = bytes,
                     .end = bytes + size,
                     .separator = separator,
                     .decimal = '.'};
    vem_i_csv_skip_marks(&csv);
    csv.quotes = memchr(bytes, '"', size) != NULL;
    if (!csv.separator)
        csv.separator = vem_i_csv_sniff(&csv);
    if (csv.separator == ' ') /* the name of a class may be several words */
        csv.separator = ',';
    return read_words(run, &csv, rows, column, out);
}

static vem_status read_file(vem_i_run *run, const char *path, int64_t rows,
                            const char *column, vem_i_classes *out)
{
    vem_i_file file;
    char separator;
    int is_text;
    vem_status status = vem_i_text_open(run, path, &file, &separator, &is_text);
    if (status != VEM_OK)
        return status;
    if (!is_text && column)
        return vem_i_fail(run, VEM_BAD_OPTION,
                          "Column \"%s\" of %s was asked for, but only text tables have "
                          "columns of classes.",
                          column, path);
    if (!is_text)
        return vem_i_labels_read(run, path, &out->classes, &out->n);
    status = vem_i_classes_parse(run, path, file.bytes, file.size, separator, rows,
                                 column, out);
    vem_i_file_close(&file);
    return status;
}

vem_status vem_classes_read_column(vem_ctx *ctx, const char *path, int64_t rows,
                                   const char *column, int64_t **classes, int64_t *n,
                                   char **taken)
{
    VEM_I_NEED(ctx, ctx, path, classes, n);
    vem_i_run *run = vem_i_begin(ctx, &(vem_i_verb){0});
    vem_i_classes out = {0};
    vem_status status = read_file(run, path, rows, column, &out);
    if (status != VEM_OK)
        return status;
    *classes = out.classes;
    *n = out.n;
    if (taken)
        *taken = out.column;
    else
        free(out.column);
    return VEM_OK;
}

vem_status vem_classes_read(vem_ctx *ctx, const char *path, int64_t rows,
                            int64_t **classes, int64_t *n)
{
    VEM_I_NEED(ctx, ctx, path, classes, n);
    return vem_classes_read_column(ctx, path, rows, NULL, classes, n, NULL);
}
