/* Simulated against measured times: a picture of scatter plots, one a group, log-log. */
#include "report/validation.h"

#include <math.h>
#include <stdio.h>

#include "picture.h"

enum { COLUMNS = 3, LEAST_COLUMNS = 2, PANEL = 300, PLOT = 216, LEFT = 58, TOP = 44, GAP = 8 };

/* Decades of both axes: measured, simulated and roofline times are inside. */
typedef struct {
    int low, high;
} decades;

static bool is_of(const ts_validated_row *r, const ts_validated_group *g) {
    return r->work.group == g->group && r->reason == NULL;
}

static decades range_of(const ts_validation *v, const ts_validated_group *g) {
    double low = HUGE_VAL, high = -HUGE_VAL;
    for (int i = 0; i < v->row_count; i++) {
        const ts_validated_row *r = &v->rows[i];
        const double times[] = {r->work.measured_us, r->simulated_us, r->roofline_us};
        for (int k = 0; is_of(r, g) && k < 3; k++) {
            low = times[k] < low ? times[k] : low;
            high = times[k] > high ? times[k] : high;
        }
    }
    decades d = {(int)floor(log10(low)), (int)ceil(log10(high))};
    if (d.high == d.low) d.high++;
    return d;
}

/* A power of ten: 0.1, 10, 10k, 1M. */
static const char *label(ts_arena *arena, int exponent) {
    int thousands = exponent >= 3 ? exponent / 3 : 0;
    return ts_text_format(arena, "%g%s", pow(10, exponent - 3 * thousands),
                          (const char *[]){"", "k", "M", "G"}[thousands > 3 ? 3 : thousands]);
}

static double position(decades d, double us) { return (log10(us) - d.low) / (d.high - d.low) * PLOT; }

static void add_axes(ts_text *out, decades d) {
    ts_text_add(out, "<rect class=\"frame\" width=\"%d\" height=\"%d\"/>\n", PLOT, PLOT);
    for (int e = d.low; e <= d.high; e++) {
        double at = (double)(e - d.low) / (d.high - d.low) * PLOT;
        ts_text_add(out, "<path class=\"grid\" d=\"M%.1f 0v%dM0 %.1fh%d\"/>", at, PLOT, PLOT - at, PLOT);
        ts_text_add(out, "<text x=\"%.1f\" y=\"%d\" text-anchor=\"middle\">%s</text>", at, PLOT + 14,
                    label(out->arena, e));
        ts_text_add(out, "<text x=\"-6\" y=\"%.1f\" text-anchor=\"end\">%s</text>\n", PLOT - at + 4,
                    label(out->arena, e));
    }
    double off = log10(1.25) / (d.high - d.low) * PLOT; /* 25 % */
    ts_text_add(out, "<path class=\"equal\" d=\"M0 %dL%d 0\"/>", PLOT, PLOT);
    ts_text_add(out, "<path class=\"off\" d=\"M0 %.1fL%.1f 0M%.1f %dL%d %.1f\"/>\n", PLOT - off, PLOT - off,
                off, PLOT, PLOT, off);
    ts_text_add(out, "<text class=\"soft\" x=\"%d\" y=\"%d\" text-anchor=\"middle\">measured, us</text>\n",
                PLOT / 2, PLOT + 30);
    ts_text_add(out,
                "<text class=\"soft\" transform=\"rotate(-90)\" x=\"%d\" y=\"-44\" "
                "text-anchor=\"middle\">predicted, us</text>\n",
                -PLOT / 2);
}

static void add_points(ts_text *out, const ts_validation *v, const ts_validated_group *g, decades d) {
    for (int i = 0; i < v->row_count; i++) {
        const ts_validated_row *r = &v->rows[i];
        if (!is_of(r, g)) continue;
        double x = position(d, r->work.measured_us);
        ts_text_add(out, "<circle class=\"roofline\" cx=\"%.1f\" cy=\"%.1f\" r=\"3\"/>", x,
                    PLOT - position(d, r->roofline_us));
        ts_text_add(
            out,
            "<circle class=\"model\" cx=\"%.1f\" cy=\"%.1f\" r=\"3\"><title>%s: %.4g us measured, %.4g "
            "simulated</title></circle>\n",
            x, PLOT - position(d, r->simulated_us), ts_text_escaped(out->arena, r->row->id),
            r->work.measured_us, r->simulated_us);
    }
}

static void add_panel(ts_text *out, const ts_validation *v, const ts_validated_group *g, int at) {
    decades d = range_of(v, g);
    ts_text_add(out, "<g font-size=\"11\" transform=\"translate(%d %d)\">\n", at % COLUMNS * PANEL + LEFT,
                at / COLUMNS * (PANEL + GAP) + TOP + 28);
    ts_text_add(out, "<text font-size=\"13\" font-weight=\"bold\" x=\"0\" y=\"-20\">%s</text>",
                g->group->name);
    ts_text_add(out,
                "<text class=\"soft\" x=\"0\" y=\"-6\">median error %.1f %%, roofline %.1f %%, %s</text>\n",
                g->model.median, g->roofline.median, ts_text_counted(out->arena, g->modelled, "row"));
    add_axes(out, d);
    add_points(out, v, g, d);
    ts_text_add(out, "</g>\n");
}

void ts_report_validation_svg(const ts_validation *v, ts_text *out) {
    int panels = 0, at = 0;
    for (int i = 0; i < v->group_count; i++) panels += v->groups[i].modelled > 0;
    int rows = (panels + COLUMNS - 1) / COLUMNS,
        width = (panels < COLUMNS ? LEAST_COLUMNS : COLUMNS) * PANEL + GAP,
        height = rows * (PANEL + GAP) + 28;
    picture_begin(out, width, height, NULL);
    ts_text_add(
        out,
        "<circle class=\"model\" cx=\"18\" cy=\"16\" r=\"4\"/><text x=\"28\" y=\"20\">simulated</text>"
        "<circle class=\"roofline\" cx=\"108\" cy=\"16\" r=\"4\"/><text x=\"118\" y=\"20\">roofline</text>"
        "<text class=\"soft\" x=\"180\" y=\"20\">line: equal to the measured time; dashed: 25 %% "
        "off</text>\n");
    for (int i = 0; i < v->group_count; i++)
        if (v->groups[i].modelled > 0) add_panel(out, v, &v->groups[i], at++);
    picture_end(out);
}
