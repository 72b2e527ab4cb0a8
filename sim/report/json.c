/* JSON output: commas, indentation and escapes. */
#include "report/json.h"

#include <assert.h>
#include <inttypes.h>
#include <math.h>

#include "tilesim/version.h"

static void new_line(ts_json *json) { ts_text_add(json->out, "\n%*s", 2 * json->depth, ""); }

/* What comes before a value: comma, new line, key. */
static void start_value(ts_json *json, const char *key) {
    int level = json->depth - 1;
    assert(level >= 0 && json->array[level] == (key == NULL));
    if (json->count[level]++ > 0) ts_text_add_char(json->out, ',');
    new_line(json);
    if (key == NULL) return;
    ts_json_quote(json->out, key);
    ts_text_add(json->out, ": ");
}

static void open_level(ts_json *json, char bracket) {
    assert(json->depth < TS_JSON_MAX_DEPTH);
    json->array[json->depth] = bracket == '[';
    json->count[json->depth++] = 0;
    ts_text_add_char(json->out, bracket);
}

void ts_json_begin(ts_json *json, ts_text *out, const char *command) {
    *json = (ts_json){.out = out};
    open_level(json, '{');
    const char *schema = ts_text_format(out->arena, "tilesim.%s", command);
    ts_json_text(json, "schema", schema);
    ts_json_text(json, "version", TS_VERSION);
}

void ts_json_end(ts_json *json) {
    assert(json->depth == 1);
    ts_json_close(json);
    ts_text_add_char(json->out, '\n');
}

void ts_json_object(ts_json *json, const char *key) {
    start_value(json, key);
    open_level(json, '{');
}

void ts_json_array(ts_json *json, const char *key) {
    start_value(json, key);
    open_level(json, '[');
}

void ts_json_close(ts_json *json) {
    assert(json->depth > 0);
    int level = --json->depth;
    if (json->count[level] > 0) new_line(json);
    ts_text_add_char(json->out, json->array[level] ? ']' : '}');
}

void ts_json_int(ts_json *json, const char *key, int64_t value) {
    start_value(json, key);
    ts_text_add(json->out, "%" PRId64, value);
}

void ts_json_count(ts_json *json, const char *key, int64_t value) {
    if (value < 0)
        ts_json_null(json, key);
    else
        ts_json_int(json, key, value);
}

void ts_json_real(ts_json *json, const char *key, double value, int decimals) {
    start_value(json, key);
    if (isfinite(value))
        ts_text_add(json->out, "%.*f", decimals, value);
    else
        ts_text_add(json->out, "null");
}

void ts_json_double(ts_json *json, const char *key, double value) {
    start_value(json, key);
    if (isfinite(value))
        ts_text_add(json->out, "%.17g", value);
    else
        ts_text_add(json->out, "null");
}

void ts_json_bool(ts_json *json, const char *key, bool value) {
    start_value(json, key);
    ts_text_add(json->out, value ? "true" : "false");
}

void ts_json_null(ts_json *json, const char *key) {
    start_value(json, key);
    ts_text_add(json->out, "null");
}

void ts_json_text(ts_json *json, const char *key, const char *value) {
    start_value(json, key);
    if (value == NULL)
        ts_text_add(json->out, "null");
    else
        ts_json_quote(json->out, value);
}

void ts_json_ints(ts_json *json, const char *key, int count, const int64_t *values) {
    start_value(json, key);
    ts_text_add_char(json->out, '[');
    for (int i = 0; i < count; i++) ts_text_add(json->out, "%s%" PRId64, i > 0 ? ", " : "", values[i]);
    ts_text_add_char(json->out, ']');
}
