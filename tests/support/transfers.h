/* Transfers of texts, for tests. */
#ifndef TESTS_SUPPORT_TRANSFERS_H
#define TESTS_SUPPORT_TRANSFERS_H

#include "study/transfer.h"

/* Fails the test where the text is no end of a transfer, nor, of a request, a shape. */
ts_transfer_end parse_end(ts_arena *arena, const char *name, const char *text);
/* Of whole shapes, anywhere; with prices of its own. */
ts_transfer_request parse_transfer(ts_arena *arena, const ts_machine *machine, const char *src,
                                   const char *dst);

#endif
