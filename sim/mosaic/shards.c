/* A kernel of many devices: the mesh that it was lowered for, and the arrays of which its operands are
 * parts. */
#include <string.h>

#include "base/number.h"
#include "kernel.h"

/* What is between the quotes of a string. */
static ts_span unquote(ts_span text) {
    bool quoted = text.length >= 2 && text.text[0] == '"';
    return quoted ? (ts_span){text.text + 1, text.length - 2} : (ts_span){0};
}

/* "data=2,model=4": device numbers in the code are of these axes, in this order. */
bool kernel_check_mesh(kernel *k) {
    const mlir_attribute *a = mlir_find(k->l->module->top, "tilesim.mesh");
    const ts_mesh *mesh = k->l->target->mesh;
    if (!a) return true;
    ts_span wanted = unquote(a->value);
    if (wanted.length == 0 || wanted.length > 200) return malformed(k->l, "tilesim.mesh such as \"x=2,y=4\"");
    ts_text given = ts_text_begin(k->l->arena);
    for (int i = 0; mesh && i < mesh->axis_count; i++)
        ts_text_add(&given, "%s%s=%lld", i > 0 ? "," : "", mesh->axes[i].name,
                    (long long)mesh->axes[i].extent);
    if (given.length == wanted.length && memcmp(given.bytes, wanted.text, wanted.length) == 0) return true;
    return mlir_error(k->l->err, k->l->module, k->l->op, TS_ERROR_USAGE,
                      "the kernel runs on the devices of a mesh: expected --mesh %.*s%s%s",
                      (int)wanted.length, wanted.text, mesh ? ", not " : "", mesh ? given.bytes : "");
}

/* Parts of the operand's shape, on all devices together as many elements as the array has: none twice in a
 * copy. */
static bool are_parts(const lowering *l, const ts_sharding *sharding, const mlir_type *part) {
    for (int i = 0; i < sharding->digit_count; i++)
        if (sharding->digits[i].kind == TS_DIGIT_PARTIAL) return false;
    int64_t parts = l->target->mesh->device_count / ts_sharding_copies(sharding);
    if (sharding->rank != part->rank ||
        ts_sharding_elements(sharding) * parts != ts_product(sharding->rank, sharding->dims))
        return false;
    for (int i = 0; i < part->rank; i++)
        if (ts_sharding_extent(sharding, i) != part->dims[i]) return false;
    return true;
}

/* "f32[32,128]{1,0:T(8,128)} P('x', None)", from "[32,128] P('x', None)" and the shape of a part. */
static bool print_array(lowering *l, ts_span array, const ts_shape *part, ts_text *out) {
    ts_text own = ts_text_begin(l->arena);
    ts_shape_print(part, &own);
    const char *dims = strchr(own.bytes, '['), *layout = strchr(own.bytes, ']') + 1,
               *end = array.length > 0 ? memchr(array.text, ']', array.length) : NULL;
    if (array.length > 0 && (array.text[0] != '[' || !end)) return false;
    ts_span whole = array.length > 0 ? (ts_span){array.text, (size_t)(end + 1 - array.text)}
                                     : (ts_span){dims, (size_t)(layout - dims)};
    ts_text_add_bytes(out, own.bytes, (size_t)(dims - own.bytes));
    ts_text_add_bytes(out, whole.text, whole.length);
    ts_text_add(out, "%s", layout);
    if (array.length > 0) ts_text_add_bytes(out, end + 1, array.length - whole.length);
    return true;
}

bool kernel_shard(kernel *k, ts_span array, const mlir_type *part, ts_tensor_use *use) {
    lowering *l = k->l;
    const ts_shape *own = shape_of_type(l, TS_SPACE_HBM, part, 1);
    ts_sharding *sharding = TS_NEW(l->arena, ts_sharding);
    if (!l->target->mesh || !own) return own != NULL;
    ts_text text = ts_text_begin(l->arena);
    if (!print_array(l, unquote(array), own, &text))
        return malformed(l, "tilesim.arrays such as \"[32,128] P('x', None)\"");
    ts_source source = {"tilesim.arrays", text.bytes, text.length};
    ts_error parsed = {0};
    if (!ts_sharding_parse(&parsed, l->arena, l->target->mesh, &source, sharding))
        return mlir_error(l->err, l->module, l->op, parsed.kind, "tilesim.arrays %s: %s", text.bytes,
                          parsed.message);
    use->sharding = sharding;
    return are_parts(l, sharding, part) || malformed(l, "tilesim.arrays whose parts are the operands");
}
