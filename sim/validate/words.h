/* Which group a row of measurements is of that does not name one: rules by its words, of which the first that
 * fits counts. A table whose columns are those of tests/data/measured_words.tsv, of which all but `words` may
 * be missing. */
#ifndef TILESIM_VALIDATE_WORDS_H
#define TILESIM_VALIDATE_WORDS_H

#include "validate/groups.h"

/* Suites of kernels, whose names say what runs: column `suite`. */
typedef enum {
    TS_SUITE_NONE, /* the group says what a row states */
    TS_SUITE_WIKI,
    TS_SUITE_KERNELBENCH_STREAM,
    TS_SUITE_KERNELBENCH_PRODUCT,
    TS_SUITE_JAXBENCH, /* from here on the suite chooses the group */
    TS_SUITE_F16_PRODUCT,
    TS_SUITE_F16_ELEMENTWISE,
    TS_SUITES
} ts_work_suite;

/* What a stream writes: column `result`. */
typedef enum {
    TS_RESULT_NONE,
    TS_RESULT_SAME,
    TS_RESULT_REDUCED,
    TS_RESULT_SCALAR,
    TS_RESULTS
} ts_stream_result;

typedef struct {
    /* Words in the row's workload: of "copy & *S(3)|*CMEM" the first, and one of the others. A word begins
     * where one of the text does ("max" is not in "softmax") unless it begins with '*'. */
    const char *words;
    const char *timing; /* the same of how the row was timed; NULL: any way */
    const char *chip;   /* "v4"; NULL: any */
    ts_work_suite suite;
    const char *group; /* NULL: the suite chooses it, or there is a reason */
    int input_reads;   /* of a stream: how often its input is read */
    ts_stream_result result;
    const char *reason; /* why such rows are not modelled; NULL: they are */
} ts_work_rule;

typedef struct {
    const ts_work_rule **rules;
    int count;
} ts_work_rules;

/* Of a text of tables: is it one of rules, with a column `words`? */
bool ts_work_rules_are(ts_arena *arena, const ts_source *source);

/* Puts the rules of a table before those that are there; their groups are among `groups`. */
bool ts_work_rules_add(ts_error *err, ts_arena *arena, const ts_source *source, const ts_work_groups *groups,
                       ts_work_rules *rules);

/* The first that fits a row; NULL: none does. */
const ts_work_rule *ts_work_rules_find(const ts_work_rules *rules, const char *chip, const char *workload,
                                       const char *timing);

/* Has a text the word, as above? */
bool ts_work_has(const char *text, const char *word, size_t length);

#endif
