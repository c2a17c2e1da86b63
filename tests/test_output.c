/* A file that is replaced, on systems with nameless temporary files and without: it is never
 * open to more people than the old one was, not even while it is written. */
#define _GNU_SOURCE /* O_TMPFILE */
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <zlib.h>

#include "io_test.h"
#include "run.h"

static int nameless_allowed;
static mode_t asked; /* of the last file made */

/* The library's open, as on a system that may lack O_TMPFILE. */
int open(const char *path, int flags, ...)
{
    va_list args;
    va_start(args, flags);
    const int makes = (flags & O_CREAT) || (flags & O_TMPFILE) == O_TMPFILE;
    const mode_t mode = makes ? (mode_t)va_arg(args, int) : 0;
    va_end(args);
    if ((flags & O_TMPFILE) == O_TMPFILE && !nameless_allowed) {
        errno = EOPNOTSUPP;
        return -1;
    }
    if (makes)
        asked = mode;
    return (int)syscall(SYS_openat, AT_FDCWD, path, flags, mode);
}

static void never_wider(void **state)
{
    (void)state;
    static const mode_t modes[] = {0600, 0640, 0666, 0400 | 0200, 0604};
    const char *path = io_path("x.npz");
    const mode_t before = umask(0);
    for (nameless_allowed = 0; nameless_allowed < 2; nameless_allowed++)
        for (size_t i = 0; i < sizeof modes / sizeof *modes; i++) {
            vem_i_output *output;
            struct stat info;
            FILE *old = fopen(path, "w");
            assert_non_null(old);
            fclose(old);
            assert_int_equal(chmod(path, modes[i]), 0);
            assert_int_equal(vem_i_output_open(run_of(io_ctx), path, &output), VEM_OK);
            assert_int_equal(asked & ~modes[i] & 0777, 0);
            fputs("secret", vem_i_output_stream(output));
            fflush(vem_i_output_stream(output));
            assert_int_equal(fstat(fileno(vem_i_output_stream(output)), &info), 0);
            assert_int_equal(info.st_mode & ~modes[i] & 0777, 0);
            assert_int_equal(vem_i_output_commit(run_of(io_ctx), output), VEM_OK);
            assert_int_equal(stat(path, &info), 0);
            assert_int_equal(info.st_mode & 0777, modes[i]);
            assert_int_equal(info.st_size, 6);
            assert_int_equal(unlink(path), 0);
        }
    umask(before);
}

/* What is packed on the way unpacks to the same bytes, also where packing makes them more. */
static void packed(void **state)
{
    (void)state;
    enum { SIZE = 300000 };
    static char bytes[SIZE], back[SIZE + 1];
    const char *path = io_path("x.csv.gz");
    nameless_allowed = 1;
    for (int noise = 0; noise < 2; noise++) {
        uint64_t state_of = 1;
        for (int i = 0; i < SIZE; i++) {
            state_of = state_of * 6364136223846793005u + 1442695040888963407u;
            const int letter = noise ? (int)(state_of >> 56) : '0' + i % 7;
            bytes[i] = (char)letter;
        }
        assert_int_equal(vem_text_write(io_ctx, path, bytes, SIZE), VEM_OK);
        FILE *raw = fopen(path, "rb");
        assert_non_null(raw);
        assert_int_equal(fgetc(raw), 0x1f); /* gzip's mark: others can read it */
        assert_int_equal(fgetc(raw), 0x8b);
        fclose(raw);
        gzFile file = gzopen(path, "rb");
        assert_non_null(file);
        assert_int_equal(gzread(file, back, SIZE + 1), SIZE);
        assert_int_equal(gzclose(file), Z_OK);
        assert_memory_equal(back, bytes, SIZE);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(never_wider),
                                       cmocka_unit_test(packed)};
    return cmocka_run_group_tests(tests, io_setup, io_teardown);
}
