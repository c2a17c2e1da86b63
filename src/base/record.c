/* A block is a name (24 bytes), a count and a size (8 bytes each), and the values, filled up
 * with zeros to a multiple of 8 bytes. */
#include "base/record.h"

#include <math.h>
#include <string.h>

enum { NAME = 24, WORD = 8 };

typedef struct heading {
    char name[NAME];
    uint64_t count, size;
} heading;

void vem_i_record_refuse(vem_i_record *r, const char *name)
{
    if (r->status == VEM_OK)
        r->status =
            vem_i_fail(r->run, VEM_BAD_DATA,
                       "%s holds no state that this fit can go on from: its part "
                       "\"%s\" is not what it should be. Another version of vem may "
                       "have written it; without --resume the fit begins again.",
                       r->path, name);
}

static void pass(vem_i_record *r, const char *name, void *bytes, size_t size)
{
    if (r->status != VEM_OK || size == 0)
        return;
    if (r->reading && size > r->left) {
        vem_i_record_refuse(r, name);
        return;
    }
    r->status = r->pass(r->user, bytes, size);
    r->left -= r->reading ? size : 0;
}

_Static_assert(sizeof(heading) == VEM_I_RECORD_HEADING, "the heading of a block");

static void set_name(heading *h, const char *name)
{
    const size_t letters = strlen(name);
    memcpy(h->name, name, letters < NAME ? letters : NAME - 1);
}

/* That of the next block: read, or written. */
static void pass_heading(vem_i_record *r, const char *name, heading *h)
{
    if (r->looked_ahead)
        memcpy(h, r->ahead, sizeof *h);
    else
        pass(r, name, h, sizeof *h);
    r->looked_ahead = 0;
}

int vem_i_record_is_next(vem_i_record *r, const char *name)
{
    heading wanted = {0}, found = {0};
    if (r->status != VEM_OK || (!r->looked_ahead && r->left < sizeof found))
        return 0;
    set_name(&wanted, name);
    pass_heading(r, name, &found);
    memcpy(r->ahead, &found, sizeof found);
    r->looked_ahead = 1;
    return memcmp(found.name, wanted.name, sizeof wanted.name) == 0;
}

void vem_i_record_block(vem_i_record *r, const char *name, void *values, size_t count,
                        size_t size)
{
    heading expected = {.count = count, .size = size};
    set_name(&expected, name);
    heading found = expected;
    pass_heading(r, name, &found);
    if (r->status == VEM_OK && memcmp(&found, &expected, sizeof found) != 0)
        vem_i_record_refuse(r, name);
    const size_t bytes = count * size, rest = bytes % WORD;
    pass(r, name, values, bytes - rest);
    if (rest == 0)
        return;
    char last[WORD] = {0}, *tail = (char *)values + (bytes - rest);
    memcpy(last, tail, rest);
    pass(r, name, last, sizeof last);
    if (r->reading && r->status == VEM_OK)
        memcpy(tail, last, rest);
}

void vem_i_record_indices(vem_i_record *r, const char *name, int32_t *values,
                          size_t count, int64_t low, int64_t high)
{
    vem_i_record_block(r, name, values, count, sizeof *values);
    for (size_t i = 0; r->reading && r->status == VEM_OK && i < count; i++)
        if (values[i] < low || values[i] > high)
            vem_i_record_refuse(r, name);
}

void vem_i_record_count(vem_i_record *r, const char *name, int64_t *value, int64_t low,
                        int64_t high)
{
    int64_t passed = *value;
    VEM_I_RECORD(r, name, passed);
    if (r->status == VEM_OK && (passed < low || passed > high))
        vem_i_record_refuse(r, name);
    if (r->status == VEM_OK)
        *value = passed;
}

void vem_i_record_int(vem_i_record *r, const char *name, int *value, int low, int high)
{
    int64_t passed = *value;
    vem_i_record_count(r, name, &passed, low, high);
    *value = (int)passed;
}

void vem_i_record_reals(vem_i_record *r, const char *name, double *values, size_t count,
                        double low, double high)
{
    vem_i_record_block(r, name, values, count, sizeof *values);
    for (size_t i = 0; r->reading && r->status == VEM_OK && i < count; i++)
        if (!(values[i] >= low && values[i] <= high) || isinf(values[i]))
            vem_i_record_refuse(r, name);
}

void vem_i_record_elements(vem_i_record *r, const char *name, void *values, size_t count,
                           size_t size, double low, double high)
{
    vem_i_record_block(r, name, values, count, size);
    for (size_t i = 0; r->reading && r->status == VEM_OK && i < count; i++) {
        const double value = size == sizeof(float) ? (double)((const float *)values)[i]
                                                   : ((const double *)values)[i];
        if (!(value >= low && value <= high))
            vem_i_record_refuse(r, name);
    }
}

/* ---- sums ---- */

/* x -> (x ^ word) * odd is one to one in both, so one changed word changes all that follows.
 * The rotation brings high bits back to where the product spreads them. */
static uint64_t mix_word(uint64_t sum, uint64_t word)
{
    sum = (sum ^ word) * UINT64_C(0x9e3779b97f4a7c15);
    return sum << 29 | sum >> 35;
}

uint64_t vem_i_mix(uint64_t sum, const void *bytes, size_t size)
{
    const char *at = bytes;
    uint64_t word;
    for (; size >= WORD; size -= WORD, at += WORD) {
        memcpy(&word, at, WORD);
        sum = mix_word(sum, word);
    }
    if (size > 0) {
        word = 0;
        memcpy(&word, at, size);
        sum = mix_word(sum, word);
    }
    return sum;
}
