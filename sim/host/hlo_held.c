/* HLO text: what is held of lines that may go on in the next ones. */
#include "hlo_reader_private.h"

void hlo_hold(hlo_held *h, hlo_held_kind kind, int64_t line, const char *at, const char *end) {
    *h = (hlo_held){.kind = kind, .text = h->text, .line = line, .lines = 1};
    h->text.length = 0;
    ts_text_add_bytes(&h->text, at, (size_t)(end - at));
}

bool hlo_held_join(hlo_held *h, char mark, const char *at, const char *end) {
    size_t length = (size_t)(end - at);
    if (h->text.length + 1 + length > TS_HLO_LINE_BYTES) return false;
    ts_text_add_char(&h->text, mark);
    ts_text_add_bytes(&h->text, at, length);
    h->lines++;
    return true;
}

ts_span hlo_held_text(const hlo_held *h) { return (ts_span){h->text.bytes, h->text.length}; }
