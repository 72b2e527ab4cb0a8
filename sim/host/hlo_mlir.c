/* StableHLO and MHLO, a line at a time, said as HLO: functions, operations and their operands.
 * Source: openxla/stablehlo docs/spec.md (operations) and the pretty forms that its printer makes. */
#include <string.h>

#include "hlo_mlir_private.h"

static const struct {
    const char *mlir, *hlo;
} operations[] = {
    {"dot-general", "dot"},
    {"broadcast-in-dim", "broadcast"},
    {"dynamic-broadcast-in-dim", "broadcast"},
    {"dynamic-iota", "iota"},
    {"dynamic-gather", "gather"},
    {"dynamic-pad", "pad"},
    {"dynamic-conv", "convolution"},
    {"real-dynamic-slice", "dynamic-slice"},
    {"torch-index-select", "gather"},
    {"create-token", "after-all"},
    {"composite", "call"},
    {"case", "conditional"},
    {"if", "conditional"},
    {"sharding-constraint", "optimization-barrier"},
    {"propagation-barrier", "optimization-barrier"},
    {"manual-computation", "call"}, /* whose body follows, and is the caller's */
    {"named-computation", "call"},
    {"top-k", "topk"},
};

/* ---- Lists ---- */

/* As ts_hlo_next, where '<' and '>' are brackets too. */
static bool next_item(ts_span *rest, ts_span *item) {
    const char *at = rest->text, *end = at + rest->length;
    int64_t depth = 0;
    if (rest->length == 0) return false;
    for (; at < end && (*at != ',' || depth > 0); at++)
        if (*at == '"')
            at = hlo_quote_end(at, end) - 1;
        else if (strchr("([{<", *at) && *at)
            depth++;
        else if (*at == ')' || *at == ']' || *at == '}' || (*at == '>' && at[-1] != '-'))
            depth--;
    if (at > end) at = end;
    *item = (ts_span){rest->text, (size_t)(at - rest->text)};
    if (at < end) at++;
    *rest = (ts_span){at, (size_t)(end - at)};
    return true;
}

/* The last " : " outside brackets: what follows are types. */
static const char *find_types(const char *at, const char *end) {
    const char *found = NULL;
    int64_t depth = 0;
    for (; at < end; at++) {
        char c = *at;
        if (c == '"')
            at = hlo_quote_end(at, end) - 1;
        else if (c == '(' || c == '[' || c == '{' || c == '<')
            depth++;
        else if (c == ')' || c == ']' || c == '}' || (c == '>' && at[-1] != '-'))
            depth--;
        else if (c == ':' && depth <= 0 && at + 1 < end && at[1] == ' ')
            found = at + 2;
    }
    return found;
}

/* ---- Operations ---- */

static void copy_opcode(char out[HLO_MLIR_NAME], const char *at, size_t length) {
    if (length >= HLO_MLIR_NAME) length = HLO_MLIR_NAME - 1;
    for (size_t i = 0; i < length; i++) out[i] = (char)(at[i] == '_' ? '-' : at[i]);
    out[length] = '\0';
    for (size_t i = 0; i < sizeof operations / sizeof operations[0]; i++)
        if (strcmp(operations[i].mlir, out) == 0) strcpy(out, operations[i].hlo);
}

/* Behind the next '%' outside braces from `at`; NULL: none. */
static const char *next_mark(const char *at, const char *end) {
    int64_t depth = 0;
    for (; at < end; at++)
        if (*at == '"')
            at = hlo_quote_end(at, end) - 1;
        else if (*at == '{')
            depth++;
        else if (*at == '}')
            depth--;
        else if (*at == '%' && depth <= 0)
            return at + 1;
    return NULL;
}

/* The next "%name" outside braces from `at`, but for those that a loop calls others, "%name = %other"; NULL:
 * none. */
static const char *next_value(const char *at, const char *end, ts_span *name) {
    const char *from;
    do {
        from = at = next_mark(at, end);
        while (at && at < end && (hlo_is_name(*at) || *at == '#')) at++;
    } while (at && hlo_begins(at, end, " = "));
    if (at) *name = (ts_span){from, (size_t)(at - from)};
    return at;
}

static ts_span span_of(const ts_text *text) {
    return (ts_span){text->bytes ? text->bytes : "", text->length};
}

/* Of several results the last alone is kept, or a tuple of all. */
typedef enum { AS_WRITTEN, AS_TUPLE } result_form;

/* The types at `at`: the last one alone, or all as a tuple. */
static void add_result_types(hlo_mlir *m, const char *at, const char *end, result_form form) {
    bool tuple = form == AS_TUPLE;
    if (at < end && *at == '(') at++;
    if (tuple) ts_text_add_char(&m->shape, '(');
    for (;;) {
        const char *before = at;
        at = hlo_skip_space(hlo_mlir_add_type(&m->shape, at, end), end);
        if (at == before || at >= end || *at != ',') break;
        at++;
        if (tuple)
            ts_text_add(&m->shape, ", ");
        else
            ts_text_clear(&m->shape);
    }
    if (tuple) ts_text_add_char(&m->shape, ')');
}

/* Behind the "->" that follows one type without brackets; NULL: none does. */
static const char *behind_arrow(hlo_mlir *m, const char *at, const char *end) {
    if (at >= end || *at == '(' || !memmem(at, (size_t)(end - at), "->", 2)) return NULL;
    at = hlo_skip_space(hlo_mlir_add_type(&m->shape, at, end), end);
    ts_text_clear(&m->shape);
    return hlo_begins(at, end, "->") ? hlo_skip_space(at + 2, end) : NULL;
}

/* Of values that all have this type. */
static void add_alike(hlo_mlir *m, const char *values, const char *values_end, ts_span type) {
    ts_span name;
    while ((values = next_value(values, values_end, &name)) != NULL) {
        if (m->operands.length > 0) ts_text_add(&m->operands, ", ");
        ts_text_add_bytes(&m->operands, type.text, type.length);
        ts_text_add(&m->operands, " %%%.*s", (int)name.length, name.text);
    }
}

/* "a -> b". */
static void add_arrow_types(hlo_mlir *m, const char *values, const char *values_end, const char *at,
                            const char *result, const char *end) {
    hlo_mlir_add_type(&m->shape, at, end);
    add_alike(m, values, values_end, span_of(&m->shape));
    ts_text_clear(&m->shape);
    add_result_types(m, result, end, *result == '(' ? AS_TUPLE : AS_WRITTEN);
}

/* Operands with their types, and the results' type: of "(a, b) -> c", or of "a" that all share, or of "a,
 * b". */
static void add_types(hlo_mlir *m, const char *values, const char *values_end, const char *at,
                      const char *end, result_form form) {
    ts_span name;
    at = hlo_skip_space(at, end);
    const char *behind = behind_arrow(m, at, end);
    if (behind && behind < end) return add_arrow_types(m, values, values_end, at, behind, end);
    const char *close = at < end && *at == '(' ? hlo_bracket_end(at, end) : NULL;
    const char *arrow = close ? hlo_skip_space(close, end) : NULL;
    bool function = arrow && hlo_begins(arrow, end, "->");
    const char *type = at + 1;
    while (function && (values = next_value(values, values_end, &name)) != NULL && type < close - 1) {
        if (m->operands.length > 0) ts_text_add(&m->operands, ", ");
        const char *before = type;
        type = hlo_skip_space(hlo_mlir_add_type(&m->operands, type, close - 1), close - 1);
        if (type == before) break;
        if (type < close - 1 && *type == ',') type++;
        ts_text_add(&m->operands, " %%%.*s", (int)name.length, name.text);
    }
    const char *result = function ? hlo_skip_space(arrow + 2, end) : at;
    bool tuple = form == AS_TUPLE || (result < end && *result == '(');
    add_result_types(m, result, end, tuple ? AS_TUPLE : AS_WRITTEN);
    if (!function) add_alike(m, values, values_end, tuple ? (ts_span){"", 0} : span_of(&m->shape));
}

static void clear(hlo_mlir *m) {
    ts_text_clear(&m->shape);
    ts_text_clear(&m->operands);
    ts_text_clear(&m->attributes);
}

/* %name[:n] = ["]dialect.operation["], or "%name, %other = ..", and what is behind it. */
typedef struct {
    ts_span name;
    bool many;
    char opcode[HLO_MLIR_NAME];
    const char *rest;
} operation_head;

static bool read_head(const char *at, const char *end, operation_head *head) {
    const char *name = at + 1, *word = name, *dot = NULL;
    word = hlo_skip(word, end, HLO_NAME);
    head->name = (ts_span){name, (size_t)(word - name)};
    head->many = word < end && (*word == ':' || *word == ',');
    while (word < end && (*word == ':' || ts_is_digit(*word))) word++;
    while (word < end && (*word == ',' || *word == '%' || *word == ' ' || hlo_is_name(*word))) word++;
    word = hlo_skip_space(word, end);
    if (head->name.length == 0 || word >= end || *word != '=') return false;
    word = hlo_skip_space(word + 1, end);
    if (word < end && *word == '"') word++;
    const char *operation = word;
    for (; word < end && hlo_is_name(*word); word++)
        if (*word == '.') dot = word;
    if (hlo_begins(operation, end, "call ")) dot = operation - 1;
    if (!dot) return false;
    copy_opcode(head->opcode, dot + 1, (size_t)(word - dot - 1));
    head->rest = word < end && *word == '"' ? word + 1 : word;
    return true;
}

/* The operands and attributes of an operation, whose types follow its body. */
static void keep_head(hlo_mlir *m, const operation_head *head, const char *end) {
    const char *at = head->rest, *close = at < end && *at == '(' ? hlo_bracket_end(at, end) : NULL;
    clear(m);
    hlo_mlir_attributes(m, head->opcode, at, end);
    ts_text_add_bytes(&m->body_operands, at, close ? (size_t)(close - at) : 0);
    ts_text_add_bytes(&m->body_attributes, m->attributes.bytes, m->attributes.length);
}

/* Of an operation whose body follows: what runs it is known, all else in it is passed over. */
static void open_operation(hlo_mlir *m, hlo_teller *teller, const operation_head *head, const char *end) {
    if (m->open_count == HLO_MLIR_OPEN) return;
    struct hlo_open *open = &m->open[m->open_count++];
    size_t length = head->name.length < HLO_MLIR_NAME ? head->name.length : HLO_MLIR_NAME - 1;
    *open = (struct hlo_open){.depth = m->depth,
                              .line = teller->line,
                              .operands_at = m->body_operands.length,
                              .attributes_at = m->body_attributes.length};
    memcpy(open->name, head->name.text, length);
    strcpy(open->opcode, head->opcode);
    if (m->muted_above < 0) keep_head(m, head, end);
    if (strcmp(head->opcode, "while") == 0)
        hlo_mlir_begin_region(m, teller, TS_HLO_CONDITION, m->depth);
    else if (strcmp(head->opcode, "conditional") == 0)
        hlo_mlir_begin_region(m, teller, TS_HLO_BRANCH, m->depth);
    else if (m->muted_above < 0)
        m->muted_above = m->depth;
}

/* What a line is. */
typedef enum { IS_NOTHING, IS_KNOWN, IS_INSTRUCTION } line_answer;

static line_answer read_operation(hlo_mlir *m, hlo_teller *teller, const char *at, const char *end,
                                  ts_hlo_instruction *i) {
    operation_head head;
    if (!read_head(at, end, &head)) return IS_NOTHING;
    if (strcmp(head.opcode, "while") == 0) hlo_mlir_loop(m, teller, head.rest, end);
    if (end - at > 2 && end[-1] == '{' && end[-2] == '(') {
        open_operation(m, teller, &head, end);
        return IS_KNOWN;
    }
    if (m->muted_above >= 0) return IS_KNOWN;
    const char *found = find_types(head.rest, end);
    clear(m);
    hlo_mlir_attributes(m, head.opcode, head.rest, end);
    if (found) add_types(m, head.rest, found, found, end, head.many ? AS_TUPLE : AS_WRITTEN);
    /* The opcode is kept in front of the attributes, where it lives as long as they do. */
    size_t length = strlen(head.opcode);
    ts_text_add(&m->attributes, "%s", head.opcode);
    ts_span all = span_of(&m->attributes);
    *i = (ts_hlo_instruction){.line = teller->line,
                              .name = head.name,
                              .shape = span_of(&m->shape),
                              .operands = span_of(&m->operands),
                              .opcode = {all.text + all.length - length, length},
                              .attributes = {all.text, all.length - length},
                              .cut = found == NULL && end[-1] != '{', /* whose types follow its body */
                              .mlir = true};
    return IS_INSTRUCTION;
}

/* What keep_head kept of it, with the types on this line; it is open no more. */
static void take_head(hlo_mlir *m, const struct hlo_open *open, const char *types, const char *end) {
    const char *values = m->body_operands.bytes + open->operands_at;
    const char *values_end = m->body_operands.bytes + m->body_operands.length;
    clear(m);
    if (types) add_types(m, values, values_end, types, end, AS_WRITTEN);
    ts_text_add_bytes(&m->attributes, m->body_attributes.bytes + open->attributes_at,
                      m->body_attributes.length - open->attributes_at);
    m->body_operands.length = open->operands_at;
    m->body_attributes.length = open->attributes_at;
}

/* }) {attributes} : (types) -> types */
static line_answer close_operation(hlo_mlir *m, const char *at, const char *end, ts_hlo_instruction *i) {
    if (m->open_count == 0) return IS_KNOWN;
    struct hlo_open *open = &m->open[--m->open_count];
    const char *found = find_types(at + 2, end);
    if (m->muted_above >= open->depth) m->muted_above = -1;
    if (m->muted_above >= 0) return IS_KNOWN;
    take_head(m, open, found, end);
    hlo_mlir_attributes(m, open->opcode, at, end);
    *i = (ts_hlo_instruction){.line = open->line,
                              .name = {open->name, strlen(open->name)},
                              .shape = span_of(&m->shape),
                              .opcode = {open->opcode, strlen(open->opcode)},
                              .operands = span_of(&m->operands),
                              .attributes = span_of(&m->attributes),
                              .cut = found == NULL,
                              .mlir = true};
    return IS_INSTRUCTION;
}

/* "%arg0: tensor<8xf32>, .." */
static void read_parameters(hlo_mlir *m, ts_span list, hlo_teller *teller) {
    ts_span item, value;
    while (next_item(&list, &item)) {
        const char *type = memchr(item.text, ':', item.length);
        if (!type || !next_value(item.text, type, &value)) continue;
        clear(m);
        hlo_mlir_add_type(&m->shape, type + 1, item.text + item.length);
        ts_hlo_instruction i = {.line = teller->line,
                                .name = value,
                                .shape = span_of(&m->shape),
                                .opcode = {"parameter", 9},
                                .operands = {"", 0},
                                .attributes = {"", 0},
                                .mlir = true};
        hlo_tell_instruction(teller, &i);
    }
}

static void begin_function(hlo_mlir *m, ts_span name, bool entry, hlo_teller *teller) {
    hlo_mlir_end_regions(m, teller, INT64_MIN);
    teller->counts.computations++;
    m->in_function = true;
    m->function_depth = m->depth;
    if (teller->events->computation)
        teller->events->computation(teller->events->self, teller->line, name, entry);
}

/* func.func [public] @name(%arg0: tensor<..> {..}, ...) -> .. { */
static void read_function(hlo_mlir *m, const char *at, const char *end, hlo_teller *teller) {
    bool entry = memmem(at, (size_t)(end - at), " private ", 9) == NULL;
    const char *name = memchr(at, '@', (size_t)(end - at));
    if (!name) return;
    const char *behind = hlo_skip(++name, end, HLO_NAME);
    begin_function(m, (ts_span){name, (size_t)(behind - name)}, entry, teller);
    const char *close = behind < end && *behind == '(' ? hlo_bracket_end(behind, end) : NULL;
    if (close) read_parameters(m, (ts_span){behind + 1, (size_t)(close - 1 - behind - 1)}, teller);
}

/* "func.func"() <{.., sym_name = "name", sym_visibility = "private"}> ({, whose first block has the
 * parameters. */
static void read_generic_function(hlo_mlir *m, const char *at, const char *end, hlo_teller *teller) {
    static const char key[] = "sym_name = \"", hidden[] = "sym_visibility = \"private\"";
    const char *name = memmem(at, (size_t)(end - at), key, sizeof key - 1);
    bool entry = memmem(at, (size_t)(end - at), hidden, sizeof hidden - 1) == NULL;
    if (!name) return;
    const char *behind = name += sizeof key - 1;
    while (behind < end && *behind != '"') behind++;
    begin_function(m, (ts_span){name, (size_t)(behind - name)}, entry, teller);
}

/* ^bb0(%arg0: tensor<..>, ..): of a function. */
static void read_block(hlo_mlir *m, const char *at, const char *end, hlo_teller *teller) {
    const char *open = memchr(at, '(', (size_t)(end - at)), *close = open ? hlo_bracket_end(open, end) : NULL;
    if (close && m->in_function && m->depth == m->function_depth + 1)
        read_parameters(m, (ts_span){open + 1, (size_t)(close - 1 - open - 1)}, teller);
}

/* return %a, %b : types; what is within an operation's body is none of the function's. */
static void read_return(const hlo_mlir *m, const char *at, const char *end, const ts_hlo_events *events) {
    ts_span values = hlo_mlir_values(at, end);
    if (values.length > 0 && events->returns && m->muted_above < 0 && m->in_function)
        events->returns(events->self, values);
}

static int64_t braces(const char *at, const char *end) {
    int64_t depth = 0;
    for (; at < end; at++)
        if (*at == '"')
            at = hlo_quote_end(at, end) - 1;
        else
            depth += (*at == '{') - (*at == '}');
    return depth;
}

static bool is_known(const char *at, const char *end) {
    static const char *const words[] = {
        "module",  "\"builtin.module\"", "return", "stablehlo.", "mhlo.", "\"stablehlo.",
        "\"mhlo.", "reducer(",           "cond",   "do ",        "} do",  "sdy."};
    for (size_t k = 0; k < sizeof words / sizeof words[0]; k++)
        if (hlo_begins(at, end, words[k])) return true;
    return *at == '}' || *at == '{';
}

/* Functions and what is passed over, that begin or end on the line. */
static void count_depth(hlo_mlir *m, const char *at, const char *end, hlo_teller *teller,
                        ts_hlo_instruction *i) {
    i->lost = m->lost_above >= 0 && m->depth > m->lost_above;
    m->depth += braces(at, end);
    if (m->depth <= m->lost_above) m->lost_above = -1;
    if (*at == '}' && m->depth <= m->muted_above) m->muted_above = -1;
    if (m->in_function && m->depth <= m->function_depth) {
        hlo_mlir_end_regions(m, teller, INT64_MIN);
        m->in_function = false;
        if (teller->events->end) teller->events->end(teller->events->self);
    }
}

/* What is no operation; false: nothing that is known. */
static bool read_other(hlo_mlir *m, const char *at, const char *end, hlo_teller *teller) {
    if (hlo_begins(at, end, "func.func"))
        read_function(m, at, end, teller);
    else if (hlo_begins(at, end, "\"func.func\""))
        read_generic_function(m, at, end, teller);
    else if (*at == '^')
        read_block(m, at, end, teller);
    else if (hlo_begins(at, end, "return ") || hlo_begins(at, end, "func.return ") ||
             hlo_begins(at, end, "\"func.return\""))
        read_return(m, at, end, teller->events);
    else if (hlo_begins(at, end, "reducer(") && m->muted_above < 0)
        m->muted_above = m->depth;
    else
        return hlo_mlir_mesh(m, at, end) || is_known(at, end);
    return true;
}

void hlo_mlir_begin(hlo_mlir *m, ts_arena *arena) {
    ts_text *const texts[] = {&m->shape,         &m->operands,        &m->attributes,
                              &m->body_operands, &m->body_attributes, &m->meshes};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) *texts[i] = ts_text_begin(arena);
    m->muted_above = m->lost_above = -1;
}

bool hlo_mlir_is_dialect(const char *at, const char *end) {
    static const char *const words[] = {"module ", "func.func ", "\"func.func\"", "\"builtin.module\""};
    size_t length = (size_t)(end - at);
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (length > strlen(words[i]) && hlo_begins(at, end, words[i])) return true;
    return memmem(at, length, "stablehlo.", 10) != NULL || memmem(at, length, "mhlo.", 5) != NULL;
}

bool hlo_mlir_tell(hlo_mlir *m, hlo_teller *teller, const char *at, const char *end) {
    ts_hlo_instruction i = {0};
    line_answer found = IS_KNOWN;
    hlo_mlir_regions(m, teller, at, end);
    if (*at == '%')
        found = read_operation(m, teller, at, end, &i);
    else if (hlo_begins(at, end, "})"))
        found = close_operation(m, at, end, &i);
    else if (!read_other(m, at, end, teller))
        return false;
    if (found == IS_NOTHING) return false;
    count_depth(m, at, end, teller, &i);
    if (found == IS_INSTRUCTION) hlo_tell_instruction(teller, &i);
    return true;
}
