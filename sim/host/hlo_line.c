/* HLO text: a line without what logs, mails and people put around it. */
#include <string.h>

#include "hlo_reader_private.h"

static const char *skip_mail(const char *at, const char *end) {
    while (at < end && ((*at != '\n' && hlo_is_space(*at)) || *at == '>')) at++;
    return at;
}

char hlo_first_byte(const char *at, const char *end) {
    at = skip_mail(at, end);
    if (at < end && !hlo_may_begin_stamp(at, end)) return *at;
    at = skip_mail(hlo_skip_stamp(at, end), end);
    return at < end ? *at : '\n';
}

/* Behind what mail writes before what it quotes, "> ", ">> ", "> > ", with nothing behind it too: at most so
 * many marks; *marks says how many. */
static const char *skip_quotes(const char *line, const char *end, int most, int *marks) {
    const char *at = line;
    for (*marks = 0; at < end && (*at == '>' ? *marks < most : at > line && *at == ' '); at++)
        *marks += *at == '>';
    if (at == end || (at > line && at[-1] == ' ')) return at;
    *marks = 0;
    return line;
}

/* The marks of a comment of C, but for "*" in a path. */
static bool begins_marks(const char *line, const char *at, const char *end) {
    enum { BEFORE = HLO_SPACE | HLO_OPENS | HLO_CLOSES | HLO_SQUARE | HLO_COMMA };
    return hlo_begins(at, end, "/*") && (at == line || hlo_is(at[-1], BEFORE));
}

/* "// .." behind white space. */
static bool begins_slashes(const char *line, const char *at, const char *end) {
    return hlo_begins(at, end, "//") && at > line && hlo_is_space(at[-1]);
}

/* Where a comment that is the rest of the line begins, outside quotes, or `end`. *open: in marks of C, behind
 * which is a blank, and the next line goes on with it. */
static const char *comment_start(const char *at, const char *end, bool *open) {
    const char *const line = at, *close = at; /* NULL: no marks close */
    for (const char *slash = at; (slash = memchr(slash, '/', (size_t)(end - slash))) != NULL; slash++) {
        const bool marks = begins_marks(line, slash, end);
        if (marks && close) close = memmem(slash + 2, (size_t)(end - slash - 2), "*/", 2);
        if (marks && close) {
            slash = close + 1;
            continue;
        }
        *open = marks && (end - slash == 2 || slash[2] == '*' || hlo_is_space(slash[2]));
        if (!*open && !begins_slashes(line, slash, end)) continue;
        while (at < slash) at = *at == '"' ? hlo_quote_end(at, end) : at + 1;
        if (at == slash) return at;
        *open = false;
    }
    return end;
}

/* Behind the marks that close what lines before have begun, or `end`. */
static const char *comment_end(const char *at, const char *end, bool *open) {
    const char *close = *open ? memmem(at, (size_t)(end - at), "*/", 2) : NULL;
    if (close) *open = false;
    return *open ? end : close ? hlo_skip(close + 2, end, HLO_SPACE) : at;
}

void hlo_line_strip(hlo_line *line, int most_marks, bool *open) {
    const char *at = line->at, *end = line->end;
    at = hlo_skip(at, end, HLO_SPACE);
    at = hlo_skip_stamp(skip_quotes(at, end, most_marks, &line->marks), end);
    at = comment_end(hlo_skip(at, end, HLO_SPACE), end, open);
    if (!*open) end = comment_start(at, end, open);
    if (*open) line->next = '/';
    while (end > at && hlo_is_space(end[-1])) end--;
    line->at = at;
    line->end = end;
}

bool hlo_line_is_comment(const hlo_line *line) {
    const char *at = line->at, *end = line->end;
    return at < end && *at == '/' && ((end - at > 1 && at[1] == '/') || hlo_skip_space(at, end) == end);
}

static bool is_mark(char c) { return c == '=' || c == '-' || c == '*' || c == '.' || c == '+' || c == '_'; }

bool hlo_line_is_blank(const hlo_line *line) {
    const char *at = line->at;
    while (at < line->end && (is_mark(*at) || hlo_is_space(*at))) at++;
    return at == line->end;
}

const char *hlo_line_cut(hlo_line *line, const char *behind) {
    if (behind == line->end) return behind;
    line->next = *behind;
    line->end = behind;
    while (line->end > line->at && hlo_is_space(line->end[-1])) line->end--;
    return behind;
}
