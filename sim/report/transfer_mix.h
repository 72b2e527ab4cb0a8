/* Transfers at once, as text and as JSON: how long each takes alone and together, and what the memory
 * allows. */
#ifndef TILESIM_REPORT_TRANSFER_MIX_H
#define TILESIM_REPORT_TRANSFER_MIX_H

#include "base/text.h"
#include "study/transfer.h"

void ts_report_transfer_mix(const ts_transfer_mix *mix, ts_text *out);
void ts_report_transfer_mix_json(const ts_transfer_mix *mix, ts_text *out);

#endif
