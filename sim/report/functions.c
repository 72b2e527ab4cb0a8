/* The functions of checks and reports, a row each. */
#include "report/list.h"

#include "host/reference.h"

void ts_report_functions(ts_text *out) {
    ts_reference_usage row;
    for (size_t i = 0; ts_reference_function(i, &row); i++)
        ts_text_add(out, "%s\n    %s; error: %s\n", row.usage, row.meaning, row.error);
    ts_text_wrap(out, TS_TEXT_COLUMNS);
}

void ts_report_functions_markdown(ts_text *out) {
    ts_reference_usage row;
    ts_text_add(out, "| function | value | error |\n|---|---|---|\n");
    for (size_t i = 0; ts_reference_function(i, &row); i++)
        ts_text_add(out, "| `%s` | %s | %s |\n", row.usage, row.meaning, row.error);
}
