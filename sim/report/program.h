/* What a program needs of a machine: registers over its bundles, and room in its memories. */
#ifndef TILESIM_REPORT_PROGRAM_H
#define TILESIM_REPORT_PROGRAM_H

#include "base/text.h"
#include "program/program.h"

/* A row a register, '#' where it is live; a column is one bundle, or several. */
void ts_report_live(const ts_program *program, const ts_target *target, ts_text *out);
/* The tensors of each space by address, with what is free. */
void ts_report_map(const ts_program *program, const ts_target *target, ts_text *out);
/* The bundles in their order: text, file, line. */
void ts_report_bundles_json(const ts_program *program, ts_text *out);

#endif
