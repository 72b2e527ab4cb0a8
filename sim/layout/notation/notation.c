/* The table of notations: which one a text is in, and its layout over the dims of an array. XLA's own is not
 * here: it is read together with the dims (xla_parse.c). */
#include "notation.h"

#include <ctype.h>
#include <inttypes.h>
#include <string.h>

#include "layout/notation/axe.h"
#include "layout/notation/cute.h"
#include "layout/notation/cute_axe.h"
#include "layout/notation/index_map.h"
#include "layout/notation/named.h"
#include "layout/notation/tiled.h"
#include "layout/notation/vpad.h"

static bool read_axe(ts_error *err, ts_arena *arena, ts_cursor *cursor, ts_notation_shape *shape) {
    ts_axe axe;
    if (!ts_axe_read(err, arena, cursor, &axe)) return false;
    ts_axe_print(&shape->text, &axe);
    shape->layout = ts_axe_layout(err, arena, &axe, shape->rank, shape->dims);
    return shape->layout != NULL;
}

/* A place holds one element: a map that is not injective is refused. */
static bool read_index_map(ts_error *err, ts_arena *arena, ts_cursor *cursor, ts_notation_shape *shape) {
    ts_index_map map;
    int64_t physical[TS_LAYOUT_MAX_AXES];
    if (!ts_index_map_read(err, arena, cursor, &map)) return false;
    ts_index_map_print(&shape->text, &map);
    if (map.rank != shape->rank)
        return ts_error_set(err, TS_ERROR_INPUT, "the map has %d logical indices, the array %d dimensions",
                            map.rank, shape->rank);
    if (!ts_index_map_need_injective(err, arena, &map, shape->dims)) return false;
    const ts_layout *layout = ts_index_map_layout(err, arena, &map, shape->dims, true);
    if (!layout || !ts_index_map_physical_shape(err, arena, &map, shape->dims, physical)) return false;
    ts_layout *known = TS_NEW(arena, ts_layout);
    *known = *layout;
    known->injective = true;
    shape->layout = known;
    shape->places = 1;
    for (int i = 0; i <= map.separator_count; i++) shape->places *= physical[i];
    return true;
}

static bool read_cute(ts_error *err, ts_arena *arena, ts_cursor *cursor, ts_notation_shape *shape) {
    ts_cute_map map;
    if (!ts_cute_read_map(err, arena, cursor, &map)) return false;
    ts_cute_print_map(&shape->text, &map);
    shape->layout = ts_cute_layout(err, arena, &map, shape->rank, shape->dims);
    return shape->layout != NULL;
}

static bool read_named(ts_error *err, ts_arena *arena, ts_cursor *cursor, ts_notation_shape *shape) {
    ts_named named;
    if (!ts_named_read(err, cursor, shape->element_bits, &named)) return false;
    ts_named_print(&shape->text, &named);
    shape->layout = ts_named_layout(err, arena, &named, shape->rank, shape->dims);
    return shape->layout != NULL;
}

/* A mask has the bits of what it masks. */
static bool read_vpad(ts_error *err, ts_arena *arena, ts_cursor *cursor, ts_notation_shape *shape) {
    ts_vpad vpad;
    if (!ts_vpad_read(err, cursor, &vpad)) return false;
    ts_vpad_print(&shape->text, &vpad);
    if (vpad.bits != shape->value_bits && shape->value_bits != 1)
        return ts_error_set(err, TS_ERROR_INPUT, "the layout is of elements of %d bits, these have %d",
                            vpad.bits, shape->value_bits);
    shape->element_bits = vpad.bits;
    shape->layout = ts_vpad_layout(err, arena, &vpad, shape->rank, shape->dims);
    return shape->layout != NULL;
}

static bool read_tiled(ts_error *err, ts_arena *arena, ts_cursor *cursor, ts_notation_shape *shape) {
    ts_tiled tiled;
    if (!ts_tiled_read(err, arena, cursor, &tiled)) return false;
    ts_tiled_print(&shape->text, &tiled);
    shape->layout = ts_tiled_layout(err, arena, &tiled, shape->rank, shape->dims);
    return shape->layout != NULL;
}

enum { AXE, TVM, CUTE, NAME, VPAD, TILED };
static const ts_notation notations[] = {
    [AXE] = {"axe", read_axe, "S[ R[ O[ SW("},       [TVM] = {"tvm", read_index_map, "lambda"},
    [CUTE] = {"cute", read_cute, "S< Sw< Swizzle<"}, [NAME] = {"name", read_named, ""},
    [VPAD] = {"vpad", read_vpad, "vpad<"},           [TILED] = {"tiled", read_tiled, "tiled<"},
};
enum { NOTATIONS = sizeof notations / sizeof notations[0] };

/* ---- Which one. A look at the first words is enough. ---- */

/* "8:.." and "8" are CuTe's, "8 + S[..]" and "8@x" offsets of Axe's. */
static int by_number(ts_cursor at) {
    while (at.at < at.source->length && strchr("-_0123456789", at.source->text[at.at])) at.at++;
    int next = ts_cursor_peek(&at);
    return next == '+' || next == '@' ? AXE : CUTE;
}

/* "(8 4 / ..)" is a matrix of Axe's, "(8,4):.." CuTe's. */
static int by_bracket(ts_cursor at) {
    for (size_t i = at.at; i < at.source->length; i++) {
        if (at.source->text[i] == '/') return AXE;
        if (at.source->text[i] == ')' || at.source->text[i] == ':') break;
    }
    return CUTE;
}

/* Whether a name with `next` behind it is one of a notation's words. */
static bool is_one_of(const char *words, const char *name, size_t length, int next) {
    bool apart = !isalnum(next); /* not the next letter of a longer word: blanks are passed over */
    for (const char *word = words; *word; word += strspn(word, " ")) {
        bool same = strncmp(word, name, length) == 0;
        size_t behind = same ? strcspn(word + length, " ") : 0;
        if (same && (behind == 0 || (behind == 1 && apart && word[length] == next))) return true;
        word += strcspn(word, " ");
    }
    return false;
}

/* A word of small letters is a name only if it is one: any word may follow a shape. "S" is "S(n)". */
static bool is_name(ts_cursor at, const char *name, size_t length) {
    ts_named named;
    bool capital = false;
    for (size_t i = 0; i < length; i++) capital = capital || isupper((unsigned char)name[i]);
    if (capital) return length > 1 || name[0] != 'S';
    return ts_named_read(NULL, &at, 8, &named);
}

/* "#tpu.vpad<..>" and "#tpu.tiled<..>", as MLIR writes them. */
static int by_word(ts_cursor at) {
    const char *name;
    size_t length;
    ts_cursor_take(&at, "#tpu.");
    ts_cursor start = at;
    if (!ts_cursor_name(&at, &name, &length)) return -1;
    int next = ts_cursor_peek(&at);
    for (int i = 0; i < NOTATIONS; i++)
        if (is_one_of(notations[i].words, name, length, next)) return i;
    if (next == '+') return AXE;
    if (next == '(' && length == 1 && *name == 'T') return -1; /* XLA's, without its braces */
    return is_name(start, name, length) ? NAME : -1;
}

const ts_notation *ts_notation_find(const ts_cursor *cursor) {
    ts_cursor at = *cursor;
    int c = ts_cursor_peek(&at), which;
    if (c == '[' || c == '"' || c == '\'')
        which = AXE;
    else if (c == '(')
        which = by_bracket(at);
    else if (c == '-' || (c >= '0' && c <= '9'))
        which = by_number(at);
    else if (c == '_' && at.at + 1 < at.source->length && isdigit((unsigned char)at.source->text[at.at + 1]))
        which = CUTE;
    else
        which = by_word(at);
    return which < 0 ? NULL : &notations[which];
}
