/* Where the user wrote what became an instruction of HLO. */
#include "host/hlo_location.h"

#include <string.h>

#include "hlo_private.h"

enum { FRAMES_DEEP = 256, MOST_NAME = 4096 };

typedef enum { FILES, FUNCTIONS, LOCATIONS, FRAMES, TABLES } table_kind;

/* A row: files and functions have a text, locations and frames refer to rows by their numbers, 0: to none. */
typedef struct {
    const char *text;
    int64_t line;
    int32_t file, function;   /* of a location */
    int32_t location, parent; /* of a frame */
} row;

typedef struct {
    row *rows;
    int32_t count;
} table;

struct ts_hlo_locations {
    ts_arena *arena;
    table tables[TABLES];
    table_kind current;    /* TABLES: none */
    int32_t parent_offset; /* by which numbers of parents are too large */
    ts_hlo_location *list;
    int32_t count;
    int32_t *of_frame; /* the location of a frame, +1; 0: not looked for yet */
    int32_t of_frame_count;
};

ts_hlo_locations *ts_hlo_locations_new(ts_arena *arena) {
    ts_hlo_locations *p = TS_NEW(arena, ts_hlo_locations);
    p->arena = arena;
    p->current = TABLES;
    return p;
}

void ts_hlo_locations_begin(ts_hlo_locations *p) {
    memset(p->tables, 0, sizeof p->tables);
    p->current = TABLES;
    p->parent_offset = 0;
    p->of_frame = NULL;
    p->of_frame_count = 0;
}

/* ---- Fields: name=value between blanks, name="quoted" ---- */

bool ts_hlo_field(ts_span text, const char *name, ts_span *value) {
    const char *at = text.text, *end = at + text.length;
    size_t length = strlen(name);
    while (at < end) {
        const char *word = at = hlo_skip_space(at, end);
        at = hlo_skip(at, end, HLO_WORD);
        bool named = (size_t)(at - word) == length && memcmp(word, name, length) == 0;
        if (at >= end || *at != '=') {
            at += at < end;
            continue;
        }
        const char *from = ++at;
        bool quoted = at < end && *at == '"';
        if (quoted) at = hlo_quote_end(at, end);
        while (!quoted && at < end && !hlo_is_space(*at) && *at != '}') at++;
        *value = (ts_span){from + quoted, (size_t)(at - from) - (quoted ? 2 : 0)};
        if (quoted && (at - from < 2 || at[-1] != '"')) return false; /* it does not end */
        if (named) return true;
    }
    return false;
}

/* 0: there is none. */
static int64_t find_number(ts_span text, const char *name) {
    ts_span value;
    int64_t number = ts_hlo_field(text, name, &value) ? ts_hlo_number(ts_hlo_digits(value)) : 0;
    return number > 0 && number <= INT32_MAX ? number : 0;
}

bool ts_hlo_metadata(ts_span attributes, ts_span *fields) {
    if (!ts_hlo_attribute(attributes, "metadata", fields) || fields->length < 2) return false;
    *fields = (ts_span){fields->text + 1, fields->length - 1};
    return true;
}

/* ---- Tables ---- */

static const char *keep_text(ts_hlo_locations *p, ts_span text) {
    return ts_arena_copy_text(p->arena, text.text, text.length < MOST_NAME ? text.length : MOST_NAME);
}

static void read_number(ts_span fields, const char *name, int32_t *number) {
    int64_t found = find_number(fields, name);
    if (found > 0) *number = (int32_t)found;
}

/* Of the last row: those that are on this line. */
static void read_fields(ts_hlo_locations *p, ts_span fields) {
    const table *t = &p->tables[p->current];
    row *last = &t->rows[t->count - 1];
    int64_t line = find_number(fields, "line");
    read_number(fields, "file_name_id", &last->file);
    read_number(fields, "function_name_id", &last->function);
    if (line > 0) last->line = line;
    read_number(fields, "file_location_id", &last->location);
    read_number(fields, "parent_frame_id", &last->parent);
    /* The first has no parent: a 1 there says that parents are counted from 1. */
    if (p->current == FRAMES && t->count == 1) p->parent_offset = last->parent == 1;
}

/* Rows come in order, from number 1. */
static void add_row(ts_hlo_locations *p, ts_span fields) {
    table *t = &p->tables[p->current];
    if (t->count == TS_HLO_LOCATIONS) return;
    row *made =
        ((row *)(t->rows = ts_arena_extend(p->arena, t->rows, (size_t)t->count, sizeof *t->rows))) + t->count;
    t->count++;
    *made = (row){.text = ""};
    if (p->current == FILES || p->current == FUNCTIONS) {
        const char *at = fields.text, *end = at + fields.length;
        if (at < end && *at == '"')
            made->text =
                keep_text(p, (ts_span){at + 1, (size_t)(end - at) - 1 - (end - at > 1 && end[-1] == '"')});
        return;
    }
    read_fields(p, fields);
}

int hlo_table_of(ts_span line) {
    static const char *const names[TABLES] = {"FileNames", "FunctionNames", "FileLocations", "StackFrames"};
    for (int i = 0; i < TABLES; i++)
        if (ts_span_is(line, names[i])) return i;
    return -1;
}

void ts_hlo_locations_row(ts_hlo_locations *p, ts_span line) {
    const char *at = line.text, *end = at + line.length;
    int begun = hlo_table_of(line);
    if (begun >= 0) p->current = (table_kind)begun;
    while (at < end && ts_is_digit(*at)) at++;
    if (p->current == TABLES || begun >= 0) return;
    int32_t count = p->tables[p->current].count;
    bool goes_on = at == line.text && p->current >= LOCATIONS && count > 0 && count < TS_HLO_LOCATIONS;
    if (goes_on) read_fields(p, line);
    if (at == line.text) return;
    at = hlo_skip_space(at, end);
    bool braced = at < end && *at == '{';
    add_row(p, (ts_span){at + braced, (size_t)(end - at) - braced});
}

static const row *row_of(const ts_hlo_locations *p, table_kind kind, int64_t number) {
    const table *t = &p->tables[kind];
    return number >= 1 && number <= t->count ? &t->rows[number - 1] : NULL;
}

static const char *text_of(const ts_hlo_locations *p, table_kind kind, int64_t number) {
    const row *found = row_of(p, kind, number);
    return found ? found->text : "";
}

/* ---- Places ---- */

static int32_t add_location(ts_hlo_locations *p, const ts_hlo_location *found) {
    if (p->count == TS_HLO_LOCATIONS) return -1;
    *TS_APPEND(p->arena, p->list, p->count) = *found;
    return p->count - 1;
}

static bool is_installed(const char *file) {
    return strstr(file, "/site-packages/") || strstr(file, "/dist-packages/");
}

static bool frame_location(const ts_hlo_locations *p, int64_t number, ts_hlo_location *found) {
    const row *frame = row_of(p, FRAMES, number);
    const row *location = frame ? row_of(p, LOCATIONS, frame->location) : NULL;
    if (!location) return false;
    *found = (ts_hlo_location){text_of(p, FILES, location->file), text_of(p, FUNCTIONS, location->function),
                               location->line};
    return found->file[0] != '\0';
}

/* The innermost frame of the user's; where all are of packages, the innermost. */
static bool stack_location(const ts_hlo_locations *p, int64_t number, ts_hlo_location *found) {
    ts_hlo_location above;
    if (!frame_location(p, number, found)) return false;
    for (int depth = 0; depth < FRAMES_DEEP; depth++) {
        if (!frame_location(p, number, &above)) return true;
        if (!is_installed(above.file)) return *found = above, true;
        int64_t parent = row_of(p, FRAMES, number)->parent - p->parent_offset;
        if (parent >= number) return true; /* what calls stands before */
        number = parent;
    }
    return true;
}

static int32_t find_frame(ts_hlo_locations *p, int64_t number) {
    ts_hlo_location found;
    if (number < 1 || number > p->tables[FRAMES].count) return -1;
    if (p->of_frame_count < p->tables[FRAMES].count) {
        p->of_frame = ts_arena_grow(p->arena, p->of_frame, (size_t)p->of_frame_count,
                                    (size_t)p->tables[FRAMES].count, sizeof *p->of_frame);
        p->of_frame_count = p->tables[FRAMES].count;
    }
    int32_t *known = &p->of_frame[number - 1];
    if (*known == 0 && stack_location(p, number, &found)) *known = add_location(p, &found) + 1;
    return *known - 1;
}

/* source_file="a.py" source_line=3, of older modules. Neighbours are often of one line. */
static int32_t find_source(ts_hlo_locations *p, ts_span fields) {
    ts_span file;
    if (!ts_hlo_field(fields, "source_file", &file) || file.length == 0) return -1;
    int64_t line = find_number(fields, "source_line");
    const ts_hlo_location *last = p->count > 0 ? &p->list[p->count - 1] : NULL;
    bool same = last && last->function[0] == '\0' && ts_span_is(file, last->file);
    if (same && last->line == line) return p->count - 1;
    if (p->count == TS_HLO_LOCATIONS) return -1;
    return add_location(p, &(ts_hlo_location){same ? last->file : keep_text(p, file), "", line});
}

int32_t ts_hlo_locations_find(ts_hlo_locations *p, ts_span fields) {
    int64_t frame = find_number(fields, "stack_frame_id");
    return frame > 0 ? find_frame(p, frame) : find_source(p, fields);
}

ts_hlo_location ts_hlo_locations_get(const ts_hlo_locations *p, int32_t number) {
    return number >= 0 && number < p->count ? p->list[number] : (ts_hlo_location){"", "", 0};
}
