/* Text around HLO: out-of-memory reports with the sizes that the compiler computed, and shapes in messages.
 *
 *   1. Size: 8.00G
 *      Operator: op_name="..."
 *      Shape: f32[16,16,1024,1024]{1,3,2,0:T(8,128)}
 *      Unpadded size: 1.00G
 *      Extra memory due to padding: 7.00G (8.0x expansion)
 *      XLA label: copy.remat = copy(Arg_0.1)
 *      ========================== */
#include <stdio.h>
#include <string.h>

#include "audit_state.h"

enum { LOOK_BACK = 48 };

/* The word behind `label` in the text; without the label `out` stays as it is. */
static void word_after(ts_span text, const char *label, char *out, size_t size) {
    const char *at = ts_hlo_find(text, label), *end = text.text + text.length;
    size_t length = 0;
    if (!at) return;
    while (at < end && *at == ' ') at++;
    while (at < end && *at != ' ' && *at != ',' && *at != ')' && length + 1 < size) out[length++] = *at++;
    out[length] = '\0';
    if (length > 2 && strcmp(out + length - 2, "iB") == 0) out[length - 2] = '\0';
}

void audit_close_block(ts_audit *a) {
    report_block *block = &a->block;
    if (!block->open) return;
    block->open = false;
    if (!block->shape[0]) {
        audit_note(a, 1, block->line, "reported allocations without a shape", (ts_span){"", 0});
        audit_keep_block(a, AUDIT_NONE);
        return;
    }
    int32_t shape = audit_intern(a, block->line, (ts_span){block->shape, strlen(block->shape)});
    if (shape == AUDIT_NONE) return;
    shape = audit_with_tiles(a, block->line, shape, block->size);
    audit_keep_block(a, shape);
    if (!a->shapes[shape].is_tuple)
        audit_add_buffer(a, block->line, (ts_span){"", 0}, TS_HLO_OP_UNKNOWN, shape);
    bool printed = ts_is_digit(block->size[0]);
    if (printed) audit_compare(a, block->line, shape, block->size, block->expansion);
}

static void open_block(ts_audit *a, int64_t line) {
    audit_close_block(a);
    a->block = (report_block){.open = true, .line = line};
}

/* "size 5242880", "size=5.00MiB" before the shape; `failed`: that of an allocation, which holds for all of
 * the text. */
static bool size_before(const char *failed, const char *shape, const char *after, char out[AUDIT_SIZE]) {
    ts_span before = {shape - (shape - after < LOOK_BACK ? shape - after : LOOK_BACK), 0};
    before.length = (size_t)(shape - before.text);
    const char *key = failed, *end = shape;
    if (!key) {
        for (const char *at = before.text; (at = memmem(at, (size_t)(end - at), "size", 4)) != NULL; at += 4)
            key = at + 4;
        while (key && key < end && (*key == ' ' || *key == '=' || *key == ':')) key++;
    }
    int64_t bytes;
    return key && key < end && audit_read_size((ts_span){key, (size_t)(end - key)}, out, &bytes) != NULL;
}

static bool read_shapes(ts_audit *a, int64_t line, ts_span text) {
    ts_span rest = text, found;
    const char *after = text.text, *failed = ts_hlo_find(text, "Allocation (size=");
    char size[AUDIT_SIZE];
    bool any = false;
    while (ts_hlo_find_shape(&rest, &found)) {
        bool reported = size_before(failed, found.text, after, size);
        int32_t shape = audit_intern(a, line, found);
        after = rest.text;
        any = true;
        if (shape == AUDIT_NONE || a->shapes[shape].is_tuple) continue;
        shape = audit_with_tiles(a, line, shape, reported ? size : "");
        audit_add_buffer(a, line, (ts_span){"", 0}, TS_HLO_OP_UNKNOWN, shape);
        if (reported) audit_compare(a, line, shape, size, "");
    }
    return any;
}

/* What follows a label, wherever a log puts it; NULL: it is not there. Logs write a time and a location
 * before the line. */
static const char *behind(ts_span text, const char *label) {
    const char *at = ts_hlo_find(text, label), *begin = at ? at - strlen(label) : NULL;
    return at && (begin == text.text || begin[-1] == ' ' || begin[-1] == '\t') ? at : NULL;
}

static bool is_size(ts_span text) {
    const char *at = behind(text, "Size: ");
    return at && at < text.text + text.length && ts_is_digit(*at);
}

static void read_block_shape(ts_audit *a, int64_t line, ts_span text, const char *at) {
    report_block *block = &a->block;
    if (!block->open || block->shape[0]) open_block(a, line);
    ts_span shape = ts_hlo_trim((ts_span){at, (size_t)(text.text + text.length - at)});
    if (shape.length < sizeof block->shape)
        memcpy(block->shape, shape.text, shape.length);
    else
        audit_note(a, 1, line, "a reported shape that is too long to keep", shape);
}

/* What else an entry says of its allocation. */
static void read_entry(report_block *block, ts_span text) {
    const char *kind = behind(text, "Allocation type: ");
    if (behind(text, "Extra memory due to padding:"))
        word_after(text, "(", block->expansion, sizeof block->expansion);
    else if (behind(text, "XLA Label: ")) /* of a GPU's compiler: an opcode */
        word_after(text, "XLA Label: ", block->kind, sizeof block->kind);
    else if (kind)
        snprintf(block->kind, sizeof block->kind, "%.*s", (int)(text.text + text.length - kind), kind);
}

void audit_message(ts_audit *a, int64_t line, ts_span text) {
    report_block *block = &a->block;
    const char *shape = behind(text, "Shape: "), *parameter = behind(text, "Entry Parameter Subshape: ");
    bool ends = ts_hlo_begins(text, "=") || memmem(text.text, text.length, "=====", 5) != NULL;
    if (ends) audit_close_block(a);
    if (is_size(text)) {
        open_block(a, line);
        word_after(text, "Size: ", block->size, sizeof block->size);
    } else if (shape || parameter) {
        read_block_shape(a, line, text, shape ? shape : parameter);
        if (parameter) snprintf(block->kind, sizeof block->kind, "entry parameter");
    } else if (block->open) {
        read_entry(block, text);
    } else if (!ends && !behind(text, "Allocation type: ")) {
        audit_line read = audit_memory_line(a, line, text);
        bool known = read == AUDIT_LINE_ALL || read_shapes(a, line, text);
        if (!known && read == AUDIT_LINE_NONE) audit_note(a, 1, line, "lines that are no HLO", text);
    }
}
