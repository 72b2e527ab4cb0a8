/* HLO text: lines of a text that comes in pieces of any size. A line is handed on when it is known what the
 * next one begins with. */
#include <stdint.h>
#include <string.h>

#include "hlo_reader_private.h"

enum { LOOK_BYTES = 1 << 10 }; /* of the next line: stamps and blanks are no longer */

void hlo_lines_begin(hlo_lines *l, ts_arena *arena, void *self, void (*take)(void *self, hlo_line *line)) {
    l->self = self;
    l->take = take;
    l->held = ts_text_begin(arena);
    l->ahead = ts_text_begin(arena);
    l->plain = ts_text_begin(arena);
    l->waits = true; /* for the first line */
}

/* ---- Long lines ---- */

static void keep_tail(hlo_lines *l, const char *bytes, size_t length) {
    for (size_t i = length > HLO_TAIL_BYTES ? length - HLO_TAIL_BYTES : 0; i < length; i++)
        l->tail[(l->more + i) % HLO_TAIL_BYTES] = bytes[i];
    l->more += length;
}

/* The last bytes of a longer line become its own last ones where it is a constant's: behind values is the
 * type. Of others nothing is guessed. */
static void join_tail(hlo_lines *l) {
    const char *values = memmem(l->held.bytes, l->held.length, "constant", 8);
    if (values == NULL) return;
    size_t kept = l->more < HLO_TAIL_BYTES ? l->more : HLO_TAIL_BYTES;
    char *to = l->held.bytes + TS_HLO_LINE_BYTES - HLO_TAIL_BYTES;
    memmove(to, to + kept, HLO_TAIL_BYTES - kept);
    for (size_t i = 0; i < kept; i++)
        to[HLO_TAIL_BYTES - kept + i] = l->tail[(l->more - kept + i) % HLO_TAIL_BYTES];
}

static void keep(hlo_lines *l, const char *bytes, size_t length) {
    size_t room = TS_HLO_LINE_BYTES - l->held.length;
    if (length > room) {
        keep_tail(l, bytes + room, length - room);
        length = room;
    }
    ts_text_add_bytes(&l->held, bytes, length);
}

/* ---- Lines ---- */

static void make_plain(hlo_lines *l, const char *at, const char *end) {
    l->plain.length = 0;
    hlo_add_plain(&l->plain, at, end);
}

/* What the next line begins with, of which so much is there. */
static char next_byte(hlo_lines *l, const char *at, const char *end) {
    if (!l->has_marks) return hlo_first_byte(at, end);
    make_plain(l, at, end);
    return hlo_first_byte(l->plain.bytes, l->plain.bytes + l->plain.length);
}

/* What begins the next line, of which so much is there, and *next, what is behind that. False: it is
 * dropped. */
static bool begin_next(hlo_lines *l, const char *at, const char *end, char *next) {
    const char *first = at;
    while (first < end && *first == ' ') first++;
    if (hlo_margin_may_be(&l->margin, first < end ? *first : ' ')) {
        hlo_margin_kind kind = hlo_margin_take(&l->margin, at, end);
        *next = '\n';
        l->next_width = kind == HLO_MARGIN_BLANK ? SIZE_MAX : l->margin.width;
        l->next_dropped += kind == HLO_MARGIN_DROP;
        if (kind != HLO_MARGIN_SKIP) return kind == HLO_MARGIN_BLANK;
        first = at + l->next_width;
    }
    *next = next_byte(l, first, end);
    return true;
}

/* The next line is the one that comes. */
static void begin(hlo_lines *l) {
    l->width = l->next_width;
    l->dropped = l->next_dropped;
    l->next_width = 0;
    l->next_dropped = 0;
}

static void give(hlo_lines *l, const char *at, const char *end, char next) {
    size_t length = (size_t)(end - at), width = l->width < length ? l->width : length;
    hlo_line line = {at + width, end, .next = next, .shortened = l->more > 0, .dropped = l->dropped};
    if (l->has_marks) {
        make_plain(l, line.at, end);
        line.at = l->plain.bytes;
        line.end = line.at + l->plain.length;
    }
    begin(l);
    l->take(l->self, &line);
}

/* What is held is a line; what has come of the next one is held after it. */
static void give_held(hlo_lines *l, char next) {
    const ts_text line = l->held;
    if (l->more > 0) join_tail(l);
    if (l->begun)
        give(l, line.bytes, line.bytes + line.length, next);
    else
        begin(l);
    l->held = l->ahead;
    l->ahead = line;
    l->ahead.length = l->more = 0;
    l->waits = false;
    l->begun = true;
}

/* A line waits: is this the beginning of the next one? Then it is given, or the next is dropped. Otherwise
 * all of this is kept. */
static bool look_ahead(hlo_lines *l, const char *at, const char *end) {
    const size_t had = l->ahead.length, room = LOOK_BYTES - had;
    const char *newline = memchr(at, '\n', (size_t)(end - at));
    size_t length = (size_t)((newline ? newline : end) - at);
    char next;
    ts_text_add_bytes(&l->ahead, at, length < room ? length : room);
    if (!newline && length < room) return false;
    l->drops = !begin_next(l, l->ahead.bytes, l->ahead.bytes + l->ahead.length, &next);
    l->ahead.length = l->drops ? 0 : had;
    if (!l->drops) give_held(l, next);
    return true;
}

/* Lines that are all there, with the beginnings of their next ones; returns behind them, where what is left
 * waits if the next line is dropped. */
static const char *give_lines(hlo_lines *l, const char *at, const char *end) {
    const char *newline = memchr(at, '\n', (size_t)(end - at));
    while (newline && newline - at <= TS_HLO_LINE_BYTES) {
        const char *next = newline + 1, *next_end = memchr(next, '\n', (size_t)(end - next)),
                   *seen = next_end;
        char first;
        if (!next_end && end - next < LOOK_BYTES) break;
        if (!seen || seen - next > LOOK_BYTES) seen = next + LOOK_BYTES;
        l->drops = l->waits = !begin_next(l, next, seen, &first);
        if (l->drops)
            keep(l, at, (size_t)(newline - at));
        else
            give(l, at, newline, first);
        at = next;
        if (l->drops) break;
        newline = next_end;
    }
    return at;
}

/* More of the line that comes; returns behind its newline. */
static const char *hold(hlo_lines *l, const char *at, const char *end) {
    const char *newline = memchr(at, '\n', (size_t)(end - at));
    if (!l->drops) keep(l, at, (size_t)((newline ? newline : end) - at));
    if (!l->drops) l->waits = newline != NULL;
    if (newline) l->drops = false;
    return newline ? newline + 1 : end;
}

void hlo_lines_feed(hlo_lines *l, const char *at, size_t length) {
    const char *end = at + length;
    l->has_marks = (l->has_marks && (l->waits || l->held.length > 0)) || hlo_has_marks(at, length);
    while (at < end) {
        if (l->waits && !l->drops && !look_ahead(l, at, end)) return;
        if (!l->waits && l->held.length == 0) at = give_lines(l, at, end);
        if (at < end && (l->drops || !l->waits)) at = hold(l, at, end);
    }
}

void hlo_lines_finish(hlo_lines *l) {
    char next = '\n';
    if (l->ahead.length > 0 && !begin_next(l, l->ahead.bytes, l->ahead.bytes + l->ahead.length, &next))
        l->ahead.length = 0;
    if (l->waits) give_held(l, next);
    if (l->held.length > 0) give_held(l, '\n');
}
