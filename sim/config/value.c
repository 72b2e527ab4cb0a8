/* Figures as text: exact decimals with units to integers, and back. */
#include "value.h"

#include <inttypes.h>
#include <string.h>

#include "base/clock.h"

typedef struct {
    const char *text;
    int64_t factor;
} unit;

static const unit size_units[] = {{"B", 1},         {"KiB", 1 << 10},          {"MiB", 1 << 20},
                                  {"GiB", 1 << 30}, {"TiB", INT64_C(1) << 40}, {NULL, 0}};
static const unit clock_units[] = {{"kHz", 1}, {"MHz", 1000}, {"GHz", 1000000}, {NULL, 0}};
static const unit time_units[] = {{"ps", 1}, {"ns", 1000}, {"us", 1000000}, {"ms", 1000000000}, {NULL, 0}};
static const unit cycle_units[] = {{"ck", 1}, {NULL, 0}};
static const unit no_units[] = {{"", 1}, {NULL, 0}};

/* By ts_field_kind. */
static const struct {
    const char *text, *expected;
    const unit *units,
        *printed; /* accepted; those to print with, of which the largest that is exact is used */
    bool decimal; /* printed with a fraction */
} kinds[] = {
    [TS_FIELD_INTEGER] = {"integer", "an integer", no_units, no_units, false},
    [TS_FIELD_BOOL] = {"bool", "true or false", NULL, NULL, false},
    [TS_FIELD_TEXT] = {"text", "a text", NULL, NULL, false},
    [TS_FIELD_CHOICE] = {"choice", "", NULL, NULL, false},
    [TS_FIELD_BYTES] = {"size", "a size such as 16 KiB", size_units, size_units, false},
    [TS_FIELD_CLOCK] = {"frequency", "a frequency such as 1.5 GHz", clock_units, clock_units + 1, true},
    [TS_FIELD_TIME] = {"time", "a time such as 54.4 ns", time_units, time_units + 1, true},
    [TS_FIELD_CYCLES] = {"time", "a time such as 14 ns or 2 ck", cycle_units, cycle_units, false},
    [TS_FIELD_GROUP] = {"mapping", "a mapping", NULL, NULL, false},
};

const char *ts_field_kind_text(ts_field_kind kind) { return kinds[kind].text; }

/* Digits, and a fraction if the unit has parts, times the unit's factor; only exact results. At most 18
 * digits. */
static bool parse_number(const char *text, size_t length, int64_t factor, int64_t *value) {
    enum { MOST_DIGITS = 18 };
    size_t point = length, digits = 0;
    int64_t number = 0, divisor = 1;
    for (size_t i = 0; i < length; i++) {
        if (text[i] == '.' && point == length && i > 0 && i + 1 < length) {
            point = i;
        } else if (ts_is_digit(text[i]) && ++digits <= MOST_DIGITS) {
            number = number * 10 + (text[i] - '0');
            if (point < i) divisor *= 10;
        } else {
            return false;
        }
    }
    bool leading_zero = length > 1 && text[0] == '0' && ts_is_digit(text[1]);
    __int128 product = (__int128)number * factor;
    if (digits == 0 || leading_zero || product % divisor != 0 || product / divisor > INT64_MAX) return false;
    *value = (int64_t)(product / divisor);
    return true;
}

/* How long the number is; the unit stands behind it and blanks. */
static size_t number_before(const char *text, const char **unit_text) {
    size_t number = strspn(text, "0123456789.");
    *unit_text = text + number + strspn(text + number, " ");
    return number;
}

static bool parse_quantity(const char *text, const unit *units, int64_t *value) {
    const char *behind;
    size_t number = number_before(text, &behind);
    for (const unit *u = units; u->text; u++)
        if (strcmp(behind, u->text) == 0) return parse_number(text, number, u->factor, value);
    return false;
}

static bool parse_integer(const char *text, int64_t *value) {
    bool negative = text[0] == '-';
    if (!parse_quantity(text + negative, no_units, value) || strchr(text, '.') || strchr(text, ' '))
        return false;
    if (negative) *value = -*value;
    return true;
}

static bool parse_cycles(const char *text, int64_t clock_khz, int64_t *value) {
    int64_t picoseconds;
    if (parse_quantity(text, cycle_units, value)) return true;
    if (!parse_quantity(text, time_units, &picoseconds)) return false;
    *value = ts_clock_cycles(picoseconds, clock_khz); /* fits: a clock has at most 10^9 kHz */
    return true;
}

/* The index of the word; false when it is none. */
static bool parse_word(const char *text, const char *const *words, int64_t *value) {
    for (int64_t i = 0; words[i]; i++) {
        if (strcmp(text, words[i]) != 0) continue;
        *value = i;
        return true;
    }
    return false;
}

static const char *const bool_words[] = {"false", "true", NULL};

bool ts_value_parse(const ts_field *field, const ts_tree *node, int64_t clock_khz, int64_t *value) {
    if (field->kind == TS_FIELD_CHOICE) return parse_word(node->text, field->choices, value);
    if (node->quoted) return false;
    if (field->kind == TS_FIELD_BOOL) return parse_word(node->text, bool_words, value);
    bool good = field->kind == TS_FIELD_INTEGER ? parse_integer(node->text, value)
                : field->kind == TS_FIELD_CYCLES
                    ? parse_cycles(node->text, clock_khz, value)
                    : parse_quantity(node->text, kinds[field->kind].units, value);
    bool power = good && *value > 0 && (*value & (*value - 1)) == 0;
    return good && *value >= field->min && *value <= field->max && (power || !field->power_of_two);
}

/* `value` in thousandths of the unit at most, without trailing zeros. */
static void print_decimal(ts_text *out, int64_t value, int64_t factor) {
    int64_t rest = value % factor;
    ts_text_add(out, "%" PRId64, value / factor);
    if (rest == 0) return;
    ts_text_add_char(out, '.');
    for (; rest > 0; rest = rest * 10 % factor) ts_text_add_char(out, (char)('0' + rest * 10 / factor));
}

/* With the largest unit in which it is whole, or, for kinds that are printed with a fraction, at least
 * one. */
static void print_quantity(ts_text *out, ts_field_kind kind, int64_t value) {
    const unit *best = kinds[kind].printed;
    for (const unit *u = best; u->text; u++)
        if (value >= u->factor && value != 0 && (kinds[kind].decimal || value % u->factor == 0)) best = u;
    print_decimal(out, value, best->factor);
    ts_text_add(out, "%s%s", best->text[0] ? " " : "", best->text);
}

static void print_quoted(ts_text *out, const char *text) {
    ts_text_add_char(out, '"');
    for (; *text; text++) {
        if (*text == '"' || *text == '\\') ts_text_add_char(out, '\\');
        ts_text_add_char(out, *text);
    }
    ts_text_add_char(out, '"');
}

/* Members are bool, enum, int32_t or int64_t. */
int64_t ts_field_value(const ts_field *field, const void *at) {
    int32_t narrow;
    int64_t wide;
    if (field->bytes == sizeof(bool)) return *(const bool *)at;
    memcpy(field->bytes == sizeof narrow ? (void *)&narrow : (void *)&wide, at, field->bytes);
    return field->bytes == sizeof narrow ? narrow : wide;
}

void ts_field_print_value(ts_text *out, const ts_field *field, int64_t value) {
    if (kinds[field->kind].units && field->kind != TS_FIELD_INTEGER)
        print_quantity(out, field->kind, value);
    else
        ts_text_add(out, "%" PRId64, value);
}

void ts_field_print(ts_text *out, const ts_field *field, const void *at) {
    if (field->kind == TS_FIELD_TEXT) {
        const char *text;
        memcpy(&text, at, sizeof text);
        print_quoted(out, text);
        return;
    }
    if (field->kind == TS_FIELD_GROUP) {
        ts_text_add(out, "{}");
        return;
    }
    int64_t value = ts_field_value(field, at);
    if (field->kind == TS_FIELD_CHOICE)
        ts_text_add(out, "%s", field->choices[value]);
    else if (field->kind == TS_FIELD_BOOL)
        ts_text_add(out, "%s", bool_words[value]);
    else
        ts_field_print_value(out, field, value);
}

void ts_field_print_given(ts_text *out, const ts_field_leaf *leaf) {
    const unit *units = kinds[leaf->field->kind].units;
    const char *text = leaf->node->text;
    if (units == NULL || units == no_units) {
        ts_field_print(out, leaf->field, leaf->at);
        return;
    }
    const char *behind;
    int number = (int)number_before(text, &behind);
    ts_text_add(out, "%.*s %s", number, text, behind);
}

void ts_field_range(ts_text *out, const ts_field *field) {
    if (field->kind == TS_FIELD_CHOICE) {
        int count = 0;
        while (field->choices[count]) count++;
        ts_text_add_choices(out, field->choices, count);
    } else if (kinds[field->kind].units || field->kind == TS_FIELD_GROUP) {
        ts_field_print_value(out, field, field->min);
        ts_text_add(out, " to ");
        ts_field_print_value(out, field, field->max);
        ts_text_add(out, "%s", field->power_of_two ? ", a power of two" : "");
    }
}

void ts_field_expectation(ts_text *out, const ts_field *field) {
    bool group = field->kind == TS_FIELD_GROUP;
    ts_text_add(out, "%s%s", kinds[field->kind].expected,
                group                      ? " with "
                : kinds[field->kind].units ? " from "
                                           : "");
    ts_field_range(out, field);
    ts_text_add(out, "%s", group ? " keys" : "");
}

const char *ts_field_unit(const ts_field *field) {
    const unit *units = kinds[field->kind].units;
    return units && field->kind != TS_FIELD_INTEGER ? units[0].text : field->unit;
}
