/* Trees for other programs: Newick, and R's hclust.
 *
 * Newick: (A:1.5,B:1.5); a branch is as long as the heights of its ends differ, leaves
 * being at 0.
 *
 * R: merge (N-1, 2) names leaves by -1 ... -N and earlier merges by 1 ... N-1; height;
 * order, in which leaves stand side by side without crossings; labels. As .R the text
 * is one call of structure(), which dget("tree.R") makes an hclust; as .json an object
 * of the four. */
#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "base/plain.h"
#include "io/io.h"
#include "io/names_json.h"
#include "model/dendrogram.h"

static double height_of(const vem_dendrogram *tree, int64_t node)
{
    return node < tree->leaves ? 0 : tree->merges[node - tree->leaves].height;
}

/* ---- Newick ---- */

/* A name in quotes, where it is more than letters and digits. */
static void put_name(FILE *out, const char *name)
{
    const size_t plain = strspn(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVW"
                                      "XYZ0123456789.-");
    if (*name && name[plain] == '\0') {
        fputs(name, out);
        return;
    }
    fputc('\'', out);
    for (; *name; name++) {
        if (*name == '\'')
            fputc('\'', out);
        fputc(*name == '\n' || *name == '\r' ? ' ' : *name, out);
    }
    fputc('\'', out);
}

/* A tree may be as deep as it has leaves, so that its nodes wait on a stack of our
 * own: `next` of a node is the side that comes now. */
static void print_newick(FILE *out, const vem_dendrogram *tree, const char *const *names,
                         int64_t *stack, uint8_t *next)
{
    const int64_t n = tree->leaves;
    int64_t depth = 0;
    char number[VEM_I_LEAF_NUMBER];
    stack[depth++] = 2 * n - 2;
    while (depth > 0) {
        const int64_t node = stack[depth - 1];
        if (node >= n && next[node - n] < 2) {
            const vem_dendrogram_merge *m = &tree->merges[node - n];
            fputc(next[node - n] == 0 ? '(' : ',', out);
            stack[depth++] = next[node - n]++ == 0 ? m->a : m->b;
            continue;
        }
        if (node < n)
            put_name(out, vem_i_dendrogram_leaf_name(tree, names, node, number));
        else
            fputc(')', out);
        depth--;
        if (depth > 0)
            fprintf(out, ":%.17g",
                    height_of(tree, stack[depth - 1]) - height_of(tree, node));
    }
    fputs(";\n", out);
}

vem_status vem_dendrogram_write_newick(vem_ctx *ctx, const vem_dendrogram *tree,
                                       const char *const *names, const char *path)
{
    VEM_I_NEED(ctx, ctx, tree, path);
    vem_i_verb verb;
    vem_i_run *run = vem_i_begin(ctx, &verb);
    vem_i_output *output;
    int64_t *stack = NULL;
    uint8_t *next = NULL;
    const vem_i_room rooms[] = {{&stack, (size_t)tree->leaves + 1, sizeof *stack, 0},
                                {&next, (size_t)tree->leaves, 1, 1}};
    vem_status status = vem_i_take_rooms(run, rooms, VEM_I_COUNT(rooms));
    if (status == VEM_OK)
        status = vem_i_output_open(run, path, &output);
    if (status == VEM_OK) {
        const locale_t before = vem_i_plain_begin();
        print_newick(vem_i_output_stream(output), tree, names, stack, next);
        vem_i_plain_end(before);
        status = vem_i_output_commit(run, output);
    }
    vem_i_free_rooms(rooms, VEM_I_COUNT(rooms));
    return status;
}

/* ---- R ---- */

/* A node as hclust names it. */
static int64_t r_node(const vem_dendrogram *tree, int64_t node)
{
    return node < tree->leaves ? -(node + 1) : node - tree->leaves + 1;
}

/* What a merge joins: leaves first, then earlier merges. */
static int64_t r_side(const vem_dendrogram *tree, int64_t k, int side)
{
    const vem_dendrogram_merge *m = &tree->merges[k];
    return r_node(tree, side == 0 ? m->a : m->b);
}

static void put_quoted(FILE *out, const char *name)
{
    fputc('"', out);
    for (; *name; name++)
        if (*name == '"' || *name == '\\')
            fprintf(out, "\\%c", *name);
        else
            fputc((unsigned char)*name < 32 ? ' ' : *name, out);
    fputc('"', out);
}

/* order[place] = leaf, from 1. */
static vem_status order_of(vem_i_run *run, const vem_dendrogram *tree, int64_t *order)
{
    const size_t nodes = 2 * (size_t)tree->leaves;
    int64_t *start = NULL, *size = NULL;
    const vem_i_room rooms[] = {{&start, nodes, sizeof *start, 0},
                                {&size, nodes, sizeof *size, 0}};
    const vem_status status = vem_i_take_rooms(run, rooms, VEM_I_COUNT(rooms));
    if (status == VEM_OK) {
        vem_i_dendrogram_places(tree, NULL, start, size);
        for (int64_t i = 0; i < tree->leaves; i++)
            order[start[i]] = i + 1;
    }
    vem_i_free_rooms(rooms, VEM_I_COUNT(rooms));
    return status;
}

static int print_r(FILE *out, const vem_dendrogram *tree, const char *const *names,
                   const int64_t *order)
{
    const int64_t n = tree->leaves;
    char number[VEM_I_LEAF_NUMBER];
    const char *method = vem_dendrogram_method_name(tree->about.method);
    fputs("structure(list(merge = structure(c(", out);
    for (int side = 0; side < 2; side++)
        for (int64_t k = 0; k < n - 1; k++)
            fprintf(out, "%s%" PRId64 "L", side + k ? ", " : "", r_side(tree, k, side));
    fprintf(out, "), dim = c(%" PRId64 "L, 2L)), height = c(", n - 1);
    for (int64_t k = 0; k < n - 1; k++)
        fprintf(out, "%s%.17g", k ? ", " : "", tree->merges[k].height);
    fputs("), order = c(", out);
    for (int64_t i = 0; i < n; i++)
        fprintf(out, "%s%" PRId64 "L", i ? ", " : "", order[i]);
    fputs("), labels = c(", out);
    for (int64_t i = 0; i < n; i++) {
        fputs(i ? ", " : "", out);
        put_quoted(out, vem_i_dendrogram_leaf_name(tree, names, i, number));
    }
    fprintf(out,
            "), method = \"%s\", call = quote(vem_tree(data)), dist.method = \"%s\"), "
            "class = \"hclust\")\n",
            method ? method : "unknown",
            tree->about.method == VEM_DENDROGRAM_BAYES ? "evidence" : "euclidean");
    return 1;
}

/* 0: memory could not be had. */
static int print_r_json(FILE *out, const vem_dendrogram *tree, const char *const *names,
                        const int64_t *order)
{
    const int64_t n = tree->leaves;
    char number[VEM_I_LEAF_NUMBER];
    json_t *json = json_object(), *merge = json_array(), *height = json_array();
    json_t *places = json_array(), *labels = json_array();
    int done = 1;
    for (int64_t k = 0; done && k < n - 1; k++)
        done = json_array_append_new(merge,
                                     json_pack("[I, I]", (json_int_t)r_side(tree, k, 0),
                                               (json_int_t)r_side(tree, k, 1))) == 0 &&
               json_array_append_new(height, json_real(tree->merges[k].height)) == 0;
    for (int64_t i = 0; done && i < n; i++)
        done =
            json_array_append_new(places, json_integer(order[i])) == 0 &&
            json_array_append_new(labels, vem_i_text_to_json(
                                              vem_i_dendrogram_leaf_name(tree, names, i,
                                                                         number))) == 0;
    /* The object has them, or they are freed. */
    done &= json_object_set_new(json, "merge", merge) == 0;
    done &= json_object_set_new(json, "height", height) == 0;
    done &= json_object_set_new(json, "order", places) == 0;
    done &= json_object_set_new(json, "labels", labels) == 0;
    /* What cannot be written is found when the file is closed. */
    done = done && (json_dumpf(json, out, JSON_REAL_PRECISION(17)) == 0 || ferror(out));
    fputc('\n', out);
    json_decref(json);
    return done;
}

vem_status vem_dendrogram_write_r(vem_ctx *ctx, const vem_dendrogram *tree,
                                  const char *const *names, const char *path)
{
    VEM_I_NEED(ctx, ctx, tree, path);
    vem_i_verb verb;
    vem_i_run *run = vem_i_begin(ctx, &verb);
    const int json = vem_i_path_ends(path, ".json");
    vem_i_output *output;
    int64_t *order;
    if (!json && !vem_i_path_ends(path, ".r"))
        return vem_i_fail(run, VEM_BAD_OPTION,
                          "%s: a tree for R is written as .R (for dget) or .json, so "
                          "name it so.",
                          path);
    vem_status status = vem_i_take(run, &order, (size_t)tree->leaves, sizeof *order);
    if (status != VEM_OK)
        return status;
    status = order_of(run, tree, order);
    if (status == VEM_OK)
        status = vem_i_output_open(run, path, &output);
    if (status == VEM_OK) {
        const locale_t before = vem_i_plain_begin();
        const int done = (json ? print_r_json : print_r)(vem_i_output_stream(output),
                                                         tree, names, order);
        vem_i_plain_end(before);
        if (done) {
            status = vem_i_output_commit(run, output);
        } else {
            vem_i_output_cancel(output);
            status = vem_i_fail_memory(run, (size_t)tree->leaves * sizeof(json_t));
        }
    }
    vem_i_free(order);
    return status;
}
