/* What all pages look like (web/page/style.css): HTML reports begin with it, in a <style> element. */
#ifndef TILESIM_REPORT_STYLE_H
#define TILESIM_REPORT_STYLE_H

#include "machine/embedded.h"

/* One file, "style.css". */
extern const ts_embedded_file ts_embedded_styles[];
extern const size_t ts_embedded_style_count;

#endif
