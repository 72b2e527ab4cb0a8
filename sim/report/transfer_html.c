/* A transfer as a page. */
#include "transfer_private.h"
#include "report/layout.h"

static void add_facts(const ts_transfer_study *s, page *p) {
    ts_arena *arena = p->out->arena;
    const ts_dma_result *r = &s->cost.transfer;
    const char *about = s->cost.estimated ? "~" : "";
    double all = (double)(r->src_bytes + r->dst_bytes),
           microseconds = ts_machine_microseconds(s->machine, s->cost.cycles),
           unused = all > 0 ? 100 * (double)(r->padding_bytes + r->waste_bytes) / all : 0;
    const page_fact facts[] = {
        {"time", ts_text_format(arena, "%s%.3f us", about, microseconds)},
        {"cycles", ts_text_format(arena, "%s%s", about, ts_text_grouped(arena, s->cost.cycles))},
        {"useful data", ts_text_format(arena, "%.1f GB/s", report_gb_per_second(s))},
        {"of the HBM's peak", ts_text_format(arena, "%.1f %%", report_peak_share(s))},
        {"of the bytes moved nobody needs", ts_text_format(arena, "%.1f %%", unused)},
        {"limited by", s->cost.limiter}};
    page_facts(p, facts, sizeof facts / sizeof *facts);
}

static void add_bar(const ts_transfer_study *s, page *p) {
    page_part parts[TS_DMA_COMPONENT_COUNT];
    for (int i = 0; i < TS_DMA_COMPONENT_COUNT; i++) {
        parts[i].kind = 0;
        parts[i].label = report_part_label(p->out->arena, s, (ts_dma_component)i);
        parts[i].value = (double)s->cost.components[i];
        parts[i].text = ts_text_grouped(p->out->arena, s->cost.components[i]);
    }
    page_section(p, "Where the cycles go");
    page_bar(p, "Cycles of the transfer by cause", parts, TS_DMA_COMPONENT_COUNT);
    page_legend(p, parts, TS_DMA_COMPONENT_COUNT);
}

void report_transfer_sections(const ts_transfer_study *s, page *p) {
    ts_text boxes = ts_text_begin(p->out->arena);
    add_bar(s, p);
    page_section(p, "The plan");
    if (s->by.program)
        page_paragraph(p, "The engine cannot do it: a program of the core does, %s %s.", s->by.program,
                       s->by.parameters);
    else if (s->plan->gathers)
        page_paragraph(p, "Element by element: %s.", s->plan->why_gather);
    report_add_boxes(s->plan, &boxes);
    page_text(p, &boxes);
}

static void add_others(const ts_transfer_study *s, const ts_transfer_others *others, const char *caption,
                       page *p) {
    static const page_column headings[] = {
        {"layout", false}, {"cycles", true}, {"us", true}, {"against this", true}};
    if (others->count == 0) return;
    page_table(p, caption, headings, 4);
    for (int i = 0; i < others->count; i++) {
        const ts_transfer_other *other = &others->others[i];
        page_row(p);
        page_code(p, ts_shape_text(p->out->arena, other->shape));
        page_number(p, (double)other->cycles, "%s%s", other->estimated ? "~" : "",
                    ts_text_grouped(p->out->arena, other->cycles));
        page_number(p, (double)other->cycles, "%.3f", ts_machine_microseconds(s->machine, other->cycles));
        page_number(p, (double)other->cycles, "%+.1f %%",
                    100 * ((double)other->cycles / (double)(s->cost.cycles > 0 ? s->cost.cycles : 1) - 1));
    }
    page_table_end(p);
}

void ts_report_transfer_html(const ts_transfer_study *s, const ts_transfer_others others[2], ts_text *out) {
    const ts_shape *shapes[2] = {s->src.shape, s->dst.shape};
    page p;
    ts_text svg = ts_text_begin(out->arena);
    page_begin(&p, out, "A transfer",
               ts_text_format(out->arena, "%s to %s", ts_transfer_end_text(out->arena, &s->src),
                              ts_transfer_end_text(out->arena, &s->dst)),
               s->machine);
    add_facts(s, &p);
    report_transfer_sections(s, &p);
    if (others) {
        page_section(&p, "Other layouts");
        add_others(s, &others[0], "of the source", &p);
        add_others(s, &others[1], "of the destination", &p);
    }
    page_section(&p, "Both layouts");
    ts_report_svg(out->arena, 2, shapes, &svg);
    page_picture(&p, NULL, &svg);
    page_end(&p);
}
