/* Figures doubled and halved, as text. */
#include "config/scale.h"

#include "base/number.h"

static bool is_number(ts_field_kind kind) {
    return kind == TS_FIELD_INTEGER || kind == TS_FIELD_BYTES || kind == TS_FIELD_CLOCK ||
           kind == TS_FIELD_TIME || kind == TS_FIELD_CYCLES;
}

bool ts_field_scaled(const ts_field_leaf *leaf, ts_field_scaling scaling, ts_text *out) {
    bool doubles = scaling == TS_FIELD_DOUBLED;
    const ts_field *field = leaf->field;
    int64_t value = is_number(field->kind) ? ts_field_value(field, leaf->at) : 0, moved = value / 2;
    if (value <= 0 || (doubles ? !ts_mul(value, 2, &moved) : value % 2 != 0)) return false;
    if (field->bytes == sizeof(int32_t) && moved > INT32_MAX) return false;
    ts_text_add(out, "%s=", leaf->path);
    ts_field_print_value(out, field, moved);
    return true;
}
