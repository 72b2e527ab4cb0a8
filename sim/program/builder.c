/* The builder: the assembler's parts behind the parser. */
#include "program/builder.h"

#include <assert.h>
#include <stdarg.h>
#include <string.h>

#include "base/number.h"

#include "assembler.h"

struct ts_program_builder {
    assembler as;
    const char *name;
    LIST_OF(int) labels;          /* the item each stands before; -1: not placed */
    const ts_source *from_source; /* NULL: instructions come from no text */
    ts_program_location from;
    bool open; /* a bundle is */
    int open_at;
    bool failed;
    bool ended; /* then it has failed, too: nothing changes any more */
};

/* Where an error is: the program's name, and a word of what was asked. */
static const token *location_of(ts_program_builder *b, const char *word) {
    ts_source *source = TS_NEW(b->as.arena, ts_source);
    token *location = TS_NEW(b->as.arena, token);
    *source = (ts_source){b->name, ts_arena_copy_text(b->as.arena, word, strlen(word)), strlen(word)};
    *location = (token){.kind = TOKEN_NAME,
                        .source = source,
                        .text = source->text,
                        .length = source->length,
                        .line = 1,
                        .column = 1};
    return location;
}

/* A new name, as text would have it; kernels' arguments are numbered. Else NULL, and an error. */
static const token *name_of(ts_program_builder *b, const char *name) {
    if (b->failed) return NULL;
    const token *location = location_of(b, name), *read = token_list(b->as.arena, location->source);
    bool known = read->kind == TOKEN_NAME || read->kind == TOKEN_INTEGER;
    bool good = known && read->length == location->length;
    return good || token_unexpected(b->as.err, location, "a name") ? location : NULL;
}

static bool fail(ts_program_builder *b) {
    b->failed = true;
    return false;
}

/* What the assembler finds in no text. */
static void refuse(ts_program_builder *b, const char *word, const char *why) {
    if (!b->failed) TOKEN_ERROR(b->as.err, location_of(b, word), "%s", why);
    fail(b);
}

/* What was added is complete; of what failed nothing is known. */
static void end_region(ts_program_builder *b) {
    if (!b->failed) pack_region(&b->as);
}

bool ts_program_failed(const ts_program_builder *b) { return b->failed; }

ts_program_builder *ts_program_begin(ts_error *err, ts_arena *arena, const char *name,
                                     const ts_target *target) {
    ts_program_builder *b = TS_NEW(arena, ts_program_builder);
    b->as = (assembler){.err = err,
                        .arena = arena,
                        .scratch = arena,
                        .target = target,
                        .frame = -1,
                        .named_region = -1,
                        .outer_region = -1};
    b->as.names = b->as.global = scope_new(arena, NULL);
    b->name = ts_arena_copy_text(arena, name, strlen(name));
    return b;
}

/* ---- What there is ---- */

static int add_tensor(ts_program_builder *b, const ts_tensor *new, const ts_tensor_use *use) {
    *PUSH(b->as.arena, &b->as.tensors) = *new;
    *PUSH(b->as.arena, &b->as.uses) = *use;
    return b->as.tensors.count - 1;
}

int ts_program_tensor(ts_program_builder *b, const char *name, ts_space_kind space, const ts_shape *shape,
                      const ts_tensor_use *use) {
    assembler *as = &b->as;
    const token *location = name_of(b, name);
    symbol *named = location ? scope_add(as->err, as->global, SYMBOL_TENSOR, location) : NULL;
    ts_tensor new = {.name = named ? named->name : NULL, .space = space, .shape = shape};
    bool good = named != NULL;
    good = good && has_space(as, location, space);
    if (good && !shape->layout) good = TOKEN_ERROR(as->err, location, "this shape has no layout");
    good = good && (use->fill == TS_FILL_FILE || check_filled(as, location, use));
    if (!good || !allocate_tensor(as, location, &new)) {
        fail(b);
        return -1;
    }
    return add_tensor(b, &new, use);
}

int ts_program_view(ts_program_builder *b, const char *name, const ts_shape *shape, int of) {
    ts_tensor new = *ts_program_get_tensor(b, of);
    const token *location =
        b->failed || ts_shape_memory_bytes(shape) != new.bytes ? NULL : location_of(b, name);
    symbol *named = location ? scope_add(b->as.err, b->as.global, SYMBOL_TENSOR, location) : NULL;
    if (location && !named) fail(b);
    if (!named) return -1;
    new.name = named->name;
    new.shape = shape;
    return add_tensor(b, &new, &(ts_tensor_use){0});
}

int ts_program_semaphores(ts_program_builder *b, const char *name, int count) {
    const token *location = name_of(b, name);
    symbol *named = location ? add_semaphores(&b->as, location, count) : NULL;
    if (!named) {
        fail(b);
        return -1;
    }
    return named->index;
}

void ts_program_count_bytes(ts_program_builder *b, int semaphore) {
    if (!b->failed) b->as.semaphore_bytes.items[semaphore] = true;
}

const ts_tensor *ts_program_get_tensor(ts_program_builder *b, int tensor) {
    assert(tensor >= 0 && tensor < b->as.tensors.count);
    return &b->as.tensors.items[tensor];
}

void ts_program_share(ts_program_builder *b, int tensor, int with) {
    ts_tensor *t = &b->as.tensors.items[tensor];
    const ts_tensor *other = ts_program_get_tensor(b, with);
    assert(t->space == other->space && t->bytes == other->bytes);
    t->base_bytes = other->base_bytes;
}

void ts_program_report_text(ts_program_builder *b, const char *name, const char *expression) {
    const token *location = location_of(b, expression);
    *PUSH(b->as.arena, &b->as.reports) =
        (ts_program_report){ts_arena_copy_text(b->as.arena, name, strlen(name)),
                            {location->source, 0, location->source->length, 1}};
}

static int line_count(const ts_source *source) {
    int count = 1;
    for (size_t i = 0; i < source->length; i++) count += source->text[i] == '\n';
    return count;
}

/* The frame of a text other than the program's own; -1: it is that. */
static int frame_of(assembler *as, const ts_source *source) {
    if (source == as->source) return -1;
    int outer = open_frame(as, (ts_program_frame){.kind = TS_FRAME_FILE,
                                                  .name = source->name,
                                                  .source = as->source,
                                                  .line = 1,
                                                  .body = source,
                                                  .first_line = 1,
                                                  .end_line = line_count(source) + 1});
    int new = as->frame;
    as->frame = outer;
    return new;
}

void ts_program_from(ts_program_builder *b, const ts_source *source, int line) {
    if (source && !b->as.source) b->as.source = source;
    b->from = (ts_program_location){source ? frame_of(&b->as, source) : -1, line};
    if (b->from.frame >= 0) /* as far as it has such a line */
        b->from.line = (int)ts_min(line, b->as.frames.items[b->from.frame].end_line - 1);
    b->from_source = source;
}

void ts_program_check_text(ts_program_builder *b, const char *check) {
    const token *location = location_of(b, check);
    *PUSH(b->as.arena, &b->as.checks) = (ts_program_check){location->source, 0, location->source->length, 1};
}

/* ---- Operands ---- */

ts_operand ts_f32(float value) { return (ts_operand){TS_OPERAND_F32, {.f32_bits = ts_f32_bits(value)}}; }

static bool has_tensor(ts_program_builder *b, const token *location, int tensor) {
    return (tensor >= 0 && tensor < b->as.tensors.count) ||
           TOKEN_ERROR(b->as.err, location, "there is no tensor %d", tensor);
}

ts_operand ts_program_rows(ts_program_builder *b, int tensor, const ts_affine *index, int64_t stride,
                           int sublane_mask) {
    ts_address *address = TS_NEW(b->as.arena, ts_address);
    const token *location = location_of(b, "address");
    *address = (ts_address){.tensor = tensor, .stride = stride, .sublane_mask = (uint8_t)sublane_mask};
    bool good = !b->failed && has_tensor(b, location, tensor);
    if (good && (stride < 0 || stride > INT32_MAX || sublane_mask < 1 || sublane_mask > 0xff))
        good = TOKEN_ERROR(b->as.err, location, "expected a stride from 0 and a mask of 1 to 8 sublanes");
    if (!good || !derive_address(&b->as, location, index, address)) fail(b);
    return (ts_operand){TS_OPERAND_ADDRESS, {.address = address}};
}

ts_operand ts_program_at(ts_program_builder *b, int tensor, const ts_affine *index) {
    return ts_program_rows(b, tensor, index, 1, 0xff);
}

static ts_slice copy_slice(ts_program_builder *b, ts_program_box box) {
    int rank = b->as.tensors.items[box.tensor].shape->layout->rank;
    ts_affine *begins = TS_NEW_ARRAY(b->as.arena, ts_affine, rank + 1);
    int64_t *sizes = TS_NEW_ARRAY(b->as.arena, int64_t, rank + 1);
    memcpy(begins, box.begin, (size_t)rank * sizeof *begins);
    memcpy(sizes, box.sizes, (size_t)rank * sizeof *sizes);
    return (ts_slice){.tensor = box.tensor, .rank = rank, .begin = begins, .size = sizes};
}

static bool holds(ts_program_builder *b, const ts_slice *slice) {
    return check_slice(&b->as, location_of(b, b->as.tensors.items[slice->tensor].name), slice);
}

ts_operand ts_program_transfer(ts_program_builder *b, ts_program_box destination, ts_program_box source,
                               ts_operand semaphore) {
    const token *location = location_of(b, "transfer");
    ts_operand out = {TS_OPERAND_TRANSFER, {.transfer = 0}};
    if (b->failed || !has_tensor(b, location, destination.tensor) ||
        !has_tensor(b, location, source.tensor)) {
        fail(b);
        return out;
    }
    ts_transfer new = {.source_text = location->source, .line = 1, .column = 1};
    if (b->from_source) {
        new.source_text = b->from_source;
        new.line = b->from.line;
    }
    new.destination = copy_slice(b, destination);
    new.source = copy_slice(b, source);
    new.semaphore = semaphore.as.semaphore;
    bool good = semaphore.kind == TS_OPERAND_SEMAPHORE ||
                TOKEN_ERROR(b->as.err, location, "a transfer needs a semaphore");
    if (!good || !holds(b, &new.destination) || !holds(b, &new.source) ||
        !check_semaphore(&b->as, location, &new.semaphore) || !add_transfer(&b->as, location, &new, &out))
        fail(b);
    return out;
}

void ts_program_renew(ts_program_builder *b, ts_operand transfer, int buffers) {
    if (!b->failed) b->as.transfers.items[transfer.as.transfer].renews = buffers;
}

static bool check_affine(assembler *as, const token *location, const ts_affine *affine) {
    bool good = true;
    for (int i = 0; good && i < affine->term_count; i++)
        good = check_register(as, location, TS_OPERAND_SREG, affine->terms[i].sreg);
    return good;
}

void ts_program_to_device(ts_program_builder *b, ts_operand transfer, ts_operand received, ts_affine device) {
    const token *location = location_of(b, "transfer");
    if (b->failed) return;
    bool good = transfer.kind == TS_OPERAND_TRANSFER && received.kind == TS_OPERAND_SEMAPHORE;
    if (!good)
        TOKEN_ERROR(b->as.err, location,
                    "expected a transfer, and a semaphore of the device that it goes to");
    if (!good || !check_semaphore(&b->as, location, &received.as.semaphore) ||
        !check_affine(&b->as, location, &device)) {
        fail(b);
        return;
    }
    ts_transfer *t = &b->as.transfers.items[transfer.as.transfer];
    t->remote = true;
    t->receive = received.as.semaphore;
    t->device = device;
}

/* ---- Instructions ---- */

static bool has_label(ts_program_builder *b, const token *location, const ts_operand *label) {
    bool there = label->kind == TS_OPERAND_LABEL && label->as.label >= 0 && label->as.label < b->labels.count;
    return there || TOKEN_ERROR(b->as.err, location, "there is no such label");
}

static void pack(ts_program_builder *b, bool on) {
    if (b->open) refuse(b, "pack", "packing begins and ends between bundles, not in one");
    end_region(b);
    b->as.packing = on;
}

void ts_program_pack_begin(ts_program_builder *b) { pack(b, true); }
void ts_program_pack_end(ts_program_builder *b) { pack(b, false); }

void ts_program_pack_results(ts_program_builder *b) { b->as.packs_for_results = true; }

static bool add_operands(ts_program_builder *b, const token *location, item *new, int count,
                         const ts_operand *operands) {
    const ts_opcode_info *info = ts_opcode_get(new->code.opcode);
    new->code.operand_count = count;
    for (int i = 0; i < count; i++) {
        ts_operand *operand = &new->code.operands[i];
        bool label = operands[i].kind == TS_OPERAND_LABEL;
        *operand = operands[i];
        if (!check_operand(&b->as, location, info, i, operand)) return false;
        if (label && !has_label(b, location, operand)) return false;
        if (!label) continue;
        new->label_operand = i;
        new->target = operand->as.label;
    }
    return true;
}

static void set_source(const ts_program_builder *b, item *new) {
    new->code.source = b->from_source;
    new->code.line = b->from.line;
    new->at = b->from;
}

static bool check_count(ts_program_builder *b, const token *location, const ts_opcode_info *info, int count) {
    int least, most;
    ts_opcode_arity(info, &least, &most);
    int takes = count < least ? least : most;
    return (count >= least && count <= most) ||
           TOKEN_ERROR(b->as.err, location, "%s takes %d operand%s, found %d", info->mnemonic, takes,
                       takes == 1 ? "" : "s", count);
}

static void add(ts_program_builder *b, int vmask, ts_opcode opcode, int count, const ts_operand *operands) {
    const ts_opcode_info *info = ts_opcode_get(opcode);
    const token *location = b->failed ? NULL : location_of(b, info->mnemonic);
    bool first = !b->open || b->as.items.count == b->open_at;
    item *new = location ? add_item(&b->as, location, opcode, first ? NEW_BUNDLE : SAME_BUNDLE) : NULL;
    if (!new || !check_count(b, location, info, count)) {
        fail(b);
        return;
    }
    new->code.mask = vmask;
    if (b->from_source) set_source(b, new);
    if (!add_operands(b, location, new, count, operands) ||
        (vmask >= 0 && !check_mask(&b->as, location, info, vmask)))
        fail(b);
    else if (!b->open && ts_opcode_leaves(new->code.opcode))
        pack_region(&b->as);
}

/* More operands than any instruction has are counted, not read. */
void ts_program_add(ts_program_builder *b, ts_opcode opcode, int count, ...) {
    ts_operand operands[TS_OPERANDS_MAX];
    va_list arguments;
    va_start(arguments, count);
    for (int i = 0; i < count && i < TS_OPERANDS_MAX; i++) operands[i] = va_arg(arguments, ts_operand);
    va_end(arguments);
    add(b, -1, opcode, count, operands);
}

void ts_program_add_named(ts_program_builder *b, int vmask, const char *mnemonic, int count,
                          const ts_operand *operands) {
    ts_opcode opcode;
    if (b->failed) return;
    if (ts_opcode_find(mnemonic, strlen(mnemonic), &opcode)) {
        add(b, vmask, opcode, count, operands);
        return;
    }
    TOKEN_ERROR(b->as.err, location_of(b, mnemonic), "unknown instruction '%s'", mnemonic);
    ts_error_hint(b->as.err, ts_opcode_nearest(mnemonic));
    fail(b);
}

void ts_program_open(ts_program_builder *b) {
    if (b->open) refuse(b, "bundle", "a bundle in a bundle");
    end_region(b);
    b->open = true;
    b->open_at = b->as.items.count;
}

void ts_program_close(ts_program_builder *b) {
    if (!b->open || b->as.items.count == b->open_at)
        refuse(b, "bundle", b->open ? "the bundle is empty" : "no bundle is open");
    b->open = false;
    b->as.region = b->as.items.count;
}

ts_operand ts_program_label(ts_program_builder *b) {
    *PUSH(b->as.arena, &b->labels) = -1;
    return (ts_operand){TS_OPERAND_LABEL, {.label = b->labels.count - 1}};
}

static bool is_to_be_placed(ts_program_builder *b, const token *location, const ts_operand *label) {
    return has_label(b, location, label) && (b->labels.items[label->as.label] < 0 ||
                                             TOKEN_ERROR(b->as.err, location, "the label is placed twice"));
}

void ts_program_place(ts_program_builder *b, ts_operand label) {
    if (b->failed || !is_to_be_placed(b, location_of(b, "label"), &label)) {
        fail(b);
        return;
    }
    if (b->open) refuse(b, "label", "a label stands before a bundle, not in one");
    end_region(b);
    b->labels.items[label.as.label] = b->as.items.count;
}

const ts_program *ts_program_end(ts_program_builder *b) {
    if (b->ended) ts_error_set(b->as.err, TS_ERROR_USAGE, "the builder has ended");
    if (b->open) refuse(b, "bundle", "the bundle is not closed");
    if (b->failed) return NULL;
    b->ended = b->failed = true;
    pack_region(&b->as);
    for (int i = 0; i < b->as.items.count; i++) {
        item *it = &b->as.items.items[i];
        int at = it->label_operand >= 0 ? b->labels.items[it->target] : 0;
        if (at < 0) {
            TOKEN_ERROR(b->as.err, it->location, "%s goes to a label that was never placed",
                        ts_opcode_get(it->code.opcode)->mnemonic);
            return NULL;
        }
        it->target = at;
    }
    return finish_program(&b->as, b->name);
}
