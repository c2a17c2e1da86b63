/* Which rows the arithmetic can hold: squares of their distances, sums of these and what they are
 * divided by are numbers of the compute type (docs/math/numerics.md). Sentences about others tell
 * row, column and value in the units of the data, whatever the view divides by. */
#include "data/points_inside.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "base/plain.h"
#include "comm/comm.h"

/* The value of a row that lies farthest from `center`. */
static int32_t farthest_column(const vem_i_pass *p, int64_t row)
{
    double *values = p->row, largest = -1;
    int32_t column = 0;
    vem_i_data_load(p->data, p->first + row, 1, VEM_DOUBLE, values, p->d);
    vem_i_row_to_length(p->normalize, values, p->d);
    for (int32_t j = 0; j < p->d; j++) {
        double off = fabs(values[j] - p->center[j]) / (p->divisor ? p->divisor[j] : 1);
        if (!(off <= largest)) {
            largest = off;
            column = j;
        }
    }
    return column;
}

/* What sums are made of, in the units of the view and in those of the weights. */
typedef struct burden {
    double total, heaviest; /* of the masses */
    double weight;          /* the sum of the weights as given */
} burden;

static burden burden_of(const vem_i_pass *p)
{
    const int64_t n = vem_i_pass_rows(p);
    const double rows = (double)n, *masses = vem_i_pass_masses(p);
    burden b = {.total = rows, .heaviest = 1, .weight = rows};
    if (!masses)
        return b;
    b = (burden){0};
    for (int64_t i = 0; i < n; i++) {
        b.total += masses[i];
        b.heaviest = fmax(b.heaviest, masses[i]);
        b.weight += p->data->weights[(p->whole ? 0 : p->first) + i];
    }
    return b;
}

/* The largest |value| e of which we know that squared distances, and their sums where they are
 * summed in the compute type (one call of a kernel), are numbers of it. With means that lie
 * among the rows, or beyond by up to one more step (a relaxed one), a squared distance is no
 * more than 16 d e^2, and the sum over what a cluster holds no more than 5 d e^2 times its
 * mass: its rows are then far from the mean, or from each other. */
static double most_of(vem_precision precision, const burden *b, double d)
{
    const double top = precision == VEM_SINGLE ? FLT_MAX : DBL_MAX;
    const double mass = fmin(b->total, VEM_I_BLOCK * b->heaviest);
    return sqrt(top / d / fmax(16, 5 * mass));
}

/* Where a value lies, for messages: in the units of the data. */
typedef struct spot {
    char place[200]; /* "Row 3, column 2 is 1e+10 and" */
    double off;      /* from the mean */
    double unit;     /* of the view, in those of the data */
    char spread[64]; /* how many of these units, where they are not those of the data */
} spot;

static spot spot_of(const vem_i_pass *p, int64_t row)
{
    spot s = {.unit = 1};
    const int32_t column = farthest_column(p, row);
    vem_i_pass_name(p, row, column, s.place, sizeof s.place);
    const double value = p->row[column];
    const size_t used = strlen(s.place);
    if (!p->normalize) /* else it is not the value of the file */
        vem_i_plain_print(s.place + used, sizeof s.place - used, " is %.3g and", value);
    s.off = fabs(value - p->center[column]);
    if (p->divisor && p->divisor[column] != 1) {
        s.unit = p->divisor[column];
        vem_i_plain_print(s.spread, sizeof s.spread,
                          ", %.3g times the spread of its column", s.off / s.unit);
    }
    return s;
}

static vem_status fail_far(const vem_i_pass *p, const spot *s, double square,
                           const burden *b, const char *type, double top,
                           const char *advice)
{
    if (!(square <= top))
        return vem_i_fail(
            p->run, VEM_BAD_DATA,
            "%s lies %.3g from the mean%s; squares of that size overflow in %s "
            "precision: %s.",
            s->place, s->off, s->spread, type, advice);
    /* The weights may be those of a coreset, which nobody can rescale. */
    const int wider = top < DBL_MAX && square * b->weight <= DBL_MAX;
    if (p->mass && square * (double)vem_i_pass_rows(p) <= top)
        return vem_i_fail(p->run, VEM_BAD_DATA,
                          "%s lies %.3g from the mean%s, and the weights sum to %.3g; "
                          "sums of squares of that weight overflow in %s precision: "
                          "%srescale the weights or the data.",
                          s->place, s->off, s->spread, b->weight, type,
                          wider ? "use --precision double, or " : "");
    return vem_i_fail(
        p->run, VEM_BAD_DATA,
        "%s lies %.3g from the mean%s; sums of squares of that size over %lld "
        "rows overflow in %s precision: %s.",
        s->place, s->off, s->spread, (long long)vem_i_pass_rows(p), type, advice);
}

static vem_status fail_far_beside(const vem_i_pass *p, const spot *s, double least,
                                  const char *type, const char *advice)
{
    return vem_i_fail(p->run, VEM_BAD_DATA,
                      "%s lies %.3g from the mean, too far beside a variance of %.3g: "
                      "their ratio overflows in %s precision: %s.",
                      s->place, s->off, least * s->unit * s->unit, type, advice);
}

/* The least variance that rows will be measured by; 0: none is known. */
static double least_of(const vem_i_points_request *request, double variance)
{
    const double least = fmax(request->floor_share * variance, request->least_variance);
    const int known = request->floor_share > 0 || request->least_variance > 0;
    return known ? fmax(least, vem_i_safe_variance(request->precision)) : 0;
}

/* Rows of equal weight, one of which lies `extreme` from their mean, have a variance of no less
 * than about extreme^2 / (n d). Is it far less because a few rows weigh nearly all? */
static int is_outweighed(const vem_i_pass *p, double extreme, double variance)
{
    return p->mass &&
           variance * 4 * (double)vem_i_pass_rows(p) * p->d < extreme * extreme;
}

/* Squares of the values, their sums over rows, and those over the least variance must neither
 * overflow nor vanish in the compute type. Rows without a mass have no part in it. */
vem_status vem_i_range_check(const vem_i_pass *p, const vem_i_points_request *request,
                             double variance)
{
    int single = request->precision == VEM_SINGLE;
    double top = single ? FLT_MAX : DBL_MAX;
    const double smallest = DBL_MIN / DBL_EPSILON; /* that a model can tell */
    double bottom = single ? FLT_MIN / FLT_EPSILON : smallest;
    const char *type = vem_choice_name("precision", request->precision);
    const char *advice =
        single ? "use --precision double or rescale the data" : "rescale the data";
    const burden b = burden_of(p);
    double extreme = vem_i_pass_extreme(p), square = 16 * extreme * extreme * p->d;
    const double least = least_of(request, variance);
    /* All sums meet in double. */
    const int far = !(extreme <= most_of(request->precision, &b, p->d)) ||
                    !(square * fmax(b.total, 1) <= DBL_MAX) ||
                    !(square * b.weight <= DBL_MAX);
    const int far_beside =
        least > 0 && (!(square / least <= top) || !(square / least * b.total <= DBL_MAX));
    const double unit = request->even && p->divisor ? p->divisor[0] : 1;
    const int near = !request->origin && !request->support && extreme > 0 &&
                     (variance < bottom || !(variance * unit * unit >= smallest) ||
                      (unit < 1 && least > 0 && !(least * unit * unit >= smallest)));
    if (!far && !far_beside && !near)
        return VEM_OK;
    /* In a unit that follows the variance all lie far. */
    if ((!far || unit != 1) && is_outweighed(p, extreme, variance))
        return vem_i_pass_refuse_heavy(p, request->precision);
    const spot s = spot_of(p, vem_i_pass_extreme_row(p));
    if (far)
        return fail_far(p, &s, square, &b, type, top, advice);
    if (far_beside)
        return fail_far_beside(p, &s, least, type, advice);
    return vem_i_fail(p->run, VEM_BAD_DATA,
                      "%s lies %.3g from the mean and no value lies farther; squares of "
                      "that size vanish in %s precision: %s.",
                      s.place, s.off, unit < 1 ? "double" : type,
                      unit < 1 ? "rescale the data" : advice);
}

/* Of the rows that processes have found, each with how far it lies: the first of the farthest. */
static int64_t farthest_of_all(const vem_i_pass *p, int64_t row, double *largest)
{
    const double own = *largest;
    p->run->comm->combine(p->run->comm, VEM_I_MOST_REAL, largest, 1);
    int64_t first = own == *largest ? p->first + row : INT64_MAX;
    p->run->comm->combine(p->run->comm, VEM_I_LEAST_INT, &first, 1);
    return first - p->first;
}

/* A row without a mass has no part in sums, but gets a label: its costs must be numbers. It may
 * lie as near as it likes. */
vem_status vem_i_range_check_absent(const vem_i_pass *p,
                                    const vem_i_points_request *request, vem_view *view)
{
    const int single = request->precision == VEM_SINGLE;
    const double top = single ? FLT_MAX : DBL_MAX;
    double largest = -1;
    int64_t row = 0;
    for (int64_t i = 0; view->mass && i < view->n; i++)
        for (int32_t j = 0; !(view->mass[i] > 0) && j < view->d; j++) {
            const double value = fabs(vem_i_view_value(view, i, j));
            if (!(value <= largest)) {
                largest = value;
                row = i;
            }
        }
    if (p->whole && p->run->comm)
        row = farthest_of_all(p, row, &largest);
    const double square = 16 * largest * largest * p->d;
    const double least = least_of(request, view->variance);
    const char *type = vem_choice_name("precision", request->precision);
    const char *advice = single ? "leave this row of weight 0 out, or use --precision "
                                  "double"
                                : "leave this row of weight 0 out";
    view->extreme = fmax(view->extreme, largest);
    if (!(square <= top)) {
        const spot s = spot_of(p, row);
        return fail_far(p, &s, square, NULL, type, top, advice);
    }
    if (least > 0 && !(square / least <= top)) {
        const spot s = spot_of(p, row);
        return fail_far_beside(p, &s, least, type, advice);
    }
    return VEM_OK;
}
