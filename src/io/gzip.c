#include "io/io.h"

#include <string.h>
#include <zlib.h>

/* Compressed by gzip: window bits of zlib, and 16 for its header. */
enum { GZIP_WINDOW = 15 + 16, PIECE = 1 << 16 };

int vem_i_gzip(FILE *from, FILE *to)
{
    unsigned char in[PIECE];
    unsigned char out[PIECE] = {0}; /* analyzers do not know that deflate fills it */
    z_stream z;
    memset(&z, 0, sizeof z);
    if (deflateInit2(&z, Z_DEFAULT_COMPRESSION, Z_DEFLATED, GZIP_WINDOW, 8,
                     Z_DEFAULT_STRATEGY) != Z_OK)
        return 0;
    int flush = Z_NO_FLUSH, good = 1;
    while (good && flush != Z_FINISH) {
        z.next_in = in;
        z.avail_in = (unsigned)fread(in, 1, sizeof in, from);
        flush = feof(from) ? Z_FINISH : Z_NO_FLUSH;
        good = !ferror(from);
        do {
            z.next_out = out;
            z.avail_out = sizeof out;
            good = good && deflate(&z, flush) != Z_STREAM_ERROR;
            const size_t made = sizeof out - z.avail_out;
            good = good && fwrite(out, 1, made, to) == made;
        } while (good && z.avail_out == 0);
    }
    deflateEnd(&z);
    return good;
}
