/* What an index finds as SVG: recall against the share of the rows that is scanned. */
#include <math.h>
#include <stdio.h>

#include "base/plain.h"
#include "io/io.h"
#include "io/svg.h"

enum { WIDTH = 760, HEIGHT = 460, LEFT = 70, TOP = 70, RIGHT = 25, LOW = 60 };

typedef struct plot {
    FILE *out;
    double rows;
    double least; /* log of the share at the left end; at the right it is 1 */
} plot;

static double place_x(const plot *p, double share)
{
    return LEFT + (WIDTH - LEFT - RIGHT) * (1 - log(share) / p->least);
}

static double place_y(double recall)
{
    return TOP + (HEIGHT - TOP - LOW) * (1 - recall);
}

static void put_axes(const plot *p)
{
    char text[32];
    const double bottom = place_y(0);
    for (int i = 0; i <= 5; i++) {
        const double y = place_y(0.2 * i);
        vem_i_svg_line(p->out, LEFT, y, WIDTH - RIGHT, y, VEM_I_SVG_PALE, 1);
        snprintf(text, sizeof text, "%.1f", 0.2 * i);
        vem_i_svg_text(p->out,
                       &(vem_i_svg_words){.x = LEFT - 7,
                                          .y = y + 4,
                                          .size = 12,
                                          .anchor = VEM_I_SVG_END},
                       text);
    }
    for (double share = 1; log(share) >= p->least * (1 + 1e-9); share /= 10) {
        const double x = place_x(p, share);
        vem_i_svg_line(p->out, x, bottom, x, bottom + 5, VEM_I_SVG_GREY, 1);
        snprintf(text, sizeof text, "%.6g %%", 100 * share);
        vem_i_svg_text(p->out,
                       &(vem_i_svg_words){.x = x,
                                          .y = bottom + 20,
                                          .size = 12,
                                          .anchor = VEM_I_SVG_MIDDLE},
                       text);
    }
    vem_i_svg_line(p->out, LEFT, bottom, WIDTH - RIGHT, bottom, VEM_I_SVG_GREY, 1);
    vem_i_svg_text(p->out,
                   &(vem_i_svg_words){.x = (LEFT + WIDTH - RIGHT) / 2.0,
                                      .y = HEIGHT - 15,
                                      .size = 13,
                                      .anchor = VEM_I_SVG_MIDDLE},
                   "rows scanned, of all");
}

static void print(const plot *p, const vem_index_summary *s,
                  const vem_index_point *points, int32_t count)
{
    char words[160];
    vem_i_svg_begin(p->out, WIDTH, HEIGHT, "Recall of an index");
    snprintf(words, sizeof words, "%lld rows in %d lists: recall of the %d nearest",
             (long long)s->rows, s->clusters, s->neighbors);
    vem_i_svg_text(p->out, &(vem_i_svg_words){.x = 20, .y = 26, .size = 16, .bold = 1},
                   words);
    snprintf(words, sizeof words,
             "%lld queries; sizes of the lists: CV %.3g, largest %lld",
             (long long)s->queries, s->cv, (long long)s->largest);
    vem_i_svg_text(
        p->out, &(vem_i_svg_words){.x = 20, .y = 46, .size = 13, .color = VEM_I_SVG_GREY},
        words);
    put_axes(p);
    double before_x = 0, before_y = 0;
    for (int32_t g = 0; g < count; g++) {
        const double share = points[g].scanned / p->rows;
        if (!(share > 0) || log(share) < p->least) /* lists without rows */
            continue;
        const double x = place_x(p, share), y = place_y(points[g].recall);
        if (before_x > 0)
            vem_i_svg_line(p->out, before_x, before_y, x, y, vem_i_svg_color(0), 2);
        before_x = x;
        before_y = y;
    }
    vem_i_svg_end(p->out);
}

vem_status vem_i_index_picture(vem_i_run *run, const vem_index_summary *summary,
                               const vem_index_point *points, int32_t count,
                               const char *file)
{
    vem_i_output *output;
    const vem_status status = vem_i_output_open(run, file, &output);
    if (status != VEM_OK)
        return status;
    const locale_t before = vem_i_plain_begin();
    plot p = {vem_i_output_stream(output), (double)summary->rows, 0};
    const double first = count > 0 && points[0].scanned > 0 ? points[0].scanned : 1;
    p.least = fmin(log(first / p.rows), log(0.1));
    print(&p, summary, points, count);
    vem_i_plain_end(before);
    return vem_i_output_commit(run, output);
}
