/* How often loops run: what integers the instructions of a computation are, as far as they are constants, or
 * members of its parameters plus constants. A loop's condition, its body and what it begins with then say
 * when it ends. */
#include <string.h>

#include "audit_state.h"

enum { MOST_VALUES = 1 << 17 }; /* of one module */

typedef enum { VALUE_NONE, VALUE_CONSTANT, VALUE_MEMBER, VALUE_COMPARE, VALUE_TUPLE } value_kind;
typedef enum { LESS, LESS_EQUAL, GREATER, GREATER_EQUAL, EQUAL, NOT_EQUAL } direction;

enum { WHOLE = -1 };

/* CONSTANT: add. MEMBER: member `index`, or WHOLE, of parameter `parameter`, plus `add`; what a loop of
 * StableHLO carries are members of one whose number is the loop's alone, and negative. COMPARE: of the two
 * values from `first` on. TUPLE: `count` values from `first` on; those behind are NONE. */
typedef struct audit_value {
    uint8_t kind, direction;
    int8_t bits; /* of an integer; below 0: with a sign; 0: not known */
    int32_t parameter, index, first, count;
    int64_t add;
} value;

static const value none = {.kind = VALUE_NONE};

static value constant(int64_t number) { return (value){.kind = VALUE_CONSTANT, .add = number}; }

static const value *at(const ts_audit *a, int32_t number) { return &a->values.list[number]; }

/* The number of a new value, or AUDIT_NONE. */
static int32_t push(ts_audit *a, const value *v) {
    audit_values *all = &a->values;
    if (all->count == MOST_VALUES) return AUDIT_NONE;
    all->list = audit_room(a, all->list, all->count, &all->capacity, MOST_VALUES, sizeof *all->list);
    all->list[all->count] = *v;
    return all->count++;
}

/* `count` values in a row. NONE: there is no room. */
static value push_all(ts_audit *a, value made, const value *members, int32_t count) {
    if (a->values.count + count > MOST_VALUES) return none;
    made.first = a->values.count;
    made.count = count;
    for (int32_t i = 0; i < count; i++) push(a, &members[i]);
    return made;
}

/* ---- Instructions ---- */

static value named(const ts_audit *a, ts_span operand) {
    int32_t number = ts_table_get(&a->values.names, audit_hash_operand(operand));
    return number < 0 ? none : *at(a, number);
}

static value operand(const ts_audit *a, const ts_hlo_instruction *i, int number) {
    ts_span item;
    return ts_hlo_item(i->operands, number, &item) ? named(a, item) : none;
}

static bool read_integer(ts_span text, int64_t *number) {
    text = ts_hlo_trim(text);
    bool negative = text.length > 0 && *text.text == '-';
    size_t k = negative;
    *number = 0;
    if (k == text.length) return false;
    for (; k < text.length; k++) {
        int digit = text.text[k] - '0';
        if (digit < 0 || digit > 9 || *number > (INT64_MAX - 9) / 10) return false;
        *number = 10 * *number + digit;
    }
    if (negative) *number = -*number;
    return true;
}

/* Of get-tuple-element. */
static bool read_index(const ts_hlo_instruction *i, int32_t *number) {
    ts_span text;
    int64_t read;
    if (!ts_hlo_attribute(i->attributes, "index", &text) || !read_integer(text, &read)) return false;
    *number = read < 0 || read > INT32_MAX ? INT32_MAX : (int32_t)read;
    return true;
}

static value literal(ts_span text) {
    int64_t number;
    return read_integer(text, &number) ? constant(number) : none;
}

static value parameter(ts_span text) {
    int64_t number;
    if (!read_integer(text, &number) || number < 0 || number > INT32_MAX) return none;
    return (value){.kind = VALUE_MEMBER, .parameter = (int32_t)number, .index = WHOLE};
}

static value member_of(const ts_audit *a, value tuple, int32_t index) {
    if (tuple.kind == VALUE_TUPLE) return index < tuple.count ? *at(a, tuple.first + index) : none;
    if (tuple.kind != VALUE_MEMBER || tuple.index != WHOLE || tuple.add != 0) return none;
    tuple.index = index;
    return tuple;
}

static value element(const ts_audit *a, const ts_hlo_instruction *i) {
    value tuple = operand(a, i, 0);
    int32_t index;
    if (tuple.kind == VALUE_NONE || !read_index(i, &index)) return none;
    return member_of(a, tuple, index);
}

/* Of "u32[]". */
static int8_t integer_bits(ts_span shape) {
    bool integer = shape.length > 1 && (*shape.text == 's' || *shape.text == 'u');
    int64_t bits = integer ? ts_hlo_number(ts_hlo_digits((ts_span){shape.text + 1, shape.length - 1})) : 0;
    return (int8_t)(bits < 1 || bits > 64 ? 0 : *shape.text == 's' ? -bits : bits);
}

/* Integers wrap, so that 4294967295 more of a u32 is one less: what is added is seen with a sign. */
static void wrap(value *v) {
    int bits = v->bits < 0 ? -v->bits : v->bits;
    if (bits == 0 || bits == 64) return;
    bool is_signed = v->kind != VALUE_CONSTANT || v->bits < 0;
    uint64_t all = UINT64_C(1) << bits, low = (uint64_t)v->add & (all - 1);
    v->add = (int64_t)(is_signed && low >> (bits - 1) ? low - all : low);
}

/* x + sign * y, where one of them is a constant. */
static value sum(value x, value y, int sign) {
    int64_t total;
    if (x.kind == VALUE_CONSTANT && y.kind == VALUE_MEMBER && sign > 0) return sum(y, x, 1);
    if ((x.kind != VALUE_CONSTANT && x.kind != VALUE_MEMBER) || y.kind != VALUE_CONSTANT) return none;
    bool over = sign > 0 ? __builtin_add_overflow(x.add, y.add, &total)
                         : __builtin_sub_overflow(x.add, y.add, &total);
    x.add = total;
    return over ? none : x;
}

static value compared(ts_audit *a, const ts_hlo_instruction *i) {
    static const char *const names[] = {"LT", "LE", "GT", "GE", "EQ", "NE"};
    value sides[2] = {operand(a, i, 0), operand(a, i, 1)};
    ts_span text;
    if (!ts_hlo_attribute(i->attributes, "direction", &text)) return none;
    for (uint8_t k = 0; k < sizeof names / sizeof names[0]; k++)
        if (ts_span_is(text, names[k]))
            return push_all(a, (value){.kind = VALUE_COMPARE, .direction = k}, sides, 2);
    return none;
}

enum { MOST_MEMBERS = 4096 };

static value tuple_of(ts_audit *a, ts_span rest) {
    value members[MOST_MEMBERS];
    int32_t count = 0, last = 0;
    ts_span item;
    for (; count < MOST_MEMBERS && ts_hlo_next(&rest, &item); count++) {
        members[count] = named(a, item);
        if (members[count].kind > VALUE_MEMBER) members[count] = none;
        if (members[count].kind != VALUE_NONE) last = count + 1;
    }
    return push_all(a, (value){.kind = VALUE_TUPLE}, members, last);
}

/* The value that is said of a callee's parameters, of the operands that it is called with. */
static value called_with(ts_audit *a, const ts_hlo_instruction *i, value v) {
    if (v.kind == VALUE_MEMBER) {
        value given = operand(a, i, v.parameter);
        if (v.index != WHOLE) given = member_of(a, given, v.index);
        return v.add == 0 ? given : sum(given, constant(v.add), 1);
    }
    if (v.kind != VALUE_COMPARE && v.kind != VALUE_TUPLE) return v;
    value members[MOST_MEMBERS];
    for (int32_t k = 0; k < v.count; k++) {
        members[k] = called_with(a, i, *at(a, v.first + k));
        if (members[k].kind > VALUE_MEMBER) members[k] = none;
    }
    return push_all(a, v, members, v.count);
}

static value root_of(const ts_audit *a, ts_span name) {
    int32_t callee = ts_table_get(&a->computation_table, audit_hash_name(audit_bare_name(name)));
    int32_t root = callee < 0 ? AUDIT_NONE : a->computations[callee].root;
    return root == AUDIT_NONE ? none : *at(a, root);
}

static value called(ts_audit *a, const ts_hlo_instruction *i, const char *attribute) {
    ts_span name;
    if (!ts_hlo_attribute(i->attributes, attribute, &name)) return none;
    return called_with(a, i, root_of(a, name));
}

/* Its first operand's. */
static bool keeps_value(ts_hlo_opcode opcode) {
    static const ts_hlo_opcode those[] = {
        TS_HLO_OP_COPY,           TS_HLO_OP_COPY_START,  TS_HLO_OP_COPY_DONE,
        TS_HLO_OP_BITCAST,        TS_HLO_OP_RESHAPE,     TS_HLO_OP_CONVERT,
        TS_HLO_OP_ADD_DEPENDENCY, TS_HLO_OP_OPT_BARRIER, TS_HLO_OP_OPTIMIZATION_BARRIER};
    for (size_t i = 0; i < sizeof those / sizeof *those; i++)
        if (those[i] == opcode) return true;
    return false;
}

static value value_of(ts_audit *a, const ts_hlo_instruction *i, ts_hlo_opcode opcode) {
    switch (opcode) {
    case TS_HLO_OP_CONSTANT:
        return literal(i->operands);
    case TS_HLO_OP_PARAMETER:
        return parameter(i->operands);
    case TS_HLO_OP_GET_TUPLE_ELEMENT:
        return element(a, i);
    case TS_HLO_OP_ADD:
        return sum(operand(a, i, 0), operand(a, i, 1), 1);
    case TS_HLO_OP_SUBTRACT:
        return sum(operand(a, i, 0), operand(a, i, 1), -1);
    case TS_HLO_OP_COMPARE:
        return compared(a, i);
    case TS_HLO_OP_TUPLE:
        return tuple_of(a, i->operands);
    case TS_HLO_OP_FUSION:
        return called(a, i, "calls");
    case TS_HLO_OP_CALL:
        return called(a, i, "to_apply");
    default:
        return keeps_value(opcode) ? operand(a, i, 0) : none;
    }
}

/* An array of one element of no dims, or a tuple. */
static bool may_count(ts_span shape) {
    if (shape.length > 0 && *shape.text == '(') return true;
    const char *bracket = memchr(shape.text, '[', shape.length);
    return bracket && bracket + 1 < shape.text + shape.length && bracket[1] == ']';
}

void audit_follow_value(ts_audit *a, const ts_hlo_instruction *i, ts_hlo_opcode opcode) {
    ts_table *names = &a->values.names;
    value v = may_count(i->shape) ? value_of(a, i, opcode) : none;
    if (v.kind == VALUE_CONSTANT || v.kind == VALUE_MEMBER) {
        int64_t written = v.add;
        v.bits = integer_bits(i->shape);
        wrap(&v);
        if (opcode == TS_HLO_OP_CONSTANT && v.add != written) v = none;
    }
    int32_t number = v.kind == VALUE_NONE ? AUDIT_NONE : push(a, &v);
    /* Regions of StableHLO use names again. */
    bool known = number != AUDIT_NONE || (i->mlir && ts_table_get(names, audit_hash_name(i->name)) >= 0);
    if (known) ts_table_put(names, audit_hash_name(i->name), number);
    computation_record *c = a->current >= 0 ? &a->computations[a->current] : NULL;
    if (!c || c->has_root) return;
    c->root = number; /* where none is marked, the last one's */
    c->has_root = i->root;
}

/* ---- Computations ---- */

void audit_begin_values(ts_audit *a) {
    ts_table_clear(&a->values.names);
    a->values.begin = a->values.count;
    a->values.loop_count = a->values.loops_begun = 0;
}

/* Only the root is kept. */
void audit_end_values(ts_audit *a) {
    value members[MOST_MEMBERS];
    int32_t *root = a->current >= 0 ? &a->computations[a->current].root : NULL;
    ts_table_clear(&a->values.names);
    if (!root || *root < a->values.begin) {
        a->values.count = a->values.begin;
        return;
    }
    value v = *at(a, *root);
    for (int32_t k = 0; k < v.count; k++) members[k] = *at(a, v.first + k);
    a->values.count = a->values.begin;
    if (v.kind == VALUE_COMPARE || v.kind == VALUE_TUPLE) v = push_all(a, v, members, v.count);
    *root = push(a, &v);
}

void audit_forget_values(ts_audit *a) {
    ts_table_clear(&a->values.names);
    a->values.count = a->values.begin = a->values.loop_count = 0;
}

/* ---- Loops ---- */

/* What a side of the condition is in each round: start + step * round. */
typedef struct {
    __int128 start, step;
} series;

/* What it begins with, its condition, and what its body gives, said of the members of `parameter`. */
typedef struct {
    value init, test, next;
    int32_t parameter;
} loop;

static bool find_series(const ts_audit *a, const loop *l, value side, series *out) {
    *out = (series){side.add, 0};
    if (side.kind == VALUE_CONSTANT) return true;
    if (side.kind != VALUE_MEMBER || side.parameter != l->parameter) return false;
    value begin = side.index == WHOLE ? l->init : member_of(a, l->init, side.index),
          next = side.index == WHOLE ? l->next : member_of(a, l->next, side.index);
    bool steps = next.kind == VALUE_MEMBER && next.parameter == l->parameter && next.index == side.index;
    if (begin.kind != VALUE_CONSTANT || !steps) return false;
    out->start += begin.add;
    out->step = next.add;
    return true;
}

/* Rounds while start + step * round is below 0; AUDIT_NONE: it always is. */
static __int128 rounds_below(__int128 start, __int128 step) {
    if (start >= 0) return 0;
    return step <= 0 ? AUDIT_NONE : (-start + step - 1) / step;
}

static __int128 rounds(uint8_t kind, __int128 start, __int128 step) {
    switch (kind) {
    case LESS:
        return rounds_below(start, step);
    case LESS_EQUAL:
        return rounds_below(start - 1, step);
    case GREATER:
        return rounds_below(-start, -step);
    case GREATER_EQUAL:
        return rounds_below(-start - 1, -step);
    case EQUAL:
        return start != 0 ? 0 : step != 0 ? 1 : AUDIT_NONE;
    default:
        if (start == 0) return 0;
        return step != 0 && start % step == 0 && -start / step > 0 ? -start / step : AUDIT_NONE;
    }
}

/* Whether it never wraps in so many rounds. */
static bool fits(const series *s, __int128 trips, int bits) {
    __int128 end = s->start + s->step * trips, all = (__int128)1 << (bits < 0 ? -bits : bits);
    __int128 least = bits < 0 ? -all / 2 : 0;
    return bits == 0 || (s->start >= least && end >= least && s->start < least + all && end < least + all);
}

/* AUDIT_NONE: the condition does not say. */
static int64_t count(const ts_audit *a, const loop *l) {
    series x, y;
    if (l->test.kind != VALUE_COMPARE || !find_series(a, l, *at(a, l->test.first), &x) ||
        !find_series(a, l, *at(a, l->test.first + 1), &y))
        return AUDIT_NONE;
    __int128 trips = rounds(l->test.direction, x.start - y.start, x.step - y.step);
    int bits = at(a, l->test.first)->bits;
    if (bits == 0) bits = at(a, l->test.first + 1)->bits; /* both are of one type */
    return trips > INT64_MAX || trips < 0 || !fits(&x, trips, bits) || !fits(&y, trips, bits)
               ? AUDIT_NONE
               : (int64_t)trips;
}

int64_t audit_count_trips(ts_audit *a, const ts_hlo_instruction *i) {
    ts_span condition, body;
    if (!ts_hlo_attribute(i->attributes, "condition", &condition) ||
        !ts_hlo_attribute(i->attributes, "body", &body))
        return AUDIT_NONE;
    return count(a, &(loop){operand(a, i, 0), root_of(a, condition), root_of(a, body), 0});
}

/* ---- Loops of StableHLO ---- */

/* A loop whose regions the text lacks makes room for the next one. */
static void begin_loop(ts_audit *a, ts_span init) {
    audit_values *all = &a->values;
    bool stale = all->loop_count > 0 && all->loops[all->loop_count - 1].condition == AUDIT_NONE;
    if (stale || all->loop_count == AUDIT_LOOPS) all->loop_count--;
    value v = tuple_of(a, init);
    all->loops[all->loop_count++] =
        (audit_loop){push(a, &v), AUDIT_NONE, AUDIT_NONE, AUDIT_NONE, -1 - ++all->loops_begun};
}

static void name_carried(ts_audit *a, ts_span names, int32_t parameter) {
    ts_span item;
    for (int32_t k = 0; k < MOST_MEMBERS && ts_hlo_next(&names, &item); k++) {
        value v = {.kind = VALUE_MEMBER, .parameter = parameter, .index = k};
        ts_table_put(&a->values.names, audit_hash_operand(item), push(a, &v));
    }
}

void audit_loop_part(ts_audit *a, ts_hlo_part part, ts_span values) {
    if (part == TS_HLO_LOOP) begin_loop(a, values);
    if (a->values.loop_count == 0) return;
    audit_loop *now = &a->values.loops[a->values.loop_count - 1];
    uint8_t region = a->current < 0 ? 0 : a->computations[a->current].part;
    bool begins =
        now->condition == AUDIT_NONE; /* names before the regions, where the loop is in a branch, too */
    if (part == TS_HLO_CARRIED && (begins || region != TS_HLO_BRANCH))
        name_carried(a, values, now->parameter);
    if (part != TS_HLO_GIVES) return;
    value v = region == TS_HLO_CONDITION ? named(a, values) : tuple_of(a, values);
    if (region == TS_HLO_CONDITION) now->test = push(a, &v);
    if (region == TS_HLO_BODY) now->next = push(a, &v);
}

static value value_at(const ts_audit *a, int32_t number) { return number < 0 ? none : *at(a, number); }

int64_t audit_count_loop(ts_audit *a) {
    audit_loop now = a->values.loops[--a->values.loop_count];
    return count(a,
                 &(loop){value_at(a, now.init), value_at(a, now.test), value_at(a, now.next), now.parameter});
}
