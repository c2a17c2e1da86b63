/* What the tests of readers and writers share: a directory of their own, files made from
 * text, and checks of the sentences that errors give. */
#ifndef VEM_TESTS_IO_TEST_H
#define VEM_TESTS_IO_TEST_H

#include <dirent.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/run.h"
#include "data/data.h"
#include "io/io.h"

static char io_directory[64];
static vem_ctx *io_ctx;

static inline int io_setup(void **state)
{
    (void)state;
    strcpy(io_directory, "/tmp/vem-test-XXXXXX");
    const int made = mkdtemp(io_directory) && vem_ctx_new(&io_ctx) == VEM_OK;
    vem_ctx_set_dashes(io_ctx, 1);
    return made ? 0 : -1;
}

static inline int io_teardown(void **state)
{
    (void)state;
    DIR *directory = opendir(io_directory);
    for (struct dirent *entry; directory && (entry = readdir(directory));) {
        char path[400];
        snprintf(path, sizeof path, "%s/%s", io_directory, entry->d_name);
        if (entry->d_name[0] != '.')
            remove(path);
    }
    closedir(directory);
    vem_ctx_free(io_ctx);
    return rmdir(io_directory); /* fails when a test or the library left a hidden file */
}

/* Path of a file in the test's directory; good until four more are asked for. */
static inline const char *io_path(const char *name)
{
    static char paths[4][400];
    static int next;
    char *path = paths[next++ % 4];
    snprintf(path, sizeof paths[0], "%s/%s", io_directory, name);
    return path;
}

static inline const char *io_put(const char *name, const void *bytes, size_t size)
{
    const char *path = io_path(name);
    FILE *stream = fopen(path, "wb");
    assert_non_null(stream);
    assert_int_equal(fwrite(bytes, 1, size, stream), size);
    fclose(stream);
    return path;
}

static inline const char *io_text(const char *name, const char *text)
{
    return io_put(name, text, strlen(text));
}

/* The last message is a sentence with these words in it. */
static inline void io_says(const char *words)
{
    const char *message = vem_ctx_message(io_ctx);
    const size_t length = strlen(message);
    if (!strstr(message, words))
        fail_msg("\"%s\" does not contain \"%s\"", message, words);
    assert_true(length > 0 && message[length - 1] == '.');
}

static inline vem_data *io_read(const char *path)
{
    vem_data *data = NULL;
    vem_status status = vem_data_read(io_ctx, path, NULL, &data);
    if (status != VEM_OK)
        fail_msg("%s", vem_ctx_message(io_ctx));
    return data;
}

static inline void io_refuses(const char *path, vem_status expected, const char *words)
{
    vem_data *data = NULL;
    assert_int_equal(vem_data_read(io_ctx, path, NULL, &data), expected);
    assert_null(data);
    io_says(words);
}

/* The data hold exactly these values. NaN equals NaN. */
static inline void io_holds(const vem_data *data, int64_t n, int32_t d,
                            const double *values)
{
    assert_int_equal(vem_data_rows(data), n);
    assert_int_equal(vem_data_columns(data), d);
    double *rows = calloc((size_t)(n * d), sizeof *rows);
    assert_int_equal(vem_data_get(io_ctx, data, 0, n, rows), VEM_OK);
    for (int64_t i = 0; i < n * d; i++)
        if (rows[i] != values[i] && !(isnan(rows[i]) && isnan(values[i])))
            fail_msg("value %d is %.17g, not %.17g", (int)i, rows[i], values[i]);
    free(rows);
}

#endif
