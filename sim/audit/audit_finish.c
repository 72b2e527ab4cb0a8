/* What an audit comes to: levels, sums and prices. */
#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "audit_state.h"
#include "base/number.h"
#include "layout/notation/xla.h"

const char *ts_audit_level_text(ts_audit_level level) {
    static const char *const texts[TS_AUDIT_LEVELS] = {"level unknown", "entry",   "loop or branch",
                                                       "fused",         "applied", "asynchronous"};
    return texts[level];
}

/* ---- Sums ---- */

static void sum_up(const ts_audit *a, ts_audit_result *r) {
    for (int k = 0; k < SPACE_CLASSES; k++) {
        const space_sum *sum = &a->settled[k];
        ts_audit_sum *to[2] = {&r->sum, &r->spaces[audit_spaces[k].number]};
        for (int i = 0; i < 2; i++) audit_add_sum(to[i], a->ruled ? &sum->ruled : &sum->linear);
    }
}

/* ---- Buffers ---- */

static int classes_by_waste(const void *x, const void *y) {
    const ts_audit_class *a = x, *b = y;
    if (a->waste_bytes != b->waste_bytes) return ts_order(b->waste_bytes, a->waste_bytes);
    return ts_order(a->first.line, b->first.line);
}

static void list_buffers(ts_audit *a, ts_audit_result *r) {
    int64_t count = a->buffer_count;
    ts_audit_class *classes = TS_NEW_ARRAY(a->arena, ts_audit_class, count + 1);
    if (count > 0) qsort(a->buffers, (size_t)count, sizeof *a->buffers, audit_by_shape);
    for (int64_t i = 0; i < count; i++) {
        ts_audit_buffer *buffer = &a->buffers[i];
        buffer->waste_bytes = r->shapes[buffer->shape].padded_bytes - r->shapes[buffer->shape].logical_bytes;
        if (i == 0 || buffer->shape != buffer[-1].shape || buffer->space != buffer[-1].space)
            classes[r->class_count++] = (ts_audit_class){.shape = buffer->shape, .first = *buffer};
        ts_audit_class *class = &classes[r->class_count - 1];
        class->count += buffer->count;
        audit_add(&class->waste_bytes, audit_times(buffer->count, buffer->waste_bytes));
    }
    if (count > 0) qsort(a->buffers, (size_t)count, sizeof *a->buffers, audit_by_waste);
    if (r->class_count > 0) qsort(classes, (size_t)r->class_count, sizeof *classes, classes_by_waste);
    r->buffers = a->buffers;
    r->buffer_count = count;
    r->buffers_left_out = a->buffers_dropped;
    r->classes = classes;
}

/* ---- Moves ---- */

/* Of all runs. */
static int64_t traffic_of(const ts_audit_group *group) {
    return audit_times(group->first.read_bytes + group->first.written_bytes, group->first.runs);
}

static int groups_by_bytes(const void *x, const void *y) {
    const ts_audit_group *a = x, *b = y;
    int64_t p = traffic_of(a), q = traffic_of(b);
    return p != q ? ts_order(q, p) : ts_order(a->first.line, b->first.line);
}

static int groups_by_time(const void *x, const void *y) {
    const ts_audit_group *a = x, *b = y;
    if (a->priced != b->priced) return a->priced ? -1 : 1;
    if (a->total_microseconds != b->total_microseconds)
        return ts_order_reals(b->total_microseconds, a->total_microseconds);
    return groups_by_bytes(x, y);
}

/* The moves that are alike, with the bytes of the shapes as they turned out to be. */
static ts_audit_group *group_moves(ts_audit *a, ts_audit_result *r) {
    for (int64_t i = 0; i < a->move_count; i++) {
        ts_audit_move *move = &a->moves[i];
        if (ts_hlo_opcode_class(move->opcode) != TS_HLO_MOVES) continue;
        if (move->opcode == TS_HLO_OP_CONCATENATE) continue; /* of its operands, which are not kept */
        bool part = move->src < 0 || audit_starts_part(move->opcode);
        move->written_bytes = r->shapes[move->dst].padded_bytes;
        move->read_bytes = part ? move->written_bytes : r->shapes[move->src].padded_bytes;
    }
    audit_merge_moves(a);
    ts_audit_group *groups = TS_NEW_ARRAY(a->arena, ts_audit_group, a->move_count + 1);
    for (int64_t i = 0; i < a->move_count; i++) groups[i].first = a->moves[i];
    r->group_count = a->move_count;
    r->moves_left_out = a->moves_dropped;
    return groups;
}

static const ts_shape *parse(ts_audit *a, const char *text) {
    return audit_parse(NULL, a->scratch, text, strlen(text));
}

/* Texts that differ may be the same places: then neither order nor tiles change. */
static void compare_places(ts_audit *a, const ts_shape *x, const ts_shape *y, ts_audit_move *move) {
    const unsigned places = TS_AUDIT_ORDER | TS_AUDIT_TILE;
    if ((move->changes & places) && audit_same_places(a->scratch, x, y)) move->changes &= ~places;
}

/* The shapes, which were read before, are as they turned out to be. */
static void compare_shapes(ts_audit *a, const ts_audit_result *r, ts_audit_group *group) {
    ts_audit_move *move = &group->first;
    const ts_audit_shape *to = &r->shapes[move->dst];
    const ts_shape *x = parse(a, r->shapes[move->src].text), *y = parse(a, to->text);
    assert(x && y);
    bool transposes = move->opcode == TS_HLO_OP_TRANSPOSE && !move->not_read &&
                      x->xla->rank == y->xla->rank, /* a text may say anything */
        reshapes = move->opcode == TS_HLO_OP_RESHAPE || move->opcode == TS_HLO_OP_DYNAMIC_RESHAPE;
    move->changes = audit_changes(x, y, transposes ? move->permutation : NULL);
    if (transposes) x = audit_permuted(a->scratch, x, move->permutation);
    compare_places(a, x, y, move);
    if (transposes || reshapes)
        group->moves_nothing = to->assumed ? audit_can_move_nothing(a->scratch, a->request, x, y)
                                           : audit_moves_nothing(a->scratch, x, y);
    ts_arena_reset(a->scratch);
}

static void find_changes(ts_audit *a, const ts_audit_result *r, ts_audit_group *group) {
    ts_audit_move *move = &group->first;
    if (ts_hlo_opcode_class(move->opcode) == TS_HLO_COLLECTIVE) return;
    if (move->src < 0)
        move->changes = TS_AUDIT_SHAPE;
    else
        compare_shapes(a, r, group);
    if (move->opcode == TS_HLO_OP_PAD || ts_audit_updates(move->opcode)) move->changes |= TS_AUDIT_SHAPE;
    if (move->opcode == TS_HLO_OP_REVERSE) move->changes |= TS_AUDIT_REVERSED;
    if (move->level == TS_AUDIT_LEVEL_FUSED || move->opcode == TS_HLO_OP_BITCAST) return;
    move->changes &= ~(unsigned)TS_AUDIT_SPACE;
    if (move->from != move->to) move->changes |= TS_AUDIT_SPACE;
}

/* Inside a fused computation slices and the like are addresses, and nothing is copied that keeps order and
 * tiles. */
static bool is_free(const ts_audit_group *group) {
    const ts_audit_move *move = &group->first;
    bool fused = group->first.level == TS_AUDIT_LEVEL_FUSED;
    bool reorders = (move->changes & (TS_AUDIT_ORDER | TS_AUDIT_TILE | TS_AUDIT_PADDING)) != 0;
    switch (move->opcode) {
    case TS_HLO_OP_TRANSPOSE:
    case TS_HLO_OP_RESHAPE:
    case TS_HLO_OP_DYNAMIC_RESHAPE:
        return group->moves_nothing || (fused && !reorders && !move->not_read);
    case TS_HLO_OP_COPY:
        return fused && !reorders;
    case TS_HLO_OP_COPY_START:
    case TS_HLO_OP_SLICE_START:
        return false;
    default:
        return fused;
    }
}

static void price_group(audit_prices *prices, const ts_audit_result *r, ts_audit_group *group) {
    const ts_audit_move *move = &group->first;
    bool transposes = move->opcode == TS_HLO_OP_TRANSPOSE;
    if (move->not_read) {
        group->why_not = "its dimensions cannot be read";
        return;
    }
    audit_wanted wanted = {.src = move->src >= 0 ? r->shapes[move->src].text : NULL,
                           .dst = r->shapes[move->dst].text,
                           .traffic = {move->from, move->to, move->read_bytes, move->written_bytes},
                           .permutation = transposes ? move->permutation : NULL,
                           .changes = move->changes};
    audit_price price = audit_prices_move(prices, &wanted);
    group->priced = price.known;
    group->why_not = price.why_not;
    group->by = price.by;
    group->scaled = price.scaled;
    group->cycles = price.cycles;
    group->microseconds = ts_machine_microseconds(r->request->machine, price.cycles);
    group->total_microseconds = group->microseconds * (double)group->first.runs;
}

/* Is there no reason to give up: nobody wants it to end, and the system has refused nothing? */
static bool goes_on(audit_prices *p) {
    ts_interrupt *interrupt = p->request->interrupt;
    if (ts_interrupt_is_heard(interrupt)) ts_interrupt_error(&p->failure, interrupt);
    return p->failure.kind == TS_ERROR_NONE;
}

static void price_moves(ts_audit *a, audit_prices *prices, ts_audit_result *r, ts_audit_group *groups,
                        ts_audit_progress progress, void *self) {
    qsort(groups, (size_t)r->group_count, sizeof *groups, groups_by_bytes);
    for (int64_t i = 0; i < r->group_count && goes_on(prices); i++) {
        ts_audit_group *group = &groups[i];
        find_changes(a, r, group);
        if (ts_hlo_opcode_class(group->first.opcode) == TS_HLO_COLLECTIVE) {
            audit_price_collective(a, r, group);
        } else if (is_free(group)) {
            group->priced = true;
            r->free_moves += group->first.opcode == TS_HLO_OP_BITCAST ? 0 : group->first.count;
        } else {
            price_group(prices, r, group);
        }
        r->scaled_moves += group->scaled ? group->first.count : 0;
        bool fused = group->first.level == TS_AUDIT_LEVEL_FUSED;
        *(fused ? &r->fused_microseconds : &r->microseconds) += group->total_microseconds;
        if (progress) progress(self, i + 1, r->group_count);
    }
    qsort(groups, (size_t)r->group_count, sizeof *groups, groups_by_time);
    r->groups = groups;
    r->plans_priced = prices->exact_count;
}

/* ---- The end ---- */

/* The module's parameters, where the text ends before ENTRY. */
static void add_entry(ts_audit *a) {
    char name[32];
    if (a->has_entry) return;
    a->current = AUDIT_NONE;
    for (int64_t i = 0; i < a->entry_count; i++) {
        int length = snprintf(name, sizeof name, "parameter %lld", (long long)i);
        audit_add_buffer(a, 1, (ts_span){name, (size_t)length}, TS_HLO_OP_PARAMETER, a->entry_shapes[i]);
    }
}

static void note_text(ts_audit *a, const ts_hlo_counts *text) {
    ts_span none = {"", 0};
    const struct {
        int64_t count;
        const char *kind;
    } kinds[] = {{text->cut_instructions, "instructions that are cut off"},
                 {text->kinds[TS_HLO_OLD], "lines of a diff's old side"},
                 {text->long_lines, "lines longer than 1 MiB, whose middle was left out"},
                 {text->unended_computations, "computations that do not end"},
                 {text->unended_comments, "a comment that does not end, and all behind it"}};
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
        if (kinds[i].count == 0) continue;
        audit_note(a, kinds[i].count, 0, kinds[i].kind, none);
    }
}

static void begin_result(const ts_audit *a, ts_audit_result *r) {
    *r = (ts_audit_result){.request = a->request,
                           .text = ts_hlo_get_counts(a->reader),
                           .locations = a->locations,
                           .module = a->module,
                           .has_entry = a->has_entry,
                           .binary = a->binary,
                           .shape_count = a->shape_count,
                           .bitcasts = a->bitcasts,
                           .reports = a->reports,
                           .report_count = a->report_count,
                           .figures = a->figures,
                           .figure_count = a->figure_count,
                           .allocations = a->allocations,
                           .allocation_count = a->allocation_count};
    for (int i = 0; i < r->report_count; i++) {
        r->reports_compared += !r->reports[i].is_tuple;
        r->reports_agreeing += !r->reports[i].is_tuple && r->reports[i].agrees;
    }
}

static void take_shapes(const ts_audit *a, ts_audit_result *r) {
    ts_audit_shape *shapes = TS_NEW_ARRAY(a->arena, ts_audit_shape, a->shape_count + 1);
    for (int64_t i = 0; i < a->shape_count; i++) {
        shapes[i] = a->ruled ? a->shapes[i].ruled : a->shapes[i].linear;
        if (!shapes[i].text) shapes[i].text = "()";
        r->assumed_tiles |= shapes[i].assumed;
    }
    r->shapes = shapes;
}

bool ts_audit_finish(ts_error *err, ts_audit *a, ts_audit_progress progress, void *self, ts_audit_result *r) {
    audit_prices prices;
    ts_hlo_finish(a->reader);
    audit_close_block(a);
    add_entry(a);
    audit_finish_memory(a);
    audit_settle(a);
    a->ruled = audit_takes_rule(a);
    begin_result(a, r);
    take_shapes(a, r);
    sum_up(a, r);
    if (a->ruled) audit_copies_finish(a, r);
    list_buffers(a, r);
    ts_audit_group *groups = group_moves(a, r);
    audit_prices_init(&prices, a->arena, a->request);
    price_moves(a, &prices, r, groups, progress, self);
    audit_find(a->arena, &prices, r);
    note_text(a, r->text);
    r->kinds = a->kinds;
    r->kind_count = a->kind_count;
    ts_arena_free(prices.scratch);
    return !ts_error_keep_system(err, &prices.failure);
}

bool ts_audit_check_any(ts_error *err, const ts_audit_result *r, const char *name) {
    if (r->text->instructions > 0 || r->sum.buffers > 0 || r->group_count > 0 || r->report_count > 0 ||
        r->figure_count > 0 || r->allocation_count > 0)
        return true;
    if (r->text->bytes == 0)
        return ts_error_set(err, TS_ERROR_INPUT, "%.200s is empty, expected a module as text", name);
    if (r->binary)
        return ts_error_set(err, TS_ERROR_INPUT,
                            "%.200s is binary and holds no instruction or shape, expected HLO as text "
                            "(XLA_FLAGS=--xla_dump_hlo_as_text)",
                            name);
    return ts_error_set(err, TS_ERROR_INPUT,
                        "%.200s holds no instruction or shape in %lld line%s%s, expected HLO text, such as "
                        "'%%a = f32[8,128]{1,0:T(8,128)} parameter(0)'",
                        name, (long long)r->text->lines, r->text->lines == 1 ? "" : "s",
                        r->text->unended_comments > 0 ? ", as a comment does not end" : "");
}

void ts_audit_free(ts_audit *a) {
    if (!a) return;
    ts_arena_free(a->scratch);
    ts_arena_free(a->texts);
}
