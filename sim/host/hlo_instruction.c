/* HLO text: an instruction on a line, and what a line that ends early lacks. */
#include <string.h>

#include "hlo_private.h"
#include "host/hlo_opcode.h"

enum { LABELS_TRIED = 8 };

bool hlo_says_more(const char *at, const char *end) {
    return end - at >= 3 && memcmp(end - 3, "...", 3) == 0;
}

int64_t hlo_depth_of(const char *at, const char *end) {
    int64_t depth = 0;
    for (; (at = hlo_find(at, end, HLO_OPENS | HLO_CLOSES)) < end; at++)
        depth += hlo_is(*at, HLO_OPENS) ? 1 : -1;
    return depth;
}

/* Does the bracket end a computation: behind a blank, and before nothing or what begins another? */
static bool ends_computation(const char *bracket, const char *end) {
    const char *rest = hlo_skip_space(bracket + 1, end), first = rest < end ? *rest : '\0';
    bool name = first == '%' || (hlo_is_word(first) && !ts_is_digit(first));
    return hlo_is_space(bracket[-1]) && (bracket + 1 == end || name);
}

/* Where attributes end: before the bracket of their computation, or `end`. *depth: brackets that they leave
 * open. */
static const char *attributes_end(const char *attributes, const char *end, int64_t *depth) {
    *depth = 0;
    for (const char *at = attributes; (at = hlo_find(at, end, HLO_OPENS | HLO_CLOSES)) < end; at++) {
        if (*at == '}' && *depth == 0 && ends_computation(at, end)) return at;
        *depth += hlo_is(*at, HLO_OPENS) ? 1 : -1;
    }
    return end;
}

/* Reads attributes. True: the next line goes on with them, as they end in a comma or "=", or in brackets
 * that are open. */
static bool read_attributes(const char *at, const char *end, ts_hlo_instruction *i) {
    int64_t depth;
    const char *last = attributes_end(at, end, &depth);
    i->attributes = (ts_span){at, (size_t)(last - at)};
    while (last < end && i->attributes.length > 0 && hlo_is_space(at[i->attributes.length - 1]))
        i->attributes.length--;
    if (last < end || at == end || hlo_says_more(at, end)) return false;
    return end[-1] == ',' || end[-1] == '=' || depth > 0;
}

/* opcode "(" operands ")" attributes, at `at`. */
static hlo_answer read_operation(const char *at, const char *end, ts_hlo_instruction *i) {
    const char *word = at;
    while (word < end && (hlo_is_word(*word) || *word == '-')) word++;
    i->opcode = (ts_span){at, (size_t)(word - at)};
    if (word == at) {
        i->cut = true;
        return at >= end ? HLO_ENDS_EARLY : hlo_says_more(at, end) && *at == '.' ? HLO_WHOLE : HLO_NOT_ONE;
    }
    if (word >= end) { /* of which it may be a part */
        i->opcode.length = 0;
        return i->cut = true, HLO_ENDS_EARLY;
    }
    const char *bracket = hlo_skip_space(word, end);
    if (bracket > word && bracket < end && *bracket == '(' &&
        ts_hlo_opcode_find(i->opcode) != TS_HLO_OP_UNKNOWN)
        word = bracket; /* of the next line */
    if (*word != '(') {
        if (!hlo_says_more(word, end)) return HLO_NOT_ONE;
        return i->cut = true, HLO_WHOLE;
    }
    const char *close = hlo_bracket_end(word, end), *from = word + 1;
    i->cut = close == NULL;
    i->operands = (ts_span){from, (size_t)((close ? close - 1 : end) - from)};
    if (close && read_attributes(close, end, i)) return HLO_ENDS_EARLY;
    return close || hlo_says_more(from, end) ? HLO_WHOLE : HLO_ENDS_EARLY;
}

/* [ROOT] [%]name =, and where the text goes on; NULL: it is none. */
static const char *read_left_side(const char *at, const char *end, ts_hlo_instruction *i, bool *marked) {
    at = hlo_skip_space(at, end);
    if (end - at > 5 && memcmp(at, "ROOT", 4) == 0 && hlo_is_space(at[4])) {
        i->root = true;
        at = hlo_skip_space(at + 5, end);
    }
    *marked = at < end && *at == '%';
    const char *name = at += *marked;
    at = hlo_skip(at, end, HLO_NAME);
    i->name = (ts_span){name, (size_t)(at - name)};
    at = hlo_skip_space(at, end);
    return i->name.length == 0 || at >= end || *at != '=' ? NULL : hlo_skip_space(at + 1, end);
}

bool hlo_is_left_side(const char *at, const char *end, char next) {
    ts_hlo_instruction i = {0};
    bool marked;
    const char *right = read_left_side(at, end, &i, &marked);
    if (right) return right == end;
    if (ts_span_is((ts_span){at, (size_t)(end - at)}, "ROOT")) return true;
    return i.name.length > 0 && i.name.text + i.name.length == end && next == '=';
}

hlo_answer hlo_read_instruction(const char *at, const char *end, ts_hlo_instruction *i) {
    bool cut, marked;
    *i = (ts_hlo_instruction){0};
    at = read_left_side(at, end, i, &marked);
    if (at == NULL) return HLO_NOT_ONE;
    if (at >= end) return i->cut = true, marked ? HLO_ENDS_EARLY : HLO_NOT_ONE;
    const char *close = ts_hlo_shape_end(at, end, &cut);
    if (close == NULL && cut) {
        i->shape = (ts_span){at, (size_t)(end - at)};
        i->cut = true;
        return hlo_says_more(at, end) ? HLO_WHOLE : HLO_ENDS_EARLY;
    }
    if (close != NULL) {
        i->shape = (ts_span){at, (size_t)(close - at)};
        return read_operation(hlo_skip_space(close, end), end, i);
    }
    hlo_answer found = read_operation(at, end, i);
    return found != HLO_NOT_ONE && i->operands.text && ts_hlo_opcode_find(i->opcode) != TS_HLO_OP_UNKNOWN
               ? found
               : HLO_NOT_ONE;
}

hlo_answer hlo_read_labelled(const char *at, const char *end, ts_hlo_instruction *i) {
    const char *equals = at;
    for (int tried = 0; tried < LABELS_TRIED; tried++) {
        equals = memmem(equals, (size_t)(end - equals), " = ", 3);
        if (equals == NULL) break;
        const char *name = equals;
        while (name > at && name[-1] == ' ') name--;
        while (name > at && hlo_is_name(name[-1])) name--;
        static const char again[] = "from instruction: ";
        size_t length = sizeof again - 1, before = (size_t)(name - at);
        hlo_answer found = hlo_read_instruction(name, end, i);
        if (before > 0 && name[-1] == '%') before--;
        i->again = before >= length && memcmp(at + before - length, again, length) == 0;
        if (i->attributes.text)
            i->attributes.length = (size_t)(end - i->attributes.text); /* no computation's end */
        if (found != HLO_NOT_ONE) return found;
        equals += 3;
    }
    return HLO_NOT_ONE;
}
