/* The programs that the binary carries, each with what it computes. */
#include "report/list.h"

#include <string.h>

#include "program/embedded.h"
#include "report/json.h"

/* Those of programs/ and of programs/mesh/, without what they include. */
static bool is_program(const ts_embedded_file *file) {
    const char *slash = strrchr(file->name, '/');
    return !slash || (size_t)(slash - file->name) == strlen("mesh");
}

/* Ends it a sentence? "Softmax of each row: y = exp(x - max) / sum.": the full stop before a blank or the
 * end. */
static bool ends(const char *at) { return *at == '.' && at[-1] != '.' && (at[1] == '\n' || at[1] == ' '); }

/* The first sentence of the comment that a program begins with, on one line. */
static const char *purpose_of(ts_arena *arena, const ts_embedded_file *file) {
    ts_text out = ts_text_begin(arena);
    for (const char *at = file->text; *at == ';'; at++) {
        for (at += strspn(at, "; "); *at && *at != '\n' && !ends(at); at++) ts_text_add_char(&out, *at);
        if (*at != '\n') break;
        ts_text_add_char(&out, ' ');
    }
    return out.bytes;
}

static int longest_name(void) {
    size_t longest = 0;
    for (size_t i = 0; i < ts_embedded_program_count; i++) {
        size_t length = strlen(ts_embedded_programs[i].name);
        if (is_program(&ts_embedded_programs[i]) && length > longest) longest = length;
    }
    return (int)longest;
}

void ts_report_programs(ts_text *out) {
    int longest = longest_name();
    for (size_t i = 0; i < ts_embedded_program_count; i++) {
        const ts_embedded_file *file = &ts_embedded_programs[i];
        size_t begin = out->length;
        if (!is_program(file)) continue;
        ts_text_add(out, "tilesim:/%-*s ", longest, file->name);
        ts_text_end_line(out, begin, purpose_of(out->arena, file));
    }
}

void ts_report_programs_json(ts_text *out) {
    ts_json json;
    ts_json_begin(&json, out, "programs");
    ts_json_array(&json, "programs");
    for (size_t i = 0; i < ts_embedded_program_count; i++) {
        const ts_embedded_file *file = &ts_embedded_programs[i];
        if (!is_program(file)) continue;
        ts_json_object(&json, NULL);
        ts_json_text(&json, "name", file->name);
        ts_json_text(&json, "purpose", purpose_of(out->arena, file));
        ts_json_close(&json);
    }
    ts_json_close(&json);
    ts_json_end(&json);
}
