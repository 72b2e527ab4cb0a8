/* The ranking of a tensor's layouts. */
#include "report/choose.h"

#include <string.h>

#include "base/number.h"
#include "padding.h"
#include "picture.h"
#include "report/machine.h"
#include "report/run.h"

static double microseconds(const ts_choose_result *r, int64_t cycles) {
    return ts_machine_microseconds(r->request->machine, cycles);
}

/* At least, where it is not priced. */
static int64_t cycles_of(const ts_candidate *c) { return c->priced ? c->cycles : c->bound_cycles; }

static double ratio(const ts_choose_result *r, const ts_candidate *c) {
    int64_t best = r->candidates[0].cycles;
    return best > 0 ? (double)cycles_of(c) / (double)best : 1;
}

static const char *layout_of(const ts_candidate *c) {
    return strchr(c->text, '{') ? strchr(c->text, '{') : c->text;
}

static void add_uses(const ts_choose_result *r, ts_text *out) {
    const ts_choose_request *request = r->request;
    ts_text_add(out, "uses       ");
    if (request->program) {
        ts_text_add(out, "%s, all of the run\n", ts_text_one_line(out->arena, request->program));
        return;
    }
    for (int i = 0; i < request->use_count; i++) {
        const ts_choose_use *use = &request->uses[i];
        const char *between = i > 0 ? "; " : "";
        if (use->kind == TS_USE_DMA)
            ts_text_add(out, "%stransfer from %s to %s", between, use->from->name, use->to->name);
        if (use->kind == TS_USE_REDUCE) ts_text_add(out, "%ssum along dim %d", between, use->dim);
        if (use->kind == TS_USE_STREAM) ts_text_add(out, "%sone pass over it", between);
    }
    ts_text_add(out, "\n");
}

static void add_warning(const ts_choose_result *r, ts_text *out) {
    int64_t unfinished = 0;
    for (int i = 0; i < r->candidate_count; i++) unfinished += r->candidates[i].unfinished;
    if (unfinished > 0)
        ts_text_add(
            out,
            "\nwarning    with %s the program ends while transfers are under way: their time is not in it",
            unfinished == r->candidate_count ? "all" : ts_text_grouped(out->arena, unfinished));
}

static void add_head(const ts_choose_result *r, ts_text *out) {
    const ts_choose_request *request = r->request;
    ts_text_add(out, "tensor     %s%s%s, %s of data\n", request->tensor ? request->tensor : "",
                request->tensor ? ": " : "", ts_shape_text(out->arena, r->tensor),
                ts_text_counted(out->arena, r->logical_bytes, "byte"));
    ts_report_machine_line("machine    ", request->machine, out);
    add_uses(r, out);
    ts_text_add(out, "layouts    %s: %s priced by running the model, %s cut",
                ts_text_grouped(out->arena, r->enumerated), ts_text_grouped(out->arena, r->priced),
                ts_text_grouped(out->arena, r->cut));
    if (r->cut > 0)
        ts_text_add(out, request->program ? ": they run longer than the best and a tie"
                                          : ", whose bounds are worse than the best");
    if (r->unfit > 0)
        ts_text_add(out, ", %s do%s not fit in its memory", ts_text_grouped(out->arena, r->unfit),
                    r->unfit == 1 ? "es" : "");
    add_warning(r, out);
    if (r->estimated) ts_text_add(out, "\nprices     " REPORT_ESTIMATED);
    if (r->block_bytes > 0)
        ts_text_add(out,
                    "\n           sums and passes of those above %s,\n"
                    "           half of vmem: block by block",
                    ts_text_counted(out->arena, r->block_bytes, "byte"));
    ts_text_add(out, "\n\n");
}

static void add_candidate(const ts_choose_result *r, const ts_candidate *c, ts_text *out) {
    bool parts = !r->request->program;
    ts_text_add(out, "%c%11.3f %6.2fx%s %15s %7.1f %%", c->priced ? ' ' : '>', microseconds(r, cycles_of(c)),
                ratio(r, c), c->is_tie && c != r->candidates ? "=" : " ",
                ts_text_grouped(out->arena, c->bytes), report_padding_percent(r->logical_bytes, c->bytes));
    if (parts && c->priced)
        ts_text_add(out, " %10.3f %10.3f", microseconds(r, c->dma_cycles), microseconds(r, c->core_cycles));
    else if (parts)
        ts_text_add(out, " %10s %10s", "", "");
    else if (c->priced)
        ts_text_add(out, " %10.1f", c->hbm_joules * 1e6);
    else
        ts_text_add(out, " %10s", "");
    ts_text_add(out, "  %s", layout_of(c));
    if (c->alike > 1) ts_text_add(out, " and %d alike", c->alike - 1);
    if (parts && c->priced)
        ts_text_add(out, "\n%*sHBM %.1f uJ; %s", 30, "", c->hbm_joules * 1e6, c->limiter ? c->limiter : "");
    if (c->is_rule) ts_text_add(out, "  <- compiler's rule");
    if (c->is_now) ts_text_add(out, "  <- now");
    if (c->unfinished) ts_text_add(out, "  <- unfinished");
    ts_text_add(out, "\n");
}

static void add_table(const ts_choose_result *r, const ts_choose_view *view, ts_text *out) {
    bool parts = !r->request->program;
    int left = 0;
    ts_text_add(out, "          us   ratio            bytes   padding%s  layout\n",
                parts ? "         dma       core" : "     HBM uJ");
    for (int i = 0; i < r->candidate_count; i++) {
        const ts_candidate *c = &r->candidates[i];
        if (i < view->rows || c->is_rule || c->is_now)
            add_candidate(r, c, out);
        else
            left++;
    }
    if (left > 0) ts_text_add(out, "             and %d more; --all lists them\n", left);
    int ties = 0;
    for (int i = 1; i < r->candidate_count; i++) ties += r->candidates[i].is_tie;
    if (ties > 0)
        ts_text_add(
            out,
            "= a tie with the best: nearer than the %d %% by which measured copies differ from the model\n",
            TS_CHOOSE_TIE_PERCENT);
}

static void add_flips(const ts_choose_result *r, ts_text *out) {
    if (!r->request->moves_fields) return;
    if (r->flip_count == 0) {
        ts_text_add(out,
                    "\nNo other layout wins by more than a tie when an assumed figure of the machine (%d "
                    "were moved) is\n"
                    "halved or doubled.\n",
                    r->fields_moved);
        return;
    }
    ts_text_add(out,
                "\nAnother layout wins, by more than a tie, with assumed figures of the machine (%d were "
                "moved) at:\n",
                r->fields_moved);
    for (int i = 0; i < r->flip_count; i++) {
        const ts_choose_flip *f = &r->flips[i];
        ts_text_add(out, "  %s = %s: %s, %.3f us instead of %.3f\n", f->field, f->value,
                    layout_of(&r->candidates[f->winner]), microseconds(r, f->cycles),
                    microseconds(r, f->cycles_of_best));
    }
}

void ts_report_choose(const ts_choose_result *r, const ts_choose_view *view, ts_text *out) {
    add_head(r, out);
    add_table(r, view, out);
    add_flips(r, out);
    ts_text_wrap(out, TS_TEXT_COLUMNS);
}

static void add_json_candidate(const ts_choose_result *r, const ts_candidate *c, ts_json *json) {
    ts_json_object(json, NULL);
    ts_json_text(json, "shape", c->text);
    ts_json_int(json, "bytes", c->bytes);
    report_padding_json(json, r->logical_bytes, c->bytes);
    ts_json_bool(json, "priced", c->priced);
    ts_json_int(json, c->priced ? "cycles" : "cycles_at_least", cycles_of(c));
    ts_json_real(json, "microseconds", microseconds(r, cycles_of(c)), 6);
    ts_json_real(json, "ratio", ratio(r, c), 4);
    if (c->priced) ts_json_real(json, "hbm_joules", c->hbm_joules, 12);
    if (!r->request->program && c->priced) {
        ts_json_int(json, "dma_cycles", c->dma_cycles);
        ts_json_int(json, "core_cycles", c->core_cycles);
        ts_json_text(json, "limiter", c->limiter);
    }
    ts_json_bool(json, "tie", c->is_tie);
    ts_json_bool(json, "rule", c->is_rule);
    ts_json_bool(json, "now", c->is_now);
    if (r->request->program) ts_json_bool(json, "unfinished", c->unfinished);
    ts_json_int(json, "alike", c->alike);
    ts_json_close(json);
}

static void add_json_flip(const ts_choose_result *r, const ts_choose_flip *f, ts_json *json) {
    ts_json_object(json, NULL);
    ts_json_text(json, "field", f->field);
    ts_json_text(json, "value", f->value);
    ts_json_text(json, "shape", r->candidates[f->winner].text);
    ts_json_int(json, "cycles", f->cycles);
    ts_json_int(json, "cycles_of_best", f->cycles_of_best);
    ts_json_close(json);
}

void ts_report_choose_json(const ts_choose_result *r, const ts_choose_view *view, ts_text *out) {
    ts_json json;
    (void)view;
    ts_json_begin(&json, out, "choose");
    ts_report_machine_keys(r->request->machine, &json);
    ts_json_text(&json, "program", r->request->program);
    ts_json_text(&json, "tensor", r->request->tensor);
    ts_json_int(&json, "logical_bytes", r->logical_bytes);
    ts_json_int(&json, "layouts", r->enumerated);
    ts_json_int(&json, "priced", r->priced);
    ts_json_int(&json, "cut", r->cut);
    ts_json_int(&json, "unfit", r->unfit);
    ts_json_bool(&json, "estimated", r->estimated);
    ts_json_int(&json, "block_bytes", r->block_bytes);
    ts_json_int(&json, "tie_percent", TS_CHOOSE_TIE_PERCENT);
    ts_json_array(&json, "candidates");
    for (int i = 0; i < r->candidate_count; i++) add_json_candidate(r, &r->candidates[i], &json);
    ts_json_close(&json);
    ts_json_int(&json, "fields_moved", r->fields_moved);
    if (r->left) ts_report_warnings_json(r->left, &json);
    ts_json_array(&json, "winner_changes");
    for (int i = 0; i < r->flip_count; i++) add_json_flip(r, &r->flips[i], &json);
    ts_json_close(&json);
    ts_json_end(&json);
}

/* ---- The picture ---- */

enum { BARS = 24, MOST_LABEL = 330, LETTER = 8, TOP = 60, SCALE = 240, BYTES_SCALE = 220, CUT_SCALE = 4 };
/* From the bars of times to those of bytes, and what both take. */
enum { BYTES = 400, WIDTH = 750 };

/* The bar goes on beyond the scale. */
static void add_break(ts_text *out, int x, int y) {
    ts_text_add(out,
                "<path class=\"break\" d=\"M%d %dl6 -20m4 0l-6 20\" fill=\"none\" stroke-width=\"2\"/>\n",
                x - 16, y + 21);
}

static bool is_drawn(const ts_choose_result *r, int i) {
    return i < BARS || r->candidates[i].is_now || r->candidates[i].is_rule;
}

/* What all rows have in common: where the bars begin, and of what they are shares. */
typedef struct {
    int times, bytes, rows;
    int64_t most_cycles, most_bytes;
} chart;

/* As much of a candidate's figure as the scale has to hold: of those that were cut, no more than a few times the best. */
static int64_t in_scale(const ts_candidate *c, int64_t figure, int64_t best) {
    bool whole = c->priced || c->is_now || c->is_rule;
    return whole ? figure : ts_min(figure, CUT_SCALE * best);
}

static chart measure(const ts_choose_result *r) {
    static const char marks[] = " (rule) (now)";
    const ts_candidate *best = &r->candidates[0];
    chart all = {0};
    size_t longest = 0;
    for (int i = 0; i < r->candidate_count; i++) {
        const ts_candidate *c = &r->candidates[i];
        if (!is_drawn(r, i)) continue;
        bool marked = c->is_now || c->is_rule;
        size_t length = strlen(layout_of(c)) + (marked ? sizeof marks : 0);
        longest = length > longest ? length : longest;
        all.rows++;
        all.most_cycles = ts_max(all.most_cycles, in_scale(c, cycles_of(c), best->cycles));
        all.most_bytes = ts_max(all.most_bytes, in_scale(c, c->bytes, best->bytes));
    }
    all.times = longest * LETTER < MOST_LABEL ? (int)longest * LETTER : MOST_LABEL;
    all.bytes = all.times + BYTES;
    return all;
}

/* Of a row: the layout. */
static void add_name(const ts_candidate *c, int y, const chart *all, ts_text *out) {
    const picture_font font = {.anchor = "end", .bold = c->is_now || c->is_rule};
    picture_text(out, all->times - 8, y + 15, &font, "%s%s%s", ts_text_escaped(out->arena, layout_of(c)),
                 c->is_rule ? " (rule)" : "", c->is_now ? " (now)" : "");
}

static void add_time(const ts_choose_result *r, const ts_candidate *c, int y, const chart *all,
                     ts_text *out) {
    double width = (double)cycles_of(c) * SCALE / (double)(all->most_cycles > 0 ? all->most_cycles : 1);
    bool longer = width > SCALE; /* cut, and no measure for the others */
    if (longer) width = SCALE;
    picture_bar(out, all->times, y, width, !c->priced ? "cut" : c->is_tie ? "data" : "data half", NULL);
    if (longer) add_break(out, all->times + SCALE, y);
    picture_text(out, all->times + (int)width + 5, y + 15, &(picture_font){0}, "%s%s",
                 c->priced ? "" : "more than ",
                 picture_microseconds(out->arena, microseconds(r, cycles_of(c))));
}

static void add_bytes(const ts_choose_result *r, const ts_candidate *c, int y, const chart *all,
                      ts_text *out) {
    double data =
        (double)r->logical_bytes * BYTES_SCALE / (double)(all->most_bytes > 0 ? all->most_bytes : 1);
    double more = (double)(c->bytes - r->logical_bytes) * BYTES_SCALE /
                  (double)(all->most_bytes > 0 ? all->most_bytes : 1);
    bool larger = data + more > BYTES_SCALE + 0.5;
    if (larger) more = BYTES_SCALE - data;
    picture_bar(out, all->bytes, y, data, "data", NULL);
    picture_bar(out, all->bytes + (int)data, y, more, "waste", NULL);
    if (larger) add_break(out, all->bytes + BYTES_SCALE, y);
    picture_text(out, all->bytes + (int)(data + more) + 5, y + 15, &(picture_font){0}, "%s",
                 ts_text_grouped(out->arena, c->bytes));
}

/* What is drawn, and how many are not. */
static void add_rows(const ts_choose_result *r, const chart *all, ts_text *out) {
    static const picture_font note = {.class = "soft"};
    int y = TOP;
    for (int i = 0; i < r->candidate_count; i++) {
        if (!is_drawn(r, i)) continue;
        add_name(&r->candidates[i], y, all, out);
        add_time(r, &r->candidates[i], y, all, out);
        add_bytes(r, &r->candidates[i], y, all, out);
        y += PICTURE_ROW;
    }
    if (r->candidate_count == all->rows) return;
    picture_text(out, all->times, y + 15, &note, "and %d more", r->candidate_count - all->rows);
}

void ts_report_choose_svg(const ts_choose_result *r, const ts_choose_view *view, ts_text *out) {
    static const picture_font title = {.pixels = 15, .bold = true}, note = {.class = "soft"};
    chart all = measure(r);
    (void)view;
    int rows = all.rows + (all.rows < r->candidate_count), height = TOP + rows * PICTURE_ROW + 16;
    picture_begin(out, all.times + WIDTH, height, NULL);
    picture_text(out, 16, 26, &title, "Layouts of %s on %s",
                 ts_text_escaped(out->arena, ts_shape_text(out->arena, r->tensor)),
                 ts_report_machine_escaped(out->arena, r->request->machine));
    picture_text(out, all.times, 48, &note, "time; full: a tie with the best, grey: cut, at least so long");
    picture_text(out, all.bytes, 48, &note, "bytes; blue: data, orange: padding");
    add_rows(r, &all, out);
    picture_end(out);
}
