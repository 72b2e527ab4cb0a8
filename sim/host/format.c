/* Formats of users' files by their names' suffixes: NumPy's, safetensors, and raw bytes. */
#include "host/format.h"

#include <string.h>

#include "base/file.h"
#include "host/npy.h"
#include "host/npz.h"
#include "host/safetensors.h"

/* Bytes of the expected type; without dims, a vector of as many as there are. */
static bool load_raw(ts_error *err, const ts_source *file, const ts_host_expect *expect,
                     ts_host_array *array) {
    if (!expect || !expect->has_dtype)
        return ts_error_set(err, TS_ERROR_INPUT,
                            "%s: a raw file does not say its element type or dims: state them with --from",
                            file->name);
    const ts_dtype_info *type = ts_dtype_get(expect->dtype);
    if (type->stored_bits == 0)
        return ts_error_set(err, TS_ERROR_INPUT, "%s: %s has no data", file->name, type->name);
    size_t element_bytes = (size_t)type->stored_bits / 8;
    *array =
        (ts_host_array){.dtype = expect->dtype, .rank = 1, .dims = {(int64_t)(file->length / element_bytes)}};
    if (!expect->has_dims && file->length % element_bytes != 0)
        return ts_error_set(err, TS_ERROR_INPUT, "%s: %zu bytes, expected a multiple of %zu for %s",
                            file->name, file->length, element_bytes, type->name);
    if (expect->has_dims) {
        array->rank = expect->rank;
        memcpy(array->dims, expect->dims, (size_t)expect->rank * sizeof *expect->dims);
    }
    array->bytes = (uint8_t *)file->text;
    if (!ts_host_array_size(err, file->name, array->dtype, array->rank, array->dims, &array->length))
        return false;
    if (array->length == file->length) return true;
    return ts_error_set(err, TS_ERROR_INPUT, "%s: %zu bytes, expected %zu", file->name, file->length,
                        array->length);
}

static const struct {
    const char *suffix;
    ts_host_format format;
    bool named; /* holds several arrays: ":NAME" may follow */
} suffixes[] = {
    {".npy", TS_FORMAT_NPY, false},
    {".npz", TS_FORMAT_NPZ, true},
    {".safetensors", TS_FORMAT_SAFETENSORS, true},
    {".bin", TS_FORMAT_RAW, false},
    {".raw", TS_FORMAT_RAW, false},
};

/* Behind the first ".npz:" or the like; NULL: none. */
static const char *find_name(const char *path, ts_host_format *format) {
    const char *name = NULL;
    for (size_t i = 0; i < sizeof suffixes / sizeof *suffixes; i++) {
        size_t length = strlen(suffixes[i].suffix);
        const char *at = suffixes[i].named ? strstr(path, suffixes[i].suffix) : NULL;
        while (at && at[length] != ':') at = strstr(at + 1, suffixes[i].suffix);
        if (!at || (name && name < at + length)) continue;
        name = at + length + 1;
        *format = suffixes[i].format;
    }
    return name;
}

ts_host_path ts_host_path_split(const char *path) {
    ts_host_path out = {.file_length = strlen(path)};
    out.name = find_name(path, &out.format);
    if (out.name) out.file_length = (size_t)(out.name - path) - 1;
    for (size_t i = 0; i < sizeof suffixes / sizeof *suffixes && !out.name; i++)
        if (ts_text_ends(path, suffixes[i].suffix)) out.format = suffixes[i].format;
    return out;
}

bool ts_host_is_archive(const char *path) {
    ts_host_format format = ts_host_path_split(path).format;
    return format == TS_FORMAT_NPZ || format == TS_FORMAT_SAFETENSORS;
}

const char *ts_host_file(ts_arena *arena, const char *path) {
    return ts_arena_copy_text(arena, path, ts_host_path_split(path).file_length);
}

/* Of a path that says a format. */
static bool split_path(ts_error *err, const char *path, ts_host_path *out) {
    *out = ts_host_path_split(path);
    if (out->name && *out->name == '\0')
        return ts_error_set(err, TS_ERROR_INPUT, "%s: %s name is missing behind ':'", path,
                            out->format == TS_FORMAT_NPZ ? "an array's" : "a tensor's");
    return out->format != TS_FORMAT_UNKNOWN ||
           ts_error_set(err, TS_ERROR_INPUT,
                        "%s: the name does not say the format, expected .npy, .npz[:NAME], "
                        ".safetensors[:NAME], .bin or .raw",
                        path);
}

bool ts_host_load(ts_error *err, ts_arena *arena, const char *path, const ts_host_expect *expect,
                  ts_host_array *array) {
    ts_host_path split;
    if (!split_path(err, path, &split)) return false;
    if (expect && expect->has_dims && expect->rank > TS_HOST_RANK)
        return ts_error_set(err, TS_ERROR_INPUT, "%s: %d dims expected, at most %d can be read", path,
                            expect->rank, TS_HOST_RANK);
    size_t limit = ts_host_limit(expect), length;
    const char *name = ts_host_file(arena, path);
    if (split.format == TS_FORMAT_SAFETENSORS)
        return ts_safetensors_load(err, arena, name, split.name, expect, array);
    if (split.format == TS_FORMAT_NPZ) return ts_npz_load(err, arena, name, split.name, expect, array);
    char *bytes;
    if (!ts_file_read(err, arena, name, limit, &bytes, &length)) return false;
    ts_source file = {name, bytes, length};
    return split.format == TS_FORMAT_NPY ? ts_npy_parse(err, arena, &file, expect, array)
                                         : load_raw(err, &file, expect, array);
}

bool ts_host_can_save(ts_error *err, const char *path) {
    return split_path(err, path, &(ts_host_path){.name = NULL});
}

bool ts_host_save(ts_error *err, ts_arena *arena, const char *path, const ts_host_array *array) {
    ts_host_path split;
    if (!split_path(err, path, &split)) return false;
    const char *name = ts_host_file(arena, path);
    if (split.format == TS_FORMAT_NPY) return ts_npy_save(err, arena, name, array);
    if (split.format == TS_FORMAT_NPZ)
        return ts_npz_save(err, arena, name, split.name ? split.name : "arr_0", array);
    if (split.format == TS_FORMAT_RAW) return ts_file_save(err, arena, name, array->bytes, array->length);
    ts_safetensor entry = {.name = split.name ? split.name : "tensor", .array = *array};
    return ts_safetensors_save(err, arena, name, &entry, 1);
}
