/* Layouts as pages: one, and two side by side. */
#include <inttypes.h>

#include "padding.h"
#include "transfer_private.h"
#include "report/layout.h"
#include "report/machine.h"

static void add_facts(const ts_shape *shape, page *p) {
    ts_arena *arena = p->out->arena;
    int64_t data = shape->unpadded_bytes, all = shape->storage_bytes, replicas = report_replica_bytes(shape);
    const page_fact facts[] = {
        {"bytes of data", ts_text_grouped(arena, data)},
        {"bytes with padding", ts_text_grouped(arena, all)},
        {"padding", ts_text_format(arena, "%.1f %%", report_padding_percent(data + replicas, all))},
        {"expansion", report_expansion_text(arena, data, all, 2)},
        {"replicas", ts_text_format(arena, "%.1f %%", ts_percent(replicas, all))}};
    page_facts(p, facts, replicas > 0 ? 5 : 4);
}

static bool has_replicas(int count, const ts_shape *const *shapes) {
    bool found = false;
    for (int i = 0; i < count; i++) found = found || report_replica_bytes(shapes[i]) > 0;
    return found;
}

static void add_image(ts_arena *arena, int count, const ts_shape *const *shapes, page *p) {
    ts_text svg = ts_text_begin(arena);
    ts_report_svg(arena, count, shapes, &svg);
    page_section(p, count > 1 ? "Pictures" : "Picture");
    page_picture(p,
                 has_replicas(count, shapes)
                     ? "Cells of one tile have one colour; hatched is padding, in dashes are replicas."
                     : "Cells of one tile have one colour; hatched is padding.",
                 &svg);
}

static void add_digits(ts_arena *arena, const ts_layout *layout, page *p) {
    static const page_column headings[] = {
        {"digit", true}, {"extent", true}, {"stride", true}, {"axis", false}, {"value", false}};
    ts_layout_anatomy anatomy;
    ts_layout_dissect(arena, layout, &anatomy);
    page_section(p, "From the index to memory");
    page_table(p, "The place of an element is the sum of its digits, each times its stride.", headings, 5);
    for (int i = 0; i < layout->digit_count; i++) {
        page_row(p);
        page_integer(p, i);
        page_integer(p, layout->digits[i].extent);
        page_integer(p, layout->digits[i].stride);
        page_cell(p, "%s", layout->axes[layout->digits[i].axis].name);
        page_code(p, anatomy.values[i]);
    }
    page_table_end(p);
}

void ts_report_shape_html(ts_arena *arena, const ts_shape *shape, ts_text *out) {
    page p;
    page_begin(&p, out, "A layout", ts_shape_text(arena, shape), NULL);
    add_facts(shape, &p);
    add_image(arena, 1, &shape, &p);
    add_digits(arena, shape->layout, &p);
    page_end(&p);
}

static void add_side(const ts_layout_pair *pair, int side, page *p) {
    const ts_shape *shape = pair->shapes[side];
    double percent = report_padding_percent(report_held_bytes(shape), shape->storage_bytes);
    page_row(p);
    page_code(p, ts_shape_text(p->out->arena, shape));
    page_count(p, shape->storage_bytes);
    page_number(p, percent, "%.1f %%", percent);
    page_cell(p, "%s", pair->index ? report_point_text(p->out->arena, shape->layout, pair->index) : "");
}

void ts_report_layout_pair_html(ts_arena *arena, const ts_layout_pair *pair, ts_text *out) {
    const page_column headings[] = {
        {"layout", false}, {"bytes", true}, {"padding", true}, {report_element_heading(pair, arena), false}};
    page p;
    const char *subject = ts_text_format(arena, "%s and %s", ts_shape_text(arena, pair->shapes[0]),
                                         ts_shape_text(arena, pair->shapes[1]));
    page_begin(&p, out, "Two layouts", subject, pair->study ? pair->study->machine : NULL);
    page_section(&p, "Side by side");
    page_table(&p, NULL, headings, 4);
    for (int i = 0; i < 2; i++) add_side(pair, i, &p);
    page_table_end(&p);
    add_image(arena, 2, pair->shapes, &p);
    if (pair->study) {
        report_transfer_sections(pair->study, &p);
        if (pair->study->cost.estimated) page_paragraph(&p, "Cycles are %s.", REPORT_ESTIMATED);
    } else {
        page_section(&p, "From the first to the second");
        page_paragraph(&p, "Cannot be priced: %s.", pair->why);
    }
    page_end(&p);
}
