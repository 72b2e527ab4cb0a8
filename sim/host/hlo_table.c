/* HLO text: the tables of names, locations and stack frames that recent dumps begin with. */
#include "hlo_reader_private.h"

/* "1 {..", "2 \"..". */
static bool is_row(const char *at, const char *end) {
    const char *word = hlo_skip_digits(at, end);
    return word > at && end - word > 1 && *word == ' ' && (word[1] == '{' || word[1] == '"');
}

bool hlo_table_take(hlo_table *table, hlo_teller *t, const char *at, const char *end) {
    const ts_span line = {at, (size_t)(end - at)};
    bool heads = hlo_table_of(line) >= 0, begins = heads || is_row(at, end);
    table->open = heads || (table->open && (begins || table->depth > 0));
    table->depth = (begins ? 0 : table->depth) + hlo_depth_of(at, end);
    if (!table->open) return false;
    hlo_tell_kind(t, TS_HLO_TABLE);
    if (t->events->table) t->events->table(t->events->self, line);
    return true;
}
