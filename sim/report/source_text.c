/* A program's text by line. */
#include "run_private.h"

struct report_source {
    int count;
    const char **starts; /* [count + 1] */
    int *depths; /* [count + 1] braces that are open where the line begins: ';' is no comment in them */
};

/* Goes over a line from `at` on, to its end; adds what is shown to `out`, unless it is NULL. Returns the
 * end. */
static const char *read_line(const char *at, const char *end, int *depth, ts_text *out) {
    size_t begin = out ? out->length : 0;
    bool blank = false, comment = false;
    for (; at < end && *at != '\n'; at++) {
        comment = comment || (*at == ';' && (*depth == 0 || (at + 1 < end && at[1] == ';')));
        if (comment) continue;
        *depth += (*at == '{') - (*at == '}' && *depth > 0);
        bool space = (unsigned char)*at <= ' ';
        if (!space && out) {
            if (blank && out->length > begin) ts_text_add_char(out, ' ');
            ts_text_add_char(out, *at);
        }
        blank = space;
    }
    return at;
}

report_source *report_source_new(ts_arena *arena, const ts_source *source) {
    report_source *s = TS_NEW(arena, report_source);
    const char *at = source->text, *end = source->text + source->length;
    int lines = 1, depth = 0;
    for (size_t i = 0; i < source->length; i++) lines += source->text[i] == '\n';
    s->starts = TS_NEW_ARRAY(arena, const char *, lines + 1);
    s->depths = TS_NEW_ARRAY(arena, int, lines + 1);
    for (; s->count < lines; s->count++) {
        s->starts[s->count] = at;
        s->depths[s->count] = depth;
        at = read_line(at, end, &depth, NULL);
        at += at < end;
    }
    s->starts[lines] = end;
    return s;
}

int report_source_count(const report_source *source) { return source->count; }

const char *report_source_line(ts_arena *arena, const report_source *source, int line) {
    if (line < 1 || line > source->count) return "";
    ts_text out = ts_text_begin(arena);
    int depth = source->depths[line - 1];
    read_line(source->starts[line - 1], source->starts[line], &depth, &out);
    return out.bytes;
}

const char *report_loop_text(ts_arena *arena, const ts_profile_loop *loop) {
    if (!loop->source) return "";
    return report_source_line(arena, report_source_new(arena, loop->source), loop->first_line);
}
