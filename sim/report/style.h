/* What all pages look like (web/page/style.css), what HTML reports have beside it (report.css), and what lets
 * them sort (report.js). */
#ifndef TILESIM_REPORT_STYLE_H
#define TILESIM_REPORT_STYLE_H

#include "machine/embedded.h"

extern const ts_embedded_file ts_embedded_styles[];
extern const size_t ts_embedded_style_count;

#endif
