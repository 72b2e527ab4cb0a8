/* The table of all pairs of layouts as a heat map: the paper's colour is a straight copy, full colour the
 * dearest, on a log scale. */
#include "transfer_private.h"

#include "picture.h"
#include "base/number.h"
#include "report/machine.h"

enum {
    MARGIN = 16,
    TITLE = 64,
    CELL_WIDTH = 150,
    CELL_HEIGHT = 46,
    LETTER_WIDTH = 8,
    FOOT_LETTER_WIDTH = 6,
    FOOT = 40
};

#define LEAST_HEAT 0.06     /* of the colour: of a copy */
enum { LEAST_SCALE = 200 }; /* what has the full colour, in straight copies in 1/100 */

/* log2 in 1/256, linear between powers of two: enough for a colour. */
static int64_t log2_256(int64_t value) {
    int exponent = 63 - __builtin_clzll((unsigned long long)value);
    int64_t fraction = exponent >= 8 ? value >> (exponent - 8) : value << (8 - exponent);
    return exponent * 256 + (fraction & 255);
}

/* 0 .. 255, of the way from a copy to `most`, LEAST_SCALE or more; what is cheaper than a copy is 0. */
static int64_t shade(int64_t ratio, int64_t most) {
    int64_t low = log2_256(100), high = log2_256(most), at = log2_256(ratio);
    if (at <= low) return 0;
    return (at - low) * 255 / (high - low);
}

static int64_t dearest(const ts_transfer_matrix *m) {
    int64_t most = LEAST_SCALE;
    for (int i = 0; i < m->list.count * m->list.count; i++)
        most = ts_max(most, matrix_ratio(m, i / m->list.count, i % m->list.count));
    return most;
}

static void add_cell(ts_text *out, const ts_transfer_matrix *m, int from, int to, int64_t left,
                     int64_t most) {
    int64_t x = left + to * CELL_WIDTH, y = TITLE + from * CELL_HEIGHT;
    const ts_dma_cost *cost = &m->costs[from][to];
    int64_t ratio = matrix_ratio(m, from, to), at = cost->cycles ? shade(ratio, most) : 0;
    const char *ink = at > 140 ? "on-heat" : NULL;
    ts_text_add(
        out,
        "<rect class=\"heat\" x=\"%lld\" y=\"%lld\" width=\"%d\" height=\"%d\" fill-opacity=\"%.3f\"/>\n",
        (long long)x, (long long)y, CELL_WIDTH - 1, CELL_HEIGHT - 1,
        LEAST_HEAT + (1 - LEAST_HEAT) * (double)at / 255);
    const picture_font large = {ink, "middle", 14, false}, small = {ink, "middle", 11, false};
    x += CELL_WIDTH / 2;
    if (cost->cycles == 0) {
        picture_text(out, x, y + 20, &large, "-");
        return;
    }
    picture_text(out, x, y + 20, &large, "%lld.%02lld&#215;", (long long)ratio / 100, (long long)ratio % 100);
    picture_text(out, x, y + 37, &small, "%s, %s",
                 picture_microseconds(out->arena, ts_machine_microseconds(m->machine, cost->cycles)),
                 ts_dma_kind_text(cost->transfer.kind));
}

static int64_t label_width(const ts_transfer_matrix *m, ts_arena *arena) {
    size_t longest = 0;
    for (int i = 0; i < m->list.count; i++) {
        size_t length = strlen(matrix_layout_text(arena, m->list.shapes[i]));
        longest = length > longest ? length : longest;
    }
    return (int64_t)(longest + 3) * LETTER_WIDTH;
}

static void add_labels(ts_text *out, const ts_transfer_matrix *m, int64_t left) {
    for (int i = 0; i < m->list.count; i++) {
        const char *layout = matrix_layout_text(out->arena, m->list.shapes[i]);
        picture_text(out, left - 8, TITLE + i * CELL_HEIGHT + CELL_HEIGHT / 2 + 5,
                     &(picture_font){NULL, "end", 13, false}, "%s  %c", ts_text_escaped(out->arena, layout),
                     'A' + i);
        picture_text(out, left + i * CELL_WIDTH + CELL_WIDTH / 2, TITLE - 8,
                     &(picture_font){NULL, "middle", 13, false}, "%c", 'A' + i);
    }
}

static const char *title_of(const ts_transfer_matrix *m, ts_arena *arena) {
    return ts_text_format(
        arena, "%s on %s: from a layout (rows) to another (columns), in straight copies of A",
        matrix_array_text(arena, m->list.shapes[0]), ts_report_machine_name(arena, m->machine));
}

/* Of the cells, and of the texts above and below them. */
static int64_t width_of(const ts_transfer_matrix *m, int64_t left, const char *title, const ts_text *foot) {
    int64_t cells = left + m->list.count * CELL_WIDTH,
            above = MARGIN + LETTER_WIDTH * ts_text_characters(title),
            below = left + FOOT_LETTER_WIDTH * (int64_t)foot->length;
    return MARGIN + ts_max(cells, ts_max(above, below));
}

void ts_report_matrix_svg(const ts_transfer_matrix *m, ts_text *out) {
    int64_t left = MARGIN + label_width(m, out->arena), most = dearest(m),
            height = TITLE + m->list.count * CELL_HEIGHT + FOOT;
    const char *title = title_of(m, out->arena);
    ts_text foot = ts_text_begin(out->arena);
    ts_text_add(&foot, "1&#215; is %.3f us; the fuller, the dearer (log scale, up to %lld.%02lld&#215;)",
                ts_machine_microseconds(m->machine, m->copy_cycles), (long long)most / 100,
                (long long)most % 100);
    if (matrix_is_estimated(m)) ts_text_add(&foot, "; ~ sampled or extended");
    picture_begin(out, width_of(m, left, title, &foot), height, NULL);
    picture_text(out, MARGIN, 24, &(picture_font){.pixels = 15}, "%s", ts_text_escaped(out->arena, title));
    add_labels(out, m, left);
    for (int i = 0; i < m->list.count * m->list.count; i++)
        add_cell(out, m, i / m->list.count, i % m->list.count, left, most);
    picture_text(out, left, height - 14, &(picture_font){.class = "soft"}, "%s", foot.bytes);
    picture_end(out);
}
