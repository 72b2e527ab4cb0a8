/* Reads the rules by which rows of measurements are of groups, and finds the one of a row. */
#include "validate/words.h"

#include <ctype.h>
#include <string.h>
#include <strings.h>

#include "validate/table.h"

enum { MOST_READS = 16 }; /* of a stream's input: operations of a few passes */

/* Columns. */
enum { WORDS, CHIP, TIMING, SUITE, GROUP, INPUT_READS, RESULT, REASON, COLUMNS };

static const ts_table_column columns[COLUMNS] = {
    [WORDS] = {"words", .optional = false},  [CHIP] = {"chip", .optional = true},
    [TIMING] = {"timing", .optional = true}, [SUITE] = {"suite", .optional = true},
    [GROUP] = {"group", .optional = true},   [INPUT_READS] = {"input_reads", .optional = true},
    [RESULT] = {"result", .optional = true}, [REASON] = {"reason", .optional = true},
};

static const char *const suites[TS_SUITES] = {
    [TS_SUITE_NONE] = "",
    [TS_SUITE_WIKI] = "wiki",
    [TS_SUITE_KERNELBENCH_STREAM] = "kernelbench-stream",
    [TS_SUITE_KERNELBENCH_PRODUCT] = "kernelbench-product",
    [TS_SUITE_JAXBENCH] = "jaxbench",
    [TS_SUITE_F16_PRODUCT] = "f16-product",
    [TS_SUITE_F16_ELEMENTWISE] = "f16-elementwise",
};

static const char *const results[TS_RESULTS] = {
    [TS_RESULT_NONE] = "",
    [TS_RESULT_SAME] = "same",
    [TS_RESULT_REDUCED] = "reduced",
    [TS_RESULT_SCALAR] = "scalar",
};

/* ---- Words ---- */

bool ts_work_has(const char *text, const char *word, size_t length) {
    bool anywhere = length > 0 && *word == '*';
    word += anywhere;
    length -= anywhere;
    for (const char *at = text; *at != '\0'; at++)
        if (strncasecmp(at, word, length) == 0 && (anywhere || at == text || !isalpha((unsigned char)at[-1])))
            return true;
    return false;
}

/* The word at *at, and what ends it: '|', '&' or the NUL of the text; *at goes behind that. */
static char next_word(const char **at, size_t *length) {
    static const char both[] = " & ";
    const char *list = strstr(*at, both), *bar = strchr(*at, '|');
    const char *end = bar != NULL && (list == NULL || bar < list) ? bar : list;
    *length = end != NULL ? (size_t)(end - *at) : strlen(*at);
    char separator = end == NULL ? '\0' : end == bar ? '|' : '&';
    *at += *length + (end == NULL ? 0 : end == bar ? 1 : strlen(both));
    return separator;
}

static bool fits(const char *text, const char *lists) {
    bool one = false;
    for (size_t length;;) {
        const char *word = lists;
        char separator = next_word(&lists, &length);
        one |= ts_work_has(text, word, length);
        if (separator == '|') continue;
        if (!one || separator == '\0') return one;
        one = false;
    }
}

/* None is empty: it would be in any text. */
static bool are_words(const char *lists) {
    for (size_t length;;) {
        const char *word = lists;
        char separator = next_word(&lists, &length);
        if (length == (*word == '*')) return false;
        if (separator == '\0') return true;
    }
}

/* ---- Rules ---- */

static void append(ts_arena *arena, ts_work_rules *rules, const ts_work_rule *rule) {
    rules->rules = ts_arena_extend(arena, rules->rules, (size_t)rules->count, sizeof(ts_work_rule *));
    rules->rules[rules->count++] = rule;
}

static bool fail(ts_error *err, const ts_table *t, int c, const char *expected) {
    return ts_error_at(err, TS_ERROR_INPUT, t->source, ts_table_offset(t, c),
                       "found '%.40s' as %s, expected %s", ts_table_cell(t, c), columns[c].name, expected);
}

static bool check(ts_error *err, const ts_table *t, const ts_work_groups *groups, const ts_work_rule *r) {
    bool stream = r->suite == TS_SUITE_KERNELBENCH_STREAM;
    if (!are_words(r->words)) return fail(err, t, WORDS, "words, as in 'copy & HBM|VMEM'");
    if (r->timing != NULL && !are_words(r->timing)) return fail(err, t, TIMING, "words, as in 'wall|host'");
    if (r->group != NULL && ts_work_groups_find(groups, r->group) == NULL)
        return fail(err, t, GROUP, "one that is known");
    if (stream != (r->input_reads > 0) || stream != (r->result != TS_RESULT_NONE))
        return fail(err, t, WORDS, "input_reads and result of the suite kernelbench-stream, and of no other");
    if (r->suite >= TS_SUITE_JAXBENCH && (r->group != NULL || r->reason != NULL))
        return fail(err, t, SUITE, "no group and no reason, as the suite chooses");
    return r->suite >= TS_SUITE_JAXBENCH || (r->group != NULL) != (r->reason != NULL) ||
           fail(err, t, WORDS, "a group, or the reason why there is none");
}

static bool read_reads(ts_error *err, const ts_table *t, int *reads) {
    double value = 0;
    if (*ts_table_cell(t, INPUT_READS) != '\0' && !ts_table_positive(err, t, INPUT_READS, &value))
        return false;
    *reads = value < MOST_READS ? (int)value : MOST_READS;
    return *reads == value || fail(err, t, INPUT_READS, "a whole number, at most 16");
}

static bool read_rule(ts_error *err, const ts_table *t, ts_work_rule *r) {
    int suite, result;
    if (!ts_table_word(err, t, SUITE, suites, TS_SUITES, &suite) ||
        !ts_table_word(err, t, RESULT, results, TS_RESULTS, &result))
        return false;
    *r = (ts_work_rule){.words = ts_table_cell(t, WORDS),
                        .timing = ts_table_text(t, TIMING),
                        .chip = ts_table_text(t, CHIP),
                        .suite = (ts_work_suite)suite,
                        .group = ts_table_text(t, GROUP),
                        .result = (ts_stream_result)result,
                        .reason = ts_table_text(t, REASON)};
    return read_reads(err, t, &r->input_reads);
}

bool ts_work_rules_are(ts_arena *arena, const ts_source *source) {
    return ts_table_is(arena, source, columns, WORDS + 1);
}

bool ts_work_rules_add(ts_error *err, ts_arena *arena, const ts_source *source, const ts_work_groups *groups,
                       ts_work_rules *rules) {
    ts_table t;
    ts_work_rules added = {0};
    if (!ts_table_open(err, arena, source, &t) || !ts_table_columns(err, &t, columns, COLUMNS)) return false;
    while (ts_table_next(err, &t)) {
        ts_work_rule *r = TS_NEW(arena, ts_work_rule);
        if (!read_rule(err, &t, r) || !check(err, &t, groups, r)) return false;
        append(arena, &added, r);
    }
    if (t.failed) return false;
    for (int i = 0; i < rules->count; i++) append(arena, &added, rules->rules[i]);
    *rules = added;
    return true;
}

const ts_work_rule *ts_work_rules_find(const ts_work_rules *rules, const char *chip, const char *workload,
                                       const char *timing) {
    for (int i = 0; i < rules->count; i++) {
        const ts_work_rule *r = rules->rules[i];
        if ((r->chip == NULL || strcmp(r->chip, chip) == 0) && fits(workload, r->words) &&
            (r->timing == NULL || fits(timing, r->timing)))
            return r;
    }
    return NULL;
}
