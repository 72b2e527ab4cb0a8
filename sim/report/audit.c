/* An audit as text and as CSV. */
#include "report/audit.h"

#include <limits.h>
#include <string.h>

#include "padding.h"
#include "report/machine.h"

const char *ts_report_audit_space(int space) {
    return space == TS_AUDIT_SPACES ? "all" : ts_audit_space_name(space);
}

/* Beside elements that are stored wider. */
static const char *tile_cause(ts_arena *arena, const ts_audit_shape *shape) {
    static const char *const locations[] = {"minor", "second minor", "third minor"};
    const char *dims = strchr(shape->text, '[');
    if (shape->worst_dim < 0) return dims && dims[1] == ']' ? "a scalar's tile" : "tile";
    return ts_text_format(arena, "dim %d (%s) %lld to %lld", shape->worst_dim,
                          shape->worst_rank < 3 ? locations[shape->worst_rank] : "major",
                          (long long)shape->worst_extent, (long long)shape->worst_padded);
}

const char *ts_report_audit_cause(ts_arena *arena, const ts_audit_shape *shape) {
    int64_t waste = shape->padded_bytes - shape->logical_bytes;
    if (waste <= 0) return "none";
    if (shape->widened_bytes <= 0) return tile_cause(arena, shape);
    bool all = shape->widened_bytes >= waste;
    return ts_text_format(arena, "elements stored %.0fx as wide%s%s",
                          1 + report_expansion(shape->logical_bytes, shape->widened_bytes), all ? "" : ", ",
                          all ? "" : tile_cause(arena, shape));
}

const char *ts_report_audit_changes(ts_arena *arena, unsigned changes) {
    static const char *const names[] = {"type", "order", "tile", "space", "dims", "padding", "reversed"};
    ts_text out = ts_text_begin(arena);
    for (unsigned i = 0; i < sizeof names / sizeof names[0]; i++)
        if (changes >> i & 1) ts_text_add(&out, "%s%s", out.length > 0 ? "+" : "", names[i]);
    return changes == 0 ? "nothing" : out.bytes;
}

static void add_head(const ts_audit_result *r, const ts_audit_view *view, ts_text *out) {
    const ts_machine *machine = r->request->machine;
    ts_text_add(out, "text       %s: %s, %s", ts_text_one_line(out->arena, view->input),
                ts_text_counted(out->arena, r->text->bytes, "byte"),
                ts_text_counted(out->arena, r->text->lines, "line"));
    if (r->module) ts_text_add(out, ", module %s", ts_text_one_line(out->arena, r->module));
    ts_text_add(out, "\n           %s", ts_text_counted(out->arena, r->text->instructions, "instruction"));
    ts_text_add(out, " in %s%s\n", ts_text_counted(out->arena, r->text->computations, "computation"),
                r->has_entry || r->text->computations == 0 ? "" : "; ENTRY is not in the text");
    ts_report_machine_line("machine    ", machine, out);
    if (r->assumed_tiles)
        ts_text_add(out,
                    "tiles      of shapes without them, and orders that none has chosen: the TPU compiler's, "
                    "generation %d\n",
                    machine->chip.generation);
}

void ts_report_audit_sum_notes(const ts_audit_result *r, ts_text *out) {
    if (r->sum.widened_bytes > 0)
        ts_text_add(out, "           %s of it %s elements stored wider than their type\n",
                    ts_text_counted(out->arena, r->sum.widened_bytes, "byte"),
                    r->sum.widened_bytes == 1 ? "is of" : "are");
    ts_text_add(out, "           summed over instructions, not what is live at once\n");
}

static void add_sums(const ts_audit_result *r, ts_text *out) {
    ts_text_add(
        out,
        "\nbuffers    space       buffers        logical bytes         padded bytes  expansion  padding\n");
    for (int i = 0; i <= TS_AUDIT_SPACES; i++) {
        const ts_audit_sum *sum = i < TS_AUDIT_SPACES ? &r->spaces[i] : &r->sum;
        if (sum->buffers == 0 && i < TS_AUDIT_SPACES) continue;
        ts_text_add(out, "           %-8s %10s %20s %20s %10s  %5.1f %%\n", ts_report_audit_space(i),
                    ts_text_grouped(out->arena, sum->buffers),
                    ts_text_grouped(out->arena, sum->logical_bytes),
                    ts_text_grouped(out->arena, sum->padded_bytes),
                    report_expansion_text(out->arena, sum->logical_bytes, sum->padded_bytes, 2),
                    report_padding_percent(sum->logical_bytes, sum->padded_bytes));
    }
    ts_report_audit_sum_notes(r, out);
}

static void add_location(const char *name, int64_t line, ts_text *out) {
    if (name[0])
        ts_text_add(out, "%s, line %lld", name, (long long)line);
    else
        ts_text_add(out, "line %lld", (long long)line);
}

static bool is_target(const ts_audit_class *class) {
    ts_hlo_opcode opcode = class->first.opcode;
    return class->waste_bytes > 0 && (opcode == TS_HLO_OP_COPY || opcode == TS_HLO_OP_COPY_START ||
                                      opcode == TS_HLO_OP_TRANSPOSE || opcode == TS_HLO_OP_RESHAPE);
}

static void add_class(const ts_audit_class *class, const ts_audit_shape *shape, ts_text *out) {
    ts_text_add(out, "        %10s %10s %10s %10s  %s%s\n", ts_text_grouped(out->arena, class->count),
                ts_report_audit_bytes(out->arena, shape->padded_bytes),
                ts_report_audit_bytes(out->arena, shape->logical_bytes),
                report_expansion_text(out->arena, shape->logical_bytes, shape->padded_bytes, 1), shape->text,
                shape->assumed ? " (tiles assumed)" : "");
    ts_text_add(out, "%53s%s%s; ", "", ts_report_audit_cause(out->arena, shape),
                is_target(class) ? ", the target of a copy" : "");
    add_location(class->first.name, class->first.line, out);
    ts_text_add(out, "\n");
}

static void add_classes(const ts_audit_result *r, const ts_audit_view *view, ts_text *out) {
    int64_t shown = 0, left = 0;
    bool any = r->class_count > 0 && (r->classes[0].waste_bytes > 0 || view->rows > r->class_count);
    ts_text_add(out,
                any ? "\npadding    buffers     padded    logical  expansion  shape, cause, the first one\n"
                    : "\npadding    none\n");
    for (; shown < r->class_count && shown < view->rows; shown++) {
        const ts_audit_class *class = &r->classes[shown];
        if (class->waste_bytes == 0 && view->rows <= r->class_count) break;
        add_class(class, &r->shapes[class->shape], out);
    }
    for (int64_t i = shown; i < r->class_count; i++) left += r->classes[i].waste_bytes > 0;
    if (left > 0)
        ts_text_add(out, "        and %s with padding; --all lists them\n",
                    ts_text_counted(out->arena, left, "more shape"));
    if (r->buffers_left_out > 0)
        ts_text_add(out, "        %s with less padding %s in the sums only\n",
                    ts_text_counted(out->arena, r->buffers_left_out, "buffer"),
                    r->buffers_left_out == 1 ? "is" : "are");
}

const char *ts_report_audit_from(const ts_audit_result *r, const ts_audit_move *move) {
    return move->src >= 0 && !ts_audit_updates(move->opcode) ? r->shapes[move->src].text : NULL;
}

const char *ts_report_audit_what(ts_arena *arena, const ts_audit_group *group) {
    const ts_audit_move *move = &group->first;
    const char *what = move->src >= 0 || move->changes
                           ? ts_report_audit_changes(arena, move->changes)
                           : ts_text_format(arena, "%lld byte%s", (long long)move->written_bytes,
                                            move->written_bytes == 1 ? "" : "s");
    if (!group->by) return what;
    return ts_text_format(arena, "%s, %s%s", what, group->scaled ? "as " : "by ", group->by);
}

const char *ts_report_audit_runs(const ts_audit_move *move) {
    if (move->trips_unknown)
        return move->in_branch ? ", in a loop of unknown length, in a branch"
                               : ", in a loop of unknown length";
    return move->in_branch ? ", in a branch" : "";
}

static void add_group(const ts_audit_result *r, const ts_audit_group *group, ts_text *out) {
    const ts_audit_move *move = &group->first;
    ts_text_add(out, "        %10s ", ts_text_grouped(out->arena, group->first.count));
    const char *mark = group->first.level == TS_AUDIT_LEVEL_FUSED ? "<" : group->scaled ? "~" : " ";
    if (group->priced)
        ts_text_add(out, "%s%10.3f %s%11.3f", mark, group->microseconds, mark, group->total_microseconds);
    else
        ts_text_add(out, " %10s  %11s", "-", "-");
    ts_text_add(out, "  %s (%s): %s", ts_hlo_opcode_name(move->opcode),
                ts_audit_level_text(group->first.level), ts_report_audit_what(out->arena, group));
    if (group->first.runs != group->first.count)
        ts_text_add(out, ", runs %s", ts_text_counted(out->arena, group->first.runs, "time"));
    ts_text_add(out, "%s", ts_report_audit_runs(move));
    if (!group->priced && group->why_not) ts_text_add(out, "; %s", group->why_not);
    const char *from = ts_report_audit_from(r, move);
    if (from) ts_text_add(out, "\n%21s%s to", "", from);
    ts_text_add(out, "\n%21s%s; ", "", r->shapes[move->dst].text);
    add_location(move->name, move->line, out);
    ts_text_add(out, "\n");
}

static void add_groups(const ts_audit_result *r, const ts_audit_view *view, ts_text *out) {
    int64_t shown = 0, left = 0;
    if (r->group_count > 0)
        ts_text_add(out, "\nmoves        count    us each     us in all  what changes, from what to what, "
                         "the first one\n");
    for (int64_t i = 0; i < r->group_count; i++) {
        const ts_audit_group *group = &r->groups[i];
        if (group->priced && group->cycles == 0 && view->rows != INT_MAX) continue; /* free */
        if (shown < view->rows)
            add_group(r, group, out), shown++;
        else
            left++;
    }
    if (left > 0)
        ts_text_add(out, "        and %s of moves; --all lists them\n",
                    ts_text_counted(out->arena, left, "more kind"));
    if (r->moves_left_out > 0)
        ts_text_add(out, "        %s %s not listed, nor priced\n",
                    ts_text_counted(out->arena, r->moves_left_out, "smaller move"),
                    r->moves_left_out == 1 ? "is" : "are");
}

/* Which branch of a conditional runs the text does not say. */
static void add_branch_sum(const ts_audit_result *r, ts_text *out) {
    double microseconds = 0;
    int64_t count = 0;
    for (int64_t i = 0; i < r->group_count; i++) {
        const ts_audit_group *group = &r->groups[i];
        if (!group->first.in_branch || group->first.level == TS_AUDIT_LEVEL_FUSED || !group->priced) continue;
        count += group->first.count;
        microseconds += group->total_microseconds;
    }
    if (microseconds > 0)
        ts_text_add(out,
                    "           %.3f us of it are %s in branches: all count, but a conditional runs one\n",
                    microseconds, ts_text_counted(out->arena, count, "move"));
}

static void add_scaled(const ts_audit_result *r, ts_text *out) {
    if (r->scaled_moves == 0) return;
    ts_text_add(out, "           %s %s, the largest;\n",
                ts_text_counted(out->arena, r->plans_priced, "layout"),
                r->plans_priced == 1 ? "is priced by its plan" : "are priced by their plans");
    ts_text_add(out, "           %s as the nearest of %s kind (~)\n",
                ts_text_counted(out->arena, r->scaled_moves, "smaller move"),
                r->scaled_moves == 1 ? "its" : "their");
}

static bool has_fused_collectives(const ts_audit_result *r) {
    for (int64_t i = 0; i < r->group_count; i++) {
        const ts_audit_move *move = &r->groups[i].first;
        if (ts_hlo_opcode_class(move->opcode) == TS_HLO_COLLECTIVE && move->level == TS_AUDIT_LEVEL_FUSED)
            return true;
    }
    return false;
}

void ts_report_audit_move_sums(const ts_audit_result *r, ts_text *out) {
    int64_t endless = 0;
    ts_text_add(out, "in all     %s%.3f us; fused ones at most %.3f us more (<); free: %s",
                ts_report_audit_about(r), r->microseconds, r->fused_microseconds,
                ts_text_counted(out->arena, r->bitcasts, "bitcast"));
    ts_text_add(out, ", %s\n", ts_text_counted(out->arena, r->free_moves, "other"));
    add_scaled(r, out);
    for (int64_t i = 0; i < r->group_count; i++)
        endless += r->groups[i].first.trips_unknown ? r->groups[i].first.count : 0;
    if (endless > 0)
        ts_text_add(out, "           %s %s whose rounds are not known: counted once\n",
                    ts_text_counted(out->arena, endless, "move"),
                    endless == 1 ? "is in a loop" : "are in loops");
    add_branch_sum(r, out);
    if (r->collectives_priced > 0)
        ts_text_add(out, "           %.1f us of %s are %s between chips\n", r->collective_microseconds,
                    has_fused_collectives(r) ? "both" : "it",
                    ts_text_counted(out->arena, r->collectives_priced, "collective"));
    if (r->collectives > r->collectives_priced)
        ts_text_add(out, "not priced: %s%s\n",
                    ts_text_counted(out->arena, r->collectives - r->collectives_priced, "collective"),
                    r->collectives_priced == 0 ? "; --mesh says between which devices" : "");
}

const ts_audit_source *ts_report_audit_source_of(const ts_audit_result *r, const ts_audit_finding *f) {
    return f->is_move ? &r->groups[f->index].first.source : &r->classes[f->index].first.source;
}

const char *ts_report_audit_source(ts_arena *arena, const ts_audit_result *r, const ts_audit_source *source) {
    ts_text out = ts_text_begin(arena);
    ts_hlo_location location = ts_hlo_locations_get(r->locations, source->location);
    bool located = source->location >= 0;
    bool own = source->of == TS_AUDIT_OWN;
    if (!own)
        ts_text_add(&out, "%s%s%s at ", source->op, source->op[0] ? ", " : "",
                    source->of == TS_AUDIT_READER ? "read" : "made");
    if (located) ts_text_add(&out, "%s:%lld", location.file, (long long)location.line);
    if (located && location.function[0]) ts_text_add(&out, " in %s", location.function);
    if (own) ts_text_add(&out, "%s%s", located && source->op[0] ? ": " : "", source->op);
    return out.bytes;
}

const char *ts_report_audit_saving(ts_arena *arena, const ts_audit_result *r, const ts_audit_finding *f) {
    bool about = f->is_move && r->groups[f->index].scaled, saves_bytes = f->bytes_saved > 0;
    return ts_text_format(arena, "saves %s%.3f us%s%s%s",
                          f->at_most ? "at most "
                          : about    ? "about "
                                     : "",
                          f->microseconds_saved, f->is_move ? "" : " each time they are read",
                          saves_bytes ? ", " : "",
                          saves_bytes ? ts_report_audit_bytes(arena, f->bytes_saved) : "");
}

static void add_finding(const ts_audit_result *r, int number, const ts_audit_finding *f, ts_text *out) {
    int64_t count = f->is_move ? r->groups[f->index].first.count : r->classes[f->index].count;
    if (f->is_move) {
        const ts_audit_move *move = &r->groups[f->index].first;
        ts_text_add(out, "  %d. %s: %s\n     %s to\n     %s\n     at ", number,
                    ts_hlo_opcode_name(move->opcode), ts_report_audit_changes(out->arena, move->changes),
                    r->shapes[move->src].text, r->shapes[move->dst].text);
        add_location(move->name, move->line, out);
    } else {
        ts_text_add(out, "  %d. %s\n     at ", number, f->what);
        add_location(r->classes[f->index].first.name, r->classes[f->index].first.line, out);
    }
    if (count > 1) ts_text_add(out, " and %lld more", (long long)count - 1);
    const ts_audit_source *source = ts_report_audit_source_of(r, f);
    if (source->location >= 0 || source->op[0])
        ts_text_add(out, "\n     source: %s", ts_report_audit_source(out->arena, r, source));
    ts_text_add(out, "\n     fix: %s\n     %s\n", f->fix, ts_report_audit_saving(out->arena, r, f));
}

enum { FINDINGS_SHOWN = 5 };

static void add_copies(const ts_audit_result *r, const ts_audit_view *view, ts_text *out) {
    if (!r->copies_predicted) return;
    ts_text_add(out, "\ncopies     that the compiler will insert (docs/layouts.md): %d\n", r->copy_count);
    for (int i = 0; i < r->copy_count && i < view->rows; i++) {
        const ts_audit_copy *copy = &r->copies[i];
        ts_text_add(out, "           %s %s%s, line %lld, %s\n               %s to\n               %s\n",
                    copy->name, copy->reader[0] ? "for " : "as a result", copy->reader, (long long)copy->line,
                    ts_report_audit_bytes(out->arena, copy->bytes), copy->from, copy->to);
    }
}

static void add_findings_by_bytes(const ts_audit_result *r, int most, ts_text *out) {
    for (int i = 0; i < r->finding_count && i < most; i++) {
        const ts_audit_finding *f = &r->findings[r->by_bytes[i]];
        if (f->bytes_saved <= 0) break;
        if (i == 0) ts_text_add(out, "\nfindings by bytes\n");
        if (r->by_bytes[i] < most) {
            ts_text_add(out, "  %s: number %d above\n", ts_report_audit_bytes(out->arena, f->bytes_saved),
                        r->by_bytes[i] + 1);
        } else {
            add_finding(r, r->by_bytes[i] + 1, f, out);
        }
    }
}

static void add_findings(const ts_audit_result *r, const ts_audit_view *view, ts_text *out) {
    int most = view->rows < FINDINGS_SHOWN ? view->rows : FINDINGS_SHOWN;
    if (view->rows > r->finding_count) most = r->finding_count;
    if (r->finding_count == 0) {
        ts_text_add(out, "\nfindings   none\n");
        return;
    }
    ts_text_add(out, "\nfindings by time (%d of %d)\n", most < r->finding_count ? most : r->finding_count,
                r->finding_count);
    for (int i = 0; i < r->finding_count && i < most; i++) add_finding(r, i + 1, &r->findings[i], out);
    add_findings_by_bytes(r, most, out);
}

static void add_reports(const ts_audit_result *r, const ts_audit_view *view, ts_text *out) {
    if (r->report_count == 0) return;
    ts_text_add(out, "\nsizes that the text reports: %d of %d equal the computed ones\n", r->reports_agreeing,
                r->reports_compared);
    for (int i = 0; i < r->report_count && i < view->rows; i++) {
        const ts_audit_report *report = &r->reports[i];
        ts_text_add(out, "  line %-6lld %12s%s%-6s", (long long)report->line, report->reported,
                    report->reported_expansion[0] ? " " : "", report->reported_expansion);
        if (report->is_tuple)
            ts_text_add(out, "  a tuple: the size of its table of pointers\n");
        else
            ts_text_add(out, "  %s %12s%s%-6s %s%s\n", report->agrees ? "equals " : "differs",
                        report->computed, report->computed_expansion[0] ? " " : "",
                        report->computed_expansion, r->shapes[report->shape].text,
                        r->shapes[report->shape].assumed ? " (tiles assumed)" : "");
    }
}

static void add_memory(const ts_audit_result *r, const ts_audit_view *view, ts_text *out) {
    if (r->figure_count + r->allocation_count == 0) return;
    ts_text_add(out, "\nmemory that the text reports\n");
    for (int i = 0; i < r->figure_count; i++) {
        const ts_audit_figure *f = &r->figures[i];
        ts_text_add(out, "  line %-6lld %12s  %s%s%s\n", (long long)f->line, f->text,
                    f->space >= 0 ? ts_report_audit_space(f->space) : "", f->space >= 0 ? ": " : "", f->name);
    }
    for (int i = 0; i < r->allocation_count && i < view->rows; i++) {
        const ts_audit_allocation *one = &r->allocations[i];
        ts_text_add(out, "  line %-6lld %12s  %s%s%s", (long long)one->line, one->text,
                    one->at_peak ? "live at the peak: " : "allocation", one->at_peak ? "" : ", ", one->name);
        if (one->values > 1) ts_text_add(out, ", shared by %d values", (int)one->values);
        if (one->shape >= 0) {
            const ts_audit_shape *shape = &r->shapes[one->shape];
            ts_text_add(out, ", %s of data: %s", ts_report_audit_bytes(out->arena, shape->logical_bytes),
                        shape->text);
        }
        ts_text_add(out, "\n");
    }
    if (r->allocation_count > view->rows)
        ts_text_add(out, "  and %d more; --all lists them\n", r->allocation_count - view->rows);
}

static void add_kinds(const ts_audit_result *r, ts_text *out) {
    if (r->kind_count == 0) return;
    ts_text_add(out, "\nnot understood, or left out\n");
    for (int i = 0; i < r->kind_count; i++) {
        const ts_audit_kind *kind = &r->kinds[i];
        ts_text_add(out, "  %10s  %s", ts_text_grouped(out->arena, kind->count), kind->kind);
        if (kind->first_line > 0) ts_text_add(out, "; line %lld", (long long)kind->first_line);
        ts_text_add(out, "%s%s\n", kind->excerpt[0] ? ": " : "", kind->excerpt);
    }
}

void ts_report_audit(const ts_audit_result *r, const ts_audit_view *view, ts_text *out) {
    add_head(r, view, out);
    add_sums(r, out);
    add_memory(r, view, out);
    add_reports(r, view, out);
    add_classes(r, view, out);
    add_groups(r, view, out);
    ts_report_audit_move_sums(r, out);
    add_copies(r, view, out);
    add_findings(r, view, out);
    add_kinds(r, out);
    ts_text_wrap(out, TS_TEXT_COLUMNS);
}

/* ---- CSV ---- */

static void add_quoted(ts_text *out, const char *text) {
    ts_text_add_char(out, '"');
    for (; *text; text++) {
        if (*text == '"') ts_text_add_char(out, '"');
        ts_text_add_char(out, *text);
    }
    ts_text_add_char(out, '"');
}

static void add_row_start(ts_text *out, const char *kind, const char *name, int64_t line,
                          ts_hlo_opcode opcode) {
    ts_text_add(out, "%s,", kind);
    add_quoted(out, name);
    ts_text_add(out, ",%lld,%s,", (long long)line, opcode < TS_HLO_OPCODES ? ts_hlo_opcode_name(opcode) : "");
}

/* Of `space` -1 nothing is known. */
static void add_space(ts_text *out, int space) {
    if (space >= 0) ts_text_add(out, "%d", space);
    ts_text_add_char(out, ',');
}

/* Their bytes are those of the text: with padding. */
static void add_memory_rows(const ts_audit_result *r, ts_text *out) {
    for (int i = 0; i < r->figure_count; i++) {
        const ts_audit_figure *f = &r->figures[i];
        add_row_start(out, "memory", f->name, f->line, TS_HLO_OPCODES);
        ts_text_add(out, ",,");
        add_space(out, f->space);
        ts_text_add(out, ",%lld,,,,,,\n", (long long)f->bytes);
    }
    for (int i = 0; i < r->allocation_count; i++) {
        const ts_audit_allocation *one = &r->allocations[i];
        const ts_audit_shape *shape = one->shape >= 0 ? &r->shapes[one->shape] : NULL;
        add_row_start(out, one->at_peak ? "peak" : "allocation", one->name, one->line, TS_HLO_OPCODES);
        ts_text_add_char(out, ',');
        add_quoted(out, shape ? shape->text : "");
        ts_text_add_char(out, ',');
        add_space(out, one->space);
        if (shape) ts_text_add(out, "%lld", (long long)shape->logical_bytes);
        ts_text_add(out, ",%lld,,", (long long)one->bytes);
        if (one->values > 0) ts_text_add(out, "%d", (int)one->values);
        ts_text_add(out, ",,,,\n");
    }
}

static void add_buffer_rows(const ts_audit_result *r, ts_text *out) {
    for (int64_t i = 0; i < r->buffer_count; i++) {
        const ts_audit_buffer *buffer = &r->buffers[i];
        const ts_audit_shape *shape = &r->shapes[buffer->shape];
        add_row_start(out, "buffer", buffer->name, buffer->line, buffer->opcode);
        ts_text_add_char(out, ',');
        add_quoted(out, shape->text);
        ts_text_add(out, ",%d,%lld,%lld,", shape->memory_space, (long long)shape->logical_bytes,
                    (long long)shape->padded_bytes);
        ts_text_add(out, "\"%s\",%lld,,,,\n", ts_report_audit_cause(out->arena, shape),
                    (long long)buffer->count);
    }
}

static void add_move_rows(const ts_audit_result *r, ts_text *out) {
    for (int64_t i = 0; i < r->group_count; i++) {
        const ts_audit_group *group = &r->groups[i];
        const ts_audit_move *move = &group->first;
        add_row_start(out, "move", move->name, move->line, move->opcode);
        const char *from = ts_report_audit_from(r, move);
        add_quoted(out, from ? from : "");
        ts_text_add_char(out, ',');
        add_quoted(out, r->shapes[move->dst].text);
        ts_text_add(out, ",%d,%lld,%lld,,%lld,%lld,%s,", move->to, (long long)move->read_bytes,
                    (long long)move->written_bytes, (long long)move->count, (long long)move->runs,
                    ts_report_audit_changes(out->arena, move->changes));
        if (group->priced) ts_text_add(out, "%.6f", group->microseconds);
        ts_text_add(out, ",%s\n", ts_audit_level_text(move->level));
    }
}

void ts_report_audit_csv(const ts_audit_result *r, const ts_audit_view *view, ts_text *out) {
    (void)view;
    ts_text_add(
        out, "kind,name,line,opcode,source,shape,space,logical_bytes,padded_bytes,cause,count,runs,changes,"
             "microseconds,level\n");
    add_buffer_rows(r, out);
    add_move_rows(r, out);
    add_memory_rows(r, out);
}
