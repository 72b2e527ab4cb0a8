/* Bytes over each link of a resharding, drawn on the torus: the last two dims as a plane of chips, the others
 * as planes beside each other. */
#include <inttypes.h>

#include "page.h"
#include "picture.h"
#include "report/reshard.h"

enum { MOST_CHIPS = 512, STEP = 64, CHIP = 26, LEFT = 40, TOP = 70, APART = 56 };

typedef struct {
    const ts_reshard_report *r;
    ts_text *out;
    int rows, columns; /* the dims that make a plane; -1: there is none */
    int64_t across;    /* planes in a line */
    int64_t most;      /* bytes over the busiest link */
} drawing;

static int64_t extent(const drawing *d, int dim) { return dim < 0 ? 1 : d->r->mesh.dims[dim]; }

static int64_t planes(const drawing *d) {
    return d->r->mesh.chip_count / extent(d, d->rows) / extent(d, d->columns);
}

static int64_t coordinate(const drawing *d, int64_t chip, int dim) {
    return dim < 0 ? 0 : d->r->mesh.coordinates[chip * d->r->mesh.dim_count + dim];
}

/* The middle of a chip. */
static void find_position(const drawing *d, int64_t chip, int64_t at[2]) {
    int64_t plane = chip / extent(d, d->rows) / extent(d, d->columns);
    int64_t wide = extent(d, d->columns) * STEP + APART, high = extent(d, d->rows) * STEP + APART;
    at[0] = LEFT + plane % d->across * wide + coordinate(d, chip, d->columns) * STEP + STEP / 2;
    at[1] = TOP + plane / d->across * high + coordinate(d, chip, d->rows) * STEP + STEP / 2;
}

/* An arrow from a chip in the direction of its link, to the edge of the next, or out of the plane: of a
 * ring's last chips, and of dims that are not in the plane, half as long. */
/* From x, y and by dx, dy from there, seen from the middle of its chip. */
typedef struct {
    int64_t x, y, dx, dy;
} arrow;

static arrow arrow_of(const drawing *d, int64_t link) {
    const ts_mesh *mesh = &d->r->mesh;
    int dim = (int)(link % (2 * mesh->dim_count)) / 2, up = link % 2 == 0;
    int64_t chip = link / (2 * mesh->dim_count);
    bool sideways = dim == d->columns, downwards = dim == d->rows, inside = sideways || downwards;
    bool wraps =
        inside && (up ? coordinate(d, chip, dim) + 1 == mesh->dims[dim] : coordinate(d, chip, dim) == 0);
    int way = up ? 1 : -1, from = CHIP / 2, to = wraps ? CHIP / 2 + 12 : STEP - CHIP / 2 - 2;
    if (!inside) return (arrow){way * CHIP / 2, -way * CHIP / 2, way * 9, -way * 9};
    arrow found = {way * (sideways ? from : 0), way * (downwards ? from : 0),
                   way * (sideways ? to - from : 0), way * (downwards ? to - from : 0)};
    if (sideways) found.y = -3 * way; /* both ways beside each other */
    if (downwards) found.x = 3 * way;
    return found;
}

static void add_link(const drawing *d, int64_t link) {
    const ts_mesh *mesh = &d->r->mesh;
    int64_t at[2], bytes = ts_reshard_report_link_bytes(d->r, link);
    arrow drawn = arrow_of(d, link);
    find_position(d, link / (2 * mesh->dim_count), at);
    double share = d->most > 0 ? (double)bytes / (double)d->most : 0;
    ts_text_add(d->out,
                "<path d=\"M%" PRId64 " %" PRId64 "l%" PRId64 " %" PRId64
                "\" stroke=\"%s\" stroke-width=\"%.1f\" "
                "stroke-opacity=\"%.2f\" marker-end=\"url(#tip)\"%s><title>",
                at[0] + drawn.x, at[1] + drawn.y, drawn.dx, drawn.dy, bytes > 0 ? "hsl(12,80%,50%)" : "#999",
                1 + 2.5 * share, bytes > 0 ? 0.25 + 0.75 * share : 0.35,
                ts_mesh_has_link(mesh, link) ? "" : " stroke-dasharray=\"2 3\"");
    ts_text_add(d->out, "%s: %s%s</title></path>\n",
                ts_text_escaped(d->out->arena, ts_mesh_link_text(d->out->arena, mesh, link)),
                ts_report_size(d->out->arena, (double)bytes), ts_mesh_has_link(mesh, link) ? "" : ", failed");
}

/* Of a line no link leads on from its ends. */
static bool is_there(const ts_mesh *mesh, int64_t link) {
    return ts_mesh_has_link(mesh, link) || (mesh->failed && mesh->failed[link]);
}

static void add_chip(const drawing *d, int64_t chip) {
    static const picture_font font = {.class = "cell", .anchor = "middle", .pixels = 10};
    int64_t at[2];
    find_position(d, chip, at);
    ts_text_add(d->out,
                "<rect class=\"edge\" x=\"%" PRId64 "\" y=\"%" PRId64
                "\" width=\"%d\" height=\"%d\" rx=\"4\" fill=\"hsl(210,50%%,88%%)\"/>",
                at[0] - CHIP / 2, at[1] - CHIP / 2, CHIP, CHIP);
    picture_text(d->out, at[0], at[1] + 4, &font, "%" PRId64, chip);
}

static drawing drawing_of(const ts_reshard_report *r, ts_text *out) {
    const ts_mesh *mesh = &r->mesh;
    drawing d = {.r = r, .out = out, .rows = mesh->dim_count - 2, .columns = mesh->dim_count - 1};
    while (d.across * d.across < planes(&d)) d.across++;
    for (int64_t link = 0; link < ts_mesh_link_count(mesh); link++)
        if (ts_reshard_report_link_bytes(r, link) > d.most) d.most = ts_reshard_report_link_bytes(r, link);
    return d;
}

void ts_report_reshard_svg(const ts_reshard_report *r, ts_text *out) {
    static const picture_font bold = {.anchor = "start", .pixels = 13, .bold = true},
                              font = {.anchor = "start", .pixels = 11};
    drawing d = drawing_of(r, out);
    bool small = r->mesh.chip_count <= MOST_CHIPS;
    int64_t down = (planes(&d) + d.across - 1) / d.across;
    int64_t width = LEFT + d.across * (extent(&d, d.columns) * STEP + APART);
    picture_begin(out, width < 460 || !small ? 460 : width,
                  TOP + (small ? down * (extent(&d, d.rows) * STEP + APART) : 0), NULL);
    ts_text_add(out, "<defs><marker id=\"tip\" viewBox=\"0 0 6 6\" refX=\"5\" refY=\"3\" markerWidth=\"4\" "
                     "markerHeight=\"4\" orient=\"auto\"><path d=\"M0 0L6 3L0 6z\" fill=\"#e5532d\"/>"
                     "</marker></defs>\n");
    picture_text(out, 8, 20, &bold, "Bytes over each link, %.2f us", r->plan.ps / 1e6);
    picture_text(out, 8, 40, &font,
                 small ? "the thicker the more; the busiest has %s; what leaves a plane is short"
                       : "the busiest has %s; too many chips to draw",
                 ts_report_size(out->arena, (double)d.most));
    for (int64_t link = 0; small && link < ts_mesh_link_count(&r->mesh); link++)
        if (is_there(&r->mesh, link)) add_link(&d, link);
    for (int64_t chip = 0; small && chip < r->mesh.chip_count; chip++) add_chip(&d, chip);
    picture_end(out);
}

static void add_steps(page *p, const ts_reshard_report *r) {
    static const page_column columns[] = {{"step", true},   {"collective", false}, {"algorithm", false},
                                          {"rounds", true}, {"sent", true},        {"busiest link", true},
                                          {"us", true},     {"bound, us", true}};
    page_listing(p, NULL, columns, sizeof columns / sizeof *columns);
    for (int i = 0; i < r->plan.count; i++) {
        const ts_collective *c = &r->plan.collectives[i];
        const ts_collective_price *price = &r->plan.prices[i];
        page_row(p);
        page_number(p, i + 1, "%d", i + 1);
        page_cell(p, "%s", ts_collective_name(c->kind));
        page_cell(p, "%s", c->kind == TS_COLLECTIVE_SLICE ? "" : ts_algorithm_name(c->algorithm));
        page_integer(p, price->steps);
        page_number(p, (double)price->sent_bytes, "%s",
                    ts_report_size(p->out->arena, (double)price->sent_bytes));
        page_number(p, (double)price->link_bytes, "%s",
                    ts_report_size(p->out->arena, (double)price->link_bytes));
        page_number(p, price->ps, "%.2f", price->ps / 1e6);
        page_number(p, price->bound_ps, "%.2f", price->bound_ps / 1e6);
    }
    page_table_end(p);
}

/* "f32[8,8]{1,0} S[..] to S[..]". */
static const char *subject_of(const ts_reshard_report *r, ts_arena *arena) {
    return ts_text_format(arena, "%s %s to %s", ts_shape_text(arena, r->source.shape),
                          ts_sharding_axe_text(arena, &r->mesh, &r->source),
                          ts_sharding_axe_text(arena, &r->mesh, &r->destination));
}

void ts_report_reshard_html(const ts_reshard_report *r, ts_text *out) {
    page p;
    ts_text svg = ts_text_begin(out->arena);
    ts_text text = ts_text_begin(out->arena);
    page_begin(&p, out, "Resharding", subject_of(r, out->arena), r->machine);
    page_section(&p, "Steps");
    add_steps(&p, r);
    page_section(&p, "Links");
    ts_report_reshard_svg(r, &svg);
    page_picture(&p, "Bytes over each link between chips", &svg);
    page_section(&p, "Report");
    ts_report_reshard(r, &text);
    page_text(&p, &text);
    page_end(&p);
}
