/* NumPy's .npy files: the header, a Python dict literal, is read strictly; data is used where it lies. */
#include "host/npy.h"

#include <inttypes.h>
#include <string.h>

#include "base/file.h"

enum { MAGIC_BYTES = 6, PREFIX_BYTES = 10, ALIGNMENT = 64, HEADER_LIMIT = 65535 };
static const char magic[] = "\x93NUMPY";

/* NumPy's kind and bytes of each type that it can name. */
static const struct {
    ts_dtype dtype;
    char kind;
    int bytes;
} types[] = {
    {TS_DTYPE_PRED, 'b', 1}, {TS_DTYPE_S8, 'i', 1},    {TS_DTYPE_S16, 'i', 2}, {TS_DTYPE_S32, 'i', 4},
    {TS_DTYPE_S64, 'i', 8},  {TS_DTYPE_U8, 'u', 1},    {TS_DTYPE_U16, 'u', 2}, {TS_DTYPE_U32, 'u', 4},
    {TS_DTYPE_U64, 'u', 8},  {TS_DTYPE_F16, 'f', 2},   {TS_DTYPE_F32, 'f', 4}, {TS_DTYPE_F64, 'f', 8},
    {TS_DTYPE_C64, 'c', 8},  {TS_DTYPE_C128, 'c', 16},
};
enum { TYPES = sizeof types / sizeof *types };

/* The fields of a header, in the order of `keys`. */
typedef struct {
    const char *descr; /* not ended by NUL */
    size_t descr_length, descr_at;
    bool fortran, big_endian;
    int rank;
    int64_t dims[TS_HOST_RANK];
    bool seen[3];
} header;
static const char *const keys[] = {"descr", "fortran_order", "shape"};

/* A Python string without escapes: 'descr' or "descr". */
static bool parse_string(ts_error *err, ts_cursor *cursor, const char *what, const char **text,
                         size_t *length) {
    int quote = ts_cursor_peek(cursor);
    if (quote != '\'' && quote != '"') return ts_cursor_unexpected(err, cursor, what);
    const ts_source *source = cursor->source;
    size_t begin = cursor->at + 1, end = begin;
    while (end < source->length && source->text[end] != quote && source->text[end] != '\n') end++;
    if (end >= source->length || source->text[end] != quote)
        return ts_error_at(err, TS_ERROR_INPUT, source, cursor->at, "a string without its end");
    *text = source->text + begin;
    *length = end - begin;
    cursor->token = cursor->at;
    cursor->at = end + 1;
    return true;
}

static bool parse_descr(ts_error *err, ts_cursor *cursor, header *out) {
    if (ts_cursor_peek(cursor) == '[')
        return ts_error_at(err, TS_ERROR_INPUT, cursor->source, cursor->at,
                           "structured elements are not read, expected one type such as '<f4'");
    if (!parse_string(err, cursor, "a type such as '<f4'", &out->descr, &out->descr_length)) return false;
    out->descr_at = cursor->token;
    return true;
}

static bool parse_order(ts_error *err, ts_cursor *cursor, header *out) {
    out->fortran = ts_cursor_peek(cursor) == 'T';
    if (ts_cursor_take(cursor, out->fortran ? "True" : "False")) return true;
    return ts_cursor_unexpected(err, cursor, "True or False");
}

static bool parse_dim(ts_error *err, ts_cursor *cursor, header *out) {
    int64_t dim;
    if (!ts_cursor_integer(err, cursor, "a dim of the shape", &dim)) return false;
    if (dim < 0) return ts_cursor_refuse(err, cursor, "a dim of %" PRId64 ", expected 0 or more", dim);
    if (out->rank == TS_HOST_RANK) return ts_cursor_refuse(err, cursor, "more than %d dims", TS_HOST_RANK);
    ts_cursor_take(cursor, "L"); /* as Python 2 wrote long integers */
    out->dims[out->rank++] = dim;
    return true;
}

/* A Python tuple: () or (3,) or (3, 5) or (3, 5,). */
static bool parse_shape(ts_error *err, ts_cursor *cursor, header *out) {
    if (!ts_cursor_expect(err, cursor, "(")) return false;
    while (!ts_cursor_take(cursor, ")")) {
        if (!parse_dim(err, cursor, out)) return false;
        if (ts_cursor_take(cursor, ",")) continue;
        if (out->rank == 1 || ts_cursor_peek(cursor) != ')') return ts_cursor_unexpected(err, cursor, "','");
    }
    return true;
}

static bool (*const parsers[])(ts_error *, ts_cursor *, header *) = {parse_descr, parse_order, parse_shape};

static bool parse_entry(ts_error *err, ts_cursor *cursor, header *out) {
    const char *text;
    size_t length;
    if (!parse_string(err, cursor, "a key in quotes", &text, &length)) return false;
    for (int i = 0; i < 3; i++) {
        if (length != strlen(keys[i]) || memcmp(text, keys[i], length) != 0) continue;
        if (out->seen[i]) return ts_cursor_refuse(err, cursor, "a second key '%s'", keys[i]);
        out->seen[i] = true;
        return ts_cursor_expect(err, cursor, ":") && parsers[i](err, cursor, out);
    }
    return ts_cursor_refuse(err, cursor, "unknown key, expected 'descr', 'fortran_order' or 'shape'");
}

static bool parse_header(ts_error *err, const ts_source *source, header *out) {
    ts_cursor cursor = {.source = source};
    if (!ts_cursor_expect(err, &cursor, "{")) return false;
    while (!ts_cursor_take(&cursor, "}")) {
        if (!parse_entry(err, &cursor, out)) return false;
        if (!ts_cursor_take(&cursor, ",") && ts_cursor_peek(&cursor) != '}')
            return ts_cursor_unexpected(err, &cursor, "',' or '}'");
    }
    for (int i = 0; i < 3; i++)
        if (!out->seen[i])
            return ts_error_at(err, TS_ERROR_INPUT, source, cursor.at - 1, "the key '%s' is missing",
                               keys[i]);
    return ts_cursor_at_end(&cursor) || ts_cursor_unexpected(err, &cursor, "the end of the header");
}

static bool is_named(ts_dtype dtype) {
    for (int i = 0; i < TYPES; i++)
        if (types[i].dtype == dtype) return true;
    return false;
}

/* Void of the size of an expected type that NumPy cannot name; two bytes are bf16 where nothing is
 * expected. */
static bool find_void_type(int64_t bytes, const ts_host_expect *expect, ts_dtype *dtype) {
    *dtype = expect && expect->has_dtype && !is_named(expect->dtype) ? expect->dtype : TS_DTYPE_BF16;
    return ts_dtype_get(*dtype)->stored_bits == 8 * bytes;
}

static bool find_type(char kind, int64_t bytes, const ts_host_expect *expect, ts_dtype *dtype) {
    if (kind == 'V') return find_void_type(bytes, expect, dtype);
    for (int i = 0; i < TYPES; i++) {
        if (types[i].kind != kind || types[i].bytes != bytes) continue;
        bool holds_bf16 =
            types[i].dtype == TS_DTYPE_U16 && expect && expect->has_dtype && expect->dtype == TS_DTYPE_BF16;
        *dtype = holds_bf16 ? TS_DTYPE_BF16 : types[i].dtype;
        return true;
    }
    return false;
}

/* '<f4': byte order, kind, bytes. */
static bool read_type(ts_error *err, const ts_source *source, header *head, const ts_host_expect *expect,
                      ts_dtype *dtype) {
    size_t length = head->descr_length, used = length < 20 ? length : 20;
    const char *text = head->descr;
    int64_t bytes = 0;
    bool well_formed = length >= 3 && length <= 5 && strchr("<>|=", text[0]);
    for (size_t i = 2; i < length && well_formed; i++) {
        well_formed = ts_is_digit(text[i]);
        bytes = 10 * bytes + (text[i] - '0');
    }
    head->big_endian = length > 0 && text[0] == '>';
    if (well_formed && find_type(text[1], bytes, expect, dtype)) return true;
    if (well_formed && text[1] == 'V')
        return ts_error_at(err, TS_ERROR_INPUT, source, head->descr_at,
                           "'%.*s' does not say what its bytes hold, and no type of %" PRId64
                           " bytes is expected",
                           (int)used, text, bytes);
    return ts_error_at(
        err, TS_ERROR_INPUT, source, head->descr_at,
        "unknown element type '%.*s', expected such as '<f4', '<f2', '|V2' (bf16), '|i1' or '|b1'", (int)used,
        text);
}

/* Big-endian numbers turned round where they are; a complex element is two. */
static void swap_bytes(ts_host_array *array) {
    const ts_dtype_info *type = ts_dtype_get(array->dtype);
    size_t bytes = (size_t)type->stored_bits / 8;
    if (type->class == TS_CLASS_COMPLEX) bytes /= 2;
    for (size_t at = 0; at < array->length; at += bytes)
        for (size_t i = 0; i < bytes / 2; i++) {
            uint8_t *first = array->bytes + at + i, *last = array->bytes + at + bytes - 1 - i, kept = *first;
            *first = *last;
            *last = kept;
        }
}

/* Source and destination in units of elements: Fortran order has its first dim fastest. */
static void copy_to_c_order(const uint8_t *source, size_t element_bytes, ts_host_array *array) {
    int64_t strides[TS_HOST_RANK], index[TS_HOST_RANK] = {0}, stride = 1, at = 0;
    for (int i = 0; i < array->rank; i++) {
        strides[i] = stride;
        stride *= array->dims[i];
    }
    for (size_t done = 0; done < array->length; done += element_bytes) {
        memcpy(array->bytes + done, source + (size_t)at * element_bytes, element_bytes);
        for (int i = array->rank - 1; i >= 0; i--) {
            at += strides[i];
            if (++index[i] < array->dims[i]) break;
            at -= strides[i] * array->dims[i];
            index[i] = 0;
        }
    }
}

/* Where the header text begins and how long it is. */
static bool find_header(ts_error *err, const ts_source *file, size_t *begin, size_t *length) {
    const uint8_t *bytes = (const uint8_t *)file->text;
    if (file->length < MAGIC_BYTES + 2 || memcmp(bytes, magic, MAGIC_BYTES) != 0)
        return ts_error_set(err, TS_ERROR_INPUT, "%s: not a .npy file: it does not begin with \\x93NUMPY",
                            file->name);
    int major = bytes[MAGIC_BYTES], minor = bytes[MAGIC_BYTES + 1];
    if (major < 1 || major > 3 || minor != 0)
        return ts_error_set(err, TS_ERROR_INPUT, "%s: byte 6: version %d.%d, expected 1.0, 2.0 or 3.0",
                            file->name, major, minor);
    size_t field = major == 1 ? 2 : 4;
    *begin = MAGIC_BYTES + 2 + field;
    if (file->length < *begin)
        return ts_error_set(err, TS_ERROR_INPUT, "%s: byte 8: the file ends inside the header's length",
                            file->name);
    *length = 0;
    memcpy(length, bytes + MAGIC_BYTES + 2, field);
    if (*length > HEADER_LIMIT)
        return ts_error_set(err, TS_ERROR_INPUT, "%s: byte 8: a header of %zu bytes, expected at most %d",
                            file->name, *length, HEADER_LIMIT);
    if (file->length - *begin < *length)
        return ts_error_set(err, TS_ERROR_INPUT,
                            "%s: byte 8: a header of %zu bytes, but the file ends after %zu of them",
                            file->name, *length, file->length - *begin);
    return true;
}

static bool take_data(ts_error *err, ts_arena *arena, const ts_source *file, size_t begin,
                      ts_host_array *array) {
    size_t length = file->length - begin;
    if (!ts_host_array_size(err, file->name, array->dtype, array->rank, array->dims, &array->length))
        return false;
    if (length != array->length) {
        ts_text shape = ts_text_begin(arena);
        ts_host_array_print(array, &shape);
        return ts_error_set(err, TS_ERROR_INPUT, "%s: byte %zu: %zu bytes of data, expected %zu for %s%s",
                            file->name, begin, length, array->length, shape.bytes,
                            length < array->length ? " (the file is cut short)" : "");
    }
    array->bytes = (uint8_t *)file->text + begin;
    return true;
}

/* A copy in C order, little endian, of what lies otherwise. */
static void take_order(ts_arena *arena, const header *head, ts_host_array *array) {
    const uint8_t *source = array->bytes;
    bool fortran = head->fortran && array->rank > 1;
    if (!fortran && !head->big_endian) return;
    array->bytes = ts_arena_alloc(arena, array->length, 1);
    if (fortran)
        copy_to_c_order(source, (size_t)ts_dtype_get(array->dtype)->stored_bits / 8, array);
    else if (array->length > 0)
        memcpy(array->bytes, source, array->length);
    if (head->big_endian) swap_bytes(array);
}

bool ts_npy_parse(ts_error *err, ts_arena *arena, const ts_source *file, const ts_host_expect *expect,
                  ts_host_array *array) {
    size_t begin = 0, length = 0;
    if (!find_header(err, file, &begin, &length)) return false;
    const char *name = ts_text_format(arena, "%s (header)", file->name);
    ts_source source = {name, file->text + begin, length};
    header head = {0};
    *array = (ts_host_array){0};
    if (!parse_header(err, &source, &head) || !read_type(err, &source, &head, expect, &array->dtype))
        return false;
    array->rank = head.rank;
    memcpy(array->dims, head.dims, sizeof head.dims);
    if (!take_data(err, arena, file, begin + length, array)) return false;
    take_order(arena, &head, array);
    return ts_host_array_check(err, file->name, array, expect);
}

static void add_header(ts_text *out, const ts_host_array *array) {
    char kind = 'V';
    int bytes = ts_dtype_get(array->dtype)->stored_bits / 8;
    for (int i = 0; i < TYPES; i++)
        if (types[i].dtype == array->dtype) kind = types[i].kind;
    char order = bytes == 1 || kind == 'V' ? '|' : '<';
    ts_text_add(out, "{'descr': '%c%c%d', 'fortran_order': False, 'shape': (", order, kind, bytes);
    for (int i = 0; i < array->rank; i++) ts_text_add(out, i ? ", %" PRId64 : "%" PRId64, array->dims[i]);
    ts_text_add(out, array->rank == 1 ? ",), }" : "), }");
    while ((PREFIX_BYTES + out->length + 1) % ALIGNMENT != 0) ts_text_add_char(out, ' ');
    ts_text_add_char(out, '\n');
}

void ts_npy_head(const ts_host_array *array, ts_text *out) {
    ts_text head = ts_text_begin(out->arena);
    add_header(&head, array);
    ts_text_add(out, "%s", magic);
    ts_text_add_char(out, 1);
    ts_text_add_char(out, 0);
    ts_text_add_char(out, (char)(head.length & 0xff)); /* at most 64 dims of 20 digits: fits in two bytes */
    ts_text_add_char(out, (char)(head.length >> 8));
    ts_text_add(out, "%s", head.bytes);
}

bool ts_npy_save(ts_error *err, ts_arena *arena, const char *path, const ts_host_array *array) {
    ts_text head = ts_text_begin(arena);
    ts_npy_head(array, &head);
    ts_file_writer *writer = ts_file_create(err, arena, path);
    if (!writer) return false;
    if (ts_file_write(err, writer, head.bytes, head.length) &&
        ts_file_write(err, writer, array->bytes, array->length))
        return ts_file_close(err, writer);
    ts_file_abandon(writer);
    return false;
}
