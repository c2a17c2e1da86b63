/* Sentences and numbers for people. */
#include <ctype.h>
#include <inttypes.h>
#include <stdarg.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>

#include "cli.h"

/* A message may quote a file or a name: whatever is in there must not reach the terminal
 * as control codes or broken UTF-8. */
static void make_printable(char *text)
{
    json_t *valid = json_string(text);
    for (char *c = text; *c; c++)
        if (iscntrl((unsigned char)*c) || (!valid && (unsigned char)*c > 127))
            *c = '?';
    json_decref(valid);
}

void cli_error(const char *format, ...)
{
    char text[8192];
    va_list list;
    va_start(list, format);
    vsnprintf(text, sizeof text, format, list);
    va_end(list);
    make_printable(text);
    cli_progress_end();
    fflush(stdout);
    fprintf(stderr, "vem: %s\n", text);
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
        return CLI_INTERRUPTED;
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
    }
    return "unknown";
}

double cli_clock(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}
