/* Markdown as text for people: one writer of a document serves both. Private to the folder. */
#ifndef TILESIM_REPORT_PLAIN_H
#define TILESIM_REPORT_PLAIN_H

#include "base/text.h"

/* Tables in columns, as wide as what is in them, with headings of several lines; no marks of bold and code;
 * lines of at most TS_TEXT_COLUMNS, if words and tables let them. */
void report_plain(const ts_text *markdown, ts_text *out);

#endif
