/* The instruction set for people: as text for a terminal, or as Markdown (docs/isa.md). */
#ifndef TILESIM_ISA_PRINT_H
#define TILESIM_ISA_PRINT_H

#include "base/text.h"
#include "isa/isa.h"

/* The operands of a row as they are written: "d, a, b" for d, a and b of its meaning. */
void ts_opcode_print_operands(ts_text *out, const ts_opcode_info *info);

void ts_isa_print(ts_text *out);
void ts_isa_print_markdown(ts_text *out);

#endif
