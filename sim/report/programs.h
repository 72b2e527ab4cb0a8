/* The programs that the binary carries. */
#ifndef TILESIM_REPORT_PROGRAMS_H
#define TILESIM_REPORT_PROGRAMS_H

#include "base/text.h"

/* Each by its name, and what it computes: the first sentence of its text. Those of folders are parts of
 * others. */
void ts_report_programs(ts_text *out);
void ts_report_programs_json(ts_text *out);

#endif
