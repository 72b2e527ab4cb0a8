/* Pictures as SVG, for files and for pages, in light and dark. */
#include "picture.h"

#include <assert.h>
#include <inttypes.h>
#include <string.h>

#include "page.h"

/* What has which of the colours that pages have by name. They are written as they are: what else shows SVG
 * knows no names of colours. */
static const struct {
    const char *selector, *property, *colour;
} rules[] = {
    {".page", "fill", "paper"},
    {"text", "fill", "ink"},
    {"text.soft", "fill", "soft"},
    {".hatch", "fill", "hatch-paper"},
    {".lines", "stroke", "hatch"},
    {".edge", "stroke", "strong-line"},
    {".tile", "stroke", "ink"},
    {".inner", "stroke", "kind-5"},
    {".data", "fill", "kind-1"},
    {".waste", "fill", "kind-2"},
    {".cut", "fill", "line"},
    {".break", "stroke", "paper"},
    {"text.bare", "stroke", "hatch-paper"},
    {".heat", "fill", "accent"},
    {"text.on-heat", "fill", "on-accent"},
    {".grid", "stroke", "line"},
    {".frame", "stroke", "line"},
    {".equal", "stroke", "strong-line"},
    {".off", "stroke", "strong-line"},
    {".model", "fill", "kind-1"},
    {".roofline", "stroke", "kind-2"},
    {".k0", "color", "kind-1"},
    {".k1", "color", "kind-2"},
    {".k2", "color", "kind-3"},
    {".k3", "color", "kind-4"},
    {".k4", "color", "kind-5"},
    {".k5", "color", "kind-6"},
    {".k6", "color", "kind-7"},
    {".k7", "color", "kind-8"},
};

/* Cells of layouts have the colours of their tiles, light ones, also in the dark, and dark numbers: unless
 * these stand on hatching. */
static const char other[] =
    ".picture .half,.picture .model{fill-opacity:.6}\n"
    ".picture .frame,.picture .roofline{fill:none}\n"
    ".picture .off{stroke-dasharray:3 3}\n"
    ".picture .curve{fill:none;stroke:currentColor;stroke-width:2}\n"
    ".picture .dot{fill:currentColor}\n"
    ".picture text.cell{text-anchor:middle;paint-order:stroke;stroke-opacity:.8;stroke-width:2.5px}\n"
    ".picture text.cell:not(.bare){fill:#111;stroke:#fff}\n";
static const char dark[] = "@media (prefers-color-scheme: dark)";

/* A colour of style.css, from where it stands there. */
static void add_colour(ts_text *out, const char *styles, const char *name) {
    ts_text declaration = ts_text_begin(out->arena);
    ts_text_add(&declaration, " --%s: ", name);
    const char *found = strstr(styles, declaration.bytes);
    assert(found);
    found += declaration.length;
    ts_text_add_bytes(out, found, strcspn(found, ";"));
}

/* For pictures alone: a page has rules of its own. */
static void add_rules(ts_text *out, const char *styles) {
    for (size_t i = 0; i < sizeof rules / sizeof *rules; i++) {
        ts_text_add(out, ".picture %s{%s:", rules[i].selector, rules[i].property);
        add_colour(out, styles, rules[i].colour);
        ts_text_add(out, "}\n");
    }
}

void picture_begin(ts_text *out, int64_t width, int64_t height, const char *title) {
    const char *styles = page_file("style.css"), *dark_styles = strstr(styles, dark);
    assert(dark_styles);
    const char *label = title ? ts_text_format(out->arena, " role=\"img\" aria-label=\"%s\"",
                                               ts_text_escaped(out->arena, title))
                              : "";
    ts_text_add(
        out,
        "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"picture\" width=\"%" PRId64 "\" height=\"%" PRId64
        "\" viewBox=\"0 0 %" PRId64 " %" PRId64
        "\" style=\"max-width:100%%;height:auto\" font-family=\"sans-serif\" font-size=\"12\"%s>\n<style>\n",
        width, height, width, height, label);
    add_rules(out, styles);
    ts_text_add(out, "%s%s{\n", other, dark);
    add_rules(out, dark_styles);
    ts_text_add(out, "}\n</style>\n");
    ts_text_add(
        out,
        "<defs><pattern id=\"padding\" width=\"6\" height=\"6\" patternUnits=\"userSpaceOnUse\" "
        "patternTransform=\"rotate(45)\"><rect class=\"hatch\" width=\"6\" height=\"6\"/>"
        "<line class=\"lines\" x1=\"0\" y1=\"0\" x2=\"0\" y2=\"6\" stroke-width=\"2\"/></pattern></defs>\n"
        "<rect class=\"page\" width=\"100%%\" height=\"100%%\"/>\n");
}

void picture_end(ts_text *out) { ts_text_add(out, "</svg>\n"); }

void picture_text(ts_text *out, int64_t x, int64_t y, const picture_font *font, const char *format, ...) {
    va_list arguments;
    ts_text_add(out, "<text x=\"%" PRId64 "\" y=\"%" PRId64 "\"", x, y);
    if (font->class) ts_text_add(out, " class=\"%s\"", font->class);
    if (font->anchor) ts_text_add(out, " text-anchor=\"%s\"", font->anchor);
    if (font->pixels > 0) ts_text_add(out, " font-size=\"%d\"", font->pixels);
    ts_text_add(out, font->bold ? " font-weight=\"bold\">" : ">");
    va_start(arguments, format);
    ts_text_add_list(out, format, arguments);
    va_end(arguments);
    ts_text_add(out, "</text>\n");
}

void picture_bar(ts_text *out, int x, int y, double width, const char *class, const char *title) {
    ts_text_add(out, "<rect class=\"%s\" x=\"%d\" y=\"%d\" width=\"%.1f\" height=\"16\">", class, x, y + 3,
                width);
    if (title) ts_text_add(out, "<title>%s</title>", ts_text_escaped(out->arena, title));
    ts_text_add(out, "</rect>\n");
}

const char *picture_microseconds(ts_arena *arena, double microseconds) {
    return ts_text_format(arena, "%.*f us", microseconds < 10 ? 3 : 1, microseconds);
}
