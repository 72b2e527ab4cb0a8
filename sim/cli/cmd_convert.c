/* tilesim convert: a file's array into the buffer of a layout, and back. */
#include <string.h>

#include "commands.h"
#include "options.h"
#include "host/format.h"
#include "base/file.h"
#include "host/pack.h"

static const cli_option options[] = {
    {"to", '\0', "SHAPE", "OUT is the buffer of this shape, byte for byte"},
    {"from", '\0', "SHAPE", "IN is the buffer of this shape, byte for byte"},
    {"jobs", 'j', "N", "move with so many threads, where they pay; 1 when not given"},
    CLI_MEMORY_OPTION,
};

static const cli_command command_convert = {
    .name = "convert",
    .operands = "IN OUT",
    .operands_least = 2,
    .operands_most = 2,
    .operand_files = "rw",
    .about =
        "Converts between files of arrays (.npy, .safetensors:NAME, .bin) and the buffers that layouts "
        "define. "
        "A buffer begins with offset 0, has zeros for padding, and is as long as the layout's storage. "
        "Values are converted where the types differ. A row-major shape without padding may also be an "
        "array's "
        "file. Types that NumPy lacks are bytes in a .npy: np.load(F).view(ml_dtypes.bfloat16) reads bf16.\n",
    .example = "    tilesim convert tests/data/digits_1000_u8.npy d.bin --to "
               "'bf16[1000,784]{1,0:T(8,128)(2,1)}'\n"
               "    tilesim convert d.bin d.npy --from 'bf16[1000,784]{1,0:T(8,128)(2,1)}' --to "
               "'f32[1000,784]{1,0}'\n",
    .option_count = sizeof options / sizeof options[0],
    .options = options,
};

static bool ends_with(const char *text, const char *end) {
    size_t length = strlen(text), tail = strlen(end);
    return length >= tail && strcmp(text + length - tail, end) == 0;
}

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
    bool known = !strstr(path, ".safetensors") && ts_file_size(NULL, path, &file_bytes);
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

/* Is its buffer that of an array, the elements one behind the other? */
static bool is_plain(ts_arena *arena, const ts_shape *shape) {
    ts_layout_comparison found = {0};
    const ts_layout *layout = shape->layout;
    const ts_shape *flat =
        layout ? ts_shape_row_major(NULL, arena, shape->dtype, layout->rank, layout->dims) : NULL;
    return flat && flat->bytes == shape->bytes &&
           ts_layout_compare(NULL, arena, flat->layout, layout, COMPARED, &found) && found.equal;
}

static bool save_array(ts_error *err, const cli_line *line, const ts_shape *to, const ts_host_array *array) {
    const char *path = line->operands[1];
    const ts_host_expect expect = {.has_dims = true, .rank = to->layout->rank, .dims = to->layout->dims};
    ts_host_array converted;
    return ts_host_array_check(err, line->operands[0], array, &expect) &&
           ts_host_array_convert(err, line->arena, array, to->dtype, &converted) &&
           ts_host_save(err, line->arena, path, &converted);
}

static bool save(ts_error *err, const cli_line *line, const ts_shape *to, int threads,
                 const ts_host_array *array) {
    const char *path = line->operands[1];
    if (!to) return ts_host_save(err, line->arena, path, array);
    if (ends_with(path, ".npy") || strstr(path, ".safetensors")) {
        if (is_plain(line->arena, to)) return save_array(err, line, to, array);
        return ts_error_set(err, TS_ERROR_INPUT,
                            "'%s' cannot hold the buffer of a layout, expected a name such as .bin", path);
    }
    ts_host_array buffer;
    return ts_host_pack(err, line->arena, array, to, threads, &buffer) &&
           ts_file_save(err, line->arena, path, buffer.bytes, buffer.length);
}

int cmd_convert(int argc, char **argv) {
    cli_line line;
    ts_error err = {0};
    const ts_shape *from, *to;
    ts_host_array array;
    if (!cli_begin(&line, &command_convert, argc, argv)) return line.exit_code;
    int64_t threads = 1;
    bool done = cli_number(&err, &line, "jobs", 64, &threads) && read_shape(&err, &line, "from", &from) &&
                read_shape(&err, &line, "to", &to) && check_memory(&err, &line, from, to) &&
                load(&err, &line, from, to, (int)threads, &array) &&
                save(&err, &line, to, (int)threads, &array);
    return cli_end(&line, done ? 0 : cli_fail(&err));
}
