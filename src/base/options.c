/* The options table at work: defaults, text to value and back, range checks.
 * Everything here is derived from VEM_OPTION_TABLE in vem.h. */
#include "base/options.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/plain.h"

#define INFO_ROW(kind, field, def, low, high, choices, argument, help)                   \
    {#field,         VEM_KIND_##kind, (double)(def), (double)(low),                      \
     (double)(high), choices,         argument,      help},
#define OFFSET_ROW(kind, field, def, low, high, choices, argument, help)                 \
    offsetof(vem_options, field),
#define COUNT_ROW(kind, field, def, low, high, choices, argument, help) +1

enum { COUNT = 0 VEM_OPTION_TABLE(COUNT_ROW), COUNT_1 = 0 VEM_OPTION_TABLE_1(COUNT_ROW) };

/* Programs of earlier versions have a shorter struct. Its size says which options it has: one that is
 * added later must not lie in what was padding at its end. */
typedef struct options_1 {
    size_t size;
    VEM_OPTION_TABLE_1(VEM_OPTION_MEMBER)
} options_1;
#define BEHIND_ROW(kind, field, def, low, high, choices, argument, help)                 \
    _Static_assert(offsetof(vem_options, field) >= sizeof(options_1),                    \
                   "options that were added lie behind the earlier struct");
VEM_OPTION_TABLE_2(BEHIND_ROW)
#undef BEHIND_ROW
_Static_assert(
    sizeof(void *) != 8 || sizeof(options_1) == 264,
    "VEM_OPTION_TABLE_1 stays as it is; new options go into VEM_OPTION_TABLE_2");

static vem_option_info table[COUNT] = {VEM_OPTION_TABLE(INFO_ROW)};
static const size_t offset[COUNT] = {VEM_OPTION_TABLE(OFFSET_ROW)};

/* Text derived from the table once, when the library is loaded, and constant afterwards:
 * the names as on the command line, and each list "a|b|c" of choices cut into words. */
enum { NAME_SIZE = 24, LIST_SIZE = 256 };
#define FITS_ROW(kind, field, def, low, high, choices, argument, help)                   \
    _Static_assert(sizeof #field <= NAME_SIZE && sizeof(choices) <= LIST_SIZE,           \
                   "the names of an option and of its choices have room");
VEM_OPTION_TABLE(FITS_ROW)
#undef FITS_ROW
static char names[COUNT][NAME_SIZE];
static char words[COUNT][LIST_SIZE];

__attribute__((constructor)) static void derive_text(void)
{
    for (int i = 0; i < COUNT; i++) {
        snprintf(names[i], NAME_SIZE, "%s", table[i].name);
        for (char *c = names[i]; (c = strchr(c, '_'));)
            *c = '-';
        table[i].name = names[i];
        if (table[i].choices) {
            snprintf(words[i], LIST_SIZE, "%s", table[i].choices);
            for (char *c = words[i]; (c = strchr(c, '|'));)
                *c++ = '\0';
        }
    }
}

int vem_i_search_is_whole(int search)
{
#define WHOLE(NAME, name, whole) whole,
    static const char is_whole[] = {VEM_SEARCH_TABLE(WHOLE)};
    return search >= 0 && search < VEM_SEARCH_COUNT && is_whole[search];
}

/* As the command writes it, or as a member of vem_options. */
static int same_name(const char *name, const char *given)
{
    while (*name && (*name == *given || (*name == '-' && *given == '_')))
        name++, given++;
    return *name == *given;
}

static int find(const char *name)
{
    if (strncmp(name, "--", 2) == 0)
        name += 2;
    for (int i = 0; i < COUNT; i++)
        if (same_name(table[i].name, name))
            return i;
    return -1;
}

int vem_i_option_is(const char *name)
{
    return find(name) >= 0;
}

static int choice_count(const char *choices)
{
    int count = 1;
    for (const char *bar = choices; (bar = strchr(bar, '|')); bar++)
        count++;
    return count;
}

static const char *choice_word(int i, int value)
{
    if (value < 0 || value >= choice_count(table[i].choices))
        return NULL;
    const char *word = words[i];
    while (value-- > 0)
        word += strlen(word) + 1;
    return word;
}

/* Numbers that have words beside them: the first is 0, the others lie below all numbers and
 * VEM_AUTO. -1: there is no such word. */
static double word_value(int index)
{
    return index == 0 ? 0 : -1.0 - index;
}

static int word_index(int i, double value)
{
    if (table[i].kind != VEM_KIND_REAL || !table[i].choices)
        return -1;
    for (int k = 0; k < choice_count(table[i].choices); k++)
        if (value == word_value(k))
            return k;
    return -1;
}

static double get(const vem_options *options, int i)
{
    const char *place = (const char *)options + offset[i];
    switch (table[i].kind) {
    case VEM_KIND_INT: return (double)*(const int64_t *)(const void *)place;
    case VEM_KIND_REAL: return *(const double *)(const void *)place;
    default: return *(const int *)(const void *)place;
    }
}

static void set(vem_options *options, int i, double value)
{
    char *place = (char *)options + offset[i];
    switch (table[i].kind) {
    case VEM_KIND_INT: *(int64_t *)(void *)place = (int64_t)value; break;
    case VEM_KIND_REAL: *(double *)(void *)place = value; break;
    default: *(int *)(void *)place = (int)value; break;
    }
}

/* How many options a struct of this size has; 0: there is none such, nobody has set the size. */
static int count_of(size_t size)
{
    enum { LARGEST = 4096 }; /* of later versions */
    if (size >= sizeof(vem_options) && size <= LARGEST)
        return COUNT;
    return size == sizeof(options_1) ? COUNT_1 : 0;
}

static vem_status out_of_range(vem_i_run *run, int i, const char *value)
{
    const vem_option_info *info = vem_option_at(i);
    if (info->kind == VEM_KIND_CHOICE)
        return vem_i_fail(run, VEM_BAD_OPTION,
                          "--%s is %s, but its choices %s have the numbers 0 to %d.",
                          info->name, value, info->choices,
                          choice_count(info->choices) - 1);
    return vem_i_fail(run, VEM_BAD_OPTION,
                      "--%s is %s, but it must lie between %.10g and %.10g.", info->name,
                      value, info->low, info->high);
}

/* "512M" and "1.5G": a number of bytes with a power of 1024 behind it. 0: no such number. */
static int read_bytes(const char *text, double *bytes)
{
    static const char letters[] = "KMGT";
    const size_t digits = strspn(text, "0123456789."); /* no sign, no 0x, no infinity */
    const char *letter = text[digits] ? strchr(letters, text[digits]) : NULL;
    char *end;
    *bytes = vem_i_plain_real(text, &end);
    if (digits == 0 || end != text + digits)
        return 0;
    if (letter) {
        *bytes = ldexp(*bytes, 10 * (int)(letter - letters + 1));
        end++;
    }
    *bytes = floor(*bytes);
    return *end == '\0';
}

static vem_status unknown_option(vem_i_run *run, const char *name)
{
    const char *list[COUNT];
    for (int i = 0; i < COUNT; i++)
        list[i] = table[i].name;
    char hint[128];
    return vem_i_fail(run, VEM_BAD_OPTION, "There is no option \"%s\"%s", name,
                      vem_name_hint(name, list, COUNT, "--", ".", hint));
}

static vem_status unknown_choice(vem_i_run *run, int i, const char *value)
{
    enum { MOST = LIST_SIZE / 2 };
    const char *list[MOST];
    int count = 0;
    while (count < MOST && (list[count] = choice_word(i, count)))
        count++;
    char hint[128];
    return vem_i_fail(run, VEM_BAD_OPTION, "--%s is \"%s\", but it must be one of %s%s",
                      table[i].name, value, table[i].choices,
                      vem_name_hint(value, list, count, "", ".", hint));
}

/* "1-10", "2,3,4", "2..5" */
static int is_several(const char *value)
{
    return *value >= '0' && *value <= '9' &&
           strspn(value, "0123456789-,:. ") == strlen(value) &&
           (strpbrk(value, "-,: ") || strstr(value, ".."));
}

static vem_status no_whole_number(vem_i_run *run, const vem_option_info *info,
                                  const char *value)
{
    if (strcmp(info->name, "clusters") == 0 && is_several(value))
        return vem_i_fail(run, VEM_BAD_OPTION,
                          "--clusters is \"%s\", but it must be a whole number, or, to "
                          "compare several, a range such as 2-20 or a list such as "
                          "5,10,20 of vem fit -k.",
                          value);
    return vem_i_fail(run, VEM_BAD_OPTION,
                      "--%s is \"%s\", but it must be a whole number.", info->name,
                      value);
}

static vem_status unknown_size(vem_i_run *run, size_t size)
{
    return vem_i_fail(run, VEM_BAD_OPTION,
                      "The size of vem_options is %zu, but it must be %zu: "
                      "vem_options_init sets it.",
                      size, sizeof(vem_options));
}

vem_status vem_options_set(vem_ctx *ctx, vem_options *options, const char *name,
                           const char *value)
{
    VEM_I_NEED(ctx, options, name, value);
    vem_i_run *run = vem_i_within(ctx, &(vem_i_verb){0});
    int i = find(name);
    if (i < 0)
        return unknown_option(run, name);
    const vem_option_info *info = vem_option_at(i);
    if (count_of(options->size) == 0)
        return unknown_size(run, options->size);
    if (i >= count_of(options->size))
        return vem_i_fail(run, VEM_BAD_OPTION,
                          "There is no room for --%s in the options of this program, "
                          "which was compiled with an earlier version of vem.h.",
                          info->name);
    if (info->kind == VEM_KIND_CHOICE) {
        int index = 0, count = choice_count(info->choices);
        while (index < count && strcmp(choice_word(i, index), value) != 0)
            index++;
        if (index == count)
            return unknown_choice(run, i, value);
        set(options, i, index);
        return VEM_OK;
    }
    for (int k = 0; info->choices && choice_word(i, k); k++)
        if (strcmp(choice_word(i, k), value) == 0) {
            set(options, i, word_value(k));
            return VEM_OK;
        }
    char *end;
    errno = 0;
    double number;
    if (info->argument && strcmp(info->argument, "BYTES") == 0) {
        if (!read_bytes(value, &number))
            return vem_i_fail(run, VEM_BAD_OPTION,
                              "--%s is \"%s\", but it must be a number of bytes, such as "
                              "800M or 2G.",
                              info->name, value);
    } else if (info->kind != VEM_KIND_REAL) {
        long long whole = strtoll(value, &end, 10);
        if (end != value && *end != '\0') { /* 1e6 */
            const double real = vem_i_plain_real(value, &end);
            if (*end == '\0' && fabs(real) < 9e18 && real == floor(real))
                whole = (long long)real;
            else
                end = (char *)value;
        }
        if (end == value)
            return no_whole_number(run, info, value);
        if (errno == ERANGE)
            return out_of_range(run, i, value);
        number = (double)whole;
    } else {
        number = vem_i_plain_real(value, &end);
        if (end == value || *end != '\0' || isnan(number))
            return vem_i_fail(run, VEM_BAD_OPTION,
                              "--%s is \"%s\", but it must be %s%sa number%s.",
                              info->name, value, info->choices ? info->choices : "",
                              info->choices ? " or " : "",
                              info->argument && strcmp(info->argument, "SECONDS") == 0
                                  ? " of seconds, such as 90"
                                  : "");
    }
    if (number < info->low || number > info->high)
        return out_of_range(run, i, value);
    set(options, i, number);
    return VEM_OK;
}

vem_status vem_i_options_in(vem_i_run *run, const vem_options *given, vem_options *ours)
{
    const size_t size = given->size, whole = sizeof *ours;
    if (count_of(size) == 0)
        return unknown_size(run, size);
    for (size_t i = whole; i < size; i++)
        if (((const char *)given)[i] != 0)
            return vem_i_fail(run, VEM_BAD_OPTION,
                              "An option is set that this library, version %s, does not "
                              "have: the program was compiled with a later vem.h.",
                              VEM_VERSION);
    vem_options_init(ours);
    memcpy(ours, given, size < whole ? size : whole);
    ours->size = size < whole ? size : whole;
    return VEM_OK;
}

void vem_i_options_out(const vem_options *ours, size_t size, vem_options *given)
{
    const size_t least = size < sizeof *ours ? size : sizeof *ours;
    if (size > least)
        memset((char *)given + least, 0, size - least);
    memcpy(given, ours, least);
    given->size = size;
}

vem_status vem_i_options_check(vem_i_run *run, const vem_options *options)
{
    for (int i = 0; i < COUNT; i++) {
        const vem_option_info *info = vem_option_at(i);
        double value = get(options, i), high = info->high;
        if (info->kind == VEM_KIND_CHOICE)
            high = choice_count(info->choices) - 1;
        if (value == VEM_AUTO && info->default_value == VEM_AUTO)
            continue;
        if (!(value >= info->low && value <= high) && word_index(i, value) < 0) {
            char text[64];
            vem_i_plain_print(text, sizeof text, "%.10g", value);
            return out_of_range(run, i, text);
        }
    }
    return VEM_OK;
}

const char *vem_choice_name(const char *option, int value)
{
    int i = option ? find(option) : -1;
    return i >= 0 && table[i].kind == VEM_KIND_CHOICE ? choice_word(i, value) : NULL;
}

int vem_options_get(const vem_options *options, const char *name, char *text,
                    size_t capacity)
{
    int i = options && name && text ? find(name) : -1;
    if (i < 0)
        return 0;
    const vem_option_info *info = &table[i];
    const double value =
        i < count_of(options->size) ? get(options, i) : info->default_value;
    if (value == VEM_AUTO && info->default_value == VEM_AUTO)
        snprintf(text, capacity, "auto");
    else if (info->kind == VEM_KIND_CHOICE)
        snprintf(text, capacity, "%s", choice_word(i, (int)value));
    else if (word_index(i, value) >= 0)
        snprintf(text, capacity, "%s", choice_word(i, word_index(i, value)));
    else if (info->kind != VEM_KIND_REAL)
        snprintf(text, capacity, "%.0f", value);
    else { /* short where that reads back as the same number */
        char brief[32];
        vem_i_plain_print(brief, sizeof brief, "%.15g", value);
        vem_i_plain_print(text, capacity, "%.*g",
                          vem_i_plain_real(brief, NULL) == value ? 15 : 17, value);
    }
    return 1;
}

void vem_options_init_sized(vem_options *options, size_t size)
{
    if (!options || size < sizeof size)
        return;
    memset(options, 0, size);
    options->size = size;
    for (int i = 0; i < count_of(size); i++)
        set(options, i, table[i].default_value);
}

void(vem_options_init)(vem_options *options)
{
    vem_options_init_sized(options, sizeof(options_1));
}

int vem_option_count(void)
{
    return COUNT;
}

const vem_option_info *vem_option_at(int index)
{
    return index >= 0 && index < COUNT ? &table[index] : NULL;
}
