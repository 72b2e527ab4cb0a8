/* Groups of devices of StableHLO's collectives, said as HLO's: lists, and axes of a mesh that the module
 * names. Source: openxla/stablehlo rfcs (replica_group_mesh_axes), openxla/shardy (sdy.mesh). */
#include <string.h>

#include "hlo_mlir_private.h"

const char *hlo_mlir_value_of(const char *at, const char *end, const char *word) {
    size_t length = strlen(word);
    while ((at = memmem(at, (size_t)(end - at), word, length)) != NULL) {
        const char *equals = hlo_skip_space(at += length, end);
        if (equals < end && *equals == '=') return equals + 1;
    }
    return NULL;
}

static bool is_collective(const char *opcode) {
    static const char *const names[] = {"all-", "reduce-scatter", "collective-", "cross-replica-sum"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (ts_text_starts(opcode, names[i])) return true;
    return false;
}

/* ---- Lists ---- */

/* 8 bytes, the lowest first. False: they are none, or below 0. */
static bool read_word(const char *digits, int64_t *out) {
    uint64_t word = 0;
    for (int i = 0; i < 16; i++) {
        int value = ts_hex_value(digits[i]);
        if (value == 16) return false;
        word |= (uint64_t)value << (i / 2 * 8 + (i % 2 ? 0 : 4));
    }
    *out = (int64_t)word;
    return *out >= 0;
}

/* The number at *at, and behind it; below 0: there is none. */
static int64_t take_number(const char **at, const char *end) {
    ts_span digits = ts_hlo_digits((ts_span){*at, (size_t)(end - *at)});
    *at += digits.length;
    return ts_hlo_number(digits);
}

/* "0x0000..">  : tensor<4x4xi64>, as longer lists are written. False: it is something else. */
static bool add_bytes(ts_text *out, const char *at, const char *end) {
    static const char open[] = "\"0x";
    const char *digits = at + sizeof open - 1, *close = memchr(digits, '"', (size_t)(end - digits)), *type;
    size_t before = out->length;
    if (!close || !(type = memmem(close, (size_t)(end - close), "tensor<", 7))) return false;
    type += 7;
    int64_t words = (close - digits) / 16, number, groups = take_number(&type, end);
    type += type < end;
    int64_t members = take_number(&type, end);
    if (groups < 1 || members < 1 || !hlo_begins(type, end, "xi64>") || (close - digits) % 16 != 0 ||
        words % groups != 0 || words / groups != members)
        return false;
    for (int64_t i = 0; i < words; i++, digits += 16) {
        if (!read_word(digits, &number)) {
            out->length = before;
            return false;
        }
        ts_text_add(out, "%s%lld", i == 0 ? "{{" : i % members ? "," : "},{", (long long)number);
    }
    ts_text_add(out, "}}");
    return true;
}

/* dense<[[0, 1], [2, 3]]> as {{0,1},{2,3}}, dense<0> as {{0}}, dense<> as {}. */
static void add_dense(ts_text *out, const char *at, const char *behind) {
    bool list = *at == '[', one = ts_is_digit(*at);
    if (!list) ts_text_add(out, one ? "{{" : "{");
    for (; at < behind; at++)
        if (*at != ' ') ts_text_add_char(out, *at == '[' ? '{' : *at == ']' ? '}' : *at);
    if (!list) ts_text_add(out, one ? "}}" : "}");
}

/* ---- Axes of a mesh ---- */

/* Names in quotes with the next number behind each: of <["x"=2]> and of [#stablehlo.mesh_axis<name = "x",
 * size = 2>]. */
static const char *add_extents(ts_text *out, const char *at, const char *end) {
    const char *open = memchr(at, '[', (size_t)(end - at)), *close = open ? hlo_bracket_end(open, end) : NULL;
    if (!close) return NULL;
    ts_text_add(out, "mesh[");
    for (const char *c = open; c < close; c++) {
        if (*c == '"') {
            const char *behind = hlo_quote_end(c, close);
            ts_text_add(out, "%s'%.*s'=", out->bytes[out->length - 1] == '[' ? "" : ",",
                        (int)(behind - c - 2), c + 1);
            c = behind - 1;
        } else if (ts_is_digit(*c)) {
            ts_text_add_char(out, *c);
        }
    }
    ts_text_add_char(out, ']');
    return close;
}

/* "device_ids=[1, 0]" or "= dense<[1, 0]>" before `end`, if it is there. */
static void add_device_ids(ts_text *out, const char *at, const char *end) {
    const char *value = hlo_mlir_value_of(at, end, "device_ids");
    const char *open = value ? memchr(value, '[', (size_t)(end - value)) : NULL,
               *close = open ? memchr(open, ']', (size_t)(end - open)) : NULL;
    if (!close) return;
    ts_text_add(out, ", device_ids=(");
    for (const char *c = open + 1; c < close; c++)
        if (*c != ' ') ts_text_add_char(out, *c);
    ts_text_add_char(out, ')');
}

bool hlo_mlir_mesh(hlo_mlir *m, const char *at, const char *end) {
    enum { MOST_BYTES = 1 << 16 };
    static const char key[] = "sym_name";
    bool generic = hlo_begins(at, end, "\"sdy.mesh\"");
    if (!generic && !hlo_begins(at, end, "sdy.mesh ")) return false;
    const char *name = generic ? hlo_mlir_value_of(at, end, key) : memchr(at, '@', (size_t)(end - at));
    if (!name || m->meshes.length > MOST_BYTES) return true;
    while (name < end && !hlo_is_name(*name)) name++;
    const char *behind = hlo_skip(name, end, HLO_NAME);
    size_t before = m->meshes.length;
    ts_text_add(&m->meshes, "\n@%.*s=", (int)(behind - name), name);
    const char *axes = add_extents(&m->meshes, at, end);
    if (axes)
        add_device_ids(&m->meshes, axes, end);
    else
        m->meshes.length = before;
    return true;
}

/* The mesh of "@name", the last of those of that name; an empty span: it is not known. */
static ts_span find_mesh(const hlo_mlir *m, const char *at, const char *end) {
    const char *last = m->meshes.bytes, *stop = last + m->meshes.length;
    ts_span found = {"", 0};
    size_t length = (size_t)(hlo_skip(at + 1, end, HLO_NAME) - at);
    for (const char *c = last; c && (c = memmem(c, (size_t)(stop - c), at, length)) != NULL; c += length) {
        const char *line = memchr(c, '\n', (size_t)(stop - c));
        if (c[-1] == '\n' && c + length < stop && c[length] == '=')
            found = (ts_span){c + length + 1, (size_t)((line ? line : stop) - c) - length - 1};
    }
    return found;
}

/* [#stablehlo.axis_ref<name = "x">, #stablehlo.axis_ref<name = "y", sub_axis_info = (1)2>] as
 * {'x','y':(1)2}. */
static void add_members(ts_text *out, const char *at, const char *end) {
    ts_text_add(out, " {");
    for (bool first = true; at < end; at++) {
        if (*at == '"') {
            const char *behind = hlo_quote_end(at, end);
            ts_text_add(out, "%s'%.*s'", first ? "" : ",", (int)(behind - at - 2), at + 1);
            at = behind - 1;
            first = false;
        } else if (*at == '(') {
            ts_text_add_char(out, ':');
            for (; at < end && (*at == '(' || *at == ')' || ts_is_digit(*at)); at++)
                ts_text_add_char(out, *at);
        }
    }
    ts_text_add_char(out, '}');
}

/* "mesh@name", which is refused by that name when it is priced. Returns true. */
static bool add_unknown(ts_text *out, const char *name, const char *end) {
    ts_text_add(out, "mesh@");
    while (++name < end && hlo_is_name(*name)) ts_text_add_char(out, *name);
    return true;
}

/* #stablehlo.replica_group_mesh_axes<mesh = @m, axes = [#stablehlo.axis_ref<name = "y", sub_axis_info =
 * (1)2>]> as mesh['x'=2,'y'=4] {'y':(1)2}. False: it is something else. */
static bool add_axes(const hlo_mlir *m, ts_text *out, const char *at, const char *end) {
    const char *mesh = hlo_mlir_value_of(at, end, "mesh"), *axes;
    size_t before = out->length;
    if (!mesh) return false;
    mesh = hlo_skip_space(mesh, end);
    if (mesh < end && *mesh == '@') {
        ts_span known = find_mesh(m, mesh, end);
        if (known.length == 0) return add_unknown(out, mesh, end);
        ts_text_add_bytes(out, known.text, known.length);
        axes = mesh;
    } else if ((axes = add_extents(out, mesh, end)) != NULL) {
        const char *close = memchr(axes, '>', (size_t)(end - axes));
        add_device_ids(out, axes, close ? close + 1 : end);
    }
    const char *list = axes ? hlo_mlir_value_of(axes, end, "axes") : NULL;
    list = list ? memchr(list, '[', (size_t)(end - list)) : NULL;
    const char *close = list ? hlo_bracket_end(list, end) : NULL;
    if (!close) {
        out->length = before;
        return false;
    }
    add_members(out, list, close);
    return true;
}

/* Of all else the first word, which is no list: better no groups than those of all devices. */
static void add_value(const hlo_mlir *m, ts_text *out, const char *at, const char *end) {
    static const char dense[] = "dense<", axes[] = "#stablehlo.replica_group_mesh_axes<";
    const char *list = at + sizeof dense - 1;
    if (hlo_begins(at, end, axes) && add_axes(m, out, at, end)) return;
    if (hlo_begins(at, end, dense)) {
        const char *behind = memchr(at, '>', (size_t)(end - at));
        bool bytes = hlo_begins(list, end, "\"0x");
        if (bytes && add_bytes(out, list, end)) return;
        if (!bytes && behind) return add_dense(out, list, behind);
    }
    while (at < end && *at != '<' && *at != ',' && *at != ' ') ts_text_add_char(out, *at++);
}

void hlo_mlir_add_groups(const hlo_mlir *m, ts_text *out, const char *opcode, const char *at,
                         const char *end) {
    static const char *const names[] = {"replica_groups", "source_target_pairs"};
    for (int i = 0; i < 2 && is_collective(opcode); i++) {
        const char *value = hlo_mlir_value_of(at, end, names[i]);
        if (value == NULL) continue;
        ts_text_add(out, ", %s=", names[i]);
        add_value(m, out, hlo_skip_space(value, end), end);
    }
}
