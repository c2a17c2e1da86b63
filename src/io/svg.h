/* The few shapes that pictures are made of, as SVG. Written under vem_i_plain_begin. */
#ifndef VEM_IO_SVG_H
#define VEM_IO_SVG_H

#include <stdint.h>
#include <stdio.h>

#include "base/run.h"

/* Refuses a name of another kind of picture. */
vem_status vem_i_svg_check_name(vem_i_run *run, const char *path);

/* White, sans-serif, so many pixels; the title is for those who cannot see it. */
void vem_i_svg_begin(FILE *out, int width, int height, const char *title);
void vem_i_svg_end(FILE *out);

/* Colors that differ in lightness, too; and those of lines and letters. */
const char *vem_i_svg_color(int64_t number);
#define VEM_I_SVG_INK "#222222"
#define VEM_I_SVG_GREY "#777777"
#define VEM_I_SVG_PALE "#dddddd"

typedef enum vem_i_svg_anchor {
    VEM_I_SVG_START = 0,
    VEM_I_SVG_MIDDLE,
    VEM_I_SVG_END
} vem_i_svg_anchor;

typedef struct vem_i_svg_words {
    double x, y, size;
    vem_i_svg_anchor anchor;
    const char *color; /* NULL: ink */
    double angle;      /* degrees, clockwise */
    int bold;
} vem_i_svg_words;

/* Any text: what means something in XML is escaped, control codes and bytes that are no
 * UTF-8 become spaces and question marks. */
void vem_i_svg_text(FILE *out, const vem_i_svg_words *where, const char *text);
void vem_i_svg_line(FILE *out, double x1, double y1, double x2, double y2,
                    const char *color, double width);
void vem_i_svg_box(FILE *out, double x, double y, double width, double height,
                   const char *color);

/* Round numbers from low to high, at most `most` of them (which is 2 or more): how many,
 * and the first and the distance. */
int vem_i_svg_ticks(double low, double high, int most, double *first, double *step);

#endif
