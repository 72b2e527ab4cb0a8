/* HLO text: lines of a text that comes in pieces of any size. A line is handed on when it is known what the
 * next one begins with. */
#include <string.h>

#include "hlo_reader_private.h"

enum { LOOK_BYTES = 1 << 10 }; /* of the next line: stamps and blanks are no longer */

void hlo_lines_begin(hlo_lines *l, ts_arena *arena, void *self,
                     void (*take)(void *self, const hlo_line *line)) {
    l->self = self;
    l->take = take;
    l->held = ts_text_begin(arena);
    l->ahead = ts_text_begin(arena);
    l->plain = ts_text_begin(arena);
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

static void give(hlo_lines *l, const char *at, const char *end, char next) {
    hlo_line line = {.at = at, .end = end, .next = next, .shortened = l->more > 0};
    if (l->has_marks) {
        make_plain(l, at, end);
        line.at = l->plain.bytes;
        line.end = line.at + l->plain.length;
    }
    l->take(l->self, &line);
}

/* What is held is a line; what has come of the next one is held after it. */
static void give_held(hlo_lines *l, char next) {
    const ts_text line = l->held;
    if (l->more > 0) join_tail(l);
    give(l, line.bytes, line.bytes + line.length, next);
    l->held = l->ahead;
    l->ahead = line;
    l->ahead.length = l->more = 0;
    l->waits = false;
}

/* A line waits: does this say what the next one begins with? Then it is given. Otherwise all of this is kept.
 */
static bool look_ahead(hlo_lines *l, const char *at, const char *end) {
    const size_t had = l->ahead.length, room = LOOK_BYTES - had;
    const char *newline = memchr(at, '\n', (size_t)(end - at));
    size_t length = (size_t)((newline ? newline : end) - at);
    ts_text_add_bytes(&l->ahead, at, length < room ? length : room);
    if (!newline && length < room) return false;
    char next = next_byte(l, l->ahead.bytes, l->ahead.bytes + l->ahead.length);
    l->ahead.length = had;
    give_held(l, next);
    return true;
}

/* Lines that are all there, with the beginnings of their next ones; returns behind them. */
static const char *give_lines(hlo_lines *l, const char *at, const char *end) {
    const char *newline = memchr(at, '\n', (size_t)(end - at));
    while (newline && newline - at <= TS_HLO_LINE_BYTES) {
        const char *next = newline + 1, *next_end = memchr(next, '\n', (size_t)(end - next)),
                   *seen = next_end;
        if (!next_end && end - next < LOOK_BYTES) break;
        if (!seen || seen - next > LOOK_BYTES) seen = next + LOOK_BYTES;
        give(l, at, newline, next_byte(l, next, seen));
        at = next;
        newline = next_end;
    }
    return at;
}

void hlo_lines_feed(hlo_lines *l, const char *at, size_t length) {
    const char *end = at + length;
    l->has_marks = (l->has_marks && (l->waits || l->held.length > 0)) || hlo_has_marks(at, length);
    while (at < end) {
        if (l->waits && !look_ahead(l, at, end)) return;
        if (l->held.length == 0) at = give_lines(l, at, end);
        if (at == end) return;
        const char *newline = memchr(at, '\n', (size_t)(end - at));
        keep(l, at, (size_t)((newline ? newline : end) - at));
        l->waits = newline != NULL;
        at = newline ? newline + 1 : end;
    }
}

void hlo_lines_finish(hlo_lines *l) {
    if (l->waits) give_held(l, next_byte(l, l->ahead.bytes, l->ahead.bytes + l->ahead.length));
    if (l->held.length > 0) give_held(l, '\n');
}
