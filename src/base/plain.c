#include "base/plain.h"

#include <stdio.h>
#include <stdlib.h>

locale_t vem_i_plain_begin(void)
{
    const locale_t plain = newlocale(LC_ALL_MASK, "C", (locale_t)0);
    return plain ? uselocale(plain) : (locale_t)0;
}

void vem_i_plain_end(locale_t before)
{
    if (before)
        freelocale(uselocale(before));
}

double vem_i_plain_real(const char *text, char **end)
{
    const locale_t before = vem_i_plain_begin();
    const double value = strtod(text, end);
    vem_i_plain_end(before);
    return value;
}

int vem_i_plain_vprint(char *text, size_t capacity, const char *format, va_list args)
{
    const locale_t before = vem_i_plain_begin();
    const int length = vsnprintf(text, capacity, format, args);
    vem_i_plain_end(before);
    return length;
}

int vem_i_plain_print(char *text, size_t capacity, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    const int length = vem_i_plain_vprint(text, capacity, format, args);
    va_end(args);
    return length;
}

int vem_i_plain_is_blank(char c)
{
    return c == ' ' || (c >= '\t' && c <= '\r');
}

int vem_i_plain_is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static char small_letter(char c)
{
    return c >= 'A' && c <= 'Z' ? (char)(c | 0x20) : c;
}

int vem_i_same_word(const char *at, const char *end, const char *word)
{
    for (; at < end && *word; at++, word++)
        if (small_letter(*at) != small_letter(*word))
            return 0;
    return at == end && !*word;
}
