/* Transfers of texts. */
#include "tests/support/transfers.h"

#include <string.h>

#include "tests/support/shapes.h"
#include "tests/support/test.h"

ts_transfer_end parse_end(ts_arena *arena, const char *name, const char *text) {
    ts_source *source = TS_NEW(arena, ts_source);
    ts_transfer_end end;
    ts_error err = {0};
    *source = (ts_source){name, text, strlen(text)};
    if (!ts_transfer_end_parse(&err, arena, source, &end)) fail_msg("%s: %s", text, err.message);
    return end;
}

ts_transfer_request parse_transfer(ts_arena *arena, const ts_machine *machine, const char *src,
                                   const char *dst) {
    return (ts_transfer_request){.machine = machine,
                                 .prices = ts_prices_new(arena),
                                 .src = {.shape = parse_shape(arena, src), .at = TS_TRANSFER_ANYWHERE},
                                 .dst = {.shape = parse_shape(arena, dst), .at = TS_TRANSFER_ANYWHERE}};
}
