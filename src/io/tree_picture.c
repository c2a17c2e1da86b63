/* A dendrogram as SVG.
 *
 * Leaves from left to right, heights upwards. Of a tree with more than MOST leaves the
 * last MOST - 1 merges are drawn, and where a branch ends there is the number of
 * leaves below it. The clusters of a cut have colors. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>

#include "base/memory.h"
#include "base/plain.h"
#include "io/io.h"
#include "io/svg.h"
#include "model/dendrogram.h"

enum {
    MOST = 120,
    WIDTH = 1000,
    HEIGHT = 560,
    LEFT = 70,
    RIGHT = 20,
    TOP = 40,
    LOW = 90
};

static const double BRANCH = 1.5; /* pixels */

typedef struct picture {
    FILE *out;
    const vem_dendrogram *tree;
    const char *const *names;
    int64_t first;    /* the first merge that is drawn */
    int64_t shown;    /* branches that end below */
    int64_t clusters; /* of the cut; 0: none */
    double *x;        /* of each node that is drawn */
    int32_t *cluster; /* of each node of a cut, or -1: above it */
    int64_t *start, *size;
    double top; /* the largest height */
} picture;

static double place_y(const picture *p, double height)
{
    const double room = HEIGHT - TOP - LOW;
    return TOP + room * (1 - (p->top > 0 ? height / p->top : 0));
}

static double node_height(const picture *p, int64_t node)
{
    const int64_t merge = node - p->tree->leaves;
    return merge < p->first ? 0 : p->tree->merges[merge].height;
}

static const char *color_of(const picture *p, int64_t node)
{
    return p->cluster[node] < 0 ? VEM_I_SVG_GREY : vem_i_svg_color(p->cluster[node]);
}

/* Is it drawn as the end of a branch? */
static int is_end(const picture *p, int64_t node)
{
    return node < p->tree->leaves + p->first;
}

static void put_end(const picture *p, int64_t node)
{
    const double step = (double)(WIDTH - LEFT - RIGHT) / (double)p->shown;
    const vem_i_svg_words where = {.x = p->x[node] - 3,
                                   .y = place_y(p, 0) + 6,
                                   .size = fmin(11, fmax(5, step)),
                                   .color = color_of(p, node),
                                   .angle = 90};
    char number[VEM_I_LEAF_NUMBER];
    const char *name = number;
    if (node >= p->tree->leaves)
        snprintf(number, sizeof number, "(%" PRId64 ")", p->size[node]);
    else
        name = vem_i_dendrogram_leaf_name(p->tree, p->names, node, number);
    vem_i_svg_text(p->out, &where, name);
}

static void put_axis(const picture *p)
{
    const double x = LEFT - 14;
    double first = 0, step = 0;
    const int ticks = p->top > 0 ? vem_i_svg_ticks(0, p->top, 6, &first, &step) : 0;
    vem_i_svg_line(p->out, x, TOP, x, place_y(p, 0), VEM_I_SVG_GREY, 1);
    for (int tick = 0; tick < ticks; tick++) {
        const double height = first + tick * step, y = place_y(p, height);
        char text[32];
        snprintf(text, sizeof text, "%.6g", height);
        vem_i_svg_line(p->out, x - 4, y, x, y, VEM_I_SVG_GREY, 1);
        vem_i_svg_text(p->out,
                       &(vem_i_svg_words){.x = x - 7,
                                          .y = y + 4,
                                          .size = 11,
                                          .anchor = VEM_I_SVG_END,
                                          .color = VEM_I_SVG_GREY},
                       text);
    }
}

static void set_title(const picture *p, char text[256])
{
    const char *method = vem_dendrogram_method_name(p->tree->about.method);
    int used = snprintf(text, 256, "%" PRId64 " leaves%s%s", p->tree->leaves,
                        method ? ", " : "", method ? method : "");
    if (p->first > 0)
        used +=
            snprintf(text + used, 256 - (size_t)used,
                     "; the last %" PRId64 " merges, (leaves) below them", p->shown - 1);
    if (p->clusters > 0)
        snprintf(text + used, 256 - (size_t)used, "; cut into %" PRId64 " cluster%s",
                 p->clusters, p->clusters == 1 ? "" : "s");
}

/* Ends from left to right, then merges over the middle of what they join. */
static void place_nodes(picture *p)
{
    const int64_t n = p->tree->leaves, nodes = 2 * n - 1;
    const double step = (double)(WIDTH - LEFT - RIGHT) / (double)p->shown;
    /* By their first leaf, which is unique: places are sorted by counting. */
    int64_t *at = p->start; /* of drawn ends only */
    int64_t next = 0;
    double *by_place = p->x + nodes; /* n more: which end begins here */
    for (int64_t i = 0; i < n; i++)
        by_place[i] = -1;
    for (int64_t node = 0; node < n + p->first; node++)
        if (p->x[node] == 0) /* marked as an end */
            by_place[at[node]] = (double)node;
    for (int64_t i = 0; i < n; i++)
        if (by_place[i] >= 0)
            p->x[(int64_t)by_place[i]] = LEFT + step * ((double)next++ + 0.5);
    for (int64_t k = p->first; k < n - 1; k++) {
        const vem_dendrogram_merge *m = &p->tree->merges[k];
        p->x[n + k] = 0.5 * (p->x[m->a] + p->x[m->b]);
    }
}

static void print_picture(picture *p)
{
    const int64_t n = p->tree->leaves;
    char title[256];
    set_title(p, title);
    vem_i_svg_begin(p->out, WIDTH, HEIGHT, title);
    vem_i_svg_text(p->out, &(vem_i_svg_words){.x = LEFT, .y = 22, .size = 14}, title);
    put_axis(p);
    for (int64_t k = p->first; k < n - 1; k++) {
        const vem_dendrogram_merge *m = &p->tree->merges[k];
        const int64_t sides[2] = {m->a, m->b};
        const double y = place_y(p, m->height), middle = p->x[n + k];
        for (int side = 0; side < 2; side++) {
            const int64_t node = sides[side];
            const double x = p->x[node], low = place_y(p, node_height(p, node));
            vem_i_svg_line(p->out, middle, y, x, y, color_of(p, node), BRANCH);
            vem_i_svg_line(p->out, x, y, x, low, color_of(p, node), BRANCH);
            if (is_end(p, node))
                put_end(p, node);
        }
    }
    vem_i_svg_end(p->out);
}

/* The cluster that a node lies under: that of its leaves, unless it is above the cut. */
static void color_nodes(picture *p, const int32_t *of_leaf)
{
    const int64_t n = p->tree->leaves;
    for (int64_t i = 0; i < n; i++)
        p->cluster[i] = of_leaf ? of_leaf[i] : -1;
    for (int64_t k = 0; k < n - 1; k++)
        p->cluster[n + k] = k < n - p->clusters ? p->cluster[p->tree->merges[k].a] : -1;
}

static void mark_ends(picture *p)
{
    const int64_t n = p->tree->leaves;
    for (int64_t node = 0; node < 2 * n - 1; node++)
        p->x[node] = -1;
    for (int64_t k = p->first; k < n - 1; k++) {
        const vem_dendrogram_merge *m = &p->tree->merges[k];
        if (is_end(p, m->a))
            p->x[m->a] = 0;
        if (is_end(p, m->b))
            p->x[m->b] = 0;
    }
}

static vem_status draw(vem_i_run *run, picture *p, const char *path)
{
    const size_t n = (size_t)p->tree->leaves, nodes = 2 * n - 1;
    int32_t *of_leaf = NULL;
    vem_i_output *output;
    const vem_i_room rooms[] = {
        {&p->x, nodes + n, sizeof *p->x, 0},
        {&p->cluster, nodes, sizeof *p->cluster, 0},
        {&p->start, nodes, sizeof *p->start, 0},
        {&p->size, nodes, sizeof *p->size, 0},
        {&of_leaf, p->clusters > 0 ? n : 0, sizeof *of_leaf, 0},
    };
    vem_status status = vem_i_take_rooms(run, rooms, VEM_I_COUNT(rooms));
    if (status == VEM_OK && of_leaf)
        status = vem_i_dendrogram_clusters(run, p->tree, p->clusters, of_leaf);
    if (status == VEM_OK)
        status = vem_i_output_open(run, path, &output);
    if (status == VEM_OK) {
        color_nodes(p, of_leaf);
        mark_ends(p);
        vem_i_dendrogram_places(p->tree, NULL, p->start, p->size);
        place_nodes(p);
        p->out = vem_i_output_stream(output);
        const locale_t before = vem_i_plain_begin();
        print_picture(p);
        vem_i_plain_end(before);
        status = vem_i_output_commit(run, output);
    }
    vem_i_free_rooms(rooms, VEM_I_COUNT(rooms));
    return status;
}

vem_status vem_dendrogram_draw(vem_ctx *ctx, const vem_dendrogram *tree,
                               const char *const *names, int64_t clusters,
                               const char *path)
{
    VEM_I_NEED(ctx, ctx, tree, path);
    vem_i_verb verb;
    vem_i_run *run = vem_i_begin(ctx, &verb);
    const int64_t n = tree->leaves;
    if (clusters < 0 || clusters > n)
        return vem_i_fail(run, VEM_BAD_OPTION,
                          "A tree of %" PRId64 " leaves cannot be cut into %" PRId64
                          " clusters.",
                          n, clusters);
    const vem_status status = vem_i_svg_check_name(run, path);
    if (status != VEM_OK)
        return status;
    picture p = {.tree = tree,
                 .names = names,
                 .first = n > MOST ? n - MOST : 0,
                 .shown = n > MOST ? MOST : n,
                 .clusters = clusters,
                 .top = tree->merges[n - 2].height};
    return draw(run, &p, path);
}
