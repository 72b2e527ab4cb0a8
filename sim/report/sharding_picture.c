/* Which device holds what: the blocks of the last two dims as a grid, as text, SVG and a page; and a row a
 * device. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "page.h"
#include "picture.h"
#include "base/number.h"
#include "report/machine.h"
#include "report/reshard.h"

enum { MOST_BLOCKS = 16, MOST_ROWS = 64, MOST_LOOKS = 1 << 22, NAME = 48 };

/* Blocks that no digit cuts; of more than MOST_BLOCKS in a dim the first. */
typedef struct {
    const ts_mesh *mesh;
    const ts_sharding *s;
    int dims[2]; /* rows and columns; -1: there is no such dim */
    int64_t unit[2], count[2], all[2];
} picture;

static picture picture_of(const ts_mesh *mesh, const ts_sharding *s) {
    picture p = {.mesh = mesh, .s = s, .dims = {s->rank - 2, s->rank - 1}};
    for (int i = 0; i < 2; i++) {
        p.unit[i] = p.count[i] = p.all[i] = 1;
        if (p.dims[i] < 0) {
            p.dims[i] = -1;
            continue;
        }
        p.unit[i] = ts_sharding_run(s, p.dims[i]);
        p.all[i] = ts_ceil_div(s->dims[p.dims[i]], p.unit[i]);
        p.count[i] = ts_min(p.all[i], MOST_BLOCKS);
    }
    return p;
}

/* "0-3", "0,4", and of partial sums "0,1 + 2,3"; the first that holds it. */
static int64_t holders(const picture *p, int64_t row, int64_t column, char out[NAME]) {
    int64_t index[TS_LAYOUT_MAX_DIMS] = {0}, first = -1, last = -2, run = -1;
    size_t at = 0;
    if (p->dims[0] >= 0) index[p->dims[0]] = row * p->unit[0];
    if (p->dims[1] >= 0) index[p->dims[1]] = column * p->unit[1];
    for (int64_t device = 0; device < p->mesh->device_count && at + 12 < NAME; device++) {
        if (!ts_sharding_holds(p->s, index, device)) continue;
        bool sum = last >= 0 && ts_sharding_addend(p->s, last) != ts_sharding_addend(p->s, device);
        if (first < 0) first = device;
        if (device == last + 1 && !sum) {
            at = (size_t)run;
            at += (size_t)snprintf(out + at, NAME - at, "-%" PRId64, device);
        } else {
            at += (size_t)snprintf(out + at, NAME - at, "%s%" PRId64,
                                   last < 0 ? ""
                                   : sum    ? " + "
                                            : ",",
                                   device);
            run = (int64_t)at;
        }
        last = device;
    }
    if (at + 12 >= NAME) snprintf(out + (at < NAME - 3 ? at : NAME - 3), 3, "..");
    return first;
}

static void range_text(const picture *p, int side, int64_t block, char out[NAME]) {
    int64_t begin = block * p->unit[side], end = begin + p->unit[side];
    if (p->dims[side] >= 0 && end > p->s->dims[p->dims[side]]) end = p->s->dims[p->dims[side]];
    if (p->dims[side] < 0)
        out[0] = '\0';
    else if (end == begin + 1)
        snprintf(out, NAME, "%" PRId64, begin);
    else
        snprintf(out, NAME, "%" PRId64 "-%" PRId64, begin, end - 1);
}

static bool can_draw(const picture *p) {
    return p->count[0] * p->count[1] * p->mesh->device_count <= MOST_LOOKS && p->count[0] > 0 &&
           p->count[1] > 0;
}

/* ---- Text ---- */

static void add_line(const picture *p, int64_t row, ts_text *out, int width, int64_t columns) {
    char text[NAME];
    if (row < 0)
        snprintf(text, NAME, "%s", "");
    else
        range_text(p, 0, row, text);
    ts_text_add(out, "%-13s", text);
    for (int64_t column = 0; column < columns; column++) {
        if (row < 0)
            range_text(p, 1, column, text);
        else
            (void)holders(p, row, column, text);
        ts_text_add(out, " %*s", width, text);
    }
    ts_text_add_char(out, '\n');
}

/* Letters of a column: of its heading, and of who holds its blocks. */
static int column_width(const picture *p) {
    size_t width = 5;
    char text[NAME];
    for (int64_t i = 0; i < p->count[0] * p->count[1]; i++) {
        (void)holders(p, i / p->count[1], i % p->count[1], text);
        if (strlen(text) > width) width = strlen(text);
        range_text(p, 1, i % p->count[1], text);
        if (strlen(text) > width) width = strlen(text);
    }
    return (int)width;
}

static void add_grid(const picture *p, ts_text *out) {
    int width = column_width(p);
    int64_t columns = ts_min(86 / (width + 1), p->count[1]);
    ts_text_add(out, "\ndevices that hold each block of ");
    if (p->dims[0] >= 0)
        ts_text_add(out, "dims %d and %d", p->dims[0], p->dims[1]);
    else
        ts_text_add(out, "dim 0");
    ts_text_add(out, "%s\n", p->s->rank > 2 ? ", of the first index in the others" : "");
    for (int64_t row = -1; row < p->count[0]; row++) add_line(p, row, out, width, columns);
    if (columns < p->all[1] || p->count[0] < p->all[0])
        ts_text_add(out, "and so on: %" PRId64 " x %" PRId64 " blocks\n", p->all[0], p->all[1]);
}

/* The digit of a dim with the largest weight under `below`, or NULL. Those of one value cut nothing. */
static const ts_mesh_digit *widest_digit(const ts_sharding *s, int dim, int64_t below) {
    const ts_mesh_digit *widest = NULL;
    for (int i = 0; i < s->digit_count; i++) {
        const ts_mesh_digit *digit = &s->digits[i];
        bool cuts = digit->kind == TS_DIGIT_SHARD && digit->dim == dim && digit->extent > 1;
        if (cuts && digit->weight < below && (!widest || digit->weight > widest->weight)) widest = digit;
    }
    return widest;
}

/* What a device holds of a dim: runs of `unit`, of which the last may be cut. */
typedef struct {
    const ts_sharding *s;
    int dim;
    int64_t device, first, unit;
} held_runs;

/* Indices under `end` that the digits with weights under `below` give to the device. */
static int64_t count_held(const held_runs *h, int64_t end, int64_t below) {
    const ts_mesh_digit *digit = widest_digit(h->s, h->dim, below);
    if (!digit || end == 0) return end;
    int64_t weight = digit->weight, own = h->device / digit->stride % digit->extent, blocks = end / weight,
            whole = blocks / digit->extent + (blocks % digit->extent > own);
    int64_t held = whole > 0 ? whole * count_held(h, weight, weight) : 0;
    return blocks % digit->extent == own ? held + count_held(h, end % weight, weight) : held;
}

/* "0-3", of several runs the first and how many. */
static const char *held_text(ts_arena *arena, const ts_sharding *s, int dim, int64_t device) {
    int64_t extent = s->dims[dim], below = INT64_MAX;
    held_runs h = {s, dim, device, 0, extent};
    for (const ts_mesh_digit *digit; (digit = widest_digit(s, dim, below)) != NULL; below = digit->weight) {
        h.unit = digit->weight;
        h.first += device / digit->stride % digit->extent * digit->weight;
    }
    int64_t held = count_held(&h, extent, INT64_MAX), end = h.first + ts_min(h.unit, extent - h.first);
    if (held == 0) return "none";
    if (held <= h.unit) return ts_text_format(arena, "%" PRId64 "-%" PRId64, h.first, end - 1);
    return ts_text_format(arena, "%" PRId64 "-%" PRId64 " and %" PRId64 " more", h.first, end - 1,
                          (held - 1) / h.unit);
}

static void add_devices(const picture *p, ts_text *out) {
    int width = p->s->rank > 0 ? 12 : 0; /* of what is followed by others */
    ts_text_add(out, "\n%-8s %-*s", "device", width, "chip");
    for (int d = 0; d < p->s->rank; d++) ts_text_add(out, d + 1 < p->s->rank ? " dim %-14d" : " dim %d", d);
    ts_text_add_char(out, '\n');
    for (int64_t device = 0; device < p->mesh->device_count && device < MOST_ROWS; device++) {
        ts_text_add(out, "%-8" PRId64 " %-*s", device, width,
                    ts_mesh_chip_text(out->arena, p->mesh, ts_mesh_chip(p->mesh, device)));
        for (int d = 0; d < p->s->rank; d++)
            ts_text_add(out, d + 1 < p->s->rank ? " %-18s" : " %s", held_text(out->arena, p->s, d, device));
        ts_text_add_char(out, '\n');
    }
    if (p->mesh->device_count > MOST_ROWS)
        ts_text_add(out, "and so on: %" PRId64 " devices\n", p->mesh->device_count);
}

void ts_report_sharding(const ts_mesh *mesh, const ts_sharding *s, ts_text *out) {
    picture p = picture_of(mesh, s);
    ts_text_add(out, "array         %s\n", ts_shape_text(out->arena, s->shape));
    ts_report_machine_line("machine       ", mesh->machine, out);
    ts_report_mesh_lines(mesh, out);
    ts_report_sharding_lines("sharding", mesh, s, out);
    ts_text_wrap(out, TS_TEXT_COLUMNS);
    if (p.dims[1] >= 0 && can_draw(&p)) add_grid(&p, out);
    add_devices(&p, out);
}

void ts_report_sharding_json(const ts_mesh *mesh, const ts_sharding *s, ts_text *out) {
    ts_json json;
    ts_json_begin(&json, out, "sharding");
    ts_report_machine_keys(mesh->machine, &json);
    ts_report_mesh_keys(mesh, &json);
    ts_report_sharding_keys("sharding", mesh, s, &json);
    ts_json_array(&json, "devices");
    for (int64_t device = 0; device < mesh->device_count; device++) {
        ts_json_object(&json, NULL);
        ts_json_int(&json, "device", device);
        ts_json_int(&json, "chip", ts_mesh_chip(mesh, device));
        ts_json_array(&json, "holds");
        for (int d = 0; d < s->rank; d++) ts_json_text(&json, NULL, held_text(out->arena, s, d, device));
        ts_json_close(&json);
        ts_json_close(&json);
    }
    ts_json_close(&json);
    ts_json_end(&json);
}

/* ---- SVG ---- */

enum { LEFT = 84, TOP = 44, HIGH = 26, LETTER = 7 };

typedef struct {
    const picture *of;
    int64_t left, wide; /* of a column */
} drawing;

static drawing drawing_of(const picture *p) {
    drawing d = {p, LEFT, 16 + LETTER * column_width(p)};
    char text[NAME];
    for (int64_t row = 0; row < p->count[0]; row++) {
        range_text(p, 0, row, text);
        d.left = ts_max(d.left, 16 + LETTER * (int64_t)strlen(text));
    }
    return d;
}

static void add_cell(const drawing *d, int64_t row, int64_t column, ts_text *out) {
    static const picture_font font = {.class = "cell", .anchor = "middle", .pixels = 11};
    char text[NAME];
    int64_t first = holders(d->of, row, column, text), x = d->left + column * d->wide, y = TOP + row * HIGH;
    int64_t hue = first * 360 / d->of->mesh->device_count;
    ts_text_add(out,
                "<rect class=\"edge\" x=\"%" PRId64 "\" y=\"%" PRId64 "\" width=\"%" PRId64
                "\" height=\"%d\" fill=\"hsl(%" PRId64 ",60%%,80%%)\"/>",
                x, y, d->wide, HIGH, hue);
    picture_text(out, x + d->wide / 2, y + 17, &font, "%s", text);
}

static void add_heading(const drawing *d, int side, int64_t block, ts_text *out) {
    const picture_font font = {.class = "soft", .anchor = side ? "middle" : "end", .pixels = 11};
    char text[NAME];
    range_text(d->of, side, block, text);
    picture_text(out, side ? d->left + block * d->wide + d->wide / 2 : d->left - 8,
                 side ? TOP - 8 : TOP + block * HIGH + 17, &font, "%s", text);
}

void ts_report_sharding_svg(const ts_mesh *mesh, const ts_sharding *s, ts_text *out) {
    static const picture_font font = {.anchor = "start", .pixels = 13, .bold = true};
    picture p = picture_of(mesh, s);
    const char *title = can_draw(&p)                       ? "Devices that hold each block"
                        : p.count[0] > 0 && p.count[1] > 0 ? "Too many devices to draw"
                                                           : "No elements";
    if (!can_draw(&p)) p.count[0] = p.count[1] = 0;
    const drawing d = drawing_of(&p);
    picture_begin(out, ts_max(420, d.left + p.count[1] * d.wide + 16), TOP + p.count[0] * HIGH + 16, NULL);
    picture_text(out, 8, 18, &font, "%s", title);
    for (int64_t i = 0; i < p.count[1]; i++) add_heading(&d, 1, i, out);
    for (int64_t i = 0; i < p.count[0]; i++) add_heading(&d, 0, i, out);
    for (int64_t i = 0; i < p.count[0] * p.count[1]; i++) add_cell(&d, i / p.count[1], i % p.count[1], out);
    picture_end(out);
}

void ts_report_sharding_html(const ts_mesh *mesh, const ts_sharding *s, ts_text *out) {
    page p;
    ts_text svg = ts_text_begin(out->arena);
    ts_text text = ts_text_begin(out->arena);
    const char *subject = ts_text_format(out->arena, "%s %s", ts_shape_text(out->arena, s->shape),
                                         ts_sharding_axe_text(out->arena, mesh, s));
    page_begin(&p, out, "Sharding", subject, mesh->machine);
    page_section(&p, "Which device holds what");
    ts_report_sharding_svg(mesh, s, &svg);
    page_picture(&p, "Devices by the blocks of the array; those that share one hold copies, or addends (+)",
                 &svg);
    page_section(&p, "Notations and devices");
    ts_report_sharding(mesh, s, &text);
    page_text(&p, &text);
    page_end(&p);
}
