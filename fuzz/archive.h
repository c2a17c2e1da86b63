/* An .npz in memory, of stored entries with right checksums. */
#ifndef VEM_FUZZ_ARCHIVE_H
#define VEM_FUZZ_ARCHIVE_H

#include <stdint.h>
#include <stdio.h>
#include <string.h>

enum { ARCHIVE_BYTES = 1 << 16, ARCHIVE_ENTRIES = 24 };

typedef struct archive {
    uint8_t bytes[ARCHIVE_BYTES], directory[4096];
    size_t size, directory_size;
    unsigned entries;
} archive;

static inline uint32_t archive_crc(const uint8_t *bytes, size_t size)
{
    static uint32_t table[256];
    for (uint32_t i = 0; table[255] == 0 && i < 256; i++) {
        uint32_t c = i;
        for (int k = 0; k < 8; k++)
            c = c >> 1 ^ (c & 1 ? 0xedb88320 : 0);
        table[i] = c;
    }
    uint32_t crc = ~UINT32_C(0);
    for (size_t i = 0; i < size; i++)
        crc = table[(crc ^ bytes[i]) & 255] ^ crc >> 8;
    return ~crc;
}

static inline void archive_put(uint8_t *to, size_t *at, uint64_t value, int bytes)
{
    for (int i = 0; i < bytes; i++)
        to[(*at)++] = i < 8 ? (uint8_t)(value >> (8 * i)) : 0;
}

/* Name, type ("<f8"), shape as Python writes it, and the values. */
static inline void archive_add(archive *a, const char *name, const char *type,
                               const char *shape, const void *values, size_t size)
{
    char entry[64], header[128];
    const int letters = snprintf(entry, sizeof entry, "%s.npy", name);
    int length =
        snprintf(header, sizeof header,
                 "{'descr': '%s', 'fortran_order': False, 'shape': %s, }", type, shape);
    memset(header + length, ' ', sizeof header - (size_t)length);
    length = 118;
    header[length - 1] = '\n';
    const size_t whole = 10 + (size_t)length + size;
    if (a->entries == ARCHIVE_ENTRIES || a->size + whole + 200 > sizeof a->bytes)
        return;
    const size_t local = a->size;
    a->size += 30 + (size_t)letters; /* its head comes when the sum is known */
    const size_t body = a->size;
    memcpy(a->bytes + a->size, "\x93NUMPY\x01\x00", 8);
    a->size += 8;
    archive_put(a->bytes, &a->size, (uint64_t)length, 2);
    memcpy(a->bytes + a->size, header, (size_t)length);
    a->size += (size_t)length;
    memcpy(a->bytes + a->size, values, size);
    a->size += size;
    const uint32_t crc = archive_crc(a->bytes + body, whole);
    for (int central = 0; central < 2; central++) {
        uint8_t *to = central ? a->directory : a->bytes;
        size_t head = local, *at = central ? &a->directory_size : &head;
        archive_put(to, at, central ? 0x02014b50 : 0x04034b50, 4);
        archive_put(to, at, 20, central ? 4 : 2); /* versions; flags and method are 0 */
        archive_put(to, at, 0, 4);
        archive_put(to, at, 0x00210000, 4); /* 1980-01-01 */
        archive_put(to, at, crc, 4);
        archive_put(to, at, whole, 4);
        archive_put(to, at, whole, 4);
        archive_put(to, at, (uint64_t)letters, 2);
        archive_put(to, at, 0, central ? 12 : 2);
        if (central)
            archive_put(to, at, local, 4);
        memcpy(to + *at, entry, (size_t)letters);
        *at += (size_t)letters;
    }
    a->entries++;
}

static inline void archive_end(archive *a)
{
    const size_t start = a->size;
    memcpy(a->bytes + a->size, a->directory, a->directory_size);
    a->size += a->directory_size;
    archive_put(a->bytes, &a->size, 0x06054b50, 4);
    archive_put(a->bytes, &a->size, 0, 4);
    archive_put(a->bytes, &a->size, a->entries, 2);
    archive_put(a->bytes, &a->size, a->entries, 2);
    archive_put(a->bytes, &a->size, a->directory_size, 4);
    archive_put(a->bytes, &a->size, start, 4);
    archive_put(a->bytes, &a->size, 0, 2);
}

#endif
