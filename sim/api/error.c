/* Errors for callers that do not know their struct. */
#include <stdlib.h>

#include "base/arena.h"
#include "base/error.h"

ts_error *ts_error_new(void) {
    ts_error *err = calloc(1, sizeof *err);
    if (!err) ts_out_of_memory(sizeof *err);
    return err;
}

void ts_error_free(ts_error *err) { free(err); }
ts_error_kind ts_error_get_kind(const ts_error *err) { return err->kind; }
const char *ts_error_message(const ts_error *err) { return err->message; }
const char *ts_error_file(const ts_error *err) { return err->name; }
int ts_error_line(const ts_error *err) { return err->line; }
int ts_error_column(const ts_error *err) { return err->column; }
const ts_error *ts_error_next(const ts_error *err) { return err->next; }
