/* A path of mixtures as SVG: the objective against the number of clusters, over all of
 * them and near the chosen one, where it is too flat to be seen; and below it how
 * members move (clustergram.c). */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/plain.h"
#include "io/clustergram.h"
#include "io/io.h"
#include "io/svg.h"

enum {
    WIDTH = 1000,
    TITLE = 56,   /* height of what stands above */
    CURVES = 320, /* of the objective with its axes */
    LEFT = 90,    /* of an axis' numbers */
    MARGIN = 25,  /* on the right */
    LOW = 50,     /* below an axis */
    AROUND = 4,   /* mixtures on either side of the chosen one */
    SPREAD =
        30,  /* numbers of clusters that differ by this factor are drawn by their logs */
    FLAT = 3 /* near the chosen one the objective differs so many times less */
};

/* One plot: which mixtures, and where. */
typedef struct plot {
    FILE *out;
    const vem_path *path;
    const vem_path_summary *about;
    int32_t first, end; /* of the path */
    double x, y, width, height;
    double low, high;   /* objectives */
    double least, most; /* clusters, or their logs */
    int logs;
} plot;

static double place_x(const plot *p, double clusters)
{
    const double at = p->logs ? log(clusters) : clusters;
    return p->x + p->width * (at - p->least) / (p->most - p->least);
}

static double place_y(const plot *p, double objective)
{
    return p->y + p->height * (1 - (objective - p->low) / (p->high - p->low));
}

static void set_ranges(plot *p)
{
    const vem_path_point *points = p->path->points;
    double low = INFINITY, high = -INFINITY;
    for (int32_t i = p->first; i < p->end; i++) {
        if (!isfinite(points[i].objective))
            continue;
        low = fmin(low, points[i].objective);
        high = fmax(high, points[i].objective);
    }
    if (!(high >= low))
        low = high = 0;
    const double room = high > low ? 0.07 * (high - low) : fmax(1, 0.01 * fabs(high));
    p->low = low - room;
    p->high = high + room;
    p->least = points[p->first].clusters;
    p->most = points[p->end - 1].clusters;
    p->logs = p->most >= SPREAD * p->least;
    if (p->logs) {
        p->least = log(p->least);
        p->most = log(p->most);
    }
    const double side = p->most > p->least ? 0.04 * (p->most - p->least) : 1;
    p->least -= side;
    p->most += side;
}

static void put_number(const plot *p, double value, const vem_i_svg_words *where)
{
    char text[32];
    snprintf(text, sizeof text, "%.10g", value);
    vem_i_svg_text(p->out, where, text);
}

static void put_tick_x(const plot *p, int32_t clusters)
{
    const double x = place_x(p, clusters), y = p->y + p->height;
    vem_i_svg_line(p->out, x, y, x, y + 5, VEM_I_SVG_GREY, 1);
    put_number(
        p, clusters,
        &(vem_i_svg_words){.x = x, .y = y + 19, .size = 12, .anchor = VEM_I_SVG_MIDDLE});
}

static void put_axes(const plot *p, const char *title)
{
    enum { MOST = 12 };
    double first, step;
    const double bottom = p->y + p->height;
    const int rows = vem_i_svg_ticks(p->low, p->high, 6, &first, &step);
    for (int i = 0; i < rows; i++) {
        const double value = first + i * step, y = place_y(p, value);
        vem_i_svg_line(p->out, p->x, y, p->x + p->width, y, VEM_I_SVG_PALE, 1);
        put_number(p, fabs(value) < 1e-9 * step ? 0 : value,
                   &(vem_i_svg_words){
                       .x = p->x - 7, .y = y + 4, .size = 12, .anchor = VEM_I_SVG_END});
    }
    vem_i_svg_line(p->out, p->x, bottom, p->x + p->width, bottom, VEM_I_SVG_GREY, 1);
    vem_i_svg_line(p->out, p->x, p->y, p->x, bottom, VEM_I_SVG_GREY, 1);
    if (p->logs) {
        static const int32_t parts[] = {1, 2, 5};
        for (int64_t power = 1; power < INT32_MAX / 10; power *= 10)
            for (int k = 0; k < 3; k++) {
                const double at = log((double)(power * parts[k]));
                if (at >= p->least && at <= p->most)
                    put_tick_x(p, (int32_t)(power * parts[k]));
            }
    } else {
        const int count = vem_i_svg_ticks(p->least, p->most, MOST, &first, &step);
        for (int i = 0; i < count; i++)
            if (first + i * step == floor(first + i * step))
                put_tick_x(p, (int32_t)(first + i * step));
    }
    vem_i_svg_text(p->out,
                   &(vem_i_svg_words){.x = p->x + p->width / 2,
                                      .y = bottom + 38,
                                      .size = 13,
                                      .anchor = VEM_I_SVG_MIDDLE},
                   p->logs ? "clusters (log scale)" : "clusters");
    vem_i_svg_text(p->out, &(vem_i_svg_words){.x = p->x, .y = p->y - 10, .size = 13},
                   title);
}

/* The curve, the mixtures on it as rings, and the chosen one filled. */
static void put_curve(const plot *p)
{
    const vem_path_point *points = p->path->points;
    int pen = 0;
    fprintf(p->out, "<path fill=\"none\" stroke=\"%s\" stroke-width=\"1.6\" d=\"",
            vem_i_svg_color(0));
    for (int32_t i = p->first; i < p->end; i++) {
        if (!isfinite(points[i].objective))
            continue;
        fprintf(p->out, "%s%.2f %.2f", pen ? "L" : "M", place_x(p, points[i].clusters),
                place_y(p, points[i].objective));
        pen = 1;
    }
    fputs("\"/>\n", p->out);
    for (int32_t i = p->first; i < p->end; i++) {
        const int chosen = points[i].clusters == p->path->chosen;
        const double x = place_x(p, points[i].clusters);
        if (!isfinite(points[i].objective))
            continue;
        if (chosen)
            fprintf(p->out,
                    "<line x1=\"%.2f\" y1=\"%.2f\" x2=\"%.2f\" y2=\"%.2f\" stroke=\"%s\" "
                    "stroke-dasharray=\"4 4\"/>\n",
                    x, p->y, x, p->y + p->height, VEM_I_SVG_INK);
        fprintf(p->out,
                "<circle cx=\"%.2f\" cy=\"%.2f\" r=\"%s\" fill=\"%s\" stroke=\"%s\" "
                "stroke-width=\"1.6\"><title>%d clusters: %.10g</title></circle>\n",
                x, place_y(p, points[i].objective), chosen ? "6" : "3.5",
                chosen ? VEM_I_SVG_INK : "#ffffff",
                chosen ? VEM_I_SVG_INK : vem_i_svg_color(0), points[i].clusters,
                points[i].objective);
        if (chosen) {
            const int right = x < p->x + 0.75 * p->width;
            const vem_i_svg_words where = {.x = right ? x + 8 : x - 8,
                                           .y = p->y + 14,
                                           .size = 13,
                                           .anchor =
                                               right ? VEM_I_SVG_START : VEM_I_SVG_END,
                                           .bold = 1};
            char words[32];
            snprintf(words, sizeof words, "%d chosen", points[i].clusters);
            vem_i_svg_text(p->out, &where, words);
        }
    }
}

static void put_plot(const plot *p, const char *title)
{
    put_axes(p, title);
    fprintf(p->out,
            "<clipPath id=\"at%.0f\"><rect x=\"%.2f\" y=\"%.2f\" width=\"%.2f\" "
            "height=\"%.2f\"/></clipPath>\n<g clip-path=\"url(#at%.0f)\">\n",
            p->x, p->x, p->y, p->width, p->height, p->x);
    put_curve(p);
    fputs("</g>\n", p->out);
}

static int compare_reals(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

/* Near the chosen one, where that shows what all of them hide: up to a distance that
 * half of the others keep. What is farther is cut off. */
static int narrow(const plot *all, plot *near)
{
    const vem_path *path = all->path;
    const int32_t at = vem_i_path_find(path, path->chosen);
    double apart[2 * AROUND];
    int32_t count = 0;
    *near = *all;
    near->first = at > AROUND ? at - AROUND : 0;
    near->end = at + AROUND + 1 < path->count ? at + AROUND + 1 : path->count;
    for (int32_t i = near->first; at >= 0 && i < near->end; i++)
        if (i != at && isfinite(path->points[i].objective))
            apart[count++] = fabs(path->points[i].objective - path->points[at].objective);
    if (count < 3)
        return 0;
    qsort(apart, (size_t)count, sizeof *apart, compare_reals);
    set_ranges(near);
    const double objective = path->points[at].objective, room = 1.2 * apart[count / 2];
    near->low = fmax(near->low, objective - (all->about->lower ? 0.15 : 1) * room);
    near->high = fmin(near->high, objective + (all->about->lower ? 1 : 0.15) * room);
    /* Equal objectives span nothing. */
    return near->high > near->low &&
           (near->high - near->low) * FLAT < all->high - all->low;
}

static void put_curves(FILE *out, const vem_path *path, const vem_path_summary *about)
{
    const double height = CURVES - LOW - 20;
    char title[80];
    plot all = {.out = out,
                .path = path,
                .about = about,
                .end = path->count,
                .x = LEFT,
                .y = TITLE + 20,
                .width = WIDTH - LEFT - MARGIN,
                .height = height};
    plot near;
    set_ranges(&all);
    const int two = narrow(&all, &near);
    if (two) {
        all.width = (WIDTH - 2.0 * LEFT - MARGIN) * 0.5;
        near.width = all.width;
        near.x = LEFT + all.width + LEFT;
    }
    snprintf(title, sizeof title, "%s, %s is better", about->criterion,
             about->lower ? "lower" : "higher");
    put_plot(&all, title);
    if (two)
        put_plot(&near, "the same near the chosen one");
}

static void put_title(FILE *out, const vem_path_summary *s)
{
#define NAME(KIND, symbol, name, what) name,
    static const char *const names[] = {VEM_SELECT_TABLE(NAME)};
#undef NAME
    char words[160], more[160] = "";
    snprintf(words, sizeof words, "vem select, method %s: %d cluster%s", names[s->method],
             s->clusters, s->clusters == 1 ? "" : "s");
    vem_i_svg_text(out, &(vem_i_svg_words){.x = 20, .y = 26, .size = 16, .bold = 1},
                   words);
    if (s->next > 0 && s->margin >= 0)
        snprintf(more, sizeof more,
                 "The %s is %.4g %s than that of %d cluster%s, the best "
                 "other one on the path.",
                 s->criterion, s->margin, s->lower ? "lower" : "higher", s->next,
                 s->next == 1 ? "" : "s");
    vem_i_svg_text(
        out, &(vem_i_svg_words){.x = 20, .y = 45, .size = 13, .color = VEM_I_SVG_GREY},
        more);
}

static void print(FILE *out, const vem_path *path, const vem_path_summary *about,
                  const vem_i_clustergram *gram)
{
    char title[80];
    snprintf(title, sizeof title, "vem select: %d clusters", about->clusters);
    vem_i_svg_begin(out, WIDTH, TITLE + CURVES + (gram ? vem_i_clustergram_height() : 0),
                    title);
    put_title(out, about);
    put_curves(out, path, about);
    if (gram)
        vem_i_clustergram_print(out, gram, WIDTH, TITLE + CURVES);
    vem_i_svg_end(out);
}

vem_status vem_i_path_picture(vem_i_run *run, const vem_path *path,
                              const vem_path_summary *about, const vem_flows *flows,
                              const char *file)
{
    vem_i_clustergram *gram = NULL;
    vem_i_output *output;
    vem_status status = vem_i_svg_check_name(run, file);
    if (status == VEM_OK && flows)
        status = vem_i_clustergram_new(run, flows, path->chosen, path->count, &gram);
    if (status == VEM_OK)
        status = vem_i_output_open(run, file, &output);
    if (status == VEM_OK) {
        const locale_t before = vem_i_plain_begin();
        print(vem_i_output_stream(output), path, about, gram);
        vem_i_plain_end(before);
        status = vem_i_output_commit(run, output);
    }
    vem_i_clustergram_free(gram);
    return status;
}
