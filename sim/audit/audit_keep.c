/* What an audit keeps while text comes, and how it stays bounded: buffers and moves that are alike become one
 * and the smallest are dropped, computations are settled when their module ends, and shapes that nothing
 * refers to are forgotten. */
#include <stdlib.h>
#include <string.h>

#include "base/number.h"
#include "audit_state.h"

enum {
    /* Records that are left when those that are alike were merged, else half of them are dropped: so that
     * sorting them costs little for each. */
    MOST_MERGED = TS_AUDIT_RECORDS / 4 * 3,
    FEW_SHAPES = 1 << 14,
    FEW_TEXT_BYTES = 8 << 20,
};

static void copy_name(char out[TS_AUDIT_NAME_BYTES], ts_span name) {
    size_t length = name.length < TS_AUDIT_NAME_BYTES ? name.length : TS_AUDIT_NAME_BYTES - 1;
    memcpy(out, name.text, length);
    out[length] = '\0';
}

void audit_keep_printable(char *out, size_t size, ts_span text) {
    size_t length = text.length < size ? text.length : size - 1;
    for (size_t i = 0; i < length; i++)
        out[i] = (char)(text.text[i] < ' ' || text.text[i] > '~' ? '?' : text.text[i]);
    out[length] = '\0';
}

/* ---- What is not understood ---- */

void audit_note(ts_audit *a, int64_t count, int64_t line, const char *kind, ts_span excerpt) {
    int k = 0;
    while (k < a->kind_count && strcmp(a->kinds[k].kind, kind) != 0) k++;
    if (k == TS_AUDIT_KINDS) k--;
    if (k == a->kind_count) {
        ts_audit_kind *fresh = &a->kinds[a->kind_count++];
        if (k == TS_AUDIT_KINDS - 1) kind = "further kinds";
        fresh->kind = ts_arena_copy_text(a->arena, kind, strlen(kind));
        fresh->first_line = line;
        audit_keep_printable(fresh->excerpt, sizeof fresh->excerpt, excerpt);
    }
    a->kinds[k].count += count;
}

/* ---- Buffers ---- */

int audit_by_shape(const void *x, const void *y) {
    const ts_audit_buffer *a = x, *b = y;
    if (a->shape != b->shape) return ts_order(a->shape, b->shape);
    if (a->space != b->space) return ts_order(a->space, b->space);
    return ts_order(a->line, b->line);
}

static int by_computation(const void *x, const void *y) {
    const ts_audit_buffer *a = x, *b = y;
    return a->computation != b->computation ? ts_order(a->computation, b->computation) : audit_by_shape(a, b);
}

int audit_by_waste(const void *x, const void *y) {
    const ts_audit_buffer *a = x, *b = y;
    if (a->waste_bytes != b->waste_bytes) return ts_order(b->waste_bytes, a->waste_bytes);
    return ts_order(a->line, b->line);
}

static void merge_buffers(ts_audit *a) {
    int64_t kept = 0;
    qsort(a->buffers, (size_t)a->buffer_count, sizeof *a->buffers, by_computation);
    for (int64_t i = 0; i < a->buffer_count; i++) {
        const ts_audit_buffer *now = &a->buffers[i], *last = &a->buffers[kept - 1];
        if (kept > 0 && now->computation == last->computation && now->shape == last->shape &&
            now->space == last->space)
            a->buffers[kept - 1].count += now->count;
        else
            a->buffers[kept++] = *now;
    }
    a->buffer_count = kept;
    a->buffers_settled = 0;
}

static void drop_buffers(ts_audit *a) {
    qsort(a->buffers, (size_t)a->buffer_count, sizeof *a->buffers, audit_by_waste);
    int64_t kept = a->buffer_count / 2;
    a->least_waste = a->buffers[kept - 1].waste_bytes;
    for (int64_t i = kept; i < a->buffer_count; i++) a->buffers_dropped += a->buffers[i].count;
    a->buffer_count = kept;
    a->buffers_settled = 0;
}

void audit_keep_buffer(ts_audit *a, const ts_audit_buffer *buffer, ts_span name) {
    if (a->buffers_dropped > 0 && buffer->waste_bytes <= a->least_waste) {
        a->buffers_dropped++;
        return;
    }
    if (a->buffer_count == TS_AUDIT_RECORDS) {
        merge_buffers(a);
        if (a->buffer_count > MOST_MERGED) drop_buffers(a);
    }
    a->buffers =
        audit_room(a, a->buffers, a->buffer_count, &a->buffer_capacity, TS_AUDIT_RECORDS, sizeof *a->buffers);
    a->buffers[a->buffer_count] = *buffer;
    a->buffers[a->buffer_count].count = 1;
    audit_find_source(a, &a->buffers[a->buffer_count].source);
    copy_name(a->buffers[a->buffer_count++].name, name);
}

/* ---- Moves ---- */

static int64_t bytes_of(const ts_audit_move *move) { return move->read_bytes + move->written_bytes; }

static int moves_by_bytes(const void *x, const void *y) {
    const ts_audit_move *a = x, *b = y;
    if (bytes_of(a) != bytes_of(b)) return ts_order(bytes_of(b), bytes_of(a));
    return ts_order(a->line, b->line);
}

static int order_moves(const ts_audit_move *a, const ts_audit_move *b) {
    if (a->computation != b->computation) return ts_order(a->computation, b->computation);
    if (a->opcode != b->opcode) return ts_order(a->opcode, b->opcode);
    if (a->src != b->src) return ts_order(a->src, b->src);
    if (a->dst != b->dst) return ts_order(a->dst, b->dst);
    if (a->from != b->from) return ts_order(a->from, b->from);
    if (a->to != b->to) return ts_order(a->to, b->to);
    if (a->groups != b->groups) return ts_order(a->groups, b->groups);
    if (a->read_bytes != b->read_bytes) return ts_order(a->read_bytes, b->read_bytes);
    if (a->written_bytes != b->written_bytes) return ts_order(a->written_bytes, b->written_bytes);
    if (a->from_parameter != b->from_parameter) return a->from_parameter ? -1 : 1;
    int transposed = memcmp(a->permutation, b->permutation, sizeof a->permutation);
    if (transposed != 0) return transposed;
    if (a->in_branch != b->in_branch) return a->in_branch - b->in_branch;
    return ts_order(a->level, b->level);
}

static int moves_by_kind(const void *x, const void *y) {
    const ts_audit_move *a = x, *b = y;
    int order = order_moves(a, b);
    return order ? order : ts_order(a->line, b->line);
}

void audit_merge_moves(ts_audit *a) {
    int64_t kept = 0;
    audit_forget_awaited(a);
    if (a->move_count > 0) qsort(a->moves, (size_t)a->move_count, sizeof *a->moves, moves_by_kind);
    for (int64_t i = 0; i < a->move_count; i++) {
        const ts_audit_move *now = &a->moves[i];
        if (kept == 0 || order_moves(now, &a->moves[kept - 1]) != 0) {
            a->moves[kept++] = *now;
            continue;
        }
        ts_audit_move *into = &a->moves[kept - 1];
        into->count += now->count;
        audit_add(&into->runs, now->runs);
        into->trips_unknown |= now->trips_unknown;
    }
    a->move_count = kept;
    a->moves_settled = 0;
}

static void drop_moves(ts_audit *a) {
    audit_forget_awaited(a);
    qsort(a->moves, (size_t)a->move_count, sizeof *a->moves, moves_by_bytes);
    int64_t kept = a->move_count / 2;
    a->least_bytes = bytes_of(&a->moves[kept - 1]);
    for (int64_t i = kept; i < a->move_count; i++) a->moves_dropped += a->moves[i].count;
    a->move_count = kept;
    a->moves_settled = 0;
}

void audit_keep_move(ts_audit *a, const ts_audit_move *move, ts_span name) {
    if (a->moves_dropped > 0 && bytes_of(move) <= a->least_bytes) {
        a->moves_dropped++;
        return;
    }
    if (a->move_count == TS_AUDIT_RECORDS) {
        audit_merge_moves(a);
        if (a->move_count > MOST_MERGED) drop_moves(a);
    }
    a->moves = audit_room(a, a->moves, a->move_count, &a->move_capacity, TS_AUDIT_RECORDS, sizeof *a->moves);
    ts_audit_move *kept = &a->moves[a->move_count++];
    *kept = *move;
    kept->count = kept->runs = 1;
    copy_name(kept->name, name);
    if (move->opcode == TS_HLO_OP_BITCAST) return; /* nothing is found of it */
    audit_find_source(a, &kept->source);
    audit_await_reader(a, name);
}

/* ---- Computations ---- */

static ts_audit_level level_of(const computation_record *c) {
    bool fused = c->level == TS_AUDIT_LEVEL_UNKNOWN && c->by_name;
    return fused ? TS_AUDIT_LEVEL_FUSED : (ts_audit_level)c->level;
}

static bool has_buffers(ts_audit_level level) {
    return level != TS_AUDIT_LEVEL_FUSED && level != TS_AUDIT_LEVEL_APPLIED && level != TS_AUDIT_LEVEL_ASYNC;
}

static const computation_record fresh_computation = {.runs = 1,
                                                     .calls = AUDIT_NONE,
                                                     .sums = AUDIT_NONE,
                                                     .root = AUDIT_NONE,
                                                     .within = AUDIT_NONE,
                                                     .spaces = {-1, -1}};

/* What is asynchronous moves between the memories that its start names, where it names none itself. */
static void settle_spaces(const computation_record *c, ts_audit_move *move) {
    if (move->level == TS_AUDIT_LEVEL_FUSED) move->from = move->to = 0; /* they are not real there */
    if (move->level != TS_AUDIT_LEVEL_ASYNC || move->from != move->to || c->spaces[0] < 0) return;
    move->from = c->spaces[0];
    move->to = c->spaces[1];
}

static void settle_sums(ts_audit *a) {
    for (int32_t i = 0; i < a->computation_count; i++) {
        const computation_record *c = &a->computations[i];
        for (int k = 0; c->sums >= 0 && has_buffers(level_of(c)) && k < SPACE_CLASSES; k++) {
            space_sum *to = &a->settled[k], *from = &a->sums[c->sums][k];
            audit_add_sum(&to->linear, &from->linear);
            audit_add_sum(&to->ruled, &from->ruled);
        }
    }
}

static void settle_buffers(ts_audit *a) {
    int64_t kept = a->buffers_settled;
    for (int64_t i = kept; i < a->buffer_count; i++) {
        ts_audit_buffer *buffer = &a->buffers[i];
        if (buffer->computation >= 0 && !has_buffers(level_of(&a->computations[buffer->computation])))
            continue;
        buffer->computation = AUDIT_NONE;
        a->buffers[kept++] = *buffer;
    }
    a->buffer_count = a->buffers_settled = kept;
}

/* Those of computations that are applied move single elements. */
static void settle_moves(ts_audit *a) {
    int64_t kept = a->moves_settled;
    audit_forget_awaited(a);
    for (int64_t i = kept; i < a->move_count; i++) {
        ts_audit_move *move = &a->moves[i];
        if (move->computation >= 0) {
            const computation_record *c = &a->computations[move->computation];
            move->level = level_of(c);
            move->runs = audit_times(move->runs, c->runs);
            move->trips_unknown |= c->runs_unknown;
            move->in_branch = c->in_branch;
            settle_spaces(c, move);
        }
        if (move->level == TS_AUDIT_LEVEL_APPLIED) continue;
        move->computation = AUDIT_NONE;
        a->moves[kept++] = *move;
    }
    a->move_count = a->moves_settled = kept;
}

void audit_settle(ts_audit *a) {
    audit_settle_calls(a);
    settle_sums(a);
    settle_buffers(a);
    settle_moves(a);
    computation_record now = {0};
    if (a->current >= 0) now = a->computations[a->current];
    a->computation_count = a->sums_count = a->call_count = 0;
    ts_table_clear(&a->computation_table);
    audit_forget_values(a);
    if (a->current < 0) return;
    a->current = (int32_t)a->computation_count++;
    computation_record *kept = &a->computations[a->current];
    *kept = fresh_computation;
    kept->level = now.level;
    kept->by_name = now.by_name;
}

int32_t audit_new_computation(ts_audit *a, uint64_t hash, int64_t line, ts_span name) {
    if (a->computation_count == TS_AUDIT_COMPUTATIONS) {
        audit_note(a, 1, line,
                   "computations beyond those that are kept: how earlier ones are called is forgotten", name);
        audit_settle(a);
    }
    a->computations = audit_room(a, a->computations, a->computation_count, &a->computation_capacity,
                                 TS_AUDIT_COMPUTATIONS, sizeof *a->computations);
    int32_t number = (int32_t)a->computation_count++;
    ts_table_put(&a->computation_table, hash, number);
    a->computations[number] = fresh_computation;
    return number;
}

void audit_reserve_call(ts_audit *a, int64_t line, ts_span name) {
    if (a->call_count < AUDIT_CALLS) return;
    audit_note(a, 1, line, "calls beyond those that are kept: how earlier ones are called is forgotten",
               name);
    audit_settle(a);
}

space_sum *audit_sums(ts_audit *a, int64_t line) {
    if (a->current < 0) return a->settled;
    int32_t *number = &a->computations[a->current].sums;
    if (*number >= 0) return a->sums[*number];
    if (a->sums_count == AUDIT_SUMS) {
        audit_note(
            a, 1, line,
            "computations with buffers beyond those that are kept: how earlier ones are called is forgotten",
            (ts_span){"", 0});
        audit_settle(a);
        number = &a->computations[a->current].sums;
    }
    a->sums = audit_room(a, a->sums, a->sums_count, &a->sums_capacity, AUDIT_SUMS, sizeof *a->sums);
    *number = (int32_t)a->sums_count++;
    memset(a->sums[*number], 0, sizeof *a->sums);
    return a->sums[*number];
}

/* ---- Shapes ---- */

/* A reference to a shape, if it is one: what it refers to is used or, if there are new numbers, has one. */
static void meet_shape(const ts_audit *a, bool *used, const int32_t *numbers, int32_t *shape) {
    if (*shape < 0) return;
    if (numbers) {
        *shape = numbers[*shape];
    } else if (!used[*shape]) {
        used[*shape] = true;
        for (int32_t i = 0; i < a->shapes[*shape].leaf_count; i++) used[a->shapes[*shape].leaves[i]] = true;
    }
}

static void meet_shapes(ts_audit *a, bool *used, const int32_t *numbers) {
    for (int64_t i = 0; i < a->buffer_count; i++) meet_shape(a, used, numbers, &a->buffers[i].shape);
    for (int64_t i = 0; i < a->move_count; i++) {
        meet_shape(a, used, numbers, &a->moves[i].src);
        meet_shape(a, used, numbers, &a->moves[i].dst);
    }
    for (int i = 0; i < a->report_count; i++) meet_shape(a, used, numbers, &a->reports[i].shape);
    for (int i = 0; i < a->allocation_count; i++) meet_shape(a, used, numbers, &a->allocations[i].shape);
    for (int64_t i = 0; i < a->entry_count + a->result_count; i++)
        meet_shape(a, used, numbers, &a->entry_shapes[i]);
    for (int64_t i = 0; i < a->names.capacity; i++) {
        struct ts_table_slot *slot = &a->names.slots[i];
        if (slot->epoch != a->names.epoch) continue;
        int32_t shape = slot->value & NAME_SHAPE;
        meet_shape(a, used, numbers, &shape);
        slot->value = (slot->value & ~NAME_SHAPE) | shape;
    }
}

static const char *moved_text(ts_arena *to, const char *text) {
    return text ? ts_arena_copy_text(to, text, strlen(text)) : NULL;
}

static void move_texts(ts_arena *to, shape_record *record, const int32_t *numbers) {
    bool own = record->ruled.text == record->rule_text;
    record->text = record->linear.text = moved_text(to, record->text);
    record->rule_text = moved_text(to, record->rule_text);
    record->ruled.text = own ? record->rule_text : record->text;
    if (record->leaf_count == 0) return;
    int32_t *leaves = TS_NEW_ARRAY(to, int32_t, record->leaf_count);
    for (int32_t i = 0; i < record->leaf_count; i++) leaves[i] = numbers[record->leaves[i]];
    record->leaves = leaves;
}

static int64_t bytes_kept(const shape_record *record) {
    int64_t bytes = record->leaf_count * (int64_t)sizeof *record->leaves;
    return bytes + (int64_t)(record->text ? strlen(record->text) : 0);
}

/* The shapes in use, in their order, with new numbers and their texts in a new arena. */
static void keep_shapes(ts_audit *a, const bool *used, int32_t *numbers) {
    ts_arena *texts = ts_arena_new();
    int64_t kept = 0;
    for (int64_t i = 0; i < a->shape_count; i++) numbers[i] = used[i] ? (int32_t)kept++ : AUDIT_NONE;
    ts_table_clear(&a->shape_table);
    a->text_bytes = kept = 0;
    for (int64_t i = 0; i < a->shape_count; i++) {
        if (!used[i]) continue;
        shape_record *record = &a->shapes[kept];
        *record = a->shapes[i];
        move_texts(texts, record, numbers);
        a->text_bytes += bytes_kept(record);
        ts_table_put(&a->shape_table, record->hash, (int32_t)kept++);
    }
    a->shape_count = kept;
    ts_arena_free(a->texts);
    a->texts = texts;
}

void audit_forget_shapes(ts_audit *a) {
    if (a->shape_count < a->forget_count && a->text_bytes < a->forget_bytes) return;
    ts_arena *scratch = ts_arena_new();
    bool *used = TS_NEW_ARRAY(scratch, bool, a->shape_count);
    int32_t *numbers = TS_NEW_ARRAY(scratch, int32_t, a->shape_count);
    meet_shapes(a, used, NULL);
    keep_shapes(a, used, numbers);
    meet_shapes(a, NULL, numbers);
    ts_arena_free(scratch);
    a->forget_count = a->shape_count < FEW_SHAPES / 2 ? FEW_SHAPES : 2 * a->shape_count;
    a->forget_bytes = a->text_bytes < FEW_TEXT_BYTES / 2 ? FEW_TEXT_BYTES : 2 * a->text_bytes;
}

int32_t audit_new_shape(ts_audit *a, const shape_record *record) {
    a->shapes =
        audit_room(a, a->shapes, a->shape_count, &a->shape_capacity, TS_AUDIT_SHAPES, sizeof *a->shapes);
    int32_t number = (int32_t)a->shape_count;
    if (!ts_table_put(&a->shape_table, record->hash, number)) return AUDIT_NONE;
    a->text_bytes += bytes_kept(record);
    a->shapes[a->shape_count++] = *record;
    return number;
}

void audit_keep_init(ts_audit *a) {
    a->texts = ts_arena_new();
    a->forget_count = FEW_SHAPES;
    a->forget_bytes = FEW_TEXT_BYTES;
}
