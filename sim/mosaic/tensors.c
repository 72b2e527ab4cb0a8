/* Tensors of a program, as large as a type of the text says. */
#include "layout/shape.h"

#include "lower.h"

/* "f32[2,16,256]{2,1,0:T(8,128)}" */
const ts_shape *shape_of_type(lowering *l, ts_space_kind space, const mlir_type *type, int slots) {
    int rank = type->rank + (slots > 1), tiles = space == TS_SPACE_SMEM ? 0 : type->tile_count;
    ts_text text = ts_text_begin(l->arena);
    ts_text_add(&text, "%s[", ts_dtype_get(type->dtype == TS_DTYPE_PRED ? TS_DTYPE_S32 : type->dtype)->name);
    if (slots > 1) ts_text_add(&text, "%d%s", slots, type->rank > 0 ? "," : "");
    ts_text_add_integers(&text, type->dims, type->rank);
    ts_text_add(&text, "]{");
    for (int i = rank - 1; i >= 0; i--) ts_text_add(&text, "%d%s", i, i > 0 ? "," : "");
    for (int t = 0; t < tiles; t++) {
        if (t == 0) ts_text_add(&text, ":T");
        ts_text_add_tuple(&text, type->tiles[t].dims, type->tiles[t].rank);
    }
    ts_text_add(&text, type->bits < 8 ? "%sE(%d)}" : "}", tiles > 0 ? "" : ":", type->bits);
    ts_source source = {"layout", text.bytes, text.length};
    ts_error own = {0};
    const ts_shape *shape = ts_shape_parse(&own, l->arena, &source);
    if (!shape) mlir_error(l->err, l->module, l->op, own.kind, "%s: %s", text.bytes, own.message);
    return shape;
}

int tensor_with_use(lowering *l, const char *name, ts_space_kind space, const mlir_type *type, int slots,
                    const ts_tensor_use *use) {
    const ts_shape *shape = shape_of_type(l, space, type, slots);
    return shape ? ts_program_tensor(l->builder, name, space, shape, use) : -1;
}

int tensor_of_type(lowering *l, const char *name, ts_space_kind space, const mlir_type *type, int slots) {
    return tensor_with_use(l, name, space, type, slots, &(ts_tensor_use){0});
}
