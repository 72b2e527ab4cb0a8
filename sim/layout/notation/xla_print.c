/* Prints shapes as XLA does: shape_util.cc PrintHumanStringWithLayout, layout.cc Layout::Print. */
#include <assert.h>
#include <inttypes.h>

#include "layout/notation/xla.h"

static const char *comma(int i) { return i > 0 ? "," : ""; }

static void print_dims(const ts_xla_layout *f, ts_text *out) {
    ts_text_add_char(out, '[');
    for (int i = 0; i < f->rank; i++) {
        bool dynamic = f->dynamic != NULL && f->dynamic[i];
        ts_text_add(out, "%s", comma(i));
        if (f->dims[i] == TS_XLA_UNBOUNDED)
            ts_text_add_char(out, '?');
        else
            ts_text_add(out, "%s%" PRId64, dynamic ? "<=" : "", f->dims[i]);
    }
    ts_text_add_char(out, ']');
}

static void print_tile(const ts_xla_tile *tile, ts_text *out) {
    ts_text_add_char(out, '(');
    for (int i = 0; i < tile->rank; i++) {
        ts_text_add(out, "%s", comma(i));
        if (tile->dims[i] == TS_XLA_COMBINE)
            ts_text_add_char(out, '*');
        else
            ts_text_add(out, "%" PRId64, tile->dims[i]);
    }
    ts_text_add_char(out, ')');
}

static void print_splits(const ts_xla_layout *f, ts_text *out) {
    if (f->split_count > 0) ts_text_add(out, "SC");
    for (int i = 0; i < f->split_count; i++) {
        ts_text_add(out, "(%d:", f->splits[i].dim);
        for (int j = 0; j < f->splits[i].count; j++)
            ts_text_add(out, "%s%" PRId64, comma(j), f->splits[i].indices[j]);
        ts_text_add_char(out, ')');
    }
}

static void print_field(const char *name, int64_t value, int64_t absent, ts_text *out) {
    if (value > absent) ts_text_add(out, "%s(%" PRId64 ")", name, value);
}

/* Those that are not at their default, in XLA's order. */
static void print_fields(const ts_xla_layout *f, ts_text *out) {
    if (f->tile_count > 0) ts_text_add_char(out, 'T');
    for (int i = 0; i < f->tile_count; i++) print_tile(&f->tiles[i], out);
    print_field("L", f->tail_alignment, 1, out);
    print_field("E", f->element_bits, 0, out);
    print_field("S", f->memory_space, 0, out);
    print_splits(f, out);
    print_field("M", f->metadata_bytes, 0, out);
}

/* The layout of a scalar only where it says something. */
static void print_layout(const ts_xla_layout *f, ts_text *out) {
    size_t start = out->length;
    ts_text_add_char(out, '{');
    for (int i = 0; i < f->rank; i++)
        ts_text_add(out, "%s%d", comma(i),
                    f->minor_to_major != NULL ? f->minor_to_major[i] : f->rank - 1 - i);
    size_t before = out->length;
    ts_text_add_char(out, ':');
    print_fields(f, out);
    bool plain = out->length == before + 1;
    if (plain) out->length = f->rank > 0 ? before : start;
    if (plain) out->bytes[out->length] = '\0';
    if (!plain || f->rank > 0) ts_text_add_char(out, '}');
}

static void print_array(const ts_shape *shape, ts_text *out) {
    const ts_xla_layout *f = shape->xla;
    ts_text_add(out, "%s%s", f->is_buffer ? "b(" : "", ts_dtype_get(shape->dtype)->name);
    print_dims(f, out);
    if (ts_dtype_get(shape->dtype)->class != TS_CLASS_NO_DATA) print_layout(f, out);
    if (f->is_buffer) ts_text_add_char(out, ')');
}

/* A tuple that is being printed, and how many of its members are. */
typedef struct {
    const ts_xla_layout *tuple;
    int printed;
} open_tuple;

typedef struct {
    ts_arena *arena;
    open_tuple *items; /* outermost first */
    size_t count, most;
} tuple_stack;

static void begin_tuple(tuple_stack *open, const ts_xla_layout *tuple, ts_text *out) {
    if (open->count == open->most)
        open->items = ts_arena_extend(open->arena, open->items, open->most++, sizeof *open->items);
    open->items[open->count++] = (open_tuple){tuple, 0};
    ts_text_add_char(out, '(');
}

static void print_member(tuple_stack *open, ts_text *out) {
    open_tuple *last = &open->items[open->count - 1];
    int i = last->printed++;
    if (i == last->tuple->tuple_count) {
        ts_text_add_char(out, ')');
        open->count--;
        return;
    }
    if (i > 0) ts_text_add(out, ", ");
    if (i > 0 && i % 5 == 0) ts_text_add(out, "/*index=%d*/", i);
    const ts_shape *member = last->tuple->members[i];
    if (member->xla->is_tuple)
        begin_tuple(open, member->xla, out);
    else
        print_array(member, out);
}

void ts_xla_print(const ts_shape *shape, ts_text *out) {
    assert(shape->xla != NULL);
    if (!shape->xla->is_tuple) {
        print_array(shape, out);
        return;
    }
    tuple_stack open = {.arena = ts_arena_new()};
    begin_tuple(&open, shape->xla, out);
    while (open.count > 0) print_member(&open, out);
    ts_arena_free(open.arena);
}
