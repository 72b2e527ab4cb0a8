/* The files that a program's text names. */
#include <string.h>

#include "assembler.h"

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

static const ts_source *add(file_list *list, const char *path, bool is_text) {
    if (is_known(list, path)) return NULL;
    list->files = ts_arena_extend(list->arena, list->files, (size_t)list->count, sizeof *list->files);
    ts_program_file *file = &list->files[list->count++];
    file->path = ts_arena_copy_text(list->arena, path, strlen(path));
    file->text = is_text ? read_source(NULL, list->arena, path) : NULL;
    return file->text;
}

const ts_program_file *ts_program_files(ts_arena *arena, const char *path, int *count) {
    file_list list = {.arena = arena};
    add(&list, path, true);
    for (int i = 0; i < list.count; i++) {
        const ts_source *source = list.files[i].text;
        const token *at = source ? token_list(arena, source) : NULL;
        for (; at && at->kind != TOKEN_END; at++) {
            bool includes = token_is_name(at, ".include");
            if (includes && at[1].kind == TOKEN_STRING)
                add(&list, path_beside(arena, source->name, ++at), true);
            else if (at->kind == TOKEN_STRING)
                add(&list, path_beside(arena, source->name, at), false);
        }
    }
    *count = list.count;
    return list.files;
}
