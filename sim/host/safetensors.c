/* Safetensors files: the header is checked whole before any data is read. */
#include "host/safetensors.h"

#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/number.h"
#include "host/json_tree.h"

enum { LENGTH_BYTES = 8, HEADER_LIMIT = 16 << 20 };

static const char metadata_key[] = "__metadata__"; /* of no tensor */

/* Names of safetensors/src/tensor.rs, enum Dtype. Its F8_E4M3 is the one without infinities. Of those with
 * less than a byte an element it says how many bits they take, but not which come first. */
static const struct {
    const char *name;
    ts_dtype dtype;
    int packed_bits; /* 0: elements fill bytes, and are read and written */
} types[] = {
    {"BOOL", TS_DTYPE_PRED, 0},
    {"U8", TS_DTYPE_U8, 0},
    {"I8", TS_DTYPE_S8, 0},
    {"F8_E5M2", TS_DTYPE_F8E5M2, 0},
    {"F8_E4M3", TS_DTYPE_F8E4M3FN, 0},
    {"F8_E8M0", TS_DTYPE_F8E8M0FNU, 0},
    {"F8_E4M3FNUZ", TS_DTYPE_F8E4M3FNUZ, 0},
    {"F8_E5M2FNUZ", TS_DTYPE_F8E5M2FNUZ, 0},
    {"I16", TS_DTYPE_S16, 0},
    {"U16", TS_DTYPE_U16, 0},
    {"F16", TS_DTYPE_F16, 0},
    {"BF16", TS_DTYPE_BF16, 0},
    {"I32", TS_DTYPE_S32, 0},
    {"U32", TS_DTYPE_U32, 0},
    {"F32", TS_DTYPE_F32, 0},
    {"F64", TS_DTYPE_F64, 0},
    {"I64", TS_DTYPE_S64, 0},
    {"U64", TS_DTYPE_U64, 0},
    {"C64", TS_DTYPE_C64, 0},
    {"F4", TS_DTYPE_F4E2M1FN, 4},
    {"F6_E2M3", TS_DTYPE_F6E2M3FN, 6},
    {"F6_E3M2", TS_DTYPE_F6E3M2FN, 6},
};
enum { TYPES = sizeof types / sizeof *types };

/* What the parts of a header share. */
typedef struct {
    ts_error *err;
    const char *file;   /* for messages */
    const char *tensor; /* being read */
} reader;

static bool refuse(const reader *in, const char *format, ...) __attribute__((format(printf, 2, 3)));
static bool refuse(const reader *in, const char *format, ...) {
    char message[TS_ERROR_TEXT_BYTES];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(message, sizeof message, format, arguments);
    va_end(arguments);
    return ts_error_set(in->err, TS_ERROR_INPUT, "%s: tensor '%s': %s", in->file, in->tensor, message);
}

/* "BOOL, U8 .. or C64": what is read. */
static void list_types(char *out, size_t capacity) {
    size_t used = 0;
    for (int i = 0; i < TYPES && used < capacity; i++) {
        if (types[i].packed_bits != 0) continue;
        bool last = i + 1 == TYPES || types[i + 1].packed_bits != 0;
        const char *before = i == 0 ? "" : last ? " or " : ", ";
        used += (size_t)snprintf(out + used, capacity - used, "%s%s", before, types[i].name);
    }
}

static bool read_type(const reader *in, const cJSON *item, ts_safetensor *out) {
    if (!cJSON_IsString(item)) return refuse(in, "expected a string 'dtype'");
    for (int i = 0; i < TYPES; i++) {
        if (strcmp(types[i].name, item->valuestring) != 0) continue;
        out->array.dtype = types[i].dtype;
        out->packed_bits = types[i].packed_bits;
        return true;
    }
    const char *near = ts_text_nearest(item->valuestring, &types[0].name, TYPES, sizeof *types);
    if (near) return refuse(in, "unknown dtype '%.40s'; did you mean '%s'?", item->valuestring, near);
    char names[256];
    list_types(names, sizeof names);
    return refuse(in, "unknown dtype '%.40s', expected %s", item->valuestring, names);
}

/* Integers up to 2^53 are exact in JSON's doubles. */
static bool read_integer(const reader *in, const cJSON *item, const char *what, int64_t *value) {
    if (!cJSON_IsNumber(item) || !(item->valuedouble >= 0 && item->valuedouble <= 9007199254740992.0) ||
        (double)(int64_t)item->valuedouble < item->valuedouble)
        return refuse(in, "expected an integer from 0 to 2^53 in '%s'", what);
    *value = (int64_t)item->valuedouble;
    return true;
}

static bool read_shape(const reader *in, const cJSON *list, ts_host_array *array) {
    if (!cJSON_IsArray(list)) return refuse(in, "expected a list 'shape'");
    for (const cJSON *item = list->child; item; item = item->next) {
        if (array->rank == TS_HOST_RANK) return refuse(in, "more than %d dims", TS_HOST_RANK);
        if (!read_integer(in, item, "shape", &array->dims[array->rank++])) return false;
    }
    return true;
}

static bool read_offsets(const reader *in, const cJSON *list, int64_t *begin, int64_t *end) {
    const cJSON *first = cJSON_IsArray(list) ? list->child : NULL;
    if (!first || !first->next || first->next->next)
        return refuse(in, "expected two integers in 'data_offsets'");
    return read_integer(in, first, "data_offsets", begin) &&
           read_integer(in, first->next, "data_offsets", end);
}

enum { DTYPE, SHAPE, OFFSETS, KEYS };

static bool find_fields(const reader *in, const cJSON *item, const cJSON *fields[KEYS]) {
    static const char *const keys[KEYS] = {"dtype", "shape", "data_offsets"};
    if (!cJSON_IsObject(item))
        return refuse(in, "expected an object with 'dtype', 'shape' and 'data_offsets'");
    for (const cJSON *field = item->child; field; field = field->next) {
        int key = 0;
        while (key < KEYS && strcmp(keys[key], field->string) != 0) key++;
        if (key == KEYS) continue; /* of a later version of the format, or somebody's own */
        if (fields[key]) return refuse(in, "a second key '%s'", keys[key]);
        fields[key] = field;
    }
    return true;
}

/* Its bytes in the file. Elements of less than a byte lie close. */
static bool stored_bytes(const reader *in, ts_safetensor *out) {
    ts_host_array *array = &out->array;
    if (!ts_host_array_size(in->err, in->file, array->dtype, array->rank, array->dims, &array->length))
        return false;
    if (out->packed_bits == 0) return true;
    size_t bits = array->length % 8 * (size_t)out->packed_bits; /* of what is over 8 elements */
    array->length = array->length / 8 * (size_t)out->packed_bits + bits / 8;
    return bits % 8 == 0 || refuse(in, "its elements do not fill whole bytes");
}

/* As the header has it. */
typedef struct {
    ts_safetensor tensor;
    int64_t end; /* of its data */
    size_t number;
} entry;

/* {"dtype": "F32", "shape": [2, 3], "data_offsets": [0, 24]} */
static bool read_entry(const reader *in, const cJSON *item, entry *out) {
    const cJSON *fields[KEYS] = {NULL};
    int64_t begin = 0;
    if (!find_fields(in, item, fields) || !read_type(in, fields[DTYPE], &out->tensor) ||
        !read_shape(in, fields[SHAPE], &out->tensor.array) ||
        !read_offsets(in, fields[OFFSETS], &begin, &out->end))
        return false;
    out->tensor.offset = (uint64_t)begin;
    return true;
}

static bool check_entry(const reader *in, entry *e, uint64_t data_bytes) {
    int64_t begin = (int64_t)e->tensor.offset, end = e->end;
    if (end < begin || (uint64_t)end > data_bytes)
        return refuse(in,
                      "data_offsets [%" PRId64 ", %" PRId64 "] are not inside the %" PRIu64 " bytes of data",
                      begin, end, data_bytes);
    if (!stored_bytes(in, &e->tensor)) return false;
    return e->tensor.array.length == (size_t)(end - begin) ||
           refuse(in, "data_offsets span %" PRId64 " bytes, but its shape needs %zu", end - begin,
                  e->tensor.array.length);
}

static int by_offset(const void *left, const void *right) {
    const ts_safetensor *a = left, *b = right;
    if (a->offset != b->offset) return a->offset < b->offset ? -1 : 1;
    if (a->array.length != b->array.length) return a->array.length < b->array.length ? -1 : 1;
    return strcmp(a->name, b->name);
}

static int by_name(const void *left, const void *right) {
    const entry *a = left, *b = right;
    int order = strcmp(a->tensor.name, b->tensor.name);
    return order != 0 ? order : ts_order((int64_t)a->number, (int64_t)b->number);
}

static int by_number(const void *left, const void *right) {
    const entry *a = left, *b = right;
    return ts_order((int64_t)a->number, (int64_t)b->number);
}

/* Of those of one name the last; returns how many are left. */
static size_t drop_repeated(entry *entries, size_t count) {
    size_t kept = 0;
    if (count > 0) qsort(entries, count, sizeof *entries, by_name);
    for (size_t i = 0; i < count; i++)
        if (i + 1 == count || strcmp(entries[i].tensor.name, entries[i + 1].tensor.name) != 0)
            entries[kept++] = entries[i];
    if (kept > 0) qsort(entries, kept, sizeof *entries, by_number);
    return kept;
}

/* The tensors, in the order of their data, must cover it without a hole. */
static bool check_cover(ts_error *err, const char *file, uint64_t data_bytes,
                        const ts_safetensors_index *index) {
    uint64_t at = 0;
    for (size_t i = 0; i < index->count; i++) {
        const ts_safetensor *tensor = &index->tensors[i];
        const reader in = {err, file, tensor->name};
        if (tensor->offset < at)
            return refuse(&in, "its data overlaps that of '%s'", index->tensors[i - 1].name);
        if (tensor->offset > at)
            return refuse(&in, "%" PRIu64 " bytes of data in front of it belong to no tensor",
                          tensor->offset - at);
        at += tensor->array.length;
    }
    if (at == data_bytes) return true;
    return ts_error_set(err, TS_ERROR_INPUT, "%s: the last %" PRIu64 " bytes belong to no tensor", file,
                        data_bytes - at);
}

/* Free text for people, by name; or none. */
static bool check_metadata(ts_error *err, const char *file, const cJSON *metadata) {
    bool good = cJSON_IsObject(metadata) || cJSON_IsNull(metadata);
    for (const cJSON *item = metadata->child; good && item; item = item->next) good = cJSON_IsString(item);
    return good ||
           ts_error_set(err, TS_ERROR_INPUT, "%s: expected an object of strings in '%s'", file, metadata_key);
}

/* Of all members of the header. */
static bool read_entries(ts_error *err, ts_arena *arena, const char *file, const cJSON *root, entry *entries,
                         size_t *count) {
    bool has_metadata = false;
    for (const cJSON *item = root->child; item; item = item->next) {
        if (strcmp(item->string, metadata_key) == 0) {
            if (has_metadata)
                return ts_error_set(err, TS_ERROR_INPUT, "%s: a second '%s'", file, metadata_key);
            has_metadata = true;
            if (!check_metadata(err, file, item)) return false;
            continue;
        }
        entry *e = &entries[*count];
        e->number = (*count)++;
        e->tensor.name = ts_arena_copy_text(arena, item->string, strlen(item->string));
        const reader in = {err, file, e->tensor.name};
        if (!read_entry(&in, item, e)) return false;
    }
    return true;
}

static bool read_tensors(ts_error *err, ts_arena *arena, const char *file, const cJSON *root,
                         uint64_t data_bytes, ts_safetensors_index *index) {
    if (!cJSON_IsObject(root))
        return ts_error_set(err, TS_ERROR_INPUT, "%s: the header is not a JSON object", file);
    entry *entries = TS_NEW_ARRAY(arena, entry, cJSON_GetArraySize(root));
    if (!read_entries(err, arena, file, root, entries, &index->count)) return false;
    index->count = drop_repeated(entries, index->count);
    index->tensors = TS_NEW_ARRAY(arena, ts_safetensor, index->count);
    for (size_t i = 0; i < index->count; i++) {
        const reader in = {err, file, entries[i].tensor.name};
        if (!check_entry(&in, &entries[i], data_bytes)) return false;
        index->tensors[i] = entries[i].tensor;
    }
    if (index->count > 0) qsort(index->tensors, index->count, sizeof *index->tensors, by_offset);
    return check_cover(err, file, data_bytes, index);
}

/* Bytes of the UTF-8 character at `at`; 0: not UTF-8, or a control character. */
static size_t character_bytes(const ts_source *header, size_t at) {
    char text[5] = {0};
    size_t left = header->length - at;
    memcpy(text, header->text + at, left < 4 ? left : 4);
    return (unsigned char)*text < ' ' ? 0 : ts_text_utf8_bytes(text);
}

/* The end of the string at `at`; 0: an error. A string that is `kept` has no NUL. */
static size_t string_end(ts_error *err, const ts_source *header, size_t at, bool kept) {
    for (at++; at < header->length && header->text[at] != '"';) {
        size_t bytes = character_bytes(header, at);
        bool escape = header->text[at] == '\\' && at + 1 < header->length;
        if (bytes == 0)
            return ts_error_at(err, TS_ERROR_INPUT, header, at,
                               "a string that is not UTF-8 without control characters");
        if (kept && escape && header->length - at > 5 && memcmp(header->text + at, "\\u0000", 6) == 0)
            return ts_error_at(err, TS_ERROR_INPUT, header, at, "a NUL in a string");
        at += escape ? 2 : bytes;
    }
    return at + 1;
}

/* The string at `at`, as it is written. */
static bool is_string(const ts_source *header, size_t at, const char *string) {
    size_t length = strlen(string);
    const char *text = header->text + at;
    return header->length - at > length + 1 && memcmp(text + 1, string, length) == 0 &&
           text[length + 1] == '"';
}

/* Of a tensor, whose numbers are integers; what has escapes may be one. */
static bool has_integers(const ts_source *header, size_t at, size_t end) {
    return is_string(header, at, "shape") || is_string(header, at, "data_offsets") ||
           memchr(header->text + at, '\\', end - at) != NULL;
}

static bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }

/* As JSON has integers: no point, no exponent, no 0 in front. */
static bool is_integer(const char *text, size_t length) {
    size_t sign = text[0] == '-', at = sign;
    while (at < length && ts_is_digit(text[at])) at++;
    return at == length && length > sign && (text[sign] != '0' || length == 1);
}

static size_t digits_at(const char *text, size_t length, size_t at) {
    size_t end = at;
    while (end < length && ts_is_digit(text[end])) end++;
    return end - at;
}

/* As JSON has numbers, and a double. */
static bool is_number(const char *text, size_t length) {
    char copy[64]; /* cJSON takes no longer ones */
    size_t at = text[0] == '-', whole = digits_at(text, length, at);
    bool good = whole > 0 && (text[at] != '0' || whole == 1);
    at += whole;
    if (at < length && text[at] == '.') {
        size_t part = digits_at(text, length, at + 1);
        good = good && part > 0;
        at += 1 + part;
    }
    if (at < length && (text[at] == 'e' || text[at] == 'E')) {
        at += at + 1 < length && (text[at + 1] == '+' || text[at + 1] == '-') ? 2 : 1;
        size_t exponent = digits_at(text, length, at);
        good = good && exponent > 0;
        at += exponent;
    }
    if (!good || at != length || length >= sizeof copy) return false;
    memcpy(copy, text, length);
    copy[length] = '\0';
    return isfinite(strtod(copy, NULL));
}

/* The end of the number at `at`; 0 and an error: it is no number, or no integer where one is needed. */
static size_t number_end(ts_error *err, const ts_source *header, size_t at, bool integer) {
    const char *text = header->text + at;
    size_t end = at + 1, length;
    while (end < header->length && memchr("0123456789.eE+-", header->text[end], 15)) end++;
    length = end - at;
    if (integer ? is_integer(text, length) : is_number(text, length)) return end;
    return ts_error_at(err, TS_ERROR_INPUT, header, at, "found %.*s, expected %s", ts_text_quoted(length),
                       text, integer ? "an integer" : "a number");
}

/* What the format asks for and cJSON does not tell of: an object from the first byte, numbers as they may be,
 * UTF-8, and JSON's own blanks. Also that nothing nests deep, before it is read. */
static bool check_text(ts_error *err, const ts_source *header) {
    enum { DEPTH = 127 }; /* serde_json's */
    if (header->length == 0 || header->text[0] != '{')
        return ts_error_at(err, TS_ERROR_INPUT, header, 0, "the header does not begin with '{'");
    int64_t depth = 0;
    bool kept = true; /* the metadata's strings are not */
    bool integer = false;
    for (size_t at = 0, next; at < header->length; at = next) {
        const char *text = header->text + at;
        if (*text == '"' && depth == 1) kept = !is_string(header, at, metadata_key);
        next = *text == '"'                         ? string_end(err, header, at, kept)
               : *text == '-' || ts_is_digit(*text) ? number_end(err, header, at, integer)
                                                    : at + 1;
        if (next == 0) return false;
        if (*text == '"' && depth == 2)
            integer = has_integers(header, at, next < header->length ? next : header->length);
        if (depth > 0 && (unsigned char)*text < ' ' && !is_blank(*text))
            return ts_error_at(err, TS_ERROR_INPUT, header, at, "the header is not valid JSON");
        depth += (*text == '{' || *text == '[') - (*text == '}' || *text == ']');
        if (depth > DEPTH)
            return ts_error_at(err, TS_ERROR_INPUT, header, at, "nested more than %d deep", DEPTH);
    }
    return true;
}

bool ts_safetensors_parse(ts_error *err, ts_arena *arena, const ts_source *header, uint64_t data_bytes,
                          ts_safetensors_index *index) {
    *index = (ts_safetensors_index){.data_at = LENGTH_BYTES + header->length};
    if (!check_text(err, header)) return false;
    const char *end = header->text;
    cJSON *root = ts_json_tree_parse(header, &end);
    if (!root)
        return ts_error_at(err, TS_ERROR_INPUT, header, (size_t)(end - header->text),
                           "the header is not valid JSON");
    size_t rest = (size_t)(end - header->text);
    while (rest < header->length && header->text[rest] == ' ') rest++;
    bool ok = rest == header->length ? read_tensors(err, arena, header->name, root, data_bytes, index)
                                     : ts_error_at(err, TS_ERROR_INPUT, header, rest,
                                                   "text behind the header, expected only spaces");
    cJSON_Delete(root);
    return ok;
}

static bool open_file(ts_error *err, ts_arena *arena, const char *path, ts_safetensors_index *index) {
    uint64_t file_bytes, length;
    if (!ts_file_size(err, path, &file_bytes)) return false;
    if (file_bytes < LENGTH_BYTES)
        return ts_error_set(err, TS_ERROR_INPUT, "%s: %" PRIu64 " bytes, too short for a safetensors file",
                            path, file_bytes);
    if (!ts_file_read_part(err, path, 0, LENGTH_BYTES, &length)) return false;
    if (length > HEADER_LIMIT)
        return ts_error_set(err, TS_ERROR_INPUT, "%s: a header of %" PRIu64 " bytes, expected at most %d",
                            path, length, HEADER_LIMIT);
    if (length > file_bytes - LENGTH_BYTES)
        return ts_error_set(err, TS_ERROR_INPUT,
                            "%s: a header of %" PRIu64 " bytes, but the file ends after %" PRIu64 " of them",
                            path, length, file_bytes - LENGTH_BYTES);
    size_t text_bytes = (size_t)length; /* at most HEADER_LIMIT */
    char *text = ts_arena_alloc(arena, text_bytes + 1, 1);
    if (!ts_file_read_part(err, path, LENGTH_BYTES, text_bytes, text)) return false;
    ts_source header = {path, text, text_bytes};
    return ts_safetensors_parse(err, arena, &header, file_bytes - LENGTH_BYTES - length, index);
}

static bool refuse_packed(ts_error *err, const char *path, const ts_safetensor *tensor) {
    char names[256];
    list_types(names, sizeof names);
    return refuse(&(reader){err, path, tensor->name},
                  "elements of %d bits, several to a byte, are not read; save it as %s", tensor->packed_bits,
                  names);
}

bool ts_safetensors_load(ts_error *err, ts_arena *arena, const char *path, const char *name,
                         const ts_host_expect *expect, ts_host_array *array) {
    ts_safetensors_index index;
    if (!open_file(err, arena, path, &index)) return false;
    const ts_host_names names = {"tensor", &index.tensors[0].name, index.count, sizeof *index.tensors};
    size_t found = ts_host_find(err, path, name, &names);
    if (found == SIZE_MAX) return false;
    const ts_safetensor *tensor = &index.tensors[found];
    if (tensor->packed_bits > 0) return refuse_packed(err, path, tensor);
    *array = tensor->array;
    if (expect && expect->has_dtype && expect->dtype == TS_DTYPE_BF16 && array->dtype == TS_DTYPE_U16)
        array->dtype = TS_DTYPE_BF16;
    size_t limit = ts_host_limit(expect);
    if (array->length > limit)
        return ts_error_set(err, TS_ERROR_IO, "cannot read '%s': tensor '%s' has more than %zu bytes", path,
                            tensor->name, limit);
    if (!ts_host_array_check(err, tensor->name, array, expect)) return false;
    array->bytes = ts_arena_alloc(arena, array->length, 1);
    return ts_file_read_part(err, path, index.data_at + tensor->offset, array->length, array->bytes);
}

/* The names of tensors are user text: quotes, backslashes and control bytes are escaped. */
static void add_string(ts_text *out, const char *text) {
    ts_text_add_char(out, '"');
    for (; *text; text++) {
        if (*text == '"' || *text == '\\') ts_text_add_char(out, '\\');
        if ((unsigned char)*text < 0x20)
            ts_text_add(out, "\\u%04x", (unsigned)*text);
        else
            ts_text_add_char(out, *text);
    }
    ts_text_add_char(out, '"');
}

static bool add_tensor(ts_error *err, const char *path, const ts_safetensor *tensor, uint64_t at,
                       ts_text *out) {
    int type = 0;
    while (type < TYPES && (types[type].dtype != tensor->array.dtype || types[type].packed_bits > 0)) type++;
    if (!ts_text_is_utf8(tensor->name))
        return ts_error_set(err, TS_ERROR_INPUT, "%s: the tensor's name is not UTF-8", path);
    if (strcmp(tensor->name, metadata_key) == 0)
        return ts_error_set(err, TS_ERROR_INPUT, "%s: no tensor can be called '%s'", path, metadata_key);
    if (type == TYPES)
        return ts_error_set(err, TS_ERROR_INPUT, "%s: a safetensors file cannot hold %s", path,
                            ts_dtype_get(tensor->array.dtype)->name);
    add_string(out, tensor->name);
    ts_text_add(out, ":{\"dtype\":\"%s\",\"shape\":[", types[type].name);
    for (int i = 0; i < tensor->array.rank; i++)
        ts_text_add(out, i ? ",%" PRId64 : "%" PRId64, tensor->array.dims[i]);
    ts_text_add(out, "],\"data_offsets\":[%" PRIu64 ",%" PRIu64 "]}", at, at + tensor->array.length);
    return true;
}

bool ts_safetensors_save(ts_error *err, ts_arena *arena, const char *path, const ts_safetensor *tensors,
                         size_t count) {
    ts_text head = ts_text_begin(arena);
    ts_text_add_char(&head, '{');
    uint64_t at = 0;
    for (size_t i = 0; i < count; i++) {
        if (i > 0) ts_text_add_char(&head, ',');
        if (!add_tensor(err, path, &tensors[i], at, &head)) return false;
        at += tensors[i].array.length;
    }
    ts_text_add_char(&head, '}');
    while (head.length % 8 != 0) ts_text_add_char(&head, ' ');
    uint64_t length = head.length;
    ts_file_writer *writer = ts_file_create(err, arena, path);
    if (!writer) return false;
    bool ok = ts_file_write(err, writer, &length, sizeof length) &&
              ts_file_write(err, writer, head.bytes, head.length);
    for (size_t i = 0; ok && i < count; i++)
        ok = ts_file_write(err, writer, tensors[i].array.bytes, tensors[i].array.length);
    return ok && ts_file_close(err, writer); /* a write that fails removes the temporary file */
}
