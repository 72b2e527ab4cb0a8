/* The roofline plot of a run. */
#include <math.h>
#include <stdio.h>

#include "run_private.h"

enum {
    WIDTH = 640,
    HEIGHT = 368,
    LEFT = 70,
    RIGHT = 30, /* half a number of five digits, in the large letters of narrow pages too */
    TOP = 16,
    BOTTOM = 52,
    TICK_TEXT = 24, /* clear of the lowest number at the left, in the large letters of narrow pages too */
    LABEL_GAP = 16,
    POINT_TEXT = 270
};

/* Exponents of ten at both ends of an axis. */
typedef struct {
    int low, high;
} decades;

typedef struct {
    ts_text *out;
    const ts_roofline *r;
    const char *unit; /* "FLOP" */
    decades x, y;

} plot;

static double x_of(const plot *p, double intensity) {
    double part = (log10(intensity) - p->x.low) / (p->x.high - p->x.low);
    return LEFT + part * (WIDTH - LEFT - RIGHT);
}

static double y_of(const plot *p, double rate) {
    double part = (log10(rate) - p->y.low) / (p->y.high - p->y.low);
    return HEIGHT - BOTTOM - part * (HEIGHT - TOP - BOTTOM);
}

/* Without bytes of HBM at the right end. */
static double intensity_of(const plot *p) {
    return isinf(p->r->intensity) ? pow(10, p->x.high) : p->r->intensity;
}

static void find_axes(plot *p) {
    const ts_roofline *r = p->r;
    double point = isinf(r->intensity) ? r->ridge : r->intensity, least = fmin(point, r->ridge);
    p->x.low = (int)floor(log10(least / 3));
    p->x.high = (int)ceil(log10(fmax(point, r->ridge) * 3));
    p->y.high = (int)ceil(log10(r->peak * 1.5));
    p->y.low = (int)floor(log10(fmin(r->rate, least * r->hbm_peak) / 1.5));
}

static void add_axes(const plot *p) {
    for (int e = p->x.low; e <= p->x.high; e++) {
        double at = x_of(p, pow(10, e));
        ts_text_add(p->out, "<path class=\"grid\" d=\"M%.1f %dV%d\"/>", at, TOP, HEIGHT - BOTTOM);
        ts_text_add(p->out, "<text x=\"%.1f\" y=\"%d\" text-anchor=\"middle\">%g</text>\n", at,
                    HEIGHT - BOTTOM + TICK_TEXT, pow(10, e));
    }
    for (int e = p->y.low; e <= p->y.high; e++) {
        double at = y_of(p, pow(10, e));
        int power = e < 0 ? 0 : e / 3;
        ts_text_add(p->out, "<path class=\"grid\" d=\"M%d %.1fH%d\"/>", LEFT, at, WIDTH - RIGHT);
        ts_text_add(p->out, "<text x=\"%d\" y=\"%.1f\" text-anchor=\"end\">%g %.1s</text>\n", LEFT - 7,
                    at + 4, pow(10, e - 3 * power), &" kMGTPE"[power < 6 ? power : 6]);
    }
    ts_text_add(p->out, "<text x=\"%d\" y=\"%d\" text-anchor=\"middle\">%s a byte of HBM</text>\n",
                (WIDTH + LEFT) / 2, HEIGHT - 8, p->unit);
    ts_text_add(p->out,
                "<text class=\"axis\" transform=\"rotate(-90)\" x=\"%d\" y=\"14\" "
                "text-anchor=\"middle\">%s/s</text>\n",
                -(HEIGHT - BOTTOM + TOP) / 2, p->unit);
}

/* A peak: from where the slope of HBM meets it. */
static void add_peak(const plot *p, const char *class, double rate, const char *label) {
    double from = fmax(rate / p->r->hbm_peak, pow(10, p->x.low)), at = y_of(p, rate);
    if (at < TOP || at > HEIGHT - BOTTOM || x_of(p, from) > WIDTH - RIGHT) return;
    ts_text_add(p->out, "<path class=\"%s\" d=\"M%.1f %.1fH%d\"/>", class, x_of(p, from), at, WIDTH - RIGHT);
    ts_text_add(p->out, "<text class=\"%s\" x=\"%d\" y=\"%.1f\" text-anchor=\"end\">%s: %s%s/s</text>\n",
                class, WIDTH - RIGHT, at - 5, label, report_scaled(p->out->arena, rate), p->unit);
}

/* Peaks of other units or types, that are well apart from the run's. */
static void add_others(const plot *p, const ts_machine *machine) {
    const struct {
        const char *label;
        int64_t rate;
    } others[] = {
        {"mxu bf16", ts_machine_peak_ops(machine, TS_MXU_BF16, machine->chip.peak_khz)},
        {"vpu f32", ts_machine_f32_ops(machine, machine->chip.peak_khz)},
    };
    for (int i = 0; i < 2; i++) {
        double rate = (double)others[i].rate;
        if (rate > 0 && fabs(y_of(p, rate) - y_of(p, p->r->peak)) > LABEL_GAP)
            add_peak(p, "other", rate, others[i].label);
    }
}

static void add_roofs(const plot *p, const ts_machine *machine) {
    const ts_roofline *r = p->r;
    const char *unit = ts_flops_unit_text(r->unit), *type = "peak of its types";
    double low = fmax(pow(10, p->x.low), pow(10, p->y.low) / r->hbm_peak), x = x_of(p, low),
           y = y_of(p, low * r->hbm_peak), ridge_x = x_of(p, r->ridge), ridge_y = y_of(p, r->peak);
    for (int kind = 0; kind < TS_FLOPS_COUNT; kind++)
        if (r->kinds == 1u << kind) type = ts_flops_kind_text(kind);
    add_others(p, machine);
    ts_text_add(p->out, "<path class=\"roof\" d=\"M%.1f %.1fL%.1f %.1f\"/>", x, y, ridge_x, ridge_y);
    ts_text_add(
        p->out,
        "<text class=\"roof\" transform=\"translate(%.1f %.1f) rotate(%.1f)\" text-anchor=\"middle\">HBM: "
        "%sB/s</text>\n",
        (x + ridge_x) / 2 - 5, (y + ridge_y) / 2 - 7, atan2(ridge_y - y, ridge_x - x) * 180 / acos(-1.0),
        report_scaled(p->out->arena, r->hbm_peak));
    add_peak(p, "roof", r->peak, ts_text_format(p->out->arena, "%s %s", unit, type));
}

static void add_point(const plot *p) {
    const ts_roofline *r = p->r;
    double x = x_of(p, intensity_of(p)), y = y_of(p, r->rate);
    bool beside = x < WIDTH - RIGHT - POINT_TEXT; /* else below, to the edge */
    ts_text_add(p->out, "<path class=\"room\" d=\"M%.1f %.1fV%.1f\"/>", x, y, y_of(p, r->roof));
    ts_text_add(p->out, "<circle class=\"point\" cx=\"%.1f\" cy=\"%.1f\" r=\"6\"/>", x, y);
    ts_text_add(p->out,
                "<text class=\"point\" x=\"%.1f\" y=\"%.1f\" text-anchor=\"%s\">%s%s/s, %.1f %% of the "
                "roof</text>\n",
                beside ? x + 11 : WIDTH - RIGHT, beside ? y + 5 : y + 23, beside ? "start" : "end",
                report_scaled(p->out->arena, r->rate), p->unit, 100 * r->rate / r->roof);
}

void report_roofline_svg(const ts_machine *machine, const ts_roofline *r, ts_text *out) {
    plot p = {.out = out, .r = r, .unit = report_operations(r)};
    find_axes(&p);
    ts_text_add(out,
                "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"plot\" width=\"%d\" height=\"%d\" "
                "viewBox=\"0 0 %d "
                "%d\" role=\"img\" aria-label=\"Roofline: %s%s/s, of %s%s/s that the roof allows\">\n",
                WIDTH, HEIGHT, WIDTH, HEIGHT, report_scaled(out->arena, r->rate), p.unit,
                report_scaled(out->arena, r->roof), p.unit);
    add_axes(&p);
    add_roofs(&p, machine);
    add_point(&p);
    ts_text_add(out, "</svg>\n");
}
