/* Programs: from text, and made by code. */
#include <stdarg.h>
#include <string.h>

#include "program/builder.h"
#include "mosaic/mosaic.h"
#include "run/run.h"

#include "api_private.h"

static bool read_target(ts_error *err, ts_arena *arena, const ts_program_request *given,
                        ts_program_request *own, ts_target *target) {
    if (!api_read_request(err, "ts_program_request", given, own, sizeof *own)) return false;
    if (!own->machine || !own->source)
        return ts_error_set(err, TS_ERROR_USAGE, "ts_program_request needs a machine and a source");
    if (!api_need_defines(err, own->defines, own->define_count) ||
        !api_need_mesh(err, own->mesh, own->topology))
        return false;
    ts_run_target(own->machine, target);
    if (!own->mesh) return true;
    ts_mesh *mesh = TS_NEW(arena, ts_mesh);
    const char *const texts[2] = {own->mesh, own->topology};
    const ts_machine *device = ts_machine_device(err, arena, own->machine);
    if (!device || !api_read_mesh(err, arena, own->machine, texts, mesh)) return false;
    ts_run_target(device, target);
    target->mesh = mesh;
    return true;
}

const ts_program *ts_program_read(ts_error *err, ts_arena *arena, const ts_program_request *request) {
    API_C_LOCALE;
    ts_program_request own;
    ts_target target;
    return read_target(err, arena, request, &own, &target)
               ? ts_mosaic_load(err, arena, own.source, &target, own.defines, own.define_count)
               : NULL;
}

const ts_program *ts_program_assemble(ts_error *err, ts_arena *arena, const ts_program_request *request) {
    API_C_LOCALE;
    ts_program_request own;
    ts_target target;
    if (!read_target(err, arena, request, &own, &target)) return NULL;
    ts_source *source = TS_NEW(arena, ts_source);
    size_t length = strlen(own.source), skipped = ts_text_mark(own.source, length);
    *source = api_source("program", ts_arena_copy_text(arena, own.source + skipped, length - skipped));
    return ts_program_parse(err, arena, source, &target, own.defines, own.define_count);
}

API_TEXT(ts_program_text, ts_program, ts_program_print(self, &text))

/* ---- The builder ---- */

struct ts_builder {
    ts_error *err;
    ts_arena *arena;
    ts_target target;
    ts_program_builder *inner;
    ts_operand *values;
    int count;
    int *ranks; /* of the tensors */
    int tensor_count;
    bool failed;
};

ts_builder *ts_builder_new(ts_error *err, ts_arena *arena, const ts_machine *machine, const char *name) {
    ts_builder *b = TS_NEW(arena, ts_builder);
    b->err = err;
    b->arena = arena;
    ts_run_target(machine, &b->target);
    b->failed = !ts_error_need(err, "the program's name", name);
    b->inner = ts_program_begin(err, arena, name ? name : "", &b->target);
    return b;
}

/* True: nothing failed, and the text is there. */
static bool takes(ts_builder *b, const char *what, const char *text) {
    b->failed = b->failed || ts_program_failed(b->inner) || !ts_error_need(b->err, what, text);
    return !b->failed;
}

const ts_program *ts_builder_end(ts_builder *b) {
    API_C_LOCALE;
    bool own = b->failed && !ts_program_failed(b->inner);
    return own ? NULL : ts_program_end(b->inner);
}

/* The number of a word in a list that ends with NULL; -1, and an error. */
static int find_word(ts_builder *b, const char *what, const char *word, const char *const *words) {
    int count = 0;
    if (b->failed) return -1;
    for (; words[count]; count++)
        if (strcmp(word, words[count]) == 0) return count;
    ts_text known = ts_text_begin(b->arena);
    ts_text_add_choices(&known, words, count);
    ts_error_set(b->err, TS_ERROR_INPUT, "unknown %s '%s', expected %s", what, word, known.bytes);
    ts_error_hint(b->err, ts_text_nearest(word, words, (size_t)count, sizeof *words));
    b->failed = true;
    return -1;
}

static const char *const roles[] = {[TS_ROLE_SCRATCH] = "scratch",
                                    [TS_ROLE_IN] = "in",
                                    [TS_ROLE_OUT] = "out",
                                    [TS_ROLE_INOUT] = "inout",
                                    NULL};
static const char *const fills[] = {[TS_FILL_FILE] = "none",
                                    [TS_FILL_ZEROS] = "zeros",
                                    [TS_FILL_IOTA] = "iota",
                                    [TS_FILL_RANDOM] = "random",
                                    NULL};

int ts_builder_tensor(ts_builder *b, const char *name, const char *memory, const char *shape,
                      const char *role, const char *fill) {
    API_C_LOCALE;
    const char *spaces[TS_SPACE_COUNT + 1] = {0};
    for (int i = 0; i < TS_SPACE_COUNT; i++) spaces[i] = ts_space_text((ts_space_kind)i);
    if (!takes(b, "the tensor's name", name) || !takes(b, "the tensor's memory", memory) ||
        !takes(b, "the tensor's shape", shape) || !takes(b, "the tensor's role", role))
        return -1;
    int space = find_word(b, "memory", memory, spaces), is = find_word(b, "role", role, roles);
    int holds = fill ? find_word(b, "fill", fill, fills) : TS_FILL_FILE;
    ts_source source = api_source(name, shape);
    const ts_shape *read = b->failed ? NULL : ts_shape_parse(b->err, b->arena, &source);
    b->failed = !read || !ts_shape_layout(b->err, read, name);
    if (b->failed) return -1;
    ts_tensor_use use = {
        .role = (ts_tensor_role)is, .fill = (ts_fill_kind)holds, .seed = 1, .low = -1, .high = 1};
    int number = ts_program_tensor(b->inner, name, (ts_space_kind)space, read, &use);
    b->ranks = ts_arena_extend(b->arena, b->ranks, (size_t)b->tensor_count, sizeof *b->ranks);
    if (number >= 0) b->ranks[b->tensor_count++] = read->layout->rank;
    return number;
}

int ts_builder_semaphores(ts_builder *b, const char *name, int count) {
    return takes(b, "the semaphores' name", name) ? ts_program_semaphores(b->inner, name, count) : -1;
}

void ts_builder_check(ts_builder *b, const char *check) {
    API_C_LOCALE;
    if (takes(b, "the check", check)) ts_program_check_text(b->inner, check);
}

static ts_value keep(ts_builder *b, ts_operand operand) {
    *TS_APPEND(b->arena, b->values, b->count) = operand;
    return b->count - 1;
}

/* One that is of no builder becomes one that no instruction takes. */
static ts_operand value_of(const ts_builder *b, ts_value value) {
    return value >= 0 && value < b->count ? b->values[value] : (ts_operand){0};
}

ts_value ts_builder_sreg(ts_builder *b, int number) { return keep(b, ts_sreg(number)); }
ts_value ts_builder_vreg(ts_builder *b, int number) { return keep(b, ts_vreg(number)); }
ts_value ts_builder_vmask(ts_builder *b, int number) { return keep(b, ts_vmask(number)); }
ts_value ts_builder_integer(ts_builder *b, int64_t value) { return keep(b, ts_integer(value)); }
ts_value ts_builder_f32(ts_builder *b, float value) { return keep(b, ts_f32(value)); }
ts_value ts_builder_semaphore(ts_builder *b, int number) { return keep(b, ts_semaphore(number)); }
ts_value ts_builder_label(ts_builder *b) { return keep(b, ts_program_label(b->inner)); }
void ts_builder_place(ts_builder *b, ts_value label) { ts_program_place(b->inner, value_of(b, label)); }

static ts_affine read_index(const ts_builder_index *index) {
    return index->factor ? ts_index_of(index->sreg, index->factor, index->constant)
                         : ts_index(index->constant);
}

/* The indices of a tensor's dims; NULL, and an error, where there is no such tensor. */
static ts_affine *read_indices(ts_builder *b, int tensor, const ts_builder_index *index) {
    if (b->failed || tensor < 0 || tensor >= b->tensor_count) {
        b->failed = true;
        ts_error_set(b->err, TS_ERROR_INPUT, "the program has no tensor %d", tensor);
        return NULL;
    }
    ts_affine *out = TS_NEW_ARRAY(b->arena, ts_affine, b->ranks[tensor] + 1);
    for (int i = 0; i < b->ranks[tensor]; i++) out[i] = read_index(&index[i]);
    return out;
}

ts_value ts_builder_at(ts_builder *b, int tensor, const ts_builder_index *index) {
    ts_affine *at = read_indices(b, tensor, index);
    return at ? keep(b, ts_program_at(b->inner, tensor, at)) : -1;
}

ts_value ts_builder_transfer(ts_builder *b, const ts_builder_box *destination, const ts_builder_box *source,
                             ts_value semaphore) {
    ts_affine *to = read_indices(b, destination->tensor, destination->begin);
    ts_affine *from = to ? read_indices(b, source->tensor, source->begin) : NULL;
    if (!from) return -1;
    const ts_program_box dst = {destination->tensor, to, destination->sizes},
                         src = {source->tensor, from, source->sizes};
    return keep(b, ts_program_transfer(b->inner, dst, src, value_of(b, semaphore)));
}

void ts_builder_to_device(ts_builder *b, ts_value transfer, ts_value received, ts_builder_index device) {
    if (b->failed) return;
    ts_program_to_device(b->inner, value_of(b, transfer), value_of(b, received), read_index(&device));
}

static void add(ts_builder *b, int vmask, const char *mnemonic, int count, va_list values) {
    ts_operand operands[TS_OPERANDS_MAX];
    for (int i = 0; i < count && i < TS_OPERANDS_MAX; i++)
        operands[i] = value_of(b, va_arg(values, ts_value));
    if (takes(b, "the mnemonic", mnemonic)) ts_program_add_named(b->inner, vmask, mnemonic, count, operands);
}

void ts_builder_add(ts_builder *b, const char *mnemonic, int count, ...) {
    va_list values;
    va_start(values, count);
    add(b, -1, mnemonic, count, values);
    va_end(values);
}

void ts_builder_add_masked(ts_builder *b, int vmask, const char *mnemonic, int count, ...) {
    va_list values;
    if (vmask < 0 && !b->failed)
        b->failed = !ts_error_set(b->err, TS_ERROR_INPUT, "there is no vmask %d", vmask);
    if (b->failed) return;
    va_start(values, count);
    add(b, vmask, mnemonic, count, values);
    va_end(values);
}

void ts_builder_pack(ts_builder *b, int on) { (on ? ts_program_pack_begin : ts_program_pack_end)(b->inner); }
void ts_builder_open(ts_builder *b) { ts_program_open(b->inner); }
void ts_builder_close(ts_builder *b) { ts_program_close(b->inner); }
