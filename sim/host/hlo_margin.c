/* HLO text: what tools put before every line of a text: its number ("cat -n", "grep -n", editors), or the
 * side of a diff that it is of. Of a diff the new side is the text. */
#include <string.h>

#include "hlo_reader_private.h"

enum { MOST_DIGITS = 9 };

/* Behind the text, or NULL: it does not begin so. */
static const char *skip_text(const char *at, const char *end, const char *text) {
    return at && hlo_begins(at, end, text) ? at + strlen(text) : NULL;
}

/* "12" */
static const char *skip_number(const char *at, const char *end, int64_t *number) {
    if (!at) return NULL;
    const ts_span digits = ts_hlo_digits((ts_span){at, (size_t)(end - at)});
    *number = ts_hlo_number(digits);
    return digits.length > 0 && digits.length <= MOST_DIGITS ? at + digits.length : NULL;
}

/* ---- Diffs ---- */

/* "12,3": where lines are, and how many. */
static const char *skip_place(const char *at, const char *end, int64_t *count) {
    int64_t line;
    *count = 1;
    at = skip_number(at, end, &line);
    return at && at < end && *at == ',' ? skip_number(at + 1, end, count) : at;
}

/* "@@ -12,3 +12,4 @@" */
static bool begins_hunk(hlo_margin *m, const char *at, const char *end) {
    int64_t old, new;
    at = skip_place(skip_text(at, end, "@@ -"), end, &old);
    at = skip_place(skip_text(at, end, " +"), end, &new);
    if (!skip_text(at, end, " @@")) return false;
    m->diff = HLO_DIFF_HUNK;
    m->old_left = old;
    m->new_left = new;
    return true;
}

/* "12,14": the first of some lines and the last. */
static const char *skip_lines(const char *at, const char *end, int64_t lines[2]) {
    at = skip_number(at, end, &lines[0]);
    lines[1] = lines[0];
    return at && at < end && *at == ',' ? skip_number(at + 1, end, &lines[1]) : at;
}

/* "12,14c12,15", "12a13", "12d11" */
static bool begins_change(hlo_margin *m, const char *at, const char *end) {
    int64_t from[2], to[2];
    const char *kind = skip_lines(at, end, from);
    if (!kind || kind == end || !memchr("acd", *kind, 3)) return false;
    at = skip_lines(kind + 1, end, to);
    if (!at || (at < end && *at != '\r')) return false;
    m->diff = HLO_DIFF_CHANGE;
    m->old_left = *kind == 'a' ? 0 : from[1] - from[0] + 1;
    m->new_left = *kind == 'd' ? 0 : to[1] - to[0] + 1;
    return true;
}

/* "*** 12,15 ****", "--- 12,16 ----": one side of a hunk of "diff -c". */
static bool begins_side(const char *at, const char *end, const char *begin, const char *close,
                        int64_t *count) {
    int64_t lines[2];
    at = skip_lines(skip_text(at, end, begin), end, lines);
    if (!skip_text(at, end, close)) return false;
    *count = lines[1] - lines[0] + 1;
    return true;
}

static bool begins_context(hlo_margin *m, const char *at, const char *end) {
    if (!begins_side(at, end, "*** ", " ****", &m->old_left)) return false;
    m->diff = HLO_DIFF_OLD_SIDE;
    return true;
}

/* A block of Markdown: there, hunks may have no headings. */
static bool begins_fence(hlo_margin *m, const char *at, const char *end) {
    if (!skip_text(at, end, "```")) return false;
    while (at < end && *at == '`') at++;
    m->fenced = skip_text(at, end, "diff") != NULL;
    m->diff = HLO_DIFF_NONE;
    return m->fenced;
}

/* A line of a hunk, which has as many of each side as its heading says, or of a fence. */
static hlo_margin_kind take_side(hlo_margin *m, const char *at, const char *end) {
    const char side = at < end ? *at : ' ';
    if (side == '\\') return HLO_MARGIN_DROP; /* "\ No newline at end of file" */
    m->old_left -= side != '+';
    m->new_left -= side != '-';
    if (m->old_left <= 0 && m->new_left <= 0) m->diff = HLO_DIFF_NONE;
    m->width = at < end && (side == '+' || side == ' ');
    return side == '-' ? HLO_MARGIN_DROP : HLO_MARGIN_SKIP;
}

/* A line of "< ..", "---", "> ..". */
static hlo_margin_kind take_change(hlo_margin *m, const char *at, const char *end) {
    if (m->old_left > 0 && hlo_begins(at, end, "<")) return m->old_left--, HLO_MARGIN_DROP;
    if (m->old_left == 0 && m->new_left > 0 && hlo_begins(at, end, "---")) return HLO_MARGIN_DROP;
    if (hlo_begins(at, end, "\\ ")) return HLO_MARGIN_DROP;
    if (m->old_left > 0 || m->new_left == 0 || !hlo_begins(at, end, ">")) {
        m->diff = HLO_DIFF_NONE;
        return HLO_MARGIN_SKIP;
    }
    m->new_left--;
    m->width = end - at > 1 ? 2 : 1;
    return HLO_MARGIN_SKIP;
}

/* A line of "  ..", "- ..", "! ..", which the old side may have none of. */
static hlo_margin_kind take_old_side(hlo_margin *m, const char *at, const char *end) {
    if (begins_side(at, end, "--- ", " ----", &m->new_left))
        m->diff = HLO_DIFF_NEW_SIDE;
    else if (!skip_text(at, end, "\\") && m->old_left-- <= 0)
        return m->diff = HLO_DIFF_NONE, HLO_MARGIN_SKIP;
    return HLO_MARGIN_DROP;
}

/* A line of "  ..", "+ ..", "! ..", which the new side may have none of. */
static hlo_margin_kind take_new_side(hlo_margin *m, const char *at, const char *end) {
    const char side = at < end ? *at : ' ';
    if (side == '\\') return HLO_MARGIN_DROP;
    if (m->new_left-- <= 0 || !memchr(" +!", side, 3)) return m->diff = HLO_DIFF_NONE, HLO_MARGIN_SKIP;
    m->width = end - at > 1 ? 2 : (size_t)(end - at);
    return HLO_MARGIN_SKIP;
}

/* ---- Numbers ---- */

/* Does the text begin as HLO, or StableHLO, does and tables of numbers do not? */
static bool begins_text(const char *at, const char *end) {
    static const char *const words[] = {"HloModule ", "ENTRY ", "ROOT ", "module ", "func.func "};
    at = hlo_skip(at, end, HLO_SPACE);
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (hlo_begins(at, end, words[i])) return true;
    if (at == end || *at != '%') return false;
    for (at++; at < end && hlo_is_name(*at);) at++;
    return end - at > 1 && at[0] == ' ' && (at[1] == '=' || at[1] == '(');
}

/* Behind what is between a number and the line; NULL: nothing may be. "-": of lines that "grep" gives
 * around. */
static const char *skip_mark(const char *at, const char *end) {
    static const char bar[] = "\xe2\x94\x82"; /* of "bat" */
    if (at == end || *at == ':' || *at == '-' || *at == '\t') return at + (at < end);
    const char *behind = at;
    while (behind < end && *behind == ' ') behind++;
    if (hlo_begins(behind, end, "|")) return behind + 1;
    if (hlo_begins(behind, end, bar)) return behind + strlen(bar);
    return behind > at ? at + 1 : NULL;
}

/* May the number be the next one, with this behind it? Of times and dates, none is. */
static bool is_next(const hlo_margin *m, int64_t number, const char *mark, const char *end) {
    if (m->number == 0 || number < m->number) return false;
    bool digits = end - mark > 1 && ts_is_digit(mark[1]);
    return number == m->number || (mark < end && (*mark == ':' || *mark == '-') && !digits);
}

/* Lines have numbers from the first on that is clearly one of HLO: others are one more, or, of those that
 * "grep" finds, more. */
static hlo_margin_kind take_number(hlo_margin *m, const char *at, const char *end) {
    const char *line = at;
    int64_t number;
    while (at < end && *at == ' ') at++;
    const char *mark = skip_number(at, end, &number), *behind = mark ? skip_mark(mark, end) : NULL;
    bool begins = behind && mark < end && *mark != '-' && begins_text(behind, end);
    if (behind && (begins || is_next(m, number, mark, end))) {
        m->number = number + 1;
        m->width = (size_t)(behind - line);
    } else if (at < end && *at != '%' && begins_text(at, end)) { /* another text, without numbers */
        m->number = 0;
    }
    return HLO_MARGIN_SKIP;
}

/* ---- Both ---- */

static hlo_margin_kind take(hlo_margin *m, const char *at, const char *end) {
    if (begins_hunk(m, at, end) || begins_change(m, at, end) || begins_context(m, at, end) ||
        begins_fence(m, at, end))
        return HLO_MARGIN_BLANK;
    if (m->diff == HLO_DIFF_CHANGE) return take_change(m, at, end);
    if (m->diff == HLO_DIFF_OLD_SIDE) return take_old_side(m, at, end);
    if (m->diff == HLO_DIFF_NEW_SIDE) return take_new_side(m, at, end);
    return m->fenced || m->diff == HLO_DIFF_HUNK ? take_side(m, at, end) : take_number(m, at, end);
}

hlo_margin_kind hlo_margin_take(hlo_margin *m, const char *at, const char *end) {
    m->width = 0;
    hlo_margin_kind kind = take(m, at, end);
    m->active = m->fenced || m->diff != HLO_DIFF_NONE || m->number > 0;
    return kind;
}
