/* A text as JSON has it. */
#ifndef TILESIM_BASE_JSON_QUOTE_H
#define TILESIM_BASE_JSON_QUOTE_H

#include "base/text.h"

/* In quotes; a byte that is no UTF-8 becomes U+FFFD. */
void ts_json_quote(ts_text *out, const char *text);

#endif
