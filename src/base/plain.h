/* Text and numbers that are the same in every locale: the library may live in a program
 * that writes 0.5 as "0,5", and its options, messages and files must not. The locale of
 * the calling thread is set for the moment of a conversion; that of the process never. */
#ifndef VEM_BASE_PLAIN_H
#define VEM_BASE_PLAIN_H

#include <locale.h>
#include <stdarg.h>
#include <stddef.h>

/* From one to the other, printf and strtod of this thread write and read '.'. */
locale_t vem_i_plain_begin(void);
void vem_i_plain_end(locale_t before);

/* As strtod, vsnprintf and snprintf. */
double vem_i_plain_real(const char *text, char **end);
int vem_i_plain_vprint(char *text, size_t capacity, const char *format, va_list args);
__attribute__((format(printf, 3, 4))) int vem_i_plain_print(char *text, size_t capacity,
                                                            const char *format, ...);

int vem_i_plain_is_blank(char c);
int vem_i_plain_is_digit(char c);
/* Is [at, end) this word, in whichever letters, large or small, of ASCII? */
int vem_i_same_word(const char *at, const char *end, const char *word);

#endif
