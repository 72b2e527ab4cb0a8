/* Texts in JSON: quotes and escapes. */
#include "base/json_quote.h"

#include <string.h>

void ts_json_quote(ts_text *out, const char *text) {
    static const char plain[] = "\"\\\b\f\n\r\t", letter[] = "\"\\bfnrt";
    ts_text_add_char(out, '"');
    while (*text != '\0') {
        const char *escape = strchr(plain, *text);
        if (escape == NULL && (unsigned char)*text >= 0x20 && *text != 0x7f) {
            text = ts_text_add_character(out, text);
            continue;
        }
        if (escape != NULL)
            ts_text_add(out, "\\%c", letter[escape - plain]);
        else
            ts_text_add(out, "\\u%04x", (unsigned char)*text);
        text++;
    }
    ts_text_add_char(out, '"');
}
