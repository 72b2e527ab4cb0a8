/* Padding: its share, and how much larger it makes the data. */
#include "padding.h"

#include <math.h>

#include "base/number.h"
#include "base/text.h"

int64_t report_replica_bytes(const ts_shape *shape) {
    int64_t data = shape->unpadded_bytes, room = shape->storage_bytes - data, copies = 1, bytes;
    if (!shape->layout || data == TS_SIZE_UNKNOWN || room <= 0) return 0;
    for (int i = 0; i < shape->layout->replica_count; i++)
        if (shape->layout->replicas[i].stride != 0 &&
            !ts_mul(copies, shape->layout->replicas[i].extent, &copies))
            return room;
    return ts_mul(data, copies - 1, &bytes) ? ts_min(bytes, room) : room;
}

int64_t report_held_bytes(const ts_shape *shape) {
    return shape->unpadded_bytes + report_replica_bytes(shape);
}

double report_padding_percent(int64_t data_bytes, int64_t padded_bytes) {
    return padded_bytes > data_bytes ? 100.0 * (double)(padded_bytes - data_bytes) / (double)padded_bytes : 0;
}

double report_expansion(int64_t data_bytes, int64_t padded_bytes) {
    return data_bytes > 0 ? (double)padded_bytes / (double)data_bytes : 1;
}

const char *report_expansion_text(ts_arena *arena, int64_t data_bytes, int64_t padded_bytes, int decimals) {
    return data_bytes > 0
               ? ts_text_format(arena, "%.*fx", decimals, report_expansion(data_bytes, padded_bytes))
               : "-";
}

const char *report_padding_text(ts_arena *arena, const ts_shape *shape) {
    ts_text out = ts_text_begin(arena);
    int64_t held = report_held_bytes(shape), replicas = report_replica_bytes(shape);
    const char *all = ts_text_counted(arena, shape->storage_bytes, "byte");
    if (held == 0 && shape->storage_bytes == 0)
        ts_text_add(&out, "no elements, 0 bytes");
    else if (held > shape->storage_bytes)
        ts_text_add(&out, "0.0 %% padding: %s of elements share %s", ts_text_counted(arena, held, "byte"),
                    all);
    else
        ts_text_add(&out, "%.1f %% padding: %s of %s hold elements",
                    report_padding_percent(held, shape->storage_bytes), ts_text_grouped(arena, held), all);
    if (replicas > 0) ts_text_add(&out, ", %s of them replicas", ts_text_grouped(arena, replicas));
    return out.bytes;
}

static void add_keys(ts_json *json, int64_t data_bytes, int64_t held_bytes, int64_t padded_bytes) {
    ts_json_real(json, "padding_percent", report_padding_percent(held_bytes, padded_bytes), 4);
    ts_json_real(json, "expansion", data_bytes > 0 ? report_expansion(data_bytes, padded_bytes) : (double)NAN,
                 6);
}

void report_padding_json(ts_json *json, int64_t data_bytes, int64_t padded_bytes) {
    add_keys(json, data_bytes, data_bytes, padded_bytes);
}

void report_shape_padding_json(ts_json *json, const ts_shape *shape, int64_t padded_bytes) {
    add_keys(json, shape->unpadded_bytes, report_held_bytes(shape), padded_bytes);
}
