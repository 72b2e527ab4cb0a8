/* The functions of checks and reports for people: as text for a terminal, or as Markdown
 * (docs/program.md). */
#ifndef TILESIM_REPORT_FUNCTIONS_H
#define TILESIM_REPORT_FUNCTIONS_H

#include "base/text.h"

void ts_report_functions(ts_text *out);
void ts_report_functions_markdown(ts_text *out);

#endif
