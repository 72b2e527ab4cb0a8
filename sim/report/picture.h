/* Pictures as SVG, for files and for pages, in light and dark. Private to the folder.
 *
 * What is drawn has a class that picture.c gives a colour. Text is that of people unless it has a class. */
#ifndef TILESIM_REPORT_PICTURE_H
#define TILESIM_REPORT_PICTURE_H

#include "base/text.h"

/* `title` is what is read to who does not see it, NULL: nothing. */
void picture_begin(ts_text *out, int64_t width, int64_t height, const char *title);
void picture_end(ts_text *out);

/* A text that stands at x, y ("start", "middle" or "end" of it), as it is: names are the caller's to escape. */
typedef struct {
    const char *class, *anchor;
    int pixels; /* of its font */
    bool bold;
} picture_font;
void picture_text(ts_text *out, int64_t x, int64_t y, const picture_font *font, const char *format, ...)
    __attribute__((format(printf, 5, 6)));

/* "0.279 us", "105.1 us": as exact as tables have it where it is short. */
const char *picture_microseconds(ts_arena *arena, double microseconds);

/* A bar of a row of a chart that begins at `y`, of PICTURE_ROW pixels; `title` is escaped, NULL is none. */
enum { PICTURE_ROW = 24 };
void picture_bar(ts_text *out, int x, int y, double width, const char *class, const char *title);

#endif
