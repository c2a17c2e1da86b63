/* Classes as words: one a line, or a column of a table. Each word is looked up in a table of
 * those met so far (open addressing, at most half full). */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "io/csv.h"
#include "io/number.h"

/* Words met so far: number i begins at text + starts[i] and ends before a NUL. */
typedef struct words {
    vem_ctx *ctx;
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
static vem_status grow(vem_ctx *ctx, void *array, size_t used, size_t *room,
                       size_t wanted, size_t size)
{
    void *old, *larger;
    if (wanted <= *room)
        return VEM_OK;
    const size_t next = wanted < 32 ? 64 : 2 * wanted;
    vem_status status = vem_i_take_zeroed(ctx, &larger, next, size);
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
        vem_i_take_zeroed(w->ctx, &w->slots, w->slot_count, sizeof *w->slots);
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
        status = grow(w->ctx, &w->starts, (size_t)w->count, &room, (size_t)w->count + 1,
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
        return vem_i_fail(w->ctx, VEM_BAD_DATA, "%s, row %" PRId64 " is too short.",
                          csv->name, row + 1);
    const size_t most = (size_t)(field.text_end - field.text);
    vem_status status = grow(w->ctx, &w->text, w->used, &w->room, w->used + most + 1, 1);
    if (status == VEM_OK)
        *length = vem_i_csv_unquote(&field, w->text + w->used, w->room - w->used);
    return status;
}

/* The column that holds the classes of a table; `at` is its first row. */
static vem_status find_column(vem_ctx *ctx, const vem_i_csv *csv, const char *at,
                              int32_t *column)
{
    static const char *const names[] = {"label",  "class", "cluster",
                                        "target", "truth", "species"};
    const int32_t count = vem_i_csv_field_count(csv, at);
    *column = 0;
    vem_i_field field = {.next = at};
    for (int32_t j = 0; count > 1 && j < count && field.next; j++) {
        char name[16];
        field = vem_i_csv_field(csv, field.next);
        const size_t length = vem_i_csv_unquote(&field, name, sizeof name);
        for (size_t i = 0; i < sizeof names / sizeof *names; i++)
            if (length < sizeof name && vem_i_same_word(name, name + length, names[i])) {
                *column = j;
                return VEM_OK;
            }
    }
    return count == 1
               ? VEM_OK
               : vem_i_fail(
                     ctx, VEM_BAD_DATA,
                     "%s has %" PRId32 " columns, but classes have exactly 1, or a "
                     "column named label, class, cluster, target, truth or species.",
                     csv->name, count);
}

static int is_number(const char *word)
{
    double value;
    const char *end = word + strlen(word);
    return end > word && vem_i_number_with(word, end, '.', &value) == end;
}

/* A header is a word, never a number: in a table the line of names; else a line more than there
 * are rows or, where their number is not known, a first word that is met no more. */
static int has_header(const words *w, const int64_t *classes, int64_t n, int64_t rows,
                      int many_columns)
{
    if (many_columns)
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
            status = grow(w->ctx, classes, (size_t)*n, &room, (size_t)*n + 1,
                          sizeof **classes);
        if (status == VEM_OK)
            status = number_of(w, length, &(*classes)[(*n)++]);
        at = vem_i_csv_line_end(csv, at);
        at += at < csv->end;
        vem_i_residence_check(w->ctx);
    }
    return status;
}

static vem_status read_words(vem_ctx *ctx, vem_i_csv *csv, int64_t rows,
                             int64_t **classes, int64_t *n)
{
    words w = {.ctx = ctx};
    int64_t *numbers = NULL, count = 0;
    int32_t column = 0;
    const char *first = vem_i_csv_next_row(csv, csv->begin);
    if (first == csv->end)
        return vem_i_fail(ctx, VEM_BAD_DATA, "%s holds no rows.", csv->name);
    vem_status status = find_column(ctx, csv, first, &column);
    if (status == VEM_OK)
        status = number_lines(&w, csv, column, &numbers, &count);
    const int header =
        status == VEM_OK &&
        has_header(&w, numbers, count, rows, vem_i_csv_field_count(csv, first) > 1);
    if (status == VEM_OK && count == header)
        status =
            vem_i_fail(ctx, VEM_BAD_DATA, "%s has a header, but no rows.", csv->name);
    const size_t bytes = ((size_t)count + 1) * sizeof *numbers; /* never 0 */
    int64_t *made = status == VEM_OK ? malloc(bytes) : NULL;
    if (status == VEM_OK && !made)
        status = vem_i_fail_memory(ctx, bytes);
    if (status == VEM_OK) {
        /* The header's word was number 0; as a class as well it comes last. */
        for (int64_t i = header; i < count; i++)
            made[i - header] =
                header && numbers[i] == 0 ? w.count - 1 : numbers[i] - header;
        *classes = made;
        *n = count - header;
    }
    vem_i_free(w.text);
    vem_i_free(w.starts);
    vem_i_free(w.slots);
    vem_i_free(numbers);
    return status;
}

vem_status vem_i_classes_parse(vem_ctx *ctx, const char *name, const char *bytes,
                               size_t size, char separator, int64_t rows,
                               int64_t **classes, int64_t *n)
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
    return read_words(ctx, &csv, rows, classes, n);
}

vem_status vem_classes_read(vem_ctx *ctx, const char *path, int64_t rows,
                            int64_t **classes, int64_t *n)
{
    VEM_I_NEED(ctx, ctx, "ctx");
    VEM_I_NEED(ctx, path, "path");
    VEM_I_NEED(ctx, classes, "classes");
    VEM_I_NEED(ctx, n, "n");
    vem_i_begin(ctx);
    vem_i_file file;
    char separator;
    int is_text;
    vem_status status = vem_i_text_open(ctx, path, &file, &separator, &is_text);
    if (status == VEM_OK && !is_text)
        return vem_labels_read(ctx, path, classes, n);
    if (status != VEM_OK)
        return status;
    status = vem_i_classes_parse(ctx, path, file.bytes, file.size, separator, rows,
                                 classes, n);
    vem_i_file_close(&file);
    return status;
}
