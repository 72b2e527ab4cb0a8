/* Formats of users' files by their names' suffixes: NumPy's, safetensors, and raw bytes. */
#include "host/format.h"

#include <string.h>

#include "base/file.h"
#include "host/npy.h"
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

typedef enum { NPY, SAFETENSORS, RAW } format;
static const struct {
    const char *suffix;
    format format;
} suffixes[] = {{".npy", NPY}, {".safetensors", SAFETENSORS}, {".bin", RAW}, {".raw", RAW}};

/* Cuts "model.safetensors:name" into the file's path and the tensor's name (NULL when there is none). */
static bool split_path(ts_error *err, ts_arena *arena, const char *path, format *kind, const char **file,
                       const char **tensor) {
    *tensor = NULL;
    *file = path;
    const char *colon = strstr(path, ".safetensors:");
    if (colon) {
        size_t length = (size_t)(colon - path) + strlen(".safetensors");
        *file = ts_arena_copy_text(arena, path, length);
        *tensor = path + length + 1;
        *kind = SAFETENSORS;
        return **tensor != '\0' ||
               ts_error_set(err, TS_ERROR_INPUT, "%s: a tensor's name is missing behind ':'", path);
    }
    for (size_t i = 0; i < sizeof suffixes / sizeof *suffixes; i++) {
        size_t length = strlen(path), suffix = strlen(suffixes[i].suffix);
        if (length < suffix || strcmp(path + length - suffix, suffixes[i].suffix) != 0) continue;
        *kind = suffixes[i].format;
        return true;
    }
    return ts_error_set(
        err, TS_ERROR_INPUT,
        "%s: the name does not say the format, expected .npy, .safetensors[:NAME], .bin or .raw", path);
}

bool ts_host_load(ts_error *err, ts_arena *arena, const char *path, const ts_host_expect *expect,
                  ts_host_array *array) {
    const char *name, *tensor;
    format kind = RAW;
    if (!split_path(err, arena, path, &kind, &name, &tensor)) return false;
    if (expect && expect->has_dims && expect->rank > TS_HOST_RANK)
        return ts_error_set(err, TS_ERROR_INPUT, "%s: %d dims expected, at most %d can be read", path,
                            expect->rank, TS_HOST_RANK);
    size_t limit = expect && expect->limit_bytes ? expect->limit_bytes : TS_HOST_LIMIT_BYTES;
    if (kind == SAFETENSORS) return ts_safetensors_load(err, arena, name, tensor, expect, array);
    char *bytes;
    size_t length;
    if (!ts_file_read(err, arena, name, limit, &bytes, &length)) return false;
    ts_source file = {name, bytes, length};
    return kind == NPY ? ts_npy_parse(err, arena, &file, expect, array) : load_raw(err, &file, expect, array);
}

bool ts_host_can_save(ts_error *err, ts_arena *arena, const char *path) {
    const char *name, *tensor;
    format kind;
    return split_path(err, arena, path, &kind, &name, &tensor);
}

bool ts_host_save(ts_error *err, ts_arena *arena, const char *path, const ts_host_array *array) {
    const char *name, *tensor;
    format kind = RAW;
    if (!split_path(err, arena, path, &kind, &name, &tensor)) return false;
    if (kind == NPY) return ts_npy_save(err, arena, name, array);
    if (kind == RAW) return ts_file_save(err, arena, name, array->bytes, array->length);
    ts_safetensor entry = {.name = tensor ? tensor : "tensor", .array = *array};
    return ts_safetensors_save(err, arena, name, &entry, 1);
}
