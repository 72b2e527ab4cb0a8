/* .tensor: a shape, its address in a space, and what it holds at the start. */
#include <math.h>
#include <string.h>

#include "base/number.h"
#include "layout/shape.h"

#include "assembler.h"

bool has_space(assembler *as, const token *location, ts_space_kind space) {
    return as->target->space_bytes[space] > 0 ||
           TOKEN_ERROR(as->err, location, "%s has no %s", as->target->machine, ts_space_text(space));
}

static bool parse_space(assembler *as, const token **at, ts_space_kind *space) {
    const char *names[TS_SPACE_COUNT];
    const token *name = *at;
    for (int i = 0; i < TS_SPACE_COUNT; i++) {
        names[i] = ts_space_text((ts_space_kind)i);
        if (token_is_name(name, names[i])) {
            *space = (ts_space_kind)i;
            ++*at;
            return has_space(as, name, *space);
        }
    }
    const char *word = ts_arena_copy_text(as->arena, name->text, name->length);
    const char *nearest = ts_text_nearest(word, names, TS_SPACE_COUNT, sizeof(names[0]));
    if (name->kind != TOKEN_NAME || nearest == NULL)
        return token_unexpected(as->err, name, "a space: hbm, vmem, smem or cmem");
    TOKEN_ERROR(as->err, name, "unknown space '%.63s'", word);
    return ts_error_hint(as->err, nearest);
}

/* ---- What a tensor holds ---- */

static const char *const role_names[] = {"scratch", "in", "out", "inout"};
static const char *const fill_names[] = {"file", "zeros", "iota", "random"};

const char *ts_tensor_role_text(ts_tensor_role role) { return role_names[role]; }

static int find_word(const token *at, const char *const *names, int count) {
    for (int i = 0; i < count; i++)
        if (at->kind == TOKEN_NAME && token_is_name(at, names[i])) return i;
    return -1;
}

static bool is_use_word(const token *at) {
    return find_word(at, role_names, 4) >= 0 || find_word(at, fill_names, 4) >= 0;
}

static bool read_number(assembler *as, const token **at, double *number) {
    constant v;
    if (!expr_parse(as->err, as->names, at, &v)) return false;
    *number = v.is_float ? v.number : (double)v.integer;
    return true;
}

static bool read_random_word(assembler *as, const token **at, ts_tensor_use *use, unsigned *seen) {
    static const char *const words[] = {"seed", "lo", "hi"};
    const token *name;
    if (!expect_name(as, at, "seed, lo or hi", &name)) return false;
    int word = find_word(name, words, 3);
    if (word < 0) return token_unexpected(as->err, name, "seed, lo or hi");
    if (*seen & 1u << word) return TOKEN_ERROR(as->err, name, "a second %s", words[word]);
    *seen |= 1u << word;
    if (!expect_mark(as, at, '=', "'='")) return false;
    if (word > 0) return read_number(as, at, word == 1 ? &use->low : &use->high);
    return expr_integer(as->err, as->names, at, "the seed", (integer_range){0, INT64_MAX}, &use->seed);
}

/* random(seed=1, lo=-4, hi=4) */
static bool parse_random(assembler *as, const token **at, ts_tensor_use *use) {
    use->seed = 1;
    use->low = -1;
    use->high = 1;
    const token *begin = *at;
    unsigned seen = 0;
    if (!token_take(at, '(')) return true;
    do {
        if (!read_random_word(as, at, use, &seen)) return false;
    } while (token_take(at, ','));
    if (!isfinite(use->high - use->low))
        return TOKEN_ERROR(as->err, begin, "lo, hi or hi - lo is no finite number");
    if (use->low > use->high) return TOKEN_ERROR(as->err, begin, "lo is above hi");
    return expect_mark(as, at, ')', "',' or ')'");
}

/* ("weights.npy") */
static bool parse_file(assembler *as, const token **at, ts_tensor_use *use) {
    if (!token_is(*at, '(')) return true;
    const token *name = *at + 1;
    if (name->kind != TOKEN_STRING)
        return token_unexpected(as->err, name, "the name of a file in double quotes");
    *at += 2;
    use->file = path_beside(as->arena, name->source->name, name);
    use->file_text = ts_arena_copy_text(as->arena, name->text, name->length);
    return expect_mark(as, at, ')', "')'");
}

bool check_filled(assembler *as, const token *location, const ts_tensor_use *use) {
    return use->role == TS_ROLE_IN || use->role == TS_ROLE_INOUT ||
           TOKEN_ERROR(as->err, location, "only a tensor that is 'in' or 'inout' begins with values");
}

static bool parse_use(assembler *as, const token **at, ts_tensor_use *use) {
    const token *role = *at;
    int word = find_word(role, role_names, 4);
    if (word >= 0) {
        use->role = (ts_tensor_role)word;
        ++*at;
    }
    const token *fill = *at;
    word = find_word(fill, fill_names, 4);
    if (word >= 0) {
        use->fill = (ts_fill_kind)word;
        ++*at;
        if (!check_filled(as, fill, use)) return false;
        if ((use->fill == TS_FILL_RANDOM && !parse_random(as, at, use)) ||
            (use->fill == TS_FILL_FILE && !parse_file(as, at, use)))
            return false;
    }
    return expect_line_end(as, *at,
                           "in, out, inout, file(...), zeros, iota, random(...) or the end of the line");
}

/* ---- Its shape and address ---- */

static const token *shape_end(const token *at) {
    int depth = 0;
    while (!token_ends_line(at) && (depth > 0 || !is_use_word(at))) {
        depth += token_is(at, '[') || token_is(at, '(') || token_is(at, '{');
        depth -= token_is(at, ']') || token_is(at, ')') || token_is(at, '}');
        at++;
    }
    return at;
}

/* P(.., {devices=.. or #sdy..: the word of a sharding, NULL: there is none. */
static const token *find_sharding(const token *at, const token *end) {
    for (; at < end; at++)
        if (((token_is_name(at, "P") || token_is_name(at, "PartitionSpec")) && token_is(at + 1, '(')) ||
            token_is_name(at, "devices") || token_is_name(at, "sdy.sharding"))
            return at;
    return NULL;
}

/* The part of a device: the same layout, of fewer elements. */
static const ts_shape *part_shape(ts_error *err, ts_arena *arena, const ts_sharding *sharding) {
    ts_text whole, text;
    whole = ts_text_begin(arena);
    text = ts_text_begin(arena);
    ts_shape_print(sharding->shape, &whole);
    const char *open = strchr(whole.bytes, '['), *close = strchr(whole.bytes, ']');
    ts_text_add_bytes(&text, whole.bytes, (size_t)(open + 1 - whole.bytes));
    for (int i = 0; i < sharding->rank; i++)
        ts_text_add(&text, "%s%lld", i ? "," : "", (long long)ts_sharding_extent(sharding, i));
    ts_text_add(&text, "%s", close);
    ts_source source = {"part", text.bytes, text.length};
    return ts_shape_parse(err, arena, &source);
}

/* Nothing is a sum over devices. */
static bool check_sharding(assembler *as, const token *location, const ts_sharding *sharding) {
    for (int i = 0; i < sharding->digit_count; i++)
        if (sharding->digits[i].kind == TS_DIGIT_PARTIAL)
            return TOKEN_ERROR(as->err, location,
                               "the sum over devices is no tensor of a program: give the "
                               "addends a dim of their own, split over the axis, and check sum(.., axis=0)");
    return sharding->shape->xla ||
           TOKEN_ERROR(as->err, location, "the layout of a sharded tensor must be in XLA's notation");
}

/* On a mesh: the whole array with its sharding, and a device's part of it. */
static bool read_sharded(assembler *as, const token *begin, const spliced *text, const ts_shape **shape,
                         const ts_sharding **out) {
    ts_sharding *sharding = TS_NEW(as->arena, ts_sharding);
    ts_error theirs = {0};
    if (!ts_sharding_parse(&theirs, as->arena, as->target->mesh, &text->source, sharding))
        return splice_error(as, text, &theirs);
    *shape = sharding->shape;
    *out = sharding;
    if (ts_sharding_copies(sharding) == as->target->mesh->device_count) return true;
    if (!check_sharding(as, begin, sharding)) return false;
    *shape = part_shape(&theirs, as->arena, sharding);
    return *shape || TOKEN_ERROR(as->err, begin, "%s", theirs.message);
}

static bool parse_shape(assembler *as, const token **at, const ts_shape **shape,
                        const ts_sharding **sharding) {
    const token *begin = *at;
    *at = shape_end(begin);
    if (begin == *at) return token_unexpected(as->err, begin, "a shape such as f32[8,128]{1,0:T(8,128)}");
    spliced text;
    if (!splice_shape(as, begin, *at, &text)) return false;
    ts_error theirs = {0};
    const token *word = find_sharding(begin, *at);
    if (word && !as->target->mesh)
        return TOKEN_ERROR(as->err, word, "a sharding needs a mesh of devices to run on");
    if (as->target->mesh) {
        if (!read_sharded(as, begin, &text, shape, sharding)) return false;
    } else {
        *shape = ts_shape_parse(&theirs, as->arena, &text.source);
    }
    if (*shape == NULL) return splice_error(as, &text, &theirs);
    if (ts_shape_layout(&theirs, *shape, "the tensor") == NULL)
        return TOKEN_ERROR(as->err, begin, "%s", theirs.message);
    return true;
}

static bool refuse_size(assembler *as, const token *name, const ts_tensor *new) {
    int64_t capacity = as->target->space_bytes[new->space], before = new->base_bytes;
    const char *space = ts_space_text(new->space);
    char bytes[32], total[32], used[32], over[32];
    ts_text_group_digits(bytes, new->bytes);
    ts_text_group_digits(total, capacity);
    ts_text_group_digits(used, before);
    ts_text_group_digits(over, new->bytes - (new->bytes > capacity ? capacity : capacity - before));
    if (new->bytes > capacity)
        return ts_error_at(as->err, TS_ERROR_CAPACITY, name->source, name->offset,
                           "'%s' is larger than %s: %s bytes, the %s of %s has %s (%s too many)", new->name,
                           space, bytes, space, as->target->machine, total, over);
    return ts_error_at(
        as->err, TS_ERROR_CAPACITY, name->source, name->offset,
        "'%s' does not fit: %s bytes behind the %s of the tensors before it; the %s of %s has %s "
        "(%s too many)",
        new->name, bytes, used, space, as->target->machine, total, over);
}

/* Tensors of a space follow each other, each at the start of a vreg's worth of bytes (SMEM: of a word). */
bool allocate_tensor(assembler *as, const token *name, ts_tensor *new) {
    int64_t alignment = new->space == TS_SPACE_SMEM ? 4 : TS_VREG_BYTES;
    int64_t *used = &as->used_bytes[new->space], capacity = as->target->space_bytes[new->space];
    new->base_bytes = ts_round_up(*used, alignment);
    new->bytes = ts_shape_memory_bytes(new->shape);
    if (new->base_bytes > capacity || new->bytes > capacity - new->base_bytes)
        return refuse_size(as, name, new);
    *used = new->base_bytes + new->bytes;
    return true;
}

bool assemble_tensor(assembler *as, const token **at) {
    const token *name;
    symbol *named =
        expect_name(as, at, "a name", &name) ? scope_add(as->err, as->global, SYMBOL_TENSOR, name) : NULL;
    ts_tensor new = {0};
    ts_tensor_use use = {.source = name->source, .line = name->line};
    if (named == NULL || !parse_space(as, at, &new.space) ||
        !parse_shape(as, at, &new.shape, &use.sharding) || !parse_use(as, at, &use))
        return false;
    new.name = named->name;
    named->index = as->tensors.count;
    if (!allocate_tensor(as, name, &new)) return false;
    *PUSH(as->arena, &as->tensors) = new;
    *PUSH(as->arena, &as->uses) = use;
    return true;
}

bool find_tensor(assembler *as, const token *name, size_t length, int *tensor) {
    const symbol *named = name->kind == TOKEN_NAME ? scope_find(as->names, name->text, length) : NULL;
    if (name->kind != TOKEN_NAME) return token_unexpected(as->err, name, "a tensor");
    if (named == NULL) return scope_unknown(as->err, as->names, name, "tensor", SYMBOL_TENSOR);
    if (named->class != SYMBOL_TENSOR) {
        return TOKEN_ERROR(as->err, name, "'%s' is a %s, expected a tensor", named->name,
                           symbol_class_text(named->class));
    }
    *tensor = named->index;
    return true;
}
