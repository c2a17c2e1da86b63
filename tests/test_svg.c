/* What pictures are made of: text of any bytes, round numbers along an axis, and the flows below a path. */
#define CONTEXT_THREADS 1
#include "context.h"

#include "io/clustergram.h"
#include "io/svg.h"
#include "model/flows.h"
#include "model/path.h"

/* ---- text ---- */

static const struct {
    const char *text, *printed;
} texts[] = {
    {"", ""},
    {"plain", "plain"},
    {"a&b<c>d\"'", "a&amp;b&lt;c&gt;d\"'"},
    {"\t\x01\x1f\x7f~", "    ~"},
    /* Characters of two, three and four bytes: the first and the last of each. */
    {"\xc2\x80|\xdf\xbf", "\xc2\x80|\xdf\xbf"},
    {"\xe0\xa0\x80|\xed\x9f\xbf|\xee\x80\x80|\xef\xbf\xbd",
     "\xe0\xa0\x80|\xed\x9f\xbf|\xee\x80\x80|\xef\xbf\xbd"},
    {"\xf0\x90\x80\x80|\xf3\xbf\xbf\xbf|\xf4\x8f\xbf\xbf",
     "\xf0\x90\x80\x80|\xf3\xbf\xbf\xbf|\xf4\x8f\xbf\xbf"},
    /* The middle of one, and one that ends too early, or is followed by another. */
    {"\x80|\xbf", "?|?"},
    {"\xc3", "?"},
    {"\xe2\x82", "??"},
    {"\xf0\x9f\x98", "???"},
    {"\xc3\xc3\xa9", "?\xc3\xa9"},
    {"\xe2\x82x", "??x"},
    {"\xf0\x9f\x98x", "???x"},
    {"\xe2x\x82", "?x?"},
    /* Longer than needed, halves of pairs, beyond the last, two that XML forbids, and no first byte. */
    {"\xc0\x80|\xc1\xbf", "\?\?|\?\?"},
    {"\xe0\x9f\xbf|\xf0\x8f\xbf\xbf", "\?\?\?|\?\?\?\?"},
    {"\xed\xa0\x80|\xed\xbf\xbf", "\?\?\?|\?\?\?"},
    {"\xf4\x90\x80\x80|\xf5\x80\x80\x80", "\?\?\?\?|\?\?\?\?"},
    {"\xef\xbf\xbe|\xef\xbf\xbf", "\?\?\?|\?\?\?"},
    {"\xf8|\xff", "?|?"},
};

static void text_of_any_bytes(void **state)
{
    (void)state;
    for (size_t k = 0; k < sizeof texts / sizeof *texts; k++) {
        char *found = NULL, expected[200];
        size_t length;
        FILE *out = open_memstream(&found, &length);
        vem_i_svg_text(out, &(vem_i_svg_words){.x = 1, .y = 2.5, .size = 10},
                       texts[k].text);
        fclose(out);
        snprintf(expected, sizeof expected,
                 "<text x=\"1.00\" y=\"2.50\" font-size=\"10\" text-anchor=\"start\" "
                 "fill=\"%s\">%s</text>\n",
                 VEM_I_SVG_INK, texts[k].printed);
        assert_string_equal(found, expected);
        free(found);
    }
}

/* ---- numbers along an axis ---- */

static const struct {
    double low, high;
    int most, count;
    double first, step;
} axes[] = {
    {0, 1, 6, 6, 0, 0.2},
    {0, 1, 5, 3, 0, 0.5},
    {0, 1, 11, 11, 0, 0.1},
    {0, 1, 10, 6, 0, 0.2},
    {0, 10, 2, 2, 0, 10},
    {0, 10, 3, 3, 0, 5},
    {0, 10, 10, 6, 0, 2},
    {0.1, 0.9, 2, 1, 0.5, 0.5},
    {-7, 13, 6, 4, -5, 5},
    {-1e12, 1e12, 6, 5, -1e12, 5e11},
    {13180, 13720, 6, 6, 13200, 100},
    {3, 97, 20, 19, 5, 5},
};

static void numbers_are_round(void **state)
{
    (void)state;
    for (size_t k = 0; k < sizeof axes / sizeof *axes; k++) {
        double first, step;
        const int count =
            vem_i_svg_ticks(axes[k].low, axes[k].high, axes[k].most, &first, &step);
        if (count != axes[k].count || fabs(first - axes[k].first) > 1e-9 * axes[k].step ||
            fabs(step - axes[k].step) > 1e-9 * axes[k].step)
            fail_msg("from %g to %g, %d at most: %d, from %g by %g", axes[k].low,
                     axes[k].high, axes[k].most, count, first, step);
    }
}

/* ---- a path ---- */

/* Six rows in three clusters, of which the next mixture has two halves each. */
static vem_flows *flows_of(vem_i_run *run)
{
    enum { ROWS = 6 };
    static const int32_t clusters[2] = {3, 6};
    static const int32_t labels[2][ROWS] = {{0, 0, 1, 1, 2, 2}, {0, 1, 2, 3, 4, 5}};
    static const double mass[ROWS] = {1, 1, 1, 1, 1, 1};
    vem_flows *flows = NULL;
    assert_int_equal(vem_i_flows_new(run, clusters, 2, &flows), VEM_OK);
    flows->rows = ROWS;
    for (int32_t at = 0; at < 2; at++)
        vem_i_flows_weigh(flows, at, labels[at], mass, ROWS);
    assert_int_equal(vem_i_flows_put(run, flows, 0, labels[0], labels[1], mass, ROWS),
                     VEM_OK);
    return flows;
}

static vem_path *path_of(vem_i_run *run)
{
    static const double means[] = {0, 1, 2, 3, 4, 5}, ones[] = {1, 1, 1, 1, 1, 1};
    vem_path *path = NULL;
    assert_int_equal(vem_i_path_new(run, 2, &path), VEM_OK);
    for (int32_t k = 3; k <= 6; k += 3) {
        vem_model *model = NULL;
        const vem_path_point point = {.clusters = k, .objective = -k};
        assert_int_equal(vem_model_new(ctx, VEM_ISO, k, 1, means, NULL, ones, &model),
                         VEM_OK);
        assert_int_equal(vem_i_path_append(run, path, &point, model), VEM_OK);
    }
    path->chosen = 3;
    path->method = VEM_SELECT_BAYES;
    return path;
}

static int count_of(const char *text, const char *what)
{
    int count = 0;
    for (const char *at = text; (at = strstr(at, what)); at++)
        count++;
    return count;
}

/* How high the picture is, and how many boxes it has. */
static int draw(const vem_path *path, const vem_flows *flows, int *boxes)
{
    static const char file[] = "svg_test.svg";
    char text[40000] = "";
    int height = 0;
    assert_int_equal(vem_path_draw(ctx, path, flows, file), VEM_OK);
    FILE *in = fopen(file, "r");
    assert_non_null(in);
    assert_true(fread(text, 1, sizeof text - 1, in) > 0);
    fclose(in);
    remove(file);
    assert_int_equal(sscanf(strstr(text, " height="), " height=\"%d\"", &height), 1);
    assert_non_null(strstr(text, "</svg>\n"));
    *boxes = count_of(text, "<rect ");
    return height;
}

/* Below the curves, where there are flows: a box for each cluster of each mixture. */
static void flows_below_a_path(void **state)
{
    (void)state;
    vem_i_verb verb;
    vem_i_run *run = vem_i_begin(ctx, &verb);
    vem_flows *flows = flows_of(run);
    vem_path *path = path_of(run);
    int plain, boxes;
    const int height = draw(path, NULL, &plain);
    assert_int_equal(draw(path, flows, &boxes), height + vem_i_clustergram_height());
    assert_int_equal(boxes, plain + 3 + 6);
    vem_path_free(path);
    vem_flows_free(flows);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(text_of_any_bytes),
        cmocka_unit_test(numbers_are_round),
        cmocka_unit_test(flows_below_a_path),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
