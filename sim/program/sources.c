/* The files of programs: their texts, also those of the binary, and which files a text names. */
#include <stdio.h>
#include <string.h>

#include "base/file.h"

#include "assembler.h"
#include "embedded.h"

enum { PROGRAM_BYTES_MAX = 1 << 24 };

static const char embedded_prefix[] = "tilesim:/";

bool ts_program_is_carried(const char *path) { return ts_text_starts(path, embedded_prefix); }

/* "include/rows.tsim" of "mesh/../include/rows.tsim". */
static const char *without_up(const char *name) {
    const char *up = strstr(name, "/../");
    return up && strcspn(name, "/") == (size_t)(up - name) ? up + strlen("/../") : name;
}

/* NULL: the binary has no such file, or the path is no name of one. */
static const ts_embedded_file *find_embedded(const char *path) {
    if (!ts_program_is_carried(path)) return NULL;
    for (size_t i = 0; i < ts_embedded_program_count; i++)
        if (strcmp(ts_embedded_programs[i].name, without_up(path + sizeof embedded_prefix - 1)) == 0)
            return &ts_embedded_programs[i];
    return NULL;
}

/* "mesh/all_reduce", where there is no file of that name. */
static const ts_embedded_file *find_named(const char *path) {
    size_t length = strlen(path);
    for (size_t i = 0; i < ts_embedded_program_count; i++) {
        const char *name = ts_embedded_programs[i].name;
        if (strncmp(name, path, length) == 0 && strcmp(name + length, ".tsim") == 0)
            return ts_file_size(NULL, path, &(uint64_t){0}) ? NULL : &ts_embedded_programs[i];
    }
    return NULL;
}

static const char *embedded_name(ts_arena *arena, const ts_embedded_file *file) {
    return ts_text_format(arena, "%s%s", embedded_prefix, file->name);
}

const ts_source *read_source(ts_error *err, ts_arena *arena, const char *path) {
    ts_source *source = TS_NEW(arena, ts_source);
    const ts_embedded_file *embedded = find_embedded(path), *named = embedded ? NULL : find_named(path);
    if (named) embedded = named;
    if (embedded)
        *source = (ts_source){NULL, embedded->text, embedded->length};
    else if (!ts_file_read_source(err, arena, path, PROGRAM_BYTES_MAX, source))
        return NULL;
    source->name = named ? embedded_name(arena, named) : ts_arena_copy_text(arena, path, strlen(path));
    return source;
}

void suggest_embedded(ts_error *err, const char *path) {
    char name[120];
    const char *slash = strrchr(path, '/'), *found = NULL;
    if (ts_program_is_carried(path)) {
        found = ts_text_nearest(path + sizeof embedded_prefix - 1, &ts_embedded_programs[0].name,
                                ts_embedded_program_count, sizeof ts_embedded_programs[0]);
    }
    for (size_t i = 0; i < ts_embedded_program_count; i++)
        if (strcmp(ts_embedded_programs[i].name, slash != NULL ? slash + 1 : path) == 0)
            found = ts_embedded_programs[i].name;
    snprintf(name, sizeof name, "%s%s", embedded_prefix, found != NULL ? found : "");
    ts_error_hint(err, found != NULL ? name : NULL);
}

const char *path_beside(ts_arena *arena, const char *path, const token *name) {
    const char *slash = strrchr(path, '/');
    size_t prefix = sizeof embedded_prefix - 1;
    bool whole =
        name->text[0] == '/' || (name->length > prefix && memcmp(name->text, embedded_prefix, prefix) == 0);
    size_t length = slash != NULL && !whole ? (size_t)(slash - path) + 1 : 0;
    ts_text text = ts_text_begin(arena);
    ts_text_add_bytes(&text, path, length);
    ts_text_add_bytes(&text, name->text, name->length);
    return text.bytes;
}

typedef struct {
    ts_arena *arena;
    ts_program_file *files;
    int count;
} file_list;

static bool is_known(const file_list *list, const char *path) {
    for (int i = 0; i < list->count; i++)
        if (strcmp(list->files[i].path, path) == 0) return true;
    return false;
}

/* NULL: it is in the list. */
static ts_program_file *add(file_list *list, const char *path) {
    if (is_known(list, path)) return NULL;
    ts_program_file *file = TS_APPEND(list->arena, list->files, list->count);
    *file = (ts_program_file){.path = ts_arena_copy_text(list->arena, path, strlen(path))};
    return file;
}

static void add_text(file_list *list, const char *path) {
    ts_program_file *file = add(list, path);
    if (file && !ts_file_is_stream(path)) file->text = read_source(NULL, list->arena, path);
}

const ts_program_file *ts_program_files(ts_arena *arena, const char *path, int *count) {
    file_list list = {.arena = arena};
    add_text(&list, path);
    for (int i = 0; i < list.count; i++) {
        const ts_source *source = list.files[i].text;
        const token *at = source ? token_list(arena, source) : NULL;
        for (; at && at->kind != TOKEN_END; at++) {
            bool includes = token_is_name(at, ".include");
            if (includes && at[1].kind == TOKEN_STRING)
                add_text(&list, path_beside(arena, source->name, ++at));
            else if (at->kind == TOKEN_STRING)
                add(&list, path_beside(arena, source->name, at));
        }
    }
    *count = list.count;
    return list.files;
}
