/* Private to reports: a program's text by line, as a listing shows it. */
#ifndef TILESIM_REPORT_SOURCE_TEXT_H
#define TILESIM_REPORT_SOURCE_TEXT_H

#include "base/text.h"

typedef struct report_source report_source;

report_source *report_source_new(ts_arena *arena, const ts_source *source);
int report_source_count(const report_source *source); /* lines */
/* Line 1 .. the last, without indentation, alignment and comments; nothing for any other. */
void report_source_line(const report_source *source, int line, ts_text *out);

#endif
