/* Pages as text. */
#include "tests/support/cells.h"

#include <string.h>

const char *cells_of(ts_arena *arena, const char *html) {
    ts_text out = ts_text_begin(arena);
    for (; *html; html += *html != '\0') {
        if (*html == '\n') continue;
        if (strncmp(html, "<button", 7) == 0) ts_text_add_char(&out, '+');
        if (strncmp(html, "</tr>", 5) == 0) ts_text_add_char(&out, '\n');
        if (strncmp(html, "</td>", 5) == 0 || strncmp(html, "</th>", 5) == 0) ts_text_add_char(&out, '|');
        if (*html == '<')
            html += strcspn(html, ">");
        else
            ts_text_add_char(&out, *html);
    }
    return out.bytes;
}
