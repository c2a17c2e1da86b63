/* A tree in words and as JSON. */
#include <math.h>

#include "cli.h"

static const char *method_of(const vem_dendrogram_info *s)
{
    const char *name = vem_dendrogram_method_name(s->method);
    return name ? name : "unknown";
}

static void add_tree(json_t *o, const vem_dendrogram *tree)
{
    const vem_dendrogram_info *s = vem_dendrogram_summary(tree);
    json_object_set_new(o, "method", json_string(method_of(s)));
    json_object_set_new(o, "family",
                        cli_json_text(s->family >= 0
                                          ? vem_choice_name("family", s->family)
                                          : NULL));
    json_object_set_new(o, "n", json_integer(s->n));
    json_object_set_new(o, "d", json_integer(s->d));
    json_object_set_new(o, "leaves", json_integer(s->leaves));
    json_object_set_new(o, "distances", json_integer(s->distances));
    json_object_set_new(o, "evidence_clusters",
                        s->clusters ? json_integer(s->clusters) : json_null());
    CLI_JSON_REAL(o, s, log_evidence);
    CLI_JSON_REAL(o, s, log_evidence_leaves);
    if (s->method == VEM_DENDROGRAM_BAYES && s->prior_dof > 0) { /* 0: of an older file */
        CLI_JSON_REAL(o, s, prior_strength);
        CLI_JSON_REAL(o, s, prior_dof);
        CLI_JSON_REAL(o, s, prior_count);
        CLI_JSON_REAL(o, s, prior_scale);
    }
}

static void add_made(json_t *o, const cli_args *args, const cli_grown *g)
{
    const vem_dendrogram_info *s = vem_dendrogram_summary(g->tree);
    json_t *seconds = json_object();
    if (s->method == VEM_DENDROGRAM_BAYES)
        json_object_set_new(o, "pairs", json_string(vem_pairs_method_name(s->pairs)));
    json_object_set_new(seconds, "read", cli_json_real(g->seconds_read));
    json_object_set_new(seconds, "leaves", cli_json_real(s->seconds_leaves));
    json_object_set_new(seconds, "load", cli_json_real(s->seconds_load));
    json_object_set_new(seconds, "merge", cli_json_real(s->seconds_merge));
    json_object_set_new(seconds, "total", cli_json_real(g->seconds));
    json_object_set_new(o, "seconds", seconds);
    json_object_set_new(o, "threads", json_integer(vem_ctx_threads(args->ctx)));
    json_object_set_new(o, "seed", json_integer(args->options.seed));
    CLI_JSON_WHOLE(o, s, peak_bytes);
}

int cli_tree_json(const cli_args *args, const cli_grown *g)
{
    json_t *o = cli_json_begin(args);
    add_tree(o, g->tree);
    json_object_set_new(o, "clusters", g->cut ? json_integer(g->cut) : json_null());
    json_object_set_new(o, "dendrogram_purity", cli_json_real(g->purity.pairs));
    json_object_set_new(o, "dendrogram_purity_rows", cli_json_real(g->purity.rows));
    json_object_set_new(o, "nmi", cli_json_real(g->agreement.nmi));
    json_object_set_new(o, "ari", cli_json_real(g->agreement.ari));
    json_object_set_new(o, "purity", cli_json_real(g->agreement.purity));
    json_object_set_new(o, "truth_column", cli_json_text(g->truth_column));
    json_object_set_new(o, "notes", cli_sentences(vem_dendrogram_notes(g->tree)));
    if (g->data)
        add_made(o, args, g);
    static const char *const files[] = {"output", "labels", "newick", "r", "picture"};
    for (size_t k = 0; k < sizeof files / sizeof *files; k++)
        json_object_set_new(o, files[k], cli_json_text(cli_value(args, files[k])));
    return cli_json_print(o);
}

/* How rows were seen, where it is known. */
static void print_rows(const vem_dendrogram_info *s)
{
    static const char *const units[] = {NULL, "columns in their own units",
                                        "columns of variance 1", "rows of length 1"};
    if (s->units < 1 || s->units >= (int)(sizeof units / sizeof *units))
        return;
    if (s->family >= 0)
        printf("  %-13s %s; %s\n", "family", vem_choice_name("family", s->family),
               units[s->units]);
    else
        printf("  %-13s %s\n", "distances", units[s->units]);
}

static void print_tree(const char *name, const vem_dendrogram *tree)
{
    char a[48], b[48], c[48];
    const vem_dendrogram_info *s = vem_dendrogram_summary(tree);
    const vem_dendrogram_merge *last = vem_dendrogram_at(tree, s->leaves - 2);
    printf("%s: a tree of %s leaves", name, cli_count(s->leaves, a));
    if (s->leaves != s->n)
        printf(" (groups of %s)", cli_counted(s->n, "row", b));
    printf(", %s; height %.6g\n", method_of(s), last->height);
    print_rows(s);
    if (s->clusters > 0)
        printf("  %-13s %s; log evidence %.10g, as one cluster %.10g\n", "most evidence",
               cli_counted(s->clusters, "cluster", c), s->log_evidence,
               last->log_evidence);
}

static void print_cut(const cli_args *args, const cli_grown *g)
{
    char a[48];
    const char *labels = cli_value(args, "labels");
    if (labels)
        printf("  %-13s %s, to %s\n", "cut into", cli_counted(g->cut, "cluster", a),
               labels);
    if (isfinite(g->purity.pairs))
        printf("  %-13s %.4f (over pairs of rows of a class; %.4f over rows)\n",
               "tree purity", g->purity.pairs, g->purity.rows);
    if (isfinite(g->agreement.nmi))
        printf("  %-13s NMI %.4f, ARI %.4f, purity %.4f of %s\n", "the cut",
               g->agreement.nmi, g->agreement.ari, g->agreement.purity,
               cli_counted(g->cut, "cluster", a));
}

void cli_tree_words(const cli_args *args, const cli_grown *g)
{
    char text[256], a[48], b[48];
    const vem_dendrogram_info *s = vem_dendrogram_summary(g->tree);
    print_tree(cli_data_name(args, args->operands[0], text), g->tree);
    print_cut(args, g);
    cli_print_lines("note", vem_dendrogram_notes(g->tree));
    if (g->data)
        printf("  %-13s %s s, %s, peak memory %s\n", "time", cli_seconds(g->seconds, a),
               cli_counted(s->distances, "distance", b),
               vem_bytes_print((double)s->peak_bytes, text));
    static const char *const exports[] = {"newick", "r", "picture"};
    static const char *const words[] = {"Newick", "for R", "picture"};
    for (size_t k = 0; k < sizeof exports / sizeof *exports; k++)
        if (cli_value(args, exports[k]))
            printf("  %-13s %s\n", words[k], cli_value(args, exports[k]));
    if (cli_value(args, "output"))
        printf("  %-13s %s\n", "tree", cli_value(args, "output"));
    else if (g->data)
        printf("  %-13s not written; name a file with -o TREE.npz\n", "tree");
}

int cli_tree_info(cli_args *args)
{
    vem_dendrogram *tree = NULL;
    int code = CLI_DONE;
    const vem_status status = vem_dendrogram_read(args->ctx, args->operands[0], &tree);
    if (status != VEM_OK)
        return cli_failure(args, status);
    if (cli_value(args, "json")) {
        json_t *o = cli_json_begin(args);
        json_object_set_new(o, "kind", json_string("tree"));
        add_tree(o, tree);
        code = cli_json_print(o);
    } else {
        print_tree(args->operands[0], tree);
        cli_print_lines("note", vem_dendrogram_notes(tree));
        printf("  %-13s with: vem tree %s --clusters K --labels FILE\n", "cut",
               args->operands[0]);
    }
    vem_dendrogram_free(tree);
    return code;
}
