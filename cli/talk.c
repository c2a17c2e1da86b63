/* Sentences and numbers for people. */
#include <inttypes.h>
#include <stdarg.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>

#include "cli.h"

/* Length of the character of UTF-8 at `text` that may be shown, or 0. */
static int printable(const unsigned char *text)
{
    static const struct {
        unsigned char first, last, second_least, second_most;
        int length;
    } forms[] = {{0x20, 0x7e, 0, 0, 1},
                 {0xc2, 0xc2, 0xa0, 0xbf, 2}, /* not the C1 controls */
                 {0xc3, 0xdf, 0x80, 0xbf, 2},
                 {0xe0, 0xe0, 0xa0, 0xbf, 3},
                 {0xe1, 0xec, 0x80, 0xbf, 3},
                 {0xed, 0xed, 0x80, 0x9f, 3},
                 {0xee, 0xef, 0x80, 0xbf, 3},
                 {0xf0, 0xf0, 0x90, 0xbf, 4},
                 {0xf1, 0xf3, 0x80, 0xbf, 4},
                 {0xf4, 0xf4, 0x80, 0x8f, 4}};
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++) {
        if (text[0] < forms[i].first || text[0] > forms[i].last)
            continue;
        int length = 1;
        if (forms[i].length > 1 &&
            (text[1] < forms[i].second_least || text[1] > forms[i].second_most))
            return 0;
        for (; length < forms[i].length; length++)
            if ((text[length] & 0xc0) != 0x80)
                return 0;
        return length;
    }
    return 0;
}

const char *cli_clean(const char *text, char *out, size_t size)
{
    size_t used = 0;
    while (*text) {
        const int length = printable((const unsigned char *)text);
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

static void say(const char *format, va_list list)
{
    char text[8192], clean[8192];
    vsnprintf(text, sizeof text, format, list);
    cli_progress_end();
    fflush(stdout);
    fprintf(stderr, "vem: %s\n", cli_clean(text, clean, sizeof clean));
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
                  args->operands[0]);
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

const char *cli_bytes(double bytes, char text[32])
{
    static const char *const units[] = {"bytes", "KiB", "MiB", "GiB", "TiB"};
    int unit = 0;
    while (bytes >= 1024 && unit < 4) {
        bytes /= 1024;
        unit++;
    }
    snprintf(text, 32, unit ? "%.1f %s" : "%.0f %s", bytes, units[unit]);
    return text;
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
    }
    return "unknown";
}

double cli_clock(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}
