/* Sentences and numbers for people. */
#include <inttypes.h>
#include <stdarg.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>

#include "step.h"

/* Length of the character of UTF-8 at `text` that may be shown, or 0: no control code, the
 * C1 of 0x80 to 0x9f among them. */
static int printable(const char *text)
{
    const unsigned char first = (unsigned char)text[0], second = (unsigned char)text[1];
    if (first < 0x20 || first == 0x7f || (first == 0xc2 && second < 0xa0))
        return 0;
    return vem_utf8_length(text);
}

const char *cli_clean(const char *text, char *out, size_t size)
{
    size_t used = 0;
    while (*text) {
        const int length = printable(text);
        const size_t step = length ? (size_t)length : 1;
        if (used + step + 1 > size)
            break;
        if (length)
            memcpy(out + used, text, step);
        else
            out[used] = '?';
        used += step;
        text += step;
    }
    out[used] = '\0';
    return out;
}

int cli_first(const char *text, int most, char *out, size_t size)
{
    int count = 0;
    size_t used = 0;
    while (*text && count < most) {
        const int length = vem_utf8_length(text);
        const size_t step = length ? (size_t)length : 1;
        if (used + step + 1 > size)
            break;
        memcpy(out + used, text, step);
        used += step;
        text += step;
        count++;
    }
    out[used] = '\0';
    return count;
}

static char last[1024];

const char *cli_last_error(void)
{
    return last;
}

static void say(const char *format, va_list list)
{
    char text[8192], clean[8192];
    vsnprintf(text, sizeof text, format, list);
    cli_progress_end();
    fflush(stdout);
    snprintf(last, sizeof last, "%.1000s", cli_clean(text, clean, sizeof clean));
    fprintf(stderr, "vem: %s\n", clean);
}

void cli_error(const char *format, ...)
{
    va_list list;
    va_start(list, format);
    say(format, list);
    va_end(list);
}

void cli_note(const cli_args *args, const char *format, ...)
{
    va_list list;
    if (cli_value(args, "quiet"))
        return;
    va_start(list, format);
    say(format, list);
    va_end(list);
}

int cli_failure(const cli_args *args, vem_status status)
{
    if (status == VEM_STOPPED && cli_progress_late()) {
        cli_error("--time was over while %s was read; nothing was written.",
                  cli_first_data(args));
        return CLI_FAILED;
    }
    if (status == VEM_STOPPED && cli_interrupted()) {
        cli_error("interrupted; nothing was written.");
        return cli_interrupt_status();
    }
    const char *message = vem_ctx_message(args->ctx);
    if (*message)
        cli_error("%s", message);
    else
        cli_error("failed: %s.", vem_status_name(status));
    return status == VEM_BAD_OPTION ? CLI_USAGE : CLI_FAILED;
}

const char *cli_count(int64_t value, char text[32])
{
    char digits[24];
    const int length = snprintf(digits, sizeof digits, "%" PRId64, value);
    int out = 0;
    for (int i = 0; i < length; i++) {
        text[out++] = digits[i];
        if ((length - 1 - i) % 3 == 0 && i + 1 < length && digits[i] != '-')
            text[out++] = ',';
    }
    text[out] = '\0';
    return text;
}

const char *cli_counted(int64_t value, const char *one, char text[48])
{
    char number[32];
    snprintf(text, 48, "%s %s%s", cli_count(value, number), one, value == 1 ? "" : "s");
    return text;
}

int cli_width(int descriptor)
{
    struct winsize window;
    return ioctl(descriptor, TIOCGWINSZ, &window) == 0 && window.ws_col > 0
               ? window.ws_col
               : 80;
}

const char *cli_seconds(double seconds, char text[32])
{
    snprintf(text, 32, seconds < 10 ? "%.3f" : "%.1f", seconds);
    return text;
}

const char *cli_dtype(vem_dtype type)
{
    switch (type) {
    case VEM_FLOAT32: return "float32";
    case VEM_FLOAT64: return "float64";
    case VEM_UINT8: return "uint8";
    case VEM_INT32: return "int32";
    case VEM_INT64: return "int64";
    case VEM_FLOAT16: return "float16";
    case VEM_INT8: return "int8";
    case VEM_INT16: return "int16";
    case VEM_UINT16: return "uint16";
    case VEM_UINT32: return "uint32";
    case VEM_BFLOAT16: return "bfloat16";
    }
    return "unknown";
}

double cli_clock(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}
