/* HLO text as a stream: lines, what each of them is, and the parts of an instruction. */
#include "host/hlo.h"

#include <limits.h>
#include <string.h>

#include "hlo_private.h"

enum { TAIL_BYTES = 1 << 12, MODULE_WORD = 9 /* HloModule */ };

struct ts_hlo_reader {
    const ts_hlo_events *events;
    ts_hlo_counts counts;
    ts_arena *arena;
    bool has_marks;        /* any line of this piece, or of what is held */
    ts_text plain;         /* such a line without them */
    ts_text unescaped;     /* the lines of one with "\n" between them */
    bool is_unescaped;     /* these are looked at */
    ts_text held;          /* the part of a line that has come; TS_HLO_LINE_BYTES at most */
    size_t held_more;      /* bytes of it that are not in `held` */
    char tail[TAIL_BYTES]; /* the last of these, where their number says, modulo its size */
    bool is_shortened;     /* the line that is looked at: what it leaves open is not known */
    ts_text joined;        /* lines of an instruction, a header or a statement that goes on */
    int64_t joined_line;
    int joined_lines;
    bool joined_whole;     /* it may end here: only what cannot begin anything continues it */
    bool joined_lacks;     /* and then it lacks attributes, which need no comma before them */
    char next;             /* the first byte of the next line that is no blank; '\0': not known yet */
    int64_t literal_depth; /* brackets open in a constant that goes on */
    bool in_computation, in_table;
    int64_t row_depth; /* brackets open in the table's last row */
    hlo_header header;
    int64_t header_line;     /* of a header in `joined`, which may go on; 0: none */
    hlo_signature signature; /* of a computation's there */
    bool is_mlir;
    int marks; /* of a mail that quotes the line */
    int mlir_lines, mlir_marks;
    bool mlir_gave;    /* what is looked at was looked at as StableHLO, and is none */
    int64_t mlir_line; /* of a statement of it in `joined`, which goes on; 0: none */
    hlo_mlir mlir;
};

ts_hlo_reader *ts_hlo_new(ts_arena *arena, const ts_hlo_events *events) {
    ts_hlo_reader *r = TS_NEW(arena, ts_hlo_reader);
    r->events = events;
    r->arena = arena;
    r->plain = ts_text_begin(arena);
    r->unescaped = ts_text_begin(arena);
    r->held = ts_text_begin(arena);
    r->joined = ts_text_begin(arena);
    r->mlir.shape = ts_text_begin(arena);
    r->mlir.operands = ts_text_begin(arena);
    r->mlir.attributes = ts_text_begin(arena);
    r->mlir.body_operands = ts_text_begin(arena);
    r->mlir.body_attributes = ts_text_begin(arena);
    r->mlir.meshes = ts_text_begin(arena);
    r->mlir.muted_above = r->mlir.lost_above = -1;
    return r;
}

const ts_hlo_counts *ts_hlo_get_counts(const ts_hlo_reader *r) { return &r->counts; }

/* ---- Instructions ---- */

/* Spans that are missing are empty, not NULL. */
static void give(ts_hlo_reader *r, ts_hlo_instruction *i, int64_t line) {
    ts_span *spans[] = {&i->name, &i->shape, &i->opcode, &i->operands, &i->attributes};
    for (int k = 0; k < 5; k++)
        if (!spans[k]->text) spans[k]->text = "";
    i->line = line;
    r->counts.instructions++;
    r->counts.cut_instructions += i->cut;
    if (r->events->instruction) r->events->instruction(r->events->self, i);
}

/* A constant's values may go over many lines, none of which matters; its attributes are as any. */
static bool is_literal(const ts_hlo_instruction *i) { return i->cut && ts_span_is(i->opcode, "constant"); }

static void begin_literal(ts_hlo_reader *r, ts_hlo_instruction *i) {
    i->cut = false;
    r->literal_depth = 1 + hlo_depth_of(i->operands.text, i->operands.text + i->operands.length);
}

/* The first of what may go on. It may lie in `joined` itself. */
static void join_first(ts_hlo_reader *r, const char *at, const char *end) {
    r->joined.length = 0;
    ts_text_add_bytes(&r->joined, at, (size_t)(end - at));
}

/* More of it. */
static void join(ts_hlo_reader *r, char mark, const char *at, size_t length) {
    ts_text_add_char(&r->joined, mark);
    ts_text_add_bytes(&r->joined, at, length);
}

static ts_span joined(const ts_hlo_reader *r) { return (ts_span){r->joined.bytes, r->joined.length}; }

static void hold(ts_hlo_reader *r, hlo_answer found, const ts_hlo_instruction *i, const char *at,
                 const char *end) {
    r->joined_whole = found == HLO_WHOLE;
    r->joined_lacks = hlo_lacks_calls(i);
    join_first(r, at, end);
    r->joined_line = r->counts.lines;
    r->joined_lines = 1;
}

/* May the next line go on with an instruction that could end here? */
static bool may_go_on(const ts_hlo_reader *r, const ts_hlo_instruction *i) {
    return hlo_begins_rest(r->next) || r->next == '\0' || hlo_lacks_calls(i);
}

/* ---- Lines ---- */

static void count(ts_hlo_reader *r, ts_hlo_line_kind kind) { r->counts.kinds[kind]++; }

static void end_computation(ts_hlo_reader *r) {
    if (r->in_computation && r->events->end) r->events->end(r->events->self);
    r->in_computation = false;
}

static void begin_computation(ts_hlo_reader *r, ts_span name, bool entry) {
    if (r->in_computation) r->counts.unended_computations++;
    end_computation(r);
    r->in_computation = true;
    r->counts.computations++;
    int64_t line = r->signature.line > 0 ? r->signature.line : r->counts.lines;
    if (r->events->computation) r->events->computation(r->events->self, line, name, entry);
}

/* [ENTRY] [%]name [(parameters) -> result] {, but for "module {" of StableHLO. */
static bool is_computation(ts_hlo_reader *r, const char *at, const char *end) {
    if (end[-1] != '{' || hlo_begins(at, end, "module {")) return false;
    bool entry = end - at > 6 && memcmp(at, "ENTRY", 5) == 0 && hlo_is_space(at[5]);
    if (entry) at = hlo_skip_space(at + 5, end);
    if (*at == '%') at++;
    const char *name = at;
    while (at < end && hlo_is_name(*at)) at++;
    ts_span span = {name, (size_t)(at - name)};
    at = hlo_skip_space(at, end);
    bool signature = at < end && *at == '(' && memmem(at, (size_t)(end - at), "->", 2) != NULL;
    if (at != end - 1 && !signature) return false;
    if (span.length == 0 && !entry) return false;
    begin_computation(r, span, entry);
    return true;
}

static bool is_module(ts_hlo_reader *r, const char *at, const char *end) {
    if (end - at <= MODULE_WORD || memcmp(at, "HloModule", MODULE_WORD) != 0 ||
        !hlo_is_space(at[MODULE_WORD]))
        return false;
    end_computation(r);
    hlo_header_begin(&r->header, at, end);
    r->is_mlir = false;
    join_first(r, at, end);
    r->header_line = r->counts.lines;
    return true;
}

/* True: the line goes on with a header. What it quotes is left out. */
static bool take_header(ts_hlo_reader *r, const char *at, const char *end) {
    bool quoted = r->header.quoted;
    size_t length = (size_t)(end - at);
    if (!hlo_header_goes_on(&r->header, at, end)) return false;
    count(r, TS_HLO_LITERAL);
    if (quoted || r->header.quoted || r->joined.length + 1 + length > TS_HLO_LINE_BYTES) return true;
    join(r, ' ', at, length);
    return true;
}

/* The header has ended. */
static void give_header(ts_hlo_reader *r) {
    if (r->header_line == 0) return;
    const char *end = r->joined.bytes + r->joined.length,
               *name = hlo_skip_space(r->joined.bytes + MODULE_WORD, end);
    const char *behind = name;
    while (behind < end && hlo_is_name(*behind)) behind++;
    ts_span rest = {behind, (size_t)(end - behind)};
    if (rest.length > 0 && *rest.text == ',') rest.text++, rest.length--;
    if (r->events->module)
        r->events->module(r->events->self, r->header_line, (ts_span){name, (size_t)(behind - name)}, rest);
    r->header_line = 0;
}

/* "1 {..", "2 \"..". */
static bool is_row(const char *at, const char *end) {
    const char *word = at;
    while (word < end && ts_is_digit(*word)) word++;
    return word > at && end - word > 1 && *word == ' ' && (word[1] == '{' || word[1] == '"');
}

/* A heading, a row, or more of one that is broken over lines. */
static bool is_table(ts_hlo_reader *r, const char *at, const char *end) {
    bool heads = hlo_table_of((ts_span){at, (size_t)(end - at)}) >= 0, begins = heads || is_row(at, end);
    r->in_table = heads || (r->in_table && (begins || r->row_depth > 0));
    r->row_depth = (begins ? 0 : r->row_depth) + hlo_depth_of(at, end);
    return r->in_table;
}

static void take_table(ts_hlo_reader *r, const char *at, const char *end) {
    count(r, TS_HLO_TABLE);
    if (r->events->table) r->events->table(r->events->self, (ts_span){at, (size_t)(end - at)});
}

static bool is_mark(char c) { return c == '=' || c == '-' || c == '*' || c == '.' || c == '+' || c == '_'; }

static bool only_marks(const char *at, const char *end) {
    while (at < end && (is_mark(*at) || hlo_is_space(*at))) at++;
    return at == end;
}

/* Of an instruction before: "metadata={...}" on a line of its own. */
static bool is_attribute(const char *at, const char *end) {
    const char *word = at;
    while (word < end && hlo_is_word(*word)) word++;
    return word > at && end - word > 1 && *word == '=' && (word[1] == '{' || word[1] == '"');
}

static void take_other(ts_hlo_reader *r, int64_t line, const char *at, const char *end) {
    if (*at == '"' || is_attribute(at, end)) {
        count(r, TS_HLO_LITERAL);
    } else {
        count(r, TS_HLO_OTHER);
        if (r->events->message) r->events->message(r->events->self, line, (ts_span){at, (size_t)(end - at)});
    }
}

/* What is joined is all of an instruction, or none. */
static void give_joined(ts_hlo_reader *r) {
    ts_hlo_instruction i;
    if (r->joined_lines == 0) return;
    const char *at = r->joined.bytes, *end = at + r->joined.length;
    r->joined_lines = 0;
    if (hlo_read_instruction(at, end, &i) == HLO_NOT_ONE && hlo_read_labelled(at, end, &i) == HLO_NOT_ONE)
        return take_other(r, r->joined_line, at, end);
    give(r, &i, r->joined_line);
}

/* Is the line the beginning of a computation's header, whose end is on another one? */
static bool begins_signature(ts_hlo_reader *r, const char *at, const char *end) {
    if (!hlo_opens_signature(&r->signature, at, end)) return false;
    join_first(r, at, end);
    r->signature.line = r->counts.lines;
    return true;
}

/* It has ended, or was none: then its lines are by themselves. */
static void give_signature(ts_hlo_reader *r) {
    int64_t line = r->signature.line;
    if (line == 0) return;
    const char *at = r->joined.bytes, *end = at + r->joined.length, *row_end;
    if (is_computation(r, at, end)) at = end;
    for (r->signature.line = 0; at < end; at = row_end + 1) {
        row_end = memchr(at, '\n', (size_t)(end - at));
        if (!row_end) row_end = end;
        r->counts.kinds[TS_HLO_LITERAL] -= at > r->joined.bytes;
        take_other(r, line++, at, row_end);
    }
}

/* The text ends in one: its shapes are of no message. */
static void cut_signature(ts_hlo_reader *r) {
    if (r->signature.line == 0 || r->signature.depth <= 0) return;
    r->signature.line = 0;
    r->counts.unended_computations++;
    count(r, TS_HLO_LITERAL);
}

/* True: the line goes on with one. */
static bool take_signature(ts_hlo_reader *r, const char *at, const char *end) {
    size_t before = r->joined.length, length = (size_t)(end - at);
    if (r->signature.line == 0) return false;
    bool fits = before + 1 + length <= TS_HLO_LINE_BYTES;
    if (fits) join(r, '\n', at, length);
    const char *all_end = r->joined.bytes + r->joined.length;
    hlo_answer found = fits ? hlo_read_signature(&r->signature, all_end - length, all_end) : HLO_NOT_ONE;
    if (found == HLO_NOT_ONE)
        r->joined.length = before;
    else
        count(r, TS_HLO_LITERAL);
    if (found != HLO_ENDS_EARLY) give_signature(r);
    return found != HLO_NOT_ONE;
}

static bool is_dialect(const char *at, const char *end) {
    size_t length = (size_t)(end - at);
    return (length > 7 && memcmp(at, "module ", 7) == 0) ||
           (length > 10 && memcmp(at, "func.func ", 10) == 0) ||
           (length > 11 && memcmp(at, "\"func.func\"", 11) == 0) ||
           (length > 16 && memcmp(at, "\"builtin.module\"", 16) == 0) ||
           memmem(at, length, "stablehlo.", 10) != NULL || memmem(at, length, "mhlo.", 5) != NULL;
}

static bool give_mlir(ts_hlo_reader *r, const char *at, const char *end) {
    ts_hlo_instruction i = {0};
    hlo_mlir_answer found = hlo_mlir_line(&r->mlir, at, end, r->events, &r->counts, &i);
    if (found == HLO_MLIR_NO) return false;
    r->is_mlir = true;
    if (found == HLO_MLIR_INSTRUCTION) give(r, &i, i.line ? i.line : r->counts.lines);
    return true;
}

static bool take_mlir(ts_hlo_reader *r, const char *at, const char *end) {
    if (r->mlir_gave || (!r->is_mlir && !is_dialect(at, end))) return false;
    if (!hlo_mlir_is_broken(at, end, r->next)) return give_mlir(r, at, end);
    join_first(r, at, end);
    r->mlir_line = r->counts.lines;
    r->mlir_lines = 1;
    r->mlir_marks = r->marks;
    return true;
}

static void take_fresh(ts_hlo_reader *r, const char *at, const char *end);

/* What is held of a statement is all of it. A line that is none may be something else. */
static void give_held_mlir(ts_hlo_reader *r) {
    if (r->mlir_line == 0) return;
    int64_t now = r->counts.lines;
    const char *end = r->joined.bytes + r->joined.length;
    r->counts.lines = r->mlir_line;
    r->mlir_line = 0;
    bool gave = give_mlir(r, r->joined.bytes, end);
    r->mlir_gave = true;
    if (!gave && r->mlir_lines == 1) take_fresh(r, r->joined.bytes, end);
    if (!gave && r->mlir_lines > 1) take_other(r, r->counts.lines, r->joined.bytes, end);
    r->mlir_gave = false;
    r->counts.lines = now;
}

/* True: the line went on with a statement. */
static bool take_mlir_rest(ts_hlo_reader *r, const char *at, const char *end) {
    size_t length = (size_t)(end - at);
    if (r->mlir_line == 0) return false;
    if (hlo_begins(at, end, "//")) return count(r, TS_HLO_COMMENT), true;
    if (r->mlir_lines == TS_HLO_JOINED_LINES || r->joined.length + 1 + length > TS_HLO_LINE_BYTES ||
        !hlo_mlir_continues(joined(r), at, end)) {
        give_held_mlir(r);
        return false;
    }
    join(r, ' ', at, length);
    r->mlir_lines++;
    count(r, TS_HLO_LITERAL);
    if (!hlo_mlir_is_broken(r->joined.bytes, r->joined.bytes + r->joined.length, r->next)) give_held_mlir(r);
    return true;
}

static bool take_escaped(ts_hlo_reader *r, const char *at, const char *end);

/* A line that is neither empty nor part of what came before. */
static void take_fresh(ts_hlo_reader *r, const char *at, const char *end) {
    ts_hlo_instruction i;
    if (r->is_mlir && take_mlir(r, at, end)) return;
    hlo_answer found = hlo_read_instruction(at, end, &i);
    if (found == HLO_NOT_ONE && take_escaped(r, at, end)) return;
    if (found == HLO_NOT_ONE && *at == '}') {
        if (r->in_computation)
            end_computation(r);
        else
            count(r, TS_HLO_LITERAL);
        return;
    }
    if (found == HLO_NOT_ONE && (is_module(r, at, end) || is_computation(r, at, end))) return;
    if (found == HLO_NOT_ONE && is_table(r, at, end)) return take_table(r, at, end);
    if (found == HLO_NOT_ONE && take_mlir(r, at, end)) return;
    if (found == HLO_NOT_ONE && r->in_computation && hlo_is_left_side(at, end, r->next))
        return hold(r, HLO_ENDS_EARLY, &i, at, end);
    if (found == HLO_NOT_ONE) found = hlo_read_labelled(at, end, &i);
    if (found == HLO_NOT_ONE && begins_signature(r, at, end)) return;
    if (found == HLO_NOT_ONE) return take_other(r, r->counts.lines, at, end);
    r->in_table = false;
    bool goes = found == HLO_ENDS_EARLY ? !is_literal(&i) : may_go_on(r, &i);
    if (goes && !r->is_shortened) return hold(r, found, &i, at, end);
    if (found == HLO_ENDS_EARLY && is_literal(&i)) begin_literal(r, &i);
    give(r, &i, r->counts.lines);
}

/* Reads what the joined lines are by now, and gives it away unless more may come. */
static void read_joined(ts_hlo_reader *r) {
    ts_hlo_instruction i;
    const char *all = r->joined.bytes, *all_end = all + r->joined.length;
    if (hlo_lacks_equals(joined(r))) return;
    hlo_answer found = hlo_read_instruction(all, all_end, &i);
    if (found == HLO_NOT_ONE) found = hlo_read_labelled(all, all_end, &i);
    r->joined_whole = found == HLO_WHOLE;
    r->joined_lacks = hlo_lacks_calls(&i);
    if (found == HLO_WHOLE && may_go_on(r, &i)) return;
    if (found == HLO_ENDS_EARLY && !is_literal(&i)) return;
    if (found == HLO_ENDS_EARLY) begin_literal(r, &i);
    r->joined_lines = 0;
    if (found == HLO_NOT_ONE) return take_other(r, r->joined_line, all, all_end);
    give(r, &i, r->joined_line);
}

/* Is the line no part of what is joined? */
static bool ends_joined(const ts_hlo_reader *r, const char *at, const char *end) {
    return r->joined_whole ? !hlo_is_rest(at, end, r->joined_lacks) : hlo_ends_held(joined(r), at, end);
}

/* True: the line went on with what came before. */
static bool take_rest(ts_hlo_reader *r, const char *at, const char *end) {
    ts_hlo_instruction i;
    if (r->literal_depth > 0) {
        if (hlo_read_instruction(at, end, &i) != HLO_NOT_ONE) return r->literal_depth = 0, false;
        r->literal_depth += hlo_depth_of(at, end);
        count(r, TS_HLO_LITERAL);
        return true;
    }
    if (r->joined_lines == 0) return false;
    size_t length = (size_t)(end - at);
    if (ends_joined(r, at, end) || r->joined_lines == TS_HLO_JOINED_LINES ||
        r->joined.length + 1 + length > TS_HLO_LINE_BYTES) {
        give_joined(r);
        return false;
    }
    join(r, ' ', at, length);
    r->joined_lines++;
    count(r, TS_HLO_LITERAL);
    read_joined(r);
    return true;
}

static const char *next_instruction(const ts_hlo_reader *r, const char *at, const char *end) {
    bool is_rest = r->joined_lines > 0 && !ends_joined(r, at, end);
    if (r->is_mlir || r->literal_depth > 0 || !(r->in_computation || is_rest)) return end;
    return hlo_next_instruction(is_rest ? joined(r) : (ts_span){0}, at, end, r->in_computation);
}

/* True: the line had several instructions, or the rest of one and another. */
static bool take_several(ts_hlo_reader *r, const char *at, const char *end) {
    const char after = r->next, *behind = next_instruction(r, at, end);
    if (behind == end) return false;
    for (; at < end; at = behind, behind = next_instruction(r, at, end)) {
        const char *last = behind;
        while (last > at && hlo_is_space(last[-1])) last--;
        r->next = behind < end ? *behind : after;
        if (!take_rest(r, at, last)) take_fresh(r, at, last);
        r->next = after;
    }
    return true;
}

/* A line that begins with two slashes, or is a comment in marks of C. */
static bool is_comment(const char *at, const char *end) {
    return (end - at > 1 && at[1] == '/') || hlo_skip_space(at, end) == end;
}

/* Where "// .." begins behind white space and outside quotes, or `end`. */
static const char *comment_start(const char *at, const char *end) {
    const char *line = at, *slash = at;
    while ((slash = memchr(slash, '/', (size_t)(end - slash))) != NULL && ++slash < end) {
        if (*slash != '/' || slash - line < 2 || !hlo_is_space(slash[-2])) continue;
        while (at < slash - 1) at = *at == '"' ? hlo_quote_end(at, end) : at + 1;
        if (at == slash - 1) return at;
    }
    return end;
}

static const char *skip_mail(const char *at, const char *end) {
    while (at < end && ((*at != '\n' && hlo_is_space(*at)) || *at == '>')) at++;
    return at;
}

/* What a line begins with behind blanks, marks of mail and a log's stamp; '\0': nothing. */
static char first_byte(const char *at, const char *end) {
    at = skip_mail(hlo_skip_stamp(skip_mail(at, end), end), end);
    return at < end ? *at : '\0';
}

/* Of a piece's last line it was not known how the next begins: now it is. */
static void settle_mlir(ts_hlo_reader *r, char first) {
    const char next = r->next;
    if (first == '\0') first = '\n';
    if (r->mlir_line == 0 || hlo_mlir_is_broken(r->joined.bytes, r->joined.bytes + r->joined.length, first))
        return;
    r->next = first;
    give_held_mlir(r);
    r->next = next;
}

/* The same of a name, which "=" may follow. */
static void settle_name(ts_hlo_reader *r, char first) {
    const char next = r->next;
    bool waits = r->joined_lines == 1 && hlo_lacks_equals(joined(r)) && !ts_span_is(joined(r), "ROOT");
    if (!waits || first == '=') return;
    r->next = first == '\0' ? '\n' : first;
    r->joined_lines = 0;
    take_fresh(r, r->joined.bytes, r->joined.bytes + r->joined.length);
    r->next = next;
}

/* A line from behind its marks and stamps up to a comment. */
static ts_span bare_line(ts_hlo_reader *r, const char *at, const char *end) {
    while (at < end && hlo_is_space(*at)) at++;
    /* Of a statement's other lines no more marks than of its first: ">" closes a bracket, too. */
    at = hlo_skip_quotes(at, end, r->mlir_line > 0 ? r->mlir_marks : INT_MAX, &r->marks);
    at = hlo_skip_stamp(at, end);
    while (at < end && hlo_is_space(*at)) at++;
    end = comment_start(at, end);
    while (end > at && hlo_is_space(end[-1])) end--;
    return (ts_span){at, (size_t)(end - at)};
}

static void settle(ts_hlo_reader *r, char first) {
    settle_mlir(r, first);
    settle_name(r, first);
}

static void take_plain_line(ts_hlo_reader *r, const char *at, size_t length) {
    const char *end = at + length;
    if (r->mlir_line > 0 || r->joined_lines == 1) settle(r, first_byte(at, end));
    if (r->counts.lines++ == 0) at += ts_text_mark(at, length);
    const ts_span line = bare_line(r, at, end);
    at = line.text;
    end = at + line.length;
    if (take_header(r, at, end)) return;
    give_header(r);
    if (take_signature(r, at, end)) return;
    if (take_mlir_rest(r, at, end)) return;
    if (at < end && *at == '/' && is_comment(at, end)) return count(r, TS_HLO_COMMENT);
    if (take_several(r, at, end) || take_rest(r, at, end)) return;
    if (at == end || only_marks(at, end)) {
        count(r, TS_HLO_BLANK);
        if (at < end && *at == '=' && r->events->message)
            r->events->message(r->events->self, r->counts.lines, line);
        return;
    }
    if (*at == '#') return count(r, TS_HLO_COMMENT);
    take_fresh(r, at, end);
}

/* They are counted as lines. */
static bool take_escaped(ts_hlo_reader *r, const char *at, const char *end) {
    if (r->is_unescaped || !hlo_has_escapes(at, end)) return false;
    const char next = r->next, *row_end;
    r->is_unescaped = true;
    r->unescaped.length = 0;
    hlo_add_unescaped(&r->unescaped, at, end);
    r->counts.lines--; /* this one, which is the first of them */
    at = r->unescaped.bytes, end = at + r->unescaped.length;
    for (; at < end; at = row_end + 1) {
        row_end = memchr(at, '\n', (size_t)(end - at));
        r->next = row_end ? first_byte(row_end + 1, end) : next;
        if (!row_end) row_end = end;
        take_plain_line(r, at, (size_t)(row_end - at));
    }
    r->is_unescaped = false;
    return true;
}

static void take_line(ts_hlo_reader *r, const char *at, size_t length) {
    if (!r->has_marks) return take_plain_line(r, at, length);
    r->plain.length = 0;
    hlo_add_plain(&r->plain, at, at + length);
    take_plain_line(r, r->plain.bytes, r->plain.length);
}

/* ---- Pieces ---- */

/* The same of the next line, of which all may not have come; '\0': that is not known. */
static char next_byte(const char *at, const char *end, bool has_marks) {
    at = skip_mail(at, end);
    if (at == end || *at == '\n' || (!has_marks && !hlo_may_begin_stamp(at, end)))
        return at == end ? '\0' : *at;
    const char *newline = memchr(at, '\n', (size_t)(end - at));
    if (!newline || has_marks) return '\0';
    const char first = first_byte(at, newline);
    return first == '\0' ? '\n' : first;
}

static void keep_tail(ts_hlo_reader *r, const char *bytes, size_t length) {
    for (size_t i = length > TAIL_BYTES ? length - TAIL_BYTES : 0; i < length; i++)
        r->tail[(r->held_more + i) % TAIL_BYTES] = bytes[i];
    r->held_more += length;
}

/* The last bytes of a longer line become its own last ones where it is a constant's: behind values is the
 * type. Of others nothing is guessed. */
static void join_tail(ts_hlo_reader *r) {
    const char *values = memmem(r->held.bytes, r->held.length, "constant", 8);
    if (values == NULL) return;
    size_t kept = r->held_more < TAIL_BYTES ? r->held_more : TAIL_BYTES;
    char *to = r->held.bytes + TS_HLO_LINE_BYTES - TAIL_BYTES;
    memmove(to, to + kept, TAIL_BYTES - kept);
    for (size_t i = 0; i < kept; i++)
        to[TAIL_BYTES - kept + i] = r->tail[(r->held_more - kept + i) % TAIL_BYTES];
}

static void keep(ts_hlo_reader *r, const char *bytes, size_t length) {
    size_t room = TS_HLO_LINE_BYTES - r->held.length;
    if (length > room) {
        keep_tail(r, bytes + room, length - room);
        length = room;
    }
    ts_text_add_bytes(&r->held, bytes, length);
}

static void take_held(ts_hlo_reader *r) {
    size_t length = r->held.length;
    r->is_shortened = r->held_more > 0;
    r->counts.long_lines += r->is_shortened;
    if (r->is_shortened) join_tail(r);
    r->held.length = r->held_more = 0;
    take_line(r, r->held.bytes, length);
    r->is_shortened = false;
}

void ts_hlo_feed(ts_hlo_reader *r, const char *bytes, size_t length) {
    r->counts.bytes += (int64_t)length;
    r->has_marks = (r->has_marks && r->held.length > 0) || hlo_has_marks(bytes, length);
    while (length > 0) {
        const char *newline = memchr(bytes, '\n', length);
        size_t piece = newline ? (size_t)(newline - bytes) : length;
        if (newline) r->next = next_byte(newline + 1, bytes + length, r->has_marks);
        if (newline && r->held.length == 0 && piece <= TS_HLO_LINE_BYTES) {
            take_line(r, bytes, piece);
        } else {
            keep(r, bytes, piece);
            if (newline) take_held(r);
        }
        size_t used = piece + (newline != NULL);
        bytes += used;
        length -= used;
    }
}

void ts_hlo_finish(ts_hlo_reader *r) {
    r->next = '\n';
    if (r->held.length > 0) take_held(r);
    give_header(r);
    cut_signature(r);
    give_signature(r);
    give_held_mlir(r);
    give_joined(r);
    r->counts.cut_instructions += r->literal_depth > 0;
    if (r->in_computation) r->counts.unended_computations++;
    end_computation(r);
}
