/* What a kernel takes of VMEM, against what the machine has: known before anything runs, and told part by
 * part. */
#include <string.h>

#include "base/number.h"

#include "kernel.h"

enum { SHOWN = 5 };

int64_t vmem_bytes(lowering *l, const mlir_type *type, int slots) {
    const ts_shape *shape = shape_of_type(l, TS_SPACE_VMEM, type, slots);
    return shape ? ts_shape_memory_bytes(shape) : -1;
}

static bool take_vmem(lowering *l, const char *name, const mlir_type *type, int slots) {
    int64_t bytes = vmem_bytes(l, type, slots);
    if (bytes < 0) return false;
    *PUSH(l->arena, &l->vmem) = (vmem_use){ts_arena_copy_text(l->arena, name, strlen(name)),
                                           ts_round_up(bytes, TS_VREG_BYTES), slots};
    return true;
}

static void list_uses(const lowering *l, ts_text *text) {
    const vmem_use *uses = l->vmem.items;
    for (int i = 0, at = -1; i < SHOWN && i < l->vmem.count; i++) {
        char bytes[32];
        at = ts_next_largest(&uses[0].bytes, sizeof *uses, l->vmem.count, at);
        const vmem_use *u = &uses[at];
        ts_text_group_digits(bytes, u->bytes);
        ts_text_add(text, "%s%s %s", i > 0 ? ", " : "", u->name, bytes);
        if (u->slots > 1) ts_text_add(text, " (%d buffers)", u->slots);
    }
    if (l->vmem.count > SHOWN) ts_text_add(text, ", %d others", l->vmem.count - SHOWN);
}

static bool check_vmem(lowering *l) {
    int64_t needed = 0, capacity = l->target->space_bytes[TS_SPACE_VMEM];
    char total[32], all[32], over[32];
    for (int i = 0; i < l->vmem.count; i++) {
        int64_t bytes = l->vmem.items[i].bytes;
        needed = bytes > INT64_MAX - needed ? INT64_MAX : needed + bytes;
    }
    if (needed <= capacity) return true;
    ts_text_group_digits(total, needed);
    ts_text_group_digits(all, capacity);
    ts_text_group_digits(over, needed - capacity);
    ts_text text = ts_text_begin(l->arena);
    list_uses(l, &text);
    return mlir_error(l->err, l->module, l->op, TS_ERROR_INPUT,
                      "the kernel takes %s bytes of vmem, %s has %s (%s too many): %s", total,
                      l->target->machine, all, over, text.bytes);
}

bool vmem_take_and_check(lowering *l, const char *name, const mlir_type *type) {
    return take_vmem(l, name, type, 1) && check_vmem(l);
}

const char *kernel_window_name(const kernel *k, int number) {
    return ts_text_format(k->l->arena, "window_%d", k->prefetch_count + number);
}

const char *kernel_scratch_name(const kernel *k, int number) {
    return ts_text_format(k->l->arena, "scratch%d", number);
}

/* Windows and scratch. */
bool kernel_plan_vmem(kernel *k) {
    const mlir_block *body = k->main->regions[0].blocks[0];
    for (int i = 0; i < k->window_count; i++) {
        const kernel_window *w = &k->windows[i];
        if (w->type.space != MLIR_VMEM) continue;
        if (!take_vmem(k->l, kernel_window_name(k, i), &w->type, w->buffers)) return false;
    }
    for (int i = 0; i < k->scratch_count; i++) {
        int argument = body->arguments[body->argument_count - k->scratch_count + i];
        const mlir_type *type = k->l->module->values[argument].type;
        if (type->space == MLIR_VMEM && !take_vmem(k->l, kernel_scratch_name(k, i), type, 1)) return false;
    }
    return check_vmem(k->l);
}
