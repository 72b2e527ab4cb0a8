/* JSON output: one writer for every command. Keys come out in the order of the calls, two spaces a level. */
#ifndef TILESIM_REPORT_JSON_H
#define TILESIM_REPORT_JSON_H

#include <stdbool.h>
#include <stdint.h>

#include "base/json_quote.h"

enum { TS_JSON_MAX_DEPTH = 32 };

typedef struct {
    ts_text *out;
    int depth;
    bool array[TS_JSON_MAX_DEPTH];    /* is the open value of each level an array? */
    int64_t count[TS_JSON_MAX_DEPTH]; /* values written in it */
} ts_json;

/* Opens the outermost object with "schema": "tilesim.<command>" and "version". */
void ts_json_begin(ts_json *json, ts_text *out, const char *command);
/* Closes the outermost object and ends the line; everything else must be closed (asserted). */
void ts_json_end(ts_json *json);

/* In an object every value has a key; in an array `key` is NULL (both asserted). */
void ts_json_object(ts_json *json, const char *key);
void ts_json_array(ts_json *json, const char *key);
void ts_json_close(ts_json *json); /* the innermost object or array */
void ts_json_int(ts_json *json, const char *key, int64_t value);
void ts_json_count(ts_json *json, const char *key, int64_t value); /* below 0: null, it is not known */
/* With that many digits behind the point; null when it is not finite. */
void ts_json_real(ts_json *json, const char *key, double value, int decimals);
/* With 17 digits, which tell doubles apart; null when it is not finite. */
void ts_json_double(ts_json *json, const char *key, double value);
void ts_json_bool(ts_json *json, const char *key, bool value);
void ts_json_null(ts_json *json, const char *key);
/* UTF-8; a byte that is none becomes U+FFFD. NULL is null. */
void ts_json_text(ts_json *json, const char *key, const char *value);
/* A list on one line. */
void ts_json_ints(ts_json *json, const char *key, int count, const int64_t *values);

#endif
