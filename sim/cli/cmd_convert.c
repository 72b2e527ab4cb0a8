/* tilesim convert: a file's array into the buffer of a layout, and back. */
#include <string.h>

#include "commands.h"
#include "options.h"
#include "host/format.h"
#include "base/file.h"
#include "base/memory.h"
#include "base/threads.h"
#include "host/pack.h"
#include "report/json.h"

static const cli_option options[] = {
    {"to", '\0', "SHAPE", "OUT is the buffer of this shape, byte for byte"},
    {"from", '\0', "SHAPE", "IN is the buffer of this shape, byte for byte"},
    {"jobs", 'j', "N", "move with so many threads, where they pay; 1 when not given"},
    CLI_MEMORY_OPTION,
    {"json", '\0', NULL, "what was read and written, as JSON"},
};

static const cli_command command_convert = {
    .name = "convert",
    .operands = "IN OUT",
    .operands_least = 2,
    .operands_most = 2,
    .operand_files = "rw",
    .about =
        "Converts between files of arrays (.npy, .npz:NAME, .safetensors:NAME, .bin) and the buffers that "
        "layouts define. A buffer begins with offset 0, has zeros for padding, and is as long as the "
        "layout's storage. "
        "Values are converted where the types differ. A row-major shape without padding may also be an "
        "array's "
        "file. Types that NumPy lacks are bytes in a .npy: np.load(F).view(ml_dtypes.bfloat16) reads bf16.\n",
    .example = "    tilesim convert tests/data/digits_1000_u8.npy d.bin --to "
               "'bf16[1000,784]{1,0:T(8,128)(2,1)}'\n"
               "    tilesim convert d.bin d.npy --from 'bf16[1000,784]{1,0:T(8,128)(2,1)}' --to "
               "'f32[1000,784]{1,0}'\n",
    CLI_OPTIONS(options),
};

static bool read_shape(ts_error *err, const cli_line *line, const char *option, const ts_shape **shape) {
    const char *text = cli_value(line, option);
    *shape = NULL;
    if (!text) return true;
    ts_source source = {cli_option_text(line, option), text, strlen(text)};
    *shape = ts_shape_parse(err, line->arena, &source);
    return *shape != NULL;
}

static bool load(ts_error *err, const cli_line *line, const ts_shape *from, const ts_shape *to, int threads,
                 ts_host_array *array) {
    const char *path = line->operands[0];
    if (from) {
        char *bytes;
        size_t length;
        return ts_file_read(err, line->arena, path, TS_HOST_LIMIT_BYTES, &bytes, &length) &&
               ts_host_unpack(err, line->arena, &(ts_host_buffer){path, (uint8_t *)bytes, (int64_t)length},
                              from, threads, array);
    }
    int64_t most;
    if (!cli_max_memory(err, line, &most)) return false;
    size_t limit = (uint64_t)most < TS_HOST_LIMIT_BYTES ? (size_t)most : TS_HOST_LIMIT_BYTES;
    ts_host_expect expect = {.limit_bytes = limit}; /* of what is read in part, too */
    if (to && to->layout) {
        expect = (ts_host_expect){.limit_bytes = limit,
                                  .has_dtype = true,
                                  .dtype = to->dtype,
                                  .has_dims = true,
                                  .rank = to->layout->rank,
                                  .dims = to->layout->dims};
    }
    return ts_host_load(err, line->arena, path, &expect, array);
}

/* The file as it is read, its array, and the buffer; of pipes and of files that hold several arrays, which
 * are read in part, only the buffer is known. */
static bool check_memory(ts_error *err, const cli_line *line, const ts_shape *from, const ts_shape *to) {
    const char *path = line->operands[0];
    uint64_t file_bytes = 0;
    int64_t most, buffer_bytes = 0;
    bool known = !ts_host_is_archive(path) && ts_file_size(NULL, path, &file_bytes);
    const ts_shape *shape = from ? from : to;
    if (!cli_max_memory(err, line, &most)) return false;
    if (shape && !ts_host_buffer_bytes(err, shape, &buffer_bytes)) return false;
    const ts_memory_part parts[] = {
        {"the input", known ? (int64_t)file_bytes : 0},
        {"its buffer", buffer_bytes},
        {"its array", from && from->unpadded_bytes > 0 ? from->unpadded_bytes : 0},
    };
    return ts_memory_check(err, parts, sizeof parts / sizeof parts[0], most);
}

enum { COMPARED = 1 << 26 }; /* points of layouts, at most */

/* Is its buffer the plain row-major array? */
static bool is_plain(ts_arena *arena, const ts_shape *shape) {
    ts_layout_comparison found = {0};
    const ts_layout *layout = shape->layout;
    const ts_shape *flat =
        layout ? ts_shape_row_major(NULL, arena, shape->dtype, layout->rank, layout->dims) : NULL;
    return flat && flat->bytes == shape->bytes &&
           ts_layout_compare(NULL, arena, flat->layout, layout, COMPARED, &found) && found.equal;
}

typedef struct {
    const ts_shape *from, *to; /* or NULL */
    int threads;
    ts_host_array array, written; /* as read; as it lies in the file or the buffer */
} conversion;

static bool save_array(ts_error *err, const cli_line *line, conversion *c) {
    const ts_layout *layout = c->to->layout;
    const ts_host_expect expect = {.has_dims = true, .rank = layout->rank, .dims = layout->dims};
    return ts_host_array_check(err, line->operands[0], &c->array, &expect) &&
           ts_host_array_convert(err, line->arena, &c->array, c->to->dtype, &c->written) &&
           ts_host_save(err, line->arena, line->operands[1], &c->written);
}

static bool save(ts_error *err, const cli_line *line, conversion *c) {
    const char *path = line->operands[1];
    c->written = c->array;
    if (!c->to) return ts_host_save(err, line->arena, path, &c->array);
    if (ts_host_path_split(path).format == TS_FORMAT_NPY || ts_host_is_archive(path)) {
        if (is_plain(line->arena, c->to)) return save_array(err, line, c);
        return ts_error_set(err, TS_ERROR_INPUT,
                            "'%s' cannot hold the buffer of a layout, expected a name such as .bin", path);
    }
    return ts_host_pack(err, line->arena, &c->array, c->to, c->threads, &c->written) &&
           ts_file_save(err, line->arena, path, c->written.bytes, c->written.length);
}

static void report_json(const cli_line *line, const conversion *c, ts_text *out) {
    const ts_dtype written = c->to ? c->to->dtype : c->array.dtype;
    ts_json json;
    ts_json_begin(&json, out, "convert");
    ts_json_text(&json, "in", line->operands[0]);
    ts_json_text(&json, "out", line->operands[1]);
    ts_json_text(&json, "from", c->from ? ts_shape_text(line->arena, c->from) : NULL);
    ts_json_text(&json, "to", c->to ? ts_shape_text(line->arena, c->to) : NULL);
    ts_json_ints(&json, "dims", c->array.rank, c->array.dims);
    ts_json_int(&json, "elements", (int64_t)ts_host_array_elements(&c->array));
    ts_json_text(&json, "type_read", ts_dtype_get(c->array.dtype)->name);
    ts_json_text(&json, "type_written", ts_dtype_get(written)->name);
    ts_json_int(&json, "bytes_written", (int64_t)c->written.length); /* of values and padding */
    ts_json_end(&json);
}

static bool convert(ts_error *err, const cli_line *line, conversion *c) {
    c->threads = 1;
    return cli_int(err, line, "jobs", 1, TS_THREADS_MOST, &c->threads) &&
           read_shape(err, line, "from", &c->from) && read_shape(err, line, "to", &c->to) &&
           check_memory(err, line, c->from, c->to) &&
           load(err, line, c->from, c->to, c->threads, &c->array) && save(err, line, c);
}

int cmd_convert(int argc, char **argv) {
    cli_line line;
    ts_error err = {0};
    conversion c = {0};
    if (!cli_begin(&line, &command_convert, argc, argv)) return line.exit_code;
    if (!convert(&err, &line, &c)) return cli_end(&line, cli_fail(&err));
    ts_text out = ts_text_begin(line.arena);
    if (cli_value(&line, "json")) report_json(&line, &c, &out);
    return cli_end(&line, cli_print(&out));
}
