/* Types of StableHLO, said as HLO. Source: openxla/stablehlo docs/spec.md (types). */
#include <string.h>

#include "hlo_mlir_private.h"

static const struct {
    const char *mlir, *hlo;
} types[] = {
    {"i1", "pred"},
    {"i2", "s2"},
    {"i4", "s4"},
    {"i8", "s8"},
    {"i16", "s16"},
    {"i32", "s32"},
    {"i64", "s64"},
    {"ui1", "u1"},
    {"ui2", "u2"},
    {"ui4", "u4"},
    {"ui8", "u8"},
    {"ui16", "u16"},
    {"ui32", "u32"},
    {"ui64", "u64"},
    {"complex<f32>", "c64"},
    {"complex<f64>", "c128"},
};

/* Behind the '>' that closes the '<' at `at`; "->" is no bracket. */
static const char *angle_end(const char *at, const char *end) {
    int64_t depth = 0;
    for (; at < end; at++)
        if (*at == '"')
            at = hlo_quote_end(at, end) - 1;
        else if (*at == '<')
            depth++;
        else if (*at == '>' && at[-1] != '-' && --depth == 0)
            return at + 1;
    return end;
}

/* Of "!quant.uniform<i8<-128:127>:f32, ..>" the type that is stored. */
static ts_span stored_type(const char *at, size_t length) {
    static const char quantized[] = "!quant.uniform<";
    ts_span type = {at, length};
    if (!ts_hlo_begins(type, quantized)) return type;
    type.text += sizeof quantized - 1;
    type.length = (size_t)(hlo_skip(type.text, at + length, HLO_WORD) - type.text);
    return type;
}

static void add_element(ts_text *out, const char *text, size_t bytes) {
    const ts_span type = stored_type(text, bytes);
    const char *at = type.text;
    size_t length = type.length;
    for (size_t i = 0; i < sizeof types / sizeof types[0]; i++) {
        if (strlen(types[i].mlir) != length || memcmp(types[i].mlir, at, length) != 0) continue;
        ts_text_add(out, "%s", types[i].hlo);
        return;
    }
    for (size_t i = 0; i < length; i++)
        ts_text_add_char(out, (char)(at[i] >= 'A' && at[i] <= 'Z' ? at[i] | 0x20 : at[i]));
}

/* The bound of a dim whose size is not known, of "#stablehlo.bounds<8, ?>" in the encoding; "": none. */
static ts_span bound_of(const char *encoding, const char *end, int dim) {
    static const char key[] = "bounds<";
    const char *at = encoding ? memmem(encoding, (size_t)(end - encoding), key, sizeof key - 1) : NULL;
    if (!at) return (ts_span){"", 0};
    ts_span rest = {at + sizeof key - 1, (size_t)(end - (at + sizeof key - 1))}, item = {"", 0};
    const char *close = memchr(rest.text, '>', rest.length);
    if (close) rest.length = (size_t)(close - rest.text);
    for (int i = 0; i <= dim; i++)
        if (!ts_hlo_next(&rest, &item)) return (ts_span){"", 0};
    return item.length > 0 && ts_is_digit(*item.text) ? item : (ts_span){"", 0};
}

/* 8x?x16xf32[, encoding] */
static void add_tensor(ts_text *out, const char *at, const char *end) {
    const char *dims = at, *comma = memchr(at, ',', (size_t)(end - at));
    int dim = 0;
    while (at < end) {
        const char *x = at;
        while (x < end && (ts_is_digit(*x) || *x == '?')) x++;
        if (x == at || x >= end || *x != 'x') break;
        at = x + 1;
    }
    const char *element_end = comma && comma > at ? comma : end;
    add_element(out, at, (size_t)(element_end - at));
    ts_text_add_char(out, '[');
    for (const char *c = dims; c + 1 < at; c++) {
        ts_span bound = *c == '?' ? bound_of(comma, end, dim) : (ts_span){"", 0};
        dim += *c == 'x';
        if (bound.length > 0)
            ts_text_add(out, "<=%.*s", (int)bound.length, bound.text);
        else
            ts_text_add_char(out, *c == 'x' ? ',' : *c);
    }
    ts_text_add_char(out, ']');
}

/* A word, which ends before a '>' that it did not open. */
static const char *word_end(const char *at, const char *end) {
    int64_t depth = 0;
    char before = ' ';
    for (; at < end && *at != ',' && *at != ')' && !hlo_is_space(*at); before = *at++) {
        depth += *at == '<';
        if (*at == '>' && before != '-' && --depth < 0) break;
    }
    return at;
}

/* A type that is no tuple. */
static const char *add_leaf(ts_text *out, const char *at, const char *end) {
    if (hlo_begins(at, end, "tensor<")) {
        const char *close = angle_end(at + 6, end);
        add_tensor(out, at + 7, close > at + 7 ? close - 1 : at + 7);
        return close;
    }
    const char *word = word_end(at, end);
    bool token = memmem(at, (size_t)(word - at), "token", 5) != NULL;
    if (token)
        ts_text_add(out, "token[]");
    else
        ts_text_add_bytes(out, at, (size_t)(word - at));
    return word;
}

/* Tuples may nest as deep as they like. */
const char *hlo_mlir_add_type(ts_text *out, const char *at, const char *end) {
    int64_t tuples = 0;
    for (bool more = true; more;) {
        at = hlo_skip_space(at, end);
        for (; hlo_begins(at, end, "tuple<"); at = hlo_skip_space(at + 6, end), tuples++)
            ts_text_add_char(out, '(');
        const char *before = at;
        at = add_leaf(out, at, end);
        bool moved = at > before;
        if (tuples > 0) at = hlo_skip_space(at, end);
        for (; tuples > 0 && at < end && *at == '>'; tuples--, moved = true) {
            ts_text_add_char(out, ')');
            at = hlo_skip_space(at + 1, end);
        }
        more = moved && tuples > 0 && at < end && *at == ',';
        if (more) ts_text_add(out, ", ");
        at += more;
    }
    for (; tuples > 0; tuples--) ts_text_add_char(out, ')');
    return at;
}
