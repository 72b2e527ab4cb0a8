/* The table of notations, and which one a text is in. XLA's own is not here: it is read together with the
 * dims (xla_parse.c). */
#include "notation.h"

#include <ctype.h>
#include <string.h>

enum {
#define NOTATION(name, words) NOTATION_##name,
#include "notations.def"
    NOTATIONS
};
static const ts_notation notations[] = {
#define NOTATION(name, words) {#name, ts_notation_read_##name, words},
#include "notations.def"
};

/* ---- Which one. A look at the first words is enough. ---- */

/* "8:.." and "8" are CuTe's, "8 + S[..]" and "8@x" offsets of Axe's. */
static int by_number(ts_cursor at) {
    while (at.at < at.source->length && strchr("-_0123456789", at.source->text[at.at])) at.at++;
    int next = ts_cursor_peek(&at);
    return next == '+' || next == '@' ? NOTATION_axe : NOTATION_cute;
}

/* "(8 4 / ..)" is a matrix of Axe's, "(8,4):.." CuTe's. */
static int by_bracket(ts_cursor at) {
    for (size_t i = at.at; i < at.source->length; i++) {
        if (at.source->text[i] == '/') return NOTATION_axe;
        if (at.source->text[i] == ')' || at.source->text[i] == ':') break;
    }
    return NOTATION_cute;
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

/* What pycute and TVM print, of which the first name does not tell. */
static const struct {
    const char *begins;
    int which;
} prints[] = {
    {"SW_", NOTATION_cute},
    {"T.index_map(", NOTATION_tvm},
    {"T.TileLayout(", NOTATION_axe},
    {"T.ComposeLayout(", NOTATION_axe},
};

/* "#tpu.vpad<..>" and "#tpu.tiled<..>", as MLIR writes them. */
static int by_word(ts_cursor at) {
    ts_span name;
    ts_cursor_take(&at, "#tpu.");
    const ts_cursor start = at;
    for (size_t i = 0; i < sizeof prints / sizeof prints[0]; i++)
        if (ts_cursor_take(&at, prints[i].begins)) return prints[i].which;
    if (!ts_cursor_name(&at, &name)) return -1;
    int next = ts_cursor_peek(&at);
    for (int i = 0; i < NOTATIONS; i++)
        if (is_one_of(notations[i].words, name.text, name.length, next)) return i;
    if (next == '+') return NOTATION_axe;
    if (next == '(' && name.length == 1 && *name.text == 'T') return -1; /* XLA's, without its braces */
    return ts_named_is(start) ? NOTATION_name : -1;
}

const ts_notation *ts_notation_find(const ts_cursor *cursor) {
    ts_cursor at = *cursor;
    int c = ts_cursor_peek(&at), which;
    if (c == '[' || c == '"' || c == '\'')
        which = NOTATION_axe;
    else if (c == '(')
        which = by_bracket(at);
    else if (c == '-' || ts_is_digit(c))
        which = by_number(at);
    else if (c == '_' && at.at + 1 < at.source->length && isdigit((unsigned char)at.source->text[at.at + 1]))
        which = NOTATION_cute;
    else
        which = by_word(at);
    return which < 0 ? NULL : &notations[which];
}
