#include "data/sparse.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "base/record.h"
#include "base/residence.h"

/* Rows take memory even where they are empty: so many for each entry, and for so many more. */
enum { EMPTY_ROWS = 64, ENTRIES_AT_LEAST = 1 << 16 };

static uint64_t sum_with(uint64_t sum, int64_t row, int64_t column, double value)
{
    uint64_t entry[3] = {(uint64_t)row, (uint64_t)column, 0};
    memcpy(&entry[2], &value, sizeof value);
    return vem_i_mix(sum, entry, sizeof entry);
}

/* What is made stays in memory: more than --memory leaves is refused before it is taken. */
static vem_status check_room(const vem_i_sparse_maker *m, uint64_t bytes)
{
    char needed[32], allowed[32], free_bytes[32];
    if (!m->run || !m->run->limit)
        return VEM_OK;
    const uint64_t left = vem_i_residence_left(m->run);
    if (bytes <= left)
        return VEM_OK;
    return vem_i_fail(m->run, VEM_NO_MEMORY,
                      "%s needs %s for its sparse rows, which are kept in memory, but "
                      "--memory %s leaves %s for them: allow more.",
                      m->name, vem_bytes_print((double)bytes, needed),
                      vem_bytes_print((double)m->run->limit, allowed),
                      vem_bytes_print((double)left, free_bytes));
}

vem_status vem_i_sparse_begin(vem_i_run *run, const char *name, int64_t n, int64_t d,
                              int64_t entries, vem_i_sparse_maker *maker)
{
    *maker = (vem_i_sparse_maker){.run = run,
                                  .name = name,
                                  .n = n,
                                  .d = (int32_t)d,
                                  .ones = 1,
                                  .small = 1,
                                  .narrow = 1};
    if (n < 1 || d < 1 || d > INT32_MAX)
        return vem_i_fail(run, VEM_BAD_DATA,
                          "%s has %" PRId64 " rows and %" PRId64
                          " columns, but at least 1 of each, and at most %d columns, can "
                          "be used.",
                          name, n, d, INT32_MAX);
    if (entries < 0 || n / EMPTY_ROWS > entries + ENTRIES_AT_LEAST)
        return vem_i_fail(run, VEM_BAD_DATA,
                          "%s says that it has %" PRId64 " rows, but it holds %" PRId64
                          " values: nearly all rows would be empty.",
                          name, n, entries);
    const vem_status status =
        check_room(maker, ((uint64_t)n + 2) * sizeof *maker->starts);
    return status == VEM_OK ? vem_i_take_zeroed(run, &maker->starts, (size_t)n + 2,
                                                sizeof *maker->starts)
                            : status;
}

vem_status vem_i_sparse_count(vem_i_sparse_maker *m, int64_t row, int64_t column,
                              double value)
{
    if (row < 0 || row >= m->n || column < 0 || column >= m->d)
        return vem_i_fail(m->run, VEM_BAD_DATA,
                          "%s, value %" PRId64 " is in row %" PRId64 ", column %" PRId64
                          ", but there are %" PRId64 " rows and %" PRId32 " columns.",
                          m->name, m->count + 1, row + 1, column + 1, m->n, m->d);
    if (!isfinite(value))
        return vem_i_fail(
            m->run, VEM_BAD_DATA,
            "%s, value %" PRId64 " (row %" PRId64 ", column %" PRId64
            ") is %s: what sparse rows leave out is 0, and all else has to be "
            "a number.",
            m->name, m->count + 1, row + 1, column + 1,
            isnan(value) ? "NaN" : "infinite");
    m->ones &= value == 1;
    m->small &= value >= 0 && value <= UINT8_MAX && value == floor(value);
    m->narrow &= (double)(float)value == value;
    m->first = sum_with(m->first, row, column, value);
    m->starts[row + 2]++; /* two further on: see vem_i_sparse_put */
    m->count++;
    return VEM_OK;
}

vem_status vem_i_sparse_allot(vem_i_sparse_maker *m)
{
    const size_t room = m->count > 0 ? (size_t)m->count : 1;
    const size_t width = m->ones     ? 0
                         : m->small  ? sizeof *m->bytes
                         : m->narrow ? sizeof *m->values
                                     : sizeof *m->wide;
    vem_status status = check_room(m, (uint64_t)room * (sizeof *m->columns + width));
    if (status != VEM_OK)
        return status;
    for (int64_t i = 2; i <= m->n + 1; i++)
        m->starts[i] += m->starts[i - 1];
    status = vem_i_take_zeroed(m->run, &m->columns, room, sizeof *m->columns);
    if (status != VEM_OK || m->ones)
        return status;
    return m->small    ? vem_i_take_zeroed(m->run, &m->bytes, room, sizeof *m->bytes)
           : m->narrow ? vem_i_take_zeroed(m->run, &m->values, room, sizeof *m->values)
                       : vem_i_take_zeroed(m->run, &m->wide, room, sizeof *m->wide);
}

/* starts[row + 1] is where the next entry of the row goes, and, when all are put, where the row
 * ends. A mapped file may have changed since its entries were counted: what has no place is left,
 * and the sums differ at the end. */
void vem_i_sparse_put(vem_i_sparse_maker *m, int64_t row, int64_t column, double value)
{
    m->second = sum_with(m->second, row, column, value);
    if (row < 0 || row >= m->n || column < 0 || column >= m->d ||
        m->starts[row + 1] >= m->count)
        return;
    const int64_t at = m->starts[row + 1]++;
    m->columns[at] = (int32_t)column;
    if (m->bytes)
        m->bytes[at] = (uint8_t)(value >= 0 && value <= UINT8_MAX ? value : 0);
    else if (m->values)
        m->values[at] = (float)value;
    else if (m->wide)
        m->wide[at] = value;
}

static void swap(vem_i_sparse_maker *m, int64_t a, int64_t b)
{
    const int32_t column = m->columns[a];
    m->columns[a] = m->columns[b];
    m->columns[b] = column;
    if (m->bytes) {
        const uint8_t value = m->bytes[a];
        m->bytes[a] = m->bytes[b];
        m->bytes[b] = value;
    } else if (m->values) {
        const float value = m->values[a];
        m->values[a] = m->values[b];
        m->values[b] = value;
    } else if (m->wide) {
        const double value = m->wide[a];
        m->wide[a] = m->wide[b];
        m->wide[b] = value;
    }
}

/* Heap sort of entries begin .. begin + n - 1. */
static void sort(vem_i_sparse_maker *m, int64_t begin, int64_t n)
{
    for (int64_t first = n / 2, size = n; size > 1;) {
        int64_t at = 0;
        if (first > 0)
            at = --first;
        else
            swap(m, begin, begin + --size);
        for (int64_t child; (child = 2 * at + 1) < size; at = child) {
            if (child + 1 < size &&
                m->columns[begin + child] < m->columns[begin + child + 1])
                child++;
            if (m->columns[begin + at] >= m->columns[begin + child])
                break;
            swap(m, begin + at, begin + child);
        }
    }
}

vem_status vem_i_sparse_end(vem_i_sparse_maker *m, vem_i_sparse *sparse)
{
    if (m->first != m->second)
        return vem_i_fail(m->run, VEM_BAD_DATA, "%s changed while it was read.", m->name);
    for (int64_t i = 0; i < m->n; i++) {
        const int64_t begin = m->starts[i], end = m->starts[i + 1];
        int sorted = 1;
        for (int64_t e = begin + 1; e < end && sorted; e++)
            sorted = m->columns[e - 1] < m->columns[e];
        if (sorted)
            continue;
        sort(m, begin, end - begin);
        for (int64_t e = begin + 1; e < end; e++)
            if (m->columns[e - 1] == m->columns[e])
                return vem_i_fail(m->run, VEM_BAD_DATA,
                                  "%s holds row %" PRId64 ", column %" PRId32
                                  " more than once: add such values up first "
                                  "(sum_duplicates() in scipy).",
                                  m->name, i + 1, m->columns[e] + 1);
    }
    *sparse = (vem_i_sparse){.starts = m->starts,
                             .ends = m->starts + 1,
                             .columns = m->columns,
                             .bytes = m->bytes,
                             .values = m->values,
                             .wide = m->wide};
    *m = (vem_i_sparse_maker){0};
    return VEM_OK;
}

void vem_i_sparse_maker_free(vem_i_sparse_maker *m)
{
    vem_i_free(m->starts);
    vem_i_free(m->columns);
    vem_i_free(m->bytes);
    vem_i_free(m->values);
    vem_i_free(m->wide);
    *m = (vem_i_sparse_maker){0};
}
