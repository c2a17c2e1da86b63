#include <math.h>

#include "io/clustergram.h"
#include "io/svg.h"

enum {
    HEAD = 46,   /* above the columns */
    FOOT = 74,   /* below them */
    SIDE = 60,   /* left and right of them */
    BLOCK = 22,  /* width of a column */
    LETTERS = 11 /* height of a block that has room for its number */
};

int vem_i_clustergram_height(void)
{
    return HEAD + VEM_I_GRAM_HEIGHT + FOOT;
}

static const char *color_of(const vem_i_gram_block *b)
{
    return b->color < 0 ? "#999999" : vem_i_svg_color(b->color);
}

static double x_of(const vem_i_clustergram *g, int32_t i, int width)
{
    const double room = width - 2.0 * SIDE - BLOCK;
    return SIDE + (g->count > 1 ? room * i / (g->count - 1) : room / 2);
}

/* Ribbons leave a block in the order of where they go, and reach one in that of where
 * they are from. */
static void put_ribbons(FILE *out, const vem_i_clustergram *g, int32_t i, int width,
                        double top)
{
    const vem_i_gram_column *c = &g->columns[i], *next = &g->columns[i + 1];
    const double x = x_of(g, i, width) + BLOCK, to = x_of(g, i + 1, width),
                 middle = (x + to) / 2;
    double left[VEM_I_GRAM_BLOCKS] = {0},
           right[VEM_I_GRAM_BLOCKS] = {0}; /* of the blocks: what is taken */
    for (int p = 0; p < c->count; p++)
        for (int q = 0; q < next->count; q++) {
            const int a = c->order[p], b = next->order[q];
            const double share = vem_i_gram_ribbons(g, i)[a * VEM_I_GRAM_BLOCKS + b];
            if (!(share > 0))
                continue;
            const vem_i_gram_block *from = &c->blocks[a], *into = &next->blocks[b];
            const double high = from->high * share / from->share,
                         low = into->high * share / into->share,
                         y = top + from->y + left[a], z = top + into->y + right[b];
            left[a] += high;
            right[b] += low;
            if (fmax(high, low) < 0.2) /* cannot be seen */
                continue;
            fprintf(
                out,
                "<path fill=\"%s\" fill-opacity=\"0.4\" d=\"M%.2f %.2fC%.2f %.2f %.2f "
                "%.2f %.2f %.2fV%.2fC%.2f %.2f %.2f %.2f %.2f %.2fZ\"/>\n",
                color_of(i < g->chosen ? into : from), x, y, middle, y, middle, z, to, z,
                z + low, middle, z + low, middle, y + high, x, y + high);
        }
}

static void put_column(FILE *out, const vem_i_clustergram *g, int32_t i, int width,
                       double top)
{
    const vem_i_gram_column *c = &g->columns[i];
    const double x = x_of(g, i, width), middle = x + BLOCK / 2.0,
                 bottom = top + VEM_I_GRAM_HEIGHT;
    char words[32];
    for (int k = 0; k < c->count; k++) {
        const vem_i_gram_block *b = &c->blocks[k];
        vem_i_svg_box(out, x, top + b->y, BLOCK, fmax(b->high, 0.3), color_of(b));
        if (b->high < LETTERS || b->cluster < 0)
            continue;
        snprintf(words, sizeof words, "%d", b->cluster);
        vem_i_svg_text(out,
                       &(vem_i_svg_words){.x = middle,
                                          .y = top + b->y + b->high / 2 + 3.5,
                                          .size = 10,
                                          .anchor = VEM_I_SVG_MIDDLE,
                                          .color = "#ffffff",
                                          .bold = 1},
                       words);
    }
    snprintf(words, sizeof words, "%d", c->clusters);
    vem_i_svg_text(out,
                   &(vem_i_svg_words){.x = middle,
                                      .y = bottom + 18,
                                      .size = i == g->chosen ? 14 : 12,
                                      .anchor = VEM_I_SVG_MIDDLE,
                                      .bold = i == g->chosen},
                   words);
    if (i == g->chosen)
        vem_i_svg_text(out,
                       &(vem_i_svg_words){.x = middle,
                                          .y = bottom + 33,
                                          .size = 12,
                                          .anchor = VEM_I_SVG_MIDDLE},
                       "chosen");
}

void vem_i_clustergram_print(FILE *out, const vem_i_clustergram *g, int width, double top)
{
    char words[240];
    const vem_i_svg_words note = {.x = 20,
                                  .y = top + vem_i_clustergram_height() - 14,
                                  .size = 12,
                                  .color = VEM_I_SVG_GREY};
    vem_i_svg_text(
        out, &(vem_i_svg_words){.x = 20, .y = top + 18, .size = 13},
        "How rows move between mixtures: a column for each number of clusters, with a "
        "block for each cluster, as high as its share of the rows");
    for (int32_t i = 0; i + 1 < g->count; i++)
        put_ribbons(out, g, i, width, top + HEAD);
    for (int32_t i = 0; i < g->count; i++)
        put_column(out, g, i, width, top + HEAD);
    int used =
        snprintf(words, sizeof words, "%lld rows; colors are those of the chosen one",
                 (long long)g->flows->rows);
    if (g->count < g->of)
        used += snprintf(words + used, sizeof words - (size_t)used,
                         "; %d of %d mixtures are shown", g->count, g->of);
    if (g->rest)
        snprintf(words + used, sizeof words - (size_t)used,
                 "; the grey block is all clusters beyond the %d largest",
                 VEM_I_GRAM_BLOCKS - 1);
    vem_i_svg_text(out, &note, words);
}
