/* The picture of a relayout: the first vregs of both sides, row by row of what a sublane holds, each position
 * in the colour of the vreg that the element comes from. */
#include "report/relayout.h"

#include <assert.h>
#include <inttypes.h>
#include <string.h>

#include "page.h"
#include "picture.h"
#include "base/number.h"

enum {
    MOST_SHOWN = 6, /* vregs of a side */
    VREG_WIDTH = 2 * TS_LANES,
    VREG_HEIGHT = 64,
    LABEL = 18,
    GAP = 10,
    MARGIN = 16,
    TITLE = 44,
    BETWEEN = 56,
    PADDING = -1
};

/* A side of a relayout. What all positions along a dim hold alike is drawn as if it were one. */
typedef struct {
    const char *title;
    const ts_layout *layout;
    const ts_vpad *vpad;
    int64_t vregs;
} side;

typedef struct {
    ts_arena *scratch;
    ts_text *out;
    side sides[2];
    const side *shown;
    int64_t x, y;
    int64_t first[TS_LAYOUT_MAX_DIMS]; /* element of the vreg that is drawn */
    bool has_first;
} drawing;

static int packing_of(const drawing *d) { return (int)ts_vpad_packing(d->shown->vpad); }

static bool make_side(ts_error *err, ts_arena *arena, const ts_relayout_request *r, const ts_vpad *v,
                      side *out) {
    int64_t dims[TS_LAYOUT_MAX_DIMS];
    for (int i = 0; i < r->rank; i++) dims[i] = ts_vpad_is_replicated(v, r->rank - 1 - i) ? 1 : r->dims[i];
    out->vpad = v;
    out->layout = ts_vpad_layout(err, arena, v, r->rank, dims);
    return out->layout != NULL;
}

/* The source's vreg that has the element at a position, or padding. */
static int64_t find_vreg(drawing *d, int64_t vreg, int row, int lane) {
    const int64_t position[] = {vreg, row / packing_of(d), lane, row % packing_of(d)};
    const ts_layout *source = d->sides[0].layout;
    int64_t at[4];
    ts_index_list found;
    ts_arena_reset(d->scratch);
    bool one = ts_layout_backward(NULL, d->scratch, d->shown->layout, position, 1, &found);
    assert(one);
    if (found.count == 0) return PADDING;
    if (!d->has_first || ts_row_is_before(found.indices, d->first, source->rank))
        memcpy(d->first, found.indices, (size_t)source->rank * sizeof d->first[0]);
    d->has_first = true;
    for (int i = 0; i < source->rank; i++)
        if (found.indices[i] >= source->dims[i]) found.indices[i] = 0;
    ts_layout_forward(source, found.indices, at);
    return at[0];
}

static void add_run(const drawing *d, int row, int lane, int count, int64_t from) {
    double height = (double)VREG_HEIGHT / (TS_SUBLANES * packing_of(d));
    ts_text_add(d->out, "<rect x=\"%" PRId64 "\" y=\"%.1f\" width=\"%d\" height=\"%.1f\" ", d->x + 2 * lane,
                (double)d->y + row * height, 2 * count, height);
    if (from == PADDING)
        ts_text_add(d->out, "fill=\"url(#padding)\"/>\n");
    else
        ts_text_add(d->out, "fill=\"hsl(%" PRId64 ",60%%,%d%%)\"/>\n", (210 + from * 67) % 360,
                    72 - 6 * (int)(from / 5 % 3));
}

static void add_row(drawing *d, int64_t vreg, int row) {
    int64_t before = PADDING;
    int begin = 0;
    for (int lane = 0; lane < TS_LANES; lane++) {
        int64_t from = find_vreg(d, vreg, row, lane);
        if (lane > 0 && from != before) add_run(d, row, begin, lane - begin, before), begin = lane;
        before = from;
    }
    add_run(d, row, begin, TS_LANES - begin, before);
}

static void add_vreg(drawing *d, int64_t vreg) {
    d->has_first = false;
    d->y += LABEL;
    for (int row = 0; row < TS_SUBLANES * packing_of(d); row++) add_row(d, vreg, row);
    ts_text_add(d->out,
                "<rect class=\"edge\" x=\"%" PRId64 "\" y=\"%" PRId64
                "\" width=\"%d\" height=\"%d\" fill=\"none\"/>\n",
                d->x, d->y, VREG_WIDTH, VREG_HEIGHT);
    ts_text first = ts_text_begin(d->out->arena);
    if (d->has_first) ts_text_add(&first, ", first element ");
    if (d->has_first) ts_text_add_tuple(&first, d->first, d->shown->layout->rank);
    picture_text(d->out, d->x, d->y - 5, &(picture_font){NULL, "start", 12, false}, "vreg %" PRId64 "%s",
                 vreg, first.bytes);
    d->y += VREG_HEIGHT + GAP;
}

static int64_t shown_of(const side *s) { return ts_min(s->vregs, MOST_SHOWN); }

static void add_side(drawing *d, int which) {
    d->shown = &d->sides[which];
    d->x = MARGIN + which * (VREG_WIDTH + BETWEEN), d->y = TITLE;
    picture_text(d->out, d->x, TITLE - 12, &(picture_font){NULL, "start", 13, true}, "%s, %s",
                 d->shown->title, ts_text_counted(d->out->arena, d->shown->vregs, "vreg"));
    for (int64_t i = 0; i < shown_of(d->shown); i++) add_vreg(d, i);
    if (d->shown->vregs <= MOST_SHOWN) return;
    picture_text(d->out, d->x, d->y + 12, &(picture_font){"soft", "start", 12, false}, "and %" PRId64 " more",
                 d->shown->vregs - MOST_SHOWN);
}

bool ts_report_relayout_svg(ts_error *err, const ts_relayout_price *price, ts_text *out) {
    const ts_relayout_request *r = &price->request;
    drawing d = {.out = out};
    if (!make_side(err, out->arena, r, &r->from, &d.sides[0]) ||
        !make_side(err, out->arena, r, &r->to, &d.sides[1]))
        return false;
    d.sides[0].title = "from", d.sides[0].vregs = price->plan.sources;
    d.sides[1].title = "to", d.sides[1].vregs = price->plan.results;
    int64_t most = ts_max(shown_of(&d.sides[0]), shown_of(&d.sides[1]));
    d.scratch = ts_arena_new();
    picture_begin(out, 2 * MARGIN + 2 * VREG_WIDTH + BETWEEN,
                  TITLE + most * (LABEL + VREG_HEIGHT + GAP) + MARGIN + LABEL, NULL);
    add_side(&d, 0);
    add_side(&d, 1);
    picture_end(out);
    ts_arena_free(d.scratch);
    return true;
}

/* ---- The page ---- */

static void add_facts(const ts_relayout_price *price, page *p) {
    ts_arena *arena = p->out->arena;
    const ts_relayout *plan = &price->plan;
    const page_fact facts[] = {
        {"vregs", ts_text_format(arena, "%" PRId64 " to %" PRId64, plan->sources, plan->results)},
        {"ops", ts_text_format(arena, "%d", plan->op_count)},
        {"ops when those that are the same are merged", ts_text_format(arena, "%d", plan->kept_count)},
        {"cycles more than to load and store the vregs",
         price->unpriced != NULL ? price->unpriced : ts_text_format(arena, "%" PRId64, price->cycles)}};
    page_facts(p, facts, sizeof facts / sizeof *facts);
}

static void add_ops(const ts_relayout *plan, page *p) {
    static const page_column headings[] = {{"op", false}, {"count", true}};
    page_section(p, "Ops");
    page_table(p, plan->steps.bytes, headings, 2);
    for (int i = 0; i < TS_RELAYOUT_OPS; i++) {
        if (plan->counts[i] == 0) continue;
        page_row(p);
        page_code(p, ts_relayout_op_name((ts_relayout_kind)i));
        page_integer(p, plan->counts[i]);
    }
    page_table_end(p);
}

bool ts_report_relayout_html(ts_error *err, const ts_relayout_price_request *r,
                             const ts_relayout_price *price, ts_text *out) {
    ts_text svg = ts_text_begin(out->arena);
    page p;
    const char *subject = ts_text_format(out->arena, "%s to %s", ts_shape_text(out->arena, r->from),
                                         ts_shape_text(out->arena, r->to));
    if (!ts_report_relayout_svg(err, price, &svg)) return false;
    page_begin(&p, out, "A relayout", subject, r->machine);
    add_facts(price, &p);
    page_section(&p, "Where elements go");
    page_picture(&p,
                 "Each row is one of a sublane; the colour is the vreg that the element comes from; hatched "
                 "is padding.",
                 &svg);
    add_ops(&price->plan, &p);
    page_end(&p);
    return true;
}
