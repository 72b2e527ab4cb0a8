/* The arrays of standard input, one behind the other, into a layout:
 * ./convert 'f32[20,300]' 'bf16[20,300]{1,0:T(8,128)(2,1)}' < arrays.bin > tiles.bin */
#include <stdio.h>
#include <stdlib.h>

#include <tilesim.h>

static int convert(ts_error *err, const ts_converter *converter) {
    const size_t from = (size_t)ts_converter_source_bytes(converter),
                 to = (size_t)ts_converter_destination_bytes(converter);
    unsigned char *source = malloc(from + 1),
                  *destination = calloc(1, to + 1); /* padding is zero, and stays */
    int good = source && destination;
    while (good && from > 0 && fread(source, 1, from, stdin) == from)
        good = ts_converter_run(err, converter, source, (int64_t)from, destination, (int64_t)to) &&
               fwrite(destination, 1, to, stdout) == to;
    free(source);
    free(destination);
    return good;
}

int main(int argc, char **argv) {
    if (argc != 3) {
        fprintf(stderr, "usage: convert SRC DST\n");
        return 2;
    }
    ts_error *err = ts_error_new();
    ts_arena *arena = ts_arena_new();
    const ts_shape *source = ts_shape_from_text(err, arena, argv[1]);
    const ts_shape *destination = source ? ts_shape_from_text(err, arena, argv[2]) : NULL;
    const ts_converter *converter = destination ? ts_converter_new(err, arena, source, destination, 1) : NULL;
    int good = converter && convert(err, converter);
    if (!good) fprintf(stderr, "convert: %s\n", ts_error_message(err));
    ts_arena_free(arena);
    ts_error_free(err);
    return !good;
}
