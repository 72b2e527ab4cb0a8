/* Attributes of StableHLO's operations, said as HLO's: those that tell which dims an operation moves, sums
 * over or picks from. */
#include <string.h>

#include "hlo_mlir_private.h"

/* "1, 0" of "array<i64: 1, 0>", "1" of "dense<1>". */
static ts_span short_list(const char *at, const char *end) {
    const char *close = memchr(at, '>', (size_t)(end - at));
    const char *open = close ? memchr(at, *at == 'a' ? ':' : '<', (size_t)(close - at)) : NULL;
    return open ? (ts_span){open + 1, (size_t)(close - open - 1)} : (ts_span){"", 0};
}

/* The number-th list "[..]" behind `word =`, of "contracting_dims = [1] x [0]". */
static ts_span list_of(const char *at, const char *end, const char *word, int number) {
    const char *open = hlo_mlir_value_of(at, end, word), *close = NULL;
    if (open) open = hlo_skip_space(open, end);
    if (open && (hlo_begins(open, end, "array<") ||
                 (hlo_begins(open, end, "dense<") && !hlo_begins(open, end, "dense<["))))
        return short_list(open, end);
    for (; open && number >= 0; number--) {
        open = memchr(open, '[', (size_t)(end - open));
        close = open ? memchr(open, ']', (size_t)(end - open)) : NULL;
        if (number > 0) open = close;
    }
    return open && close ? (ts_span){open + 1, (size_t)(close - open - 1)} : (ts_span){"", 0};
}

/* Lists of dims of other operations, as both forms and HLO name them. */
static const struct {
    const char *opcode, *word;
    int number;
    const char *name;
} lists[] = {{"reduce", "dimensions", 0, "dimensions"},
             {"broadcast", "dims", 0, "dimensions"},
             {"broadcast", "broadcast_dimensions", 0, "dimensions"},
             {"dot", "batching_dims", 0, "lhs_batch_dims"},
             {"dot", "batching_dims", 1, "rhs_batch_dims"},
             {"dot", "contracting_dims", 0, "lhs_contracting_dims"},
             {"dot", "contracting_dims", 1, "rhs_contracting_dims"},
             {"dot", "lhs_batching_dimensions", 0, "lhs_batch_dims"},
             {"dot", "rhs_batching_dimensions", 0, "rhs_batch_dims"},
             {"dot", "lhs_contracting_dimensions", 0, "lhs_contracting_dims"},
             {"dot", "rhs_contracting_dimensions", 0, "rhs_contracting_dims"},
             {"gather", "offset_dims", 0, "offset_dims"},
             {"gather", "collapsed_slice_dims", 0, "collapsed_slice_dims"}};

static void add_lists(hlo_mlir *m, const char *opcode, const char *at, const char *end) {
    for (size_t i = 0; i < sizeof lists / sizeof lists[0]; i++) {
        if (strcmp(lists[i].opcode, opcode) != 0) continue;
        ts_span list = list_of(at, end, lists[i].word, lists[i].number);
        if (list.length == 0) continue;
        ts_text_add(&m->attributes, ", %s={", lists[i].name);
        for (size_t k = 0; k < list.length; k++)
            if (list.text[k] != ' ') ts_text_add_char(&m->attributes, list.text[k]);
        ts_text_add_char(&m->attributes, '}');
    }
}

/* dim_numbers = [b, 0, f]x[0, i, o]->[b, 0, f] or dimension_numbers = #stablehlo.conv<..> as
 * dim_labels=b0f_0io->b0f. */
static void add_labels(hlo_mlir *m, const char *opcode, const char *at, const char *end) {
    if (strcmp(opcode, "convolution") != 0) return;
    const char *word = hlo_mlir_value_of(at, end, "dim_numbers") ? "dim_numbers" : "dimension_numbers";
    for (int number = 0; number < 3; number++) {
        static const char *const before[] = {", dim_labels=", "_", "->"};
        ts_span list = list_of(at, end, word, number);
        if (list.length == 0) return;
        ts_text_add(&m->attributes, "%s", before[number]);
        for (size_t k = 0; k < list.length; k++)
            if (list.text[k] != ' ' && list.text[k] != ',') ts_text_add_char(&m->attributes, list.text[k]);
    }
}

/* "@name", but for a mesh "<@name, ..". */
static void add_callee(hlo_mlir *m, const char *opcode, const char *at, const char *end) {
    const char *callee = strcmp(opcode, "call") == 0 ? memchr(at, '@', (size_t)(end - at)) : NULL;
    while (callee && callee > at && callee[-1] == '<')
        callee = memchr(callee + 1, '@', (size_t)(end - callee) - 1);
    if (!callee) return;
    const char *behind = hlo_skip(++callee, end, HLO_NAME);
    ts_text_add(&m->attributes, ", callee=%.*s", (int)(behind - callee), callee);
}

/* dims = [1, 0], permutation = dense<[1, 0]> or array<i64: 1, 0>; slices [0:2, 1:3]. */
static void add_moved(hlo_mlir *m, const char *opcode, const char *at, const char *end) {
    bool transpose = strcmp(opcode, "transpose") == 0, slice = strcmp(opcode, "slice") == 0;
    const char *found = transpose ? hlo_mlir_value_of(at, end, "permutation") : NULL;
    if (transpose && !found) found = hlo_mlir_value_of(at, end, "dims");
    if (slice) found = memmem(at, (size_t)(end - at), " [", 2);
    if (!found) return;
    while (found < end && *found != '[' && *found != ':') found++;
    const char *close = found;
    while (close < end && *close != ']' && *close != '>') close++;
    ts_text_add(&m->attributes, transpose ? ", dimensions={" : ", slice={[");
    for (const char *c = found < end ? found + 1 : end; c < close; c++) {
        if (ts_is_digit(*c) || *c == ':') ts_text_add_char(&m->attributes, *c);
        if (*c == ',') ts_text_add(&m->attributes, transpose ? "," : "], [");
    }
    ts_text_add(&m->attributes, transpose ? "}" : "]}");
}

/* compare LT, %a, %b or comparison_direction = #stablehlo<comparison_direction LT>, as direction=LT. */
static void add_direction(hlo_mlir *m, const char *opcode, const char *at, const char *end) {
    static const char key[] = "comparison_direction ";
    if (strcmp(opcode, "compare") != 0) return;
    for (const char *found; (found = memmem(at, (size_t)(end - at), key, sizeof key - 1)) != NULL;)
        at = found + sizeof key - 1;
    while (at < end && (hlo_is_space(*at) || *at == '"' || *at == '=')) at++;
    const char *behind = at;
    while (behind < end && *behind >= 'A' && *behind <= 'Z') behind++;
    if (behind > at) ts_text_add(&m->attributes, ", direction=%.*s", (int)(behind - at), at);
}

/* dense<7> of one number. */
static void add_number(hlo_mlir *m, const char *opcode, const char *at, const char *end) {
    static const char key[] = "dense<";
    const char *found =
        strcmp(opcode, "constant") == 0 ? memmem(at, (size_t)(end - at), key, sizeof key - 1) : NULL;
    if (!found) return;
    const char *number = found + sizeof key - 1, *behind = number;
    while (behind < end && (hlo_is_name(*behind) || *behind == '+')) behind++;
    if (behind < end && *behind == '>') ts_text_add_bytes(&m->operands, number, (size_t)(behind - number));
}

void hlo_mlir_attributes(hlo_mlir *m, const char *opcode, const char *at, const char *end) {
    add_moved(m, opcode, at, end);
    add_lists(m, opcode, at, end);
    add_labels(m, opcode, at, end);
    add_callee(m, opcode, at, end);
    add_direction(m, opcode, at, end);
    add_number(m, opcode, at, end);
    hlo_mlir_add_groups(m, &m->attributes, opcode, at, end);
}
