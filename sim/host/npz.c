/* NumPy's .npz files: which of an archive's entries are arrays, and the one that is asked for. */
#include "host/npz.h"

#include <string.h>

#include "host/npy.h"
#include "host/zip.h"

static const char suffix[] = ".npy";

/* The entries that are arrays, their names without ".npy". */
static void keep_arrays(ts_arena *arena, ts_zip_index *index) {
    size_t count = 0;
    for (size_t i = 0; i < index->count; i++) {
        ts_zip_entry entry = index->entries[i];
        if (!ts_text_ends(entry.name, suffix)) continue;
        entry.name = ts_arena_copy_text(arena, entry.name, strlen(entry.name) - strlen(suffix));
        index->entries[count++] = entry;
    }
    index->count = count;
}

bool ts_npz_load(ts_error *err, ts_arena *arena, const char *path, const char *name,
                 const ts_host_expect *expect, ts_host_array *array) {
    ts_zip_index index;
    uint8_t *bytes;
    if (!ts_zip_open(err, arena, path, &index)) return false;
    keep_arrays(arena, &index);
    const ts_host_names names = {"array", &index.entries[0].name, index.count, sizeof *index.entries};
    size_t i = ts_host_find(err, path, name, &names);
    if (i == SIZE_MAX) return false;
    for (size_t k = i + 1; k < index.count; k++)
        if (strcmp(index.entries[i].name, index.entries[k].name) == 0)
            return ts_error_set(err, TS_ERROR_INPUT, "%s: a second array '%s'", path, index.entries[k].name);
    size_t limit = ts_host_limit(expect);
    if (!ts_zip_read(err, arena, path, &index.entries[i], limit, &bytes)) return false;
    ts_source file = {.text = (const char *)bytes, .length = (size_t)index.entries[i].bytes};
    file.name = ts_text_format(arena, "%s:%s", path, index.entries[i].name);
    return ts_npy_parse(err, arena, &file, expect, array);
}

bool ts_npz_save(ts_error *err, ts_arena *arena, const char *path, const char *name,
                 const ts_host_array *array) {
    ts_text head = ts_text_begin(arena);
    ts_npy_head(array, &head);
    return ts_zip_save(err, arena, path, ts_text_format(arena, "%s%s", name, suffix),
                       &(ts_source){.text = head.bytes, .length = head.length},
                       &(ts_source){.text = (const char *)array->bytes, .length = array->length});
}
