/* Rows of the tables of relayouts. */
#include "relayouts.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "test.h"

enum { FIELDS = 6 }; /* generation, scratch, shape, from, to, what is said */

static void split_line(char *line, char **fields) {
    line[strcspn(line, "\n")] = '\0';
    fields[0] = line;
    for (int i = 1; i < FIELDS; i++) {
        fields[i] = strchr(fields[i - 1], '\t');
        assert_non_null(fields[i]);
        *fields[i]++ = '\0';
    }
}

ts_vpad parse_vpad(ts_arena *arena, const char *text) {
    ts_text whole;
    ts_error err = {0};
    ts_vpad out;
    whole = ts_text_begin(arena);
    ts_text_add(&whole, "vpad<\"%s\">", text);
    ts_source source = {"table", whole.bytes, whole.length};
    ts_cursor cursor = {.source = &source};
    if (!ts_vpad_read(&err, &cursor, &out)) fail_msg("%s: %s", text, err.message);
    return out;
}

static void read_row(ts_arena *arena, char *line, relayout_row *row) {
    char *fields[FIELDS];
    ts_error err = {0};
    split_line(line, fields);
    ts_source source = {"shape", fields[2], strlen(fields[2])};
    *row = (relayout_row){
        .shape_text = fields[2], .from_text = fields[3], .to_text = fields[4], .said = fields[5]};
    row->shape = ts_shape_parse(&err, arena, &source);
    if (row->shape == NULL) fail_msg("%s: %s", fields[2], err.message);
    row->request = (ts_relayout_request){.from = parse_vpad(arena, fields[3]),
                                         .to = parse_vpad(arena, fields[4]),
                                         .masks = row->shape->dtype == TS_DTYPE_PRED,
                                         .rank = row->shape->layout->rank,
                                         .dims = row->shape->layout->dims,
                                         .generation = atoi(fields[0]),
                                         .scratch_sublanes = atoi(fields[1])};
}

relayout_rows relayout_table_read(const char *path, relayout_row_use *use, void *self) {
    FILE *file = fopen(path, "r");
    char line[1024];
    relayout_rows found = {0};
    assert_non_null(file);
    while (fgets(line, sizeof line, file) != NULL) {
        if (line[0] == '#') continue;
        ts_arena *arena = ts_arena_new();
        relayout_row row;
        read_row(arena, line, &row);
        found.rows++;
        found.used += use(self, arena, &row);
        ts_arena_free(arena);
    }
    fclose(file);
    return found;
}
