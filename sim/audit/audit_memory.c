/* What compilers report of memory: out-of-memory messages, usage reports and buffer assignments. Their
 * figures, the allocations with their sizes, and what is live at the peak. Source: XLA buffer_assignment.cc,
 * hlo_live_range.cc (printing), and messages of TPU compilers. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/number.h"
#include "audit_state.h"

enum { FIGURES = 256, ALLOCATIONS = 1 << 14 };

const char *audit_read_size(ts_span text, char word[AUDIT_SIZE], int64_t *bytes) {
    static const char units[] = "KMGTPE";
    const char *at = text.text, *end = at + text.length;
    size_t length = 0;
    while (at < end && (*at == ' ' || *at == '(' || *at == '*')) at++;
    if (at == end || !ts_is_digit(*at)) return NULL;
    double value = 0, location = 0;
    for (; at < end && length < AUDIT_SIZE - 2; at++) {
        if (!ts_is_digit(*at) && (*at != '.' || location > 0)) break;
        word[length++] = *at;
        if (*at == '.')
            location = 1;
        else if (location > 0)
            value += (double)(*at - '0') * (location /= 10);
        else
            value = 10 * value + (*at - '0');
    }
    if (word[length - 1] == '.') length--, at--; /* the sentence's */
    const char *unit = at < end ? memchr(units, *at, sizeof units - 1) : NULL;
    for (const char *u = units; unit && u <= unit; u++) value *= 1024;
    if (unit || (at < end && *at == 'B')) word[length++] = *at++;
    if (unit && end - at >= 2 && memcmp(at, "iB", 2) == 0) at += 2;
    word[length] = '\0';
    *bytes = value < 9e18 ? (int64_t)value : INT64_MAX;
    return at;
}

/* ---- Figures ---- */

/* XLA's number of a memory whose name the text begins with; AUDIT_NONE: it is none. */
static int space_named(ts_span text) {
    while (text.length > 0 && (*text.text == ' ' || *text.text == '*')) text.text++, text.length--;
    for (int i = 0; i < SPACE_OTHER; i++) {
        size_t length = strlen(audit_spaces[i].written);
        if (text.length >= length && strncasecmp(text.text, audit_spaces[i].written, length) == 0)
            return audit_spaces[i].number;
    }
    return AUDIT_NONE;
}

static void add_figure(ts_audit *a, int64_t line, const char *name, const char *word, int64_t bytes) {
    if (!a->figures) a->figures = TS_NEW_ARRAY(a->arena, ts_audit_figure, FIGURES);
    if (a->figure_count == FIGURES) {
        audit_note(a, 1, line, "figures of memory beyond those that are kept", (ts_span){"", 0});
        return;
    }
    ts_audit_figure *f = &a->figures[a->figure_count++];
    *f = (ts_audit_figure){.line = line, .name = name, .space = a->heading_space, .bytes = bytes};
    snprintf(f->text, sizeof f->text, "%s", word);
}

/* `label` is followed by a size, or by a memory's name and `then` and a size. At the beginning of the line,
 * or of parts on one line: such words are everywhere. */
static const struct {
    const char *label, *then, *name;
    bool first;
} figures[] = {{"Used ", NULL, "used", false},
               {"Exceeded ", "capacity by ", "exceeded by", false},
               {"Attempting to allocate ", NULL, "asked for", false},
               {"Attempting to reserve ", NULL, "asked for", false},
               {"There are ", NULL, "free", false},
               {"Allocation (size=", NULL, "asked for", false},
               {"would exceed memory (size=", NULL, "capacity", false},
               {"HBM capacity ", NULL, "capacity", true},
               {"Top-of-Memory reserved: ", NULL, "reserved", true},
               {"Currently allocated: ", NULL, "allocated", true},
               {"Program requirement: ", NULL, "program", true},
               {"Total ", "usage >= ", "in all, at least", false},
               {"reserved(Infeed/Outfeed/Continuations) ", NULL, "reserved", true},
               {"heap allocations (without fragmentation) ", NULL, "allocated", true},
               {"Max free chunk ", NULL, "largest free", true},
               {"reserved ", NULL, "reserved", true},
               {"program ", NULL, "program", true},
               {"arguments ", NULL, "arguments", true},
               {"output ", NULL, "output", true},
               {"Output size ", NULL, "output", false},
               {"shares ", NULL, "output that shares arguments", false},
               {"Program ", "requirement ", "program", false},
               {"program ", "usage: ", "used", false},
               {"global ", NULL, "global", true},
               {"scoped ", NULL, "scoped", true},
               {"overlays ", NULL, "overlays", true},
               {"HLO temp ", NULL, "HLO temp", true},
               {"Unpadded (", NULL, "HLO temp, unpadded", false},
               {" Padded (", NULL, "HLO temp, padded", false},
               {"% fragmentation (", NULL, "HLO temp, fragmentation", false},
               {"memory required for HLO temporaries (", NULL, "HLO temp", false},
               {"exceeds available HBM (", NULL, "capacity", false},
               {"Scoped allocation with size ", NULL, "scoped allocation", false},
               {" and limit ", NULL, "limit", false},
               {"Total bytes used: ", NULL, "all allocations", true},
               {"Total bytes: ", NULL, "all allocations", true},
               {"parameter allocation: ", NULL, "parameters", true},
               {"constant allocation: ", NULL, "constants", true},
               {"maybe_live_out allocation: ", NULL, "results", true},
               {"preallocated temp allocation: ", NULL, "temporaries", true},
               {"preallocated temp fragmentation: ", NULL, "fragmentation of temporaries", true},
               {"total allocation: ", NULL, "all allocations", true},
               {"total fragmentation: ", NULL, "fragmentation", true}};

/* "Total hbm usage >= 4.0K: reserved 1.0K program unknown size arguments 3.0K": what a part's label is
 * followed by. */
static const char *find_part(ts_span text, const char *label) {
    const char *total = ts_hlo_find(text, "usage >= "), *at;
    const char *parts = total ? memchr(total, ':', ts_hlo_from(text, total).length) : NULL;
    if (ts_hlo_begins(text, label)) return text.text + strlen(label);
    if (!parts) return NULL;
    for (at = parts; (at = ts_hlo_find(ts_hlo_from(text, at), label)) != NULL;)
        if (at[-1 - (ptrdiff_t)strlen(label)] == ' ') return at;
    return NULL;
}

/* "Used 20.00G of 15.48G hbm.", "program HBM usage: 3.51G / 15.75G": what follows the first size. False: no
 * limit. */
static bool read_limit(ts_audit *a, ts_span rest, char word[AUDIT_SIZE], int64_t *bytes) {
    const char *of = ts_hlo_begins(rest, " of ")  ? rest.text + 4
                     : ts_hlo_begins(rest, " / ") ? rest.text + 3
                                                  : NULL;
    if (of) of = audit_read_size(ts_hlo_from(rest, of), word, bytes);
    int space = of ? space_named(ts_hlo_from(rest, of)) : AUDIT_NONE;
    if (space != AUDIT_NONE) a->heading_space = space;
    return of != NULL;
}

static bool read_figure(ts_audit *a, int64_t line, ts_span text, size_t which) {
    char word[AUDIT_SIZE], limit[AUDIT_SIZE];
    int64_t bytes, most;
    const char *label = figures[which].label, *behind;
    const char *at = figures[which].first ? find_part(text, label) : ts_hlo_find(text, label);
    if (!at) return false;
    if (figures[which].then) {
        int space = space_named(ts_hlo_from(text, at));
        at = ts_hlo_find(ts_hlo_from(text, at), figures[which].then);
        if (!at || space == AUDIT_NONE) return false;
        a->heading_space = space;
    }
    if (!(behind = audit_read_size(ts_hlo_from(text, at), word, &bytes))) return false;
    bool limited = read_limit(a, ts_hlo_from(text, behind), limit, &most);
    add_figure(a, line, figures[which].name, word, bytes);
    if (limited) add_figure(a, line, "capacity", limit, most);
    return true;
}

/* "Memory Space: vmem (color=1)": the number counts, names are the compiler's. */
static int space_of_heading(ts_span text) {
    static const char *const headings[] = {"allocations in ", "in memory space ", "out of memory on ",
                                           "', space="};
    const char *color = ts_hlo_begins(text, "Memory Space: ") ? ts_hlo_find(text, " (color=") : NULL;
    if (color) return ts_is_digit(*color) ? (int)strtol(color, NULL, 10) : AUDIT_NONE;
    for (size_t i = 0; i < sizeof headings / sizeof headings[0]; i++) {
        const char *name = ts_hlo_find(text, headings[i]);
        if (name) return space_named(ts_hlo_from(text, name));
    }
    return AUDIT_NONE;
}

/* Figures, and the headings of lists. */
static bool read_figures(ts_audit *a, int64_t line, ts_span text) {
    int space = space_of_heading(text);
    bool any = space >= 0 && space < TS_AUDIT_SPACES;
    if (any) a->heading_space = space;
    if (any && a->section == SECTION_ENTRIES) a->section = SECTION_NONE; /* other entries follow */
    for (size_t i = 0; i < sizeof figures / sizeof figures[0]; i++) any |= read_figure(a, line, text, i);
    return any;
}

/* ---- Allocations ---- */

/* NULL: there are too many. */
static ts_audit_allocation *new_allocation(ts_audit *a, int64_t line, const char *word, int64_t bytes) {
    if (a->allocation_count == ALLOCATIONS) {
        audit_note(a, 1, line, "allocations beyond those that are kept", (ts_span){"", 0});
        return NULL;
    }
    ts_audit_allocation *made = TS_APPEND(a->arena, a->allocations, a->allocation_count);
    *made = (ts_audit_allocation){
        .line = line, .bytes = bytes, .space = a->heading_space, .shape = AUDIT_NONE, .index = AUDIT_NONE};
    snprintf(made->text, sizeof made->text, "%s", word);
    return made;
}

static void name_it(char out[TS_AUDIT_NAME_BYTES], ts_span text) {
    audit_keep_printable(out, TS_AUDIT_NAME_BYTES, ts_hlo_trim(text));
}

void audit_keep_block(ts_audit *a, int32_t shape) {
    const report_block *block = &a->block;
    char word[AUDIT_SIZE];
    int64_t bytes;
    ts_span size = {block->size, strlen(block->size)};
    if (!audit_read_size(size, word, &bytes)) return;
    ts_audit_allocation *made = new_allocation(a, block->line, word, bytes);
    if (!made) return;
    made->shape = shape;
    made->at_peak = a->section == SECTION_ENTRIES;
    name_it(made->name, (ts_span){block->kind, strlen(block->kind)});
}

/* Allocation (size=8192) would exceed .. [shape = 'f32[16,128]{1,0}', space=hbm, .., tag = 'output of
 * fusion@{}'] */
static bool read_failed(ts_audit *a, int64_t line, ts_span text) {
    char word[AUDIT_SIZE];
    int64_t bytes;
    ts_span shape;
    const char *size = ts_hlo_find(text, "Allocation (size="),
               *at = size ? ts_hlo_find(ts_hlo_from(text, size), "shape = '") : NULL;
    if (!at || !audit_read_size(ts_hlo_from(text, size), word, &bytes)) return false;
    ts_span rest = ts_hlo_from(text, at);
    if (!ts_hlo_find_shape(&rest, &shape) || shape.text != at) return false;
    read_figures(a, line, text);
    ts_audit_allocation *made = new_allocation(a, line, word, bytes);
    int32_t number = audit_add_reported(a, line, (ts_span){"", 0}, audit_intern(a, line, shape), word);
    if (!made) return true;
    made->shape = number;
    const char *tag = ts_hlo_find(rest, "tag = '"),
               *end = tag ? memchr(tag, '\'', ts_hlo_from(rest, tag).length) : NULL;
    if (end) name_it(made->name, (ts_span){tag, (size_t)(end - tag)});
    return true;
}

/* "parameter 0", "preallocated-temp": what follows the size, without the shape. */
static void name_kind(ts_audit_allocation *made, ts_span rest) {
    const char *shape = ts_hlo_find(rest, "shape ");
    const char *comma = memchr(rest.text, ',', rest.length);
    if (comma) rest = ts_hlo_from(rest, comma + 1);
    if (shape && shape - 6 >= rest.text) rest.length = (size_t)(shape - 6 - rest.text);
    while (rest.length > 0 && strchr(":, ", rest.text[rest.length - 1])) rest.length--;
    name_it(made->name, shape && rest.length == 0 ? (ts_span){"output", 6} : rest);
}

static int32_t find_allocation(const ts_audit *a, int32_t index) {
    for (int i = a->allocation_count - 1; i >= 0; i--)
        if (a->allocations[i].index == index) return i;
    return AUDIT_NONE;
}

/* ", color 1, parameter 0, shape |f32[8]|": what follows the size. */
static void read_rest(ts_audit *a, int64_t line, ts_span rest, ts_audit_allocation *made) {
    const char *text_end = rest.text + rest.length, *close = NULL;
    const char *color = ts_hlo_find(rest, ", color "); /* the memory's number, where it is not 0 */
    char *end;
    made->space = color ? (int)strtol(color, &end, 10) : 0;
    if (color) rest = ts_hlo_from(rest, end);
    name_kind(made, rest);
    const char *bar = memchr(rest.text, '|', rest.length);
    if (bar) close = memchr(bar + 1, '|', (size_t)(text_end - bar - 1));
    if (close) made->shape = audit_intern(a, line, (ts_span){bar + 1, (size_t)(close - bar - 1)});
}

/* allocation 5: size 8.00MiB, parameter 0, shape |f32[1024,2048]| at ShapeIndex {}: */
static bool read_allocation(ts_audit *a, int64_t line, ts_span text) {
    char word[AUDIT_SIZE], *end;
    int64_t bytes;
    const char *number = ts_hlo_find(text, "allocation ");
    const char *size = number ? ts_hlo_find(ts_hlo_from(text, number), ": size ") : NULL;
    if (!size || !ts_is_digit(*number)) return false;
    const char *behind = audit_read_size(ts_hlo_from(text, size), word, &bytes);
    long index = strtol(number, &end, 10);
    if (!behind || end + 7 != size) return false;
    a->allocation = find_allocation(a, (int32_t)index);
    if (a->allocation != AUDIT_NONE) return true; /* listed before */
    ts_audit_allocation *made = new_allocation(a, line, word, bytes);
    if (!made) return true;
    made->index = (int32_t)index;
    a->allocation = a->allocation_count - 1;
    read_rest(a, line, ts_hlo_from(text, behind), made);
    return true;
}

/* value: <6 p0 @0> (size=4096,offset=0): f32[8,128]{1,0:T(8,128)} */
static bool read_value(ts_audit *a, int64_t line, ts_span text) {
    char word[AUDIT_SIZE];
    int64_t bytes;
    const char *at = ts_hlo_find(text, "value: <"),
               *size = at ? ts_hlo_find(ts_hlo_from(text, at), "(size=") : NULL,
               *shape = size ? ts_hlo_find(ts_hlo_from(text, size), "): ") : NULL;
    if (!shape || !audit_read_size(ts_hlo_from(text, size), word, &bytes)) return false;
    const char *name = memchr(at, ' ', (size_t)(size - at));
    const char *end = name ? memchr(name + 1, ' ', (size_t)(size - name - 1)) : NULL;
    ts_span named = end ? (ts_span){name + 1, (size_t)(end - name - 1)} : (ts_span){"", 0};
    if (a->allocation != AUDIT_NONE) a->allocations[a->allocation].values++;
    uint64_t hash = audit_hash(at, (size_t)(size - at));
    if (ts_table_get(&a->value_table, hash) >= 0) return true; /* listed before */
    ts_table_put(&a->value_table, hash, 0);
    audit_add_reported(a, line, named, audit_intern(a, line, ts_hlo_trim(ts_hlo_from(text, shape))), word);
    return true;
}

/* ---- Tables of usage ---- */

/* "2x f32[8]" has its sign of multiplication in UTF-8. */
static int64_t times_before(const char *begin, const char *shape) {
    if (shape - begin < 3 || memcmp(shape - 2, "\xc3\x97", 2) != 0) return 1;
    const char *at = shape - 2;
    while (at > begin && ts_is_digit(at[-1])) at--;
    int64_t times = strtoll(at, NULL, 10);
    return times > 0 ? times : 1;
}

/* Behind the next ';'. */
static bool skip_field(ts_span *rest) {
    const char *at = memchr(rest->text, ';', rest->length);
    if (at) *rest = ts_hlo_from(*rest, at + 1);
    return at != NULL;
}

/* The values that share an allocation: the size is that of a value that has it alone, or of each if they are
 * alike. */
static void read_sharing(ts_audit *a, ts_audit_allocation *made, ts_span shapes) {
    const char *begin = shapes.text;
    int64_t line = made->line, values = made->values;
    char size[AUDIT_SIZE];
    snprintf(size, sizeof size, "%s", made->text);
    shapes = ts_hlo_trim(shapes);
    if (ts_hlo_begins(shapes, "(") && values == 1) { /* a tuple's table */
        audit_add_reported(a, line, (ts_span){"", 0}, audit_intern(a, line, shapes), size);
        return;
    }
    if (memchr(shapes.text, '(', shapes.length)) return;
    for (ts_span shape; ts_hlo_find_shape(&shapes, &shape); begin = shapes.text) {
        int64_t times = times_before(begin, shape.text);
        int32_t number = audit_intern(a, line, shape);
        if (number == AUDIT_NONE) continue;
        if (values == 1) number = audit_add_reported(a, line, (ts_span){"", 0}, number, size);
        if (values == 1) made->shape = number;
        if (values > 1) number = audit_with_tiles(a, line, number, times < values ? "" : size);
        for (int64_t i = 0; values > 1 && i < times && i < values; i++)
            audit_add_buffer(a, line, (ts_span){"", 0}, TS_HLO_OP_UNKNOWN, number);
    }
}

/* cumulative_size; size; offset; used_by_n_values; shapes_list
 * 4.00MiB( 44%);    4.00MiB;            0;       2; f32[12,12], f32[1000,784] */
static bool read_usage(ts_audit *a, int64_t line, ts_span text) {
    char word[AUDIT_SIZE];
    int64_t bytes;
    const char *behind = audit_read_size(text, word, &bytes);
    if (!behind || !ts_hlo_begins(ts_hlo_from(text, behind), "(")) return false;
    ts_span rest = ts_hlo_from(text, behind);
    if (!skip_field(&rest) || !(behind = audit_read_size(rest, word, &bytes))) return false;
    rest = ts_hlo_from(rest, behind);
    if (!ts_hlo_begins(rest, ";") || !skip_field(&rest)) return false;
    ts_span offset = rest;
    if (!skip_field(&rest)) return false;
    offset.length = (size_t)(rest.text - 1 - offset.text);
    ts_span values = rest;
    if (!skip_field(&rest)) return false;
    ts_audit_allocation *made = new_allocation(a, line, word, bytes);
    if (!made) return true;
    made->values = (int32_t)strtol(values.text, NULL, 10);
    offset = ts_hlo_trim(offset);
    snprintf(made->name, sizeof made->name, "at byte %.*s", (int)(offset.length < 20 ? offset.length : 20),
             offset.text);
    read_sharing(a, made, rest);
    return true;
}

/* ---- What lives at the peak ---- */

static bool begins_section(ts_audit *a, ts_span text) {
    static const struct {
        const char *begins;
        audit_section section;
    } sections[] = {{"BufferAssignment:", SECTION_LIST},
                    {"BufferAssignment stats:", SECTION_LIST},
                    {"Allocations sorted by size", SECTION_LIST},
                    {"cumulative_size;", SECTION_LIST},
                    {"Used values:", SECTION_LIST},
                    {"HloLiveRange (", SECTION_LIST},
                    {"InstructionSequence:", SECTION_LIST},
                    {"BufferLiveRange:", SECTION_LIST},
                    {"Live ranges at ", SECTION_PEAK},
                    {"Peak buffers:", SECTION_ENTRIES},
                    {"Stack trace breakdown for peak", SECTION_LIST}};
    for (size_t i = 0; i < sizeof sections / sizeof sections[0]; i++) {
        if (!ts_hlo_begins(text, sections[i].begins)) continue;
        a->section = sections[i].section;
        return true;
    }
    return false;
}

/* name{}: 16 bytes (cumulative: 16 bytes) */
static void read_live(ts_audit *a, int64_t line, ts_span text) {
    char word[AUDIT_SIZE];
    int64_t bytes;
    const char *colon = ts_hlo_find(text, ": "),
               *end = colon ? audit_read_size(ts_hlo_from(text, colon), word, &bytes) : NULL;
    if (!end || !ts_hlo_begins(ts_hlo_from(text, end), " bytes")) return;
    ts_audit_allocation *made = new_allocation(a, line, word, bytes);
    if (!made) return;
    made->at_peak = true;
    name_it(made->name, (ts_span){text.text, (size_t)(colon - 2 - text.text)});
}

/* A line of the lists of values, positions, uses and ranges, which say where and when, not how much. */
static bool is_listed(ts_span text) {
    char last = text.length > 0 ? text.text[text.length - 1] : ' ';
    const char *blank = memchr(text.text, ' ', text.length);
    return *text.text == '<' || last == ':' || !blank || blank[1] == '{' || ts_hlo_find(text, ", operand ") ||
           ts_hlo_find(text, " bytes") || ts_hlo_begins(text, "The rest ");
}

audit_line audit_memory_line(ts_audit *a, int64_t line, ts_span text) {
    if (read_failed(a, line, text)) return AUDIT_LINE_ALL;
    if (read_allocation(a, line, text)) return a->section = SECTION_LIST, AUDIT_LINE_ALL;
    if (read_value(a, line, text) || begins_section(a, text)) return AUDIT_LINE_ALL;
    if (a->section == SECTION_LIST && read_usage(a, line, text)) return AUDIT_LINE_ALL;
    if (read_figures(a, line, text)) return AUDIT_LINE_FIGURES;
    if (a->section == SECTION_PEAK) read_live(a, line, text);
    return a->section != SECTION_NONE && is_listed(text) ? AUDIT_LINE_ALL : AUDIT_LINE_NONE;
}

/* ---- The end ---- */

static int by_bytes(const void *x, const void *y) {
    const ts_audit_allocation *a = x, *b = y;
    if (a->at_peak != b->at_peak) return a->at_peak - b->at_peak;
    if (a->bytes != b->bytes) return ts_order(b->bytes, a->bytes);
    return ts_order(a->line, b->line);
}

void audit_finish_memory(ts_audit *a) {
    for (int i = 0; i < a->allocation_count; i++) {
        ts_audit_allocation *one = &a->allocations[i];
        if (one->index == AUDIT_NONE || one->values > 0 || one->shape == AUDIT_NONE) continue;
        ts_span name = {one->name, strlen(one->name)};
        one->shape = audit_add_reported(a, one->line, name, one->shape, one->text);
    }
    if (a->allocation_count > 0)
        qsort(a->allocations, (size_t)a->allocation_count, sizeof *a->allocations, by_bytes);
}
