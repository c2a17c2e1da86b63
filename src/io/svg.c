#include "io/svg.h"

#include <math.h>

#include "io/io.h"

/* Bytes of the UTF-8 character at `text`; 0: it is none. */
static int character(const unsigned char *text)
{
    const int more = *text < 0x80                    ? 0
                     : *text >= 0xc2 && *text < 0xe0 ? 1
                     : *text >= 0xe0 && *text < 0xf0 ? 2
                     : *text >= 0xf0 && *text < 0xf5 ? 3
                                                     : -1;
    for (int i = 1; i <= more; i++)
        if (text[i] < 0x80 || text[i] > 0xbf)
            return 0;
    /* Longer than needed, halves of pairs, beyond the last, and two that XML forbids. */
    if ((text[0] == 0xe0 && text[1] < 0xa0) || (text[0] == 0xed && text[1] > 0x9f) ||
        (text[0] == 0xf0 && text[1] < 0x90) || (text[0] == 0xf4 && text[1] > 0x8f) ||
        (text[0] == 0xef && text[1] == 0xbf && text[2] > 0xbd))
        return 0;
    return more + 1;
}

static void put(FILE *out, const char *text)
{
    for (const unsigned char *c = (const unsigned char *)text; *c;) {
        const int length = character(c);
        if (length == 0)
            fputc('?', out);
        else if (*c < 32 || *c == 127)
            fputc(' ', out);
        else if (*c == '&')
            fputs("&amp;", out);
        else if (*c == '<')
            fputs("&lt;", out);
        else if (*c == '>')
            fputs("&gt;", out);
        else
            fwrite(c, 1, (size_t)length, out);
        c += length > 0 ? length : 1;
    }
}

vem_status vem_i_svg_check_name(vem_i_run *run, const char *path)
{
    if (vem_i_path_ends(path, ".svg"))
        return VEM_OK;
    return vem_i_fail(run, VEM_BAD_OPTION,
                      "%s cannot be written: a picture is an .svg file.", path);
}

void vem_i_svg_begin(FILE *out, int width, int height, const char *title)
{
    fprintf(out,
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%d\" "
            "viewBox=\"0 0 %d %d\" font-family=\"sans-serif\">\n<title>",
            width, height, width, height);
    put(out, title);
    fputs("</title>\n<rect width=\"100%\" height=\"100%\" fill=\"#ffffff\"/>\n", out);
}

void vem_i_svg_end(FILE *out)
{
    fputs("</svg>\n", out);
}

const char *vem_i_svg_color(int64_t number)
{
    static const char *const colors[] = {"#4477aa", "#ee6677", "#228833", "#aa8822",
                                         "#66aacc", "#aa3377", "#775533", "#5544aa"};
    return colors[(uint64_t)number % (sizeof colors / sizeof *colors)];
}

void vem_i_svg_text(FILE *out, const vem_i_svg_words *w, const char *text)
{
    static const char *const anchors[] = {"start", "middle", "end"};
    fprintf(out,
            "<text x=\"%.2f\" y=\"%.2f\" font-size=\"%.4g\" text-anchor=\"%s\" "
            "fill=\"%s\"",
            w->x, w->y, w->size, anchors[w->anchor], w->color ? w->color : VEM_I_SVG_INK);
    if (w->bold)
        fputs(" font-weight=\"bold\"", out);
    if (w->angle != 0)
        fprintf(out, " transform=\"rotate(%.4g %.2f %.2f)\"", w->angle, w->x, w->y);
    fputc('>', out);
    put(out, text);
    fputs("</text>\n", out);
}

void vem_i_svg_line(FILE *out, double x1, double y1, double x2, double y2,
                    const char *color, double width)
{
    fprintf(out,
            "<line x1=\"%.2f\" y1=\"%.2f\" x2=\"%.2f\" y2=\"%.2f\" stroke=\"%s\" "
            "stroke-width=\"%.4g\"/>\n",
            x1, y1, x2, y2, color, width);
}

void vem_i_svg_box(FILE *out, double x, double y, double width, double height,
                   const char *color)
{
    fprintf(out,
            "<rect x=\"%.2f\" y=\"%.2f\" width=\"%.2f\" height=\"%.2f\" fill=\"%s\"/>\n",
            x, y, width, height, color);
}

int vem_i_svg_ticks(double low, double high, int most, double *first, double *step)
{
    const double range = high - low, power = pow(10, floor(log10(range / most)));
    static const double round[] = {1, 2, 5, 10, 20};
    for (int i = 0; i < 5; i++) {
        *step = round[i] * power;
        *first = ceil(low / *step - 1e-9) * *step;
        const int count = (int)floor((high - *first) / *step + 1e-9) + 1;
        if (count <= most)
            return count;
    }
    return 0;
}
